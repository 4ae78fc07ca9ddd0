"""What the formats of linguists share: a tier for each speaker, spans of time with words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from therapy_analytics.readers._base import RawSession, Row, Source
from therapy_analytics.readers._labelled_lines import labelled_rows, plain_lines
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._times import seconds

_NO_SPEECH_WORDS = """
note notes comment comments phone phones phoneme phonemes syllable syllables segment segments translation translations
gloss glosses gesture gestures gaze silence silences gap gaps noise code codes coding tone tones pos morph events
emotion emotions affect valence arousal mood phase phases topic topics section sections scene task posture head hand
hands eye eyes face facial smile nod nods nodding motion movement behavior behaviors behaviour behaviours stance prosody
pitch intensity breath breathing laughter annotation annotations label labels
"""
_NO_SPEECH = frozenset(_NO_SPEECH_WORDS.split())
_SILENT = frozenset({"", "sil", "sp", "silent", "sounding", "<sil>", "<eps>", "<p:>", "#", "_"})
"""What Praat and the forced aligners write into a span where nobody speaks."""
_WORDS = re.compile(r"(?<!\s)\s*+[-_@]\s*words$", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]+")

Span = tuple[float, float, str]
"""Begin and end in seconds, words."""


@dataclass(frozen=True, slots=True)
class Tier:
    """All spans of one tier; several may belong to one speaker."""

    name: str
    speaker: str
    spans: list[Span] = field(repr=False)


def session_of(source: Source, tiers: Sequence[Tier], *, notes: Sequence[str] = ()) -> RawSession:
    """Return the spans of all speakers in order of their begin; the place of a span is its number in that order.

    Raises
    ------
    UnreadableFileError
        No tier has words.
    """
    full = [Tier(tier.name, tier.speaker, words) for tier in tiers if (words := _with_words(tier.spans))]
    if not full:
        raise source.error("no tier with words was found", "Each speaker should have a tier with the words spoken")
    speech = [tier for tier in full if _is_speech(tier, full)] or full
    if len(speech) == 1 and (rows := _labelled(speech[0])):
        return RawSession("", rows, notes=(*notes, *_left_out(len(full) - 1)))
    spoken = sorted(((span, _speaker(tier)) for tier in speech for span in tier.spans), key=lambda one: one[0][0])
    rows = [
        Row(who, text, place, seconds(begin), seconds(end))
        for place, ((begin, end, text), who) in enumerate(spoken, start=1)
    ]
    return RawSession("", rows, notes=(*notes, *_left_out(len(full) - len(speech))))


def _left_out(n: int) -> tuple[str, ...]:
    return (f"{counted(n, 'tier')} with notes, codes, sounds or a repeat of the words left out.",) if n else ()


def _labelled(tier: Tier) -> list[Row]:
    """Return the rows of a single tier in which the speaker stands before the words: ``Therapist: ...``."""
    spans = sorted(tier.spans, key=lambda span: span[0])
    found = labelled_rows(plain_lines(words for _, _, words in spans))
    if found is None or len(found.labels) < 2 or found.rows[0].place != 1:
        return []
    ends = [row.place - 1 for row in found.rows[1:]] + [len(spans)]
    return [
        replace(row, start_s=seconds(spans[row.place - 1][0]), end_s=seconds(spans[end - 1][1]))
        for row, end in zip(found.rows, ends, strict=True)
    ]


def _with_words(spans: list[Span]) -> list[Span]:
    return [(begin, end, words.strip()) for begin, end, words in spans if words.strip().casefold() not in _SILENT]


def _is_speech(tier: Tier, tiers: Sequence[Tier]) -> bool:
    """Tell a tier of speech by its name; a tier of single words repeats the speaker's own, where there is one."""
    if not _NO_SPEECH.isdisjoint(_LETTERS.findall(tier.name.casefold())):
        return False
    own = _WORDS.sub("", tier.name)
    return own == tier.name or all(other.name != own for other in tiers)


def _speaker(tier: Tier) -> str:
    return _WORDS.sub("", tier.speaker).strip() or tier.speaker.strip() or "Unknown"
