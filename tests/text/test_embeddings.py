"""Word vectors: means over subwords, texts without a vector, batches, near and far, broken files."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from therapy_analytics.core.errors import BadDataFileError
from therapy_analytics.text.embeddings import DIMENSIONS, VECTORS, Embeddings, load_embeddings
from therapy_analytics.text.wordpiece import VOCABULARY, WordPiece


def invented() -> Embeddings:
    """Return vectors of five subwords, of which two have none; one step is 1 for "good", 0.5 for the others."""
    wordpiece = WordPiece(["[UNK]", "good", "day", "##s", "[unused0]"])
    vectors = np.zeros((5, DIMENSIONS), dtype=np.int8)
    vectors[[1, 2, 3], [0, 1, 2]] = 4
    return Embeddings(wordpiece, vectors, np.array([0, 1, 0.5, 0.5, 0], dtype=np.float32))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("good", [4, 0, 0]),
        ("Day", [0, 2, 0]),
        ("days", [0, 1, 1]),  # day + ##s, halved
        ("good days", [4 / 3, 2 / 3, 2 / 3]),  # three subwords
        ("good good day", [8 / 3, 2 / 3, 0]),
        (" good\n\tday  ", [2, 1, 0]),
        ("good night, day!", [2, 1, 0]),  # night and punctuation are no subwords here
    ],
)
def test_the_vector_of_a_text_is_the_mean_over_its_known_subwords(text: str, wanted: list[float]) -> None:
    found = invented().embed([text])
    assert (found.shape, found.dtype) == ((1, DIMENSIONS), np.float32)
    np.testing.assert_allclose(found[0, :3], wanted, rtol=1e-6)
    assert not found[0, 3:].any()


@pytest.mark.parametrize("text", ["", "  \n ", "night", "\u200b", "\U0001f600", "[unused0]"])
def test_a_text_without_a_known_subword_has_no_vector(text: str) -> None:
    assert np.isnan(invented().embed(["good", text])[1]).all()


def test_no_texts_have_no_rows() -> None:
    assert load_embeddings().embed([]).shape == (0, DIMENSIONS)


def test_a_text_is_the_mean_of_its_words_that_are_one_subword_each() -> None:
    kept = load_embeddings()
    words = ["i", "feel", "sad", "today", "."]
    np.testing.assert_allclose(
        kept.embed(["I feel sad today."])[0], kept.embed(words).mean(axis=0), rtol=1e-5, atol=1e-6
    )


def test_case_accents_and_apostrophes_do_not_matter() -> None:
    a, b = load_embeddings().embed(["I don\u2019t know, Ren\u00e9e", "i don't KNOW, renee"])
    np.testing.assert_array_equal(a, b)


TEXTS = [
    "",
    "yes",
    "I do not know what to do any more.",
    "word " * 3000,
    "\u4f60\u597d",
    "sad, so sad",
    "unbelievably so",
]


@given(st.lists(st.sampled_from([*TEXTS, "a\nb", "well I want to stop", "?", "I'm fine"]), max_size=9))
def test_a_vector_does_not_depend_on_the_other_texts(texts: list[str]) -> None:
    embed = load_embeddings().embed
    alone = [embed([text])[0] for text in texts]
    np.testing.assert_array_equal(embed(texts), np.array(alone, dtype=np.float32).reshape(-1, DIMENSIONS))


def test_neither_does_it_in_a_large_batch() -> None:
    words = VOCABULARY.read_text(encoding="utf-8").split("\n")[1996:12000]
    generator = random.Random(0)
    texts = [" ".join(generator.choices(words, k=generator.randrange(30))) for _ in range(2000)]
    embed = load_embeddings().embed
    whole = embed(texts)
    np.testing.assert_array_equal(whole, np.vstack([embed(texts[:7]), embed(texts[7:1500]), embed(texts[1500:])]))
    np.testing.assert_array_equal(whole[::-1], embed(texts[::-1]))


def near(triples: list[tuple[str, str, str]]) -> NDArray[np.bool_]:
    """Return whether the first of each three is nearer to the second than to the third, by cosine."""
    vectors = load_embeddings().embed([text for three in triples for text in three])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    a, b, c = vectors.reshape(-1, 3, DIMENSIONS).transpose(1, 0, 2)
    return np.asarray((a * b).sum(axis=1) > (a * c).sum(axis=1))


WORDS = """
    sad unhappy purple; happy glad window; afraid scared spoon; angry furious bicycle; alcohol drinking mathematics
    smoking cigarettes geography; doctor physician carpet; mother father hammer; sleep insomnia parliament
    tired exhausted diamond; husband wife chemistry; work job banana; money debt violin; help support cloud
    lonely isolated triangle; anxiety worry kitchen; depressed hopeless basketball; child kid engine
    pain hurt library; therapy counseling railway; begin start elephant; car vehicle poem; medication pills soccer
    hate dislike river; child children comma; speak talk mountain; ashamed guilty copper; calm relaxed invoice
    argue quarrel butter; weep cry planet
"""
SENTENCES = [
    ("I feel so sad today", "I have been crying all week", "The train leaves at nine"),
    ("I want to stop smoking", "Giving up cigarettes is my goal", "We painted the kitchen yellow"),
    ("My boss shouts at me", "Work is stressful because of my manager", "The garden needs more rain"),
    ("I can't sleep at night", "I lie awake in bed for hours", "She bought a new bicycle"),
    ("My husband left me", "We got divorced last year", "The recipe needs two eggs"),
    ("I am scared of flying", "Being on a plane makes me panic", "He teaches mathematics"),
    ("I drink too much beer", "Alcohol has become a problem for me", "The museum is closed on Monday"),
    ("You sound exhausted", "It seems that you are very tired", "The letter arrived from Spain"),
    ("I lost my father in spring", "Since dad died I have been grieving", "My phone has a better camera"),
    ("Nobody ever calls me", "I feel lonely and have no friends", "The soup is too hot"),
    ("I am proud of my exam", "She passed the test at school", "The dog chased a squirrel"),
    ("Let us plan the next step", "What could you do this week toward your goal?", "The river froze in January"),
]


def test_words_of_like_meaning_are_near() -> None:
    triples = [(a, b, c) for line in WORDS.replace("\n", ";").split(";") if line.strip() for a, b, c in [line.split()]]
    assert len(triples) == 30
    assert near(triples).mean() >= 0.9


def test_sentences_of_like_meaning_are_near() -> None:
    found = near(SENTENCES)
    assert found[0]
    assert found.mean() >= 0.9


def test_most_sentences_find_their_partner_among_all() -> None:
    kept = load_embeddings()
    texts = [text for one, other, _ in SENTENCES for text in (one, other)]
    vectors = kept.embed(texts)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1)
    partner = np.arange(len(texts)) ^ 1  # 0 and 1 belong together, 2 and 3, ...
    assert (cosines.argmax(axis=1) == partner).mean() >= 0.65  # 17 of 24 do; by chance 1 of 23 would


def test_the_package_has_a_vector_for_each_subword_but_marks() -> None:
    kept = load_embeddings()
    assert load_embeddings() is kept
    vocabulary = VOCABULARY.read_text(encoding="utf-8").split("\n")
    without = [vocabulary[row] for row in np.flatnonzero(kept.scales == 0)]
    assert [subword for subword in without if not subword.startswith("[unused")] == [
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
    ]
    assert not kept.vectors[kept.scales == 0].any()
    assert VECTORS.stat().st_size < 8.5e6


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    """Return a copy of the vectors, to be broken."""
    return Path(shutil.copytree(VECTORS.parent, tmp_path / "vectors"))


def test_other_vectors_can_be_loaded(vectors: Path) -> None:
    np.testing.assert_array_equal(load_embeddings(vectors).embed(["so sad"]), load_embeddings().embed(["so sad"]))


@pytest.mark.parametrize("name", ["vocabulary.txt", "vectors.npz"])
@pytest.mark.parametrize("content", [None, b"", b"[UNK]", b"\x00" * 100, b"\xff\xfe", b"PK\x03\x04"])
def test_broken_files_are_told(vectors: Path, name: str, content: bytes | None) -> None:
    if content is None:
        (vectors / name).unlink()
    else:
        (vectors / name).write_bytes(content)
    with pytest.raises(BadDataFileError) as caught:
        load_embeddings(vectors)
    assert str(vectors / ("vectors.npz" if content == b"[UNK]" else name)) in str(caught.value)


def test_a_flipped_byte_is_told(vectors: Path) -> None:
    data = bytearray((vectors / "vectors.npz").read_bytes())
    data[len(data) // 2] ^= 1
    (vectors / "vectors.npz").write_bytes(data)
    with pytest.raises(BadDataFileError):
        load_embeddings(vectors)


@pytest.mark.parametrize(
    "change",
    [
        {"vectors": np.zeros((3, DIMENSIONS), dtype=np.int8)},
        {"vectors": np.zeros((30522, DIMENSIONS), dtype=np.float32)},
        {"scales": np.full(30522, np.nan, dtype=np.float32)},
        {"scales": np.full(30522, -1, dtype=np.float32)},
        {"scales": np.ones(30522)},
        {"scales": np.array([None, {}], dtype=object)},
    ],
)
def test_vectors_that_do_not_fit_are_told(vectors: Path, change: dict[str, NDArray[np.generic]]) -> None:
    arrays = {
        "vectors": np.zeros((30522, DIMENSIONS), dtype=np.int8),
        "scales": np.zeros(30522, dtype=np.float32),
    } | change
    np.savez(vectors / "vectors.npz", **arrays)  # type: ignore[arg-type]
    with pytest.raises(BadDataFileError):
        load_embeddings(vectors)
