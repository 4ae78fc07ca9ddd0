"""Lexicons: those of the package, and the user's files, good and bad."""

from __future__ import annotations

from pathlib import Path

import pytest

from therapy_analytics import load_lexicon
from therapy_analytics.core.errors import BadDataFileError, DuplicateNameError
from therapy_analytics.measures.synchrony.style_matching import CATEGORIES
from therapy_analytics.text import builtin_lexicons
from therapy_analytics.text.lexicons import Lexicon, Matcher
from therapy_analytics.text.tokens import tokenize


@pytest.mark.parametrize("lexicon", builtin_lexicons(), ids=lambda one: one.name)
def test_each_says_where_it_comes_from(lexicon: Lexicon) -> None:
    assert lexicon.builtin
    assert lexicon.source.strip()
    assert lexicon.licence.strip()
    assert lexicon.definition.strip()
    assert len(lexicon.sha256) == 64
    for category in lexicon.categories:
        assert category.definition.strip()
        assert category.words


@pytest.mark.parametrize("lexicon", builtin_lexicons(), ids=lambda one: one.name)
def test_each_entry_can_match_what_the_tokeniser_makes(lexicon: Lexicon) -> None:
    """An entry that no text can match is a silent zero."""
    for category in lexicon.categories:
        for word in category.words:
            parts = word.rstrip("*").split()
            tokens = tokenize([" ".join(parts).replace(" - ", "-")])
            found = [tokens.norm[i] for i in tokens.ids.tolist()]
            assert word.endswith("*") or found == parts, f"{category.name}: {word}"


def test_function_words_are_the_nine_of_style_matching_without_overlap() -> None:
    (function_words,) = [one for one in builtin_lexicons() if one.name == "function_words"]
    assert {one.name for one in function_words.categories} == set(CATEGORIES)
    words = [word for one in function_words.categories for word in one.words]
    assert len(words) == len(set(words))


BAD = {
    "not TOML": ("a.toml", "name = [", "not written as a word list is"),
    "no name": ("a.toml", "[categories.x]\nwords=['a']", "a name is missing"),
    "no categories": ("a.toml", "name='a'", "no categories"),
    "no words": ("a.toml", "name='a'\n[categories.x]\n", "has no words"),
    "star inside": ("a.toml", "name='a'\n[categories.x]\nwords=['a*b']", "entry 1"),
    "five words": ("a.toml", "name='a'\n[categories.x]\nwords=['a', 'a b c d e']", "entry 2"),
    "dic without signs": ("a.dic", "happy 1", "not a LIWC dictionary"),
    "dic with an unknown category": ("a.dic", "%\n1\tposemo\n%\nhappy\t2\n", "unknown category 2"),
}


@pytest.mark.parametrize(("name", "text", "says"), BAD.values(), ids=BAD.keys())
def test_a_bad_lexicon_is_named_with_what_is_wrong(tmp_path: Path, name: str, text: str, says: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(BadDataFileError, match=says) as caught:
        load_lexicon(tmp_path / name)
    assert name in str(caught.value)


def test_a_lexicon_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(BadDataFileError, match="cannot be opened"):
        load_lexicon(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadDataFileError, match="not UTF-8"):
        load_lexicon(tmp_path / "binary.toml")


def test_two_lexicons_of_one_name() -> None:
    with pytest.raises(DuplicateNameError, match="'pronouns' is defined twice"):
        Matcher([*builtin_lexicons(), *[one for one in builtin_lexicons() if one.name == "pronouns"]])
