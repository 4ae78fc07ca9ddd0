"""Writes the OpenDocument and PDF files of this folder, all in our own words: ``python make_documents.py``.

PDF is written by hand, as few objects as it takes: a page is a list of lines, each with its place from the left.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).parent
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_SPACES = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" '
    'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" office:version="1.3"'
)
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_STYLES = (
    "<office:automatic-styles>"
    '<style:style style:name="T1" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>'
    "</office:automatic-styles>"
)
_TYPE = "application/vnd.oasis.opendocument.text"


def para(*pieces: str) -> str:
    return f"<text:p>{''.join(pieces)}</text:p>"


def bold(text: str) -> str:
    return f'<text:span text:style-name="T1">{escape(text)}</text:span>'


def table(rows: list[list[str]]) -> str:
    cells = ("".join(f"<table:table-cell>{para(escape(cell))}</table:table-cell>" for cell in row) for row in rows)
    lines = "".join(f"<table:table-row>{row}</table:table-row>" for row in cells)
    return f'<table:table table:name="t">{lines}</table:table>'


def odt(name: str, body: str) -> None:
    content = (
        f"{_HEAD}<office:document-content {_SPACES}>{_STYLES}<office:body><office:text>{body}</office:text>"
        "</office:body></office:document-content>"
    )
    manifest = (
        f'{_HEAD}<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{_TYPE}"/></manifest:manifest>'
    )
    with zipfile.ZipFile(HERE / name, "w") as archive:
        for part, text in (("mimetype", _TYPE), ("content.xml", content), ("META-INF/manifest.xml", manifest)):
            member = zipfile.ZipInfo(part, _LONG_AGO)
            member.compress_type = zipfile.ZIP_STORED if part == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(member, text)


def pdf(name: str, pages: list[list[str]], *, left: int = 72) -> None:
    """Write pages of lines; a line that begins with a tab has what stands before the next tab in the margin."""
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(pages)))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
    ]
    for at, lines in enumerate(pages):
        said = ["BT /F1 11 Tf"]
        for number, line in enumerate(lines):
            margin, _, words = line[1:].partition("\t") if line.startswith("\t") else ("", "", line)
            for x, text in ((36, margin), (left, words)):
                plain = text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
                said += [f"1 0 0 1 {x} {760 - 16 * number} Tm ({plain}) Tj"] if text else []
        stream = "\n".join([*said, "ET"])
        fonts = "/Resources<</Font<</F1 3 0 R>>>>"
        page = f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]{fonts}/Contents {5 + 2 * at} 0 R>>"
        objects += [page, f"<</Length {len(stream.encode('cp1252'))}>>stream\n{stream}\nendstream"]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252")
    table_at = len(out)
    rows = "".join(f"{place:010} 00000 n \n" for place in places)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{rows}".encode()
    out += f"trailer<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{table_at}\n%%EOF\n".encode()
    (HERE / name).write_bytes(out)


def documents() -> None:
    note = (
        '<text:note text:id="n1" text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body>'
        f"{para('said very low')}</text:note-body></text:note>"
    )
    comment = f"<office:annotation><dc:creator>RS</dc:creator>{para('check the tape')}</office:annotation>"
    deleted = (
        '<text:tracked-changes><text:changed-region text:id="c1"><text:deletion>'
        f"{para('and never again')}</text:deletion></text:changed-region></text:tracked-changes>"
    )
    odt(
        "labelled.odt",
        deleted
        + para("Session 9, both present")
        + para(bold("Therapist:"), " What did you do with", '<text:s text:c="2"/>', "the ladder?")
        + para(bold("Wife:"), " I left it.", "<text:line-break/>", "Against the wall.", note)
        + para(bold("Husband:"), " I ", comment, "climbed it.")
        + para("At night.")
        + para(bold("Therapist:"), " You climbed it.")
        + para(bold("Wife:"), "<text:tab/>", "He did, yes.")
        + para(bold("Husband:"), " To mend the roof."),
    )
    odt(
        "table.odt",
        para("Visit of 4 March")
        + table(
            [
                ["Time", "Speaker", "Text"],
                ["00:01", "Therapist", "Who feeds the hens?"],
                ["00:04", "Mother", "I do, before six."],
                ["00:07", "Son", "I count them."],
                ["00:09", "Therapist", "How many were there today?"],
                ["00:11", "Son", "Nine."],
            ]
        ),
    )
    flat = (
        f'{_HEAD}<office:document {_SPACES} office:mimetype="{_TYPE}">{_STYLES}<office:body><office:text>'
        + para("Counselor: Is the window still open?")
        + para("Client: It is. I like the noise.")
        + para("Counselor: Which noise?")
        + para("Client: The trams.")
        + "</office:text></office:body></office:document>\n"
    )
    (HERE / "flat.fodt").write_text(flat, encoding="utf-8")


def papers() -> None:
    header = "Clinic at the Canal \u2013 confidential"
    first = ["Therapist: You asked for this hour.", "Client: I did. There is something that I did", "not say in March."]
    second = ["Therapist: In March you spoke of the boat.", "Client: Of the boat, and not of who", "sat in it."]
    third = ["Therapist: Who sat in it?", "Client: My brother."]
    pages = [first, second, third]
    pdf("headers_and_numbers.pdf", [[header, *page, f"Page {at} of 3"] for at, page in enumerate(pages, start=1)])
    numbered = [
        "Q. Did you lock the door, yourself?",
        "A. I did.",
        "Q. And who had the other key?",
        "A. My mother. She",
        "never used it.",
    ]
    pdf("numbered_lines.pdf", [[f"\t{at}\t{line}" for at, line in enumerate(numbered, start=1)]])
    pdf(
        "family.pdf",
        [
            [
                "Mother: We set five plates.",
                "Therapist: Who sits at the fifth?",
                "Father: Nobody.",
                "Daughter: Grandma does.",
                "Father: Nobody since June.",
                "Daughter: I still set it.",
                "Mother: She does.",
                "Therapist: You set a plate for her.",
                "1",
            ]
        ],
    )
    pdf("scan.pdf", [[], []])
    columns = [
        ["\tTherapist\tWho had the map on that walk, and who", "read it?"],
        ["\tHusband\tI had it."],
        ["\tWife\tI read it. He only held it: he always", "holds what I read."],
        ["\tTherapist\tHe holds, and you read."],
        ["\tHusband\tShe reads fast."],
        ["\tWife\tHe says so now."],
    ]
    pages = [["Walks in autumn", *(line for turn in half for line in turn)] for half in (columns[:3], columns[3:])]
    pdf("two_columns.pdf", pages, left=150)


def samples() -> None:
    """Write the samples of the readers, in the folder above."""
    said = [
        ("Therapist", "You moved the piano yourself?"),
        ("Client", "With a rope. My back knows it."),
        ("Therapist", "What did you want to see, that it had to move?"),
        ("Client", "The window. It stood before the window for nine years."),
        ("Therapist", "Nine years, and then a rope."),
        ("Client", "And a very good morning."),
    ]
    odt("../ibsen_runa.odt", "".join(para(bold(f"{who}:"), f" {words}") for who, words in said))
    other = [
        ("Therapist", "What does the garden want from you?"),
        ("Client", "Water. And that I stop to talk to it about him."),
        ("Therapist", "You talk to it about him."),
        ("Client", "To the beans. They are the best listeners that I have had since the spring."),
        ("Therapist", "What do the beans know that I do not?"),
        ("Client", "The end."),
    ]
    lines = [f"{who}: {words}" for who, words in other]
    pdf("../arden_sol.pdf", [[*lines[:4], "1"], [*lines[4:], "2"]])


def main() -> None:
    """Write all of them."""
    documents()
    papers()
    samples()


if __name__ == "__main__":
    main()
