"""Words are divided as spaCy divides them."""

from __future__ import annotations

import functools
from itertools import chain
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from therapy_analytics.language._divide import divide, rules

SIGNS = (
    "aeimnostxAÉß0123 \n\t\u00a0'\u2019\"-.,;:!?()[]<>*/_=^$%&#@~\u2026\u2014\u0130\u03a3\u200b\U0001f600\u4f60\u092e"
)
PARTS = [
    *("can't", "let's", "mom's", "o'clock", "'cause", "ma'am", "y'all", "goin'", "ol'", "'em", "I'd've", "wont", "im"),
    *(
        "a.m.",
        "10pm",
        "8a.m.",
        "e.g.",
        "U.S.",
        "dr.",
        "etc.",
        "C++",
        "well-known",
        "yes/no",
        "3.5",
        "1,000",
        "$5",
        "5km",
    ),
    *(":)", ":-)", "(:", "):", "8)", "<3", "xD", "o.O", "^_^", "(-:", "http://x.com/a?b", "www.a.de", "a@b.org", "\\n"),
]
TEXTS = st.lists(st.sampled_from(PARTS) | st.text(SIGNS, max_size=3), max_size=12).map("".join) | st.text(max_size=20)


@functools.cache
def _spacy() -> Any:
    from spacy.lang.en import English

    return English().tokenizer


def _by_spacy(text: str) -> list[tuple[str, str]]:
    return [(token.orth_, token.norm_) for token in _spacy()(text) if not token.is_space]


@settings(max_examples=300, deadline=None)  # spaCy is slow to load
@given(TEXTS)
def test_any_text_is_divided_as_by_spacy(text: str) -> None:
    assert list(chain.from_iterable(divide(text))) == _by_spacy(text)


def test_every_special_word_is_divided_as_by_spacy() -> None:
    text = " , ".join(f"({word}) {word} {word}." for word in rules().special)
    assert list(chain.from_iterable(divide(text))) == _by_spacy(text)


WORDS = [
    ("cannot", ["can", "not"]),
    ("(really).", ["(", "really", ")", "."]),
    ("well-known", ["well", "-", "known"]),
    ("mom's", ["mom", "'s"]),
    ("a:-)b", ["a:-)b"]),
    ("(:)", ["(", ":)"]),
    ("www.a.de", ["www.a.de"]),
]


@pytest.mark.parametrize(("word", "tokens"), WORDS, ids=[word for word, _ in WORDS])
def test_words(word: str, tokens: list[str]) -> None:
    assert [[form for form, _ in pieces] for pieces in divide(word)] == [tokens]


def test_signs_beside_a_word_keep_those_in_it_apart() -> None:
    # ")" and ":" would be a special word were there no space, and take the ":" from ":)" as spaCy has it
    assert [[form for form, _ in pieces] for pieces in divide("well~) :)a")] == [["well~", ")"], [":", ")", "a"]]


@pytest.mark.parametrize("tail", ["." * 200, "!" * 100 + ".." * 50, "?)" * 80, "9" * 80 + "km", "\u2026" * 130])
def test_long_tails_are_divided_as_by_spacy(tail: str) -> None:
    for text in (f"oh{tail}", tail, f"{tail}a", f"a{tail}b{tail}"):
        assert list(chain.from_iterable(divide(text))) == _by_spacy(text)


def test_a_row_of_signs_takes_no_longer_than_its_length() -> None:
    # Minutes when each look at the end began at the begin: a model that repeats itself writes such words
    assert [len(pieces) for pieces in divide("=" * 20_000)] == [20_000]
