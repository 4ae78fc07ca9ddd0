"""The folder of results: private, one run at a time, each file whole or not there, and what is done stays done."""

from __future__ import annotations

from therapy_analytics.results._done import Done, Key, hash_of_all, is_whole, read_done, session_key
from therapy_analytics.results._files import as_csv, problems_table, replaced, write_csv, write_text
from therapy_analytics.results._folder import FOLDERS, PAGE, SESSIONS, Folder, opened
from therapy_analytics.results._parts import (
    DATASETS,
    RECORDS,
    Part,
    file_name,
    library,
    part_is_whole,
    read_part,
    write_part,
)
from therapy_analytics.results._session import write_figures_again, write_run_figures, write_session

__all__ = [
    "DATASETS",
    "FOLDERS",
    "PAGE",
    "RECORDS",
    "SESSIONS",
    "Done",
    "Folder",
    "Key",
    "Part",
    "as_csv",
    "file_name",
    "hash_of_all",
    "is_whole",
    "library",
    "opened",
    "part_is_whole",
    "problems_table",
    "read_done",
    "read_part",
    "replaced",
    "session_key",
    "write_csv",
    "write_figures_again",
    "write_part",
    "write_run_figures",
    "write_session",
    "write_text",
]
