"""The form of codebook files: each field checked, each fault named so that a clinician can mend it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from therapy_analytics.errors import BadDataFileError

Quality = Literal["same", "narrower", "broader", "overlaps"]
Status = Literal["", "experimental"]
Unit = Literal["turn", "utterance"]
Exclusive = Literal["", "turn", "question"]

REMEDY = "See docs/codebooks.md"
BOOK_FIELDS = ("id", "name", "place", "overlaps", "definition", "source", "unit", "codes")
CODE_FIELDS = (
    "id",
    "name",
    "role",
    "group",
    "lane",
    "definition",
    "examples",
    "counter_examples",
    "source",
    "label",
    "unit",
    "parent",
    "exclusive",
    "crosswalk",
    "status",
    "status_reason",
    "turn_correlation",
)
CROSSWALK_FIELDS = ("to", "quality", "note")
CODED_ROLES = ("therapist", "client")
QUALITIES: tuple[Quality, ...] = get_args(Quality)
STATUSES: tuple[Status, ...] = get_args(Status)
EXCLUSIVES: tuple[Exclusive, ...] = get_args(Exclusive)
UNITS: tuple[Unit, ...] = get_args(Unit)

_ID = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_LONGEST_ID = 40
_LONGEST_SAID = 250
"""Letters of what is said of a codebook: a name in it that never ends is not repeated."""
_OTHER_COLUMNS = ("client", "gold", "n", "p", "therapist")
"""So begin columns that are no codes, and so no book may."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a file: the book itself, or one of its codes."""

    path: str
    code: str = ""

    def of(self, number: int, entry: Mapping[str, Any]) -> Place:
        """Return the place of the code that stands at this position, from 0."""
        name = entry.get("id")
        return self.at(name) if isinstance(name, str) and name else Place(self.path, f"code number {number + 1}")

    def at(self, code: str) -> Place:
        """Return the place of a code with an id."""
        return Place(self.path, f"code {code!r}")

    def error(self, problem: str, remedy: str) -> BadDataFileError:
        """Return the error to raise."""
        said = f"{self.code}: {problem}" if self.code else problem
        return BadDataFileError(self.path, _shortened(said), _shortened(remedy))


def _shortened(said: str) -> str:
    return said if len(said) <= _LONGEST_SAID else f"{said[:_LONGEST_SAID]} ..."


def only_known(table: Mapping[str, Any], known: Sequence[str], place: Place) -> None:
    """Refuse fields that nobody reads: most are slips of the pen."""
    for field in table:
        if field not in known:
            near = difflib.get_close_matches(field, known, n=1)
            remedy = f"Perhaps {near[0]!r} is meant" if near else f"The fields are {', '.join(known)}"
            raise place.error(f"there is no field {field!r}", remedy)


def text(table: Mapping[str, Any], field: str, place: Place, *, default: str | None = None) -> str:
    """Return a field of words on one line, or its default."""
    value = table.get(field, default)
    if value is None:
        raise place.error(f"the field {field!r} is missing", f'Add a line {field} = "..."')
    if not isinstance(value, str):
        raise place.error(f"the field {field!r} is not text", f'Put it into quotation marks: {field} = "..."')
    if not value.strip() and default is None:
        raise place.error(f"the field {field!r} is empty", "Say it in a few words")
    return " ".join(value.split())


def texts(table: Mapping[str, Any], field: str, place: Place) -> tuple[str, ...]:
    """Return a list of sentences; none when the field is not there."""
    value = table.get(field, [])
    if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() for one in value):
        remedy = (
            f'Write {field} = ["First sentence.", "Second sentence."], with square brackets even around a single one'
        )
        raise place.error(f"the field {field!r} is not a list of sentences", remedy)
    return tuple(" ".join(one.split()) for one in value)


def share(table: Mapping[str, Any], field: str, place: Place, *, default: float) -> float:
    """Return a field that is a number from 0 to 1, or its default."""
    value = table.get(field, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        remedy = f"Write {field} = {default}, or leave it out"
        raise place.error(f"the field {field!r} is not a number from 0 to 1", remedy)
    return float(value)


def whole(table: Mapping[str, Any], field: str, place: Place, *, default: int) -> int:
    """Return a field that is a whole number from 1, or its default."""
    value = table.get(field, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise place.error(f"the field {field!r} is not a whole number from 1", f"Write {field} = 3, or leave it out")
    return value


def one_of(
    table: Mapping[str, Any], field: str, allowed: Sequence[str], place: Place, *, default: str | None = None
) -> Any:
    """Return a field that has few possible values."""
    value = text(table, field, place, default=default)
    if value not in allowed:
        choice = " or ".join(f"{field} = {one!r}" for one in allowed if one).replace("'", '"')
        raise place.error(f"the {field} {value!r} is not known", f"Write {choice}")
    return value


def tables(
    table: Mapping[str, Any], field: str, place: Place, *, default: Sequence[Mapping[str, Any]] | None = None
) -> Sequence[Mapping[str, Any]]:
    """Return a list of tables: the codes of a book, the crosswalk of a code."""
    value = table.get(field, default)
    right = "Begin each code with a line [[codes]]" if field == "codes" else f"{REMEDY}, on crosswalks"
    if value is None or (default is None and value == []):
        raise place.error(f"the codebook has no {field}", right)
    if not isinstance(value, list | tuple) or not all(isinstance(one, dict) for one in value):
        raise place.error(f"the field {field!r} does not have its form", right)
    return value


def book_id(table: Mapping[str, Any], place: Place) -> str:
    """Return the id of a book."""
    value = _identifier(table, place)
    if value.split("_")[0] in _OTHER_COLUMNS:
        problem = f"the id {value!r} begins as the names of other columns do"
        raise place.error(problem, "Choose another, such as the name of the manual")
    return value


def code_id(table: Mapping[str, Any], place: Place) -> str:
    """Return the id of a code."""
    return _identifier(table, place)


def check_ids(ids: Sequence[str], place: Place) -> None:
    """Refuse two codes of one id."""
    twice = sorted({one for one in ids if ids.count(one) > 1})
    if twice:
        raise place.error(f"several codes have the id {', '.join(map(repr, twice))}", "Give each code an id of its own")


def check_crosswalk(targets: Sequence[str], known: Collection[str], place: Place) -> None:
    """Refuse a crosswalk that leads nowhere, or twice to one code."""
    for target in targets:
        if target not in known:
            raise place.error(
                f"its crosswalk to {target!r} leads to no code of another built-in codebook", _meant(target, known)
            )
        if targets.count(target) > 1:
            raise place.error(f"its crosswalk names {target!r} several times", "Leave one")


def _meant(target: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(target, sorted(known), n=1)
    hint = f"Perhaps {near[0]!r} is meant; " if near else "Write book.code, as in mi.question; "
    return hint + "tanalyze codebook bolt mi misc miti lists all codes"


def _identifier(table: Mapping[str, Any], place: Place) -> str:
    value = text(table, "id", place)
    if not _ID.fullmatch(value) or len(value) > _LONGEST_ID:
        problem = f"the id {value!r} cannot be the name of a column"
        likely = re.sub(r"[^a-z0-9]+", "_", value.lower()).strip("_")[:_LONGEST_ID].rstrip("_")
        such = likely if _ID.fullmatch(likely) else "empathic_listening"
        remedy = f"Use small letters, digits and single _, {_LONGEST_ID} characters at most, such as {such!r}"
        raise place.error(problem, remedy)
    return value
