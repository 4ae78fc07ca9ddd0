"""Word files: the accepted text, tables, and files that mean harm."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.session import Session
from therapy_analytics.readers import _xml, read_files

HANG_S = 10.0
"""Seconds of processor time that only a hang takes; speed itself is measured in benchmarks/."""

Spoken = Callable[..., list[tuple[str, str]]]
SessionOf = Callable[..., Session]
Problem = Callable[..., UnreadableFileError]
SPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
TWO = [("Therapist", "Hello."), ("Client", "Hi.")]


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def p(*runs: str) -> str:
    return f"<w:p>{''.join(one if one.startswith('<') else run(one) for one in runs)}</w:p>"


def table(*rows: tuple[str, ...], properties: str = "") -> str:
    cells = ["".join(f"<w:tc>{p(cell)}</w:tc>" for cell in row) for row in rows]
    return "<w:tbl>" + "".join(f"<w:tr>{properties}{row}</w:tr>" for row in cells) + "</w:tbl>"


def docx(*body: str, head: str = "", space: str = SPACE) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        text = f'{head}<w:document xmlns:w="{space}"><w:body>{"".join(body)}</w:body></w:document>'
        archive.writestr("word/document.xml", text)
    return out.getvalue()


BOLD = "<w:b/>"


@pytest.mark.parametrize(
    "body",
    [
        p("Therapist: Hello.") + p("Client: Hi."),
        p(run("Therapist", BOLD), ": Hello.") + p(run("Client:", BOLD), " Hi."),
        p(run("Therapist", BOLD), " Hello.") + p(run("Client", BOLD), " Hi."),
        p("Therapist:\u00a0Hello.") + p("Client:\u00a0Hi."),
        p("Therapist", "<w:r><w:tab/></w:r>", "Hello.") + p("Client", "<w:r><w:tab/></w:r>", "Hi."),
        p("Therapist: Hello.", "<w:r><w:br/></w:r>", "Client: Hi."),
        p("12. Therapist: Hello.") + p("13. Client: Hi."),
        f"<w:sdt><w:sdtPr/><w:sdtContent>{p('Therapist: Hello.')}</w:sdtContent></w:sdt>" + p("Client: Hi."),
        table(("Therapist", "Hello."), ("Client", "Hi.")),
        table(("Therapist:", "Hello."), ("Client:", "Hi.")),
        table(("0:01", "Therapist", "Hello."), ("0:04", "Client", "Hi.")),
        table(("1", "Therapist", "Hello."), ("2", "Client", "Hi.")),
        table(("Speaker", "Text"), ("Therapist", "Hello."), ("Client", "Hi.")),
        table(("Zeit", "Wer", "Was"), ("0:01", "Therapist", "Hello."), ("0:04", "Client", "Hi.")),
        table(("Therapist", "Client"), ("Hello.", ""), ("", "Hi.")),
        table(("1", "Therapist: Hello."), ("2", "Client: Hi.")),
        table(("Therapist: Hello.",), ("Client: Hi.",)),
    ],
)
def test_ways_to_lay_out_a_transcript(body: str, spoken: Spoken) -> None:
    assert spoken(docx(body), "a.docx") == TWO
    assert spoken(docx(body, space="http://purl.oclc.org/ooxml/wordprocessingml/main"), "a.docx") == TWO


NAMED = [("Ruth Lee", "Hello there."), ("Dana", "Hi to you."), ("Ruth Lee", "So it is."), ("Dana", "Well, no.")]


@pytest.mark.parametrize("style", ["", BOLD])
def test_names_on_paragraphs_of_their_own(style: str, spoken: Spoken) -> None:
    assert spoken(docx(*(p(run(who, style)) + p(text) for who, text in NAMED)), "a.docx") == NAMED


def test_times_and_codes_beside_labelled_cells(session: SessionOf) -> None:
    rows = [(f"0:0{at}", f"{who}: {text}", "QR"[at % 2]) for at, (who, text) in enumerate(TWO * 2)]
    for body in (table(*rows), table(*(row[1:] for row in rows)), table(*(row[:2] for row in rows))):
        turns = session(docx(body), "a.docx").turns
        assert [(turn.speaker, turn.text) for turn in turns] == TWO * 2
    assert [turn.start_s for turn in turns] == [0.0, 1.0, 2.0, 3.0]


def test_a_column_of_times_under_a_name_of_its_own(session: SessionOf) -> None:
    rows = [(f"0:0{at}.0 - 0:0{at}.9", text, who) for at, (who, text) in enumerate(NAMED)]
    turns = session(docx(table(("Timespan", "Content", "Speaker"), *rows)), "a.docx").turns
    assert [(turn.start_s, turn.end_s) for turn in turns] == [(0.0, 0.9), (1.0, 1.9), (2.0, 2.9), (3.0, 3.9)]


def box(*paragraphs: str) -> str:
    return f"<w:r><w:pict><w:txbxContent>{''.join(paragraphs)}</w:txbxContent></w:pict></w:r>"


def test_a_remark_in_a_text_box_is_left_out_and_a_talk_in_one_is_read(session: SessionOf) -> None:
    one = session(docx(p("T: Hello.", box(p("A remark"))), p("C: Hi.")), "a.docx")
    assert [(turn.speaker, turn.text, turn.first_row) for turn in one.turns] == [("T", "Hello.", 1), ("C", "Hi.", 2)]
    assert one.notes == ("1 text box left out.",)
    two = session(docx(p("Title", box(p("T: Hello."), p("C: Hi.")))), "b.docx")
    assert (two.turns[0].speaker, two.turns[0].text) == ("T", "Hello.")


def test_tracked_changes_are_accepted(spoken: Spoken) -> None:
    more = f'<w:ins w:id="1">{run(" again")}</w:ins><w:moveTo w:id="2">{run(" now")}</w:moveTo>'
    less = "".join(f"<w:{tag}>{run(' gone')}</w:{tag}>" for tag in ("del", "moveFrom"))
    cut = "<w:r><w:delText> never</w:delText></w:r>"
    assert spoken(docx(p("T: Hello", more, less, cut, "."), p("C: Hi.")), "a.docx") == [
        ("T", "Hello again now."),
        ("C", "Hi."),
    ]


def test_a_deleted_paragraph_end_joins_and_a_deleted_row_goes(spoken: Spoken) -> None:
    mark = "<w:pPr><w:rPr><w:del/></w:rPr></w:pPr>"
    assert spoken(docx(p("T: One", mark), p(" two."), p("C: Hi.")), "a.docx") == [("T", "One two."), ("C", "Hi.")]
    gone = (
        table(("C", "Never."), properties="<w:trPr><w:del/></w:trPr>").removeprefix("<w:tbl>").removesuffix("</w:tbl>")
    )
    rows = table(("T", "One."), ("C", "Two.")).removesuffix("</w:tbl>") + gone + "</w:tbl>"
    assert spoken(docx(rows), "a.docx") == [("T", "One."), ("C", "Two.")]


def test_what_stands_beside_the_words_is_left_out_and_counted(session: SessionOf) -> None:
    comment, foot = '<w:r><w:commentReference w:id="0"/></w:r>', '<w:r><w:footnoteReference w:id="0"/></w:r>'
    field = "<w:r><w:instrText>PAGE</w:instrText></w:r>"
    hidden = run(" secret", "<w:vanish/>")
    one = session(docx(p("T: Hello.", comment, foot, field, hidden), p("C: Hi.", comment)), "a.docx")
    assert [turn.text for turn in one.turns] == ["Hello.", "Hi."]
    assert one.notes == ("2 comments left out.", "1 footnote left out.", "1 hidden passage left out.")


def test_first_row_is_the_paragraph_or_the_table_row(session: SessionOf) -> None:
    one = session(docx(p("Session 3"), p(), p("T: Hello."), p("So."), p("C: Hi.")), "a.docx")
    assert [turn.first_row for turn in one.turns] == [3, 5]
    assert one.notes[0] == "1 line (2 words) before the first speaker label left out."
    two = session(docx(p("Title"), table(("Speaker", "Text"), ("T", "Hello."), ("C", "Hi."))), "b.docx")
    assert [turn.first_row for turn in two.turns] == [3, 4]
    assert two.notes == ("1 line (1 word) outside the tables left out.",)


def test_times_codes_and_empty_labels_of_a_table(session: SessionOf) -> None:
    header = ("Time", "Speaker", "Text", "MISC")
    body = table(header, ("0:01", "T", "Hello.", "OQ"), ("0:02", "", "So.", ""), ("0:04", "C", "Hi.", "N"))
    turns = session(docx(body), "a.docx").turns
    assert [(turn.speaker, turn.text, turn.start_s) for turn in turns] == [("T", "Hello. So.", 1.0), ("C", "Hi.", 4.0)]
    assert [dict(turn.gold) for turn in turns] == [{"misc": "OQ"}, {"misc": "N"}]


def test_a_table_of_facts_before_the_transcript_is_none_of_it(spoken: Spoken) -> None:
    facts = table(("Client:", "Dana"), ("Therapist:", "Lee"))
    talk = [("T", "Hello."), ("C", "Hi.")] * 4
    assert spoken(docx(facts, *(p(f"{who}: {text}") for who, text in talk)), "a.docx") == talk
    assert spoken(docx(facts, p(), table(*talk)), "b.docx") == talk


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (docx(p("T: Hello."), p("C: Hi."), head='<!DOCTYPE a [<!ENTITY b "c">]>'), "entities"),
        (docx(p("T: Hello."), p("C: Hi."), head='<!DOCTYPE a SYSTEM "http://127.0.0.1/a.dtd">'), "entities"),
        (docx("<w:p>" * 1_000 + "</w:p>" * 1_000), "more than 100 times|more parts"),
        (docx("<w:p>" * 300 + "</w:p>" * 300), "more parts"),
        (docx(p("T: Hello") + "<w:p>", "&none;"), "damaged"),
        (docx(p("T: " + "a" * 30_000_000)), "more than 100 times"),
        (docx(p("No labels."), p("None.")), "no speaker labels"),
        (docx(p("T: Hello."), p("C: Hi."))[:-40], "damaged or breaks off"),
    ],
)
def test_files_that_mean_harm_are_refused_soon(data: bytes, what: str, problem: Problem) -> None:
    import re

    began = time.process_time()
    assert re.search(what, problem(data, "a.docx").problem)
    assert time.process_time() - began < HANG_S


def test_a_document_of_many_parts_is_refused_soon(problem: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_xml, "_MOST_ELEMENTS", 5_000)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{SPACE}">{"<w:p/>" * 7_000}</w:document>')
    began = time.process_time()
    assert "more parts" in problem(out.getvalue(), "a.docx").problem
    assert time.process_time() - began < HANG_S


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.floats(0, 1), odd=st.binary(min_size=1, max_size=8))
def test_any_damage_ends_in_plain_words(at: float, odd: bytes, tmp_path: Path) -> None:
    data = docx(p("T: Hello."), table(("T", "One."), ("C", "Two.")), p("C: Hi."))
    place = round(at * len(data))
    path = tmp_path / "a.docx"
    path.write_bytes(data[:place] + odd + data[place + len(odd) :])
    (reading,) = read_files([path])
    assert reading.problem is None or "could not be understood" not in reading.problem.problem


def test_a_column_of_words_under_a_name_of_its_own(spoken: Spoken) -> None:
    rows = [("T", "How was the week?"), ("H", "Long."), ("T", "And for you?"), ("W", "Short."), ("H", "Long, I say.")]
    assert spoken(docx(table(("Who", "What was said"), *rows))) == rows


def test_a_list_of_people_is_no_talk(spoken: Spoken) -> None:
    people = table(("Name", "Place of work"), ("Ann Lee", "North clinic, second floor"), ("Bo Day", "South clinic"))
    rows = [("T", "How was the week?"), ("C", "Long."), ("T", "Oh?"), ("C", "Yes.")]
    assert spoken(docx(people + table(("Speaker", "Words"), *rows))) == rows


def test_words_and_remarks_in_further_columns_are_no_codes(session: SessionOf) -> None:
    """What is said, and what a transcriber thinks of it, would else stand in ``turns.csv``, which holds no words."""
    texts = ("How was the week?", "Long.", "Boring?", "I am hungry.", "Then let us stop.", "Soon.")
    rows = [(f"0:0{at}", "TC"[at % 2], text, f"she {text} again", "OQ" * (at % 2)) for at, text in enumerate(texts)]
    one = session(docx(table(("Time", "Who", "What was said", "Comment", "Code"), *rows)))
    assert [turn.text for turn in one.turns] == list(texts)
    assert [dict(turn.gold) for turn in one.turns] == [{}, {"code": "OQ"}] * 3
