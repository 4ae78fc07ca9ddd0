"""How well questions are put: cases that a reader can count, and contrasts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.undefined import without_totals
from therapy_analytics import read
from therapy_analytics.behaviours import load_tagger, with_codes
from therapy_analytics.language import annotate, builtin_lexicons
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.measures.process import _question_links
from therapy_analytics.measures.process._question_links import links, links_to
from therapy_analytics.measures.process.question_quality import question_quality


def _one(make, text: str) -> dict[str, object]:  # type: ignore[no-untyped-def]
    return dict(question_quality(make([("T", text)], {"mi_question": [1]})))


def test_clarity_by_hand(make) -> None:  # type: ignore[no-untyped-def]
    assert _one(make, "How did you sleep?")["question_clarity"] == 1
    # 28 words: 16 of the 28 from 12 to 40; if, because, that: 1/4 left; um, like: 1/3 left; no double negation
    text = (
        "Um would you like go there if he asked you because she said that it was late and cold and dark and wet and "
        "far from your home?"
    )
    assert _one(make, text)["question_clarity"] == pytest.approx((1 - 16 / 28 + 1 / 4 + 1 / 3 + 1) / 4)
    assert _one(make, "Is it not true that you never go?")["question_clarity"] < 0.75


def test_focus_counts_what_is_asked(make) -> None:  # type: ignore[no-untyped-def]
    assert _one(make, "How did you sleep?")["question_focus"] == 1
    assert _one(make, "How did you sleep last night? What did you eat today?")["question_focus"] == 1 / 2
    assert _one(make, "How did you sleep and what did you eat?")["question_focus"] == 1 / 2
    assert _one(make, "How did you sleep and what did you eat?")["question_answerability"] == 0


def test_specific_and_vague(make) -> None:  # type: ignore[no-untyped-def]
    sharp = _one(make, "What did your sister shout on Monday evening?")["question_specificity"]
    vague = _one(make, "How is everything with the whole situation and things?")["question_specificity"]
    assert sharp > vague + 0.2  # type: ignore[operator]


def test_relevance_is_over_the_clients_other_turns(make) -> None:  # type: ignore[no-untyped-def]
    said = [
        ("C", "My dog died of cancer in March."),
        ("T", "What was the dog like before the cancer?"),
        ("C", "We never pay the rent on time."),
        ("T", "What was the dog like before the cancer?"),
        ("C", "The train was late again."),
    ]
    near = question_quality(make(said, {"mi_question": [0, 1, 0, 1, 0]}))["question_relevance_turn"]
    assert near[1] > 0.2
    assert near[3] < 0  # type: ignore[index]


def test_long_sessions_are_looked_at_some_questions_at_a_time(make, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    words = ["dog", "rent", "train", "sister", "sleep"]
    said = [
        turn
        for i in range(12)
        for turn in (("C", f"My {words[i % 5]} and the {words[i % 3]}."), ("T", f"How is the {words[i % 5]} going?"))
    ]
    session = make(said, {"mi_question": [0, 1] * 12})
    whole = links(session)
    monkeypatch.setattr(_question_links, "_MOST_CELLS", 25)  # two questions at a time
    parted = links_to(session)
    for name in ("asked", "answered", "words", "words_excess", "meaning_excess"):
        np.testing.assert_array_equal(getattr(parted, name), getattr(whole, name))
    assert len(whole.asked) == whole.n_client == 12
    assert (whole.words_excess[0] > 0).any()


def test_undefined_without_questions(make) -> None:  # type: ignore[no-untyped-def]
    for said in ([], [("C", "Hello there."), ("T", "..."), ("C", "Bye.")]):
        for name, value in without_totals(question_quality(make(said))).items():
            assert np.isnan(np.asarray(value, dtype=float)).all(), name


def test_questions_go_with_the_turn_before_them(corpora: Path) -> None:
    batch = annotate(read(corpora / "annomi")[:50], Matcher(builtin_lexicons()))
    codes = load_tagger().predict(batch)
    rng, own, by_chance = np.random.default_rng(0), [], []
    for i, one in enumerate(batch):
        session = with_codes(one, codes, int(batch.starts[i]), ("therapist", "client"))
        found = links(session)
        if min(len(found.asked), found.n_client) >= 5:
            elsewhere = links_to(session, rng.permutation(found.n_client)[found.answered])
            own.append(np.nanmean(found.meaning_excess[0]))
            by_chance.append(np.nanmean(elsewhere.meaning_excess[0]))
    assert np.mean(own) > np.mean(by_chance) + 0.02
    assert np.mean(np.greater(own, by_chance)) >= 0.6
