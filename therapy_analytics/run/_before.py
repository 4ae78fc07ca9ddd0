"""The run before into the same folder: whether it was of the same transcripts, and what of it will be replaced.

The rule, as docs/commands.md tells it: a run goes on in a folder whose results are of the same transcripts. They are
the same where at least half of the earlier run's are read again, and none that is still there is left out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from therapy_analytics.errors import BadOptionError, UnreadableFileError
from therapy_analytics.outputs import OUT, seen_from
from therapy_analytics.readers._addresses import is_address, placed, version
from therapy_analytics.readers._notes import counted
from therapy_analytics.results import PAGE, Folder

if TYPE_CHECKING:
    from therapy_analytics.run._survey import InputFile
    from therapy_analytics.run._writing import Writing

_SAID = {
    "options": "options", "tagger": "tagger", "lexicons": "word lists", "codebooks": "codebooks",
    "therapy_analytics": "version of the program", "packages": "versions of packages",
}  # fmt: skip
_CHOICE = "Name another folder with --out, or give --replace (in Python: replace=True) to have those results replaced"


def refuse_other_transcripts(folder: Folder, files: Sequence[InputFile], *, replace: bool) -> Iterator[str]:
    """Yield what is to be said of the earlier run's transcripts, if this run may go on in the folder.

    Parameters
    ----------
    folder : Folder
        The folder of results, in which nothing was touched so far.
    files : sequence of InputFile
        The transcripts of this run, at least one of which was read.
    replace : bool
        Whether results of other transcripts may be replaced.

    Raises
    ------
    BadOptionError
        The folder holds results of other transcripts, and they may not be replaced.
    """
    n = folder.n_sessions
    if not n:
        return
    held = f"{counted(n, 'session')}, {folder.when}"
    change = _change(folder, files)
    if why := change.why_other:
        if not replace:
            problem = f"{folder.path} holds the results of other transcripts ({held}): {why}"
            raise BadOptionError(OUT, problem, _CHOICE)
        yield f"The results of the run before into this folder ({held}) are replaced, as --replace asks."
    elif said := change.said:
        yield f"Since the run before into this folder ({held}): {said}."


def differences(folder: Folder, asked: Mapping[str, Any], writing: Writing) -> Iterator[str]:
    """Yield in sentences what this run is asked for in another way than the one before into this folder was."""
    n = folder.n_sessions
    now = json.loads(json.dumps(asked, default=str))
    differ = [
        word for name, word in _SAID.items() if name in folder.before and _otherwise(folder.before[name], now[name])
    ]
    if n and folder.form != writing.form:
        differ.append("output format")
    if n and differ:
        yield (
            f"Not as in the run before into this folder: {', '.join(differ)}. "
            f"All sessions are measured anew; the results of {counted(n, 'session')} of {folder.when} are replaced."
        )
    gone = folder.overviews - {*writing.formats, *([PAGE] if writing.page else [])}
    if n and gone:
        yield f"Not asked for this time, and therefore removed: {', '.join(map(_in_words, sorted(gone)))}."


@dataclass(frozen=True, slots=True)
class _Change:
    """How the transcripts of this run differ from those of the run before.

    Attributes
    ----------
    n_before, n_again : int
        Transcripts of the run before that brought sessions; those of them that were read again.
    left_out : tuple of str
        Those that are still where they were and were not named this time.
    n_changed, n_gone, n_new : int
        Those whose contents are other ones, that are no longer there, that are there for the first time.
    """

    n_before: int = 0
    n_again: int = 0
    left_out: tuple[str, ...] = ()
    n_changed: int = 0
    n_gone: int = 0
    n_new: int = 0

    @property
    def why_other(self) -> str:
        """Why the transcripts are other ones; empty where they are the same."""
        if not self.n_before:
            return "it is not known which"
        if self.left_out:
            n = len(self.left_out)
            such = f" ({self.left_out[0]}{', ...' if n > 1 else ''})"
            return f"{n} of its {counted(self.n_before, 'transcript')} {_are(n)} not among those named now{such}"
        if 2 * self.n_again < self.n_before:
            return f"only {self.n_again} of its {counted(self.n_before, 'transcript')} {_are(self.n_again)} read now"
        return ""

    @property
    def said(self) -> str:
        """What happened to the transcripts in the meantime; empty where nothing did."""
        told = {"changed": self.n_changed, "removed": self.n_gone, "added": self.n_new}
        found = [f"{counted(n, 'transcript')} {what}" for what, n in told.items() if n]
        return ", ".join(found) + ("; results of removed transcripts are removed" if self.n_gone else "")


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


def _change(folder: Folder, files: Sequence[InputFile]) -> _Change:
    try:
        before = [_Known.from_record(one, folder.path) for one in folder.before["inputs"] if one["sessions"]]
    except (LookupError, TypeError, AttributeError):
        return _Change()
    now = [_Known(one.file, seen_from(one.place, folder.path), one.sha256, bool(one.sessions)) for one in files]
    again, changed, gone, left_out = _matched(before, now, folder.path)
    known = {one.place for one in before}, {one.sha256 for one in before}
    new = [one for one in now if one.was_read and one.place not in known[0] and one.sha256 not in known[1]]
    return _Change(len(before), again, tuple(left_out), changed, gone, len(new))


@dataclass(frozen=True, slots=True)
class _Known:
    """A transcript: its name, its place seen from the folder of results, a hash of its bytes, whether it was read."""

    file: str
    place: str
    sha256: str
    was_read: bool = True

    @classmethod
    def from_record(cls, record: Mapping[str, Any], out: Path) -> _Known:
        place = record["place"] if "place" in record else seen_from(placed(record["file"]), out)
        return cls(str(record["file"]), str(place), str(record["sha256"]))


def _matched(before: Iterable[_Known], now: Sequence[_Known], out: Path) -> tuple[int, int, int, list[str]]:
    """Return how many transcripts were read again, changed, are gone; and the names of those that were left out."""
    contents = {one.sha256 for one in now if one.was_read}
    places = {one.place: one.was_read for one in now}
    again = changed = gone = 0
    left_out = []
    for one in before:
        if one.sha256 in contents:
            again += 1
        elif one.place in places:
            again += places[one.place]
            changed += 1
        elif _is_there(one.place, out):
            left_out.append(one.file)
        else:
            gone += 1
    return again, changed, gone, left_out


def _is_there(place: str, out: Path) -> bool:
    """Tell whether a file is still where it was; an address that cannot be asked counts as if it were there."""
    try:
        return bool(version(place if is_address(place) else str(Path(os.path.realpath(out)) / place)))
    except UnreadableFileError:
        return True


def _in_words(shown: str) -> str:
    return shown if shown == PAGE else f"figures as {shown}"


def _otherwise(before: Any, now: Any) -> bool:
    if isinstance(before, dict) and isinstance(now, dict):
        return any(before.get(name) != value for name, value in now.items())
    return bool(before != now)
