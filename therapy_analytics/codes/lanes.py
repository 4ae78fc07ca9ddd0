"""The lanes on which timelines mark turns that have a code: each code says in its codebook on which."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from therapy_analytics.codes.codebook import Code, Codebook, builtin_codebooks
from therapy_analytics.core.session import Role


@dataclass(frozen=True, slots=True)
class Lane:
    """One lane.

    Attributes
    ----------
    name : str
        As in ``question``, or ``feeling +/-`` where the marks of some codes point down.
    role : {"therapist", "client"}
        Whose turns it marks.
    up, down : tuple of str
        Columns of the codes whose marks point up (or simply stand there), and of those whose marks point down.
    """

    name: str
    role: Role
    up: tuple[str, ...]
    down: tuple[str, ...] = ()


def books_in_order() -> list[Codebook]:
    """Return the built-in codebooks in the order of figures: coarse codes first, then those that divide them."""
    return sorted(builtin_codebooks(), key=lambda book: (book.place, book.id))


def name_of_lane(code: Code) -> str:
    """Return the name of the lane that marks a code; empty where none does."""
    word, _, sign = code.lane.rpartition(" ")
    return f"{word} +/-" if sign in ("+", "-") else code.lane


def lanes(columns: Iterable[str]) -> list[Lane]:
    """Return the lanes for which a table has columns, the therapist's first.

    Notes
    -----
    A lane marks the codes of the first book that has any of it, and of these not the kinds of other codes: the code of
    a group goes before those that divide the group.

    Examples
    --------
    >>> [(lane.name, lane.up, lane.down) for lane in lanes(["bolt_positive_feeling", "bolt_changing", "mi_change"])]
    [('change', ('mi_change',), ()), ('feeling +/-', ('bolt_positive_feeling',), ())]
    """
    there = set(columns)
    found: dict[str, list[Code]] = {}
    for book in books_in_order():
        for code in book.codes:
            if code.lane and not code.parent:
                own = found.setdefault(name_of_lane(code), [])
                own += [code] if code.column in there and (not own or own[0].book == book.id) else []
    shown = []
    for name, codes in found.items():
        down = tuple(code.column for code in codes if code.lane.endswith(" -"))
        up = tuple(code.column for code in codes if code.column not in down)
        shown += [Lane(name, codes[0].role, up, down)] if codes else []
    return sorted(shown, key=lambda lane: lane.role != "therapist")
