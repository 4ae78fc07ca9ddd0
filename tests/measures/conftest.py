"""Sessions made by hand, with codes set by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from therapy_analytics.codes import codebook_named, codebooks_with, load_tagger
from therapy_analytics.core.session import ROLES, Role, Session, Turn
from therapy_analytics.text import AnnotatedSession, Lexicon, annotate, builtin_lexicons
from therapy_analytics.text.lexicons import Matcher

_ROLE: Mapping[str, Role] = {"T": "therapist", "C": "client", "O": "other"}
Make = Callable[..., AnnotatedSession]


def _session(spoken: Sequence[tuple[str, str]], times: Sequence[tuple[float, float]] = ()) -> Session:
    turns = tuple(
        Turn(
            index=i,
            speaker=who,
            role=_ROLE[who],
            text=text,
            first_row=i + 1,
            start_s=times[i][0] if times else None,
            end_s=times[i][1] if times else None,
        )
        for i, (who, text) in enumerate(spoken)
    )
    return Session(id="by_hand", source_file="by_hand.txt", turns=turns)


def _coded(session: AnnotatedSession, codes: Mapping[str, Sequence[int]]) -> AnnotatedSession:
    probabilities, decisions = {}, {}
    names = set(load_tagger().names)
    if any(code.startswith("process_") for code in codes):
        names |= {code.column for code in codebook_named("process").codes}
    for book in codebooks_with(names):
        for code in book.codes:
            own = session.turns.roles == ROLES.index(code.role)
            given = np.array(codes.get(code.column, [0] * len(session)), dtype=bool) & own
            decisions[code.column] = given
            probabilities[code.column] = np.where(own, np.where(given, 0.9, 0.1), np.nan)
    return replace(session, probabilities=probabilities, decisions=decisions)


@cache
def _usual() -> Matcher:
    return Matcher(builtin_lexicons())


@pytest.fixture(scope="session")
def make() -> Make:
    """Return a function: [("T", words), ...] and codes {column: 0/1 a turn} to an annotated session."""

    def build(
        spoken: Sequence[tuple[str, str]],
        codes: Mapping[str, Sequence[int]] | None = None,
        *,
        times: Sequence[tuple[float, float]] = (),
        lexicons: Sequence[Lexicon] = (),
    ) -> AnnotatedSession:
        matcher = Matcher((*builtin_lexicons(), *lexicons)) if lexicons else _usual()
        batch = annotate([_session(spoken, times)], matcher)
        return _coded(next(iter(batch)), codes or {})

    return build
