"""What the page knows of one session: its turns, codes, curves and marks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from therapy_analytics.measures.process.behaviour_rates import measure_of_code
from therapy_analytics.report._evidence import evidence, feelings
from therapy_analytics.report._files import Columns, number, numbers, plain, read_columns
from therapy_analytics.report._measures import ShownTurns
from therapy_analytics.tables import UNSURE_COLUMN

NEEDED = ("turn", "role", "n_words")
PARTS = ("measure", "direction", "part", "value", "n", "out_of", "lo", "hi")
RATES = ("n", "n_turns", "rate", "lo", "hi")
RESPONSES = ("client_code", "therapist_code", "n_client", "n_both", "rate", "lo", "hi")
Json = dict[str, Any]
Z95 = 1.96


def session_data(folder: Path, name: str, index: int, codes: Sequence[str], shown: ShownTurns, *, quotes: bool) -> Json:
    """Return the data of one session.

    Parameters
    ----------
    folder : Path
        ``sessions/ID`` of the results.
    name : str
        The session's id.
    index : int
        Its place in the overview.
    codes : sequence of str
        Columns of codes.
    shown : ShownTurns
        Which measures of turns are marked or drawn.
    quotes : bool
        Whether what was said, and who said it, comes along.

    Raises
    ------
    BadDataFileError
        A file of the folder cannot be read.
    """
    turns = _turns(folder)
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
        "marks": list(_marks(turns, shown)),
        **_tables(folder, turns, codes, shown),
    }
    if quotes and "text" in turns:
        data["speaker"], data["text"] = list(turns.get("speaker", ())), list(turns["text"])
        data["feelings"] = feelings(folder)
    return data | evidence(folder, quotes=quotes)


def _turns(folder: Path) -> Columns:
    """Return the three tables of turns as one; probabilities are called ``p_...``."""
    turns = read_columns(folder / "turns.csv", NEEDED)
    likely = read_columns(folder / "probabilities.csv", ("turn",))
    likely = {name if name == UNSURE_COLUMN.name else f"p_{name}": cells for name, cells in likely.items()}
    return {**likely, **read_columns(folder / "turn_measures.csv", ("turn",)), **turns}


def _places(turns: Columns) -> tuple[str, list[Any], list[Any]]:
    """Return where turns begin and end: minutes where clocks can be used, else words spoken before."""
    starts = [number(cell) for cell in turns.get("start_s", ())]
    ends = [number(cell) for cell in turns.get("end_s", ())]
    if starts and usable(starts, ends):
        return "minutes", [plain(one / 60) for one in starts], [plain(one / 60) for one in ends]
    sizes = [max(0, int(number(cell) if cell else 0)) for cell in turns.get("n_words", ())]
    after = [sum(sizes[: i + 1]) for i in range(len(sizes))]
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
        "on": {code: found for code in there if (found := _where(turns.get(code, ()), "1"))},
        "unsure": {code: unsure[code] for code in there if code in unsure},
    }


def _per_cent(cell: str) -> int | None:
    value = number(cell) if cell else float("nan")
    return None if value != value else round(100 * value)  # noqa: PLR0124 (nan)


def _where(cells: Sequence[str], asked: str) -> list[int]:
    """Return the rows with this number."""
    return [i for i, cell in enumerate(cells) if cell and number(cell) == float(asked)]


def _marks(turns: Columns, shown: ShownTurns) -> Iterator[Json]:
    for column, above, below in shown.marks:
        values = [number(cell) if cell else 0.0 for cell in turns.get(column, ())]
        for label, sign, end in ((above, 1, ""), (below, -1, "_below")):
            found = [i for i, value in enumerate(values) if label and sign * value > 0]
            if found:
                yield {"name": f"{column}{end}", "label": label, "turns": found}


def _tables(folder: Path, turns: Columns, codes: Sequence[str], shown: ShownTurns) -> Json:
    parts = read_columns(folder / "measures.csv", PARTS)
    rows = _whole(parts)
    return {
        "series": list(_series(turns, rows, shown)),
        "synchrony": [_synchrony(rows[name], name, label) for name, label in shown.synchrony.items() if name in rows],
        "profile": list(_profile(list(_rows(parts)), codes)),
        "responses": _responses(read_columns(folder / "responses.csv", RESPONSES)),
    }


def _whole(table: Columns) -> dict[str, Mapping[str, str]]:
    """Return the rows of both directions and the whole session, by measure."""
    found: dict[str, Mapping[str, str]] = {}
    for row in _rows(table):
        if row.get("direction") == "both" and row.get("part") == "whole":
            found[row["measure"]] = row
    return found


def _rows(table: Columns) -> Iterator[dict[str, str]]:
    for cells in zip(*table.values(), strict=True):
        yield dict(zip(table, cells, strict=True))


def _series(turns: Columns, rows: Mapping[str, Mapping[str, str]], shown: ShownTurns) -> Iterator[Json]:
    for name, label, about, measure in shown.curves:
        values = [plain(number(cell), 3) if cell else None for cell in turns.get(name, ())]
        if any(value is not None for value in values):
            low = min(0, *(value for value in values if value is not None), 0)
            row = rows.get(measure, {})
            null, sd = number(row.get("null_mean", "")), number(row.get("null_sd", ""))
            band = {"null_mean": plain(null), "null_lo": plain(null - Z95 * sd), "null_hi": plain(null + Z95 * sd)}
            yield {"name": name, "label": label, "about": about, "low": low, "high": 1, **band, "values": values}


def _synchrony(row: Mapping[str, str], name: str, label: str) -> Json:
    columns = ("value", "null_mean", "z", "p", "surrogate_mean", "surrogate_p")
    return {"measure": name, "label": label, **{one: plain(number(row.get(one, ""))) for one in columns}}


def _profile(rows: Sequence[Mapping[str, str]], codes: Sequence[str]) -> Iterator[Json]:
    """Yield where in the session codes are; of codes that it does not have, nothing."""
    of_code = {measure_of_code(code): code for code in codes}
    kept = [row for row in rows if row["measure"] in of_code and row["part"] != "window"]
    had = {row["measure"] for row in kept if row["part"] == "whole" and number(row["n"]) > 0}
    for row in kept:
        if row["measure"] in had:
            numbers = [row[name] for name in ("n", "out_of", "value", "lo", "hi")]
            shown = {name: plain(number(cell), 3) for name, cell in zip(RATES, numbers, strict=True)}
            yield {"code": of_code[row["measure"]], "part": row["part"], **shown}


def _responses(table: Columns) -> list[Json]:
    """Return what comes after each client code; of answers that never come, nothing."""
    return [
        {
            "client_code": row["client_code"],
            "therapist_code": row["therapist_code"],
            **{one: plain(number(row[one]), 3) for one in RESPONSES[2:]},
            "base_rate": _base(row),
        }
        for row in _rows(table)
        if number(row["n_both"]) > 0
    ]


def _base(row: Mapping[str, str]) -> float | int | None:
    return plain(number(row.get("base_rate", "")), 3)
