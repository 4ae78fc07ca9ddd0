"""Transcriber files (``.trs``): turns, with times, changes of speaker and noises between the words.

By hand with defusedxml, because no library for them is maintained.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from therapy_analytics.readers._base import RawSession, Row, Source, reader
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._times import seconds
from therapy_analytics.readers._xml import distinct_names, root_is, xml_root

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_NOISES = {
    **dict.fromkeys(("r", "i", "e"), "breath"), "n": "sniff", "pf": "sigh", "tx": "cough", "b": "noise",
    **dict.fromkeys(("rire", "rires"), "laughter"), **dict.fromkeys(("pi", "pif"), "unclear"),
}  # fmt: skip
"""The short names of noises that the program offers when it is installed."""
_LONGEST = 58
_BRACKETS = str.maketrans("[]", "()")


@reader("transcriber", suffixes=(".trs",), sniff=root_is("Trans"), one_session=True)
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
    left_out = Counter({"remarks about words": 0, "comments": 0})
    rows: list[Row] = []
    for turn in root.iter("Turn"):
        for speaker, text, start, end in _utterances(turn, left_out):
            rows.append(Row(names.get(speaker, speaker), text, len(rows) + 1, seconds(start), seconds(end)))
    if not rows:
        raise source.error("no turn with words was found", "Check in Transcriber that this is the file with the words")
    notes = [f"{kind.capitalize()} left out ({counted(n, 'word')})." for kind, n in left_out.items() if n]
    yield RawSession("", rows, notes=tuple(notes))


def _utterances(turn: Element, left_out: Counter[str]) -> Iterator[tuple[str, str, str, str]]:
    """Yield speaker, words, start and end: a turn is cut at each time in it, and where another speaker begins."""
    people = turn.get("speaker", "").split()
    start = turn.get("startTime", "")
    parts = [(people[0] if len(people) == 1 else "", [turn.text or ""])]
    for one in turn:
        description = one.get("desc", "").split()
        if one.tag == "Sync":
            yield from _with_words(parts, start, one.get("time", ""))
            parts, start = [(parts[-1][0], [])], one.get("time", "")
        elif one.tag == "Who":
            nb = one.get("nb", "")
            known = nb.isdecimal() and len(nb) < 4 and 0 < int(nb) <= len(people)
            parts.append((people[int(nb) - 1] if known else "", []))
        elif one.tag == "Event":
            mark = _mark(one)
            if not mark and one.get("extent") != "end":
                left_out["remarks about words"] += len(description)
            parts[-1][1].append(f" {mark} ")
        elif one.tag == "Comment":
            left_out["comments"] += len(description)
        parts[-1][1].append(one.tail or "")
    yield from _with_words(parts, start, turn.get("endTime", ""))


def _with_words(parts: list[tuple[str, list[str]]], start: str, end: str) -> Iterator[tuple[str, str, str, str]]:
    for speaker, texts in parts:
        if text := " ".join("".join(texts).split()):
            yield speaker, text, start, end


def _mark(event: Element) -> str:
    """Return a noise as a speech mark; remarks about pronunciation, language or names are none."""
    heard = " ".join(event.get("desc", "").split())
    mark = _NOISES.get(heard.casefold(), heard)
    if not heard or event.get("extent") == "end" or not (event.get("type", "noise") == "noise" or mark == "unclear"):
        return ""
    return f"[{mark[:_LONGEST].translate(_BRACKETS)}]"
