"""Recurrence of sessions: by hand, and against plots that are built point by point."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from therapy_analytics.language import AnnotatedSession, annotate, builtin_lexicons
from therapy_analytics.language.donors import choose_donors, donors_by_length
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.measures.null.surrogates import pool_of
from therapy_analytics.measures.synchrony.recurrence import REACH, RECURRENCE, recurrence, values_of_counts
from therapy_analytics.measures.synchrony.whole_session import session_result, speakers_in
from therapy_analytics.session import Session, Turn

# --- sessions that a reader can count -------------------------------------------------------------------------------


def test_words_by_hand(make) -> None:  # type: ignore[no-untyped-def]
    """ "you feel lost" / "I feel lost": 2 like pairs of 9, both on one line of 2; the client is never earlier."""
    values = recurrence(make([("T", "You feel lost."), ("C", "I feel lost!")]))
    assert values["recurrence_rate"] == pytest.approx(2 / 9)
    assert (values["recurrence_determinism"], values["recurrence_mean_line"]) == (1, 2)
    assert np.isnan(values["recurrence_balance"])
    assert np.isnan(values["recurrence_rate_null_mean"])  # one turn each: no null distribution


def test_a_longer_line_and_a_point_alone(make) -> None:  # type: ignore[no-untyped-def]
    """Turn 1 repeats three words (a line of 3), turn 2 one of them: 4 points, of 3 * 4 + 4 * 2 pairs of words."""
    talk = [("T", "really so lost"), ("C", "really so lost here"), ("T", "lost again")]
    values = recurrence(make(talk))
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


def test_parts_of_contractions_have_their_own_class(make) -> None:  # type: ignore[no-untyped-def]
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
    talk = [("T", "so lost"), ("C", "so lost lost lost"), ("T", "I feel very"), ("C", "I feel very")]
    values = recurrence(make(talk))
    assert values["recurrence_longest_line"] == 3
    assert values["recurrence_entropy"] == pytest.approx(np.log(2))  # two lengths, each once
    assert values["recurrence_laminarity"] == pytest.approx(3 / 7)
    split = [("T", "so lost"), ("C", "so lost"), ("O", "mm"), ("C", "lost lost")]
    assert recurrence(make(split))["recurrence_laminarity"] == pytest.approx(2 / 4)  # cut where the turn ends


@pytest.mark.parametrize("talk", [[], [("T", "Hello")], [("T", "..."), ("C", "!")], [("O", "the"), ("T", "the")]])
def test_one_speaker_or_no_words_is_undefined(make, talk) -> None:  # type: ignore[no-untyped-def]
    assert all(np.isnan(value) for value in recurrence(make(talk)).values())


# --- against plots that are built point by point --------------------------------------------------------------------


def test_values_of_counts_by_hand() -> None:
    found = values_of_counts(np.array([10, 2, 0, 0.0]), np.array([20, 6, 2, 1.0]))
    assert found == pytest.approx([8 / 30, 3 / 8, 3, 6 / 20 - 2 / 10])
    assert np.isnan(values_of_counts(np.zeros(4), np.zeros(4))).all()


Talk = list[tuple[int, list[str]]]


def plot(turns: Talk, others: Talk) -> dict[str, float]:
    """Return the values of the plot of two speakers: turns with their place in the session, compared word by word."""
    n_cells, n_points, lines, vertical = Counter[bool](), Counter[bool](), list[int](), 0
    for (at, one), (place, other) in product(turns, others):
        if at == place or abs(at - place) > REACH:
            continue
        points = {(i, j) for i, j in product(range(len(one)), range(len(other))) if one[i] == other[j]}
        n_cells[place > at] += len(one) * len(other)
        n_points[place > at] += len(points)
        for i, j in points:
            length = next(n for n in range(1, 99) if (i + n, j + n) not in points)
            if (i - 1, j - 1) not in points and length > 1:
                lines.append(length)
            vertical += bool({(i, j - 1), (i, j + 1)} & points)
    total, all_points = sum(n_cells.values()), sum(n_points.values())
    shares = np.array([*Counter(lines).values()]) / max(len(lines), 1)
    rates = {later: n_points[later] / n_cells[later] if n_cells[later] else np.nan for later in (True, False)}
    return {
        "rate": all_points / total if total else np.nan,
        "determinism": sum(lines) / all_points if all_points else np.nan,
        "mean_line": float(np.mean(lines)) if lines else np.nan,
        "balance": rates[True] - rates[False],
        "longest_line": max(lines, default=np.nan),
        "entropy": float(-(shares @ np.log(shares))) if lines else np.nan,
        "laminarity": vertical / all_points if all_points else np.nan,
    }


TURNS = st.lists(st.tuples(st.sampled_from("TCO"), st.lists(st.sampled_from("xyz"), max_size=6)), max_size=9)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TURNS)
def test_sessions_are_those_of_their_plots(make, turns: list[tuple[str, list[str]]]) -> None:  # type: ignore[no-untyped-def]
    values = recurrence(make([(who, " ".join(words)) for who, words in turns]))
    sides = [[(at, words) for at, (who, words) in enumerate(turns) if who == side] for side in "TC"]
    expected = {f"recurrence_{name}": value for name, value in plot(*sides).items()}
    assert {name: values[name] for name in expected} == pytest.approx(expected, nan_ok=True, abs=1e-12)


def test_surrogate_pairs_are_those_of_their_plots(sessions: list[AnnotatedSession]) -> None:
    session, pool = sessions[0], pool_of(sessions[0])
    assert session.donors is not None
    texts = [*(turn.text for turn in session.session.turns)]
    texts += [session.donors.whole.session.turns[at].text for at in pool.donated.tolist()]
    therapists, clients = speakers_in(RECURRENCE, session, surrogates=True)
    for chosen in ((0, 0), (0, 2), (3, 0), (4, 1)):
        sides = [
            [(at, texts[turn].split()) for at, turn in zip(turns[0].tolist(), turns[one].tolist(), strict=True)]
            for turns, one in zip(pool.speakers, chosen, strict=True)
        ]
        expected = plot(*sides)
        found = RECURRENCE.score(therapists[chosen[0]], clients[chosen[1]])
        wanted = [expected[name] for name in ("rate", "determinism", "mean_line", "balance")]
        np.testing.assert_allclose(np.asarray(found)[:4], wanted, rtol=0, atol=1e-12)


def test_long_sessions_are_shuffled_in_sections(
    sessions: list[AnnotatedSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In sections of one turn nothing is shuffled: every draw is the session itself."""
    monkeypatch.setattr("therapy_analytics.measures.synchrony.recurrence.SECTION", 1)
    found = session_result(RECURRENCE, replace(sessions[0]))
    defined = ~np.isnan(found.values)
    np.testing.assert_allclose(found.shuffled.mean[defined], found.values[defined])
    np.testing.assert_allclose(found.shuffled.sd[defined], 0, atol=1e-12)


# --- sessions with donors ---------------------------------------------------------------------------------------------


def _session(name: str, generator: np.random.Generator, *, follow: bool) -> Session:
    """Fifteen exchanges over 40 words; the client says half of the therapist's words again, or does not."""
    words = np.array([f"word{chr(97 + i // 7)}{chr(97 + i % 7)}" for i in range(40)])
    turns = []
    spoken = words[:8]
    for i in range(30):
        own = generator.choice(words, 8)
        spoken = np.concatenate([spoken[:4], own[4:]]) if follow and i % 2 else own
        role = "client" if i % 2 else "therapist"
        turns.append(Turn(index=i, speaker=role, role=role, text=" ".join(spoken), first_row=i + 1))  # type: ignore[arg-type]
    return Session(id=name, source_file="made.txt", turns=tuple(turns))


@pytest.fixture(scope="module")
def sessions() -> list[AnnotatedSession]:
    generator = np.random.default_rng(4)
    made = [_session(f"s{i}", generator, follow=i < 3) for i in range(11)]
    matcher = Matcher(builtin_lexicons())
    (donors,) = donors_by_length(choose_donors(made), lambda some: annotate(some, matcher)).values()
    return [replace(one, donors=donors) for one in annotate(made, matcher)]


def test_who_takes_words_up_is_found_beside_both_null_distributions(sessions: list[AnnotatedSession]) -> None:
    found = [recurrence(one) for one in sessions]
    for name in ("recurrence_rate", "recurrence_determinism"):
        for z in ("z", "surrogate_z"):
            assert min(one[f"{name}_{z}"] for one in found[:3]) > 2, (name, z)
            assert abs(np.mean([one[f"{name}_{z}"] for one in found[3:]])) < 1.5, (name, z)
    assert min(one["recurrence_balance_z"] for one in found[:3]) > 2  # the client follows


def test_alone_and_in_a_batch(sessions: list[AnnotatedSession]) -> None:
    matcher = Matcher(builtin_lexicons())
    for one in sessions[::3]:
        (alone,) = annotate([one.session], matcher)
        alone = replace(alone, donors=one.donors)
        assert recurrence(alone) == pytest.approx(recurrence(one), rel=0, abs=0, nan_ok=True)
