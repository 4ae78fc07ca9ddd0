"""Captions, and the lines that roll over from one to the next."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

TIMES = re.compile(r"\s*([\d:.,]+)\s*-->\s*([\d:.,]+)")
_TAG = re.compile(r"</?(?:[a-zA-Z][^<>]*|\d[\d:.]*)?>|\{\\[a-zA-Z0-9][^{}]*\}")


@dataclass(frozen=True, slots=True)
class Cue:
    """A caption: the line of its first words, its times in seconds, its lines of words, the name of its speaker."""

    place: int
    start_s: float | None
    end_s: float | None
    lines: list[str]
    speaker: str = ""


def plain(text: str) -> str:
    r"""Return the words without markup, on one line.

    Examples
    --------
    >>> plain(r"{\an8}<i>you &amp; me</i>")
    'you & me'
    """
    if "<" in text or "{" in text:
        text = _TAG.sub("", text)
    return html.unescape(" ".join(text.split()))


def without_repeats(cues: Sequence[Cue]) -> tuple[list[Cue], int]:
    """Blank the lines that roll over from the caption before, where half of the captions begin with such a line.

    Returns
    -------
    list of Cue
        Those with words.
    int
        How many lines were blanked.
    """
    shown = [[words for line in cue.lines if (words := plain(line))] for cue in cues]
    full = [(cue, lines) for cue, lines in zip(cues, shown, strict=True) if lines]
    repeats = [0, *(_n_repeated(before, lines) for (_, before), (_, lines) in pairwise(full))]
    grown = [False, *(lines[0].startswith(f"{before[-1]} ") for (_, before), (_, lines) in pairwise(full))]
    rolled = sum(map(bool, map(max, repeats, grown)))
    if rolled < 2 or 2 * rolled < len(full) - 1:
        return [cue for cue, _ in full], 0
    rest = [
        _blanked(cue, n) if n or not grows else _cut(cue, full[at - 1][1][-1])
        for at, ((cue, _), n, grows) in enumerate(zip(full, repeats, grown, strict=True))
    ]
    return rest, sum(max(n, int(grows)) for n, grows in zip(repeats, grown, strict=True))


def _n_repeated(before: list[str], lines: list[str]) -> int:
    """Count the lines at the end of a caption that stand again at the beginning of the next."""
    most = min(len(before), len(lines))
    return next((n for n in range(most, 0, -1) if before[-1] == lines[n - 1] and before[-n:] == lines[:n]), 0)


def _blanked(cue: Cue, n: int) -> Cue:
    lines = list(cue.lines)
    for at, line in enumerate(lines):
        if n and plain(line):
            lines[at] = ""
            n -= 1
    return replace(cue, lines=lines)


def _cut(cue: Cue, known: str) -> Cue:
    """Take the words of the caption before off the line that has grown by some."""
    at = next(at for at, line in enumerate(cue.lines) if plain(line))
    more = html.escape(plain(cue.lines[at])[len(known) :], quote=False)
    return replace(cue, lines=[*cue.lines[:at], more, *cue.lines[at + 1 :]])
