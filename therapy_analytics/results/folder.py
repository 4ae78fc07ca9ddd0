"""The folder of results: what may be in it, one run at a time, and how a run begins and ends in it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from therapy_analytics.core import private
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.folders import LOCK, OUT, alone_in, is_left, is_made, refuse_unusable
from therapy_analytics.core.printable import printable
from therapy_analytics.results.analysis import TABLES
from therapy_analytics.results.reading import Form
from therapy_analytics.results.writing import DATASETS, DONE, PROBLEMS, RECORDS, SESSIONS, records_at, write_text

FOLDERS = "folders"
"""The folder of the folders of sessions where `SESSIONS` is a data set."""
RUN = "run.json"
GOING = ".going.json"
"""The settings of a run that is going on or was stopped; `RUN` replaces it when the run ends."""
PAGE = "report.html"
_FOLDERS = (*DATASETS, RECORDS, FOLDERS)
_STAY = frozenset({*_FOLDERS, GOING, LOCK})
"""What is not removed when a run begins."""


Figures = Callable[[], Mapping[str, Collection[str]]]
"""Returns the names of the files of the figures of a whole run, by format; not called where there is no earlier run."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of results that this run alone writes into.

    Attributes
    ----------
    path : Path
        The folder.
    before : mapping of str to object
        The ``run.json`` of the earlier run into it; empty where there was none.
    figures : callable
        Returns the files of the figures of a whole run, by format.
    """

    path: Path
    before: Mapping[str, Any]
    figures: Figures

    @property
    def n_sessions(self) -> int:
        """How many finished sessions of earlier runs it holds."""
        in_data_files = sum(len(one.ids) for one in records_at((self.path / RECORDS).glob("*.json")))
        return in_data_files or sum(1 for _ in (self.path / SESSIONS).glob(f"[!.]*/{DONE}"))

    @property
    def when(self) -> str:
        """When the earlier run ended or was stopped, as ``2026-03-31 14:05``; empty where there was none."""
        for name in (GOING, RUN):
            with suppress(OSError):
                return f"{datetime.fromtimestamp((self.path / name).stat().st_mtime):%Y-%m-%d %H:%M}"
        return ""

    @property
    def form(self) -> Form:
        """How the sessions of the earlier run are written."""
        return "parquet" if (self.path / RECORDS).is_dir() else "csv"

    @property
    def overviews(self) -> set[str]:
        """What shows all sessions of the earlier run: ``report.html``, and the formats of figures, as ``png``."""
        shown = {**self.figures(), PAGE: [PAGE]}
        return {kind for kind, names in shown.items() if any((self.path / name).is_file() for name in names)}

    @property
    def made(self) -> list[Path]:
        """The folders in it that other commands made from the results."""
        folders = sorted(path for path in self.path.iterdir() if path.name not in _STAY and not is_left(path.name))
        return [path for path in folders if path.is_dir() and is_made(path)]

    def begin(self, recipe: Mapping[str, Any]) -> None:
        """Make the folder private, note the settings of this run, and remove an earlier run's files on all sessions.

        Nothing in the folder is touched before. Files of single sessions are replaced one by one later.
        """
        private.folder(self.path / SESSIONS)
        for path in (self.path, self.path / SESSIONS):
            path.chmod(private.FOLDER)
        # First the note: a folder without it, or `RUN`, is not taken for a folder of results.
        write_text(_json(recipe), self.path / GOING)
        for path in list(self.path.iterdir()):
            if path.name not in _STAY and not path.is_dir() and _is_own(path, self.figures):
                path.unlink(missing_ok=True)

    @contextmanager
    def ending(self, recipe: Mapping[str, Any], kept: Mapping[str, Collection[str]]) -> Iterator[None]:
        """Remove what is not of this run and write ``run.json``; when the block ends well, the run has ended.

        Parameters
        ----------
        recipe : mapping
            The contents of ``run.json``.
        kept : mapping of str to collection of str
            The files of this run in each of its folders; all others are removed.
        """
        for name in _FOLDERS:
            folder, names = self.path / name, kept.get(name, ())
            for path in [path for path in folder.iterdir() if path.name not in names] if folder.is_dir() else []:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            if folder.is_dir() and not names and name != SESSIONS:
                folder.rmdir()
        write_text(_json(recipe), self.path / RUN)
        yield
        (self.path / GOING).unlink(missing_ok=True)


@contextmanager
def opened(out: Path, figures: Figures = dict) -> Iterator[Folder]:
    """Make the folder unless it is there, and keep other commands out of it, as `alone_in` does.

    Parameters
    ----------
    out : Path
        The folder.
    figures : callable, optional
        Returns the files of the figures of a whole run, by format: they belong to the results of an earlier run.

    Raises
    ------
    BadOptionError
        It cannot be used, holds other things than results, or another command is writing into it.
    """
    refuse_unusable(out)
    others = [path.name for path in sorted(out.iterdir()) if not _is_own(path, figures)] if out.is_dir() else []
    if others:
        problem = f"{out} holds other things than results ({others[0]}, ...)"
        raise BadOptionError(OUT, problem, "Name a new or an empty folder")
    with alone_in(out):
        yield Folder(out, _before(out), figures)


def _before(out: Path) -> Mapping[str, Any]:
    for name in (GOING, RUN):
        with suppress(OSError, ValueError):
            found = json.loads((out / name).read_text(encoding="utf-8"))
            if isinstance(found, dict):
                return found
    return {}


def _json(recipe: Mapping[str, Any]) -> str:
    """Return a recipe as JSON; if a name in it has control characters or cannot be encoded, all is ASCII."""
    text = json.dumps(recipe, indent=2, ensure_ascii=False)
    steers = any(printable(line) != line for line in text.split("\n"))
    return (json.dumps(recipe, indent=2) if steers else text) + "\n"


def _is_own(path: Path, figures: Figures) -> bool:
    """Return whether it is of a run, or made from its results by a command: it has a name of ours, and a run was there.

    Or it is an empty folder for sessions.
    """
    if is_left(path.name):
        return True
    if any((path.parent / name).is_file() for name in (GOING, RUN)):
        tables = {one.csv for one in TABLES if one.joined} | {"codebook.csv", PROBLEMS, RUN, PAGE}
        files = tables.union(*figures().values())
        return path.name in _STAY or path.name in files or (path.is_dir() and is_made(path))
    return path.name == SESSIONS and path.is_dir() and not any(path.iterdir())
