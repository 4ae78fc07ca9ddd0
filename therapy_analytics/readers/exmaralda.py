"""EXMaRALDA basic transcriptions (``.exb``): tiers of events along one line of time."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from therapy_analytics.readers._base import RawSession, Source, reader
from therapy_analytics.readers._tier_names import Annotation, Tier
from therapy_analytics.readers._tiers import session_of
from therapy_analytics.readers._times import seconds
from therapy_analytics.readers._xml import begins_with, distinct_names, points_of_time, root_is, xml_root

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_ROOT, _SEGMENTED = "basic-transcription", "segmented-transcription"
_REMEDY = "Open it in the EXMaRALDA Partitur-Editor and save it as a basic transcription (.exb)"
_CATEGORIES = {"nv": "gesture", "k": "comment", "c": "comment", "en": "translation", "de": "translation"}
"""Categories of its templates whose names do not tell what they hold: nonverbal, comments, translations."""
_VERBAL, _TRANSCRIPTION = "v", "t"
_DOUBLE = re.compile(r"\(\(([^()\n]{1,60})\)\)")
_DOTS = re.compile(r"\u2022(?:\s?\u2022)*")
_ENDS = frozenset(".?!\u2026\u02d9")


@reader("exmaralda", suffixes=(".exb",), sniff=root_is(_ROOT, _SEGMENTED), one_session=True)
def read_exmaralda(source: Source) -> Iterator[RawSession]:
    """EXMaRALDA transcriptions: the verbal tiers of each speaker, as they overlap."""
    if begins_with(source, _SEGMENTED):
        raise source.error("this is a segmented transcription of EXMaRALDA, which is not read", _REMEDY)
    root = xml_root(source, _ROOT, what="EXMaRALDA file", remedy=_REMEDY)
    slots = [(one.get("id", ""), seconds(one.get("time"))) for one in root.iterfind("basic-body/common-timeline/tli")]
    points = points_of_time(slots)
    order = {name: at for at, (name, _) in enumerate(slots)}
    names = distinct_names(
        (one.get("id", ""), one.findtext("abbreviation") or "") for one in root.iterfind("head/speakertable/speaker")
    )
    elements = root.findall("basic-body/tier")
    typed = any(tier.get("type") == _TRANSCRIPTION for tier in elements)
    tiers = [_tier(tier, names, _spans(tier, points, order), typed=typed) for tier in elements]
    yield session_of(source, tiers, timed=any(value is not None for _, value in slots))


def _tier(tier: Element, names: Mapping[str, str], spans: list[Annotation], *, typed: bool) -> Tier:
    """Return a tier: whose it is by the table of speakers, what it holds by its type, or else by its category."""
    key, category = tier.get("speaker", ""), tier.get("category", "").casefold()
    who = names.get(key, key) or tier.get("display-name", "").partition("[")[0].strip()
    spoken = tier.get("type") == _TRANSCRIPTION if typed else category == _VERBAL
    meant = _CATEGORIES.get(category, "speech" if spoken else f"{category} code")
    return Tier(who, spans, who, meant)


def _spans(tier: Element, points: Mapping[str, float], order: Mapping[str, int]) -> list[Annotation]:
    """Return the sentences of a tier: its events are cut where another speaker begins, so several make a sentence."""
    events = [
        (one.get("start", ""), one.get("end", ""), "".join([one.text or "", *(inner.tail or "" for inner in one)]))
        for one in tier.iterfind("event")  # what programs note in elements inside an event is left out
    ]
    events.sort(key=lambda event: order.get(event[0], len(order)))
    # where no event ends in a space, as the program wants it, events end where words do
    space = "" if any(text[-1:].isspace() for _, _, text in events) else " "
    sentences: list[list[tuple[str, str, str]]] = []
    for event in events:
        *_, (_, last, words) = sentences[-1] if sentences else [("", "", "")]
        if sentences and event[0] == last and words.rstrip()[-1:] not in _ENDS:
            sentences[-1].append(event)
        else:
            sentences.append([event])
    return [
        Annotation(
            points.get(one[0][0], math.inf),
            points.get(one[-1][1], math.inf),
            # sounds stand in double brackets, pauses are dots
            _DOTS.sub("(.)", _DOUBLE.sub(r"[\1]", space.join(words for _, _, words in one))),
            order=order.get(one[0][0], len(order)),
        )
        for one in sentences
    ]
