"""Numbers as people read them."""

from __future__ import annotations

from collections.abc import Sequence


def per_cent(share: float) -> str:
    """Return a share in per cent, none that is not quite 0 or all as such.

    Examples
    --------
    >>> per_cent(0.621), per_cent(0.001), per_cent(0.999), per_cent(1.0)
    ('62%', '<1%', '>99%', '100%')
    """
    if 0 < share < 0.005:
        return "<1%"
    if 0.995 <= share < 1:
        return ">99%"
    return f"{100 * share:.0f}%"


def interval(low: float, high: float) -> str:
    """Return two ends in per cent.

    Examples
    --------
    >>> interval(0.442, 0.773)
    '44 to 77%'
    """
    return f"{100 * low:.0f} to {100 * high:.0f}%"


def listed(names: Sequence[str], most: int) -> str:
    """Return names as a list with "and", the rest as a number.

    Examples
    --------
    >>> listed(["A", "B", "C"], 3), listed(["A", "B", "C"], 1), listed(["A"], 3)
    ('A, B and C', 'A and 2 others', 'A')
    """
    rest = len(names) - most
    if rest > 0:
        return f"{', '.join(names[:most])} and {rest} {plural(rest, 'other', 'others')}"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def plural(n: float, one: str, several: str) -> str:
    """Return the word for so many."""
    return one if n == 1 else several
