"""Captions of SubStation Alpha (``.ass``, ``.ssa``): a line an event, with a column for the name of the speaker.

By hand: pysubs2 drops the line of a caption, and comments.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from therapy_analytics.core.printable import counted
from therapy_analytics.readers._captions import Cue, in_order, session_of
from therapy_analytics.readers._times import seconds
from therapy_analytics.readers.base import RawSession, Source, begins, reader
from therapy_analytics.readers.roles import role_of_label

_BEGINS = r"(?i)\s*(?:;[^\n]*\n\s*)*\[script info\]"
_FORMAT = ["layer", "start", "end", "style", "name", "marginl", "marginr", "marginv", "effect", "text"]
"""The columns where no line names them."""
_TAGS = re.compile(r"\{([^{}]*+)\}")
_DRAWING = re.compile(r"\\p(\d)")
_BREAK = re.compile(r"\\[Nn]")
_NOBODY = frozenset({"default", "ntp"})
"""Values of the column of names that are no names."""
_SAME = {"actor": "name"}
_REMEDY = "Export the captions with the speaker in the column Name (Actor), or before the words"

Event = dict[str, str]


@reader("substation", suffixes=(".ass", ".ssa"), sniff=begins(_BEGINS), one_session=True)
def read_substation(source: Source) -> Iterator[RawSession]:
    """SubStation Alpha captions with the speaker in the name of an event, before a colon, or as its style."""
    events, n_comments = _events(source.lines)
    shown = list({key: (at, event) for at, event in reversed(events) if (key := _key(event))[-1]}.values())[::-1]
    if not shown:
        raise source.error("no captions with words were found", _REMEDY)
    column = _column([event for _, event in shown])
    cues = [
        Cue(at, seconds(event["start"]), seconds(event["end"]), _lines(event["text"]), _name(event[column]))
        for at, event in shown
    ]
    session = session_of(source, in_order(cues), example='"Therapist: Hello"')
    kept = {at for at, _ in shown}
    n_repeated = sum(len(_key(event)[-1].split()) for at, event in events if at not in kept)
    left_out = (("Comments", n_comments), ("Repeated captions", n_repeated))
    notes = [f"{what} left out ({counted(n, 'word')})." for what, n in left_out if n]
    yield replace(session, notes=(*session.notes, *notes))


def _events(lines: Sequence[str]) -> tuple[list[tuple[int, Event]], int]:
    """Return the captions with their line numbers, and the number of words in comments."""
    columns = _FORMAT
    events: list[tuple[int, Event]] = []
    n_comments, inside = 0, False
    for number, line in enumerate(lines, start=1):
        what, _, rest = line.strip("\ufeff \t").partition(":")
        what = what.casefold()
        if what.startswith("["):
            inside = what.startswith("[events]")
        elif inside and what == "format":
            named = [_SAME.get(name, name) for name in rest.casefold().replace(" ", "").split(",")]
            columns = named if named[-1] == "text" else columns
        elif inside and what in {"dialogue", "comment"}:
            cells = rest.split(",", len(columns) - 1)
            event = dict.fromkeys(_FORMAT, "") | dict(zip(columns, cells, strict=False))
            if what == "dialogue":
                events.append((number, event))
            else:
                n_comments += len(" ".join(_lines(event["text"])).split())
    return events, n_comments


def _key(event: Event) -> tuple[str, ...]:
    """Return times, name and words of a caption: the same in two layers is a shadow of the letters."""
    words = " ".join(_lines(event["text"]))
    return event["start"].strip(), event["end"].strip(), _name(event["name"]), words


def _lines(text: str) -> list[str]:
    """Return the lines of a caption without override tags, comments in braces and drawings."""
    first, *others = _TAGS.split(text)
    shown, draws = [first], False
    for tags, words in zip(others[::2], others[1::2], strict=True):
        for mode in _DRAWING.findall(tags):
            draws = mode != "0"
        shown.append("" if draws else words)
    plain = "".join(shown).replace("\\h", " ")
    return [html.escape(words, quote=False) for line in _BREAK.split(plain) if (words := " ".join(line.split()))]


def _column(events: Sequence[Event]) -> str:
    """Return the column of speakers: the name, or the style where styles are named after the two roles."""
    styles = {role_of_label(event["style"]) for event in events}
    named = any(_name(event["name"]) for event in events)
    return "style" if not named and {"therapist", "client"} <= styles else "name"


def _name(cell: str) -> str:
    name = " ".join(cell.split())
    return "" if name.casefold() in _NOBODY else name
