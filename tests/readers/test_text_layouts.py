"""Layouts that programs and people write: each is the same talk, read to the same turns."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.session import Session

HANG_S = 10.0
"""Seconds of processor time that only a hang takes; speed itself is measured in benchmarks/."""

Spoken = Callable[..., list[tuple[str, str]]]
SessionOf = Callable[..., Session]
ProblemOf = Callable[..., UnreadableFileError]
SPEECH = ("How was it?", "Hard. One thing: I slept.", "You slept.", "At 10:30, yes.", "What helped?", "Tea, I think.")
ROLES = ("Therapist", "Client")
NAMES = ("Ruth Lindqvist", "Dana Weber")


def talk(form: str, speakers: tuple[str, str] = ROLES, *, between: str = "\n") -> str:
    """Write the talk: ``{w}`` who, ``{t}`` what, ``{n}`` the turn, ``{k}`` that speaker's turn, ``{s}`` a second."""
    return between.join(
        form.format(w=speakers[at % 2], t=text, n=at + 1, k=at // 2 + 1, s=f"{at + 1:02d}", e=f"{at + 2:02d}")
        for at, text in enumerate(SPEECH)
    )


def said_by(speakers: tuple[str, str] = ROLES) -> list[tuple[str, str]]:
    return [(speakers[at % 2], text) for at, text in enumerate(SPEECH)]


@pytest.mark.parametrize("between", ["\n", "\n\n"])
@pytest.mark.parametrize(
    "form",
    [
        "{w}  {t}",
        "({n}) {w}: {t}",
        "[{n}] {w}: {t}",
        "#{n} {w}: {t}",
        "{n}: {w}: {t}",
        "Turn {n} - {w}: {t}",
        "Turn {n}: {w}: {t}",
        "{w} #{k}: {t}",
        "{w} = {t}",
        "{w} | {t}",
        "{w} -> {t}",
        "{w}; {t}",
        "{w}:: {t}",
        "<b>{w}:</b> {t}",
        "\U0001f916 {w}: {t}",
        "\x0c{w}: {t}",
        "{w}: {t}\n\n---",
    ],
)
def test_ways_to_set_a_label_apart(form: str, between: str, spoken: Spoken) -> None:
    assert spoken(talk(form, between=between)) == said_by()


@pytest.mark.parametrize("between", ["\n", "\n\n"])
@pytest.mark.parametrize(
    ("form", "start", "end"),
    [
        ("{w}\t00:{s}\t{t}", 1.0, None),
        ("0:{s}\t0:{e}\t{w}\t{t}", 1.0, 2.0),
        ("{w}: 00:{s}\n{t}", 1.0, None),
        ("#00:00:{s}-5# {w}: {t}", 1.5, None),
        ("00:{s} | {w} | {t}", 1.0, None),
        ("[{w} 00:{s}] {t}", 1.0, None),
        ("[{w}, 00:{s}] {t}", 1.0, None),
        ("[00:{s}] ({w}) {t}", 1.0, None),
        ("{w} | 00:{s}\n{t}", 1.0, None),
        ("{w} \u00b7 00:{s}\n{t}", 1.0, None),
        ("00:00:{s} - 00:00:{e}, {w}\n{t}", 1.0, 2.0),
        ("[{n}.0s -> {n}.9s] {w}: {t}", 1.0, 1.9),
        ("[{n}s] {w}: {t}", 1.0, None),
        ("0:00:{s}.000,0:00:{e}.000\n{w}: {t}", 1.0, 2.0),
        ("{n}\n0:{s}.0 - 0:{e}.0\n{w}\n{t}", 1.0, 2.0),
        ("{n}\n00:00:{s} --> 00:00:{e}\n{w}: {t}", 1.0, 2.0),
        ("00:00:{s}.000 --> 00:00:{e}.000\n{w}\n{t}", 1.0, 2.0),
        ("{w}: {t} [00:00:{s}]", None, None),
        ("{w}: {t} (0:{s})", None, 1.0),
        ("{w}: {t} #00:00:{s}-0#", None, 1.0),
    ],
)
def test_places_of_a_time(form: str, start: float | None, end: float | None, between: str, session: SessionOf) -> None:
    turns = session(talk(form, between=between)).turns
    assert [(turn.speaker, turn.text) for turn in turns] == said_by()
    assert turns[0].start_s == start
    assert end is None or turns[0].end_s == end


def test_times_behind_the_words_are_said_to_be_ends(session: SessionOf) -> None:
    one = session(talk("{w}: {t} (0:{s})"))
    assert [turn.end_s for turn in one.turns] == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert one.notes == ("Times behind the words were taken as the ends of turns.",)


@pytest.mark.parametrize(
    "speakers",
    [
        NAMES,
        ("RUTH", "DANA"),
        ("RUTH LINDQVIST", "DANA WEBER"),
        ("Speaker 1", "Speaker 2"),
        ("SPEAKER_00", "SPEAKER_01"),
        ("Dr. Lee-Wong", "Ms. O'Hara"),
        ("Dr. O\u2019Neil", "Dana"),
        ("Interviewer", "Respondent"),
        ("R.L.", "D.W."),
        ("Th.", "Kl."),
        ("Q", "A"),
        ("\u6cbb\u7597\u5e08", "\u6765\u8bbf\u8005"),
        ("\u0422\u0435\u0440\u0430\u043f\u0435\u0432\u0442", "\u041a\u043b\u0438\u0435\u043d\u0442"),
        ("\u05de\u05d8\u05e4\u05dc", "\u05de\u05d8\u05d5\u05e4\u05dc"),
    ],
)
@pytest.mark.parametrize(
    ("form", "between"),
    [("{w}\n{t}", "\n\n"), ("{w}\n{t}", "\n"), ("{w}\n\n{t}", "\n\n"), ("      {w}\n   {t}", "\n\n")],
)
def test_names_on_lines_of_their_own(form: str, between: str, speakers: tuple[str, str], spoken: Spoken) -> None:
    assert spoken(talk(form, speakers, between=between)) == said_by(speakers)


def test_a_turn_below_a_name_runs_over_lines(spoken: Spoken) -> None:
    wrapped = talk("{w}\n{t}", NAMES, between="\n\n").replace("thing: ", "thing:\n").replace("You ", "You\n")
    assert [(who, " ".join(text.split())) for who, text in spoken(wrapped)] == said_by(NAMES)


@pytest.mark.parametrize(
    "text",
    [
        "Yes.\n\nA long walk.\n\nYes\n\nIt rained all day.\n\nNo\n\nSo I went.\n\nYes\n\nAnd came home.\n\nNo\n\nLate.",
        "Tea\nTea\nMilk\nMilk\nTea\nMilk\n",
        "- one\n- two\n- three\n- four\n- five\n",
    ],
)
def test_short_lines_that_come_back_are_no_names(text: str, problem: ProblemOf) -> None:
    assert "Therapist: ..." in problem(text).remedy


@pytest.mark.parametrize(
    ("speakers", "form"),
    [
        (("T", "C"), "{w} {t}"),
        (("T", "C"), "{w}{k} {t}"),
        (("Q", "A"), "{w}  {t}"),
        (("RUTH LINDQVIST", "DANA WEBER"), "{w}  {t}"),
        (NAMES, "10:00:{s}\t From {w} : {t}"),
        (NAMES, "10:00:{s} From {w} to Everyone:\n\t{t}"),
    ],
)
def test_labels_without_a_colon(speakers: tuple[str, str], form: str, spoken: Spoken) -> None:
    assert [(who, text.strip()) for who, text in spoken(talk(form, speakers))] == said_by(speakers)


@pytest.mark.parametrize("named", [True, False])
def test_tables_in_markdown(named: bool, session: SessionOf) -> None:
    form = "| 00:{s} | **{w}** | {t} |" if named else "| 00:{s} | {w} | {t} |"
    one = session(f"# Talk\n\n| Time | Speaker | Words |\n|:--|---|---|\n{talk(form)}\n", "a.md")
    assert [(turn.speaker, turn.text) for turn in one.turns] == said_by()
    assert (one.turns[0].start_s, one.turns[0].first_row) == (1.0, 5)


def test_a_table_in_markdown_of_many_sessions_is_many(sessions: Callable[..., tuple[Session, ...]]) -> None:
    rows = "| a | T | Hello. |\n| a | C | Hi. |\n| b | T | Hey. |\n| b | C | Oh. |\n"
    assert [one.id for one in sessions(f"| session | speaker | text |\n|---|---|---|\n{rows}", "x.md")] == ["a", "b"]


def test_a_transcript_that_lost_its_line_breaks(session: SessionOf) -> None:
    one = session(talk("{w}: {t}", between=" "))
    assert [(turn.speaker, turn.text) for turn in one.turns] == said_by()
    assert {turn.first_row for turn in one.turns} == {1}


@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_long_dashes_without_names_are_two_people(between: str, session: SessionOf) -> None:
    one = session(f"A walk\n\n{talk(chr(0x2014) + ' {t}', between=between)}")
    assert [(turn.speaker, turn.text) for turn in one.turns] == said_by(("Speaker 1", "Speaker 2"))
    assert one.notes[0].startswith("Dashes without names were read as two people")


HEADS = [
    "Session: 4\nDate: 2025-03-04\nTherapist: Dr Lee\nClient: Dana\nDuration: 50 min\n\n",
    "# Session 4\n\n**Session:** 4\n**Date:** 2025-03-04\n**Therapist:** Dr Lee\n**Client:** Dana\n\n---\n\n",
    "Date: 2025-03-04\nTherapist: Dr Lee\nClient: Dana\n",
    "File: talk.mp3\nLength: 00:50:12\nTranscriber: AB\n\n",
    "T: Therapist\nC: Client\n\n",
    "T = Therapist\nC = Client\n\n",
    "Therapist: Dr Lee\n\n",
    "Participants:\nRuth Lindqvist\nDana Weber\n\nTranscript:\n\n",
]


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize(
    ("speakers", "form"),
    [(ROLES, "{w}: {t}"), (("T", "C"), "{w}: {t}"), (ROLES, "[00:{s}] {w}: {t}"), (ROLES, "{w}\n{t}\n")],
)
def test_what_stands_above_the_talk_is_no_turn(
    head: str, speakers: tuple[str, str], form: str, session: SessionOf
) -> None:
    one = session(head + talk(form, speakers))
    assert [(turn.speaker, turn.text) for turn in one.turns] == said_by(speakers)
    assert "before the first speaker label left out" in one.notes[0]


def test_facts_above_the_talk_are_kept_and_tell_who_is_who(session: SessionOf) -> None:
    one = session(HEADS[0] + talk("{w}: {t}", ("Dr Lee", "Dana")))
    assert [(turn.speaker, turn.text) for turn in one.turns] == said_by(("Dr Lee", "Dana"))
    assert dict(one.metadata) == {"counselor": "Dr Lee", "client": "Dana", "date": "2025-03-04"}


@pytest.mark.parametrize(
    "first",
    ["Therapist: Hello\nClient: Hi\n\n", "Therapist: Good morning Dana\n\n", "Therapist: Ruth?\nClient: Yes\n\n"],
)
def test_a_short_first_exchange_is_no_head(first: str, spoken: Spoken) -> None:
    assert spoken(first + talk("{w}: {t}", ("Client", "Therapist")))[0][0] == "Therapist"


@pytest.mark.parametrize("between", ["\n", "\n\n"])
@pytest.mark.parametrize(
    "foot",
    [
        "Page {} of 2",
        "Page {}",
        "- {} -",
        "{}",
        "{}/2",
        "Confidential - Page {}",
        "Page | {}",
        "*** End of tape {} ***",
    ],
)
def test_what_stands_below_a_page_is_not_spoken(foot: str, between: str, spoken: Spoken) -> None:
    pages = talk("{w}: {t}", between=between).replace("You slept.", "\0", 1).split("\0")
    above, below = pages[0].removesuffix("Therapist: "), f"Therapist: You slept.{pages[1]}"
    assert spoken(f"{above}\n\n{foot.format(1)}\n\n{below}\n\n{foot.format(2)}\n") == said_by()


@pytest.mark.parametrize(
    "tail",
    [
        "END OF TRANSCRIPT",
        "[00:08] End of recording",
        "Meeting ended after 00:50:12 \U0001f44b",
        "This transcript was exported on Mar 04, 2025 - view the latest version here.",
        "Transcribed by https://otter.ai",
    ],
)
def test_what_a_program_writes_below_the_talk_is_left_out(tail: str, session: SessionOf) -> None:
    one = session(f"{talk('{w}: {t}')}\n\n{tail}\n")
    assert [(turn.speaker, turn.text) for turn in one.turns] == said_by()
    assert one.notes == (f"1 line ({len(tail.split())} words) that the recorder wrote left out.",)


@pytest.mark.parametrize("form", ["{n:>3} {line}", "{n}: {line}", "{n:04d} {line}", "{line:<40}{n}", "every fifth"])
def test_numbers_in_the_margin_are_no_words(form: str, spoken: Spoken) -> None:
    lines = talk("{w}: {t}").replace("One ", "\nOne ").replace("You ", "\nYou ").replace("Tea, ", "\nTea, ").split("\n")
    lines = [*lines, "and", "sleep,", "and", "more", "tea,", "of", "course."]
    if form == "every fifth":
        numbered = [(f"{n:<4}" if n % 5 == 0 else "    ") + line for n, line in enumerate(lines, start=1)]
    else:
        numbered = [form.format(n=n, line=line) for n, line in enumerate(lines, start=1)]
    words = [" ".join(text.split()) for _, text in spoken("\n".join(numbered))]
    assert words == [*SPEECH[:5], "Tea, I think. and sleep, and more tea, of course."]


def test_a_day_above_a_message_is_nobodys_name(problem: ProblemOf) -> None:
    text = "Ruth\nHello there.\nMar 04, 2025 9:05 AM\n\nDana\nI am late.\nMar 04, 2025 9:06 AM\n\n"
    assert "Therapist: ..." in problem(text).remedy


@pytest.mark.parametrize("snippet", ["A" + " " * 100_000, "key: a" + " " * 9**5 + "b", "1  " * 60_000, "| - |" * 9_999])
def test_no_line_takes_endless_time(snippet: str, session: SessionOf) -> None:
    began = time.process_time()
    one = session(f"Date: x{snippet[:9_000]}\n\n{talk('{w}: {t}')}\n{snippet}\n")
    assert [turn.speaker for turn in one.turns] == [*ROLES] * 3
    assert time.process_time() - began < HANG_S
