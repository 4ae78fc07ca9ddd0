"""Timed text in XML (``.ttml``, ``.dfxp``, ``.xml``): captions of the W3C's TTML and of YouTube.

By hand with defusedxml: the libraries of captions drop agents, which say who speaks.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from therapy_analytics.core.printable import counted
from therapy_analytics.readers._captions import Cue, in_order, session_of
from therapy_analytics.readers._xml import begins_with, distinct_names, local, whole_number, xml_root
from therapy_analytics.readers.base import RawSession, Source, reader

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_CLOCK = re.compile(r"(?:(\d{1,5}):)?(\d{1,3}):(\d{1,2}(?:\.\d{1,9})?)(?::(\d{1,5}(?:\.\d{1,5})?))?")
_OFFSET = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)(h|ms|m|s|f|t)?")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_FRAMES = 30.0
_SLACK_S = 0.5
_DEEPEST = 100
_NO_WORDS = frozenset({"metadata", "desc", "title", "set", "animate", "image", "data", "resources"})
_SECOND_FORMS = frozenset({"x-translation", "x-roman"})
_REMEDY = "Export the captions once more, as TTML or WebVTT"


@dataclass(frozen=True, slots=True)
class _Rates:
    """Frames and ticks per second; whether times count from the begin of the element around."""

    frames: float
    ticks: float
    nested: bool = True


@dataclass(frozen=True, slots=True)
class _Shown:
    """Lines shown from a begin to an end in seconds, with the id of the agent who speaks, and the language."""

    begin: float | None = None
    end: float | None = None
    agent: str = ""
    language: str = ""
    lines: list[str] = field(default_factory=lambda: [""], repr=False)


def sniff(source: Source) -> float:
    """Be certain of XML whose root is that of timed text, or of YouTube's."""
    is_youtube = begins_with(source, "timedtext") or (
        begins_with(source, "transcript") and "<text start=" in source.head
    )
    return 1.0 if is_youtube or begins_with(source, "tt") else 0.0


@reader("ttml", suffixes=(".ttml", ".dfxp"), sniff=sniff, one_session=True)
def read_ttml(source: Source) -> Iterator[RawSession]:
    """TTML and DFXP captions with the speaker as an agent of the metadata, before a colon, or after >> marks."""
    if not begins_with(source, "tt"):
        yield _of_youtube(source)
        return
    root = xml_root(source, "tt", what="TTML file", remedy=_REMEDY, may_have_doctype=True)
    body = next((one for one in root if local(one.tag) == "body"), None)
    shown = [] if body is None else _captions(source, body, _rates(root))
    if not shown:
        raise source.error("no captions with words were found", _REMEDY)
    again = _translations(shown)
    first = [one for one in shown if one.language not in again]
    names = _agents(root)
    cues = [
        Cue(
            place,
            one.begin,
            one.end,
            [html.escape(line, quote=False) for line in one.lines],
            " and ".join(names.get(agent, agent) for agent in one.agent.split()),
        )
        for place, one in enumerate(first, start=1)
    ]
    session = session_of(source, in_order(cues), example='"Therapist: Hello"')
    n_words = sum(len(line.split()) for one in shown if one.language in again for line in one.lines)
    other = f"{counted(len(shown) - len(first), 'caption')} in another language left out ({counted(n_words, 'word')})."
    yield replace(session, notes=(*session.notes, *([other] if len(first) < len(shown) else [])))


def _of_youtube(source: Source) -> RawSession:
    """Read YouTube's captions: ``<text start dur>`` in seconds, ``<p t d>`` or ``<text t d>`` in milliseconds."""
    name = "timedtext" if begins_with(source, "timedtext") else "transcript"
    root = xml_root(source, name, what="file of captions", remedy=_REMEDY)
    cues = []
    for place, one in enumerate((one for one in root.iter() if one.tag in {"p", "text"}), start=1):
        at, unit, lasting = ("start", "s", "dur") if one.get("start") else ("t", "ms", "d")
        begin, lasts = (_seconds(one.get(key, "") + unit, _Rates(_FRAMES, 1.0)) for key in (at, lasting))
        end = None if begin is None or lasts is None else round(begin + lasts, 6)
        cues.append(Cue(place, begin, end, "".join(one.itertext()).split("\n")))
    return session_of(source, cues, example='"Therapist: Hello"')


def _translations(shown: Sequence[_Shown]) -> set[str]:
    """Return the languages that are mostly shown at the same time as the first; in others, somebody else speaks."""
    first = [one for one in shown if one.language == shown[0].language]
    begins, ends = sorted(one.begin or 0.0 for one in first), sorted(one.end or one.begin or 0.0 for one in first)

    def is_beside(one: _Shown) -> bool:
        if one.begin is None or one.end is None:
            return one.begin is None or one.begin in begins
        middle = (one.begin + one.end) / 2
        return bisect_right(begins, middle) > bisect_right(ends, middle)

    at: dict[str, list[bool]] = {}
    for one in shown:
        if one.language != shown[0].language:
            at.setdefault(one.language, []).append(is_beside(one))
    return {language for language, beside in at.items() if 2 * sum(beside) > len(beside)}


def _get(element: Element, name: str) -> str:
    """Return an attribute by its name without the namespace."""
    return next((value for key, value in element.items() if local(key) == name), "")


def _rates(root: Element) -> _Rates:
    rate = whole_number(_get(root, "frameRate")) or _FRAMES
    top, _, bottom = _get(root, "frameRateMultiplier").replace(":", " ").partition(" ")
    frames = rate * (whole_number(top) or 1.0) / (whole_number(bottom) or 1.0)
    parts = whole_number(_get(root, "subFrameRate")) or 1.0
    return _Rates(frames, whole_number(_get(root, "tickRate")) or (frames * parts if _get(root, "frameRate") else 1.0))


def _agents(root: Element) -> Mapping[str, str]:
    """Return the name of each agent by its id, the full one first."""
    people = []
    for agent in (one for one in root.iter() if local(one.tag) == "agent"):
        names = sorted((one for one in agent if local(one.tag) == "name"), key=lambda one: _get(one, "type") != "full")
        people.append((_get(agent, "id"), "".join(names[0].itertext()) if names else ""))
    return distinct_names(people)


def _captions(source: Source, body: Element, rates: _Rates) -> list[_Shown]:
    """Return the captions with words; times count from the element around, unless they would not fit into it."""
    shown = list(_within(source, body, _Shown(), rates))
    if any(one.end is not None and one.begin is not None and one.begin > one.end + _SLACK_S for one in shown):
        shown = list(_within(source, body, _Shown(), replace(rates, nested=False)))
    lines = [[" ".join(line.split()) for line in one.lines] for one in shown]
    return [replace(one, lines=words) for one, words in zip(shown, lines, strict=True) if any(words)]


def _within(source: Source, element: Element, around: _Shown, rates: _Rates, depth: int = 0) -> Iterator[_Shown]:
    """Yield the captions of the body, a division or a paragraph."""
    if depth > _DEEPEST:
        raise source.error("the captions stand inside each other deeper than any program writes", _REMEDY)
    here = _timed(element, around, rates)
    if local(element.tag) == "p":
        yield from _paragraph(source, element, here, rates)
        return
    in_turn = _get(element, "timeContainer") == "seq"
    for child in element:
        if local(child.tag) in {"div", "p"}:
            found = list(_within(source, child, here, rates, depth + 1))
            yield from found
            if in_turn and found and found[-1].end is not None:
                here = replace(here, begin=found[-1].end)


def _timed(element: Element, around: _Shown, rates: _Rates) -> _Shown:
    """Return the times of an element, which end at the latest with the one around, its agent and its language."""
    given, until, lasts = (_seconds(_get(element, name), rates) for name in ("begin", "end", "dur"))
    offset = (around.begin or 0.0) if rates.nested else 0.0
    begin = around.begin if given is None else given + offset
    own = [until + offset] if until is not None else []
    own += [(begin or 0.0) + lasts] if lasts is not None else []
    around_it = [around.end] if around.end is not None and (rates.nested or not own) else []
    end = min([*own, *around_it], default=None)
    agent = _get(element, "agent") or around.agent
    return _Shown(begin, end, agent, _get(element, "lang") or around.language)


def _paragraph(source: Source, paragraph: Element, here: _Shown, rates: _Rates) -> Iterator[_Shown]:
    """Yield a caption, in parts where spans have other agents, or times while the caption has none."""
    parts = [here]
    own_times = bool(_get(paragraph, "begin"))

    def add(element: Element, when: _Shown, depth: int) -> None:
        if depth > _DEEPEST:
            raise source.error("the captions stand inside each other deeper than any program writes", _REMEDY)
        _say(parts, when, element.text)
        for child in element:
            name = local(child.tag)
            if name == "br":
                parts[-1].lines.append("")
            elif name not in _NO_WORDS and name and _get(child, "role") not in _SECOND_FORMS:
                inside = _timed(child, when, rates)
                add(child, inside if not own_times else replace(when, agent=inside.agent), depth + 1)
            _say(parts, when, child.tail)

    add(paragraph, here, 0)
    yield from parts


def _say(parts: list[_Shown], when: _Shown, text: str | None) -> None:
    """Add words to the last part, or to a new one where the agent or the time is another."""
    if not text or (text.isspace() and not parts[-1].lines[-1]):
        return
    last = parts[-1]
    if not text.isspace() and (last.agent, last.begin) != (when.agent, when.begin):
        if any(line.strip() for line in last.lines):
            parts.append(replace(when, lines=[""]))
        else:
            parts[-1] = replace(when, lines=last.lines)
    parts[-1].lines[-1] += text


def _seconds(written: str, rates: _Rates) -> float | None:
    """Return a time in seconds: ``00:01:02.5``, ``00:01:02:12`` (frames), ``62.5s``, ``1500f``, ``90000t``.

    Examples
    --------
    >>> [_seconds(one, _Rates(25, 1000)) for one in ("00:00:02:05", "1.5m", "2500t", "later", "3")]
    [2.2, 90.0, 2.5, None, 3.0]
    """
    written = written.strip()
    if clock := _CLOCK.fullmatch(written):
        hours, minutes, seconds, frames = (float(one or 0) for one in clock.groups())
        return round(3600 * hours + 60 * minutes + seconds + frames / rates.frames, 6)
    if offset := _OFFSET.fullmatch(written):
        per_second = {"f": 1 / rates.frames, "t": 1 / rates.ticks}
        return round(float(offset[1]) * (_SECONDS | per_second).get(offset[2] or "s", 1.0), 6)
    return None
