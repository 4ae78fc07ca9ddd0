"""One batch from sessions to files, in whichever process: what is written of each session, and what could not be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from therapy_analytics import tables
from therapy_analytics.behaviours.explain import explain
from therapy_analytics.errors import TherapyAnalyticsError, UnreadableFileError, place_of
from therapy_analytics.language.company import Strangers
from therapy_analytics.measures.process._responses import response_counts
from therapy_analytics.measures.synchrony._rows import kinds
from therapy_analytics.pipeline._measured import frames, gold_names, measured, session_measures
from therapy_analytics.results import Done, Key, SessionTables, as_csv, session_key, write_session
from therapy_analytics.settings import Settings

if TYPE_CHECKING:
    from therapy_analytics.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a batch is worked on with.

    Attributes
    ----------
    settings : Settings
        What is measured.
    strangers : Strangers
        Who stands beside each session.
    folder : Path
        Where the folders of sessions are.
    key : str
        A hash of all that the files of every session depend on.
    figures : tuple of str
        The formats of figures.
    explain : bool
        Whether each session gets the evidence for its codes.
    """

    settings: Settings
    strangers: Strangers
    folder: Path
    key: str
    figures: tuple[str, ...] = ()
    explain: bool = False

    def key_of(self, session: Session) -> Key:
        """Return what the files of a session depend on."""
        return Key(session_key(session, self.key), self.figures)


def write_batch(batch: tuple[Session, ...], *, work: Work) -> list[UnreadableFileError]:
    """Measure and write sessions; return what must be said of those that a defect of this program stopped."""
    try:
        _write(batch, work)
    except (TherapyAnalyticsError, OSError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 (one session must not cost the others; its name and place are told)
        if len(batch) > 1:
            return [problem for session in batch for problem in write_batch((session,), work=work)]
        return [defect(batch[0], place_of(error))]
    return []


def defect(session: Session, where: str) -> UnreadableFileError:
    """Return what is said of a session that a defect stopped."""
    problem = f"a defect of this program stopped session {session.id} ({where})"
    return UnreadableFileError(session.source_file, None, problem, "Please report this line; leave the session out")


def lost(session: Session, reason: str) -> UnreadableFileError:
    """Return what is said of a session whose process died."""
    why = "there was not enough memory" if reason == "memory" else "the process that measured it died"
    remedy = "Try it alone, with more memory; leave it out if that does not help"
    return UnreadableFileError(session.source_file, None, f"session {session.id} is missing: {why}", remedy)


def _write(batch: tuple[Session, ...], work: Work) -> None:
    settings = work.settings
    values, counts = measured(batch, settings, work.strangers)
    found = frames(values, counts, settings)
    evidence = _evidence(batch, settings) if work.explain else {}
    measures = session_measures(settings)
    cells = _lines(found.sessions[measures])
    starts = np.cumsum([0, *(len(session.turns) for session in batch)])
    for at, session in enumerate(batch):
        turns = found.turns.iloc[starts[at] : starts[at + 1]]
        # Codes that people gave in other sessions of the batch are no columns of this one.
        turns = turns.drop(columns=[name for name in gold_names(turns) if not turns[name].any()])
        read = values[at].session.session  # with what was noted about its language
        rows = tables.synchrony_table([values[at].session], kinds(extras=settings.extras))
        profile, responses, feelings = (
            frame[frame["session_id"] == session.id] for frame in (found.profile, found.responses, found.feelings)
        )
        done = Done(
            key=work.key_of(session),
            about={name: text for name, text in tables.about(read).items() if name not in measures},
            measures=cells[at],
            dyads=_dyads(found.dyads[found.dyads["session_id"] == session.id]),
            gold=tuple(gold_names(turns)),
            counted=dict(counts) if at == 0 else {},
            responses=tuple(response_counts(values[at].session).astype(np.int64).ravel().tolist()),
        )
        every = SessionTables(turns, rows, profile, responses, feelings, evidence.get(session.id))
        write_session(every, work.folder / session.id, done, tagger=settings.tagger.kind)


def _dyads(pairs: pd.DataFrame) -> tuple[str, ...]:
    """Return the lines of the pairs, one by one: a label may hold a line's end."""
    return tuple(as_csv(pairs.iloc[at : at + 1], header=False) for at in range(len(pairs)))


def _lines(frame: pd.DataFrame) -> list[str]:
    return as_csv(frame, header=False).splitlines()


def _evidence(batch: Sequence[Session], settings: Settings) -> Mapping[str, pd.DataFrame]:
    """Return the evidence for the codes of each session of a batch, by its id."""
    whole = explain(batch, quotes=settings.quotes, tagger=settings.tagger)
    found = {str(name): part for name, part in whole.groupby("session_id", sort=False)}
    return {session.id: found.get(session.id, whole.iloc[:0]) for session in batch}
