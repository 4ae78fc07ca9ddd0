"""What the client, and what the therapist, tells of themselves: feelings, facts, and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import nan

import numpy as np

from therapy_analytics.codes import Code
from therapy_analytics.codes.disclosure import KINDS, disclosed
from therapy_analytics.measures import Column, OnPage, columns_of, mean_column, measure
from therapy_analytics.measures.base import Value
from therapy_analytics.measures.turns import PAIR, Floats, spoken
from therapy_analytics.text import AnnotatedSession, Lexicon

_COURSE = ("early", "middle", "late", "slope")
_WHAT = {
    "emotional": "feelings of the speaker's own (emotional disclosure)",
    "informational": "facts about the speaker's own life (informational disclosure)",
}
_FEWEST_TURNS = 3


def _columns(_: Sequence[Lexicon], __: Sequence[Code]) -> list[Column]:
    found = [one for kind in KINDS for one in columns_of(__file__, "turn", kind=kind, what=_WHAT[kind])]
    for role in PAIR[::-1]:
        for kind in KINDS:
            found += columns_of(__file__, "mean", role=role, kind=kind, what=_WHAT[kind])
        found += columns_of(__file__, "disclosed", role=role)
    found += [one for kind in KINDS for one in columns_of(__file__, "course", kind=kind)]
    return [replace(one, core=one.name == "client_emotional_disclosure") for one in found]


@measure(columns=_columns, core=13, page={"client_emotional_disclosure": OnPage("client", "Discloses feelings")})
def self_disclosure(session: AnnotatedSession) -> dict[str, Value]:
    """Estimate how much each of the two tells of themselves, turn by turn and over the session.

    High means that more turns tell the speaker's own feelings or facts. Of the client it may go with trust and with
    being in distress alike; of the therapist it is another matter and stands apart.

    Notes
    -----
    Turns without words are undefined, and so is what a role without words has. See
    `therapy_analytics.codes.disclosure` for the model, `course_of` for thirds and slope.

    On 3,450 client turns of AnnoMI and 2,229 of HLQC, beside codes of feelings and life events that a language model
    read (``tools/read_codes``): AUC of the emotional probability for feelings .85 and .85 (of the number of words alone
    .77 and .78), of the informational one for life events .84 and .85 (words alone .82 and .83); in turns of 8 to 40
    words .74 and .77 (words .57 and .59), .68 and .72 (words .61 and .62).

    References
    ----------
    Jaidka, K., Singh, I., Liu, J., Chhaya, N., & Ungar, L. (2020). A report of the CL-Aff OffMyChest shared task:
    Modeling supportiveness and disclosure. AffCon 2020.
    """
    found = disclosed(session)
    values: dict[str, Value] = {}
    for kind, series in zip(KINDS, found.turns.T, strict=True):
        values[f"disclosure_{kind}_turn"] = np.ascontiguousarray(series)
        for role in PAIR:
            values[f"{role}_{kind}_disclosure"] = mean_column(series[spoken(session, role)])
        for part, value in zip(_COURSE, course_of(series[spoken(session, "client")]), strict=True):
            values[f"client_{kind}_disclosure_{part}"] = value
    for role in PAIR:
        values[f"{role}_words_disclosed_per_turn"] = mean_column(found.words[spoken(session, role)])
    return values


def course_of(series: Floats) -> tuple[float, float, float, float]:
    """Return the means of the three thirds of defined values (n,), and their slope from the first (0) to the last (1).

    All are nan for fewer than three values.

    Examples
    --------
    >>> [round(one, 3) for one in course_of(np.array([0.0, 0.2, 0.4, 0.6, 0.8, 1.0]))]
    [0.1, 0.5, 0.9, 1.0]
    """
    n = len(series)
    if n < _FEWEST_TURNS:
        return nan, nan, nan, nan
    first, last, off = round(n / 3), round(2 * n / 3), np.linspace(-0.5, 0.5, n)
    thirds = (series[:first], series[first:last], series[last:])
    early, middle, late = (float(one.mean()) for one in thirds)
    return early, middle, late, float(off @ series) / float(off @ off)
