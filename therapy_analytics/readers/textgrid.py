"""Praat TextGrids: an interval tier for each speaker, in the long or the short text form.

By hand: the packages for TextGrids read no more than this, and do not tell what is wrong with a broken file, or on
which line.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from therapy_analytics.core.printable import counted
from therapy_analytics.readers._tier_names import Annotation, Tier
from therapy_analytics.readers._tiers import session_of
from therapy_analytics.readers.base import RawSession, Source, reader

_BINARY = b"ooBinaryFile"
_MAGIC = "ooTextFile"
_TOKEN = re.compile(
    r'"(?P<text>(?:[^"]++|"")*+)(?P<close>"?)'
    r"|!.*"
    r"|<(?P<flag>\w+)>"
    r"|(?<!\S)(?P<number>[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)(?!\S)"
)
_REMEDY = "Open it in Praat and save it as a text file"

Take = Callable[[str], str]
"""Returns the value of the next token, which must be of a kind."""


class _Token(NamedTuple):
    """A text, number or flag, and its offset; everything else is decoration of the long form."""

    kind: str
    value: str
    at: int


def sniff(source: Source) -> float:
    """Be certain of a file that begins as Praat's objects do."""
    return 1.0 if _MAGIC in source.head[:100] or source.data.startswith(_BINARY) else 0.0


@reader("textgrid", suffixes=(".textgrid",), sniff=sniff, one_session=True)
def read_textgrid(source: Source) -> Iterator[RawSession]:
    """Praat TextGrids with an interval tier for each speaker."""
    if source.data.startswith(_BINARY):
        raise source.error("this is a Praat file in binary form", _REMEDY)
    take = partial(_take, source, _tokens(source.text))
    if take("text") != _MAGIC or take("text") != "TextGrid":
        raise source.error("this Praat file holds another kind of object than a TextGrid", "Save the TextGrid alone")
    take("number"), take("number")
    tiers = [_tier(take) for _ in range(_count(take))] if take("flag") == "exists" else []
    session = session_of(source, [tier for is_points, tier in tiers if not is_points])
    points = [tier for is_points, tier in tiers if is_points]
    n_points = sum(len(tier.spans) for tier in points)
    notes = [f"{counted(len(points), 'point tier')} left out ({counted(n_points, 'point')})."] if points else []
    yield replace(session, notes=(*notes, *session.notes))


def _tokens(text: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "close":
            yield _Token("text" if match["close"] else "open text", match["text"].replace('""', '"'), match.start())
        elif kind is not None:
            yield _Token(kind, match[kind], match.start())


def _take(source: Source, tokens: Iterator[_Token], kind: str) -> str:
    """Return the value of the next token, which must be of a kind."""
    token = next(tokens, None)
    if token is None or token.kind == "open text":
        line = source.text.count("\n", 0, token.at) + 1 if token else None
        raise source.error("the file breaks off in the middle", _REMEDY, line=line)
    if token.kind != kind:
        line = source.text.count("\n", 0, token.at) + 1
        raise source.error(f"a {token.kind} stands here where a {kind} should be", _REMEDY, line=line)
    return token.value


def _tier(take: Take) -> tuple[bool, Tier]:
    """Return whether a tier holds points, and the tier."""
    is_points = take("text") == "TextTier"
    name = take("text")
    take("number"), take("number")
    spans: list[Annotation] = []
    for _ in range(_count(take)):
        begin = float(take("number"))
        end = begin if is_points else float(take("number"))
        spans.append(Annotation(begin, end, take("text")))
    return is_points, Tier(name, spans)


def _count(take: Take) -> int:
    """Return the number of elements that follow; one too large for any file ends in the error of a broken-off file."""
    return int(min(float(take("number")), sys.maxsize // 2))
