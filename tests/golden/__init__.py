"""The numbers of every measure, frozen: a change of the code that changes one of them is found here.

`samples.csv` holds every number that is measured of the sample transcripts, a row a column of the wide table and a
column a session. `comparison.csv` and `agreement.csv` hold the numbers of a comparison of these sessions, and of their
agreement with the codes of `tests/gold`, a row a number. `turns.csv` and `corpora.csv` hold fingerprints of columns:
how many values are defined, and their sum weighted by numbers that depend on the row's place alone, so that no value
of a corpus stands in the repository and two swapped values are noticed. These are numbers of the fast tagger: the
encoder of the accurate one, in eight bits, gives probabilities that differ by a thousandth from one make of processor
to another. `accurate.csv` holds the mean probability of each of its codes and how many turns have it, to be met nearly.

A number that is meant to change is written anew by ``python -m tests.golden``, and CHANGELOG.md says why it changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

import therapy_analytics as ta
from therapy_analytics.measures import Column
from therapy_analytics.text import EXTRAS

HERE = Path(__file__).parent
CORPORA = {"annomi": 8, "hlqc": 16, "mibot": 16}
"""The corpora, and how many of their sessions one stands for."""
KEYS = ("kind", "measure", "code", "summary", "source", "group", "against", "reference", "other", "bin")
"""Columns that name a row of a table of a comparison or an agreement."""
TOLERANCE = 1e-9
"""Relative to the size of the values; they are written with twelve digits."""
_DIGITS = "{:.12g}"


def sample_analysis(samples: Path) -> ta.Analysis:
    """Return the analysis of the sample transcripts with every measure and every code of the fast tagger."""
    return ta.analyze(ta.read(samples), measures=EXTRAS, tagger=ta.TaggerOptions(kind="fast", all_codes=True))


def accurate_codes(samples: Path) -> pd.DataFrame:
    """Return mean probability and number of turns, ``mean`` and ``n``, of each code of the accurate tagger."""
    found = ta.analyze(ta.read(samples), tagger=ta.TaggerOptions(all_codes=True))
    means = found.probabilities.select_dtypes("number").drop(columns=["turn"]).mean()
    counts = found.turns.select_dtypes("number").sum()
    return pd.DataFrame({"mean": means, "n": counts.reindex(means.index)}).rename_axis("code").reset_index()


def comparison_values(analysis: ta.Analysis) -> pd.DataFrame:
    """Return the numbers of a comparison of people and models, over sessions, in long form."""
    found = ta.compare(analysis, by="source", options=ta.CompareOptions(cluster="session", permutations=1_000))
    tables = {"comparison": found.table, "groups": found.groups, "within": found.within}
    return long_values(tables | {one.name: one.table for one in found.more})


def agreement_values(analysis: ta.Analysis, gold: Path) -> pd.DataFrame:
    """Return the numbers of the agreement with the two coders of `tests/gold`, in long form."""
    parts = [
        pd.read_csv(path).fillna("").assign(session_id=path.stem, coder=path.parent.name)
        for path in sorted(gold.glob("coder_*/*.csv"))
    ]
    found = ta.agreement(analysis, pd.concat(parts, ignore_index=True))
    return long_values({name: getattr(found, name) for name in ("codes", "sessions")})


def long_values(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return a row for each defined number of tables: ``table``, ``row`` (texts of `KEYS`), ``column``, ``number``."""
    parts = []
    for name, table in tables.items():
        texts = [column for column in KEYS if column in table]
        row = table[texts].astype(str).agg("/".join, axis=1) if texts else table.index.astype(str)
        numbers = table.select_dtypes("number").astype(float).assign(row=row)
        parts.append(numbers.melt("row", var_name="column", value_name="number").dropna().assign(table=name))
    return pd.concat(parts, ignore_index=True)[["table", "row", "column", "number"]]


def corpus_analysis(data: Path, corpus: str) -> ta.Analysis:
    """Return the analysis of some sessions of a corpus by the fast tagger."""
    sessions = [session for reading in ta.read_files([data / corpus]) for session in reading.sessions]
    sessions.sort(key=lambda session: session.id)
    return ta.analyze(sessions[:: CORPORA[corpus]], measures="all", tagger=ta.TaggerOptions(kind="fast"))


def sample_values(analysis: ta.Analysis) -> pd.DataFrame:
    """Return the numbers of the wide table: a row a column of it, a column a session."""
    numbers = ta.wide(analysis).set_index("session_id").select_dtypes("number").astype(float)
    return numbers.sort_index().T.rename_axis("column").rename_axis(columns=None)


def fingerprints(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return a row for each numeric column of tables: `table`, `column`, `n` defined values, `size`, `weighted`.

    `size` is the sum of the absolute values, (n_columns,), and `weighted` the sum of values times weights between -1
    and 1 that depend on the place of the row alone.
    """
    rows = []
    for name, table in tables.items():
        weights = np.random.default_rng(len(table)).uniform(-1, 1, len(table))
        for column in table.select_dtypes("number"):
            values = table[column].to_numpy(dtype=float, na_value=np.nan)
            known = np.isfinite(values)
            sums = (np.abs(values[known]).sum(), (values * weights)[known].sum())
            rows.append((name, str(column), int(known.sum()), *map(float, sums)))
    return pd.DataFrame(rows, columns=["table", "column", "n", "size", "weighted"])


def corpus_fingerprints(data: Path, corpora: Iterable[str] = CORPORA) -> pd.DataFrame:
    """Return the fingerprints of the corpora, with a first column ``corpus``."""
    found = []
    for corpus in corpora:
        analysis = corpus_analysis(data, corpus)
        table = fingerprints({"sessions": ta.wide(analysis), "turns": analysis.wide_turns})
        found.append(table.assign(corpus=corpus)[["corpus", *table]])
    return pd.concat(found, ignore_index=True)


def out_of_range(analysis: ta.Analysis, columns: Sequence[Column]) -> list[str]:
    """Return the names of columns with a value that is out of the range they declare, or not in its interval."""
    found, sessions, turns = [], ta.wide(analysis), analysis.wide_turns
    for column in columns:
        table = sessions if column.level == "session" else turns
        if column.name not in table:
            continue  # a statistic that no session has
        values = table[column.name]
        within = values.between(column.low, column.high) | values.isna()
        if f"{column.name}_lo" in table:
            low, high = table[f"{column.name}_lo"], table[f"{column.name}_hi"]
            within &= ((low <= values + 1e-12) & (values <= high + 1e-12)) | values.isna()
        if not within.all():
            found.append(column.name)
    return found


def turn_fingerprints(analysis: ta.Analysis) -> pd.DataFrame:
    """Return the fingerprints of the turns table of the sample transcripts."""
    return fingerprints({"turns": analysis.wide_turns.sort_values(["session_id", "turn"])})


def differences(found: pd.DataFrame, frozen: pd.DataFrame, key: list[str]) -> list[str]:
    """Return one sentence for each value that is not what it was, and for each row that is new or gone."""
    found, frozen = found.set_index(key), frozen.set_index(key)
    gone = [f"{row} is gone" for row in frozen.index.difference(found.index)]
    new = [f"{row} is new" for row in found.index.difference(frozen.index)]
    both = frozen.index.intersection(found.index)
    changed = []
    for column in frozen:
        now, before = (frame.loc[both, column].to_numpy(dtype=float) for frame in (found, frozen))
        scale = np.nan_to_num(np.abs(before))
        if column == "weighted":
            scale = frozen.loc[both, "size"].to_numpy(dtype=float)
        alike = np.isclose(now, before, rtol=0, atol=TOLERANCE * np.maximum(scale, 1e-3), equal_nan=True)
        changed += [f"{both[at]}: {column} is {now[at]:.12g}, was {before[at]:.12g}" for at in np.flatnonzero(~alike)]
    return gone + new + changed


def write(table: pd.DataFrame, path: Path, *, index: bool = False) -> None:
    """Write a table with twelve digits a number."""
    table.to_csv(path, index=index, float_format=_DIGITS.format, lineterminator="\n")
