"""ELAN annotations (``.eaf``): tiers of speech, and other tiers that depend on them.

By hand with defusedxml: pympi-ling parses with the standard XML library, which is not safe from entities, and prints to
the terminal.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

from therapy_analytics.core.printable import counted
from therapy_analytics.readers._tier_names import Annotation, Tier
from therapy_analytics.readers._tiers import session_of
from therapy_analytics.readers._xml import points_of_time, root_is, whole_number, xml_root
from therapy_analytics.readers.base import RawSession, Row, Source, reader

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_ROOT = "ANNOTATION_DOCUMENT"
_PER_SECOND = {"PAL-frames": 25.0, "NTSC-frames": 30000 / 1001}
_MILLISECONDS = 1000.0
_CODE_TIER = re.compile(r"(?:^|[\W_])(?:codes?|coded|codings?|gold)(?:$|[\W_])", re.IGNORECASE)
_LONGEST_CODE, _MOST_WORDS = 40, 4
_LONGEST_CODER = 12
_BETWEEN_CODES = re.compile(r"[|,]")
_NOWHERE = (math.inf, math.inf, 0)
"""The time of an annotation that the file gives none: behind all others."""

Times = dict[str, tuple[float, float, int]]
"""Begin, end and rank of annotations, by id."""
Points = Mapping[str, tuple[float, int]]
"""Time and rank of each time slot, by id."""


@reader("elan", suffixes=(".eaf",), sniff=root_is(_ROOT), one_session=True)
def read_elan(source: Source) -> Iterator[RawSession]:
    """ELAN annotation files: the tier of each participant with the words, time-aligned or dependent on another.

    Tiers of codes are those whose name or type says so; their ANNOTATOR is the coder.
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
    tiers = _tiers(root, points)
    # Without a person, a tier marks sections of the recording: the samples that corpora of families draw, for example
    of_somebody = {
        one.get("TIER_ID", "")
        for one in root.iterfind("TIER")
        if any(map(one.get, ("PARTICIPANT", "ANNOTATOR", "PARENT_REF")))
    }
    coded = [
        one
        for one in tiers
        if one.name in of_somebody and _is_code_tier(one.name, one.type, (span.words for span in one.spans))
    ]
    coded = coded if timed and len(coded) < len(tiers) else []
    raw = session_of(source, [one for one in tiers if one not in coded], timed=timed)
    coders = {one.get("TIER_ID", ""): one.get("ANNOTATOR", "").strip() for one in root.iterfind("TIER")}
    if coded:
        n = sum(len(one.spans) for one in coded)
        told = f"{counted(len(coded), 'tier')} of codes read as codes by people ({counted(n, 'annotation')})."
        codes = _codes_by_time(raw.rows, coded, coders)
        names = _columns_of(coder for own in codes for coder in own)
        rows = [
            replace(row, gold={names[coder]: ";".join(given) for coder, given in own.items()})
            for row, own in zip(raw.rows, codes, strict=True)
        ]
        raw = replace(raw, rows=rows, notes=(*raw.notes, told))
    yield raw


def _is_code_tier(name: str, of_type: str, values: Iterable[str]) -> bool:
    """Return whether a tier holds codes: its name or type says so, and all that stands on it is short."""
    named = _CODE_TIER.search(name) or _CODE_TIER.search(of_type)
    return bool(named) and all(len(one) <= _LONGEST_CODE and len(one.split()) <= _MOST_WORDS for one in values)


def _codes_by_time(
    rows: Sequence[Row], tiers: Iterable[Tier], coders: Mapping[str, str]
) -> list[dict[str, dict[str, None]]]:
    """Return the codes of each row by coder: an annotation is about the row with which it shares most time.

    Of rows that share as much, it is that of the tier's own participant. `coders` are the annotators of tiers by name.
    """
    given: list[dict[str, dict[str, None]]] = [{} for _ in rows]
    timed = [(row.start_s, row.end_s or row.start_s, at) for at, row in enumerate(rows) if row.start_s is not None]
    timed.sort()
    begins = [begin for begin, _, _ in timed]
    last_ends = list(accumulate((end for _, end, _ in timed), max))
    for tier in tiers:
        for span in tier.spans:
            near = timed[bisect_right(last_ends, span.begin) : bisect_left(begins, span.end)]
            shared = [
                (min(end, span.end) - max(begin, span.begin), rows[at].speaker == tier.person, -at)
                for begin, end, at in near
            ]
            codes = [_BETWEEN_CODES.sub(" ", code.strip()) for code in span.words.split(";") if code.strip()]
            if shared and codes:
                own = given[-max(shared)[2]].setdefault(coders.get(tier.name, ""), {})
                own.update(dict.fromkeys(codes))
    return given


def _columns_of(coders: Iterable[str]) -> dict[str, str]:
    """Return the column of each coder; names are cut to twelve letters, and numbered where two become the same.

    Examples
    --------
    >>> _columns_of(["Ann Lee", "Maximiliane Berg", "Maximiliane Bauer"])
    {'Ann Lee': 'coder_ann_lee', 'Maximiliane Berg': 'coder_maximiliane_', 'Maximiliane Bauer': 'coder_maximilian_2'}
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for coder in dict.fromkeys(coders):
        slug = re.sub(r"\W+", "_", coder.casefold()).strip("_") or "unknown"
        name, number = slug[:_LONGEST_CODER], 1
        while name in taken:
            number += 1
            name = f"{slug[: _LONGEST_CODER - 2]}_{number}"
        taken.add(name)
        found[coder] = f"coder_{name}"
    return found


def _tiers(root: Element, points: Points) -> list[Tier]:
    """Return the tiers in the order of the file, those that depend on another with its times."""
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
    return [
        Tier(
            tier.get("TIER_ID", ""),
            spans[name],
            tier.get("PARTICIPANT", ""),
            tier.get("LINGUISTIC_TYPE_REF", ""),
            tier.get("PARENT_REF", ""),
        )
        for name, tier in elements.items()
    ]


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
