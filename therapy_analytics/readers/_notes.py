"""Wording of what a reader of the results should know."""

from __future__ import annotations


def counted(n: int, what: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(3, "row")
    ('1 row', '3 rows')
    """
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
