"""What the codebook says of the columns of a table, and what type each has in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import pandas as pd

from therapy_analytics.errors import BadDataFileError, BadOptionError

AGAIN = "Run tanalyze run again, and leave its files as they are"
TEXT = "text"
FLOAT = "float64"
DYADS, SESSIONS, TURNS = "dyads", "sessions", "turns"
WHOLE = "a count or a code is not a whole number"
_INTEGERS: Mapping[str, Collection[str]] = {
    "turns": ("turn", "first_row", "n_words", "n_sentences"),
    "profile": ("n_turns", "n"),
    "responses": ("n_client", "n_both", "n_client_other", "n_both_other"),
    "feelings": ("turn", "start", "end", "expressed"),
}
"""Whole numbers of each table that are never missing."""
_INTEGERS_OR_NONE = {"feelings": ("expressed_turn",)}
_ABOUT = ("fixed", "metadata")
_FEW = 5


def number_types(name: str, codebook: pd.DataFrame) -> dict[str, str]:
    """Return the type of each column of a table that holds numbers; all others are text.

    Parameters
    ----------
    name : str
        The table.
    codebook : DataFrame
        Of the run.

    Returns
    -------
    dict of str to str
        ``float64``, ``int64`` where it is never missing, else ``Int64`` or ``Int8``.
    """
    own = codebook[codebook["table"].isin((name, SESSIONS) if name == DYADS else (name,))]
    units = dict(zip(own["column"], own["unit"], strict=True))
    numbers = {column for column, unit in units.items() if unit != TEXT}
    whole = dict.fromkeys(_INTEGERS.get(name, ()), "int64") | dict.fromkeys(_INTEGERS_OR_NONE.get(name, ()), "Int64")
    if name == TURNS:
        whole |= {column: "Int8" for column in numbers if f"p_{column}" in numbers}
    return {column: whole.get(column, FLOAT) for column in units if column in numbers}


def with_types(frame: pd.DataFrame, types: Mapping[str, str], path: Path) -> pd.DataFrame:
    """Make whole numbers of those columns that hold them, and are read as numbers with decimals."""
    whole = {column: kind for column, kind in types.items() if kind != FLOAT and column in frame}
    if not whole:
        return frame
    values = frame[list(whole)]
    never_missing = [column for column, kind in whole.items() if kind == "int64"]
    if (values.notna() & (values % 1 != 0)).any(axis=None) or values[never_missing].isna().any(axis=None):
        raise BadDataFileError(str(path), WHOLE, AGAIN)
    try:
        return frame.astype(whole)
    except (TypeError, ValueError):  # one that no code can be, such as 1000
        raise BadDataFileError(str(path), WHOLE, AGAIN) from None


def columns_of(name: str, codebook: pd.DataFrame) -> list[str]:
    """Return the columns that a table has, in order; of the turns without what was said."""
    columns: list[str] = codebook.loc[codebook["table"] == name, "column"].tolist()
    if name == DYADS:
        of_sessions = codebook[(codebook["table"] == SESSIONS) & ~codebook["family"].isin(_ABOUT)]
        columns += of_sessions["column"].tolist()
    return [one for one in columns if (name, one) != (TURNS, "text")]


def nothing(name: str, codebook: pd.DataFrame) -> pd.DataFrame:
    """Return a table without rows."""
    types = number_types(name, codebook)
    return pd.DataFrame({one: pd.Series(dtype=types.get(one, "str")) for one in columns_of(name, codebook)})


def in_order(frame: pd.DataFrame, name: str, codebook: pd.DataFrame) -> pd.DataFrame:
    """Return a table with its columns as the codebook has them, then those that it does not know."""
    known = [column for column in columns_of(name, codebook) if column in frame]
    wanted = [*known, *frame.columns.difference(known, sort=False)]
    return frame if wanted == list(frame) else frame[wanted]


def refuse_unknown(asked: Collection[str], known: Sequence[str], folder: Path) -> None:
    """Refuse sessions that are not among those of a folder.

    Raises
    ------
    BadOptionError
        There is no such session; a few of those there are named.
    """
    strangers = sorted(set(asked).difference(known))
    if strangers:
        option = "sessions"
        some = ", ".join(known[:_FEW]) + (", ..." if len(known) > _FEW else "")
        remedy = f"Name some of its {len(known):,} sessions: {some}" if known else "It holds no session at all"
        raise BadOptionError(option, f"{folder} holds no session {strangers[0]!r}", remedy)


def missing_columns(names: Sequence[str], columns: Collection[str]) -> str:
    """Return what to say of columns that a table does not have, "" where it has all of them."""
    missing = [name for name in names if name not in columns]
    return f"it has no column {', '.join(missing)}" if missing else ""
