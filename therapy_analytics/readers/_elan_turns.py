"""Tiers of an ELAN file that hold codes; and files of this package, whose turns have tiers that say what they are."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

from therapy_analytics.readers._base import RawSession, Row
from therapy_analytics.readers._coded import NONE, CodesOfTurn, NamedTurn, merged, turn_named
from therapy_analytics.readers._tier_names import Tier

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

TURNS, CODES, NOTES = "turns", "codes of", "notes of"
"""Types of tiers in files of this package; those of codes are followed by the coder."""
UNDECIDED = "?"
"""What follows a code about which the coder did not decide."""
_CODE_TIER = re.compile(r"(?:^|[\W_])(?:codes?|coded|codings?|gold)(?:$|[\W_])", re.IGNORECASE)
_LONGEST_CODE, _MOST_WORDS = 40, 4

Given = list[list[CodesOfTurn]]


class _Annotations:
    """The annotations of a file by tier: `values` of each tier by the annotation that they depend on."""

    def __init__(self, root: Element) -> None:
        self.tiers = root.findall("TIER")
        entries: dict[str, list[str]] = {}
        for one in root.iterfind("CONTROLLED_VOCABULARY"):
            texts = ("".join(entry.itertext()).strip() for entry in one if entry.tag in {"CV_ENTRY", "CV_ENTRY_ML"})
            entries[one.get("CV_ID", "")] = [text for text in texts if text]
        self.vocabulary = {
            one.get("LINGUISTIC_TYPE_ID", ""): entries.get(one.get("CONTROLLED_VOCABULARY_REF", ""), [])
            for one in root.iterfind("LINGUISTIC_TYPE")
        }

    def below(self, tier: Element) -> dict[str, list[str]]:
        """Return the values of a tier by the annotation above."""
        found: dict[str, list[str]] = defaultdict(list)
        for one in tier.iterfind("ANNOTATION/REF_ANNOTATION"):
            value = (one.findtext("ANNOTATION_VALUE") or "").strip()
            if value:
                found[one.get("ANNOTATION_REF", "")].append(value)
        return found


def own_turns(root: Element, times: Mapping[str, tuple[float, float]]) -> tuple[RawSession, Given] | None:
    """Return the turns of a file that this package wrote, with their codes; None for other files.

    An utterance without a name of its own, which was added in ELAN, stands behind the turn before it. `times` are those
    of the annotations by id.
    """
    file = _Annotations(root)
    turns = {
        one.get("PARENT_REF", ""): file.below(one) for one in file.tiers if one.get("LINGUISTIC_TYPE_REF") == TURNS
    }
    if not turns:
        return None
    found: list[tuple[str, Row, NamedTurn | None]] = []
    given: dict[str, list[CodesOfTurn]] = defaultdict(list)
    for tier in file.tiers:
        name = tier.get("TIER_ID", "")
        named_here = (turn_named(value) for values in turns.get(name, {}).values() for value in values)
        role = next((known.role for known in named_here if known is not None), None)
        for one in tier.iterfind("ANNOTATION/*") if name in turns else ():
            identity = one.get("ANNOTATION_ID", "")
            named = turn_named(next(iter(turns[name].get(identity, ())), ""))
            begin, end = times.get(identity, (0.0, 0.0))
            words = one.findtext("ANNOTATION_VALUE") or ""
            row = Row(tier.get("PARTICIPANT", ""), words, 0, begin, end, role)
            if named is not None:
                row = replace(row, start_s=named.start_s, end_s=named.end_s, role=named.role)
            found.append((identity, row, named))
        if tier.get("PARENT_REF", "") in turns and tier.get("LINGUISTIC_TYPE_REF") != TURNS:
            for identity, of_turn in _codes_of(file, tier).items():
                given[identity].append(of_turn)
    order = _order([(times.get(identity, (0.0, 0.0))[0], named) for identity, _, named in found])
    kept = [found[at] for at in order]
    rows = [replace(row, place=place) for place, (_, row, _) in enumerate(kept, start=1)]
    return RawSession("", rows), [list(merged(given[identity])) for identity, _, _ in kept]


def _order(turns: Sequence[tuple[float, NamedTurn | None]]) -> list[int]:
    """Return positions in the order of turns: by number, and one without a number behind the last that began before."""
    known = sorted((begin, named.number) for begin, named in turns if named is not None)

    def place(at: int) -> tuple[int, int, float]:
        begin, named = turns[at]
        if named is not None:
            return named.number, 0, begin
        return max((number for other, number in known if other <= begin), default=0), 1, begin

    return sorted(range(len(turns)), key=place)


def _codes_of(file: _Annotations, tier: Element) -> dict[str, CodesOfTurn]:
    """Return what a tier of codes or notes says, by the annotation above; nothing for other tiers."""
    kind, coder = tier.get("LINGUISTIC_TYPE_REF", ""), tier.get("ANNOTATOR", "").strip()
    values = file.below(tier)
    if kind == NOTES:
        return {identity: CodesOfTurn(coder, note="\n".join(own)) for identity, own in values.items()}
    if not is_code_tier(tier.get("TIER_ID", ""), kind, (value for own in values.values() for value in own)):
        return {}
    entries = file.vocabulary.get(kind, [])
    every = tuple(code for code in entries if code != NONE) if NONE in entries else None
    return {identity: _of_values(coder, own, every) for identity, own in values.items()}


def _of_values(coder: str, values: Sequence[str], every: tuple[str, ...] | None) -> CodesOfTurn:
    undecided = {value.removesuffix(UNDECIDED) for value in values if value.endswith(UNDECIDED)}
    codes = tuple(dict.fromkeys(value for value in values if value != NONE and not value.endswith(UNDECIDED)))
    known = None if every is None else tuple(code for code in every if code not in undecided)
    return CodesOfTurn(coder, codes, known)


def is_code_tier(name: str, of_type: str, values: Iterable[str]) -> bool:
    """Return whether a tier holds codes: its name or type says so, and all that stands on it is short."""
    named = _CODE_TIER.search(name) or _CODE_TIER.search(of_type)
    return bool(named) and all(len(one) <= _LONGEST_CODE and len(one.split()) <= _MOST_WORDS for one in values)


def codes_by_time(rows: Sequence[Row], tiers: Iterable[Tier], coders: Mapping[str, str]) -> Given:
    """Return the codes of rows with times: each annotation is about the row with which it shares most time.

    Of rows that share as much, it is that of the tier's own participant. `coders` are the annotators of tiers by name.
    """
    given: Given = [[] for _ in rows]
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
            codes = tuple(filter(None, map(str.strip, span.words.split(";"))))
            if shared and codes:
                given[-max(shared)[2]].append(CodesOfTurn(coders.get(tier.name, ""), codes))
    return [list(merged(one)) for one in given]
