"""pyarrow, which reads and writes Parquet: optional, and slow to load."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from therapy_analytics.core.errors import BadOptionError, how_to_install


def pyarrow(option: str, *, needed: str) -> Any:
    """Return the package, with its module for Parquet loaded.

    Parameters
    ----------
    option : str
        The option that needs it, which the error names.
    needed : str
        What needs it, as the subject of a sentence: "writing Parquet".

    Raises
    ------
    BadOptionError
        It is not installed.
    """
    try:
        import_module("pyarrow.parquet")
        return import_module("pyarrow")
    except ImportError:
        problem = f"{needed} needs the package pyarrow, which is not installed"
        raise BadOptionError(option, problem, f"Install it with: {how_to_install('pyarrow')}") from None
