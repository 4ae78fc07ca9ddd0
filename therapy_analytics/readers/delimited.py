"""Tables of turns (CSV, TSV): one session in a file or many, columns found by name."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from therapy_analytics.readers._base import RawSession, Row, Source, reader
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._times import seconds

NAMES: Mapping[str, tuple[str, ...]] = {
    "text": (
        "text", "utterance_text", "vol_text", "utt_text", "turn_text", "utterance", "content", "message",
        "sentence", "speech", "transcript", "transcription", "dialogue", "words", "value", "body",
    ),
    "speaker": (
        "speaker", "interlocutor", "speaker_role", "role", "speaker_label", "speaker_id", "speaker_name", "from",
        "sender", "author", "participant", "who", "party", "name", "type",
    ),
    "session": (
        "session_id", "session", "conv_id", "conversation_id", "conversation", "transcript_id", "dialog_id",
        "dialogue_id", "interview_id", "call_id", "case_id", "video_title", "video_id", "file_name", "filename",
        "file",
    ),
    "start": ("start_s", "start", "start_time", "timestamp", "time", "begin", "onset", "start_timestamp"),
    "end": ("end_s", "end", "end_time", "stop", "offset", "end_timestamp"),
    "utterance": ("utterance_id", "utt_id", "conv_utt_idx", "utterance_index", "turn_id", "turn", "conv_vol_idx"),
    "annotator": ("annotator_id", "annotator", "coder_id", "coder", "rater_id", "rater"),
}  # fmt: skip
_DELIMITERS = ",\t;|"
_LONGEST_METADATA = 40
_END = "end of the table"


@dataclass(frozen=True, slots=True)
class Columns:
    """Where in a record each thing stands; None where the table does not have it."""

    text: int
    speaker: int
    session: int | None
    start: int | None
    end: int | None
    utterance: int | None
    annotator: int | None


def sniff(source: Source) -> float:
    """Be sure of a first line that names a column of words and one of speakers."""
    header = _header(source.head, _delimiter(source.head))
    known = _find(header, {})
    if known["text"] is not None and known["speaker"] is not None:
        return 0.9
    return 0.6 if source.path.suffix.lower() in {".csv", ".tsv"} else 0.0


@reader("delimited", suffixes=(".csv", ".tsv"), sniff=sniff)
def read_delimited(source: Source) -> Iterator[RawSession]:
    """CSV or TSV with a row an utterance; columns are found by their names."""
    delimiter = _delimiter(source.head)
    header = _header(source.text, delimiter)
    columns = _columns(source, header)
    records, notes = _whole_records(source, columns, delimiter, len(header))
    if not records:
        raise source.error("the table has a header and no rows", "It should hold a row for each utterance")
    if columns.session is None:
        yield _session("", records, columns, notes=notes)
        return
    sessions: dict[str, list[tuple[int, list[str]]]] = {}
    for place, record in records:
        sessions.setdefault(record[columns.session].strip(), []).append((place, record))
    about = _constant_columns(sessions, header, columns)
    for name, rows in sessions.items():
        metadata = {key: rows[0][1][at].strip() for key, at in about.items()}
        yield _session(name, rows, columns, metadata, notes)


def _delimiter(text: str) -> str:
    """Take the delimiter that splits the first line into the most known columns, then the most."""

    def worth(delimiter: str) -> tuple[int, int]:
        header = _header(text, delimiter)
        return sum(at is not None for at in _find(header, {}).values()), len(header)

    return max(_DELIMITERS, key=worth)


def _header(text: str, delimiter: str) -> list[str]:
    _allow_long_cells()
    try:
        return next(csv.reader(io.StringIO(text.lstrip("\ufeff"), newline=""), delimiter=delimiter), [])
    except csv.Error:
        return []


def _allow_long_cells() -> None:
    csv.field_size_limit(2**31 - 1)


def _slug(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def _find(header: Sequence[str], wanted: Mapping[str, str]) -> dict[str, int | None]:
    """Position of each known kind of column: as the user says, else the first known name."""
    slugs = [_slug(name) for name in header]
    found: dict[str, int | None] = {}
    for kind, names in NAMES.items():
        candidates = (_slug(wanted[kind]),) if kind in wanted else names
        found[kind] = next((slugs.index(name) for name in candidates if name in slugs), None)
    return found


def _columns(source: Source, header: Sequence[str]) -> Columns:
    found = _find(header, source.options.columns)
    for kind in source.options.columns:
        if found.get(kind) is None:
            raise source.error(
                f"the column named by --columns {kind}=... is not in the table (it has {len(header)} columns)",
                "Check its spelling against the first line of the file",
                line=1,
            )
    for kind in ("text", "speaker"):
        if found[kind] is None:
            known = ", ".join(NAMES[kind][:6])
            what = "what is said" if kind == "text" else "who speaks"
            raise source.error(
                f"no column is known to hold {what} (the table has {len(header)} columns)",
                f"Name it {known} ..., or say which it is with --columns {kind}=NAME",
                line=1,
            )
    return Columns(**found)  # type: ignore[arg-type]  # text and speaker were just checked


def _whole_records(
    source: Source, columns: Columns, delimiter: str, width: int
) -> tuple[list[tuple[int, list[str]]], tuple[str, ...]]:
    """Return the data rows with their number from 1, each as wide as the header, and what to know of them.

    Cells beyond the header are delimiters in words that nobody quoted, where the words stand last.
    """
    records: list[tuple[int, list[str]]] = []
    too_long = 0
    for place, record in enumerate(_records(source, delimiter), start=1):
        extra = any(cell.strip() for cell in record[width:])
        if not any(map(str.strip, record)):
            continue
        too_long += extra
        if extra and columns.text == width - 1:
            record[width - 1 :] = [delimiter.join(record[width - 1 :])]
        records.append((place, record[:width] + [""] * (width - len(record))))
    what = "are taken as words" if columns.text == width - 1 else "were left out"
    note = f"{counted(too_long, 'row')} of the file with more cells than the header; those {what}."
    return records, (note,) if too_long else ()


def _records(source: Source, delimiter: str) -> Iterator[list[str]]:
    """Yield the rows after the header; a line put after the last one shows whether a quotation is left open."""
    text = source.text.lstrip("\ufeff").replace("\0", "").rstrip("\n")
    rows = csv.reader(io.StringIO(f"{text}\n{_END}", newline=""), delimiter=delimiter)
    begin = 1
    for number, record in enumerate(rows):
        if record == [_END]:
            return
        if record and record[-1].endswith(f"\n{_END}"):
            break
        if record and number:
            yield record
        begin = rows.line_num + 1
    raise source.error(
        "a quotation mark that opens a cell in this row is never closed, or the file breaks off",
        "Close it, or save the table again as CSV (UTF-8)",
        line=begin,
    )


def _session(
    name: str,
    records: list[tuple[int, list[str]]],
    columns: Columns,
    metadata: Mapping[str, str] | None = None,
    notes: tuple[str, ...] = (),
) -> RawSession:
    kept = _once(records, columns)
    repeats = len(records) - len(kept)
    if columns.utterance is not None and not _in_order([record[columns.utterance] for _, record in kept]):
        notes = (*notes, "The rows are not in the order of their utterance numbers; they were read as they stand.")
    if repeats:
        notes = (*notes, f"{counted(repeats, 'row')} that repeat an utterance for another coder left out.")
    return RawSession(name, [_row(place, record, columns) for place, record in kept], metadata or {}, notes)


def _in_order(numbers: list[str]) -> bool:
    """Tell whether the utterances stand in order, as far as they are numbered."""
    known = [float(number) for number in numbers if number.strip().isdecimal()]
    return all(one <= two for one, two in pairwise(known))


def _row(place: int, record: list[str], columns: Columns) -> Row:
    start = None if columns.start is None else seconds(record[columns.start])
    end = None if columns.end is None else seconds(record[columns.end])
    return Row(record[columns.speaker], record[columns.text], place, start, end)


def _once(records: list[tuple[int, list[str]]], columns: Columns) -> list[tuple[int, list[str]]]:
    """Keep the first of the rows that repeat an utterance for several annotators.

    A repeat has the words and speaker of an earlier row, its utterance number (or, where the
    table has none, the row just before), and another annotator.
    """
    if columns.annotator is None:
        return records
    kept: list[tuple[int, list[str]]] = []
    first_coder: dict[tuple[str, ...], str] = {}
    for place, record in records:
        key: tuple[str, ...] = (record[columns.speaker], record[columns.text])
        if columns.utterance is not None:
            key = (*key, record[columns.utterance])
        elif kept and key != (kept[-1][1][columns.speaker], kept[-1][1][columns.text]):
            first_coder.clear()
        coder = record[columns.annotator]
        if first_coder.setdefault(key, coder) == coder:
            kept.append((place, record))
    return kept


def _constant_columns(
    sessions: Mapping[str, list[tuple[int, list[str]]]], header: Sequence[str], columns: Columns
) -> dict[str, int]:
    """Columns that say one short thing of each session as a whole, such as a topic."""
    used = {columns.text, columns.speaker, columns.session, columns.start, columns.end}
    used |= {columns.utterance, columns.annotator}
    if all(len(rows) < 2 for rows in sessions.values()):
        return {}
    return {
        _slug(name): at
        for at, name in enumerate(header)
        if at not in used and _slug(name) and all(_one_short_value(rows, at) for rows in sessions.values())
    }


def _one_short_value(rows: list[tuple[int, list[str]]], at: int) -> bool:
    values = {record[at] for _, record in rows}
    return len(values) == 1 and len(next(iter(values))) <= _LONGEST_METADATA
