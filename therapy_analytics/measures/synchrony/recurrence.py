"""Categorical cross-recurrence: which words, or classes of words, of the one return in what the other says."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from math import inf, nan

import numpy as np
from numpy.typing import ArrayLike

from therapy_analytics.errors import BadOptionError
from therapy_analytics.language import AnnotatedSession, builtin_lexicons
from therapy_analytics.language.integers import consecutive, distinct
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.measures import Column, measure
from therapy_analytics.measures._base import Value
from therapy_analytics.measures.null.shuffles import permutations
from therapy_analytics.measures.null.summary import Floats
from therapy_analytics.measures.null.surrogates import Ints, TokenRows, spoken_turns
from therapy_analytics.measures.synchrony.alignment import count_ngrams
from therapy_analytics.measures.synchrony.tables import session_columns, session_values
from therapy_analytics.measures.synchrony.whole_session import SessionMeasure, Side, session_measure

REACH = 5
"""Only words whose turns lie at most so many turns apart are compared."""
SECTION = 250
"""Turns of the client that are shuffled among themselves: a longer session falls into several such sections."""


@dataclass(frozen=True, slots=True)
class Series:
    """What one of the two says, word after word.

    Attributes
    ----------
    ids : int64 array (n_words,)
        What each word is: its type, or its function-word class. Negative: nothing, and never recurrent.
    turn : int64 array (n_words,)
        Position of each word's turn in the session, from 0, never falling. Turns without words are left out.
    """

    ids: Ints
    turn: Ints

    @classmethod
    def of(cls, ids: ArrayLike, turn: ArrayLike) -> Series:
        """Return a series of anything that numpy reads as two lists of whole numbers.

        Raises
        ------
        BadOptionError
            The two differ in length, or the turns are negative or out of order.
        """
        series = cls(np.asarray(ids, dtype=np.int64), np.asarray(turn, dtype=np.int64))
        if series.ids.shape != series.turn.shape or series.ids.ndim != 1:
            raise BadOptionError("turn", "there must be one position for each word", "Give two lists of one length")
        if len(series) and (series.turn[0] < 0 or np.any(np.diff(series.turn) < 0)):
            raise BadOptionError("turn", "positions are negative or fall", "Give the words in the order of the session")
        return series

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class Recurrence:
    """Values of a cross-recurrence plot; what is undefined is nan.

    Attributes
    ----------
    rate : float
        RR: share of recurrent points among all pairs of words that are compared, 0 to 1 (crqa: per cent).
    determinism : float
        DET: share of the recurrent points that lie on diagonal lines of two or more, 0 to 1; 0 when there are
        points but no line (crqa: NA).
    mean_line, longest_line : float
        L and LMAX: mean and greatest length of the diagonal lines, in words, from 2; nan without lines (crqa: 0).
    entropy : float
        ENTR: Shannon entropy of the lengths of diagonal lines, in nats, from 0.
    relative_entropy : float
        rENTR: `entropy` divided by the logarithm of the number of different lengths, 0 to 1; nan for one length.
    laminarity : float
        LAM: share of the recurrent points on vertical lines (two or more words of the client in a row that are
        like one word of the therapist), 0 to 1.
    trapping_time : float
        TT: mean length of the vertical lines, in words, from 2.
    balance : float
        Recurrence rate where the client's word comes later, minus where it comes earlier, -1 to 1. Above 0: the
        client takes up the therapist's words more than the therapist takes up the client's.
    n_points, n_lines : float
        Recurrent points, and diagonal lines of two or more.
    """

    rate: float = nan
    determinism: float = nan
    mean_line: float = nan
    longest_line: float = nan
    entropy: float = nan
    relative_entropy: float = nan
    laminarity: float = nan
    trapping_time: float = nan
    balance: float = nan
    n_points: float = 0.0
    n_lines: float = 0.0


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

    Raises
    ------
    BadOptionError
        The reach is below 1.

    Returns
    -------
    Recurrence
        With each value's unit and range. All nan, and counts 0, when one of the two says nothing in reach.

    Notes
    -----
    The rate of words grows as vocabulary gets small, that of classes as they get few: compare sessions by their
    distance from chance (`recurrence_rate_z` of the sessions table) only. Words of no class stay in the
    denominator of `rate`. Time and memory go with the number of recurrent points.

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
    if reach is not None and reach < 1:
        raise BadOptionError("reach", "no two turns of different speakers are that close", "Give 1 or more, or None")
    furthest = max((int(one.turn[-1]) for one in (x, y) if len(one)), default=0)
    far = furthest if reach is None else min(reach, furthest)
    i, j = _points(x, y, far)
    lag = y.turn[j] - x.turn[i]
    n_points = np.array([len(i), np.count_nonzero(lag > 0), np.count_nonzero(lag < 0)])
    n_cells = np.array([_n_cells(x, y, *lags) for lags in ((-far, far), (1, far), (-far, -1))])
    rate, later, earlier = _ratio(n_points, n_cells).tolist()
    diagonal, vertical = (_lines(x, y, i, j, step=step, cut_at_turns=cut_at_turns) for step in ((1, 1), (0, 1)))
    shares = np.unique(diagonal, return_counts=True)[1] / max(len(diagonal), 1)
    entropy = abs(float(shares @ np.log(shares))) if len(diagonal) else nan
    return Recurrence(
        rate=rate,
        determinism=float(_ratio(diagonal.sum(), len(i))),
        mean_line=float(_ratio(diagonal.sum(), len(diagonal))),
        longest_line=float(diagonal.max()) if len(diagonal) else nan,
        entropy=entropy,
        relative_entropy=float(_ratio(entropy, np.log(max(len(shares), 1)))),
        laminarity=float(_ratio(vertical.sum(), len(i))),
        trapping_time=float(_ratio(vertical.sum(), len(vertical))),
        balance=later - earlier,
        n_points=float(len(i)),
        n_lines=float(len(diagonal)),
    )


def _points(x: Series, y: Series, reach: int) -> tuple[Ints, Ints]:
    """Return the recurrent points, as places in `x` and in `y`, (n_points,) each.

    Once `y` is sorted by id and turn, the words of `y` in reach that are like a word of `x` stand side by side.
    """
    rank = np.unique(np.concatenate([x.ids, y.ids]), return_inverse=True)[1]
    span = int(max(x.turn.max(initial=0), y.turn.max(initial=0))) + 2 * reach + 2
    x_key, y_key = rank[: len(x)] * span + x.turn, rank[len(x) :] * span + y.turn + reach
    order = np.argsort(y_key, kind="stable")
    first, end = np.searchsorted(y_key[order], [x_key, x_key + 2 * reach + 1])
    places, i = consecutive(first, np.where(x.ids >= 0, end - first, 0))
    return i, order[places]


def _lines(x: Series, y: Series, i: Ints, j: Ints, *, step: tuple[int, int], cut_at_turns: bool) -> Ints:
    """Return the lengths of the lines of two points or more, diagonal by steps (1, 1) and vertical by (0, 1)."""
    across = i - j if step == (1, 1) else i
    order = np.lexsort((j, across))
    i, j = i[order], j[order]
    goes_on = (np.diff(i) == step[0]) & (np.diff(j) == step[1])
    if cut_at_turns:
        goes_on &= (np.diff(x.turn[i]) == 0) & (np.diff(y.turn[j]) == 0)
    begins = np.flatnonzero(np.append(len(i) > 0, ~goes_on)[: len(i)])
    lengths = np.diff(np.append(begins, len(i)))
    return lengths[lengths > 1]


def _n_cells(x: Series, y: Series, first: int, last: int) -> int:
    """Return how many pairs of words have their turns ``first`` to ``last`` apart (y's position less x's)."""
    begin, end = (np.searchsorted(y.turn, x.turn + lag) for lag in (first, last + 1))
    return int(np.sum(end - begin))


def _ratio(part: ArrayLike, whole: ArrayLike) -> Floats:
    """Return one divided by the other; nan where the other is 0."""
    found = np.full(np.shape(whole), nan)
    np.divide(part, whole, out=found, where=np.greater(whole, 0))
    return found


# ---- of a session


def words_and_classes(session: AnnotatedSession) -> TokenRows:
    """Return the words of each turn, without punctuation: the key of each, and its class of function words, from 1."""
    tokens, offsets = session.turns.tokens, session.turns.offsets
    ids = tokens.ids[offsets[0] : offsets[-1]]
    types, which = np.unique(ids, return_inverse=True)
    classes = np.array([_class_of(tokens.norm[one]) for one in types.tolist()], dtype=np.uint64)
    verbal = tokens.verbal[ids]
    values = np.stack([tokens.keys[ids], classes[which]], axis=1)[verbal]
    return TokenRows(values, np.append(0, np.cumsum(verbal))[offsets - offsets[0]])


@functools.lru_cache(maxsize=20_000)
def _class_of(norm: str) -> int:
    return next(iter(_function_words().columns_of(norm)), -1) + 1


@functools.cache
def _function_words() -> Matcher:
    return Matcher([one for one in builtin_lexicons() if one.name == "function_words"])


def word_series(session: AnnotatedSession) -> tuple[Series, Series]:
    """Return the therapist's words, and the client's; words and pieces of contractions, without punctuation."""
    return _series(session, 0)


def class_series(session: AnnotatedSession) -> tuple[Series, Series]:
    """Return the function-word class of each word of the therapist, and of the client; -1 for words of no class."""
    return _series(session, 1)


def _series(session: AnnotatedSession, which: int) -> tuple[Series, Series]:
    words = words_and_classes(session)
    said = words.values[:, which]
    ids = np.where(said == 0, -1, np.unique(said, return_inverse=True)[1])
    mine = [np.isin(words.turn, turns) for turns in spoken_turns(session)]
    therapist, client = (Series(ids[side], words.turn[side]) for side in mine)
    return therapist, client


# ---- of a session and of many others like it
#
# A diagonal line of L points is an n-gram of L words that both say. Of n-grams of one, two and three words in reach of
# each other there are B1, B2 and B3: B1 points, of which 2 * B2 - B3 have a neighbour on their diagonal, on B2 - B3
# lines. So no line is followed, and every order of the turns is a sum over pairs of turns. Lines end with the turn.


def turn_tables(words: TokenRows, rows: Ints, columns: Ints) -> list[Floats]:
    """Return what each turn of the therapists has in common with each turn of the clients.

    Parameters
    ----------
    words : TokenRows
        The words and classes of turns.
    rows, columns : int64 array (n_rows,) and (n_columns,)
        Turns.

    Returns
    -------
    list of 7 float64 arrays (n_rows, n_columns)
        Pairs of words; pairs of equal n-grams of one, two and three words; the same of classes.
    """
    n_words = np.diff(words.offsets).astype(np.float64)
    tables = [np.outer(n_words[rows], n_words[columns])]
    for which in (0, 1):
        for n in (1, 2, 3):
            counts = count_ngrams(words.values[:, which], words.offsets, n)
            tables.append((counts[rows] @ counts[columns].T).toarray())
    return tables


def _near(therapists: Side, clients: Side) -> list[tuple[Ints, Ints]]:
    """Return the pairs of turns in reach, as numbers of the two's turns: the client's comes earlier, and later."""
    lag = clients.at - therapists.at[:, None]
    one, other = (np.nonzero(near) for near in ((lag < 0) & (lag >= -REACH), (lag > 0) & (lag <= REACH)))
    return [(one[0], one[1]), (other[0], other[1])]


def values_of_counts(earlier: Floats, later: Floats) -> Floats:
    """Return rate, determinism, mean line and balance from counts of pairs of words and of equal n-grams.

    Parameters
    ----------
    earlier, later : float64 array (..., 4)
        Pairs of words, and pairs of equal n-grams of one, two and three, where the client's turn comes earlier, and
        where it comes later.

    Returns
    -------
    float64 array (..., 4)

    Examples
    --------
    20 pairs of words, all with the client later; 6 points, of which a run of three makes one line:

    >>> values_of_counts(np.array([0, 0, 0, 0]), np.array([20, 6, 2, 1.0])).tolist()
    [0.3, 0.5, 3.0, nan]
    """
    pairs, points, two, three = np.moveaxis(earlier + later, -1, 0)
    balance = _ratio(later[..., 1], later[..., 0]) - _ratio(earlier[..., 1], earlier[..., 0])
    on_lines = 2 * two - three
    return np.stack([_ratio(points, pairs), _ratio(on_lines, points), _ratio(on_lines, two - three), balance], axis=-1)


def _values_in(tables: list[Floats], near: list[tuple[Ints, Ints]], rows: Ints, columns: Ints) -> Floats:
    """Return the values of dialogues, (..., 6), from rows and columns of the tables for each place, (..., n_turns)."""
    earlier, later = (
        np.stack([table[rows[..., t], columns[..., c]].sum(axis=-1) for table in tables], axis=-1) for t, c in near
    )
    of_words = values_of_counts(earlier[..., :4], later[..., :4])
    of_classes = values_of_counts(earlier[..., [0, 4, 5, 6]], later[..., [0, 4, 5, 6]])
    return np.concatenate([of_words, of_classes[..., :2]], axis=-1)


def _values(words: TokenRows, therapists: Side, clients: Side) -> Floats:
    (rows, row), (columns, column) = (distinct(side.turns, len(words)) for side in (therapists, clients))
    return _values_in(turn_tables(words, rows, columns), _near(therapists, clients), row[:, None], column[None])


def _shuffled(words: TokenRows, therapists: Side, clients: Side, generator: np.random.Generator) -> Floats:
    """Return the values with the client's turns in other orders, (n_draws, 6)."""
    n = len(clients.at)
    sections = np.array_split(np.arange(n), max(-(-n // SECTION), 1))
    orders = np.concatenate([permutations(section, generator) for section in sections], axis=1)
    tables = turn_tables(words, therapists.at, clients.at)
    return _values_in(tables, _near(therapists, clients), np.arange(len(therapists.at))[None], orders)


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
    high_means="higher: the two use the same words near each other",
    formula=f"equal pairs / all pairs of words whose turns lie at most {REACH} turns apart",
    misleads=_MISLEADS,
    source=_SOURCE,
    evidence="supported",
)
_DETERMINISM = replace(
    _RATE,
    name="recurrence_determinism",
    meaning="Share of the words in common that stand in a run of two or more words that both say",
    high_means="higher: the two use the same words in the same order",
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
    high_means="higher: longer wordings in common",
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
    high_means="above 0: the client takes up the therapist's words more than the other way round",
    formula=f"equal pairs / pairs of words, the client's turn 1 to {REACH} turns later, minus the same for earlier",
    misleads=f"{_MISLEADS}. Seldom beyond chance in a single session",
)
_CLASS_RATE, _CLASS_DETERMINISM = (
    replace(one, name=f"recurrence_class_{name}", meaning=meaning, high_means=direction, misleads=misleads)
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
        high_means="higher: wordings of many lengths in common; 0: all of one length",
        formula="Shannon entropy of the lengths of diagonal lines, as in recurrence_determinism",
        misleads=f"{_NO_CHANCE}. Grows with the number of runs, and rests on few",
    ),
    replace(
        _RATE,
        name="recurrence_laminarity",
        meaning="Share of the words in common where the client says a word of the therapist twice or more in a row",
        high_means="higher: the client dwells on single words of the therapist",
        formula="equal pairs on vertical lines of two or more / equal pairs, of words whose turns lie at most "
        f"{REACH} turns apart; lines end with the turn",
        misleads=f"{_NO_CHANCE}. Cut at turn ends, so that 'yeah' in turn after turn does not count",
    ),
]


_COLUMNS = (_RATE, _DETERMINISM, _MEAN_LINE, _BALANCE, _CLASS_RATE, _CLASS_DETERMINISM)
RECURRENCE = session_measure(
    SessionMeasure(
        name="recurrence",
        columns=_COLUMNS,
        represent=words_and_classes,
        values=_values,
        shuffled=_shuffled,
        two_sided=(_BALANCE.name,),
        extra="recurrence",
    )
)


@measure(columns=[*session_columns(RECURRENCE), *_PLAIN], extra="recurrence")
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
    found = cross_recurrence(*word_series(session), cut_at_turns=True)
    plain = {column.name: getattr(found, column.name.removeprefix("recurrence_")) for column in _PLAIN}
    return session_values(RECURRENCE, session) | plain
