"""Recurrence of sessions: by hand, and counts of runs against lines that are followed one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from therapy_analytics.language import AnnotatedSession, annotate, builtin_lexicons
from therapy_analytics.language.company import choose_strangers, companies
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.measures.synchrony import _recurrence_counts
from therapy_analytics.measures.synchrony._recurrence_counts import (
    NAMES,
    counts_in_order,
    counts_in_orders,
    counts_of,
    values_of_counts,
)
from therapy_analytics.measures.synchrony._recurrence_points import Ints
from therapy_analytics.measures.synchrony._recurrence_runs import LONGEST, kind_of, runs_of
from therapy_analytics.measures.synchrony._recurrence_said import session_runs
from therapy_analytics.measures.synchrony._recurrence_values import Floats
from therapy_analytics.measures.synchrony._whole import Side, whole_outcome
from therapy_analytics.measures.synchrony.recurrence import (
    CLASSES,
    REACH,
    WORDS,
    Series,
    class_series,
    cross_recurrence,
    recurrence,
    word_series,
)
from therapy_analytics.session import Session, Turn

# --- sessions that a reader can count -------------------------------------------------------------------------------


def test_words_by_hand(make) -> None:  # type: ignore[no-untyped-def]
    """ "you feel lost" / "I feel lost": 2 like pairs of 9, both on one line of 2; the client is never earlier."""
    values = recurrence(make([("T", "You feel lost."), ("C", "I feel lost!")]))
    assert values["recurrence_rate"] == pytest.approx(2 / 9)
    assert (values["recurrence_determinism"], values["recurrence_mean_line"]) == (1, 2)
    assert np.isnan(values["recurrence_balance"])
    assert np.isnan(values["recurrence_rate_null"])  # one turn each: chance is not asked


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


def _talk(generator: np.random.Generator, turns: int, vocabulary: int) -> tuple[Series, Series]:
    turn = np.repeat(np.arange(turns), 1 + generator.poisson(4, turns))
    ids = generator.integers(-1, vocabulary, len(turn))
    x, y = (Series(ids[turn % 2 == side], turn[turn % 2 == side]) for side in (0, 1))
    return x, y


def _sides(x: Series, y: Series) -> tuple[Side, Side]:
    """The two of a session, whose turns stand where they do in the series."""
    ids, turn = np.concatenate([x.ids, y.ids]), np.concatenate([x.turn, y.turn])
    order = np.argsort(turn, kind="stable")
    runs = runs_of((ids + 1).astype(np.uint64), order, turn[order], int(turn.max(initial=-1)) + 1)
    therapist, client = (Side(runs, turns, turns) for turns in (np.unique(x.turn), np.unique(y.turn)))
    return therapist, client


def _moved(y: Series, order: Ints) -> Series:
    """The client's turns in another order, at the places where turns of the client stand."""
    places = np.unique(y.turn)
    turns = [y.ids[y.turn == places[which]] for which in order]
    return Series(np.concatenate(turns), np.repeat(places, [len(one) for one in turns]))


def _assert_same(found: Floats, x: Series, y: Series, reach: int) -> None:
    expected = cross_recurrence(x, y, reach=reach, cut_at_turns=True)
    for name, value in zip(NAMES, found, strict=True):
        np.testing.assert_allclose(value, getattr(expected, name), rtol=1e-12, atol=1e-15, err_msg=name)


@pytest.mark.parametrize("most", [0, 10**9])
@pytest.mark.parametrize("vocabulary", [1, 2, 5, 40])
@pytest.mark.parametrize("reach", [1, 3, 50])
def test_the_same_as_the_plot(vocabulary: int, reach: int, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether runs are counted beforehand or searched."""
    monkeypatch.setattr(_recurrence_counts, "_CELLS", most)
    generator = np.random.default_rng(vocabulary)
    for turns in (2, 5, 30):
        x, y = _talk(generator, turns, vocabulary)
        _assert_same(values_of_counts(counts_of(*_sides(x, y), reach=reach)), x, y, reach)


@pytest.mark.parametrize("vocabulary", [1, 3, 20])
def test_an_order_is_a_sum_over_pairs_of_turns(vocabulary: int) -> None:
    generator = np.random.default_rng(1)
    x, y = _talk(generator, 24, vocabulary)
    orders = np.array([np.arange(12), *(generator.permutation(12) for _ in range(5))])
    counts = counts_in_order(*_sides(x, y), orders, reach=3)
    np.testing.assert_array_equal(counts[:, :, 0], counts_of(*_sides(x, y), reach=3))
    for row, order in enumerate(orders):
        _assert_same(values_of_counts(counts)[:, row], x, _moved(y, order), 3)


def _dense(x: Series, y: Series, reach: int) -> Floats:
    """Counts of runs, each compared with each in a matrix: the definition."""
    lag = y.turn[None] - x.turn[:, None]
    plot = (x.ids[:, None] == y.ids) & (x.ids[:, None] >= 0)
    found = np.zeros((2, 4))
    for row, near in enumerate(((lag < 0) & (lag >= -reach), (lag > 0) & (lag <= reach))):
        alike = plot & near
        found[row, :2] = near.sum(), alike.sum()
        same = (np.diff(x.turn) == 0)[:, None] & (np.diff(y.turn) == 0)
        pairs = alike[:-1, :-1] & plot[1:, 1:] & same
        found[row, 2:] = pairs.sum(), (pairs[:-1, :-1] & pairs[1:, 1:]).sum()
    return found


@pytest.mark.parametrize("reach", [1, 3, 50])
def test_shuffled_counts_are_those_of_the_matrix(reach: int) -> None:
    """The first is the session as it is."""
    x, y = _talk(np.random.default_rng(5), 24, 3)
    found = counts_in_orders(*_sides(x, y), np.random.default_rng(0), reach=reach, draws=9)
    orders = np.random.default_rng(0).permuted(np.tile(np.arange(12), (9, 1)), axis=1)
    for draw, order in enumerate([np.arange(12), *orders]):
        np.testing.assert_array_equal(found[:, :, draw], _dense(x, _moved(y, order), reach))


def test_long_sessions_are_shuffled_in_sections(monkeypatch: pytest.MonkeyPatch) -> None:
    """30 turns of the client in five sections of six: each keeps its own turns."""
    x, y = _talk(np.random.default_rng(2), 60, 5)
    monkeypatch.setattr(_recurrence_counts, "SECTION", 7)
    found = counts_in_orders(*_sides(x, y), np.random.default_rng(0), reach=3, draws=9)
    generator = np.random.default_rng(0)
    parts = [generator.permuted(np.tile(np.arange(6), (9, 1)), axis=1) + 6 * part for part in range(5)]
    for draw, order in enumerate([np.arange(30), *np.concatenate(parts, axis=1)]):
        np.testing.assert_array_equal(found[:, :, draw], _dense(x, _moved(y, order), 3))


def test_the_rate_of_the_whole_plot_knows_no_order() -> None:
    x, y = _talk(np.random.default_rng(8), 30, 12)
    whole, near = (
        values_of_counts(counts_in_orders(*_sides(x, y), np.random.default_rng(0), reach=reach, draws=20))[0]
        for reach in (30, 5)
    )
    assert len(set(whole)) == 1
    assert len(set(near)) > 1


def test_all_runs_of_classes_have_different_codes() -> None:
    """9 + 81 + 729 runs of one to three of nine classes."""
    keys = np.array([(a, b, c) for a in range(1, 10) for b in range(1, 10) for c in range(1, 10)], dtype=np.uint64)
    runs = runs_of(keys.ravel(), np.arange(keys.size), np.repeat(np.arange(len(keys)), 3), len(keys))
    assert np.bincount(kind_of(runs.types)).tolist() == [9, 81, 729]


@pytest.mark.parametrize("most", [0, 10**9])
def test_a_stranger_stands_where_the_turn_stood(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Either of the two may be the stranger; the words of some are unknown to the other."""
    monkeypatch.setattr(_recurrence_counts, "_CELLS", most)
    x, y = _talk(np.random.default_rng(3), 6, 6)
    theirs, _ = _talk(np.random.default_rng(4), 20, 9)
    runs = runs_of((theirs.ids + 1).astype(np.uint64), np.arange(len(theirs)), theirs.turn, 20)
    own = _sides(x, y)
    for turns in (np.array([6, 6, 2]), np.array([0, 18, 4])):  # a stranger's turn may be taken twice
        words = [theirs.ids[theirs.turn == one] for one in turns]
        for exchanged in (0, 1):
            at = own[exchanged].at
            sides, series = list(own), [x, y]
            sides[exchanged] = Side(runs, turns, at)
            series[exchanged] = Series(np.concatenate(words), np.repeat(at, [len(one) for one in words]))
            np.testing.assert_array_equal(counts_of(*sides, reach=3), _dense(series[0], series[1], 3))


def test_a_wall_of_one_word_is_counted_without_making_its_points() -> None:
    n = 20_000
    runs = runs_of(np.array([5], dtype=np.uint64), np.zeros(2 * n, dtype=np.int64), np.repeat([0, 1], n), 2)
    later = counts_of(*(Side(runs, np.array([one]), np.array([one])) for one in (0, 1)), reach=1)[1]
    assert later.tolist() == [n**2, n**2, (n - 1) ** 2, (n - 2) ** 2]


# --- sessions in company ----------------------------------------------------------------------------------------------


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
    (company,) = companies(choose_strangers(made), lambda some: annotate(some, matcher)).values()
    return [replace(one, company=company) for one in annotate(made, matcher)]


def test_who_takes_words_up_is_found_beside_both_baselines(sessions: list[AnnotatedSession]) -> None:
    found = [recurrence(one) for one in sessions]
    for name in ("recurrence_rate", "recurrence_determinism"):
        for chance in ("z", "strangers_z"):
            assert min(one[f"{name}_{chance}"] for one in found[:3]) > 2, (name, chance)
            assert abs(np.mean([one[f"{name}_{chance}"] for one in found[3:]])) < 1.5, (name, chance)
    assert min(one["recurrence_balance_z"] for one in found[:3]) > 2  # the client follows


def test_alone_and_in_a_batch(sessions: list[AnnotatedSession]) -> None:
    """What is made for the batch as a whole has nothing of the sessions before and behind, but for numbers of types."""
    matcher = Matcher(builtin_lexicons())
    for one in sessions[::3]:
        (alone,) = annotate([one.session], matcher)
        alone = replace(alone, company=one.company)
        mine, its = session_runs(alone), session_runs(one)
        of_batch = its.ids[:, its.starts[0] : its.starts[-1]]
        assert of_batch.shape == mine.ids.shape
        np.testing.assert_array_equal(mine.types[mine.ids][mine.ids >= 0], its.types[of_batch][mine.ids >= 0])
        np.testing.assert_array_equal(mine.ids < 0, of_batch < 0)
        assert recurrence(alone) == pytest.approx(recurrence(one), rel=0, abs=0, nan_ok=True)


def test_values_of_lines_are_those_of_the_session_alone(sessions: list[AnnotatedSession]) -> None:
    """Lines of a whole batch are followed at once; none runs from session to session."""
    for one in sessions:
        values, plot = recurrence(one), cross_recurrence(*word_series(one), cut_at_turns=True)
        for name in ("longest_line", "entropy", "laminarity", *NAMES):
            assert values[f"recurrence_{name}"] == pytest.approx(getattr(plot, name), nan_ok=True), name


def test_words_and_classes_together_are_each_alone() -> None:
    x, y = _talk(np.random.default_rng(6), 20, 5)
    ids, turn = np.concatenate([x.ids, y.ids]), np.concatenate([x.turn, y.turn])
    order = np.argsort(turn, kind="stable")
    series = np.stack([ids + 1, ids // 2 + 1]).astype(np.uint64)
    turns = np.unique(x.turn), np.unique(y.turn)
    both, *each = (
        counts_of(*(Side(runs_of(some, order, turn[order], 20), of, of) for of in turns), reach=3)
        for some in (series, *series)
    )
    np.testing.assert_array_equal(both, np.concatenate([each[0], each[1][:, 1:]], axis=1))
    values = [values_of_counts(one) for one in (both, *each)]
    np.testing.assert_array_equal(values[0], np.concatenate(values[1:]))
    assert both.shape == (2, 1 + 2 * LONGEST)


def test_a_part_of_a_measure_has_its_columns_of_the_whole(sessions: list[AnnotatedSession]) -> None:
    found = [whole_outcome(kind, sessions[0]) for kind in (WORDS, CLASSES)]
    values = recurrence(sessions[0])
    for kind, one in zip((WORDS, CLASSES), found, strict=True):
        np.testing.assert_array_equal(one.values, [values[column.name] for column in kind.columns])
        np.testing.assert_array_equal(one.strangers.z, [values[f"{of.name}_strangers_z"] for of in kind.columns])
