"""Turns to review: client cues of danger, and what the therapist did next. Never a statement that somebody is safe."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures import Column, measure, rate_columns
from therapy_analytics.measures._base import KindOf, Mark, OnPage, Shown, Value
from therapy_analytics.measures._rates import counted_rate
from therapy_analytics.measures.process._safety import (
    ACKNOWLEDGED,
    ASKED,
    CLEAR,
    COLLUDED,
    FOLLOWED,
    KINDS,
    PLAN,
    RESPONSES,
    WITHIN,
    Bools,
    Cues,
    cues,
    responses,
    stigmatising,
)

_SOURCE = "This package's own phrases (lexicons/safety.toml); no screening instrument and no rating of risk"
_WARNING = (
    "A list of turns to review, found by phrases; no assessment of risk. None found means none found by these phrases: "
    "it never means that there is no danger, for most danger is told indirectly, in other words, or not at all. "
)
_CUE = Column(
    name="safety_cue",
    meaning="KindOf of danger that the client's turn may speak of; 0 none found by these phrases, which tells nothing "
    "about safety",
    unit="code",
    low=0,
    high=len(KINDS),
    high_means="a number for a kind, not an amount",
    formula="0 none found; " + "; ".join(f"{i} {kind}" for i, kind in enumerate(KINDS, start=1)) + " (the first "
    "found): phrases of lexicons/safety.toml that are not denied, idiom or of others; or a yes to a direct question",
    misleads=f"{_WARNING}Figures of speech and quoted words may be taken for cues",
    source=_SOURCE,
    level="turn",
    evidence="weak",
)
_STRENGTH = replace(
    _CUE,
    name="safety_cue_strength",
    meaning="Whether the cue of the client's turn is clear or possible",
    high=CLEAR,
    high_means="2 names the danger, 1 hints at it or tells of the past; not how great the danger is",
    formula="0 none found; 1 possible; 2 clear (the most of its kinds)",
    misleads=f"{_WARNING}Hints may be graver than plain words",
)
_DENIAL = replace(
    _CUE,
    name="safety_denial_turn",
    meaning="Whether the client's turn denies such danger, of itself or when asked; no sign of safety",
    unit="0 or 1",
    high=1,
    high_means="1: a denial, to be read with what was asked",
    formula="1 where danger is denied by name, or in general within 6 turns after a cue or direct question, or a "
    "direct question is answered by no; else 0",
    misleads=f"{_WARNING}People in danger often deny it. A turn may hold a denial and a cue",
)
_RESPONSE = replace(
    _CUE,
    name="safety_response",
    meaning=f"What the therapist's turn, one of the {WITHIN} after a cue, does",
    high=len(RESPONSES),
    high_means="a number for a kind, not an amount",
    formula="; ".join(f"{i} {name}" for i, name in enumerate(RESPONSES, start=1))
    + " (the first found); empty for turns "
    "that follow no cue",
    misleads=f"{_WARNING}Says which words the therapist used, not whether they were right or enough",
)
_STIGMA = replace(
    _CUE,
    name="stigmatising_word_turn",
    meaning="Whether the therapist's turn has a stigmatising word about the client or people in distress",
    unit="0 or 1",
    high=1,
    high_means="1: such a word",
    formula="1 with a phrase 'stigma' of lexicons/safety.toml that is not negated, quoted or reported, and that the "
    "client has not used in the 6 turns before; else 0",
    misleads="Words change their standing, and some clients choose them for themselves: read the turn. None found "
    "means none found by these phrases",
    evidence="untested",
)


def _count(name: str, meaning: str, formula: str, *, core: bool = False) -> Column:
    return Column(
        name=name,
        meaning=f"{meaning}; 0 means none found by these phrases, never that there is no danger",
        unit="count",
        low=0,
        high=np.inf,
        high_means="more turns to review",
        formula=formula,
        misleads=f"{_WARNING}Grows with the length of the session and with how plainly the client speaks",
        source=_SOURCE,
        evidence="weak",
        core=core,
    )


def _rate(name: str, meaning: str, formula: str) -> Column:
    return Column(
        name=name,
        meaning=meaning,
        unit="proportion",
        low=0,
        high=1,
        high_means="a larger share of the cues",
        formula=f"{formula} / turns with a cue and a therapist's turn after them",
        misleads=f"{_WARNING}Cues that were missed are not in it, and false ones are; cues close together share "
        "their responses, so that the interval is too narrow; over few cues it says little. "
        "What is right depends on the case",
        source=_SOURCE,
        evidence="weak",
    )


_RATES = (
    _rate(
        "safety_cue_followed_rate",
        f"Share of cues after which the therapist asked, worked on staying safe or named help within {WITHIN} turns",
        "cues with a response 2 to 5",
    ),
    _rate(
        "safety_cue_ignored_rate",
        f"Share of cues that the therapist neither followed nor acknowledged within {WITHIN} turns",
        "cues without any response 2 to 6",
    ),
    _rate(
        "safety_cue_asked_directly_rate",
        f"Share of cues after which the therapist asked directly about the danger within {WITHIN} turns",
        "cues with a response 2 or 3",
    ),
)
_NAMES = {
    "suicide_active": "suicidal thoughts with intent or plan",
    "suicide_passive": "a wish to be dead, without a plan",
    "harm_others": "harm to others",
    "self_harm": "self-harm",
    "abuse": "abuse by somebody",
    "psychosis": "psychosis or delusion",
    "mania": "mania",
}
_COUNTS = (
    _count("n_safety_cue_turns", "Client turns with a cue of danger", "turns with safety_cue above 0"),
    *(
        _count(
            f"n_{kind}_cue_turns",
            f"Client turns with a cue of {_NAMES[kind]}",
            f"turns with a cue of {_NAMES[kind]}, clear or possible; a turn may count for several kinds",
        )
        for kind in KINDS
    ),
)
_REVIEW = _count(
    "n_turns_to_review",
    "Turns that somebody should read for danger or its handling",
    "turns with a cue, a denial or somebody else's danger (client), a colluding response or a stigmatising word "
    "(therapist)",
    core=True,
)
_STIGMA_COUNT = replace(
    _REVIEW,
    name="n_stigmatising_word_turns",
    meaning="Therapist turns with a stigmatising word; 0 means none found by these phrases",
    formula="turns with stigmatising_word_turn",
    evidence="untested",
    core=False,
)


_PAGE: dict[str, Shown] = {
    "n_turns_to_review": OnPage("review", "Turns to review (cues of danger and others)", first=True),
    "n_safety_cue_turns": OnPage("review", "Cues of danger"),
    "safety_cue_followed_rate": OnPage("review", "Cues of danger followed up"),
    "n_stigmatising_word_turns": OnPage("review", "Stigmatising words"),
    "safety_cue": Mark("Cue of danger: review", danger="n_safety_cue_turns"),
    **{f"n_{kind}_cue_turns": KindOf(_NAMES[kind].partition(",")[0], "n_safety_cue_turns") for kind in KINDS},
    "stigmatising_word_turn": Mark("Stigmatising word"),
}


@measure(
    columns=[
        *_COUNTS,
        *(column for one in _RATES for column in rate_columns(one, counted="Such cues")),
        _STIGMA_COUNT,
        _REVIEW,
        _CUE,
        _STRENGTH,
        _DENIAL,
        _RESPONSE,
        _STIGMA,
    ],
    core=11,
    page=_PAGE,
)
def safety_cues(session: AnnotatedSession) -> dict[str, Value]:
    """Find turns to review for danger (suicide, self-harm, harm, abuse, psychosis, mania) and the answers to them.

    High counts mean more turns to read. High rates mean that more of the cues that were found were followed, ignored
    or asked about.

    Notes
    -----
    No value says that a session or a person is safe. Nothing here assesses risk, and no decision about a person may
    rest on it: the phrases miss most of what is told indirectly.

    References
    ----------
    This package's own; the wording of ``lexicons/safety.toml`` was written for it.
    """
    found = cues(session)
    client, therapist = (session.spoken_by(role) & (session.n_words > 0) for role in ("client", "therapist"))
    which, turns, shown = responses(session, found)
    stigma, hits = stigmatising(session), found.any
    collusion = np.zeros(len(session), dtype=np.bool_)
    collusion[turns[shown == COLLUDED]] = True
    review = hits | found.denial | found.others | collusion | stigma
    kind = np.where(hits, (found.strength > 0).argmax(axis=0) + 1, 0)
    values: dict[str, Value] = {
        "n_stigmatising_word_turns": _n(stigma, therapist),
        "n_turns_to_review": _n(review, client | therapist),
        "safety_cue": np.where(client, kind, np.nan),
        "safety_cue_strength": np.where(client, found.strength.max(axis=0), np.nan),
        "safety_denial_turn": np.where(client, found.denial, np.nan),
        "safety_response": _response_of(len(session), turns, shown),
        "stigmatising_word_turn": np.where(therapist, stigma, np.nan),
    }
    return values | _counts(found, client) | _response_rates(which, shown)


def _n(hits: Bools, of: Bools) -> float:
    return float(np.count_nonzero(hits & of)) if of.any() else np.nan


def _counts(found: Cues, of: Bools) -> dict[str, Value]:
    shown = ((found.strength > 0) & of).sum(axis=1, dtype=np.float64) if of.any() else np.full(len(KINDS), np.nan)
    kinds = {f"n_{kind}_cue_turns": n for kind, n in zip(KINDS, shown.tolist(), strict=True)}
    return {"n_safety_cue_turns": _n(found.any, of), **kinds}


def _response_of(n: int, turns: np.ndarray, shown: np.ndarray) -> np.ndarray:
    """Return the first response, in the order of `RESPONSES`, that each turn shows to any cue."""
    first = np.full(n, np.inf)
    np.minimum.at(first, turns, shown.astype(np.float64))
    return np.where(np.isinf(first), np.nan, first)


def _response_rates(which: np.ndarray, shown: np.ndarray) -> dict[str, Value]:
    pairs = list(zip(which.tolist(), shown.tolist(), strict=True))

    def cues_with(*moves: int) -> int:
        return len({cue for cue, move in pairs if move in moves})

    n = len({cue for cue, _ in pairs})
    counts = (cues_with(*FOLLOWED), n - cues_with(*FOLLOWED, ACKNOWLEDGED), cues_with(ASKED, PLAN))
    values: dict[str, Value] = {}
    for column, k in zip(_RATES, counts, strict=True):
        values |= counted_rate(column.name, float(k), float(n))
    return values
