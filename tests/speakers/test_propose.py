"""What is proposed of one session."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from spoken import FRENCH, SPOKEN, plain, session

from therapy_analytics.core.session import Role, Session, SpeechMark
from therapy_analytics.speakers import attributed, proposed, repaired
from therapy_analytics.speakers.boundaries import moved, moves_of
from therapy_analytics.speakers.models import gap_scores, load_speaker_model

LOWER = tuple(map(plain, SPOKEN))


def words_of(one: Session) -> list[str]:
    return [word for turn in one.turns for word in turn.text.split()]


def shifted(spoken: tuple[str, ...], at: int, words: int) -> tuple[str, ...]:
    """Give the last words of an utterance to the next, or the next one's first ones to it."""
    left, right = spoken[at].split(), spoken[at + 1].split()
    both, cut = left + right, len(left) - words
    return (*spoken[:at], " ".join(both[:cut]), " ".join(both[cut:]), *spoken[at + 2 :])


@pytest.mark.parametrize("spoken", [SPOKEN, LOWER])
def test_a_session_that_is_right_stays_as_it_is(spoken: tuple[str, ...]) -> None:
    found = proposed(session(spoken))
    assert found.changes == ()
    assert found.session == session(spoken)
    assert found.abstained == ""


@pytest.mark.parametrize("spoken", [SPOKEN, LOWER])
def test_a_whole_session_with_swapped_labels_is_found(spoken: tuple[str, ...]) -> None:
    found = proposed(session(spoken, swapped=range(len(spoken))))
    (change,) = [one for one in found.changes if one.kind == "swapped"]
    assert (change.turn, change.last_turn) == (0, len(spoken) - 1)
    assert change.probability > 0.9
    assert [(turn.speaker, turn.role) for turn in found.session.turns[:2]] == [("Ruth", "therapist"), ("Tom", "client")]


def test_a_segment_with_swapped_labels_is_put_right() -> None:
    wrong = session(swapped=range(8, 18))
    found = proposed(wrong)
    (change,) = found.changes
    assert change.kind == "swapped"
    assert words_of(found.session) == words_of(wrong)
    truth, before, after = ([turn.role for turn in one.turns for _ in turn.text.split()]
                            for one in (session(), wrong, found.session))  # fmt: skip
    assert np.mean(np.array(before) == np.array(truth)) < 0.7
    assert np.mean(np.array(after) == np.array(truth)) > 0.9  # but for turns put together at the ends of the segment
    assert {turn.speaker_changed for turn in found.session.turns} == {"", "swapped"}


@pytest.mark.parametrize(("at", "words"), [(4, 2), (7, 3), (9, -2), (11, 2), (14, -4)])
def test_words_at_the_wrong_side_of_a_turn_go_back(at: int, words: int) -> None:
    wrong = session(shifted(SPOKEN, at, words))
    found = proposed(wrong)
    (change,) = found.changes
    assert (change.kind, change.turn, change.last_turn, change.words) == ("words_moved", at, at + 1, abs(words))
    assert [turn.text for turn in found.session.turns] == list(SPOKEN)
    assert [turn.index for turn in found.session.turns if turn.speaker_changed] == [at, at + 1]


def test_half_of_the_moved_words_go_back_without_punctuation_and_nothing_else_moves() -> None:
    model, spoken = load_speaker_model(), [text.split() for text in LOWER]
    scores = gap_scores(
        [word for one in spoken for word in one], model.gaps
    )  # the words stay in one order, whoever says them
    roles: list[Role] = ["client" if at % 2 else "therapist" for at in range(len(spoken))]
    right, ends = [], np.cumsum([len(one) for one in spoken])
    for at, words in product(range(len(spoken) - 1), (-4, -3, -2, -1, 1, 2, 3, 4)):
        wrong = ends.copy()
        wrong[at] += words
        if (ends[at - 1] if at else 0) < wrong[at] < ends[at + 1]:
            found = list(moves_of(wrong, roles, scores, model.moved["recognised"]))
            assert {one.turn for one in found} <= {at}
            right.append([one.words for one in found] == [words])
    assert np.mean(right) >= 0.5


def test_words_keep_their_order_and_number() -> None:
    wrong = session(shifted(LOWER, 5, 3), swapped=range(10, 20))
    right = repaired(wrong)
    assert words_of(right) == words_of(wrong)
    assert [turn.index for turn in right.turns] == list(range(len(right.turns)))
    assert any("swapped" in note for note in right.notes)


def test_moved_words_take_their_marks_along() -> None:
    one, other = session(("I see now, go on", "so I left"), name="marks").turns
    one = replace(
        one, marks=(SpeechMark(kind="sigh", at=2, written="[sighs]"), SpeechMark(kind="laughter", at=14, written="[l]"))
    )
    other = replace(other, marks=(SpeechMark(kind="pause", at=3, written="(pause)"),))
    left, right = moved(one, other, 2)
    assert (left.text, right.text) == ("I see now,", "go on so I left")
    assert [mark.at for mark in left.marks] == [2]
    assert [right.text[mark.at :].split()[0] for mark in right.marks] == ["on", "I"]
    assert moved(left, right, -2)[0].text == one.text


@pytest.mark.parametrize("spoken", [SPOKEN, LOWER])
def test_utterances_without_speakers_are_attributed(spoken: tuple[str, ...]) -> None:
    one = session(spoken)
    bare = replace(one, turns=tuple(replace(turn, speaker="", role="other") for turn in one.turns))
    found = attributed(bare)
    given = [turn.role == one.turns[turn.index].role for turn in found.session.turns]
    assert np.mean(given) >= 0.9
    assert words_of(found.session) == words_of(bare)
    assert len(found.changes) == len(spoken)
    assert Counter(turn.speaker_changed for turn in found.session.turns) == Counter(one.kind for one in found.changes)


def test_the_speaker_need_not_change_at_every_utterance() -> None:
    cut = tuple(
        part.strip() for text in SPOKEN for part in text.replace("?", "?|").replace(". ", ".|").split("|") if part
    )
    truth = [
        at % 2 == 0
        for at, text in enumerate(SPOKEN)
        for part in text.replace("?", "?|").replace(". ", ".|").split("|")
        if part
    ]
    found = attributed(session(cut))
    right = [(turn.role == "therapist") == role for turn, role in zip(found.session.turns, truth, strict=True)]
    assert np.mean(right) >= 0.75


@pytest.mark.parametrize(
    ("spoken", "why"),
    [(FRENCH * 3, "English"), (SPOKEN[:1], "too short"), ((), "too short"), (("Yes.", "No."), "too short")],
)
def test_nothing_is_claimed_of_what_the_models_do_not_know(spoken: tuple[str, ...], why: str) -> None:
    for found in (proposed(session(spoken)), attributed(session(spoken))):
        assert why in found.abstained
        assert found.changes == ()
        assert found.session == session(spoken)


def test_swapped_labels_are_not_looked_for_among_three() -> None:
    one = session(swapped=range(len(SPOKEN)))
    third = replace(one.turns[-1], speaker="Ana", role="client")
    found = proposed(replace(one, turns=(*one.turns[:-1], third)))
    assert "two" in found.abstained
    assert all(change.kind == "words_moved" for change in found.changes)
