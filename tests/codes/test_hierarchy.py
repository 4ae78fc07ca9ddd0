"""No turn has codes that contradict each other, whoever coded it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import therapy_analytics as ta
from therapy_analytics.codes import (
    Codebook,
    TaggerOptions,
    builtin_codebooks,
    load_accurate,
    load_codebook,
    load_tagger,
)
from therapy_analytics.codes.tagger import decided, n_questions, without_contradictions
from therapy_analytics.codes.weights import AIMS
from therapy_analytics.core.errors import BadDataFileError
from therapy_analytics.text import annotate
from therapy_analytics.text.lexicons import Matcher
from therapy_analytics.text.segments import turns_from_texts

BOOK = """
id = "our_clinic"
name = "Our form"
definition = "What we listen for."
source = "Our clinic, 2025"
""" + "".join(
    f'\n[[codes]]\nid = "{name}"\nname = "{name}"\nrole = "therapist"\ngroup = "support"\n'
    f'definition = "The therapist does so."\n{more}\n'
    for name, more in {
        "joining": 'exclusive = "turn"',
        "joining_early": 'parent = "joining"',
        "joining_late": 'parent = "joining"',
        "joining_again": 'parent = "joining"',
        "asking": 'exclusive = "question"',
        "asking_why": 'parent = "asking"',
        "asking_when": 'parent = "asking"',
        "praising": "",
        "praising_effort": 'parent = "praising"',
        "praising_result": 'parent = "praising"',
    }.items()
)
TEXTS = ("", "Right? Right?", "Why then?", "why then when then", "Why did you go? And when was that? Who knows", "Yes.")
ASKED = (0, 0, 1, 0, 2, 0)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Codebook:
    path = tmp_path_factory.mktemp("books") / "our_clinic.toml"
    path.write_text(BOOK, encoding="utf-8")
    return load_codebook(path)


def contradictions(given: pd.DataFrame, asked: Sequence[int], books: Sequence[Codebook]) -> list[str]:
    """Return what contradicts itself in a table of decisions, by what the books say and in the plainest way."""
    found = []
    for book in books:
        for code in book.codes:
            kinds = [one.column for one in book.codes if one.parent == code.id and one.column in given]
            if code.column in given:
                found += [f"{one} without {code.column}" for one in kinds if (given[one] & ~given[code.column]).any()]
            if code.exclusive:
                most = np.maximum(asked, 1) if code.exclusive == "question" else 1
                found += [f"too many kinds of {code.column}"] * bool((given[kinds].sum(axis=1) > most).any())
    return found


def test_questions_are_counted_by_sentences_with_a_mark() -> None:
    assert n_questions(turns_from_texts(TEXTS)).tolist() == list(ASKED)


@pytest.mark.parametrize("seed", range(20))
def test_random_probabilities_never_contradict_themselves(seed: int, own: Codebook) -> None:
    rng, books = np.random.default_rng(seed), (*builtin_codebooks(), own)
    every = [code.column for book in books for code in book.codes if code.role == "therapist"]
    names = tuple(rng.permutation(every)[: rng.integers(2, len(every) + 1)].tolist())
    texts = [TEXTS[at] for at in rng.integers(0, len(TEXTS), 200)]
    p = rng.random((200, len(names))).round(1)
    codes = decided(names, p, rng.uniform(0.05, 0.6, len(names)), turns_from_texts(texts), (own,))
    asked = [ASKED[TEXTS.index(text)] for text in texts]
    assert contradictions(pd.DataFrame(codes.decision, columns=list(names)), asked, books) == []
    assert np.array_equal(codes.probability, p)


def test_the_likelier_of_two_kinds_stands_and_both_where_there_are_two_questions() -> None:
    names = ("mi_question", "mi_question_open", "mi_question_closed")
    turns = turns_from_texts(["Why then?", "Why did you go? And when was that?", "why then when then"])
    p = np.array([[0.9, 0.5, 0.6], [0.9, 0.5, 0.6], [0.3, 0.25, 0.25]])
    found = decided(names, p, np.array([0.4, 0.2, 0.2]), turns).decision
    assert found.tolist() == [[True, False, True], [True, True, True], [False, False, False]]


def test_of_equal_kinds_the_one_that_stands_last_in_the_book_stands() -> None:
    names = ("miti_reflection_complex", "miti_reflection", "miti_reflection_simple")
    given = np.ones((1, 3), np.bool_)
    found = without_contradictions(names, given, np.zeros((1, 3)), np.zeros(1, np.int64), builtin_codebooks())
    assert found.tolist() == [[True, True, False]]


def test_an_exclusive_code_needs_kinds(tmp_path: Path) -> None:
    path = tmp_path / "book.toml"
    path.write_text(BOOK.replace('parent = "asking"', "", 1), encoding="utf-8")
    with pytest.raises(BadDataFileError, match=r"code 'asking': it has fewer than two kinds that could exclude each"):
        load_codebook(path)


def test_rates_count_what_stands(samples: Path) -> None:
    found = ta.analyze(ta.read(samples)[:2], tagger=TaggerOptions(kind="fast", all_codes=True))
    turns = found.turns[found.turns["role"] == "therapist"]
    for name in ("mi_question_open", "mi_question_closed", "mi_reflection_simple"):
        rates = found.profile[(found.profile["code"] == name) & (found.profile["part"] == "whole")]
        expected = turns.groupby("session_id")[name].sum()
        assert rates.set_index("session_id")["n"].to_dict() == expected.to_dict()


def test_no_turn_of_the_samples_contradicts_itself(samples: Path) -> None:
    batch = annotate(ta.read(samples)[:4], Matcher([]))
    asked = n_questions(batch.turns).tolist()
    for tagger in (
        load_accurate(aim="recall", all_codes=True),
        *(load_tagger(aim=aim, all_codes=True) for aim in AIMS),
    ):
        given = pd.DataFrame(tagger.predict(batch).decision, columns=list(tagger.names))
        assert len(tagger.names) > 40
        assert contradictions(given, asked, builtin_codebooks()) == []
