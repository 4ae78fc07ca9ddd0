"""Counts of categories against the rule, applied word by word."""

import random

import numpy as np
import pytest

from therapy_analytics.core.session import Session, Turn
from therapy_analytics.text import annotate
from therapy_analytics.text.lexicons import Category, Lexicon, Matcher

WORDS = ("a", "b", "ab", "abc", "c", "ca")


def lexicon(rng: random.Random) -> Lexicon:
    ends = ("", "", "*", " *")
    entries = [
        [f"{' '.join(rng.choices(WORDS, k=rng.randint(1, 3)))}{rng.choice(ends)}" for _ in range(6)] for _ in "xyz"
    ]
    found = tuple(
        Category(f"l.{name}", "", tuple(dict.fromkeys(some))) for name, some in zip("xyz", entries, strict=True)
    )
    return Lexicon("l", "", "", "", found, "")


def fits(entry: str, word: str) -> bool:
    return word.startswith(entry[:-1]) if entry.endswith("*") else word == entry


def by_rule(words: list[str], entries: tuple[str, ...]) -> tuple[int, int]:
    """Mark words, then phrases, the short ones first: each takes its words from what was found before."""
    begins = [any(fits(one, word) for one in entries if " " not in one) for word in words]
    covers = list(begins)
    for phrase in sorted((one.split() for one in entries if " " in one), key=len):
        starts = range(len(words) - len(phrase) + 1)
        at = [i for i in starts if all(map(fits, phrase, words[i : i + len(phrase)]))]
        for i in at:
            begins[i : i + len(phrase)] = [False] * len(phrase)
            covers[i : i + len(phrase)] = [True] * len(phrase)
        for i in at:
            begins[i] = True
    return sum(begins), sum(covers)


@pytest.mark.parametrize("seed", range(20))
def test_counts_follow_the_rule(seed: int) -> None:
    rng = random.Random(seed)
    matcher = Matcher([lexicon(rng)])
    texts = [rng.choices(WORDS, k=rng.randint(0, 8)) for _ in range(12)]
    turns = [
        Turn(index=i, speaker="c", role="client", first_row=i, text=" ".join(words)) for i, words in enumerate(texts)
    ]
    found = annotate([Session(id="s", source_file="", turns=tuple(turns))], matcher).turns
    expected = np.array([[by_rule(words, one.words) for one in matcher.categories] for words in texts])
    assert found.counts.tolist() == expected[:, :, 0].tolist()
    assert found.covered.tolist() == expected[:, :, 1].tolist()


def test_a_phrase_counts_once_and_does_not_reach_into_the_next_turn() -> None:
    entries = ("not", "not sure", "i guess*")
    matcher = Matcher([Lexicon("l", "", "", "", (Category("l.doubt", "", entries),), "")])
    texts = ("Not sure, I guessed. Not me", "I", "guess not")
    turns = [Turn(index=i, speaker="c", role="client", first_row=i, text=text) for i, text in enumerate(texts)]
    found = annotate([Session(id="s", source_file="", turns=tuple(turns))], matcher).turns
    assert found.counts[:, 0].tolist() == [3, 0, 1]
    assert found.covered[:, 0].tolist() == [5, 0, 1]
