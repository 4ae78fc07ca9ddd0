"""From tiers to rows: which of them hold what a person says, all in order of time."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from therapy_analytics.readers._base import RawSession, Row, Source
from therapy_analytics.readers._labelled_lines import Labelled, labelled_rows, plain_lines
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.readers._tier_kinds import (
    LOOKS_LIKE_MARKS,
    NOTES,
    NUMBERS,
    SEGMENTS,
    SPEECH,
    WHO,
    WORDS,
    Named,
    Span,
    Tier,
    is_numbering,
    looks_like_marks,
    named,
)
from therapy_analytics.readers._times import seconds

_REPEATS, _DEPENDENT = "repeats of the words", "dependent annotations"
_SILENT = frozenset({"", "sil", "sp", "silent", "sounding", "<sil>", "<eps>", "<p:>", "#", "_", "{sl}"})
"""What Praat and the forced aligners write into a span where nobody speaks."""
_HEARD = {"spn": "[unclear]", "<unk>": "[unclear]", "{lg}": "[laughter]", "{br}": "[breath]", "{cg}": "[cough]"}
"""What they write where something was heard that is no word they know."""
_TAG = re.compile(r"<(?P<close>/?)(?P<name>[A-Z][A-Z_]{2,30})(?P<alone>\s?/)?>")
_PAUSE_S = 0.2
"""Words further apart are two utterances: most gaps between the turns of two people are no longer (Levinson, S. C., &
Torreira, F. (2015). Timing in turn-taking and its implications for processing models of language)."""
_HALF = 0.5
_UNKNOWN = "Unknown"
_DEEPEST = 20
"""How many tiers may depend on each other, one on the next."""
__all__ = ["Span", "Tier", "session_of", "timeline"]

Voice = tuple[str, list[Named]]
"""Who speaks, and the tiers that hold the words."""


def session_of(source: Source, tiers: Sequence[Tier], *, timed: bool = True) -> RawSession:
    """Return what is said in all tiers in order of its begin; the place of a row is its number in that order.

    Parameters
    ----------
    source : Source
        The file, for errors.
    tiers : sequence of Tier
        In the order of the file.
    timed : bool, optional
        Whether begins and ends are seconds; if not, they are an order alone.

    Raises
    ------
    UnreadableFileError
        No tier has words that somebody says.
    """
    full = [replace(tier, spans=spans) for tier in tiers if (spans := _with_words(tier.spans))]
    if not full:
        raise source.error("no tier with words was found", "Each speaker should have a tier with the words spoken")
    found = [named(tier) for tier in full]
    voices = _voices(found)
    if not voices:
        kinds = ", ".join(sorted({one.kind for one in found}))
        problem = f"no tier holds what somebody says; by their names they hold {kinds}"
        raise source.error(problem, "Give each speaker a tier with the words spoken, and name it by the speaker")
    used = {id(one) for _, chosen in voices for one in chosen}
    said = [(who, span) for who, chosen in voices for one in chosen for span in _utterances(one)]
    labelled = Labelled([], frozenset(), 0.0)
    if len(voices) == 1:
        labelled = _labelled([span for _, span in said]) or labelled
        names = [one for one in found if one.kind == WHO and id(one) not in used]
        if not labelled.rows and not voices[0][0] and names:
            said = list(_told(said, names[0].tier.spans))
            used.add(id(names[0]))
    said.sort(key=lambda one: _place(one[1]))
    rows = labelled.rows or [
        Row(who or _UNKNOWN, span.words, place, seconds(span.begin), seconds(span.end))
        for place, (who, span) in enumerate(said, start=1)
    ]
    if not timed:
        rows = [replace(row, start_s=None, end_s=None) for row in rows]
    left_out = _left_out([one for one in found if id(one) not in used])
    return RawSession("", rows, notes=(*labelled.notes, *left_out), passed_over=labelled.passed_over)


def _with_words(spans: Iterable[Span]) -> list[Span]:
    return [replace(span, words=words) for span in spans if (words := _words(span.words)).casefold() not in _SILENT]


def _words(text: str) -> str:
    """Return the words of a span; tags in capitals around them go, one that stands alone is a mark."""
    text = " ".join(text.split())
    if "<" in text:
        text = " ".join(_TAG.sub(_mark, text).split())
    return _HEARD.get(text.casefold(), text)


def _mark(tag: re.Match[str]) -> str:
    said = tag["name"].replace("_", " ").lower()
    return f" [{'unclear' if said.startswith('un') else said}] " if tag["alone"] else " "


def _voices(found: Sequence[Named]) -> list[Voice]:
    """Choose the tiers of speech of each speaker, and leave out those that are nobody's."""
    groups: dict[str, list[Named]] = {}
    labels: dict[str, str] = {}
    for one, label in zip(found, _labels(found), strict=True):
        key = label.casefold()
        labels.setdefault(key, label)
        groups.setdefault(key, []).append(one)
    voices = [(labels[key], chosen) for key, group in groups.items() if (chosen := _speech_of(group))]
    if len(voices) > 1:
        others = [span for label, chosen in voices if label for one in chosen for span in one.tier.spans]
        voices = [(label, chosen) for label, chosen in voices if label or not _is_repeat(chosen, others)]
    people = [voice for voice in voices if not _is_nobody(voice[1])]
    if len(people) > 1:
        voices = people
    return voices or [(one.who, [one]) for one in found if one.kind in {NOTES, WHO}]


def _labels(found: Sequence[Named]) -> list[str]:
    """Return whose each tier is: its participant's, unless all are one; its parent's; or by its own name."""
    by_name = {one.tier.name: one for one in found}
    free = [one for one in found if one.tier.parent not in by_name]
    people = {one.tier.person.strip() for one in free}
    names = {one.who.casefold() for one in free if one.kind in {"", SPEECH} and one.who}
    by_person = not (len(people) == 1 < len(free) and len(names) > 1)

    def label(one: Named, n_above: int = 0) -> str:
        person = one.tier.person.strip()
        if person and by_person and not (role_of_label(one.who) and not role_of_label(person)):
            return person
        above = by_name.get(one.tier.parent)
        inherited = label(above, n_above + 1) if above is not None and n_above < _DEEPEST else ""
        return inherited or one.who or person

    return [label(one) for one in found]


def _speech_of(group: Sequence[Named]) -> list[Named]:
    """Return the tiers of one speaker that hold the words: of one rank, and none that speaks while another does."""
    able = [one for one in group if one.kind in {"", SPEECH, WORDS, SEGMENTS}]
    if len(able) > 1:
        able = [one for one in able if not is_numbering(one.tier)] or able[:1]
    ranks = [_rank(one, able) for one in able]
    chosen: list[Named] = []
    for one, rank in zip(able, ranks, strict=True):
        if rank == min(ranks) and not (chosen and (one.tier.parent or _share([one], _spans(chosen)) > _HALF)):
            chosen.append(one)
    return chosen


def _rank(one: Named, able: Sequence[Named]) -> int:
    """Rank a tier: the smaller, the surer that it holds the words of its speaker."""
    if one.kind in {WORDS, SEGMENTS}:
        return 4 + (one.kind == SEGMENTS)
    if one.tier.parent:
        return 2 + (one.kind != SPEECH)
    spoken_below = any(other.kind == SPEECH and other.tier.parent for other in able)
    return 3 if spoken_below and looks_like_marks(one.tier) else int(one.kind != SPEECH)


def _spans(chosen: Sequence[Named]) -> list[Span]:
    return [span for one in chosen for span in one.tier.spans]


def _share(chosen: Sequence[Named], others: Sequence[Span]) -> float:
    """Return the share of the spans of tiers in the middle of which another span is open, from 0 to 1."""
    begins = sorted(span.begin for span in others)
    ends = sorted(span.end for span in others)
    spans = _spans(chosen)
    middles = [(span.begin + span.end) / 2 for span in spans]
    return sum(bisect_right(begins, at) > bisect_right(ends, at) for at in middles) / max(len(spans), 1)


def _is_repeat(chosen: Sequence[Named], others: Sequence[Span]) -> bool:
    """Tell a tier without a name that has the words that named speakers say."""
    words, known = (
        Counter(word for span in spans for word in span.words.split()) for spans in (_spans(chosen), others)
    )
    no_words = all(one.kind in {WORDS, SEGMENTS} or is_numbering(one.tier) for one in chosen)
    return no_words or (words & known).total() > _HALF * words.total()


def _is_nobody(chosen: Sequence[Named]) -> bool:
    return all(one.kind in {"", SEGMENTS} and not one.tier.person and looks_like_marks(one.tier) for one in chosen)


def _place(span: Span) -> tuple[float, int]:
    return span.begin, span.order


def _utterances(one: Named) -> Iterator[Span]:
    """Yield what is said; single words are put together up to a pause, or in the utterance that they belong to."""
    if one.kind != WORDS:
        yield from one.tier.spans
        return
    said: list[str] = []
    begin, last = 0.0, Span(0.0, 0.0, "")
    for span in sorted(one.tier.spans, key=_place):
        goes_on = span.unit == last.unit if span.unit else span.begin - last.end < _PAUSE_S
        if said and not goes_on:
            yield replace(last, begin=begin, words=" ".join(said))
            said = []
        begin = begin if said else span.begin
        said.append(span.words)
        last = span
    yield replace(last, begin=begin, words=" ".join(said))


def _told(spans: Sequence[tuple[str, Span]], names: Sequence[Span]) -> Iterator[tuple[str, Span]]:
    """Yield what is said with the name that another tier has at the middle of it."""
    order = sorted(names, key=lambda span: span.begin)
    begins = [span.begin for span in order]
    for _, span in spans:
        middle = (span.begin + span.end) / 2
        at = bisect_right(begins, middle) - 1
        yield (order[at].words if at >= 0 and middle <= order[at].end else ""), span


def _labelled(spans: Sequence[Span]) -> Labelled | None:
    """Read a single tier in which the speaker stands before the words: ``Therapist: ...``."""
    spans = sorted(spans, key=_place)
    found = labelled_rows(plain_lines(span.words for span in spans))
    if found is None or len(found.labels) < 2 or found.rows[0].place != 1:
        return None
    ends = [row.place - 1 for row in found.rows[1:]] + [len(spans)]
    rows = [
        replace(row, start_s=seconds(spans[row.place - 1].begin), end_s=seconds(spans[end - 1].end))
        for row, end in zip(found.rows, ends, strict=True)
    ]
    return replace(found, rows=rows)


def _left_out(tiers: Sequence[Named]) -> Iterator[str]:
    """Say which kinds of tiers were left out, with how many annotations and words."""
    kinds: dict[str, list[Tier]] = {}
    for one in tiers:
        kinds.setdefault(_kind_left_out(one), []).append(one.tier)
    for kind, left in kinds.items():
        n_words = sum(len(span.words.split()) for tier in left for span in tier.spans)
        held = f"{counted(sum(len(tier.spans) for tier in left), 'annotation')}, {counted(n_words, 'word')}"
        yield f"{counted(len(left), 'tier')} of {kind} left out ({held})."


def _kind_left_out(one: Named) -> str:
    if one.kind not in {"", SPEECH, SEGMENTS}:
        return one.kind
    if is_numbering(one.tier):
        return NUMBERS
    if one.tier.parent:
        return _DEPENDENT
    return LOOKS_LIKE_MARKS if not one.kind and looks_like_marks(one.tier) else _REPEATS


def timeline(slots: Sequence[tuple[str, float | None]]) -> Mapping[str, float]:
    """Return the time of each point; one without a time lies evenly between its neighbours.

    Parameters
    ----------
    slots : sequence of (str, float or None)
        Names and times, in their order.

    Returns
    -------
    mapping of str to float
        Before the first time that is known it is minus infinity, after the last it is infinity. Where no time is known,
        the points are numbered.
    """
    known = [at for at, (_, value) in enumerate(slots) if value is not None]
    if not known:
        return {name: float(at) for at, (name, _) in enumerate(slots)}
    values = [math.inf if value is None else value for _, value in slots]
    values[: known[0]] = [-math.inf] * known[0]
    for one, two in pairwise(known):
        step = (values[two] - values[one]) / (two - one)
        values[one + 1 : two] = [values[one] + step * n for n in range(1, two - one)]
    return {name: value for (name, _), value in zip(slots, values, strict=True)}
