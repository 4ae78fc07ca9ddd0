"""Sessions for the models of speakers, in both manners of writing, and what these models read of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks._corpora import sessions_of
from therapy_analytics.codes.features import featurize
from therapy_analytics.codes.text_model import GRAM_WEIGHT, mean_vectors
from therapy_analytics.speakers.boundaries import is_written
from therapy_analytics.speakers.models import gap_vectors
from therapy_analytics.text.segments import turns_from_texts

Ints = NDArray[np.int64]
LEARNT = {"annomi": 1.0, "hlqc": 1.0, "mibot": 0.7, "vera_mh": 0.4, "spiral_bench": 0.3}
"""The corpora that are learnt from, and how much a turn of each counts."""
UNSEEN = "kokoro"
MOST_SESSIONS = {"mibot": 90, "vera_mh": 14, "spiral_bench": 10, UNSEEN: 40}
"""Of other corpora, all."""
LONGEST_TURN = 120
"""Turns of language models are cut here, in words: the longest would count too much."""
MANNERS = ("written", "recognised")
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
    spoken: list[list[str]]

    @property
    def ends(self) -> Ints:
        """How many words stand before the end of each turn, (n_turns,)."""
        return np.cumsum([len(one) for one in self.spoken])

    @property
    def words(self) -> list[str]:
        """All words, in order."""
        return [word for one in self.spoken for word in one]

    @property
    def boundaries(self) -> Ints:
        """Turns at whose end the speaker changes, without those next to a turn that `LONGEST_TURN` cuts off."""
        cut_off = np.array([len(one) == LONGEST_TURN for one in self.spoken])
        return np.flatnonzero((self.roles[:-1] != self.roles[1:]) & ~cut_off[:-1] & ~cut_off[1:])


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
            spoken = [(plain(turn.text) if manner == "recognised" else turn.text).split() for turn in turns]
            spoken = [one[:LONGEST_TURN] for one in spoken]
            kept = [at for at, one in enumerate(spoken) if one]
            roles = np.array([turns[at].role == "therapist" for at in kept], dtype=np.int64)
            talk = Talk(name, f"{name} {group}", session.id, manner, roles, [spoken[at] for at in kept])
            if len(kept) > 3 and (manner == "recognised" or is_written(talk.words)):
                yield talk


def vectors(every: Sequence[Talk], cache: Path | None) -> list[NDArray[np.float16]]:
    """Return what the encoder reads around each gap of each session, (n_words - 1, 2 * WIDTH), and keep it."""
    found = []
    for talk in every:
        path = cache and cache / f"{talk.corpus}-{talk.session}-{talk.manner}.npy"
        if path is not None and path.exists():
            found.append(np.load(path, allow_pickle=False))
            continue
        found.append(gap_vectors(talk.words).astype(np.float16))
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, found[-1])
    return found


@dataclass(frozen=True, eq=False)
class Utterances:
    """Utterances of all sessions: whole turns, and parts of turns.

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
    """Return the turns of all sessions, and behind those of each session the parts that its turns are cut into."""
    rng = np.random.default_rng(1)
    rows: list[tuple[int, int, int, int, bool]] = []
    texts: list[str] = []
    for at, talk in enumerate(every):
        begins = talk.ends - [len(one) for one in talk.spoken]
        whole = [(0, len(one)) for one in talk.spoken]
        for is_cut in (False, True):
            for turn, (words, role, first) in enumerate(zip(talk.spoken, talk.roles, begins, strict=True)):
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
        rate = (0.75 if ends else 0.02) if manner == "written" else 0.09 * (at - begin >= 3)
        if rng.random() < rate:
            yield begin, at
            begin = at
    yield begin, len(words)


def table_of(texts: Sequence[str]) -> Any:
    """Return what the model of voices reads of texts, (n_texts, n_features), as a sparse table."""
    parts = []
    for start in range(0, len(texts), 10_000):
        turns = turns_from_texts(texts[start : start + 10_000])
        features = featurize(turns, np.arange(len(turns) + 1))
        buckets = features.words @ features.types + GRAM_WEIGHT * features.grams
        part = sparse.hstack([buckets, features.hand, sparse.csr_array(mean_vectors(turns))], format="csr")
        parts.append(part.astype(np.float32))
    table = sparse.vstack(parts, format="csr")
    return sparse.csr_matrix(
        (table.data, table.indices.astype(np.int32), table.indptr.astype(np.int32)), shape=table.shape
    )
