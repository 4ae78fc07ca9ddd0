"""Features of turns: what types share, and how counts are damped."""

from __future__ import annotations

import numpy as np

from therapy_analytics.codes import features
from therapy_analytics.text.segments import turns_from_texts
from therapy_analytics.text.tokens import tokenize


def test_the_features_of_types_are_computed_once_for_a_batch() -> None:
    turns = turns_from_texts(["Why did you go?", "I went home."])
    own, others = (features.featurize(turns.between(*part), [0, 1]) for part in ((0, 1), (1, 2)))
    assert own.types is others.types
    assert own.types.shape[0] == len(turns.tokens.norm)


def test_words_are_counted_damped_and_divided_by_the_length_of_their_turn() -> None:
    turns = turns_from_texts(["why why why home", "home"])
    words = features.featurize(turns, [0, 2]).words.toarray()
    often = 1 + np.log(3)
    length = np.sqrt(1 + often**2) ** features.DAMPING
    assert np.allclose(words, [[1 / length, often / length], [1, 0]])


def test_the_grams_cover_words_alone() -> None:
    tokens = tokenize(["so, what now?", "!", "yes"])
    turn_of = np.repeat(np.arange(3), np.diff(tokens.offsets))
    rows, buckets = features.grams_of(features.types_of(tokens), tokens.ids, turn_of)
    # First and last words, two pairs, the first pair, a triple, which is the first, too
    assert rows.tolist() == [0, 2, 0, 2, 0, 0, 0, 0, 0]
    assert buckets.min() >= 0
    assert buckets.max() < features.N_BUCKETS
