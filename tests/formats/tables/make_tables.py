"""Write the tables here that are not text, the same bytes each time: ``python tests/formats/tables/make_tables.py``."""

from __future__ import annotations

import datetime as dt
import io
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from make_tables import with_fixed_times  # noqa: E402 (the folder above)

FAMILY = [
    ("Therapist", "00:00:01", "Who cooked on Sunday?"),
    ("Mother", "00:00:04", "I did, as always."),
    ("Client", "00:00:07", "I peeled the potatoes."),
    ("Father", "00:00:10", "He did, and well."),
    ("Sister", "00:00:13", "He cut his thumb."),
    ("Client", "00:00:16", "A little."),
    ("Therapist", "00:00:19", "And all of you ate together."),
]
INTERPRETED = [
    ("Therapist", "How long have you been in the house?"),
    ("Interpreter", "He asks how long."),
    ("Client", "Since the spring."),
    ("Interpreter", "Since spring."),
    ("Therapist", "And before that?"),
]


def book(sheets: dict[str, list[list[object]]], merged: dict[str, list[str]] | None = None) -> bytes:
    from openpyxl import Workbook

    made = Workbook()
    made.properties.created = made.properties.modified = dt.datetime(2024, 1, 1)  # a workbook holds no zone
    made.remove(made.active)
    for title, rows in sheets.items():
        sheet = made.create_sheet(title)
        for row in rows:
            sheet.append(row)
        for area in (merged or {}).get(title, []):
            sheet.merge_cells(area)
    out = io.BytesIO()
    made.save(out)
    return with_fixed_times(out.getvalue())


def family() -> bytes:
    """Sheets of one session each, below a title; and one that is a key to codes."""
    rows = [[who, dt.time.fromisoformat(when), words] for who, when, words in FAMILY]
    first = [["Supervision copy, do not pass on"], [], ["Who", "When", "Said"], *rows]
    second: list[list[object]] = [["Text", "Speaker"], *([words, who] for who, words in INTERPRETED)]
    key: list[list[object]] = [["Code", "Meaning"], ["q", "asks"], ["r", "says back"]]
    return book({"family": first, "interpreted": second, "key": key})


def merged() -> bytes:
    """One session named once, and a speaker named once for two rows."""
    rows: list[list[object]] = [
        ["Session", "Speaker", "Line", "Words"],
        ["m1", "Therapist", 1, "You kept the receipt."],
        [None, None, 2, "All this time."],
        [None, "Client", 3, "It is only paper."],
        ["m2", "Client", 1, "I threw it away."],
        [None, "Therapist", 2, "How was that?"],
    ]
    return book({"all": rows}, {"all": ["A2:A4", "B2:B3", "A5:A6"]})


def unnamed() -> bytes:
    """A sheet without a header."""
    return book({"Tabelle1": [[at, who, words] for at, (who, words) in enumerate(INTERPRETED, start=1)]})


def parquet() -> bytes:
    """Two sessions of three people, the role beside the name, times as a recogniser has them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [
        {
            "call_id": call,
            "speaker": who,
            "role": role,
            "utterance": words,
            "start_ms": 1000 * at,
            "end_ms": 1000 * at + 900,
        }
        for call in ("north", "south")
        for at, (who, role, words) in enumerate(
            [
                ("Ada", "therapist", "Sit where you like."),
                ("Cy", "client", "By the door, then."),
                ("Bo", "therapist", "I will sit by the window."),
                ("Di", "client", "Next to him, please."),
                ("Eli", "other", "I only take notes."),
            ]
        )
    ]
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out)
    return out.getvalue()


if __name__ == "__main__":
    (HERE / "family.xlsx").write_bytes(family())
    (HERE / "merged.xlsx").write_bytes(merged())
    (HERE / "unnamed.xlsx").write_bytes(unnamed())
    (HERE / "people.parquet").write_bytes(parquet())
