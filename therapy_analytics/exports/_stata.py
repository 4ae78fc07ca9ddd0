"""Stata: .dta of Stata 14 and later (format 118, UTF-8), with labels of variables and values."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from therapy_analytics.exports import _labelled
from therapy_analytics.exports._labelled import Labelled, Limits, labelled, write_names
from therapy_analytics.exports._sheets import Sheet
from therapy_analytics.private import fresh

LIMITS = Limits(name=31, label=80, text=None, value_label=32_000)
"""Names may have 32 characters, but the library gives labels of values the name of their column, and 31 at most."""
_FORMAT_118 = 14
_DATE = b"01 Jan 2000 00:00"
_BEFORE_DATE = b"<timestamp>" + bytes([len(_DATE)])
_HEAD = 1000


def library() -> Any:
    """Return pyreadstat, or raise a `BadOptionError`."""
    return _labelled.library("stata")


def write(sheets: Sequence[Sheet], out: Path) -> None:
    """Write a file a sheet, and how their columns are called."""
    done = [(sheet, labelled(sheet, LIMITS)) for sheet in sheets]
    for sheet, one in done:
        path = out / f"{sheet.name}.dta"
        fresh(path)
        _write(sheet, one, path)
        _without_clock(path)
    write_names(done, out / "names_stata.csv")


def _write(sheet: Sheet, one: Labelled, path: Path) -> None:
    pyreadstat = library()
    try:
        pyreadstat.write_dta(
            one.frame,
            str(path),
            file_label=f"therapy-analytics: {sheet.name}",
            column_labels=dict(one.labels),
            variable_value_labels={name: dict(values) for name, values in one.values.items()},
            version=_FORMAT_118,
        )
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, TypeError) as error:
        raise _labelled.refused(sheet, error) from None


def _without_clock(path: Path) -> None:
    """Put a fixed date where the time of writing stands: the same table gives the same bytes."""
    with path.open("r+b") as file:
        head = file.read(_HEAD)
        at = head.find(_BEFORE_DATE)
        if at >= 0:
            file.seek(at + len(_BEFORE_DATE))
            file.write(_DATE)
