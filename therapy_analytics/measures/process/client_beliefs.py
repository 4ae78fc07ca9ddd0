"""Distorted thoughts and negative core beliefs that the client voices."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

import numpy as np

from therapy_analytics.behaviours.distortions import BALANCED, BELIEFS, VOICED, distorted
from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure, rate, rate_columns
from therapy_analytics.measures._base import OnPage, Shown, Value

_CORPUS = (
    "This package's own model, trained on the letters of Shreevastava, S., & Foltz, P. (2021), Detecting cognitive "
    "distortions from patient-therapist interactions, CLPsych 2021"
)
_OWN = "This package's own; the beliefs are those of Beck, J. S. (2021), Cognitive behavior therapy, 3rd ed."
_MISLEADS = (
    "Learnt from letters that ask for advice, not from sessions: of the turns found in sessions, most read as plain "
    "worry. A thought that looks distorted may be true, or somebody else's: look at the turn. Not a diagnosis"
)
_LONG = f"{_MISLEADS}. Long turns have more sentences that may be distorted: read it beside the words per turn"
_BELIEFS_MISLEAD = (
    "Learnt from clear sentences of our own, so indirect ones are missed and irony, negation and other people's words "
    "mistaken. Rare in sessions: most turns found may be false. Not a diagnosis"
)
_MEANS = {
    "helpless": "helpless, incompetent, weak, trapped or a failure",
    "unlovable": "unlovable, unwanted, or bound to be rejected or left",
    "worthless": "worthless, bad, undeserving or a burden",
}
_TURN = Column(
    name="distortion_probability",
    meaning="Probability that the client's turn voices a distorted thought (mind reading, overgeneralization, ...)",
    unit="probability",
    low=0,
    high=1,
    high_means="more surely distorted",
    formula="1 - product over the turn's sentences (windows of at most 30 words where they are longer) of 1 - p",
    misleads=_LONG,
    source=_CORPUS,
    level="turn",
    evidence="weak",
)
_RATE = replace(
    _TURN,
    name="client_distortion_rate",
    meaning="Share of the client's turns that voice a distorted thought",
    unit="proportion",
    high_means="more distorted thoughts in the client's words",
    formula=f"client turns with distortion_probability >= {BALANCED} / client turns with words",
    level="session",
)
_SHARE = replace(
    _RATE,
    name="client_distorted_words_share",
    meaning="Expected share of the client's words that stand in sentences with a distorted thought",
    formula="sum over the client's sentences (or windows) of words x p / words",
    misleads=f"{_MISLEADS}. It does not fall to 0: plain talk comes to a few per cent. Compare sessions",
)
_BELIEF_RATE = replace(
    _RATE,
    name="client_core_belief_rate",
    meaning="Share of the client's turns that voice a negative core belief: helpless, unlovable or worthless",
    high_means="more negative beliefs about the self",
    formula=f"client turns with any of the three probabilities >= {VOICED} / client turns with words",
    misleads=_BELIEFS_MISLEAD,
    source=_OWN,
)


def _belief_turn(belief: str) -> Column:
    return replace(
        _TURN,
        name=f"{belief}_probability",
        meaning=f"Probability that the client voices the belief to be {_MEANS[belief]}",
        high_means="more surely voiced",
        formula="greatest probability of the turn's sentences (windows of at most 30 words where they are longer)",
        misleads=_BELIEFS_MISLEAD,
        source=_OWN,
    )


def _belief_count(belief: str) -> Column:
    return replace(
        _BELIEF_RATE,
        name=f"n_client_{belief}",
        meaning=f"Client turns that voice the belief to be {_MEANS[belief]}",
        unit="count",
        high=inf,
        formula=f"client turns with {belief}_probability >= {VOICED}",
    )


_PAGE: dict[str, Shown] = {
    "client_distortion_rate": OnPage("client", "Voices a distorted thought"),
    "client_core_belief_rate": OnPage("client", "Voices a core belief about self"),
}


@measure(
    columns=[
        _TURN,
        *map(_belief_turn, BELIEFS),
        *rate_columns(_RATE, counted="Client turns with a distorted thought"),
        _SHARE,
        *rate_columns(_BELIEF_RATE, counted="Client turns with a negative core belief"),
        *map(_belief_count, BELIEFS),
    ],
    page=_PAGE,
)
def client_beliefs(session: AnnotatedSession) -> dict[str, Value]:
    """Find where the client voices distorted thoughts, and the beliefs to be helpless, unlovable or worthless.

    High means that more of the client's turns hold something that cognitive therapy would look at.

    Notes
    -----
    The models read a sentence at a time (`therapy_analytics.behaviours.distortions`). The three beliefs do not exclude
    each other. Few turns of a session voice a belief: the turns, not the rate, are what to look at.

    References
    ----------
    Beck, J. S. (2021). Cognitive behavior therapy: Basics and beyond (3rd ed.). Guilford.

    Shreevastava, S., & Foltz, P. (2021). Detecting cognitive distortions from patient-therapist interactions. CLPsych.
    """
    client = session.spoken_by("client") & (session.n_words > 0)
    found = distorted(session)
    p, beliefs = np.where(client, found.any, nan), np.where(client[:, None], found.beliefs, nan)
    # Comparisons with nan are False
    of_each = np.greater_equal(beliefs, VOICED)
    values: dict[str, Value] = {"distortion_probability": p}
    values |= {f"{name}_probability": one for name, one in zip(BELIEFS, np.ascontiguousarray(beliefs.T), strict=True)}
    values |= rate("client_distortion_rate", p >= BALANCED, client)
    values |= rate("client_core_belief_rate", np.any(of_each, axis=1), client)
    n = float(session.n_words[client].sum())
    values["client_distorted_words_share"] = float(found.words[client].sum()) / n if n else nan
    counts = of_each.sum(axis=0).tolist() if n else [nan] * len(BELIEFS)
    return values | {f"n_client_{name}": float(k) for name, k in zip(BELIEFS, counts, strict=True)}
