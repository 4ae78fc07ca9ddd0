"""What the client, and what the therapist, tells of themselves: feelings, facts, how intimate, and when."""

from __future__ import annotations

import functools
from dataclasses import replace
from math import nan

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.behaviours.disclosure import KINDS, disclosed
from therapy_analytics.behaviours.text_model import mean_vectors, session_segments, turn_vectors
from therapy_analytics.language import AnnotatedSession, TurnArrays, builtin_lexicons
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.language.segments import Segments, segments, turns_from_texts
from therapy_analytics.measures import Column, mean_column, measure, rate_columns
from therapy_analytics.measures._base import OnPage, Shown, Value
from therapy_analytics.measures._intervals import WORD_CORRELATION
from therapy_analytics.measures._rates import counted_rate
from therapy_analytics.measures._turns import slopes
from therapy_analytics.session import Role

Floats = NDArray[np.float64]
INTIMATE = (
    "I have never told anybody how ashamed I am of what I did.",
    "I cried all night after we broke up, and I still love her.",
    "My father used to hit us when he was drunk, and I was afraid of him.",
    "Sometimes I think that nobody would miss me if I died.",
    "I feel so lonely in my marriage that it hurts.",
    "When my mother died I could not stop blaming myself.",
    "I was abused as a child and I do not trust people.",
    "We argue about sex, and I am afraid that he will leave me.",
    "I hate my body and I hide how little I eat.",
    "I relapsed, I lied to my children about it, and I feel guilty.",
    "I am scared of what is wrong with me and of being sick.",
    "Deep down I feel worthless and not good enough for anyone.",
)
"""Topics that people tell to few, in sentences of our own."""
CASUAL = (
    "The weather is nice today, but it may rain at the weekend.",
    "The bus was late, so I parked the car across the street.",
    "We had pizza and a salad at the new restaurant in town.",
    "The game was on television and our team won by two points.",
    "My phone needs a new battery and the screen is cracked.",
    "The appointment is on Tuesday at ten, on the second floor.",
    "I bought some shoes and a jacket on sale at the store.",
    "The computer was slow, so I installed the new program.",
    "We painted the kitchen and put up some shelves.",
    "The flight takes two hours and the hotel is near the airport.",
    "Please fill in this form and sign it at the bottom of the page.",
    "There was a lot of traffic on the road this morning.",
)
"""Topics that people tell to anybody, in sentences of our own."""
_ROLES: tuple[Role, Role] = ("client", "therapist")
_THIRDS = ("early", "middle", "late")
_SERIES = tuple(f"disclosure_{kind}_turn" for kind in KINDS)
_DEPTH = "disclosure_depth_turn"
_I = "first_person_singular"
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
    columns = [
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
    return [*columns, replace(_depth_column("turn"), name=_DEPTH, level="turn")]


def _depth_column(whose: str) -> Column:
    return Column(
        name="",
        meaning=f"How intimate the topics of the {whose} are: nearer to intimate than to casual talk",
        unit="cosine",
        low=-1,
        high=1,
        high_means="more intimate topics",
        formula="cosine of the mean word vector with the line from twelve casual to twelve intimate sentences of our "
        "own; of a role: mean over its turns, weighted by words",
        misleads=_PROXY
        + "It sees topics, not whose: a question about abuse is as intimate as the answer. Names no level; "
        "compare turns or sessions. Of a few words it is mostly noise",
        source="This package's own; after Altman & Taylor (1973), Social Penetration: depth of disclosure",
        evidence="weak",
    )


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
    return [*means, words, replace(_depth_column(role), name=f"{role}_disclosure_depth"), *_affect_columns(role)]


def _affect_columns(role: Role) -> list[Column]:
    column = Column(
        name=f"{role}_first_person_affect_per_100_words",
        meaning=f"Emotion words in sentences in which the {role} says I, me or my",
        unit="per 100 words",
        low=0,
        high=100,
        high_means="more talk of own feelings",
        formula=f"100 x single words of the lexicon emotions in {role} sentences (windows of at most 30 words) with a "
        "first person singular pronoun / words",
        misleads=_PROXY
        + "Negation and whose feeling it is are not seen ('I know she was sad'); 'I' of a therapist is often "
        "'I hear that you are sad'",
        source="This package's own count",
        evidence="weak",
    )
    return rate_columns(column, counted="Emotion words in sentences with a first person singular")


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
    `therapy_analytics.behaviours.disclosure` for the model, `courses` for thirds and slope.

    On 3,450 client turns of AnnoMI and 2,229 of HLQC, beside codes of feelings and life events that a language model
    read (``tools/read_codes``): AUC of the emotional probability for feelings .85 and .85 (of the number of words alone
    .77 and .78), of the informational one for life events .84 and .85 (words alone .82 and .83); in turns of 8 to 40
    words .74 and .77 (words .57 and .59), .68 and .72 (words .61 and .62).

    References
    ----------
    Jaidka, K., Singh, I., Liu, J., Chhaya, N., & Ungar, L. (2020). A report of the CL-Aff OffMyChest shared task:
    Modeling supportiveness and disclosure. AffCon 2020.

    Altman, I., & Taylor, D. A. (1973). Social penetration: The development of interpersonal relationships.
    """
    found, depth = disclosed(session), depths(session.turns, turn_vectors(session))
    affect = first_person_affect(session.turns, session_segments(session).segments)
    values: dict[str, Value] = dict(zip(_SERIES, np.ascontiguousarray(found.turns.T), strict=True))
    values[_DEPTH] = depth
    for role in _ROLES:
        of = session.spoken_by(role) & (session.n_words > 0)
        for kind, series in zip(KINDS, found.turns.T, strict=True):
            values[f"{role}_{kind}_disclosure"] = mean_column(series[of])
        values[f"{role}_words_disclosed_per_turn"] = mean_column(found.words[of])
        deep = of & ~np.isnan(depth)
        n = float(session.n_words[deep].sum())
        values[f"{role}_disclosure_depth"] = float(depth[deep] @ session.n_words[deep]) / n if n else nan
        k, n = float(affect[of].sum()), float(session.n_words[of].sum())
        name = f"{role}_first_person_affect_per_100_words"
        values |= counted_rate(name, k, n, per=100, correlation=WORD_CORRELATION)
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


def depths(turns: TurnArrays, vectors: Floats | None = None) -> Floats:
    """Return how far each turn's topic lies towards intimate topics, (n_turns,): -1 to 1, nan without words.

    Parameters
    ----------
    turns : TurnArrays
        The turns.
    vectors : float64 array (n_turns, n_dimensions), optional
        Their `mean_vectors`, where these are known.

    Examples
    --------
    >>> told, chatted, silent = depths(turns_from_texts(["I miss my dead brother.", "The shop opens at nine.", ""]))
    >>> bool(told > 0 > chatted), bool(np.isnan(silent))
    (True, True)
    """
    vectors = mean_vectors(turns) if vectors is None else vectors
    length = np.sqrt((vectors * vectors).sum(axis=1))
    length[(turns.n_words == 0) | (length == 0)] = nan
    return np.asarray((vectors * _axis()).sum(axis=1) / length)


@functools.cache
def _axis() -> Floats:
    intimate, casual = (mean_vectors(turns_from_texts(seeds)).mean(axis=0) for seeds in (INTIMATE, CASUAL))
    line = intimate - casual
    return np.asarray(line / np.sqrt((line * line).sum()))


def first_person_affect(turns: TurnArrays, cut: Segments | None = None) -> NDArray[np.int64]:
    """Return how many emotion words of each turn stand in a sentence with I, me or my, (n_turns,).

    Parameters
    ----------
    turns : TurnArrays
        The turns.
    cut : Segments, optional
        Their sentences, where these are known.

    Examples
    --------
    Sad and afraid stand with I or my, happy does not:

    >>> first_person_affect(turns_from_texts(["I was sad today and my dog was afraid. They were all happy."])).tolist()
    [2]
    """
    cut = segments(turns) if cut is None else cut
    begin, end = int(turns.offsets[0]), int(turns.offsets[-1])
    types = np.array(list(map(_kinds, turns.tokens.norm)), dtype=np.bool_).reshape(-1, 2)
    kinds = types[turns.tokens.ids[begin:end]]
    segment_of = np.repeat(np.arange(len(cut.turn_of)), np.diff(cut.turns.offsets))
    n_self, n_emotions = (np.bincount(segment_of, column, minlength=len(cut.turn_of)) for column in kinds.T)
    found = np.bincount(cut.turn_of, n_emotions * (n_self > 0), minlength=len(turns))
    return found.astype(np.int64)


@functools.lru_cache(maxsize=1 << 16)
def _kinds(word: str) -> tuple[bool, bool]:
    """Whether a word is a first person singular, and whether it is of the emotion lexicon."""
    matcher = _matcher()
    names = [matcher.categories[column].name for column in matcher.columns_of(word)]
    return any(_I in name for name in names), any(_I not in name for name in names)


@functools.cache
def _matcher() -> Matcher:
    """Return the words that count, of the package's own lexicons."""
    lexicons = [one for one in builtin_lexicons() if one.name in ("emotions", "pronouns")]
    kept = [
        replace(one, categories=tuple(c for c in one.categories if one.name == "emotions" or c.name.endswith(_I)))
        for one in lexicons
    ]
    return Matcher(kept)
