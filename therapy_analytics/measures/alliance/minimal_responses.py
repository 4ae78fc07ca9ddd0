"""When the client answers with a minimal response only: early or late, after questions, after input."""

from __future__ import annotations

from math import nan

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure, rate, rate_columns

_MINIMAL = "conversation.minimal_responses"
_PLACES: dict[str, str] = {
    "first_third": "in the first third of the session's turns",
    "last_third": "in the last third of the session's turns",
    "after_question": "after a therapist turn that asks",
    "after_input": "after a therapist turn that informs or advises",
    "otherwise": "after a therapist turn that neither asks, informs nor advises",
}
_CHANGE = "client_minimal_response_change"
_PROXY = "A proxy of withdrawal beside the client's own baseline, not a rating of alliance. "
_SHORT = "Short sessions have few turns in each place: see the interval. Transcribers and captions drop backchannels"


def _name(place: str) -> str:
    return f"client_minimal_response_{place}_rate"


def _columns(place: str) -> list[Column]:
    by_coder = "The codes are the tagger's. " if place not in {"first_third", "last_third"} else ""
    column = Column(
        name=_name(place),
        meaning=f"Share of client turns {_PLACES[place]} that are nothing but a minimal response",
        unit="proportion",
        low=0,
        high=1,
        high_means="the client says less there",
        formula=f"client turns {_PLACES[place]} of which every word is a minimal response / such turns with words",
        misleads=f"{_PROXY}{by_coder}A closed question or a long account asks for no more than 'yeah'. {_SHORT}",
        source="This package's own",
        evidence="untested",
    )
    return rate_columns(column, counted=f"Client turns {_PLACES[place]} that are a minimal response")


_CHANGE_COLUMN = Column(
    name=_CHANGE,
    meaning="Minimal responses of the client in the last third of the session compared with the first",
    unit="difference of proportions",
    low=-1,
    high=1,
    high_means="above 0: the client says less towards the end",
    formula=f"{_name('last_third')} - {_name('first_third')}",
    misleads=_PROXY + "Sessions close with plans and farewells, which need few words. " + _SHORT,
    source="This package's own",
    evidence="untested",
)


@measure(columns=[*(column for place in _PLACES for column in _columns(place)), _CHANGE_COLUMN])
def minimal_responses(session: AnnotatedSession) -> dict[str, float]:
    """Count client turns that are nothing but a minimal response, by where they stand.

    A high rate means that many of the client's turns there say nothing beyond "yeah" or "mm-hm". If one of two client
    turns of the first third is "yeah", and both of the last third are, the rates are 0.5 and 1, and the change is 0.5.

    Notes
    -----
    Thirds are of the session's turns; a turn that both asks and informs counts under both.

    References
    ----------
    This package's own.
    """
    minimal, of = session.consists_of(_MINIMAL), session.spoken_by("client") & (session.n_words > 0)
    values: dict[str, float] = {}
    places, nowhere = _places(session), np.zeros(len(session), dtype=np.bool_)
    for place in _PLACES:
        found = rate(_name(place), minimal, of & places.get(place, nowhere))
        values.update(found if place in places else dict.fromkeys(found, nan))
    values[_CHANGE] = values[_name("last_third")] - values[_name("first_third")]
    return values


def _places(session: AnnotatedSession) -> dict[str, NDArray[np.bool_]]:
    """Return the turns in each place; those after codes only where the run has the codes."""
    n = len(session)
    third = np.arange(n) * 3 // max(n, 1)
    found = {"first_third": third == 0, "last_third": third == 2}
    if session.has("mi_question", "mi_input"):
        asks, informs = session.decided("mi_question"), session.decided("mi_input")
        neither = session.spoken_by("therapist") & (session.n_words > 0) & ~asks & ~informs
        for place, before in (("after_question", asks), ("after_input", informs), ("otherwise", neither)):
            found[place] = np.append(False, before[:-1])[:n]
    return found
