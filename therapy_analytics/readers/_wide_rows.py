"""Wide tables in which columns are speakers: a session a row, an exchange a row, a question and its answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from therapy_analytics.readers._base import RawSession, Row, Source
from therapy_analytics.readers._columns import Record, is_fact, slug
from therapy_analytics.readers._roles import is_relative, role_of_label

Found = Mapping[str, int | None]
_SAID = frozenset({"response", "statement"})
_FILLERS = frozenset({"turn", "utterance", "text", "message", "said", "says", "words", "speech"})
_ASK = re.compile(r"(?:(?:client|patient|user|seeker)_)?(?:question|context|query|post)(?:_text)?")
_REPLY = re.compile(r"(?:(?:therapist|counsel+or|doctor)_)?(?:response|answer|reply)(?:_text)?_?\d*")
_NUMBER = re.compile(r"\d+")
_IDS = ("id", "dialogue_id", "conversation_id", "transcript_id", "case", "name")


@dataclass(frozen=True, slots=True)
class Grid:
    """What every layout looks at: the file, the header, the numbered rows, the columns of known names."""

    source: Source
    header: Sequence[str]
    records: Sequence[Record]
    found: Found

    @property
    def is_part(self) -> bool:
        """Whether the rows are a part of a large table, of which was decided before what its columns hold."""
        return self.source.part is not None

    def holds_words(self, columns: Sequence[int]) -> bool:
        """Tell speech from names and numbers: in some cells, more than two words, or a sentence."""
        if self.source.part is not None:
            return not set(self.source.part.layout.columns).isdisjoint(columns)
        cells = [record[at] for _, record in self.records for at in columns if record[at].strip()]
        spoken = sum(
            any(map(str.isalpha, cell)) and (len(cell.split()) > 2 or cell.rstrip().endswith((".", "?", "!")))
            for cell in cells
        )
        return bool(cells) and 10 * spoken >= len(cells)

    def session_name(self, record: Sequence[str]) -> str:
        """Return what the column of sessions says, if there is one."""
        at = self.found["session"]
        return "" if at is None else record[at].strip()


def names_talk(header: Sequence[str]) -> bool:
    """Tell whether a header has columns of talk in one of the wide layouts, by their names alone."""
    slugs = [slug(name) for name in header]
    by_question = any(map(_ASK.fullmatch, slugs)) and any(map(_REPLY.fullmatch, slugs))
    return by_question or bool(_numbered(header)) or bool(_role_columns(header))


def alternating(table: Grid) -> list[RawSession]:
    """Read ``p1,d1,p2,d2,...``: one session a row."""
    talk = _numbered(table.header)
    if not talk or not table.holds_words([at for _, at in talk]):
        return []
    sessions = []
    for place, record in table.records:
        rows = [Row(label, record[at], place) for label, at in talk if record[at].strip()]
        sessions.append(of_row(table, (place, record), rows, {at for _, at in talk}))
    return sessions if len(sessions) > 1 or table.is_part else [replace(one, name="") for one in sessions]


def _numbered(header: Sequence[str]) -> list[tuple[str, int]]:
    """Return the numbered columns of talk, in its order, each with its label: of two speakers, or of known ones."""
    columns: list[tuple[int, str, int]] = []
    for at, name in enumerate(header):
        numbers = _NUMBER.findall(name)
        label = _label(_NUMBER.sub(" ", name))
        if len(numbers) == 1 and len(numbers[0]) <= 4 and label:
            columns.append((int(numbers[0]), label, at))
    if len({label for _, label, _ in columns}) > 2:
        columns = [column for column in columns if role_of_label(column[1]) or is_relative(column[1])]
    labels = dict.fromkeys(label for _, label, _ in columns)
    roles = {role_of_label(label) for label in labels}
    by_header = [label for _, label, _ in columns]
    takes_turns = all(one != two for one, two in pairwise(by_header))
    if len(labels) < 2 or len(columns) < 3 or not roles & {"therapist", "client"}:
        return []
    if len(labels) == len(columns) or (not takes_turns and not roles >= {"therapist", "client"}):
        return []
    order = columns if takes_turns else sorted(columns, key=lambda column: column[0])
    return [(label, at) for _, label, at in order]


def _label(name: str) -> str:
    return " ".join(part for part in slug(name).split("_") if part not in _FILLERS)


def _role_columns(header: Sequence[str]) -> dict[int, str]:
    """Columns that are named by a role alone, or by a role and a word for what is said; others of known people."""
    found: dict[int, str] = {}
    for at, name in enumerate(header):
        label = " ".join(part for part in _label(_NUMBER.sub(" ", name)).split() if part not in _SAID)
        role = role_of_label(label)
        if len(label.split()) == 1 and ":" not in name:  # a label has the colon
            if role in ("therapist", "client"):
                found[at] = role
            elif role == "other" or is_relative(label):
                found[at] = label
    return found if _have_talk(found.values()) else {}


def _have_talk(labels: Iterable[str]) -> bool:
    """Tell columns of people who talk with each other: therapist and client, or one of them and people of a family."""
    known = set(labels)
    return len(known) > 1 and bool(known & {"therapist", "client"})


def exchanges(table: Grid) -> list[RawSession]:
    """Read ``therapist,client``: one exchange a row, both columns hold words."""
    roles = {at: role for at, role in _role_columns(table.header).items() if table.holds_words([at])}
    if not _have_talk(roles.values()):
        return []
    sessions: dict[str, list[Row]] = {}
    for place, record in table.records:
        name = table.session_name(record)
        said = [Row(table.header[at].strip(), record[at], place) for at in roles if record[at].strip()]
        sessions.setdefault(name, []).extend(said)
    return [RawSession(name, rows) for name, rows in sessions.items()]


def questions(table: Grid) -> list[RawSession]:
    """Read ``Question,Response_1,Response_2``: each response to a question is a session of its own."""
    slugs = [slug(name) for name in table.header]
    asked, replies = _asked_and_replies(slugs)
    if not asked or not replies or not all(map(table.holds_words, ([asked[-1]], replies))):
        return []
    sessions = []
    for place, record in table.records:
        for at in (at for at in replies if record[at].strip()):
            question = Row(table.header[asked[-1]].strip(), record[asked[-1]], place, role="client")
            rows = [question, Row(table.header[at].strip(), record[at], place, role="therapist")]
            one = of_row(table, (place, record), rows, {*asked, *replies})
            name = f"{one.name}-{slugs[at]}" if len(replies) > 1 else one.name
            sessions.append(replace(one, name=name))
    note = "Each response of a row was read as a session with the question before it."
    return [replace(one, notes=(note,)) for one in sessions]


def _asked_and_replies(slugs: Sequence[str]) -> tuple[list[int], list[int]]:
    asked = [at for at, name in enumerate(slugs) if _ASK.fullmatch(name)]
    return asked, [at for at, name in enumerate(slugs) if _REPLY.fullmatch(name)]


def columns_of_talk(table: Grid, layout: Callable[[Grid], list[RawSession]]) -> list[int]:
    """Return where a layout that was found to fit has what is said."""
    if layout is alternating:
        return [at for _, at in _numbered(table.header)]
    if layout is exchanges:
        return [at for at in _role_columns(table.header) if table.holds_words([at])]
    asked, replies = _asked_and_replies([slug(name) for name in table.header])
    return [*asked[-1:], *replies]


def of_row(table: Grid, row: Record, rows: list[Row], talk: set[int]) -> RawSession:
    """Return the session that a row holds, named by its own column, else by file and row."""
    place, record = row
    slugs = [slug(name) for name in table.header]
    named = [at for at in (table.found["session"], *map(_place_of(slugs), _IDS)) if at is not None and at not in talk]
    name = next((record[at].strip() for at in named if record[at].strip()), f"{table.source.path.stem}-{place}")
    metadata = {
        slugs[at]: fact
        for at in range(len(slugs))
        if at not in talk and at not in named and (fact := record[at].strip()) and is_fact(slugs[at], fact)
    }
    return RawSession(name, rows, metadata)


def _place_of(slugs: Sequence[str]) -> Callable[[str], int | None]:
    return lambda name: slugs.index(name) if name in slugs else None
