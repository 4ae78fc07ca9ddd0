"""What drift, lock-in and announcements are worth: ``python -m benchmarks.drift --data DATA`` prints Markdown tables.

``DATA`` holds the corpora annomi, hlqc, mibot, mindeval and vera_mh. ``--unseen FILE.csv`` are AnnoMI's turns with the
fast tagger's out-of-fold probabilities (columns session, turn, role, fast_<code>, truth_<code>).
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks._corpora import of_quality, sessions_of
from benchmarks._markdown import markdown
from benchmarks.attributions import DEVELOPED_ON, JUDGED_ON, WORD, changed, in_order, neighbours
from therapy_analytics.behaviours import load_tagger, with_codes
from therapy_analytics.language import AnnotatedSession, annotate, builtin_lexicons
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.measures._base import Value
from therapy_analytics.measures.process._announced import BROKEN, KEPT, KINDS, announced
from therapy_analytics.measures.process._change_of_thirds import changes_of_shares
from therapy_analytics.measures.process._repeats import ADVISES, advice_of
from therapy_analytics.measures.process._word_meanings import empty_words
from therapy_analytics.measures.process.drift import drift
from therapy_analytics.measures.process.lock_in import lock_in
from therapy_analytics.session import Session, Turn

CORPORA = ("annomi", "hlqc", "mibot", "mindeval", "vera_mh")
CODES = ("mi_question", "mi_reflection", "mi_input", "mi_change", "mi_sustain")
LOCKED = ("repeated_advice_rate", "repeated_opening_rate", "repeated_opening_null")
SEED, DRAWS = 0, 1000


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--unseen", type=Path)
    options = parser.parse_args()
    sessions = {name: list(coded(_one_a_recording(options.data, name))) for name in CORPORA}
    print("### Intervals that leave out 0 when turns are shuffled\n")
    print(markdown(shuffled([one for name in CORPORA for one in sessions[name]])))
    print("\n### Advice that comes again, planted at the end of sessions that nothing was chosen on\n")
    print(markdown(_repeated(options.data)))
    if options.unseen:
        print("\n### Drift by the tagger, out of fold, against drift by people's codes (AnnoMI)\n")
        print(markdown(_against_people(pd.read_csv(options.unseen, low_memory=False))))
    print("\n### Language models against people: median [95 %], AUC [95 %] that a model has more than annomi\n")
    print(markdown(_models(sessions)))
    print("\n### Announcements: kept, broken, open\n")
    print(markdown(_announcements(sessions)))


def _one_a_recording(data: Path, name: str) -> list[Session]:
    if name == "annomi":
        return [one for some in of_quality(data, name).values() for one in some]
    first: dict[str, Session] = {}
    for session in sessions_of(data, name):
        first.setdefault(session.metadata.get("source_group") or session.id, session)
    return list(first.values())


def coded(sessions: Sequence[Session]) -> Iterator[AnnotatedSession]:
    """Yield sessions as arrays with the codes of the fast tagger."""
    tagger, matcher = load_tagger(), Matcher(builtin_lexicons())
    for start in range(0, len(sessions), 20):
        batch = annotate(sessions[start : start + 20], matcher)
        codes = tagger.predict(batch)
        for i, one in enumerate(batch):
            yield with_codes(one, codes, int(batch.starts[i]), ("therapist", "client"))


def shuffled(sessions: Sequence[AnnotatedSession]) -> list[tuple[str, ...]]:
    """Return how often intervals leave out 0 in sessions as they are, and with each role's turns in another order."""
    random = np.random.default_rng(SEED)
    counts: dict[str, np.ndarray] = {}
    for session in sessions:
        for column, one in ((0, session), (2, _mixed(session, random))):
            values = drift(one)
            for name in (name for name in values if name.endswith("_drift")):
                low, high = float(values[f"{name}_lo"]), float(values[f"{name}_hi"])
                if not np.isnan(low):
                    counts.setdefault(name, np.zeros(4))[column : column + 2] += (low > 0 or high < 0, 1)
    rows = [
        (name, f"{n:.0f}", f"{out / n:.1%}", f"{by_chance / m:.1%}") for name, (out, n, by_chance, m) in counts.items()
    ]
    return [("change", "n sessions", "0 left out", "0 left out, shuffled"), *rows]


def _mixed(session: AnnotatedSession, random: np.random.Generator) -> AnnotatedSession:
    order = np.arange(len(session))
    for role in ("therapist", "client"):
        places = np.flatnonzero(session.spoken_by(role))
        order[places] = random.permutation(places)
    turns = replace(session.turns, n_words=session.n_words[order])
    return replace(session, turns=turns, decisions={code: given[order] for code, given in session.decisions.items()})


def _repeated(data: Path) -> list[tuple[str, ...]]:
    """Plant a changed sentence of the session's own advice (again), or of another's of the same corpus (new)."""
    sessions = {name: in_order(data, name) for name in CORPORA}
    near = neighbours([one for some in sessions.values() for one in some])
    random = np.random.default_rng(SEED)
    hits: dict[bool, list[bool]] = {True: [], False: []}
    for some in sessions.values():
        judged = list(coded(some[DEVELOPED_ON : DEVELOPED_ON + JUDGED_ON]))
        advice = [_sentences(one) for one in judged]
        for k, one in enumerate(judged):
            other = [text for i, texts in enumerate(advice) if i != k for text in texts]
            for again, pool in ((True, advice[k]), (False, other)) * 3 if len(advice[k]) > 2 and other else ():
                spoken = advice_of(_with_advice(one, changed(pool[random.integers(len(pool))], near, random)))
                if len(spoken.turns) and spoken.turns[-1] == len(one):
                    hits[again].append(bool(spoken.repeats[-1]))
    cells = [
        _cell(_bootstrap(np.array(one, dtype=np.float64), lambda some: float(some.mean()))) for one in hits.values()
    ]
    return [("planted", "n", "found to come again [95 %]"), *(
        (name, str(len(one)), cell)
        for name, one, cell in zip(("again", "new"), hits.values(), cells, strict=True)
    )]  # fmt: skip


def _sentences(session: AnnotatedSession) -> list[list[str]]:
    """Return the statements of turns of advice that say something, as words."""
    given = np.any([session.decided(code) for code in ADVISES], axis=0) & session.spoken_by("therapist")
    texts = [session.session.turns[i].text for i in np.flatnonzero(given).tolist()]
    parts = [part for text in texts for part in re.split(r"(?<=[.!])\s+", text) if "?" not in part]
    words = [[word.lower() for word in WORD.findall(part.replace("\u2019", "'"))][:30] for part in parts]
    return [one for one in words if sum(word not in empty_words() and len(word) > 3 for word in one) >= 5]


def _with_advice(session: AnnotatedSession, text: str) -> AnnotatedSession:
    n = len(session)
    turn = Turn(index=n, speaker="", role="therapist", text=f"{text}.", first_row=n + 1)
    (made,) = annotate([replace(session.session, turns=(*session.session.turns, turn))], Matcher([]))
    return replace(
        made, decisions={code: np.append(given, code in ADVISES) for code, given in session.decisions.items()}
    )


def _against_people(table: pd.DataFrame) -> list[tuple[str, ...]]:
    thresholds = dict(zip(load_tagger().names, load_tagger().codes, strict=True))
    rows: list[tuple[str, ...]] = [("code", "n sessions", "Pearson's r [95 %]")]
    for code in CODES:
        cut = thresholds[code].thresholds["balanced"]
        pairs = []
        for _, turns in table[table[f"truth_{code}"].notna()].groupby("session", sort=True):
            own = turns.sort_values("turn")
            third = (
                own["turn"].to_numpy() * 3 // (table.loc[table["session"] == own["session"].iloc[0], "turn"].max() + 1)
            )
            given = [own[f"fast_{code}"].to_numpy() >= cut, own[f"truth_{code}"].to_numpy() > 0.5]
            k, n = (np.array([[f(one[third == at]) for one in given] for at in (0, 2)]) for f in (np.sum, len))
            pairs.append(changes_of_shares(k.astype(float), n.astype(float))[0])
        both = np.array(pairs)
        both = both[~np.isnan(both).any(axis=1)]
        r, low, high = _bootstrap(both, lambda some: float(np.corrcoef(some.T)[0, 1]))
        rows.append((code, str(len(both)), f"{r:.2f} [{low:.2f}, {high:.2f}]"))
    return rows


def _models(sessions: dict[str, list[AnnotatedSession]]) -> list[tuple[str, ...]]:
    values = {
        corpus: pd.DataFrame([{**_numbers(drift(one)), **_numbers(lock_in(one))} for one in some])
        for corpus, some in sessions.items()
    }
    names = [name for name in map(str, values["annomi"]) if name.endswith("_drift") or name in LOCKED]
    rows: list[tuple[str, ...]] = [("column", *CORPORA, "AUC mindeval", "AUC mibot")]
    for name in names:
        known = {corpus: frame[name].dropna().to_numpy() for corpus, frame in values.items()}
        medians = (_cell(_bootstrap(one, lambda some: float(np.median(some)))) for one in known.values())
        above = (_cell(_auc(known[model], known["annomi"])) for model in ("mindeval", "mibot"))
        rows.append((name, *medians, *above))
    return rows


def _numbers(values: Mapping[str, Value]) -> dict[str, float]:
    return {name: value for name, value in values.items() if isinstance(value, float)}


def _cell(found: tuple[float, float, float]) -> str:
    return f"{found[0]:.2f} [{found[1]:.2f}, {found[2]:.2f}]"


def _bootstrap(values: np.ndarray, statistic: Callable[[np.ndarray], float]) -> tuple[float, float, float]:
    if len(values) < 8:
        return np.nan, np.nan, np.nan
    random = np.random.default_rng(SEED)
    draws = [statistic(values[random.integers(len(values), size=len(values))]) for _ in range(DRAWS)]
    low, high = np.nanquantile(draws, [0.025, 0.975])
    return statistic(values), float(low), float(high)


def _auc(model: np.ndarray, people: np.ndarray) -> tuple[float, float, float]:
    if min(len(model), len(people)) < 8:
        return np.nan, np.nan, np.nan
    random = np.random.default_rng(SEED)

    def above(a: np.ndarray, b: np.ndarray) -> float:
        return float(stats.mannwhitneyu(a, b).statistic / (len(a) * len(b)))

    draws = [above(random.choice(model, len(model)), random.choice(people, len(people))) for _ in range(DRAWS // 2)]
    return above(model, people), float(np.quantile(draws, 0.025)), float(np.quantile(draws, 0.975))


def _announcements(sessions: dict[str, list[AnnotatedSession]]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("corpus", "sessions", *(kind.name for kind in KINDS))]
    for corpus, some in sessions.items():
        counts: Counter[tuple[int, float]] = Counter()
        for one in some:
            found = announced(one)
            counts.update(zip(found.kinds.tolist(), found.outcomes.tolist(), strict=True))
        cells = (f"{counts[i, KEPT]}, {counts[i, BROKEN]}, {counts[i, 0.0]}" for i in range(len(KINDS)))
        rows.append((corpus, str(len(some)), *cells))
    return rows


if __name__ == "__main__":
    main()
