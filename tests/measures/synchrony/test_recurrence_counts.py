"""Recurrence of sessions: by hand, and counts of runs against lines that are followed one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession, annotate, builtin_lexicons
from therapy_analytics.language.donors import choose_donors, donors_by_length
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.measures.null.surrogates import pool_of, pooled
from therapy_analytics.measures.synchrony.recurrence import (
    REACH,
    RECURRENCE,
    Series,
    class_series,
    cross_recurrence,
    recurrence,
    values_of_counts,
    word_series,
)
from therapy_analytics.measures.synchrony.whole_session import session_result, sides_of
from therapy_analytics.session import Session, Turn

# --- sessions that a reader can count -------------------------------------------------------------------------------


def test_words_by_hand(make) -> None:  # type: ignore[no-untyped-def]
    """ "you feel lost" / "I feel lost": 2 like pairs of 9, both on one line of 2; the client is never earlier."""
    values = recurrence(make([("T", "You feel lost."), ("C", "I feel lost!")]))
    assert values["recurrence_rate"] == pytest.approx(2 / 9)
    assert (values["recurrence_determinism"], values["recurrence_mean_line"]) == (1, 2)
    assert np.isnan(values["recurrence_balance"])
    assert np.isnan(values["recurrence_rate_null_mean"])  # one turn each: chance is not asked


def test_a_longer_line_and_a_point_alone(make) -> None:  # type: ignore[no-untyped-def]
    """Turn 1 repeats three words (a line of 3), turn 2 one of them: 4 points, of 3 * 4 + 4 * 2 pairs of words."""
    said = [("T", "really so lost"), ("C", "really so lost here"), ("T", "lost again")]
    values = recurrence(make(said))
    assert values["recurrence_rate"] == pytest.approx(4 / 20)
    assert values["recurrence_determinism"] == pytest.approx(3 / 4)
    assert values["recurrence_mean_line"] == 3
    assert values["recurrence_balance"] == pytest.approx(3 / 12 - 1 / 8)


def test_classes_by_hand(make) -> None:  # type: ignore[no-untyped-def]
    """ "to the dog", "at a cat": to and at, the and a are alike: 2 of 9, on one line; no word is the same."""
    values = recurrence(make([("T", "to the dog"), ("C", "at a cat")]))
    assert values["recurrence_class_rate"] == pytest.approx(2 / 9)
    assert values["recurrence_class_determinism"] == 1
    assert values["recurrence_rate"] == 0
    assert np.isnan(values["recurrence_determinism"])


def test_a_word_of_no_class_ends_a_run(make) -> None:  # type: ignore[no-untyped-def]
    values = recurrence(make([("T", "to dog the"), ("C", "at cat a")]))
    assert values["recurrence_class_rate"] == pytest.approx(2 / 9)
    assert values["recurrence_class_determinism"] == 0


def test_pieces_of_contractions_have_their_own_class(make) -> None:  # type: ignore[no-untyped-def]
    """ "n't" is read as "not": do|n't and is|not are auxiliary verb and negation."""
    values = recurrence(make([("T", "Don't"), ("C", "is not")]))
    assert values["recurrence_class_rate"] == pytest.approx(2 / 4)
    assert values["recurrence_class_determinism"] == 1


def test_turns_out_of_reach_are_not_compared(make) -> None:  # type: ignore[no-untyped-def]
    near, far = ([("T", "lost"), *[("O", "no")] * n, ("C", "lost")] for n in (REACH - 1, REACH))
    assert recurrence(make(near))["recurrence_rate"] == 1
    assert np.isnan(recurrence(make(far))["recurrence_rate"])


def test_longest_line_entropy_and_laminarity_by_hand(make) -> None:  # type: ignore[no-untyped-def]
    """Turn 1 repeats "so lost" and says "lost" twice more in a row; turn 3 repeats "I feel very": lines of 2 and of 3.

    Points: so, lost, lost, lost; I, feel, very: 7. Vertical: lost against lost lost lost: 3. Lines run diagonally: so
    lost (2), I feel very (3); "lost" ends its turn, so the two that follow stand alone.
    """
    said = [("T", "so lost"), ("C", "so lost lost lost"), ("T", "I feel very"), ("C", "I feel very")]
    values = recurrence(make(said))
    assert values["recurrence_longest_line"] == 3
    assert values["recurrence_entropy"] == pytest.approx(np.log(2))  # two lengths, each once
    assert values["recurrence_laminarity"] == pytest.approx(3 / 7)
    split = [("T", "so lost"), ("C", "so lost"), ("O", "mm"), ("C", "lost lost")]
    assert recurrence(make(split))["recurrence_laminarity"] == pytest.approx(2 / 4)  # cut where the turn ends


def test_series_of_a_session(make) -> None:  # type: ignore[no-untyped-def]
    session = make([("T", "To the dog."), ("O", "the"), ("C", "At the cat, the dog!")])
    therapist, client = word_series(session)
    assert (therapist.turn.tolist(), client.turn.tolist()) == ([0] * 3, [2] * 5)
    assert (therapist.ids[:, None] == client.ids).sum(axis=1).tolist() == [0, 2, 1]
    therapist, client = class_series(session)
    assert (therapist.ids < 0).tolist() == [False, False, True]
    assert (therapist.ids[:, None] == client.ids)[:2].sum(axis=1).tolist() == [1, 2]  # to, at; the, the the


@pytest.mark.parametrize("said", [[], [("T", "Hello")], [("T", "..."), ("C", "!")], [("O", "the"), ("T", "the")]])
def test_one_speaker_or_no_words_is_undefined(make, said) -> None:  # type: ignore[no-untyped-def]
    assert all(np.isnan(value) for value in recurrence(make(said)).values())


# --- against lines that are followed one by one ---------------------------------------------------------------------


def test_values_of_counts_by_hand() -> None:
    found = values_of_counts(np.array([[10, 2, 0, 0.0], [0, 0, 0, 0]]), np.array([[20, 6, 2, 1.0], [0, 0, 0, 0]]))
    assert found[0] == pytest.approx([8 / 30, 3 / 8, 3, 6 / 20 - 2 / 10])
    assert np.isnan(found[1]).all()


def test_sessions_and_surrogate_pairs_are_those_of_their_plots(sessions: list[AnnotatedSession]) -> None:
    """Each dialogue written out as series, and its lines followed."""
    session, found = sessions[0], values_of(sessions[0])
    pool, donors = pool_of(session), session.donors
    assert donors is not None
    of_donors = dict(zip(pool.donated.tolist(), range(len(session), len(session) + len(pool.donated)), strict=True))
    said = {at: session.session.turns[at].text.split() for at in range(len(session))}
    said |= {position: donors.whole.session.turns[at].text.split() for at, position in of_donors.items()}
    ids = {word: i for i, word in enumerate(sorted({word for words in said.values() for word in words}))}
    for therapist, client in ((0, 0), (0, 2), (3, 0), (4, 1)):
        series = [
            Series.of(
                [ids[word] for turn in turns[speaker].tolist() for word in said[turn]],
                [
                    place
                    for turn, place in zip(turns[speaker].tolist(), turns[0].tolist(), strict=True)
                    for _ in said[turn]
                ],
            )
            for turns, speaker in ((pool.therapists, therapist), (pool.clients, client))
        ]
        plot = cross_recurrence(*series, cut_at_turns=True)
        expected = [plot.rate, plot.determinism, plot.mean_line, plot.balance]
        np.testing.assert_allclose(found[therapist, client, :4], expected, rtol=0, atol=1e-12)


def values_of(session: AnnotatedSession) -> NDArray[np.float64]:
    """Return the values of each therapist with each client."""
    return RECURRENCE.values(pooled(session, RECURRENCE.represent), *sides_of(pool_of(session)))


def test_long_sessions_are_shuffled_in_sections(
    sessions: list[AnnotatedSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In sections of one turn nothing is shuffled: every draw is the session itself."""
    monkeypatch.setattr("therapy_analytics.measures.synchrony.recurrence.SECTION", 1)
    found = session_result(RECURRENCE, replace(sessions[0]))
    defined = ~np.isnan(found.values)
    np.testing.assert_allclose(found.shuffled.mean[defined], found.values[defined])
    np.testing.assert_allclose(found.shuffled.sd[defined], 0, atol=1e-12)


# --- sessions in donors ----------------------------------------------------------------------------------------------


def _session(name: str, generator: np.random.Generator, *, follow: bool) -> Session:
    """Fifteen exchanges over 40 words; the client says half of the therapist's words again, or does not."""
    words = np.array([f"word{chr(97 + i // 7)}{chr(97 + i % 7)}" for i in range(40)])
    turns = []
    said = words[:8]
    for i in range(30):
        own = generator.choice(words, 8)
        said = np.concatenate([said[:4], own[4:]]) if follow and i % 2 else own
        role = "client" if i % 2 else "therapist"
        turns.append(Turn(index=i, speaker=role, role=role, text=" ".join(said), first_row=i + 1))  # type: ignore[arg-type]
    return Session(id=name, source_file="made.txt", turns=tuple(turns))


@pytest.fixture(scope="module")
def sessions() -> list[AnnotatedSession]:
    generator = np.random.default_rng(4)
    made = [_session(f"s{i}", generator, follow=i < 3) for i in range(11)]
    matcher = Matcher(builtin_lexicons())
    (donors,) = donors_by_length(choose_donors(made), lambda some: annotate(some, matcher)).values()
    return [replace(one, donors=donors) for one in annotate(made, matcher)]


def test_who_takes_words_up_is_found_beside_both_baselines(sessions: list[AnnotatedSession]) -> None:
    found = [recurrence(one) for one in sessions]
    for name in ("recurrence_rate", "recurrence_determinism"):
        for chance in ("z", "strangers_z"):
            assert min(one[f"{name}_{chance}"] for one in found[:3]) > 2, (name, chance)
            assert abs(np.mean([one[f"{name}_{chance}"] for one in found[3:]])) < 1.5, (name, chance)
    assert min(one["recurrence_balance_z"] for one in found[:3]) > 2  # the client follows


def test_alone_and_in_a_batch(sessions: list[AnnotatedSession]) -> None:
    matcher = Matcher(builtin_lexicons())
    for one in sessions[::3]:
        (alone,) = annotate([one.session], matcher)
        alone = replace(alone, donors=one.donors)
        assert recurrence(alone) == pytest.approx(recurrence(one), rel=0, abs=0, nan_ok=True)
