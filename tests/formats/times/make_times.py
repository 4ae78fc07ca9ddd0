"""Write the workbook here, the same bytes each time: ``python tests/formats/times/make_times.py``."""

from __future__ import annotations

import datetime as dt
import io
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from make_tables import with_fixed_times  # noqa: E402 (the folder above)

TALK = [
    (0, "Therapist", "You kept the ring on."),
    (3, "Client", "It does not come off."),
    (6, "Therapist", "Did you try?"),
    (8, "Client", "With soap, once."),
]
NOON_AND_SO = 45_363 + (14 * 3600 + 5 * 60) / 86_400


def serial() -> bytes:
    """Dates as the numbers that a spreadsheet keeps, in cells that are not shown as dates."""
    from openpyxl import Workbook

    made = Workbook()
    made.properties.created = made.properties.modified = dt.datetime(2024, 1, 1)  # a workbook holds no zone
    made.active.append(["Date", "Speaker", "Text"])
    for second, who, words in TALK:
        made.active.append([NOON_AND_SO + second / 86_400, who, words])
    out = io.BytesIO()
    made.save(out)
    return with_fixed_times(out.getvalue())


if __name__ == "__main__":
    (HERE / "serial.xlsx").write_bytes(serial())
