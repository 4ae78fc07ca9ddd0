"""Captions of formats with a field for who speaks, where some have a label before the words instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from therapy_analytics.readers._caption_labels import label_of
from therapy_analytics.readers._cues import Cue
from therapy_analytics.readers._roles import role_of_label


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
    return [_labelled(cue, names) if names and not cue.speaker else cue for cue in cues]


def _labelled(cue: Cue, names: set[str]) -> Cue:
    label, end = label_of(cue.lines[0])
    known = label.casefold() in names or role_of_label(label) is not None
    if not label or not (known or label.isupper() or label.istitle()):
        return cue
    return replace(cue, speaker=label, lines=[cue.lines[0][end:], *cue.lines[1:]])
