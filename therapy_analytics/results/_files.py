"""Files of the folder: written under another name, then renamed, so that none is ever half there."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from therapy_analytics.cells import csv_of_frame
from therapy_analytics.errors import UnreadableFileError
from therapy_analytics.private import fresh, write
from therapy_analytics.readers._account import Remark
from therapy_analytics.tables import DIGITS

PART = ".part"
"""The ending of a file that is being written."""


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Give a name beside a file to write to, and put what was written in the file's place if all went well."""
    part = fresh(unlike_all(path))
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def unlike_all(path: Path) -> Path:
    """Return a name beside a file or folder for what will take its place.

    No two are alike: a worker of a cluster that is given up for dead may still write what another writes anew.
    """
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}{PART}")


def as_csv(frame: pd.DataFrame) -> str:
    """Return a table as the text of its file, the same on every system."""
    return csv_of_frame(frame, digits=DIGITS)


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write a table."""
    write_text(as_csv(frame), path)


def write_text(text: str, path: Path) -> None:
    """Write a text as it is."""
    with replaced(path) as part:
        write(part, text)


NOT_READ, NOT_MEASURED, CHECK = "not read", "not measured", "check"
"""Kinds of problems: a file that is missing from the results, a session that is, and what was read but looks odd."""


def problems_table(
    unread: Sequence[UnreadableFileError],
    unmeasured: Sequence[UnreadableFileError] = (),
    remarks: Sequence[Remark] = (),
) -> pd.DataFrame:
    """Return a row for each file that could not be read, session that could not be measured, and thing to check."""
    kinds = ((NOT_READ, unread), (NOT_MEASURED, unmeasured), (CHECK, remarks))
    rows = [(one.path, one.line, one.problem, one.remedy, kind) for kind, found in kinds for one in found]
    frame = pd.DataFrame(rows, columns=["file", "line", "problem", "what_would_be_right", "kind"])
    return frame.astype({"line": "Int64"})
