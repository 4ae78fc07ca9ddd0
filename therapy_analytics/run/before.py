"""The earlier run into the same folder: whether it was of the same transcripts, and what of it will be replaced.

The rule, as docs/commands.md tells it: a run goes on in a folder whose results are of the same transcripts. They are
the same where at least half of the earlier run's are read again, and none that is still there is left out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.folders import OUT, remove_made, seen_from
from therapy_analytics.core.printable import counted
from therapy_analytics.core.pseudonyms import Pseudonyms, is_pseudonym
from therapy_analytics.readers._paths import placed, version
from therapy_analytics.results import PAGE, Folder

if TYPE_CHECKING:
    from therapy_analytics.run.survey import InputFile
    from therapy_analytics.run.writing import Writing

_PARTS_OF_RECIPE = {
    "options": "options", "tagger": "tagger", "lexicons": "word lists", "codebooks": "codebooks",
    "therapy_analytics": "version of the program", "packages": "versions of packages",
}  # fmt: skip
_CHOICE = "Name another folder with --out, or give --replace (in Python: replace=True) to have those results replaced"


def refuse_other_transcripts(
    folder: Folder, files: Sequence[InputFile], pseudonyms: Pseudonyms | None, *, replace: bool
) -> Iterator[str]:
    """Yield sentences on the transcripts of the earlier run, if this run may go on in the folder.

    Where its results are replaced, folders in it that other commands made from them (``comparison/``) are removed.

    Parameters
    ----------
    folder : Folder
        The folder of results, in which nothing was touched so far.
    files : sequence of InputFile
        The transcripts of this run, at least one of which was read.
    pseudonyms : Pseudonyms or None
        The key of this run: the earlier run may have recorded its transcripts by pseudonyms.
    replace : bool
        Whether results of other transcripts may be replaced.

    Raises
    ------
    BadOptionError
        The folder holds results of other transcripts, and they may not be replaced; or something else stands in a
        folder that was made from them.
    """
    n = folder.n_sessions
    if not n:
        return
    held = f"{counted(n, 'session')}, {folder.when}"
    change = _change(folder, files, pseudonyms)
    if why := change.why_other:
        if not replace:
            problem = f"{folder.path} holds the results of other transcripts ({held}): {why}"
            raise BadOptionError(OUT, problem, _CHOICE)
        made = folder.made
        remove_made(made)
        yield f"The results of the run before into this folder ({held}) are replaced, as --replace asks."
        if made:
            yield f"Removed with them, because it was made from them: {_named(made)}."
    elif sentence := change.sentence:
        yield f"Since the run before into this folder ({held}): {sentence}."


def differences(folder: Folder, asked: Mapping[str, Any], writing: Writing) -> Iterator[str]:
    """Yield sentences on how the settings of this run differ from those of the earlier run into this folder."""
    n = folder.n_sessions
    now = json.loads(json.dumps(asked, default=str))
    differ = [
        word
        for name, word in _PARTS_OF_RECIPE.items()
        if name in folder.before and _differs(folder.before[name], now[name])
    ]
    if n and folder.form != writing.form:
        differ.append("output format")
    if n and differ:
        yield (
            f"Not as in the run before into this folder: {', '.join(differ)}. "
            f"All sessions are measured anew; the results of {counted(n, 'session')} of {folder.when} are replaced."
        )
    shown = {*writing.formats, *([PAGE] if writing.page else [])}
    if n and (gone := folder.overviews - shown):
        names = (one if one == PAGE else f"figures as {one}" for one in sorted(gone))
        yield f"Not asked for this time, and therefore removed: {', '.join(names)}."


def _named(folders: Sequence[Path]) -> str:
    return ", ".join(f"{one.name}/" for one in folders)


def outdated(folder: Folder) -> Iterator[str]:
    """Yield a sentence on what other commands made from the results before, if there is such."""
    if made := folder.made:
        yield f"Made from the results before this run, and kept: {_named(made)}. The same command makes it anew."


def _differs(before: Any, now: Any) -> bool:
    if isinstance(before, dict) and isinstance(now, dict):
        return any(before.get(name) != value for name, value in now.items())
    return bool(before != now)


@dataclass(slots=True)
class _Change:
    """How the transcripts of this run differ from those of the earlier run.

    Attributes
    ----------
    n_before, n_again : int
        Transcripts of the earlier run that held sessions, and how many of them were read again.
    left_out : list of str
        Those that are still where they were and were not named this time.
    n_changed, n_gone, n_new : int
        Transcripts with other contents, transcripts that are no longer there, and new ones.
    """

    n_before: int = 0
    n_again: int = 0
    left_out: list[str] = field(default_factory=list)
    n_changed: int = 0
    n_gone: int = 0
    n_new: int = 0

    @property
    def why_other(self) -> str:
        """Why the transcripts are not the same; empty where they are."""
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
    def sentence(self) -> str:
        """What happened to the transcripts since; empty where nothing did."""
        changes = {"changed": self.n_changed, "removed": self.n_gone, "added": self.n_new}
        found = [f"{counted(n, 'transcript')} {what}" for what, n in changes.items() if n]
        return ", ".join(found) + ("; results of removed transcripts are removed" if self.n_gone else "")


def _are(n: int) -> str:
    return "is" if n == 1 else "are"


class _Transcript(NamedTuple):
    """A transcript: its name, its path relative to the folder of results, a hash of its bytes."""

    file: str
    place: str
    sha256: str


def _change(folder: Folder, files: Sequence[InputFile], pseudonyms: Pseudonyms | None) -> _Change:
    try:
        before = [_recorded(one, folder.path) for one in folder.before["inputs"] if one["sessions"]]
    except (LookupError, TypeError, AttributeError):
        return _Change()
    places_of = {one.place: one.seen_from(folder.path) for one in files}
    if pseudonyms is not None and any(is_pseudonym(one.place) for one in before):
        places_of = {place: pseudonyms.name_for("place", seen) for place, seen in places_of.items()}
    now = [_Transcript(one.file, places_of[one.place], one.sha256) for one in files if one.sessions]
    unread = {places_of[one.place] for one in files if not one.sessions}
    contents, places = {one.sha256 for one in now}, {one.place for one in now}
    change = _Change(n_before=len(before))
    for one in before:
        if one.sha256 in contents:
            change.n_again += 1
        elif one.place in places or one.place in unread:
            change.n_again += one.place in places
            change.n_changed += 1
        elif _is_there(one.place, folder.path):
            change.left_out.append(one.file)
        else:
            change.n_gone += 1
    known, known_places = {one.sha256 for one in before}, {one.place for one in before}
    change.n_new = sum(one.place not in known_places and one.sha256 not in known for one in now)
    return change


def _recorded(record: Mapping[str, Any], out: Path) -> _Transcript:
    """Return a transcript of the earlier run from ``run.json``, where early versions wrote no place."""
    place = record["place"] if "place" in record else seen_from(placed(record["file"]), out)
    return _Transcript(str(record["file"]), str(place), str(record["sha256"]))


def _is_there(place: str, out: Path) -> bool:
    """Return whether a file is still where it was; one under a pseudonym counts as if it were there."""
    if is_pseudonym(place):
        return True
    return bool(version(str(Path(os.path.realpath(out)) / place)))
