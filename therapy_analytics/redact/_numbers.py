"""Placeholders: the same thing has the same number through a session."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from therapy_analytics.redact._found import PLACEHOLDER
from therapy_analytics.redact._people import Person, people, person
from therapy_analytics.redact._spoken import runs
from therapy_analytics.redact._tokens import plain
from therapy_analytics.session import Turn

_NUMBERED = re.compile(r"([A-Z]+)_(\d+)")
_FEW = 4


class Numbers:
    """Numbers of the people and things of one session, in the order in which they come up.

    Parameters
    ----------
    turns : sequence of Turn
        Placeholders that stand in them already keep their numbers; new ones go on behind.
    """

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._last: dict[str, int] = {}
        self._given: dict[tuple[str, object], str] = {}
        self._people: dict[Person, Person] = {}
        for turn in turns:
            for text in (turn.speaker, turn.text, *(mark.written for mark in turn.marks)):
                self._note_given(text)

    def _note_given(self, text: str) -> None:
        for match in PLACEHOLDER.finditer(text):
            numbered = _NUMBERED.search(match[0])
            if numbered:
                kind, number = numbered[1], int(numbered[2])
                self._last[kind] = max(self._last.get(kind, 0), number)

    def learn_people(self, names: Iterable[str]) -> None:
        """Say whose the names of a session are, before any is numbered."""
        self._people = people(person(name) for name in names)

    def placeholder(self, kind: str, words: str) -> str:
        """Return what stands in place of some words: ``[NAME_1]``; ages share one."""
        if kind == "AGE_OVER_89":
            return f"[{kind}]"
        key = (kind, self._identity(kind, words))
        if key not in self._given:
            self._last[kind] = self._last.get(kind, 0) + 1
            self._given[key] = f"[{kind}_{self._last[kind]}]"
        return self._given[key]

    def _identity(self, kind: str, words: str) -> object:
        if kind == "NAME":
            who = person(words)
            return self._people.get(who, who)
        digits = "".join(run.digits for run in runs(words))
        return digits if len(digits) >= _FEW else re.sub(r"\W+", " ", plain(words)).strip()
