"""What a run writes and which workers do it; and what it did."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from therapy_analytics.codes import Code
from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.third_party import threads
from therapy_analytics.plots.files import Plots
from therapy_analytics.readers.account import Remark
from therapy_analytics.results import Form, read_sessions
from therapy_analytics.run.survey import InputFile

WORTH_SHARING = 500_000
"""Bytes of transcripts from which on several processes are faster than one."""
MOST_PROCESSES = 4


def _ignore(_: object) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """What a run writes, which workers do it, and what is called as it goes on.

    Attributes
    ----------
    form : {"csv", "parquet"}
        ``csv``: a folder of tables for each session, and tables of all. ``parquet``, for very many sessions: folders
        ``sessions``, ``turns`` and so on, of data files that hold many sessions each.
    plots : {"session", "all", "none"} or None
        Which figures are drawn: one of each session and those of the run, all of them, or none. None is ``session`` for
        ``csv``; there are none with ``parquet``.
    figures : tuple of str
        The formats of figures: png, svg, pdf.
    figure_width : float or None
        The width of figures in millimetres: 85 for one column of a journal, 174 for two, which is also what None is.
    report : bool or None
        Whether ``report.html`` is written, with the words of the sessions if the settings ask for quotes. None is yes
        for ``csv``; it is not available with ``parquet``.
    processes : int
        How many processes of this machine work; the results do not depend on it.
    scheduler : str or None
        The address of a Dask scheduler whose workers work instead, as ``tcp://127.0.0.1:8786``. They must see the
        transcripts and the folder of results under the same paths.
    remote : bool
        Whether that may be on another machine.
    on_files : callable
        Called with the number of files.
    on_file : callable
        Called with each file when it was read.
    on_total : callable
        Called with the number of sessions, once it is known.
    on_sessions : callable
        Called with the number of sessions that were just written, or that an earlier run had finished.
    on_problem : callable
        Called with the error of each session that could not be measured.
    on_names : callable
        Called, before anything is written, with a sentence on names of people that the results will hold.
    on_before : callable
        Called with sentences on how this run differs from the earlier run into the same folder.
    """

    form: Form = "csv"
    plots: Plots | None = None
    figures: tuple[str, ...] = ("png",)
    figure_width: float | None = None
    report: bool | None = None
    processes: int = 1
    scheduler: str | None = None
    remote: bool = False
    on_files: Callable[[int], None] = _ignore
    on_file: Callable[[InputFile], None] = _ignore
    on_total: Callable[[int], None] = _ignore
    on_sessions: Callable[[int], None] = _ignore
    on_problem: Callable[[UnreadableFileError], None] = _ignore
    on_names: Callable[[str], None] = _ignore
    on_before: Callable[[str], None] = _ignore

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats of the figures that are drawn; none where none are."""
        plots = self.plots or ("session" if self.form == "csv" else "none")
        return () if plots == "none" else self.figures

    @property
    def page(self) -> bool:
        """Whether the page is written."""
        return self.form == "csv" if self.report is None else self.report


def processes_for(paths: Iterable[str | Path]) -> int:
    """Return how many processes a run of these transcripts is worth: one, or for many words one for each core.

    To start processes takes some three seconds, so that a run of less than `WORTH_SHARING` bytes is not shared; each
    takes half a gigabyte of memory, so that there are `MOST_PROCESSES` at most. Addresses that are no files of this
    machine count for nothing.
    """
    size = 0
    for path in map(Path, paths):
        files = (Path(folder) / name for folder, _, names in os.walk(path) for name in names)
        size += sum(one.stat().st_size for one in (path, *files) if one.is_file())
    return min(threads(), MOST_PROCESSES) if size >= WORTH_SHARING else 1


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run did and where it wrote.

    Attributes
    ----------
    out : Path
        The folder of results.
    problems : tuple of UnreadableFileError
        Files that could not be read, and sessions that could not be measured, as ``problems.csv`` has them.
    tagger : mapping of str to object
        What coded the turns, and what an outside coder counted, as in ``run.json``.
    rated : tuple of Code
        Codes of the codebooks that the user named; each has a rate in the sessions table.
    n_kept, n_unmeasured : int
        Sessions that an earlier run had finished, and sessions that could not be measured.
    form : {"csv", "parquet"}
        The form of the tables.
    remarks : tuple of Remark
        What to check in the tables about sessions: the other rows of ``problems.csv``.
    not_drawn : tuple of Remark
        Figures that could not be drawn, as ``problems.csv`` has them; all tables are there.
    told : tuple of str
        Sentences on options, guessed roles and remarks. They may hold the label of a therapist who was guessed, which
        is in no file except the tables.
    """

    out: Path
    problems: tuple[UnreadableFileError, ...]
    tagger: Mapping[str, Any] = field(default_factory=dict)
    rated: tuple[Code, ...] = ()
    n_kept: int = 0
    n_unmeasured: int = 0
    form: Form = "csv"
    remarks: tuple[Remark, ...] = ()
    not_drawn: tuple[Remark, ...] = ()
    told: tuple[str, ...] = field(default=(), repr=False)

    @property
    def sessions(self) -> pd.DataFrame:
        """The sessions table, read from the folder: a run does not hold it."""
        return read_sessions(self.out)

    def columns(self, names: Sequence[str]) -> pd.DataFrame:
        """Return some columns of the sessions table, which is faster where there are many sessions."""
        return read_sessions(self.out, names)
