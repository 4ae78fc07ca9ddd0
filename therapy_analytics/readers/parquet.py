"""Parquet tables, as data sets of language models come; read with pyarrow, which is optional.

A large file is cut into parts. Sessions are not cut in two, and the columns of which all rows decide what they are
(codes, facts about a session, roles) are looked through once, each only for as long as it can still be one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from therapy_analytics import arrow
from therapy_analytics.errors import BadOptionError, UnreadableFileError
from therapy_analytics.readers._addresses import is_address, open_binary
from therapy_analytics.readers._base import Layout, Part, RawSession, Source, reader
from therapy_analytics.readers._columns import Record, may_be_fact, names_fact, slug
from therapy_analytics.readers._limits import LARGEST_FILE, refuse_large
from therapy_analytics.readers._long import GOLD, has_codes, is_small_number, may_be_codes, people_columns
from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.readers._table import (
    Table,
    beside_times,
    cell_text,
    filled,
    find,
    may_hold_roles,
    names_beside_roles,
    read_table,
)
from therapy_analytics.readers._text_heads import are_clinical_notes
from therapy_analytics.readers._wide import layout_of
from therapy_analytics.readers._wide_rows import Grid

_MAGIC = b"PAR1"
_SUFFIXES = (".parquet", ".pq")
_MOST_ROWS = 5_000_000
_MOST_COLUMNS = 400
_BATCH = 4096
_FEW = 64
_MANY = 256
_LEAST = 200
"""Bytes that a row takes at least when it is read, however small the file has it."""
_AGAIN = "Write it again, or save the table as CSV (UTF-8)"


def sniff(source: Source) -> float:
    """Be certain of the four letters that the format begins with."""
    return 1.0 if source.data.startswith(_MAGIC) else 0.0


def cut(source: Source, size: int) -> Sequence[Part]:
    """Cut a file where groups of rows begin, or soon after, where the next session does."""
    with _opened(source, _pyarrow(source)) as file:
        names = [str(name) for name in file.schema_arrow.names]
        borders = list(_borders(file.metadata, size))
        if not borders or len(set(names)) < len(names) or len(names) > _MOST_COLUMNS:
            return ()
        large = _Large(
            header=names,
            n_rows=file.metadata.num_rows,
            borders=borders,
            some=filled(names, _some_rows(file)),
            file=file,
        )
        return _parts_of(source, large)


def _borders(metadata: Any, size: int) -> Iterator[int]:
    """Yield the rows before which a part can begin: small groups go together; what is read takes room for each row."""
    row = held = 0
    for at in range(metadata.num_row_groups):
        group = metadata.row_group(at)
        room = max(group.total_byte_size, _LEAST * group.num_rows)
        if held and held + room > size:
            yield row
            held = 0
        row, held = row + group.num_rows, held + room


def _some_rows(file: Any) -> list[Record]:
    """Return the first rows, and the first of the group in the middle and of the last."""
    n_groups = file.metadata.num_row_groups
    found = _head(file, list(range(n_groups)), _MANY)
    for at in sorted({n_groups // 2, n_groups - 1}):
        before = sum(file.metadata.row_group(one).num_rows for one in range(at))
        found += [(before + number, row) for number, row in _head(file, [at], _FEW) if before + number > len(found)]
    return found


def _head(file: Any, groups: list[int], n_rows: int) -> list[Record]:
    rows: list[list[str]] = []
    for batch in file.iter_batches(batch_size=_FEW, row_groups=groups):
        rows.extend(_rows(batch))
        if len(rows) >= n_rows:
            break
    return list(enumerate(rows[:n_rows], start=1))


def _cells_of_group(file: Any, names: list[str], group: int, places: Sequence[int]) -> Iterator[dict[int, list[str]]]:
    wanted = [names[at] for at in places]
    for batch in file.iter_batches(batch_size=_BATCH, row_groups=[group], columns=wanted):
        yield {at: _cells(batch.column(name)) for at, name in zip(places, wanted, strict=True)}


@reader("parquet", suffixes=_SUFFIXES, sniff=sniff, cut=cut)
def read_parquet(source: Source) -> Iterator[RawSession]:
    """Parquet with a row an utterance, an exchange or a session; lists of messages in a column are sessions."""
    pyarrow = _pyarrow(source)
    try:
        with _opened(source, pyarrow) as file:
            table = _table(source, file, pyarrow)
    except UnreadableFileError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, LookupError, TypeError, MemoryError, OverflowError) as error:
        raise source.error(f"the Parquet file is damaged or breaks off ({type(error).__name__})", _AGAIN) from None
    yield from read_table(source, table)


def _pyarrow(source: Source) -> Any:
    try:
        return arrow.pyarrow("", needed="reading Parquet")
    except BadOptionError as error:
        raise source.error(error.problem, error.remedy) from None


@contextmanager
def _opened(source: Source, pyarrow: Any) -> Iterator[Any]:
    """Open a file so that a text that comes a million times is held once; a large one stays where it is."""
    if not source.place:
        handle = pyarrow.BufferReader(source.data)
    elif is_address(source.place):
        handle = open_binary(source.place)
    else:
        handle = pyarrow.OSFile(source.place)
    with handle:
        schema = pyarrow.parquet.read_schema(handle)
        texts = [one.name for one in schema if pyarrow.types.is_string(one.type)]
        handle.seek(0)
        yield pyarrow.parquet.ParquetFile(handle, read_dictionary=texts)


def _table(source: Source, file: Any, pyarrow: Any) -> Table:
    """Return the rows of a file, or of a part of it, whose claims about its size are not believed, but counted."""
    names = [str(name) for name in file.schema_arrow.names]
    begin, end = (0, file.metadata.num_rows) if source.part is None else (source.part.begin, source.part.end)
    if end - begin > _MOST_ROWS or len(names) > _MOST_COLUMNS:
        raise source.error("the table has more than 5 million rows or 400 columns", "Split it into smaller files")
    groups, before, unpacked = _groups(file.metadata, begin, end)
    refuse_large(str(source.path), int(unpacked), LARGEST_FILE, packed=True)
    rows: list[list[str]] = []
    letters = 0
    for batch in file.iter_batches(batch_size=_rows_at_a_time(file, pyarrow), row_groups=groups):
        wanted = batch.slice(max(begin - before, 0), max(end - max(begin, before), 0))
        before += batch.num_rows
        refuse_large(str(source.path), wanted.nbytes, LARGEST_FILE, packed=True)
        new = _rows(wanted)
        letters += sum(len(cell) for row in new for cell in row)
        refuse_large(str(source.path), letters, LARGEST_FILE, packed=True)
        rows.extend(new)
        if before >= end:
            break
    return Table(names, filled(names, list(enumerate(rows, start=begin + 1))))


def _groups(metadata: Any, begin: int, end: int) -> tuple[list[int], int, float]:
    """Return the groups that hold some rows, the first row of them, and how large they say that these rows are."""
    groups: list[int] = []
    row, first, unpacked = 0, 0, 0.0
    for at in range(metadata.num_row_groups):
        group = metadata.row_group(at)
        inside = min(end, row + group.num_rows) - max(begin, row)
        if inside > 0:
            first = first if groups else row
            groups.append(at)
            unpacked += group.total_byte_size * inside / group.num_rows
        row += group.num_rows
    return groups, first, unpacked


def _rows_at_a_time(file: Any, pyarrow: Any) -> int:
    """Plain texts are held once, however often they come; where there are others, a few rows are enough."""
    types = pyarrow.types
    held_once = (types.is_dictionary, types.is_string, types.is_primitive)
    small = all(any(test(one.type) for test in held_once) for one in file.schema_arrow)
    return _BATCH if small else _FEW


def _rows(batch: Any) -> list[list[str]]:
    return list(map(list, zip(*map(_cells, batch.columns), strict=True)))


def _cells(column: Any) -> list[str]:
    if not hasattr(column, "dictionary"):
        return [cell_text(value) for value in column.to_pylist()]
    values = [cell_text(value) for value in column.dictionary.to_pylist()]
    return ["" if at is None else values[at] for at in column.indices.to_pylist()]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Large:
    """A large table: its columns, the rows before which it may be cut, from 0, some of its rows, and the open file."""

    header: list[str]
    n_rows: int
    borders: Sequence[int]
    some: list[Record] = field(repr=False)
    file: Any


def _parts_of(source: Source, table: _Large) -> list[Part]:
    """Return the parts of a table; none where its sessions cannot be told apart, or are not together."""
    some = Table(table.header, table.some)
    found = find(source, some)
    by_content = found["start"] is None and beside_times(some, found).get("start") is not None
    if by_content or are_clinical_notes(table.header, [record for _, record in table.some]):
        return []
    if found["text"] is not None and found["speaker"] is not None:
        return _of_utterances(source, table, found)
    layout = layout_of(Grid(source, table.header, table.some, found), "parquet")
    if layout is None or (layout.form == "exchanges" and found["session"] is None):
        return []
    if layout.form != "exchanges":
        return _between([0, *table.borders, table.n_rows], layout)
    at = found["session"]
    looked = None if at is None else _look(table, (at, None), ())
    return [] if looked is None else _between([0, *looked.borders, table.n_rows], layout)


def _between(borders: Iterable[int], layout: Layout) -> list[Part]:
    return [Part(begin, end, layout) for begin, end in pairwise(sorted(set(borders)))]


def _of_utterances(source: Source, table: _Large, found: Mapping[str, int | None]) -> list[Part]:
    """Return parts of whole sessions, and which columns say what; a speaker's column called type needs all rows."""
    speaker, session = found["speaker"], found["session"]
    by_user = "speaker" in source.options.columns
    if speaker is None or session is None or (slug(table.header[speaker]) == "type" and not by_user):
        return []
    if names_beside_roles(table.header, table.some, speaker, session) is not None:
        return []  # whether several people have one role is seen in all rows alone
    used = {at for at in found.values() if at is not None}
    tried = (
        _by_names(table, speaker, session, used, partner) for partner in (*people_columns(table.header, session), None)
    )
    return next(filter(None, tried), [])


def _by_names(table: _Large, speaker: int, session: int, used: set[int], partner: int | None) -> list[Part]:
    """Return parts of whole sessions that their name tells apart, or their number with who was there."""
    roles = {at: _Labels() for at in may_hold_roles(table.header, speaker)}
    others = {at: _Other(name) for at, name in enumerate(table.header) if at not in used}
    looked = _look(table, (session, partner), [*roles.items(), *others.items()])
    if looked is None:
        return []
    role = next((at for at, labels in roles.items() if labels.are_roles), None)
    rest = {at: other for at, other in others.items() if at != role}
    about = [at for at, other in rest.items() if other.is_constant and looked.has_turns]
    said = {slug(table.header[at]): at for at in about}.values()
    codes = [at for at, other in rest.items() if at not in said and other.has_codes]
    layout = Layout("parquet", "utterances", (), role, tuple(about), tuple(codes), partner)
    return _between([0, *looked.borders, table.n_rows], layout)


@dataclass(slots=True)
class _Labels:
    """A column that may say roles, as long as each of its labels does."""

    alive: bool = True
    labels: set[str] = field(default_factory=set)

    def add(self, cells: list[str], _goes_on: list[bool]) -> None:
        new = set(cells) - self.labels - {""}
        self.labels |= new
        self.alive = all(map(role_of_label, new))

    @property
    def are_roles(self) -> bool:
        return self.alive and bool(self.labels)


class _Other:
    """A column that may be a fact about the session, or codes, as long as no row says otherwise."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_constant = names_fact(name) and not name.startswith(GOLD)
        self._is_ours, self._may_be_codes = name.startswith(GOLD), bool(name.strip())
        self._last = ""
        self._values: dict[str, str] = {}
        self._n = self._n_filled = 0

    @property
    def alive(self) -> bool:
        """Whether more rows can change what is known of it."""
        return self.is_constant or (self._may_be_codes and not self._is_ours)

    def add(self, cells: list[str], goes_on: list[bool]) -> None:
        """Look at some more rows, and whether each goes on with the session of the row before."""
        if self.is_constant:
            before = [self._last, *cells[:-1]]
            same = all(one == two for one, two, on in zip(before, cells, goes_on, strict=True) if on)
            self.is_constant = same and all(map(may_be_fact, set(cells)))
            self._last = cells[-1]
        if self._may_be_codes and not self._is_ours:
            self._n += len(cells)
            self._n_filled += sum(1 for cell in cells if cell.strip())
            for cell in dict.fromkeys(cells):
                self._values.setdefault(cell.strip(), cell)
            self._may_be_codes = may_be_codes(self._values.keys() - {""})

    @property
    def has_codes(self) -> bool:
        """Whether the reader would take the whole column for codes, which it tells by as few values as say the same."""
        values = [cell for name, cell in self._values.items() if name]
        again = values[:1] if self._n_filled > len(values) else []  # what comes twice does not rise
        blank = [""] * min(self._n - len(values) - len(again), len(values))
        return self._is_ours or (self._may_be_codes and has_codes(self.name, [*values, *again, *blank]))


class _Sessions:
    """The names of sessions, row after row: where the table can be cut, and whether their rows are together."""

    def __init__(self, header: str, wanted: Iterable[int], *, with_people: bool) -> None:
        self.borders: list[int] = []
        self.has_turns = False
        self._numbers: set[str] | None = set() if with_people else None
        self._header = header.strip()
        self._wanted = list(wanted)[::-1]
        self._row = 0
        self._last: tuple[str, ...] = ()
        self._begun = array("q")

    def add(self, *cells: list[str]) -> list[bool] | None:
        """Return which rows go on with the session of the row before; None where that cannot be told."""
        names = cells[0]
        odd = self._numbers is not None and not all(map(is_small_number, set(names) - self._numbers))
        if "" in names or self._header in names or odd:
            return None
        if self._numbers is not None:
            self._numbers.update(names)
        keys = list(zip(*cells, strict=True))
        goes_on = [one == two for one, two in pairwise([self._last, *keys])]
        for at, key in enumerate(keys):
            if not goes_on[at]:
                self._begin(self._row + at, key)
        self.has_turns = self.has_turns or any(goes_on)
        self._row, self._last = self._row + len(keys), keys[-1]
        return goes_on

    def _begin(self, row: int, key: tuple[str, ...]) -> None:
        self._begun.append(hash(key))
        if self._wanted and row >= self._wanted[-1]:
            self.borders.append(row)
            while self._wanted and self._wanted[-1] <= row:
                self._wanted.pop()

    def are_told_apart(self) -> bool:
        """Tell whether no session comes back later; the names themselves were not kept, of which there are many."""
        import numpy as np  # noqa: PLC0415 (only a large file needs it)

        together = np.unique(np.frombuffer(self._begun, np.int64)).size == len(self._begun)
        return together and (self._numbers is None or len(self._begun) > len(self._numbers))


def _look(
    table: _Large, names: tuple[int, int | None], watched: Sequence[tuple[int, _Labels | _Other]]
) -> _Sessions | None:
    """Look through the names of sessions, and columns for as long as they are of interest; None for no way to cut."""
    told_by = [at for at in names if at is not None]
    sessions = _Sessions(table.header[told_by[0]], table.borders, with_people=len(told_by) > 1)
    for group in range(table.file.metadata.num_row_groups):
        alive = [(at, one) for at, one in watched if one.alive]
        for cells in _cells_of_group(table.file, table.header, group, sorted({*told_by, *(at for at, _ in alive)})):
            goes_on = sessions.add(*([cell.strip() for cell in cells[at]] for at in told_by))
            if goes_on is None:
                return None
            for at, one in alive:
                if one.alive:
                    one.add(cells[at], goes_on)
    return sessions if sessions.are_told_apart() else None
