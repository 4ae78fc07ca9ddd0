"""The folder of results: written privately, by one run at a time, each file whole or absent; and read back.

The tables of a run are declared in `therapy_analytics.results.analysis`; everything here follows that list.
"""

from __future__ import annotations

from therapy_analytics.results._files import (
    DONE,
    PROBLEMS,
    RECORDS,
    SESSIONS,
    Record,
    as_csv,
    hash_of_all,
    problems_table,
    read_record,
    records_at,
    write_csv,
    write_not_drawn,
)
from therapy_analytics.results._folder import FOLDERS, PAGE, Folder, opened
from therapy_analytics.results._read import (
    joined_wide,
    load,
    read_recipe,
    read_sessions,
    read_table,
    read_wide_turns,
    wide,
)
from therapy_analytics.results._rows import Form, form_of, read_csv
from therapy_analytics.results._write import (
    DATASETS,
    data_file,
    joined_rows,
    library,
    record_file,
    session_is_whole,
    session_texts,
    write_data_files,
    write_figures_again,
    write_joined,
    write_run_figures,
    write_session,
)

__all__ = [
    "DATASETS", "DONE", "FOLDERS", "PAGE", "PROBLEMS", "RECORDS", "SESSIONS", "Folder", "Form", "Record", "as_csv",
    "data_file", "form_of", "hash_of_all", "joined_rows", "joined_wide", "library", "load", "opened", "problems_table",
    "read_csv", "read_recipe", "read_record", "read_sessions", "read_table", "read_wide_turns", "record_file",
    "records_at", "session_is_whole", "session_texts", "wide", "write_csv", "write_data_files", "write_figures_again",
    "write_joined", "write_not_drawn", "write_run_figures", "write_session",
]  # fmt: skip
