"""Readers: a file in, its sessions out.

How to add a format:

1. Write one file here. Its function takes a `Source` and yields a `RawSession` for each
   session: rows of who said what, in the order of the file, with the place of each row.
2. Decorate it with ``@reader(name, suffixes=..., sniff=...)``. ``sniff`` says from the head
   of a file how sure the reader is that the file is its own: 1 certain (a magic word), about
   0.5 plausible (the shape), 0 no; where files of the format begin in a way of their own,
   ``sniff=begins(pattern)`` says so. The surest reader gets the file, a known suffix breaks a
   tie, and a tie that remains is an error that names both. No reader knows another.
3. Put a sample that you wrote yourself into ``sample_transcripts/``. The contract tests find
   the reader and the sample by themselves.

Merging rows into turns, roles, ids and metadata are common to all formats: a reader does
none of that.
"""

from therapy_analytics.readers._beside import usable_name
from therapy_analytics.readers._files import choose_reader, find_files
from therapy_analytics.readers._limits import whole_file
from therapy_analytics.readers._metadata import plain_name
from therapy_analytics.readers._objects import as_sessions
from therapy_analytics.readers._other_programs import other_program
from therapy_analytics.readers._reading import FileReading, Inspection, inspect, read, read_files
from therapy_analytics.readers._unnamed import unnamed_sessions
from therapy_analytics.readers._zip import bounded_zip
from therapy_analytics.readers.account import Account, Remark, TablesWarning
from therapy_analytics.readers.base import RawSession, Reader, ReadOptions, Row, Source, begins, reader
from therapy_analytics.readers.marks import join_marks

__all__ = [
    "Account",
    "FileReading",
    "Inspection",
    "RawSession",
    "ReadOptions",
    "Reader",
    "Remark",
    "Row",
    "Source",
    "TablesWarning",
    "as_sessions",
    "begins",
    "bounded_zip",
    "choose_reader",
    "find_files",
    "inspect",
    "join_marks",
    "other_program",
    "plain_name",
    "read",
    "read_files",
    "reader",
    "unnamed_sessions",
    "usable_name",
    "whole_file",
]
