"""Notes that a clinician wrote about a session (SOAP, DAP, BIRP, ...): their headings look like labels of speakers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from therapy_analytics.errors import UnreadableFileError
from therapy_analytics.readers._base import Row, Source
from therapy_analytics.readers._label_forms import EDGE, Line
from therapy_analytics.readers._roles import role_of_label

_HEADING_TEXT = """
subjective; objective; assessment; plan; data; behavior; behaviour; intervention; interventions; response; goal; goals;
presenting problem; presenting concern; presenting issue; chief complaint; mental status; mental status exam;
mental status examination; mse; diagnosis; diagnoses; risk; risk assessment; safety plan; treatment plan; progress;
medication; medications; history; history of present illness; hpi; homework; next session; next appointment;
next steps; session focus; clinical impression; clinical impressions; impression; affect; mood; appearance; follow-up;
follow up; recommendations; observations; prognosis; symptoms; treatment goals; progress toward goals; evaluation
"""
_HEADINGS = frozenset(heading.strip() for heading in _HEADING_TEXT.split(";"))
_BEGINS = re.compile(rf"{EDGE}(?:\d{{1,2}}[.)][ \t]+)?(?P<heading>[^\W\d_][\w /-]{{0,39}}?)[ \t*_]*(?::|$)")
_LETTERS = ("soap", "dap", "birp", "girp", "pie")
"""Notes whose headings are letters, in this order."""
_FEWEST = 3


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
    order = [row.speaker.casefold() for row in rows]
    if _is_of_letters(order):
        return True
    headings = [match["heading"].casefold() for line in lines if (match := _BEGINS.match(line.text))]
    headings = [heading for heading in headings if heading in _HEADINGS]
    roles = [role_of_label(label) for label in order if label not in _HEADINGS]
    n_turns = min(roles.count("therapist"), roles.count("client"))
    return len(set(headings)) >= _FEWEST and (n_turns < 2 or 2 * n_turns < len(headings))


def _is_of_letters(order: Sequence[str]) -> bool:
    """Tell labels that are the letters of a kind of note, once each or again and again in the same order."""
    letters = "".join(order) if all(len(label) == 1 for label in order) else ""
    return bool(letters) and any(letters == kind * (len(letters) // len(kind)) for kind in _LETTERS)


def note_error(source: Source) -> UnreadableFileError:
    """Return the error that says what the file is."""
    return source.error(
        "this is a clinical note about a session (its headings are those of SOAP, DAP or similar notes), and does not "
        "say who said what",
        'Give the transcript itself. If there is talk in it, begin each turn with a label, as in "Therapist:"',
    )
