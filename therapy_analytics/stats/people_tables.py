"""Tables that people bring: read with all cells as text, and their columns given standard names."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from therapy_analytics.core.cells import restore
from therapy_analytics.core.errors import BadDataFileError, BadOptionError, UnreadableFileError
from therapy_analytics.readers import other_program, whole_file

NAMES: Mapping[str, tuple[str, ...]] = {
    "session_id": ("session_id", "session", "transcript_id", "transcript", "dialogue_id", "dialog_id",
                   "conversation_id", "conv_id", "case_id", "case", "source_file", "file"),
    "turn": ("turn", "turn_index", "turn_id", "turn_number", "volley"),
    "first_row": ("first_row", "row", "line"),
    "text": ("text", "utterance_text", "utt_text", "utterance", "turn_text", "sentence", "said", "words", "message"),
    "coder": ("coder", "annotator", "annotator_id", "coder_id", "rater", "rater_id", "annotator_name", "judge"),
    "code": ("code", "codes"),
    "value": ("value", "present", "coded"),
    "inclusion": ("inclusion",),
}  # fmt: skip
"""Columns of a table of codes by people, and what else they are called, the best known name first."""
NONE = frozenset({"", "none", "no", "nan", "na", "n/a", "-", "no_code", "uncoded"})
"""Cells that hold nothing, as `slug` returns them."""
_NO_TABLE = "Give a table: CSV, xlsx or JSON Lines, with a row a turn or a row a turn and code"


def read_table(path: Path | str) -> pd.DataFrame:
    """Return a table (CSV of any separator, xlsx, JSON Lines), all cells as text.

    Raises
    ------
    BadDataFileError
        It is none that can be read.
    """
    path = Path(path)
    if path.suffix.lower() == ".eaf":
        problem = "this is an ELAN file, and codes are read from tables"
        remedy = "Export its tiers of codes from ELAN as tab-delimited text, from which docs/coding.md makes codes"
        raise BadDataFileError(str(path), problem, remedy)
    if (other := other_program(path)) is not None:
        raise BadDataFileError(str(path), f"{other[0]}, and codes are read from tables", other[1])
    if path.suffix.lower() == ".jsonl":
        return as_text(_json_lines(path))
    try:
        if path.suffix.lower() in {".xlsx", ".xlsm"}:
            from therapy_analytics.readers import bounded_zip  # noqa: PLC0415
            from therapy_analytics.readers.base import Source  # noqa: PLC0415

            bounded_zip(Source(path, "", data=path.read_bytes()))
            return restore(pd.read_excel(path, dtype=str, keep_default_na=False))
        table = pd.read_csv(path, dtype=str, keep_default_na=False, sep=None, engine="python", encoding="utf-8-sig")
        return restore(table)
    except (ValueError, OSError, csv.Error, pd.errors.ParserError):
        raise BadDataFileError(str(path), "it is no table that can be read", "Save it as CSV (UTF-8) or xlsx") from None


def _json_lines(path: Path) -> pd.DataFrame:
    try:
        lines = whole_file(str(path), str(path)).decode("utf-8-sig").splitlines()
        rows = [json.loads(line) for line in lines if line.strip()]
        frame = pd.DataFrame(rows)
    except (ValueError, RecursionError, AttributeError, UnreadableFileError):
        problem = "it is no table that can be read: JSON Lines with an object a line"
        raise BadDataFileError(str(path), problem, _NO_TABLE) from None
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise BadDataFileError(str(path), "its lines are not objects", _NO_TABLE)
    return frame


def as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with all cells as text, "" where they are missing."""
    return frame.astype(object).where(frame.notna(), "").astype(str).reset_index(drop=True)


def slug(label: object) -> str:
    """Return a label in lower case with _ for spaces; plus and minus stay, for they tell codes of MISC apart.

    Examples
    --------
    >>> slug(" Open Question "), slug("R+")
    ('open_question', 'r+')
    """
    text = str(label).strip().lower().replace(".", "_")
    return "_".join(text.replace("-", " ").split()) + ("-" if text.endswith("-") and len(text) > 1 else "")


def named(
    table: pd.DataFrame, wanted: Mapping[str, str], names_in_use: Mapping[str, Sequence[str]] = NAMES
) -> pd.DataFrame:
    """Give columns that are named in one of many ways their standard names; leave all others.

    Parameters
    ----------
    table : DataFrame
        The table, all cells as text.
    wanted : mapping of str to str
        Which column holds what, by standard name, where the names do not say.
    names_in_use : mapping of str to sequence of str, optional
        Standard names, each with the names that people give such a column, the best known first.

    Raises
    ------
    BadOptionError
        ``wanted`` names what is no standard name, or a column that the table does not have.
    """
    unknown = sorted(set(wanted) - set(names_in_use)) + sorted(set(wanted.values()) - set(table.columns))
    if unknown:
        option, remedy = "columns", f"Known: {', '.join(names_in_use)}, and the table's columns"
        raise BadOptionError(option, f"{unknown[0]!r} is not known", remedy)
    by_slug = {slug(name): str(name) for name in reversed(table.columns)}
    found: dict[str, str] = {name: kind for kind, name in wanted.items()}
    for kind, names in names_in_use.items():
        free = [by_slug[name] for name in names if name in by_slug and by_slug[name] not in found]
        fits = [name for name in free if kind != "text" or not _are_numbers(table[name])]
        if fits and kind not in found.values():
            found[fits[0]] = kind
    return table.rename(columns=found)


def _are_numbers(column: pd.Series) -> bool:
    return bool(pd.to_numeric(column, errors="coerce").notna().mean() > 0.5)
