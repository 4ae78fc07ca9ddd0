"""Codebooks as the pages show them: codes under their parents, each with a key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from therapy_analytics.codes import Code, Codebook

Json = dict[str, Any]
DIGITS, LETTERS = "123456789", "abcdefghijklmopqrstvwxyz"
"""Keys of codes; n and u have a meaning of their own."""
REST = "0"
"""The key of what no other code has; without such a code, of "none of these"."""
ROLES = ("therapist", "client")


def book_json(book: Codebook) -> Json:
    """Return a codebook for a page: sub-codes follow their parent, and each code of a role has a key of its own."""
    codes = [one for role in ROLES for one in _of_role(book, role)]
    return {"id": book.id, "name": book.name, "definition": book.definition, "codes": codes}


def _of_role(book: Codebook, role: str) -> list[Json]:
    own = [code for code in book.codes if code.role == role]
    mains = [code for code in own if not code.parent]
    ordered = [one for main in mains for one in (main, *(code for code in own if code.parent == main.id))]
    keys = _keys(ordered)
    return [_code(book, code, keys.get(code.column, "")) for code in ordered]


def _keys(codes: Sequence[Code]) -> dict[str, str]:
    """Return the key of each code: digits for codes, letters for sub-codes and for codes beyond the ninth."""
    mains = [code.column for code in codes if not code.parent and not code.rest]
    numbered = dict(zip(mains, DIGITS, strict=False)) | {code.column: REST for code in codes if code.rest}
    lettered = zip((code.column for code in codes if code.column not in numbered), LETTERS, strict=False)
    return numbered | dict(lettered)


def _code(book: Codebook, code: Code, key: str) -> Json:
    return {
        "column": code.column,
        "name": code.name,
        "role": code.role,
        "key": key,
        "parent": f"{book.id}_{code.parent}" if code.parent else "",
        "exclusive": code.exclusive,
        "one_of": code.one_of,
        "rest": code.rest,
        "definition": code.definition,
        "examples": list(code.examples),
        "counter_examples": list(code.counter_examples),
    }
