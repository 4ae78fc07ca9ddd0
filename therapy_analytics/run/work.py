"""One batch of sessions, in whichever process: they are read, measured and written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from therapy_analytics import results
from therapy_analytics.core.errors import BadDataFileError, TherapyAnalyticsError, UnreadableFileError, place_of
from therapy_analytics.measures.settings import Settings
from therapy_analytics.readers import ReadOptions
from therapy_analytics.readers.transcript_reading import read_transcript
from therapy_analytics.results import Form, Record, hash_of_all, tables
from therapy_analytics.results.analysis import TABLES, core_measures, joined_tables
from therapy_analytics.run.figures import draw_session
from therapy_analytics.run.measure import in_batches, measure_batch
from therapy_analytics.run.survey import Batch, SurveyedFile, SurveyedSession
from therapy_analytics.speakers import repaired
from therapy_analytics.text.donors import Candidate, SurrogatePool, shortened, surrogate_pool

if TYPE_CHECKING:
    from therapy_analytics.core.session import Session
    from therapy_analytics.plots.files import Plots

_CHANGED = ("its file has changed since the run began", "Leave the transcripts as they are until the run is done")


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What is done with each batch; it holds no word of a transcript.

    Attributes
    ----------
    run : str
        Random, so that a worker of a cluster forgets what it holds of an earlier run.
    settings, options, form, plots, figures, figure_width
        As `run` was given them.
    donors : tuple of (Candidate, SurveyedSession)
        The donors of surrogate pairs.
    out : Path
        The absolute path of the folder of results.
    key : str
        A hash of everything that the files of all sessions depend on.
    groupings : frozenset of str
        The fields beside the turns that are copied because they are groupings over all sessions.
    about, gold : tuple of str
        The columns of the sessions table that are no measures; those of the turns table with codes that people gave.
    """

    run: str
    settings: Settings
    options: ReadOptions
    donors: tuple[tuple[Candidate, SurveyedSession], ...]
    out: Path
    form: Form
    key: str
    plots: Plots = "session"
    figures: tuple[str, ...] = ()
    figure_width: float | None = None
    groupings: frozenset[str] = frozenset()
    about: tuple[str, ...] = ()
    gold: tuple[str, ...] = ()


@dataclass(slots=True)
class Outcome:
    """What became of a batch, or of all of them.

    Attributes
    ----------
    records : list of str
        The records of finished sessions, in order: one for each session, or with Parquet one for each batch. They
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
        """Add what became of another batch."""
        self.records += other.records
        self.n_finished += other.n_finished
        self.n_kept += other.n_kept
        self.problems += other.problems


class _Measured(NamedTuple):
    """Sessions that were measured, with their tables, and what an outside coder counted."""

    sessions: Sequence[Session]
    tables: Mapping[str, pd.DataFrame]
    counted: Mapping[str, int]


def do_work(batch: Batch, *, work: Work) -> Outcome:
    """Measure and write the sessions of a batch, except those that are done."""
    unread: list[UnreadableFileError] = []
    failed: list[UnreadableFileError] = []
    sessions = list(_read(batch, work, unread))
    keys = {one.id: hash_of_all([work.key, one]) for one in sessions}
    if work.form == "csv":
        kept = {one.id for one in sessions if _has_folder(one.id, keys[one.id], work)}
        left = [one for one in sessions if one.id not in kept]
        done = kept | {session.id for one in _measured(left, keys, work, failed) for session in one.sessions}
        records = [f"{results.SESSIONS}/{one.id}/{results.DONE}" for one in sessions if one.id in done]
        return Outcome(records, len(done), len(kept), unread + failed)
    key = hash_of_all([work.key, work.about, work.gold, list(keys.values())])
    name = f"{batch[0].number:06d}"
    path = results.record_file(name)
    known = results.read_record(work.out / path)
    if known is not None and known.key == key and known.is_whole(work.out):
        n = len(known.ids)
        return Outcome([path] if n else [], n, n, unread + known.unmeasured)
    found = list(_measured(sessions, keys, work, failed))
    if found:
        _write_data_files(name, found, key, failed, work)
    n = sum(len(one.sessions) for one in found)
    return Outcome([path] if found else [], n, 0, unread + failed)


@dataclass(slots=True)
class _Held:
    """What this process holds of the run that it works for: its donors, and the file that it read last."""

    run: str = ""
    pool: SurrogatePool | None = None
    file: SurveyedFile | None = None
    sessions: tuple[Session, ...] = ()


_held = _Held()


def forget(run: str = "") -> None:
    """Forget what this process holds of a run, words of transcripts among it, before it works for another."""
    _held.run, _held.pool, _held.file, _held.sessions = run, None, None, ()


def _sessions_of(file: SurveyedFile, work: Work) -> Sequence[Session]:
    """Return the sessions of a transcript; none if it has changed since the survey."""
    if _held.run != work.run:
        forget(work.run)
    if _held.file != file:
        _held.file, _held.sessions = None, ()  # before the next is held
        reading = read_transcript(file.transcript, work.options, file.ids)
        if reading.sha256 == file.sha256:
            _held.sessions = reading.with_groupings(work.groupings).sessions
        _held.file = file
    return _held.sessions


def _read(batch: Batch, work: Work, unread: list[UnreadableFileError]) -> Iterator[Session]:
    """Yield the sessions of a batch; note those that have changed since the survey."""
    for one in batch:
        sessions = _sessions_of(one.file, work)
        if one.at < len(sessions):
            yield replace(sessions[one.at], id=one.id, notes=one.notes)
        else:
            problem = f"session {one.id}: {_CHANGED[0]}"
            unread.append(UnreadableFileError(one.file.transcript.path, None, problem, _CHANGED[1]))


def _pool(work: Work) -> SurrogatePool:
    """Return the donors, which are read once, each file of theirs once.

    Raises
    ------
    BadDataFileError
        One has changed since the survey.
    """
    if _held.pool is None:
        found = {}
        for _, one in sorted(work.donors, key=lambda donor: donor[1].number):
            sessions = _sessions_of(one.file, work)
            if one.at >= len(sessions):
                raise BadDataFileError(one.file.transcript.path, *_CHANGED)
            found[one.number] = shortened(sessions[one.at])
        _held.pool = surrogate_pool([one for one, _ in work.donors], [found[one.number] for _, one in work.donors])
    return _held.pool


def _has_folder(session: str, key: str, work: Work) -> bool:
    """Return whether a session's folder is as it should be; where only its figures are not, draw them."""
    folder = work.out / results.SESSIONS / session
    found = results.read_record(folder / results.DONE)
    if found is None or found.key != key or not results.session_is_whole(folder, found):
        return False
    asked = replace(found, plots=work.plots, figures=work.figures, figure_width=work.figure_width, not_drawn=())
    if found != asked:
        results.write_figures_again(folder, asked, _drawing(work))
    return True


def _measured(
    sessions: Collection[Session], keys: Mapping[str, str], work: Work, failed: list[UnreadableFileError]
) -> Iterator[_Measured]:
    """Measure sessions, and write their folders; if a defect of this program stops one, note it and go on."""
    for some in in_batches(sessions, work.settings.turns_per_batch):
        try:
            yield _measured_together(some, keys, work)
        except (TherapyAnalyticsError, OSError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 (one session must not cost the others; its name and place are reported)
            if len(some) > 1:
                for one in some:
                    yield from _measured((one,), keys, work, failed)
                continue
            problem = f"a defect of this program stopped session {some[0].id} ({place_of(error)})"
            remedy = "Please report this line; leave the session out"
            failed.append(UnreadableFileError(some[0].source_file, None, problem, remedy))


def _measured_together(some: Sequence[Session], keys: Mapping[str, str], work: Work) -> _Measured:
    if work.settings.repair_speakers:
        some = [repaired(session) for session in some]
    arrays = measure_batch(some, work.settings, _pool(work))
    made = {one.name: one.make(arrays) for one in TABLES}
    found = _Measured([one.session for one in arrays.sessions], made, arrays.counts)
    if work.form == "csv":
        _write_folders(found, keys, work)
    return found


def _write_folders(found: _Measured, keys: Mapping[str, str], work: Work) -> None:
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
        folder = work.out / results.SESSIONS / session.id
        results.write_session(texts[at], folder, record, _drawing(work))


def _drawing(work: Work) -> results.Draw:
    """Return what draws the figures of a session."""
    kind = work.settings.tagger.kind
    return partial(draw_session, plots=work.plots, formats=work.figures, width_mm=work.figure_width, tagger=kind)


def _write_data_files(
    name: str, found: Sequence[_Measured], key: str, failed: Sequence[UnreadableFileError], work: Work
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
