"""The form of codebook files: each field is checked, and each error says what is wrong and how to mend it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from therapy_analytics.core.errors import BadDataFileError

Quality = Literal["same", "narrower", "broader", "overlaps"]
Status = Literal["", "experimental"]
Unit = Literal["turn", "utterance"]
Exclusive = Literal["", "turn", "question"]

REMEDY = "See docs/codebooks.md"
BOOK_FIELDS = ("id", "name", "place", "overlaps", "definition", "source", "unit", "codes")
CODE_FIELDS = (
    "id", "name", "role", "group", "lane", "definition", "examples", "counter_examples", "source", "label", "unit",
    "parent", "exclusive", "one_of", "rest", "crosswalk", "status", "status_reason", "turn_correlation",
)  # fmt: skip
CROSSWALK_FIELDS = ("to", "quality", "note")
CODED_ROLES = ("therapist", "client")
QUALITIES: tuple[Quality, ...] = get_args(Quality)
STATUSES: tuple[Status, ...] = get_args(Status)
EXCLUSIVES: tuple[Exclusive, ...] = get_args(Exclusive)
UNITS: tuple[Unit, ...] = get_args(Unit)

_ID = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_LONGEST_ID = 40
_LONGEST_MESSAGE = 250
"""Characters of an error message: it may quote a field of any length."""
_OTHER_COLUMNS = ("client", "gold", "n", "p", "therapist")
"""The first words of columns that are no codes: no codebook may be called so."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The fields of a codebook, or of one of its codes.

    Attributes
    ----------
    table : mapping of str
        The fields and their values.
    path : str
        Of the file.
    code : str
        Name of the code in errors; empty for the codebook itself.
    """

    table: Mapping[str, Any]
    path: str
    code: str = ""

    def error(self, problem: str, remedy: str) -> BadDataFileError:
        """Return the error to raise."""
        message = f"{self.code}: {problem}" if self.code else problem
        return BadDataFileError(self.path, _shortened(message), _shortened(remedy))

    def only(self, known: Sequence[str]) -> None:
        """Refuse fields that nobody reads: most are misspelt."""
        for field in self.table:
            if field not in known:
                near = difflib.get_close_matches(field, known, n=1)
                remedy = f"Perhaps {near[0]!r} is meant" if near else f"The fields are {', '.join(known)}"
                raise self.error(f"there is no field {field!r}", remedy)

    def text(self, field: str, default: str | None = None) -> str:
        """Return a field of text on one line, or its default."""
        value = self.table.get(field, default)
        if value is None:
            raise self.error(f"the field {field!r} is missing", f'Add a line {field} = "..."')
        if not isinstance(value, str):
            raise self.error(f"the field {field!r} is not text", f'Put it into quotation marks: {field} = "..."')
        if not value.strip() and default is None:
            raise self.error(f"the field {field!r} is empty", "Say it in a few words")
        return " ".join(value.split())

    def texts(self, field: str) -> tuple[str, ...]:
        """Return a list of sentences, empty where there is no such field."""
        value = self.table.get(field, [])
        if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() for one in value):
            form = f'Write {field} = ["First sentence.", "Second sentence."]'
            remedy = f"{form}, with square brackets even around a single one"
            raise self.error(f"the field {field!r} is not a list of sentences", remedy)
        return tuple(" ".join(one.split()) for one in value)

    def share(self, field: str, default: float) -> float:
        """Return a field that is a number from 0 to 1, or its default."""
        value = self.table.get(field, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            remedy = f"Write {field} = {default}, or leave it out"
            raise self.error(f"the field {field!r} is not a number from 0 to 1", remedy)
        return float(value)

    def number_from_1(self, field: str, default: int) -> int:
        """Return a field that is a whole number from 1, or its default."""
        value = self.table.get(field, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise self.error(f"the field {field!r} is not a whole number from 1", f"Write {field} = 3, or leave it out")
        return value

    def flag(self, field: str) -> bool:
        """Return a field that is true or false; false where there is no such field."""
        value = self.table.get(field, False)
        if not isinstance(value, bool):
            raise self.error(f"the field {field!r} is neither true nor false", f"Write {field} = true, or leave it out")
        return value

    def one_of(self, field: str, allowed: Sequence[str], default: str | None = None) -> Any:
        """Return a field that must have one of a few values."""
        value = self.text(field, default)
        if value not in allowed:
            choice = " or ".join(f"{field} = {one!r}" for one in allowed if one).replace("'", '"')
            raise self.error(f"the {field} {value!r} is not known", f"Write {choice}")
        return value

    def codes(self) -> list[Fields]:
        """Return the codes of a codebook."""
        remedy = "Begin each code with a line [[codes]]"
        if self.table.get("codes", []) == []:
            raise self.error("the codebook has no codes", remedy)
        named = ((entry.get("id"), entry) for entry in self._tables("codes", remedy))
        return [
            Fields(entry, self.path, code_name(id_) if isinstance(id_, str) and id_ else f"code number {number}")
            for number, (id_, entry) in enumerate(named, start=1)
        ]

    def crosswalk(self) -> list[Fields]:
        """Return the entries of a code's crosswalk."""
        return [Fields(entry, self.path, self.code) for entry in self._tables("crosswalk", f"{REMEDY}, on crosswalks")]

    def identifier(self) -> str:
        """Return the id, which becomes part of the names of columns."""
        value = self.text("id")
        if not _ID.fullmatch(value) or len(value) > _LONGEST_ID:
            likely = re.sub(r"[^a-z0-9]+", "_", value.lower()).strip("_")[:_LONGEST_ID].rstrip("_")
            such = likely if _ID.fullmatch(likely) else "empathic_listening"
            remedy = f"Use small letters, digits and single _, {_LONGEST_ID} characters at most, such as {such!r}"
            raise self.error(f"the id {value!r} cannot be the name of a column", remedy)
        if not self.code and value.split("_")[0] in _OTHER_COLUMNS:
            problem = f"the id {value!r} begins as the names of other columns do"
            raise self.error(problem, "Choose another, such as the name of the manual")
        return value

    def _tables(self, field: str, remedy: str) -> Sequence[Mapping[str, Any]]:
        value = self.table.get(field, [])
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            raise self.error(f"the field {field!r} does not have its form", remedy)
        return value


def code_name(code: str) -> str:
    """Return how errors name a code."""
    return f"code {code!r}"


def _shortened(message: str) -> str:
    return message if len(message) <= _LONGEST_MESSAGE else f"{message[:_LONGEST_MESSAGE]} ..."


def check_crosswalk(of_code: Fields, targets: Sequence[str], known: Collection[str]) -> None:
    """Refuse a crosswalk to a code that does not exist, or twice to one code."""
    for target in targets:
        if target not in known:
            problem = f"its crosswalk to {target!r} leads to no code of another built-in codebook"
            raise of_code.error(problem, _meant(target, known))
        if targets.count(target) > 1:
            raise of_code.error(f"its crosswalk names {target!r} several times", "Leave one")


def _meant(target: str, known: Collection[str]) -> str:
    near = difflib.get_close_matches(target, sorted(known), n=1)
    hint = f"Perhaps {near[0]!r} is meant; " if near else "Write book.code, as in mi.question; "
    books = " ".join(sorted({one.partition(".")[0] for one in known}))
    return f"{hint}tanalyze codebook {books} lists all codes"
