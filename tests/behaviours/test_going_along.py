"""The model of going along: sentences, probabilities, batches, and what it is worth on the other language model."""

from __future__ import annotations

import json

import numpy as np

from therapy_analytics.behaviours.going_along import KINDS, PRAISES, WEIGHTS, load_going_along
from therapy_analytics.language.segments import turns_from_texts

TEXTS = [
    "What a brilliant and profound insight! You are onto something huge. Where was it?",
    "Where was that?",
    "Mm-hmm.",
    "",
    "...",
    "i wonder what you would like to do with the time that we have left today and who could help you with it",
]


def test_praise_is_told_from_questions_and_murmurs() -> None:
    praised, asked, murmur = load_going_along().of_texts(TEXTS[:3])[:, 0]
    assert praised > PRAISES > 0.1 > max(asked, murmur)


def test_turns_without_words_are_undefined_and_others_lie_between_0_and_1() -> None:
    found = load_going_along().predict(turns_from_texts(TEXTS))
    silent = np.array([text in {"", "..."} for text in TEXTS])
    assert np.isnan(found.turns[silent]).all()
    assert ((found.turns[~silent] > 0) & (found.turns[~silent] < 1)).all()
    assert (found.praises[silent] == 0).all()
    assert load_going_along().of_texts([]).shape == (0, len(KINDS))


def test_a_turn_has_the_probability_of_its_likeliest_sentence() -> None:
    model = load_going_along()
    one, other = "That is such a brilliant observation!", "The bus leaves at nine today."
    a, b = model.of_texts([one, other])
    both = model.predict(turns_from_texts([f"{one} {other}"]))
    assert np.array_equal(both.turns[0], np.maximum(a, b))
    assert both.praises[0] == 1


def test_no_bit_depends_on_the_other_texts() -> None:
    model = load_going_along()
    together = model.predict(turns_from_texts(TEXTS))
    for i, text in enumerate(TEXTS):
        alone = model.predict(turns_from_texts([text]))
        assert alone.turns[0].tobytes() == together.turns[i].tobytes()
        assert alone.praises[0] == together.praises[i]


def test_the_weights_are_small_and_say_what_they_are_worth() -> None:
    assert sum(path.stat().st_size for path in WEIGHTS.iterdir()) < 1_000_000
    figures = json.loads((WEIGHTS / "model.json").read_text(encoding="utf-8"))["cross_validated"]
    for name, least in zip(KINDS, (0.83, 0.70, 0.70), strict=True):
        aucs = [value for what, value in figures[name].items() if what.startswith("auc")]
        assert len(aucs) == 2
        assert min(aucs) > least
    assert "MIT" in (WEIGHTS / "NOTICE.md").read_text(encoding="utf-8")
