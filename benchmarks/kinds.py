"""What codes that do not contradict each other cost and gain: ``python -m benchmarks.kinds --unseen unseen.csv``.

The file is one of ``tools/unseen_codes.py``: what people coded, and probabilities by taggers that had not seen the
recording. For each family of AnnoMI (a code and its kinds) the decisions of each code by itself are held against three
rules: kinds only with their code (what the package does), their code wherever a kind is, and the first with that kind
of two whose probability is further above its threshold. In square brackets the 95% interval of the difference to the
first rule, by bootstrap over recordings. Prints Markdown.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks._markdown import markdown
from therapy_analytics.codes import Code, builtin_codebooks, load_accurate, load_tagger
from therapy_analytics.codes.tagger import without_contradictions
from therapy_analytics.stats.agreement import coefficients as co

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
DRAWS = 2000
HEADS = [
    "code",
    "rule",
    "turns with two kinds",
    "with a kind and not the code",
    "kappa of the code",
    "kappa of kinds",
    "mean kappa of kinds [less the first rule]",
    "turns with all right [less the first rule]",
    "turns with each kind (by people)",
]


@dataclass(frozen=True, eq=False)
class Family:
    """A code and its kinds on ``n`` turns: names, and arrays (n, n_names), the code first."""

    names: tuple[str, ...]
    given: Bools
    p: Floats
    limits: Floats
    asked: Ints
    recording: Ints

    @property
    def apart(self) -> Bools:
        """Each code decided by itself."""
        return self.p >= self.limits

    def ruled(self, strength: Floats) -> Bools:
        """Kinds only with their code, and the strongest of exclusive ones."""
        return without_contradictions(self.names, self.apart, strength, self.asked, builtin_codebooks())


def with_code_added(one: Family) -> Bools:
    """Give the code wherever a kind is decided, and the likeliest of exclusive kinds."""
    sure = replace(one, p=np.hstack([np.ones((len(one.p), 1)), one.p[:, 1:]]))
    kinds = sure.ruled(sure.p)[:, 1:]
    return np.hstack([one.apart[:, :1] | kinds.any(axis=1, keepdims=True), kinds])


def by_margin(one: Family) -> Bools:
    """Keep of exclusive kinds the one that is furthest above its threshold."""
    return one.ruled(_log_odds(one.p) - _log_odds(one.limits))


def _log_odds(p: Floats) -> Floats:
    return np.asarray(np.log(p / (1 - p)))


RULES: dict[str, Callable[[Family], Bools]] = {
    "each by itself": lambda one: one.apart,
    "kinds only with their code": lambda one: one.ruled(one.p),
    "their code with each kind": with_code_added,
    "the kind furthest above its threshold": by_margin,
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unseen", type=Path, required=True)
    turns = pd.read_csv(parser.parse_args().unseen, low_memory=False)
    for tagger in ("fast", "accurate"):
        if f"{tagger}_mi_question" in turns:
            print(f"\n### The {tagger} tagger\n")
            print(markdown([HEADS, *(row for one in families(turns, tagger) for row in rows(one))]))


def families(turns: pd.DataFrame, tagger: str) -> Iterator[Family]:
    """Yield AnnoMI's codes with kinds on the turns that people coded."""
    load = load_accurate if tagger == "accurate" else load_tagger
    model = load(all_codes=True)
    limits = dict(zip(model.names, model.thresholds.tolist(), strict=True))
    (book,) = (one for one in builtin_codebooks() if one.id == "mi")
    for code in book.codes:
        names = _names(code, book.codes)
        if len(names) > 1 and set(names) <= limits.keys():
            columns = [f"{what}_{name}" for what in (tagger, "truth") for name in names]
            part = turns[turns["source"].eq("annomi") & turns[columns].notna().all(axis=1)]
            p = part[columns[: len(names)]].to_numpy(dtype=np.float64)
            yield Family(
                names,
                part[columns[len(names) :]].to_numpy(dtype=np.float64) >= 0.5,
                np.minimum(p, p[:, :1]),
                np.array([limits[name] for name in names]),
                part["n_questions"].to_numpy(dtype=np.int64),
                pd.factorize(part["group"])[0].astype(np.int64),
            )


def rows(one: Family) -> Iterator[list[str]]:
    """Yield the row of each rule."""
    weights = np.random.default_rng(0).multinomial(*_even(one.recording), size=DRAWS).astype(np.float64)
    before: list[Floats] = []
    for name, rule in RULES.items():
        found = rule(one)
        tables = np.stack([_tables(given, own, one.recording) for given, own in zip(one.given.T, found.T, strict=True)])
        right = _tables((found == one.given).all(axis=1), np.ones(len(found), np.bool_), one.recording)
        kappas = co.kappa(tables.sum(axis=1))
        exact = (weights @ right[:, 1, 1]) / (weights @ right[:, :, 1].sum(axis=1))
        drawn = [co.kappa(np.tensordot(weights, tables[1:], (1, 1))).mean(axis=1), exact]
        before = before or drawn
        yield [
            one.names[0],
            name,
            str(int((found[:, 1:].sum(axis=1) > 1).sum())),
            str(int((found[:, 1:].any(axis=1) & ~found[:, 0]).sum())),
            _short(kappas[0]),
            ", ".join(map(_short, kappas[1:])),
            _interval(drawn[0] - before[0], float(kappas[1:].mean())),
            _interval(drawn[1] - before[1], float((found == one.given).all(axis=1).mean())),
            ", ".join(f"{n} ({m})" for n, m in zip(found.sum(axis=0)[1:], one.given.sum(axis=0)[1:], strict=True)),
        ]


def _even(recording: Ints) -> tuple[int, Floats]:
    n = int(recording.max()) + 1
    return n, np.full(n, 1 / n)


def _tables(given: Bools, found: Bools, recording: Ints) -> Floats:
    """Return tables of counts by recording, (n_recordings, 2, 2)."""
    shape = (int(recording.max()) + 1, 2)
    return co.tables_of(given.astype(np.int64), found.astype(np.int64), recording, shape)


def _interval(difference: Floats, value: float) -> str:
    low, high = np.percentile(difference, [2.5, 97.5])
    return f"{_short(value)} [{low:+.3f}, {high:+.3f}]"


def _short(value: float) -> str:
    return f"{value:.3f}"


def _names(code: Code, codes: tuple[Code, ...]) -> tuple[str, ...]:
    return (code.column, *(one.column for one in codes if one.parent == code.id))


if __name__ == "__main__":
    main()
