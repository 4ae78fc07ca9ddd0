"""What the page shows, in what words and where: as the codebook of the results says."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from therapy_analytics.codes import Code, Codebook, builtin_codebooks
from therapy_analytics.codes.lanes import Lane, lanes, name_of_lane
from therapy_analytics.measures.process.behaviour_rates import measure_of_code
from therapy_analytics.report.files import Row, read_rows
from therapy_analytics.results.codebook_table import ALSO, CURVE, FIRST, MARK, MEASURED, STRIP
from therapy_analytics.stats.compare.sessions import Results

Json = dict[str, Any]
FAMILIES = {
    "therapist": "What the therapist does",
    "client": "What the client does",
    "together": "How they go together",
    "course": "Over the session",
    "review": "To review",
}
"""The headings of the page, by what `therapy_analytics.measures.OnPage` calls them, in their order."""
NEEDED = ("column", "table", "family", "meaning", "measure", "direction", "label", "page")
_OF_CODES = "codes, "
_RANGE = re.compile(r"(?P<low>-?[\d.e+]+) (?:to (?P<high>-?[\d.e+]+)|or more)")


@dataclass(frozen=True, slots=True)
class Shown:
    """A measure of the page.

    Attributes
    ----------
    name, label, family : str
        Its column of the wide table; what a supervisor calls it; the heading that it stands under.
    first : bool
        Whether it is a column of the table from the start.
    does : str
        What somebody does in those turns, as in "boyle_lucia: asks in 18 of 29 therapist turns"; such measures belong
        to the picture of behaviours beside the references.
    strip : int
        Its place in the strip of numbers of a session, from 1; 0 where it is not there.
    """

    name: str
    label: str
    family: str
    first: bool = False
    does: str = ""
    strip: int = 0


def chosen(results: Results) -> list[Shown]:
    """Return the measures of the page that these results hold a value of, by heading, then as the codebook has them."""
    frame, found = results.sessions, []
    for name, row in results.codebook.to_dict("index").items():
        heading, *words = str(row.get("page", "")).split(", ")
        if heading in FAMILIES and name in frame and frame[name].notna().any():
            label, does, strip = str(row["label"]), str(row["does"]), _strip(words)
            found.append(Shown(str(name), label, FAMILIES[heading], first=FIRST in words, does=does, strip=strip))
    order = list(FAMILIES.values())
    return sorted(found, key=lambda one: order.index(one.family))


def _strip(words: Sequence[str]) -> int:
    """Return the place in the strip that the words of a codebook's cell give, 0 for none."""
    return next((int(word.removeprefix(f"{STRIP} ")) for word in words if word.startswith(f"{STRIP} ")), 0)


def strip_of(shown: Sequence[Shown]) -> list[Shown]:
    """Return the measures of the strip of numbers on top of a session, in its order."""
    return sorted((one for one in shown if one.strip), key=lambda one: one.strip)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTurns:
    """What the page shows of single turns.

    Attributes
    ----------
    codes : list of dict
        The codes that turns.csv has, as the page takes them.
    marks, curves : list of dict
        Rows of the codebook about columns of turn_measures.csv: which turns are marked, and which lines are drawn.
    synchrony : dict of str to str
        Measures of synchrony, and their labels.
    """

    codes: list[Json]
    marks: list[Row]
    curves: list[Row]
    synchrony: dict[str, str]


def shown_turns(folder: Path) -> ShownTurns:
    """Return what the page shows of single turns.

    Raises
    ------
    BadDataFileError
        codebook.csv cannot be read.
    """
    rows = read_rows(folder / "codebook.csv", NEEDED)
    both = [row for row in rows if (row["table"], row["family"], row["direction"]) == (MEASURED, "synchrony", "both")]
    return ShownTurns(
        codes=_codes(rows),
        marks=[row for row in rows if row["page"] in (MARK, ALSO)],
        curves=[row for row in rows if row["page"].startswith(CURVE)],
        synchrony={row["measure"]: row["label"] for row in both if row["label"]},
    )


def _codes(rows: Sequence[Row]) -> list[Json]:
    """Return every code that turns.csv has, in the codebook's order."""
    known = {code.column: (book, code) for book in builtin_codebooks() for code in book.codes}
    likely = {row["column"] for row in rows if row["table"] == "probabilities"}
    of_codes = [row for row in rows if row["table"] == "turns" and row["family"].startswith(_OF_CODES)]
    asked = [row for row in of_codes if row["column"] in likely]
    marked = {name: lane for lane in lanes(row["column"] for row in asked) for name in (*lane.up, *lane.down)}
    core = {row["measure"] for row in rows if row["table"] == "sessions" or STRIP in row["page"]}
    return [_code(row, known.get(row["column"]), marked.get(row["column"]), core) for row in asked]


def _code(row: Row, known: tuple[Codebook, Code] | None, marked: Lane | None, core: Container[str]) -> Json:
    """Return a code as the page takes it; one that names no lane, and is no kind of another, has one of its own.

    A code is of the core if its rate is a column of ``sessions.csv`` or a number of the strip, or if it is the user's.
    """
    book, code = known or (None, None)
    column, name = row["column"], row["family"].removeprefix(_OF_CODES)
    alone = book is None or code is None or not (code.lane or code.parent or book.overlaps)
    label, _, definition = row["meaning"].partition(": ")
    return {
        "column": column,
        "label": label,
        "role": code.role if code else "",
        "definition": definition,
        "book": name,
        "short": (book.id if book else name).upper(),
        "lane": column if alone or code is None else name_of_lane(code),
        "marked": alone or marked is not None,
        "down": marked is not None and column in marked.down,
        "core": book is None or measure_of_code(column) in core,
    }


def with_roles(codes: Sequence[Json], sessions: Sequence[Mapping[str, Any]]) -> list[Json]:
    """Return the codes with whose they are: of the user's own codes, the turns tell."""
    return [one if one["role"] else {**one, "role": _role(str(one["column"]), sessions)} for one in codes]


def _role(column: str, sessions: Sequence[Mapping[str, Any]]) -> str:
    for session in sessions:
        for role, value in zip(session["role"], session["p"].get(column, ()), strict=False):
            if value is not None:
                return {"t": "therapist", "c": "client"}.get(role, "other")
    return ""


def lanes_json(codes: Sequence[Json]) -> list[Json]:
    """Return the lanes of the timeline from the top down: those of the package, then those of the user's own codes.

    A lane is of the core, and drawn from the start, if a code that it marks is.
    """
    core = {one["lane"] for one in codes if one["core"] and one["marked"]}
    own = {one["column"]: (one["label"], one["role"]) for one in codes if one["lane"] == one["column"]}
    named = {lane.name: (lane.name.capitalize(), lane.role) for lane in lanes(one["column"] for one in codes)}
    return [
        {"key": key, "label": label.replace("+/-", "±"), "role": role, "core": key in core}
        for key, (label, role) in {**named, **own}.items()
    ]


def ends(text: str) -> tuple[float | None, float | None]:
    """Return the ends of a range as the codebook writes it; None is no end.

    Examples
    --------
    >>> ends("0 to 1"), ends("0 or more"), ends("any")
    ((0.0, 1.0), (0.0, None), (None, None))
    """
    found = _RANGE.fullmatch(text.strip())
    if not found:
        return None, None
    return float(found["low"]), float(found["high"]) if found["high"] else None
