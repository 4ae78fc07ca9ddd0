"""Tiers: which of them are what somebody says."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.session import Session

SessionOf = Callable[..., Session]
ProblemOf = Callable[..., UnreadableFileError]
Spans = list[tuple[float, float, str]]


def grid(*tiers: tuple[str, Spans]) -> str:
    """Return a TextGrid in the short form."""
    lines: list[object] = ['File type = "ooTextFile"', '"TextGrid"', "", 0, 99, "<exists>", len(tiers)]
    for name, spans in tiers:
        lines += ['"IntervalTier"', f'"{name}"', 0, 99, len(spans)]
        lines += [part for begin, end, text in spans for part in (begin, end, f'"{text}"')]
    return "\n".join(map(str, lines)) + "\n"


def spoken(session: Session) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in session.turns]


YES: tuple[str, Spans] = ("Therapist", [(0, 1, "You came.")])


@pytest.mark.parametrize(
    "name", ["Mark", "Joy", "PS", "FT", "Sil", "Speaker 2", "Client", "Interpreter", "Mo\u00efra", "S2"]
)
def test_names_that_look_like_kinds_are_people(name: str, session: SessionOf) -> None:
    one = session(grid(YES, (name, [(1, 2, "I did, at last.")])), "a.TextGrid")
    assert spoken(one) == [("Therapist", "You came."), (name, "I did, at last.")]


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("Ann - words", "Ann"),
        ("Ann_speech", "Ann"),
        ("utterances@Ann", "Ann"),
        ("Ann@tx", "Ann"),
        ("Transcript (Ann)", "Ann"),
        ("AnnSpeech", "Ann"),
        ("tx-Ann", "Ann"),
    ],
)
def test_the_kind_of_a_tier_is_no_part_of_the_name(name: str, label: str, session: SessionOf) -> None:
    one = session(grid(YES, (name, [(1, 2, "I did.")])), "a.TextGrid")
    assert one.turns[1].speaker == label


@pytest.mark.parametrize("word", ["mm", "uh-huh", "aha", "Mhm."])
def test_somebody_who_says_little_keeps_it(word: str, session: SessionOf) -> None:
    mm = ("Dana", [(float(at), at + 0.5, word) for at in range(10, 20, 2)])
    one = session(grid(YES, ("Client", [(2, 3, "I did.")]), mm), "a.TextGrid")
    assert {turn.speaker for turn in one.turns} == {"Therapist", "Client", "Dana"}


def test_a_tier_of_the_same_words_without_a_name_is_left_out(session: SessionOf) -> None:
    one = session(
        grid(YES, ("Client", [(2, 3, "I did.")]), ("transcript", [(0, 1, "You came."), (2, 3, "I did.")])), "a.TextGrid"
    )
    assert spoken(one) == [("Therapist", "You came."), ("Client", "I did.")]
    assert "1 tier of repeats of the words left out (2 annotations, 4 words)." in one.notes


def test_words_of_somebody_without_a_name_are_kept(session: SessionOf) -> None:
    one = session(grid(YES, ("Client", [(2, 3, "I did.")]), ("", [(4, 5, "Supper is ready.")])), "a.TextGrid")
    assert spoken(one)[2] == ("Unknown", "Supper is ready.")


def test_words_are_put_together_up_to_a_pause(session: SessionOf) -> None:
    words = [(0.0, 0.5, "I"), (0.5, 0.9, "went"), (1.05, 1.3, "home"), (2.0, 2.4, "late")]
    one = session(grid(("Ann - words", words), ("Ben - words", [(1.1, 1.2, "mm")])), "a.TextGrid")
    assert [(turn.speaker, turn.text, turn.start_s, turn.end_s) for turn in one.turns] == [
        ("Ann", "I went home", 0.0, 1.3),
        ("Ben", "mm", 1.1, 1.2),
        ("Ann", "late", 2.0, 2.4),
    ]


@pytest.mark.parametrize(
    ("written", "words", "mark"),
    [
        ("I <UNSURE>came</UNSURE> back", "I came back", None),
        ("I <UNIN/> back", "I back", "[unclear]"),
        ("<b>no</b>", "<b>no</b>", None),
    ],
)
def test_tags_of_transcribers(written: str, words: str, mark: str | None, session: SessionOf) -> None:
    turn = session(grid(YES, ("Client", [(1, 2, written)])), "a.TextGrid").turns[1]
    assert turn.text == words
    assert [one.written for one in turn.marks] == ([mark] if mark else [])


@pytest.mark.parametrize("name", ["Gesture", "phones", "codes", "section", "translation"])
def test_a_file_in_which_nobody_speaks_is_refused(name: str, problem: ProblemOf) -> None:
    one = problem(grid((name, [(0, 1, "a b c")])), "a.TextGrid")
    assert "no tier holds what somebody says" in one.problem
    assert "a b c" not in str(one)


def test_numbers_of_utterances_are_nobodys_words(session: SessionOf) -> None:
    one = session(grid(YES, ("Client", [(2, 3, "I did.")]), ("IPU", [(0, 1, "1"), (2, 3, "2")])), "a.TextGrid")
    assert spoken(one) == [("Therapist", "You came."), ("Client", "I did.")]
    assert one.notes == ("1 tier of numbers of utterances left out (2 annotations, 2 words).",)


def test_the_words_of_an_aligner_beside_its_sounds(session: SessionOf) -> None:
    tiers = [("ORT-MAU", [(0, 1, "you"), (1, 2, "came")]), ("KAN-MAU", [(0, 1, "ju:")]), ("MAU", [(0, 1, "j")])]
    assert [turn.text for turn in session(grid(*tiers), "a.TextGrid").turns] == ["you came"]
