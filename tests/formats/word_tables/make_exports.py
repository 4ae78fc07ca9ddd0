"""Writes the documents in this folder: what programs export to Word beside the table with the talk.

The layouts follow the sample programs that turn the output of Amazon Transcribe into Word documents; the words are our
own.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_P = "http://schemas.openxmlformats.org/package/2006"
_TYPES = (
    f'<Types xmlns="{_P}/content-types"><Default Extension="rels" '
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONS = (
    f'<Relationships xmlns="{_P}/relationships"><Relationship Id="r1" Type="{_R}/officeDocument" '
    'Target="word/document.xml"/></Relationships>'
)
Cells = tuple[str, ...]

TALK = (
    ("0:00:02", "3.1s", "How has the knee been since Tuesday?"),
    ("0:00:06", "4.0s", "It clicks on the stairs. I go down sideways."),
    ("0:00:11", "2.2s", "Sideways, like a crab."),
    ("0:00:14", "3.4s", "Like my mother. She held the rail as well."),
    ("0:00:19", "2.8s", "What did she say about it?"),
    ("0:00:22", "1.9s", "Nothing. She went."),
)


def paragraph(text: str) -> str:
    return f'<w:p><w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'


def table(*rows: Cells, merged: frozenset[int] = frozenset()) -> str:
    """Return a table; in the rows whose numbers are merged, the last cell spans all that are left of the width."""
    width = max(map(len, rows))
    lines = []
    for number, row in enumerate(rows):
        span = f'<w:tcPr><w:gridSpan w:val="{width - len(row) + 1}"/></w:tcPr>' if number in merged else ""
        cells = [f"<w:tc>{span if at == len(row) - 1 else ''}{paragraph(cell)}</w:tc>" for at, cell in enumerate(row)]
        lines.append(f"<w:tr>{''.join(cells)}</w:tr>")
    return f"<w:tbl>{''.join(lines)}</w:tbl>{paragraph('')}"


CONFIDENCE = table(
    ("Confidence", "Count", "Percentage"),
    *((f"{low}% - {high}%", str(count), f"{count / 0.42:.2f}%") for low, high, count in ((98, 100, 30), (90, 97, 9))),
    ("80% - 89%", "3", "7.14%"),
)


def separated() -> str:
    """Return what is written of speakers told apart by the recogniser."""
    summary = table(("Job Name", "visit-3"), ("Audio Duration", "0m 24.0s"), ("Audio Ident", "Speaker-separated"))
    talk = [(start, lasts, f"spk_{at % 2}", said) for at, (start, lasts, said) in enumerate(TALK)]
    rows = table(("Start", "Dur.", "Speaker", "Transcription"), *talk)
    return "".join(
        [paragraph("Call Summary"), summary, paragraph("Call Transcription"), paragraph("WORD CONFIDENCE: >= 90%"),
         rows, paragraph("Word Confidence Scores"), CONFIDENCE]
    )  # fmt: skip


def analytics() -> str:
    """Return what is written of a call with an agent and a customer, and with all that was found in it."""
    names = ("Agent", "Customer")
    talk: list[Cells] = [(start, lasts, names[at % 2], "", said) for at, (start, lasts, said) in enumerate(TALK)]
    talk.insert(3, ("0:00:11", "[CATEGORY] family"))
    rows = table(("Start", "Dur.", "Speaker", "", "Transcription"), *talk, merged=frozenset({4}))
    return "".join(
        [paragraph("Call Summary"), table(("Job Name", "visit-4"), ("Audio Ident", "Call Analytics")),
         paragraph("Categories Detected"), table(("Category", "#", "Timestamps found at"), ("family", "1", "0:00:11")),
         paragraph("Issues Detected"),
         table(("Speaker", "Turn Time", "Detected Text"), ("Customer", "0:00:06", "...I go down sideways."),
               ("Customer", "0:00:14", "Like my mother....")),
         paragraph("Speaker Sentiment"),
         table(("Speaker", "Q1", "Q2", "Q3", "Q4", "OVERALL"), ("Agent", "0.0", "1.2", "0.5", "2.0", "0.9"),
               ("Customer", "-1.0", "-2.5", "0.0", "-0.5", "-1.0")),
         paragraph("Call Transcription"), rows, paragraph("Word Confidence Scores"), CONFIDENCE]
    )  # fmt: skip


def comments() -> str:
    """Return the table of a smaller program: average confidence above, then time, speaker and words."""
    head = table(("Metric", "Value"), ("Transcripts", "1"), ("Average confidence", "97.2%"))
    talk = [(start, f"spk_{at % 2}", said) for at, (start, _, said) in enumerate(TALK)]
    return paragraph("Transcription of visit-5.json") + head + table(("Time", "Speaker", "Content"), *talk)


def own_columns() -> str:
    """Return a table whose columns have names of their own, and more words of an observer than of the talk."""
    names = ("Imke", "Rolf")
    seen = "The one who listens looks at the hands of the one who speaks, and then at the door."
    talk = [(names[at % 2], seen, start, said) for at, (start, _, said) in enumerate(TALK)]
    return table(("Voice", "Seen", "Clock", "Blurb"), *talk[:4]) + table(*talk[4:])


def main() -> None:
    """Write the documents beside this file."""
    folder = Path(__file__).parent
    bodies = {
        "separated": separated(),
        "analytics": analytics(),
        "comments": comments(),
        "own_columns": own_columns(),
    }
    for name, body in bodies.items():
        document = f'<w:document xmlns:w="{_W}"><w:body>{body}</w:body></w:document>'
        with zipfile.ZipFile(folder / f"{name}.docx", "w", zipfile.ZIP_DEFLATED) as archive:
            for part, text in (
                ("[Content_Types].xml", _TYPES),
                ("_rels/.rels", _RELATIONS),
                ("word/document.xml", document),
            ):
                member = zipfile.ZipInfo(part, _LONG_AGO)
                member.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(member, f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n{text}')


if __name__ == "__main__":
    main()
