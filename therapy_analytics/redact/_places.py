"""Places smaller than a state: towns, counties, streets, schools, hospitals, ... States and countries stay."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from therapy_analytics.redact._found import Found
from therapy_analytics.redact._tokens import Token, word_list
from therapy_analytics.redact._vocabulary import KIN, STATES, TWO_WORD_STATES, word_set

_ROADS = (
    "street|st|avenue|ave|road|rd|lane|ln|drive|court|ct|boulevard|blvd|place|terrace|circle|parkway|pkwy|"
    "highway|hwy|square|crescent|turnpike|alley"
)
_HOUSES = (
    "hospital|clinic|medical center|health center|counseling center|treatment center|community center|rehab|"
    "high school|middle school|elementary school|elementary|primary school|prep school|school|academy|university|"
    "college|church|parish|temple|synagogue|mosque|cathedral|library|prison|jail|penitentiary|"
    "correctional facility|shelter|hall|apartments|towers|mall|plaza|hotel|station|airport|field|stadium|base|"
    "services|center|centre|institute|foundation|park|bridge|beach|heights|county|village|township|lake|island|"
    "river|creek|valley|hills?|springs|bay|harbor|point|reservation"
)
_LOWER_HOUSES = re.sub(r"\|(?:point|base|services|bridge|hall)\b", "", _HOUSES)
_CAP = r"(?:[A-Z\u00c0-\u00de][\w'\u2019-]*|St\.|of the|of|and|&)"
_HOME = re.compile(
    rf"\b\d{{1,5}}[A-Za-z]? (?:(?:[NSEW]|North|South|East|West)\.? )?(?:[\w'-]+ ){{1,3}}?(?:{_ROADS}|way|row|"
    rf"gardens|grove|mews|trail|pike|walk)\b\.?"
    r"(?:,? (?:apt|apartment|unit|suite|#|rm|room|floor)\.? ?#?\w{1,4}\b)?",
    re.IGNORECASE,
)
_ROAD = re.compile(rf"\b(?:[A-Z][\w'-]+ |\d{{1,3}}(?:st|nd|rd|th) ){{1,3}}(?i:{_ROADS})\b(?![\w'])")
_HOUSE_CAPITAL = _HOUSES.title().replace("S?", "s?")
_HOUSE = re.compile(
    rf"\b(?!The\b)[A-Z\u00c0-\u00de][\w'\u2019.-]*(?: {_CAP}){{0,4}}? "
    rf"(?:{_HOUSE_CAPITAL})\b(?: (?:{_HOUSE_CAPITAL})\b)*"
)
_LANDMARK = re.compile(r"\b(?:Lake|Mount|Mt\.?|Fort|Ft\.?|Camp|Port|St\.|Saint) [A-Z][\w'-]+(?: [A-Z][\w'-]+)?")
_OF = re.compile(
    r"\b(?:University|College|Church|Bank|City|Town|County|Diocese) of (?:the )?[A-Z][\w'-]+(?: [A-Z][\w'-]+)*"
)
_LOWER_ROAD = re.compile(
    rf"\b(?:on|off of|off|down|up|at|near|to|over|by|across) (?:the )?(?=(?P<place>(?:[a-z'-]+ ){{1,2}}(?:{_ROADS}))\b)"
)
_LOWER_HOUSE = re.compile(
    rf"\b(?:at|in|from|near|to|by|outside|around|over at|out of|"
    rf"the) (?:the )?(?=(?P<place>(?:[a-z'-]+ ){{1,3}}?(?:{_LOWER_HOUSES})(?: jail| school| hospital)?)\b)"
)
_VAGUE = word_set(
    """
    the a an my his her our your their this that these those some any same whole old new other another local public
    private state high middle elementary primary grade junior senior boarding sunday law med medical nursing grad
    graduate night summer day art music good bad great nice big little small first second third last next main side
    back front community county city town federal home best worst different whole entire certain bus train gas
    police fire subway metro radio service social human customer emergency mental health psych psychiatric state-run
    detox rehab women's men's homeless family crisis catholic christian baptist methodist lutheran jewish nearby
    closest nearest fancy shopping of on in at to and or with for i you he she we they it me him us them is was are
    were be been go went going get got mom's dad's after before every each no all one two three parking wedding car
    dining city's county's whose which what amusement dog water trailer theme national start end power turning point
    job tennis baseball football soccer ball playing level right left what's when where how why
    """
)
_TO = word_set(
    """
    in from to near at around outside through via toward towards into leaving live lives lived visit visited
    visiting
    """
)
_AFTER_PLACE = re.compile(
    rf",? (?:{'|'.join(sorted(STATES))}|new [a-z]+|(?:north|south|west) [a-z]+|rhode island)\b|, [A-Z]{{2}}\b",
    re.IGNORECASE,
)
_PERSON_BEFORE = re.compile(rf"\b(?:{KIN}) (?:is )?(?:named |called )?$", re.IGNORECASE)
_BOX = re.compile(r"\bP\.? ?O\.? box (?:number )?#?[\w-]*\d[\w-]*", re.IGNORECASE)
_STATE_ZIP = re.compile(r"\b[A-Z]{2} (?P<zip>\d{5}(?:-\d{4})?)\b")
_LONGEST = 4


def places(text: str, words: Sequence[Token]) -> Iterator[Found]:
    """Yield places, the surest first; what is also a name of people only where the words around say place."""
    yield from (Found(*one.span(), "PLACE", "certain", "address") for one in _HOME.finditer(text) if _is_home(one[0]))
    yield from (Found(*one.span(), "PLACE", "certain", "address") for one in _BOX.finditer(text))
    yield from (Found(*one.span("zip"), "PLACE", "certain", "postal_code") for one in _STATE_ZIP.finditer(text))
    yield from (Found(*one.span(), "PLACE", "likely", "street") for one in _ROAD.finditer(text) if _is_named(one[0]))
    for pattern in (_HOUSE, _OF, _LANDMARK):
        yield from (
            Found(*one.span(), "PLACE", "likely", "institution") for one in pattern.finditer(text) if _is_named(one[0])
        )
    cased = any(word.capital and word.word != "i" for word in words)
    for pattern, rule in () if cased else ((_LOWER_ROAD, "street"), (_LOWER_HOUSE, "institution")):
        for match in pattern.finditer(text):
            if _is_named_small(match["place"].split()):
                yield Found(*match.span("place"), "PLACE", "unsure", rule)
    yield from _towns(text, words)
    for at, word in enumerate(words):
        if word.capital and not (word.kept or word.ordinary or word.first) and led_as_place(words, at):
            yield Found(word.start, word.end, "PLACE", "unsure", "led_to")


def _is_home(words: str) -> bool:
    """Leave "3 times on the street" out: between number and street stand only words that name one."""
    return not _VAGUE & set(words.lower().split()[1:-1]) - {
        "north",
        "south",
        "east",
        "west",
        "old",
        "high",
        "second",
        "first",
        "third",
    }


def _is_named(words: str) -> bool:
    """Tell Maple Grove Elementary from My School: something before the last word is a name."""
    first = words.lower().split()[0]
    if "'" in first and not first.endswith("'s"):
        return False
    return first not in _VAGUE or first in {"first", "second", "third", "new", "old", "state", "high", "little", "big"}


def _is_named_small(words: Sequence[str]) -> bool:
    """Tell kings county jail from the county jail: the first word is no vague one, nor is another that is no house."""
    houses = set(re.split(r"[| ]", f"{_HOUSES}|public|state|city|catholic|high|middle|community|medical|state"))
    return words[0] not in _VAGUE and not _VAGUE & set(words[1:-1]) - houses


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
            if name in place and _joined(text, row) and _may_be(text, words, at, length):
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
        )
    word = row[0]
    if word.ordinary:
        return cased and (led or followed) and not word.opens
    if word.first or (word.last and not cased):
        return (led or followed) and (cased or not _PERSON_BEFORE.search(text[: word.start])) and not word.possessive
    return (cased and (led or followed or not word.last)) or (not cased and len(word.word) > 3)


def led_as_place(words: Sequence[Token], at: int) -> bool:
    """Return whether an unknown name stands behind a word that leads to places: "from Secaucus"."""
    return at > 0 and words[at - 1].word in {"in", "near", "outside"} and not words[at].possessive
