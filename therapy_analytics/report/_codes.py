"""The codes of turns.csv: what they are called, whose they are, and where the timeline shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from therapy_analytics.report._files import read_columns

_FAMILY = "codes, "
_TAKES = ("column", "table", "family", "meaning")


def codes_json(folder: Path) -> list[dict[str, Any]]:
    """Return every code that turns.csv has, in the codebook's order.

    Raises
    ------
    BadDataFileError
        codebook.csv cannot be read.
    """
    known = _builtin()
    table = read_columns(folder / "codebook.csv", _TAKES)
    rows = list(zip(*(table.get(name, ()) for name in _TAKES), strict=True))
    likely = {row[0] for row in rows if row[1] == "probabilities"}
    found = [row for row in rows if row[1] == "turns" and row[2].startswith(_FAMILY) and row[0] in likely]
    return [_code(column, family.removeprefix(_FAMILY), meaning, known) for column, _, family, meaning in found]


def _code(column: str, book: str, meaning: str, known: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    label, _, definition = meaning.partition(": ")
    role, lane = known.get(column, ("", book))
    return {"column": column, "label": label, "role": role, "definition": definition, "book": book, "lane": lane}


def _builtin() -> dict[str, tuple[str, str]]:
    """Return role and group of the codes of the package."""
    from therapy_analytics.behaviours import builtin_codebooks  # noqa: PLC0415 (few need it)

    return {code.column: (code.role, code.group) for book in builtin_codebooks() for code in book.codes}


def with_roles(codes: Sequence[dict[str, Any]], sessions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the codes with whose they are: of the user's own codes, the turns tell."""
    return [one if one["role"] else {**one, "role": _role(str(one["column"]), sessions)} for one in codes]


def _role(column: str, sessions: Sequence[Mapping[str, Any]]) -> str:
    for session in sessions:
        for role, value in zip(session["role"], session["p"].get(column, ()), strict=False):
            if value is not None:
                return {"t": "therapist", "c": "client"}.get(role, "other")
    return ""
