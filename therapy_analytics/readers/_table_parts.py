"""Where a large table of typed columns can be cut, and what of it only the whole tells.

Sessions are not cut in two, and the columns of which all rows decide what they are (codes, facts about a session,
roles) are looked through once, each only for as long as it can still be one.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from therapy_analytics.readers import _codes
from therapy_analytics.readers._base import Layout, Part, Source
from therapy_analytics.readers._clinical_notes import are_clinical_notes
from therapy_analytics.readers._columns import slug
from therapy_analytics.readers._facts import may_be_fact, names_fact
from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.readers._table import Record, Table, beside_times, find, may_hold_roles, names_beside_roles
from therapy_analytics.readers._wide import layout_of
from therapy_analytics.readers._wide_rows import Grid

Cells = Callable[[int, Sequence[int]], Iterator[Mapping[int, list[str]]]]
"""From a group of rows, and columns by their places, to the cells of each, some rows at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Large:
    """A large table.

    Attributes
    ----------
    reader : str
        The name of its reader.
    header : sequence of str
        Names of the columns.
    n_rows : int
        How many data rows it has.
    borders : sequence of int
        The rows, from 0, before which it may be cut.
    some : list of Record
        The first rows, and some from the middle and the end.
    n_groups : int
        How many groups the rows are stored in.
    cells : function
        Gives the cells of a group.
    """

    reader: str
    header: list[str]
    n_rows: int
    borders: Sequence[int]
    some: list[Record] = field(repr=False)
    n_groups: int
    cells: Cells


def parts_of(source: Source, table: Large) -> list[Part]:
    """Return the parts of a table; none where its sessions cannot be told apart, or are not together."""
    some = Table(table.header, table.some)
    found = find(source, some)
    by_content = found["start"] is None and beside_times(some, found).get("start") is not None
    if by_content or are_clinical_notes(table.header, [record for _, record in table.some]):
        return []
    if found["text"] is not None and found["speaker"] is not None:
        return _of_utterances(source, table, found)
    layout = layout_of(Grid(source, table.header, table.some, found), table.reader)
    if layout is None or (layout.form == "exchanges" and found["session"] is None):
        return []
    if layout.form != "exchanges":
        return _between([0, *table.borders, table.n_rows], layout)
    at = found["session"]
    looked = None if at is None else _look(table, (at, None), ())
    return [] if looked is None else _between([0, *looked.borders, table.n_rows], layout)


def _between(borders: Iterable[int], layout: Layout) -> list[Part]:
    return [Part(begin, end, layout) for begin, end in pairwise(sorted(set(borders)))]


def _of_utterances(source: Source, table: Large, found: Mapping[str, int | None]) -> list[Part]:
    """Return parts of whole sessions, and which columns say what; a speaker's column called type needs all rows."""
    speaker, session = found["speaker"], found["session"]
    by_user = "speaker" in source.options.columns
    if speaker is None or session is None or (slug(table.header[speaker]) == "type" and not by_user):
        return []
    if names_beside_roles(table.header, table.some, speaker, session) is not None:
        return []  # whether several people have one role is seen in all rows alone
    used = {at for at in found.values() if at is not None}
    tried = (
        _by_names(table, speaker, session, used, partner)
        for partner in (*_codes.people_columns(table.header, session), None)
    )
    return next(filter(None, tried), [])


def _by_names(table: Large, speaker: int, session: int, used: set[int], partner: int | None) -> list[Part]:
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
    layout = Layout(table.reader, "utterances", (), role, tuple(about), tuple(codes), partner)
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
        self.is_constant = names_fact(name) and not name.startswith(_codes.GOLD)
        self._is_ours, self._may_be_codes = name.startswith(_codes.GOLD), bool(name.strip())
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
            self._may_be_codes = _codes.may_be_codes(self._values.keys() - {""})

    @property
    def has_codes(self) -> bool:
        """Whether the reader would take the whole column for codes, which it tells by as few values as say the same."""
        values = [cell for name, cell in self._values.items() if name]
        again = values[:1] if self._n_filled > len(values) else []  # what comes twice does not rise
        blank = [""] * min(self._n - len(values) - len(again), len(values))
        return self._is_ours or (self._may_be_codes and _codes.has_codes(self.name, [*values, *again, *blank]))


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
        odd = self._numbers is not None and not all(map(_codes.is_small_number, set(names) - self._numbers))
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
    table: Large, names: tuple[int, int | None], watched: Sequence[tuple[int, _Labels | _Other]]
) -> _Sessions | None:
    """Look through the names of sessions, and columns for as long as they are of interest; None for no way to cut."""
    told_by = [at for at in names if at is not None]
    sessions = _Sessions(table.header[told_by[0]], table.borders, with_people=len(told_by) > 1)
    for group in range(table.n_groups):
        alive = [(at, one) for at, one in watched if one.alive]
        for cells in table.cells(group, sorted({*told_by, *(at for at, _ in alive)})):
            goes_on = sessions.add(*([cell.strip() for cell in cells[at]] for at in told_by))
            if goes_on is None:
                return None
            for at, one in alive:
                if one.alive:
                    one.add(cells[at], goes_on)
    return sessions if sessions.are_told_apart() else None
