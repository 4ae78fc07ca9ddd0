"""Similarity of parts of speech: counted by hand, against a plain formula, and beside any donors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.talks import TALK, arrays, session
from therapy_analytics.language import AnnotatedSession, Batch
from therapy_analytics.language.donors import choose_donors, donors_by_length, length_class
from therapy_analytics.language.syntax import UPOS, tag
from therapy_analytics.measures import MEASURES
from therapy_analytics.measures.synchrony.part_of_speech_similarity import (
    divergence,
    part_of_speech_similarity,
    tag_counts,
)
from therapy_analytics.session import Session

NAN = float("nan")
WORDS = [
    "I",
    "you",
    "dogs",
    "run",
    "quickly",
    "and",
    "the",
    "red",
    "garden",
    "sees",
    "often",
    "of",
    "why",
    "oh",
    "three",
    "not",
]


def tagged(*sessions: Session) -> Batch:
    """Return sessions as arrays, with parts of speech."""
    batch = arrays(*sessions)
    found = tag([turn.text for one in sessions for turn in one.turns])
    return replace(batch, turns=replace(batch.turns, tags=found))


def read(sessions: Sequence[Session]) -> Batch:
    return tagged(*sessions)


def marked(*turns: str) -> AnnotatedSession:
    """Return a session whose words are given as ``word/TAG``."""
    tokens = [[token.split("/") for token in turn.split()] for turn in turns]
    batch = arrays(session(*(" ".join(word for word, _ in turn) for turn in tokens)))
    tags = np.array([UPOS.index(name) if name else -1 for turn in tokens for _, name in turn], dtype=np.int8)
    assert len(tags) == len(batch.turns.tokens.ids)
    return next(iter(replace(batch, turns=replace(batch.turns, tags=tags))))


def values(one: AnnotatedSession) -> dict[str, Any]:
    """Return what the measure gives."""
    return dict(part_of_speech_similarity(one))


# ---- by hand


def test_divergence_by_hand() -> None:
    # Nothing in common: the entropy of both together is 1 bit more than that of each. The same: 0.
    assert divergence(np.array([1.0, 0.0]), np.array([0.0, 1.0])) == 1
    assert divergence(np.array([0.3, 0.7]), np.array([0.3, 0.7])) == 0
    assert np.isnan(divergence(np.array([0.0, 0.0]), np.array([0.0, 1.0])))
    # Thirds against the first two, half each: together 5/12, 5/12, 1/6, less the mean of log2(3) and 1.
    together = -2 * 5 / 12 * np.log2(5 / 12) - np.log2(1 / 6) / 6
    found = divergence(np.full(3, 1 / 3), np.array([0.5, 0.5, 0.0]))
    assert found == pytest.approx(together - (np.log2(3) + 1) / 2)


def test_turns_by_hand() -> None:
    spoken = marked("dogs/NOUN bark/VERB", "cats/NOUN ./PUNCT", "go/VERB dog/NOUN", "run/VERB")
    found = values(spoken)
    # Half nouns, half verbs against nouns (the dot is no word): 1 - .3113; so too the pairs after it.
    np.testing.assert_allclose(found["pos_similarity_turn"], [NAN, 0.688722, 0.688722, 0.688722], atol=1e-6)
    # All of the therapist: half nouns, half verbs; all of the client: half nouns, half verbs.
    assert found["pos_similarity"] == 1


def test_counts_are_those_of_words() -> None:
    spoken = marked("dogs/NOUN bark/VERB dogs/NOUN", "!/PUNCT", "what/")
    counts = tag_counts(spoken)
    assert counts.shape == (3, len(UPOS))
    assert counts[0, [UPOS.index("NOUN"), UPOS.index("VERB")]].tolist() == [2, 1]
    assert counts.sum(axis=1).tolist() == [3, 0, 0]


def test_a_turn_without_a_tagged_word_is_undefined() -> None:
    found = values(marked("dogs/NOUN", "what/", "bark/VERB", "cats/NOUN"))
    np.testing.assert_array_equal(found["pos_similarity_turn"], [NAN, NAN, NAN, 0.0])
    # The client: "what" has no tag, "cats" is a noun; the therapist: one noun, one verb.
    assert found["pos_similarity"] == pytest.approx(0.688722, abs=1e-6)
    assert np.isnan(values(marked("dogs/NOUN", "what/"))["pos_similarity"])


SHARES = st.lists(st.integers(0, 5), min_size=4, max_size=4)


@settings(max_examples=80, deadline=None)
@given(SHARES, SHARES)
def test_it_is_symmetric_in_range_and_the_plain_formula(a: list[int], b: list[int]) -> None:
    p, q = (np.array(one, dtype=np.float64) / max(sum(one), 1) for one in (a, b))
    found = divergence(p, q)
    np.testing.assert_array_equal(found, divergence(q, p))
    if not (sum(a) and sum(b)):
        assert np.isnan(found)
        return
    assert 0 <= found <= 1
    middle = (p + q) / 2
    kl = [sum(x * np.log2(x / m) for x, m in zip(one, middle, strict=True) if x) for one in (p, q)]
    assert found == pytest.approx(np.mean(kl), abs=1e-12)
    many = divergence(np.stack([p, q])[:, None], np.stack([p, q]))
    assert many == pytest.approx(np.array([[0, found], [found, 0]]), abs=1e-12)


def test_short_turns_of_one_speaker_are_far_apart() -> None:
    # One distribution for all: turns of 2 words differ more than turns of 40.
    generator = np.random.default_rng(0)
    means = []
    for n in (2, 40):
        drawn = generator.multinomial(n, np.full(5, 0.2), size=(2, 300)) / n
        means.append(divergence(*drawn).mean())
    assert means[0] > 0.4
    assert means[1] < 0.1


# ---- sessions


def test_a_real_talk_has_the_declared_columns() -> None:
    found = values(next(iter(tagged(TALK))))
    declared = {column.name for column in MEASURES["part_of_speech_similarity"].columns_for(())}
    assert found.keys() == declared
    assert 0.5 < found["pos_similarity"] < 1
    assert ((found["pos_similarity_turn"][1:] >= 0) & (found["pos_similarity_turn"][1:] <= 1)).all()


@pytest.mark.parametrize("texts", [(), ("one",), ("...", "!"), ("yes", "yes")])
def test_small_sessions(texts: Sequence[str]) -> None:
    found = values(next(iter(tagged(session(*texts)))))
    assert found["pos_similarity"] == 1 or np.isnan(found["pos_similarity"])
    assert len(found["pos_similarity_turn"]) == len(texts)


def crowd(n: int = 12) -> list[Session]:
    """Return sessions of random words, alike in length."""
    generator = np.random.default_rng(3)
    return [
        session(*(" ".join(generator.choice(WORDS, generator.integers(4, 9))) for _ in range(16)), name=f"s{i}")
        for i in range(n)
    ]


def test_batch_and_donors_change_nothing() -> None:
    sessions = crowd()
    donors = donors_by_length(choose_donors(sessions), read)
    batch = [replace(one, donors=donors[length_class(one.session)]) for one in tagged(*sessions)]
    for one, in_batch in list(zip(sessions, batch, strict=True))[:2]:
        by_itself, with_donors = values(next(iter(tagged(one)))), values(in_batch)
        for name, value in with_donors.items():
            if "surrogate" in name or name.endswith("_excess"):
                assert np.isfinite(value)
            else:
                np.testing.assert_array_equal(value, by_itself[name])


def test_a_long_session() -> None:
    generator = np.random.default_rng(5)
    words = np.array(["dogs", "run", "quickly", "and", "the", "red", "garden"])
    batch = arrays(session(*(" ".join(generator.choice(words, 3)) for _ in range(2000))))
    tags = (batch.turns.tokens.ids % len(UPOS)).astype(np.int8)
    found = values(next(iter(replace(batch, turns=replace(batch.turns, tags=tags)))))
    assert np.isfinite(found["pos_similarity_turn_mean_z"])
    assert found["pos_similarity_turn_mean_p"] > 0.001
