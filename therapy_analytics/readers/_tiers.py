"""From the tiers of an annotated recording to rows: what a tier holds, whose it is, and all words in order of time."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from therapy_analytics.core.printable import counted
from therapy_analytics.readers._labelled_lines import Labelled, labelled_rows, plain_lines
from therapy_analytics.readers._labels import ANSWERS
from therapy_analytics.readers._tier_names import (
    DEPENDENT,
    MARKS,
    NOTES,
    NUMBERS,
    REPEATS,
    SEGMENTS,
    SPEECH,
    WHO,
    WORDS,
    Annotation,
    Tier,
    named,
)
from therapy_analytics.readers._times import seconds
from therapy_analytics.readers.base import RawSession, Row, Source
from therapy_analytics.readers.roles import role_of_label

_LETTERS = re.compile(r"[^\W_]+")
_BACKCHANNELS = frozenset(
    {"aha", "hm", "hmm", "huh", "mmhm", "mhmm", "uhuh", "uhhuh", "ja", "nein", "oui", "non", "si", "no"}
)
"""What listeners say again and again, beside `ANSWERS`."""
_DIGITS = re.compile(r"\d+")
_FEWEST, _MOST_WORDS_OF_CODES = 4, 2
_SLOWEST = 0.1
"""Words per second of a tier: talk has some twenty times as many, names of sections have fewer."""
_LONG_S = 60.0
_SILENT = frozenset({"", "sil", "sp", "silent", "sounding", "<sil>", "<eps>", "<p:>", "#", "_", "{sl}"})
"""What Praat and forced aligners write into an interval in which nobody speaks."""
_HEARD = {"spn": "[unclear]", "<unk>": "[unclear]", "{lg}": "[laughter]", "{br}": "[breath]", "{cg}": "[cough]"}
"""What they write where they heard something that is no known word."""
_TAG = re.compile(r"</?(?P<name>[A-Z][A-Z_]{2,30})(?P<alone>\s?/)?>")
_PAUSE_S = 0.2
"""Words further apart belong to two utterances: most gaps between turns are no longer (Levinson, S. C., & Torreira, F.
(2015). Timing in turn-taking and its implications for processing models of language)."""
_HALF = 0.5
_DEEPEST = 20
"""The longest chain of tiers that depend on each other."""


def session_of(source: Source, tiers: Sequence[Tier], *, timed: bool = True) -> RawSession:
    """Return the words of all tiers in order of their begins; the place of a row is its number in that order.

    Where the tiers are not `timed`, begins and ends are an order alone, not seconds.

    Raises
    ------
    UnreadableFileError
        No tier holds speech.
    """
    found = [named(replace(tier, spans=spans)) for tier in tiers if (spans := _with_words(tier.spans))]
    if not found:
        raise source.error("no tier with words was found", "Each speaker should have a tier with the words spoken")
    voices = _voices(found)
    if not voices:
        kinds = ", ".join(sorted({one.kind for one in found}))
        problem = f"no tier holds what somebody says; by their names they hold {kinds}"
        raise source.error(problem, "Give each speaker a tier with the words spoken, and name it by the speaker")
    used = {id(one) for _, chosen in voices for one in chosen}
    spoken = [(who, span) for who, chosen in voices for one in chosen for span in _utterances(one)]
    labelled = Labelled([], frozenset(), 0.0)
    if len(voices) == 1:
        labelled = _labelled([span for _, span in spoken]) or labelled
        names = [one for one in found if one.kind == WHO and id(one) not in used]
        if not labelled.rows and not voices[0][0] and names:
            spoken = list(_with_names(spoken, names[0].spans))
            used.add(id(names[0]))
    spoken.sort(key=lambda one: _place(one[1]))
    rows = labelled.rows or [
        Row(who or "Unknown", span.words, place, seconds(span.begin), seconds(span.end))
        for place, (who, span) in enumerate(spoken, start=1)
    ]
    if not timed:
        rows = [replace(row, start_s=None, end_s=None) for row in rows]
    left_out = _left_out([one for one in found if id(one) not in used])
    return RawSession("", rows, notes=(*labelled.notes, *left_out), passed_over=labelled.passed_over)


def _with_words(spans: Iterable[Annotation]) -> list[Annotation]:
    return [replace(span, words=words) for span in spans if (words := _words(span.words)).casefold() not in _SILENT]


def _words(text: str) -> str:
    """Return the words of an annotation without tags in capitals; an empty element becomes a speech mark."""
    text = " ".join(text.split())
    if "<" in text:
        text = " ".join(_TAG.sub(_mark, text).split())
    return _HEARD.get(text.casefold(), text)


def _mark(tag: re.Match[str]) -> str:
    heard = tag["name"].replace("_", " ").lower()
    return f" [{'unclear' if heard.startswith('un') else heard}] " if tag["alone"] else " "


def _voices(found: Sequence[Tier]) -> list[tuple[str, list[Tier]]]:
    """Return the speakers, each with the tiers that hold the words; tiers of nobody are left out."""
    groups: dict[str, tuple[str, list[Tier]]] = {}
    for one, label in zip(found, _labels(found), strict=True):
        groups.setdefault(label.casefold(), (label, []))[1].append(one)
    voices = [(label, chosen) for label, group in groups.values() if (chosen := _speech_of(group))]
    if len(voices) > 1:
        others = [one for label, chosen in voices if label for one in chosen]
        voices = [(label, chosen) for label, chosen in voices if label or not _is_repeat(chosen, others)]
    people = [
        (label, chosen)
        for label, chosen in voices
        if any(one.kind not in {"", SEGMENTS} or one.person or not _looks_like_marks(one) for one in chosen)
    ]
    voices = people if len(people) > 1 else voices
    return voices or [(one.who, [one]) for one in found if one.kind in {NOTES, WHO}]


def _labels(found: Sequence[Tier]) -> list[str]:
    """Return whose each tier is: its participant's, unless all have the same; its parent's; or its own name's."""
    by_name = {one.name: one for one in found}
    free = [one for one in found if one.parent not in by_name]
    people = {one.person.strip() for one in free}
    names = {one.who.casefold() for one in free if one.kind in {"", SPEECH} and one.who}
    by_person = not (len(people) == 1 < len(free) and len(names) > 1)

    def label(one: Tier, n_above: int = 0) -> str:
        person = one.person.strip()
        if person and by_person and not (role_of_label(one.who) and not role_of_label(person)):
            return person
        above = by_name.get(one.parent)
        inherited = label(above, n_above + 1) if above is not None and n_above < _DEEPEST else ""
        return inherited or one.who or person

    return [label(one) for one in found]


def _speech_of(group: Sequence[Tier]) -> list[Tier]:
    """Return the tiers of one speaker that hold the words: those of the first rank that do not overlap."""
    able = [one for one in group if one.kind in {"", SPEECH, WORDS, SEGMENTS}]
    if len(able) > 1:
        able = [one for one in able if not _is_numbering(one)] or able[:1]
    ranks = [_rank(one, able) for one in able]
    chosen: list[Tier] = []
    for one, rank in zip(able, ranks, strict=True):
        if rank == min(ranks) and not (chosen and (one.parent or _share(one, chosen) > _HALF)):
            chosen.append(one)
    return chosen


def _rank(one: Tier, able: Sequence[Tier]) -> int:
    """Return the rank of a tier: the lower, the more certain that it holds the words of its speaker."""
    if one.kind in {WORDS, SEGMENTS}:
        return 4 + (one.kind == SEGMENTS)
    if one.parent:
        return 2 + (one.kind != SPEECH)
    spoken_below = any(other.kind == SPEECH and other.parent for other in able)
    return 3 if spoken_below and _looks_like_marks(one) else int(one.kind != SPEECH)


def _share(tier: Tier, others: Sequence[Tier]) -> float:
    """Return the share of annotations of a tier, from 0 to 1, during whose middle another tier has one."""
    begins = sorted(span.begin for other in others for span in other.spans)
    ends = sorted(span.end for other in others for span in other.spans)
    middles = [(span.begin + span.end) / 2 for span in tier.spans]
    return sum(bisect_right(begins, at) > bisect_right(ends, at) for at in middles) / max(len(middles), 1)


def _is_repeat(chosen: Sequence[Tier], others: Sequence[Tier]) -> bool:
    """Tell tiers without a name that repeat the words of named speakers, or hold single words or numbers."""
    spans = ([span for one in some for span in one.spans] for some in (chosen, others))
    words, known = (Counter(word for span in some for word in span.words.split()) for some in spans)
    no_words = all(one.kind in {WORDS, SEGMENTS} or _is_numbering(one) for one in chosen)
    return no_words or (words & known).total() > _HALF * words.total()


def _place(span: Annotation) -> tuple[float, int]:
    return span.begin, span.order


def _utterances(one: Tier) -> Iterator[Annotation]:
    """Yield utterances; single words are joined up to a pause, or to the utterance that they belong to."""
    if one.kind != WORDS:
        yield from one.spans
        return
    words: list[str] = []
    begin, last = 0.0, Annotation(0.0, 0.0, "")
    for span in sorted(one.spans, key=_place):
        goes_on = span.unit == last.unit if span.unit else span.begin - last.end < _PAUSE_S
        if words and not goes_on:
            yield replace(last, begin=begin, words=" ".join(words))
            words = []
        begin = begin if words else span.begin
        words.append(span.words)
        last = span
    yield replace(last, begin=begin, words=" ".join(words))


def _with_names(
    spans: Sequence[tuple[str, Annotation]], names: Sequence[Annotation]
) -> Iterator[tuple[str, Annotation]]:
    """Yield annotations with the name that another tier has at their middle."""
    order = sorted(names, key=lambda span: span.begin)
    begins = [span.begin for span in order]
    for _, span in spans:
        middle = (span.begin + span.end) / 2
        at = bisect_right(begins, middle) - 1
        yield (order[at].words if at >= 0 and middle <= order[at].end else ""), span


def _labelled(spans: Sequence[Annotation]) -> Labelled | None:
    """Read a single tier with labels before the words: ``Therapist: ...``."""
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


def _left_out(tiers: Sequence[Tier]) -> Iterator[str]:
    """Yield a note for each kind of tiers that were left out, with the numbers of annotations and words."""
    for kind in dict.fromkeys(map(_kind_left_out, tiers)):
        left = [tier for tier in tiers if _kind_left_out(tier) == kind]
        n_words = sum(len(span.words.split()) for tier in left for span in tier.spans)
        held = f"{counted(sum(len(tier.spans) for tier in left), 'annotation')}, {counted(n_words, 'word')}"
        yield f"{counted(len(left), 'tier')} of {kind} left out ({held})."


def _kind_left_out(one: Tier) -> str:
    if one.kind not in {"", SPEECH, SEGMENTS}:
        return one.kind
    if _is_numbering(one):
        return NUMBERS
    if one.parent:
        return DEPENDENT
    return MARKS if not one.kind and _looks_like_marks(one) else REPEATS


def _is_numbering(tier: Tier) -> bool:
    """Tell a tier of numbers of utterances (``ANN_001``, ``ANN_002``)."""
    values = [span.words for span in tier.spans]
    forms = Counter(_DIGITS.sub("0", value) for value in values)
    return (
        all(map(_DIGITS.search, values))
        and 5 * len(forms) <= max(5, len(values))
        and len(set(values)) > len(values) / 2
    )


def _looks_like_marks(tier: Tier) -> bool:
    """Tell a tier of codes or sections from speech, which has more different words, and more words per second."""
    values = [span.words for span in tier.spans]
    words = [word for value in values for word in _LETTERS.findall(value.casefold())]
    few = len(set(values)) <= len(values) / 2 and len(words) <= _MOST_WORDS_OF_CODES * len(values)
    spoken = not (ANSWERS | _BACKCHANNELS).isdisjoint(words) or any(value[-1:] in set(".?!\u2026") for value in values)
    lengths = [span.end - span.begin for span in tier.spans]
    long = sum(length for length in lengths if 0.0 < length < math.inf)
    slow = long >= _LONG_S and len(words) < _SLOWEST * long
    return role_of_label(tier.name) is None and (slow or (len(values) >= _FEWEST and few and not spoken))
