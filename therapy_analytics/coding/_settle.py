"""Two coders of the same turns: how far they agree, and the page on which somebody settles what they differ on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from therapy_analytics.codes import builtin_codebooks
from therapy_analytics.coding._code import sessions_json
from therapy_analytics.coding._page import assemble, book_json
from therapy_analytics.coding._sample import SampleToCode, read_sample
from therapy_analytics.stats.agreement import CoderAgreement, GoldOptions, PeopleCodes, people_agreement
from therapy_analytics.stats.sampling import CONTEXT

SCRIPTS = ("settle.js", "settle_view.js")
OWN = "own"
"""The id of the book of codes that are in none of the package."""
Json = dict[str, Any]


def between_coders(
    first: str | Path, second: str | Path, *, sample: str | Path | None = None, options: GoldOptions | None = None
) -> tuple[CoderAgreement, bytes]:
    """Compare two coders and make the page on which their differences are settled.

    Parameters
    ----------
    first, second : str or Path
        A file of codes of each, as their pages hand them out, or any table of human codes by session and turn.
    sample : str or Path, optional
        The folder that they coded: roles, clusters and inclusions come from it, and the page holds its words.
    options : GoldOptions, optional
        How the files are read.

    Returns
    -------
    CoderAgreement
        Tables and text; ``.write(folder, page=...)`` writes them.
    bytes
        The page.

    Raises
    ------
    BadOptionError, BadDataFileError
        As `people_agreement` and `read_sample`.
    """
    read = read_sample(sample) if sample is not None else None
    found = people_agreement(first, second, turns=read.drawn if read else None, options=options)
    return found, adjudication_page(found, read)


def adjudication_page(found: CoderAgreement, sample: SampleToCode | None = None) -> bytes:
    """Return the page on which somebody settles the disagreements of two coders, with words if the sample is given."""
    codes = found.codes
    turns = _turns(codes)
    books = _books({code for one in turns for code in one["values"]})
    named = {one["session"] for one in turns}
    # The name under which a browser keeps decisions: of what both coders gave, in whatever order
    given = sorted([one["session"], one["turn"], sorted(one["values"].items())] for one in turns)
    data = {
        "coders": list(codes.coders),
        "key": hashlib.sha256(json.dumps([list(codes.coders), given]).encode()).hexdigest(),
        "context": CONTEXT,
        "books": books,
        "turns": turns,
        "sessions": sessions_json(sample, named) if sample else {},
    }
    return assemble(f"Settle: {' and '.join(codes.coders)}", data, SCRIPTS)


def _books(columns: set[str]) -> list[Json]:
    """Return the codebooks of some codes, reduced to these; codes of no book of the package make one of their own."""
    whole = [book_json(book) for book in builtin_codebooks()]
    books = [book | {"codes": [code for code in book["codes"] if code["column"] in columns]} for book in whole]
    known = {code["column"] for book in books for code in book["codes"]}
    texts = dict.fromkeys(("key", "parent", "exclusive", "one_of", "definition", "role"), "")
    empty: Json = {**texts, "rest": False, "examples": [], "counter_examples": []}
    own = [{"column": name, "name": name, **empty} for name in sorted(columns - known)]
    further = [{"id": OWN, "name": "Codes of your own", "definition": "", "codes": own}] if own else []
    return [*(book for book in books if book["codes"]), *further]


def _turns(codes: PeopleCodes) -> list[Json]:
    """Return the turns that both coded, with what each gave and said, by codebook."""
    values: dict[int, Json] = {}
    for place, code, *given in codes.both().to_numpy().tolist():
        values.setdefault(int(place), {})[str(code)] = [int(value) for value in given]
    marks: dict[int, list[Json]] = {place: [] for place in values}
    for row in codes.marks.to_dict("records"):
        marks.get(int(row["place"]), []).append({str(name): cell for name, cell in row.items()})
    about = codes.turns.to_dict("records")
    books = {code.column: book.id for book in builtin_codebooks() for code in book.codes}
    return [
        {
            "session": about[place]["session_id"],
            "turn": int(about[place]["turn"]),
            "role": about[place]["role"],
            "inclusion": next((row["inclusion"] for row in marks[place] if row["inclusion"]), ""),
            "values": given,
            "said": [
                _marks_of((row for row in marks[place] if row["coder"] == coder), books) for coder in codes.coders
            ],
        }
        for place, given in values.items()
    ]


def _marks_of(rows: Iterable[Json], books: Mapping[str, str]) -> dict[str, Json]:
    """Return whether a coder was unsure of a turn, and the note, by the codebook; "" stands for all books."""
    found: dict[str, Json] = {}
    for row in rows:
        book = books.get(row["code"], OWN) if row["code"] else ""
        one = found.setdefault(book, {"unsure": 0, "note": ""})
        one["unsure"] = max(one["unsure"], int(row["unsure"] == "1"))
        one["note"] = one["note"] or row["note"]
    return found
