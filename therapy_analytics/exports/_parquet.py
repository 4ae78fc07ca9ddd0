"""Parquet: what the codebook says of a column stands in the metadata of its field."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from therapy_analytics.errors import BadOptionError
from therapy_analytics.exports._files import make_private
from therapy_analytics.exports._sheets import Sheet

_TOLD = ("meaning", "unit", "range", "direction", "evidence")
"""What stands with the columns; the rest is in the codebook, and would outweigh the numbers."""


def library() -> Any:
    """Return pyarrow, which is optional and slow to load."""
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ImportError:
        remedy = "Install it with: pip install 'therapy-analytics[parquet]'"
        problem = "writing Parquet needs the package pyarrow, which is not installed"
        raise BadOptionError("--to parquet", problem, remedy) from None


def write(sheets: Sequence[Sheet], out: Path) -> None:
    """Write a file a sheet; pandas reads categories and missing values back as they were."""
    pyarrow = library()
    for sheet in sheets:
        path = out / f"{sheet.name}.parquet"
        make_private(path)
        table = pyarrow.Table.from_pandas(sheet.frame, preserve_index=False)
        fields = [field.with_metadata(_told(sheet, field.name)) for field in table.schema]
        schema = pyarrow.schema(fields, metadata=table.schema.metadata)
        whole = pyarrow.Table.from_arrays(table.columns, schema=schema)
        pyarrow.parquet.write_table(whole, path, compression="zstd")


def _told(sheet: Sheet, column: str) -> dict[str, str]:
    about = sheet.about.get(column, {})
    return {key: value for key, value in about.items() if value and key in _TOLD}
