"""How much is said, by whom."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

import numpy as np

from therapy_analytics.codes import Code
from therapy_analytics.measures import Column, columns_of, mean_column, measure
from therapy_analytics.measures.dyads import speakers_of
from therapy_analytics.measures.turns import PAIR
from therapy_analytics.text import AnnotatedSession, Lexicon
from therapy_analytics.text.english import undivided


def _columns(_: Sequence[Lexicon], __: Sequence[Code]) -> list[Column]:
    therapist = columns_of(__file__, "role", role="therapist", compare="shown")
    client = columns_of(__file__, "role", role="client", compare="")
    return [*columns_of(__file__, "first"), *therapist, *client, *columns_of(__file__)]


@measure(columns=_columns, core=1)
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
    words = {role: counted[session.spoken_by(role)] for role in PAIR}
    both = float(words["therapist"].sum() + words["client"].sum())
    starts = [turn.start_s for turn in session.session.turns if turn.start_s is not None]
    ends = [turn.end_s for turn in session.session.turns if turn.end_s is not None]
    values = {
        "n_turns": float(len(session)),
        "therapist_talk_share": float(words["therapist"].sum()) / both if both else nan,
        "duration_s": float(max(starts + ends) - min(starts)) if starts else nan,
    }
    for role in PAIR:
        values[f"n_{role}s"] = float(len(speakers_of(session, role)))
        values[f"n_turns_{role}"] = float(len(words[role]))
        values[f"n_words_{role}"] = float(words[role].sum())
        values[f"{role}_words_per_turn"] = mean_column(words[role])
    return values
