"""Captions of formats with a field for who speaks, where some have a label before the words instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from therapy_analytics.readers._caption_labels import label_of, labels_of
from therapy_analytics.readers._cues import Cue, plain


def in_order(cues: Sequence[Cue]) -> list[Cue]:
    """Return captions in the order of their begins, where all have one."""
    begins = [cue.start_s for cue in cues if cue.start_s is not None]
    return (
        [cues[at] for at in sorted(range(len(cues)), key=begins.__getitem__)] if len(begins) == len(cues) else [*cues]
    )


def with_own_labels(cues: Sequence[Cue]) -> list[Cue]:
    """Give captions without a named speaker the one whose label they begin with, where others have a named speaker.

    Parameters
    ----------
    cues : sequence of Cue
        In order; where none names a speaker, labels are left to who reads captions without such names.

    Examples
    --------
    >>> with_own_labels([Cue(1, 0, 1, ["Hello."], "Ann"), Cue(2, 1, 2, ["LI: Hi."])])[1].speaker
    'LI'
    """
    names = {cue.speaker.casefold() for cue in cues if cue.speaker}
    if not names:
        return list(cues)
    labels = labels_of([[_as_label(cue.speaker) + plain(line) for line in cue.lines] for cue in cues]).names
    return [cue if cue.speaker else _labelled(cue, names, labels) for cue in cues]


def _as_label(speaker: str) -> str:
    return f"{speaker}: " if speaker else ""


def _labelled(cue: Cue, names: set[str], labels: frozenset[str]) -> Cue:
    label, end = label_of(cue.lines[0])
    if label not in labels and (not label or label.casefold() not in names):
        return cue
    return replace(cue, speaker=label, lines=[cue.lines[0][end:], *cue.lines[1:]])
