"""Plain text with speaker labels: ``T: ...``, ``Counselor 1: ...``, ``user: ...``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from therapy_analytics.readers._base import RawSession, Row, Source, reader
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.readers._times import seconds
from therapy_analytics.session import Role

_STAMP = r"[\[(]?\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d+)?[\])]?"
_BEGIN = rf"^[ \t>#*_]*(?:(?P<before>{_STAMP})[ \t*_-]*)?(?P<label>[^\W\d_][^:\uff1a\n]{{0,39}}?)[ \t*_]*"
_WITH_COLON = re.compile(rf"{_BEGIN}(?:(?P<after>{_STAMP})[ \t*_]*)?[:\uff1a][*_]*(?P<words>.*)$")
_ALONE = re.compile(rf"{_BEGIN}(?P<after>{_STAMP})?[ \t*_]*(?P<words>)$")
_HEADINGS = tuple(
    ["action", "answer", "date", "developer", "example", "exercise", "function", "goal", "homework", "idea", "important", "key", "keyword", "note", "notes", "option", "other", "plan", "point", "practice", "prompt", "ps", "question", "remember", "reminder", "result", "sentence", "step", "subject", "summary", "takeaway", "technique", "thought", "tip", "title", "tool", "topic", "warning"]
)
"""First words of lines with a colon inside a model's turns: no speakers, unless they name a role and come back."""
_TRUST = 3
"""Role labels are the speakers unless other labels are more than this many times as frequent."""


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
    labels = _labels(Counter(_key(match["label"]) for line in lines if (match := _WITH_COLON.match(line))))
    if len(labels) > 1:
        return _WITH_COLON, labels
    alone = _labels(Counter(_key(match["label"]) for match in map(_ALONE.match, lines) if match and _by_form(match)))
    return (_ALONE, alone) if len(alone) > len(labels) else (_WITH_COLON, labels)


def _by_form(match: re.Match[str]) -> bool:
    """Without a colon, a line is a label only if it names a role or has a time."""
    return bool(match["before"] or match["after"] or role_of_label(match["label"]))


def _labels(counts: Counter[str]) -> frozenset[str]:
    """Tell speakers from a colon inside speech.

    Labels that name a role are speakers. Where those do not cover both roles, or stand only
    in a heading, so are labels of at most three words that come back and make up a tenth of all.
    """
    counts = Counter({label: n for label, n in counts.items() if not _is_heading(label, n)})
    known = _known(counts)
    least = max(2, counts.total() / 10)
    names = {label for label, n in counts.items() if n >= least and len(label.split()) <= 3}
    strangers = names - set(known)
    trusted = _TRUST * sum(counts[label] for label in known) >= sum(counts[label] for label in strangers)
    if {"therapist", "client"} <= set(known.values()) and trusted:
        return frozenset(known)
    main = {label for label, role in known.items() if role != "other"} if trusted else set()
    spoken = main | names
    return frozenset(spoken | set(known) if spoken and trusted else spoken)


def _is_heading(label: str, n: int) -> bool:
    first, *_ = re.split(r"[\W\d_]+", label)
    return first in _HEADINGS and (n == 1 or role_of_label(label) is None)


def _known(counts: Counter[str]) -> dict[str, Role]:
    """Labels that name a role: the commonest of each role, and others that come back."""
    known: dict[str, Role] = {}
    for label, n in counts.most_common():
        role = role_of_label(label)
        if role and (n > 1 or role not in known.values()):
            known[label] = role
    return known
