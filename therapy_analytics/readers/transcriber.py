"""Transcriber files (``.trs``): turns, in which points of time, names of speakers and noises stand between the words.

By hand with defusedxml: the order of words and marks is the whole format, and no library is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from therapy_analytics.readers._base import RawSession, Row, Source, reader
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._times import seconds
from therapy_analytics.readers._xml import begins_with, distinct_names, xml_root

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_NOISES = {
    "r": "breath",
    "i": "breath",
    "e": "breath",
    "n": "sniff",
    "pf": "sigh",
    "tx": "cough",
    "b": "noise",
    "rire": "laughter",
    "rires": "laughter",
    "pi": "unclear",
    "pif": "unclear",
}
"""The short names that the program offers for what is heard, as it is delivered."""
_LONGEST = 58
_BRACKETS = str.maketrans("[]", "()")


def sniff(source: Source) -> float:
    """Be certain of XML whose root is Transcriber's."""
    return 1.0 if begins_with(source, "Trans") else 0.0


@reader("transcriber", suffixes=(".trs",), sniff=sniff, one_session=True)
def read_transcriber(source: Source) -> Iterator[RawSession]:
    """Transcriber files, in which several speakers may share a turn; noises become speech marks."""
    root = xml_root(
        source,
        "Trans",
        what="Transcriber file",
        remedy="Open it in Transcriber and save it again",
        may_have_doctype=True,
    )
    names = distinct_names((one.get("id", ""), one.get("name", "")) for one in root.iterfind("Speakers/Speaker"))
    left_out: Counter[str] = Counter()
    rows: list[Row] = []
    for turn in root.iter("Turn"):
        for speaker, text, start, end in _pieces(turn, left_out):
            label = names.get(speaker, speaker)
            rows.append(Row(label, text, len(rows) + 1, seconds(start), seconds(end)))
    if not any(row.text for row in rows):
        raise source.error("no turn with words was found", "Check in Transcriber that this is the file with the words")
    notes = [f"{kind.capitalize()} left out ({counted(n, 'word')})." for kind, n in left_out.items() if n]
    yield RawSession("", rows, notes=tuple(notes))


def _pieces(turn: Element, left_out: Counter[str]) -> Iterator[tuple[str, str, str, str]]:
    """Yield who says what in a turn, from when to when: cut at each point of time, and where another speaks."""
    people = turn.get("speaker", "").split()
    start = turn.get("startTime", "")
    said: list[tuple[str, list[str]]] = [(people[0] if len(people) == 1 else "", [turn.text or ""])]
    for one in turn:
        if one.tag == "Sync":
            at = one.get("time", "")
            yield from _told(said, start, at)
            said, start = [(said[-1][0], [])], at
        elif one.tag == "Who":
            nb = one.get("nb", "")
            known = nb.isdecimal() and len(nb) < 4 and 0 < int(nb) <= len(people)
            said.append((people[int(nb) - 1] if known else "", []))
        elif one.tag == "Event":
            mark = _mark(one)
            left_out["remarks about words"] += (
                0 if mark or one.get("extent") == "end" else len(one.get("desc", "").split())
            )
            said[-1][1].append(f" {mark} ")
        elif one.tag == "Comment":
            left_out["comments"] += len(one.get("desc", "").split())
        said[-1][1].append(one.tail or "")
    yield from _told(said, start, turn.get("endTime", ""))


def _told(said: list[tuple[str, list[str]]], start: str, end: str) -> Iterator[tuple[str, str, str, str]]:
    for speaker, pieces in said:
        text = " ".join("".join(pieces).split())
        if text:
            yield speaker, text, start, end


def _mark(event: Element) -> str:
    """Return what is heard as a speech mark; remarks about how words are pronounced, or what they are, are none."""
    said = " ".join(event.get("desc", "").split())
    mark = _NOISES.get(said.casefold(), said)
    if not said or event.get("extent") == "end" or not (event.get("type", "noise") == "noise" or mark == "unclear"):
        return ""
    return f"[{mark[:_LONGEST].translate(_BRACKETS)}]"
