"""What the page knows of one session: its turns, codes, curves and marks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from math import isnan
from pathlib import Path
from typing import Any

from therapy_analytics.measures.process.behaviour_rates import measure_of_code
from therapy_analytics.report.files import Columns, Row, number, numbers, plain, read_columns, read_rows
from therapy_analytics.report.moments import MOST, chosen_moments, moments
from therapy_analytics.report.shown import ShownTurns
from therapy_analytics.results.codebook_table import ALSO
from therapy_analytics.results.tables import UNSURE_COLUMN

NEEDED = ("turn", "role", "n_words")
PARTS = ("measure", "direction", "part", "value", "n", "out_of", "lo", "hi")
RESPONSES = ("client_code", "therapist_code", "n_client", "n_both", "rate", "lo", "hi")
SYNCHRONY = ("value", "null_mean", "z", "p", "surrogate_mean", "surrogate_sd", "excess", "surrogate_p")
Json = dict[str, Any]
Z95 = 1.96


def session_data(folder: Path, name: str, index: int, shown: ShownTurns, *, quotes: bool) -> Json:
    """Return the data of one session.

    Parameters
    ----------
    folder : Path
        ``sessions/ID`` of the results.
    name : str
        The session's id.
    index : int
        Its place in the overview.
    shown : ShownTurns
        Which codes the turns have, and which measures of turns are marked or drawn.
    quotes : bool
        Whether what was said, and who said it, comes along.

    Raises
    ------
    BadDataFileError
        A file of the folder cannot be read.
    """
    turns = _turns(folder)
    codes = [str(one["column"]) for one in shown.codes]
    unit, start, end = _places(turns)
    data: Json = {
        "id": name,
        "index": index,
        "unit": unit,
        "start": start,
        "end": end,
        "role": "".join((role or "o")[0] for role in turns.get("role", ())),
        "n_words": numbers(turns.get("n_words", ())),
        "first_row": numbers(turns.get("first_row", ())),
        **_coded(turns, codes),
        "marks": [mark for one in shown.marks for mark in _marks(turns, one)],
        "moments": [one.json() for _, one in chosen_moments([(index, one) for one in moments(turns)], MOST)],
        **_tables(folder, turns, codes, shown),
    }
    if quotes and "text" in turns:
        data["speaker"], data["text"] = list(turns.get("speaker", ())), list(turns["text"])
    return data


def _turns(folder: Path) -> Columns:
    """Return the three tables of turns as one; probabilities are called ``p_...``."""
    turns = read_columns(folder / "turns.csv", NEEDED)
    likely = read_columns(folder / "probabilities.csv", ("turn",))
    likely = {name if name == UNSURE_COLUMN.name else f"p_{name}": cells for name, cells in likely.items()}
    return {**likely, **read_columns(folder / "turn_measures.csv", ("turn",)), **turns}


def _places(turns: Columns) -> tuple[str, list[Any], list[Any]]:
    """Return where turns begin and end: minutes where clocks can be used, else words spoken before, else nothing."""
    starts = [number(cell) for cell in turns.get("start_s", ())]
    ends = [number(cell) for cell in turns.get("end_s", ())]
    if starts and usable(starts, ends):
        return "minutes", [plain(one / 60) for one in starts], [plain(one / 60) for one in ends]
    sizes = [max(0, int(number(cell) if cell else 0)) for cell in turns.get("n_words", ())]
    if not any(sizes):  # words that cannot be counted: the page draws all turns alike
        return "words", [], []
    after = list(accumulate(sizes))
    return "words", [there - size for there, size in zip(after, sizes, strict=True)], after


def usable(starts: Sequence[float], ends: Sequence[float]) -> bool:
    """Return whether every turn has its times, none ends before it begins, and they come one after the other."""
    known = all(start <= end for start, end in zip(starts, ends, strict=True))  # False for nan
    return known and all(one <= other for one, other in pairwise(starts)) and ends[-1] > starts[0]


def _coded(turns: Columns, codes: Sequence[str]) -> Json:
    """Return probabilities in whole per cents, turns with each code, and turns where that is unsure."""
    there = [code for code in codes if any(turns.get(f"p_{code}", ()))]
    unsure: dict[str, list[int]] = {}
    for i, cell in enumerate(turns.get("unsure_codes", ())):
        for code in cell.split(";") if cell else ():
            unsure.setdefault(code, []).append(i)
    return {
        "p": {code: [_per_cent(cell) for cell in turns[f"p_{code}"]] for code in there},
        "on": {code: found for code in there if (found := _ones(turns.get(code, ())))},
        "unsure": {code: unsure[code] for code in there if code in unsure},
    }


def _ones(cells: Sequence[str]) -> list[int]:
    return [i for i, cell in enumerate(cells) if number(cell) == 1]


def _per_cent(cell: str) -> int | None:
    value = number(cell)
    return None if isnan(value) else round(100 * value)


def _marks(turns: Columns, mark: Row) -> Iterator[Json]:
    values = numbers(turns.get(mark["column"], ()))
    found = [i for i, value in enumerate(values) if (value or 0) > 0]
    if found:
        kind = {"danger": bool(mark["measure"]), "also": mark["page"] == ALSO}
        yield {"name": mark["column"], "label": mark["label"], **kind, "turns": found}


def _tables(folder: Path, turns: Columns, codes: Sequence[str], shown: ShownTurns) -> Json:
    parts = read_rows(folder / "measures.csv", PARTS)
    both = {row["measure"]: row for row in parts if (row["direction"], row["part"]) == ("both", "whole")}
    series = [_series(turns, both.get(one["measure"], {}), one) for one in shown.curves]
    return {
        "series": [one for one in series if any(value is not None for value in one["values"])],
        "synchrony": [
            {"measure": name, "label": label, **{one: plain(number(both[name].get(one, ""))) for one in SYNCHRONY}}
            for name, label in shown.synchrony.items()
            if name in both
        ],
        "profile": packed(_profile(parts, codes)),
        "responses": packed(_responses(folder)),
    }


def _series(turns: Columns, beside: Mapping[str, str], curve: Row) -> Json:
    """Return a curve with the null distribution of the measure beside it."""
    values = numbers(turns.get(curve["column"], ()), 3)
    null, sd = number(beside.get("null_mean", "")), number(beside.get("null_sd", ""))
    return {
        "name": curve["column"],
        "label": curve["label"],
        "low": min((value for value in values if value is not None and value < 0), default=0),
        "high": 1,
        "null_mean": plain(null),
        "null_lo": plain(null - Z95 * sd),
        "null_hi": plain(null + Z95 * sd),
        "values": values,
    }


def _profile(rows: Sequence[Row], codes: Sequence[str]) -> Iterator[Json]:
    """Yield where in the session codes are; of codes that it does not have, nothing."""
    of_code = {measure_of_code(code): code for code in codes}
    kept = [row for row in rows if row["measure"] in of_code and row["part"] != "window"]
    had = {row["measure"] for row in kept if row["part"] == "whole" and number(row["n"]) > 0}
    named = {"n": "n", "n_turns": "out_of", "rate": "value", "lo": "lo", "hi": "hi"}
    for row in kept:
        if row["measure"] in had:
            found = {name: plain(number(row[column]), 3) for name, column in named.items()}
            yield {"code": of_code[row["measure"]], "part": row["part"], **found}


def packed(rows: Iterable[Json]) -> Json:
    """Return rows with the same keys as their keys and lists of values: the page is a third smaller."""
    kept = list(rows)
    return {"columns": list(kept[0]) if kept else [], "rows": [list(row.values()) for row in kept]}


def _responses(folder: Path) -> list[Json]:
    """Return what comes after each client code; of answers that never come, nothing."""
    return [
        {
            **{name: row[name] for name in RESPONSES[:2]},
            **{name: plain(number(row.get(name, "")), 3) for name in (*RESPONSES[2:], "base_rate")},
        }
        for row in read_rows(folder / "responses.csv", RESPONSES)
        if number(row["n_both"]) > 0
    ]
