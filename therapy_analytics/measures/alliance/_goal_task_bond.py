"""The contrast between statements of goals, tasks and bond, and statements of other things.

The statements, distractors and words stand in ``goal_task_bond.toml``. A linear contrast is fitted to them when it is
first asked for: nearness to single statements is noisy, and all texts of one form are near one another; a regularised
contrast keeps of the vectors what tells the statements from distractors of their form, and knows its own error on
statements left out.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.errors import BadDataFileError
from therapy_analytics.language.embeddings import load_embeddings
from therapy_analytics.language.meanings import STEPS, Meanings
from therapy_analytics.language.tokens import Tokens, tokenize
from therapy_analytics.measures.null.shuffles import Ints
from therapy_analytics.measures.null.summary import Bools, Floats

CONSTRUCTS = ("goal", "task", "bond")
KINDS, RULES = ("cues", "first", "second", "deniable"), ("deniers", "beside", "asking")
"""Lists of words in the data: of each construct, and of all."""
DATA = Path(__file__).with_name("goal_task_bond.toml")
FALSE_ALARMS = 0.05
"""Share of distractors that may be taken for statements; it sets the threshold."""
RIDGE, CUE, MOST_CUES = 3.0, 0.3, 2
"""Weight of the penalty, length of a cue word beside a vector of length one, and how many of them count. The largest
penalty within .01 of the best mean AUC by leave-one-out over 1 to 30 and 0 to .5."""
LENGTHS = ((2, 7), (4, 11), (8, 13))
"""Distractors in one long turn, and how far apart they stand in the data."""
CUE_SPAN = 12
"""Words among which a cue word counts as one; in longer turns it counts for less."""


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Words that count for something.

    Attributes
    ----------
    keys : uint64 array (n_words,)
        Their keys as in `Tokens`, ascending.
    marks : bool array (n_words, n_marks)
        What each is: for each of `KINDS` a cell a construct, then one for each of `RULES`.
    """

    keys: NDArray[np.uint64]
    marks: Bools

    def found(self, tokens: Tokens, ids: NDArray[np.int32]) -> dict[str, Bools]:
        """Return what each token is, by kind (n_tokens, 3) and by rule (n_tokens,)."""
        at = np.minimum(np.searchsorted(self.keys, tokens.keys), len(self.keys) - 1)
        cells = (self.marks[at] & (self.keys[at] == tokens.keys)[:, None])[ids]
        n = len(CONSTRUCTS)
        kinds = {kind: cells[:, n * i : n * (i + 1)] for i, kind in enumerate(KINDS)}
        return kinds | {rule: cells[:, n * len(KINDS) + i] for i, rule in enumerate(RULES)}


@dataclass(frozen=True, slots=True, eq=False)
class Contrast:
    """What tells the statements of the constructs from their distractors.

    Attributes
    ----------
    weights : float64 array (n_dimensions, 3)
        Of the vectors of meaning; whole numbers of `STEPS`, so that sums do not depend on their order.
    cue_weights, offsets : float64 array (3,)
        Of a cue word, and what is added: 0 is the threshold, in standard deviations of the distractors.
    words : Words
        Cues and words of denial.
    reach : int
        How many tokens before a deniable word a denier may stand.
    left_out : float64 array (n_statements, 3)
        The score of each statement and distractor of the data where it was left out; denials are at most 0.
    labels : int64 array (n_statements,)
        The construct of each statement, a position in `CONSTRUCTS`; -1 for distractors.
    """

    weights: Floats
    cue_weights: Floats
    offsets: Floats
    words: Words = field(repr=False)
    reach: int
    left_out: Floats = field(repr=False)
    labels: Ints = field(repr=False)


@functools.cache
def load_contrast() -> Contrast:
    """Fit the contrast to the data of the package (once; about a third of a second).

    Raises
    ------
    BadDataFileError
        The data file is missing or broken.
    """
    data = _data(DATA)
    single, of = _statements(data)
    texts, labels = _lengthened(single, of)
    words = _words(data)
    tokens = tokenize(texts)
    cues, denied = counted(tokens, tokens.offsets, words, reach=int(data["reach"]))
    vectors = Meanings.units(load_embeddings().embed(texts).astype(np.float64)).vectors / STEPS
    fits = [_fit(np.column_stack([vectors, CUE * cues[:, i]]), labels == i) for i in range(len(CONSTRUCTS))]
    weights, left_out = (np.stack(each, axis=1) for each in zip(*fits, strict=True))
    n = len(single)  # long distractors hold single ones, so that none of them is truly left out
    offsets, scale = _scaled(left_out[:n], denied[:n], of)
    return Contrast(
        # In whole steps, so that what differs in the last bits between machines is gone
        weights=np.rint(weights[:-2] / scale * STEPS),
        cue_weights=np.rint(CUE * weights[-2] / scale * STEPS) / STEPS,
        offsets=np.rint((weights[-1] - offsets) / scale * STEPS) / STEPS,
        words=words,
        reach=int(data["reach"]),
        left_out=barred((left_out[:n] - offsets) / scale, denied[:n]),
        labels=of,
    )


def _data(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        problem = f"the statements cannot be read ({type(error).__name__})"
        raise BadDataFileError(str(path), problem, "Install the package again") from None


def _statements(data: Mapping[str, Any]) -> tuple[list[str], Ints]:
    """Return all texts, and of each the construct that it states, -1 for distractors."""
    tables = [data["constructs"][name] for name in CONSTRUCTS]
    groups = [(one["statements"], i) for i, one in enumerate(tables)]
    groups += [(one["distractors"], -1) for one in (*tables, data["other"])]
    texts = [text for group, _ in groups for text in group]
    return texts, np.concatenate([np.full(len(group), i, dtype=np.int64) for group, i in groups])


def _lengthened(texts: Sequence[str], labels: Ints) -> tuple[list[str], Ints]:
    """Return texts and labels with turns of several distractors added: length alone must not be a sign of anything."""
    others = np.flatnonzero(labels < 0)
    longer = [
        " ".join(texts[others[(begin + step * part) % len(others)]] for part in range(several))
        for several, step in LENGTHS
        for begin in range(0, len(others), 2)
    ]
    return [*texts, *longer], np.append(labels, np.full(len(longer), -1))


def _words(data: Mapping[str, Any]) -> Words:
    tables = [data["constructs"][name] for name in CONSTRUCTS]
    lists = [_keys(one[kind]) for kind in KINDS for one in tables] + [_keys(data[kind]) for kind in RULES]
    keys = np.unique(np.concatenate(lists))
    return Words(keys, np.stack([np.isin(keys, one) for one in lists], axis=1))


def _keys(words: Sequence[str]) -> NDArray[np.uint64]:
    """Return the keys of words that are one token each."""
    # After a letter, so that n't is cut off as it is in a text, and a word alone stays whole
    tokens = tokenize([("do" if word in {"n't", "nt"} else "x ") + word for word in words])
    return np.unique(tokens.keys[tokens.ids[tokens.offsets[1:] - 1]])


def _fit(features: Floats, own: Bools) -> tuple[Floats, Floats]:
    """Return the weights (intercept last) of a ridge regression on +1 and -1, and what each row gets if left out.

    Both sides weigh the same, however many they are. Leaving out is exact: the residual over one less the leverage.
    """
    features = np.column_stack([features, np.ones(len(features))])
    targets = np.where(own, 1.0, -1.0)
    share = np.where(own, np.count_nonzero(own), np.count_nonzero(~own))
    weighted = features.T * (len(own) / (2.0 * share))
    penalty = np.diag(np.append(np.full(features.shape[1] - 1, RIDGE), 1e-9))
    solver: Floats = np.asarray(np.linalg.solve(weighted @ features + penalty, weighted), dtype=np.float64)
    weights: Floats = solver @ targets
    leverage = np.einsum("ij,ji->i", features, solver)
    left_out: Floats = targets - (targets - features @ weights) / (1.0 - leverage)
    return weights, left_out


def _scaled(left_out: Floats, denied: Bools, labels: Ints) -> tuple[Floats, Floats]:
    """Return the threshold and the standard deviation of the distractors of each construct."""
    taken = np.where(denied, left_out.min(axis=0), left_out)  # a denial is never taken for a statement
    others = [left_out[labels != i, i] for i in range(len(CONSTRUCTS))]
    threshold = [np.quantile(taken[labels != i, i], 1 - FALSE_ALARMS) for i in range(len(CONSTRUCTS))]
    return np.array(threshold), np.array([one.std() for one in others])


def barred(scores: Floats, denied: Bools) -> Floats:
    """Return the scores, at most 0 where the construct is denied."""
    return np.where(denied, np.minimum(scores, 0.0), scores)


def counted(tokens: Tokens, offsets: Ints, words: Words, *, reach: int) -> tuple[Floats, Bools]:
    """Return how many cue words each turn has, and whether it denies a construct.

    Parameters
    ----------
    tokens : Tokens
        Of a batch.
    offsets : int64 array (n_turns + 1,)
        Where the turns begin and end in it.
    words : Words
        What counts.
    reach : int
        How many tokens before a deniable word a denier may stand, in the same sentence.

    Returns
    -------
    cues : float64 array (n_turns, 3)
        At most `MOST_CUES`; each counts for less in turns of more than `CUE_SPAN` words.
    denied : bool array (n_turns, 3)
        Whether one of the construct's words is denied.
    """
    here = slice(offsets[0], offsets[-1])
    marks = words.found(tokens, tokens.ids[here])
    turn_of = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    ends = tokens.sentence_end[here]
    sentence = turn_of + np.cumsum(ends) - ends  # grows at each new turn and after each end
    hits = _denials(marks, sentence, reach)
    found = marks["cues"].copy()
    found[1:] |= marks["first"][:-1] & marks["second"][1:] & (sentence[1:] == sentence[:-1])[:, None]
    n_words = _sums(tokens.word_start[here, None], offsets)
    cues = _sums(found, offsets) * CUE_SPAN / np.maximum(n_words, CUE_SPAN)
    return np.minimum(cues, MOST_CUES), _sums(hits, offsets) > 0


def _denials(marks: Mapping[str, Bools], sentence: Ints, reach: int) -> Bools:
    """Return which tokens are deniable words that are denied, (n_tokens, 3)."""
    asked = np.zeros(len(sentence), dtype=np.bool_)
    for step in (1, 2):
        asked[step:] |= marks["asking"][:-step] & (sentence[step:] == sentence[:-step])
    before = np.zeros(len(sentence), dtype=np.bool_)
    for step in range(1, reach + 1):
        deniers = marks["deniers"][:-step] & ~asked[:-step]
        deniers = deniers | marks["beside"][:-step] if step == 1 else deniers
        before[step:] |= deniers & (sentence[step:] == sentence[:-step])
    return marks["deniable"] & before[:, None]


def _sums(marks: Bools, offsets: Ints) -> Ints:
    total = np.zeros((len(marks) + 1, marks.shape[1]), dtype=np.int64)
    np.cumsum(marks, axis=0, out=total[1:])
    at = offsets - offsets[0]
    return np.asarray(total[at[1:]] - total[at[:-1]])
