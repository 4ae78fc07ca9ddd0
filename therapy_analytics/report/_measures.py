"""Which measures the page shows, in what words, and where it shows them: as the codebook of the results says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from therapy_analytics.codebook_table import BELOW, CURVE, FIRST, MARK, MEASURED
from therapy_analytics.compare._results import Results
from therapy_analytics.report._files import read_columns

FAMILIES = {
    "therapist": "What the therapist does",
    "client": "What the client does",
    "together": "How they go together",
    "course": "Over the session",
    "review": "To review",
}
"""The headings of the page, by what `therapy_analytics.measures.OnPage` calls them, in their order."""
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
    """

    name: str
    label: str
    family: str
    first: bool = False
    does: str = ""


def chosen(results: Results) -> list[Shown]:
    """Return the measures of the page that these results hold a value of, by heading, then as the codebook has them."""
    frame, found = results.sessions, []
    for name, row in results.codebook.to_dict("index").items():
        heading, _, first = str(row.get("page", "")).partition(", ")
        if heading in FAMILIES and name in frame and frame[name].notna().any():
            label, does = str(row["label"]), str(row["does"])
            found.append(Shown(str(name), label, FAMILIES[heading], first=first == FIRST, does=does))
    order = list(FAMILIES.values())
    return sorted(found, key=lambda one: order.index(one.family))


@dataclass(frozen=True, slots=True)
class ShownTurns:
    """What the page shows of single turns, and of synchrony beside them.

    Attributes
    ----------
    marks : tuple of (str, str, str)
        A column of turn_measures.csv, what turns above 0 are called, and what turns below 0 are ("" for nothing).
    curves : tuple of (str, str, str, str)
        A column of turn_measures.csv, its label, among which lines it is drawn, and the measure beside it, if any.
    synchrony : mapping of str to str
        Measures of synchrony, and their labels.
    """

    marks: tuple[tuple[str, str, str], ...]
    curves: tuple[tuple[str, str, str, str], ...]
    synchrony: Mapping[str, str]


_OF_CODEBOOK = ("column", "table", "family", "measure", "direction", "label", "page")


def shown_turns(folder: Path) -> ShownTurns:
    """Return what the page shows of single turns, as the codebook of the results says."""
    table = read_columns(folder / "codebook.csv", _OF_CODEBOOK)
    columns = [table.get(name, ()) for name in _OF_CODEBOOK]
    marks, curves, synchrony = [], [], {}
    for column, which, family, measure, direction, label, page in zip(*columns, strict=True):
        kind, _, about = page.partition(", ")
        if kind == MARK:
            above, _, below = label.partition(BELOW)
            marks.append((column, above, below))
        elif kind == CURVE:
            curves.append((column, label, about, measure))
        elif which == MEASURED and family == "synchrony" and direction == "both" and label:
            synchrony[measure] = label
    return ShownTurns(tuple(marks), tuple(curves), synchrony)


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
