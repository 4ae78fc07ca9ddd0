"""Categorical cross-recurrence: which words, or classes of words, of the one return in what the other says."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure
from therapy_analytics.measures._base import Value
from therapy_analytics.measures.synchrony._chance import DRAWS
from therapy_analytics.measures.synchrony._recurrence_counts import NAMES, counts_in_orders, counts_of, values_of_counts
from therapy_analytics.measures.synchrony._recurrence_lags import LagProfile, lag_profile
from therapy_analytics.measures.synchrony._recurrence_points import (
    DIAGONAL,
    REACH,
    VERTICAL,
    Ints,
    Plot,
    Series,
    lay_out,
    lines,
    n_cells,
    points,
)
from therapy_analytics.measures.synchrony._recurrence_said import (
    class_series,
    plot_values,
    session_runs,
    word_series,
)
from therapy_analytics.measures.synchrony._recurrence_values import VALUES, Floats, Found, Recurrence, values_of
from therapy_analytics.measures.synchrony._whole import Generator, Side, Whole, parts_of, whole_columns, whole_values

__all__ = [
    "CLASSES",
    "REACH",
    "VALUES",
    "WORDS",
    "LagProfile",
    "Recurrence",
    "Series",
    "class_series",
    "cross_recurrence",
    "lag_profile",
    "recurrence",
    "word_series",
]


def cross_recurrence(x: Series, y: Series, *, reach: int | None = REACH, cut_at_turns: bool = False) -> Recurrence:
    """Quantify the cross-recurrence plot of what the therapist says and what the client says.

    Word i of the therapist and word j of the client make a recurrent point (i, j) when they are alike. High
    `rate`: the two use the same words (or classes); high `determinism` and long lines: in the same order.

    Parameters
    ----------
    x, y : Series
        The therapist's words, and the client's.
    reach : int or None
        Only words whose turns lie at most so many turns apart are compared, so that the cost goes with the length
        of the session, that words an hour apart do not count as synchrony, and that the order of turns matters.
        5 is the three nearest turns on either side where two alternate. None: the whole plot, the values of the
        R package crqa (delay 1, embed 1, radius near 0, lines from 2, side both, no Theiler window). Its rate
        does not depend on the order of turns at all.
    cut_at_turns : bool
        Whether lines end where a turn of either ends. Classically they do not: all that one speaker says is one
        series. The columns of sessions have them cut.

    Returns
    -------
    Recurrence
        With each value's unit and range. All nan, and counts 0, when one of the two says nothing in reach.

    Notes
    -----
    The rate of words grows as vocabulary gets small, that of classes as they get few: compare sessions by their
    distance from chance (`recurrence_rate_z` of the sessions table) only. Words of no class stay in the
    denominator of `rate`. Time and memory go with the number of recurrent points, memory with that of a block
    of them.

    References
    ----------
    Coco, M. I., & Dale, R. (2014). Cross-recurrence quantification analysis of categorical and continuous time
    series: an R package. Frontiers in Psychology, 5, 510.

    Marwan, N., Romano, M. C., Thiel, M., & Kurths, J. (2007). Recurrence plots for the analysis of complex
    systems. Physics Reports, 438, 237-329.

    Fusaroli, R., & Tylen, K. (2016). Investigating conversational dynamics: interactive alignment, interpersonal
    synergy, and collective task performance. Cognitive Science, 40, 145-171.

    Examples
    --------
    The therapist says "you feel lost", the client "I feel lost": 2 points of 9, on one line of 2.

    >>> you, feel, lost, i = range(4)
    >>> found = cross_recurrence(Series.of([you, feel, lost], [0, 0, 0]), Series.of([i, feel, lost], [1, 1, 1]))
    >>> round(found.rate, 3), found.determinism, found.mean_line
    (0.222, 1.0, 2.0)
    """
    plot = lay_out(x, y, reach=reach, cut_at_turns=cut_at_turns)
    sides = ((-plot.reach, plot.reach), (1, plot.reach), (-plot.reach, -1))
    cells = np.array([n_cells(x, y, first=first, last=last) for first, last in sides], dtype=np.float64)
    found = Found(cells, np.zeros(3), np.zeros(2), np.zeros(0))
    for i, j in points(plot):
        found = _with_those_of(found, plot, i, j)
    return values_of(found)


def _with_those_of(found: Found, plot: Plot, i: Ints, j: Ints) -> Found:
    """Return the counts with those of one more block of points."""
    lag = plot.y_turn[j] - plot.x_turn[i]
    n_points = np.array([len(i), np.count_nonzero(lag > 0), np.count_nonzero(lag < 0)], dtype=np.float64)
    tall = lines(plot, i, j, step=VERTICAL)[1]
    vertical = np.array([len(tall), tall.sum()], dtype=np.float64)
    counts = np.bincount(lines(plot, i, j, step=DIAGONAL)[1], minlength=len(found.lines)).astype(np.float64)
    counts[: len(found.lines)] += found.lines
    return Found(found.cells, found.points + n_points, found.vertical + vertical, counts)


_SOURCE = (
    "Coco, M. I., & Dale, R. (2014). Cross-recurrence quantification analysis of categorical and continuous time "
    "series: an R package. Frontiers in Psychology 5"
)
_MISLEADS = (
    "Not a quality score. It grows as vocabulary gets small and turns long; above chance means nearness, also that of "
    "two who stay with a topic for some turns each for reasons of their own. Compare sessions by z alone"
)
_NO_CHANCE = "Not a quality score, and not set beside chance: compare recurrence_determinism between sessions instead"
_RATE = Column(
    name="recurrence_rate",
    meaning="Share of pairs of words, one of each speaker, that are the same word",
    unit="proportion",
    low=0,
    high=1,
    direction="higher: the two use the same words near each other",
    formula=f"equal pairs / all pairs of words whose turns lie at most {REACH} turns apart",
    misleads=_MISLEADS,
    source=_SOURCE,
    evidence="supported",
)
_DETERMINISM = replace(
    _RATE,
    name="recurrence_determinism",
    meaning="Share of the words in common that stand in a run of two or more words that both say",
    direction="higher: the two use the same words in the same order",
    formula=f"equal pairs on diagonal lines of two or more / equal pairs, of words whose turns lie at most {REACH} "
    "turns apart; lines end with the turn",
    misleads=f"{_MISLEADS}. 0 where words are in common and no run is; little is known of it where few words are",
)
_MEAN_LINE = replace(
    _DETERMINISM,
    name="recurrence_mean_line",
    meaning="Mean length of the runs of two or more words that both say",
    unit="words",
    low=2,
    high=inf,
    direction="higher: longer wordings in common",
    formula="equal pairs on diagonal lines / diagonal lines, as in recurrence_determinism",
    misleads=f"{_MISLEADS}. Rests on few runs: one long formula moves it",
    evidence="weak",
)
_BALANCE = replace(
    _RATE,
    name="recurrence_balance",
    meaning="Who takes up whose words: recurrence where the client speaks later, less where the therapist does",
    unit="difference of proportions",
    low=-1,
    direction="above 0: the client takes up the therapist's words more than the other way round",
    formula=f"equal pairs / pairs of words, the client's turn 1 to {REACH} turns later, minus the same for earlier",
    misleads=f"{_MISLEADS}. Seldom beyond chance in a single session",
)
_CLASS_RATE, _CLASS_DETERMINISM = (
    replace(one, name=f"recurrence_class_{name}", meaning=meaning, direction=direction, misleads=misleads)
    for one, name, meaning, direction, misleads in (
        (
            _RATE,
            "rate",
            "Share of pairs of words, one of each speaker, that are function words of the same class",
            "higher: the two use the same few classes of function words near each other",
            f"{_MISLEADS}. Near chance in most sessions",
        ),
        (
            _DETERMINISM,
            "determinism",
            "Share of the pairs of like function words that stand in a run of like function words",
            "higher: the two string function words together alike",
            f"{_MISLEADS}. Words of no class end a run",
        ),
    )
)
_PLAIN = [
    replace(
        _MEAN_LINE,
        name="recurrence_longest_line",
        meaning="Length of the longest run of words that both say",
        formula="length of the longest diagonal line, as in recurrence_determinism",
        misleads=f"{_NO_CHANCE}. Grows with the length of the session",
    ),
    replace(
        _MEAN_LINE,
        name="recurrence_entropy",
        meaning="How much the runs of two or more words that both say differ in length",
        unit="nats",
        low=0,
        direction="higher: wordings of many lengths in common; 0: all of one length",
        formula="Shannon entropy of the lengths of diagonal lines, as in recurrence_determinism",
        misleads=f"{_NO_CHANCE}. Grows with the number of runs, and rests on few",
    ),
    replace(
        _RATE,
        name="recurrence_laminarity",
        meaning="Share of the words in common where the client says a word of the therapist twice or more in a row",
        direction="higher: the client dwells on single words of the therapist",
        formula="equal pairs on vertical lines of two or more / equal pairs, of words whose turns lie at most "
        f"{REACH} turns apart; lines end with the turn",
        misleads=f"{_NO_CHANCE}. Cut at turn ends, so that 'yeah' in turn after turn does not count",
    ),
]


_COLUMNS = (_RATE, _DETERMINISM, _MEAN_LINE, _BALANCE, _CLASS_RATE, _CLASS_DETERMINISM)
_ROWS = [0, 1, 2, 3, len(NAMES), len(NAMES) + 1]
"""Which of the values of words, and of classes, have columns."""


def _values(therapist: Side, client: Side) -> list[float]:
    found: list[float] = values_of_counts(counts_of(therapist, client, reach=REACH))[_ROWS].tolist()
    return found


def _many(therapists: Side, clients: Side) -> Floats:
    if len(clients.turns) == 1:
        counts = [counts_of(therapists, clients.speakers()[0], reach=REACH)]
    else:
        counts = [counts_of(one, clients, reach=REACH) for one in therapists.speakers()]
    shape = len(therapists.turns), len(clients.turns), len(_COLUMNS)
    return np.concatenate([values_of_counts(one)[_ROWS].T for one in counts]).reshape(shape)


def _shuffled(therapist: Side, client: Side, generator: Generator) -> Floats:
    counts = counts_in_orders(therapist, client, generator(), reach=REACH, draws=DRAWS)
    return np.ascontiguousarray(values_of_counts(counts)[_ROWS].T)


_BOTH = Whole(
    name="recurrence",
    columns=_COLUMNS,
    represent=session_runs,
    values=_values,
    many=_many,
    shuffled=_shuffled,
    itself_first=True,
    two_sided=(_BALANCE.name,),
)
WORDS, CLASSES = parts_of(_BOTH, {"recurrence_words": slice(4), "recurrence_classes": slice(4, 6)})


@measure(columns=[*whole_columns(_BOTH), *_PLAIN])
def recurrence(session: AnnotatedSession) -> dict[str, Value]:
    """Find which words, and classes of function words, of the one return within five turns of the other.

    High rate: the two use the same words near each other; high determinism and mean line: in
    the same order; balance above 0: the client takes up the therapist's words. See
    `cross_recurrence` for the formulas as an example, and for other values of the method, of
    `word_series` and `class_series` of a session.

    Notes
    -----
    Lines are cut where a turn ends, because no line survives when turns are moved. It hardly
    matters: in 87 sessions of motivational interviewing determinism of words is .149 instead of
    .152, of function-word classes .176 instead of .180 (r = .99 between sessions). Laminarity
    is at chance in those sessions, and entropy of lines exceeds it less often than determinism
    does: they and the longest line stand here as they are, without chance beside them. Laminarity of
    words is .037 in those sessions, and .051 where lines run on into the next turn (r = .5).

    Above chance means nearness, not yet imitation. Of 400 simulated pairs who change their topic
    independently at every other turn, 6 per cent lay beyond the 5 per cent limit of the rate; of
    those who do at every fifth, 16 per cent (4 if turns are independent).

    References
    ----------
    Coco, M. I., & Dale, R. (2014). Cross-recurrence quantification analysis of categorical and
    continuous time series: an R package. Frontiers in Psychology, 5, 510.

    Fusaroli, R., & Tylen, K. (2016). Investigating conversational dynamics: interactive
    alignment, interpersonal synergy, and collective task performance. Cognitive Science, 40, 145-171.
    """
    found = plot_values(session)
    plain = {column.name: getattr(found, column.name.removeprefix("recurrence_")) for column in _PLAIN}
    return whole_values(_BOTH, session) | plain
