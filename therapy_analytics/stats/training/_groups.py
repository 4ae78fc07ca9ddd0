"""Groups of sessions that cross-validation keeps in one fold.

A session whose copy is in the training set is not unseen. Sessions with much the same text are therefore kept in one
fold, and so are sessions that share a client or a recording.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from therapy_analytics.core.clusters import Ints
from therapy_analytics.core.printable import counted
from therapy_analytics.core.session import Session

SHARED = ("client", "source_group", "recording")
"""Columns about the sessions whose values are always kept together."""
GROUP = "group of sessions"
"""What groups are called that are not the values of one column."""
N_WORDS = 5
"""Length of the word sequences (shingles) by which texts are compared."""
SHARE = 0.15
"""Two sessions are near-copies if they share this part of the shorter one's word sequences.

A copy in which one word in four was changed, wherever, has .75 ** 5 = .24. Of 32,000 pairs of different sessions of
AnnoMI, HLQC and MIBot none has more than .11.
"""
FEWEST_SHARED = 10
"""Word sequences that must be the same: a greeting is not a copy."""
_BLOCK = 500
"""Sessions that are compared with all others at a time."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups of sessions.

    Attributes
    ----------
    index : int64 array (n_sessions,)
        The group of each session, from 0 in the order of the first of their sessions' ids.
    name : str
        What a group is: ``session``, the column that the user named, or `GROUP`.
    note : str
        How many sessions were kept together and why, in a sentence; empty where each stands alone.
    """

    index: Ints
    name: str
    note: str

    @property
    def names(self) -> str:
        """The plural of `name`."""
        return {"session": "sessions", GROUP: "groups of sessions"}.get(self.name, f"values of {self.name}")


def groups_of(sessions: Sequence[Session], column: str | None) -> Groups:
    """Group near-copies and sessions with the same value of a column (of `SHARED`, and the one that the user named).

    Groups are the connected components: a copy of one session may share its client with a third.
    """
    pairs = {name: _same(sessions, name) for name in (*((column,) if column else ()), *SHARED)}
    pairs[""] = near_copies([" ".join(turn.text for turn in one.turns) for one in sessions])
    pairs = {name: found for name, found in pairs.items() if len(found)}
    ids = [session.id for session in sessions]
    index = _components(ids, list(pairs.values()))
    asked = _components(ids, [pairs[column]] if column in pairs else [])
    # The groups that were asked for are never divided, so that an equal number of groups means equal groups.
    name = (column or "session") if index.max(initial=-1) == asked.max(initial=-1) else GROUP
    sizes = np.bincount(index)
    together = int(sizes[sizes > 1].sum())
    if not together:
        return Groups(index, name, "")
    n = {name: len(np.unique(found)) for name, found in pairs.items()}
    why = [f"{n[name]:,} share a {name} with another" for name in n if name]
    if "" in n:
        why.append(f"{n['']:,} hold much the same text as another (copies, whole or in part)")
    groups = counted(int((sizes > 1).sum()), "group")
    note = f"{together:,} of {len(index):,} sessions were kept together with others, in {groups}"
    return Groups(index, name, f"{note}, so that none is tried on what was learnt from another: {'; '.join(why)}.")


def near_copies(texts: Sequence[str]) -> Ints:
    """Return the pairs of texts that are copies of each other, or of parts of each other.

    As indices, int64 array (n_pairs, 2), the smaller first. Case and punctuation do not count. Two texts are
    near-copies if at least `FEWEST_SHARED` different sequences of `N_WORDS` words stand in both, and these are at least
    `SHARE` of those in the shorter text (the containment of Broder, counted in full instead of estimated); or if both
    consist of the same sequences, however few.

    References
    ----------
    Broder, A. Z. (1997). On the resemblance and containment of documents. Proceedings of Compression and Complexity of
    Sequences 1997, 21-29.
    """
    from sklearn.feature_extraction.text import CountVectorizer  # noqa: PLC0415 (a run must not load it)

    counter = CountVectorizer(
        preprocessor=lambda text: text.casefold().replace("'", "").replace("\N{RIGHT SINGLE QUOTATION MARK}", ""),
        token_pattern=r"[^\W_]+",  # noqa: S106
        ngram_range=(N_WORDS, N_WORDS),
        binary=True,
        dtype=np.int64,
    )
    found = [np.zeros((0, 2), dtype=np.int64)]
    try:
        holds = sparse.csr_array(counter.fit_transform(texts))
    except ValueError:  # no text has so many words
        return found[0]
    size = holds.sum(axis=1)
    for start in range(0, len(texts), _BLOCK):
        shared = (holds[start : start + _BLOCK] @ holds.T).tocoo()
        one, other, n = shared.row + start, shared.col, shared.data
        smaller, larger = np.minimum(size[one], size[other]), np.maximum(size[one], size[other])
        near = (one < other) & ((n >= np.maximum(SHARE * smaller, FEWEST_SHARED)) | (n == larger))
        found.append(np.stack([one[near], other[near]], axis=1).astype(np.int64))
    return np.concatenate(found)


def _same(sessions: Sequence[Session], column: str) -> Ints:
    """Return pairs that link all sessions of one value of a column: each with the first that has it."""
    first: dict[str, int] = {}
    pairs = []
    for at, session in enumerate(sessions):
        value = session.metadata.get(column, "")
        if value and first.setdefault(value, at) != at:
            pairs.append((first[value], at))
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _components(ids: Sequence[str], pairs: Sequence[Ints]) -> Ints:
    """Return the connected component of each session (n_sessions,), numbered by the first of their ids."""
    links = np.concatenate([np.zeros((0, 2), dtype=np.int64), *pairs])
    graph = sparse.csr_array((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(len(ids), len(ids)))
    found = connected_components(graph, directed=False)[1].tolist()
    first: dict[int, str] = {}
    for group, name in zip(found, ids, strict=True):
        first[group] = min(name, first.get(group, name))
    return np.unique([first[group] for group in found], return_inverse=True)[1].astype(np.int64)
