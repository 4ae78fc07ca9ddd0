"""What led to the codes of a session, and the feelings that the therapist named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from therapy_analytics.report._files import Columns, number, plain, read_columns

WORD = "word"
MOST_WORDS, MOST_OTHERS = 5, 3
"""So many words, and so many other reasons, of each code of a turn: those that weigh most."""
OTHERS = ("form", "code", "before", "after", "fast", "encoder")
"""Reasons whose names are the tagger's own. What is not named here does not reach the page: it might hold words."""


def evidence(folder: Path, *, quotes: bool) -> dict[str, Any]:
    """Return the words (with quotes only) and the other reasons for the codes that turns have or nearly have."""
    table = read_columns(folder / "evidence.csv", ("turn", "code", "kind", "name", "start", "end", "weight"))
    if not table:
        return {}
    words: dict[str, list[list[Any]]] = {}
    others: dict[str, list[list[Any]]] = {}
    for code, turn, kind, name, start, end, weight in _strongest(table):
        if kind != WORD:
            others.setdefault(code, []).append([turn, kind, name, weight])
        elif quotes:
            words.setdefault(code, []).append([turn, start, end, weight])
    return {"evidence": words, "evidence_other": others} if quotes else {"evidence_other": others}


def _strongest(table: Columns) -> Iterator[tuple[Any, ...]]:
    """Yield the rows that weigh most of each code, turn and sort of reason."""
    columns = [table[name] for name in ("code", "turn", "kind", "name", "start", "end", "weight")]
    found: dict[tuple[str, str, bool], list[tuple[Any, ...]]] = {}
    for code, turn, kind, name, start, end, weight in zip(*columns, strict=True):
        if kind == WORD or kind in OTHERS:
            row = (code, int(turn), kind, name, _whole(start), _whole(end), plain(number(weight), 2))
            found.setdefault((code, turn, kind == WORD), []).append(row)
    for (_, _, word), rows in found.items():
        yield from sorted(rows, key=lambda row: -abs(row[-1] or 0))[: MOST_WORDS if word else MOST_OTHERS]


def _whole(cell: str) -> int | None:
    return int(float(cell)) if cell else None


def feelings(folder: Path) -> list[list[Any]]:
    """Return the feelings that the therapist named: turn, start, end, family, expressed, and in which turn."""
    table = read_columns(folder / "feelings.csv", ("turn", "start", "end", "family", "expressed", "expressed_turn"))
    columns = [table.get(name, ()) for name in ("turn", "start", "end", "family", "expressed", "expressed_turn")]
    return [
        [_whole(turn), _whole(start), _whole(end), family, int(number(expressed) > 0), _whole(where)]
        for turn, start, end, family, expressed, where in zip(*columns, strict=True)
    ]
