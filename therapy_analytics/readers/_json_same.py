"""The same talk in several forms beside each other, of which one is read."""

from __future__ import annotations

import re
from collections.abc import Sequence

from therapy_analytics.readers._json_lists import PIECES, STRONG, WEAK, Found

_PARTS_OF_A_RUN = frozenset(
    {"input", "inputs", "prompt", "output", "outputs", "response", "events", "calls", "steps", "history", "trace"}
)
"""Of a model, whose log has the messages of the whole talk beside them."""
_WORD = re.compile(r"\w+")
_N = 4
_FEWEST = 12
"""Sequences of four words, from which on two forms can be held against each other."""
_SAME = 0.8
_MOST_KEYS = 12


def without_repeats(inside: list[tuple[str, Found]]) -> list[tuple[str, Found]]:
    """Leave out what is no session, or the same one in another form, beside a list of messages.

    Parameters
    ----------
    inside : list of (str, Found)
        What was found under each key of an object.
    """
    if len({key for key, _ in inside}) > 1:
        inside = _whole_ones(inside)
    kept = _best(inside)
    parts = [found for key, found in kept if key in _PARTS_OF_A_RUN]
    held = [part for part in parts if any(_holds(one, part) for _, one in kept)]
    return [(key, found) for key, found in kept if not any(found is part for part in held)]


def _best(inside: list[tuple[str, Found]]) -> list[tuple[str, Found]]:
    top = max(found.form for _, found in inside)
    least = min(WEAK, top)
    if any(found.form == STRONG and found.direct for _, found in inside):
        least = STRONG
    return [(key, found) for key, found in inside if found.form >= least]


def _whole_ones(inside: list[tuple[str, Found]]) -> list[tuple[str, Found]]:
    """Leave out what is said again under another key, nearly all of it, of two equals the worse form."""
    if len({key for key, _ in inside}) > _MOST_KEYS:
        return inside
    order = sorted(inside, key=lambda one: _rank(one[1]), reverse=True)
    sequences = {id(found): _sequences(found) for _, found in inside}
    kept: list[tuple[str, Found]] = []
    for one in order:
        key, found = one
        own = sequences[id(found)]
        others = [sequences[id(other)] for name, other in kept if name != key]
        if len(own) < _FEWEST or not any(_is_in(own, other) for other in others):
            kept = [other for other in kept if other[0] == key or not _is_fragment(other[1], found, sequences)]
            kept.append(one)
    return [one for one in inside if any(one is other for other in kept)]


def _is_fragment(part: Found, whole: Found, sequences: dict[int, frozenset[tuple[str, ...]]]) -> bool:
    """Tell what is quoted from a talk that stands whole in another form: less than half of it."""
    own, all_said = sequences[id(part)], sequences[id(whole)]
    return len(own) >= _FEWEST and 2 * len(own) < len(all_said) and whole.form <= PIECES and _is_in(own, all_said)


def _is_in(own: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> bool:
    return len(own & other) >= _SAME * len(own)


def _sequences(found: Found) -> frozenset[tuple[str, ...]]:
    words = [word for row in found.session.rows for word in _WORD.findall(row.text.casefold())]
    return frozenset(zip(*(words[at:] for at in range(_N)), strict=False))


def _rank(found: Found) -> tuple[bool, bool, int, int]:
    """Return what orders forms of one talk: messages before all others, then those with times."""
    return found.form == STRONG, _has_times(found), found.form, _n_speakers(found)


def _n_speakers(found: Found) -> int:
    return len({row.speaker for row in found.session.rows if row.speaker})


def _has_times(found: Found) -> bool:
    return any(row.start_s is not None for row in found.session.rows)


def _holds(whole: Found, part: Found) -> bool:
    """Tell whether all that is said in one session is said in a longer one, message after message."""
    said, inside = (_said(one) for one in (whole, part))
    places = range(len(said) - len(inside) + 1) if len(said) > len(inside) > 0 else ()
    return any(said[at] == inside[0] and said[at : at + len(inside)] == inside for at in places)


def _said(found: Found) -> Sequence[str]:
    return [row.text for row in found.session.rows]
