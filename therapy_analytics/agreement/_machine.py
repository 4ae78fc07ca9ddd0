"""The machine's codes: the turns table of an analysis or of a folder of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.analysis import Analysis
from therapy_analytics.clusters import COLUMNS, cluster_column, cluster_numbers
from therapy_analytics.errors import BadOptionError
from therapy_analytics.results import form_of, read_csv, read_recipe, read_sessions, read_wide_turns
from therapy_analytics.tables import GOLD

KEYS = ("session_id", "turn", "role")
_KEPT = (*KEYS, "first_row", "text")


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine's codes.

    Attributes
    ----------
    turns : DataFrame
        A row a turn: ``session_id`` (text), ``turn``, ``role``, where known ``first_row`` and ``text``, the codes as
        0, 1 or nan with their probabilities ``p_...``, and ``gold_...`` as text.
    codes : tuple of str
        Columns of the codes.
    recipe : mapping
        Who coded, as ``run.json`` says it; empty where there is none.
    sessions : DataFrame
        A row a session: ``session_id``, and of `COLUMNS` those that are known, as text.
    """

    turns: pd.DataFrame
    codes: tuple[str, ...]
    recipe: Mapping[str, Any]
    sessions: pd.DataFrame = field(default_factory=lambda: pd.DataFrame({"session_id": []}))

    def clusters(self, coded: Sequence[str]) -> tuple[dict[str, int], str]:
        """Return the cluster of each of these sessions, from 0, and the column that names clusters."""
        known = pd.DataFrame({"session_id": coded}).merge(self.sessions, on="session_id", how="left").fillna("")
        column = cluster_column(known)
        return dict(zip(coded, cluster_numbers(known, column).tolist(), strict=True)), column


def machine_of(results: Analysis | Path | str | pd.DataFrame) -> Machine:
    """Return the codes in an analysis, a folder of results, or a turns table.

    Raises
    ------
    BadOptionError
        There are no results, or the table is no turns table.
    """
    if isinstance(results, Analysis):
        return _machine(results.wide_turns, {"tagger": results.tagger}, _sessions(results))
    if isinstance(results, pd.DataFrame):
        return _machine(results, {}, results)
    folder = Path(results)
    return _machine(_turns(folder), read_recipe(folder), _sessions(folder))


def _sessions(source: Analysis | Path) -> pd.DataFrame:
    """Return the table of sessions, of which only the columns of clusters are used; empty where there is none."""
    if isinstance(source, Analysis):
        return source.sessions
    try:
        return read_csv(source / "sessions.csv") if form_of(source) == "csv" else read_sessions(source)
    except BadOptionError:
        return pd.DataFrame({"session_id": []})


def _turns(folder: Path) -> pd.DataFrame:
    try:
        form_of(folder)
    except BadOptionError:
        option = "results"
        raise BadOptionError(option, f"{folder} holds no results", "Name the folder that tanalyze run wrote") from None
    turns = read_wide_turns(folder)
    return turns[_kept(turns.columns.tolist())]


def _kept(columns: Sequence[str]) -> list[str]:
    names = set(columns)
    codes = {name for code in names if f"p_{code}" in names for name in (code, f"p_{code}")}
    return [name for name in columns if name in _KEPT or name.startswith(GOLD) or name in codes]


def _machine(frame: pd.DataFrame, recipe: Mapping[str, Any], sessions: pd.DataFrame) -> Machine:
    missing = [name for name in KEYS if name not in frame.columns]
    codes = tuple(str(name) for name in frame.columns if f"p_{name}" in frame.columns)
    if missing or not codes:
        option = "results"
        problem = f"the table of turns has no {', '.join(missing) or 'codes'}"
        raise BadOptionError(option, problem, "Give the turns table of an analysis, or the folder of its results")
    kept = [name for name in frame.columns if name in _KEPT or str(name).startswith(GOLD)]
    turns = frame[kept].reset_index(drop=True).copy()
    turns["session_id"] = turns["session_id"].astype(str)
    turns["role"] = turns["role"].astype(str)
    for name in ("turn", "first_row"):
        if name in turns:
            turns[name] = pd.to_numeric(turns[name], errors="coerce").fillna(-1).astype(np.int64)
    numbers = {name: _numbers(frame[name], name) for code in codes for name in (f"p_{code}", code)}
    known = sessions[[name for name in ("session_id", *COLUMNS) if name in sessions]].drop_duplicates("session_id")
    known = known.astype(object).where(known.notna(), "").astype(str).apply(lambda column: column.str.strip())
    return Machine(pd.concat([turns, pd.DataFrame(numbers)], axis=1), codes, recipe, known)


def _numbers(column: pd.Series, name: str) -> np.ndarray:
    """Return decisions and probabilities as numbers; refuse what is neither."""
    numbers = np.asarray(pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan))
    known = numbers[~np.isnan(numbers)]
    if not (np.isin(known, (0, 1)) if not name.startswith("p_") else (known >= 0) & (known <= 1)).all():
        option, wanted = "results", "probabilities from 0 to 1" if name.startswith("p_") else "0, 1 and empty cells"
        raise BadOptionError(option, f"column {name} of the turns has other numbers than {wanted}", "Mend the table")
    return numbers


def with_words(machine: Machine, transcripts: Path | str) -> Machine:
    """Return the codes with what was said beside them, read from the transcripts and kept in memory alone.

    Raises
    ------
    BadOptionError
        None of the transcripts is a session of the results.
    UnreadableFileError, NothingToReadError
        A transcript cannot be read, or there is none.
    """
    from therapy_analytics.readers import ReadOptions, read_files  # noqa: PLC0415 (only where words are needed)
    from therapy_analytics.readers._account import Account  # noqa: PLC0415

    said: dict[tuple[str, int], str] = {}
    for reading in read_files([transcripts], account=Account(ReadOptions())):
        if reading.problem is not None:
            raise reading.problem
        said |= {(one.id, turn.index): turn.text for one in reading.sessions for turn in one.turns}
    known = set(machine.turns["session_id"])
    if known.isdisjoint(session for session, _ in said):
        option, problem = "--transcripts", "none of the sessions in them is one of the results"
        raise BadOptionError(option, problem, f"The results have sessions such as {', '.join(sorted(known)[:6])}")
    keys = zip(machine.turns["session_id"], machine.turns["turn"], strict=True)
    texts = [said.get((session, int(turn)), "") for session, turn in keys]
    return replace(machine, turns=machine.turns.assign(text=texts))
