"""Words, sentences and phrases that a reader can count."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from therapy_analytics.core.session import Session, Turn
from therapy_analytics.text import annotate
from therapy_analytics.text.lexicons import Category, Lexicon, Matcher
from therapy_analytics.text.tokens import plain, tokenize


def _session(*texts: str) -> Session:
    turns = tuple(Turn(index=i, speaker="T", role="therapist", text=t, first_row=i + 1) for i, t in enumerate(texts))
    return Session(id="s", source_file="s.txt", turns=turns)


def _matcher(**categories: list[str]) -> Matcher:
    made = tuple(Category(f"test.{name}", name, tuple(words)) for name, words in categories.items())
    return Matcher([Lexicon("test", "", "", "", made, "")])


WORDS = [
    ("", 0),
    ("...", 0),
    ("Yes.", 1),
    ("I don't know", 3),
    ("I don\u2019t know", 3),
    ("i cannot, we're gonna", 4),
    ("well-known yes/no", 4),
    ("I know...you've said", 4),
    ("so--I'm tired\u2014really", 4),
    ("[laughs] okay", 2),
    ("3:15 pm", 2),
    ("\U0001f600 hi", 1),
    ("co-pay 20%", 3),
]


@pytest.mark.parametrize(("text", "n"), WORDS, ids=[text or "empty" for text, _ in WORDS])
def test_words(text: str, n: int) -> None:
    turns = annotate([_session(text)], _matcher(a=["zzz"])).turns
    assert turns.n_words.tolist() == [n]


SENTENCES = [
    ("", 0),
    ("...", 0),
    ("Yes", 1),
    ("Yes. No? Maybe!", 3),
    ("I was... I don't know.", 1),
    ("so i went home and then i slept", 1),
    ("What?! Really?", 2),
    ("Dr. Lee said so.", 1),
]


@pytest.mark.parametrize(("text", "n"), SENTENCES, ids=[text or "empty" for text, _ in SENTENCES])
def test_sentences(text: str, n: int) -> None:
    assert annotate([_session(text)], _matcher(a=["zzz"])).turns.n_sentences.tolist() == [n]


def test_contractions_match_in_full() -> None:
    turns = annotate([_session("I don't, she won't, they'll, I've")], _matcher(no=["not"], have=["have", "will"])).turns
    assert turns.counts.tolist() == [[2, 3]]


def test_a_phrase_counts_once_and_not_its_words_again() -> None:
    matcher = _matcher(hedge=["kind of", "kind", "i guess", "guess*"])
    turns = annotate([_session("I guess it is kind of kind, guessing")], matcher).turns
    assert turns.counts.tolist() == [[4]]  # I guess, kind of, kind, guessing
    assert turns.covered.tolist() == [[6]]


def test_a_phrase_does_not_cross_turns() -> None:
    turns = annotate([_session("it is kind", "of you")], _matcher(hedge=["kind of"])).turns
    assert turns.counts.sum() == 0


def test_a_wildcard_at_the_end_of_a_phrase() -> None:
    turns = annotate([_session("I tried hard, she tries, I try", "I try")], _matcher(a=["i tr*"])).turns
    assert turns.counts.ravel().tolist() == [2, 1]


def test_line_ends_and_double_spaces_are_no_tokens() -> None:
    turns = annotate([_session("i feel  torn\ni  feel")], _matcher(a=["i feel", "torn i"])).turns
    assert turns.tokens.offsets.tolist() == [0, 5]
    assert (turns.counts.tolist(), turns.n_words.tolist()) == ([[2]], [5])


def test_turns_without_words_between_others() -> None:
    turns = annotate([_session("", "a b", "", "", "c", "")], _matcher(a=["a"])).turns
    assert turns.n_words.tolist() == [0, 2, 0, 0, 1, 0]
    assert turns.counts.ravel().tolist() == [0, 1, 0, 0, 0, 0]


def test_nothing_at_all() -> None:
    batch = annotate([], _matcher(a=["a"]))
    assert len(batch.turns) == 0
    assert list(batch) == []
    assert [len(one) for one in annotate([_session()], _matcher(a=["a"]))] == [0]


@given(st.lists(st.text(max_size=60), max_size=6))
def test_any_text_gives_whole_arrays(texts: list[str]) -> None:
    tokens = tokenize(texts)
    assert len(tokens.offsets) == len(texts) + 1
    assert tokens.offsets[-1] == len(tokens.ids) == len(tokens.word_start)
    assert (np.diff(tokens.offsets) >= 0).all()
    turns = annotate([_session(*texts)], _matcher(a=["a"])).turns
    assert (turns.n_sentences <= turns.n_words).all()
    assert ((turns.n_words > 0) == (turns.n_sentences > 0)).all()


@given(st.lists(st.text(max_size=40), min_size=2, max_size=6))
def test_a_text_is_read_alike_alone_and_among_others(texts: list[str]) -> None:
    matcher = _matcher(a=["a", "the", "i"])
    together = annotate([_session(*texts)], matcher).turns
    alone = [annotate([_session(text)], matcher).turns for text in texts]
    assert together.n_words.tolist() == [int(one.n_words[0]) for one in alone]
    assert together.counts.tolist() == [one.counts[0].tolist() for one in alone]


@given(st.text(max_size=80))
def test_the_plain_form_is_as_long_as_the_text(text: str) -> None:
    assert len(plain(text)) == len(text)


FORMS = [
    ("cannot", ["can", "not"]),
    ("(Really).", ["(", "really", ")", "."]),
    ("well-known", ["well", "-", "known"]),
    ("mom's", ["mom", "'s"]),
    ("(:)", ["(", ":)"]),
    ("www.a.de", ["www.a.de"]),
    ("two\nlines\u00a0 here", ["two", "lines", "here"]),
    ("a \ud800 b", ["a", "\ufffd", "b"]),
]


@pytest.mark.parametrize(("text", "tokens"), FORMS, ids=[ascii(text) for text, _ in FORMS])
def test_tokens(text: str, tokens: list[str]) -> None:
    found = tokenize([text])
    assert [found.lower[which] for which in found.ids] == tokens


PARTS = [
    "can't",
    "o'clock",
    "I'd've",
    "U.S.",
    "well-known",
    "$5",
    ":-)",
    "...",
    "--",
    "\u2019s",
    "\u0130",
    "\n",
    " ",
    ".",
]
TEXTS = st.lists(st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=8).map("".join), max_size=4)


@given(TEXTS)
def test_every_text_owns_the_tokens_that_it_would_have_alone(texts: list[str]) -> None:
    together = tokenize(texts)
    for text, begin, end in zip(texts, together.offsets[:-1], together.offsets[1:], strict=True):
        alone = tokenize([text])
        part = slice(begin, end)
        assert [together.lower[one] for one in together.ids[part]] == [alone.lower[one] for one in alone.ids]
        assert together.word_start[part].tolist() == alone.word_start.tolist()


@pytest.mark.parametrize("sign", ["=", "!", "?)", "_", "\U0001f600"])
def test_a_long_row_of_signs_is_cut_short(sign: str) -> None:
    # Minutes when every sign was taken off by itself: a model that repeats itself writes such words.
    assert len(tokenize([f"oh {sign * 50_000} no"]).ids) <= 210
    assert len(plain(sign * 50_000)) == len(sign * 50_000)
