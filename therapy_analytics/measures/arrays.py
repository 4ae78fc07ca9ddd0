"""Sessions as arrays, as a run wants them: its word lists, its donors."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from therapy_analytics.speakers import with_speaker_notes
from therapy_analytics.text import AnnotatedSession, Batch, Lexicon, annotate
from therapy_analytics.text.annotate import Donors
from therapy_analytics.text.donors import SurrogatePool, donors_by_length, length_class
from therapy_analytics.text.english import with_language_notes
from therapy_analytics.text.lexicons import Matcher

if TYPE_CHECKING:
    from therapy_analytics.core.session import Session
    from therapy_analytics.measures.settings import Settings


@functools.lru_cache(maxsize=2)
def _matcher(lexicons: tuple[Lexicon, ...]) -> Matcher:
    return Matcher(lexicons)


def arrays_with_donors(sessions: Sequence[Session], settings: Settings, pool: SurrogatePool) -> list[AnnotatedSession]:
    """Return sessions as arrays, each with the donors of its length class; without codes."""
    return [with_donors(session, settings, pool) for session in read_as_arrays(sessions, settings)]


def read_as_arrays(sessions: Sequence[Session], settings: Settings) -> Batch:
    """Return sessions as arrays, with a note on those that do not seem to be in English, or have no words.

    With the accurate tagger there is also a note on sessions whose speaker labels seem to be swapped; that costs little
    beside its encoder.
    """
    batch = with_language_notes(annotate(sessions, _matcher(settings.all_lexicons)))
    return with_speaker_notes(batch) if settings.tagger.kind == "accurate" else batch


def with_donors(session: AnnotatedSession, settings: Settings, pool: SurrogatePool) -> AnnotatedSession:
    """Return a session with the donors of its length class, and what the run asks of it."""
    by_length = _donors(pool, settings.all_lexicons)
    donors = by_length.get(length_class(session.session))
    return replace(session, seed=settings.seed, donors=donors, extras=settings.extras)


@functools.lru_cache(maxsize=2)
def _donors(pool: SurrogatePool, lexicons: tuple[Lexicon, ...]) -> dict[int, Donors]:
    return donors_by_length(pool, lambda sessions: annotate(sessions, _matcher(lexicons)))
