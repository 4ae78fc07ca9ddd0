"""What the client, and what the therapist, tells of themselves: feelings, facts, and when."""

from __future__ import annotations

from dataclasses import replace
from math import nan

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.codes.disclosure import KINDS, disclosed
from therapy_analytics.core.session import Role
from therapy_analytics.measures import Column, mean_column, measure
from therapy_analytics.measures.base import OnPage, Shown, Value
from therapy_analytics.measures.turns import slopes
from therapy_analytics.text import AnnotatedSession

Floats = NDArray[np.float64]
_ROLES: tuple[Role, Role] = ("client", "therapist")
_THIRDS = ("early", "middle", "late")
_SERIES = tuple(f"disclosure_{kind}_turn" for kind in KINDS)
_WHAT = {
    "emotional": "feelings of the speaker's own (emotional disclosure)",
    "informational": "facts about the speaker's own life (informational disclosure)",
}
_FEWEST_TURNS = 3
_MODEL = "This package's own model, trained on OffMyChest: Jaidka, K., et al. (2020), CL-Aff shared task, AffCon 2020"
_PROXY = (
    "A proxy for openness, not a rating of alliance; text alone explains little of rated alliance (rho = .15 over "
    "1,235 sessions). "
)
_MISLEADS = (
    _PROXY
    + "The model learnt from sentences of a forum, with labels that people agree little on: compare sessions, not "
    "single turns. It does not fall to 0: turns of a therapist who tells nothing come to about .2. Long turns have "
    "more sentences that may disclose"
)


def _series() -> list[Column]:
    return [
        Column(
            name=name,
            meaning=f"Probability that the turn tells {_WHAT[kind]}",
            unit="probability",
            low=0,
            high=1,
            high_means="more surely disclosing",
            formula="greatest probability of the turn's sentences (windows of at most 30 words where they are longer)",
            misleads=_MISLEADS,
            source=_MODEL,
            level="turn",
            evidence="weak",
        )
        for name, kind in zip(_SERIES, KINDS, strict=True)
    ]


def _role_columns(role: Role) -> list[Column]:
    means = [
        Column(
            name=f"{role}_{kind}_disclosure",
            meaning=f"How much the {role} tells {_WHAT[kind]}: mean probability of the {role}'s turns",
            unit="probability",
            low=0,
            high=1,
            high_means="more disclosure",
            formula=f"mean of disclosure_{kind}_turn over {role} turns with words",
            misleads=_MISLEADS,
            source=_MODEL,
            evidence="weak",
            core=(role, kind) == ("client", "emotional"),
        )
        for kind in KINDS
    ]
    words = Column(
        name=f"{role}_words_disclosed_per_turn",
        meaning=f"Words in sentences in which the {role} discloses feelings or facts, as expected, per turn",
        unit="words",
        low=0,
        high=np.inf,
        high_means="more is disclosed",
        formula=f"sum over sentences of words x (1 - (1 - p emotional)(1 - p informational)) / {role} turns with words",
        misleads=_MISLEADS + ". Grows with words per turn: read it beside them",
        source=_MODEL,
        evidence="weak",
    )
    return [*means, words]


def _course_columns(kind: str) -> list[Column]:
    column = Column(
        name="",
        meaning="",
        compare="part",
        unit="probability",
        low=0,
        high=1,
        high_means="more disclosure",
        formula=f"mean of disclosure_{kind}_turn over that third of the client's turns with words (by number)",
        misleads=_MISLEADS + ". Few turns make it unsteady",
        source=_MODEL,
        evidence="weak",
    )
    of = f"client_{kind}_disclosure"
    thirds = [
        replace(column, name=f"{of}_{third}", meaning=f"{of} in the {third} third of the client's turns")
        for third in _THIRDS
    ]
    slope = replace(
        column,
        name=f"{of}_slope",
        meaning=f"How {of} changes from the client's first turn to the last",
        low=-np.inf,
        high=np.inf,
        high_means="disclosure rises along the session",
        formula=f"slope of least squares of disclosure_{kind}_turn on the place among the client's turns, 0 to 1",
    )
    return [*thirds, slope]


_PAGE: dict[str, Shown] = {
    "client_emotional_disclosure": OnPage("client", "Discloses feelings"),
}


@measure(
    columns=[
        *_series(),
        *(column for role in _ROLES for column in _role_columns(role)),
        *(column for kind in KINDS for column in _course_columns(kind)),
    ],
    core=13,
    page=_PAGE,
)
def self_disclosure(session: AnnotatedSession) -> dict[str, Value]:
    """Estimate how much each of the two tells of themselves, turn by turn and over the session.

    High means that more turns tell the speaker's own feelings or facts. Of the client it may go with trust and with
    being in distress alike; of the therapist it is another matter and stands apart.

    Notes
    -----
    Turns without words are undefined, and so is what a role without words has. See
    `therapy_analytics.codes.disclosure` for the model, `courses` for thirds and slope.

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
    values: dict[str, Value] = dict(zip(_SERIES, np.ascontiguousarray(found.turns.T), strict=True))
    for role in _ROLES:
        of = session.spoken_by(role) & (session.n_words > 0)
        for kind, series in zip(KINDS, found.turns.T, strict=True):
            values[f"{role}_{kind}_disclosure"] = mean_column(series[of])
        values[f"{role}_words_disclosed_per_turn"] = mean_column(found.words[of])
    client = session.spoken_by("client") & (session.n_words > 0)
    for kind, course in zip(KINDS, courses(found.turns[client]).tolist(), strict=True):
        for part, value in zip((*_THIRDS, "slope"), course, strict=True):
            values[f"client_{kind}_disclosure_{part}"] = value
    return values


def courses(series: Floats) -> Floats:
    """Return the means of the three thirds of series, and their slopes from the first value (0) to the last (1).

    Parameters
    ----------
    series : float64 array (n_values, n_columns)
        Defined values, in order.

    Returns
    -------
    float64 array (n_columns, 4)
        Nan for fewer than three values.

    Examples
    --------
    >>> courses(np.array([[0.0], [0.2], [0.4], [0.6], [0.8], [1.0]])).round(3).tolist()
    [[0.1, 0.5, 0.9, 1.0]]
    """
    n, n_columns = series.shape
    if n < _FEWEST_TURNS:
        return np.full((n_columns, 4), nan)
    first, last = round(n / 3), round(2 * n / 3)
    thirds = [series[:first], series[first:last], series[last:]]
    steep = slopes(np.linspace(0.0, 1.0, n), series)
    return np.stack([*(one.mean(axis=0) for one in thirds), steep], axis=1)
