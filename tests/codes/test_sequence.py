"""The sequence model: parts of turns, what its codes depend on, and explanations."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from talks import TALK, arrays, session

from therapy_analytics.codes import builtin_codebooks, load_accurate
from therapy_analytics.codes.codebook import parents
from therapy_analytics.codes.encoder import PART, WIDTH, framed, lower_vectors, parts_of, upper_vectors
from therapy_analytics.codes.sequence import REACH
from therapy_analytics.core.errors import BadDataFileError
from therapy_analytics.core.session import ROLES

LONG = "I am not sure that this is so. " * 40
DANGER = session(
    "How have you been since we met?",
    "I keep thinking of killing myself, and last night I had the pills in my hand.",
    "Thank you for telling me. Are you safe right now? Please call the crisis line with me.",
    "I do not know. I feel terrible and scared.",
    roles=("therapist", "client", "therapist", "client"),
)


def test_a_turn_is_cut_into_parts_of_whole_sentences() -> None:
    wordpiece = load_accurate().encoder.wordpiece
    sentence = wordpiece.ids("I am not sure that this is so.")
    parts = parts_of(LONG, wordpiece)
    assert [subword for part in parts for subword in part] == wordpiece.ids(LONG)
    assert {len(part) % len(sentence) for part in parts} == {0}
    assert max(map(len, parts)) <= PART
    assert parts_of("  ", wordpiece) == []
    assert len(parts_of("One. Two! Three?", wordpiece)) == 1


def test_a_sentence_that_is_too_long_is_cut_into_equal_parts() -> None:
    parts = parts_of("word " * 150, load_accurate().encoder.wordpiece)
    assert [len(part) for part in parts] == [50, 50, 50]


def test_the_vector_of_a_part_is_of_its_own_subwords_of_all_that_is_read_and_of_the_third_layer() -> None:
    encoder = load_accurate().encoder
    ids = framed("client", encoder.wordpiece.ids("It was hard, very hard."))
    below = lower_vectors(encoder.lower, [ids])
    own, every, third = upper_vectors(encoder.upper, below, [None]).reshape(3, WIDTH)
    np.testing.assert_allclose(third, below[0, 2:-1].mean(axis=0), atol=1e-5)
    assert np.abs(own - every).max() > 0.01
    read = encoder.read([session("It was hard, very hard.", roles=("client",))])
    np.testing.assert_array_equal(read.vectors, [np.concatenate([own, every, third])])


def test_no_bit_of_a_vector_depends_on_the_parts_beside_it() -> None:
    encoder = load_accurate().encoder
    texts = [f"I had {word} cups and was fine." for word in ("two", "ten", "six", "four", "five", "no", "nine", "few")]
    ids = [framed("client", encoder.wordpiece.ids(text)) for text in texts]
    assert len({len(one) for one in ids}) == 1
    below = lower_vectors(encoder.lower, ids)
    tails = [None if at % 3 == 0 else below[at - 1, 2 : 3 + at] for at in range(len(ids))]
    above = upper_vectors(encoder.upper, below, tails)
    for at, one in enumerate(ids):
        alone = lower_vectors(encoder.lower, [one])
        np.testing.assert_array_equal(below[at], alone[0])
        np.testing.assert_array_equal(above[at], upper_vectors(encoder.upper, alone, [tails[at]])[0])


def test_a_turn_is_read_with_the_turn_before_and_with_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = load_accurate().encoder
    turns = ["How was the week?", "Hard. " * 40, "", "So it was hard for you.", "Yes, it was."]
    read = encoder.read([session(*turns)])
    assert read.turn_of.tolist() == [0, 1, 1, 3, 4]
    for other, same in (("Who are you?", [3, 4]), ("How was the week?", [0, 1, 2, 3, 4])):
        again = encoder.read([session(other, *turns[1:])])
        for part in range(5):
            assert np.array_equal(again.vectors[part], read.vectors[part]) == (part in same)
    monkeypatch.setattr("therapy_analytics.codes.encoder.IN_MEMORY", 2)
    np.testing.assert_array_equal(encoder.read([session(*turns)]).vectors, read.vectors)


def test_danger_and_the_answer_to_it_are_found() -> None:
    codes = load_accurate().predict(arrays(DANGER))
    found = codes.by_name(codes.decision)
    assert found["process_risk_own"].tolist()[1]
    assert found["process_risk_help"].tolist()[2]
    assert found["process_feeling_negative"].tolist()[3]
    assert not found["process_risk_help"].tolist()[0]


def test_a_session_gets_the_same_codes_alone_and_among_others() -> None:
    tagger = load_accurate(all_codes=True)
    alone, among = tagger.predict(arrays(DANGER)), tagger.predict(arrays(TALK, DANGER, TALK))
    n = len(TALK.turns)
    np.testing.assert_array_equal(alone.probability, among.probability[n : n + len(DANGER.turns)])


def test_scores_depend_on_the_turns_before_as_far_as_they_reach_and_on_none_after() -> None:
    tagger = load_accurate(all_codes=True)
    texts = [f"This is the answer of number {number}, and I am worried." for number in range(90)]
    roles = [("therapist", "client")[number % 2] for number in range(90)]

    def odds(low: int, high: int) -> np.ndarray:
        batch = arrays(session(*texts[low:high], roles=roles[low:high]))
        p = tagger.predict(batch).probability[:, len(tagger.fast.names) :]
        return np.log(p) - np.log1p(-p)

    whole = odds(0, 90)
    np.testing.assert_allclose(odds(0, 40), whole[:40], atol=1e-6)
    # What is repeated is sought in all that was said; so only turns that the layers reach are compared loosely
    assert np.nanmax(np.abs(odds(90 - 2 * REACH, 90)[-1] - whole[-1])) < np.nanmax(np.abs(whole[-1]))


def test_a_sub_code_is_not_likelier_than_its_parent_and_one_socratic_kind_stands() -> None:
    codes = load_accurate(all_codes=True).predict(arrays(TALK, DANGER))
    p, found = codes.by_name(codes.probability), codes.by_name(codes.decision)
    for kind, parent in parents(builtin_codebooks()).items():
        if kind.startswith("process_"):
            assert not (p[kind] > p[parent]).any()
    kinds = [name for name in codes.names if name.startswith("process_socratic")]
    assert np.sum([found[name] for name in kinds], axis=0).max() <= 1


def test_roles_without_codes_and_turns_without_words_have_none() -> None:
    talk = session("Hello.", "  ", "I am an interpreter.", roles=("therapist", "client", "other"))
    tagger = load_accurate(all_codes=True)
    codes = tagger.predict(arrays(talk))
    for at, blend in enumerate(tagger.blends[len(tagger.fast.names) :], start=len(tagger.fast.names)):
        expected = [ROLES.index(blend.role) == 0, False, False]
        assert (~np.isnan(codes.probability[:, at])).tolist() == expected


def test_a_process_code_depends_on_no_later_turn() -> None:
    tagger = load_accurate(all_codes=True)
    own = [name.startswith("process_") for name in tagger.names]
    calm = [("therapist", "client")[number % 2] for number in range(24)]
    sad = "I feel so sad and hopeless, I cry every night."
    texts = ["We could look at that.", "Fine, the bus was late again."] * 6 + ["How was that for you?", sad] * 6
    whole, first = (tagger.predict(arrays(session(*texts[:n], roles=calm[:n]))) for n in (24, 12))
    np.testing.assert_array_equal(whole.probability[:12, own], first.probability[:, own])
    danger = tagger.names.index("process_risk_own")  # which phrases may mark after an earlier mark
    own[danger] = False
    np.testing.assert_array_equal(whole.decision[:12, own], first.decision[:, own])


@pytest.mark.parametrize("change", [{"role": "nobody"}, {"lines": None}, {"column": 3}, {"head": "none"}])
def test_a_wrong_description_of_a_code_is_told(weights: Path, change: dict[str, object]) -> None:
    about = json.loads((weights / "accurate.json").read_text(encoding="utf-8"))
    about["codes"][-1] |= change
    (weights / "accurate.json").write_text(json.dumps(about), encoding="utf-8")
    with pytest.raises(BadDataFileError):
        load_accurate(weights)


def test_codes_on_request_are_given_only_then() -> None:
    every = load_accurate(all_codes=True)
    asked = [blend.column for blend in every.blends if blend.on_request]
    assert set(asked) == set(every.names) - set(load_accurate().names)
