"""Tables of a document: which column says who speaks, which holds the words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from therapy_analytics.core.printable import counted
from therapy_analytics.core.session import Role
from therapy_analytics.readers._columns import find_columns, names_remarks, slug
from therapy_analytics.readers._contents import GOLD, holds_codes
from therapy_analytics.readers._label_forms import Line, has_both_roles
from therapy_analytics.readers._labelled_lines import Labelled, labelled_rows
from therapy_analytics.readers._labels import speakers
from therapy_analytics.readers._stamps import STAMP, Times, from_the_first, times_of
from therapy_analytics.readers._times import seconds
from therapy_analytics.readers._word_blocks import TableRow
from therapy_analytics.readers.base import Row
from therapy_analytics.readers.roles import role_of_label

_MOST = 0.8
_LONGEST_LABEL = 60
_FEW_WORDS = 6
_FEWEST_WORDS = 2
_ELLIPSES = ". \t\n\u2026"
_LETTERS = re.compile(r"[^\W\d_]{2}")
_LASTS = frozenset({"dur", "duration"})
_REPEATED = "that count or repeat what is said"
_STAMP = re.compile(STAMP)


@dataclass(frozen=True, slots=True)
class Tabled:
    """The rows that tables hold, and notes on them."""

    rows: list[Row] = field(repr=False)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _TableColumns:
    """Where in a row each thing stands; without a column of speakers, `words` has a column for each of them."""

    width: int
    words: Mapping[int, str]
    speaker: int | None = None
    start: int | None = None
    end: int | None = None
    lasts: int | None = None
    role: int | None = None
    gold: Mapping[int, str] = field(default_factory=dict)
    n_header: int = 0


def table_rows(rows: Sequence[TableRow], wanted: Mapping[str, str] | None = None) -> Tabled | None:
    """Return what is said in the tables of a document.

    Parameters
    ----------
    rows : sequence of TableRow
        Of all tables, in order. One that holds no labels is left out, and so is a short one of
        facts before the transcript.
    wanted : mapping of str to str, optional
        What the user calls the columns; tables without them are then left out.

    Returns
    -------
    Tabled or None
        None where no table holds labels and words.
    """
    tables = [list(group) for _, group in groupby(rows, key=lambda row: row.table)]
    read: list[list[Row]] = []
    last: _TableColumns | None = None
    for table in tables:
        inside = [] if wanted else _labelled_column(table, both_roles=True)
        layout = None if inside else _layout(table, wanted or {}) or _same_width(table, last)
        read.append(list(_rows(table, layout)) if layout else inside or ([] if wanted else _labelled_column(table)))
        last = layout or last
    if read and _is_about_the_session(read[0], max(map(len, read))):
        read[0] = []
    main = max(range(len(read)), key=lambda at: _n_words(read[at]), default=0)
    about = [
        at != main and _tells_of_the_talk(read[at], read[main], tables[at], tables[main]) for at in range(len(read))
    ]
    talk = [[] if tells else part for part, tells in zip(read, about, strict=True)]
    found, by_day = from_the_first([row for part in talk for row in part], by_day=False)
    spoken = {row.place for part in talk for row in part}
    unread = [
        row for table, part, tells in zip(tables, talk, about, strict=True) if not tells for row in table[bool(part) :]
    ]
    notes = [
        *_left_out([row for table, tells in zip(tables, about, strict=True) if tells for row in table], _REPEATED),
        *_left_out([row for row in unread if row.place not in spoken], "without a speaker"),
    ]
    notes += ["Times of day were counted from the first of them."] if by_day else []
    return Tabled(found, tuple(notes)) if found else None


def _same_width(table: Sequence[TableRow], last: _TableColumns | None) -> _TableColumns | None:
    """Return the layout of the table before, which may go on in this one."""
    return replace(last, n_header=0) if last and last.width == len(table[0].cells) else None


def _left_out(rows: Sequence[TableRow], which: str) -> Iterator[str]:
    n_words = sum(len(cell.split()) for row in rows for cell in row.cells)
    if n_words:
        yield f"{counted(len(rows), 'table row')} {which} ({counted(n_words, 'word')}) left out."


def _n_words(rows: Sequence[Row]) -> int:
    return sum(len(row.text.split()) for row in rows)


def _tells_of_the_talk(
    rows: Sequence[Row], talk: Sequence[Row], table: Sequence[TableRow], main: Sequence[TableRow]
) -> bool:
    """Tell a table of numbers for each speaker, or of quotations, from a continuation of the talk."""
    if not rows:
        return False
    spoken = " ".join(row.text for row in talk)
    texts = [row.text.strip(_ELLIPSES) for row in rows if row.text.strip(_ELLIPSES)]
    lettered = sum(bool(_LETTERS.search(text)) for text in texts)
    return 2 * lettered < len(texts) or (
        len(table[0].cells) != len(main[0].cells) and all(text in spoken for text in texts)
    )


def _is_about_the_session(rows: Sequence[Row], longest: int) -> bool:
    """Tell a table of facts (client, counselor, date): no label twice, few words, before a longer table."""
    all_differ = len({row.speaker for row in rows}) == len(rows)
    return all_differ and longest >= 3 * len(rows) and all(len(row.text.split()) <= _FEW_WORDS for row in rows)


def _layout(table: Sequence[TableRow], wanted: Mapping[str, str]) -> _TableColumns | None:
    header = table[0].cells
    if wanted:
        return _by_header(table, wanted)
    roles = {at: role_of_label(cell) for at, cell in enumerate(header) if len(cell) <= _LONGEST_LABEL}
    if {"therapist", "client"} <= set(roles.values()) and len(table) > 1:
        by_speaker = {at: header[at] for at, role in roles.items() if role}
        return _TableColumns(width=len(header), words=by_speaker, start=find_columns(header, {})["start"], n_header=1)
    return _by_header(table, {}) or _by_content(table)


def _by_header(table: Sequence[TableRow], wanted: Mapping[str, str]) -> _TableColumns | None:
    header = table[0].cells
    known = find_columns(header, wanted)
    if any(known[kind] is None for kind in wanted):
        return None
    words, speaker = known["text"], known["speaker"]
    if words is None and speaker is not None and _comes_again(_column(table, speaker)[1:]):
        words = _longest(table, {*known.values()})
    if words is None or speaker is None:
        return None
    slugs = [slug(name) for name in header]
    role = slugs.index("role") if "role" in slugs and slugs.index("role") != speaker else None
    start = known["start"]
    if start is None:
        start = next(
            (at for at in range(len(header)) if at not in {words, speaker} and _holds_times(_column(table, at))), None
        )
    lasts = next((at for at, name in enumerate(slugs) if name in _LASTS), None)
    used = {*known.values(), words, role, start, lasts}
    left = [at for at in range(len(header)) if at not in used and holds_codes(header[at], _column(table, at)[1:])]
    gold = {at: header[at].strip().removeprefix(GOLD) if header[at].startswith(GOLD) else slugs[at] for at in left}
    return _TableColumns(
        width=len(header),
        words={words: ""},
        speaker=speaker,
        start=start,
        end=known["end"],
        lasts=lasts,
        role=role,
        gold=gold,
        n_header=1,
    )


def _comes_again(labels: Sequence[str]) -> bool:
    """Tell a column of speakers from a list of people, each of whom stands in it one time."""
    filled = [_key(label) for label in labels if label.strip()]
    return 2 * len(set(filled)) <= len(filled) + 1


def _longest(table: Sequence[TableRow], known: set[int | None]) -> int | None:
    """Return the column with most words of those without a known name, comments last; None where it has few words."""
    others = [at for at in range(len(table[0].cells)) if at not in known and table[0].cells[at].strip()]
    n_words = {at: sum(len(cell.split()) for cell in _column(table, at)[1:]) for at in others}
    spoken = [at for at in others if n_words[at] >= _FEWEST_WORDS * (len(table) - 1) > 0]
    return max(spoken, key=lambda at: (not names_remarks(table[0].cells[at]), n_words[at]), default=None)


def _by_content(table: Sequence[TableRow]) -> _TableColumns | None:
    """Find the columns of labels and of times by what they hold; of the others the longest holds the words."""
    width = max(len(row.cells) for row in table)
    columns = [_column(table, at) for at in range(width)]
    labels = [_labels(column) for column in columns]
    best = max(range(width), key=lambda at: bool(labels[at]) and _share(columns[at], labels[at]))
    if not labels[best]:
        return None
    others = [at for at in range(width) if at != best]
    start = next((at for at in others if _holds_times(columns[at])), None)
    words = max((at for at in others if at != start), key=lambda at: sum(map(len, columns[at])), default=None)
    if words is None:
        return None
    n_header = int(bool(columns[best][0]) and _key(columns[best][0]) not in labels[best])
    return _TableColumns(width=width, words={words: ""}, speaker=best, start=start, n_header=n_header)


def _labels(column: Sequence[str]) -> frozenset[str]:
    """Return the labels of a column of speakers; none where too few of its cells are labels."""
    keys = [_key(cell) for cell in column if cell]
    if any(len(key) > _LONGEST_LABEL or set(key) & set(":\uff1a") for key in keys):
        return frozenset()
    labels = speakers([key for key in keys if re.search(r"[^\W\d_]", key)])
    return labels if len(labels) > 1 and _share(column, labels) >= _MOST else frozenset()


def _share(column: Sequence[str], labels: frozenset[str]) -> float:
    filled = [_key(cell) for cell in column[1:] if cell] or [_key(column[0])]  # the first may be a header
    return sum(key in labels for key in filled) / len(filled)


def _holds_times(column: Sequence[str]) -> bool:
    filled = [cell for cell in column[1:] if cell]
    return bool(filled) and sum(bool(_STAMP.fullmatch(cell)) for cell in filled) >= _MOST * len(filled)


def _rows(table: Sequence[TableRow], layout: _TableColumns) -> Iterator[Row]:
    """Yield the rows of a table; one without a label is of the speaker above it."""
    speaker = ""
    for row in table[layout.n_header :]:
        cells = dict(enumerate(row.cells))
        label, stamp = _apart(cells.get(layout.speaker, "")) if layout.speaker is not None else ("", Times())
        # as in other tables, a role of its own tells a row of nobody's from one of the speaker above
        speaker = label if label or (layout.role is not None and cells.get(layout.role, "").strip()) else speaker
        times = _times(cells, layout) or stamp
        gold = {name: cells[at] for at, name in layout.gold.items() if cells.get(at)}
        for at, who in layout.words.items():
            if cells.get(at, "").strip() or (label and not who):
                words = cells.get(at, "")
                yield Row(who or speaker, words, row.place, times.start_s, times.end_s, _role(cells, layout), gold)


def _role(cells: Mapping[int, str], layout: _TableColumns) -> Role | None:
    return role_of_label(cells.get(layout.role, "")) if layout.role is not None else None


def _times(cells: Mapping[int, str], layout: _TableColumns) -> Times:
    start, end = (times_of(cells.get(at, "")) if at is not None else Times() for at in (layout.start, layout.end))
    ends = end.start_s if end else start.end_s
    lasts = seconds(cells.get(layout.lasts, "")) if layout.lasts is not None else None
    if ends is None and lasts is not None and start.start_s is not None:
        ends = round(start.start_s + lasts, 6)
    return start._replace(end_s=ends)


def _apart(cell: str) -> tuple[str, Times]:
    """Return the label of a cell and the time that may stand beside it."""
    stamp = _STAMP.search(cell)
    label = cell[: stamp.start()] + cell[stamp.end() :] if stamp else cell
    return " ".join(label.split()).strip(" :\uff1a*_"), times_of(stamp[0]) if stamp else Times()


def _key(cell: str) -> str:
    return _apart(cell)[0].casefold()


def _column(table: Sequence[TableRow], at: int) -> list[str]:
    return [row.cells[at] if at < len(row.cells) else "" for row in table]


def _labelled_column(table: Sequence[TableRow], *, both_roles: bool = False) -> list[Row]:
    """Read the longest column as labelled lines, as in a table that only numbers or codes the turns."""
    columns = [_column(table, at) for at in range(max(len(row.cells) for row in table))]
    longest = max(columns, key=lambda column: sum(map(len, column)))
    places = [(row, line) for row, text in zip(table, longest, strict=True) for line in text.split("\n")]
    found = labelled_rows([Line(row.place, line, line) for row, line in places])
    if found is None or len(found.labels) < 2 or (both_roles and not _is_talk_of_both(found)):
        return []
    stamps = next((column for column in columns if _holds_times(column)), [])
    times = {row.place: times_of(cell) for row, cell in zip(table, stamps, strict=False) if _STAMP.fullmatch(cell)}
    return [_timed(row, times.get(row.place, Times())) for row in found.rows]


def _is_talk_of_both(found: Labelled) -> bool:
    """Tell words with labels from a column that holds labels and nothing else."""
    return has_both_roles(found.labels) and sum(bool(row.text.strip()) for row in found.rows) >= _MOST * len(found.rows)


def _timed(row: Row, times: Times) -> Row:
    return row if row.start_s is not None else replace(row, start_s=times.start_s, end_s=times.end_s)
