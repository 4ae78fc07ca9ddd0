"""Feelings named and stance taken, checked: ``python -m benchmarks.feelings --data DATA`` prints Markdown.

``DATA`` holds the corpora ``annomi``, ``hlqc``, ``mibot`` and ``misc_gold``. A session's client turns are taken from
another session (as many; the one with the next greater number of client turns, of another recording): feelings that
the therapist names, and thoughts ascribed to the client, must then be found less often in what the client said. Beside
it a keyword version: whether the very feeling word was said. Then the hand-made pairs, and stance by human codes.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks._corpora import sessions_of
from benchmarks._markdown import markdown
from therapy_analytics.language import AnnotatedSession, annotate, builtin_lexicons
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.language.word_sequence import word_sequence
from therapy_analytics.measures._base import Value
from therapy_analytics.measures._intervals import wilson
from therapy_analytics.measures.process._feelings import mentions
from therapy_analytics.measures.process._stance import assertions
from therapy_analytics.measures.process.relational_stance import relational_stance
from therapy_analytics.measures.process.unexpressed_feelings import unexpressed_feelings
from therapy_analytics.session import Session, Turn

CORPORA = ("annomi", "hlqc", "mibot")
PAIRS = Path(__file__).resolve().parents[1] / "tests" / "measures" / "process" / "feeling_pairs.csv"
FEWEST_WORDS, WITHIN, DONORS = 5, 5, 5
Score = Callable[[AnnotatedSession], float]


def annotated(sessions: Sequence[Session]) -> Iterator[AnnotatedSession]:
    """Yield sessions as arrays, without codes."""
    matcher = Matcher(builtin_lexicons())
    for start in range(0, len(sessions), 20):
        yield from annotate(sessions[start : start + 20], matcher)


def recordings(sessions: Sequence[Session]) -> list[Session]:
    """Return the first session of each recording."""
    first: dict[str, Session] = {}
    for one in sessions:
        first.setdefault(one.metadata.get("source_group") or one.id, one)
    return list(first.values())


def swapped(sessions: Sequence[Session], step: int = 1) -> list[Session]:
    """Return the sessions with the client's turns of another: the `step`-th by number of client turns, in a ring."""
    order = sorted(range(len(sessions)), key=lambda i: (len(client_texts(sessions[i])), sessions[i].id))
    donor = {order[k]: order[(k + step) % len(order)] for k in range(len(order))}
    return [with_client(one, client_texts(sessions[donor[i]])) for i, one in enumerate(sessions)]


def client_texts(session: Session) -> list[str]:
    """Return what the client says, turn by turn."""
    return [turn.text for turn in session.turns if turn.role == "client"]


def with_client(session: Session, texts: Sequence[str]) -> Session:
    """Return the session with other client turns, begun anew when there are too few."""
    k, turns = 0, []
    for turn in session.turns:
        turns.append(_spoken(turn, texts[k % len(texts)]) if turn.role == "client" and texts else turn)
        k += turn.role == "client"
    return replace(session, turns=tuple(turns))


def _spoken(turn: Turn, text: str) -> Turn:
    return replace(turn, text=text)


def keyword_rate(session: AnnotatedSession) -> float:
    """Return the share of turns with a feeling word that hold one not said by the client in the last turns."""
    words = word_sequence(session)
    column = [i for name, i in session.turns.categories.items() if name.startswith("emotions.")]
    names = {i for name, i in words.index.items() if _matcher().columns_of(name)} if column else set()
    by_turn: dict[int, set[int]] = {}
    for turn, word in zip(words.turn_of.tolist(), words.ids.tolist(), strict=True):
        if word in names:
            by_turn.setdefault(turn, set()).add(word)
    client = np.flatnonzero(session.spoken_by("client") & (session.n_words > 0))
    named = [t for t in by_turn if session.spoken_by("therapist")[t] and client.size and client[0] < t]
    missed = 0
    for turn in named:
        before = client[client < turn][-WITHIN:]
        missed += bool(by_turn[turn] - set().union(*(by_turn.get(int(one), set()) for one in before)))
    return missed / len(named) if named else np.nan


def _matcher() -> Matcher:
    if not _CACHE:
        _CACHE.append(Matcher([one for one in builtin_lexicons() if one.name == "emotions"]))
    return _CACHE[0]


_CACHE: list[Matcher] = []


def column(measure: Callable[[AnnotatedSession], Mapping[str, Value]], name: str) -> Score:
    """Return a function from a session to one value of a measure."""
    return lambda session: float(measure(session)[name])


def n_feelings(session: AnnotatedSession) -> int:
    """Return how many feelings are named or expressed in a session."""
    found = mentions(session)
    return len(np.unique(found.at[~np.isnan(found.degree)]))


def contrast(own: Sequence[float], other: Sequence[float], *, sign: int = 1) -> tuple[int, int, int]:
    """Return in how many sessions the value moves as it should, in how many it stays, and of how many."""
    moved = sign * (np.array(other) - np.array(own))
    defined = moved[~np.isnan(moved)]
    return int((defined > 0).sum()), int((defined == 0).sum()), len(defined)


def share(k: int, n: int) -> str:
    """Return k of n with its interval."""
    low, high = wilson(float(k), float(n))
    return f"{k / n:.2f} [{low:.2f}, {high:.2f}]" if n else ""


def feelings_tables(data: Path) -> list[list[str]]:
    """Return the swap contrast of the rate and of the keyword version, for each corpus."""
    rows = [["corpus", "what", "sessions", "own", "swapped", "rises", "stays", "rises, share", "mean of 5 swaps rises"]]
    for name in CORPORA:
        sessions = recordings(sessions_of(data, name))
        plain = list(annotated(sessions))
        enough = [i for i, one in enumerate(plain) if n_feelings(one) >= FEWEST_WORDS]
        others = [list(annotated(swapped(sessions, step))) for step in range(1, DONORS + 1)]
        scores = {
            "families": column(unexpressed_feelings, "unexpressed_feeling_rate"),
            "since the beginning": column(unexpressed_feelings, "feeling_unexpressed_so_far_rate"),
            "keywords": keyword_rate,
        }
        for what, score in scores.items():
            own = [score(plain[i]) for i in enough]
            swaps = np.array([[score(other[i]) for i in enough] for other in others])
            rises, stays, n = contrast(own, swaps[0])
            many = contrast(own, swaps.mean(axis=0))
            means = (f"{np.nanmean(one):.2f}" for one in (own, swaps[0]))
            rows.append([name, what, str(n), *means, str(rises), str(stays), share(rises, n), share(many[0], many[2])])
    return rows


def label(client: str, therapist: str) -> str:
    """Return what the measure makes of a client's turn and a therapist's after it."""
    turns = (
        Turn(index=0, speaker="client", role="client", text=client, first_row=1),
        Turn(index=1, speaker="therapist", role="therapist", text=therapist, first_row=2),
    )
    (session,) = annotated([Session(id="pair", source_file="", turns=turns)])
    values = unexpressed_feelings(session)
    for name in ("intensified", "unexpressed"):
        if np.asarray(values[f"{name}_feeling_turn"])[1] == 1:
            return name
    return "expressed" if np.asarray(values["named_feeling_turn"])[1] == 1 else "none"


def pairs_table() -> list[list[str]]:
    """Return how many of the hand-made pairs come out as expected, by part."""
    rows = [["pairs", "n", "right", "share"]]
    pairs = list(csv.DictReader(PAIRS.read_text(encoding="utf-8").splitlines()))
    for part in dict.fromkeys(one["part"] for one in pairs):
        some = [one for one in pairs if one["part"] == part]
        right = sum(label(one["client"], one["therapist"]) == one["expected"] for one in some)
        rows.append([part, str(len(some)), str(right), share(right, len(some))])
    return rows


REFLECTIONS = frozenset({"SR", "CR", "RF"})
OTHERS = frozenset({"GI", "ADP", "ADW", "DI", "CO", "WA", "RCW", "AF", "EC", "SU"})


def hedges_table(data: Path) -> list[list[str]]:
    """Return how often statements about the client are hedged, in reflections and in other units; and by keywords."""
    rows = [["corpus", "units", "n", "statements", "hedged", "sure", "keyword: a hedge in the unit"]]
    for name in ("hlqc", "mibot"):
        text = (data / "misc_gold" / f"{name}.csv").read_text(encoding="utf-8")
        units = [one for one in csv.DictReader(text.splitlines(keepends=True)) if one["speaker"] == "counsellor"]
        (session,) = annotated([_as_session([one["utt_text"] for one in units])])
        found = assertions(session)
        hedges = session.count("stance.hedges") > 0
        codes = np.array([one["t2_label_GT"] for one in units])
        for kind, some in (("SR, CR, RF", REFLECTIONS), ("the others", OTHERS)):
            of, own = np.isin(codes, list(some)), np.isin(codes[found.turn], list(some))
            n, k, sure = int(own.sum()), int(found.hedged[own].sum()), int(found.sure[own].sum())
            keyword = share(int(hedges[of].sum()), int(of.sum()))
            rows.append([name, kind, str(int(of.sum())), str(n), share(k, n), share(sure, n), keyword])
    return rows


def _as_session(texts: Sequence[str]) -> Session:
    turns = (
        Turn(index=i, speaker="therapist", role="therapist", text=text, first_row=i + 1) for i, text in enumerate(texts)
    )
    return Session(id="units", source_file="", turns=tuple(turns))


def grounded_table(data: Path) -> list[list[str]]:
    """Return the swap contrast of the share of grounded states of mind, where five or more turns ascribe one."""
    rows = [["corpus", "sessions", "own", "swapped", "falls", "falls, share"]]
    for name in CORPORA:
        sessions = recordings(sessions_of(data, name))
        own, other = (list(map(relational_stance, annotated(some))) for some in (sessions, swapped(sessions)))
        many = [i for i, one in enumerate(own) if float(one["n_therapist_perspective_taking"]) >= FEWEST_WORDS]
        a, b = ([float(some[i]["grounded_perspective_rate"]) for i in many] for some in (own, other))
        falls, _, n = contrast(a, b, sign=-1)
        rows.append([name, str(n), f"{np.nanmean(a):.2f}", f"{np.nanmean(b):.2f}", str(falls), share(falls, n)])
    return rows


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    print("### Feelings: client's turns of another session\n")
    print(markdown(feelings_tables(data)))
    print("\n### Feelings: hand-made pairs\n")
    print(markdown(pairs_table()))
    print("\n### Stance: statements about the client by human codes\n")
    print(markdown(hedges_table(data)))
    print("\n### Stance: grounded states of mind, client's turns of another session\n")
    print(markdown(grounded_table(data)))


if __name__ == "__main__":
    main()
