"""Plain text with speaker labels: ``T: ...``, ``Counselor 1: ...``, ``user: ...``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from therapy_analytics.readers._base import RawSession, Row, Source, reader
from therapy_analytics.readers._labels import speakers
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.readers._times import seconds

_STAMP = r"[\[(]?\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d+)?[\])]?"
_LABEL = r"[^\W\d_](?:[^:\uff1a\t,;|]|, ){0,39}?"
_COLON = r"(?:(?<!\d)[:\uff1a]|[:\uff1a](?!\d\d\b))"  # not the one in 10:30
_BEGIN = rf"^[ \t>#*_]*(?:(?P<before>{_STAMP})[ \t*_-]*)?(?P<label>{_LABEL})[ \t*_]*+"
_WITH_COLON = re.compile(rf"{_BEGIN}(?:(?P<after>{_STAMP})[ \t*_]*+)?{_COLON}[*_]*(?P<words>.*)$")
_ALONE = re.compile(rf"{_BEGIN}(?P<after>{_STAMP})?[ \t*_]*+(?P<words>)$")


def sniff(source: Source) -> float:
    """Find it plausible where two labels take turns, more so under a text suffix."""
    lines = source.head.split("\n")
    line_form, labels = _layout(lines)
    if not labels:
        return 0.0
    labelled = sum(_labelled(line, line_form, labels) is not None for line in lines)
    share = labelled / max(sum(map(bool, map(str.strip, lines))), 1)
    return 0.5 + 0.2 * share if len(labels) > 1 else 0.3


@reader("labelled_text", suffixes=(".txt", ".text", ".md"), sniff=sniff)
def read_labelled_text(source: Source) -> Iterator[RawSession]:
    """Text in which each turn begins with the speaker's label, and a colon or a line of its own."""
    line_form, labels = _layout(source.lines)
    if not labels:
        raise source.error(
            "no speaker labels were found", 'Begin each turn with a label and a colon, as in "Therapist:"'
        )
    turns: list[tuple[int, re.Match[str], list[str]]] = []
    preamble = 0
    for number, line in enumerate(source.lines, start=1):
        match = _labelled(line, line_form, labels)
        if match:
            turns.append((number, match, [match["words"]]))
        elif turns:
            turns[-1][2].append(line)
        else:
            preamble += bool(line.strip())
    notes = (f"{counted(preamble, 'line')} before the first speaker label left out.",) if preamble else ()
    yield RawSession("", [_row(*turn) for turn in turns], notes=notes)


def _row(number: int, label: re.Match[str], lines: list[str]) -> Row:
    stamp = seconds(label["before"] or label["after"])
    return Row(label["label"].strip(), "\n".join(lines), number, stamp)


def _labelled(line: str, line_form: re.Pattern[str], labels: frozenset[str]) -> re.Match[str] | None:
    match = line_form.match(line)
    return match if match and _key(match["label"]) in labels else None


def _key(label: str) -> str:
    return " ".join(label.casefold().split())


def _layout(lines: list[str]) -> tuple[re.Pattern[str], frozenset[str]]:
    """Return how the lines with labels look, and the labels: with a colon, else alone on a line."""
    labels = speakers([_key(match["label"]) for line in lines if (match := _WITH_COLON.match(line))])
    if len(labels) > 1:
        return _WITH_COLON, labels
    alone = speakers([_key(match["label"]) for match in map(_ALONE.match, lines) if match and _by_form(match)])
    return (_ALONE, alone) if len(alone) > len(labels) else (_WITH_COLON, labels)


def _by_form(match: re.Match[str]) -> bool:
    """Without a colon, a line is a label only if it names a role or has a time."""
    return bool(match["before"] or match["after"] or role_of_label(match["label"]))
