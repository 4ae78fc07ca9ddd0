"""Intervals of turn rates: ``python -m benchmarks.turn_rates --results RUN [RUN ...] [--data DATA]`` prints Markdown.

``RUN`` are folders that ``tanalyze run`` wrote of annomi, hlqc and mibot, named after the corpora. The tables re-derive
`Code.turn_correlation` of the codebooks, and say how often intervals hold. ``DATA`` holds the corpora themselves, for
rates per 100 words.

**Coverage over blocks.** The turns of a role in a session are cut into two halves. An interval of the first half's rate
should hold the rate of the way of talking that the other half shows as well; as the other half is a sample, too, the
difference of the two has Newcombe's interval, made of both halves' intervals. Coverage is how often it holds 0. One
session stands for a recording (`source_group`). Recordings in which the code never occurs, or always, cannot fail, so
that coverage is given, and the correlation derived, for the others.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks._corpora import sessions_of
from benchmarks._markdown import markdown
from therapy_analytics.behaviours import builtin_codebooks
from therapy_analytics.behaviours.codebook import DEFAULT_CORRELATION, correlation_of
from therapy_analytics.language import annotate, builtin_lexicons
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.measures._intervals import (
    WORD_CORRELATION,
    Z95,
    Floats,
    design_effect,
    odds_ratios,
    wilsons,
)
from therapy_analytics.measures.alliance.self_disclosure import first_person_affect
from therapy_analytics.measures.process._change_of_thirds import changes_of_shares
from therapy_analytics.measures.process.reflection_to_question import RATIO_CORRELATION
from therapy_analytics.session import Role

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
SCORED = ("goal_talk_turn", "task_talk_turn", "bond_talk_turn")
"""Columns of turns of both roles, which count where they are over 0."""
SHORTEST, FOLDS = 10, 10
GRID = np.arange(0.0, 0.61, 0.01)
LEVEL, LEAST, ENOUGH = 0.95, 0.93, 30
"""Coverage aimed at; in each corpus with enough recordings in which the code occurs, this is the least."""
FEW = 150
"""Recordings in which a code occurs under which it has no estimate of its own: rare codes hardly ever fail."""
LENGTHS = ((0, 20), (20, 40), (40, 10_000))
SEED, DRAWS = 0, 20_000


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
        return (total > 0) & (total < self.n.sum(axis=0))

    def held(self, correlation: float | Floats) -> np.ndarray:
        """Return which intervals hold, bool (n_pairs,)."""
        _, low, high = changes_of_shares(self.k, self.n, correlation)
        return (low <= 1e-12) & (high >= -1e-12)


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
    print("\n### Odds ratios of independent turns, 40 other client turns: intervals that leave out the true one\n")
    print(markdown(known_odds()))
    print("\n### Odds ratios of unrelated halves: the client of one session, the therapist of another\n")
    print(markdown(unrelated(series)))


Series = list[tuple[str, str, Floats]]
"""Corpus, recording, and for each turn that could have the code 1 or 0."""


def read(folders: Sequence[Path]) -> dict[str, Series]:
    """Return the series of each code, people's after the machine's, and of each column of marked turns."""
    found: dict[str, Series] = {}
    for folder in folders:
        for group, turns in _recordings(folder):
            for code, (column, value) in PEOPLE.items() if folder.name == "annomi" else ():
                own = turns[turns["role"] == ("client" if column.endswith("talk_type") else "therapist")]
                said = own.reindex(columns=[column])[column].astype(object).fillna("").astype(str).str.split(";")
                given = np.array([value in one for one in said], dtype=np.float64)
                found.setdefault(code, []).append(("annomi, people", group, given))
            for name in turns.columns:
                if name.startswith(("mi_", "bolt_", "misc_", "process_")) or name.endswith("_turn"):
                    given = _marks(turns[name])
                    if given is not None and len(given):
                        found.setdefault(name, []).append((folder.name, group, given))
            for name in SCORED:
                for role, own in turns.groupby("role")[name]:
                    given = (own.dropna() > 0).to_numpy(dtype=np.float64)
                    found.setdefault(f"{role}_{name}", []).append((folder.name, group, given))
    return found


def _recordings(folder: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    about = pd.read_csv(folder / "sessions.csv", dtype=str)
    group = about.get("source_group", about["session_id"]).fillna(about["session_id"])
    for session, recording in zip(about["session_id"][~group.duplicated()], group[~group.duplicated()], strict=True):
        yield f"{folder.name} {recording}", pd.read_csv(folder / "sessions" / session / "turns.csv", low_memory=False)


def _marks(column: pd.Series) -> Floats | None:
    if column.dtype.kind not in "iufb":
        return None
    values = column.to_numpy(dtype=np.float64)
    values = values[~np.isnan(values)]
    return values if np.isin(values, (0.0, 1.0)).all() else None


def cuts(series: Series, ends: tuple[float, float, float, float] = (0, 1 / 2, 1 / 2, 1), least: int = SHORTEST) -> Cuts:
    """Cut the sessions of enough turns into two blocks: by default the halves."""
    kept = [(corpus, group, one) for corpus, group, one in series if len(one) >= least]
    blocks = [[int(round(len(one) * end)) for end in ends] for _, _, one in kept]
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
    rows = [(*head, "held out, with people's codes", "people's codes, plain", "people's codes, held out")]
    for code, some in series.items():
        pairs = cuts(some)
        told, people = pairs.telling, pairs.corpus == "annomi, people"
        machine, own = told & ~people, told & people
        few = machine.sum() < FEW
        held, fold = np.zeros(len(told), dtype=bool), pd.factorize(pairs.group)[0] % FOLDS
        for i in range(FOLDS):
            held[fold == i] = pairs[fold == i].held(DEFAULT_CORRELATION if few else derived(pairs[fold != i]))
        plain, wide = pairs.held(0.0), pairs.held(correlation_of(code))
        rows.append((
            code, str((~people).sum()), f"{machine.sum()}{' (few)' if few else ''}", f"{pairs.k.sum() / pairs.n.sum():.2f}",
            f"{derived(pairs):.2f}", f"{correlation_of(code):.2f}", *map(_share, (plain[machine], wide[machine], held[machine])),
            *map(_share, (held[told], plain[own], held[own])),
        ))  # fmt: skip
    return rows


def left_out(series: Mapping[str, Series]) -> list[tuple[str, ...]]:
    """Return coverage in each corpus, by what the others give."""
    corpora = sorted({corpus for some in series.values() for corpus, _, _ in some})
    rows = [("code", *corpora)]
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
    rows = [("column of turns.csv", "recordings where it occurs", "plain", "widened", "would need")]
    for name, some in series.items():
        pairs = cuts(some)
        pairs = pairs[pairs.telling]
        if len(pairs.group) >= ENOUGH:
            shares = (_share(pairs.held(one)) for one in (0.0, DEFAULT_CORRELATION))
            rows.append((name, str(len(pairs.group)), *shares, f"{derived(pairs):.2f}"))
    return rows


def words(data: Path, corpora: Sequence[str]) -> list[tuple[str, ...]]:
    """Return coverage of counts of words per words of a role: pronouns, and words of feelings with I or my."""
    matcher, found = Matcher(builtin_lexicons()), {}
    for corpus in corpora:
        for session in annotate(sessions_of(data, corpus), matcher):
            group = f"{corpus} {session.session.metadata.get('source_group') or session.session.id}"
            counted = {"first_person_affect": first_person_affect(session.turns)}
            counted |= {name: session.count(f"pronouns.first_person_{name}") for name in ("singular", "plural")}
            roles: tuple[Role, Role] = ("therapist", "client")
            for name, counts in counted.items():
                for role in roles:
                    own = session.of(role)
                    found.setdefault(f"{role}_{name}", {}).setdefault(
                        (corpus, group), (counts[own], session.n_words[own])
                    )
    rows = [("words", "recordings", "plain", "widened")]
    for name, each in found.items():
        halves = [(k[: len(k) // 2], k[len(k) // 2 :], n[: len(n) // 2], n[len(n) // 2 :]) for k, n in each.values()]
        table = np.array(
            [[part.sum() for part in one] for one in halves if min(len(one[0]), len(one[1])) >= 5], dtype=float
        )
        table = table[(table[:, :2].sum(axis=1) > 0) & (table[:, 2:].min(axis=1) > 0)]
        names = np.array([""] * len(table), dtype=object)
        pairs = Cuts(table[:, :2].T, table[:, 2:].T, names, names)
        rows.append((name, str(len(table)), _share(pairs.held(0.0)), _share(pairs.held(WORD_CORRELATION))))
    return rows


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
    random, rows = np.random.default_rng(SEED), [("rate", "turns", "plain", "widened")]
    for rate in (0.05, 0.1, 0.2, 0.5):
        for n in (10, 20, 40, 80):
            own = random.beta(rate * 9, (1 - rate) * 9, draws)
            k, of = random.binomial(n, own).astype(float), np.full(draws, float(n))
            cells = [_holds(rate, *wilsons(k, of, one)[1:]) for one in (0.0, 0.1)]
            rows.append((f"{rate:g}", str(n), *cells))
    return rows


def known_odds(draws: int = DRAWS) -> list[tuple[str, ...]]:
    """Return how often intervals of odds ratios leave out the true one, with half a case added and as they are now."""
    random, n_other = np.random.default_rng(SEED), 40
    rows = [
        ("client turns", "rate of the answer", "true odds ratio", "before", "before, defined", "now", "now, defined")
    ]
    for n in (1, 2, 3, 5, 8, 12, 20):
        for rate in (0.05, 0.2, 0.5):
            for odds in (1.0, 4.0):
                k = random.binomial(n, odds * rate / (1 - rate + odds * rate), draws).astype(float)
                other = random.binomial(n_other, rate, draws).astype(float)
                table = (k, np.full(draws, float(n)), other, np.full(draws, float(n_other)))
                cells = [
                    cell
                    for _, low, high in (_half_a_case(*table), odds_ratios(*table))
                    for cell in _missed(odds, low, high)
                ]
                rows.append((str(n), f"{rate:g}", f"{odds:g}", *cells))
    return rows


def unrelated(series: Mapping[str, Series]) -> list[tuple[str, ...]]:
    """Return how often intervals leave out 1 where the client's and the therapist's turns are of different sessions."""
    roles = {code.column: code.role for book in builtin_codebooks() for code in book.codes if book.id in {"bolt", "mi"}}
    each: dict[str, dict[str, Floats]] = {}
    for code in roles.keys() & series.keys():
        for corpus, group, one in series[code]:
            if corpus != "annomi, people":
                each.setdefault(group, {})[code] = one
    random, tables = np.random.default_rng(SEED), []
    names = {
        role: sorted(code for code in roles.keys() & series.keys() if roles[code] == role)
        for role in ("client", "therapist")
    }
    corpora = {corpus: [group for group in each if group.startswith(corpus)] for corpus in ("annomi", "hlqc", "mibot")}
    for groups in corpora.values():
        order = random.permutation(len(groups))
        for i, j in zip(order, np.roll(order, 1), strict=True):
            one, other = each[groups[i]], each[groups[j]]
            if set(names["client"]) <= set(one) and set(names["therapist"]) <= set(other):
                n = min(len(one[names["client"][0]]), len(other[names["therapist"][0]]))
                client, therapist = (
                    np.stack([of[code][:n] for code in codes])
                    for of, codes in ((one, names["client"]), (other, names["therapist"]))
                )
                both = np.stack([client @ therapist.T, client @ np.ones_like(therapist.T), (1 - client) @ therapist.T])
                tables.append(np.concatenate([both, n - both[1:2]]).reshape(4, -1))
    table = np.concatenate(tables, axis=1)
    alike = np.array(
        [[correlation_of(one) * correlation_of(other) for other in names["therapist"]] for one in names["client"]]
    )
    effect = design_effect(table[1] + table[3], np.tile(alike.ravel(), len(tables)))
    rows = [("interval", "leaves out 1", "of tables", "from one or two client turns")]
    methods: dict[str, Callable[[], tuple[Floats, Floats, Floats]]] = {
        "half a case added (before)": lambda: _half_a_case(*table),
        "exact": lambda: odds_ratios(*table),
        "exact, widened (now)": lambda: odds_ratios(*table, effect),
    }
    for name, method in methods.items():
        _, low, high = method()
        out = (low > 1) | (high < 1)
        rows.append(
            (name, f"{out[~np.isnan(low)].mean():.3f}", str((~np.isnan(low)).sum()), str(out[table[1] <= 2].sum()))
        )
    return rows


def _half_a_case(k: Floats, n: Floats, k_other: Floats, n_other: Floats) -> tuple[Floats, Floats, Floats]:
    """Return odds ratios by Haldane and Anscombe with Wald's intervals, as they were."""
    total = k + k_other
    told = (n > 0) & (n_other > 0) & (total > 0) & (total < n + n_other)
    cells = np.stack([k, n - k, k_other, n_other - k_other]) + 0.5
    log = np.where(told, np.log(cells[0] * cells[3] / (cells[1] * cells[2])), np.nan)
    error = Z95 * np.sqrt((1 / cells).sum(axis=0))
    return np.exp(log), np.exp(log - error), np.exp(log + error)


def _missed(true: float, low: Floats, high: Floats) -> tuple[str, str]:
    told = ~np.isnan(low)
    out = (low > true) | (high < true)
    return f"{out[told].mean():.3f}" if told.any() else "-", f"{told.mean():.0%}"


def _holds(true: float, low: Floats, high: Floats) -> str:
    return f"{((low <= true) & (high >= true)).mean():.3f}"


def _share(held: np.ndarray) -> str:
    return f"{held.mean():.3f}" if len(held) else "-"


if __name__ == "__main__":
    main()
