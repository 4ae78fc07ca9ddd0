"""The model of distorted thoughts: turns, sentences, files, and what it is worth on letters that it has not seen."""

from __future__ import annotations

import importlib
import json
import tomllib
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from therapy_analytics.behaviours.distortions import (
    ANY,
    BALANCED,
    BELIEFS,
    KINDS,
    VOICED,
    WEIGHTS,
    distorted,
    load_distortions,
)
from therapy_analytics.language import annotate
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.language.segments import turns_from_texts
from therapy_analytics.session import Session, Turn

TEXTS = [
    "I always ruin everything, and everybody thinks that I am stupid.",
    "What would you like to do today?",
    "Mm-hmm.",
    "",
    "...",
    "\U0001f602\U0001f602",
    "I work nights at a bakery. My wife and I have two sons. So. It is what it is",
    "i know she hates me and she'll leave me and nothing will ever be good again it's all my fault i'm a failure",
    "word " * 5000,
]


def test_distorted_thoughts_stand_out() -> None:
    p = load_distortions().of_texts(TEXTS).any
    assert min(p[0], p[7]) > BALANCED
    assert max(p[1], p[2], p[6]) < 0.2


def test_case_and_punctuation_hardly_matter() -> None:
    found = load_distortions().of_texts(
        ["I'm such a failure, I can't do anything.", "i'm such a failure i can't do anything"]
    )
    assert abs(found.any[0] - found.any[1]) < 0.15
    assert np.abs(found.beliefs[0] - found.beliefs[1]).max() < 0.15


def test_turns_without_words_are_undefined_and_others_lie_between_0_and_1() -> None:
    found = load_distortions().predict(turns_from_texts(TEXTS))
    silent = np.array([text in {"", "..."} or not text.isascii() for text in TEXTS])
    for values in (found.any[:, None], found.kinds, found.beliefs):
        assert np.isnan(values[silent]).all()
        assert ((values[~silent] >= 0) & (values[~silent] <= 1)).all()
    assert (found.words[silent] == 0).all()
    assert (found.words <= turns_from_texts(TEXTS).n_words).all()
    none = load_distortions().of_texts([])
    assert (none.any.shape, none.kinds.shape, none.beliefs.shape) == ((0,), (0, 10), (0, 3))


def test_a_turn_is_distorted_if_any_of_its_sentences_is() -> None:
    model = load_distortions()
    one, other = "Everybody hates me at work.", "The bus leaves at nine today."
    apart, both = model.of_texts([one, other]), model.of_texts([f"{one} {other}"])
    assert both.any[0] == pytest.approx(1 - (1 - apart.any[0]) * (1 - apart.any[1]), rel=1e-9)
    assert both.beliefs[0] == pytest.approx(apart.beliefs.max(axis=0), rel=1e-9)
    # 5 and 6 words
    assert both.words[0] == pytest.approx(5 * apart.any[0] + 6 * apart.any[1], rel=1e-9)
    # of one sentence, the kinds share its probability
    assert apart.kinds.sum(axis=1) == pytest.approx(apart.any, rel=1e-9)


def test_no_bit_depends_on_the_other_texts() -> None:
    model = load_distortions()
    together = model.predict(turns_from_texts(TEXTS))
    for i, text in enumerate(TEXTS):
        alone = model.predict(turns_from_texts([text]))
        for name in ("any", "kinds", "words", "beliefs"):
            assert getattr(alone, name)[0].tobytes() == getattr(together, name)[i].tobytes(), (name, i)
    batch = annotate([_session(TEXTS[:3]), _session(TEXTS[3:7]), _session(TEXTS[7:])], Matcher([]))
    parts = [model.predict(batch.turns.between(int(a), int(b))).any for a, b in pairwise(batch.starts)]
    assert np.concatenate(parts).tobytes() == together.any.tobytes()


def _session(spoken: list[str]) -> Session:
    turns = tuple(Turn(index=i, speaker="C", role="client", text=t, first_row=1) for i, t in enumerate(spoken))
    return Session(id="by_hand", source_file="", turns=turns)


def test_a_session_is_asked_once() -> None:
    session = next(iter(annotate([_session(TEXTS[:3])], Matcher([]))))
    assert np.shares_memory(distorted(session).any, distorted(session).any)


def test_the_weights_are_small_and_say_what_they_are_worth() -> None:
    assert sum(path.stat().st_size for path in WEIGHTS.iterdir()) < 1_000_000
    model = json.loads((WEIGHTS / "model.json").read_text(encoding="utf-8"))
    assert model["kinds"] == [ANY, *KINDS, *BELIEFS]
    figures = model["cross_validated"]
    for way in ("any_clean", "any_plain"):
        assert figures[way]["f1_tuned"][0] >= 0.80
        assert figures[way]["auc"][0] > figures["bag of words"]["auc"][0] + 0.04
    # too little for columns
    assert figures["kinds_clean"]["macro_f1_of_11"] < 0.35
    assert "no licence" in (WEIGHTS / "NOTICE.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def training() -> ModuleType:
    """Return the tool that trains the model."""
    return importlib.import_module("train_distortions")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("I'm a failure.", "She says that she's a failure."),
        ("I feel like my life has no point.", "She says that she feels like her life has no point."),
        ("Nobody loves me.", "She says that nobody loves her."),
        ("i don't deserve it, i have nothing", "She says that she doesn't deserve it, she has nothing"),
    ],
)
def test_beliefs_of_others_are_made_from_ones_own(training: ModuleType, text: str, told: str) -> None:
    assert training.third_person(text) == told


def test_copies_share_a_group(training: ModuleType) -> None:
    text = " ".join(f"word{i}" for i in range(40))
    other = " ".join(f"other{i}" for i in range(40))
    assert training.copies([text, other, text.upper() + " and more"]).tolist() == [0, 1, 0]


def test_marked_parts_are_found_in_the_segments(training: ModuleType) -> None:
    letter = "I met her at work last year. She surely thinks that I am stupid. We had lunch on Monday."
    cut = training.cut_up([letter], ["She surely thinks that I am stupid."])
    assert cut.marked.tolist() == [False, True, False]


def test_sentences_of_our_own_are_told_apart(root: Path) -> None:
    """Sixty sentences that were written before anything was fitted, and judge alone."""
    path = root / "tools" / "belief_statements.toml"
    if not path.is_file():
        pytest.skip("only the checkout has the tools")
    lists = tomllib.loads(path.read_text(encoding="utf-8"))
    kept = lists.pop("held_out")
    known = {text for one in lists.values() for text in one}
    texts = [(text, kind) for kind in (*BELIEFS, "none") for text in kept[kind]]
    assert len(texts) == 60
    assert not known & {text for text, _ in texts}
    p = load_distortions().of_texts([text for text, _ in texts]).beliefs
    spoken, has = (p >= VOICED).any(axis=1), np.array([kind != "none" for _, kind in texts])
    right = np.array(
        [BELIEFS.index(kind) == row.argmax() for (_, kind), row in zip(texts, p, strict=True) if kind != "none"]
    )
    assert spoken[has].mean() >= 0.55  # 23 of 36
    assert spoken[~has].mean() <= 0.2  # 3 of 24
    assert right.mean() >= 0.7


def test_what_a_part_teaches_holds_for_other_letters(training: ModuleType, corpora: Path) -> None:
    """A quarter of the letters judged by a model of every fifth of the others, as written; .79 in five folds."""
    metrics = pytest.importorskip("sklearn.metrics")
    letters = training.read(corpora)
    letters.cuts.pop()
    test = np.flatnonzero(letters.groups % 4 == 0)
    rows = np.setdiff1d(np.arange(len(letters.labels)), test)[::5]
    scores = [training.score(letters.cuts[0].table, training.fit_any(letters, training.read_own(), rows)[:, None])]
    line = training.noisy_or_line(letters, scores, rows)
    p = training.any_of(letters, scores, line, 0)[test]
    assert metrics.roc_auc_score(letters.labels[test], p) > 0.70
