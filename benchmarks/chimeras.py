"""Surrogate pairs on dialogues of unrelated halves: ``python -m benchmarks.chimeras ../shared/data``.

A chimera has the therapist's turns of one session and the client's turns of another, of another recording and of about
its length. Nobody in it answers the other, so that 5 % should have a surrogate p below .05. Each chimera is set beside
twenty sessions of its corpus and length class, drawn anew for each, among which neither donor nor another version of a
donor's recording is. For each measure: how many chimeras have a p, the share below .05 with its 95 % interval
(Clopper and Pearson), the p of a Kolmogorov-Smirnov test of all p against a uniform distribution, and the share among
real sessions that are set beside others in the same way. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks._corpora import sessions_of
from benchmarks._markdown import markdown
from therapy_analytics.core.session import Session, Turn
from therapy_analytics.measures.arrays import arrays_with_donors
from therapy_analytics.measures.settings import Settings
from therapy_analytics.measures.synchrony.tables import kinds
from therapy_analytics.results.tables import synchrony_table
from therapy_analytics.text import EXTRAS
from therapy_analytics.text.donors import PER_CLASS, SurrogatePool, choose_donors, length_class, shortened

CORPORA = ("annomi", "hlqc", "mibot")
LEVEL = 0.05
SAME_RECORDING = ("source_group", "prompt_id", "member_attributes_name")
"""What tells sessions of one recording, or of one simulated client, by corpus."""
FEWEST_TURNS = 16
MOST_UNLIKE = 1.5
"""The longer donor has at most so many times the turns of the other."""


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, nargs="?", default=Path("../shared/data"))
    parser.add_argument("--corpora", nargs="+", default=CORPORA)
    parser.add_argument("--chimeras", type=int, default=200, help="of each corpus")
    parser.add_argument("--sessions", type=int, default=60, help="real sessions of each corpus")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--measures", nargs="+", help="names of measures, as `synchrony` knows them; by default all")
    parser.add_argument("--extras", action="store_true", help="with the measures beyond the core")
    parser.add_argument("--csv", type=Path, help="a file for every p")
    given = parser.parse_args()
    found = pd.concat(
        [
            surrogate_rows(sessions_of(given.data, name), given, rng=np.random.default_rng([given.seed, at])).assign(
                corpus=name
            )
            for at, name in enumerate(given.corpora)
        ]
    )
    if given.csv:
        found.to_csv(given.csv, index=False)
    print(markdown(table(found)))


def surrogate_rows(sessions: Sequence[Session], given: argparse.Namespace, rng: np.random.Generator) -> pd.DataFrame:
    """Return a row for each measure of each chimera, and of each real session, of a corpus: kind and the statistics."""
    firsts: dict[str, Session] = {}
    for session in sessions:
        firsts.setdefault(recording(session), session)
    pool = list(firsts.values())
    asked = kinds(given.measures, extras=frozenset(EXTRAS if given.extras else ()))
    settings = Settings(extras=frozenset(EXTRAS if given.extras else ()))
    parts = []
    for kind, donors, session in [*chimeras(pool, given.chimeras, rng), *real(pool, given.sessions, rng)]:
        drawn = drawn_donors(pool, session, donors, rng)
        frame = synchrony_table(arrays_with_donors([session], settings, drawn), asked)
        parts.append(frame[frame.part == "whole"].assign(kind=kind))
    return pd.concat(parts)


def recording(session: Session) -> str:
    """Return what all versions of a recording have in common."""
    return next((session.metadata[key] for key in SAME_RECORDING if key in session.metadata), session.id)


def chimeras(pool: Sequence[Session], n: int, rng: np.random.Generator) -> Iterator[tuple[str, set[str], Session]]:
    """Yield n chimeras, each with the recordings of its donors, whose pairs are drawn without return."""
    classes, sizes = [length_class(shortened(one)) for one in pool], [len(one.turns) for one in pool]
    pairs = [
        (i, j)
        for i in range(len(pool))
        for j in range(len(pool))
        if i != j and classes[i] == classes[j] and max(sizes[i], sizes[j]) <= MOST_UNLIKE * min(sizes[i], sizes[j])
    ]
    done = 0
    for i, j in rng.permutation(pairs).tolist():
        session = chimera(pool[i], pool[j])
        if len(session.turns) >= FEWEST_TURNS:
            yield "chimera", {recording(pool[i]), recording(pool[j])}, session
            done += 1
        if done == n:
            return


def chimera(of_therapist: Session, of_client: Session) -> Session:
    """Return the therapist's turns of one session with the client's of another, until these run out."""
    others = iter([turn for turn in of_client.turns if turn.role == "client"])
    turns: list[Turn] = []
    for turn in of_therapist.turns:
        stands = next(others, None) if turn.role == "client" else turn
        if stands is None:
            break
        turns.append(replace(stands, index=len(turns), start_s=None, end_s=None))
    return Session(id=f"{of_therapist.id}+{of_client.id}", source_file="chimera", turns=tuple(turns))


def real(pool: Sequence[Session], n: int, rng: np.random.Generator) -> Iterator[tuple[str, set[str], Session]]:
    """Yield up to n real sessions, each with its recording."""
    long = [one for one in pool if len(one.turns) >= FEWEST_TURNS]
    for i in rng.permutation(len(long))[:n].tolist():
        yield "real", {recording(long[i])}, long[i]


def drawn_donors(
    pool: Sequence[Session], session: Session, donors: set[str], rng: np.random.Generator
) -> SurrogatePool:
    """Return sessions of the length class of a session that are of no donor's recording."""
    own = length_class(session)
    others = [one for one in pool if recording(one) not in donors and length_class(shortened(one)) == own]
    return choose_donors([others[i] for i in rng.permutation(len(others))[:PER_CLASS].tolist()])


def table(found: pd.DataFrame) -> list[list[str]]:
    """Return the table: measures that have a surrogate p, both directions together."""
    own = found[(found.direction == "both") & found.surrogate_p.notna()]
    corpora = list(dict.fromkeys(own.corpus))
    rows = [["measure", "chimeras", "p < .05", "95 % interval", "KS", *corpora, "real sessions"]]
    for name, part in own.groupby("measure", sort=True):
        p, of_real = (part.loc[part.kind == kind, "surrogate_p"] for kind in ("chimera", "real"))
        if not len(p):
            continue
        shares = [_share(part.loc[(part.kind == "chimera") & (part.corpus == one), "surrogate_p"]) for one in corpora]
        interval = stats.binomtest(int((p < LEVEL).sum()), len(p)).proportion_ci()
        beside = f"{interval.low:.1%} to {interval.high:.1%}", f"{stats.kstest(p, 'uniform').pvalue:.3f}"
        rows.append([f"`{name}`", str(len(p)), _share(p), *beside, *shares, _share(of_real)])
    return rows


def _share(p: pd.Series) -> str:
    return f"{(p < LEVEL).mean():.1%}" if len(p) else "-"


if __name__ == "__main__":
    main()
