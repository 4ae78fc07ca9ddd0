"""Who says what, by the words: ``python -m benchmarks.speakers [DATA] [--cache FOLDER]``.

The models of ``tanalyze speakers`` are fitted anew without the recordings that they are judged on (four folds by
`source_group`), and without the whole corpus; KokoroChat is never learnt from. Each session is read as it is written,
and in lower case without punctuation. Three things are counted:

- Labels removed: which share of the utterances goes to whom the corpus says, each turn as one utterance, and with turns
  cut at random as recognisers cut them: after sentences, or anywhere where there is no punctuation.
- Boundaries: 2, 5 and 10 per cent of them are moved by one to four words, either way; which share is put right exactly,
  and how many boundaries that nobody moved are changed in 200 turns.
- Exchanged labels of a stretch of 6 to 20 turns, and of the whole session: found, if a proposal covers at least half of
  both; and in how many untouched sessions something is proposed.

What the encoder reads is kept in the folder of ``--cache``; without it, it is read anew (some ten minutes).
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from benchmarks._corpora import sessions_of
from therapy_analytics.behaviours.cues import HAND
from therapy_analytics.behaviours.features import N_BUCKETS, featurize
from therapy_analytics.behaviours.text_model import GRAM_WEIGHT, TextModel, mean_vectors
from therapy_analytics.language.embeddings import DIMENSIONS
from therapy_analytics.language.stretches import turns_of
from therapy_analytics.session import CLIENT, THERAPIST
from therapy_analytics.speakers._boundaries import FARTHEST, is_written, likeliest
from therapy_analytics.speakers._chain import therapist_probabilities
from therapy_analytics.speakers._exchanged import FEWEST, exchanged
from therapy_analytics.speakers._gaps import gap_vectors
from therapy_analytics.speakers._model import Gaps, Limit, SpeakerModel, load_speaker_model

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
ROOT = Path(__file__).resolve().parents[1]
LEARNT = {"annomi": 1.0, "hlqc": 1.0, "mibot": 0.7, "vera_mh": 0.4, "spiral_bench": 0.3}
"""The corpora that are learnt from, and how much a turn of each counts."""
UNSEEN = "kokoro"
MOST_SESSIONS = {"mibot": 90, "vera_mh": 14, "spiral_bench": 10, UNSEEN: 40}
"""Of other corpora, all."""
LONGEST_TURN = 120
"""Turns of language models are cut here, in words: the longest would count too much."""
MANNERS = ("written", "recognised")
FOLDS = 4
UNITS, NETWORKS, PENALTY, ROUNDS = 128, 2, 1.0, 6
STRENGTH, STEPS = 0.1, 35
"""Inverse of the penalty on the weights of the model of voices; steps of its optimiser."""
CUT_SHARE, GAP_SHARE, NEAR = 0.35, 0.35, 8
"""Of cut utterances, and of the gaps within so many words of a boundary, such a share is learnt from."""
FAR_SHARE = 0.04
EVIDENT = 25.0
"""A session of HLQC whose labels are against the words by this score is taken for exchanged: it is not learnt from."""
_SIGNS = re.compile(r"[^\w\s']")


@dataclass(frozen=True, eq=False)
class Talk:
    """A session in one manner of writing.

    Attributes
    ----------
    corpus, group, session, manner : str
        Which it is.
    roles : int64 array (n_turns,)
        1 for the therapist, 0 for the client.
    said : list of list of str
        The words of each turn.
    """

    corpus: str
    group: str
    session: str
    manner: str
    roles: Ints
    said: list[list[str]]

    @property
    def ends(self) -> Ints:
        """How many words stand before the end of each turn, (n_turns,)."""
        return np.cumsum([len(one) for one in self.said])


def plain(text: str) -> str:
    """Return a text as a recogniser writes it: lower case, no punctuation."""
    return " ".join(_SIGNS.sub(" ", text.lower().replace("\u2019", "'")).split())


def talks(data: Path, names: Iterable[str] = (*LEARNT, UNSEEN)) -> list[Talk]:
    """Return all sessions of the corpora, each in both manners; those without punctuation in one."""
    return [talk for name in names for talk in _talks(data, name)]


def _talks(data: Path, name: str) -> Iterator[Talk]:
    sessions = sessions_of(data, name)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(sessions))[: MOST_SESSIONS.get(name, len(sessions))]
    for session in (sessions[at] for at in sorted(order.tolist())):
        group = session.metadata.get("source_group") or (session.id.split("_")[1] if name == "vera_mh" else session.id)
        turns = [turn for turn in session.turns if turn.role != "other"]
        for manner in MANNERS:
            said = [(plain(turn.text) if manner == "recognised" else turn.text).split() for turn in turns]
            said = [one[:LONGEST_TURN] for one in said]
            kept = [at for at, one in enumerate(said) if one]
            roles = np.array([turns[at].role == "therapist" for at in kept], dtype=np.int64)
            talk = Talk(name, f"{name} {group}", session.id, manner, roles, [said[at] for at in kept])
            if len(kept) > 3 and (manner == "recognised" or is_written([word for one in talk.said for word in one])):
                yield talk


def vectors(every: Sequence[Talk], cache: Path | None) -> list[NDArray[np.float16]]:
    """Return what the encoder reads around each gap of each session, (n_words - 1, 2 * WIDTH), and keep it."""
    found = []
    for talk in every:
        path = cache and cache / f"{talk.corpus}-{talk.session}-{talk.manner}.npy"
        if path is not None and path.exists():
            found.append(np.load(path, allow_pickle=False))
            continue
        found.append(gap_vectors([word for one in talk.said for word in one]).astype(np.float16))
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, found[-1])
    return found


@dataclass(frozen=True, eq=False)
class Utterances:
    """Utterances of all sessions: whole turns, and pieces of turns.

    Attributes
    ----------
    talk : int64 array (n,)
        Whose they are, positions in the list of sessions.
    begin, end : int64 array (n,)
        Which words of the session.
    roles : int64 array (n,)
        1 for the therapist, 0 for the client.
    is_cut : bool array (n,)
        Whether it belongs to the session with turns cut at random.
    table : sparse array (n, n_features)
        What the model of voices reads.
    """

    talk: Ints
    begin: Ints
    end: Ints
    roles: Ints
    is_cut: NDArray[np.bool_]
    table: Any


def utterances(every: Sequence[Talk]) -> Utterances:
    """Return the turns of all sessions, and behind those of each session the pieces that its turns are cut into."""
    rng = np.random.default_rng(1)
    rows: list[tuple[int, int, int, int, bool]] = []
    texts: list[str] = []
    for at, talk in enumerate(every):
        begins = talk.ends - [len(one) for one in talk.said]
        whole = [(0, len(one)) for one in talk.said]
        for is_cut in (False, True):
            for turn, (words, role, first) in enumerate(zip(talk.said, talk.roles, begins, strict=True)):
                for begin, end in _cut(words, talk.manner, rng) if is_cut else [whole[turn]]:
                    rows.append((at, int(first) + begin, int(first) + end, int(role), is_cut))
                    texts.append(" ".join(words[begin:end]))
    talk_of, begins_at, ends_at, roles, cut = (np.array(column) for column in zip(*rows, strict=True))
    return Utterances(talk_of, begins_at, ends_at, roles, cut, table_of(texts))


def _cut(words: Sequence[str], manner: str, rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Cut a turn after sentences (three in four) and seldom elsewhere; without punctuation, some eleven words apart."""
    begin = 0
    for at in range(1, len(words)):
        ends = words[at - 1][-1] in ".?!"
        chance = (0.75 if ends else 0.02) if manner == "written" else 0.09 * (at - begin >= 3)
        if rng.random() < chance:
            yield begin, at
            begin = at
    yield begin, len(words)


def table_of(texts: Sequence[str]) -> Any:
    """Return what the model of voices reads of texts, (n_texts, n_features), as a sparse table."""
    parts = []
    for start in range(0, len(texts), 10_000):
        turns = turns_of(texts[start : start + 10_000])
        features = featurize(turns, np.arange(len(turns) + 1))
        buckets = features.words @ features.types + GRAM_WEIGHT * features.grams
        part = sparse.hstack([buckets, features.hand, sparse.csr_array(mean_vectors(turns))], format="csr")
        parts.append(part.astype(np.float32))
    table = sparse.vstack(parts, format="csr")
    return sparse.csr_matrix(
        (table.data, table.indices.astype(np.int32), table.indptr.astype(np.int32)), shape=table.shape
    )


def fit_voice(every: Sequence[Talk], said: Utterances, keep: NDArray[np.bool_]) -> Floats:
    """Fit the model of voices on the utterances of some sessions (bool (n_talks,)); return weights, intercept last."""
    rng = np.random.default_rng(2)
    rows = np.flatnonzero(keep[said.talk] & (~said.is_cut | (rng.random(len(said.talk)) < CUT_SHARE)))
    counts = np.array([LEARNT.get(talk.corpus, 0.0) for talk in every])[said.talk[rows]]
    model = LogisticRegression(C=STRENGTH, max_iter=STEPS, tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # so many steps were found to be enough
        model.fit(said.table[rows], said.roles[rows], sample_weight=counts)
    return np.append(model.coef_[0], model.intercept_)


def fit_gaps(every: Sequence[Talk], read: Sequence[NDArray[np.float16]], keep: NDArray[np.bool_]) -> Gaps:
    """Fit the network of gaps on some sessions: several, taken together as one."""
    rng = np.random.default_rng(3)
    parts, labels = [], []
    for talk, own in (pair for pair, kept in zip(zip(every, read, strict=True), keep, strict=True) if kept):
        counts = LEARNT.get(talk.corpus, 0.0)
        is_end = np.zeros(len(own), dtype=np.bool_)
        is_end[talk.ends[:-1] - 1] = True
        near = np.convolve(is_end, np.ones(2 * NEAR + 1))[NEAR : NEAR + len(own)] > 0
        chance = np.where(is_end, 1.0, counts * np.where(near, GAP_SHARE, FAR_SHARE))
        rows = np.flatnonzero(rng.random(len(own)) < chance)
        parts.append(own[rows])
        labels.append(is_end[rows].astype(np.int64))
    x, y = np.concatenate(parts).astype(np.float32), np.concatenate(labels)
    mean, spread = x.mean(axis=0), x.std(axis=0) + 1e-3
    x = (x - mean) / spread
    networks = [
        MLPClassifier(
            (UNITS,), alpha=PENALTY, max_iter=ROUNDS, n_iter_no_change=ROUNDS, batch_size=256, random_state=at
        )
        for at in range(NETWORKS)
    ]
    for network in networks:
        for _ in range(ROUNDS):
            network.partial_fit(x, y, classes=[0, 1])
    hidden = np.hstack([network.coefs_[0] for network in networks]) / spread[:, None]
    bias = np.concatenate([network.intercepts_[0] for network in networks]) - mean @ hidden
    out = np.concatenate([network.coefs_[1][:, 0] for network in networks]) / NETWORKS
    level = float(np.mean([network.intercepts_[1][0] for network in networks]))
    return Gaps(hidden.astype(np.float32), bias.astype(np.float32), out.astype(np.float32), level)


def voice_model(weights: Floats) -> TextModel:
    """Return weights of `fit_voice` as the model that the package loads."""
    n, hand = N_BUCKETS, len(HAND)
    column = weights[:, None]
    parts = column[:n], column[n : n + hand], column[n + hand : n + hand + DIMENSIONS], np.zeros((0, 1))
    return TextModel("", "", ("therapist",), False, (), *parts, bias=weights[-1:])


@dataclass(frozen=True, eq=False)
class Scored:
    """What models that have not seen a session say of it.

    Attributes
    ----------
    voice, pieces : float64 array (n_turns,), (n_pieces,)
        The log-odds of its turns, and of the pieces they are cut into, to be the therapist's.
    piece_ends, piece_roles : int64 array (n_pieces,)
        How many words stand before the end of each piece; whose it is.
    gaps : float64 array (n_words - 1,)
        The log-odds of a change behind each word.
    """

    voice: Floats
    pieces: Floats
    piece_ends: Ints
    piece_roles: Ints
    gaps: Floats


def scored(
    every: Sequence[Talk],
    said: Utterances,
    read: Sequence[NDArray[np.float16]],
    keep: NDArray[np.bool_],
    of: Iterable[int],
) -> dict[int, Scored]:
    """Fit on some sessions, and return what the models say of others (positions)."""
    weights, gaps = fit_voice(every, said, keep), fit_gaps(every, read, keep)
    found = {}
    for at in of:
        rows = np.flatnonzero(said.talk == at)
        scores = np.asarray(said.table[rows] @ weights[:-1] + weights[-1])
        cut = said.is_cut[rows]
        log_odds = gaps.log_odds(read[at].astype(np.float32))
        found[at] = Scored(scores[~cut], scores[cut], said.end[rows][cut], said.roles[rows][cut], log_odds)
    return found


def left_out(
    every: Sequence[Talk], said: Utterances, read: Sequence[NDArray[np.float16]], scheme: str, wrong: NDArray[np.bool_]
) -> dict[int, Scored]:
    """Return what models say of sessions that they have not seen.

    Parameters
    ----------
    every, said, read : as `talks`, `utterances` and `vectors` return them
    scheme : {"recording", "corpus"}
        What is left out. `UNSEEN` is judged with a model of all other corpora in both.
    wrong : bool array (n_talks,)
        Sessions that nothing is learnt from.
    """
    corpora = np.array([talk.corpus for talk in every])
    learnt = (corpora != UNSEEN) & ~wrong
    if scheme == "recording":
        groups = sorted({talk.group for talk in every})
        fold = dict(zip(groups, np.random.default_rng(0).integers(0, FOLDS, len(groups)), strict=True))
        part = np.array([fold[talk.group] if talk.corpus != UNSEEN else FOLDS for talk in every])
        parts = [part == number for number in range(FOLDS + 1)]
    else:
        parts = [corpora == name for name in ("annomi", "hlqc", "mibot", UNSEEN)]
    found: dict[int, Scored] = {}
    for mine in parts:
        found |= scored(every, said, read, learnt & ~mine, np.flatnonzero(mine).tolist())
    return found


def evident(every: Sequence[Talk], said: Utterances) -> NDArray[np.bool_]:
    """Return which sessions of HLQC have labels that are evidently exchanged, by models that have not seen them."""
    groups = sorted({talk.group for talk in every})
    fold = dict(zip(groups, np.random.default_rng(0).integers(0, FOLDS, len(groups)), strict=True))
    part = np.array([fold[talk.group] for talk in every])
    wrong = np.zeros(len(every), dtype=np.bool_)
    limit = Limit(1.0, 0.0, EVIDENT)
    for number in range(FOLDS):
        learnt = np.array([talk.corpus in LEARNT for talk in every]) & (part != number)
        weights = fit_voice(every, said, learnt)
        for at in np.flatnonzero(part == number).tolist():
            rows = np.flatnonzero((said.talk == at) & ~said.is_cut)
            voice = np.asarray(said.table[rows] @ weights[:-1] + weights[-1])
            wrong[at] = every[at].corpus == "hlqc" and bool(exchanged(voice, _roles(every[at].roles), limit))
    return wrong


def _roles(is_therapist: Ints) -> Ints:
    return np.where(is_therapist == 1, THERAPIST, CLIENT)


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


def judged(every: Sequence[Talk], found: dict[int, Scored], model: SpeakerModel, wrong: NDArray[np.bool_]) -> list[Row]:
    """Count everything, by corpus and manner; sessions that are evidently wrong in the corpus stand by themselves."""
    counts: dict[tuple[str, str, str], list[float]] = {}

    def count(at: int, what: str, n: float, hits: float) -> None:
        name = f"{every[at].corpus}, labels evidently exchanged" if wrong[at] else every[at].corpus
        entry = counts.setdefault((name, every[at].manner, what), [0, 0])
        entry[0] += n
        entry[1] += hits

    for at, own in found.items():
        for what, n, hits in (*_attributed(every[at], own, model), *_moved(every[at], own, model),
                              *_exchanged(every[at], own, model)):  # fmt: skip
            count(at, what, n, hits)
    return [Row(*key, int(n), hits) for key, (n, hits) in sorted(counts.items())]


def _attributed(talk: Talk, own: Scored, model: SpeakerModel) -> Iterator[tuple[str, int, float]]:
    joints = [("turns", own.voice, talk.ends, talk.roles), ("cut", own.pieces, own.piece_ends, own.piece_roles)]
    for what, voice, ends, roles in joints:
        change = model.joint.slope * own.gaps[ends[:-1] - 1] + model.joint.intercept
        p = therapist_probabilities(voice, change)
        right = (p >= 0.5) == (roles == 1)
        sure = np.maximum(p, 1 - p) >= model.joint.least
        yield f"labels removed, {what}: right", len(p), float(right.sum())
        yield f"labels removed, {what}: attributed", len(p), float(sure.sum())
        yield f"labels removed, {what}: right of those attributed", int(sure.sum()), float((right & sure).sum())


def _moved(talk: Talk, own: Scored, model: SpeakerModel) -> Iterator[tuple[str, int, float]]:
    """Move a share of the boundaries; the words stand in one order whoever says them, so their gaps are read once."""
    cut_off = np.array([len(one) == LONGEST_TURN for one in talk.said])  # such a turn ends where none would
    counted = ~(cut_off[:-1] | cut_off[1:])
    words = [word for one in talk.said for word in one]
    limit = model.moved["written" if is_written(words) else "recognised"]
    for share in (0.0, 0.02, 0.05, 0.1):
        rng = np.random.default_rng(len(words))
        ends = talk.ends.copy()
        shift = np.zeros(len(ends), dtype=np.int64)
        for at in range(len(ends) - 1):
            step = int(rng.integers(1, FARTHEST + 1)) * int(rng.choice([-1, 1]))
            before = ends[at - 1] if at else 0
            if rng.random() < share and before < ends[at] + step < talk.ends[at + 1]:
                shift[at], ends[at] = step, ends[at] + step
        change = _found_moves(ends, own.gaps, limit)
        is_moved, change = (shift[:-1] != 0)[counted], change[counted]
        if share:
            right = float((is_moved & (change == -shift[:-1][counted])).sum())
            yield f"boundaries, {share:.0%} moved: put right", int(is_moved.sum()), right
        yield (
            f"boundaries, {share:.0%} moved: others changed",
            int((~is_moved).sum()),
            float((change[~is_moved] != 0).sum()),
        )


def _found_moves(ends: Ints, gaps: Floats, limit: Limit) -> Ints:
    """Return by how many words each boundary is moved, (n_turns - 1,), as `_boundaries` does it."""
    change, first = np.zeros(len(ends) - 1, dtype=np.int64), 0
    for at, end in enumerate(ends[:-1].tolist()):
        best, score = likeliest(gaps, end, first + 1, int(ends[at + 1]) - 1)
        if first < end and best != end and score >= limit.least:
            change[at] = best - end
        first = end + int(change[at])
    return change


def _exchanged(talk: Talk, own: Scored, model: SpeakerModel) -> Iterator[tuple[str, int, float]]:
    n = len(talk.roles)
    if n < 2 * FEWEST:
        return
    rng = np.random.default_rng(n)
    yield "exchanged labels: proposed in an untouched session", 1, float(bool(_stretches(own.voice, talk.roles, model)))
    whole = _stretches(own.voice, 1 - talk.roles, model)
    yield "exchanged labels: whole session found", 1, float(_covers(whole, 0, n))
    for _ in range(3):
        length = int(rng.integers(FEWEST, min(20, n - 1) + 1))
        begin = int(rng.integers(0, n - length + 1))
        roles = talk.roles.copy()
        roles[begin : begin + length] = 1 - roles[begin : begin + length]
        some = _stretches(own.voice, roles, model)
        yield "exchanged labels: stretch found", 1, float(_covers(some, begin, begin + length))


def _stretches(voice: Floats, is_therapist: Ints, model: SpeakerModel) -> list[tuple[int, int]]:
    return [(one.begin, one.end) for one in exchanged(voice, _roles(is_therapist), model.exchanged)]


def _covers(some: Iterable[tuple[int, int]], begin: int, end: int) -> bool:
    """Tell whether a stretch covers half of this one at least, and is covered by half by it."""
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
    said, read = utterances(every), vectors(every, options.cache)
    wrong = evident(every, said)
    for scheme in ("recording", "corpus"):
        found = left_out(every, said, read, scheme, wrong)
        print(*tables(judged(every, found, load_speaker_model(), wrong), scheme), sep="\n", end="\n\n")


if __name__ == "__main__":
    main()
