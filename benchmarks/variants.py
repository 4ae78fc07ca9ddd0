"""How many files in strange forms are read rightly: ``python -m benchmarks.variants [--list]``.

The files stand in ``tests/variants``, with their right readings in ``expected.toml``, whose head explains the keys.
Each is read by itself, and what was read is held against the right reading: sessions; turns; speakers with their roles,
turns and words; starts. Files that are no transcripts must be refused. Printed is, by kind of fault, how many files
are read rightly, and with ``--list`` what is wrong in each of the others, without words of the talk.
"""

from __future__ import annotations

import math
import sys
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import therapy_analytics as ta
from benchmarks._markdown import markdown

FOLDER = Path(__file__).parents[1] / "tests" / "variants"
WITHIN_S = 0.1
"""Seconds by which a start may differ from the right one: stamps are rounded."""
LONGEST = 30
"""Characters of a label that are shown: what was mistaken for a label may be longer."""


@dataclass(slots=True)
class Speaker:
    """What was read of a label, over all sessions of a file."""

    roles: set[str] = field(default_factory=set)
    n_turns: int = 0
    n_words: int = 0


def faults(path: Path, right: dict[str, Any]) -> list[str]:
    """Return what is wrong with how a file is read, each in a few words; nothing where all is right.

    Parameters
    ----------
    path : Path
        The file.
    right : dict
        Its entry in ``expected.toml``.
    """
    refused = right.get("refused", False)
    try:
        sessions = ta.read(path)
    except ta.errors.UnreadableFileError as error:
        return [] if refused else [f"refused: {error.problem}"]
    if refused:
        return [f"not refused: read as talk of {', '.join(map(_short, _read(sessions)))}"]
    n = len(sessions)
    found = [f"sessions {n}, not {right['sessions']}"] if n != right["sessions"] else []
    found += _spoken(sessions, right)
    for key in ("starts", "starts_from_first"):
        if key in right:
            found += _starts(sessions, right[key], from_first="first" in key, loose=right.get("starts_loose", False))
    return found + (_analysed(sessions, right) if {"min_words", "keep_out"} & set(right) else [])


def _spoken(sessions: Sequence[ta.Session], right: dict[str, Any]) -> list[str]:
    """Return what is wrong with turns and speakers, by the one of the right readings that is nearest."""
    n_turns = sum(len(one.turns) for one in sessions)
    readings = []
    for prefix in ("", "alt_"):
        if f"{prefix}turns" in right:
            wanted = right[f"{prefix}turns"]
            wrong = [f"turns {n_turns}, not {wanted}"] if n_turns != wanted else []
            readings.append(wrong + _speakers(_read(sessions), right[f"{prefix}speakers"], right))
    return min(readings, key=len)


def _read(sessions: Sequence[ta.Session]) -> dict[str, Speaker]:
    """Return what was read of each label, in order of the first turns."""
    found: dict[str, Speaker] = {}
    for session in sessions:
        for turn in session.turns:
            one = found.setdefault(turn.speaker, Speaker())
            one.roles.add(turn.role)
            one.n_turns += 1
            one.n_words += len(turn.text.split())
    return found


def _speakers(found: dict[str, Speaker], wanted: dict[str, list[Any]], right: dict[str, Any]) -> list[str]:
    """Return what is wrong with the speakers.

    Parameters
    ----------
    found : dict of str to Speaker
        As they were read.
    wanted : dict of str to list
        Role, turns and words, by label, in the order of their first turns.
    right : dict
        The entry of the file, for what is tolerated.
    """
    if right.get("any_labels", False) and len(found) == len(wanted):
        found = dict(zip(wanted, found.values(), strict=True))
    wrong: list[str] = []
    rest, in_order = dict(found), []
    for label, (role, n_turns, n_words) in wanted.items():
        names = {_plain(name) for name in (label, *right.get("also_named", {}).get(label, ()))}
        spelled = [name for name in found if _plain(name) in names]
        for name in spelled:
            rest.pop(name, None)
        if len(spelled) != 1:
            wrong.append(f"{label} in {len(spelled)} spellings" if spelled else f"no {label}")
            continue
        one = found[spelled[0]]
        in_order.append(spelled[0])
        if role not in ("any", *one.roles) or len(one.roles) > 1:
            wrong.append(f"{label} is {' and '.join(sorted(one.roles))}, not {role}")
        if one.n_turns != n_turns:
            wrong.append(f"{label} has turns {one.n_turns}, not {n_turns}")
        if n_words >= 0 and not n_words - right.get("words_slack", 0) <= one.n_words <= n_words:
            wrong.append(f"{label} has words {one.n_words}, not {n_words}")
    wrong += [f"{_short(name)} is no speaker" for name in rest]
    return wrong if wrong or in_order == list(found) else ["the order of the speakers is wrong"]


def _plain(label: str) -> str:
    """Return a label without what no reader needs to keep: case, kinds of spaces and apostrophes, forms of a letter."""
    return " ".join(
        unicodedata.normalize("NFKC", label).replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").casefold().split()
    )


def _short(label: str) -> str:
    """Return a label as it is shown, in quotation marks, with signs that cannot be seen written out."""
    return repr(label if len(label) <= LONGEST else f"{label[:LONGEST]}...")


def _starts(sessions: Sequence[ta.Session], wanted: list[float], *, from_first: bool, loose: bool) -> list[str]:
    """Return what is wrong with the starts of the turns, where there are as many turns as there should be.

    Parameters
    ----------
    sessions : sequence of Session
        As they were read.
    wanted : list of float
        The starts of all turns.
    from_first : bool
        Whether they are seconds after the first turn of each session.
    loose : bool
        Whether a turn may start later, until the next one that starts later.
    """
    found: list[float] = []
    for session in sessions:
        starts = [math.nan if turn.start_s is None else turn.start_s for turn in session.turns]
        found += [start - starts[0] for start in starts] if from_first else starts
    if len(found) != len(wanted):
        return []
    if all(map(math.isnan, found)):
        return ["no starts"]
    latest = [min((one for one in wanted if one > start), default=math.inf) if loose else start for start in wanted]
    bad = [
        at
        for at, (start, low, high) in enumerate(zip(found, wanted, latest, strict=True))
        if not low - WITHIN_S <= start <= high + WITHIN_S
    ]
    return [f"starts wrong in {len(bad)} of {len(wanted)} turns, first in turn {bad[0]}"] if bad else []


def _analysed(sessions: Sequence[ta.Session], right: dict[str, Any]) -> list[str]:
    """Return what is wrong in the tables: words that are counted too few without a note, details that must not leak."""
    analysis = ta.analyze(sessions, tagger="fast")
    wrong = []
    if "min_words" in right:
        n_words = analysis.turns.groupby("speaker")["n_words"].sum(min_count=1).dropna()
        noted = bool(analysis.sessions["notes"].str.len().all())
        for label, least in right["min_words"].items():
            if n_words.get(label, math.inf if noted else 0) < least:
                wrong.append(f"{label} has words {n_words.get(label, 0)}, not {least} or more")
    table = analysis.sessions.to_csv()
    return wrong + [f"keeps {detail}" for detail in right.get("keep_out", ()) if detail in table]


def main() -> None:
    """Print how many files of each kind are read rightly, what is wrong in the others, and the total."""
    files = tomllib.loads((FOLDER / "expected.toml").read_text(encoding="utf-8"))
    kinds = files.pop("kinds")
    wrong = {name: found for name, right in files.items() if (found := faults(FOLDER / name, right))}
    n_files = Counter(right["kind"] for right in files.values())
    n_wrong = Counter(files[name]["kind"] for name in wrong)
    rows = [(kind, about, str(n_files[kind]), str(n_files[kind] - n_wrong[kind])) for kind, about in kinds.items()]
    print(markdown([("kind", "what it is about", "files", "right"), *rows]))
    if "--list" in sys.argv:
        print()
        for name, found in wrong.items():
            print(f"- {name}{' (unsure)' if files[name].get('unsure') else ''}: {'; '.join(found)}")
    print(f"\nRead rightly: {len(files) - len(wrong)} of {len(files)} files.")


if __name__ == "__main__":
    main()
