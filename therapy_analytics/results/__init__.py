"""The folder of results: private, one run at a time, each file whole or not there, and what is done stays done."""

from __future__ import annotations

from therapy_analytics.results._done import Done, Key, is_whole, read_done, session_key
from therapy_analytics.results._files import as_csv, problems_table, replaced, write_csv, write_text
from therapy_analytics.results._folder import Folder, opened
from therapy_analytics.results._session import SessionTables, write_figures_again, write_run_figures, write_session

__all__ = [
    "Done",
    "Folder",
    "Key",
    "SessionTables",
    "as_csv",
    "is_whole",
    "opened",
    "problems_table",
    "read_done",
    "replaced",
    "session_key",
    "write_csv",
    "write_figures_again",
    "write_run_figures",
    "write_session",
    "write_text",
]
