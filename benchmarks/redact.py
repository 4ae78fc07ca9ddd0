"""What `tanalyze redact` finds, and what it takes too much: ``python -m benchmarks.redact``; ``... DATA annomi``.

On the invented sessions of ``redact_texts.txt``: a planted identifier is found when none of its words is left (titles
and words such as "number" may stay). Too much is the share of words outside planted ones that were removed. With a
folder of corpora and the name of one: how far a session's numbers move when it is redacted before it is analyzed.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import therapy_analytics as ta
from benchmarks._corpora import FAST
from therapy_analytics.redact import redact_session
from therapy_analytics.redact._tokens import plain
from therapy_analytics.redact._vocabulary import word_set
from therapy_analytics.session import Role, Session, Turn

RATE = r"(?:therapist|client)_[a-z_]+_rate"
TEXTS = Path(__file__).with_name("redact_texts.txt")
_PLANT = re.compile(r"\{([A-Z]+):([^{}]*)\}")
_WORD = re.compile(r"[^\W_]+")
_MAY_STAY = word_set(
    """
    mr mrs ms miss dr doctor father sister pastor uncle aunt auntie cousin coach officer sergeant captain principal
    attorney rabbi chief papa tia deputy mother baby professor grandpa lil account number serial license plate
    discord snapchat is passport rx sn the of on in night first second week easter monday years old a and st at dot
    """
)


@dataclass(frozen=True)
class Planted:
    """A session and where its identifiers are: turn, start, end, kind."""

    half: str
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
        who, _, said = line.partition(": ")
        text, found = _unplanted(said)
        role: Role = "therapist" if who == "T" else "client"
        turns.append(Turn(index=index, speaker=labels[who], role=role, text=text, first_row=index + 1))
        plants += [(index, *one) for one in found]
    return Planted(
        half, Session(id=f"{half}_{number}", source_file="", turns=tuple(turns), metadata=about), tuple(plants)
    )


def _unplanted(said: str) -> tuple[str, list[tuple[int, int, str]]]:
    text, found, end = "", [], 0
    for match in _PLANT.finditer(said):
        text += said[end : match.start()]
        found.append((len(text), len(text) + len(match[2]), match[1]))
        text += match[2]
        end = match.end()
    return text + said[end:], found


def score(one: Planted, *, show: bool = False) -> Iterator[tuple[str, str]]:
    """Yield (kind, found | as_other | missed) for each plant, and (WORD, kept | removed) for each other word."""
    gone = _removed(one.session)
    for index, start, end, kind in one.plants:
        must = [
            w.span() for w in _WORD.finditer(one.session.turns[index].text, start, end) if plain(w[0]) not in _MAY_STAY
        ]
        kinds = [next((k for s, e, k in gone[index] if s <= first and last <= e), None) for first, last in must]
        right = {"AGE": "AGE_OVER_89"}.get(kind, kind)
        verdict = "missed" if None in kinds else "found" if right in kinds else "as_other"
        if show and verdict != "found":
            print(one.session.id, index, kind, verdict, kinds, one.session.turns[index].text[start:end])
        yield kind, verdict
    for turn in one.session.turns:
        yield from _others(one, turn, gone[turn.index], show=show)


def _others(one: Planted, turn: Turn, gone: list[tuple[int, int, str]], *, show: bool) -> Iterator[tuple[str, str]]:
    planted = [(s, e) for i, s, e, _ in one.plants if i == turn.index]
    for word in (match.span() for match in _WORD.finditer(turn.text)):
        if not any(s < word[1] and word[0] < e for s, e in planted):
            removed = [k for s, e, k in gone if s <= word[0] and word[1] <= e]
            if show and removed:
                print(one.session.id, turn.index, "TOO MUCH", removed, turn.text[max(0, word[0] - 25) : word[1] + 15])
            yield "WORD", "removed" if removed else "kept"


def _removed(session: Session) -> dict[int, list[tuple[int, int, str]]]:
    """Return where words were removed, as places in the original: placeholders are aligned with what stood there."""
    done = redact_session(session)
    gone: dict[int, list[tuple[int, int, str]]] = {turn.index: [] for turn in session.turns}
    for turn, copy in zip(session.turns, done.session.turns, strict=True):
        notes = [one for one in done.notes if one.turn == turn.index and one.where == "words" and one.placeholder]
        old, new = 0, 0
        for note in notes:
            start = turn.text.index(note.words, old + note.start - new)
            end = start + len(note.words)
            years = re.match(r" (\d{4})\b", copy.text[note.end :]) if note.kind == "DATE" else None
            kept = note.words.find(years[1]) if years else -1
            if kept >= 0:
                gone[turn.index] += [(start, start + kept, note.kind), (start + kept + 4, end, note.kind)]
            else:
                gone[turn.index].append((start, end, note.kind))
            old, new = end, note.end + (5 if kept >= 0 else 0)
    return gone


def table(half: str, *, show: bool = False) -> dict[str, Counter[str]]:
    """Return for each kind how many were found, found as another kind, and missed."""
    counts: dict[str, Counter[str]] = {}
    for one in load():
        if one.half == half:
            for kind, verdict in score(one, show=show):
                counts.setdefault(kind, Counter())[verdict] += 1
    return counts


def report(counts: dict[str, Counter[str]]) -> Iterator[str]:
    """Yield the lines of the table."""
    words = counts["WORD"]
    groups = {"structured": [k for k in counts if k not in {"WORD", "NAME", "PLACE"}]} | {
        k: [k] for k in sorted(counts) if k != "WORD"
    }
    for name, kinds in groups.items():
        total = sum((counts[k] for k in kinds), Counter())
        n = total.total()
        yield f"| {name} | {n} | {(n - total['missed']) / n:.3f} | {total['found'] / n:.3f} |"
    yield f"| other words | {words.total()} | removed: {words['removed'] / words.total():.4f} | |"


def moved(sessions: list[Session]) -> Iterator[str]:
    """Yield how far numbers of sessions move when these are redacted first: a row a column, and one for each family."""
    copies = [redact_session(one).session for one in sessions]
    before, after = (ta.analyze(several, tagger=FAST) for several in (sessions, copies))
    families = {
        "behaviour rates": [name for name in map(str, before.sessions) if re.fullmatch(RATE, name)],
        "synchrony": [name for name in map(str, before.sessions) if f"{name}_strangers" in before.sessions],
    }
    for family, columns in families.items():
        old, new = (one.sessions[columns].to_numpy(dtype=float) for one in (before, after))
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
    if len(sys.argv) == 3:
        _movement(Path(sys.argv[1]), sys.argv[2])
        return
    show = "--show" in sys.argv
    for half in ("dev",) if show else ("dev", "held", "late"):
        print(f"\n{half}\n\n| kind | planted | removed | and called so |\n| --- | --- | --- | --- |")
        print("\n".join(report(table(half, show=show))))


if __name__ == "__main__":
    main()
