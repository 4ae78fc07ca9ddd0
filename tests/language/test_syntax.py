"""Parts of speech: one for each token, alike alone and among others, and as good as the notice says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from therapy_analytics.errors import BadDataFileError, BadOptionError
from therapy_analytics.language import syntax
from therapy_analytics.language.syntax import UPOS, load_tagger, tag
from therapy_analytics.language.tokens import tokenize

MODEL = Path(syntax.__file__).with_name("syntax_model")


def _names(*texts: str) -> list[str]:
    return [UPOS[i] for i in tag(texts)]


def test_there_are_seventeen_tags_in_alphabetical_order() -> None:
    assert len(UPOS) == 17
    assert list(UPOS) == sorted(UPOS)


PLAIN = [
    ("She reads the book.", "PRON VERB DET NOUN PUNCT"),
    ("she reads the book", "PRON VERB DET NOUN"),
    ("I don\u2019t know", "PRON AUX PART VERB"),
    ("i don't know", "PRON AUX PART VERB"),
    ("we walked to Paris and back", "PRON VERB ADP PROPN CCONJ ADV"),
    ("yeah", "INTJ"),
    ("Three of them", "NUM ADP PRON"),
    ("He slept...", "PRON VERB PUNCT"),
]


@pytest.mark.parametrize(("text", "expected"), PLAIN, ids=[text for text, _ in PLAIN])
def test_plain_sentences(text: str, expected: str) -> None:
    assert _names(text) == expected.split()


FILLERS = ["um", "Hmm.", "Mm-hmm.", "mm hmm", "uh huh", "Uh-huh.", "okay", "Yeah.", "mhm"]


@pytest.mark.parametrize("text", FILLERS)
def test_fillers_are_interjections(text: str) -> None:
    assert set(_names(text)) <= {"INTJ", "PUNCT"}
    assert _names(f"{text} I know")[0] == "INTJ"


def test_a_filler_in_the_middle() -> None:
    assert _names("i was um at work")[2] == _names("I was, uh, at work.")[3] == "INTJ"


def test_the_order_is_that_of_the_tokens() -> None:
    texts = ["She told me", "", "...", "i know"]
    assert tokenize(texts).offsets.tolist() == [0, 3, 3, 4, 6]
    assert _names(*texts) == ["PRON", "VERB", "PRON", "PUNCT", "PRON", "VERB"]


ODD = [
    "",
    " ",
    "...",
    ". . . .",
    "\n\n",
    "\U0001f600\U0001f600 ok",
    "-- well --",
    "I... I--I'm",
    "\u2026",
    "a\u00a0b",
    "\u0130i",
    "\x00",
]


@pytest.mark.parametrize("text", ODD, ids=[ascii(text) for text in ODD])
def test_odd_texts_have_a_tag_for_each_token(text: str) -> None:
    tags = tag([text])
    assert tags.dtype == np.int8
    assert tags.shape == tokenize([text]).ids.shape
    assert ((tags >= 0) & (tags < len(UPOS))).all()


def test_no_texts() -> None:
    assert tag([]).shape == (0,)
    assert tag(["", ""]).shape == (0,)


def test_a_very_long_turn() -> None:
    text = "so i went home and then i slept " * 1000
    tags = tag(["yes", text, "no"])
    assert len(tags) == 8002
    assert len(np.unique(tags[1:-1].reshape(1000, 8)[1:-1], axis=0)) == 1  # but for the ends, all repetitions are alike


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=5))
def test_any_text_has_a_tag_for_each_token(texts: list[str]) -> None:
    assert tag(texts).shape == tokenize(texts).ids.shape


WORDS = st.sampled_from(
    ["I", "you", "feel", "that", "'s", "hard", "um", "Tuesday", "don't", "?", ".", "...", "work", "to", "like"]
)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(WORDS, max_size=30).map(" ".join), min_size=2, max_size=8))
def test_a_text_is_read_alike_alone_and_among_others(texts: list[str]) -> None:
    alone = [tag([text]) for text in texts]
    assert tag(texts).tolist() == np.concatenate(alone).tolist()
    assert tag(texts[::-1]).tolist() == np.concatenate(alone[::-1]).tolist()


def _sentences(path: Path) -> list[list[tuple[str, str]]]:
    """Words and tags of the sentences of a treebank file."""
    blocks = path.read_text(encoding="utf-8").strip().split("\n\n")
    rows = [[line.split("\t") for line in block.splitlines() if line[:1].isdigit()] for block in blocks]
    return [[(row[1], row[3]) for row in one if row[0].isdigit()] for one in rows]


def _share_right(sentences: list[list[tuple[str, str]]]) -> float:
    from spacy.tokens import Doc

    nlp = load_tagger()
    docs = nlp.pipe(Doc(nlp.vocab, words=[word for word, _ in one]) for one in sentences)
    pairs = [
        (token.pos_, known)
        for doc, one in zip(docs, sentences, strict=True)
        for token, (_, known) in zip(doc, one, strict=True)
    ]
    assert len(pairs) > 7_000
    return float(np.mean([given == known for given, known in pairs]))


def test_held_out_writing_is_tagged_well(corpora: Path) -> None:
    dev = corpora / "ud_ewt" / "en_ewt-ud-dev.conllu"
    if not dev.is_file():
        pytest.skip("the treebank is not among the research corpora")
    sentences = _sentences(dev)[::3]
    bare = [[(word.lower(), known) for word, known in one if known != "PUNCT"] for one in sentences]
    assert _share_right(sentences) >= 0.94
    assert _share_right([one for one in bare if one]) >= 0.90


def test_the_model_is_small_and_holds_no_words() -> None:
    files = [path for path in MODEL.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 8_000_000
    assert {path.relative_to(MODEL).as_posix() for path in files} == {
        "NOTICE.md",
        "config.cfg",
        "meta.json",
        "morphologizer/cfg",
        "morphologizer/model",
        "tagger/cfg",
        "tagger/model",
        "tok2vec/cfg",
        "tok2vec/model",
        "tokenizer",
        "vocab/strings.json",
    }
    labels = json.loads((MODEL / "vocab" / "strings.json").read_text(encoding="utf-8"))
    penn = json.loads((MODEL / "tagger" / "cfg").read_text(encoding="utf-8"))["labels"]
    assert set(labels) == {*UPOS, *(f"POS={name}" for name in UPOS), *penn}
    assert len(penn) < 60


def test_it_loads_without_pickle_socket_or_warning() -> None:
    code = (
        "import pickle, socket\n"
        "def refuse(*a, **k): raise SystemExit('pickle or a socket was used')\n"
        "from therapy_analytics.language.syntax import tag\n"
        "import spacy\n"
        "pickle.load = pickle.loads = pickle.Unpickler = refuse\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "print(len(tag(['She reads the book.'])))"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("5", 0), done.stderr


def test_it_is_loaded_once() -> None:
    assert load_tagger() is load_tagger(None)


def test_a_pipeline_that_is_not_there() -> None:
    with pytest.raises(
        BadOptionError, match=r"no spaCy pipeline 'en_core_web_zz' .* \(python -m spacy download en_core_web_zz\)"
    ):
        tag(["yes"], model="en_core_web_zz")


def test_a_folder_that_is_no_pipeline(tmp_path: Path) -> None:
    with pytest.raises(BadDataFileError, match="cannot load this pipeline"):
        load_tagger(str(tmp_path))


def test_a_pipeline_without_parts_of_speech(tmp_path: Path) -> None:
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path)
    with pytest.raises(BadOptionError, match="gives no parts of speech"):
        load_tagger(str(tmp_path))


def test_a_pipeline_of_the_users_own(tmp_path: Path) -> None:
    import spacy

    nlp = spacy.load(MODEL)
    nlp.add_pipe("merge_noun_chunks")  # would change the number of tokens
    nlp.to_disk(tmp_path)
    texts = ["She reads the long book.", "", "yes"]
    assert tag(texts, model=str(tmp_path)).tolist() == tag(texts).tolist()
