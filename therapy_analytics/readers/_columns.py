"""Which column of a table is which, by the many names that people give them, and which hold facts about a session.

Facts are told from what was said: words of a session stand in no table that nobody asked for.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from therapy_analytics.readers._roles import role_of_label

Record = tuple[int, list[str]]
"""The number of a data row, from 1, and its cells, as many as the header has."""
NAMES: Mapping[str, tuple[str, ...]] = {
    "text": (
        "text", "utterance_text", "vol_text", "utt_text", "turn_text", "utterance", "content", "message",
        "message_text", "message_content", "sentence", "speech", "transcript_text", "spoken_text", "transcript",
        "transcription", "dialogue_text", "dialogue", "dialog", "words", "value", "body", "line", "statement",
        "verbatim", "was", "äusserung", "äußerung", "aussage", "transkript", "wortlaut", "redebeitrag",
        "nachricht", "texto", "enunciado", "mensaje", "intervención", "intervencion", "mensagem", "fala", "texte",
        "énoncé", "propos", "utt", "paroles", "testo", "enunciato", "battuta", "tekst", "uitspraak", "bericht",
        "wypowiedź", "treść", "replik", "yttrande", "реплика", "текст", "высказывание", "内容", "文本", "发言",
        "発話", "발화",
    ),
    "speaker": (
        "speaker", "interlocutor", "speaker_role", "speaker_label", "speaker_name", "speaker_id", "role",
        "sender", "from", "author", "participant", "interlocutor_id", "participant_role", "turn_speaker",
        "speaker_type", "talker", "spk", "who", "party", "sender_name", "user_name", "username", "channel", "name",
        "type", "sprecher", "sprecherin", "sprecher_in", "absender", "person", "wer", "rolle", "hablante",
        "emisor", "remitente", "interlocutora", "quién", "quien", "falante", "locuteur", "locutrice", "intervenant",
        "intervenante", "parlante", "spreker", "mówca", "rozmówca", "kto", "talare", "говорящий", "кто", "说话人",
        "说话者", "发言人", "話者", "화자",
    ),
    "session": (
        "session_id", "session", "conv_id", "conversation_id", "conversation", "transcript_id", "dialog_id",
        "dialogue_id", "interview_id", "call_id", "chat_id", "case_id", "session_number", "session_no",
        "session_num", "session_name", "sessionid", "convo_id", "thread_id", "encounter_id", "visit_id", "visit",
        "video_title", "video_id", "media_title", "recording", "recording_id", "transcript_name", "file_name",
        "filename", "file", "source_file", "document", "doc_id", "sitzung", "sesion", "sesión", "séance",
        "seduta", "sessão", "sessie", "sesja",
    ),
    "start": (
        "start_s", "start", "start_time", "time_start", "starttime", "timestamp", "time", "when", "begin", "begin_time",
        "onset", "start_timestamp", "timestamp_start", "time_in", "tc_in", "in_time", "in", "timecode",
        "time_stamp", "start_sec", "start_seconds", "start_ms", "begin_ms", "start_ts", "begin_s", "ts", "t0",
        "timestamp_ms", "time_s", "time_ms", "time_sec", "created_at", "sent_at", "posted_at", "date_sent",
        "datetime", "date_time", "unix_time", "hour", "clock", "epoch", "tmin", "xmin", "beginn", "anfang",
        "zeit", "uhrzeit", "startzeit", "inicio", "início", "hora", "début", "debut", "heure", "inizio", "ora",
        "begintijd", "tijd", "czas",
    ),
    "end": (
        "end_s", "end", "end_time", "time_end", "endtime", "stop", "stop_time", "end_timestamp", "timestamp_end",
        "time_out", "tc_out", "out_time", "out", "end_sec", "end_seconds", "end_ms", "end_ts", "t1", "finish",
        "tmax", "xmax", "offset", "ende", "endzeit", "fin", "fim", "fine", "einde", "koniec",
    ),
    "utterance": (
        "utterance_id", "utt_id", "conv_utt_idx", "utterance_index", "utterance_number", "utterance_no",
        "utterance_idx", "utterance_num", "turn_id", "turn", "turn_number", "turn_no", "turn_index", "turn_idx",
        "conv_vol_idx", "message_id", "message_index", "row", "line_number",
    ),
    "annotator": (
        "annotator_id", "annotator", "coder_id", "coder", "rater_id", "rater", "annotator_name", "coder_name",
        "rater_name", "coded_by", "labeller", "labeler", "worker_id",
    ),
}  # fmt: skip
_DURATIONS = frozenset({"duration", "dur", "duration_s", "duration_sec", "duration_seconds", "duration_ms", "dauer"})
_DAYS = frozenset({"date", "day", "datum", "tag", "fecha", "data", "dia", "jour", "date_of_message", "message_date"})
_RANKS = {kind: {name: rank for rank, name in enumerate(names)} for kind, names in NAMES.items()}
_TEXT_WORDS = """
text utterance transcript transcription dialogue dialog message content speech verbatim
"""
_NO_TEXT_WORDS = """
id idx index number no count type length n start end time code label speaker file name path url language title date
emotion role score rating topic act
"""
REMARKS = """
translation quote excerpt snippet preview reply answer summary note notes comment comments remark remarks
"""
"""Words in the names of what repeats or tells of the talk: neither a fact about the session nor a code."""
_WORDS_TOO = f"sentence question response input output query completion {REMARKS}"
_SPEAKER_WORDS = """
speaker interlocutor role participant sender author talker
"""
_NO_SPEAKER_WORDS = """
count n number turn turns gender sex age time start end confidence emotion text words play
"""
_PARTS: Mapping[str, tuple[str, str]] = {
    "text": (_TEXT_WORDS, _NO_TEXT_WORDS),
    "speaker": (_SPEAKER_WORDS, _NO_SPEAKER_WORDS),
    "start": ("start begin onset timestamp", "end stop date of duration"),
    "end": ("end stop offset finish", "start date of"),
    "remarks": (REMARKS, _NO_TEXT_WORDS),
}
"""Words of which one is in the name of a column, and words of which none is."""
_SESSION_WORDS = frozenset(
    {"session", "conversation", "conv", "dialog", "dialogue", "interview", "transcript", "call", "video", "chat"}
)
_KEY_WORDS = frozenset({"id", "no", "number", "nr", "name", "title", "index", "idx", "num", "key"})
_NOT_SESSION = frozenset({"act", "turn", "utt", "utterance", "vol", "message", "type", "topic", "speaker", "date"})
MOST_COLUMNS = 2_000
_LONGEST_NAME = 100
_UTTERANCE_LEVEL = ("utt", "utterance", "message")


@dataclass(frozen=True, slots=True)
class Columns:
    """Where in a record each thing stands; None where the table does not have it.

    Attributes
    ----------
    text, speaker : int
        What is said, who speaks.
    session, start, end, utterance, annotator : int or None
        The rest of what has known names.
    role : int or None
        A column of roles beside the one of speakers.
    duration, day : int or None
        How long an utterance takes, for one without an end; the date beside a time of day.
    """

    text: int
    speaker: int
    session: int | None = None
    start: int | None = None
    end: int | None = None
    utterance: int | None = None
    annotator: int | None = None
    role: int | None = None
    duration: int | None = None
    day: int | None = None

    @property
    def used(self) -> frozenset[int | None]:
        """All of them but the date, which may be a fact about the session."""
        return frozenset(getattr(self, name) for name in self.__slots__ if name != "day")


def may_be_header(row: Sequence[str]) -> bool:
    """Tell a row that can name columns from one of words, at a glance: most files are no tables."""
    fits = 1 < len(row) <= MOST_COLUMNS and max(map(len, row)) <= _LONGEST_NAME
    return fits and not row[0].lstrip().startswith(("{", "["))


@functools.lru_cache(maxsize=4096)
def slug(name: str) -> str:
    """Return the plain form of a column's name.

    Examples
    --------
    >>> slug(" Speaker Name"), slug("utteranceText"), slug("Start (ms)")
    ('speaker_name', 'utterance_text', 'start_ms')
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", unicodedata.normalize("NFKC", name))
    return re.sub(r"[\W_]+", "_", spaced.casefold()).strip("_")


def find_columns(header: Sequence[str], wanted: Mapping[str, str], *, loosely: bool = True) -> dict[str, int | None]:
    """Return the position of each known kind of column, and None for those that are not there.

    Parameters
    ----------
    header : sequence of str
        The names in the file.
    wanted : mapping of str to str
        What the user calls a kind, or the number of its column from 1; this wins over all known names.
    loosely : bool
        Whether a name that has a known word among others will do.
    """
    slugs = [slug(name) for name in header]
    found: dict[str, int | None] = {}
    for kind in NAMES:
        name = slug(wanted[kind]) if kind in wanted else _best_known(kind, slugs)
        found[kind] = slugs.index(name) if name in slugs else _by_number(wanted.get(kind, ""), slugs)
    if loosely:
        _find_by_parts(found, slugs, wanted)
    end = found["end"]
    if (
        end is not None
        and found["start"] is None
        and "offset" in slugs[end].split("_")
        and not wanted.keys() & {"start", "end"}
    ):
        found["start"], found["end"] = end, None  # an offset is an end beside an onset alone
    return found


def find_beside_times(header: Sequence[str]) -> dict[str, int | None]:
    """Return the position of the columns of durations and of dates; None for those that are not there."""
    slugs = [slug(name) for name in header]
    kinds = {"duration": _DURATIONS, "day": _DAYS}
    return {kind: next((at for at, name in enumerate(slugs) if name in names), None) for kind, names in kinds.items()}


def _by_number(name: str, slugs: Sequence[str]) -> int | None:
    """Return the column that the user gives by its number, from 1, as for a table without a header."""
    return int(name) - 1 if name.isdecimal() and 0 < int(name) <= len(slugs) else None


def _best_known(kind: str, slugs: Sequence[str]) -> str | None:
    return min(_RANKS[kind].keys() & slugs, key=_RANKS[kind].__getitem__, default=None)


def _find_by_parts(found: dict[str, int | None], slugs: Sequence[str], wanted: Mapping[str, str]) -> None:
    """Look for what has no known name among the columns that nothing else has taken."""
    left = {at: name for at, name in enumerate(slugs) if at not in found.values()}
    for kind, in_parts in _BY_PARTS.items():
        if found[kind] is None and kind not in wanted:
            found[kind] = at = next((at for at, name in left.items() if in_parts(name)), None)
            left = {other: name for other, name in left.items() if other != at}


def numbers_utterances(name: str) -> bool:
    """Tell whether a column of numbers has one for each utterance, not one for each turn of several."""
    return bool(set(slug(name).split("_")) & set(_UTTERANCE_LEVEL))


def names_words(name: str) -> bool:
    """Tell whether a column or a field is named for what was said, which is no fact about the session.

    Examples
    --------
    >>> names_words("text"), names_words("lastMessage"), names_words("transcript_id")
    (True, True, False)
    """
    return _has_words(slug(name))


def names_remarks(name: str) -> bool:
    """Tell whether a column of a table about sessions is named for remarks, in which words of a session may stand.

    Examples
    --------
    >>> names_remarks("comment"), names_remarks("Counselor's notes"), names_remarks("note_count"), names_remarks("site")
    (True, True, False, False)
    """
    return _has_remarks(slug(name))


def _by_words(kind: str, more: str = "") -> Callable[[str], bool]:
    some, none = (frozenset(words.split()) for words in _PARTS[kind])
    some |= frozenset(more.split())

    def fits(name: str) -> bool:
        parts = name.split("_")
        return not some.isdisjoint(parts) and none.isdisjoint(parts)

    return fits


_has_speaker_words = _by_words("speaker")
_has_words = _by_words("text", more=_WORDS_TOO)
_has_remarks = _by_words("remarks")


def _is_speaker(name: str) -> bool:
    """Accept ``role_of_speaker`` as well as ``therapist_or_client`` and ``t_c``."""
    if _has_speaker_words(name):
        return True
    parts = [part for part in name.split("_") if part not in {"or", "and", "vs"}]
    return len(parts) == 2 and set(map(role_of_label, parts)) == {"therapist", "client"}


def _is_session(name: str) -> bool:
    parts = set(name.split("_"))
    return bool(parts & _SESSION_WORDS and parts & _KEY_WORDS and not parts & _NOT_SESSION)


_BY_PARTS: Mapping[str, Callable[[str], bool]] = {
    "text": _by_words("text"),
    "speaker": _is_speaker,
    "session": _is_session,
    "start": _by_words("start"),
    "end": _by_words("end"),
}


LONGEST_FACT = 40
_MOST_WORDS = 5
_WORD = re.compile(r"[^\W\d_]+")
_PRONOUNS = """
i me my mine myself we us our you your yours he she they him her his them their it
"""
_IN_SENTENCES = frozenset(_PRONOUNS.split())


def names_fact(name: str) -> bool:
    """Tell whether a column or a field may hold facts, as its name says.

    Examples
    --------
    >>> names_fact("problem type"), names_fact("transcript_id"), names_fact("lastMessage")
    (True, True, False)
    """
    return bool(slug(name)) and not names_words(name)


def is_fact(name: str, text: str) -> bool:
    """Tell whether something under a name is a fact about the session."""
    return names_fact(name) and may_be_fact(text)


def may_be_fact(text: str) -> bool:
    """Tell a label, a name, a date or a number from something that somebody says.

    What has more than 40 letters or five words is no fact, nor is a sentence.

    Examples
    --------
    >>> [may_be_fact(text) for text in ("breakup with partner", "US, phase I", "I lost my job", "Why?")]
    [True, True, False, False]
    """
    return len(text) <= LONGEST_FACT and len(_WORD.findall(text)) <= _MOST_WORDS and not is_sentence(text)


def is_sentence(text: str) -> bool:
    """Tell what asks, exclaims, or speaks of me and you."""
    words = _WORD.findall(text)
    if words[-1:] == ["I"] and len(words) > 1:
        words.pop()  # a numeral
    said = {word.casefold() for word in words if word == "I" or not word.isupper()}
    return text.rstrip().endswith(("?", "!")) or not _IN_SENTENCES.isdisjoint(said)
