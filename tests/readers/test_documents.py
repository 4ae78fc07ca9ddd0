"""OpenDocument, web pages, PDF: the talk, and not what stands around it."""

from __future__ import annotations

import io
import runpy
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.session import Session
from therapy_analytics.readers import read

SessionOf = Callable[..., Session]
ProblemOf = Callable[..., UnreadableFileError]
FOLDER = Path(__file__).resolve().parents[1] / "formats" / "documents"
MAKE = runpy.run_path(str(FOLDER / "make_documents.py"))
TALK = [("Therapist", "You came."), ("Client", "I did."), ("Therapist", "By bus?"), ("Client", "On foot.")]


def spoken(session: Session) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in session.turns]


def test_the_files_are_what_the_script_writes(tmp_path: Path) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    MAKE["main"].__globals__["HERE"] = folder
    MAKE["main"]()
    written = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert written
    for path in written:
        assert path.read_bytes() == (FOLDER.parent / path.relative_to(tmp_path)).read_bytes()


def zipped(**parts: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, text in {"mimetype": "application/vnd.oasis.opendocument.text", **parts}.items():
            archive.writestr(name.replace("__", "/").replace("_xml", ".xml"), text)
    return held.getvalue()


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (zipped(), "no text of a document"),
        (zipped(content_xml="<a"), "damaged"),
        (zipped(content_xml='<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'), "declares entities"),
        (zipped(content_xml="<a/>"), "spreadsheet or slides"),
        (zipped(content_xml="<a>" * 300 + "</a>" * 300), "more parts than any transcript"),
        (zipped(content_xml="<a/>")[:-30], "damaged"),
    ],
)
def test_damaged_documents_are_refused(data: bytes, what: str, problem: ProblemOf) -> None:
    assert what in problem(data, "a.odt").problem


def page(body: str) -> str:
    return f"<!DOCTYPE html><html><head><title>no</title></head><body>{body}</body></html>"


ENTRIES = "".join(f'<div class="e"><b class="speaker">{who}</b><p>{words}</p></div>' for who, words in TALK)


@pytest.mark.parametrize(
    "beside",
    [
        "<script>var a = '<p>Therapist: no</p>';</script>",
        "<style>p::before { content: 'no' }</style>",
        "<nav><p>Therapist: no</p></nav>",
        "<div hidden><p>Client: no</p></div>",
        '<div style="display: none">no</div>',
        '<span class="sr-only">Therapist no</span>',
        "<footer>no</footer>",
        '<div role="toolbar">no</div>',
        "<button>no</button>",
        "<!-- Therapist: no -->",
        "<select><option>no</select>",
        '<div aria-hidden="true">NO</div>',
    ],
)
def test_what_is_no_part_of_the_talk(beside: str, session: SessionOf) -> None:
    inside = ENTRIES.replace("</div>", f"{beside}</div>", 2)
    one = session(page(f"{beside}<div>{inside}</div>{beside}<p>no</p>"), "a.html")
    assert spoken(one) == TALK
    assert any("The page around the transcript was left out" in note for note in one.notes)


def test_a_name_that_stands_once_keeps_its_words(session: SessionOf) -> None:
    more = '<div class="e"><b class="speaker">Interpreter</b><p>She did.</p></div>'
    one = session(page(ENTRIES.replace("</div>", f"</div>{more}", 1)), "a.html")
    assert spoken(one)[1] == ("Interpreter", "She did.")


@pytest.mark.parametrize(
    ("body", "times"),
    [
        ('<b class="speaker">{0}</b> <time>0:0{2}</time><p>{1}</p>', True),
        ('<time>0:0{2}</time><div class="user-name">{0}</div><p>{1}</p>', True),
        ('<button>0:0{2}</button><span class="displayName">{0}</span><div>{1}</div>', True),
        ('<i class="author">{0}</i><i aria-hidden="true">00:00:0{2}</i><div>{1}</div>', True),
        ('<span class="speaker-name">{0}:</span> [0:0{2}] {1}', True),
        ('<div class="message {3}">{1}</div>', False),
    ],
)
def test_names_and_times_of_pages(body: str, times: bool, session: SessionOf) -> None:
    classes = {"Therapist": "therapist", "Client": "client"}
    told = [body.format(who, words, at, classes[who]) for at, (who, words) in enumerate(TALK, start=1)]
    one = session(page("".join(f"<section>{entry}</section>" for entry in told)), "a.html")
    assert [(turn.speaker.title(), turn.text) for turn in one.turns] == TALK
    assert [turn.start_s for turn in one.turns] == ([1.0, 2.0, 3.0, 4.0] if times else [None] * 4)


def test_elements_that_look_like_words_of_their_own_are(session: SessionOf) -> None:
    told = "".join(
        f'<p><i class="a">{who}</i><i class="b">0:0{at}</i><i class="c">{words}</i></p>'
        for at, (who, words) in enumerate(TALK, start=1)
    )
    assert spoken(session(page(told), "a.html")) == TALK


def test_a_word_in_two_formats_stays_one_word(session: SessionOf) -> None:
    body = ENTRIES.replace("foot", '<i class="x">fo</i><i class="y">ot</i>')
    assert spoken(session(page(body), "a.html")) == TALK


def test_a_page_is_read_in_the_letters_that_it_declares(session: SessionOf) -> None:
    text = page(ENTRIES.replace("On foot.", "\u041d\u0435\u0442.")).replace("<title>", "<meta charset=koi8-r><title>")
    assert session(text.encode("koi8-r"), "a.html").turns[3].text == "\u041d\u0435\u0442."


@pytest.mark.parametrize("hostile", ["<div>", "<!--", "<a b='", "</i>", "<b class=speaker>", "<table><tr><td>"])
def test_hostile_pages_take_no_time(hostile: str, reading: Callable[..., object]) -> None:
    reading(page(hostile * 20_000), "a.html")


def pdf(pages: list[list[str]], folder: Path) -> Path:
    MAKE["pdf"].__globals__["HERE"] = folder
    MAKE["pdf"]("a.pdf", pages)
    return folder / "a.pdf"


LINES = [f"{who}: {words}" for who, words in TALK]


@pytest.mark.parametrize(
    ("pages", "n_lines"),
    [
        ([LINES[:2], LINES[2:]], 0),
        ([["Clinic", *LINES[:2]], ["Clinic", *LINES[2:]]], 2),
        ([[*LINES[:2], "1"], [*LINES[2:], "2"]], 2),
        ([["Visit 4", *LINES[:2], "Page 1 of 2"], ["Visit 4", *LINES[2:], "Page 2 of 2"]], 4),
        ([[*LINES, "- 1 -"]], 1),
    ],
)
def test_the_edges_of_pages(pages: list[list[str]], n_lines: int, tmp_path: Path) -> None:
    (one,) = read(pdf(pages, tmp_path))
    assert spoken(one) == TALK
    told = [note for note in one.notes if "top or foot of pages" in note]
    assert [note.split()[0] for note in told] == ([str(n_lines)] if n_lines else [])


def test_an_answer_that_begins_two_pages_is_none_of_their_edge(tmp_path: Path) -> None:
    lines = ["Client: Yes.", "Therapist: And then?"]
    (one,) = read(pdf([lines, lines], tmp_path))
    assert spoken(one) == [("Client", "Yes."), ("Therapist", "And then?")] * 2


def test_a_page_without_text_is_told(tmp_path: Path) -> None:
    (one,) = read(pdf([LINES, []], tmp_path))
    assert one.notes == ("1 page without text left out; look whether words stand there as a picture.",)


@pytest.mark.parametrize(
    "data", [b"%PDF-1.4\n", b"%PDF-1.7\n1 0 obj\n<</Type/Catalog>>\nendobj\n", b"%PDF-" + b"x" * 999]
)
def test_a_damaged_pdf_is_refused(data: bytes, problem: ProblemOf) -> None:
    assert "damaged or breaks off" in problem(data, "a.pdf").problem


def test_classes_that_name_nobody_add_no_word(session: SessionOf) -> None:
    told = "".join(f'<p class="user-text author"><b>{who}:</b> {words}</p>' for who, words in TALK)
    assert spoken(session(page(f'<div class="client-area">{told}</div>'), "a.html")) == TALK


def test_bold_labels_without_a_colon(session: SessionOf) -> None:
    told = "".join(f"<p><b>{who}</b> {words}</p>" for who, words in TALK)
    assert spoken(session(page(told), "a.html")) == TALK


@pytest.mark.parametrize(
    "date",
    [
        '<div class="date details" title="12.03.2024 10:0{0}:00 UTC+01:00">10:0{0}</div>',
        '<time datetime="2024-03-12T10:0{0}:00Z">10:0{0}</time>',
    ],
)
def test_dates_of_messages_are_counted_from_the_first(date: str, session: SessionOf) -> None:
    told = "".join(
        f'<div class="m">{date.format(at)}<div class="from_name">{who}</div><div class="text">{words}</div></div>'
        for at, (who, words) in enumerate(TALK, start=1)
    )
    one = session(page(told), "a.html")
    assert spoken(one) == TALK
    assert [turn.start_s for turn in one.turns] == [0.0, 60.0, 120.0, 180.0]
    assert "Times were counted from that of the first message." in one.notes


def test_a_message_with_a_date_in_its_attributes_keeps_its_words(session: SessionOf) -> None:
    told = "".join(f'<div title="2024-03-12 10:00"><b class="speaker">{who}</b> {words}</div>' for who, words in TALK)
    assert spoken(session(page(told), "a.html")) == TALK


def test_a_row_of_a_table_whose_words_stand_below_it(tmp_path: Path) -> None:
    lines = ["00:01 Therapist You came.", "00:04 Client", "I did.", "00:06 Therapist By bus?", "00:08 Client On foot."]
    (one,) = read(pdf([lines], tmp_path))
    assert spoken(one) == TALK
    assert [turn.start_s for turn in one.turns] == [1.0, 4.0, 6.0, 8.0]
