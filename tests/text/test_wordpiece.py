"""Words and the subwords that they are cut into."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from therapy_analytics.text.wordpiece import LONGEST, VOCABULARY, WordPiece, words


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", []),
        ("  \t\n ", []),
        ("Don't stop", ["don", "'", "t", "stop"]),
        ("a-b_c", ["a", "-", "b", "_", "c"]),
        ("\u00c9t\u00e9", ["ete"]),
        ("\u4f60\u597dx", ["\u4f60", "\u597d", "x"]),
        ("yes\u2014no\u2026", ["yes", "\u2014", "no", "\u2026"]),
        ("a\u00a0b\u200bc\x00\ufffd", ["a", "bc"]),
        ("$5+3=8", ["$", "5", "+", "3", "=", "8"]),
    ],
)
def test_text_is_cut_into_words(text: str, wanted: list[str]) -> None:
    assert words(text) == wanted


def test_words_are_cut_into_the_longest_subwords_from_the_left() -> None:
    cut = WordPiece(["[UNK]", "un", "##happi", "##ness", "##h", "happy", "u", "##n"])
    assert cut.ids("unhappiness") == [1, 2, 3]
    assert cut.ids("happy un unh") == [5, 1, 1, 4]
    assert cut.ids("unknown") == [0]
    assert cut.ids("u" * (LONGEST + 1)) == [0]
    assert cut.ids("") == []


def test_the_vocabulary_of_the_package() -> None:
    vocabulary = VOCABULARY.read_text(encoding="utf-8").split("\n")
    assert (len(vocabulary), len(set(vocabulary))) == (30522, 30522)
    assert (vocabulary[0], vocabulary[100]) == ("[PAD]", "[UNK]")
    assert [vocabulary[place] for place in WordPiece(vocabulary).ids("I'm embarrassed!")] == [
        "i",
        "'",
        "m",
        "embarrassed",
        "!",
    ]


@given(st.text(st.sampled_from(string.printable + "\x00\x1c\x7f"), max_size=30))
def test_plain_text_is_cut_as_other_text_is(text: str) -> None:
    # An accent sends the text the long way, letter by letter, and is a word of its own
    assert [*words(text), "e"] == words(f"{text} \u00e9")
