"""What false_attribution_turn is worth: ``python -m benchmarks.attributions --data DATA`` prints a Markdown table.

``DATA`` holds the corpora annomi, hlqc, mibot, mindeval and vera_mh. Into the therapist's turns of 50 sessions, ten
of each corpus, attributions are planted: a frame ("you mentioned that ...") and a clause of the same client's earlier
turns (true), or of another session's client (false). Both are changed: a fifth of the words is dropped, persons are
swapped, and three in ten content words that have a near neighbour give way to it. Thresholds and weights were set on
the first fifteen sessions of each corpus in the order of the hash of their ids; the next ten are judged here. Half of
the frames were not used there.
"""

from __future__ import annotations

import argparse
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks._corpora import sessions_of
from benchmarks._markdown import markdown
from therapy_analytics.language import AnnotatedSession, annotate
from therapy_analytics.language.embeddings import load_embeddings
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.measures.process._attribution_support import UNSUPPORTED, Attributions, attributions_of
from therapy_analytics.measures.process._word_meanings import WordMeanings, empty_words, word_meanings
from therapy_analytics.session import Session

CORPORA = ("annomi", "hlqc", "mibot", "mindeval", "vera_mh")
DEVELOPED_ON, JUDGED_ON, EACH, ROUNDS, SEED = 15, 10, 2, 3, 7
FRAMES = (
    "You mentioned that {}.", "Earlier you told me that {}.", "You said {}.", "As you described, {}.",
    "You talked about how {}.", "And {}, like you said.", "I remember you were saying that {}.",
    "You've shared that {}.", "You also brought up that {}.",
)  # fmt: skip
SWAP = {
    "i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "i'm": "you're", "i've": "you've",
    "i'd": "you'd", "i'll": "you'll", "am": "are", "we": "you", "our": "your",
}  # fmt: skip
WORD = re.compile(r"[A-Za-z']+")
_NEIGHBOUR = 0.45


@dataclass(frozen=True, slots=True)
class Planted:
    """A session with attributions of ours: (turn, whether false, the clause) each, and whose corpus it is."""

    session: Session
    corpus: str
    marks: tuple[tuple[int, bool, str], ...]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    sessions = {name: in_order(parser.parse_args().data, name) for name in CORPORA}
    judged = {name: some[DEVELOPED_ON : DEVELOPED_ON + JUDGED_ON] for name, some in sessions.items()}
    near = neighbours([one for some in sessions.values() for one in some])
    rows = [
        (
            "donor of the false",
            "method",
            "n false",
            "recall [95 %]",
            "precision among planted [95 %]",
            "flagged of true",
        )
    ]
    for donor, own in (("any session", False), ("a session of the same corpus", True)):
        random = np.random.default_rng(SEED)
        found = [
            plant(one, name, judged, own, near, random)
            for _ in range(ROUNDS)
            for name in CORPORA
            for one in judged[name]
        ]
        rows += [(donor, method, *_scores(hits)) for method, hits in outcomes(found).items()]
    print(markdown(rows))
    for method in ("form and meaning", "exact words"):
        print(f"\nThat stood there, {method}: {_natural([one for some in judged.values() for one in some], method)}")


def in_order(data: Path, name: str) -> list[Session]:
    """Return sessions of at least eight client turns, one a recording, in an order that nobody chose."""
    first: dict[str, Session] = {}
    for session in sessions_of(data, name):
        first.setdefault(session.metadata.get("source_group") or session.id, session)
    long = [one for one in first.values() if sum(turn.role == "client" for turn in one.turns) >= 8]
    return sorted(long, key=lambda one: zlib.crc32(one.id.encode()))


def neighbours(sessions: Sequence[Session]) -> dict[str, str]:
    """Return the nearest other word of clients for each of their content words, where it is near."""
    counts = Counter(
        word.lower()
        for one in sessions
        for turn in one.turns
        if turn.role == "client"
        for word in WORD.findall(turn.text)
    )
    words = [word for word, n in counts.items() if n >= 3 and len(word) > 2 and word not in empty_words()]
    units = load_embeddings().embed(words).astype(np.float64)
    units /= np.linalg.norm(units, axis=1)[:, None]
    alike = units @ units.T
    np.fill_diagonal(alike, -1.0)
    return {
        word: words[best]
        for word, best, cosine in zip(words, alike.argmax(axis=1), alike.max(axis=1), strict=True)
        if cosine > _NEIGHBOUR
    }


def _clauses(texts: Sequence[str]) -> list[list[str]]:
    found = []
    for text in texts:
        for part in re.split(r"[.!?;\n,]+", text):
            words = [word.lower() for word in WORD.findall(part.replace("\u2019", "'"))]
            found += [words[at : at + 16] for at in range(0, len(words), 16)]
    return [one for one in found if sum(word not in empty_words() and len(word) > 2 for word in one) >= 3]


def changed(clause: list[str], near: dict[str, str], random: np.random.Generator) -> str:
    """Return words as a listener might give them back: some dropped, persons swapped, some put in other words."""
    kept = [word for word in clause if random.random() > 0.2] or clause
    other = [near.get(word, word) if random.random() < 0.3 else word for word in kept]
    return " ".join(SWAP.get(word, new) for word, new in zip(kept, other, strict=True))


def _tells(clause: str) -> bool:
    empty = empty_words() | set(SWAP.values())
    return sum(len(word) > 3 and word not in empty for word in clause.split()) >= 3


def plant(
    session: Session, corpus: str, judged: dict[str, list[Session]], own: bool, near: dict[str, str],
    random: np.random.Generator,
) -> Planted:  # fmt: skip
    """Return a session with attributions of ours, half of them false."""
    turns, marks = list(session.turns), []
    places = [t.index for t in turns if t.role == "therapist" and t.text.strip() and t.index >= len(turns) // 3]
    others = [one for name in CORPORA for one in judged[name] if one is not session and (not own or name == corpus)]
    for k, place in enumerate(random.permutation(places)[: 2 * EACH].tolist()):
        source = others[random.integers(len(others))].turns if k % 2 else session.turns[:place]
        pool = _clauses([turn.text for turn in source if turn.role == "client"])
        tries = (changed(pool[random.integers(len(pool))], near, random) for _ in range(20 * bool(pool)))
        clause = next(filter(_tells, tries), None)
        if clause is None:
            continue
        spoken, text = FRAMES[random.integers(len(FRAMES))].format(clause), turns[place].text.rstrip().rstrip(",") + " "
        text = text if text[-2] in ".!?" else f"{text[:-1]}. "
        turns[place] = replace(turns[place], text=f"{spoken} {text}" if random.random() < 0.5 else f"{text}{spoken}")
        marks.append((place, bool(k % 2), clause))
    return Planted(replace(session, turns=tuple(turns)), corpus, tuple(marks))


def outcomes(planted: Sequence[Planted]) -> dict[str, list[tuple[str, bool, bool]]]:
    """Return for each method (session, whether false, whether called false) of all that was planted."""
    found: dict[str, list[tuple[str, bool, bool]]] = {"form and meaning": [], "exact words": []}
    batch = annotate([one.session for one in planted], Matcher([]))
    for one, session in zip(planted, batch, strict=True):
        for method, some in found.items():
            spoken = _spoken(replace(session), method)
            called = set(spoken.turns[spoken.unsupported >= UNSUPPORTED].tolist())
            some += [(one.session.id, false, place in called) for place, false, _ in one.marks]
    return found


def _spoken(session: AnnotatedSession, method: str) -> Attributions:
    """Return the attributions, borne out by words like them or, for the baseline, by the same words alone."""
    if method == "exact words":
        session.cached(_without_meaning, key=word_meanings)
    return attributions_of(session)


def _without_meaning(session: AnnotatedSession) -> WordMeanings:
    words = word_meanings(session)
    return replace(words, units=np.zeros_like(words.units))


def _scores(hits: Sequence[tuple[str, bool, bool]]) -> tuple[str, str, str, str]:
    names, false, called = (np.array(one) for one in zip(*hits, strict=True))
    groups = [np.flatnonzero(names == name) for name in np.unique(names)]
    random = np.random.default_rng(SEED)
    draws = [np.concatenate([groups[i] for i in random.integers(len(groups), size=len(groups))]) for _ in range(1000)]
    recall = _interval([called[at][false[at]].mean() for at in draws], called[false].mean())
    precision = _interval([false[at][called[at]].mean() for at in draws], false[called].mean())
    return str(int(false.sum())), recall, precision, f"{called[~false].mean():.2f}"


def _interval(draws: Sequence[float], value: float) -> str:
    low, high = np.quantile(draws, [0.025, 0.975])
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"


def _natural(sessions: Sequence[Session], method: str) -> str:
    found = [_spoken(one, method).unsupported for one in annotate(sessions, Matcher([]))]
    p = np.concatenate(found)
    return f"{len(p)} attributions, {np.sum(~np.isnan(p))} judged, {np.sum(p >= UNSUPPORTED)} candidates"


if __name__ == "__main__":
    main()
