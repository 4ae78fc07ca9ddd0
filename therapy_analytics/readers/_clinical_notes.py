"""Notes that a clinician wrote about a session (SOAP, DAP, BIRP, ...), in text and in tables: nobody speaks in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from therapy_analytics.errors import UnreadableFileError
from therapy_analytics.readers._base import Row, Source
from therapy_analytics.readers._columns import find_columns, slug
from therapy_analytics.readers._label_forms import EDGE, Line
from therapy_analytics.readers._roles import role_of_label

_HEADING_TEXT = """
subjective; objective; assessment; plan; data; behavior; behaviour; intervention; interventions; response; goal; goals;
presenting problem; presenting concern; presenting issue; chief complaint; mental status; mental status exam;
mental status examination; mse; diagnosis; diagnoses; risk; risk assessment; safety plan; treatment plan; progress;
medication; medications; history; history of present illness; hpi; homework; next session; next appointment;
next steps; session focus; clinical impression; clinical impressions; impression; affect; mood; appearance; follow-up;
follow up; recommendation; recommendations; observations; prognosis; symptoms; treatment goals; progress toward goals;
evaluation; allergies; vitals; examination
"""
_HEADINGS = frozenset(heading.strip() for heading in _HEADING_TEXT.split(";"))
_BEGINS = re.compile(rf"{EDGE}(?:\d{{1,2}}[.)][ \t]+)?(?P<heading>[^\W\d_][\w /-]{{0,39}}?)[ \t*_]*(?::|$)")
_INSIDE = re.compile(r"(?:\A|(?<=[.\n;] )|(?<=\n))([A-Za-z]{3,16}(?:[ -][A-Za-z]{2,16}){0,3})[ \t]*[:\-\u2013]")
_LETTERS = ("soap", "dap", "birp", "girp", "pie")
"""Notes whose headings are letters, in this order."""
_FEWEST = 3
_MOSTLY = 0.8
_SAMPLE = 500


def is_clinical_note(lines: Sequence[Line], rows: Sequence[Row]) -> bool:
    """Tell a note about a session from a record of it.

    Parameters
    ----------
    lines : sequence of Line
        Of the text.
    rows : sequence of Row
        What they are if their labels are taken for speakers.

    Examples
    --------
    >>> text = ["Subjective: Sleeps badly.", "Objective: Tired.", "Plan: A diary."]
    >>> is_clinical_note([Line(1, line, line) for line in text], [])
    True
    """
    written = [match["heading"].casefold() for line in lines if (match := _BEGINS.match(line.text))]
    order = [row.speaker.casefold() for row in rows]
    if _are_letters(written) or _are_letters(order):
        return True
    headings = [heading for heading in written if heading in _HEADINGS]
    roles = [role_of_label(label) for label in order if label not in _HEADINGS]
    n_turns = min(roles.count("therapist"), roles.count("client"))
    return len(set(headings)) >= _FEWEST and (n_turns < 2 or 2 * n_turns < len(headings))


def _are_letters(order: Sequence[str]) -> bool:
    """Tell labels that are the letters of a kind of note, once each or again and again in the same order."""
    letters = "".join(order) if all(len(label) == 1 for label in order) else ""
    return bool(letters) and any(letters == kind * (len(letters) // len(kind)) for kind in _LETTERS)


def are_clinical_notes(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Tell a table of notes about patients from one of talk with them, which may have columns of such names.

    Parameters
    ----------
    header : sequence of str
        Names of the columns.
    rows : sequence of sequence of str
        Cells, as many in each row.

    Examples
    --------
    >>> are_clinical_notes(["id", "note"], [["1", "Subjective: poor sleep. Objective: alert. Plan: diary."]])
    True
    >>> are_clinical_notes(["speaker", "text"], [["T", "What is the plan: go or stay?"]])
    False
    """
    columns = list(zip(*rows[:_SAMPLE], strict=True))
    known = find_columns(header, {})
    speaker = known["speaker"]
    if speaker is not None and known["text"] is not None:
        return _name_headings(columns[speaker]) if columns else False
    if any(role_of_label(name) in {"therapist", "client"} for name in header):
        return False
    if len({" ".join(slug(name).split("_")) for name in header} & _HEADINGS) >= _FEWEST:
        return True
    return any(_name_headings(cells) or _hold_headings(cells) for cells in columns)


def _name_headings(cells: Iterable[str]) -> bool:
    """Tell a column of headings from one of speakers."""
    labels = Counter(cell.strip(" :").casefold() for cell in cells if cell.strip())
    known = _HEADINGS & labels.keys()
    return len(known) >= _FEWEST and sum(labels[one] for one in known) >= _MOSTLY * labels.total()


def _hold_headings(cells: Iterable[str]) -> bool:
    """Tell a column whose cells are whole notes."""
    filled = [cell for cell in cells if cell.strip()]
    noted = sum(len({one.casefold() for one in _INSIDE.findall(cell)} & _HEADINGS) > 1 for cell in filled)
    return bool(filled) and noted >= _MOSTLY * len(filled)


def note_error(source: Source) -> UnreadableFileError:
    """Return the error that says what the file is."""
    return source.error(
        "this is a clinical note about a session (its headings are those of SOAP, DAP or similar notes), and does not "
        "say who said what",
        'Give the transcript itself. If there is talk in it, begin each turn with a label, as in "Therapist:"',
    )
