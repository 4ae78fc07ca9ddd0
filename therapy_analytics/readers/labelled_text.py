"""Plain text with speaker labels: ``T: ...``, ``Counselor 1: ...``, ``user: ...``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from therapy_analytics.readers._base import RawSession, Row, Source, reader
from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.readers._times import seconds

_STAMP = r"[\[(]?\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d+)?[\])]?"
_LINE = re.compile(
    rf"^[ \t>#*_]*(?:(?P<before>{_STAMP})[ \t*_-]*)?"
    rf"(?P<label>[^\W\d_][^:\uff1a\n]{{0,39}}?)[ \t*_]*"
    rf"(?:(?P<after>{_STAMP})[ \t*_]*)?[:\uff1a][*_]*(?:[ \t]+|$|(?=\S))(?P<words>.*)$"
)


def sniff(source: Source) -> float:
    """Find it plausible where two labels take turns, more so under a text suffix."""
    lines = source.head.splitlines()
    labels = _labels(lines)
    if not labels:
        return 0.0
    share = sum(_labelled(line, labels) is not None for line in lines) / max(sum(map(bool, map(str.strip, lines))), 1)
    return 0.5 + 0.2 * share if len(labels) > 1 else 0.3


@reader("labelled_text", suffixes=(".txt", ".text", ".md"), sniff=sniff)
def read_labelled_text(source: Source) -> Iterator[RawSession]:
    """Text in which each turn begins with the speaker's label and a colon."""
    lines = source.text.splitlines()
    labels = _labels(lines)
    if not labels:
        raise source.error(
            "no speaker labels were found", 'Begin each turn with a label and a colon, as in "Therapist:"'
        )
    rows: list[Row] = []
    preamble = 0
    for number, line in enumerate(lines, start=1):
        match = _labelled(line, labels)
        if match:
            stamp = seconds(match["before"] or match["after"])
            rows.append(Row(match["label"].strip(), match["words"], number, stamp))
        elif rows:
            rows[-1] = _continued(rows[-1], line)
        else:
            preamble += bool(line.strip())
    notes = (f"{preamble} lines before the first speaker label were left out.",) if preamble else ()
    yield RawSession("", rows, notes=notes)


def _continued(row: Row, line: str) -> Row:
    return Row(row.speaker, f"{row.text}\n{line}", row.place, row.start_s)


def _labelled(line: str, labels: frozenset[str]) -> re.Match[str] | None:
    match = _LINE.match(line)
    return match if match and _key(match["label"]) in labels else None


def _key(label: str) -> str:
    return " ".join(label.casefold().split())


def _labels(lines: list[str]) -> frozenset[str]:
    """Tell speakers from a colon inside speech.

    Labels that name a role are speakers. Where those do not cover both roles, so are labels
    of at most three words that come back and make up a tenth of all.
    """
    counts: Counter[str] = Counter()
    for line in lines:
        match = _LINE.match(line)
        if match:
            counts[_key(match["label"])] += 1
    known = {label: role for label in counts if (role := role_of_label(label))}
    if {"therapist", "client"} <= set(known.values()):
        return frozenset(known)
    least = max(2, sum(counts.values()) / 10)
    names = {label for label, n in counts.items() if n >= least and len(label.split()) <= 3}
    spoken = {label for label, role in known.items() if role != "other"} | names
    return frozenset(spoken) | (frozenset(known) if spoken else frozenset())
