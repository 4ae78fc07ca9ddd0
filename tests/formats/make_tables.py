"""Write the samples of tables that are not text, the same bytes each time: ``python tests/formats/make_tables.py``."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIRST = [
    ("Therapist", "00:00:02", "Good to see you again. How was the walk to the library?", "question"),
    ("Client", "00:00:09", "Long. I turned around twice before I went in.", "neutral"),
    ("Therapist", "00:00:15", "Twice you wanted to leave, and you still went in.", "reflection"),
    (None, "00:00:21", "What helped you at the door?", "question"),
    ("Client", "00:00:26", "I thought of the list that we wrote. [laughs]", "change"),
    ("Therapist", "00:00:33", "The list came along in your pocket.", "reflection"),
    ("Client", "00:00:38", "It did. I want to go again on Friday.", "change"),
    ("Therapist", "00:00:44", "Friday it is, then.", "other"),
]
SECOND = [
    ("Client", "00:00:01", "I did not go on Friday.", "sustain"),
    ("Therapist", "00:00:05", "Something came in between.", "reflection"),
    ("Client", "00:00:11", "My sister called, and I stayed on the phone.", "neutral"),
    ("Therapist", "00:00:18", "Would you like to look at that call with me?", "question"),
    ("Client", "00:00:23", "Yes, I think so.", "change"),
    ("Therapist", "00:00:29", "Let us begin with the moment it rang.", "other"),
]


def workbook() -> bytes:
    """Two sessions, a sheet each, one below a title, and a sheet that is no transcript."""
    from openpyxl import Workbook

    book = Workbook()
    moment = dt.datetime(2024, 1, 1)  # what a workbook holds has no zone
    book.properties.created = book.properties.modified = moment
    sheet = book.active
    sheet.title = "visit 1"
    sheet.append(["Supervision copy"])
    sheet.append([])
    for title, rows in (("visit 1", FIRST), ("visit 2", SECOND)):
        sheet = book[title] if title in book.sheetnames else book.create_sheet(title)
        sheet.append(["Speaker", "Start time", "Utterance", "Main code"])
        for speaker, start, words, code in rows:
            sheet.append([speaker, dt.time.fromisoformat(start), words, code])
    key = book.create_sheet("key")
    for line in (["Code", "Meaning"], ["question", "asks"], ["reflection", "says back"]):
        key.append(line)
    out = io.BytesIO()
    book.save(out)
    return with_fixed_times(out.getvalue())


def with_fixed_times(data: bytes) -> bytes:
    """Pack an archive again as if all of it had been written at one moment."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            part = old.read(name)
            if name == "docProps/core.xml":  # openpyxl writes the time of saving, whatever it is told
                part = part.split(b"<dcterms:modified")[0] + b"</cp:coreProperties>"
            info = zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(info, part)
    return out.getvalue()


def parquet() -> bytes:
    """Two sessions in one table of utterances."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [
        {"conversation_id": name, "turn": at, "role": speaker or "Therapist", "content": words, "code": code}
        for name, session in (("lake", FIRST), ("shore", SECOND))
        for at, (speaker, _, words, code) in enumerate(session)
    ]
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out)
    return out.getvalue()


if __name__ == "__main__":
    (HERE / "two_visits.xlsx").write_bytes(workbook())
    (HERE / "lake_and_shore.parquet").write_bytes(parquet())
