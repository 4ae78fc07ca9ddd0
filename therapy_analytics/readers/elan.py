"""ELAN annotations (``.eaf``): tiers of speech, and other tiers that depend on them.

By hand with defusedxml: pympi-ling parses with the standard XML library, which is not safe from entities, and prints to
the terminal.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from therapy_analytics.readers._base import RawSession, Source, reader
from therapy_analytics.readers._coded import CodesOfTurn, columns_of, gold_of
from therapy_analytics.readers._elan_turns import codes_by_time, is_code_tier, own_turns
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._tier_names import Annotation, Tier
from therapy_analytics.readers._tiers import session_of
from therapy_analytics.readers._xml import points_of_time, root_is, whole_number, xml_root

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_ROOT = "ANNOTATION_DOCUMENT"
_PER_SECOND = {"PAL-frames": 25.0, "NTSC-frames": 30000 / 1001}
_MILLISECONDS = 1000.0
_NOWHERE = (math.inf, math.inf, 0)
"""The time of an annotation that the file gives none: behind all others."""

Times = dict[str, tuple[float, float, int]]
"""Begin, end and rank of annotations, by id."""
Points = Mapping[str, tuple[float, int]]
"""Time and rank of each time slot, by id."""


@reader("elan", suffixes=(".eaf",), sniff=root_is(_ROOT), one_session=True)
def read_elan(source: Source) -> Iterator[RawSession]:
    """ELAN annotation files: the tier of each participant with the words, time-aligned or dependent on another."""
    for raw, given in coded_rows(source):
        names = columns_of(one.coder for row in given for one in row)
        rows = [replace(row, gold=gold_of(own, names)) for row, own in zip(raw.rows, given, strict=True)]
        yield replace(raw, rows=rows)


def coded_rows(source: Source) -> list[tuple[RawSession, list[list[CodesOfTurn]]]]:
    """Return the session of a file, and what each coder gave to each of its rows.

    Tiers of codes are those whose name or type says so; their ANNOTATOR is the coder.

    Raises
    ------
    UnreadableFileError
        It is no ELAN file, or nobody speaks in it.
    """
    root = xml_root(source, _ROOT, what="ELAN file", remedy="Open it in ELAN and save it again")
    slots = [
        (slot.get("TIME_SLOT_ID", ""), whole_number(slot.get("TIME_VALUE", "")))
        for slot in root.findall("TIME_ORDER/TIME_SLOT")
    ]
    header = root.find("HEADER")
    unit = "" if header is None else header.get("TIME_UNITS", "")
    per_second = _PER_SECOND.get(unit, _MILLISECONDS)
    points = {name: (value / per_second, at) for at, (name, value) in enumerate(points_of_time(slots).items())}
    timed = any(value is not None for _, value in slots)
    tiers, times = _tiers(root, points)
    own = own_turns(root, {name: (begin, end) for name, (begin, end, _) in times.items()})
    if own is not None:
        return [own]
    # Without a person, a tier marks sections of the recording: the samples that corpora of families draw, for example
    of_somebody = {
        one.get("TIER_ID", "")
        for one in root.iterfind("TIER")
        if any(map(one.get, ("PARTICIPANT", "ANNOTATOR", "PARENT_REF")))
    }
    coded = [
        one
        for one in tiers
        if one.name in of_somebody and is_code_tier(one.name, one.type, (span.words for span in one.spans))
    ]
    coded = coded if timed and len(coded) < len(tiers) else []
    raw = session_of(source, [one for one in tiers if one not in coded], timed=timed)
    coders = {one.get("TIER_ID", ""): one.get("ANNOTATOR", "").strip() for one in root.iterfind("TIER")}
    if coded:
        n = sum(len(one.spans) for one in coded)
        told = f"{counted(len(coded), 'tier')} of codes read as codes by people ({counted(n, 'annotation')})."
        raw = replace(raw, notes=(*raw.notes, told))
    return [(raw, codes_by_time(raw.rows, coded, coders))]


def _tiers(root: Element, points: Points) -> tuple[list[Tier], Times]:
    """Return the tiers in the order of the file, those that depend on another with its times; and all times."""
    elements: dict[str, Element] = {}
    for at, tier in enumerate(root.findall("TIER")):
        name = tier.get("TIER_ID", "")
        elements[name if name not in elements else f"{name} ({at + 1})"] = tier
    times: Times = {}
    spans: dict[str, list[Annotation]] = {}
    for name in elements:
        chain: dict[str, None] = {}
        above = name
        while above in elements and above not in spans and above not in chain:
            chain[above] = None
            above = elements[above].get("PARENT_REF", "")
        for one in reversed(chain):
            spans[one] = _spans(elements[one], points, times)
    tiers = [
        Tier(
            tier.get("TIER_ID", ""),
            spans[name],
            tier.get("PARTICIPANT", ""),
            tier.get("LINGUISTIC_TYPE_REF", ""),
            tier.get("PARENT_REF", ""),
        )
        for name, tier in elements.items()
    ]
    return tiers, times


def _spans(tier: Element, points: Points, times: Times) -> list[Annotation]:
    """Return the annotations of a tier and add their times; those that depend on one share its time evenly."""
    spans: list[Annotation] = []
    n_below = Counter(one.get("ANNOTATION_REF", "") for one in tier.iterfind("ANNOTATION/*"))
    done: Counter[str] = Counter()
    for one in tier.iterfind("ANNOTATION/*"):
        above = one.get("ANNOTATION_REF", "")
        if above:
            begin, end, order = times.get(above, _NOWHERE)
            step = (end - begin) / n_below[above]
            if n_below[above] > 1 and math.isfinite(step):
                begin, end = begin + step * done[above], begin + step * (done[above] + 1)
            done[above] += 1
        else:
            begin, order = points.get(one.get("TIME_SLOT_REF1", ""), (math.inf, len(points)))
            end, _ = points.get(one.get("TIME_SLOT_REF2", ""), (math.inf, 0))
        times[one.get("ANNOTATION_ID", "")] = begin, end, order
        spans.append(Annotation(begin, end, one.findtext("ANNOTATION_VALUE") or "", above, order))
    return spans
