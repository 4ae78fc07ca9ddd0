"""Features of turns: what types share, and how counts are damped."""

from __future__ import annotations

import numpy as np

from therapy_analytics.behaviours import features
from therapy_analytics.language.segments import turns_from_texts


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
