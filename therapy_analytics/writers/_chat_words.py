"""The words and marks of a turn as utterances of CHAT."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from therapy_analytics.readers import join_marks
from therapy_analytics.readers._chat_codes import NO_END, letters, spoken
from therapy_analytics.readers._marks import split_marks
from therapy_analytics.session import Mark

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


@dataclass(frozen=True, slots=True)
class Utterance:
    """A line of CHAT, and the words as they were where the line cannot say them all."""

    line: str = field(repr=False)
    verbatim: str = field(repr=False)


def utterances(text: str, marks: Sequence[Mark]) -> Iterator[Utterance]:
    """Yield a turn as CHAT has it: one utterance a sentence, each with one end.

    Parameters
    ----------
    text : str
        The words of a turn.
    marks : sequence of Mark
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


def _sentences(words: str, marks: Sequence[Mark]) -> Iterator[tuple[str, Sequence[Mark]]]:
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


def _utterance(words: str, marks: Sequence[Mark]) -> Utterance:
    """Write one sentence, and keep its words beside it unless the line is read as the same."""
    verbatim = join_marks(words, marks)
    line = _line(words, marks)
    if _essence(*split_marks(spoken(line))) == _essence(words, marks):
        return Utterance(line, "")
    if letters(spoken(line)) != letters(verbatim):  # a mark that CHAT would have as words
        line = _line(split_marks(verbatim)[0], ())
    return Utterance(line, verbatim)


def _essence(words: str, marks: Sequence[Mark]) -> tuple[object, ...]:
    return words, [(mark.kind, mark.at, mark.seconds, _told(mark)) for mark in marks]


def _told(mark: Mark) -> str:
    """Return what a mark says beyond its kind and length; pauses and unheard words say no more."""
    says_no_more = mark.kind == "pause" or _UNHEARD.fullmatch(mark.written)
    return "" if says_no_more else "".join(filter(str.isalnum, mark.written)).casefold()


def _line(words: str, marks: Sequence[Mark]) -> str:
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


def _mark(mark: Mark) -> str:
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
