"""Codebooks: what a code is, as data.

To add one, put a TOML file like ``codebooks/bolt.toml`` beside it; ids are stable names of
columns (``<book>_<code>``), so they are never reused for another meaning.
"""

from __future__ import annotations

import functools
import hashlib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from therapy_analytics.errors import BadDataFileError
from therapy_analytics.session import ROLES, Role


@dataclass(frozen=True, slots=True)
class Code:
    """One behaviour of a codebook.

    Attributes
    ----------
    book, id : str
        Together the name of its columns, see `column`.
    name : str
        As a person reads it.
    role : {"therapist", "client"}
        Whose turns can have it.
    group : str
        The family that it belongs to: reflection, question, advice, normalizing,
        psychoeducation, change, sustain, feeling, insight, event.
    definition : str
        When a turn has it.
    examples, counter_examples : tuple of str
        Invented sentences that have it, and some that only look so.
    """

    book: str
    id: str
    name: str
    role: Role
    group: str
    definition: str
    examples: tuple[str, ...]
    counter_examples: tuple[str, ...]

    @property
    def column(self) -> str:
        """Column of its decision; its probability stands in ``p_`` + this."""
        return f"{self.book}_{self.id}"


@dataclass(frozen=True, slots=True)
class Codebook:
    """A set of codes with its source and the hash of its file."""

    id: str
    name: str
    definition: str
    source: str
    codes: tuple[Code, ...]
    sha256: str


def load_codebook(path: str | Path) -> Codebook:
    """Read a codebook file.

    Raises
    ------
    BadDataFileError
        A field is missing, or a code stands there twice.
    """
    path = Path(path)
    data = path.read_bytes()
    try:
        table = tomllib.loads(data.decode("utf-8-sig"))
        book = str(table["id"])
        codes = tuple(_code(book, entry) for entry in table["codes"])
        name, definition, source = (str(table[key]) for key in ("name", "definition", "source"))
    except KeyError as error:
        raise BadDataFileError(str(path), f"the field {error} is missing", "See codebooks/bolt.toml") from None
    except (ValueError, TypeError) as error:
        raise BadDataFileError(str(path), f"not a codebook ({error})", "See codebooks/bolt.toml") from None
    ids = [code.id for code in codes]
    twice = sorted({one for one in ids if ids.count(one) > 1})
    if twice:
        raise BadDataFileError(str(path), f"codes stand there twice: {', '.join(twice)}", "Give each its own id")
    return Codebook(book, name, definition, source, codes, hashlib.sha256(data).hexdigest())


@functools.cache
def builtin_codebooks() -> tuple[Codebook, ...]:
    """Return the codebooks that come with the package, by id."""
    return tuple(load_codebook(path) for path in sorted((Path(__file__).parent / "codebooks").glob("*.toml")))


def _code(book: str, entry: dict[str, Any]) -> Code:
    if entry["role"] not in ROLES:
        message = f"role {entry['role']!r} is none of {', '.join(ROLES)}"
        raise ValueError(message)
    return Code(
        book=book,
        id=str(entry["id"]),
        name=str(entry["name"]),
        role=entry["role"],
        group=str(entry["group"]),
        definition=" ".join(str(entry["definition"]).split()),
        examples=tuple(entry.get("examples", ())),
        counter_examples=tuple(entry.get("counter_examples", ())),
    )
