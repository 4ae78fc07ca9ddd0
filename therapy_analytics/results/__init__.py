"""The folder of results: written privately, by one run at a time, each file whole or absent; read back; exported.

Public modules, each with more than is named here: `analysis` (the list of the tables of a run, `Analysis`), `tables`
(what makes them), `codebook_table`, `frames` (other forms of tables), `exports`, `references` (profiles and kappas to
hold sessions against). Inside, `writing` and `folder` write, and `reading` reads back.
"""

from __future__ import annotations

from therapy_analytics.results.folder import FOLDERS, PAGE, Folder, opened
from therapy_analytics.results.reading import (
    Form,
    form_of,
    joined_wide,
    load,
    read_csv,
    read_recipe,
    read_sessions,
    read_table,
    read_wide_turns,
    wide,
)
from therapy_analytics.results.writing import (
    DATASETS,
    DONE,
    PROBLEMS,
    RECORDS,
    SESSIONS,
    Draw,
    Record,
    as_csv,
    data_file,
    hash_of_all,
    hash_of_file,
    joined_rows,
    library,
    problems_table,
    read_record,
    record_file,
    records_at,
    session_is_whole,
    session_texts,
    write_csv,
    write_data_files,
    write_figures_again,
    write_joined,
    write_not_drawn,
    write_session,
)

__all__ = [
    "DATASETS", "DONE", "FOLDERS", "PAGE", "PROBLEMS", "RECORDS", "SESSIONS", "Draw", "Folder", "Form", "Record",
    "as_csv", "data_file", "form_of", "hash_of_all", "hash_of_file", "joined_rows", "joined_wide", "library", "load",
    "opened", "problems_table", "read_csv", "read_recipe", "read_record", "read_sessions", "read_table",
    "read_wide_turns", "record_file", "records_at", "session_is_whole", "session_texts", "wide", "write_csv",
    "write_data_files", "write_figures_again", "write_joined", "write_not_drawn", "write_session",
]  # fmt: skip
