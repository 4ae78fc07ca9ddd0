"""Labels inside the words of captions: which are speakers, and in which form they are written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from therapy_analytics.readers._labelled_lines import CHANGE
from therapy_analytics.readers._labels import Beginning, is_heading, is_name, speakers_among
from therapy_analytics.readers.marks import split_marks
from therapy_analytics.readers.roles import role_of_label

_NAME = r"[^\W\d_][\w.'\u2019-]*(?:,? [\w.'\u2019()&-]+){0,4}"
_LABEL = re.compile(rf"(?:>>+|[-\u2010-\u2015])?\s*(?:\[({_NAME})\]|({_NAME}))\s?(?::(?:\s+(?=\S)|\s*$)|\uff1a\s*)")
_BEFORE_CHEVRON = re.compile(r"\s+(?=>>)")
_IN_BRACKETS = re.compile(rf"(?:[-\u2010-\u2015]\s*)?[\[(](?P<label>{_NAME})[\])]\s*(?P<words>.*)$")
_BEFORE_DASH = re.compile(rf"(?P<label>{_NAME}) [-\u2013\u2014] (?P<words>\S.*)$")
_ABOVE = re.compile(r"(?P<label>[^\W\d_][\w.'\u2019-]*(?: [\w.'\u2019()&-]+){0,3})(?<![.,!?])(?P<words>)$")
_SOUNDS = frozenset({"music", "applause", "noise", "background noise", "cheering", "coughs", "cough", "phone rings"})
_FEW = 0.1
_EVEN = 0.5


class CaptionLabels(NamedTuple):
    """The speakers; the pattern of a label without a colon, where there are such; what was not taken for a label."""

    names: frozenset[str]
    bare: re.Pattern[str] | None = None
    passed_over: Mapping[str, int] = MappingProxyType({})

    def with_colons(self, lines: list[str]) -> list[str]:
        """Write labels without a colon as others are written."""
        if self.bare is None:
            return lines
        done = list(lines)
        for at in _places(lines, self.bare):
            match = self.bare.match(lines[at])
            if match and match["label"] in self.names:
                done[at] = f"{match['label']}: {match['words']}".rstrip()
        return done


def line_parts(line: str) -> list[str]:
    """Split a line before each mark of change."""
    return _BEFORE_CHEVRON.split(line) if CHANGE in line else [line]


def label_of(line: str) -> tuple[str, int]:
    """Return the label at the beginning of a line, and where it ends; ``and I said:`` alone on a line is none."""
    match = _LABEL.match(line)
    if not match:
        return "", 0
    label = match[1] or match[2]
    is_speech = match.end() == len(line) and any(word[0].islower() for word in label.split())
    return ("", 0) if is_speech and not role_of_label(label) else (label, match.end())


def labels_of(cues: Sequence[list[str]]) -> CaptionLabels:
    """Tell speakers from colons inside speech: they come back, or look like speakers, or begin every caption.

    A name that occurs only once beside others that come back is a speaker as well, as each caption has its time. A
    single name that comes back now and then and does not look like a label is speech; a single one that comes back
    often has a partner, who may be named only once.
    """
    lines = [(label, part) for cue in cues for line in cue for part in line_parts(line) if (label := label_of(part)[0])]
    counts = Counter(label for label, _ in lines)
    if cues and all(label_of(next(filter(None, cue)))[0] for cue in cues):
        lower_case = 2 * sum(n for label, n in counts.items() if label.islower()) > counts.total()
        return CaptionLabels(
            frozenset(
                label
                for label, n in counts.items()
                if role_of_label(label)
                or (is_name(label, lower_case=lower_case) and not is_heading(label.casefold(), n))
            )
        )
    sure = {  # roles, names in capitals, and what follows a mark of change
        label
        for label, line in lines
        if role_of_label(label) or (label.isupper() and len(label) > 2) or line.startswith(CHANGE)
    }
    found, passed_over = speakers_among([Beginning(label.casefold(), label, timed=True) for label, _ in lines])
    labels = sure | {label for label in counts if label.casefold() in found}
    if len(labels) == 1 and not sure and max(counts.values()) < _FEW * len(cues):
        labels = set()
    partners = {label for label in counts if label.istitle()} if len(labels) == 1 else set()
    marked = any(CHANGE in line for cue in cues for line in cue)
    passed_over = Counter({label: n for label, n in passed_over.items() if label not in labels | partners})
    with_colon = CaptionLabels(frozenset(labels | partners), passed_over=passed_over)
    if sure or marked or len(with_colon.names) > 1:
        return with_colon
    without = _bare_labels(cues)
    return without if without.names else with_colon


def _bare_labels(cues: Sequence[list[str]]) -> CaptionLabels:
    """Find labels without a colon, in the first form that most captions have; of two named roles, some are enough."""
    for bare in (_IN_BRACKETS, _ABOVE, _BEFORE_DASH):
        found = [
            (at, match["label"])
            for at, cue in enumerate(cues)
            for place in _places(cue, bare)
            if (match := bare.match(cue[place])) and _may_be_a_name(match["label"])
        ]
        known, _ = speakers_among([Beginning(label.casefold(), label) for _, label in found], len(cues))
        begins = {at for at, label in found if label.casefold() in known}
        roles = {role_of_label(label) for label in known}
        share = _FEW if {"therapist", "client"} <= roles and 0 in begins else _EVEN
        if len(known) > 1 and len(begins) >= share * len(cues):
            return CaptionLabels(frozenset(label for _, label in found if label.casefold() in known), bare)
    return CaptionLabels(frozenset())


def _places(lines: list[str], bare: re.Pattern[str]) -> list[int]:
    """Return the lines that may begin with a label: one above the words needs words below."""
    filled = [at for at, line in enumerate(lines) if line]
    return filled if bare is not _ABOVE else filled[: len(filled) > 1]


def _may_be_a_name(label: str) -> bool:
    """Tell a name from a sound: ``[laughs]``, ``(music)``."""
    _, marks = split_marks(f"[{label}]")
    is_sound = any(mark.kind != "event" for mark in marks) or label.casefold() in _SOUNDS
    return not is_sound and (not label[0].islower() or role_of_label(label) is not None or "_" in label)
