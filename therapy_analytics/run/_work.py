"""One work batch from names to files, in whichever process: what is written of each session, and what could not be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from therapy_analytics import results, tables
from therapy_analytics.analysis import TABLES, core_measures, joined_tables
from therapy_analytics.errors import TherapyAnalyticsError, UnreadableFileError, place_of
from therapy_analytics.language.donors import SurrogatePool
from therapy_analytics.readers import ReadOptions
from therapy_analytics.readers._fragment_reading import forget_last
from therapy_analytics.results import Form, Record, hash_of_all
from therapy_analytics.run._batches import Donor, WorkBatch, read_donors
from therapy_analytics.run._measure import in_batches, measure_batch
from therapy_analytics.settings import Settings
from therapy_analytics.speakers import repaired

if TYPE_CHECKING:
    from therapy_analytics.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What is done with each work batch: the same for all, and without a word of a transcript.

    Attributes
    ----------
    settings : Settings
        What is measured.
    options : ReadOptions
        How files are read.
    donors : tuple of Donor
        The sessions that lend their turns to surrogate pairs.
    out : Path
        The folder of results, from the root.
    form : {"csv", "parquet"}
        A folder a session, or data files of many sessions.
    key : str
        A hash of all that the files of every session depend on.
    figures : tuple of str
        The formats of figures.
    explain : bool
        Whether each session gets the evidence for its codes.
    about, gold : tuple of str
        Columns of all sessions together that are no measures; of their turns, with codes that people gave.
    """

    settings: Settings
    options: ReadOptions
    donors: tuple[Donor, ...]
    out: Path
    form: Form
    key: str
    figures: tuple[str, ...] = ()
    explain: bool = False
    about: tuple[str, ...] = ()
    gold: tuple[str, ...] = ()

    @property
    def folders(self) -> Path | None:
        """Return where the folders of sessions are, if there are any."""
        if self.form == "csv":
            return self.out / results.SESSIONS
        return self.out / results.FOLDERS if self.figures else None


@dataclass(slots=True)
class BatchOutcome:
    """What became of a work batch.

    Attributes
    ----------
    finished : list of str
        The ids of its sessions whose files are there, as this run wants them.
    n_kept : int
        How many of these an earlier run had finished.
    problems : list of UnreadableFileError
        What must be said of those that could not be measured.
    """

    finished: list[str] = field(default_factory=list)
    n_kept: int = 0
    problems: list[UnreadableFileError] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Measured:
    """Sessions that were measured, with their tables, and what an outside coder counted."""

    sessions: Sequence[Session]
    tables: Mapping[str, pd.DataFrame]
    counted: Mapping[str, int]


def do_work(batch: WorkBatch, *, work: Work) -> BatchOutcome:
    """Measure and write the sessions of a work batch, but for those that are done."""
    read = list(batch.read(work.options))
    unread = [one for one in read if isinstance(one, UnreadableFileError)]
    sessions = [one for one in read if not isinstance(one, UnreadableFileError)]
    keys = {one.id: hash_of_all([work.key, one]) for one in sessions}
    done = [one.id for one in sessions if _has_folder(one.id, keys[one.id], work)]
    key = hash_of_all([work.key, work.about, work.gold, list(keys.values())])
    if work.form == "parquet":
        known = results.read_record(results.record_file(work.out, batch.name))
        if known is not None and known.key == key and len(done) == len(sessions) and known.is_whole(work.out):
            return BatchOutcome(list(known.ids), len(known.ids), unread + known.unmeasured)
        done = []  # its data files are written as a whole
    outcome = BatchOutcome(list(done), len(done))
    left = [one for one in sessions if one.id not in set(done)]
    some = in_batches(left, work.settings.turns_per_batch)
    found = [measured for one in some for measured in _isolated(one, keys, work, outcome)]
    if found and work.form == "parquet":
        _write_data_files(batch.name, found, key, outcome.problems, work)
    outcome.problems = unread + outcome.problems
    return outcome


def _has_folder(session: str, key: str, work: Work) -> bool:
    """Return whether a session's folder is as it should be; where only figures are to be drawn, draw them."""
    if work.folders is None:
        return True
    folder = work.folders / session
    found = results.read_record(folder / results.DONE)
    if found is None or found.key != key or not results.session_is_whole(folder, found):
        return False
    if found.figures != work.figures:
        results.write_figures_again(folder, found, work.figures, tagger=work.settings.tagger.kind)
    return True


def _isolated(some: Sequence[Session], keys: Mapping[str, str], work: Work, outcome: BatchOutcome) -> list[_Measured]:
    """Measure sessions together; where a defect of this program stops that, each alone, and tell of the one."""
    try:
        measured = _measure(some, work)
        if work.folders is not None:
            _write_folders(measured, work.folders, keys, work)
    except (TherapyAnalyticsError, OSError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 (one session must not cost the others; its name and place are told)
        if len(some) > 1:
            return [one for session in some for one in _isolated((session,), keys, work, outcome)]
        problem = f"a defect of this program stopped session {some[0].id} ({place_of(error)})"
        remedy = "Please report this line; leave the session out"
        outcome.problems.append(UnreadableFileError(some[0].source_file, None, problem, remedy))
        return []
    outcome.finished += [session.id for session in some]
    return [measured]


def _measure(some: Sequence[Session], work: Work) -> _Measured:
    """Measure sessions; where the settings say so, with the speakers that the words of each propose."""
    if work.settings.repair_speakers:
        some = [repaired(session) for session in some]
    found = measure_batch(some, work.settings, _strangers(work))
    made = {one.name: one.make(found) for one in TABLES if work.explain or not one.only_explained}
    return _Measured([one.session for one in found.sessions], made, found.counts)


def _write_folders(found: _Measured, folders: Path, keys: Mapping[str, str], work: Work) -> None:
    core = core_measures(work.settings)
    ids = [session.id for session in found.sessions]
    texts = results.session_texts(found.tables, ids)
    rows = results.joined_rows(found.tables, ids, core)
    for at, session in enumerate(found.sessions):
        record = Record(
            key=keys[session.id],
            ids=(session.id,),
            figures=work.figures,
            about={name: text for name, text in tables.about(session).items() if name not in set(core)},
            rows=rows[at],
            counted=found.counted if at == 0 else {},
        )
        results.write_session(texts[at], folders / session.id, record, tagger=work.settings.tagger.kind)


def _write_data_files(
    name: str, found: Sequence[_Measured], key: str, problems: Sequence[UnreadableFileError], work: Work
) -> None:
    core = core_measures(work.settings)
    whole = joined_tables([one.tables for one in found], work.about, work.gold, core)
    record = Record(
        key=key,
        ids=tuple(session.id for one in found for session in one.sessions),
        counted=sum((Counter(one.counted) for one in found), Counter()),
        problems=tuple((one.path, one.problem, one.remedy) for one in problems),
    )
    results.write_data_files(whole, work.out, name, record)


_held: dict[str, SurrogatePool] = {}
"""The sessions that lend their turns in the run that this process works for."""


def forget() -> None:
    """Let go what this process holds of the run that it worked for: words are among it."""
    _held.clear()
    forget_last()


def _strangers(work: Work) -> SurrogatePool:
    if work.key not in _held:
        _held.clear()
        _held[work.key] = read_donors(work.donors, work.options)
    return _held[work.key]
