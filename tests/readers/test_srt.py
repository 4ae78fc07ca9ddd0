"""SubRip: numbers, times with commas, speakers in the words, dashes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.session import Session
from therapy_analytics.readers import ReadOptions, Source
from therapy_analytics.readers.base import READERS

HANG_S = 10.0
"""Seconds of processor time that only a hang takes; speed itself is measured in benchmarks/."""

Spoken = Callable[..., list[tuple[str, str]]]
SessionOf = Callable[..., Session]
ProblemOf = Callable[..., UnreadableFileError]


def srt(*cues: str) -> str:
    """Return a file with a second for each cue; the words of the first are on line 3, of the next on line 7."""
    blocks = [f"{at + 1}\n00:00:{at:02d},000 --> 00:00:{at + 1:02d},000\n{words}\n" for at, words in enumerate(cues)]
    return "\n".join(blocks)


def test_a_small_file(session: SessionOf) -> None:
    turns = session(srt("Anna: Hi", "and more.", "Ben: <i>Hey</i> {\\an8}you.", "Anna: So."), "a.srt").turns
    assert [(turn.speaker, turn.text, turn.first_row, turn.start_s, turn.end_s) for turn in turns] == [
        ("Anna", "Hi and more.", 3, 0.0, 2.0),
        ("Ben", "Hey you.", 11, 2.0, 3.0),
        ("Anna", "So.", 15, 3.0, 4.0),
    ]


@pytest.mark.parametrize("change", [lambda text: "\ufeff" + text, lambda text: text.replace("\n", "\r\n")])
def test_a_mark_of_byte_order_and_other_line_ends_change_nothing(
    change: Callable[[str], str], session: SessionOf
) -> None:
    text = srt("Anna: Hi.", "Ben: Hey.")
    assert session(change(text), "a.srt").turns == session(text, "b.srt").turns


@pytest.mark.parametrize(
    "times",
    ["00:00:01,500 --> 00:00:02,250", "00:01,5-->00:02.25", "0:00:01.500 --> 0:00:02.250  X1:1 X2:2 Y1:1 Y2:2"],
)
@pytest.mark.parametrize("number", ["1\n", "", "\n7 \n"])
def test_forms_of_times(times: str, number: str, session: SessionOf) -> None:
    (turn,) = session(f"{number}{times}\nAnna: Hi.\n", "a.srt").turns
    assert (turn.start_s, turn.end_s) == (1.5, 2.25)


def test_an_empty_line_inside_a_caption_loses_nothing(spoken: Spoken) -> None:
    assert spoken(srt("Anna: Hi\n\nthere\n\n12", "Ben: Hey."), "a.srt") == [("Anna", "Hi there 12"), ("Ben", "Hey.")]


def test_numbers_that_are_spoken_stay_where_captions_have_none(spoken: Spoken) -> None:
    text = "00:00:01,0 --> 00:00:02,0\nAnna: Hi\n12\n\n00:00:02,0 --> 00:00:03,0\nBen: Hey.\n"
    assert spoken(text, "a.srt") == [("Anna", "Hi 12"), ("Ben", "Hey.")]


def test_no_empty_line_between_captions(spoken: Spoken) -> None:
    text = srt("Anna: Hi.", "Ben: Hey.").replace("\n\n", "\n")
    assert spoken(text, "a.srt") == [("Anna", "Hi."), ("Ben", "Hey.")]


@pytest.mark.parametrize("tail", ["\n3", "\n3\n", "\n3\n00:00:0", "\n3\n00:00:02,000 -"])
def test_the_beginning_of_a_lost_caption_is_not_spoken(tail: str, spoken: Spoken) -> None:
    assert spoken(srt("Anna: Hi.", "Ben: Hey.") + tail, "a.srt") == [("Anna", "Hi."), ("Ben", "Hey.")]


@pytest.mark.parametrize("dash", ["- ", "-", "\u2013 ", "\u2014"])
def test_dashes_that_all_mark_a_change_are_two_speakers(dash: str, session: SessionOf) -> None:
    cues = [f"{dash}Hi.", f"{dash}Hey.\n{dash}So.", "and more.", f"{dash}Right."]
    one = session(srt(*cues), "a.srt")
    assert [(turn.speaker, turn.text, turn.first_row) for turn in one.turns] == [
        ("Speaker 1", "Hi.", 3),
        ("Speaker 2", "Hey.", 7),
        ("Speaker 1", "So. and more.", 8),
        ("Speaker 2", "Right.", 16),
    ]
    assert any("4 changes of speaker without a name" in note for note in one.notes)


@pytest.mark.parametrize(
    "cues",
    [
        ("- Hi.\n- Hey.", "How is it?", "- Good.\n- Fine."),  # subtitles: a caption without a dash may be anybody's
        ("Well.", "- Hi.", "- Hey."),  # who spoke first?
        ("- Hi. I was", "- and then I was not", "- Hey."),  # a dash that breaks a sentence
    ],
)
def test_dashes_that_leave_a_doubt_are_refused(cues: tuple[str, ...], problem: ProblemOf) -> None:
    one = problem(srt(*cues), "a.srt")
    assert one.problem == "dashes mark some changes of speaker here, but not each of them"
    assert "Therapist: Hello" in one.remedy


@pytest.mark.parametrize("cue", ["-5 degrees", "-- no", "Hi - you"])
def test_what_is_no_dash_of_a_speaker(cue: str, problem: ProblemOf) -> None:
    assert problem(srt(cue, cue), "a.srt").problem == "no caption says who speaks"


def test_every_chevron_is_a_change(spoken: Spoken) -> None:
    text = srt("so it goes", ">> Hi.", ">> hey you", "and you. >> Yes. >>No.", "> so")
    assert spoken(text, "a.srt") == [
        ("Speaker 1", "so it goes"),
        ("Speaker 2", "Hi."),
        ("Speaker 1", "hey you and you."),
        ("Speaker 2", "Yes."),
        ("Speaker 1", "No. > so"),
    ]


def test_one_name_and_changes_without_one_are_two_speakers(spoken: Spoken) -> None:
    text = srt(">> DR. LEE: Hi.", ">> Hey.", ">> Dr. Lee: So.", ">> Yes.")
    assert spoken(text, "a.srt") == [
        ("DR. LEE", "Hi."),
        ("Speaker 2", "Hey."),
        ("Dr. Lee", "So."),
        ("Speaker 2", "Yes."),
    ]


def test_captions_without_a_speaker_are_refused_with_a_remedy(problem: ProblemOf) -> None:
    one = problem(srt("How have you been?", "I have been well."), "a.srt")
    assert one.problem == "no caption says who speaks"
    assert one.remedy.startswith("Export the captions with speaker names")
    assert "been" not in str(one).replace("been?", "").split("a.srt")[1]


@pytest.mark.parametrize("text", ["1\n00:00:01,000 --> 00:00:02,000\n\n", "1\n00:00:01,000 --> 00:00:02,000"])
def test_captions_without_words_are_refused(text: str, problem: ProblemOf) -> None:
    assert problem(text, "a.srt").problem == "no captions were found"


@pytest.mark.parametrize(
    ("head", "sure"),
    [
        ("1\n00:00:01,000 --> 00:00:02,000\nHi", True),
        ("\ufeff\n\n00:01.000 --> 00:02.000\nHi", True),
        ("WEBVTT\n\n00:01.000 --> 00:02.000\nHi", False),
        ("1\nTherapist: 00:00:01 --> so\n", False),
        ("1,2\n3,4", False),
        ("", False),
    ],
)
def test_how_a_file_is_known(head: str, sure: bool) -> None:
    assert (READERS["srt"].sniff(Source(Path("a"), head)) > 0.9) is sure


TALK = st.lists(st.text("ab ,.-5", min_size=1, max_size=12).map(str.strip).filter(str.strip), min_size=2, max_size=20)


@given(TALK)
@settings(max_examples=80, deadline=None)
def test_every_word_with_a_label_is_read_in_order(texts: list[str]) -> None:
    content = srt(*(f"{'AB'[at % 2]}nn: {text}" for at, text in enumerate(texts)))
    (raw,) = READERS["srt"].read(Source(Path("a.srt"), content))
    rolled = any("repeated" in note for note in raw.notes)
    assert rolled or [(row.speaker, row.text) for row in raw.rows] == [
        (f"{'AB'[at % 2]}nn", " ".join(text.split())) for at, text in enumerate(texts)
    ]


@given(st.text("1:,.->\n Aa-\ufeff<{&", max_size=200))
@settings(max_examples=200, deadline=None)
def test_whatever_stands_in_a_file_it_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(UnreadableFileError):
        list(READERS["srt"].read(Source(Path("a.srt"), f"1\n00:00:01,000 --> 00:00:02,000\n{text}", ReadOptions())))


@pytest.mark.parametrize("snippet", ["\n\n1\n" + " " * 9, "1\n", "- ", ">>", "\n \n", "0:", "a:\n"])
def test_no_repetition_takes_endless_time(snippet: str, reading: Callable[..., object]) -> None:
    began = time.process_time()
    reading(srt("Anna: Hi.") + snippet * 100_000, "a.srt")
    assert time.process_time() - began < HANG_S


def test_speed(reading: Callable[..., object]) -> None:
    text = "\n".join(
        f"{at}\n00:00:01,000 --> 00:00:02,000\n{'AB'[at % 2]}nna: Well, I do not know <i>what</i> it is, {at}.\n"
        for at in range(10_000)
    )
    source = Source(Path("a.srt"), text)
    began = time.process_time()
    (raw,) = READERS["srt"].read(source)
    assert len(raw.rows) == 10_000
    assert time.process_time() - began < HANG_S / 4


def test_captions_that_only_repeat_the_one_before_are_left_without_words(session: SessionOf) -> None:
    """Once a caption blank but for its times stopped the reader."""
    one = session(srt("Anna: Hi.", "Anna: Hi.", "Anna: Hi.", "Ben: Hey."), "a.srt")
    assert [(turn.speaker, turn.text) for turn in one.turns] == [("Anna", "Hi."), ("Ben", "Hey.")]


@pytest.mark.parametrize("name", ["a.srt", "a.txt"])
def test_names_on_a_line_of_their_own_as_meetings_were_once_exported(name: str, session: SessionOf) -> None:
    blocks = (
        f"00:00:0{at}.000 --> 00:00:0{at + 1}.000\n{'Ruth Lee' if at % 2 else 'Dana'}\nword {at}." for at in range(6)
    )
    turns = session("\n\n".join(blocks), name).turns
    assert [(turn.speaker, turn.text) for turn in turns] == [
        ("Ruth Lee" if at % 2 else "Dana", f"word {at}.") for at in range(6)
    ]
    assert [turn.start_s for turn in turns] == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
