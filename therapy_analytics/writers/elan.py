"""ELAN annotations: a tier of words for each speaker; turns, codes and notes on tiers that depend on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from xml.etree.ElementTree import Element, SubElement, tostring

from therapy_analytics.readers import join_marks
from therapy_analytics.readers._coded import NONE, CodedSession, CodesOfTurn, name_of_turn, with_own_codes
from therapy_analytics.readers._elan_turns import CODES, NOTES, TURNS, UNDECIDED
from therapy_analytics.session import Session, Turn
from therapy_analytics.writers._base import writer
from therapy_analytics.writers._refi import NO_DATE, for_xml

_SCHEMA = "http://www.mpi.nl/tools/elan/EAFv2.7.xsd"
_UTTERANCES = "utterances"
_SHORTEST, _UNTIMED = 1, 1000
"""Milliseconds of a turn at least, and of one whose times are not known."""
_CONSTRAINTS = {
    "Symbolic_Subdivision": "Symbolic subdivision of a parent annotation. Annotations refering to the same parent are "
    "ordered",
    "Symbolic_Association": "1-1 association with a parent annotation",
}


@writer("elan", suffix=".eaf", holds={"times", "ends", "codes", "lines", "others"})
def write_elan(session: Session) -> bytes:
    """ELAN: a tier a speaker, with tiers of codes by people; turns without times get a second each."""
    return elan_file(with_own_codes(session))


def elan_file(session: CodedSession, *, when: str = NO_DATE) -> bytes:
    """Return the words and codes of a session as ELAN opens them; `when` is the date of the file."""
    root = Element("ANNOTATION_DOCUMENT", {
        "AUTHOR": "therapy-analytics", "DATE": when, "FORMAT": "2.7", "VERSION": "2.7",
        "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance", "xsi:noNamespaceSchemaLocation": _SCHEMA,
    })  # fmt: skip
    SubElement(root, "HEADER", {"MEDIA_FILE": "", "TIME_UNITS": "milliseconds"})
    order = SubElement(root, "TIME_ORDER")
    for turn, (start, end) in zip(session.turns, _times(session.turns), strict=True):
        for edge, time in (("a", start), ("b", end)):
            SubElement(order, "TIME_SLOT", {"TIME_SLOT_ID": f"ts{turn.index}{edge}", "TIME_VALUE": str(time)})
    vocabularies = _vocabularies(session)
    ids = (f"a{number}" for number in count(1))
    for name, (speaker, role) in _tier_names(session.turns).items():
        pairs = zip(session.turns, session.given, strict=True)
        own = [(turn, given) for turn, given in pairs if (turn.speaker, turn.role) == (speaker, role)]
        choices = {coder: codes for (coder, whose), codes in vocabularies.items() if whose == role}
        _add_speaker(root, name, own, choices, ids)
    _types(root, vocabularies)
    text = tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'.encode()


def _add_speaker(
    root: Element,
    name: str,
    own: Sequence[tuple[Turn, Sequence[CodesOfTurn]]],
    choices: Mapping[str, Sequence[str]],
    ids: Iterator[str],
) -> None:
    """Add the tiers of a speaker: words, turns, and for each coder codes and notes."""
    speaker, role = own[0][0].speaker, own[0][0].role
    words = SubElement(root, "TIER", {"LINGUISTIC_TYPE_REF": _UTTERANCES, "PARTICIPANT": for_xml(speaker)})
    words.set("TIER_ID", name)
    above = [_utterance(words, next(ids), turn) for turn, _ in own]
    turns = _tier(root, name, "turns", TURNS)
    for place, (turn, _) in zip(above, own, strict=True):
        _depend(turns, ids, place, [name_of_turn(turn)])
    for coder, vocabulary in choices.items():
        codes = _tier(root, name, f"{CODES} {coder}", f"{CODES} {coder}, {role}", coder)
        notes = Element("TIER")
        mine = [(place, one) for place, (_, given) in zip(above, own, strict=True) for one in given]
        for place, one in ((place, one) for place, one in mine if one.coder == coder):
            _depend(codes, ids, place, _values(one, vocabulary))
            _depend(notes, ids, place, [one.note] if one.note else [])
        if len(notes):
            _tier(root, name, f"{NOTES} {coder}", NOTES, coder).extend(notes)


def _times(turns: tuple[Turn, ...]) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each turn in milliseconds; where they are not known, turns follow each other."""
    clock = 0
    for turn in turns:
        start = clock if turn.start_s is None else max(round(1000 * turn.start_s), 0)
        end = start + _UNTIMED if turn.end_s is None else round(1000 * turn.end_s)
        end = max(end, start + _SHORTEST)
        yield start, end
        clock = end


def _tier_names(turns: tuple[Turn, ...]) -> dict[str, tuple[str, str]]:
    """Return the speakers and roles by names of tiers, which must differ."""
    names: dict[str, tuple[str, str]] = {}
    for speaker, role in dict.fromkeys((turn.speaker, turn.role) for turn in turns):
        name = for_xml(speaker) or "Unknown"
        names[name if name not in names else f"{name} ({role})"] = speaker, role
    return names


def _vocabularies(session: CodedSession) -> dict[tuple[str, str], list[str]]:
    """Return the codes of each coder for turns of each role; with `NONE` where it is known which codes are absent."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for turn, given in zip(session.turns, session.given, strict=True):
        for one in given:
            codes = found.setdefault((one.coder, turn.role), {})
            codes |= dict.fromkeys((*([] if one.known is None else [NONE, *one.known]), *one.codes))
    return {key: list(codes) for key, codes in found.items()}


def _values(given: CodesOfTurn, vocabulary: Sequence[str]) -> list[str]:
    """Return what stands on a coder's tier below a turn: the codes, or that there is none, and what is undecided."""
    if given.known is None:
        return list(given.codes)
    decided = {NONE, *given.known, *given.codes}
    return [*(given.codes or (NONE,)), *(f"{code}{UNDECIDED}" for code in vocabulary if code not in decided)]


def _utterance(tier: Element, identity: str, turn: Turn) -> str:
    about = {"ANNOTATION_ID": identity, "TIME_SLOT_REF1": f"ts{turn.index}a", "TIME_SLOT_REF2": f"ts{turn.index}b"}
    one = SubElement(SubElement(tier, "ANNOTATION"), "ALIGNABLE_ANNOTATION", about)
    SubElement(one, "ANNOTATION_VALUE").text = for_xml(join_marks(turn.text, turn.marks))
    return identity


def _depend(tier: Element, ids: Iterator[str], above: str, values: Iterable[str]) -> None:
    """Add annotations that depend on one; several are linked in their order."""
    before: dict[str, str] = {}
    for value in values:
        about = {"ANNOTATION_ID": next(ids), "ANNOTATION_REF": above, **before}
        one = SubElement(SubElement(tier, "ANNOTATION"), "REF_ANNOTATION", about)
        SubElement(one, "ANNOTATION_VALUE").text = for_xml(value)
        before = {"PREVIOUS_ANNOTATION": about["ANNOTATION_ID"]}


def _tier(root: Element, parent: str, kind: str, of_type: str, coder: str = "") -> Element:
    about = {"LINGUISTIC_TYPE_REF": for_xml(of_type), "PARENT_REF": parent, "TIER_ID": for_xml(f"{parent}: {kind}")}
    return SubElement(root, "TIER", about | ({"ANNOTATOR": for_xml(coder)} if coder else {}))


def _types(root: Element, vocabularies: Mapping[tuple[str, str], Sequence[str]]) -> None:
    """Add the types of tiers, what ELAN must know of dependent ones, and the codes that each coder may choose from."""
    plain = {"GRAPHIC_REFERENCES": "false", "TIME_ALIGNABLE": "false"}
    SubElement(root, "LINGUISTIC_TYPE", {**plain, "LINGUISTIC_TYPE_ID": _UTTERANCES, "TIME_ALIGNABLE": "true"})
    for name in (TURNS, NOTES):
        SubElement(root, "LINGUISTIC_TYPE", {
            **plain, "LINGUISTIC_TYPE_ID": name, "CONSTRAINTS": "Symbolic_Association",
        })  # fmt: skip
    names = {f"{CODES} {coder}, {role}": codes for (coder, role), codes in vocabularies.items()}
    for name in names:
        SubElement(root, "LINGUISTIC_TYPE", {
            **plain, "LINGUISTIC_TYPE_ID": for_xml(name), "CONSTRAINTS": "Symbolic_Subdivision",
            "CONTROLLED_VOCABULARY_REF": for_xml(name),
        })  # fmt: skip
    for name, description in _CONSTRAINTS.items():
        SubElement(root, "CONSTRAINT", {"STEREOTYPE": name, "DESCRIPTION": description})
    for name, codes in names.items():
        vocabulary = SubElement(root, "CONTROLLED_VOCABULARY", {"CV_ID": for_xml(name), "DESCRIPTION": ""})
        for code in codes:
            SubElement(vocabulary, "CV_ENTRY", {"DESCRIPTION": ""}).text = for_xml(code)
