"""TTML and SubStation Alpha: times in all their forms, who speaks, what is no speech."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.session import Session

SessionOf = Callable[..., Session]
ProblemOf = Callable[..., UnreadableFileError]
HEAD = '<metadata><ttm:agent xml:id="t"><ttm:name>Therapist</ttm:name></ttm:agent></metadata>'


def tt(body: str, attributes: str = "", head: str = HEAD) -> str:
    spaces = 'xmlns="http://www.w3.org/ns/ttml" xmlns:ttm="http://www.w3.org/ns/ttml#metadata"'
    parameters = 'xmlns:ttp="http://www.w3.org/ns/ttml#parameter"'
    return f"<tt {spaces} {parameters} {attributes}><head>{head}</head><body>{body}</body></tt>"


def spoken(session: Session) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in session.turns]


@pytest.mark.parametrize(
    ("begin", "attributes", "seconds"),
    [
        ("00:01:02.5", "", 62.5),
        ("01:02:03", "", 3723.0),
        ("00:00:10:12", 'ttp:frameRate="24"', 10.5),
        ("00:00:10:15", "", 10.5),
        ("00:00:10:15", 'ttp:frameRate="30" ttp:frameRateMultiplier="1000 1001"', 10.5005),
        ("62.5s", "", 62.5),
        ("1500ms", "", 1.5),
        ("1.5m", "", 90.0),
        ("0.5h", "", 1800.0),
        ("50f", 'ttp:frameRate="25"', 2.0),
        ("20000000t", 'ttp:tickRate="10000000"', 2.0),
        ("75t", 'ttp:frameRate="25" ttp:subFrameRate="1"', 3.0),
        ("1:05", "", 65.0),
        ("later", "", None),
    ],
)
def test_times(begin: str, attributes: str, seconds: float | None, session: SessionOf) -> None:
    body = f'<div><p begin="{begin}">Therapist: Well?</p><p begin="{begin}">Client: Well.</p></div>'
    assert session(tt(body, attributes), "a.ttml").turns[0].start_s == seconds


@pytest.mark.parametrize(
    ("p", "end"),
    [
        ('begin="1s" end="3s"', 3.0),
        ('begin="1s" dur="3s"', 4.0),
        ('begin="1s" dur="3s" end="2s"', 2.0),
        ('begin="1s" dur="9s"', 8.0),
        ('begin="1s"', 8.0),
    ],
)
def test_ends(p: str, end: float, session: SessionOf) -> None:
    body = f'<div end="8s"><p {p}>Therapist: Well?</p></div><div><p begin="9s">Client: Well.</p></div>'
    assert session(tt(body), "a.ttml").turns[0].end_s == end


def test_an_agent_of_a_division_speaks_in_it_unless_a_paragraph_has_another(session: SessionOf) -> None:
    body = '<div ttm:agent="t"><p begin="1s">One.</p><p begin="2s" ttm:agent="x">Two.</p></div>'
    assert spoken(session(tt(body), "a.ttml")) == [("Therapist", "One."), ("x", "Two.")]


def test_captions_of_two_divisions_are_read_in_order_of_time(session: SessionOf) -> None:
    body = (
        '<div ttm:agent="t"><p begin="1s">One.</p><p begin="5s">Three.</p></div>'
        '<div ttm:agent="x"><p begin="3s">Two.</p></div>'
    )
    assert spoken(session(tt(body), "a.ttml")) == [("Therapist", "One."), ("x", "Two."), ("Therapist", "Three.")]


def test_a_label_in_a_caption_without_an_agent(session: SessionOf) -> None:
    body = '<div><p begin="1s" ttm:agent="t">One: a start.</p><p begin="2s">MAYA: Two.</p></div>'
    assert spoken(session(tt(body), "a.ttml")) == [("Therapist", "One: a start."), ("MAYA", "Two.")]


def test_words_are_as_written(session: SessionOf) -> None:
    body = (
        '<div><p begin="1s" ttm:agent="t"><metadata><ttm:desc>no</ttm:desc></metadata>a &lt;b&gt; &amp;amp; '
        '<span tts:color="red" xmlns:tts="x">in</span>side<br/>c</p><p begin="2s" ttm:agent="c">d</p></div>'
    )
    assert session(tt(body), "a.ttml").turns[0].text == "a <b> &amp; inside c"


def test_a_file_without_captions_is_refused(problem: ProblemOf) -> None:
    assert "no captions with words" in problem(tt("<div/>"), "a.ttml").problem
    assert "broken or breaks off" in problem(tt("<div>")[:-9], "a.ttml").problem


def test_attributes_for_each_element_are_refused(problem: ProblemOf) -> None:
    long = f'<!DOCTYPE tt [<!ATTLIST br desc CDATA "{"a" * 9_000}">]>'
    assert "unsafe" in problem(long + tt("<p begin='0s'>Ann: So.</p>" + "<br/>" * 9), "a.ttml").problem


def ass(*lines: str, columns: str = "Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text") -> str:
    return "\n".join(["[Script Info]", "", "[Events]", f"Format: {columns}", *lines, ""])


def test_columns_are_those_of_the_format_line(session: SessionOf) -> None:
    text = ass(
        "Dialogue: 0:00:01.50,0:00:02.00,Therapist,One, two.",
        "Dialogue: 0:00:02.00,0:00:02.00,Client,Three.",
        columns="Start, End, Actor, Text",
    )
    first, second = session(text, "a.ass").turns
    assert (first.speaker, first.text, first.start_s, first.end_s, first.first_row) == (
        "Therapist", "One, two.", 1.5, 2.0, 5,
    )  # fmt: skip
    assert second.end_s is None


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (r"{\b1}One{\b0} two", "One two"),
        (r"One\Ntwo\nthree\hfour", "One two three four"),
        (r"{\k20}tog{\k30}ether", "together"),
        ("a <b> &amp; c", "a <b> &amp; c"),
        (r"One.{\p1}m 0 0 l 9 9{\p0} Two.", "One. Two."),
    ],
)
def test_tags_are_no_words(written: str, words: str, session: SessionOf) -> None:
    lines = [f"Dialogue: 0,0:00:0{at}.00,0:00:09.00,Default,{who},0,0,0,,{written}" for at, who in enumerate("TC")]
    assert session(ass(*lines), "a.ass").turns[0].text == words


def test_comments_and_shadows_are_counted(session: SessionOf) -> None:
    line = "0:00:0{}.00,0:00:09.00,Default,{},0,0,0,,{}"
    one = session(
        ass(
            "Dialogue: 0," + line.format(1, "T", "Come in."),
            "Dialogue: 1," + line.format(1, "T", "Come in."),
            "Comment: 0," + line.format(1, "T", "check this line"),
            "Dialogue: 0," + line.format(2, "C", "Come in."),
        ),
        "a.ass",
    )
    assert spoken(one) == [("T", "Come in."), ("C", "Come in.")]
    assert one.notes == ("Comments left out (3 words).", "Repeated captions left out (2 words).")


def test_a_translation_that_begins_a_little_later_is_one(session: SessionOf) -> None:
    english = '<p begin="0s" end="2s">Therapist: So.</p><p begin="2s" end="4s">Client: Yes.</p>'
    again = '<p begin="0.2s" end="2s">Therapist: Also.</p><p begin="2.2s" end="4s">Client: Ja.</p>'
    one = session(tt(f'<div xml:lang="en">{english}</div><div xml:lang="de">{again}</div>'), "a.ttml")
    assert spoken(one) == [("Therapist", "So."), ("Client", "Yes.")]
    assert "2 captions in another language left out (4 words)." in one.notes
