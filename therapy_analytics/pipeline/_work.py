"""One item from names to files, in whichever process: what is written of each session, and what could not be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from therapy_analytics.engine import in_batches
from therapy_analytics.errors import TherapyAnalyticsError, UnreadableFileError, place_of
from therapy_analytics.language.company import Candidate, Strangers
from therapy_analytics.loading import Form
from therapy_analytics.pipeline._batch import BatchTables, part_tables, session_files, tables_of
from therapy_analytics.pipeline._items import Item, Lender, read_item, read_strangers
from therapy_analytics.readers import ReadOptions
from therapy_analytics.readers._pieces import forget_last
from therapy_analytics.results import (
    FOLDERS,
    SESSIONS,
    Key,
    Part,
    hash_of_all,
    is_whole,
    part_is_whole,
    read_done,
    read_part,
    session_key,
    write_figures_again,
    write_part,
    write_session,
)
from therapy_analytics.settings import Settings

if TYPE_CHECKING:
    from therapy_analytics.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What an item is worked on with: the same for all, and without a word of a transcript.

    Attributes
    ----------
    settings : Settings
        What is measured.
    options : ReadOptions
        How files are read.
    lenders : tuple of (Candidate, Lender)
        Whose turns stand beside each session.
    out : Path
        The folder of results, from the root.
    form : {"csv", "parquet"}
        A folder a session, or parts of data sets.
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
    lenders: tuple[tuple[Candidate, Lender], ...]
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
            return self.out / SESSIONS
        return self.out / FOLDERS if self.figures else None

    def keys_of(self, sessions: Iterable[Session]) -> Keys:
        """Return what the files of each session depend on, by its id."""
        return {session.id: Key(session_key(session, self.key), self.figures) for session in sessions}


Keys = Mapping[str, Key]


@dataclass(slots=True)
class Outcome:
    """What became of an item.

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


def write_item(item: Item, *, work: Work) -> Outcome:
    """Measure and write the sessions of an item, but for those that are done."""
    read = list(read_item(item, work.options))
    outcome = Outcome(problems=[one for one in read if isinstance(one, UnreadableFileError)])
    sessions = [one for one in read if not isinstance(one, UnreadableFileError)]
    keys = work.keys_of(sessions)
    left = [session for session in sessions if not _has_folder(keys[session.id], session.id, work)]
    if work.form == "csv":
        waiting = {session.id for session in left}
        outcome.finished += [session.id for session in sessions if session.id not in waiting]
        outcome.n_kept = len(outcome.finished)
        for batch in in_batches(left, work.settings.turns_per_batch):
            _isolated(batch, lambda some: _write_folders(_tables(some, work), keys, work), outcome)
    else:
        part = hash_of_all([work.key, work.about, work.gold, [key.tables for key in keys.values()]])
        known = None if left else _part(item.name, part, work)
        if known is None:
            _write_part(item.name, part, sessions, keys, work, outcome)
        else:
            outcome.finished += known.ids
            outcome.n_kept = len(known.ids)
            outcome.problems += known.unmeasured
    return outcome


def _part(name: str, key: str, work: Work) -> Part | None:
    known = read_part(work.out, name)
    return known if known is not None and known.key == key and part_is_whole(known, work.out, name) else None


def _write_part(item: str, key: str, sessions: Sequence[Session], keys: Keys, work: Work, outcome: Outcome) -> None:
    batches: list[BatchTables] = []

    def take(some: Sequence[Session]) -> None:
        found = _tables(some, work)
        _write_folders(found, keys, work)
        batches.append(found)

    n_before = len(outcome.problems)
    for batch in in_batches(sessions, work.settings.turns_per_batch):
        _isolated(batch, take, outcome)
    if batches:
        tables = part_tables(batches, work.about, work.gold)
        part = Part(
            key=key,
            ids=tuple(session.id for batch in batches for session in batch.sessions),
            responses=tuple(row for batch in batches for row in batch.answers),
            counted=sum((Counter(batch.found.counts) for batch in batches), Counter()),
            n_dyads=len(tables["dyads"]),
            problems=tuple((one.path, one.problem, one.remedy) for one in outcome.problems[n_before:]),
        )
        write_part(tables, work.out, item, part)


def _write_folders(found: BatchTables, keys: Keys, work: Work) -> None:
    if work.folders is not None:
        for session, files, done in session_files(found, keys):
            write_session(files, work.folders / session, done, tagger=work.settings.tagger.kind)


def _has_folder(key: Key, session: str, work: Work) -> bool:
    """Return whether a session's folder is as it should be; where only figures are to be drawn, draw them."""
    if work.folders is None:
        return True
    folder = work.folders / session
    found = read_done(folder)
    if found is None or found.key.tables != key.tables or not is_whole(found, folder):
        return False
    if found.key != key:
        write_figures_again(folder, found, key.figures, tagger=work.settings.tagger.kind)
    return True


def _isolated(batch: Sequence[Session], work: Callable[[Sequence[Session]], None], outcome: Outcome) -> None:
    """Work on a batch, and note of each session that it is finished, or that a defect of this program stopped it."""
    try:
        work(batch)
    except (TherapyAnalyticsError, OSError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 (one session must not cost the others; its name and place are told)
        if len(batch) > 1:
            for session in batch:
                _isolated((session,), work, outcome)
        else:
            outcome.problems.append(_defect(batch[0], place_of(error)))
    else:
        outcome.finished += [session.id for session in batch]


def _defect(session: Session, where: str) -> UnreadableFileError:
    problem = f"a defect of this program stopped session {session.id} ({where})"
    return UnreadableFileError(session.source_file, None, problem, "Please report this line; leave the session out")


def lost(session: str, path: str, reason: str) -> UnreadableFileError:
    """Return what is said of a session whose process died."""
    why = "there was not enough memory" if reason == "memory" else "the process that measured it died"
    remedy = "Try it alone, with more memory; leave it out if that does not help"
    return UnreadableFileError(path, None, f"session {session} is missing: {why}", remedy)


_held: dict[str, Strangers] = {}
"""The strangers of the run that this process works for."""


def forget() -> None:
    """Let go what this process holds of the run that it worked for: words are among it."""
    _held.clear()
    forget_last()


def _strangers(work: Work) -> Strangers:
    if work.key not in _held:
        _held.clear()
        _held[work.key] = read_strangers(work.lenders, work.options)
    return _held[work.key]


def _tables(batch: Sequence[Session], work: Work) -> BatchTables:
    return tables_of(batch, work.settings, _strangers(work), explained=work.explain)
