"""How often each code of the codebooks is given that the user named."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from therapy_analytics.codes import Code
from therapy_analytics.measures import Column, OnPage, measure, rate, rate_columns
from therapy_analytics.text import AnnotatedSession, Lexicon


def _name(code: str) -> str:
    return f"{code}_rate"


def _columns(_: Sequence[Lexicon], codes: Sequence[Code]) -> list[Column]:
    return [
        column
        for code in codes
        for column in rate_columns(
            Column(
                name=_name(code.column),
                meaning=f"Share of {code.role} turns with {code.column} ({code.name})",
                unit="proportion",
                low=0,
                high=1,
                high_means=f"more {code.role} turns with the code",
                formula=f"{code.role} turns with {code.column} / {code.role} turns that were coded",
                misleads="How well the coder knows the code: of a model of your own its model_card.md says so, of an "
                "outside coder nobody has checked it (docs/tagger.md); "
                "under about 20 turns the interval is wide",
                source=code.source,
                core=True,
                page=OnPage(code.role, code.name) if code.role in ("therapist", "client") else None,
            ),
            counted=f"{code.role.title()} turns with {code.column}",
        )
    ]


@measure(columns=_columns, core=18)
def code_rates(session: AnnotatedSession) -> dict[str, float]:
    """Count the turns with each code of the codebooks that the user named, over all turns that could have it.

    High means that the code is frequent. Turns that the coder could not code are left out. Without such
    codebooks there are no columns: `behaviour_rates` has those of the tagger's main codes.

    References
    ----------
    The codebook's own.
    """
    values: dict[str, float] = {}
    for code, correlation in session.rated.items():
        of = ~np.isnan(session.probabilities[code])
        values.update(rate(_name(code), session.decided(code), of, correlation=correlation))
    return values
