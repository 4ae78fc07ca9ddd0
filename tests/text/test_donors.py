"""SurrogatePool: who they are, whatever the order and the names of the sessions."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from talks import session

from therapy_analytics.core.session import CLIENT, THERAPIST, Session, digest_of
from therapy_analytics.measures.dyads import dyads
from therapy_analytics.text import AnnotatedSession, annotate
from therapy_analytics.text.annotate import Donors
from therapy_analytics.text.donors import (
    CLASS_BOUNDS,
    FEWEST_TURNS,
    MOST_TURNS,
    PER_CLASS,
    SurrogatePool,
    choose_donors,
    donors_by_length,
    length_class,
)
from therapy_analytics.text.lexicons import Matcher


def talk(i: int, *, words: int = 4, turns: int = 12, **about: str) -> Session:
    """A session whose every turn has so many words."""
    texts = (f"s{i}t{t}" + " so" * (words - 1) for t in range(turns))
    return replace(session(*texts, name=f"talk_{i}"), metadata=about)


def read(pool: SurrogatePool) -> dict[int, Donors]:
    return donors_by_length(pool, lambda sessions: annotate(sessions, Matcher([])))


def arrays(one: Session) -> AnnotatedSession:
    return next(iter(annotate([one], Matcher([]))))


# ---- choosing


def test_at_most_twenty_of_a_length_class() -> None:
    chosen = choose_donors([talk(i, words=4 if i < 30 else 20) for i in range(35)])
    assert [length_class(one) for one in chosen.sessions].count(0) == PER_CLASS == 20
    assert [length_class(one) for one in chosen.sessions].count(2) == 5
    assert list(chosen.digests) == sorted(chosen.digests)


def test_those_of_the_smallest_hash_are_chosen() -> None:
    every = [talk(i) for i in range(30)]
    assert set(choose_donors(every).digests) == set(sorted(map(digest_of, every))[:PER_CLASS])


def test_length_classes() -> None:
    # Turns of n words and of n: under 8, under 16, under 32, more.
    assert [length_class(talk(0, words=n)) for n in (1, 7, 8, 15, 16, 31, 32, 99)] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert CLASS_BOUNDS == (8, 16, 32)
    # Turns without words and of others are no turns: 8 words in one.
    assert length_class(session("so " * 8, " ", "", "one", roles=("therapist", "client", "client", "other"))) == 1
    assert length_class(session()) == 0


EVERY = [talk(i, words=1 + i % 12) for i in range(40)]


@settings(max_examples=30, deadline=None)
@given(order=st.permutations(range(40)), again=st.lists(st.integers(0, 39)), name=st.text(max_size=3))
def test_order_names_and_duplicates_do_not_matter(order: Sequence[int], again: Sequence[int], name: str) -> None:
    others = [replace(EVERY[i], id=f"{name}_{n}", source_file=name) for n, i in enumerate([*order, *again])]
    assert choose_donors(iter(others)).digests == choose_donors(EVERY).digests


def test_who_says_hardly_anything_is_no_donor() -> None:
    n = FEWEST_TURNS
    assert choose_donors([talk(1, turns=2 * n)]).sessions
    assert not choose_donors([talk(1, turns=2 * n - 1)]).sessions
    assert not choose_donors([session(*["a", " "] * n), session(*["a"] * n, roles=["client"]), session()]).sessions
    assert not choose_donors([]).sessions


def test_long_sessions_donate_their_first_turns() -> None:
    long = talk(1, turns=MOST_TURNS + 50)
    (chosen,) = choose_donors([long]).sessions
    assert chosen.turns == long.turns[:MOST_TURNS]
    donors = read(choose_donors([long]))[0]
    assert len(donors.whole) == MOST_TURNS
    assert donors.others_than(long) == []
    # Another session that begins with the same turns is another.
    assert donors.others_than(chosen) == [0]


def test_what_a_long_session_donates_says_whether_and_where_it_serves() -> None:
    """Short turns first, then long ones; or the therapist's alone first, then both."""
    n = MOST_TURNS
    long = [session(*[f"s{i}"] * n, *["so " * 90] * n, name=f"long_{i}") for i in range(PER_CLASS)]
    chosen = choose_donors([*long, *(talk(i) for i in range(PER_CLASS))])
    assert {length_class(one) for one in long} == {3}
    assert len(chosen.sessions) == PER_CLASS
    assert list(read(chosen)) == [0]
    alone = session(*[f"t{i}" for i in range(n)], roles=["therapist"])
    late = replace(alone, turns=(*alone.turns, *talk(1).turns))
    assert not choose_donors([late]).sessions


def test_any_text_has_a_hash() -> None:
    odd = session("\ud83d", "\udc00 \x00", "\U0001f600")
    assert len(digest_of(odd)) == 16
    assert digest_of(odd) != digest_of(session("\ud83d", "\udc00 \x00", "\U0001f601"))
    assert digest_of(session("a", "b")) != digest_of(session("ab")) != digest_of(session("a b"))
    assert choose_donors([session(*["\ud83d so", "\udc00 too"] * FEWEST_TURNS)]).digests


def test_they_travel_and_compare() -> None:
    chosen = choose_donors([talk(i) for i in range(5)])
    again = pickle.loads(pickle.dumps(chosen))
    assert again == chosen
    assert hash(again) == hash(chosen)
    assert [one.turns for one in again.sessions] == [one.turns for one in chosen.sessions]
    assert "so" not in repr(chosen)
    assert chosen != choose_donors([talk(i) for i in range(6)])
    # The same words of another client are not the same donors: who may be a donor depends on the name.
    assert chosen != choose_donors([talk(i, client="Ada") for i in range(5)])


# ---- donors


def test_a_session_is_no_donor_to_itself_nor_to_the_same_client() -> None:
    every = [talk(i, client=("Ada" if i in (1, 3) else "")) for i in range(5)]
    donors = read(choose_donors(every))[0]

    def others(one: Session) -> set[str]:
        return {donors.digests[i] for i in donors.others_than(one)}

    def digests(*numbers: int) -> set[str]:
        return {digest_of(every[i]) for i in numbers}

    assert others(every[0]) == digests(1, 2, 3, 4)
    assert others(every[1]) == digests(0, 2, 4)
    assert others(replace(every[0], id="another name", source_file="elsewhere")) == digests(1, 2, 3, 4)
    assert others(talk(9, client="Ada")) == digests(0, 2, 4)
    assert others(talk(9)) == digests(0, 1, 2, 3, 4)


def test_a_pair_of_a_session_of_several_is_no_donor_to_the_session() -> None:
    group = session(*(f"g{i}" for i in range(18)), roles=("therapist", "client", "client"))
    labels = ("T", "A", "B")
    group = replace(group, turns=tuple(replace(t, speaker=labels[t.index % 3]) for t in group.turns))
    donors = read(choose_donors([group, talk(1)]))[0]
    pairs = [dyad.session.session for dyad in dyads(arrays(group))]
    assert len(pairs) == 2
    for one in (group, *pairs):
        assert [donors.digests[i] for i in donors.others_than(one)] == [digest_of(talk(1))]


def test_turns_with_words_in_order() -> None:
    texts = ["so so so", "a b", "so", "c", "...", "d e f", "so so", "!", "g", "h", "i", "j", "k l m n", "o"]
    chosen = choose_donors([session(*texts), talk(1)])
    donors = read(chosen)[0]
    own = donors.digests.index(digest_of(session(*texts)))
    start = 12 if own else 0  # the other has 12 turns
    for role in (THERAPIST, CLIENT):
        spoken = [i for i in range(role, 14, 2) if texts[i] not in ("...", "!")]
        assert (donors.spoken[own, role] - start).tolist() == spoken
    assert len(donors.whole) == 14 + 12


def test_sides_of_signs_alone_donate_nothing() -> None:
    """Five turns of dots are turns with text, but have no words."""
    silent = session(*["so", "..."] * FEWEST_TURNS)
    donors = read(choose_donors([silent, talk(1), talk(2)]))[0]
    assert len(donors.digests) == 3
    assert {donors.digests[i] for i in donors.others_than(talk(9))} == {digest_of(talk(1)), digest_of(talk(2))}


@pytest.mark.parametrize("n", [0, 1])
def test_hardly_any_donors(n: int) -> None:
    assert len(read(choose_donors([talk(i) for i in range(n)]))) == n


def test_donors_are_of_one_length_class() -> None:
    found = read(choose_donors([talk(i, words=w) for i, w in enumerate([2, 3, 10, 40, 41])]))
    assert {key: len(one.digests) for key, one in found.items()} == {0: 2, 1: 1, 3: 2}
    words: Any = {key: one.whole.n_words for key, one in found.items()}
    assert set(words[0]) == {2, 3}
    assert set(words[3]) == {40, 41}
