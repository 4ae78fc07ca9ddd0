"""Praat TextGrids: both text forms, tiers, quotes, broken files."""

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
from therapy_analytics.readers import RawSession, Source
from therapy_analytics.readers.base import READERS

HANG_S = 10.0
"""Seconds of processor time that only a hang takes; speed itself is measured in benchmarks/."""

SessionOf = Callable[..., Session]
ProblemOf = Callable[..., UnreadableFileError]
Spans = list[tuple[float, float, str]]
Tiers = list[tuple[str, Spans]]


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def long_form(tiers: Tiers) -> str:
    lines = ['File type = "ooTextFile"', 'Object class = "TextGrid"', "", "xmin = 0 ", "xmax = 99 ", "tiers? <exists> "]
    lines += [f"size = {len(tiers)} ", "item []: "]
    for at, (name, spans) in enumerate(tiers, start=1):
        lines += [f"    item [{at}]:", '        class = "IntervalTier" ', f"        name = {quoted(name)} "]
        lines += ["        xmin = 0 ", "        xmax = 99 ", f"        intervals: size = {len(spans)} "]
        for n, (begin, end, text) in enumerate(spans, start=1):
            lines += [f"        intervals [{n}]:", f"            xmin = {begin} ", f"            xmax = {end} "]
            lines += [f"            text = {quoted(text)} "]
    return "\n".join(lines) + "\n"


def short_form(tiers: Tiers) -> str:
    lines: list[object] = ['File type = "ooTextFile"', '"TextGrid"', "", 0, 99, "<exists>", len(tiers)]
    for name, spans in tiers:
        lines += ['"IntervalTier"', quoted(name), 0, 99, len(spans)]
        lines += [value for begin, end, text in spans for value in (begin, end, quoted(text))]
    return "\n".join(map(str, lines)) + "\n"


TALK: Tiers = [
    ("Therapist", [(0, 1.5, 'Say "no" to 5, item 2: xmin = 3.'), (1.5, 4, ""), (4, 5, "Yes <b>! So.")]),
    ("Client", [(0, 1.25, " "), (1.25, 2, "Hey."), (2, 3, "\u00fcber\nyou"), (4.5, 4.75, "No.")]),
]

forms = pytest.mark.parametrize("form", [long_form, short_form])


def raw(text: str) -> RawSession:
    (one,) = READERS["textgrid"].read(Source(Path("a.TextGrid"), text))
    return one


@forms
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_tiers_are_speakers_in_order_of_begin(
    form: Callable[[Tiers], str], encoding: str, end: str, session: SessionOf
) -> None:
    bom = "\ufeff" if encoding.endswith("be") else ""
    turns = session((bom + form(TALK).replace("\n", end)).encode(encoding), "a.TextGrid").turns
    assert [(turn.speaker, turn.role, turn.text, turn.first_row, turn.start_s, turn.end_s) for turn in turns] == [
        ("Therapist", "therapist", 'Say "no" to 5, item 2: xmin = 3.', 1, 0.0, 1.5),
        ("Client", "client", "Hey. \u00fcber you", 2, 1.25, 3.0),
        ("Therapist", "therapist", "Yes <b>! So.", 4, 4.0, 5.0),
        ("Client", "client", "No.", 5, 4.5, 4.75),
    ]


def test_point_tiers_are_left_out_and_counted() -> None:
    points = '"TextTier"\n"clicks"\n0\n99\n2\n5\n"door"\n6.5\n"door"\n'
    text = short_form(TALK[:1]).replace("<exists>\n1\n", "<exists>\n2\n") + points
    assert [row.speaker for row in raw(text).rows] == ["Therapist"] * 2
    assert raw(text).notes == ("1 point tier left out (2 points).",)


def test_comments_are_no_content() -> None:
    text = short_form(TALK[1:]).replace("\n0\n99\n<exists>", '\n0 ! "begin" 7\n99\n<exists>')
    assert len(raw(text).rows) == 3


def test_forced_aligners() -> None:
    one = raw(
        long_form(
            [
                ("Anna - words", [(0, 1, "so"), (1, 2, "sil"), (2, 3, "it")]),
                ("Anna - phones", [(0, 1, "s"), (2, 3, "I")]),
                ("Ben - words", [(3, 4, "<eps>"), (4, 5, "is")]),
                ("Ben", [(4, 5, "Is!")]),
            ]
        )
    )
    assert [(row.speaker, row.text) for row in one.rows] == [("Anna", "so"), ("Anna", "it"), ("Ben", "Is!")]
    assert one.notes == (
        "1 tier of sounds left out (2 annotations, 2 words).",
        "1 tier of single words left out (1 annotation, 1 word).",
    )


@forms
def test_a_file_cut_anywhere_is_refused_or_whole(form: Callable[[Tiers], str]) -> None:
    text = form(TALK)
    for at in range(30, len(text) - 3):
        with pytest.raises(UnreadableFileError, match="breaks off in the middle"):
            raw(text[:at])


@pytest.mark.parametrize(
    ("text", "what", "line"),
    [
        (short_form(TALK).replace('"Hey."', "Hey."), "a number stands here where a text should be", 33),
        (short_form(TALK).replace("1.25\n2", '1.25\n"2"'), "a text stands here where a number should be", 31),
        (short_form(TALK).replace('"TextGrid"', '"PitchTier"'), "another kind of object", None),
        (short_form(TALK).replace("<exists>\n2", "<exists>\n9e300"), "breaks off", None),
        (short_form(TALK).replace("<exists>\n2", "<exists>\n9e999"), "breaks off", None),
        (short_form(TALK).replace("<exists>\n2", "<absent>"), "no tier with words", None),
        (short_form([("A", [(0, 1, "")])]), "no tier with words", None),
        ('File type = "ooTextFile"', "breaks off", None),
    ],
)
def test_what_is_refused(text: str, what: str, line: int | None, problem: ProblemOf) -> None:
    one = problem(text, "a.TextGrid")
    assert what in one.problem
    assert one.line == line


def test_the_binary_form_is_refused_with_a_remedy(problem: ProblemOf) -> None:
    one = problem(b"ooBinaryFile\x08TextGrid\0\0\0\0@", "a.TextGrid")
    assert one.problem == "this is a Praat file in binary form"
    assert one.remedy == "Open it in Praat and save it as a text file"


def test_a_tier_without_a_name_and_times_that_are_none() -> None:
    one = raw(short_form([("", [(-1, 1, "a")]), ("B", [(0, 1, "b")])]).replace('0\n1\n"b"', '0\n1e999\n"b"'))
    assert [(row.speaker, row.start_s, row.end_s) for row in one.rows] == [("Unknown", None, 1.0), ("B", 0.0, None)]


SPANS = st.lists(
    st.tuples(st.integers(0, 99), st.integers(0, 99), st.text('ab "!<>=\n1', min_size=1, max_size=9)), max_size=9
)


@given(SPANS, SPANS, st.sampled_from([long_form, short_form]))
@settings(max_examples=100, deadline=None)
def test_every_span_with_words_is_read_once_in_order_of_time(
    one: Spans, two: Spans, form: Callable[[Tiers], str]
) -> None:
    tiers = [("A", one), ("B", two)]
    wanted = [(begin, who, " ".join(text.split())) for who, spans in tiers for begin, _, text in spans if text.strip()]
    if wanted:
        rows = raw(form(tiers)).rows
        assert sorted((row.start_s, row.speaker, row.text) for row in rows) == sorted(wanted)
        assert [row.start_s for row in rows] == sorted(begin for begin, _, _ in wanted)
        assert [row.place for row in rows] == list(range(1, len(rows) + 1))


@given(st.text('"<>!1 .ea\n', max_size=200))
@settings(max_examples=200, deadline=None)
def test_whatever_stands_in_a_file_it_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(UnreadableFileError):
        raw(f'File type = "ooTextFile"\n"TextGrid"\n{text}')


@pytest.mark.parametrize("snippet", ['"', '""', "<", "!", "1", "1 ", '" "', "<a> ", "\n"])
def test_no_repetition_takes_endless_time(snippet: str) -> None:
    began = time.process_time()
    with pytest.raises(UnreadableFileError):
        raw(f'File type = "ooTextFile"\n"TextGrid"\n0 9 <exists> 1 "IntervalTier" "A" 0 9 1 {snippet * 200_000}')
    assert time.process_time() - began < HANG_S


@forms
def test_speed(form: Callable[[Tiers], str]) -> None:
    text = form([(who, [(2 * at, 2 * at + 1, "Well, I do not know.") for at in range(5_000)]) for who in "AB"])
    began = time.process_time()
    assert len(raw(text).rows) == 10_000
    assert time.process_time() - began < HANG_S / 4


def test_one_tier_with_the_speaker_before_the_words(session: Callable[..., Session]) -> None:
    spans: Spans = [
        (0, 1, "Therapist: Hi."),
        (1, 2, ""),
        (2, 3, "Client: Hey."),
        (3, 4, "So."),
        (5, 6, "Therapist: Yes."),
    ]
    turns = session(long_form([("transcript", spans), ("Emotion", [(0, 6, "calm")])]), "a.TextGrid").turns
    assert [(turn.speaker, turn.text, turn.start_s, turn.end_s) for turn in turns] == [
        ("Therapist", "Hi.", 0.0, 1.0),
        ("Client", "Hey.\nSo.", 2.0, 4.0),
        ("Therapist", "Yes.", 5.0, 6.0),
    ]
