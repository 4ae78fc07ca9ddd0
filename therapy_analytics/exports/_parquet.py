"""Parquet: what the codebook says of a column stands in the metadata of its field."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from therapy_analytics.arrow import pyarrow
from therapy_analytics.exports._sheets import Sheet
from therapy_analytics.private import fresh

_TOLD = ("meaning", "unit", "range", "direction", "evidence")
"""What stands with the columns; the rest is in the codebook, and would outweigh the numbers."""


def library() -> Any:
    """Return pyarrow, which is optional and slow to load."""
    return pyarrow("--to parquet", needed="writing Parquet")


def write(sheets: Sequence[Sheet], out: Path) -> None:
    """Write a file a sheet; pandas reads categories and missing values back as they were."""
    arrow = library()
    for sheet in sheets:
        path = out / f"{sheet.name}.parquet"
        fresh(path)
        table = arrow.Table.from_pandas(sheet.frame, preserve_index=False)
        fields = [field.with_metadata(_told(sheet, field.name)) for field in table.schema]
        schema = arrow.schema(fields, metadata=table.schema.metadata)
        whole = arrow.Table.from_arrays(table.columns, schema=schema)
        with path.open("wb") as file:  # by its name, pyarrow opens none that is not UTF-8
            arrow.parquet.write_table(whole, file, compression="zstd")


def _told(sheet: Sheet, column: str) -> dict[str, str]:
    about = sheet.about.get(column, {})
    return {key: value for key, value in about.items() if value and key in _TOLD}
