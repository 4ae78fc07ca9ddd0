"""Shared expressions by hand, against the definition spelt out, and against two programs."""

from __future__ import annotations

import csv
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from math import log, log2
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surrogate_tables import table_of, two_way
from therapy_analytics.language import AnnotatedSession, annotate, builtin_lexicons
from therapy_analytics.language.company import choose_strangers, companies, length_class
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.measures.synchrony import _expressions_lent as lent
from therapy_analytics.measures.synchrony import shared_expressions as measured
from therapy_analytics.measures.synchrony._chance import EXCHANGES, spoken_turns, stranger_turns
from therapy_analytics.measures.synchrony._expressions import order_turns
from therapy_analytics.measures.synchrony.shared_expressions import (
    EXPRESSIONS,
    SelfExpressions,
    SharedExpressions,
    expressions_between,
    expressions_by_turn_pairs,
    expressions_of_dialogue,
    paired_expressions,
    self_expressions,
)
from therapy_analytics.session import Session, Turn

Said = list[tuple[int, list[str]]]
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


def said(text: str) -> Said:
    turns = (turn.split() for turn in text.split("|"))
    return [("TCO".index(role), words) for role, *words in turns]


def arrays(turns: Said) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[str]]:
    """Ids, offsets, roles and the spelling of each id."""
    known: dict[str, int] = {}
    ids = [known.setdefault(word, len(known)) for _, words in turns for word in words]
    offsets = np.cumsum([0, *(len(words) for _, words in turns)])
    return np.array(ids, dtype=np.int32), offsets, np.array([role for role, _ in turns], dtype=np.int8), list(known)


def shared(turns: Said | str) -> SharedExpressions:
    return expressions_of_dialogue(*arrays(said(turns) if isinstance(turns, str) else turns)[:3])


def own(text: str, role: int) -> SelfExpressions:
    return self_expressions(*arrays(said(text))[:3], role=role)


class TestByHand:
    def test_values_that_a_reader_can_count(self) -> None:
        found = shared(WEEK)
        assert (found.n_tokens, found.n_expressions) == (18, 5)
        assert found.variety == pytest.approx(5 / 18)
        assert found.initiated == pytest.approx((3 / 5, 2 / 5))

    def test_repetition_counts_established_expressions_only(self) -> None:
        """Turn 2: three of five tokens ("so" is established in turn 3). Turn 3: hard, so, hard."""
        found = shared(WEEK)
        np.testing.assert_allclose(found.per_turn, [0, 0, 3 / 5, 3 / 4])
        assert found.repetition == pytest.approx(6 / 18)
        assert found.repetition_by == pytest.approx((3 / 10, 3 / 8))
        assert found.establishment == pytest.approx(6 / 18)  # both turns are those that establish

    def test_lengths_are_those_of_instances(self) -> None:
        """3 in turn 0, 1 in turn 1, 2 in turn 2, 2 in turn 3 ("hard" once): six of one token, two of three."""
        found = shared(WEEK)
        assert (found.mean_length, found.max_length) == (12 / 8, 3)
        assert found.entropy == pytest.approx(-(0.75 * log2(0.75) + 0.25 * log2(0.25)))

    def test_self_expressions(self) -> None:
        """T repeats so, was, "your week": 3 for 10 tokens, which cover 4 of 5 in each turn. C repeats hard."""
        therapist, client = own(WEEK, T), own(WEEK, C)
        assert (therapist.n_expressions, therapist.variety, therapist.repetition) == (3, 0.3, 0.8)
        assert (therapist.mean_length, therapist.max_length) == (8 / 6, 2)
        assert (client.n_expressions, client.variety, client.repetition) == (1, 1 / 8, 3 / 8)
        assert (client.entropy, client.mean_length, client.max_length) == (0, 1, 1)

    def test_a_longer_repeat_is_not_hidden_by_its_parts(self) -> None:
        """ "b" never stands free, so the lexicon is "a b c" alone."""
        found = shared("T a b c | C a b c | T x")
        assert (found.n_expressions, found.max_length, found.repetition) == (1, 3, 3 / 7)

    def test_no_expression_reaches_over_the_end_of_a_turn(self) -> None:
        """T "a", "b" in two turns, C "a b": shared are a and b, not "a b"."""
        found = shared("T a | T b | C a b")
        assert (found.n_expressions, found.max_length) == (2, 1)

    def test_punctuation_alone_is_no_expression(self) -> None:
        """Of ". yes" and ". ." shared: "." alone is dropped, ". yes" stays."""
        ids, offsets, roles, words = arrays(said("T . yes . no | C . yes but ."))
        is_word = np.array([word.isalpha() for word in words])[ids]
        found = expressions_of_dialogue(ids, offsets, roles, words=is_word)
        assert (found.n_expressions, found.mean_length) == (1, 2)
        assert expressions_of_dialogue(ids, offsets, roles).n_expressions == 2


def naive(turns: Said) -> dict[str, float]:
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
    @given(turn_lists)
    def test_as_the_definition_says(self, turns: Said) -> None:
        both = [(T, ["t"]), (C, ["c"]), *turns]
        expected, found = naive(both), shared(both)
        assert found.n_expressions == expected["n_expressions"]
        assert found.repetition == pytest.approx(expected["repetition"])
        assert found.mean_length == pytest.approx(expected["mean_length"], nan_ok=True)
        if found.n_expressions:
            assert found.initiated[T] * found.n_expressions == pytest.approx(expected["begun"])
        assert 0 <= found.variety <= 1
        assert found.establishment <= found.repetition <= 1

    @given(turn_lists)
    def test_exchange_of_speakers(self, turns: Said) -> None:
        """All stays but what is of one of the two, which changes sides."""
        one, other = shared(turns), shared([(1 - role, words) for role, words in turns])
        for name in ("variety", "repetition", "establishment", "entropy", "mean_length", "max_length", "per_turn"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        np.testing.assert_array_equal(one.repetition_by, other.repetition_by[::-1])
        np.testing.assert_array_equal(one.initiated, other.initiated[::-1])

    @given(turn_lists, st.permutations(range(3)))
    def test_names_of_words_do_not_matter(self, turns: Said, names: list[int]) -> None:
        ids, offsets, roles, _ = arrays(turns)
        renamed = np.array([7 * name + 2 for name in names], dtype=np.int32)[ids]
        _same(expressions_of_dialogue(ids, offsets, roles), expressions_of_dialogue(renamed, offsets, roles))

    def test_others_and_neighbouring_sessions_do_not_matter(self) -> None:
        ids, offsets, roles, _ = arrays(said(f"C hard week | {WEEK} | T your week"))
        part = expressions_of_dialogue(ids, offsets[1:6], roles[1:5])
        _same(part, shared(WEEK))
        with_other = shared(WEEK.replace("| C my", "| O week was hard so | C my"))
        assert np.isnan(with_other.per_turn[1])
        assert (with_other.repetition, with_other.entropy) == (part.repetition, part.entropy)

    def test_no_common_word(self) -> None:
        found = shared("T a b | C c d")
        assert (found.variety, found.repetition, found.repetition_by) == (0, 0, (0, 0))
        assert np.isnan([found.entropy, found.mean_length, found.max_length, *found.initiated]).all()

    @pytest.mark.parametrize("text", ["T a b a", "O a | O a", "C a | T", "T"])
    def test_one_speaker_is_undefined(self, text: str) -> None:
        found = shared(text)
        values = [found.variety, found.repetition, found.establishment, found.entropy, *found.repetition_by]
        assert np.isnan([*values, *found.initiated, *found.per_turn]).all()

    def test_nothing_at_all(self) -> None:
        none = np.zeros(0, dtype=np.int64)
        found = expressions_of_dialogue(none, np.zeros(1, dtype=np.int64), none)
        assert np.isnan(found.variety)
        assert found.per_turn.shape == (0,)
        assert np.isnan(self_expressions(none, np.zeros(1, dtype=np.int64), none, role=T).variety)


class TestPairs:
    """A therapist with the client of another session."""

    def test_turns_are_filled_in_order_and_cut_where_they_run_out(self) -> None:
        """T a b, C c, T d, C e, T f with C b, T x: "a b", "b", "d", then no client turn is left."""
        ids, offsets, roles, _ = arrays(said("T a b | C c | T d | C e | T f | C b | T x"))
        found = paired_expressions(
            order_turns(ids, offsets), roles, therapist_of=np.arange(5), client_of=np.arange(5, 7)
        )
        _same(found, shared("T a b | C b | T d"))

    def test_with_itself_is_the_dialogue(self) -> None:
        ids, offsets, roles, _ = arrays(said(WEEK))
        order, all_turns = order_turns(ids, offsets), np.arange(4)
        _same(paired_expressions(order, roles, therapist_of=all_turns, client_of=all_turns), shared(WEEK))

    def test_an_order_of_many_sessions_gives_what_each_gives_alone(self) -> None:
        ids, offsets, roles, _ = arrays(said(f"{WEEK} | T hard so hard | C so hard a week"))
        order = order_turns(ids, offsets)
        _same(expressions_between(order, np.arange(4), roles[:4]), shared(WEEK))
        _same(expressions_between(order, np.arange(4, 6), roles[4:]), shared("T hard so hard | C so hard a week"))


four_turns = st.lists(st.lists(st.sampled_from("abc."), min_size=1, max_size=7), min_size=4, max_size=4)


class TestLent:
    """One side with each of several."""

    @staticmethod
    def spoken(turns: Sequence[Sequence[str]], heard: Sequence[Sequence[str]]) -> lent.Spoken:
        """Tokens are numbered as they are heard of others."""
        ids = np.array([ord(word) for turn in turns for word in turn], dtype=np.int64)
        known = np.unique([ord(word) for turn in heard for word in turn])
        offsets = np.cumsum([0, *map(len, turns)])
        words = ids != ord(".")
        return lent.Spoken(
            lent.numbered_among(known, ids), lent.until_word(words), lent.said_again(ids, offsets), offsets, len(known)
        )

    @pytest.mark.parametrize("cells", [lent._CELLS, 0], ids=["in a table", "numbered anew"])
    @given(
        own=st.tuples(four_turns, four_turns),
        others=st.tuples(*[st.lists(four_turns, min_size=1, max_size=3)] * 2),
    )
    def test_as_each_dialogue_by_itself(self, cells: int, own: Any, others: Any) -> None:
        """Turns 0, 2, 4, 6 are of the therapist; 1, 3, 5, 7 of the client."""
        mine, theirs = (
            [turn for side in own for turn in side],
            [turn for all_ in others for one in all_ for turn in one],
        )
        lent_turns = np.split(np.arange(len(theirs)).reshape(-1, 4), [len(others[0])])
        exchanges = [
            lent.Exchange(4 * role + np.arange(4), turns, role + 2 * np.arange(4), 1 - role + 2 * np.arange(4), role)
            for role, turns in enumerate(lent_turns)
        ]
        with mock.patch.object(lent, "_CELLS", cells):
            found = lent.expressions_with_each(self.spoken(mine, theirs), self.spoken(theirs, theirs), exchanges)
        for role, side in enumerate(own):
            for other, row in zip(others[role], found[role], strict=True):
                self.compare(row, (side, other) if role == T else (other, side))

    @staticmethod
    def compare(row: np.ndarray, sides: Any) -> None:
        talk = [(who, words) for pair in zip(*sides, strict=True) for who, words in zip((T, C), pair, strict=True)]
        ids, offsets, roles, spelt = arrays(talk)
        words = np.array([word != "." for word in spelt])[ids]
        one = expressions_of_dialogue(ids, offsets, roles, words=words)
        lengths = one.entropy * log(2), one.mean_length
        expected = [one.variety, one.repetition, *lengths, *one.repetition_by, one.initiated[T]]
        np.testing.assert_allclose(row, expected, rtol=1e-12, atol=1e-12)


class TestCost:
    def test_ten_thousand_turns(self) -> None:
        generator = np.random.default_rng(0)
        sizes = generator.poisson(20, 10_000)
        ids = (generator.zipf(1.3, sizes.sum()) % 5_000).astype(np.int32)
        offsets, roles = np.concatenate([[0], np.cumsum(sizes)]), np.arange(10_000) % 2
        assert _seconds(ids, offsets, roles) < 3

    @pytest.mark.parametrize("sizes", [[5_000, 5_000], [5_000, 1], [5_000, 3_000, 4_000, 1], range(1, 200)])
    def test_one_word_over_and_over(self, sizes: Sequence[int]) -> None:
        offsets = np.cumsum([0, *sizes])
        assert _seconds(np.zeros(offsets[-1], dtype=np.int32), offsets, np.arange(len(sizes)) % 2) < 1


class TestTurnPairs:
    """The rule of dialign_python."""

    def test_inside_is_a_matter_of_letters(self) -> None:
        """ "a" lies inside "what" by letters, so it is not free; the papers know two expressions."""
        turns = said("T what x a | C a y what")
        ids, offsets, roles, words = arrays(turns)
        assert expressions_by_turn_pairs(ids, offsets, roles, spellings=words).variety == 1 / 6
        assert shared(turns).n_expressions == 2

    def test_the_earlier_turn_of_the_pair_begins(self) -> None:
        """C says "b" first, inside "a b"; alone it is first free between turns 1 and 2."""
        ids, offsets, roles, words = arrays(said("C a b | T a b | C b"))
        found = expressions_by_turn_pairs(ids, offsets, roles, spellings=words)
        assert found.initiated == (0.5, 0.5)
        assert shared("C a b | T a b | C b").initiated == (0, 1)

    def test_undefined(self) -> None:
        ids, offsets, roles, words = arrays(said("T a | C b"))
        found = expressions_by_turn_pairs(ids, offsets, roles, spellings=words)
        assert np.isnan([found.entropy, found.mean_length, found.max_length, *found.initiated]).all()
        assert found.variety == 0


def test_as_dialign_python_on_annomi(corpora: Path) -> None:
    """To the last digit, but for what depends on the order of its sets: tokens covered differ by two at most."""
    exact = {"EV": "variety", "ENTR": "entropy", "L": "mean_length", "LMAX": "max_length"}
    by_order_of_sets = {"ER": "repetition", "EE": "establishment", "SER": "self_repetition"}
    n_same = 0
    sessions = _annomi(corpora)
    for row in _peer(corpora, "dialign_python_session.csv"):
        ids, offsets, roles, words = arrays(sessions[row["transcript_id"]])
        found = expressions_by_turn_pairs(ids, offsets, roles, spellings=words)
        assert found.initiated == pytest.approx((float(row["IE_T"]), float(row["IE_C"])), abs=1e-9)
        for column, name in exact.items():
            assert getattr(found, name) == pytest.approx(float(row[column]), abs=1e-9), (row["transcript_id"], column)
        off = [(getattr(found, name) - float(row[column])) * len(ids) for column, name in by_order_of_sets.items()]
        assert np.max(np.abs(off)) < 2 + 1e-6
        for side, column in ((T, "ER_T"), (C, "ER_C")):
            n_tokens = sum(len(said) for role, said in sessions[row["transcript_id"]] if role == side)
            assert abs(found.repetition_by[side] - float(row[column])) * n_tokens < 2 + 1e-6
        n_same += int(np.sum(np.abs(off) < 1e-6))
    assert n_same >= 0.9 * 3 * len(sessions)


def test_as_the_program_of_the_papers_author() -> None:
    """Values of pydialign on seeded dialogues, where it is installed."""
    pytest.importorskip("pydialign", reason="pydialign is not installed")
    from pydialign import build_lexicon
    from pydialign.metrics.offline import DialogueLexiconMeasures
    from pydialign.speaker import Speaker

    for seed in range(30):
        generator = np.random.default_rng(seed)
        turns = [(i % 2, list(generator.choice(list("abcdefg"), generator.integers(1, 12)))) for i in range(16)]
        measures = DialogueLexiconMeasures(build_lexicon([tuple(map(str, words)) for _, words in turns]))
        found = shared(turns)
        assert (found.n_expressions, found.max_length) == (measures.num_expressions, measures.max_expression_length)
        assert found.repetition == measures.expression_repetition
        assert found.entropy == pytest.approx(measures.entr, abs=1e-12)
        assert found.mean_length == measures.average_expression_length
        assert found.initiated == tuple(map(measures.initiated_expressions_by, Speaker))
        assert found.repetition_by == tuple(map(measures.expression_repetition_by, Speaker))


def _same(one: SharedExpressions, other: SharedExpressions) -> None:
    for name in one.__slots__:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def _seconds(ids: np.ndarray, offsets: np.ndarray, roles: np.ndarray) -> float:
    start = time.process_time()
    expressions_of_dialogue(ids, offsets, roles)
    return time.process_time() - start


def _peer(corpora: Path, name: str) -> list[dict[str, str]]:
    path = corpora.parent / "peers" / name
    if not path.exists():
        pytest.skip("the peers' values are not beside the corpora (shared/peers)")
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _annomi(corpora: Path) -> dict[str, Said]:
    """Sessions as the peer read them: each utterance once, words lower-cased, no punctuation."""
    sessions: dict[str, dict[str, tuple[int, list[str]]]] = {}
    with (corpora / "annomi" / "annomi.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            words = re.findall(r"\w+(?:'\w+)*", row["utterance_text"].replace("\u2019", "'").lower())
            side = C if row["interlocutor"] == "client" else T
            sessions.setdefault(row["transcript_id"], {}).setdefault(row["utterance_id"], (side, words))
    return {name: list(turns.values()) for name, turns in sessions.items()}


NAMES = [column.name for column in EXPRESSIONS.columns]


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
        assert np.isnan([found[f"{name}_strangers"] for name in NAMES]).all()

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


def read(sessions: Sequence[Session], strangers: Sequence[Session]) -> list[AnnotatedSession]:
    matcher = Matcher(builtin_lexicons())
    company = companies(choose_strangers(strangers), lambda some: annotate(some, matcher))
    return [replace(one, company=company.get(length_class(one.session))) for one in annotate(sessions, matcher)]


def test_the_same_alone_and_in_a_batch() -> None:
    sessions = crowd()
    for one, in_batch in list(zip(sessions, read(sessions, sessions), strict=True))[:5]:
        expected, (alone,) = values(in_batch), read([one], sessions)
        assert np.isfinite([expected[f"{name}_strangers_z"] for name in NAMES]).all()
        for name, value in values(alone).items():
            np.testing.assert_array_equal(value, expected[name], err_msg=name)


def lower(session: AnnotatedSession, turn: int) -> list[str]:
    tokens, (begin, end) = session.turns.tokens, session.turns.offsets[turn : turn + 2]
    return [tokens.lower[i] for i in tokens.ids[begin:end]]


def test_strangers_as_dialogues_written_out() -> None:
    """Each surrogate dialogue, as words, measured by itself."""
    for session in read(crowd(), crowd())[:2]:
        found, lent_turns = values(session), stranger_turns(session)
        assert lent_turns is not None
        parts = []
        for whose in EXCHANGES:
            donors = product(*(lent_turns[role] if role in whose else [None] for role in (T, C)))
            parts.append([written_out(session, both) for both in donors])
        assert [len(some) for some in parts] == [5, 5, 25]
        itself = written_out(session, (None, None))
        for at, name in enumerate(NAMES):
            table = table_of(itself[at], *([one[at] for one in some] for some in parts))
            factors = name == "expression_variety"
            mean, sd, z, p = two_way(np.log(table) if factors else table, two_sided="initiated" in name)
            if factors:
                mean, z = np.exp(mean), (itself[at] / np.exp(mean) - 1) / sd
            shown = [found[f"{name}_{end}"] for end in ("strangers", "strangers_z", "strangers_p")]
            assert shown == pytest.approx([mean, z, p], rel=1e-6)


def written_out(session: AnnotatedSession, lent_turns: Any) -> list[float]:
    """Return the values of a dialogue, as words, in which these turns of donors stand; None for the session's own."""
    company, stands = session.company, {}
    assert company is not None
    for role, (own, turns) in enumerate(zip(spoken_turns(session), lent_turns, strict=True)):
        for t, other in zip(own.tolist(), own if turns is None else turns, strict=True):
            stands[t] = role, lower(session if turns is None else company.whole, other)
    ids, offsets, roles, spelt = arrays([stands[t] for t in sorted(stands)])
    words = np.array([any(map(str.isalnum, word)) for word in spelt])[ids]
    one = expressions_of_dialogue(ids, offsets, roles, words=words)
    lengths = one.entropy * log(2), one.mean_length
    return [one.variety, one.repetition, *lengths, *one.repetition_by, one.initiated[T]]
