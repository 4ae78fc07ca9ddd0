"""Places smaller than a state: addresses, towns, and what has a name of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from therapy_analytics.redact._found import Found
from therapy_analytics.redact._houses import houses, small_houses
from therapy_analytics.redact._spoken import runs
from therapy_analytics.redact._tokens import Token, word_list
from therapy_analytics.redact._vocabulary import (
    CALLINGS,
    KIN,
    ROADS,
    SPOKEN,
    STATES,
    TITLES,
    TWO_WORD_STATES,
    VAGUE,
    word_set,
)

_TO = word_set(
    """
    in from to near at around outside through via toward towards into leaving live lives lived visit visited visiting
    by past off behind over
    """
)
_ONE_OF_MANY = word_set("a an my his her our your their this that these those some any every each no which what whose")
_ROADS = "|".join(sorted(ROADS, key=len, reverse=True))
_UNIT_OF_HOUSE = (
    r"(?:,? (?:apt|apartment|unit|suite|#|rm|room|floor|flat|building|lot|trailer)\.? ?"
    r"(?:number )?#?\w{1,6}\b(?: \w\b)?)"
)
_HOME = re.compile(
    r"\b\d{1,5}[A-Za-z]? (?:(?:[NSEW]|North|South|East|West)\.? )?(?:[\w'-]+ ){1,3}?"
    rf"(?:{_ROADS})\b\.?{_UNIT_OF_HOUSE}?|\b\d{{1,3}}(?:st|nd|rd|th) (?:{_ROADS})\b|"
    r"\b(?:route|highway|hwy|interstate) (?:\d+|(?:\w+ty )?(?:one|two|three|four|five|six|seven|eight|nine)\b)",
    re.IGNORECASE,
)
_HOUSE_SAID = re.compile(
    rf" (?:(?:north|south|east|west) )?(?P<name>(?:[\w']+ ){{1,3}}?)(?:{_ROADS})\b{_UNIT_OF_HOUSE}?", re.IGNORECASE
)
_HOUSE_OR_FLAT_SAID = re.compile(
    rf" (?P<name>(?:north|south|east|west) [\w']+|"
    rf"(?:[\w']+ ){{1,2}}?(?={_UNIT_OF_HOUSE.replace(',? ', '')}))(?:{_UNIT_OF_HOUSE})?",
    re.IGNORECASE,
)
_FLAT_BEFORE = re.compile(r"\b(?:flat|apartment|apt|unit|number|lot|house|block) $", re.IGNORECASE)
_AFTER_PLACE = re.compile(
    rf",? (?:{'|'.join(sorted(STATES))}|new [a-z]+|(?:north|south|west) [a-z]+|rhode island)\b|, [A-Z]{{2}}\b",
    re.IGNORECASE,
)
_PERSON_BEFORE = re.compile(rf"\b(?:{KIN}) (?:is )?(?:named |called )?$", re.IGNORECASE)
_BOX = re.compile(r"\bP\.? ?O\.? box (?:number )?#?[\w-]*\d[\w-]*", re.IGNORECASE)
_STATE_ZIP = re.compile(r"\b[A-Z]{2} (?P<zip>\d{5}(?:-\d{4})?)\b")
_LONGEST = 4


def homes(text: str) -> Iterator[Found]:
    """Yield addresses with a number: 412 Sycamore Lane, forty two sycamore lane apartment three c, P.O. Box 7."""
    yield from (Found(*one.span(), "PLACE", "certain", "address") for one in _HOME.finditer(text) if _is_home(one[0]))
    yield from (Found(*one.span(), "PLACE", "certain", "address") for one in _BOX.finditer(text))
    yield from (Found(*one.span("zip"), "PLACE", "certain", "postal_code") for one in _STATE_ZIP.finditer(text))
    for run in runs(text):
        match = _HOUSE_SAID.match(text, run.end) or _HOUSE_OR_FLAT_SAID.match(text, run.end)
        house = match if run.said and 0 < len(run.digits) <= 5 + 2 * run.letters else None
        if house is not None and _is_home(f"1 {house['name']}x"):
            before = _FLAT_BEFORE.search(text[: run.start])
            yield Found(before.start() if before else run.start, house.end(), "PLACE", "certain", "address")


def _is_home(words: str) -> bool:
    """Leave "3 times on the street" out: between number and street stand only words that name one."""
    allowed = {
        "north",
        "south",
        "east",
        "west",
        "old",
        "high",
        "second",
        "first",
        "third",
        "park",
        "church",
        "main",
        "school",
    }
    return (
        not (VAGUE | {"times", "minutes", "hours", "years", "miles", "blocks", "days"})
        & set(words.lower().split()[1:-1]) - allowed
    )


def places(text: str, words: Sequence[Token]) -> Iterator[Found]:
    """Yield places, the surest first; what is also a name of people only where the words around say place."""
    cased = any(word.capital and word.word != "i" for word in words)
    yield from houses(text, words) if cased else small_houses(text, words)
    yield from _towns(text, words)
    for at, word in enumerate(words):
        stays = word.kept or word.word in SPOKEN or word.word in VAGUE or word.word in TITLES | CALLINGS
        named = (word.capital and not (word.opens or word.first)) or (not cased and word.unknown and len(word.word) > 3)
        if named and not stays and led_as_place(words, at):
            yield Found(word.start, word.end, "PLACE", "unsure", "led_to")


def _towns(text: str, words: Sequence[Token]) -> Iterator[Found]:
    """Yield towns and counties of the list: the longest row of words that it has."""
    place, skip = word_list("places"), -1
    for at in range(len(words)):
        if at <= skip:
            continue
        for length in range(min(_LONGEST, len(words) - at), 0, -1):
            row = words[at : at + length]
            name = " ".join(one.word for one in row)
            name = f"saint {name[3:]}" if name.startswith("st ") else name
            if name in place and name != "cut off" and _joined(text, row) and _may_be(text, words, at, length):
                yield Found(row[0].start, row[-1].end, "PLACE", "likely", "town")
                skip = at + length - 1
                break


def _joined(text: str, row: Sequence[Token]) -> bool:
    return all(text[one.end : other.start] in {" ", ". "} for one, other in pairwise(row))


def _may_be(text: str, words: Sequence[Token], at: int, length: int) -> bool:
    """Decide whether a row of words that is the name of a town is meant as one."""
    row = words[at : at + length]
    cased = all(one.capital for one in row)
    if " ".join(one.word for one in row) in TWO_WORD_STATES or (length == 1 and row[0].kept):
        return False
    led = at > 0 and (words[at - 1].word in _TO) and text[words[at - 1].end : row[0].start] == " "
    followed = bool(_AFTER_PLACE.match(text, row[-1].end))
    if length > 1:
        return (
            cased
            or (led and not all(one.ordinary for one in row))
            or not any(one.ordinary or one.listed for one in row)
            or followed
            or (at > 0 and words[at - 1].word in {"um", "uh", "then", "and", *_TO})
        )
    word = row[0]
    if word.ordinary:
        return cased and (led or followed) and not word.opens
    if word.first or (word.last and not cased):
        return (led or followed) and (cased or not _PERSON_BEFORE.search(text[: word.start])) and not word.possessive
    return (cased and (led or followed or not word.last)) or (not cased and len(word.word) > 3)


def led_as_place(words: Sequence[Token], at: int) -> bool:
    """Return whether a word stands behind one that leads to places: "from Secaucus"."""
    before = words[at - 1].word if at else ""
    return before in {"in", "near", "outside", "at", "from"} and not words[at].possessive
