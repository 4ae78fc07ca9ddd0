"""One work batch, in whichever process: its sessions are read, measured and written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from therapy_analytics import results
from therapy_analytics.core.errors import TherapyAnalyticsError, UnreadableFileError, place_of
from therapy_analytics.measures.settings import Settings
from therapy_analytics.readers import ReadOptions
from therapy_analytics.readers.transcript_reading import forget_last
from therapy_analytics.results import Form, Record, hash_of_all, tables
from therapy_analytics.results.analysis import TABLES, core_measures, joined_tables
from therapy_analytics.run._batches import Donor, WorkBatch, read_donors
from therapy_analytics.run._measure import in_batches, measure_batch
from therapy_analytics.speakers import repaired
from therapy_analytics.text.donors import SurrogatePool

if TYPE_CHECKING:
    from therapy_analytics.core.session import Session
    from therapy_analytics.plots.files import Plots


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What is done with each work batch; it holds no word of a transcript.

    Attributes
    ----------
    settings : Settings
        What is measured.
    options : ReadOptions
        How files are read.
    donors : tuple of Donor
        The donors of surrogate pairs.
    out : Path
        The absolute path of the folder of results.
    form : {"csv", "parquet"}
        A folder for each session, or data files of many sessions.
    key : str
        A hash of everything that the files of all sessions depend on.
    plots : {"session", "all", "none"}
        Which figures of each session are drawn.
    figures : tuple of str
        The formats of figures.
    figure_width : float or None
        Their width in millimetres.
    groupings : frozenset of str
        The fields beside the turns that are copied because they are groupings over all sessions.
    about : tuple of str
        The columns of the sessions table that are no measures.
    gold : tuple of str
        The columns of the turns table with codes that people gave.
    """

    settings: Settings
    options: ReadOptions
    donors: tuple[Donor, ...]
    out: Path
    form: Form
    key: str
    plots: Plots = "session"
    figures: tuple[str, ...] = ()
    figure_width: float | None = None
    groupings: frozenset[str] = frozenset()
    about: tuple[str, ...] = ()
    gold: tuple[str, ...] = ()

    @property
    def folders(self) -> Path | None:
        """The folder of the folders of sessions, if there are any."""
        if self.form == "csv":
            return self.out / results.SESSIONS
        return self.out / results.FOLDERS if self.figures else None


@dataclass(slots=True)
class Outcome:
    """What became of a work batch, or of all of them.

    Attributes
    ----------
    records : list of str
        The records of finished sessions, in order: one for each session, or with Parquet one for each work batch. They
        are paths relative to the folder of results.
    n_finished : int
        Sessions whose files are there as this run wants them.
    n_kept : int
        How many of these an earlier run had finished.
    problems : list of UnreadableFileError
        Sessions that could not be measured.
    """

    records: list[str] = field(default_factory=list)
    n_finished: int = 0
    n_kept: int = 0
    problems: list[UnreadableFileError] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        """Add what became of another work batch."""
        self.records += other.records
        self.n_finished += other.n_finished
        self.n_kept += other.n_kept
        self.problems += other.problems


@dataclass(frozen=True, slots=True)
class _BatchTables:
    """Sessions that were measured, with their tables, and what an outside coder counted."""

    sessions: Sequence[Session]
    tables: Mapping[str, pd.DataFrame]
    counted: Mapping[str, int]


def do_work(batch: WorkBatch, *, work: Work) -> Outcome:
    """Measure and write the sessions of a work batch, except those that are done."""
    read = list(batch.read(work.options, work.groupings))
    problems = [one for one in read if isinstance(one, UnreadableFileError)]
    sessions = [one for one in read if not isinstance(one, UnreadableFileError)]
    keys = {one.id: hash_of_all([work.key, one]) for one in sessions}
    finished = {one.id for one in sessions if _has_folder(one.id, keys[one.id], work)}
    key = hash_of_all([work.key, work.about, work.gold, list(keys.values())])
    record = results.record_file(batch.name)
    if work.form == "parquet":
        known = results.read_record(work.out / record)
        if known is not None and known.key == key and len(finished) == len(sessions) and known.is_whole(work.out):
            n = len(known.ids)
            return Outcome([record] if n else [], n, n, problems + known.unmeasured)
        finished = set()  # data files are written as a whole
    n_kept = len(finished)
    left = [one for one in sessions if one.id not in finished]
    failed: list[UnreadableFileError] = []
    some = in_batches(left, work.settings.turns_per_batch)
    found = [measured for one in some for measured in _isolated(one, keys, work, failed)]
    finished.update(session.id for one in found for session in one.sessions)
    if found and work.form == "parquet":
        _write_data_files(batch.name, found, key, failed, work)
    by_session = [f"{results.SESSIONS}/{one.id}/{results.DONE}" for one in sessions if one.id in finished]
    records = by_session if work.form == "csv" else [record] if found else []
    return Outcome(records, len(finished), n_kept, problems + failed)


def _has_folder(session: str, key: str, work: Work) -> bool:
    """Return whether a session's folder is as it should be; where only its figures are not, draw them."""
    if work.folders is None:
        return True
    folder = work.folders / session
    found = results.read_record(folder / results.DONE)
    if found is None or found.key != key or not results.session_is_whole(folder, found):
        return False
    asked = replace(found, plots=work.plots, figures=work.figures, figure_width=work.figure_width, not_drawn=())
    if found != asked:
        results.write_figures_again(folder, asked, tagger=work.settings.tagger.kind)
    return True


def _isolated(
    some: Sequence[Session], keys: Mapping[str, str], work: Work, failed: list[UnreadableFileError]
) -> list[_BatchTables]:
    """Measure sessions together; if a defect of this program stops that, measure each alone and note which fails."""
    try:
        measured = _measure(some, work)
        if work.folders is not None:
            _write_folders(measured, work.folders, keys, work)
    except (TherapyAnalyticsError, OSError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 (one session must not cost the others; its name and place are reported)
        if len(some) > 1:
            return [one for session in some for one in _isolated((session,), keys, work, failed)]
        problem = f"a defect of this program stopped session {some[0].id} ({place_of(error)})"
        remedy = "Please report this line; leave the session out"
        failed.append(UnreadableFileError(some[0].source_file, None, problem, remedy))
        return []
    return [measured]


def _measure(some: Sequence[Session], work: Work) -> _BatchTables:
    """Measure sessions, with repaired speakers if the settings say so."""
    if work.settings.repair_speakers:
        some = [repaired(session) for session in some]
    found = measure_batch(some, work.settings, _pool(work))
    made = {one.name: one.make(found) for one in TABLES}
    return _BatchTables([one.session for one in found.sessions], made, found.counts)


def _write_folders(found: _BatchTables, folders: Path, keys: Mapping[str, str], work: Work) -> None:
    core = core_measures(work.settings)
    ids = [session.id for session in found.sessions]
    texts = results.session_texts(found.tables, ids)
    rows = results.joined_rows(found.tables, ids, core)
    for at, session in enumerate(found.sessions):
        record = Record(
            key=keys[session.id],
            ids=(session.id,),
            plots=work.plots,
            figures=work.figures,
            figure_width=work.figure_width,
            about={name: text for name, text in tables.about(session).items() if name not in set(core)},
            rows=rows[at],
            counted=found.counted if at == 0 else {},
        )
        results.write_session(texts[at], folders / session.id, record, tagger=work.settings.tagger.kind)


def _write_data_files(
    name: str, found: Sequence[_BatchTables], key: str, failed: Sequence[UnreadableFileError], work: Work
) -> None:
    core = core_measures(work.settings)
    whole = joined_tables([one.tables for one in found], work.about, work.gold, core)
    record = Record(
        key=key,
        ids=tuple(session.id for one in found for session in one.sessions),
        counted=sum((Counter(one.counted) for one in found), Counter()),
        problems=tuple((one.path, one.problem, one.remedy) for one in failed),
    )
    results.write_data_files(whole, work.out, name, record)


_held: dict[str, SurrogatePool] = {}
"""The donors of the run that this process works for."""


def forget() -> None:
    """Forget what this process holds of a run, words of transcripts among it."""
    _held.clear()
    forget_last()


def _pool(work: Work) -> SurrogatePool:
    if work.key not in _held:
        _held.clear()
        _held[work.key] = read_donors(work.donors, work.options)
    return _held[work.key]
