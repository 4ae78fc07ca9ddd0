"""Lexical alignment: counted by hand, against counters, and against what ALIGN gave."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from therapy_analytics.measures.null.surrogates import TokenRows
from therapy_analytics.measures.synchrony._ngrams import count_ngrams
from therapy_analytics.measures.synchrony.alignment import cosine as lexical_cosine
from therapy_analytics.measures.synchrony.whole_session import Side, total

Words = Sequence[str]


@dataclass(frozen=True)
class Talk:
    """Turns as arrays."""

    words: Any
    offsets: Any

    @property
    def rows(self) -> TokenRows:
        return TokenRows(self.words[:, None].astype(np.uint64), self.offsets)

    def lexical(self, n: int, one: Any, other: Any) -> Any:
        """Return the alignment of turns with turns, one by one."""
        counts = count_ngrams(self.rows, n)
        return lexical_cosine(counts[one], counts[other])

    def of_sides(self, n: int, one: Any, other: Any) -> float:
        """Return that of all turns of one side with all of the other."""
        counts, at = count_ngrams(self.rows, n), np.arange(1)
        return float(lexical_cosine(*(total(Side(i, counts[turns], at, at)) for i, turns in enumerate((one, other)))))


def talk(*turns: str) -> Talk:
    """Number the words of turns."""
    tokens = [token for turn in turns for token in turn.split()]
    words = {word: i for i, word in enumerate(dict.fromkeys(tokens))}
    offsets = np.cumsum([0, *(len(turn.split()) for turn in turns)])
    return Talk(np.array([words[word] for word in tokens], dtype=np.int32), offsets)


def lexical(n: int, *turns: str) -> Any:
    """Alignment of each turn with the next."""
    return talk(*turns).lexical(n, np.arange(len(turns) - 1), np.arange(1, len(turns))).tolist()


# ---- by hand


def test_words_are_counted() -> None:
    # "so so tired": so 2, tired 1; "so am I": so 1, am 1, I 1. Product 2, squares 5 and 3.
    assert lexical(1, "so so tired", "so am I") == pytest.approx([2 / np.sqrt(5 * 3)])


def test_bigrams_are_counted() -> None:
    # "it is it is": it-is 2, is-it 1. "it is late": it-is 1, is-late 1. Product 2, squares 5 and 2.
    assert lexical(2, "it is it is", "it is late") == pytest.approx([2 / np.sqrt(5 * 2)])


def test_trigrams_are_counted() -> None:
    # "a b c d": abc, bcd; "b c d": bcd. Product 1, squares 2 and 1.
    assert lexical(3, "a b c d", "b c d") == pytest.approx([1 / np.sqrt(2)])


def test_the_same_turn_is_1_and_other_words_are_0() -> None:
    assert lexical(1, "I am so so tired", "I am so so tired", "yes") == [1.0, 0.0]
    assert lexical(2, "dog bites man", "man bites dog") == [0.0]


def test_a_turn_too_short_for_an_n_gram_is_undefined() -> None:
    turns = ("yes yes", "yes", "", "yes yes")
    assert np.isnan(lexical(2, *turns)).all()
    np.testing.assert_array_equal(lexical(1, *turns), [1.0, np.nan, np.nan])


def test_whole_conversation_takes_sides_together() -> None:
    # T: "i see", "i know"; C: "you see", "see". T: i 2, see 1, know 1; C: you 1, see 2. Product 2, squares 6 and 5.
    turns = talk("i see", "you see", "i know", "see")
    assert turns.of_sides(1, [0, 2], [1, 3]) == pytest.approx(2 / np.sqrt(6 * 5))


def test_whole_conversation_without_an_n_gram_is_undefined() -> None:
    assert np.isnan(talk("i see", "you see").of_sides(3, [0], [1]))


def test_no_turns() -> None:
    for offsets in (np.array([0]), np.array([0, 0, 0])):
        nothing, some = Talk(np.zeros(0, dtype=np.int32), offsets), np.arange(len(offsets) - 1)
        assert np.isnan(nothing.lexical(2, some, some)).all()


# ---- against counters


def cosine(a: Counter[Any], b: Counter[Any]) -> float:
    dot = sum(a[key] * b[key] for key in a)
    squares = [sum(value * value for value in side.values()) for side in (a, b)]
    return dot / float(np.sqrt(squares[0] * squares[1])) if all(squares) else np.nan


def runs(tokens: Sequence[Any], n: int) -> list[tuple[Any, ...]]:
    return list(zip(*(tokens[step:] for step in range(n)), strict=False))


def counted_lexical(a: Sequence[Any], b: Sequence[Any], n: int) -> float:
    return cosine(*(Counter(runs(side, n)) for side in (a, b)))


TURN = st.lists(st.integers(0, 6), max_size=12)
DIALOGUE = st.lists(TURN, min_size=2, max_size=7)


def arrays(turns: Sequence[Sequence[int]]) -> Talk:
    words = np.array([word for turn in turns for word in turn], dtype=np.int32)
    return Talk(words, np.cumsum([0, *map(len, turns)]))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_as_counters_give_it(n: int) -> None:
    @settings(max_examples=40, deadline=None)
    @given(DIALOGUE)
    def check(turns: list[list[int]]) -> None:
        dialogue, every = arrays(turns), np.arange(len(turns))
        one, other = (at.ravel() for at in np.meshgrid(every, every, indexing="ij"))
        found = dialogue.lexical(n, one, other).reshape(len(turns), len(turns))
        wanted = [[counted_lexical(turns[i], turns[j], n) for j in every] for i in every]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)
        assert (np.isnan(found) | ((found >= 0) & (found <= 1))).all()
        np.testing.assert_array_equal(found, found.T)
        own = np.diagonal(found)
        assert (np.isnan(own) | (own == 1)).all()

    check()


@settings(max_examples=40, deadline=None)
@given(DIALOGUE, st.data())
def test_sides_as_counters_give_them(turns: list[list[int]], data: st.DataObject) -> None:
    """Turns may come twice."""
    chosen = [data.draw(st.lists(st.integers(0, len(turns) - 1), min_size=1)) for _ in range(2)]
    for n in (1, 2):
        within = [Counter(run for i in rows for run in runs(turns[i], n)) for rows in chosen]
        np.testing.assert_allclose(arrays(turns).of_sides(n, *chosen), cosine(*within), rtol=0, atol=1e-12)


# ---- what ALIGN 0.1.1 gave for AnnoMI, its preparation done anew here (spell check off)


@dataclass(frozen=True)
class Prepared:
    """ALIGN's turns of a session: who speaks, and the words as arrays."""

    speakers: list[str]
    talk: Talk


@cache
def expansions() -> dict[str, str]:
    """Return the contractions that ALIGN writes out, wherever they stand in a text."""
    endings = {
        "n't": ("not", "are could did does do had has have is may might must need ought should was were would"),
        "'s": ("is", "he how it she that there what when where who why"),
        "'ll": ("will", "he how i it she they we what who you"),
        "'re": ("are", "they we what you"),
        "'ve": ("have", "could i might must should to they we what when where who why will would you"),
        "'d": ("would", "i it she they we you"),
    }
    table = {stem + end: f"{stem} {word}" for end, (word, stems) in endings.items() for stem in stems.split()}
    odd = "ain't=is not/can't=cannot/sha'n't=shall not/shan't=shall not/won't=will not/'cause=because/how'd=how did"
    odd += "/he'd=he had/that'd=that had/there'd=there had/where'd=where did/i'm=i am/let's=let us/so's=so as"
    odd += "/so've=so have/ma'am=madam/o'clock=of the clock/y'all=you all"
    return {**table, **dict(pair.split("=") for pair in odd.split("/"))}


HALVES = {word: word[:3] + " " + word[3:] for word in ("cannot", "gimme", "gonna", "gotta", "lemme", "wanna")}
ENDING = re.compile(r"(.*[^'])('(?:[smd]|ll|re|ve)?|n't)")
QUOTE = re.compile(r"'(?!(?:re|ve|ll|[mtsdn])\b)(?=\w)")
FILLER = "(?!mom|am|ham)[uhmoa]+[uhma]+"


def cleaned(text: str) -> str:
    """Keep letters, spaces and apostrophes; then take out what sounds like um, at the four places one by one."""
    kept = re.sub("[^A-Za-z' ]", "", text.replace('"', "'")).lower()
    for before, after in (("^", " "), (" ", " "), (" ", "$"), ("^", "$")):
        kept = re.sub(before + FILLER + after, " ", kept)
    return kept


def word_parts(word: str) -> list[str]:
    """Split a word of letters and apostrophes as NLTK does."""
    if "''" in word:
        return [
            token
            for part in word.replace("''", " '' ").split()
            for token in (word_parts(part) if part != "''" else [part])
        ]
    if QUOTE.match(word):
        return ["'", *word_parts(word[1:])]
    if ending := ENDING.fullmatch(word):
        return [*word_parts(ending[1]), ending[2]]
    return HALVES.get(word, word).split()


def tokens_of(text: str) -> list[str]:
    return [token for word in text.split() for token in word_parts(word)]


def merged(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """Drop rows of less than two tokens, then write neighbouring rows of a speaker as one."""
    turns: list[tuple[str, str]] = []
    for who, text in zip(rows.interlocutor, rows.utterance_text.map(cleaned), strict=True):
        if len(tokens_of(text)) < 2:
            continue
        if turns and turns[-1][0] == who:
            turns[-1] = (who, turns[-1][1] + " " + text)
        else:
            turns.append((who, text))
    return turns


def prepared(rows: pd.DataFrame) -> Prepared:
    table = expansions()
    contraction = re.compile("|".join(table))
    turns = merged(rows)
    words = [tokens_of(contraction.sub(lambda found: table[found[0]], text)) for _, text in turns]
    bare = [[word.replace("'", "") for word in turn] for turn in words]
    ids = {word: i for i, word in enumerate(dict.fromkeys(word for turn in bare for word in turn), 1)}
    tokens = np.array([ids[word] for turn in bare for word in turn], dtype=np.int32)
    return Prepared([who for who, _ in turns], Talk(tokens, np.cumsum([0, *map(len, bare)])))


@pytest.fixture(scope="module")
def sessions(corpora: Path) -> dict[Any, Prepared]:
    rows = pd.read_csv(corpora / "annomi" / "annomi.csv", usecols=lambda name: not name.startswith("timestamp"))
    rows = rows.drop_duplicates(["transcript_id", "utterance_id"])
    return {key: prepared(own) for key, own in rows.groupby("transcript_id")}


def peer(corpora: Path, name: str) -> pd.DataFrame:
    path = corpora.parent / "peers" / name
    if not path.is_file():
        pytest.skip("the peers' values are not beside the corpora (../peers)")
    return pd.read_csv(path)


def test_turn_to_turn_as_align(corpora: Path, sessions: dict[Any, Prepared]) -> None:
    given_values = peer(corpora, "align_T2T.csv")
    for key, rows in given_values.groupby("transcript_id"):
        dialogue = sessions[key].talk
        lengths = np.diff(dialogue.offsets)
        np.testing.assert_array_equal(lengths[:-1], rows.utterance_length1)
        np.testing.assert_array_equal(lengths[1:], rows.utterance_length2)
        first = np.arange(len(rows))
        for n in (1, 2):
            values = np.nan_to_num(dialogue.lexical(n, first, first + 1))  # ALIGN gives 0 to empty turns
            np.testing.assert_allclose(values, rows[f"lexical_tok{n}"], rtol=0, atol=1e-9)
    assert len(given_values) > 3000


def test_whole_conversation_as_align(corpora: Path, sessions: dict[Any, Prepared]) -> None:
    rows = peer(corpora, "align_C2C_correct.csv")
    for row in rows.itertuples():
        session = sessions[row.transcript_id]
        second = np.array([who != session.speakers[0] for who in session.speakers])
        # ALIGN writes the turns of a side behind one another, and counts sequences across them.
        whose = np.repeat(second, np.diff(session.talk.offsets))
        words = np.concatenate([session.talk.words[~whose], session.talk.words[whose]])
        sides = Talk(words, np.array([0, np.count_nonzero(~whose), len(words)]))
        for n in (1, 2):
            value = np.nan_to_num(sides.lexical(n, [0], [1])[0])
            assert value == pytest.approx(getattr(row, f"lexical_tok{n}"), rel=0, abs=1e-9)
    assert len(rows) > 80
