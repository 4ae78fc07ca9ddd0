"""Captions of SubRip and WebVTT, and the lines that roll over from one to the next."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from therapy_analytics.readers._times import seconds

TIMES = re.compile(r"\s*([\d:.,]+)\s*-->\s*([\d:.,]+|(?=\S*\s*$))")
"""The line above the words of a caption, also where its end cannot be read."""
_BROKEN_OFF = re.compile(r"\n[ \t]*\n\d+[ \t]*(?:\n[\d:,. >-]*+)?\s*+\Z")
"""The number of a caption, with or without the beginning of its times, at the end of a file that was cut."""
_SKIPPED_BLOCK = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s|$)")
_WEBEX = re.compile(r'\d+ "([^"]+)"(?: \(\d*\))?\s*$')
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


def in_order(cues: Sequence[Cue]) -> list[Cue]:
    """Return captions in the order of their begins, where all have one."""
    begins = [cue.start_s for cue in cues if cue.start_s is not None]
    return (
        [cues[at] for at in sorted(range(len(cues)), key=begins.__getitem__)] if len(begins) == len(cues) else [*cues]
    )


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


def caption_cues(lines: list[str]) -> Iterator[Cue]:
    """Yield the captions of a text in the one or the other form; none where it is neither."""
    return (vtt_cues if lines[0].lstrip("\ufeff").startswith("WEBVTT") else srt_cues)(lines)


def srt_cues(lines: list[str]) -> Iterator[Cue]:
    """Yield the captions: all up to the number and times of the next, for an empty line ends none in some players."""
    found = [(at, match) for at, line in enumerate(lines) if "-->" in line and (match := TIMES.match(line))]
    if not found:
        return
    numbered = _is_number(lines, found[0][0])
    ends = [at - 1 if numbered and _is_number(lines, at) else at for at, _ in found[1:]]
    for (at, times), end in zip(found, [*ends, len(lines)], strict=True):
        words = lines[at + 1 : max(end, at + 1)]
        if end == len(lines):
            words = _BROKEN_OFF.sub("", "\n".join(["", *words])).split("\n")[1:]
        yield Cue(at + 2, seconds(times[1]), seconds(times[2]), words)


def _is_number(lines: list[str], at: int) -> bool:
    """Tell whether the line before is the number of a caption."""
    return at > 0 and lines[at - 1].strip("\ufeff \t").isdecimal()


def vtt_cues(lines: list[str]) -> Iterator[Cue]:
    """Yield the captions of WebVTT."""
    at = 0
    while at < len(lines):
        if _SKIPPED_BLOCK.match(lines[at]):
            at = _block_end(lines, at)
            continue
        times = TIMES.match(lines[at])
        at += 1
        if times:
            end = _block_end(lines, at)
            speaker = _WEBEX.match(lines[at - 2]) if at > 1 else None
            words = _without_id(lines, at, end)
            yield Cue(at + 1, seconds(times[1]), seconds(times[2]), words, speaker[1] if speaker else "")
            at = end


def _block_end(lines: list[str], at: int) -> int:
    """Return where a block ends: at an empty line; one of blanks is a line of words in rolling captions."""
    while at < len(lines) and lines[at] and not TIMES.match(lines[at]):
        if not lines[at].strip() and _begins_block(lines[at + 1 : at + 3]):
            return at
        at += 1
    return at


def _begins_block(lines: list[str]) -> bool:
    return any(map(TIMES.match, lines)) or any(map(_SKIPPED_BLOCK.match, lines[:1]))


def _without_id(lines: list[str], at: int, end: int) -> list[str]:
    """Return the words of a caption; the number of the next is none of them, where no empty line stands between."""
    runs_on = end < len(lines) and end > at and lines[end] and lines[end - 1].strip().isdecimal()
    return lines[at : end - 1 if runs_on else end]
