"""Socratic questions, chains, leading and stacked questions, pushing and easing off: counted by hand, and shuffled."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.undefined import without_totals
from therapy_analytics import read
from therapy_analytics.behaviours import load_tagger, with_codes
from therapy_analytics.behaviours.question_kinds import KINDS
from therapy_analytics.language import AnnotatedSession, annotate, builtin_lexicons
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.measures.process._question_links import links, links_to, runs, takes_up
from therapy_analytics.measures.process._questions import questions
from therapy_analytics.measures.process.push_or_ease import push_or_ease
from therapy_analytics.measures.process.socratic_questions import socratic_questions

CHAIN = [
    ("C", "My garden has become a jungle since the accident."),  # 0
    ("T", "What would it mean to you if the garden stayed a jungle?"),  # 1: garden, jungle
    ("C", "It would mean that my grandmother's roses die."),  # 2
    ("T", "What do the roses of your grandmother tell you?"),  # 3: roses, grandmother
    ("C", "She always said that patience matters, even with money."),  # 4
    ("T", "Mm."),  # 5: passed over
    ("C", "And the neighbours complain about the fence."),  # 6
    ("T", "How old are you?"),  # 7: nothing
    ("C", "Fifty in the spring."),  # 8
]
ASKS = {"mi_question": [0, 1, 0, 1, 0, 0, 0, 1, 0]}


def test_chains_that_a_reader_can_count(make) -> None:  # type: ignore[no-untyped-def]
    values = socratic_questions(make(CHAIN, ASKS))
    assert values["n_therapist_questions"] == 3
    assert values["n_question_chain"] == 2  # turns 1 and 3
    assert values["question_chain_rate"] == pytest.approx(2 / 3)
    assert values["question_longest_chain"] == 2
    assert values["question_uptake_turn"][1] > 0.3 > values["question_uptake_turn"][7]


def test_another_order_of_the_clients_turns_breaks_the_chain(make) -> None:  # type: ignore[no-untyped-def]
    said = [text for who, text in CHAIN if who == "C"]
    moved = iter([said[3], said[4], said[0], said[1], said[2]])
    other = [(who, next(moved) if who == "C" else text) for who, text in CHAIN]
    values = socratic_questions(make(other, ASKS))
    assert values["n_question_chain"] == 0
    assert values["question_uptake"] < socratic_questions(make(CHAIN, ASKS))["question_uptake"]


def test_kinds_stacks_and_leading_questions(make) -> None:  # type: ignore[no-untyped-def]
    said = [
        ("T", "How old is your son?"),  # other
        ("C", "He is nine."),
        ("T", "Why do you think he lies to you? What would happen if you told him?"),  # two, Socratic
        ("C", "No idea."),
        ("T", "Don't you think you should talk to him?"),  # leads
        ("C", "Perhaps."),
        ("T", "You talked to him."),  # no question
    ]
    values = socratic_questions(make(said, {"mi_question": [1, 0, 1, 0, 1, 0, 0]}))
    assert values["n_therapist_questions"] == 4
    np.testing.assert_equal(values["question_count_turn"], [1, np.nan, 2, np.nan, 1, np.nan, np.nan])
    assert (values["n_stacked_question"], values["n_leading_question"]) == (1, 1)
    assert values["leading_question_rate"] == pytest.approx(1 / 3)
    assert values["question_socratic_turn"][2] > 0.5 > values["question_socratic_turn"][0]
    assert KINDS[int(values["question_kind_turn"][0]) - 1] == "other"


@pytest.mark.parametrize(
    ("text", "leads"),
    [
        ("Wouldn't it be better to stop?", True),
        ("Why don't you just ask him?", True),
        ("Have you ever thought about joining a choir?", True),
        ("What do you think you should do?", False),  # sought
        ("Why don't you start by telling me about your week?", False),  # opens the session
        ("He said don't you think it is late?", False),  # reported
    ],
)
def test_leading_or_not(make, text: str, leads: bool) -> None:  # type: ignore[no-untyped-def]
    values = socratic_questions(make([("T", text)], {"mi_question": [1]}))
    assert values["leading_question_rate"] == float(leads)


def test_questions_without_marks_are_found_by_their_form(make) -> None:  # type: ignore[no-untyped-def]
    said = [("T", "okay so you sleep badly what do you do when you wake up how often are you awake at night")]
    own = questions(make(said, {"mi_question": [1]}))
    assert own.turns.n_words.tolist() == [8, 7]  # what do ... wake up; how often ... night
    assert own.is_open.tolist() == [True, False]


def test_pushes_and_easing_off(make) -> None:  # type: ignore[no-untyped-def]
    said = [
        ("C", "I will never stop."),  # 0 sustain
        ("T", "You need to understand that it kills you."),  # 1 push, by phrase
        ("C", "I don't know."),  # 2 hesitation
        ("T", "It is a lot to give up."),  # 3 ease, by code
        ("C", "I want to try it."),  # 4 change
        ("T", "Patches double the chance."),  # 5 push, by code
        ("C", "Smoking is all I have."),  # 6 sustain
    ]
    codes = {
        "mi_sustain": [1, 0, 0, 0, 0, 0, 1],
        "mi_change": [0, 0, 0, 0, 1, 0, 0],
        "mi_reflection": [0, 0, 0, 1, 0, 0, 0],
        "mi_input": [0, 0, 0, 0, 0, 1, 0],
    }
    values = push_or_ease(make(said, codes))
    np.testing.assert_equal(values["push_turn"], [np.nan, 1, np.nan, -1, np.nan, 1, np.nan])
    assert values["push_after_sustain_rate"] == 1 / 2  # 0 yes, 2 no, 6 has no answer
    assert values["ease_after_sustain_rate"] == 1 / 2
    assert values["push_after_change_rate"] == 1
    assert values["sustain_after_push_rate"] == 1  # 2 and 6
    assert values["sustain_after_ease_rate"] == 0


def test_undefined_without_questions(make) -> None:  # type: ignore[no-untyped-def]
    for said in ([], [("C", "Hello there."), ("T", "..."), ("C", "Bye.")]):
        values = socratic_questions(make(said)) | push_or_ease(make(said))
        for name, value in without_totals(values).items():
            if name != "n_therapist_questions":
                assert np.isnan(np.asarray(value, dtype=float)).all(), name


def _coded(path: Path, n: int) -> list[AnnotatedSession]:
    batch = annotate(read(path)[:n], Matcher(builtin_lexicons()))
    codes = load_tagger().predict(batch)
    return [with_codes(one, codes, int(batch.starts[i]), ("therapist", "client")) for i, one in enumerate(batch)]


def test_chains_and_uptake_drop_when_the_clients_turns_are_shuffled(corpora: Path) -> None:
    rng, own, by_chance = np.random.default_rng(0), [], []
    for session in _coded(corpora / "annomi", 60):
        found = links(session)
        if min(len(found.asked), found.n_client) < 5:
            continue
        elsewhere = links_to(session, rng.permutation(found.n_client)[found.answered])
        for one, kept in ((found, own), (elsewhere, by_chance)):
            chains = runs(session, one.asked[takes_up(one)]) >= 2
            kept.append((np.nanmean(one.words_excess[0]), chains.sum() / len(one.asked)))
    (uptake, chains), (uptake_by_chance, chains_by_chance) = np.mean(own, axis=0), np.mean(by_chance, axis=0)
    assert uptake > uptake_by_chance + 0.02  # .04 and .00 when this was written
    assert chains > 2 * chains_by_chance  # .10 and .03


def test_poor_sessions_push_more_against_resistance(corpora: Path) -> None:
    rates: dict[str, list[float]] = {"high": [], "low": []}
    for session in _coded(corpora / "annomi", 87):
        value = push_or_ease(session)["push_after_sustain_rate"]
        rates[session.session.metadata["mi_quality"]].append(float(value))
    assert np.nanmean(rates["low"]) > np.nanmean(rates["high"]) + 0.2  # .62 and .21, by out-of-fold codes
