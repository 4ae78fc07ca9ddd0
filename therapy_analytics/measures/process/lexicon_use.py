"""How often each speaker uses the categories of the user's own lexicons."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from therapy_analytics.codes import Code
from therapy_analytics.measures import Column, measure, rate_columns
from therapy_analytics.measures.intervals import WORD_CORRELATION
from therapy_analytics.measures.rates import counted_rate
from therapy_analytics.measures.turns import PAIR
from therapy_analytics.text import AnnotatedSession, Lexicon
from therapy_analytics.text.english import undivided


def _name(role: str, category: str) -> str:
    return f"{role}_{category.replace('.', '_')}_per_100_words"


def _columns(lexicons: Sequence[Lexicon], _: Sequence[Code]) -> list[Column]:
    return [
        column
        for lexicon in lexicons
        if not lexicon.builtin
        for category in lexicon.categories
        for role in PAIR
        for column in rate_columns(
            Column(
                name=_name(role, category.name),
                meaning=f"How often the {role} uses {category.name} ({category.definition})",
                unit="per 100 words",
                low=0,
                high=100,
                high_means="more words of the category",
                formula="100 x words or phrases of the category / words of the role",
                misleads="Counts words without their sense: negation, irony and second meanings are not seen",
                source=lexicon.source,
                evidence="weak",
                core=True,
            ),
            counted=f"Words or phrases of {category.name}",
        )
    ]


@measure(columns=_columns, core=19)
def lexicon_use(session: AnnotatedSession) -> dict[str, float]:
    """Count words and phrases of each category that the user added, for 100 words of the role.

    High means frequent use. Lexicons that come with the package are not repeated here: the
    measures that need them say so.

    References
    ----------
    The lexicon's own.
    """
    values: dict[str, float] = {}
    n_words = session.n_words * (not undivided(session.session))
    for category in session.turns.user_categories:
        counts = session.count(category)
        for role in PAIR:
            of = session.spoken_by(role)
            k, n = float(np.sum(counts[of])), float(np.sum(n_words[of]))
            values.update(counted_rate(_name(role, category), k, n, per=100, correlation=WORD_CORRELATION))
    return values
