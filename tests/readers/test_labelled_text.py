"""Text with labels: what is a label, and what only has a colon in it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.session import Session
from therapy_analytics.readers import Source, inspect
from therapy_analytics.readers.labelled_text import sniff

HANG_S = 10.0
"""Seconds of processor time that only a hang takes; speed itself is measured in benchmarks/."""

Spoken = Callable[..., list[tuple[str, str]]]
SessionOf = Callable[..., Session]
TWO = [("Therapist", "Hello."), ("Client", "Hi.")]


@pytest.mark.parametrize(
    "text",
    [
        "Therapist: Hello.\nClient: Hi.",
        "Therapist:Hello.\nClient:Hi.",
        "Therapist :  Hello.\nClient :  Hi.",
        "**Therapist:** Hello.\n**Client:** Hi.",
        "**Therapist**: Hello.\n\n**Client**: Hi.",
        "__Therapist:__ Hello.\n_Client:_ Hi.",
        "## Therapist: Hello.\n## Client: Hi.",
        "> Therapist: Hello.\n> Client: Hi.",
        "Therapist\uff1aHello.\nClient\uff1a Hi.",
        "Therapist:\nHello.\n\nClient:\nHi.\n",
        "Therapist\nHello.\n\nClient\nHi.\n",
        "## Therapist\n\nHello.\n\n## Client\n\nHi.\n",
        "[00:01] Therapist: Hello.\n[00:04] Client: Hi.",
        "(0:01) Therapist: Hello.\n(0:04) Client: Hi.",
        "00:00:01 Therapist: Hello.\n00:00:04 Client: Hi.",
        "00:00:01.5 - Therapist: Hello.\n00:00:04.25 - Client: Hi.",
        "Therapist [00:01]: Hello.\nClient [00:04]: Hi.",
        "Therapist (00:00:01): Hello.\nClient (00:00:04): Hi.",
        "Therapist 00:01\nHello.\n\nClient 00:04\nHi.",
        "    Therapist: Hello.\n\tClient: Hi.",
    ],
)
def test_ways_to_write_a_label(text: str, spoken: Spoken) -> None:
    assert spoken(text) == TWO


@pytest.mark.parametrize(
    "text",
    [
        "[00:01] Therapist: Hello.\n[01:02:03] Client: Hi.",
        "Therapist [0:01]: Hello.\nClient (01:02:03): Hi.",
        "Therapist  0:01\nHello.\n\nClient  62:03\nHi.",
    ],
)
def test_time_stamps_are_seconds(text: str, session: SessionOf) -> None:
    assert [turn.start_s for turn in session(text).turns] == [1.0, 3723.0]


def test_a_colon_inside_speech_is_speech(spoken: Spoken) -> None:
    text = "T: And I said: no.\nHe said: why?\nC: Two things: one, two.\nI told my doctor: enough.\nT: At 10:30, right."
    assert spoken(text) == [
        ("T", "And I said: no.\nHe said: why?"),
        ("C", "Two things: one, two.\nI told my doctor: enough."),
        ("T", "At 10:30, right."),
    ]


def test_headings_inside_an_agents_turn_are_its_words(spoken: Spoken) -> None:
    advice = (
        "Two ways.\n\nOption 1: walk.\nOption 2: rest.\n\n**Important:** drink.\nNote: go slow.\nNote: stop.\n"
        "- Tip: breathe.\n1. Plan: sleep.\nTool: a list.\nOther: a friend."
    )
    text = f"user: I am tired.\n\nagent: {advice}\n\nuser: Thanks.\n\nagent: Note: no rush.\n"
    assert spoken(text) == [
        ("user", "I am tired."),
        ("agent", advice),
        ("user", "Thanks."),
        ("agent", "Note: no rush."),
    ]


def test_headings_are_no_speakers_where_the_speakers_are_names(spoken: Spoken) -> None:
    text = (
        "Maya: Hi.\nHarbor: Two.\nOption 1: walk.\nOption 2: rest.\nNote: slow.\nNote: stop.\nMaya: Ok.\nHarbor: Good."
    )
    assert spoken(text) == [
        ("Maya", "Hi."),
        ("Harbor", "Two.\nOption 1: walk.\nOption 2: rest.\nNote: slow.\nNote: stop."),
        ("Maya", "Ok."),
        ("Harbor", "Good."),
    ]


def test_a_heading_that_comes_back_inside_the_turns_of_one_speaker_is_speech(spoken: Spoken) -> None:
    turns = [("Maya", "Hi."), ("Harbor", "Well.\nSo."), ("Maya", "Ok."), ("Harbor", "Hm.\nRight now: rest.\nGo.")]
    assert spoken("".join(f"{who}: {text}\n" for who, text in turns * 3)) == turns * 3


def test_a_heading_that_holds_a_role_word_is_speech(spoken: Spoken) -> None:
    text = "user: Hi.\nagent: Well.\nProfessional support: call.\n" * 2 + "user: Ok.\nagent: Good.\n" * 4
    assert [who for who, _ in spoken(text)] == ["user", "agent"] * 6


def test_three_people_by_name(spoken: Spoken) -> None:
    order = ["Ann", "Bob", "Cyd", "Ann", "Bob", "Cyd", "Bob", "Ann"]
    assert [who for who, _ in spoken("".join(f"{who}: Hm.\n" for who in order))] == order


def test_an_observer_who_speaks_once_is_a_speaker(session: SessionOf) -> None:
    turns = session("T: Hm.\nObserver: Time.\nC: Oh.\nT: So.\nC: Yes.").turns
    assert [turn.role for turn in turns] == ["therapist", "other", "client", "therapist", "client"]


def test_a_role_word_that_comes_once_beside_the_role_labels_is_speech(spoken: Spoken) -> None:
    text = "T: Say it.\nTell your therapist: I am here.\nC: I did.\nMy doctor: no.\nT: Hm.\nC: Yes."
    assert [speaker for speaker, _ in spoken(text)] == ["T", "C", "T", "C"]


def test_a_role_word_that_comes_once_in_a_very_short_session_is_speech(spoken: Spoken) -> None:
    assert spoken("T: Hi.\nC: Well.\nMy doctor: no.") == [("T", "Hi."), ("C", "Well.\nMy doctor: no.")]


def test_names_with_the_family_name_first(spoken: Spoken) -> None:
    assert [who for who, _ in spoken("Lee, Ann: Hi.\nDay, Bob: Hey.\n" * 2)] == ["Lee, Ann", "Day, Bob"] * 2


def test_two_clients_who_both_come_back_are_two_speakers(session: SessionOf) -> None:
    text = "T: Hello.\nClient 1: Hi.\nClient 2: Hey.\nClient 1: So.\nClient 2: Well.\nT: Yes."
    turns = session(text).turns
    assert [turn.speaker for turn in turns] == ["T", "Client 1", "Client 2", "Client 1", "Client 2", "T"]
    assert [turn.role for turn in turns] == ["therapist", "client", "client", "client", "client", "therapist"]


THREE = "Therapist: a\nClient: b\nHusband: c\nTherapist: d\nClient: e\nHusband: f"


def test_a_third_speaker_keeps_their_words(session: SessionOf) -> None:
    turns = session(THREE).turns
    assert [(turn.speaker, turn.role) for turn in turns] == 2 * [
        ("Therapist", "therapist"),
        ("Client", "client"),
        ("Husband", "other"),
    ]
    assert [turn.text for turn in turns] == list("abcdef")


@pytest.mark.parametrize("name", ["Mother", "Maria", "Maria Lopez", "MR", "Client's mother", "Unknown male"])
def test_who_speaks_once_is_a_speaker_where_lines_are_turns(name: str, spoken: Spoken) -> None:
    assert (name, "x") in spoken(f"Therapist: a\nClient: b\n{name}: x\nTherapist: c\nClient: d\nand e")


@pytest.mark.parametrize("name", ["he said", "Remember", "My doctor", "And then", "12", "https", "Monday I went"])
def test_what_is_no_name_is_speech(name: str, spoken: Spoken) -> None:
    text = f"Therapist: a\nClient: b\n{name}: x\nTherapist: c\nClient: d\n"
    assert [who for who, _ in spoken(text)] == ["Therapist", "Client"] * 2


def test_what_looks_like_a_label_and_is_none_is_counted_and_listed(session: SessionOf) -> None:
    one = session("user: a\nassistant: b\nc\n\nBreathing: d\ne\nuser: f\nassistant: g\nBreathing: h\nuser: i")
    assert [turn.speaker for turn in one.turns] == ["user", "assistant", "user", "assistant", "user"]
    assert dict(one.passed_over) == {"Breathing": 2}
    note = (
        "2 lines begin as a label does, but were not taken as the beginning of a turn: `tanalyze inspect` lists them."
    )
    assert one.notes == (note,)


def test_inspect_lists_what_was_not_taken_and_hides_sentences(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(
        "user: a\nassistant: b\nc\n\nBreathing: d\ne\n\nMy Own Plan: f\ng\n" * 2 + "user: h\nassistant: i\nj\n\nk"
    )
    (one,) = inspect([path])
    (line,) = [line for line in one.lines() if "not taken as speakers" in line]
    assert line == "    not taken as speakers, with the number of lines: Breathing (2)"


@pytest.mark.parametrize("form", ["{}\nx\n\n", "### {}\n\nx\n\n", "[{}]\nx\n\n", "{}: x\n"])
def test_a_mother_who_comes_in_late_is_a_speaker(form: str, spoken: Spoken) -> None:
    text = (form.format("Therapist") + form.format("Client")) * 600 + form.format("Mother") + form.format("Client")
    assert [who for who, _ in spoken(text)][-3:] == ["Client", "Mother", "Client"]


def test_a_label_with_a_slip_in_place_of_its_colon_is_counted(session: SessionOf) -> None:
    one = session("Therapist: a\nClient: b\ntherapist- c\nClient; d\nTherapist Well, e\nTherapist: f\nthe client said")
    assert [turn.text[0] for turn in one.turns] == ["a", "b", "f"]
    assert sum(one.passed_over.values()) == 3


@pytest.mark.parametrize(
    "text",
    [
        "Subjective: a\nObjective: b\nAssessment: c\nPlan: d\n" * 2,
        "Client: Dana\nSUBJECTIVE\na\nOBJECTIVE\nb\nPLAN\nc\n",
        "D: a\nA: b\nP: c\n" * 3,
    ],
)
def test_a_clinical_note_is_refused_as_what_it_is(text: str, problem: Callable[..., UnreadableFileError]) -> None:
    assert "this is a clinical note about a session" in problem(text).problem


def test_a_system_prompt_before_a_chat_is_no_turn(session: SessionOf) -> None:
    one = session("system: Be kind.\nuser: Hi.\nassistant: Hello.\nuser: So.\nassistant: Yes.")
    assert [turn.role for turn in one.turns] == ["client", "therapist", "client", "therapist"]
    assert one.notes == ("1 message of the system (2 words) left out.",)


def test_lines_before_the_first_label_are_left_out_and_counted(session: SessionOf) -> None:
    one = session("Session 3\n2025-03-04\n\nT: Hello.\nC: Hi.")
    assert [turn.text for turn in one.turns] == ["Hello.", "Hi."]
    assert [turn.first_row for turn in one.turns] == [4, 5]
    assert one.notes == ("2 lines (3 words) before the first speaker label left out.",)


def test_a_heading_that_names_the_roles_is_no_turn(spoken: Spoken) -> None:
    chat = "Ruth: Hello.\nDana: Hi.\n" * 4
    assert (
        spoken(f"Therapist: Ruth Lindqvist\nClient: Dana\nDate: 2025-03-04\n\n{chat}")
        == [
            ("Ruth", "Hello."),
            ("Dana", "Hi."),
        ]
        * 4
    )


def test_rows_of_one_speaker_are_one_turn_and_upper_case_is_no_other_speaker(session: SessionOf) -> None:
    turns = session("T: One.\n\nT: Two.\nTHERAPIST: x\nC: Three.\nc: Four.\nC: Five.\nTherapist: y").turns
    assert [turn.text for turn in turns][:2] == ["One. Two.", "x"]
    assert turns[2].text == "Three. Four. Five."
    assert turns[2].first_row == 5


def test_a_turn_keeps_its_paragraphs(spoken: Spoken) -> None:
    assert spoken("T: One.\n\nTwo.\n\n\nThree.\nC: Four.")[0] == ("T", "One.\n\nTwo.\n\n\nThree.")


@pytest.mark.parametrize("mark", ["\u2028", "\x0b", "\x0c", "\x1c", "\x85"])
def test_rare_line_breaks_do_not_shift_the_place(mark: str, session: SessionOf) -> None:
    turns = session(f"T: One.{mark}Two.\nC: Three.\n").turns
    assert [(turn.text, turn.first_row) for turn in turns] == [(f"One.{mark}Two.", 1), ("Three.", 2)]


def test_a_label_without_words_is_no_turn(session: SessionOf) -> None:
    one = session("T: One.\nC:\nT: Two.\nC: Three.")
    assert [turn.text for turn in one.turns] == ["One. Two.", "Three."]
    assert one.notes == ("1 row without words left out.",)


@pytest.mark.parametrize(
    "text", ["Just a letter to a friend.\nIt has no labels.", "no\nlabel\n" * 50, "12:30\n12:31\n"]
)
def test_text_without_labels_is_refused(text: str, problem: Callable[..., UnreadableFileError]) -> None:
    assert "Therapist:" in str(problem(text))


def test_speakers_known_only_by_name_and_time(spoken: Spoken) -> None:
    text = "Ruth Lindqvist  0:03\nHello.\nYes\n\nDana  0:07\nHi.\nYes\n\nRuth Lindqvist  0:09\nSo.\n\nDana  1:00\nWell."
    assert spoken(text) == [
        ("Ruth Lindqvist", "Hello.\nYes"),
        ("Dana", "Hi.\nYes"),
        ("Ruth Lindqvist", "So."),
        ("Dana", "Well."),
    ]


def test_labels_in_other_alphabets(spoken: Spoken) -> None:
    text = "\u0410\u043d\u043d\u0430: \u0414\u0430.\n\u041f\u0451\u0442\u0440: \u041d\u0435\u0442.\n" * 2
    assert [speaker for speaker, _ in spoken(text)] == ["\u0410\u043d\u043d\u0430", "\u041f\u0451\u0442\u0440"] * 2


@pytest.mark.parametrize(
    "line", ["A" + " " * 200_000, "*" * 200_000, "a b " * 50_000, "12:30 " * 40_000, "word\n" * 90_000]
)
def test_long_turns_take_no_long_time(line: str, session: SessionOf) -> None:
    began = time.process_time()
    one = session(f"T: Hello.\n{line}\nC: Hi.\n")
    assert len(one.turns) == 2
    assert time.process_time() - began < HANG_S


@pytest.mark.parametrize(
    "text",
    [
        "Therapist (Dr. Lee): Hello.\nClient (Dana, 34): Hi.",
        "THERAPIST: Hello.\nCLIENT: Hi.",
        "THERAPIST Hello.\nCLIENT Hi.",
        "T - Hello.\nC \u2013 Hi.",
        "T. Hello.\nC. Hi.",
        "Therapist\tHello.\nClient\tHi.",
        "Therapist:\tHello.\nClient:\tHi.",
        "[Therapist] Hello.\n[Client] Hi.",
        "[Therapist]: Hello.\n[Client]: Hi.",
        "(T) Hello.\n(C) Hi.",
        "**Therapist** Hello.\n**Client** Hi.",
        "- **Therapist:** Hello.\n- **Client:** Hi.",
        "12 T: Hello.\n13 C: Hi.",
        "12. Therapist: Hello.\n13. Client: Hi.",
        "1\tTherapist\tHello.\n2\tClient\tHi.",
        "1  T: Hello.\n2\n3  C: Hi.",
        "00:01 T Hello.\n00:04 C Hi.",
        "\u200eTherapist\u00a0: Hello.\n\u200eClient\u00a0: Hi.",
    ],
)
def test_labels_of_other_forms(text: str, spoken: Spoken) -> None:
    assert [words for _, words in spoken(text)] == ["Hello.", "Hi."]


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("00:00:01\nT: a\n00:00:04 --> 00:00:06\nC: b", [(1, None), (4, 6)]),
        ("0:01 - 0:03 T: a\n[0:04 --> 0:10] C: b", [(1, 3), (4, 10)]),
        ("T: [00:00:01] a\nC: (0:04) b", [(1, None), (4, None)]),
        ("[Ruth] 10:03:04\na\n[Dana] 10:03:09\nb\n[Ruth] 10:03:14\nc\n[Dana] 10:04:04\nd", [(0, None), (5, None)]),
        (
            "Ruth   11:59 PM\na\n\nDana   12:01 AM\nb\n\nRuth   12:02 AM\nc\n\nDana 12:03 AM\nd",
            [(0, None), (120, None)],
        ),
        ("Speaker 1 (00:03):\na\n\nSpeaker 2 (00:05):\nb\n\nSpeaker 1 (0:08):\nc\n\nSpeaker 2 (0:09):\nd", [(3, None)]),
        ("Ruth\n0:03\na\n\nDana\n0:06\nb\nYes\n\nRuth\n0:09\nc\n\nDana\n0:12\nd", [(3, None), (6, None)]),
        ("T 00:00:01:12 a\nC 00:00:03:14 b", [(1, None), (3, None)]),
    ],
)
def test_times_in_other_places(text: str, times: list[tuple[float, float | None]], session: SessionOf) -> None:
    turns = session(text).turns
    assert [turn.text[0] for turn in turns] == list("abcd"[: len(turns)])
    assert [(turn.start_s, turn.end_s) for turn in turns][: len(times)] == times


def test_a_number_that_does_not_count_is_speech(spoken: Spoken) -> None:
    assert spoken("12 T: Hello.\n13 C: Hi.\n3 days ago.\n14 T: So.") == [
        ("T", "Hello."),
        ("C", "Hi.\n3 days ago."),
        ("T", "So."),
    ]


def test_labels_that_count_the_turns_are_two_speakers(spoken: Spoken) -> None:
    text = "T1: a\nC1: b\nT2: c\nC2: d\nT3: e\nC3: f"
    assert [who for who, _ in spoken(text)] == ["T", "C"] * 3


def test_what_the_recorder_wrote_is_left_out(session: SessionOf) -> None:
    talk = "Ruth   0:03\nHello.\n\nDana   0:06\nHi.\n\n" * 2
    one = session(f"{talk}Ruth stopped transcription\n")
    assert one.turns[-1].text == "Hi."
    assert one.notes[0] == "1 line (3 words) that the recorder wrote left out."


def test_a_time_inside_a_turn_is_no_word(spoken: Spoken) -> None:
    assert spoken("00:01:00\nT: One.\n00:02:00\nTwo.\n00:03:00\nC: Three.") == [("T", "One. Two."), ("C", "Three.")]


def test_a_dash_or_a_stop_inside_speech_is_speech(spoken: Spoken) -> None:
    text = "T: Well.\nNo - never.\nC: Yes.\nOK. Fine.\nT: Hm.\nC: I - I see."
    assert [who for who, _ in spoken(text)] == ["T", "C", "T", "C"]


def test_a_day_is_no_part_of_a_name() -> None:
    text = "Ruth, [04.03.2025 10:03]\nHello.\n\nDana, [04.03.2025 10:04]\nHi.\n\n" * 3
    assert sniff(Source(Path("a.txt"), text)) < 0.5
