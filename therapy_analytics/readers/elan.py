"""ELAN annotations (``.eaf``): a tier for each speaker.

By hand with defusedxml: pympi-ling parses with the standard XML library, which entities can
blow up, and prints to the terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from therapy_analytics.readers._base import RawSession, Source, reader
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.readers._tiers import Span, Tier, session_of

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_ROOT = "<ANNOTATION_DOCUMENT"
_PER_SECOND = {"PAL-frames": 25.0, "NTSC-frames": 30000 / 1001}
_MILLISECONDS = 1000.0
_REMEDY = "Open it in ELAN and save it again"


def sniff(source: Source) -> float:
    """Be certain of XML whose root is ELAN's."""
    head = source.head.lstrip("\ufeff \n\t")
    return 1.0 if head.startswith("<") and _ROOT in head else 0.0


@reader("elan", suffixes=(".eaf",), sniff=sniff, one_session=True)
def read_elan(source: Source) -> Iterator[RawSession]:
    """ELAN annotation files with a tier for each speaker."""
    root = _root(source)
    times = _times(root)
    tiers = [tier for tier in root.findall("TIER") if tier.get("PARENT_REF") is None]
    left = len(root.findall("TIER")) - len(tiers)
    notes = [f"{counted(left, 'dependent tier')} (translations, notes, ...) left out."] if left else []
    speakers = _speakers(tiers)
    found = [Tier(tier.get("TIER_ID", ""), who, _spans(tier, times)) for tier, who in zip(tiers, speakers, strict=True)]
    yield session_of(source, found, notes=notes)


def _root(source: Source) -> Element:
    from defusedxml import DefusedXmlException  # noqa: PLC0415 (only an ELAN file needs it)
    from defusedxml.ElementTree import ParseError, fromstring  # noqa: PLC0415

    try:
        root: Element = fromstring(source.text.lstrip("\ufeff \n\t"), forbid_dtd=True)
    except ParseError as error:
        place = error.position[0]
        raise source.error("the XML is broken or breaks off here", _REMEDY, line=place) from None
    except DefusedXmlException:
        raise source.error("the XML defines entities or refers to other files, which is unsafe", _REMEDY) from None
    if root.tag != _ROOT[1:]:
        raise source.error("this XML is no ELAN file", _REMEDY)
    return root


def _times(root: Element) -> dict[str, float]:
    """Return the seconds of each time slot; those without a time lie evenly between their neighbours."""
    header = root.find("HEADER")
    unit = "" if header is None else header.get("TIME_UNITS", "")
    per_second = _PER_SECOND.get(unit, _MILLISECONDS)
    order = root.findall("TIME_ORDER/TIME_SLOT")
    slots = [(slot.get("TIME_SLOT_ID", ""), _number(slot.get("TIME_VALUE"))) for slot in order]
    known = [at for at, (_, value) in enumerate(slots) if value is not None]
    values = [value or 0.0 for _, value in slots]
    for one, two in pairwise(known):
        step = (values[two] - values[one]) / (two - one)
        values[one + 1 : two] = [values[one] + step * n for n in range(1, two - one)]
    if known:
        values[known[-1] + 1 :] = [values[known[-1]]] * (len(values) - known[-1] - 1)
    return {name: value / per_second for (name, _), value in zip(slots, values, strict=True)}


def _number(written: str | None) -> float | None:
    return float(written) if written and len(written) < 16 and written.isascii() and written.isdecimal() else None


def _speakers(tiers: list[Element]) -> list[str]:
    """Return the speaker of each tier: the participant, unless all are one, or only the tier's name says the role."""
    names = [tier.get("TIER_ID", "").strip() for tier in tiers]
    people = [tier.get("PARTICIPANT", "").strip() for tier in tiers]
    if len(set(people)) == 1 < len(people):
        return names
    return [
        name if not person or (role_of_label(name) and not role_of_label(person)) else person
        for name, person in zip(names, people, strict=True)
    ]


def _spans(tier: Element, times: Mapping[str, float]) -> list[Span]:
    """Return the annotations of a tier that have a time of their own."""
    return [
        (
            times.get(one.get("TIME_SLOT_REF1", ""), 0.0),
            times.get(one.get("TIME_SLOT_REF2", ""), 0.0),
            " ".join((one.findtext("ANNOTATION_VALUE") or "").split()),
        )
        for one in tier.iterfind("ANNOTATION/ALIGNABLE_ANNOTATION")
    ]
