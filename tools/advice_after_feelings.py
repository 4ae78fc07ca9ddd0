"""BOLT's finding with codes that were read: what follows a client's negative feeling, and what follows other turns.

    python tools/advice_after_feelings.py --data CORPORA

For people of high and of low quality and for each language model: how often the therapist advises, and names a feeling
that the client expressed, right after a client turn with a negative feeling, how often after the client's other turns,
and the difference at equal length of both turns (Mantel and Haenszel, a stratum for each session and length), with a
95 % bootstrap interval over sessions.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from build_reference import groups, read
from numpy.typing import NDArray
from process_corpus import BOOK, SESSIONS, name_of, session_of, turns
from process_judged import GIVEN
from tagger_turns import CHATBOTS

from therapy_analytics.core.session import ROLES
from therapy_analytics.measures.response_rows import counts_by_length, marked
from therapy_analytics.measures.turns import replies
from therapy_analytics.text import AnnotatedSession, annotate
from therapy_analytics.text.lexicons import Matcher

AFTER = [("process_feeling_negative",)]
GIVES = {"advises": ("process_advice",), "names the feeling": ("process_feeling_expressed",)}
DRAWS = 2000
Floats = NDArray[np.float64]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    counts: dict[str, list[Floats]] = {}
    for group, session in grouped(options.data):
        counts.setdefault(group, []).append(counts_of(session))
    print("| group | sessions | feelings | the therapist | after them | after other turns | difference [95 %] |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for group, of_sessions in sorted(counts.items()):
        stacked = np.stack(of_sessions)
        for at, answer in enumerate(GIVES):
            n, both, n_other, both_other = stacked[..., at].sum(axis=(0, 1))
            value, low, high = difference(stacked[..., at])
            cells = f"{both / n:.2f} | {both_other / n_other:.2f} | {value:+.2f} [{low:+.2f}, {high:+.2f}]"
            print(f"| {group} | {len(of_sessions)} | {n:.0f} | {answer} | {cells} |")


def grouped(data: Path) -> Iterator[tuple[str, AnnotatedSession]]:
    """Yield each session that was read, with its codes, and its group; of a recording of people only one."""
    corpora = {name: read(data / SESSIONS[name]) for name in ("annomi", "hlqc", "mibot", "vera_mh", "mindeval")}
    group_of = {name_of(name, one.id): group for name, one, group in groups(corpora)}
    for name, rows in turns(data).groupby("session", sort=False):
        chatbot = [
            f"spiral_bench, {key.split()[1]}"
            for key, begins in CHATBOTS.items()
            if rows["session"].str.match(begins).all()
        ]
        if group := next(iter(chatbot), group_of.get(str(name))):
            yield group, _with_codes(rows)


def _with_codes(rows: pd.DataFrame) -> AnnotatedSession:
    (session,) = annotate([session_of(rows)], Matcher([]))
    unread = ~rows["read"].to_numpy(dtype=bool)
    sure: dict[str, Floats] = {}
    for code in BOOK.codes:
        found = np.array([codes.get(code.id, 0.0) for codes in rows["codes"]], dtype=np.float64)
        found[unread | (session.turns.roles != ROLES.index(code.role))] = np.nan
        sure[code.column] = found
    decided = {column: np.nan_to_num(values) >= GIVEN for column, values in sure.items()}
    return replace(session, probabilities=sure, decisions=decided)


def counts_of(session: AnnotatedSession) -> Floats:
    """Return the counts of a session, (4 lengths, 4 counts, n_answers), see `counts_by_length`."""
    client, answer = replies(session)
    after, gives = marked(session, AFTER, client), marked(session, list(GIVES.values()), answer)
    return counts_by_length(session, after, gives)[:, :, 0]


def difference(counts: Floats) -> tuple[float, float, float]:
    """Return Mantel and Haenszel's difference of counts (n_sessions, 4 lengths, 4 counts), and its interval."""
    n, both, n_other, both_other = np.moveaxis(counts, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.nan_to_num(n * n_other / (n + n_other))
        off = np.where(weight > 0, weight * (both / n - both_other / n_other), 0.0)
    tops, bottoms = off.sum(axis=1), weight.sum(axis=1)
    drawn = np.random.default_rng(0).integers(0, len(tops), (DRAWS, len(tops)))
    with np.errstate(divide="ignore", invalid="ignore"):
        values = tops[drawn].sum(axis=1) / bottoms[drawn].sum(axis=1)
    low, high = np.nanpercentile(values, [2.5, 97.5])
    return float(tops.sum() / bottoms.sum()), float(low), float(high)


if __name__ == "__main__":
    main()
