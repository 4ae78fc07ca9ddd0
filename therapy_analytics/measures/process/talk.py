"""How much is said, by whom."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import numpy as np

from therapy_analytics.core.session import Role
from therapy_analytics.measures import Column, mean_column, measure
from therapy_analytics.measures.base import OnPage, Shown
from therapy_analytics.measures.dyads import speakers_of
from therapy_analytics.text import AnnotatedSession
from therapy_analytics.text.english import undivided

_OWN = "This package's own count"


def _count(name: str, meaning: str, unit: str, formula: str, misleads: str, **more: Any) -> Column:
    """Return a column of how many or how much, from 0."""
    more = {"high_means": f"more {unit}", "compare": "no"} | more
    return Column(
        name=name,
        meaning=meaning,
        unit=unit,
        low=0,
        high=inf,
        formula=formula,
        misleads=misleads,
        source=_OWN,
        evidence="supported",
        **more,
    )


def _counts(who: Role) -> list[Column]:
    return [
        _count(
            f"n_{who}s",
            f"Speakers in the role of {who}; where there are several, {who} measures are of them all together",
            "speakers",
            "count of different labels of the role",
            "One person under two labels counts twice; dyads.csv has the measures of each pair",
            high_means=f"more {who}s",
        ),
        _count(
            f"n_turns_{who}",
            f"Turns of the {who}",
            "turns",
            "count of turns of the role",
            "Captions and chats cut turns differently; backchannels split the other's turn",
        ),
        _count(
            f"n_words_{who}",
            f"Words of the {who}",
            "words",
            "count of words; a contraction is one word, hyphens and slashes separate words",
            "Depends on how fully the transcript writes hesitations and repeats",
            core=True,
        ),
        _count(
            f"{who}_words_per_turn",
            f"Mean words in a turn of the {who}",
            "words per turn",
            f"n_words_{who} / n_turns_{who}",
            "A few very long turns pull the mean up",
            high_means="longer turns",
            compare="shown" if who == "therapist" else "",
        ),
    ]


_PAGE: dict[str, Shown] = {
    "therapist_talk_share": OnPage("therapist", "Talks (share of words)", first=True, strip=1),
    "therapist_words_per_turn": OnPage("therapist", "Words in a therapist turn"),
    "client_words_per_turn": OnPage("client", "Words in a client turn"),
    "duration_s": OnPage("course", "Length in seconds"),
    "n_turns": OnPage("course", "Turns"),
}


@measure(
    columns=[
        _count("n_turns", "Turns of all speakers", "turns", "count of turns", "As n_turns_therapist", core=True),
        *_counts("therapist"),
        *_counts("client"),
        Column(
            name="therapist_talk_share",
            meaning="Share of the words of therapist and client that the therapist says",
            compare="shown",
            unit="proportion",
            low=0,
            high=1,
            high_means="the therapist talks more",
            formula="n_words_therapist / (n_words_therapist + n_words_client)",
            misleads="Says nothing of what is said; teaching parts of structured therapies raise it rightly",
            source=_OWN,
            evidence="supported",
            core=True,
        ),
        _count(
            "duration_s",
            "From the first time in the transcript to the last",
            "seconds",
            "latest start or end time minus earliest start time",
            "Where only starts are given, the last turn's own length is missing",
            high_means="longer session",
            compare="",
            core=True,
        ),
    ],
    core=1,
    page=_PAGE,
)
def talk(session: AnnotatedSession) -> dict[str, float]:
    """Count turns and words, and say how the talk divides.

    Notes
    -----
    A session without any turn of a role has 0 turns and words of it, which is a finding, and
    undefined (nan) words per turn. Words are undefined in scripts without spaces between them.

    References
    ----------
    This package's own.
    """
    counted = np.where(undivided(session.session), nan, session.n_words)
    words = {role: counted[session.spoken_by(role)] for role in _ROLES}
    both = float(words["therapist"].sum() + words["client"].sum())
    values = {
        "n_turns": float(len(session)),
        "therapist_talk_share": float(words["therapist"].sum()) / both if both else nan,
        "duration_s": _duration(session),
    }
    for role in _ROLES:
        values[f"n_{role}s"] = float(len(speakers_of(session, role)))
        values[f"n_turns_{role}"] = float(len(words[role]))
        values[f"n_words_{role}"] = float(words[role].sum())
        values[f"{role}_words_per_turn"] = mean_column(words[role])
    return values


_ROLES: tuple[Role, Role] = ("therapist", "client")


def _duration(session: AnnotatedSession) -> float:
    starts = [turn.start_s for turn in session.session.turns if turn.start_s is not None]
    ends = [turn.end_s for turn in session.session.turns if turn.end_s is not None]
    return float(np.max(starts + ends) - np.min(starts)) if starts else nan
