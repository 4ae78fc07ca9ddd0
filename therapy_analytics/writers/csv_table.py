"""A table with a row a turn."""

from __future__ import annotations

import csv
import io

from therapy_analytics.readers import join_marks
from therapy_analytics.session import Session
from therapy_analytics.writers._base import writer


@writer("csv", suffix=".csv", holds={"times", "codes", "lines", "others"})
def write_csv(session: Session) -> bytes:
    """CSV with a row a turn: speaker, role, times in seconds, words, codes by people."""
    codes = list(dict.fromkeys(name for turn in session.turns for name in turn.gold))
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
    table.writerow(["turn", "speaker", "role", "start_s", "end_s", "text", *(f"gold_{name}" for name in codes)])
    for turn in session.turns:
        times = ("" if time is None else repr(time) for time in (turn.start_s, turn.end_s))
        given = (turn.gold.get(name, "") for name in codes)
        table.writerow([turn.index, turn.speaker, turn.role, *times, join_marks(turn.text, turn.marks), *given])
    return text.getvalue().encode()
