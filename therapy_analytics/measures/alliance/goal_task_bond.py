"""Talk of goals, of tasks and of the bond: how near turns come in meaning to short statements of each.

What is near is decided by `_goal_task_bond`, from statements and distractors in ``goal_task_bond.toml``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf, nan
from typing import Any

import numpy as np

from therapy_analytics.behaviours.codebook import DEFAULT_CORRELATION
from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.meanings import STEPS, meanings
from therapy_analytics.measures import Column, measure, rate, rate_columns
from therapy_analytics.measures._base import Evidence, Value
from therapy_analytics.measures._turns import slopes
from therapy_analytics.measures.alliance._goal_task_bond import CONSTRUCTS, barred, counted, load_contrast
from therapy_analytics.measures.null.shuffles import DRAWS
from therapy_analytics.measures.null.summary import Bools, Floats
from therapy_analytics.session import Role

FEWEST_WORDS = 4
"""Shorter turns ("yeah, okay") have no score: words alone do not say what they agree to."""
FEWEST_TURNS = 4
"""Of so many turns with a score a slope is made; convergence needs half of them in the first and the last third."""
_ROLES: tuple[Role, Role] = ("therapist", "client")
_CORRELATIONS = {"therapist_task_talk_rate": 0.26}
"""How alike turns are where it is more than by default, by ``benchmarks/turn_rates.py``."""


def turn_scores(session: AnnotatedSession) -> Floats:
    """Return how much each turn sounds like talk of goals, of tasks and of the bond.

    Parameters
    ----------
    session : AnnotatedSession
        Any; it needs no codes.

    Returns
    -------
    float64 array (n_turns, 3)
        Columns as `CONSTRUCTS`; 0 is the threshold, in standard deviations of the distractors, at most 0 for
        denials; nan for turns of under `FEWEST_WORDS` words and of others than therapist and client.
    """
    found = np.full((len(session), len(CONSTRUCTS)), nan)
    spoken = meanings(session)
    has = (session.n_words >= FEWEST_WORDS) & (spoken.squares > 0) & ~session.spoken_by("other")
    if not has.any():
        return found
    contrast = load_contrast()
    cues, denied = counted(session.turns.tokens, session.turns.offsets, contrast.words, reach=contrast.reach)
    near = spoken.vectors[has] @ contrast.weights / STEPS**2  # of whole numbers: exact in whatever order
    scores = near + contrast.cue_weights * cues[has] + contrast.offsets
    found[has] = barred(scores, denied[has])
    return found


def convergence(
    places: Sequence[Floats], scores: Sequence[Floats], generator: Callable[[], np.random.Generator]
) -> tuple[Floats, Floats]:
    """Return how far two speakers' mean scores came nearer from the first third to the last, and the p of shuffles.

    Parameters
    ----------
    places, scores : two arrays each, (n,) and (n, n_columns)
        Of the one's turns and of the other's; places from 0 to 1.
    generator : callable
        Makes the random numbers of the shuffles, which give each speaker's turns another order; not asked for where
        there are too few turns.

    Returns
    -------
    convergence, p : float64 array (n_columns,)
        Distance of the means in the first third less that in the last; share of orders that converge at least as much.

    Examples
    --------
    Apart by 2 at first, by 0.5 at last:

    >>> places = np.array([0.0, 0.1, 0.9, 1.0])
    >>> one, other = np.zeros((4, 1)), np.array([[2.0], [2.0], [0.5], [0.5]])
    >>> float(convergence([places, places], [one, other], lambda: np.random.default_rng(0))[0][0])
    1.5
    """
    width = scores[0].shape[1]
    thirds = [np.minimum((3 * one).astype(np.int8), np.int8(2)) for one in places]
    enough = all(np.count_nonzero(one == part) >= FEWEST_TURNS // 2 for one in thirds for part in (0, 2))
    if not enough:
        return np.full(width, nan), np.full(width, nan)
    random = generator()
    orders = [np.vstack([one, random.permuted(np.broadcast_to(one, (DRAWS, len(one))), axis=1)]) for one in thirds]
    first, last = (
        np.abs(_means(orders[0] == part, scores[0]) - _means(orders[1] == part, scores[1])) for part in (0, 2)
    )
    nearer = first - last
    return nearer[0], np.count_nonzero(nearer >= nearer[0] - 1e-9, axis=0) / (DRAWS + 1)


def _means(which: Bools, scores: Floats) -> Floats:
    """Return the mean of the rows that each order takes, (n_orders, n_columns); all orders take as many."""
    return np.asarray(which.astype(np.float64) @ scores / np.count_nonzero(which[0]))


_ABOUT = {
    "goal": "what the two want to reach: changes hoped for, what matters most, whether both want the same",
    "task": "how the two work: what to do in and between sessions, whether that way of working fits",
    "bond": "how the two stand to one another: trust, liking, respect, care, feeling safe and understood",
}
_EVIDENCE = {
    "goal": "Weak evidence: no better than a plain count of keywords on 95 statements written after the contrast's "
    "own (AUC .82 and .82), better on 65 more that avoid the usual words (.78 and .54), of which it finds 4"
    " in 10. Of the 30 highest turns of two corpora about 7 in 10 were judged to be of it; goals of other "
    "people, and elsewhere, pass. Where change is the topic, most turns may count",
    "task": "Weak evidence: not surely better than a plain count of keywords on 95 statements written after the "
    "contrast's own (AUC .85 and .78; 95% interval of the difference -.06 to .18), better on 65 more that "
    "avoid the usual words (.80 and .49), of which it finds 5 in 10. Of the 30 highest turns of two corpora"
    " about 6 in 10 were judged to be of it; plans and exercise of other kinds pass",
    "bond": "Better than a plain count of keywords on 95 statements written after the contrast's own (AUC .94 and "
    ".70; 95% interval of the difference .13 to .36) and on 65 more that avoid the usual words (.84 and "
    ".47), but it finds only 1 in 10 of those. Of the 30 highest turns of two corpora about 5 in 10 were "
    "judged to be of it: polite thanks and greetings count",
}
_PROXY = (
    "A proxy of what is talked about, not a rating of alliance: the best text-only result known explains little (rho = "
    ".15 with client-rated alliance over 1,235 sessions). "
)
_SOURCE = (
    "This package's own; constructs after Bordin, E. S. (1979). The generalizability of the psychoanalytic concept of "
    "the working alliance. Psychotherapy: Theory, Research & Practice, 16"
)
_FORMULA = (
    "linear contrast (ridge) of the turn's vector of meaning and its cue words between the package's statements and "
    "distractors; 0 is passed by 5% of distractors that were left out, whose standard deviation is the unit; at most 0 "
    f"where a word of denial stands before a word of the construct; none under {FEWEST_WORDS} words"
)
_DENIALS = (
    "Questions and wishes count as much as accord. Denials without a word of denial right there ('no idea what my goal "
    "is', 'useless', irony, 'yes, but') pass; double denials ('could not agree more') are lost. Vectors are means over "
    "words, so a few words in a long turn drown"
)


def _verdict(name: str) -> Evidence:
    return "supported" if name == "bond" else "weak"


def _turn_column(name: str) -> Column:
    return Column(
        name=f"{name}_talk_turn",
        meaning=f"How much the turn sounds like talk of {_ABOUT[name]}",
        unit="standard deviations",
        low=-inf,
        high=inf,
        high_means=f"above 0: counted as {name} talk",
        formula=_FORMULA,
        misleads=f"{_PROXY}{_EVIDENCE[name]}. {_DENIALS}",
        source=_SOURCE,
        evidence=_verdict(name),
        level="turn",
    )


def _session_columns(name: str) -> list[Column]:
    misleads = f"{_PROXY}{_EVIDENCE[name]}. {_DENIALS}"
    about: dict[str, Any] = {"source": _SOURCE, "misleads": misleads, "unit": "standard deviations"}
    about["evidence"] = _verdict(name)
    found = []
    for role in _ROLES:
        share = Column(
            name=f"{role}_{name}_talk_rate",
            meaning=f"Share of the {role}'s turns that sound like talk of {_ABOUT[name]}",
            low=0,
            high=1,
            high_means=f"more talk of {name}s",
            formula=f"turns of the {role} with {name}_talk_turn above 0 / those of {FEWEST_WORDS} words or more",
            **about | {"unit": "proportion"},
        )
        slope = Column(
            name=f"{role}_{name}_talk_slope",
            meaning=f"How {name}_talk_turn of the {role} changes from the first turn of the session to the last",
            low=-inf,
            high=inf,
            high_means="above 0: rises over the session",
            formula=f"slope of least squares of {name}_talk_turn on the turn's place (first 0, last 1)",
            **about,
        )
        found += [*rate_columns(share, counted=f"{role.title()} turns of {name} talk"), slope]
    return [*found, *_convergence_columns(name, about)]


def _convergence_columns(name: str, about: Mapping[str, Any]) -> list[Column]:
    value = Column(
        name=f"{name}_talk_convergence",
        meaning=f"How far client and therapist come nearer in {name}_talk_turn from the first third to the last",
        low=-inf,
        high=inf,
        high_means="above 0: nearer at the end; below 0: apart",
        formula="|client's mean - therapist's mean| in the first third of the session's turns, less that in the last",
        **about,
    )
    p = replace(
        value,
        name=f"{value.name}_p",
        measure=value.name,
        statistic="p",
        meaning=f"Share of shuffles that converge at least as much as {value.name}",
        unit="probability",
        low=0,
        high=1,
        high_means="low: more than shuffles give",
        formula=f"share of {DRAWS} seeded shuffles of each speaker's turns, with the session itself",
    )
    return [value, p]


@measure(columns=[*map(_turn_column, CONSTRUCTS), *(one for name in CONSTRUCTS for one in _session_columns(name))])
def goal_task_bond(session: AnnotatedSession) -> dict[str, Value]:
    """Find talk of goals, of tasks and of the bond, by nearness in meaning to short statements of each.

    High rates mean that more turns are about what the two want to reach, how they work, or how they stand to one
    another; whether they agree on it is not known. See `turn_scores` and `convergence`.

    Notes
    -----
    The statements, the distractors and the words of denial are this package's own (``goal_task_bond.toml``).

    References
    ----------
    This package's own. Constructs: Bordin, E. S. (1979). The generalizability of the psychoanalytic concept of the
    working alliance. Psychotherapy: Theory, Research & Practice, 16, 252-260. On how little text says of alliance:
    Goldberg, S. B., et al. (2020). Machine learning and natural language processing in psychotherapy research:
    Alliance as example use case. Journal of Counseling Psychology, 67, 438-448.
    """
    scores = session.cached(turn_scores)
    has = ~np.isnan(scores[:, 0])
    places = np.linspace(0.0, 1.0, len(session)) if len(session) else np.zeros(0)
    sides = [np.flatnonzero(has & session.spoken_by(role)) for role in _ROLES]
    own = [places[one] for one in sides], [scores[one] for one in sides]
    nearer, p = convergence(*own, lambda: session.generator(6))
    values: dict[str, Value] = {f"{name}_talk_turn": scores[:, i] for i, name in enumerate(CONSTRUCTS)}
    for role, turns in zip(_ROLES, sides, strict=True):
        of = has & session.spoken_by(role)
        steep = slopes(places[turns], scores[turns]) if len(turns) >= FEWEST_TURNS else np.full(len(CONSTRUCTS), nan)
        for i, construct in enumerate(CONSTRUCTS):
            name = f"{role}_{construct}_talk_rate"
            alike = _CORRELATIONS.get(name, DEFAULT_CORRELATION)
            values |= rate(name, scores[:, i] > 0, of, correlation=alike)
            values[f"{role}_{construct}_talk_slope"] = float(steep[i])
    for name, one, other in zip(CONSTRUCTS, nearer.tolist(), p.tolist(), strict=True):
        values |= {f"{name}_talk_convergence": one, f"{name}_talk_convergence_p": other}
    return values
