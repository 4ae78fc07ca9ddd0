"""ELAN: tiers, time slots, dependent tiers, unsafe XML."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.session import Session
from therapy_analytics.readers import RawSession, Source, read
from therapy_analytics.readers.base import READERS

HANG_S = 10.0
"""Seconds of processor time that only a hang takes; speed itself is measured in benchmarks/."""

SessionOf = Callable[..., Session]
ProblemOf = Callable[..., UnreadableFileError]
Spans = list[tuple[int, int, str]]


def tier(name: str, spans: Spans, **attributes: str) -> tuple[str, Spans]:
    more = "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
    return f"TIER_ID={quoteattr(name)}{more}", spans


def eaf(*tiers: tuple[str, Spans], units: str = "milliseconds", slots: str = "", more: str = "") -> str:
    """Return a file whose time slots are named by their milliseconds: t1500."""
    times = sorted({at for _, spans in tiers for begin, end, _ in spans for at in (begin, end)})
    order = slots or "".join(f'<TIME_SLOT TIME_SLOT_ID="t{at}" TIME_VALUE="{at}"/>' for at in times)
    body = ""
    for head, spans in tiers:
        body += f"<TIER {head}>"
        for begin, end, text in spans:
            place = f'ANNOTATION_ID="a" TIME_SLOT_REF1="t{begin}" TIME_SLOT_REF2="t{end}"'
            value = f"<ANNOTATION_VALUE>{escape(text)}</ANNOTATION_VALUE>"
            body += f"<ANNOTATION><ALIGNABLE_ANNOTATION {place}>{value}</ALIGNABLE_ANNOTATION></ANNOTATION>\n"
        body += "</TIER>\n"
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<ANNOTATION_DOCUMENT>\n'
        f'<HEADER TIME_UNITS="{units}"/>\n<TIME_ORDER>{order}</TIME_ORDER>\n{body}{more}</ANNOTATION_DOCUMENT>\n'
    )


def raw(text: str) -> RawSession:
    (one,) = READERS["elan"].read(Source(Path("a.eaf"), text))
    return one


def test_tiers_are_speakers_in_order_of_begin(session: SessionOf) -> None:
    text = eaf(
        tier("Therapist", [(0, 1500, "Hi & so."), (4000, 5000, "Yes.")]),
        tier("Client", [(1400, 2000, "Hey."), (2000, 3000, "\u00fcber\n you"), (3000, 3500, " "), (4500, 4600, "No.")]),
    )
    assert [
        (turn.speaker, turn.role, turn.text, turn.first_row, turn.start_s, turn.end_s)
        for turn in session(text, "a.eaf").turns
    ] == [
        ("Therapist", "therapist", "Hi & so.", 1, 0.0, 1.5),
        ("Client", "client", "Hey. \u00fcber you", 2, 1.4, 3.0),
        ("Therapist", "therapist", "Yes.", 4, 4.0, 5.0),
        ("Client", "client", "No.", 5, 4.5, 4.6),
    ]


def test_a_later_tier_that_begins_at_the_same_time_comes_later() -> None:
    one = raw(eaf(tier("b", [(5, 6, "one")]), tier("a", [(5, 7, "two"), (2, 3, "none")])))
    assert [row.text for row in one.rows] == ["none", "one", "two"]


@pytest.mark.parametrize(
    ("people", "speakers"),
    [
        (("Ruth", "Dana"), ["Ruth", "Dana"]),
        (("Ruth", ""), ["Ruth", "B"]),
        (("Ruth", "Ruth"), ["A", "B"]),
        (("", ""), ["A", "B"]),
    ],
)
def test_the_participant_is_the_speaker_unless_it_tells_nobody_apart(
    people: tuple[str, str], speakers: list[str]
) -> None:
    one = raw(
        eaf(
            *(
                tier(name, [(at, 9, "x")], PARTICIPANT=who)
                for at, (name, who) in enumerate(zip("AB", people, strict=True))
            )
        )
    )
    assert [row.speaker for row in one.rows] == speakers


def test_a_tier_that_names_a_role_is_not_hidden_by_a_participant() -> None:
    one = raw(
        eaf(tier("Therapist", [(1, 2, "x")], PARTICIPANT="Ruth"), tier("K2", [(2, 3, "y")], PARTICIPANT="Client"))
    )
    assert [row.speaker for row in one.rows] == ["Therapist", "Client"]


def test_tiers_that_depend_on_another_are_left_out_and_counted() -> None:
    ref = (
        '<TIER TIER_ID="English" PARENT_REF="A"><ANNOTATION><REF_ANNOTATION ANNOTATION_ID="r" ANNOTATION_REF="a">'
        "<ANNOTATION_VALUE>no</ANNOTATION_VALUE></REF_ANNOTATION></ANNOTATION></TIER>"
    )
    one = raw(eaf(tier("A", [(0, 1, "yes")]), tier("A-parts", [(0, 1, "no")], PARENT_REF="A"), more=ref))
    assert [row.text for row in one.rows] == ["yes"]
    assert one.notes == ("2 tiers of dependent annotations left out (2 annotations, 2 words).",)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Notes", "notes"),
        ("therapist_comments", "notes"),
        ("Gesture A", "gestures, looks and movements"),
        ("GestureA", "gestures, looks and movements"),
        ("translation@A", "translations"),
        ("Emotion", "codes"),
        ("Session phase", "sections and marks"),
        ("A - phones", "sounds"),
        ("KAN-MAU", "sounds"),
    ],
)
def test_tiers_named_as_something_else_than_speech_are_left_out(name: str, kind: str) -> None:
    one = raw(eaf(tier("A", [(0, 1, "yes")]), tier(name, [(0, 1, "no, no")])))
    assert [row.text for row in one.rows] == ["yes"]
    assert one.notes == (f"1 tier of {kind} left out (1 annotation, 2 words).",)


def test_a_file_with_nothing_but_such_tiers_is_read() -> None:
    assert [row.text for row in raw(eaf(tier("Notes", [(0, 1, "yes")]))).rows] == ["yes"]


def test_slots_without_a_time_lie_evenly_between_their_neighbours() -> None:
    values = ["1000", "", "", "4000", ""]
    slots = "".join(
        f'<TIME_SLOT TIME_SLOT_ID="t{at}"' + (f' TIME_VALUE="{value}"' if value else "") + "/>"
        for at, value in enumerate(values)
    )
    one = raw(eaf(tier("A", [(0, 1, "a"), (1, 2, "b"), (2, 3, "c"), (3, 4, "d")]), slots=slots))
    assert [(row.start_s, row.end_s) for row in one.rows] == [(1.0, 2.0), (2.0, 3.0), (3.0, 4.0), (4.0, None)]


def test_times_in_frames() -> None:
    (row,) = raw(eaf(tier("A", [(25, 50, "a")]), units="PAL-frames")).rows
    assert (row.start_s, row.end_s) == (1.0, 2.0)


BOMB = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "' + "&a;" * 99 + '"><!ENTITY c "' + "&b;" * 99 + '">]>'


@pytest.mark.parametrize(
    "doctype",
    [BOMB, '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>', '<!DOCTYPE x SYSTEM "http://localhost/x.dtd">'],
)
def test_entities_and_outside_references_are_refused(doctype: str, problem: ProblemOf) -> None:
    text = eaf(tier("A", [(0, 1, "a")])).replace("<ANNOTATION_DOCUMENT>", f"{doctype}<ANNOTATION_DOCUMENT>")
    assert "unsafe" in problem(text, "a.eaf").problem


@pytest.mark.parametrize(
    ("text", "what", "line"),
    [
        (eaf(tier("A", [(0, 1, "a")])).replace("</TIER>", ""), "broken or breaks off", 7),
        (eaf(tier("A", [(0, 1, "a")]))[:-30], "broken or breaks off", 6),
        (eaf(tier("A", [(0, 1, " ")])), "no tier with words", None),
        (eaf(), "no tier with words", None),
        ("<a><ANNOTATION_DOCUMENT/></a>", "no way to read", None),
        (eaf(tier("A", [(0, 1, "a\0b")])), "broken or breaks off", None),
    ],
)
def test_what_is_refused(text: str, what: str, line: int | None, problem: ProblemOf) -> None:
    one = problem(text, "a.eaf") if "\0" not in text else problem(text.encode("utf-16"), "a.eaf")
    assert what in one.problem
    assert line is None or one.line == line


@pytest.mark.parametrize("deep", ["<TIER>" * 200_000, "<TIER>" * 200_000 + "</TIER>" * 200_000])
def test_deep_nesting_is_no_danger(deep: str, reading: Callable[..., object]) -> None:
    began = time.process_time()
    reading(eaf(tier("A", [(0, 1, "a")]), more=deep), "a.eaf")
    assert time.process_time() - began < HANG_S


@pytest.mark.parametrize("value", ["-5", "1e3", "9" * 400, "\u0661", "nan", " 5"])
def test_times_that_are_none(value: str) -> None:
    slots = f'<TIME_SLOT TIME_SLOT_ID="t0" TIME_VALUE="{value}"/><TIME_SLOT TIME_SLOT_ID="t1" TIME_VALUE="7"/>'
    (row,) = raw(eaf(tier("A", [(0, 1, "a")]), slots=slots)).rows
    assert (row.text, row.end_s) == ("a", 0.007)


SPANS = st.lists(
    st.tuples(st.integers(0, 99), st.integers(0, 99), st.text("ab <&;", min_size=1, max_size=9)), max_size=9
)


@given(SPANS, SPANS)
@settings(max_examples=80, deadline=None)
def test_every_span_with_words_is_read_once_in_order_of_time(one: Spans, two: Spans) -> None:
    wanted = sorted(
        (begin / 1000, who, " ".join(text.split()))
        for who, spans in (("A", one), ("B", two))
        for begin, _, text in spans
        if text.strip()
    )
    if wanted:
        rows = raw(eaf(tier("A", one), tier("B", two))).rows
        assert sorted((row.start_s, row.speaker, row.text) for row in rows) == wanted
        assert [row.start_s for row in rows] == [begin for begin, _, _ in wanted]
        assert [row.place for row in rows] == list(range(1, len(rows) + 1))


def test_speed() -> None:
    text = eaf(
        *(
            tier(who, [(10 * at + n, 10 * at + n + 4, "Well, I do not know.") for at in range(5_000)])
            for n, who in enumerate("AB")
        )
    )
    began = time.process_time()
    assert len(raw(text).rows) == 10_000
    assert time.process_time() - began < HANG_S / 4


FOREIGN = """<ANNOTATION_DOCUMENT><HEADER TIME_UNITS="milliseconds"/><TIME_ORDER>
<TIME_SLOT TIME_SLOT_ID="a" TIME_VALUE="0"/><TIME_SLOT TIME_SLOT_ID="b" TIME_VALUE="1500"/>
<TIME_SLOT TIME_SLOT_ID="c" TIME_VALUE="3000"/><TIME_SLOT TIME_SLOT_ID="d" TIME_VALUE="1400"/></TIME_ORDER>
<TIER TIER_ID="Therapist" LINGUISTIC_TYPE_REF="utterance"><ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="t1"
 TIME_SLOT_REF1="a" TIME_SLOT_REF2="b"><ANNOTATION_VALUE>What is it?</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION>
</ANNOTATION></TIER>
<TIER TIER_ID="Client" LINGUISTIC_TYPE_REF="utterance"><ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="c1"
 TIME_SLOT_REF1="d" TIME_SLOT_REF2="c"><ANNOTATION_VALUE>I want to.</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION>
</ANNOTATION></TIER>
<TIER TIER_ID="{}" LINGUISTIC_TYPE_REF="{}" ANNOTATOR="Ann"><ANNOTATION><ALIGNABLE_ANNOTATION ANNOTATION_ID="k1"
 TIME_SLOT_REF1="a" TIME_SLOT_REF2="b"><ANNOTATION_VALUE>{}</ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION>
</TIER></ANNOTATION_DOCUMENT>"""


@pytest.mark.parametrize(
    ("name", "kind"), [("MI codes", "x"), ("codes_Ann", "x"), ("MITI", "coding"), ("gold MI", "x")]
)
def test_a_tier_of_codes_is_codes_of_its_annotator(name: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / "case.eaf").write_text(FOREIGN.format(name, kind, "question; open"))
    (back,) = read(tmp_path / "case.eaf")
    assert [(turn.text, dict(turn.gold)) for turn in back.turns] == [
        ("What is it?", {"coder_ann": "question;open"}),
        ("I want to.", {}),
    ]
    assert back.notes == ("1 tier of codes read as codes by people (1 annotation).",)


@pytest.mark.parametrize(
    ("name", "value"), [("Emotion", "sad"), ("decoder", "sad"), ("MI codes", "she asks him what it is, openly")]
)
def test_other_tiers_and_sentences_are_no_codes(name: str, value: str, tmp_path: Path) -> None:
    (tmp_path / "case.eaf").write_text(FOREIGN.format(name, "x", value))
    (back,) = read(tmp_path / "case.eaf")
    assert not any(turn.gold for turn in back.turns)


def test_annotators_of_like_names_are_told_apart(tmp_path: Path) -> None:
    text = FOREIGN.format("MI codes", "x", "question")
    tiers = [text[text.index('<TIER TIER_ID="MI codes"') : text.rindex("</ANNOTATION_DOCUMENT>")]]
    tiers.append(tiers[0].replace("MI codes", "more codes").replace('"Ann"', '"ann"').replace('"k1"', '"k2"'))
    head = text[: text.index('<TIER TIER_ID="MI codes"')]
    (tmp_path / "case.eaf").write_text(f"{head}{''.join(tiers)}</ANNOTATION_DOCUMENT>")
    (back,) = read(tmp_path / "case.eaf")
    assert dict(back.turns[0].gold) == {"coder_ann": "question", "coder_ann_2": "question"}
