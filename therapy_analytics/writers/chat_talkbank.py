"""CHAT transcripts of TalkBank, for CLAN and the tools around it."""

from __future__ import annotations

import json
import re
import textwrap
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import pairwise
from urllib.parse import quote

from therapy_analytics.readers import join_marks
from therapy_analytics.readers._marks import split_marks
from therapy_analytics.readers.chat_talkbank import LABEL, NO_END, letters, spoken
from therapy_analytics.session import Role, Session, SpeechMark, Turn
from therapy_analytics.writers._base import writer

_ROLES: Mapping[Role, tuple[str, str]] = {
    "therapist": ("THE", "Therapist"),
    "client": ("CLI", "Participant"),
    "other": ("OTH", "Other"),
}
"""Code and role word; of the words that CLAN knows, `Participant` is the one for a client."""
_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
_WIDTH = 88
_UNKNOWN_LANGUAGE = "und"
_NOT_IN_FIELD = re.compile(r"[%|\x00-\x1f\x7f]")
_NOT_IN_CODE = re.compile(r"[^\w.-]")

_SENTENCE_END = re.compile(r"(?<![.?!\u2026])[.?!\u2026]+[\"')\]\u2019\u201d*_]* (?=\S)")
_SHORTENED = re.compile(r"(?:^\W*\d+|\b(?:[A-HJ-Za-z]|Dr|Mr|Mrs|Ms|St|vs|etc|e\.g|i\.e))\. $")
_NEAR = 12
_ENDING = re.compile(r"(?<![.?!\u2026\u2014])(?P<signs>[.?!\u2026\u2014]+)[^\w.?!\u2026\u2014]*$")
_ENDINGS = {"...": "+...", "\u2026": "+...", "...?": "+..?", "\u2014": "+/.", "\u2014?": "+/?"}
_SIGN = re.compile(
    r"(?<=\d)(?:(?P<thousands>,(?=\d{3}(?!\d)))|(?P<point>[.,])|(?P<clock>:))(?=\d)"
    r"|(?<=\S)(?P<stop>[,:])(?=\s|$)"
    r"|(?<=\w)(?P<apostrophe>\u2019)(?=\w)"
    r"|[^\w\s'-]|_"
)
_CODE = re.compile(r"(?:^|(?<=-))0|^(?:x(?=xx?$)|y(?=yy?$)|w(?=ww$))")
_UNHEARD = re.compile(r"\W?(?:xxx|yyy|inaudible|unclear|unintelligible|indistinct|indiscernible)\W?", re.IGNORECASE)
_WIDE = 0xFEE0
"""From a sign of ASCII to its wide form, which is no code of CHAT."""

Speaker = tuple[str, Role]


@writer("chat", suffix=".cha", holds={"times", "ends", "codes", "others"})
def write_chat(session: Session) -> bytes:
    """CHAT of TalkBank: an utterance a sentence, with times, speech marks as its codes, codes by people on a tier."""
    codes = _codes(session)
    body = (line for turn in session.turns for line in _tiers(turn, codes[turn.speaker, turn.role]))
    return "".join(f"{line}\n" for line in (*_headers(session, codes), *body, "@End")).encode()


def _codes(session: Session) -> dict[Speaker, str]:
    """Give every speaker a code of three letters: ``THE``, or ``TH1`` and ``TH2`` where there are several."""
    speakers = dict.fromkeys((turn.speaker, turn.role) for turn in session.turns)
    of_role = Counter(role for _, role in speakers)
    met: Counter[Role] = Counter()
    codes = {}
    for label, role in speakers:
        met[role] += 1
        number = "" if of_role[role] == 1 else str(met[role])
        codes[label, role] = _ROLES[role][0][: max(1, 3 - len(number))] + number
    return codes


def _headers(session: Session, codes: Mapping[Speaker, str]) -> Iterator[str]:
    language = session.metadata.get("language", "")
    language = language if re.fullmatch("[a-z]{3}", language) else _UNKNOWN_LANGUAGE
    people = (f"{code} {_name(label)} {_ROLES[role][1]}" for (label, role), code in codes.items())
    yield from ("@UTF8", "@Begin", f"@Languages:\t{language}")
    yield _tier("@Participants", ", ".join(" ".join(one.split()) for one in people))
    for (label, role), code in codes.items():
        written = _escaped(_NOT_IN_FIELD, label)
        yield f"@ID:\t{language}|converted|{code}|||||{_ROLES[role][1]}||{LABEL}{written}|"
    if day := _day(session.metadata.get("date", "")):
        yield f"@Date:\t{day}"


def _name(label: str) -> str:
    return re.sub(r"[\W_]+", "_", label).strip("_")


def _day(iso: str) -> str:
    """Write ``2024-03-14`` as ``14-MAR-2024``; a date in another form is none that CHAT can hold."""
    try:
        day = date.fromisoformat(iso)
    except ValueError:
        return ""
    return f"{day.day:02}-{_MONTHS[day.month - 1]}-{day.year:04}" if day.isoformat() == iso else ""


def _tiers(turn: Turn, code: str) -> Iterator[str]:
    """Yield the utterances of a turn: its codes behind the first, its times, which are of them all, behind the last."""
    said, times = [*utterances(turn.text, turn.marks)], _times(turn)
    is_span = all(times)  # a bullet of CHAT has a start and an end
    for number, utterance in enumerate(said, start=1):
        is_last = number == len(said)
        yield _tier(f"*{code}", utterance.line + (f" \x15{'_'.join(times)}\x15" if is_last and is_span else ""))
        if utterance.verbatim:
            # not folded: other programs take a star or a percent sign that begins a line for a tier
            yield f"%xtxt:\t{json.dumps(utterance.verbatim, ensure_ascii=False)}"
        if number == 1 and (given := _given(turn)):
            yield _tier("%cod", given)
        if is_last and any(times) and not is_span:
            yield _tier("%xtim", "_".join(times))


def _times(turn: Turn) -> tuple[str, str]:
    start, end = ("" if time is None or time < 0 else str(round(1000 * time)) for time in (turn.start_s, turn.end_s))
    return start, "" if start and start == end else end


def _given(turn: Turn) -> str:
    """Return the codes that people gave, as in ``$code=question``."""
    pairs = ((name, code) for name, value in turn.gold.items() for code in value.split(";") if code)
    return " ".join(f"${_escaped(_NOT_IN_CODE, name)}={_escaped(_NOT_IN_CODE, code)}" for name, code in pairs)


def _escaped(signs: re.Pattern[str], text: str) -> str:
    return signs.sub(lambda sign: quote(sign[0], safe=""), text)


def _tier(name: str, content: str) -> str:
    """Write a tier or a header; a long one goes on in lines that begin with a tab, and no code is torn."""
    whole = content.replace(NO_END, NO_END.replace(" ", "\xa0"))
    lines = textwrap.wrap(whole, _WIDTH, break_long_words=False, break_on_hyphens=False)
    return f"{name}:\t" + "\n\t".join(lines).replace("\xa0", " ")


@dataclass(frozen=True, slots=True)
class Utterance:
    """A line of CHAT, and the words as they were where the line cannot say them all."""

    line: str = field(repr=False)
    verbatim: str = field(repr=False)


def utterances(text: str, marks: Sequence[SpeechMark]) -> Iterator[Utterance]:
    """Yield a turn as CHAT has it: one utterance a sentence, each with one end.

    Parameters
    ----------
    text : str
        The words of a turn.
    marks : sequence of SpeechMark
        Its marks; each goes with the words that follow it.

    Yields
    ------
    Utterance
        In order.

    Examples
    --------
    >>> [one.line for one in utterances(*split_marks("Well, no. [laughs] I (pause 2s) see"))]
    ['Well , no .', '&=laughs I (2.) see . [+ nopunct]']
    """
    words, marks = split_marks(" ".join(join_marks(text, marks).split()))
    sentences = list(_sentences(words, marks))
    if any(_essence(*split_marks(join_marks(*one))) != _essence(*one) for one in sentences):
        sentences = [(words, marks)]  # a sign in one sentence opens what is closed in another
    yield from (_utterance(*one) for one in sentences)


def _sentences(words: str, marks: Sequence[SpeechMark]) -> Iterator[tuple[str, Sequence[SpeechMark]]]:
    """Yield the sentences with their marks; marks behind the last end are a sentence of their own."""
    begins = [0]
    for match in _SENTENCE_END.finditer(words):
        if not _SHORTENED.search(words[max(begins[-1], match.end() - _NEAR) : match.end()]):
            begins.append(match.end())
    if words and marks and marks[-1].at == len(words) and _ENDING.search(words):
        begins.append(len(words))
    places = [mark.at for mark in marks]
    for begin, end in pairwise([*begins, len(words)]):
        after = len(marks) if begin == begins[-1] else bisect_left(places, end)
        own = marks[bisect_left(places, begin) : after]
        yield words[begin:end].rstrip(), [replace(mark, at=mark.at - begin) for mark in own]


def _utterance(words: str, marks: Sequence[SpeechMark]) -> Utterance:
    """Write one sentence, and keep its words beside it unless the line is read as the same."""
    verbatim = join_marks(words, marks)
    line = _line(words, marks)
    if _essence(*split_marks(spoken(line))) == _essence(words, marks):
        return Utterance(line, "")
    if letters(spoken(line)) != letters(verbatim):  # a mark that CHAT would have as words
        line = _line(split_marks(verbatim)[0], ())
    return Utterance(line, verbatim)


def _essence(words: str, marks: Sequence[SpeechMark]) -> tuple[object, ...]:
    return words, [(mark.kind, mark.at, mark.seconds, _told(mark)) for mark in marks]


def _told(mark: SpeechMark) -> str:
    """Return what a mark says beyond its kind and length; pauses and unheard words say no more."""
    says_no_more = mark.kind == "pause" or _UNHEARD.fullmatch(mark.written)
    return "" if says_no_more else "".join(filter(str.isalnum, mark.written)).casefold()


def _line(words: str, marks: Sequence[SpeechMark]) -> str:
    """Write words, marks where they stand among them, and the end."""
    ending = _ENDING.search(words)
    end = ending.start() if ending else len(words)
    cuts = [0, *(min(mark.at, end) for mark in marks), end]
    parts = [_plain(words[begin:stop]) for begin, stop in pairwise(cuts)]
    parts[0] = parts[0].lstrip(",: ")
    coded = [_mark(mark) for mark in marks]
    if coded and not parts[0] and marks[0].kind == "overlap" and any([*coded[1:], *parts]):
        coded[0] = "+<"
    line = [parts[0], *(one for pair in zip(coded, parts[1:], strict=True) for one in pair)]
    return " ".join(filter(None, [*line, "" if any(line) else "0", _end(ending["signs"] if ending else "")]))


def _end(signs: str) -> str:
    if not signs:
        return f". {NO_END}"
    return _ENDINGS.get(signs) or _ENDINGS.get(signs[-1], signs[-1])


def _mark(mark: SpeechMark) -> str:
    """Return a mark as CHAT has it; what is left out stands in the words beside the line."""
    inside = mark.written.strip("[]()* ")
    if mark.kind in {"pause", "silence"} and mark.seconds is not None:
        return f"({mark.seconds:.3f}".rstrip("0") + ")"
    if mark.kind == "pause":
        return "(...)" if inside.casefold().startswith("long") else "(..)" if inside == ".." else "(.)"
    if mark.kind == "unclear":
        return "xxx"
    heard = "_".join(re.sub(r"[^\w' -]", "", inside).split())
    return "" if mark.kind == "time" or not heard else f"&={heard}"


def _plain(words: str) -> str:
    """Keep letters, digits, apostrophes and hyphens, and commas and colons between words: the rest are codes in CHAT.

    Examples
    --------
    >>> _plain('he said: "go (now)", at 10:30, for 2,500 & 3.5')
    'he said : go now , at 10:30 , for 2500 3_5'
    """
    tokens = _SIGN.sub(_sign, words).split()
    return " ".join(filter(None, map(_token, tokens)))


def _sign(sign: re.Match[str]) -> str:
    kind = sign.lastgroup or ("accent" if unicodedata.category(sign[0]).startswith("M") else "")
    kept = {"thousands": "", "point": "_", "clock": ":", "apostrophe": "'", "accent": sign[0], "stop": f" {sign[0]} "}
    return kept.get(kind, " ")


def _token(token: str) -> str:
    """Leave out what has no letter or digit; write a word that would be a code with one wide letter."""
    if token in {",", ":"}:
        return token
    token = (token.strip("'") if token[0] == token[-1] == "'" else token).strip("-")
    if not any(map(str.isalnum, token)):
        return ""
    return _CODE.sub(lambda code: chr(ord(code[0]) + _WIDE), token)
