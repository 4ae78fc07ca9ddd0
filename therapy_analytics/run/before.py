"""The earlier run into the same folder: whether it was of the same transcripts, and what of it will be replaced.

The rule, as docs/commands.md tells it: a run goes on in a folder whose results are of the same transcripts. They are
the same where at least half of the earlier run's are read again, and none that is still there is left out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.folders import OUT, remove_made, seen_from
from therapy_analytics.core.printable import counted
from therapy_analytics.core.pseudonyms import Pseudonyms, is_pseudonym
from therapy_analytics.readers.paths import placed, version
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
    why_others, change = _compared(folder, files, pseudonyms)
    if why_others:
        if not replace:
            problem = f"{folder.path} holds the results of other transcripts ({held}): {why_others}"
            raise BadOptionError(OUT, problem, _CHOICE)
        made = folder.made
        remove_made(made)
        yield f"The results of the run before into this folder ({held}) are replaced, as --replace asks."
        if made:
            yield f"Removed with them, because it was made from them: {_named(made)}."
    elif change:
        yield f"Since the run before into this folder ({held}): {change}."


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


class _Transcript(NamedTuple):
    """A transcript: its name, its path relative to the folder of results, a hash of its bytes."""

    file: str
    place: str
    sha256: str


def _compared(folder: Folder, files: Sequence[InputFile], pseudonyms: Pseudonyms | None) -> tuple[str, str]:
    """Return why the transcripts of the earlier run are others, or what happened to them since; both may be empty."""
    try:
        before = [_recorded(one, folder.path) for one in folder.before["inputs"] if one["sessions"]]
    except (LookupError, TypeError, AttributeError):
        before = []
    if not before:
        return "it is not known which", ""
    places = {one.place: one.seen_from(folder.path) for one in files}
    if pseudonyms is not None and any(is_pseudonym(one.place) for one in before):
        places = {place: pseudonyms.name_for("place", seen) for place, seen in places.items()}
    now = {places[one.place]: one.sha256 if one.sessions else "" for one in files}
    contents = {sha256 for sha256 in now.values() if sha256}
    states = [_state(one, now, contents, folder.path) for one in before]
    n, n_again = len(before), states.count("same") + states.count("changed")
    if left_out := [one.file for one, state in zip(before, states, strict=True) if state == "left out"]:
        such = f" ({left_out[0]}{', ...' if len(left_out) > 1 else ''})"
        are = "is" if len(left_out) == 1 else "are"
        return f"{len(left_out)} of its {counted(n, 'transcript')} {are} not among those named now{such}", ""
    if 2 * n_again < n:
        return f"only {n_again} of its {counted(n, 'transcript')} {'is' if n_again == 1 else 'are'} read now", ""
    known, known_places = {one.sha256 for one in before}, {one.place for one in before}
    n_gone = states.count("gone")
    changes = {
        "changed": states.count("changed") + states.count("unreadable"),
        "removed": n_gone,
        "added": sum(
            bool(sha256) and place not in known_places and sha256 not in known for place, sha256 in now.items()
        ),
    }
    found = ", ".join(f"{counted(number, 'transcript')} {what}" for what, number in changes.items() if number)
    return "", found + ("; results of removed transcripts are removed" if n_gone else "")


def _state(one: _Transcript, now: Mapping[str, str], contents: Collection[str], out: Path) -> str:
    """Return what became of a transcript; `now` has hashes by places, empty where no session was read."""
    if one.sha256 in contents:
        return "same"
    if one.place in now:
        return "changed" if now[one.place] else "unreadable"
    # One under a pseudonym counts as if it were still where it was
    is_there = is_pseudonym(one.place) or version(str(Path(os.path.realpath(out)) / one.place))
    return "left out" if is_there else "gone"


def _recorded(record: Mapping[str, Any], out: Path) -> _Transcript:
    """Return a transcript of the earlier run from ``run.json``, where early versions wrote no place."""
    place = record["place"] if "place" in record else seen_from(placed(record["file"]), out)
    return _Transcript(str(record["file"]), str(place), str(record["sha256"]))
