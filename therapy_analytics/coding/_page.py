"""What the pages of coding are made of: codebooks with a key a code, data, styles and scripts in one file."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from therapy_analytics.codes import Codebook
from therapy_analytics.core.page_frame import SCRIPT, STYLE, as_json, put_together

Json = dict[str, Any]
OWN = Path(__file__).parent / "page"
STYLES = (STYLE, OWN / "coding.css")
COMMON = (SCRIPT, OWN / "shared.js")
DIGITS, LETTERS = "123456789", "abcdefghijklmopqrstvwxyz"
"""Keys of codes; n and u have a meaning of their own."""
REST = "0"
"""The key of what no other code has; without such a code, of "none of these"."""


def assemble(title: str, data: Mapping[str, Any], scripts: Sequence[str]) -> bytes:
    """Return a page as bytes: its title (any text), the data that its scripts read, and the names of these scripts."""
    block = f'<script type="application/json" id="data">{as_json(data)}</script>'
    put = {"title": html.escape(title), "data": block}
    return put_together(OWN / "page.html", STYLES, [*COMMON, *(OWN / name for name in scripts)], put)


def book_json(book: Codebook) -> Json:
    """Return a codebook for a page: sub-codes follow their parent, and each code of a role has a key of its own.

    Keys are digits for codes, letters for sub-codes and for codes beyond the ninth.
    """
    codes: list[Json] = []
    for role in ("therapist", "client"):
        own = [code for code in book.codes if code.role == role]
        mains = [code for code in own if not code.parent]
        ordered = [one for main in mains for one in (main, *(code for code in own if code.parent == main.id))]
        keys = dict(zip((code.column for code in mains if not code.rest), DIGITS, strict=False))
        keys |= {code.column: REST for code in ordered if code.rest}
        keys |= dict(zip([code.column for code in ordered if code.column not in keys], LETTERS, strict=False))
        codes += [
            {
                "column": code.column,
                "name": code.name,
                "role": code.role,
                "key": keys.get(code.column, ""),
                "parent": f"{book.id}_{code.parent}" if code.parent else "",
                "exclusive": code.exclusive,
                "one_of": code.one_of,
                "rest": code.rest,
                "definition": code.definition,
                "examples": list(code.examples),
                "counter_examples": list(code.counter_examples),
            }
            for code in ordered
        ]
    return {"id": book.id, "name": book.name, "definition": book.definition, "codes": codes}
