"""A table with a row a turn."""

from __future__ import annotations

from therapy_analytics.cells import csv_of_rows
from therapy_analytics.session import Session
from therapy_analytics.writers._base import table_of, writer


@writer("csv", suffix=".csv", holds={"times", "ends", "codes", "lines", "others"})
def write_csv(session: Session) -> bytes:
    """CSV with a row a turn: speaker, role, times in seconds, words, codes by people."""
    header, *rows = table_of(session, times=("start_s", "end_s"), write_time=repr)
    numbered = [[turn.index, *row] for turn, row in zip(session.turns, rows, strict=True)]
    return csv_of_rows([["turn", *header], *numbered]).encode()
