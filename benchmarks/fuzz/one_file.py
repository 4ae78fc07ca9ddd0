"""Take one file the whole way of reading, as ``tanalyze inspect`` does, and say what became of it."""

from __future__ import annotations

import math
import signal
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from therapy_analytics.core.errors import TherapyAnalyticsError
from therapy_analytics.core.session import ROLES, Session
from therapy_analytics.readers import FileReading, Inspection, ReadOptions, inspect
from therapy_analytics.readers.transcript_reading import _read
from therapy_analytics.readers.transcripts import Transcript

SLOWEST_S = 2.0
_GIVEN_UP_S = 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a file: ``read``, ``refused`` or ``FAILED``, with the reason of a failure."""

    state: str
    seconds: float
    why: str = ""


class _HangError(BaseException):
    """Not an `Exception`, which the readers' last net would catch."""


def _give_up(*_: object) -> None:
    raise _HangError


def outcome(path: Path, beside: Sequence[Path] = (), options: ReadOptions | None = None) -> Outcome:
    """Look at a file, and at others in the same run, all of which must end well."""
    began = time.process_time()
    signal.signal(signal.SIGPROF, _give_up)
    signal.setitimer(signal.ITIMER_PROF, _GIVEN_UP_S)
    try:
        inspections = list(inspect([path, *beside], options=options))
        faults = [*_faults_together(inspections), *(fault for one in inspections for fault in _faults(one, options))]
        state = "refused" if inspections[0].reading.problem else "read"
    except TherapyAnalyticsError:
        state, faults = "refused", []
    except _HangError:
        state, faults = "FAILED", [f"gave up after {_GIVEN_UP_S} s"]
    except Exception as error:  # noqa: BLE001 (that is what is looked for)
        state, faults = "FAILED", [_place(error)]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    seconds = time.process_time() - began
    if seconds > SLOWEST_S:
        faults.append(f"took {seconds:.1f} s")
    return Outcome("FAILED" if faults else state, seconds, "; ".join(faults))


def _place(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "therapy_analytics" in frame.filename] or list(frames)
    return f"{type(error).__name__} in {Path(ours[-1].filename).name}, line {ours[-1].lineno}"


def _faults_together(inspections: Sequence[Inspection]) -> list[str]:
    ids = [session.id.casefold() for one in inspections for session in one.reading.sessions]
    return ["two sessions of one id"] if len(set(ids)) < len(ids) else []


def _faults(one: Inspection, options: ReadOptions | None) -> list[str]:
    "\n".join(one.lines(quotes=True)).encode()
    problem = one.reading.problem
    if problem is None:
        return [fault for session in one.reading.sessions for fault in _unsound(session)]
    str(problem).encode()
    return [_unforeseen(one.reading, options)] if "could not be understood" in problem.problem else []


def _unforeseen(reading: FileReading, options: ReadOptions | None) -> str:
    """Read again without the last net, to say where the error came from."""
    try:
        _read(Transcript(str(reading.path), str(reading.path)), options or ReadOptions(), None)
    except Exception as error:  # noqa: BLE001 (as above)
        return _place(error)
    return str(reading.problem)


def _unsound(session: Session) -> list[str]:
    """Say what a session must not hold: half letters, times that are no numbers, turns that are nothing."""
    faults = []
    for turn in session.turns:
        "".join(
            (turn.speaker, turn.text, *turn.gold, *turn.gold.values(), *(mark.written for mark in turn.marks))
        ).encode()
        times = [turn.start_s, turn.end_s, *(mark.seconds for mark in turn.marks)]
        if not all(math.isfinite(one) for one in times if one is not None):
            faults.append("a time that is no number")
        if turn.role not in ROLES or not (turn.text.strip() or turn.marks) or turn.text.strip() != turn.text:
            faults.append("an unsound turn")
        if not all(0 <= mark.at <= len(turn.text) for mark in turn.marks):
            faults.append("a mark outside its turn")
    "".join((session.id, *session.metadata, *session.metadata.values(), *session.notes)).encode()
    return sorted(set(faults))
