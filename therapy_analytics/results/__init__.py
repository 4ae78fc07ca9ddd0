"""The folder of results: written private, one run at a time, each file whole or not there; and read back.

A table that a run writes is declared in `therapy_analytics.analysis`; everything here follows that list.
"""

from __future__ import annotations

from therapy_analytics.results._files import as_csv, problems_table, replaced, write_csv, write_text
from therapy_analytics.results._folder import FOLDERS, PAGE, SESSIONS, Folder, opened
from therapy_analytics.results._read import (
    Form,
    form_of,
    joined_wide,
    load,
    read_recipe,
    read_sessions,
    read_wide_turns,
    wide,
)
from therapy_analytics.results._record import DONE, Record, hash_of_all, read_record, records_at
from therapy_analytics.results._rows import read_csv
from therapy_analytics.results._write import (
    DATASETS,
    RECORDS,
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
    "DATASETS",
    "DONE",
    "FOLDERS",
    "PAGE",
    "RECORDS",
    "SESSIONS",
    "Folder",
    "Form",
    "Record",
    "as_csv",
    "data_file",
    "form_of",
    "hash_of_all",
    "joined_rows",
    "joined_wide",
    "library",
    "load",
    "opened",
    "problems_table",
    "read_csv",
    "read_recipe",
    "read_record",
    "read_sessions",
    "read_wide_turns",
    "record_file",
    "records_at",
    "replaced",
    "session_is_whole",
    "session_texts",
    "wide",
    "write_csv",
    "write_data_files",
    "write_figures_again",
    "write_joined",
    "write_run_figures",
    "write_session",
    "write_text",
]
