"""Places smaller than a state: addresses, towns, and what has a name of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from therapy_analytics.redact._found import Found, Sure
from therapy_analytics.redact._spoken import runs
from therapy_analytics.redact._tokens import Token, word_list
from therapy_analytics.redact._vocabulary import (
    CALLINGS,
    HEADS,
    KIN,
    NEVER_NAMES,
    ROADS,
    SPOKEN,
    STATES,
    TITLES,
    TWO_WORD_STATES,
    VAGUE,
    WEAK_HEADS,
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
_NO_STREET = (VAGUE | word_set("times minutes hours years miles blocks days")) - word_set(
    "north south east west old high second first third park church main school"
)
_PARTICLES = word_set("of de do da du des del della der di la le les los las el al y e van von und et")
_MAY_OPEN = word_set("first second third new old state high big little best good great")
_MAY_STAND = ROADS | HEADS | word_set("first best good great love day well god lord mama papa our house")
_HEAD_FIRST = word_set(
    """
    saint st sainte mount mt lake fort ft camp port san santa university college church bank isle diocese hospital
    clinica colegio escuela lycee ecole hotel calle rue plaza avenida igreja iglesia hacienda villa casa our bay cape
    institute school academy cathedral escola instituto klinikum krankenhaus universidad universidade universitat
    """
)
_NAME_FIRST = word_set(
    """
    saint sainte mount lake fort san santa colegio escuela lycee
    ecole calle rue avenida igreja iglesia hacienda klinikum
    """
)
_OF_FIRST = word_set("university college church bank isle diocese academy city town sisters convent house")
_STREETS = word_set("street avenue road lane boulevard terrace crescent turnpike parkway highway")
_BEFORE_NAME = word_set("it's called is um uh like was")
_HOUSE_BEFORE = word_set("at outside near behind by from past beside")
_NOT_OF_HOUSE = word_set(
    """
    sight glance light base lunch dinner breakfast room self rear
    yesterday today tomorrow tonight every lately recently once twice since during until till who which as than
    sometimes half quarter past least most some anymore instead together alone already soon later early late around
    across along like said says
    """
)
_AT = word_set("in from near at outside for to by past on with off over behind")
_WORKS = re.compile(
    r"\b(?:work(?:s|ed|ing)?|job|employed|hired|shifts?|interned|intern|apprentice|(?:laid off|fired|retired)) "
    r"(?:nights |days |now |there |part time |full time )?(?:at|for|by|with|from)(?: the)* $",
    re.IGNORECASE,
)
_NO_EMPLOYER = word_set(
    """
    night home least all once times first last school work church free money hours years people fun minimum long
    themselves myself himself herself life food peanuts nothing anybody cash tips now today tonight change both
    """
)
_ABBREVIATED = word_set("st mt ft")
_LONGEST_HOUSE = 4


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
    return not _NO_STREET & set(words.lower().split()[1:-1])


def places(text: str, words: Sequence[Token]) -> Iterator[Found]:
    """Yield places, the surest first; what is also a name of people only where the words around say place."""
    cased = any(word.capital and word.word != "i" for word in words)
    yield from _houses(text, words) if cased else _small_houses(text, words)
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


def _houses(text: str, words: Sequence[Token]) -> Iterator[Found]:
    """Yield rows of capitals that name a school, a firm, a street: Maple Grove Elementary, Harlow & Finch."""
    at = 0
    while at < len(words):
        end = _row(text, words, at)
        row = words[at:end]
        sure = _named_house(text, words, at, row) if len(row) > 1 else None
        if sure is None and len(row) > 2 and words[at].opens:
            at, row = at + 1, row[1:]
            sure = _named_house(text, words, at, row)
        if sure is not None:
            yield Found(row[0].start, row[-1].end, "PLACE", sure, "institution")
        at = max(end, at + 1)


def _row(text: str, words: Sequence[Token], at: int) -> int:
    """Return where the row of capitals that begins at a word ends: small words such as "of" may stand in it."""
    if not _may_be_part(words[at]):
        return at
    end = at + 1
    while end < len(words):
        gap = text[words[end - 1].end : words[end].start]
        apart = not (gap in {" ", " & ", "'s ", "s' "} or (gap == ". " and words[end - 1].word in _ABBREVIATED))
        small = end + 1 < len(words) and words[end].word in _PARTICLES and not words[end].capital
        if apart or not (
            _may_be_part(words[end]) or (small and (words[end + 1].capital or words[end + 1].word in _PARTICLES))
        ):
            break
        end += 1
    while end > at + 1 and not words[end - 1].capital:
        end -= 1
    return end


def _may_be_part(word: Token) -> bool:
    return word.capital and word.word not in SPOKEN - _MAY_STAND and "'" not in word.word and not word.word[0].isdigit()


def _named_house(text: str, words: Sequence[Token], at: int, row: Sequence[Token]) -> Sure | None:
    """Say whether a row of capitals names a place or a firm; rows of names of people are not judged here."""
    if row[0].word in TITLES | CALLINGS - {"sister", "mama", "papa"} or len(row) < 2:
        return None
    said = [one.word for one in row]
    headed = any(word in HEADS | WEAK_HEADS for word in said[1:]) or said[0] in _HEAD_FIRST
    joined = "&" in text[row[0].start : row[-1].end] or "of" in said
    if headed or joined:
        vague = said[0] in VAGUE - _MAY_OPEN and said[:2] != ["our", "lady"]
        return None if vague or all(one.kept for one in row) or "'" in said[0] else "likely"
    if any(one.kept for one in row) or " ".join(said) in TWO_WORD_STATES:
        return None
    led = at > 0 and words[at - 1].word in _AT | {"the"} and not row[0].opens
    mixed = any(one.ordinary and not one.first for one in row) and not row[0].opens and row[0].word not in VAGUE
    if mixed or all(one.ordinary and one.word not in VAGUE for one in row) or (led and not row[0].listed):
        return "likely" if led else None if row[0].opens and not _ends_here(text, row[-1]) else "unsure"
    return None


def _ends_here(text: str, word: Token) -> bool:
    return text[word.end : word.end + 1] in {",", ".", "?", ""}


def _small_houses(text: str, words: Sequence[Token]) -> Iterator[Found]:
    """Yield the same in talk without capitals: words in front of a word for a kind of house, street or firm."""
    done = 0
    for at, word in enumerate(words):
        if at < done:
            continue
        if word.word in HEADS | WEAK_HEADS and not (word.word in WEAK_HEADS and at and words[at - 1].possessive):
            first, last = _back(text, words, at), _heads_on(text, words, at)
            if first < at and _is_named_small(words, first, at, strong=word.word in HEADS):
                done = last + 1
                yield Found(words[first].start, words[last].end, "PLACE", "likely", "institution")
                continue
        last = _of_house(text, words, at) or _employer(text, words, at) or _led_house(text, words, at)
        if last:
            done = last
            yield Found(word.start, words[last - 1].end, "PLACE", "likely", "institution")


def _back(text: str, words: Sequence[Token], head: int) -> int:
    """Return the first of the words that name the house at a word."""
    first = head
    while (
        first > 0 and head - first < _LONGEST_HOUSE and text[words[first - 1].end : words[first].start] in {" ", "'s "}
    ):
        one = words[first - 1]
        if (
            one.word in SPOKEN - {"best", "first", "our", "good", "well", "day"}
            or one.word in NEVER_NAMES
            or one.word[0].isdigit()
            or "'" in one.word
        ):
            break
        first -= 1
    vague = frozenset[str]() if words[head].word in _STREETS else (VAGUE - _MAY_OPEN) | HEADS
    while first < head and words[first].word in vague:
        first += 1
    return first


def _heads_on(text: str, words: Sequence[Token], at: int) -> int:
    """Return the last of several such words in a row: mercer [county community college]."""
    for last in range(min(at + 3, len(words) - 1), at, -1):
        if words[last].word in HEADS | WEAK_HEADS and text[words[at].end : words[last].start].count(" ") == last - at:
            between = {one.word for one in words[at + 1 : last]}
            if between <= HEADS | WEAK_HEADS | {"community", "high", "middle", "care", "state", "union"}:
                return last
    return at


def _is_named_small(words: Sequence[Token], first: int, head: int, *, strong: bool) -> bool:
    """Tell kings county jail from the county jail, and mercy general from my old high school."""
    row, lead = words[first:head], words[first - 1].word if first else ""
    is_road = words[head].word in _STREETS
    if is_road and lead in {"on", "off", "at", "near", "down", "to", "from"}:
        return all(one.word not in _ONE_OF_MANY | {"the"} for one in row)  # on main street
    rare = any(not one.ordinary and not one.kept for one in row)
    n_plain = sum(one.ordinary and one.word not in VAGUE for one in row)
    if rare or lead in _ONE_OF_MANY | (VAGUE - {"the"} - _AT):
        return rare and lead not in {"a", "an"}
    if lead == "the":
        return strong and n_plain > (0 if is_road or words[head].word in {"county", "elementary"} else 1)
    leads = lead in _AT or (lead == "of" and is_road) or first == 0
    return n_plain == len(row) and (leads or (strong and lead in _BEFORE_NAME))


def _of_house(text: str, words: Sequence[Token], at: int) -> int:
    """Return the end of a place with the word for its kind in front: university of leeds, saint mary's."""
    said = [one.word for one in words[at : at + 5]]
    if said[:3] == ["our", "lady", "of"] and len(said) > 3:
        return at + 4
    if said[0] in STATES - {"washington"} and said[1:2] in (["state"], ["tech"]):
        return at + 2
    if said[0] not in _NAME_FIRST | _OF_FIRST or len(said) < 2:
        return 0
    if said[1] == "of":
        of = said[3:4] if said[2:3] == ["the"] else said[2:3]
        is_house = bool(of) and of[0] not in SPOKEN and said[0] in _OF_FIRST
        return at + said.index(of[0]) + 1 if is_house else 0
    follows = words[at + 1]
    named = said[1] not in SPOKEN | VAGUE and not follows.kept and text[words[at].end : follows.start] == " "
    if not named or said[0] in _OF_FIRST or (said[0] in {"lake", "fort", "mount"} and follows.ordinary):
        return 0
    last = at + 2
    while last < min(len(words), at + 5) and _goes_on(words[last]):
        last += 1
    return last


def _goes_on(word: Token) -> bool:
    return word.word in HEADS | WEAK_HEADS or not (word.ordinary or word.kept)


def _employer(text: str, words: Sequence[Token], at: int) -> int:
    """Return the end of the name behind "i work at": up to three words that are no words of grammar."""
    if not _WORKS.search(text[max(0, words[at].start - 60) : words[at].start]) or words[at].word in VAGUE:
        return 0
    end = _row_small(text, words, at, at + 3, _NO_EMPLOYER | (VAGUE - HEADS - WEAK_HEADS))
    rare = any(not one.ordinary for one in words[at:end])
    return end if rare or (end - at > 1 and words[at - 1].word != "the") else 0


def _led_house(text: str, words: Sequence[Token], at: int) -> int:
    """Return the end of a rare word and the ordinary ones behind it, where a place is expected: at kinsella meats."""
    before = [one.word for one in words[max(0, at - 2) : at]]
    lead = before[0] if before[-1:] == ["the"] else "".join(before[-1:])
    if lead not in _HOUSE_BEFORE or words[at].word in (VAGUE - {"first"}) | TITLES | CALLINGS:
        return 0
    may_open = words[at].word == "first"
    end = _row_small(text, words, at + may_open, at + 3, _NOT_OF_HOUSE)
    if before[-1] == "at" and words[at].possessive and end == at + 1:
        return end  # at king's on the hill
    plain = before[-1] == "at" and end == at + 2 and words[at + 1].word not in VAGUE
    plain = plain and not any(one.word.endswith(("ing", "ly")) for one in words[at:end])
    return end if end - at > 1 and (not words[at].ordinary or plain) else 0


def _row_small(text: str, words: Sequence[Token], at: int, most: int, stop: frozenset[str]) -> int:
    """Return where a row of words ends that are none of grammar and none of those at which to stop."""
    end = at
    while end < min(most, len(words)) and (end == at or text[words[end - 1].end : words[end].start] in {" ", "'s "}):
        one = words[end]
        if (
            one.word in (SPOKEN - HEADS) | NEVER_NAMES | TITLES | stop
            or one.kept
            or one.word[0].isdigit()
            or "'" in one.word
        ):
            break
        end += 1
    return end
