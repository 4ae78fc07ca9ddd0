"""Files in which nobody is named: captions, segments of a recogniser, tables and lines of words alone."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from therapy_analytics.readers._captions import plain, without_repeats
from therapy_analytics.readers._files import choose_reader
from therapy_analytics.readers._stamps import STAMP, times_of
from therapy_analytics.readers._times import seconds
from therapy_analytics.readers.base import RawSession, Row, Source
from therapy_analytics.readers.webvtt import caption_cues

PLACEHOLDER = "Speaker"
"""The label that stands in for the missing one while a file is read."""
_STAMPED = re.compile(rf"[ \t]*(?P<stamp>{STAMP})(?:(?<=[\])>}}#])|(?![\w.,\])]))[ \t:]*(?P<words>.*)")
_SPAN = re.compile(r"[ \t]*(?P<start>\d{1,7}\.\d+)\t(?P<end>\d{1,7}\.\d+)\t(?P<words>.*)")
"""A line of labels as sound editors write them: two times in seconds and words, parted by tabs."""
_WORDS = ("text", "transcript", "content", "utterance", "sentence")
_WHO = ("speaker", "speaker_label", "speaker_id", "speaker_tag", "role", "who", "name", "participant", "author")
_DELIMITERS = "\t,;|"
_DEEPEST = 12


def unnamed_sessions(source: Source) -> list[RawSession] | None:
    """Return what a text holds if nobody is named in it, a row an utterance; None where it is no such text."""
    head = source.head.lstrip("\ufeff \n")
    if head.startswith(("{", "[{", "[\n", "[ ")):
        return _by_reader(source, _json_with_label(source.text))
    if cues := list(caption_cues(source.lines)):
        rows = [
            Row("", plain("\n".join(cue.lines)).strip(), cue.place, cue.start_s, cue.end_s)
            for cue in without_repeats(cues)[0]
        ]
        return [RawSession("", rows)]
    if table := _table_with_label(source.text, source.options.columns.get("text", "")):
        return _by_reader(source, table, suffix=".csv")
    if source.path.suffix.lower() in {".csv", ".tsv"} or head.startswith("<"):
        return None
    return [RawSession("", list(_lines(source)))]


def _by_reader(source: Source, text: str | None, suffix: str = "") -> list[RawSession] | None:
    """Read a text in which every utterance has the placeholder for a label now."""
    if text is None:
        return None
    path = source.path.with_suffix(suffix) if suffix else source.path
    given = replace(source, text=text, path=path)
    return list(choose_reader(given).read(given))


def _lines(source: Source) -> Iterator[Row]:
    """Yield a row a line, with the times before it."""
    for place, line in enumerate(source.lines, start=1):
        if span := _SPAN.fullmatch(line):
            yield Row("", span["words"], place, seconds(span["start"]), seconds(span["end"]))
        elif stamped := _STAMPED.fullmatch(line):
            times = times_of(stamped["stamp"])
            yield Row("", stamped["words"].strip(), place, times.start_s, times.end_s)
        elif any(map(str.isalnum, line)):
            yield Row("", line.strip("\ufeff \t"), place)


def _json_with_label(text: str) -> str | None:
    """Return a JSON text in which each utterance of a list has a label; None where there is none without."""
    try:
        value = json.loads(text.lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None
    return json.dumps(value) if _label(value, 0) else None


def _label(value: Any, depth: int) -> int:
    """Label the utterances of lists, and count them."""
    if depth > _DEEPEST:
        return 0
    if isinstance(value, dict):
        return sum(_label(one, depth + 1) for one in value.values())
    if not isinstance(value, list):
        return 0
    spoken = [one for one in value if isinstance(one, dict) and any(isinstance(one.get(name), str) for name in _WORDS)]
    if not spoken or any(one.get(name) for one in spoken for name in _WHO):
        return sum(_label(one, depth + 1) for one in value)
    for one in spoken:
        for name in (*_WHO, "words"):
            one.pop(name, None)
        one["speaker"] = PLACEHOLDER
    return len(spoken)


def _table_with_label(text: str, named: str) -> str | None:
    """Return a table of words, in a known column or the one `named`, with a column of labels; None for other texts."""
    text = text.lstrip("\ufeff")
    first = text.partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    cells = {cell.strip(' "\r').casefold() for cell in first.split(delimiter)}
    if not cells & {*_WORDS, named.strip().casefold()} - {""} or cells & set(_WHO):
        return None
    out = io.StringIO()
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        csv.writer(out, lineterminator="\n").writerows(
            [("speaker" if at == 0 else PLACEHOLDER), *row] for at, row in enumerate(filter(None, rows))
        )
    except csv.Error:
        return None
    return out.getvalue()
