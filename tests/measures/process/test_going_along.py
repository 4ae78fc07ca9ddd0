"""Going along and challenging: sessions that a reader can count, exchanges of our own, and real sessions.

``going_along_examples.csv`` holds 40 exchanges written for this test, before the phrases and by one author, which
flatters: ``development`` and ``held_out`` are random halves, of which the second was not run or read while phrases were
chosen; ``other_words`` was written last, on purpose without the phrases, and shows what is missed.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from therapy_analytics import read
from therapy_analytics.behaviours import load_tagger, with_codes
from therapy_analytics.language import AnnotatedSession, annotate, builtin_lexicons
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.measures.process._agreement import (
    agreement_openers,
    challenges,
    goes_along,
    model_says,
    replies_to,
    untested_claims,
)
from therapy_analytics.measures.process.going_along import going_along
from therapy_analytics.session import Session, Turn

EXAMPLES = list(
    csv.DictReader((Path(__file__).parent / "going_along_examples.csv").read_text(encoding="utf-8").splitlines())
)
BEFORE = "What is on your mind today?"


def _session(texts: Sequence[str], name: str = "s") -> Session:
    turns = (
        Turn(index=i, speaker="CT"[not i % 2], role="client" if i % 2 else "therapist", text=text, first_row=i + 1)
        for i, text in enumerate(texts)
    )
    return Session(id=name, source_file="s.txt", turns=tuple(turns))


def _coded(sessions: Sequence[Session]) -> list[AnnotatedSession]:
    batch = annotate(sessions, Matcher(builtin_lexicons()))
    codes = load_tagger().predict(batch)
    return [with_codes(one, codes, int(batch.starts[i]), ("therapist", "client")) for i, one in enumerate(batch)]


@pytest.fixture(scope="module")
def shown() -> list[tuple[str, bool]]:
    """Return of each exchange what the answer does, and whether the client's turn is found to be a claim."""
    found = []
    for one in _coded([_session((BEFORE, one["client"], one["therapist"])) for one in EXAMPLES]):
        kind = "challenged" if challenges(one)[2] else "went_along" if goes_along(one)[2] else "neither"
        found.append((kind, bool(untested_claims(one)[1])))
    return found


def _right(shown: list[tuple[str, bool]], part: str) -> tuple[int, int, int]:
    of = [(one["kind"], *found) for one, found in zip(EXAMPLES, shown, strict=True) if one["half"] == part]
    return sum(true == kind for true, kind, _ in of), sum(claim for *_, claim in of), len(of)


def test_exchanges_that_were_set_aside(shown: list[tuple[str, bool]]) -> None:
    right, claims, n = _right(shown, "held_out")
    assert (right, n) == (19, 19)
    assert claims >= 13  # 14 when this was written


def test_exchanges_in_other_words_are_mostly_missed(shown: list[tuple[str, bool]]) -> None:
    """A limit, kept in sight: 6 of 20, 5 of them exchanges that are neither."""
    right, _, n = _right(shown, "other_words")
    assert (right <= 12, n) == (True, 20)


SAID = [
    ("T", "What is on your mind today?"),  # 0: answers nothing
    ("C", "They are watching me through my phone."),  # 1: a claim
    ("T", "Exactly, they clearly are."),  # 2: agreement, goes along
    ("C", "I went to the shop in the morning."),  # 3
    ("T", "Right. What did you buy there?"),  # 4: right alone is no agreement
    ("C", "Everyone hates me."),  # 5: a claim
    ("T", "What makes you so sure?"),  # 6: a challenge
    ("C", "There are messages for me on the radio."),  # 7: a claim
    ("T", "It sounds as if that frightens you."),  # 8: neither
    ("C", "They are watching me at home."),  # 9: a claim without an answer
]


def test_a_session_that_a_reader_can_count(make) -> None:  # type: ignore[no-untyped-def]
    values = going_along(make(SAID))
    # answers: 2, 4, 6, 8
    assert values["n_agreement_opener"] == 1
    assert values["agreement_opener_rate"] == pytest.approx(1 / 4)
    assert values["n_challenge"] == 1
    assert values["challenge_rate"] == pytest.approx(1 / 4)
    # claims with an answer: 1, 5, 7
    assert values["n_went_along"] == 1
    assert values["went_along_rate"] == pytest.approx(1 / 3)
    assert values["challenged_rate"] == pytest.approx(1 / 3)
    nan = np.nan
    np.testing.assert_equal(values["going_along_turn"], [nan, nan, 1, nan, 0, nan, 0, nan, 0, nan])
    np.testing.assert_equal(values["challenge_turn"], [nan, nan, 0, nan, 0, nan, 1, nan, 0, nan])
    np.testing.assert_equal(values["untested_claim_turn"], [nan, 1, nan, 0, nan, 1, nan, 1, nan, 1])


def test_the_balance_has_one_of_each_added(make) -> None:  # type: ignore[no-untyped-def]
    values = going_along(make(SAID))
    praise = np.asarray(values["praise_turn"])[[2, 4, 6, 8]].sum()
    assert values["going_along_expected"] == pytest.approx((praise + 1) / (praise + 1 + 2))


def test_praise_is_counted_by_sentence(make) -> None:  # type: ignore[no-untyped-def]
    said = [("C", "Time is a mirror."), ("T", "What an absolutely brilliant insight! Please sit down over there.")]
    values = going_along(make(said))
    assert values["n_therapist_praise"] == 1
    assert values["therapist_praise_per_100_words"] == pytest.approx(100 / 10)


@pytest.mark.parametrize(
    ("client", "therapist", "agrees"),
    [
        ("He always lies.", "Exactly.", True),
        ("He always lies.", "You're absolutely right, he does.", True),
        ("He always lies.", "Yes, but what about the last week?", False),
        ("He always lies.", "Okay.", False),
        ("He always lies.", "Mm-hmm.", False),
        ("He always lies.", "Are you absolutely right about that?", False),
        ("Does he always lie?", "Yes, he does.", False),  # an answer
        ("Am I right that he lies?", "You're right.", True),
        ("He always lies.", "I would not say that you are right.", False),
    ],
)
def test_agreement_and_what_looks_like_it(make, client: str, therapist: str, agrees: bool) -> None:  # type: ignore[no-untyped-def]
    assert agreement_openers(make([("C", client), ("T", therapist)]))[1] == agrees


@pytest.mark.parametrize(
    ("therapist", "along", "against"),
    [
        ("Since they are watching you, where could you hide?", 1, 0),
        ("Where could you hide?", 0, 0),
        ("You feel that they are watching you.", 0, 0),
        ("How do you know that they are?", 0, 1),
        ("You're right, but is there any evidence for it?", 0, 1),  # a challenge goes before
        ("Could there be another explanation?", 0, 1),
        ("I can't confirm that.", 0, 1),
    ],
)
def test_presuppositions_are_taken_over_or_questioned(make, therapist: str, along: int, against: int) -> None:  # type: ignore[no-untyped-def]
    values = going_along(make([("C", "They are watching me."), ("T", therapist)]))
    assert (values["n_went_along"], values["n_challenged"]) == (along, against)


def test_a_claim_is_answered_before_the_client_goes_on(make) -> None:  # type: ignore[no-untyped-def]
    said = [("C", "a b"), ("O", "c"), ("T", "d"), ("C", "e"), ("C", "f"), ("T", ""), ("T", "g"), ("C", "h")]
    session = make(said)
    assert replies_to(session, session.spoken_by("client")).tolist() == [2, -1, 6, -1]


def test_undefined_without_turns_words_or_claims(make) -> None:  # type: ignore[no-untyped-def]
    for said in ([], [("C", "Everyone hates me.")], [("T", "Hello there"), ("C", "...")], [("O", "hi")]):
        values = going_along(make(said))
        for name, value in values.items():
            if name.endswith("_rate") or name == "going_along_expected":
                assert np.isnan(value), name
    values = going_along(make([("C", "I bought bread."), ("T", "Where was that?")]))
    assert np.isnan(values["went_along_rate"])
    assert values["challenge_rate"] == 0


def test_other_speakers_turns_are_not_read(make) -> None:  # type: ignore[no-untyped-def]
    session = make([*SAID, ("O", "What a brilliant insight!")])
    assert np.isnan(session.cached(model_says).turns[-1]).all()
    assert going_along(session)["n_therapist_praise"] == going_along(make(SAID))["n_therapist_praise"]


def test_no_value_depends_on_neighbours_or_their_order() -> None:
    sessions = [
        _session((BEFORE, one["client"], one["therapist"]), str(i)) for i, one in enumerate(EXAMPLES) if not i % 8
    ]
    alone = [going_along(_coded([one])[0]) for one in sessions]
    together = [going_along(one) for one in _coded(sessions[::-1])][::-1]
    for one, other in zip(alone, together, strict=True):
        for name, value in one.items():
            np.testing.assert_array_equal(value, other[name], err_msg=name)


def test_without_codes_it_still_answers(make) -> None:  # type: ignore[no-untyped-def]
    bare = replace(make(SAID), decisions={}, probabilities={})
    assert going_along(bare)["n_went_along"] == 1


def test_challenges_go_with_what_a_judge_calls_pushback(corpora: Path) -> None:
    """The chats of the language model whose marks were not read while phrases were chosen: .5 when written."""
    path = corpora / "spiral_bench" / "llama-4-maverick.json"
    chats = json.loads(path.read_text(encoding="utf-8"))["1"]["eval_prompts_v0.2.json"]
    marks = {
        prompt: sum(chunk.get("metrics", {}).get("pushback", 0) for chunk in copies[0]["judgements"].values())
        for prompt, copies in chats.items()
    }
    sessions = read(path)
    batch = annotate(sessions, Matcher([]))
    rates = [challenges(one).sum() for one in batch]
    stats = pytest.importorskip("scipy.stats")
    assert stats.spearmanr(rates, [marks[one.metadata["prompt_id"]] for one in sessions]).statistic > 0.35


def test_language_models_agree_and_praise_more_than_counsellors(corpora: Path) -> None:
    rates = {}
    for name, n in (("mindeval", 8), ("annomi", 12)):
        batch = annotate(read(corpora / name)[:n], Matcher(builtin_lexicons()))
        values = [going_along(one) for one in batch]
        rates[name] = [np.mean([one[column] for one in values]) for column in ("agreement_opener_rate",)]
        rates[name].append(np.median([one["therapist_praise_per_100_words"] for one in values]))
    assert all(a > 2 * b for a, b in zip(rates["mindeval"], rates["annomi"], strict=True))
