"""The machine's codes: the turns table of an analysis or of a folder of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.core.clusters import COLUMNS, Floats, cluster_column, cluster_numbers
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.pseudonyms import Pseudonyms, lacking_key, refuse_other_key
from therapy_analytics.measures.process.learnt_turns import were_learnt_from
from therapy_analytics.results import form_of, read_csv, read_recipe, read_sessions, read_wide_turns
from therapy_analytics.results.analysis import Analysis
from therapy_analytics.results.tables import GOLD

KEYS = ("session_id", "turn", "role")
_RESULTS = "results"


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
        Who coded, as in ``run.json``; empty where there is none.
    sessions : DataFrame
        A row a session: ``session_id``, and those of `COLUMNS` that are known, as text.
    learnt : frozenset of str or None
        The sessions that the tagger learnt from; None where that is not known.
    """

    turns: pd.DataFrame
    codes: tuple[str, ...]
    recipe: Mapping[str, Any]
    sessions: pd.DataFrame = field(default_factory=lambda: pd.DataFrame({"session_id": []}))
    learnt: frozenset[str] | None = None

    def clusters(self, coded: Sequence[str]) -> tuple[dict[str, int], str]:
        """Return the cluster of each of these sessions, from 0, and the column that names clusters."""
        known = pd.DataFrame({"session_id": coded}).merge(self.sessions, on="session_id", how="left").fillna("")
        column = cluster_column(known)
        return dict(zip(coded, cluster_numbers(known, column).tolist(), strict=True)), column


def read_machine(results: Analysis | Path | str | pd.DataFrame) -> Machine:
    """Return the codes in an analysis, a folder of results, or a turns table.

    Raises
    ------
    BadOptionError
        There are no results, or the table is not a turns table.
    """
    if isinstance(results, Analysis):
        return _machine(results.wide_turns, {"tagger": results.tagger}, results.sessions)
    if isinstance(results, pd.DataFrame):
        return _machine(results, {}, results)
    folder = Path(results)
    try:
        form = form_of(folder)
    except BadOptionError:
        problem = f"{folder} holds no results"
        raise BadOptionError(_RESULTS, problem, "Name the folder that tanalyze run wrote") from None
    sessions = read_csv(folder / "sessions.csv") if form == "csv" else read_sessions(folder)
    return _machine(read_wide_turns(folder), read_recipe(folder), sessions)


def _machine(frame: pd.DataFrame, recipe: Mapping[str, Any], sessions: pd.DataFrame) -> Machine:
    missing = [name for name in KEYS if name not in frame.columns]
    codes = tuple(str(name) for name in frame.columns if f"p_{name}" in frame.columns)
    if missing or not codes:
        problem = f"the table of turns has no {', '.join(missing) or 'codes'}"
        raise BadOptionError(_RESULTS, problem, "Give an analysis, its wide_turns, or the folder of its results")
    kept = [name for name in frame if name in {*KEYS, "first_row", "text"} or str(name).startswith(GOLD)]
    turns = frame[kept].reset_index(drop=True).astype({"session_id": str, "role": str})
    for name in ("turn", "first_row"):
        if name in turns:
            turns[name] = pd.to_numeric(turns[name], errors="coerce").fillna(-1).astype(np.int64)
    numbers = {name: _numbers(frame[name], name) for code in codes for name in (f"p_{code}", code)}
    known = sessions[[name for name in ("session_id", *COLUMNS) if name in sessions]].drop_duplicates("session_id")
    known = known.astype(object).where(known.notna(), "").astype(str).apply(lambda column: column.str.strip())
    were = were_learnt_from(sessions)
    learnt = None if were is None else frozenset(sessions.loc[were, "session_id"].astype(str))
    return Machine(pd.concat([turns, pd.DataFrame(numbers)], axis=1), codes, recipe, known, learnt)


def _numbers(column: pd.Series, name: str) -> Floats:
    """Return decisions or probabilities (n_turns,); refuse other numbers."""
    numbers = np.asarray(pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan))
    known, is_p = numbers[~np.isnan(numbers)], name.startswith("p_")
    if not ((known >= 0) & (known <= 1) if is_p else np.isin(known, (0, 1))).all():
        wanted = "probabilities from 0 to 1" if is_p else "0, 1 and empty cells"
        raise BadOptionError(_RESULTS, f"column {name} of the turns has other numbers than {wanted}", "Mend the table")
    return numbers


def with_words(machine: Machine, transcripts: Path | str, pseudonyms: Pseudonyms | None = None) -> Machine:
    """Return the codes with the text of their turns, read from the transcripts and kept in memory alone.

    `pseudonyms` is the key that the results were made with, if they were made with one.

    Raises
    ------
    BadOptionError
        None of the transcripts is a session of the results.
    UnreadableFileError, NothingToReadError
        A transcript cannot be read, or there is none.
    """
    from therapy_analytics.readers import ReadOptions, read_files  # noqa: PLC0415 (only where words are needed)
    from therapy_analytics.readers.account import Account  # noqa: PLC0415

    options = ReadOptions(pseudonyms=pseudonyms)
    refuse_other_key([machine.recipe], pseudonyms)
    text: dict[tuple[str, int], str] = {}
    for reading in read_files([transcripts], options=options, account=Account(options)):
        if reading.problem is not None:
            raise reading.problem
        text |= {(one.id, turn.index): turn.text for one in reading.sessions for turn in one.turns}
    known = set(machine.turns["session_id"])
    if known.isdisjoint(session for session, _ in text):
        option, problem = "--transcripts", "none of the sessions in them is one of the results"
        there = f"The results have sessions such as {', '.join(sorted(known)[:6])}"
        raise BadOptionError(option, problem, lacking_key([machine.recipe], pseudonyms) or there)
    keys = zip(machine.turns["session_id"], machine.turns["turn"], strict=True)
    return replace(machine, turns=machine.turns.assign(text=[text.get((name, int(turn)), "") for name, turn in keys]))
