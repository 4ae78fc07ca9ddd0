"""Utterances of files in which nobody is named: captions, segments of a recogniser, tables and lines of words alone."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from therapy_analytics.errors import UnreadableFileError
from therapy_analytics.readers import RawSession, ReadOptions, Row, Source
from therapy_analytics.readers._base import BINARY, load_source
from therapy_analytics.readers._build import safe_id
from therapy_analytics.readers._captions import plain, without_repeats
from therapy_analytics.readers._files import choose_reader
from therapy_analytics.readers._marks import split_marks
from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.readers._times import seconds
from therapy_analytics.readers.webvtt import caption_cues
from therapy_analytics.session import Session, Turn

NOBODY = "Speaker"
"""The label that stands in for the one that is missing while a file is read."""
_STAMP = re.compile(
    r"\s*[\[(]?(?P<start>(?:\d{1,3}:)?\d{1,3}:\d{2}(?:[.,]\d{1,3})?)(?:\s*(?:-->|-|\u2013)\s*"
    r"(?P<end>(?:\d{1,3}:)?\d{1,3}:\d{2}(?:[.,]\d{1,3})?))?[\])]?(?:\s+|\Z)"
)
_WORDS = ("text", "transcript", "content", "utterance", "sentence")
_WHO = ("speaker", "speaker_label", "speaker_id", "speaker_tag", "role", "who", "name", "participant", "author")
_DELIMITERS = "\t,;|"
_DEEPEST = 12


def utterances_of(path: Path, options: ReadOptions) -> list[Session | None]:
    """Return the sessions of a file, a turn an utterance; None in place of one that has speakers.

    Raises
    ------
    UnreadableFileError
        There is no way to read it, with or without speakers.
    """
    source = load_source(path, options)
    raws = list(_raw(source))
    names = [raw.name for raw in raws]
    return [
        _session(raw, source, safe_id(name) if name.strip() else safe_id(source.path.stem))
        if _is_anonymous(raw)
        else None
        for raw, name in zip(raws, names, strict=True)
    ]


def _raw(source: Source) -> Iterator[RawSession]:
    """Yield what the file's reader finds; where it finds no speakers, what is there without them."""
    try:
        yield from list(choose_reader(source).read(source))
    except UnreadableFileError as refusal:
        if source.encoding == BINARY:
            raise
        rows = _rows(source)
        if rows is None:
            raise refusal from None
        yield from rows


def _is_anonymous(raw: RawSession) -> bool:
    """Tell whether all rows have one label, or none, that says nobody's role."""
    labels = {row.speaker.strip().casefold() for row in raw.rows if row.text.strip()}
    return len(labels) <= 1 and not any(map(role_of_label, labels)) and not any(row.role for row in raw.rows)


def _session(raw: RawSession, source: Source, identity: str) -> Session:
    turns: list[Turn] = []
    for row in raw.rows:
        text, marks = split_marks(row.text)
        if text:
            turns.append(
                Turn(
                    index=len(turns), speaker="", role="other", text=text, first_row=row.place, start_s=row.start_s,
                    end_s=row.end_s, marks=marks, gold=row.gold,
                )
            )  # fmt: skip
    metadata = {str(name): str(value) for name, value in raw.metadata.items()}
    return Session(id=identity, source_file=str(source.path), turns=tuple(turns), metadata=metadata, notes=raw.notes)


def _rows(source: Source) -> list[RawSession] | None:
    """Return the rows of a text without speakers, or None where there is none."""
    head = source.head.lstrip("\ufeff \n")
    if head.startswith(("{", "[{", "[\n", "[ ")):
        return _by_reader(source, _json_with_label(source.text))
    if cues := list(caption_cues(source.lines)):
        rows = [
            Row("", " ".join(map(plain, cue.lines)).strip(), cue.place, cue.start_s, cue.end_s)
            for cue in without_repeats(cues)[0]
        ]
        return [RawSession("", rows)]
    if table := _table_with_label(source.text, source.options.columns.get("text", "")):
        return _by_reader(source, table, suffix=".csv")
    if source.path.suffix.lower() in {".csv", ".tsv"} or head.startswith("<"):
        return None
    return [RawSession("", list(_lines(source)))]


def _by_reader(source: Source, text: str | None, suffix: str = "") -> list[RawSession] | None:
    """Read a text in which every utterance has one label now."""
    if text is None:
        return None
    path = source.path.with_suffix(suffix) if suffix else source.path
    given = replace(source, text=text, path=path)
    return list(choose_reader(given).read(given))


def _lines(source: Source) -> Iterator[Row]:
    """Yield a row a line, with the times before it."""
    for place, line in enumerate(source.lines, start=1):
        stamp = _STAMP.match(line)
        words = line[stamp.end() :].strip() if stamp else line.strip("\ufeff \t")
        if any(map(str.isalnum, words)):
            start, end = (seconds(stamp[name]) if stamp and stamp[name] else None for name in ("start", "end"))
            yield Row("", words, place, start, end)


def _json_with_label(text: str) -> str | None:
    """Return a JSON text in which each utterance of a list has a label; None where there is none without."""
    try:
        value = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None
    return json.dumps(value) if _label(value, 0) else None


def _label(value: Any, depth: int) -> int:
    """Give the label to the utterances of lists, and count them."""
    if depth > _DEEPEST:
        return 0
    if isinstance(value, dict):
        return sum(_label(one, depth + 1) for one in value.values())
    if not isinstance(value, list):
        return 0
    said = [one for one in value if isinstance(one, dict) and any(isinstance(one.get(name), str) for name in _WORDS)]
    if not said or any(one.get(name) for one in said for name in _WHO):
        return sum(_label(one, depth + 1) for one in value)
    for one in said:
        for name in _WHO:
            one.pop(name, None)
        one.pop("words", None)
        one["speaker"] = NOBODY
    return len(said)


def _table_with_label(text: str, named: str) -> str | None:
    """Return a table of words without speakers, in a known column or one named so, with a column of them, or None."""
    first = text.lstrip("\ufeff").partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    cells = [cell.strip(' "\r').casefold() for cell in first.split(delimiter)]
    if not set(cells) & {*_WORDS, named.strip().casefold()} - {""} or set(cells) & set(_WHO):
        return None
    rows = csv.reader(io.StringIO(text.lstrip("\ufeff"), newline=""), delimiter=delimiter)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    try:
        writer.writerows([("speaker" if at == 0 else NOBODY), *row] for at, row in enumerate(filter(None, rows)))
    except csv.Error:
        return None
    return out.getvalue()
