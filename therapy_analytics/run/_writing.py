"""How a run goes about it, and what it did."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from therapy_analytics.behaviours import Code
from therapy_analytics.errors import UnreadableFileError
from therapy_analytics.readers._account import Remark
from therapy_analytics.results import Form, read_sessions
from therapy_analytics.run._survey import InputFile


def _ignore(_: object) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """How a run goes about it.

    Attributes
    ----------
    form : {"csv", "parquet"}
        What is written: a folder of tables for each session and a table of all, or, for very many sessions, data sets
        in Parquet: folders ``sessions``, ``turns`` and so on, each of data files that hold many sessions.
    figures : tuple of str or None
        The formats in which each session gets its figures: png, svg, pdf; () for no figures. None is png for
        ``csv`` and none for ``parquet``, where figures bring a folder for each session (``folders/``) with them.
    report : bool or None
        Whether ``report.html`` is written; with what was said in it, where the settings ask for quotes. None is yes
        for ``csv``; it cannot be had with ``parquet``.
    explain : bool
        Whether each session gets the evidence for its codes.
    processes : int
        How many processes of this machine share the work; the results do not depend on it.
    scheduler : str or None
        The address of a Dask scheduler whose workers do the work instead, as ``tcp://127.0.0.1:8786``. They must see
        the transcripts and the folder of results under the same names.
    remote : bool
        Whether that may be on another machine.
    on_files : callable
        Told how many files are to be read.
    on_file : callable
        Told of each file when it was read.
    on_total : callable
        Told how many sessions there are, once they were counted.
    on_sessions : callable
        Told how many sessions were just written, or found to be done.
    on_problem : callable
        Told of each session that could not be measured.
    on_before : callable
        Told in a sentence how this run differs from the one before into the same folder.
    """

    form: Form = "csv"
    figures: tuple[str, ...] | None = None
    report: bool | None = None
    explain: bool = False
    processes: int = 1
    scheduler: str | None = None
    remote: bool = False
    on_files: Callable[[int], None] = _ignore
    on_file: Callable[[InputFile], None] = _ignore
    on_total: Callable[[int], None] = _ignore
    on_sessions: Callable[[int], None] = _ignore
    on_problem: Callable[[UnreadableFileError], None] = _ignore
    on_before: Callable[[str], None] = _ignore

    @property
    def formats(self) -> tuple[str, ...]:
        """Return the formats of figures."""
        return ("png",) * (self.form == "csv") if self.figures is None else self.figures

    @property
    def page(self) -> bool:
        """Return whether the page is written."""
        return self.form == "csv" if self.report is None else self.report


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run did and where it wrote.

    Attributes
    ----------
    out : Path
        The folder.
    problems : tuple of UnreadableFileError
        Files that could not be read, and sessions that could not be measured, as ``problems.csv`` has them.
    tagger : mapping of str to object
        Who coded the turns, and what an outside coder counted: as in ``run.json``.
    rated : tuple of Code
        Codes of the codebooks that the user named; each has a rate in the sessions table.
    n_kept, n_unmeasured : int
        Sessions that an earlier run of the same kind had done, and those that could not be measured.
    form : {"csv", "parquet"}
        What was written.
    remarks : tuple of Remark
        What to check in the tables about sessions: the other rows of ``problems.csv``. Nothing was left unread for it.
    told : tuple of str
        What to say of options, guessed roles and remarks, in sentences. A label of a therapist who was guessed is
        among them, which stands in no file but the tables.
    """

    out: Path
    problems: tuple[UnreadableFileError, ...]
    tagger: Mapping[str, Any] = field(default_factory=dict)
    rated: tuple[Code, ...] = ()
    n_kept: int = 0
    n_unmeasured: int = 0
    form: Form = "csv"
    remarks: tuple[Remark, ...] = ()
    told: tuple[str, ...] = field(default=(), repr=False)

    @property
    def sessions(self) -> pd.DataFrame:
        """Return the table of all sessions, read anew each time: a run holds no table of all sessions."""
        return read_sessions(self.out)

    def columns(self, names: Sequence[str]) -> pd.DataFrame:
        """Return some columns of it, which is quicker where there are many sessions."""
        return read_sessions(self.out, names)
