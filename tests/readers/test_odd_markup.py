"""Files in markup that is odd, broken or made to do harm: words stay with who said them, and nothing takes hours."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.session import Session
from therapy_analytics.readers import read

SessionOf = Callable[..., Session]
ProblemOf = Callable[..., UnreadableFileError]
TALK = ["Therapist: You wrote it down.", "Client: On a bill.", "Therapist: Which bill?", "Client: The first."]
NOTE = ["Subjective: Sleeps badly.", "Objective: Looks tired.", "Assessment: Low.", "Plan: A diary."]
SPACES = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
)
TEXT = "application/vnd.oasis.opendocument.text"


def spoken(session: Session) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in session.turns]


def eaf(**tiers: list[tuple[str, str, str]]) -> str:
    slots = "".join(f'<TIME_SLOT TIME_SLOT_ID="{at}" TIME_VALUE="{at}000"/>' for at in range(12))
    body = ""
    for name, spans in tiers.items():
        one = "".join(
            f'<ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="{name}{begin}" TIME_SLOT_REF1="{begin}" '
            f'TIME_SLOT_REF2="{end}"><ANNOTATION_VALUE>{words}</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>'
            for begin, end, words in spans
        )
        body += f'<TIER TIER_ID="{name}">{one}</TIER>'
    head = '<HEADER TIME_UNITS="milliseconds"/>'
    return f"<ANNOTATION_DOCUMENT>{head}<TIME_ORDER>{slots}</TIME_ORDER>{body}</ANNOTATION_DOCUMENT>"


def odt(lines: list[str], encoding: str = "UTF-8") -> bytes:
    body = "".join(f"<text:p>{line}</text:p>" for line in lines)
    whole = (
        f'<?xml version="1.0" encoding="{encoding}"?><office:document {SPACES} office:mimetype="{TEXT}">'
        f"<office:body><office:text>{body}</office:text></office:body></office:document>"
    )
    return whole.encode(encoding)


def page(lines: list[str], head: str = "") -> str:
    return f"<!DOCTYPE html><html><head>{head}</head><body>{''.join(f'<p>{line}</p>' for line in lines)}</body></html>"


def ass(*events: str) -> str:
    lines = "".join(f"Dialogue: 0,0:00:0{at}.00,0:00:0{at + 1}.00,Default,{one}\n" for at, one in enumerate(events))
    columns = "Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text"
    return f"[Script Info]\n\n[Events]\nFormat: {columns}\n{lines}"


def test_what_has_no_place_in_time_stands_last_and_has_no_time(session: SessionOf) -> None:
    one = session(eaf(T=[("0", "1", "Good day.")], C=[("77", "78", "Where?"), ("1", "2", "Hello.")]), "a.eaf")
    assert spoken(one) == [("T", "Good day."), ("C", "Hello. Where?")]
    assert one.turns[1].start_s == 1.0


def test_a_tier_with_labels_tells_what_was_left_out(session: SessionOf) -> None:
    lines = ["Therapist: So.", "Client: Yes.", "Page 1 of 2", "Therapist: Well.", "Client: Well, well."]
    one = session(eaf(all=[(str(at), str(at + 1), line) for at, line in enumerate(lines)]), "a.eaf")
    assert [turn.text for turn in one.turns] == ["So.", "Yes.", "Well.", "Well, well."]
    assert "1 line (4 words) that the recorder wrote left out." in one.notes


def test_the_letters_that_a_page_declares_are_not_always_those_it_is_written_in(session: SessionOf) -> None:
    text = page(["Therapist: Déjà?", "Client: Café."], '<meta charset="utf-8">')
    assert spoken(session(text.encode("cp1252"), "a.html"))[0] == ("Therapist", "Déjà?")


def test_a_flat_document_in_other_letters(session: SessionOf) -> None:
    assert spoken(session(odt(TALK, "UTF-16"), "a.fodt"))[1] == ("Client", "On a bill.")


@pytest.mark.parametrize(("content", "name"), [(odt(NOTE), "a.fodt"), (page(NOTE), "a.html")], ids=["odt", "html"])
def test_a_clinical_note_is_no_dialogue_in_any_document(content: bytes | str, name: str, problem: ProblemOf) -> None:
    assert "clinical note" in problem(content, name).problem


def test_a_declaration_that_is_none_is_passed_over(session: SessionOf) -> None:
    assert len(session(page([*TALK[:2], "<![note", *TALK[2:]]), "a.html").turns) >= 2


def test_a_caption_without_a_time_moves_nothing(session: SessionOf) -> None:
    text = ass("Ann,0,0,0,,One.", "Ben,0,0,0,,Two.", "Ann,0,0,0,,Three.").replace("0:00:02.00", "soon")
    assert [turn.text for turn in session(text, "a.ass").turns] == ["One.", "Two.", "Three."]


@pytest.mark.parametrize("head", ["WEBVTT\n\n", ""], ids=["vtt", "srt"])
@pytest.mark.parametrize("end", ["soon", "", "--:--"])
def test_a_caption_whose_end_cannot_be_read_keeps_its_words(head: str, end: str, session: SessionOf) -> None:
    text = f"{head}00:01.000 --> 00:02.000\nAnn: One.\n\n00:03.000 --> {end}\nBen: Two.\n"
    one = session(text, "a.vtt" if head else "a.srt")
    assert [(turn.speaker, turn.text, turn.start_s, turn.end_s) for turn in one.turns] == [
        ("Ann", "One.", 1.0, 2.0),
        ("Ben", "Two.", 3.0, None),
    ]


def test_an_empty_line_in_a_caption_of_one_speaker_ends_no_words(tmp_path: Path) -> None:
    doctor = "1\n00:00:00,000 --> 00:00:02,000\nOne.\n\nTwo.\n\n2\n00:00:04,000 --> 00:00:05,000\nFour.\n"
    (tmp_path / "visit_doctor.srt").write_text(doctor)
    (tmp_path / "visit_patient.srt").write_text("1\n00:00:02,000 --> 00:00:03,000\nThree.\n")
    (one,) = read(tmp_path)
    assert spoken(one) == [("doctor", "One. Two."), ("patient", "Three."), ("doctor", "Four.")]


def test_a_message_that_nobody_answers_is_kept(session: SessionOf) -> None:
    one = session("<s>[INST] I slept. [/INST] Well? </s>[INST] Till five. ", "a.txt")
    assert [turn.text for turn in one.turns] == ["I slept.", "Well?", "Till five."]


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (ass("Ann,0,0,0,,So.", "Ben,0,0,0,,{" + "\\p1" * 30_000), "a.ass"),
        ("[INST] " * 30_000, "a.txt"),
        ("<s>[INST] So. [/INST] Yes." + " " * 60_000 + "No. [INST] Well. [/INST] Well.", "a.txt"),
        ("<|im_start|>user\nSo.\n<|im_start|>assistant\nYes.\n### User" + " " * 60_000 + "no", "a.txt"),
        (page([*TALK, "<table><tr>" + "<td>a" * 60_000]), "a.html"),
    ],
    ids=["drawings", "requests", "blanks", "heading", "cells"],
)  # fmt: skip
def test_nothing_takes_the_square_of_its_length(content: str, name: str, reading: Callable[..., object]) -> None:
    begin = time.process_time()
    reading(content, name)
    assert time.process_time() - begin < 8.0
