"""The finder of phrases with slots."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable, Sequence

import pytest

from therapy_analytics.core.session import Session, Turn
from therapy_analytics.text import annotate, builtin_lexicons
from therapy_analytics.text import phrases as engine
from therapy_analytics.text.lexicons import Matcher, lexicon_folder
from therapy_analytics.text.phrases import compiled, load_phrases, turns_with, word_sequence

BOOKS = sorted(path.stem for path in lexicon_folder().glob("*.toml") if "[phrases." in path.read_text(encoding="utf-8"))
MEANINGS = tuple(f"{book}.{name}" for book in BOOKS for name in load_phrases(book))
WORDS = ("a", "b", "c", "x", "not")


@pytest.fixture
def write(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Return a function that puts a file of one meaning, ``any.one``, in the place of the package's."""

    def put(*patterns: str, unless: Sequence[str] = (), **slots: Sequence[str]) -> None:
        categories = {name: {"words": words} for name, words in slots.items()}
        phrases = {"one": {"patterns": patterns, "unless": unless}}
        book = compiled({"categories": categories, "phrases": phrases})
        monkeypatch.setattr(engine, "load_phrases", lambda _: book)

    return put


@pytest.mark.parametrize("book", BOOKS)
def test_every_phrase_is_well_formed(book: str) -> None:
    """A phrase begins with words that must stand there; what could match nowhere would be a silent zero."""
    for name, meaning in load_phrases(book).items():
        for pattern in meaning.patterns:
            words = [part for part in pattern if not isinstance(part, str)]
            assert any(not optional for _, optional in words)
            assert pattern[0] == "^" or (words[0] is pattern[0] and not words[0][1]), f"{name}: it may begin anywhere"
            assert pattern[-1] not in {"...", "~"}, f"{name}: a gap that opens to nothing"
            assert not set("@{}~^$|?") & set("".join(word for one, _ in words for word in one)), f"{name}: bad syntax"


@pytest.mark.parametrize("book", BOOKS)
def test_every_slot_is_used(book: str) -> None:
    words = [part[0] for one in load_phrases(book).values() for pattern in one.patterns for part in pattern
             if not isinstance(part, str)]  # fmt: skip
    written = tomllib.loads((lexicon_folder() / f"{book}.toml").read_text(encoding="utf-8"))["categories"]
    assert [name for name, slot in written.items() if not any(set(slot["words"]) <= one for one in words)] == []


@pytest.mark.parametrize("book", BOOKS)
def test_every_word_of_a_phrase_is_one_that_the_tokeniser_makes(make, book: str) -> None:  # type: ignore[no-untyped-def]
    known = {word for one in load_phrases(book).values() for pattern in one.patterns for part in pattern
             if not isinstance(part, str) for word in part[0]}  # fmt: skip
    made = word_sequence(make([("T", word) for word in sorted(known)])).index
    assert {word for word in known if word not in made} <= {"'ve", "'re", "'m", "cannot", "wouldn't", "i've", "n't"}


def _by_regular_expression(pattern: str, text: str) -> bool:
    gaps = {"...": r"(?: (?!not\b)\w+){0,3}", "~": r"(?: \w+){0,3}"}
    made = ""
    for part in pattern.split():
        if part in gaps:
            made += gaps[part]
        else:
            words = f" (?:{part.removesuffix('?')})\\b"
            made += f"(?:{words})?" if part.endswith("?") else words
    return re.search(made, " " + text) is not None


@pytest.mark.parametrize(
    "pattern", ["a b", "a ... b", "a b? c", "a|b ... c ... a", "a ... b? ... c", "b ... b", "a ~ b", "a ~ b? ... c"]
)
def test_it_finds_what_a_regular_expression_finds(make, write, pattern: str) -> None:  # type: ignore[no-untyped-def]
    write(pattern)
    generator = random.Random(1)
    texts = [" ".join(generator.choices(WORDS, k=generator.randint(1, 9))) for _ in range(300)]
    found = turns_with(make([("T", text) for text in texts]), "any.one", "therapist")
    assert found.tolist() == [_by_regular_expression(pattern, text) for text in texts]
    assert 0 < found.sum() < 300


def test_no_phrase_goes_over_the_end_of_a_sentence_or_turn(make, write) -> None:  # type: ignore[no-untyped-def]
    write("a ... b")
    session = make([("T", "a. b"), ("T", "a"), ("C", "b"), ("T", "a, b"), ("C", "a b")])
    assert turns_with(session, "any.one", "therapist").tolist() == [0, 0, 0, 1, 0]
    assert turns_with(session, "any.one", "client").tolist() == [0, 0, 0, 0, 1]


def test_begin_and_end_of_a_sentence(make, write) -> None:  # type: ignore[no-untyped-def]
    write("^ a b $")
    session = make([("T", "a b"), ("T", "x a b"), ("T", "a b x"), ("T", "Then no. A b!")])
    assert turns_with(session, "any.one", "therapist").tolist() == [1, 0, 0, 1]


def test_slots_gaps_and_places_that_a_reader_can_follow(make, write) -> None:  # type: ignore[no-untyped-def]
    write("like ~ @kin|boss", "^ no way?", "same thing", kin=["mum", "dad"])
    texts = [
        "You are like my old dad",
        "like a b c d dad",
        "same thing",
        "Well, no",
        "Sure. No way",
        "no way same thing",
        "... Same thing.",
    ]
    session = make([("C", text) for text in texts])
    # Four words are more than ~ allows; "no" must begin a sentence.
    assert turns_with(session, "any.one", "client").tolist() == [1, 0, 1, 0, 1, 1, 1]
    write("like ~ dad")
    assert turns_with(make([("C", "like my very old dad")]), "any.one", "client").all()  # 3 words
    assert not turns_with(make([("C", "like my very own old dad")]), "any.one", "client").any()  # 4


def test_what_speaks_against_a_phrase_is_looked_for_before_each(make, write) -> None:  # type: ignore[no-untyped-def]
    write("a b", unless=["negated"])
    # A negation reaches 4 words on, within the sentence
    texts = ["never a b", "never x y z a b", "never w x y z a b", "Never. A b", "never a b w x y z a b"]
    session = make([("C", text) for text in texts])
    assert turns_with(session, "any.one", "client").tolist() == [0, 0, 1, 1, 1]


def test_a_slot_that_is_not_there_is_an_error(write) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(KeyError):
        write("a @kin")


def test_batches_change_nothing() -> None:
    texts = ["You did well. Thank you for coming.", "Is it okay?", "...", "It is up to you, thanks."]
    sessions = [
        Session(
            id=str(i),
            source_file="x",
            turns=tuple(
                Turn(index=j, speaker="T", role="therapist", text=text, first_row=j + 1)
                for j, text in enumerate(texts[i:])
            ),
        )
        for i in range(5)
    ]
    together = annotate(sessions, Matcher(builtin_lexicons()))
    for session, batch in zip(sessions, together, strict=True):
        (alone,) = annotate([session], Matcher(builtin_lexicons()))
        for name in MEANINGS:
            for role in ("therapist", "client"):
                assert turns_with(batch, name, role).tolist() == turns_with(alone, name, role).tolist()
