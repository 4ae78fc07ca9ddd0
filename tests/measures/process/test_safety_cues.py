"""Turns to review for danger: sentences and exchanges of our own, and the rate of flags in real sessions.

``safety_sentences.csv`` was written before the phrases and by the same author, which flatters; ``held_out`` is a random
half that was not run or read while phrases were chosen.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

from benchmarks.safety import annotated, developed_on, exchange, read_right
from therapy_analytics import read
from therapy_analytics.measures import MEASURES
from therapy_analytics.measures.process._safety import (
    ACKNOWLEDGED,
    ASKED,
    CHANGED,
    COLLUDED,
    KINDS,
    NONE,
    PLAN,
    REFERRED,
    SAFETY,
    cues,
)
from therapy_analytics.measures.process.safety_cues import safety_cues

SENTENCES = list(
    csv.DictReader((Path(__file__).parent / "safety_sentences.csv").read_text(encoding="utf-8").splitlines())
)
ASKS = "Tell me how the week has been for you."
DIE = "I want to die."
RESPONSES = [
    (DIE, "Are you thinking of killing yourself?", ASKED),
    (DIE, "Have you been thinking about suicide?", ASKED),
    (DIE, "Do you feel that you would be better off dead?", ASKED),
    ("He hits me when he drinks.", "Do you feel safe at home?", ASKED),
    ("He hits me when he drinks.", "Has he ever threatened you?", ASKED),
    ("I hear voices.", "What do the voices say?", ASKED),
    (DIE, "Do you have a plan?", PLAN),
    (DIE, "Are there guns in the house?", PLAN),
    (DIE, "Have you tried to kill yourself before?", PLAN),
    (DIE, "Let's make a safety plan.", SAFETY),
    (DIE, "Who can you call when it gets that bad?", SAFETY),
    (DIE, "Could you give the pills to your sister?", SAFETY),
    (DIE, "You can call the crisis line at any hour.", REFERRED),
    (DIE, "Please go to the emergency room.", REFERRED),
    (DIE, "I would like you to see a psychiatrist.", REFERRED),
    (DIE, "That sounds incredibly painful.", ACKNOWLEDGED),
    (DIE, "I'm so sorry that you feel this way.", ACKNOWLEDGED),
    (DIE, "Thank you for telling me.", ACKNOWLEDGED),
    (DIE, "I won't tell anyone, it stays between us.", COLLUDED),
    (DIE, "Maybe it would be better to just end it.", COLLUDED),
    ("They are watching me.", "You're right, they are watching you.", COLLUDED),
    (DIE, "Anyway, how was the homework?", CHANGED),
    (DIE, "Let's move on to your diet.", CHANGED),
    (DIE, "The bus leaves at nine.", NONE),
]
"""What the client says, what the therapist says next, and what that is."""


def _values(*texts: str) -> dict[str, object]:
    return dict(safety_cues(annotated([exchange(texts)])[0]))


@pytest.mark.parametrize("half", ["tuning", "held_out"])
def test_sentences_of_our_own(half: str) -> None:
    own = [one for one in SENTENCES if one["half"] == half]
    found = [cues(one) for one in annotated([exchange((one["therapist"] or ASKS, one["client"])) for one in own])]
    of_cues = [(one, seen) for one, seen in zip(own, found, strict=True) if one["label"] == "cue"]
    of_others = [(one, seen) for one, seen in zip(own, found, strict=True) if one["label"] != "cue"]
    assert len(of_cues) >= 40
    assert len(of_others) >= 30
    kinds = [seen.strength[KINDS.index(one["kind"]), 1] > 0 for one, seen in of_cues]
    assert np.mean(kinds) >= 0.9  # 41 of 43 held out when this was written
    assert np.mean([read_right(one["label"], seen) for one, seen in of_others]) >= 0.95


@pytest.mark.parametrize(("client", "therapist", "shown"), RESPONSES)
def test_what_the_therapist_did(client: str, therapist: str, shown: int) -> None:
    values = _values(ASKS, client, therapist)
    assert values["n_safety_cue_turns"] == 1
    np.testing.assert_equal(values["safety_response"], [math.nan, math.nan, shown])
    assert values["safety_cue_followed_rate"] == (shown in (PLAN, ASKED, SAFETY, REFERRED))
    assert values["safety_cue_asked_directly_rate"] == (shown in (PLAN, ASKED))
    assert values["safety_cue_ignored_rate"] == (shown in (COLLUDED, CHANGED, NONE))


def test_a_session_that_a_reader_can_count() -> None:
    values = _values(
        "How was the week?",  # 0
        "Everyone would be better off without me.",  # 1: passive, clear
        "The bus leaves at nine.",  # 2: none of the responses
        "My brother tried to kill himself.",  # 3: somebody else
        "Are you thinking of suicide?",  # 4: asked directly, second of the three turns after 1
        "No, not at all.",  # 5: a denial
        "Good.",  # 6
        "My knees are killing me.",  # 7: idiom
        "People who committed suicide were weak.",  # 8: stigmatising
        "I cut myself last night.",  # 9: self-harm, nothing after it
    )
    assert values["n_safety_cue_turns"] == 2
    assert values["n_suicide_passive_cue_turns"] == values["n_self_harm_cue_turns"] == 1
    assert values["n_suicide_active_cue_turns"] == values["n_abuse_cue_turns"] == 0
    assert (values["safety_cue_followed_rate"], values["n_safety_cue_followed"]) == (1, 1)
    assert values["n_stigmatising_word_turns"] == 1
    assert values["n_turns_to_review"] == 5  # 1, 3, 5, 8, 9
    code = np.asarray(values["safety_cue"])
    np.testing.assert_equal(code[1::2], [1 + KINDS.index("suicide_passive"), 0, 0, 0, 1 + KINDS.index("self_harm")])
    assert np.isnan(code[::2]).all()
    np.testing.assert_equal(np.asarray(values["safety_denial_turn"])[1::2], [0, 0, 1, 0, 0])


def test_a_response_is_looked_for_in_three_turns() -> None:
    late = [ASKS, DIE, "The bus.", "Yes.", "The bus.", "Yes.", "The bus.", "Yes.", "Are you thinking of suicide?"]
    assert _values(*late)["safety_cue_followed_rate"] == 0
    assert _values(*late[:4], *late[6:])["safety_cue_followed_rate"] == 1


def test_an_answer_is_read_with_its_question() -> None:
    assert _values("Are you thinking of suicide?", "Yes, sometimes.")["n_suicide_active_cue_turns"] == 1
    assert _values("Do you like the new flat?", "Yes, sometimes.")["n_safety_cue_turns"] == 0
    told = "What you say is confidential unless there is a risk of harming yourself, is that okay?"
    assert _values(told, "Yes.")["n_safety_cue_turns"] == 0


def test_a_denial_and_a_cue_may_share_a_turn() -> None:
    values = _values(ASKS, "I would never hurt myself. I just wish I wouldn't wake up.")
    assert values["n_suicide_passive_cue_turns"] == 1
    assert np.asarray(values["safety_denial_turn"])[1] == 1
    assert values["n_self_harm_cue_turns"] == 0


def test_words_that_the_client_chose_are_no_stigma() -> None:
    assert _values(ASKS, "Fine.", "So you are a junkie.")["n_stigmatising_word_turns"] == 1
    assert _values(ASKS, "I am a junkie.", "So you are a junkie.")["n_stigmatising_word_turns"] == 0


def test_undefined_without_turns_and_never_a_word_of_safety() -> None:
    for texts in ((), ("Hello there",)):
        values = _values(*texts)
        assert math.isnan(float(str(values["n_safety_cue_turns"])))
    columns = next(one for one in MEASURES if one.name == "safety_cues").columns_for([], [])
    assert {one.name for one in columns} == set(_values(ASKS, DIE))
    for column in columns:
        assert not {"safe", "low_risk", "no_risk"} & set(column.name.split("_")), column.name
        assert "none found by these phrases" in f"{column.misleads} {column.meaning}".lower(), column.name


def test_no_value_depends_on_neighbours() -> None:
    sessions = [exchange((one["therapist"] or ASKS, one["client"], "Are you safe?")) for one in SENTENCES[::6]]
    together = [safety_cues(one) for one in annotated(sessions)]
    for session, values in zip(sessions, together, strict=True):
        for name, value in safety_cues(annotated([session])[0]).items():
            np.testing.assert_array_equal(value, values[name], err_msg=name)


def test_simulated_clients_at_risk_are_flagged(corpora: Path) -> None:
    flagged: dict[str, list[bool]] = {}
    for one in annotated(read(corpora / "vera_mh")):
        flagged.setdefault(one.session.id.split("_")[1], []).append(bool(cues(one).any.any()))
    for persona in ("Lena", "Noah", "Omar", "Ray"):  # five sessions each, all at risk by reading
        assert all(flagged[persona]), persona
    assert not any(flagged["Kevin"])  # lonely, no danger of his own by reading


def test_few_flags_in_sessions_about_habits(corpora: Path) -> None:
    sessions = [one for one in read(corpora / "annomi") if not developed_on("annomi", one)]
    assert np.mean([cues(one).any.any() for one in annotated(sessions)]) <= 0.05
