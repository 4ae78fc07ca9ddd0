"""Lexical and syntactic alignment: counted by hand, against counters, and against what ALIGN gave."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from therapy_analytics.measures.synchrony import _ngrams
from therapy_analytics.measures.synchrony._draws import Draws
from therapy_analytics.measures.synchrony._ngrams import NGrams, TaggedNGrams, products_of_few
from therapy_analytics.measures.synchrony.alignment import joined, lexical_cosines, lexical_whole, ngrams
from therapy_analytics.measures.synchrony.syntactic_alignment import (
    syntactic_cosines,
    syntactic_whole,
    tagged_ngrams,
)

Words = Sequence[str]


@dataclass(frozen=True)
class Talk:
    """Turns as arrays; each token is ``word`` or ``word/tag``."""

    words: Any
    tags: Any
    offsets: Any

    def grams(self, n: int) -> NGrams:
        """Return the sequences of words."""
        return ngrams(self.words, self.offsets, n)

    def tagged(self, n: int, n_tags: int = 5) -> TaggedNGrams:
        """Return the sequences of words with their tags."""
        return tagged_ngrams(self.words, self.tags, self.offsets, n, n_tags=n_tags)


def talk(*turns: str) -> Talk:
    """Number the words and tags of turns."""
    tokens = [token.partition("/")[::2] for turn in turns for token in turn.split()]
    words = {word: i for i, word in enumerate(dict.fromkeys(word for word, _ in tokens))}
    tags = {tag: i for i, tag in enumerate(dict.fromkeys(tag for _, tag in tokens))}
    return Talk(
        np.array([words[word] for word, _ in tokens], dtype=np.int32),
        np.array([tags[tag] for _, tag in tokens], dtype=np.int32),
        np.cumsum([0, *(len(turn.split()) for turn in turns)]),
    )


def lexical(n: int, *turns: str, **options: float) -> Any:
    """Alignment of each turn with the next."""
    grams, first = talk(*turns).grams(n), np.arange(len(turns) - 1)
    return lexical_cosines(grams, grams, first, first + 1, **options).tolist()


def syntactic(n: int, *turns: str, **options: float) -> Any:
    """Alignment of each turn with the next."""
    grams, first = talk(*turns).tagged(n), np.arange(len(turns) - 1)
    return syntactic_cosines(grams, grams, first, first + 1, **options).tolist()


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


def test_a_turn_too_short_for_an_n_gram_is_undefined_or_0_as_in_align() -> None:
    turns = ("yes yes", "yes", "", "yes yes")
    assert np.isnan(lexical(2, *turns)).all()
    assert lexical(2, *turns, empty=0.0) == [0.0, 0.0, 0.0]
    np.testing.assert_array_equal(lexical(1, *turns), [1.0, np.nan, np.nan])


def test_shared_words_leave_before_tags_are_counted() -> None:
    # The different words of the first: the/D dog/N saw/V cat/N; of the second: the/D cat/N saw/V it/P.
    # the, cat and saw are shared: dog/N is left against it/P.
    a, b = "the/D dog/N saw/V the/D cat/N", "the/D cat/N saw/V it/P"
    assert syntactic(1, a, b) == [0.0]
    # Bigrams: the-dog DN, dog-saw NV, saw-the VD, the-cat DN; the-cat DN, cat-saw NV, saw-it VP.
    # the-cat is shared: DN 1, NV 1, VD 1 are left against NV 1, VP 1. Product 1, squares 3 and 2.
    assert syntactic(2, a, b) == pytest.approx([1 / np.sqrt(3 * 2)])


def test_a_word_said_twice_counts_once_among_tags() -> None:
    # go/V dog/N, go only once: V 1, N 1; run/V cat/N sits/V: V 2, N 1. Product 3, squares 2 and 5.
    assert syntactic(1, "go/V go/V dog/N", "run/V cat/N sits/V") == pytest.approx([3 / np.sqrt(2 * 5)])


def test_a_word_with_another_tag_is_not_shared() -> None:
    assert lexical(1, "work/V", "work/N") == [1.0]
    assert syntactic(1, "work/V", "work/N") == [0.0]
    assert syntactic(1, "work/V hard/A", "work/N hard/V") == pytest.approx([1 / 2])  # V, A against N, V


def test_nothing_left_is_undefined_or_0_as_in_align() -> None:
    same = "the/D dog/N"
    np.testing.assert_array_equal(syntactic(1, same, same, "the/D cat/N", ""), [np.nan, 1.0, np.nan])
    assert syntactic(1, same, same, "the/D cat/N", "", empty=0.0) == [0.0, 1.0, 0.0]


def test_whole_conversation_takes_sides_together() -> None:
    # T: "i see", "i know"; C: "you see", "see". T: i 2, see 1, know 1; C: you 1, see 2. Product 2, squares 6 and 5.
    said = talk("i/P see/V", "you/P see/V", "i/P know/V", "see/V")
    sides = np.array([0, 2]), np.array([1, 3])
    grams, tagged = said.grams(1), said.tagged(1)
    assert lexical_whole(grams, grams, *sides) == pytest.approx(2 / np.sqrt(6 * 5))
    # Different words: i, see, know; you, see. Without see: P 1, V 1 against P 1. Product 1, squares 2 and 1.
    assert syntactic_whole(tagged, tagged, *sides) == pytest.approx(1 / np.sqrt(2))


def test_whole_conversation_without_a_side_is_undefined() -> None:
    said = talk("i see", "you see")
    everyone, nobody = np.arange(2), np.arange(0)
    grams, tagged = said.grams(1), said.tagged(1)
    for compare in (partial(lexical_whole, grams, grams), partial(syntactic_whole, tagged, tagged)):
        assert np.isnan(compare(everyone, nobody))
        assert compare(everyone, nobody, empty=0.0) == 0.0
    trigrams = said.grams(3)
    assert np.isnan(lexical_whole(trigrams, trigrams, everyone, everyone))


def test_joined_turns_have_n_grams_across() -> None:
    # a: "one", "two"; b: "one two". Within turns a has no bigram; joined, both have one-two.
    said, sides = talk("one", "one two", "two"), np.array([0, 1, 0])
    within = said.grams(2)
    assert np.isnan(lexical_whole(within, within, np.array([0, 2]), np.array([1])))
    ids, offsets = joined(said.words, said.offsets, sides)
    assert offsets.tolist() == [0, 2, 4]
    across = ngrams(ids, offsets, 2)
    assert lexical_cosines(across, across, np.array([0]), np.array([1])).tolist() == [1.0]


def test_turns_of_no_group_are_left_out() -> None:
    said = talk("x", "y", "z", "x")
    ids, offsets = joined(said.words, said.offsets, np.array([0, -1, -1, 1]))
    assert (ids.tolist(), offsets.tolist()) == ([0, 0], [0, 1, 2])
    grams = said.grams(1)
    assert lexical_whole(grams, grams, np.array([0]), np.array([3])) == 1.0


def test_a_view_of_a_batch_gives_the_same() -> None:
    said = talk("so so tired", "so am I", "am I so tired")
    alone = talk("so am I", "am I so tired")
    view = ngrams(said.words, said.offsets[1:], 2)
    of_alone = ngrams(alone.words, alone.offsets, 2)
    wanted = lexical_cosines(of_alone, of_alone, [0], [1]).tolist()
    assert lexical_cosines(view, view, [0], [1]).tolist() == wanted
    assert lexical_cosines(view, ngrams(said.words, said.offsets, 2), [0], [2]).tolist() == wanted
    ids, offsets = joined(said.words, said.offsets[1:], np.array([0, 1]))
    assert (ids.tolist(), offsets.tolist()) == (said.words[3:].tolist(), [0, 3, 7])


def test_no_turns_and_no_pairs() -> None:
    nothing = np.zeros(0, dtype=np.int32)
    for offsets in (np.array([0]), np.array([0, 0, 0])):
        grams, tagged = ngrams(nothing, offsets, 2), tagged_ngrams(nothing, nothing, offsets, 2, n_tags=3)
        assert lexical_cosines(grams, grams, nothing, nothing).shape == (0,)
        assert syntactic_cosines(tagged, tagged, nothing, np.zeros((200, 0), dtype=int)).shape == (200, 0)
    said = talk("a/x b/y", "a/y b/x")
    for two in ((grams, grams), (grams, said.grams(2)), (said.grams(2), grams)):
        assert np.isnan(lexical_cosines(*two, [0], [1])).all()
    for both in ((tagged, tagged), (tagged, said.tagged(2, 3)), (said.tagged(2, 3), tagged)):
        assert np.isnan(syntactic_cosines(*both, [0], [1])).all()
        assert np.isnan(syntactic_whole(*both, np.array([0]), np.array([1])))


# ---- against counters


def cosine(a: Counter[Any], b: Counter[Any]) -> float:
    dot = sum(a[key] * b[key] for key in a)
    squares = [sum(value * value for value in side.values()) for side in (a, b)]
    return dot / float(np.sqrt(squares[0] * squares[1])) if all(squares) else np.nan


def runs(tokens: Sequence[Any], n: int) -> list[tuple[Any, ...]]:
    return list(zip(*(tokens[step:] for step in range(n)), strict=False))


def counted_lexical(a: Sequence[Any], b: Sequence[Any], n: int) -> float:
    return cosine(*(Counter(runs([word for word, _ in side], n)) for side in (a, b)))


def counted_syntactic(a: Sequence[Any], b: Sequence[Any], n: int) -> float:
    of_a, of_b = set(runs(a, n)), set(runs(b, n))
    return cosine(*(Counter(tuple(tag for _, tag in run) for run in rest) for rest in (of_a - of_b, of_b - of_a)))


TURN = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2)), max_size=12)
DIALOGUE = st.lists(TURN, min_size=2, max_size=7)


def arrays(turns: Sequence[Sequence[tuple[int, int]]]) -> Talk:
    tokens = np.array([token for turn in turns for token in turn], dtype=np.int32).reshape(-1, 2)
    return Talk(tokens[:, 0], tokens[:, 1], np.cumsum([0, *map(len, turns)]))


@pytest.fixture(params=["each with each", "each with each, in parts", "pair by pair", "in small chunks"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Force one of the ways in which pairs are computed."""
    monkeypatch.setattr(_ngrams, "_EVERY", 1000 if request.param.startswith("each") else 0)
    monkeypatch.setattr(_ngrams, "_ENTRIES", 3 if request.param == "in small chunks" else 1 << 19)
    monkeypatch.setattr(_ngrams, "_CELLS", 20 if request.param.endswith("parts") else 1 << 20)


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("n", [1, 2, 3])
def test_as_counters_give_it(n: int) -> None:
    @settings(max_examples=40, deadline=None)
    @given(DIALOGUE)
    def check(turns: list[list[tuple[int, int]]]) -> None:
        said, every = arrays(turns), range(len(turns))
        rows, columns = np.arange(len(turns))[:, None], np.arange(len(turns))[None]
        grams, tagged = said.grams(n), said.tagged(n)
        words = lexical_cosines(grams, grams, rows, columns)
        tags = syntactic_cosines(tagged, tagged, rows, columns)
        for found, counted in ((words, counted_lexical), (tags, counted_syntactic)):
            wanted = [[counted(turns[i], turns[j], n) for j in every] for i in every]
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)
            assert (np.isnan(found) | ((found >= 0) & (found <= 1))).all()
            np.testing.assert_array_equal(found, found.T)
        own = np.diagonal(words)
        assert (np.isnan(own) | (own == 1)).all()

    check()


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("n", [1, 2, 3])
def test_two_sets_as_counters_give_them(n: int) -> None:
    @settings(max_examples=40, deadline=None)
    @given(DIALOGUE, DIALOGUE, st.randoms(use_true_random=False))
    def check(turns: list[list[tuple[int, int]]], others: list[list[tuple[int, int]]], random: Any) -> None:
        one, two = arrays(turns), arrays(others)
        pairs = [(random.randrange(len(turns)), random.randrange(len(others))) for _ in range(9)]
        rows, columns = np.array(pairs).T.reshape(2, 3, 3)
        words = lexical_cosines(one.grams(n), two.grams(n), rows, columns)
        tags = syntactic_cosines(one.tagged(n), two.tagged(n), rows, columns)
        for found, counted in ((words, counted_lexical), (tags, counted_syntactic)):
            wanted = np.reshape([counted(turns[i], others[j], n) for i, j in pairs], (3, 3))
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12)

    check()


@settings(max_examples=40, deadline=None)
@given(DIALOGUE, DIALOGUE, st.data())
def test_sides_as_counters_give_them(
    turns: list[list[tuple[int, int]]], others: list[list[tuple[int, int]]], data: st.DataObject
) -> None:
    """The one side from one set of turns, the other from the same or another; turns may come twice."""
    others = data.draw(st.sampled_from([turns, others]))
    chosen = [np.array(data.draw(st.lists(st.integers(0, len(of) - 1), min_size=1))) for of in (turns, others)]
    for n in (1, 2):
        within = [
            [run for i in rows for run in runs(of[i], n)] for of, rows in zip((turns, others), chosen, strict=True)
        ]
        words = cosine(*(Counter(tuple(word for word, _ in run) for run in side) for side in within))
        a, b = map(set, within)
        tags = cosine(*(Counter(tuple(tag for _, tag in run) for run in rest) for rest in (a - b, b - a)))
        grams, tagged = arrays(turns).grams(n), arrays(turns).tagged(n)
        same = others is turns
        other_grams, other_tagged = (grams, tagged) if same else (arrays(others).grams(n), arrays(others).tagged(n))
        np.testing.assert_allclose(lexical_whole(grams, other_grams, *chosen), words, rtol=0, atol=1e-12)
        np.testing.assert_allclose(syntactic_whole(tagged, other_tagged, *chosen), tags, rtol=0, atol=1e-12)


def test_shuffles_are_looked_up_and_chunks_are_joined() -> None:
    generator = np.random.default_rng(1)
    sizes = generator.integers(0, 30, 80)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    words, tags = generator.integers(0, 50, (2, offsets[-1])) // [[1], [10]]
    anchors = np.arange(0, 80, 2)
    replies = generator.permuted(np.tile(anchors + 1, (200, 1)), axis=1)
    said = Talk(words, tags, offsets)
    grams, tagged = said.grams(2), said.tagged(1)
    for cosines in (partial(lexical_cosines, grams, grams), partial(syntactic_cosines, tagged, tagged)):
        shuffled = cosines(anchors, replies)
        assert shuffled.shape == (200, 40)
        for row in (0, 199):
            np.testing.assert_array_equal(shuffled[row], cosines(anchors, replies[row]))


# ---- what ALIGN 0.1.1 gave for AnnoMI, its preparation done anew here (spell check off)


@dataclass(frozen=True)
class Prepared:
    """ALIGN's turns of a session: who speaks, and the words as arrays."""

    speakers: list[str]
    said: Talk


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


def pieces(word: str) -> list[str]:
    """Split a word of letters and apostrophes as NLTK does."""
    if "''" in word:
        return [
            piece for part in word.replace("''", " '' ").split() for piece in (pieces(part) if part != "''" else [part])
        ]
    if QUOTE.match(word):
        return ["'", *pieces(word[1:])]
    if ending := ENDING.fullmatch(word):
        return [*pieces(ending[1]), ending[2]]
    return HALVES.get(word, word).split()


def tokens_of(text: str) -> list[str]:
    return [piece for word in text.split() for piece in pieces(word)]


def merged(rows: pd.DataFrame) -> list[tuple[str, str]]:
    """Drop rows of less than two tokens, then write neighbouring rows of a speaker as one."""
    turns: list[tuple[str, str]] = []
    for who, said in zip(rows.interlocutor, rows.utterance_text.map(cleaned), strict=True):
        if len(tokens_of(said)) < 2:
            continue
        if turns and turns[-1][0] == who:
            turns[-1] = (who, turns[-1][1] + " " + said)
        else:
            turns.append((who, said))
    return turns


def prepared(rows: pd.DataFrame) -> Prepared:
    table = expansions()
    contraction = re.compile("|".join(table))
    turns = merged(rows)
    words = [tokens_of(contraction.sub(lambda found: table[found[0]], said)) for _, said in turns]
    bare = [[word.replace("'", "") for word in turn] for turn in words]
    ids = {word: i for i, word in enumerate(dict.fromkeys(word for turn in bare for word in turn))}
    tokens = np.array([ids[word] for turn in bare for word in turn], dtype=np.int32)
    return Prepared([who for who, _ in turns], Talk(tokens, tokens, np.cumsum([0, *map(len, bare)])))


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
        said = sessions[key].said
        lengths = np.diff(said.offsets)
        np.testing.assert_array_equal(lengths[:-1], rows.utterance_length1)
        np.testing.assert_array_equal(lengths[1:], rows.utterance_length2)
        first = np.arange(len(rows))
        for n in (1, 2):
            grams = said.grams(n)
            values = lexical_cosines(grams, grams, first, first + 1, empty=0.0)
            np.testing.assert_allclose(values, rows[f"lexical_tok{n}"], rtol=0, atol=1e-9)
    assert len(given_values) > 3000


def test_whole_conversation_as_align(corpora: Path, sessions: dict[Any, Prepared]) -> None:
    rows = peer(corpora, "align_C2C_correct.csv")
    for row in rows.itertuples():
        session = sessions[row.transcript_id]
        sides = np.array([who == session.speakers[0] for who in session.speakers]).astype(int)
        ids, offsets = joined(session.said.words, session.said.offsets, sides)
        for n in (1, 2):
            grams = ngrams(ids, offsets, n)
            value = lexical_cosines(grams, grams, [0], [1], empty=0.0)[0]
            assert value == pytest.approx(getattr(row, f"lexical_tok{n}"), rel=0, abs=1e-9)
    assert len(rows) > 80


@pytest.mark.parametrize(("n", "at_a_time"), [(1, 1 << 19), (2, 1 << 19), (2, 3)])
def test_products_added_up_from_what_is_shared_are_those_of_the_tables(
    n: int, at_a_time: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_ngrams, "_ENTRIES", at_a_time)
    rng = np.random.default_rng(7)
    own, lent = (ngrams(rng.integers(0, 4, 3 * n_turns), np.arange(n_turns + 1) * 3, n) for n_turns in (9, 30))
    nobody = np.zeros((0, 1), dtype=np.int64)
    sessions = [
        Draws.of(np.array([0, 2, 4]), np.array([3, 5, 8, 20, 21]), np.array([[0]]), np.array([[4]])),
        Draws.of(np.array([], dtype=np.int64), np.array([7]), nobody, nobody),
        Draws.of(np.array([6, 7]), np.array([29]), np.array([[1]]), np.array([[0]])),
    ]
    draws = Draws.joined(sessions, ([0] * 3, [0] * 3))
    for asked, one, other in ((draws, own, lent), (draws.turned(), lent, own)):
        anchor, reply = asked.cells()
        before, after = asked.anchors.take(anchor), asked.replies.take(reply)
        found = products_of_few(one, other, asked)
        assert found.any()
        cosines = found / np.sqrt(one.squares[before] * other.squares[after])
        np.testing.assert_array_equal(cosines, lexical_cosines(one, other, before, after))
