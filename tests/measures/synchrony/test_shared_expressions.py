"""Shared expressions by hand, against the definition spelt out, and of written-out surrogates."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.surrogate_tables import two_way
from therapy_analytics.core.session import Session, Turn
from therapy_analytics.measures.null.surrogates import TokenRows, pool_of
from therapy_analytics.measures.synchrony import shared_expressions as measured
from therapy_analytics.measures.synchrony.ngrams import ngrams_in
from therapy_analytics.measures.synchrony.shared_expressions import (
    EXPRESSIONS,
    SharedExpressions,
    expressions_of,
    of_speaker,
    self_repetition,
)
from therapy_analytics.measures.synchrony.whole_session import Side
from therapy_analytics.text import AnnotatedSession, annotate, builtin_lexicons
from therapy_analytics.text.donors import choose_donors, donors_by_length, length_class
from therapy_analytics.text.lexicons import Matcher

Turns = list[tuple[int, list[str]]]
T, C, OTHER = 0, 1, 2

# Free occurrences (sequences that both use, in no longer one of the turn) in brackets:
#   0 T  [so] how [was] your [week]
#   1 C  my [week was hard]
#   2 T  your [week was hard] [so]
#   3 C  [hard] yes [so] [hard]
# lexicon         first by T  first by C  first free  established  begun by
# so                  0           3           0            3          T
# was                 0           1           0            1          T
# week                0           1           0            1          T
# week was hard       2           1           1            2          C
# hard                2           1           3            3          C
WEEK = "T so how was your week | C my week was hard | T your week was hard so | C hard yes so hard"


def turns_of(text: str) -> Turns:
    turns = (turn.split() for turn in text.split("|"))
    return [("TCO".index(role), words) for role, *words in turns]


def arrays(turns: Turns) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """Ids, offsets, roles and the spelling of each id."""
    known: dict[str, int] = {}
    ids = [known.setdefault(word, len(known)) for _, words in turns for word in words]
    offsets = np.cumsum([0, *(len(words) for _, words in turns)])
    return np.array(ids, dtype=np.int32), offsets, np.array([role for role, _ in turns], dtype=np.int8), list(known)


def tokens_of(turns: Turns, *, words: str = "") -> TokenRows:
    """Return turns as tokens; those of other characters than letters are no words, if so asked."""
    ids, offsets, _, spelt = arrays(turns)
    verbal = np.array([not words or any(map(str.isalnum, word)) for word in spelt], dtype=np.uint64)
    return TokenRows(np.stack([ids.astype(np.uint64), verbal[ids]], axis=1), offsets)


def shared(turns: Turns | str, *, words: str = "") -> SharedExpressions:
    turns = turns_of(turns) if isinstance(turns, str) else turns
    rows = ngrams_in(tokens_of(turns, words=words))
    at = [np.array([i for i, (role, _) in enumerate(turns) if role == side], dtype=np.int64) for side in (T, C)]
    return expressions_of(*(of_speaker(Side(side, rows[at[side]], at[side], at[1 - side])) for side in (T, C)))


def per_turn(turns: Turns | str) -> Any:
    """Return the shares of repetition of all turns, in order; of two who take part."""
    turns = turns_of(turns) if isinstance(turns, str) else turns
    found, each = shared(turns).per_turn, np.full(len(turns), np.nan)
    for side in (T, C):
        each[[i for i, (role, _) in enumerate(turns) if role == side]] = found[side]
    return each


def own(text: str, role: int) -> float:
    tokens = tokens_of([turn for turn in turns_of(text) if turn[0] == role])
    at = np.arange(len(tokens))
    return self_repetition(of_speaker(Side(role, ngrams_in(tokens), at, at)))


class TestByHand:
    def test_values_that_a_reader_can_count(self) -> None:
        found = shared(WEEK)
        assert found.n_expressions == 5
        assert found.variety == pytest.approx(5 / 18)
        assert found.initiated == pytest.approx(3 / 5)

    def test_repetition_counts_established_expressions_only(self) -> None:
        """Turn 2: three of five tokens ("so" is established in turn 3). Turn 3: hard, so, hard."""
        found = shared(WEEK)
        np.testing.assert_allclose(per_turn(WEEK), [0, 0, 3 / 5, 3 / 4])
        assert found.repetition == pytest.approx(6 / 18)
        assert found.repetition_by == pytest.approx([3 / 10, 3 / 8])

    def test_lengths_are_those_of_instances(self) -> None:
        """3 in turn 0, 1 in turn 1, 2 in turn 2, 2 in turn 3 ("hard" once): six of one token, two of three."""
        found = shared(WEEK)
        assert found.mean_length == 12 / 8
        assert found.entropy == pytest.approx(-(0.75 * log(0.75) + 0.25 * log(0.25)))

    def test_self_repetition(self) -> None:
        """T repeats so, was, "your week", which cover 4 of 5 tokens in each turn. C repeats hard, 3 of 8."""
        assert (own(WEEK, T), own(WEEK, C)) == pytest.approx((0.8, 3 / 8))

    def test_a_longer_repeat_is_not_hidden_by_its_parts(self) -> None:
        """ "b" never stands free, so the lexicon is "a b c" alone."""
        found = shared("T a b c | C a b c | T x")
        assert (found.n_expressions, found.mean_length, found.repetition) == (1, 3, 3 / 7)

    def test_no_expression_reaches_over_the_end_of_a_turn(self) -> None:
        """T "a", "b" in two turns, C "a b": shared are a and b, not "a b"."""
        found = shared("T a | T b | C a b")
        assert (found.n_expressions, found.mean_length) == (2, 1)

    def test_punctuation_alone_is_no_expression(self) -> None:
        """Of ". yes" and ". ." shared: "." alone is dropped, ". yes" stays."""
        found = shared("T . yes . no | C . yes but .", words="letters")
        assert (found.n_expressions, found.mean_length) == (1, 2)
        assert shared("T . yes . no | C . yes but .").n_expressions == 2


def naive(turns: Turns) -> dict[str, float]:
    """The definition spelt out: every sequence, every occurrence, free when no larger one holds it."""

    def runs(words: Sequence[str]) -> set[tuple[int, int]]:
        return {(i, j) for i in range(len(words)) for j in range(i + 1, len(words) + 1)}

    used = [{tuple(w[i:j]) for role, w in turns if role == side for i, j in runs(w)} for side in (T, C)]
    places = [{(i, j) for i, j in runs(w) if tuple(w[i:j]) in used[T] & used[C]} for _, w in turns]
    free = [{(i, j) for i, j in here if not any(a <= i and j <= b and (a, b) != (i, j) for a, b in here)}
            for here in places]  # fmt: skip
    at = [{tuple(turns[n][1][i:j]) for i, j in here} for n, here in enumerate(free)]
    lexicon = set().union(*at)
    first = {e: [min(n for n, (role, w) in enumerate(turns) if role == side and any(tuple(w[i:j]) == e
             for i, j in runs(w))) for side in (T, C)] for e in lexicon}  # fmt: skip
    since = {e: max(*first[e], min(n for n in range(len(turns)) if e in at[n])) for e in lexicon}
    covered = [len({k for i, j in here for k in range(i, j) if n >= since[tuple(turns[n][1][i:j])]})
               for n, here in enumerate(free)]  # fmt: skip
    n_tokens = sum(len(w) for _, w in turns)
    sizes = [len(e) for here in at for e in here]
    return {
        "n_expressions": len(lexicon),
        "repetition": sum(covered) / n_tokens,
        "mean_length": float(np.mean(sizes)) if sizes else np.nan,
        "begun": sum(t < c for t, c in first.values()),
    }


turn_lists = st.lists(st.tuples(st.integers(0, 1), st.lists(st.sampled_from("abc"), max_size=7)), max_size=7)


class TestAlways:
    @settings(max_examples=60, deadline=None)
    @given(turn_lists)
    def test_as_the_definition_says(self, turns: Turns) -> None:
        both = [(T, ["t"]), (C, ["c"]), *turns]
        expected, found = naive(both), shared(both)
        assert found.n_expressions == expected["n_expressions"]
        assert found.repetition == pytest.approx(expected["repetition"])
        assert found.mean_length == pytest.approx(expected["mean_length"], nan_ok=True)
        if found.n_expressions:
            assert found.initiated * found.n_expressions == pytest.approx(expected["begun"])
        assert 0 <= found.variety <= 1
        assert found.repetition <= 1

    @settings(max_examples=30, deadline=None)
    @given(turn_lists)
    def test_swapped_speakers(self, turns: Turns) -> None:
        """All stays but what is of one of the two, which changes sides."""
        one, other = shared(turns), shared([(1 - role, words) for role, words in turns])
        np.testing.assert_array_equal(per_turn(turns), per_turn([(1 - role, words) for role, words in turns]))
        for name in ("variety", "repetition", "entropy", "mean_length"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        np.testing.assert_array_equal(one.repetition_by, other.repetition_by[::-1])
        np.testing.assert_allclose(one.initiated, 1 - other.initiated, atol=1e-12)

    def test_others_do_not_matter(self) -> None:
        with_other = shared(WEEK.replace("| C my", "| O week was hard so | C my"))
        _same(with_other, shared(WEEK))

    def test_no_common_word(self) -> None:
        found = shared("T a b | C c d")
        assert [found.variety, found.repetition, *found.repetition_by] == [0, 0, 0, 0]
        assert np.isnan([found.entropy, found.mean_length, found.initiated]).all()

    @pytest.mark.parametrize("text", ["T a b a", "O a | O a", "C a | T", "T"])
    def test_one_speaker_is_undefined(self, text: str) -> None:
        found = shared(text)
        assert np.isnan([found.variety, found.repetition, found.entropy, *found.repetition_by, found.initiated]).all()

    def test_nothing_at_all(self) -> None:
        nothing = TokenRows(np.zeros((0, 2), dtype=np.uint64), np.zeros(1, dtype=np.int64))
        assert np.isnan(self_repetition(of_speaker(Side(T, ngrams_in(nothing), np.arange(0), np.arange(0)))))


def test_long_texts_in_reasonable_time() -> None:
    """A session of 2,000 turns, and one that says the same 300 tokens twice."""
    generator = np.random.default_rng(0)
    words = (generator.zipf(1.3, 40_000) % 5_000).astype(str).tolist()
    start = time.process_time()
    shared([(i % 2, words[20 * i : 20 * i + 20]) for i in range(2_000)])
    assert shared([(T, words[:300]), (C, words[:300])]).mean_length == 300
    assert time.process_time() - start < 5


def _same(one: SharedExpressions, other: SharedExpressions) -> None:
    for mine, theirs in zip(one.per_turn, other.per_turn, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    for name in set(one.__slots__) - {"per_turn"}:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


NAMES = EXPRESSIONS.values


def values(session: AnnotatedSession) -> dict[str, Any]:
    return dict(measured.shared_expressions(session))


class TestColumns:
    """Sessions as they are read."""

    def test_values_that_a_reader_can_count(self, make: Callable[..., AnnotatedSession]) -> None:
        """The talk at the top of this file: five expressions, 18 tokens, instances of one (6) and three (2)."""
        found = values(make([tuple(turn.strip().split(" ", 1)) for turn in WEEK.split("|")]))
        expected = {
            "expression_variety": 5 / 18,
            "expression_repetition": 6 / 18,
            "expression_entropy": -(0.75 * log(0.75) + 0.25 * log(0.25)),
            "expression_mean_length": 12 / 8,
            "expression_repetition_therapist": 3 / 10,
            "expression_repetition_client": 3 / 8,
            "expression_initiated_therapist": 3 / 5,
            "therapist_self_repetition": 8 / 10,
            "client_self_repetition": 3 / 8,
        }
        assert {name: found[name] for name in expected} == pytest.approx(expected)
        np.testing.assert_allclose(found["expression_repetition_turn"], [0, 0, 3 / 5, 3 / 4])
        assert np.isnan([found[f"{name}_surrogate_mean"] for name in NAMES]).all()

    def test_punctuation_case_and_others(self, make: Callable[..., AnnotatedSession]) -> None:
        """T "I see ." C "see ?" T "you see .": 8 tokens; shared is "see", established in turn 2; 1 of 2, 1 of 3."""
        found = values(make([("T", "I see."), ("O", "See?"), ("C", "See?"), ("O", "..."), ("T", "You see.")]))
        assert found["expression_variety"] == 1 / 8
        assert found["expression_mean_length"] == 1
        np.testing.assert_allclose(found["expression_repetition_turn"], [0, np.nan, 1 / 2, np.nan, 1 / 3])
        assert found["therapist_self_repetition"] == 4 / 6  # "see ." twice

    @pytest.mark.parametrize(
        "talk", [[], [("T", "How are you?")], [("T", "..."), ("C", "!!")], [("O", "a"), ("C", "a")]]
    )
    def test_nothing_is_undefined(self, make: Callable[..., AnnotatedSession], talk: list[tuple[str, str]]) -> None:
        found = values(make(talk))
        own = found.pop("therapist_self_repetition"), found.pop("client_self_repetition")
        assert all(np.isnan(value).all() for value in found.values())
        assert sum(np.isnan(own)) == 2 - sum(any(c.isalpha() for c in text) for who, text in talk if who in "TC")

    def test_nothing_in_common(self, make: Callable[..., AnnotatedSession]) -> None:
        found = values(make([("T", "How are you"), ("C", "fine")]))
        assert (found["expression_variety"], found["expression_repetition"]) == (0, 0)
        assert np.isnan([found["expression_mean_length"], found["expression_initiated_therapist"]]).all()


def crowd(n: int = 12) -> list[Session]:
    """Sessions of 24 turns out of few words, so that there are repeats; some turns of others, some without words."""
    generator = np.random.default_rng(7)
    words = [*"abcde.,?", "so", "it", "was", "hard", "you", "and", "know", "don't"]
    sessions = []
    for k in range(n):
        roles = ["other" if i == 5 else ("client", "therapist")[i % 2] for i in range(24)]
        texts = ["..." if i == 8 else " ".join(generator.choice(words, generator.integers(4, 8))) for i in range(24)]
        turns = tuple(
            Turn(index=i, speaker=role, role=role, text=text, first_row=i + 1)  # type: ignore[arg-type]
            for i, (role, text) in enumerate(zip(roles, texts, strict=True))
        )
        sessions.append(Session(id=f"s{k}", source_file="s.txt", turns=turns))
    return sessions


def read(sessions: Sequence[Session], others: Sequence[Session]) -> list[AnnotatedSession]:
    matcher = Matcher(builtin_lexicons())
    donors = donors_by_length(choose_donors(others), lambda some: annotate(some, matcher))
    return [replace(one, donors=donors.get(length_class(one.session))) for one in annotate(sessions, matcher)]


def lower(session: AnnotatedSession, turn: int) -> list[str]:
    tokens, (begin, end) = session.turns.tokens, session.turns.offsets[turn : turn + 2]
    return [tokens.lower[i] for i in tokens.ids[begin:end]]


def test_surrogate_pairs_as_dialogues_written_out() -> None:
    """Each surrogate dialogue, as words, measured by itself."""
    for session in read(crowd(), crowd())[:2]:
        found, pool = values(session), pool_of(session)
        assert session.donors is not None
        words = [lower(session, at) for at in range(len(session))]
        words += [lower(session.donors.whole, at) for at in pool.donated]
        tables = np.empty((len(NAMES), 6, 6))
        for therapist, client in np.ndindex(6, 6):
            speakers = (T, therapist), (C, client)
            places = [
                (side, zip(pool.speakers[side][0], pool.speakers[side][one], strict=True)) for side, one in speakers
            ]
            turns = [(at, (side, words[i])) for side, pairs in places for at, i in pairs]
            one = shared([turn for _, turn in sorted(turns, key=lambda turn: turn[0])], words="letters")
            lengths = one.entropy, one.mean_length
            tables[:, therapist, client] = [one.variety, one.repetition, *lengths, *one.repetition_by, one.initiated]
        for name, table in zip(NAMES, tables, strict=True):
            multiplied = name == "expression_variety"
            mean, sd, z, p = two_way(np.log(table) if multiplied else table, two_sided="initiated" in name)
            if multiplied:
                mean, z = np.exp(mean), (table[0, 0] / np.exp(mean) - 1) / sd
            shown = [found[f"{name}_{end}"] for end in ("surrogate_mean", "surrogate_z", "surrogate_p")]
            assert shown == pytest.approx([mean, z, p], rel=1e-6)
