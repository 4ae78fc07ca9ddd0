"""Rich text: what is said, without its form."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from therapy_analytics.core.errors import UnreadableFileError

Spoken = Callable[..., list[tuple[str, str]]]
Problem = Callable[..., UnreadableFileError]
HANG_S = 10.0
"""Seconds of processor time that only a hang takes."""
SAMPLE = Path(__file__).resolve().parents[1] / "formats" / "ahlers_ilse.rtf"


def test_words_without_their_form(spoken: Spoken) -> None:
    right = "\N{RIGHT SINGLE QUOTATION MARK}"
    turns = spoken(SAMPLE.read_bytes(), "a.rtf")
    assert [who for who, _ in turns] == ["Therapist", "Client"] * 4
    assert turns[1][1] == f"With the dog, I think. He died on „Sunday“, and I can{right}t stop crying."
    assert turns[3][1] == "It is. My sister says it was only a dog."
    assert turns[5][1] == f"It did. \N{GRINNING FACE} I didn{right}t answer her."
    assert "büro" in turns[7][1]


def test_a_table_of_labels_and_words(spoken: Spoken) -> None:
    rows = [("T", "So?"), ("C", "I left her."), ("T", "You left."), ("C", "I did.")]
    cells = "".join(f"\\trowd\\cellx100\\cellx900 {who}\\cell {words}\\cell\\row\n" for who, words in rows)
    assert spoken("{\\rtf1\\ansi\n" + cells + "}", "a.rtf") == rows


def test_pictures_and_notes_are_left_out(spoken: Spoken) -> None:
    text = "{\\rtf1 T: So?\\par C: Well{\\footnote C: not said}.{\\pict\\pngblip 00ff00}\\par T: Hm.\\par C: Yes.\\par}"
    assert spoken(text, "a.rtf") == [("T", "So?"), ("C", "Well."), ("T", "Hm."), ("C", "Yes.")]


@pytest.mark.parametrize("text", ["{\\rtf1\\ansi Nothing but prose.\\par}", "{\\rtf1"])
def test_without_labels_it_says_so(text: str, problem: Problem) -> None:
    assert "no speaker labels" in problem(text, "a.rtf").problem


@pytest.mark.parametrize("code", ["u99999999999999", "uc"])
def test_broken_numbers_are_a_plain_problem(code: str, problem: Problem) -> None:
    found = problem(f"{{\\rtf1 \\{code} T: So?\\par C: Well.\\par}}", "a.rtf")
    assert "broken" in found.problem
    assert ".docx" in found.remedy


@pytest.mark.parametrize("fonts", ["\\f0\\fcharset0" + " x" * 9_000, "\\f0\\fcharset0" * 1_000, "\\f0 a;" * 9_000])
def test_fonts_that_never_end(fonts: str, spoken: Spoken) -> None:
    """The library's pattern takes minutes for them."""
    began = time.process_time()
    talk = "T: So?\\par C: Well.\\par T: Hm.\\par C: Yes.\\par"
    assert len(spoken("{\\rtf1{\\fonttbl{" + fonts + "}}" + talk + "}", "a.rtf")) == 4
    assert time.process_time() - began < HANG_S
