"""Which column of a table is which, by the many names that people give them, in about ten languages."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Mapping, Sequence

from therapy_analytics.readers.roles import role_of_label

Record = tuple[int, list[str]]
"""The number of a data row, from 1, and its cells, as many as the header has."""
Places = Mapping[str, int | None]
"""The place of each known kind of column, from 0; None for a kind that the table does not have."""
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
REMARKS = """
translation quote excerpt snippet preview reply answer summary note notes comment comments remark remarks
"""
"""Words in the names of columns that repeat the talk or comment on it: neither facts about the session nor codes."""
_TEXT_WORDS = "text utterance transcript transcription dialogue dialog message content speech verbatim"
_NO_TEXT_WORDS = """
id ids idx index number no count type length n start end time code label speaker file name path url language title date
emotion role score rating topic act
"""
_NO_SPEAKER_WORDS = "count n number turn turns gender sex age time start end confidence emotion text words play"
_WORD_LISTS: Mapping[str, tuple[str, str]] = {
    "text": (_TEXT_WORDS, _NO_TEXT_WORDS),
    "speaker": ("speaker interlocutor role participant sender author talker", _NO_SPEAKER_WORDS),
    "start": ("start begin onset timestamp", "end stop date of duration"),
    "end": ("end stop offset finish", "start date of"),
    "session": (
        "session conversation conv dialog dialogue interview transcript call video chat",
        "act turn utt utterance vol message type topic speaker date",
    ),
    "remarks": (REMARKS, _NO_TEXT_WORDS),
}
_WORDS = {kind: tuple(frozenset(words.split()) for words in lists) for kind, lists in _WORD_LISTS.items()}
"""Words of which one is in the name of a column of a kind, and words of which none is."""
_KEY_WORDS = frozenset({"id", "no", "number", "nr", "name", "title", "index", "idx", "num", "key"})
_LOOSE_KINDS = ("text", "speaker", "session", "start", "end")
"""Kinds that a word within the name of a column tells, in the order in which they choose."""
MOST_COLUMNS = 2_000
_LONGEST_NAME = 100
_UTTERANCE_LEVEL = ("utt", "utterance", "message")


def may_be_header(row: Sequence[str]) -> bool:
    """Tell at a glance a row that can name columns from one of words: most files are no tables."""
    fits = 1 < len(row) <= MOST_COLUMNS and max(map(len, row)) <= _LONGEST_NAME
    return fits and not row[0].lstrip().startswith(("{", "["))


@functools.lru_cache(maxsize=4096)
def slug(name: str) -> str:
    """Return the name of a column in snake case.

    Examples
    --------
    >>> slug(" Speaker Name"), slug("utteranceText"), slug("Start (ms)")
    ('speaker_name', 'utterance_text', 'start_ms')
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", unicodedata.normalize("NFKC", name))
    return re.sub(r"[\W_]+", "_", spaced.casefold()).strip("_")


def find_columns(header: Sequence[str], wanted: Mapping[str, str], *, loosely: bool = True) -> dict[str, int | None]:
    """Return the place of each kind of column that `NAMES` lists, found by the names of the columns.

    Parameters
    ----------
    header : sequence of str
        The names in the file.
    wanted : mapping of str to str
        What the user calls a kind, or the number of its column from 1; this wins over all known names.
    loosely : bool
        Whether a known word within a name will do where no whole name is known.
    """
    slugs = [slug(name) for name in header]
    there = set(slugs)
    found: dict[str, int | None] = {}
    for kind, names in NAMES.items():
        known = (slug(wanted[kind]),) if kind in wanted else names
        name = next((name for name in known if name in there), None)
        found[kind] = _by_number(wanted.get(kind, ""), len(slugs)) if name is None else slugs.index(name)
    for kind in _LOOSE_KINDS if loosely else ():
        if found[kind] is None and kind not in wanted:
            taken = set(found.values())
            free = (at for at, name in enumerate(slugs) if at not in taken and _is_called(name, kind))
            found[kind] = next(free, None)
    end = found["end"]
    is_offset = end is not None and found["start"] is None and "offset" in slugs[end].split("_")
    if is_offset and not wanted.keys() & {"start", "end"}:
        found["start"], found["end"] = end, None  # an offset is an end only beside an onset
    return found


def _by_number(number: str, n_columns: int) -> int | None:
    return int(number) - 1 if number.isdecimal() and 0 < int(number) <= n_columns else None


def _is_called(name: str, kind: str) -> bool:
    """Tell whether a name in snake case has a word of a kind, and none that says otherwise."""
    parts = name.split("_")
    some, none = _WORDS[kind]
    if not some.isdisjoint(parts) and none.isdisjoint(parts):
        return kind != "session" or not _KEY_WORDS.isdisjoint(parts)
    if kind != "speaker":
        return False
    people = [part for part in parts if part not in {"or", "and", "vs"}]  # therapist_or_client, t_c
    return len(people) == 2 and set(map(role_of_label, people)) == {"therapist", "client"}


def find_beside_times(header: Sequence[str]) -> dict[str, int | None]:
    """Return the places of the columns ``duration`` and ``day`` (the date beside a time of day)."""
    slugs = [slug(name) for name in header]
    kinds = {"duration": _DURATIONS, "day": _DAYS}
    return {kind: next((at for at, name in enumerate(slugs) if name in names), None) for kind, names in kinds.items()}


def numbers_utterances(name: str) -> bool:
    """Tell whether a column of numbers has one for each utterance, not one for each turn of several."""
    return bool(set(slug(name).split("_")) & set(_UTTERANCE_LEVEL))


def names_remarks(name: str) -> bool:
    """Tell whether a column of a table about sessions is named for remarks, in which words of a session may stand.

    Examples
    --------
    >>> names_remarks("comment"), names_remarks("Counselor's notes"), names_remarks("note_count"), names_remarks("site")
    (True, True, False, False)
    """
    return _is_called(slug(name), "remarks")
