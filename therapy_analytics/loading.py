"""A folder that ``tanalyze run`` wrote, read back as the analysis that it came of."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.analysis import Analysis
from therapy_analytics.cells import restore
from therapy_analytics.errors import BadDataFileError, BadOptionError
from therapy_analytics.frames import with_categories

_AGAIN = "Run tanalyze run again, and leave its files as they are"
_TEXT = "text"
_INTEGERS: Mapping[str, Collection[str]] = {
    "turns": ("turn", "first_row", "n_words", "n_sentences"),
    "profile": ("n_turns", "n"),
    "responses": ("n_client", "n_both", "n_client_other", "n_both_other"),
    "feelings": ("turn", "start", "end", "expressed"),
}
"""Whole numbers of each table that are never missing."""
_INTEGERS_OR_NONE = {"feelings": ("expressed_turn",)}
_DYADS, _SESSIONS, _TURNS = "dyads", "sessions", "turns"
_ABOUT = ("fixed", "metadata")


def load(results: str | Path) -> Analysis:
    """Read the results of a run, so that a notebook need not code the sessions again.

    Parameters
    ----------
    results : str or Path
        A folder that ``tanalyze run`` wrote.

    Returns
    -------
    Analysis
        As `analyze` gave it: the same tables with the same types. Numbers have the six digits of the files.
        The turns have a column ``text`` if the run had ``--quotes``.

    Raises
    ------
    BadOptionError
        The folder holds no results.
    BadDataFileError
        A file of it is missing, or is not as the run wrote it.
    """
    folder = _folder(Path(results))
    codebook = read_csv(folder / "codebook.csv")
    sessions = read_sessions(folder)
    ids = sessions["session_id"].tolist()
    dyads = folder / "dyads.csv"
    seed, tagger = _recipe(folder / "run.json")
    return Analysis(
        sessions=sessions,
        turns=_of_sessions(folder, ids, _TURNS, codebook),
        dyads=_typed(read_csv(dyads) if dyads.is_file() else _nothing(_DYADS, codebook), _DYADS, codebook, dyads),
        profile=_of_sessions(folder, ids, "profile", codebook),
        responses=_of_sessions(folder, ids, "responses", codebook),
        feelings=_of_sessions(folder, ids, "feelings", codebook),
        codebook=codebook,
        seed=seed,
        tagger=tagger,
    )


def read_sessions(results: str | Path, names: Sequence[str] | None = None) -> pd.DataFrame:
    """Return ``sessions.csv`` of a run with its types, or some columns of it.

    Raises
    ------
    BadOptionError
        The folder holds no results.
    BadDataFileError
        A file of it is missing, or is not as the run wrote it.
    """
    folder = _folder(Path(results))
    path = folder / "sessions.csv"
    return _typed(read_csv(path, names), _SESSIONS, read_csv(folder / "codebook.csv"), path)


def _folder(path: Path) -> Path:
    for name in ("sessions.csv", "codebook.csv"):
        if not (path / name).is_file():
            option = "results"
            raise BadOptionError(option, f"{path} holds no {name}", "Name a folder that tanalyze run wrote")
    return path


def read_csv(path: Path, names: Sequence[str] | None = None) -> pd.DataFrame:
    """Read a table that `results.write_csv` wrote, or some columns of it, each cell as the text that it was.

    All that is to be undone of how cells are written is undone here.
    """
    return _parsed(_bytes(path), path, names)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        problem = "the file is not there" if isinstance(error, FileNotFoundError) else "the file cannot be opened"
        raise BadDataFileError(str(path), problem, _AGAIN) from None


def _parsed(data: bytes, path: Path, names: Sequence[str] | None = None) -> pd.DataFrame:
    wanted = None if names is None else list(names)
    # Ours end in \n, so that a \r is a part of the cell. A spreadsheet may have saved the file since.
    ending = None if _head(data).endswith(b"\r\n") else "\n"
    try:
        # As text first: 007 is a name, and so is NA.
        frame = pd.read_csv(
            BytesIO(data), dtype=str, keep_default_na=False, encoding="utf-8-sig", lineterminator=ending, usecols=wanted
        )
    except ValueError as error:  # as pandas' errors about the form of a table are
        raise BadDataFileError(str(path), f"it is not a table ({type(error).__name__})", _AGAIN) from None
    return restore(frame) if b"'" in data else frame


def _head(data: bytes) -> bytes:
    return data[: data.find(b"\n") + 1]


def _read_all(paths: Sequence[Path]) -> list[pd.DataFrame]:
    """Read many tables in order, those of like columns as one: pandas takes its time over each."""
    found = []
    files = [(path, _bytes(path)) for path in paths]
    for head, group in groupby(files, key=lambda one: _head(one[1])):
        alike = list(group)
        plain = head.endswith(b"\n") and not head.endswith(b"\r\n") and b'"' not in head
        if plain and all(data.endswith(b"\n") for _, data in alike):
            whole = head + b"".join(data[len(head) :] for _, data in alike)
            found.append(_parsed(whole, alike[0][0].parent.parent))
        else:
            found += [_parsed(data, path) for path, data in alike]
    return found


def _of_sessions(folder: Path, ids: Sequence[str], name: str, codebook: pd.DataFrame) -> pd.DataFrame:
    """Put one table of all sessions together; folders of an older version may lack some."""
    paths = [_of_session(folder, one) / f"{name}.csv" for one in ids]
    read = _read_all([path for path in paths if name == _TURNS or path.is_file()])
    columns = list(_nothing(name, codebook))
    whole = pd.concat(read, ignore_index=True).fillna("") if read else _nothing(name, codebook)
    known = [column for column in columns if column in whole]
    whole = whole[[*known, *(column for column in whole if column not in set(known))]]
    return with_categories(_typed(whole, name, codebook, folder / _SESSIONS))


def _of_session(folder: Path, name: str) -> Path:
    if name in ("", ".", "..") or Path(name).name != name:
        path, problem = str(folder / "sessions.csv"), "a session_id is not the name of a folder"
        raise BadDataFileError(path, problem, _AGAIN)
    return folder / _SESSIONS / name


def _nothing(name: str, codebook: pd.DataFrame) -> pd.DataFrame:
    """Return a table without rows."""
    columns = codebook.loc[codebook["table"] == name, "column"].tolist()
    if name == _DYADS:
        of_sessions = codebook[(codebook["table"] == _SESSIONS) & ~codebook["family"].isin(_ABOUT)]
        columns += of_sessions["column"].tolist()
    if name == _TURNS:
        columns = [one for one in columns if one != _TEXT]
    return pd.DataFrame(columns=columns, dtype=str)


def _typed(frame: pd.DataFrame, name: str, codebook: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Give each column its type; what the codebook does not know is text."""
    own = codebook[codebook["table"].isin((name, _SESSIONS) if name == _DYADS else (name,))]
    units = dict(zip(own["column"], own["unit"], strict=True))
    numbers = _numbers(frame[[one for one in frame if units.get(one, _TEXT) != _TEXT]], path)
    types = {one: kind for one, kind in _whole(name, map(str, numbers)).items() if one in numbers}
    never_missing = [one for one, kind in types.items() if kind == "int64"]
    if (numbers[list(types)] % 1 > 0).any(axis=None) or numbers[never_missing].isna().any(axis=None):
        raise BadDataFileError(str(path), "a count or a code is not a whole number", _AGAIN)
    numbers = numbers.astype(types)
    return pd.DataFrame({one: numbers[one] if one in numbers else frame[one] for one in frame})


def _whole(name: str, columns: Iterable[str]) -> dict[str, str]:
    """Return the types of a table's whole numbers."""
    names = set(columns)
    found = dict.fromkeys(_INTEGERS.get(name, ()), "int64") | dict.fromkeys(_INTEGERS_OR_NONE.get(name, ()), "Int64")
    codes = [one for one in names if f"p_{one}" in names] if name == _TURNS else []
    return found | dict.fromkeys(codes, "Int8")


def _numbers(cells: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Read all cells at once: a table has many columns, and pandas takes its time over each."""
    texts = cells.to_numpy(dtype=object)
    try:
        values = np.where(texts == "", "nan", texts).astype(np.float64)
    except ValueError:
        problem = f"{_worst(cells)} holds something that is not a number"
        raise BadDataFileError(str(path), problem, _AGAIN) from None
    return pd.DataFrame(values, columns=cells.columns, index=cells.index)


def _worst(cells: pd.DataFrame) -> str:
    wrong = [
        name
        for name in cells
        if pd.to_numeric(cells[name].where(cells[name] != ""), errors="coerce").count() < (cells[name] != "").sum()
    ]
    return f"the column {wrong[0]}" if wrong else "a column"


def _recipe(path: Path) -> tuple[int, dict[str, Any]]:
    """Return seed and tagger of a run."""
    if not path.is_file():
        return 0, {}
    try:
        recipe: Any = json.loads(path.read_text(encoding="utf-8"))
        return int(recipe["options"]["seed"]), dict(recipe.get("tagger", {}))
    except (ValueError, LookupError, TypeError):
        raise BadDataFileError(str(path), "it does not say how the run was made", _AGAIN) from None
