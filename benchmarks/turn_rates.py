"""Intervals of turn rates: ``python -m benchmarks.turn_rates --results RUN [RUN ...] [--data DATA]`` prints Markdown.

``RUN`` are folders that ``tanalyze run`` wrote of annomi, hlqc and mibot, named after the corpora. The tables re-derive
`Code.turn_correlation` of the codebooks, and say how often intervals hold. ``DATA`` holds the corpora themselves, for
rates per 100 words.

**Coverage over blocks.** The turns of a role in a session are cut into two halves. An interval of the first half's rate
should hold the rate of the way of talking that the other half shows as well; as the other half is a sample, too, the
difference of the two has Newcombe's interval (1998, method 10), made of both. Coverage is how often it holds 0. One
session stands for a recording (`source_group`). Recordings in which the code never occurs, or always, cannot fail, so
that coverage is given, and the correlation derived, for the others.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks._corpora import sessions_of
from benchmarks._markdown import markdown
from therapy_analytics.codes import builtin_codebooks
from therapy_analytics.codes.codebook import DEFAULT_CORRELATION, correlation_of
from therapy_analytics.core.session import Role
from therapy_analytics.measures.intervals import (
    WORD_CORRELATION,
    Floats,
    wilsons,
)
from therapy_analytics.measures.process.reflection_to_question import RATIO_CORRELATION
from therapy_analytics.text import AnnotatedSession, annotate, builtin_lexicons
from therapy_analytics.text.lexicons import Matcher

PEOPLE = {
    "mi_question": ("gold_question_exists", "True"),
    "mi_reflection": ("gold_reflection_exists", "True"),
    "mi_input": ("gold_therapist_input_exists", "True"),
    "mi_question_open": ("gold_question_subtype", "open"),
    "mi_question_closed": ("gold_question_subtype", "closed"),
    "mi_change": ("gold_client_talk_type", "change"),
    "mi_sustain": ("gold_client_talk_type", "sustain"),
}
"""Columns of AnnoMI in which people's codes stand, and what they say there; rows that were joined have several."""
ROLES: tuple[Role, Role] = ("therapist", "client")
SHORTEST, FOLDS = 10, 10
GRID = np.arange(0.0, 0.61, 0.01)
LEVEL, LEAST, ENOUGH = 0.95, 0.93, 30
"""Coverage aimed at; in each corpus with enough recordings in which the code occurs, this is the least."""
FEW = 150
"""Recordings in which a code occurs under which it has no estimate of its own: rare codes hardly ever fail."""
LENGTHS = ((0, 20), (20, 40), (40, 10_000))
SEED, DRAWS, ROUNDING = 0, 20_000, 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """Halves of sessions: counts and turns of the first and the second, and where they come from.

    Attributes
    ----------
    k, n : float64 arrays (2, n_pairs)
        Turns with the code, and turns, of both halves.
    corpus, group : arrays of str (n_pairs,)
        The corpus (``annomi, people`` for people's codes), and the recording.
    """

    k: Floats
    n: Floats
    corpus: np.ndarray
    group: np.ndarray

    def __getitem__(self, some: np.ndarray) -> Cuts:
        return Cuts(self.k[:, some], self.n[:, some], self.corpus[some], self.group[some])

    @property
    def telling(self) -> np.ndarray:
        """Where the code occurs, but not always."""
        total = self.k.sum(axis=0)
        return np.asarray((total > 0) & (total < self.n.sum(axis=0)))

    def held(self, correlation: float | Floats) -> np.ndarray:
        """Return which intervals hold, bool (n_pairs,)."""
        (one, other), (low, other_low), (high, other_high) = wilsons(self.k, self.n, correlation)
        below, above = np.hypot(one - low, other_high - other), np.hypot(high - one, other - other_low)
        return np.asarray((one - other - below <= ROUNDING) & (one - other + above >= -ROUNDING))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, nargs="+", required=True)
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    series = {code: some for code, some in read(options.results).items() if len(some)}
    codes = {code.column for book in builtin_codebooks() for code in book.codes} & set(series)
    print("### Coverage by code, halves of sessions: recordings in which the code occurs\n")
    print(markdown(by_code({code: series[code] for code in sorted(codes)})))
    print("\n### Corpora left out: correlation from the others, coverage in the corpus\n")
    print(markdown(left_out({code: series[code] for code in sorted(codes)})))
    print("\n### By length of the session (turns of the role), and of thirds\n")
    print(markdown(by_length({code: series[code] for code in sorted(codes)})))
    print(f"\n### Turns marked by other means than a code: correlation {DEFAULT_CORRELATION}\n")
    print(markdown(marked({name: some for name, some in series.items() if name not in codes})))
    if options.data:
        print(f"\n### Rates per 100 words: correlation {WORD_CORRELATION}\n")
        print(markdown(words(options.data, [path.name for path in options.results])))
    print("\n### Reflections for each question, halves of sessions\n")
    print(markdown(ratios(series["mi_reflection"], series["mi_question"])))
    print("\n### Known rates: sessions that differ from the pair's rate as turns correlated by .1 make them\n")
    print(markdown(known_rates()))


Series = list[tuple[str, str, Floats]]
"""Corpus, recording, and for each turn that could have the code 1 or 0."""


def read(folders: Sequence[Path]) -> dict[str, Series]:
    """Return the series of each code, people's beside the machine's, and of each column of marked turns."""
    found: dict[str, Series] = {}
    for folder in folders:
        for group, turns in _recordings(folder):
            for name, given in _marks(turns):
                found.setdefault(name, []).append((folder.name, group, given))
            for code, given in _people(turns) if folder.name == "annomi" else ():
                found.setdefault(code, []).append(("annomi, people", group, given))
    return found


def _people(turns: pd.DataFrame) -> Iterator[tuple[str, Floats]]:
    for code, (column, value) in PEOPLE.items():
        own = turns[turns["role"] == ("client" if column.endswith("talk_type") else "therapist")]
        given = own.reindex(columns=[column])[column].astype(object).fillna("").astype(str).str.split(";")
        yield code, np.array([value in one for one in given], dtype=np.float64)


def _recordings(folder: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    about = pd.read_csv(folder / "sessions.csv", dtype=str)
    group = about.get("source_group", about["session_id"]).fillna(about["session_id"])
    for session, recording in zip(about["session_id"][~group.duplicated()], group[~group.duplicated()], strict=True):
        yield f"{folder.name} {recording}", pd.read_csv(folder / "sessions" / session / "turns.csv", low_memory=False)


def _marks(turns: pd.DataFrame) -> Iterator[tuple[str, Floats]]:
    """Yield the columns that have nothing but 0 and 1."""
    for name in turns.columns:
        if (name.startswith(("mi_", "bolt_", "misc_")) or name.endswith("_turn")) and turns[name].dtype.kind in "iufb":
            values = turns[name].dropna().to_numpy(dtype=np.float64)
            if len(values) and np.isin(values, (0.0, 1.0)).all():
                yield name, values


def cuts(series: Series, ends: tuple[float, float, float, float] = (0, 1 / 2, 1 / 2, 1), least: int = SHORTEST) -> Cuts:
    """Cut the sessions of enough turns into two blocks: by default the halves."""
    kept = [(corpus, group, one) for corpus, group, one in series if len(one) >= least]
    blocks = [[round(len(one) * end) for end in ends] for _, _, one in kept]
    k = [[one[a:b].sum(), one[c:d].sum()] for (_, _, one), (a, b, c, d) in zip(kept, blocks, strict=True)]
    n = [[b - a, d - c] for a, b, c, d in blocks]
    names = (np.array([one[i] for one in kept], dtype=object) for i in (0, 1))
    shape = (len(kept), 2)
    return Cuts(np.reshape(k, shape).T.astype(float), np.reshape(n, shape).T.astype(float), *names)


def derived(pairs: Cuts) -> float:
    """Return the smallest correlation with which intervals hold as often as they should, in each corpus nearly so."""
    pairs = pairs[pairs.telling]
    large = [pairs.corpus == one for one in np.unique(pairs.corpus) if (pairs.corpus == one).sum() >= ENOUGH]
    for one in GRID:
        held = pairs.held(one)
        if held.mean() >= LEVEL and all(held[own].mean() >= LEAST for own in large):
            break
    return round(float(one), 2)


def by_code(series: Mapping[str, Series]) -> list[tuple[str, ...]]:
    """Return for each code how often plain and widened intervals hold, the latter by recordings not derived from."""
    head = ("code", "recordings", "where it occurs", "rate", "derived", "shipped", "plain", "widened", "held out")
    rows: list[tuple[str, ...]] = [
        (*head, "held out, with people's codes", "people's codes, plain", "people's codes, held out")
    ]
    for code, some in series.items():
        pairs = cuts(some)
        told, people = pairs.telling, pairs.corpus == "annomi, people"
        machine, own = told & ~people, told & people
        few = machine.sum() < FEW
        held, fold = np.zeros(len(told), dtype=bool), pd.factorize(pairs.group)[0] % FOLDS
        for i in range(FOLDS):
            held[fold == i] = pairs[fold == i].held(DEFAULT_CORRELATION if few else derived(pairs[fold != i]))
        plain, wide = pairs.held(0.0), pairs.held(correlation_of(code))
        rate, n = f"{pairs.k.sum() / pairs.n.sum():.2f}", f"{machine.sum()}{' (few)' if few else ''}"
        shares = (plain[machine], wide[machine], held[machine], held[told], plain[own], held[own])
        correlations = f"{derived(pairs):.2f}", f"{correlation_of(code):.2f}"
        rows.append((code, str((~people).sum()), n, rate, *correlations, *map(_share, shares)))
    return rows


def left_out(series: Mapping[str, Series]) -> list[tuple[str, ...]]:
    """Return coverage in each corpus, by what the others give."""
    corpora = sorted({corpus for some in series.values() for corpus, _, _ in some})
    rows: list[tuple[str, ...]] = [("code", *corpora)]
    for code, some in series.items():
        pairs, cells = cuts(some), []
        for corpus in corpora:
            own = pairs.corpus == corpus
            # People's codes and the machine's of one corpus are of the same sessions
            others = np.array([one.split(",")[0] != corpus.split(",")[0] for one in pairs.corpus])
            correlation = derived(pairs[others])
            held = pairs[own & pairs.telling].held(correlation)
            cells.append(f"{_share(held)} of {len(held)} ({correlation:.2f})" if len(held) else "-")
        rows.append((code, *cells))
    return rows


def by_length(series: Mapping[str, Series]) -> list[tuple[str, ...]]:
    """Return coverage by the number of turns, and of thirds against each other."""
    names = [f"{a} to {b}" if b < 1000 else f"over {a}" for a, b in LENGTHS]
    rows = [
        ("code", *(f"plain, {one}" for one in names), *(f"widened, {one}" for one in names), "thirds, plain", "thirds")
    ]
    for code, some in series.items():
        pairs = cuts(some)
        pairs = pairs[pairs.telling]
        size, cells = pairs.n.sum(axis=0), []
        for correlation in (0.0, correlation_of(code)):
            held = pairs.held(correlation)
            cells += [_share(held[(size > a) & (size <= b)]) for a, b in LENGTHS]
        for correlation in (0.0, correlation_of(code)):
            edges = ((0, 1 / 3, 1 / 3, 2 / 3), (1 / 3, 2 / 3, 2 / 3, 1), (0, 1 / 3, 2 / 3, 1))
            thirds = [cuts(some, one, 15) for one in edges]
            cells.append(_share(np.concatenate([one[one.telling].held(correlation) for one in thirds])))
        rows.append((code, *cells))
    return rows


def marked(series: Mapping[str, Series]) -> list[tuple[str, ...]]:
    """Return coverage of columns of turns that are no codes."""
    rows: list[tuple[str, ...]] = [
        ("column of turns.csv", "recordings where it occurs", "plain", "widened", "would need")
    ]
    for name, some in series.items():
        pairs = cuts(some)
        pairs = pairs[pairs.telling]
        if len(pairs.group) >= ENOUGH:
            shares = (_share(pairs.held(one)) for one in (0.0, DEFAULT_CORRELATION))
            rows.append((name, str(len(pairs.group)), *shares, f"{derived(pairs):.2f}"))
    return rows


def words(data: Path, corpora: Sequence[str]) -> list[tuple[str, ...]]:
    """Return coverage of counts of words per words of a role: pronouns."""
    matcher, seen = Matcher(builtin_lexicons()), set()
    found: dict[str, list[Floats]] = {}
    for corpus in corpora:
        for session in annotate(sessions_of(data, corpus), matcher):
            group = f"{corpus} {session.session.metadata.get('source_group') or session.session.id}"
            if group not in seen:
                for name, half in _counted_words(session):
                    found.setdefault(name, []).append(half)
            seen.add(group)
    rows: list[tuple[str, ...]] = [("words", "recordings", "plain", "widened")]
    for name, halves in found.items():
        k, n = np.moveaxis(np.array(halves), 0, -1)
        kept = (k.sum(axis=0) > 0) & (n.min(axis=0) > 0)
        nowhere = np.full(kept.sum(), "", dtype=object)
        pairs = Cuts(k[:, kept], n[:, kept], nowhere, nowhere)
        rows.append((name, str(kept.sum()), _share(pairs.held(0.0)), _share(pairs.held(WORD_CORRELATION))))
    return rows


def _counted_words(session: AnnotatedSession) -> Iterator[tuple[str, Floats]]:
    """Yield counts and words of both halves of each role's turns, (2, 2), where there are enough turns."""
    pronouns = (session.count(f"pronouns.first_person_{name}") for name in ("singular", "plural"))
    values = np.stack([session.n_words, *pronouns]).astype(np.float64)
    for role in ROLES:
        own = values[:, session.spoken_by(role)]
        half = own.shape[1] // 2
        if own.shape[1] >= SHORTEST:
            words, *counts = np.stack([own[:, :half].sum(axis=1), own[:, half:].sum(axis=1)], axis=1)
            for name, count in zip(("singular", "plural"), counts, strict=True):
                yield f"{role} {name}", np.stack([count, words])


def ratios(reflections: Series, questions: Series) -> list[tuple[str, ...]]:
    """Return how often the interval of R:Q holds, by the share of reflections in both."""
    one, other = cuts(reflections), cuts(questions)
    events = Cuts(one.k, one.k + other.k, one.corpus, one.group)
    events = events[(events.n.min(axis=0) >= 3) & events.telling]
    rows: list[tuple[str, ...]] = [("corpus", "recordings", "plain", f"widened ({RATIO_CORRELATION})", "would need")]
    for corpus in np.unique(events.corpus):
        own = events[events.corpus == corpus]
        rows.append(
            (
                corpus,
                str(len(own.group)),
                _share(own.held(0.0)),
                _share(own.held(RATIO_CORRELATION)),
                f"{derived(own):.2f}",
            )
        )
    return rows


def known_rates(draws: int = DRAWS) -> list[tuple[str, ...]]:
    """Return how often intervals hold the rate that beta-binomial counts of correlation .1 are drawn from."""
    random = np.random.default_rng(SEED)
    rows: list[tuple[str, ...]] = [("rate", "turns", "plain", "widened")]
    for rate in (0.05, 0.1, 0.2, 0.5):
        for n in (10, 20, 40, 80):
            own = random.beta(rate * 9, (1 - rate) * 9, draws)
            k, of = random.binomial(n, own).astype(float), np.full(draws, float(n))
            cells = [_holds(rate, *wilsons(k, of, one)[1:]) for one in (0.0, 0.1)]
            rows.append((f"{rate:g}", str(n), *cells))
    return rows


def _holds(true: float, low: Floats, high: Floats) -> str:
    return f"{((low <= true) & (high >= true)).mean():.3f}"


def _share(held: np.ndarray) -> str:
    return f"{held.mean():.3f}" if len(held) else "-"


if __name__ == "__main__":
    main()
