"""What the page knows of one session: its turns, codes, curves and marks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from therapy_analytics.report._evidence import evidence, feelings
from therapy_analytics.report._files import Columns, number, numbers, plain, read_columns

NEEDED = ("turn", "role", "n_words")
SYNCHRONY = ("measure", "direction", "part", "value")
PROFILE = ("code", "part", "n", "n_turns", "rate", "lo", "hi")
RESPONSES = ("client_code", "therapist_code", "n_client", "n_both", "rate", "lo", "hi")
Json = dict[str, Any]
_SERIES = (
    ("lsm_turn", "Style matching (LSM)", "synchrony", "lsm_turn_mean"),
    ("semantic_similarity_turn", "Similar in meaning", "synchrony", "semantic_similarity"),
    ("state_change", "Change talk", "client", ""),
    ("state_sustain", "Sustain talk", "client", ""),
    ("state_neutral", "Neither", "client", ""),
)
_MARKS = (
    ("safety_cue", "Cue of danger: review", "safety_cue", ">0"),
    ("stigmatising_word", "Stigmatising word", "stigmatising_word_turn", "1"),
    ("advice_after_feeling", "Advice right after a feeling", "advice_after_feeling_turn", "1"),
    ("input_after_sustain", "Advice or information after sustain talk", "input_after_sustain_turn", "1"),
    ("unexpressed_feeling", "Names a feeling that the client had not expressed", "unexpressed_feeling_turn", "1"),
    ("false_attribution", "Says that the client said, and nothing like it is found", "false_attribution_turn", "1"),
    ("repeated_advice", "Repeats advice", "repeated_advice_turn", "1"),
    ("leading_question", "Leading question", "question_leading_turn", "1"),
    ("rupture_withdrawal", "Possible rupture: withdraws", "rupture_withdrawal_turn", "1"),
    ("rupture_confrontation", "Possible rupture: confronts", "rupture_confrontation_turn", "1"),
    ("repair", "Possible repair", "repair_turn", "1"),
    ("turning_point_to_change", "Turning point to change", "turning_point_turn", "1"),
    ("turning_point_to_sustain", "Turning point against change", "turning_point_turn", "-1"),
)
_SYNCHRONY = {
    "lsm_turn_mean": "Style matching of neighbouring turns (LSM)",
    "rlsm": "Replies take up function words (rLSM)",
    "lsm": "Style matching of the whole session (LSM)",
    "semantic_similarity": "Neighbouring turns similar in meaning",
    "semantic_context": "Near in meaning to all that the other said so far",
    "lexical_alignment": "Replies repeat words",
    "coordination": "Coordination of function words",
    "expression_repetition": "Expressions that both use",
    "recurrence_rate": "Words that recur",
}
Z95 = 1.96


def session_data(folder: Path, name: str, index: int, codes: Sequence[str], *, quotes: bool) -> Json:
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
    quotes : bool
        Whether what was said, and who said it, comes along.

    Raises
    ------
    BadDataFileError
        A file of the folder cannot be read.
    """
    turns = read_columns(folder / "turns.csv", NEEDED)
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
        "marks": list(_marks(turns)),
        **_tables(folder, turns),
    }
    if quotes and "text" in turns:
        data["speaker"], data["text"] = list(turns.get("speaker", ())), list(turns["text"])
        data["feelings"] = feelings(folder)
    return data | evidence(folder, quotes=quotes)


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
    values = [number(cell) if cell else 0.0 for cell in cells]
    if asked == ">0":
        return [i for i, value in enumerate(values) if value > 0]
    return [i for i, value in enumerate(values) if value == float(asked)]


def _marks(turns: Columns) -> Iterator[Json]:
    for name, label, column, asked in _MARKS:
        if found := _where(turns.get(column, ()), asked):
            yield {"name": name, "label": label, "turns": found}
    if found := _went_along(turns):
        yield {"name": "went_along", "label": "Goes along with an untested claim", "turns": found}


def _went_along(turns: Columns) -> list[int]:
    """Return answers that go along with a claim: the next therapist turn after it, before the client speaks again."""
    claims = set(_where(turns.get("untested_claim_turn", ()), "1"))
    along, roles = _where(turns.get("going_along_turn", ()), "1"), turns.get("role", ())
    return [i for i in along if _answered(roles, i) in claims]


def _answered(roles: Sequence[str], turn: int) -> int:
    """Return the client's turn that a therapist's turn answers, -1 where there is none."""
    before = turn - 1
    while before >= 0 and roles[before] == "other":
        before -= 1
    return before if before >= 0 and roles[before] == "client" else -1


def _tables(folder: Path, turns: Columns) -> Json:
    rows = _whole(read_columns(folder / "synchrony.csv", SYNCHRONY))
    return {
        "series": list(_series(turns, rows)),
        "synchrony": [_synchrony(rows[name], name, label) for name, label in _SYNCHRONY.items() if name in rows],
        "profile": _profile(read_columns(folder / "profile.csv", PROFILE)),
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


def _series(turns: Columns, rows: Mapping[str, Mapping[str, str]]) -> Iterator[Json]:
    for name, label, about, measure in _SERIES:
        values = [plain(number(cell), 3) if cell else None for cell in turns.get(name, ())]
        if any(value is not None for value in values):
            low = min(0, *(value for value in values if value is not None), 0)
            row = rows.get(measure, {})
            null, sd = number(row.get("null", "")), number(row.get("null_sd", ""))
            chance = {"null": plain(null), "null_lo": plain(null - Z95 * sd), "null_hi": plain(null + Z95 * sd)}
            yield {"name": name, "label": label, "about": about, "low": low, "high": 1, **chance, "values": values}


def _synchrony(row: Mapping[str, str], name: str, label: str) -> Json:
    columns = ("value", "null", "z", "p", "strangers", "strangers_p")
    return {"measure": name, "label": label, **{one: plain(number(row.get(one, ""))) for one in columns}}


def _profile(table: Columns) -> list[Json]:
    """Return where in the session codes are; of codes that it does not have, nothing."""
    rows = list(_rows(table))
    had = {row["code"] for row in rows if row["part"] == "whole" and number(row["n"]) > 0}
    return [
        {"code": row["code"], "part": row["part"], **{one: plain(number(row[one]), 3) for one in PROFILE[2:]}}
        for row in rows
        if row["code"] in had
    ]


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
