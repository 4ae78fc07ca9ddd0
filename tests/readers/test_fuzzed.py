"""What ``benchmarks/fuzz`` found: each case stopped a reader, hung it, or let through what no file can hold."""

from __future__ import annotations

import io
import json
import re
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from therapy_analytics.core.ids import unique_id
from therapy_analytics.core.session import Session
from therapy_analytics.readers import FileReading

HANG_S = 10.0
"""Seconds of processor time that only a hang takes; speed itself is measured in benchmarks/."""

FORMATS = Path(__file__).resolve().parents[1] / "formats"
ReadingOf = Callable[..., FileReading]
SessionOf = Callable[..., Session]
SessionsOf = Callable[..., tuple[Session, ...]]

TALK = [{"role": "user", "content": "I slept."}, {"role": "assistant", "content": "You slept."}]


def tree(**more: Any) -> str:
    messages = [
        {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["I slept."]}, **more},
        {"author": {"role": "assistant"}, "content": {"content_type": "text", "parts": ["You slept."]}},
    ]
    nodes = {
        str(at): {"id": str(at), "parent": str(at - 1), "children": [], "message": one}
        for at, one in enumerate(messages)
    }
    return json.dumps({"mapping": nodes, "current_node": "1"})


@pytest.mark.parametrize("recipient", [[], {"a": 1}, [None]])
def test_a_recipient_that_is_no_name(recipient: Any, session: SessionOf) -> None:
    assert session(tree(recipient=recipient), "a.json").turns[-1].text == "You slept."


@pytest.mark.parametrize("kind", [[], {"a": 1}, ["text"]])
def test_a_kind_of_content_that_is_no_name(kind: Any, session: SessionOf) -> None:
    one = session(tree(content={"content_type": kind, "parts": ["I slept."]}), "a.json")
    assert one.turns[-1].text == "You slept."


def test_half_a_letter_in_what_is_said_about_a_session_is_replaced(session: SessionOf) -> None:
    text = json.dumps({"topic": "sleep \ud800", "a\ud800b": "x", "messages": TALK})
    about = session(text, "a.json").metadata
    assert "".join([*about, *about.values()]).isascii()


def test_half_a_letter_in_a_code_is_replaced(session: SessionOf) -> None:
    rows = [{"speaker": who, "text": "I slept.", "code": f"c{at}\ud800"} for at, who in enumerate("TCTCTC")]
    for turn in session(json.dumps(rows), "a.json").turns:
        assert "".join([*turn.gold, *turn.gold.values()]).isascii()


def test_many_sessions_of_one_name_are_numbered_in_time() -> None:
    taken: dict[str, int] = {}
    began = time.process_time()
    names = [unique_id("same", "file", taken) for _ in range(30_000)]
    assert time.process_time() - began < HANG_S / 5
    assert (names[:3], names[-1], len(set(names))) == (["same", "file-same", "same-2"], "same-29999", 30_000)


def test_a_long_gap_in_a_cell_does_not_hang(sessions: SessionsOf) -> None:
    talk = f"Therapist: You look{' ' * 30_000}out. Client: A bird came. Therapist: It came back."
    began = time.process_time()
    found = sessions(f'case,transcript\na,"{talk}"\nb,"{talk}"\n', "cells.csv")
    assert time.process_time() - began < HANG_S / 5
    assert all(one.turns for one in found)


BLANKS, HIDDEN = " " * 60_000, "\u200e" * 60_000
TIER = """<ANNOTATION_DOCUMENT><TIME_ORDER><TIME_SLOT TIME_SLOT_ID="t1" TIME_VALUE="0"/>
<TIME_SLOT TIME_SLOT_ID="t2" TIME_VALUE="900"/></TIME_ORDER>
<TIER TIER_ID="{0}" PARTICIPANT="{0}"><ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="a1"
TIME_SLOT_REF1="t1" TIME_SLOT_REF2="t2"><ANNOTATION_VALUE>I slept.</ANNOTATION_VALUE>
</ALIGNABLE_ANNOTATION></ANNOTATION></TIER></ANNOTATION_DOCUMENT>"""


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (f"WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ana>I slept.\n<v{BLANKS}\n", "a.vtt"),
        (f"WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ana>I slept.\n<v.therapist{BLANKS}\n", "a.vtt"),
        (f"WEBVTT\n\n00:01.000 --> 00:02.000\n<v {'(a' * 60_000}>I slept.\n", "a.vtt"),
        (f"1\n00:00:01,000 --> 00:00:02,000\nANA: I slept.\n<v{BLANKS}\n", "a.srt"),
        (f"@Begin\n*CLI:\tI slept [: {BLANKS}\n@End\n", "a.cha"),
        (f"@Begin\n*CLI:\tI slept{BLANKS}late [+ gram]\n@End\n", "a.cha"),
        (f"T: I slept.\n{BLANKS}- | x\nC: You slept.\n", "a.md"),
        (TIER.format(f"I{BLANKS}slept"), "a.eaf"),
        (f"[12/03/2024, 14:11:33] Ana: I <{BLANKS}slept.\n[12/03/2024, 14:12:33] Bo: You slept.\n", "a.txt"),
        (f"[12/03/2024, 14:11:33] Ana: I <{HIDDEN}slept.\n[12/03/2024, 14:12:33] Bo: You slept.\n", "a.txt"),
    ],
)
def test_what_never_ends_does_not_hang(text: str, name: str, reading: ReadingOf) -> None:
    began = time.process_time()
    reading(text, name)
    assert time.process_time() - began < HANG_S / 5


def test_a_header_of_ten_thousand_cells_is_refused_at_once(reading: ReadingOf) -> None:
    """Every row was made as wide as it, which took gigabytes."""
    began = time.process_time()
    problem = reading(",".join(["speaker", "text", *["x"] * 10_000]) + "\nT,Hello.\nC,Hi.\n" * 2_000, "a.csv").problem
    assert problem is not None
    assert "10002 cells" in str(problem)
    assert time.process_time() - began < HANG_S / 5


def test_braces_in_a_caption_are_words(session: SessionOf) -> None:
    talk = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v T>{\\} it is\n\n00:02.000 --> 00:03.000\n<v C>{\\an8}yes\n"
    assert [turn.text for turn in session(talk, "a.vtt").turns] == ["{\\} it is", "yes"]


def test_a_workbook_without_styles_prints_nothing(reading: ReadingOf, capsys: pytest.CaptureFixture[str]) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(FORMATS / "two_visits.xlsx") as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            new.writestr(
                name, re.sub(rb"<cellStyleXfs.*</cellStyleXfs>", b"<cellStyleXfs/>", part) if "styles" in name else part
            )
    reading(out.getvalue(), "a.xlsx")
    assert capsys.readouterr().out == ""
