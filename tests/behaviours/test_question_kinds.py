"""The model of question kinds: its folder, its probabilities, and questions in our own words."""

from __future__ import annotations

import json

import numpy as np
import pytest

from therapy_analytics.behaviours.question_kinds import KINDS, WEIGHTS, load_question_kinds

# Written for this test, not for training
EXAMPLES = {
    "clarity": ["What do you mean by letting go?", "What is the difference between alone and lonely for you?"],
    "assumptions": ["Why do you assume that nobody cares?", "Are you assuming that it must fail?"],
    "evidence": ["Why do you think he wants to leave?", "What makes you believe that you are lazy?"],
    "viewpoints": ["How would your brother look at it?", "What else could be the reason that she was late?"],
    "implications": ["What would happen if you told him?", "What if it does not get better?"],
    "other": ["How old is your son?", "How are you doing today?"],
}


@pytest.mark.parametrize("kind", KINDS)
def test_questions_in_plain_words(kind: str) -> None:
    p = load_question_kinds().of_texts(EXAMPLES[kind])
    assert [KINDS[k] for k in p.argmax(axis=1)] == [kind, kind]


def test_punctuation_hardly_counts() -> None:
    texts = [text for some in EXAMPLES.values() for text in some]
    plain = [text.lower().strip("?") for text in texts]
    model = load_question_kinds()
    same = model.of_texts(texts).argmax(axis=1) == model.of_texts(plain).argmax(axis=1)
    assert same.mean() >= 0.9


def test_probabilities_add_up_and_do_not_depend_on_neighbours() -> None:
    model = load_question_kinds()
    p = model.of_texts(["Why?", "", "What do you mean by that?"])
    np.testing.assert_allclose(p[[0, 2]].sum(axis=1), 1.0)
    assert np.isnan(p[1]).all()
    np.testing.assert_array_equal(p[2:], model.of_texts(["What do you mean by that?"]))


def test_the_folder_says_what_the_model_is_worth() -> None:
    figures = json.loads((WEIGHTS / "model.json").read_text(encoding="utf-8"))["cross_validated"]["five_kinds"]
    assert figures["macro_f1_clean"] > 0.75  # neither thought nor question on both sides
    assert (WEIGHTS / "NOTICE.md").read_text(encoding="utf-8").startswith("# The model of question kinds")
