"""SPSS: .sav with labels of variables and values, and levels of measurement."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from therapy_analytics.exports import _labelled
from therapy_analytics.exports._labelled import Labelled, Limits, labelled, write_names
from therapy_analytics.exports._sheets import Sheet
from therapy_analytics.private import fresh

LIMITS = Limits(name=64, label=256, text=32_767, value_label=120)
_DATE_AT, _DATE = 92, b"01 Jan 0000:00:00"
"""Where the head of a .sav says when it was made: nine characters of a date, eight of a time."""
_WIDEST = 40
"""Characters of a text that the data view shows at first."""


def library() -> Any:
    """Return pyreadstat, or raise a `BadOptionError`."""
    return _labelled.library("spss")


def write(sheets: Sequence[Sheet], out: Path) -> None:
    """Write a file a sheet, and how their columns are called."""
    done = [(sheet, labelled(sheet, LIMITS)) for sheet in sheets]
    for sheet, one in done:
        path = out / f"{sheet.name}.sav"
        fresh(path)
        _write(sheet, one, path)
        with path.open("r+b") as file:  # no clock: the same table gives the same bytes
            file.seek(_DATE_AT)
            file.write(_DATE)
    write_names(done, out / "names_spss.csv")


def _write(sheet: Sheet, one: Labelled, path: Path) -> None:
    pyreadstat = library()
    texts = [name for name in one.frame if one.frame[name].dtype == object]
    formats = {name: _format(one.frame[name]) for name in one.frame if name not in texts}
    try:
        pyreadstat.write_sav(
            one.frame,
            str(path),
            file_label=f"therapy-analytics: {sheet.name}",
            column_labels=dict(one.labels),
            row_compress=True,
            variable_value_labels={name: dict(values) for name, values in one.values.items()},
            variable_measure={str(name): _level(str(name), one) for name in one.frame},
            variable_display_width={name: _width(one.frame[name]) for name in texts},
            variable_format=formats,
        )
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError, TypeError) as error:
        raise _labelled.refused(sheet, error) from None


def _level(name: str, one: Labelled) -> str:
    if name in one.ordered:
        return "ordinal"
    return "nominal" if name in one.values or one.frame[name].dtype == object else "scale"


def _format(values: pd.Series) -> str:
    return "F8.3" if pd.api.types.is_float_dtype(values) else "F8.0"


def _width(texts: pd.Series) -> int:
    return min(_WIDEST, max((len(one) for one in texts), default=0)) or 8
