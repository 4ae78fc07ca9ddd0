"""Who says what, by the words: ``python -m benchmarks.speakers [DATA] [--cache FOLDER]``.

The models of ``tanalyze speakers`` are fitted anew without the recordings that they are judged on (four folds by
`source_group`), and without the whole corpus; KokoroChat is never learnt from. So are the limits from which something
is proposed. Each session is read as it is written, and in lower case without punctuation. Three things are counted:

- Labels removed: which share of the utterances goes to whom the corpus says, each turn as one utterance, and with turns
  cut at random as recognisers cut them: after sentences, or anywhere where there is no punctuation.
- Boundaries: 2, 5 and 10 per cent of them are moved by one to four words, either way; which share is put right exactly,
  and how many boundaries that nobody moved are changed in 200 turns.
- Swapped labels of a segment of 6 to 20 turns, and of the whole session: found, if a proposal covers at least half of
  both; and in how many untouched sessions something is proposed.

What the encoder reads is kept in the folder of ``--cache``; without it, it is read anew (some ten minutes).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks._speaker_limits import Limits, limits_of
from benchmarks._speaker_models import Bools, Floats, Scored, evident, left_out, parts_left_out, roles_of
from benchmarks._speaker_talks import LEARNT, Ints, Talk, talks, utterances, vectors
from therapy_analytics.core.session import Role
from therapy_analytics.speakers.boundaries import FARTHEST, is_written, moves_of
from therapy_analytics.speakers.chain import therapist_probabilities
from therapy_analytics.speakers.models import Limit
from therapy_analytics.speakers.swapped import FEWEST, swapped_segments

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Row:
    """A row of the table: of which corpus and manner, what was counted, of how many, and how many of these."""

    corpus: str
    manner: str
    what: str
    n: int
    hits: float

    @property
    def share(self) -> float:
        """The share of hits."""
        return self.hits / max(self.n, 1)


def judged(every: Sequence[Talk], found: dict[int, Scored], limits: dict[int, Limits], wrong: Bools) -> list[Row]:
    """Count everything, by corpus and manner; sessions that are evidently wrong in the corpus stand by themselves."""
    counts: dict[tuple[str, str, str], list[float]] = {}

    def count(at: int, what: str, n: float, hits: float) -> None:
        name = f"{every[at].corpus}, labels evidently swapped" if wrong[at] else every[at].corpus
        entry = counts.setdefault((name, every[at].manner, what), [0, 0])
        entry[0] += n
        entry[1] += hits

    for at, own in found.items():
        talk, limit = every[at], limits[at]
        for what, n, hits in (*_attributed(talk, own, limit.joint), *_moved(talk, own, limit.moved),
                              *_swapped(talk, own.voice, limit.swapped)):  # fmt: skip
            count(at, what, n, hits)
    return [Row(*key, int(n), hits) for key, (n, hits) in sorted(counts.items())]


def _attributed(talk: Talk, own: Scored, joint: Limit) -> Iterator[tuple[str, int, float]]:
    joints = [("turns", own.voice, talk.ends, talk.roles), ("cut", own.cut, own.cut_ends, own.cut_roles)]
    for what, voice, ends, roles in joints:
        change = joint.slope * own.gaps.change[ends[:-1] - 1] + joint.intercept
        p = therapist_probabilities(voice, change)
        right = (p >= 0.5) == (roles == 1)
        sure = np.maximum(p, 1 - p) >= joint.least
        yield f"labels removed, {what}: right", len(p), float(right.sum())
        yield f"labels removed, {what}: attributed", len(p), float(sure.sum())
        yield f"labels removed, {what}: right of those attributed", int(sure.sum()), float((right & sure).sum())


def _moved(talk: Talk, own: Scored, limits: dict[str, Limit]) -> Iterator[tuple[str, int, float]]:
    """Move a share of the boundaries; the words stand in one order whoever says them, so their gaps are read once."""
    limit = limits["written" if is_written(talk.words) else "recognised"]
    roles: list[Role] = ["therapist" if role else "client" for role in talk.roles.tolist()]
    for share in (0.0, 0.02, 0.05, 0.1):
        shift = _shifts(talk, share)
        change = np.zeros_like(shift)
        for one in moves_of(talk.ends + shift, roles, own.gaps, limit):
            change[one.turn] = -one.words
        shift, change = shift[talk.boundaries], change[talk.boundaries]
        if share:
            n_moved = int((shift != 0).sum())
            yield (
                f"boundaries, {share:.0%} moved: put right",
                n_moved,
                float((change[shift != 0] == -shift[shift != 0]).sum()),
            )
        others = change[shift == 0]
        yield f"boundaries, {share:.0%} moved: others changed", len(others), float((others != 0).sum())


def _shifts(talk: Talk, share: float) -> Ints:
    """Return by how many words the end of each turn is moved, (n_turns,); each turn keeps a word at least."""
    rng = np.random.default_rng(int(talk.ends[-1]))
    shift, before = np.zeros(len(talk.ends), dtype=np.int64), 0
    for at, end in enumerate(talk.ends[:-1].tolist()):
        step = int(rng.integers(1, FARTHEST + 1)) * int(rng.choice([-1, 1]))
        if rng.random() < share and before < end + step < talk.ends[at + 1]:
            shift[at] = step
        before = end + int(shift[at])
    return shift


def _swapped(talk: Talk, voice: Floats, limit: Limit) -> Iterator[tuple[str, int, float]]:
    n = len(talk.roles)
    if n < 2 * FEWEST:
        return
    rng = np.random.default_rng(n)
    yield "swapped labels: proposed in an untouched session", 1, float(bool(_segments(voice, talk.roles, limit)))
    whole = _segments(voice, 1 - talk.roles, limit)
    yield "swapped labels: whole session found", 1, float(_covers(whole, 0, n))
    for _ in range(3):
        length = int(rng.integers(FEWEST, min(20, n - 1) + 1))
        begin = int(rng.integers(0, n - length + 1))
        roles = talk.roles.copy()
        roles[begin : begin + length] = 1 - roles[begin : begin + length]
        some = _segments(voice, roles, limit)
        yield "swapped labels: segment found", 1, float(_covers(some, begin, begin + length))


def _segments(voice: Floats, is_therapist: Ints, limit: Limit) -> list[tuple[int, int]]:
    return [(one.begin, one.end) for one in swapped_segments(voice, roles_of(is_therapist), limit)]


def _covers(some: Iterable[tuple[int, int]], begin: int, end: int) -> bool:
    """Tell whether a segment covers half of this one at least, and is covered by half by it."""
    shared = [(min(b, end) - max(a, begin), max(b - a, end - begin)) for a, b in some]
    return any(2 * both >= longer for both, longer in shared)


def tables(rows: Sequence[Row], scheme: str) -> Iterator[str]:
    """Yield the lines of a table: what was counted, of how many."""
    yield f"| left out: {scheme} | written as | what | of | share |"
    yield "| --- | --- | --- | --- | --- |"
    for row in rows:
        share = f"{200 * row.share:.2f} in 200" if row.what.endswith("others changed") else f"{row.share:.3f}"
        yield f"| {row.corpus} | {row.manner} | {row.what} | {row.n:,} | {share} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", default=ROOT.parent / "shared" / "data")
    parser.add_argument("--cache", type=Path, default=None)
    options = parser.parse_args()
    every = talks(options.data)
    spoken, read = utterances(every), vectors(every, options.cache)
    wrong = evident(every, spoken)
    right = ~wrong & np.array([talk.corpus in LEARNT for talk in every])
    unseen = left_out(every, spoken, read, "recording", right)
    for scheme in ("recording", "corpus"):
        found = unseen if scheme == "recording" else left_out(every, spoken, read, scheme, right)
        limits: dict[int, Limits] = {}
        for mine in parts_left_out(every, scheme):
            limits |= dict.fromkeys(np.flatnonzero(mine).tolist(), limits_of(every, unseen, right & ~mine))
        print(*tables(judged(every, found, limits, wrong), scheme), sep="\n", end="\n\n")


if __name__ == "__main__":
    main()
