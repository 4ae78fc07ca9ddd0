"""What `tanalyze redact` finds, and what it takes too much: ``python -m benchmarks.redact [FILE ...]``.

Texts are invented sessions in which identifiers are planted, as in ``redact_texts.txt``. The rules of counting:

- A planted identifier is found when none of its words is left, besides a possessive 's, titles (Dr., Aunt), small
  words (the, of, at) and words that say what a number is (number, account, plate). Of a planted date the year may
  stay, as it does in the copies. The name of the placeholder does not matter; it has a column of its own.
- An identifier that is not found stands in the review list when one of its words that were left is in an entry of it.
- Other words are those outside planted ones: the share that was removed.
- Sessions whose number begins with w are written, with r recognised speech; of the others, those without a capital
  letter in their turns are recognised speech.
- Structured kinds are all but NAME and PLACE. Intervals are Wilson's, at 95 %.

``... --show FILE ...`` prints what is missed and what is taken too much. ``... DATA annomi``, with a folder of corpora
and the name of one: how far a session's numbers move when it is redacted before it is analyzed.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import therapy_analytics as ta
from benchmarks._corpora import FAST
from therapy_analytics.measures._intervals import wilson
from therapy_analytics.redact import Noted, redact_session
from therapy_analytics.redact._tokens import plain
from therapy_analytics.redact._vocabulary import word_set
from therapy_analytics.session import Role, Session, Turn

RATE = r"(?:therapist|client)_[a-z_]+_rate"
TEXTS = Path(__file__).with_name("redact_texts.txt")
_PLANT = re.compile(r"\{([A-Z_]+):([^{}]*)\}")
_WORD = re.compile(r"(?<!['\u2019])[^\W_]+|(?<=['\u2019])(?!s\b)[^\W_]+")
_MAY_STAY = word_set(
    """
    mr mrs ms miss dr doctor father sister pastor uncle aunt auntie cousin coach officer sergeant captain principal
    attorney rabbi chief papa tia deputy mother baby professor grandpa reverend nurse judge detective
    mister frau herr senora senor dona don padre madame monsieur pc det constable imam lady sir
    number numbers account serial license licence plate passport rx sn id discord snapchat is
    the of on in at and night years old
    """
)
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_UNITS = "one|two|three|four|five|six|seven|eight|nine"
_YEAR = re.compile(
    rf"(?<!\w)(?:(?:19|20)\d\d|(?:nineteen|twenty)[ -](?:(?:oh|o)[ -](?:{_UNITS})|(?:{_TENS})(?:[ -](?:{_UNITS}))?|"
    rf"ten|eleven|twelve|\w+teen)|two thousand(?:(?: and)? (?:(?:{_TENS})(?:[ -](?:{_UNITS}))?|{_UNITS}|ten|eleven|"
    r"twelve|\w+teen))?)$",
    re.IGNORECASE,
)
_CALLED = {
    "AGE": "AGE_OVER_89",
    "LICENSE": "LICENCE",
    "BIOMETRIC": "FILE",
    "PHOTO": "FILE",
    "HANDLE": "ID",
    "CODE": "ID",
}
"""Kinds that the placeholders of the copies call otherwise."""

Counts = dict[str, Counter[str]]
"""For each kind, and for WORD and REVIEW, how many of each verdict."""


@dataclass(frozen=True)
class Planted:
    """A session and where its identifiers are: turn, start, end, kind."""

    half: str
    manner: str
    session: Session
    plants: tuple[tuple[int, int, int, str], ...]


def load(path: Path = TEXTS) -> list[Planted]:
    """Read the invented sessions."""
    blocks = re.split(r"^== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return [_planted(block) for block in blocks]


def _planted(block: str) -> Planted:
    head, *lines = block.strip().splitlines()
    half, number = head.split()[:2]
    about = dict(re.findall(r'(\w+)="([^"]*)"', head))
    labels = dict(re.findall(r"\b([TC])=(.+?)(?= [TC]=| \w+=\"|$)", head))
    turns, plants = [], []
    for index, line in enumerate(line for line in lines if line.strip() and line[0] != "#"):
        who, _, texts = line.partition(": ")
        text, found = _unplanted(texts)
        role: Role = "therapist" if who == "T" else "client"
        turns.append(Turn(index=index, speaker=labels.get(who, who), role=role, text=text, first_row=index + 1))
        plants += [(index, *one) for one in found]
    session = Session(id=f"{half}_{number}", source_file="", turns=tuple(turns), metadata=about)
    return Planted(half, _manner(number, turns), session, tuple(plants))


def _manner(number: str, turns: Iterable[Turn]) -> str:
    told = {"w": "written", "r": "recognised"}.get(number[0])
    return told or ("recognised" if all(turn.text.islower() for turn in turns) else "written")


def _unplanted(texts: str) -> tuple[str, list[tuple[int, int, str]]]:
    text, found, end = "", [], 0
    for match in _PLANT.finditer(texts):
        text += texts[end : match.start()]
        found.append((len(text), len(text) + len(match[2]), match[1]))
        text += match[2]
        end = match.end()
    return text + texts[end:], found


def score(one: Planted, *, show: bool = False) -> Iterator[tuple[str, str]]:
    """Yield (kind, found | as_other | listed | missed) for each plant; WORD, kept | removed; REVIEW, entry.

    What is listed was left in and stands in the review list.
    """
    gone, looked_at = _removed(one.session)
    for index, start, end, kind in one.plants:
        text = one.session.turns[index].text
        verdict, kinds = _verdict(kind, _must(kind, text, start, end), gone[index], looked_at[index])
        if show and verdict != "found":
            print(f"{one.session.id} {index} {kind} {verdict.upper()} {kinds} {text[start:end]}  ||  {text}")
        yield kind, verdict
    for turn in one.session.turns:
        yield from _others(one, turn, gone[turn.index], show=show)
        yield from (("REVIEW", "entry") for _ in looked_at[turn.index])


def _must(kind: str, text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the words of a plant that must go."""
    year = _YEAR.search(text[start:end]) if kind == "DATE" else None
    last = start + year.start() if year and year.start() else end
    return [word.span() for word in _WORD.finditer(text, start, last) if plain(word[0]) not in _MAY_STAY]


def _verdict(
    kind: str, must: list[tuple[int, int]], gone: list[tuple[int, int, str]], looked_at: list[tuple[int, int]]
) -> tuple[str, list[str | None]]:
    kinds = [next((k for s, e, k in gone if s <= first and last <= e), None) for first, last in must]
    left = [span for span, removed_as in zip(must, kinds, strict=True) if removed_as is None]
    if any(s < last and first < e for first, last in left for s, e in looked_at):
        return "listed", kinds
    return "missed" if left else "found" if _CALLED.get(kind, kind) in kinds else "as_other", kinds


def _others(one: Planted, turn: Turn, gone: list[tuple[int, int, str]], *, show: bool) -> Iterator[tuple[str, str]]:
    planted = [(s, e) for i, s, e, _ in one.plants if i == turn.index]
    for word in (match.span() for match in _WORD.finditer(turn.text)):
        if not any(s < word[1] and word[0] < e for s, e in planted):
            removed = [k for s, e, k in gone if s <= word[0] and word[1] <= e]
            if show and removed:
                near = turn.text[max(0, word[0] - 25) : word[1] + 15]
                print(f"{one.session.id} {turn.index} TOO MUCH {removed} {turn.text[slice(*word)]}  ||  {near}")
            yield "WORD", "removed" if removed else "kept"


def _removed(session: Session) -> tuple[dict[int, list[tuple[int, int, str]]], dict[int, list[tuple[int, int]]]]:
    """Return what was removed and what the review list has of the words left in, as places in the original turns."""
    done = redact_session(session)
    gone: dict[int, list[tuple[int, int, str]]] = {}
    looked_at: dict[int, list[tuple[int, int]]] = {}
    for turn, copy in zip(session.turns, done.session.turns, strict=True):
        notes = [one for one in done.notes if one.turn == turn.index and one.where == "words"]
        gone[turn.index], looked_at[turn.index] = _aligned(turn.text, copy.text, notes)
    return gone, looked_at


def _aligned(
    text: str, copied: str, notes: Iterable[Noted]
) -> tuple[list[tuple[int, int, str]], list[tuple[int, int]]]:
    """Align placeholders with what stood there, and with them the words between them."""
    gone, looked_at, old, new = [], [], 0, 0
    for note in sorted(notes, key=lambda note: note.start):
        start = text.index(note.words, old + note.start - new)
        end = start + len(note.words)
        if not note.placeholder:
            looked_at.append((start, end))
            continue
        year = re.match(r" (\d{4})\b", copied[note.end :]) if note.kind == "DATE" else None
        is_kept = year is not None and not text.startswith(year[0], end)  # the copy has it, the words behind have not
        at = note.words.find(year[1]) if year is not None and is_kept else -1
        gone += [(start, start + at, note.kind), (start + at + 4, end, note.kind)] if at >= 0 else []
        gone += [(start, end, note.kind)] if at < 0 else []
        old, new = end, note.end + (5 if is_kept else 0)
    return gone, looked_at


def counted(sessions: Iterable[Planted], *, show: bool = False) -> Counts:
    """Return how many of each kind met with each verdict."""
    counts: Counts = {"WORD": Counter(), "REVIEW": Counter()}
    for one in sessions:
        for kind, verdict in score(one, show=show):
            counts.setdefault(kind, Counter())[verdict] += 1
    return counts


def table(half: str, *, show: bool = False) -> Counts:
    """Return what was found in one half of the texts that come along."""
    return counted((one for one in load() if one.half == half), show=show)


def n_left(seen: Mapping[str, int]) -> int:
    """Return how many identifiers were left in, whether or not the review list has them."""
    return seen["missed"] + seen["listed"]


def report(counts: Counts) -> Iterator[str]:
    """Yield the lines of a table: groups, kinds, and other words."""
    kinds = sorted(set(counts) - {"WORD", "REVIEW"})
    groups = {
        "structured": [k for k in kinds if k not in {"NAME", "PLACE"}],
        "names": ["NAME"],
        "places": ["PLACE"],
        "all": kinds,
    } | {k: [k] for k in kinds}
    yield "| kind | found of planted | share (95 % interval) | called so | left in, and in the review list |"
    yield "| --- | --- | --- | --- | --- |"
    for name, members in groups.items():
        seen = sum((counts.get(k, Counter()) for k in members), Counter[str]())
        if n := seen.total():
            found = n - n_left(seen)
            low, high = wilson(found, n)
            share = f"{found / n:.3f} ({low:.3f} to {high:.3f})"
            listed = f"{seen['listed']} of {n_left(seen)}"
            yield f"| {name} | {found} of {n} | {share} | {seen['found'] / n:.3f} | {listed} |"
    words = counts["WORD"]
    n = max(words.total(), 1)
    yield f"| other words removed | {words['removed']} of {n} | {words['removed'] / n:.4f} | | |"
    entries = counts["REVIEW"]["entry"]
    yield f"| review list | {entries} entries | {1000 * entries / n:.1f} for 1,000 other words | | |"


def moved(sessions: list[Session]) -> Iterator[str]:
    """Yield how far numbers of sessions move when these are redacted first: a row a column, and one for each family."""
    copies = [redact_session(one).session for one in sessions]
    before, after = (ta.wide(ta.analyze(several, tagger=FAST, measures="all")) for several in (sessions, copies))
    families = {
        "behaviour rates": [name for name in map(str, before) if re.fullmatch(RATE, name)],
        "synchrony": [name for name in map(str, before) if f"{name}_surrogate_mean" in before],
    }
    for family, columns in families.items():
        old, new = (one[columns].to_numpy(dtype=float) for one in (before, after))
        spread = np.nanstd(old, axis=0)
        told = [*zip(columns, np.abs(new - old).T, spread, strict=True), (family, np.abs(new - old).ravel(), np.nan)]
        yield from (_row(name, change, wide) for name, change, wide in told if np.isfinite(change).any() and wide != 0)


def _row(name: str, change: NDArray[np.float64], spread: float) -> str:
    seen = change[np.isfinite(change)]
    numbers = (np.median(seen), np.quantile(seen, 0.95), seen.max(), spread)
    return f"| {name} | {' | '.join('' if np.isnan(value) else f'{value:.4f}' for value in numbers)} |"


def _movement(data: Path, name: str) -> None:
    sessions = [session for reading in ta.read_files([data / name]) for session in reading.sessions]
    print(
        f"\n{name}, {len(sessions)} sessions\n\n| column | median change | 95 % | largest | spread of sessions (sd) |"
    )
    print("| --- | --- | --- | --- | --- |")
    print("\n".join(moved(sessions)))


def main() -> None:
    """Print the tables."""
    arguments = [one for one in sys.argv[1:] if one != "--show"]
    show = "--show" in sys.argv
    if len(arguments) == 2 and Path(arguments[0]).is_dir():
        _movement(Path(arguments[0]), arguments[1])
        return
    for path in [Path(one) for one in arguments] or [TEXTS]:
        groups: dict[tuple[str, str], list[Planted]] = {}
        for one in load(path):
            groups.setdefault((one.half, one.manner), []).append(one)
        for (half, manner), sessions in groups.items():
            if not show or half not in {"held", "late"}:
                print(f"\n{path.name}: {half}, {manner}, {len(sessions)} sessions\n")
                print("\n".join(report(counted(sessions, show=show))))


if __name__ == "__main__":
    main()
