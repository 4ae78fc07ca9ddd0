"""Wording of notes for the user."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from therapy_analytics.core.printable import counted


def passed_over_note(labels: Mapping[str, int]) -> Iterator[str]:
    """Yield a note on lines that begin as labels do and were not taken for turns, if there are any; it quotes none.

    Examples
    --------
    >>> list(passed_over_note({"Breathing": 2}))
    ['2 lines begin as a label does, but were not taken as the beginning of a turn: `tanalyze inspect` lists them.']
    """
    n = sum(labels.values())
    if n:
        verbs = "begins as a label does, but was" if n == 1 else "begin as a label does, but were"
        them = "it" if n == 1 else "them"
        yield f"{counted(n, 'line')} {verbs} not taken as the beginning of a turn: `tanalyze inspect` lists {them}."


def lost(lines: Sequence[str], what: str = "line") -> str:
    """Return the number of lines that are left out, and of their words.

    Examples
    --------
    >>> lost(["Page 1 of 2"])
    '1 line (4 words)'
    """
    return f"{counted(len(lines), what)} ({counted(sum(len(line.split()) for line in lines), 'word')})"
