"""Tiers: which of them are what somebody says; Transcriber and EXMaRALDA."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from therapy_analytics.errors import UnreadableFileError
from therapy_analytics.session import Session

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


TRS = """<?xml version="1.0" encoding="{encoding}"?>
<!DOCTYPE Trans SYSTEM "trans-14.dtd">
<Trans><Speakers><Speaker id="a" name="Therapist"/><Speaker id="b" name="Client"/></Speakers>
<Episode><Section type="report" startTime="0" endTime="9">{turns}</Section></Episode></Trans>
"""


def trs(turns: str, encoding: str = "UTF-8") -> str:
    return TRS.format(turns=turns, encoding=encoding)


TALK = (
    '<Turn speaker="a" startTime="0" endTime="2"><Sync time="0"/>well</Turn>'
    '<Turn speaker="b" startTime="2" endTime="4"><Sync time="2"/>d\u00e9j\u00e0</Turn>'
)


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "UTF-8", "windows-1252", "no-such-letters"])
def test_transcriber_in_the_letters_that_it_declares(encoding: str, session: SessionOf) -> None:
    data = trs(TALK, encoding).encode("utf-8" if encoding in {"UTF-8", "no-such-letters"} else "latin-1")
    assert session(data, "a.trs").turns[1].text == "d\u00e9j\u00e0"


def test_cyrillic_in_the_letters_that_it_declares(session: SessionOf) -> None:
    data = trs(TALK.replace("d\u00e9j\u00e0", "\u0434\u0430"), "ISO-8859-5").encode("iso-8859-5")
    assert session(data, "a.trs").turns[1].text == "\u0434\u0430"


def test_who_speaks_in_a_turn_of_several(session: SessionOf) -> None:
    shared = (
        '<Turn speaker="a b" startTime="4" endTime="8"><Sync time="4"/>\n<Who nb="2"/>no<Who nb="1"/>yes'
        '<Sync time="6"/>\n<Who nb="1"/>so<Who nb="9"/>who</Turn>'
    )
    one = session(trs(TALK + shared), "a.trs")
    assert spoken(one) == [
        ("Therapist", "well"),
        ("Client", "d\u00e9j\u00e0 no"),
        ("Therapist", "yes so"),
        ("", "who"),
    ]


@pytest.mark.parametrize(
    ("event", "marks"),
    [
        ('<Event desc="tx" type="noise" extent="instantaneous"/>', ["[cough]"]),
        ('<Event desc="phone rings" type="noise" extent="begin"/>', ["[phone rings]"]),
        ('<Event desc="phone rings" type="noise" extent="end"/>', []),
        ('<Event desc="pi" type="pronounce" extent="begin"/>', ["[unclear]"]),
        ('<Event desc="en" type="language" extent="begin"/>', []),
    ],
)
def test_what_is_heard_is_a_mark(event: str, marks: list[str], session: SessionOf) -> None:
    turn = session(trs(TALK.replace("well", f"well{event}then")), "a.trs").turns[0]
    assert turn.text == "well then"
    assert [one.written for one in turn.marks] == marks


@pytest.mark.parametrize("entity", ['<!ENTITY a "ha">', '<!ENTITY a SYSTEM "file:///etc/passwd">'])
def test_entities_are_refused(entity: str, problem: ProblemOf) -> None:
    text = trs(TALK.replace("well", "&a;")).replace('SYSTEM "trans-14.dtd"', f"[{entity}]")
    assert "unsafe" in problem(text, "a.trs").problem


def test_a_recording_without_words_is_refused(problem: ProblemOf) -> None:
    assert (
        "no turn with words" in problem(trs('<Turn startTime="0" endTime="1"><Sync time="0"/></Turn>'), "a.trs").problem
    )


def exb(*tiers: str, times: tuple[str, ...] = ("0", "1", "2", "3")) -> str:
    points = "".join(f'<tli id="T{at}"' + (f' time="{time}"/>' if time else "/>") for at, time in enumerate(times))
    people = "".join(
        f'<speaker id="S{at}"><abbreviation>{name}</abbreviation></speaker>' for at, name in enumerate(["T", "C"])
    )
    return (
        f"<basic-transcription><head><speakertable>{people}</speakertable></head><basic-body>"
        f"<common-timeline>{points}</common-timeline>{''.join(tiers)}</basic-body></basic-transcription>"
    )


def exb_tier(speaker: str, *events: tuple[int, int, str], category: str = "v", kind: str = "t") -> str:
    body = "".join(f'<event start="T{begin}" end="T{end}">{text}</event>' for begin, end, text in events)
    return f'<tier id="x" speaker="{speaker}" category="{category}" type="{kind}">{body}</tier>'


def test_events_of_one_sentence_stay_together(session: SessionOf) -> None:
    one = session(exb(exb_tier("S0", (0, 1, "Wh"), (1, 2, "ere? "), (2, 3, "So. ")), exb_tier("S1", (1, 2, "Here. "))))
    assert spoken(one) == [("T", "Where?"), ("C", "Here."), ("T", "So.")]


def test_events_without_spaces_end_where_words_do(session: SessionOf) -> None:
    one = session(exb(exb_tier("S0", (0, 1, "where"), (1, 2, "are you")), exb_tier("S1", (2, 3, "here"))))
    assert spoken(one) == [("T", "where are you"), ("C", "here")]


def test_times_that_end_in_the_middle(session: SessionOf) -> None:
    tiers = exb_tier("S0", (0, 1, "One. "), (2, 3, "Three. ")), exb_tier("S1", (1, 2, "Two. "))
    one = session(exb(*tiers, times=("0", "1", "", "")))
    assert [(turn.text, turn.start_s, turn.end_s) for turn in one.turns] == [
        ("One.", 0.0, 1.0),
        ("Two.", 1.0, None),
        ("Three.", None, None),
    ]


def test_without_types_the_category_tells(session: SessionOf) -> None:
    one = session(
        exb(
            exb_tier("S0", (0, 1, "One. "), kind="d"),
            exb_tier("S0", (0, 1, "leans. "), kind="d", category="nv"),
            exb_tier("S1", (1, 2, "Two. "), kind="d"),
        )
    )
    assert spoken(one) == [("T", "One."), ("C", "Two.")]


def test_a_segmented_transcription_is_refused_with_what_to_do(problem: ProblemOf) -> None:
    one = problem("<segmented-transcription><head/></segmented-transcription>", "a.exs")
    assert "basic transcription" in one.remedy


def test_numbers_of_utterances_are_nobodys_words(session: SessionOf) -> None:
    one = session(grid(YES, ("Client", [(2, 3, "I did.")]), ("IPU", [(0, 1, "1"), (2, 3, "2")])), "a.TextGrid")
    assert spoken(one) == [("Therapist", "You came."), ("Client", "I did.")]
    assert one.notes == ("1 tier of numbers of utterances left out (2 annotations, 2 words).",)


def test_the_words_of_an_aligner_beside_its_sounds(session: SessionOf) -> None:
    tiers = [("ORT-MAU", [(0, 1, "you"), (1, 2, "came")]), ("KAN-MAU", [(0, 1, "ju:")]), ("MAU", [(0, 1, "j")])]
    assert [turn.text for turn in session(grid(*tiers), "a.TextGrid").turns] == ["you came"]
