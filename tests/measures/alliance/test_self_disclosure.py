"""Self-disclosure of the two roles, on sessions that a reader can count."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tests.undefined import without_totals
from therapy_analytics.codes.disclosure import load_disclosure
from therapy_analytics.core.session import Session, Turn
from therapy_analytics.measures import MEASURES
from therapy_analytics.measures.alliance.self_disclosure import course_of, self_disclosure
from therapy_analytics.text import annotate, builtin_lexicons
from therapy_analytics.text.lexicons import Matcher
from therapy_analytics.text.segments import turns_from_texts

OPEN = "I was so scared when my father left us, and I still feel ashamed of it."
CLOSED = "The bus leaves at nine and the shop is closed."
SAID = [
    ("T", "How was the week?"),
    ("C", CLOSED),
    ("T", "Tell me more about that, if you like."),
    ("C", "It was fine. The weather was nice."),
    ("T", "Mm-hmm."),
    ("C", OPEN),
]


def test_columns_are_those_it_names(make) -> None:  # type: ignore[no-untyped-def]
    session = make(SAID)
    values = self_disclosure(session)
    columns = {column.name: column for column in MEASURES["self_disclosure"].columns_for([])}
    assert values.keys() == columns.keys()
    for name, column in columns.items():
        assert np.shape(values[name]) == ((6,) if column.level == "turn" else ())


def test_session_values_are_means_over_turns_of_the_role(make) -> None:  # type: ignore[no-untyped-def]
    values = self_disclosure(make(SAID))
    p = load_disclosure().of_texts([text for _, text in SAID])
    assert np.array_equal(values["disclosure_emotional_turn"], p[:, 0])
    assert np.array_equal(values["disclosure_informational_turn"], p[:, 1])
    assert values["client_emotional_disclosure"] == pytest.approx(p[1::2, 0].mean())
    assert values["client_informational_disclosure"] == pytest.approx(p[1::2, 1].mean())
    assert values["therapist_emotional_disclosure"] == pytest.approx(p[::2, 0].mean())
    words = load_disclosure().predict(turns_from_texts([text for _, text in SAID])).words
    assert values["client_words_disclosed_per_turn"] == pytest.approx(words[1::2].mean())
    # Three turns of the client: one a third; the slope from first to last is their difference
    assert values["client_emotional_disclosure_early"] == pytest.approx(p[1, 0])
    assert values["client_emotional_disclosure_late"] == pytest.approx(p[5, 0])
    assert values["client_emotional_disclosure_slope"] == pytest.approx(p[5, 0] - p[1, 0])
    assert values["client_emotional_disclosure_slope"] > 0.2


def test_who_discloses_is_kept_apart(make) -> None:  # type: ignore[no-untyped-def]
    told = self_disclosure(make([("T", CLOSED), ("C", OPEN)]))
    turned = self_disclosure(make([("T", OPEN), ("C", CLOSED)]))
    for name in ("emotional_disclosure", "words_disclosed_per_turn"):
        assert told[f"client_{name}"] == turned[f"therapist_{name}"]
        assert told[f"client_{name}"] > turned[f"client_{name}"]


def test_course_of_seven_turns() -> None:
    # Thirds of 7 are 2, 3 and 2 turns
    series = np.array([0.0, 0.2, 0.4, 0.4, 0.4, 0.6, 0.8])
    early, middle, late, slope = course_of(series)
    assert (early, middle, late) == pytest.approx((0.1, 0.4, 0.7))
    # Places -1/2 ... 1/2 in sixths: sum of place x value 3/6 .8 + 2/6 (.6 - .2) = .5333, of squares 28/36
    assert slope == pytest.approx((0.4 + 2 / 6 * 0.4) / (28 / 36))
    assert np.isnan(course_of(series[:2])).all()


@pytest.mark.parametrize("said", [[], [("O", "Hello there.")], [("T", "..."), ("C", "")], [("C", "\U0001f602")]])
def test_without_words_undefined(make, said: list[tuple[str, str]]) -> None:  # type: ignore[no-untyped-def]
    for name, value in without_totals(self_disclosure(make(said))).items():
        if not name.endswith("_turn") or name.endswith("_per_turn"):
            assert np.isnan(value), name


def test_turns_of_5000_words_and_of_signs(make) -> None:  # type: ignore[no-untyped-def]
    values = self_disclosure(make([("C", "i was sad " * 1667), ("T", "\U0001f602 ?!"), ("C", "word " * 5000)]))
    assert np.isnan(values["disclosure_emotional_turn"][1])  # type: ignore[index]
    assert np.isfinite(values["client_emotional_disclosure"])


def test_no_bit_depends_on_the_batch() -> None:
    said = ([text for _, text in SAID], [OPEN, "", "Well, I hate it; you know."], ["Zebras are mad.", CLOSED] * 9)
    sessions = [_session(str(i), texts) for i, texts in enumerate(said)]
    matcher = Matcher(builtin_lexicons())
    together = list(annotate(sessions, matcher))
    for one, session in zip(together, sessions, strict=True):
        alone = next(iter(annotate([session], matcher)))
        found, expected = self_disclosure(one), self_disclosure(alone)
        for name, value in found.items():
            assert np.asarray(value).tobytes() == np.asarray(expected[name]).tobytes(), name


def _session(name: str, texts: list[str]) -> Session:
    turns = [
        Turn(index=i, speaker="CT"[i % 2], role=("client", "therapist")[i % 2], text=text, first_row=i + 1)
        for i, text in enumerate(texts)
    ]
    return Session(id=name, source_file="", turns=tuple(turns))


def test_a_session_of_500_turns_is_quick() -> None:
    texts = [f"{OPEN} {CLOSED} Number {i} is here." if i % 2 else "What was that like for you?" for i in range(500)]
    session = next(iter(annotate([_session("long", texts)], Matcher(builtin_lexicons()))))
    self_disclosure(session)
    spent = []
    for _ in range(3):
        begun = time.process_time()
        self_disclosure(session)
        spent.append(time.process_time() - begun)
    assert min(spent) < 0.2
