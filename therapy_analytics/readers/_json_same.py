"""The same talk in several forms beside each other, of which one is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from therapy_analytics.readers._columns import slug
from therapy_analytics.readers._json_lists import PIECES, STRONG, WEAK, Found
from therapy_analytics.readers._notes import counted

_PARTS_OF_A_RUN = frozenset(
    {"input", "inputs", "prompt", "output", "outputs", "response", "events", "calls", "steps", "history", "trace"}
)
"""Of a model, whose log has the messages of the whole talk beside them."""
_ABOUT_WORDS = """
summary summaries highlights action_items key_points topics chapters quotes evaluation evaluations judge judges grader
graders scorer scores rubric rubrics critic rejected
"""
_ABOUT = frozenset(_ABOUT_WORDS.split())
"""Of what is written about a talk, or was not said in it, beside the talk."""
_WORD = re.compile(r"\w+")
_COMPLETED = frozenset({"completion", "chosen", "response"})
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
    keys = {slug(key) for key, _ in inside}
    if keys & _ABOUT and keys - _ABOUT:
        inside = _without_remarks(inside)
    inside = _one_run(inside)
    if len({key for key, _ in inside}) > 1:
        inside = _whole_ones(inside)
    kept = _best(inside)
    parts = [found for key, found in kept if key in _PARTS_OF_A_RUN]
    held = [part for part in parts if any(_holds(one, part) for _, one in kept)]
    return [(key, found) for key, found in kept if not any(found is part for part in held)]


def _without_remarks(inside: list[tuple[str, Found]]) -> list[tuple[str, Found]]:
    """Leave out what is written about a talk; a note of the first session counts it."""
    rows = [row for key, found in inside if slug(key) in _ABOUT for row in found.session.rows]
    n_words = counted(sum(len(row.text.split()) for row in rows), "word")
    note = f"{counted(len(rows), 'message')} about the talk, or not said in it, left out ({n_words})."
    (key, first), *others = [one for one in inside if slug(one[0]) not in _ABOUT]
    session = replace(first.session, notes=(*first.session.notes, note))
    return [(key, replace(first, session=session)), *others]


def _one_run(inside: list[tuple[str, Found]]) -> list[tuple[str, Found]]:
    """Put what a model was given and what came then together, where these are all that there is."""
    by_key = {slug(key): found for key, found in inside}
    if len(inside) != 2 or "prompt" not in by_key or not by_key.keys() & _COMPLETED:
        return inside
    begun, ended = by_key.pop("prompt").session, next(iter(by_key.values()))
    if begun.rows == ended.session.rows[: len(begun.rows)]:
        return inside
    rows, notes = [*begun.rows, *ended.session.rows], (*begun.notes, *ended.session.notes)
    return [("", replace(ended, session=replace(ended.session, rows=rows, notes=notes)))]


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
