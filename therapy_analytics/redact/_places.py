"""Places smaller than a state: addresses, towns, institutions, firms, streets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from therapy_analytics.redact._found import Found, Sure
from therapy_analytics.redact._spoken import alphanumerics
from therapy_analytics.redact._tokens import Passage, Token, word_list
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
_UNIT = (
    r"(?:,? (?:apt|apartment|unit|suite|#|rm|room|floor|flat|building|lot|trailer)\.? ?"
    r"(?:number )?#?\w{1,6}\b(?: \w\b)?)"
)
_HOME = re.compile(
    r"\b\d{1,5}[A-Za-z]? (?:(?:[NSEW]|North|South|East|West)\.? )?(?:[\w'-]+ ){1,3}?"
    rf"(?:{_ROADS})\b\.?{_UNIT}?|\b\d{{1,3}}(?:st|nd|rd|th) (?:{_ROADS})\b|"
    r"\b(?:route|highway|hwy|interstate) (?:\d+|(?:\w+ty )?(?:one|two|three|four|five|six|seven|eight|nine)\b)",
    re.IGNORECASE,
)
_STREET_SAID = re.compile(
    rf" (?:(?:north|south|east|west) )?(?P<name>(?:[\w']+ ){{1,3}}?)(?:{_ROADS})\b{_UNIT}?", re.IGNORECASE
)
_STREET_OR_FLAT_SAID = re.compile(
    rf" (?P<name>(?:north|south|east|west) [\w']+|"
    rf"(?:[\w']+ ){{1,2}}?(?={_UNIT.replace(',? ', '')}))(?:{_UNIT})?",
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
_LEADS = word_set("at outside near behind by from past beside")
_NOT_OF_NAME = word_set(
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
_MIDDLE = word_set("community high middle care state union")
_MAY_NAME = word_set("best first our good well day")


def addresses_of_homes(text: str) -> Iterator[Found]:
    """Yield addresses with a number: 412 Sycamore Lane, forty two sycamore lane apartment three c, P.O. Box 7."""
    yield from (Found(*one.span(), "PLACE", "certain", "address") for one in _HOME.finditer(text) if _is_home(one[0]))
    yield from (Found(*one.span(), "PLACE", "certain", "address") for one in _BOX.finditer(text))
    yield from (Found(*one.span("zip"), "PLACE", "certain", "postal_code") for one in _STATE_ZIP.finditer(text))
    for code in alphanumerics(text):
        match = _STREET_SAID.match(text, code.end) or _STREET_OR_FLAT_SAID.match(text, code.end)
        spoken = code.spoken and 0 < len(code.digits) <= 5 + 2 * code.letters
        if match and spoken and _is_home(f"1 {match['name']}x"):
            before = _FLAT_BEFORE.search(text[: code.start])
            yield Found(before.start() if before else code.start, match.end(), "PLACE", "certain", "address")


def _is_home(words: str) -> bool:
    """Return whether a number and a kind of street enclose only words of a name: not in "3 times on the street"."""
    return not _NO_STREET & set(words.lower().split()[1:-1])


def places(text: Passage) -> Iterator[Found]:
    """Yield places, the surest first; a name of people is a place only where the words around it say so."""
    yield from _institutions(text) if text.cased else _small_institutions(text)
    yield from _towns(text)
    for at, word in enumerate(text.words):
        stays = word.kept or word.word in SPOKEN | VAGUE | TITLES | CALLINGS
        rare = not text.cased and word.unknown and len(word.word) > 3
        named = (word.capital and not (word.opens or word.first)) or rare
        if named and not stays and led_as_place(text, at):
            yield Found(word.start, word.end, "PLACE", "unsure", "led_to")


def _towns(text: Passage) -> Iterator[Found]:
    """Yield towns and counties of the list: at each word, the longest row of words that it has."""
    place, done = word_list("places"), 0
    for at in range(len(text)):
        for length in range(min(_LONGEST, len(text) - at), 0, -1) if at >= done else ():
            row = text.words[at : at + length]
            name = " ".join(one.word for one in row)
            name = f"saint {name[3:]}" if name.startswith("st ") else name
            joined = all(text.gap(one) in {" ", ". "} for one in range(at, at + length - 1))
            if name in place and name != "cut off" and joined and _may_be_town(text, at, length):
                yield Found(row[0].start, row[-1].end, "PLACE", "likely", "town")
                done = at + length
                break


def _may_be_town(text: Passage, at: int, length: int) -> bool:
    """Return whether a row of words that is the name of a town is meant as one."""
    row, before = text.words[at : at + length], text.before(at)
    cased = all(one.capital for one in row)
    if " ".join(one.word for one in row) in TWO_WORD_STATES or (length == 1 and row[0].kept):
        return False
    followed = bool(_AFTER_PLACE.match(text.written, row[-1].end))
    if length > 1:
        rare = not any(one.ordinary or one.listed for one in row)
        return cased or rare or followed or before in {"um", "uh", "then", "and", *_TO}
    placed = followed or (before in _TO and text.gap(at - 1) == " ")
    word = row[0]
    if word.ordinary:
        return cased and placed and not word.opens
    if word.first or (word.last and not cased):
        return placed and (cased or not _PERSON_BEFORE.search(text.until(at))) and not word.possessive
    return (cased and (placed or not word.last)) or (not cased and len(word.word) > 3)


def led_as_place(text: Passage, at: int) -> bool:
    """Return whether the word before leads to a place: "from Secaucus"."""
    return text.before(at) in {"in", "near", "outside", "at", "from"} and not text[at].possessive


def _institutions(text: Passage) -> Iterator[Found]:
    """Yield rows of capitals that name a school, a firm, a street: Maple Grove Elementary, Harlow & Finch."""
    at = 0
    while at < len(text):
        end = _end_of_capitals(text, at)
        first, sure = at, _institution(text, at, end)
        if sure is None and end - at > 2 and text[at].opens:
            first, sure = at + 1, _institution(text, at + 1, end)
        if sure is not None:
            yield Found(text[first].start, text[end - 1].end, "PLACE", sure, "institution")
        at = max(end, at + 1)


def _end_of_capitals(text: Passage, at: int) -> int:
    """Return where the row of capitals that begins at a word ends; small words such as "of" may be in it."""
    if not _may_be_part(text[at]):
        return at
    end = at + 1
    while end < len(text):
        gap, word = text.gap(end - 1), text[end]
        apart = not (gap in {" ", " & ", "'s ", "s' "} or (gap == ". " and text[end - 1].word in _ABBREVIATED))
        small = end + 1 < len(text) and word.word in _PARTICLES and not word.capital
        goes_on = small and (text[end + 1].capital or text[end + 1].word in _PARTICLES)
        if apart or not (_may_be_part(word) or goes_on):
            break
        end += 1
    while end > at + 1 and not text[end - 1].capital:
        end -= 1
    return end


def _may_be_part(word: Token) -> bool:
    return word.capital and word.word not in SPOKEN - _MAY_STAND and "'" not in word.word and not word.word[0].isdigit()


def _institution(text: Passage, at: int, end: int) -> Sure | None:
    """Return how sure it is that a row of capitals names an institution or a firm; names of people are not judged."""
    row = text.words[at:end]
    if len(row) < 2 or row[0].word in TITLES | CALLINGS - {"sister", "mama", "papa"}:
        return None
    words = [one.word for one in row]
    headed = any(word in HEADS | WEAK_HEADS for word in words[1:]) or words[0] in _HEAD_FIRST
    if headed or "&" in text.written[row[0].start : row[-1].end] or "of" in words:
        vague = words[0] in VAGUE - _MAY_OPEN and words[:2] != ["our", "lady"]
        return None if vague or all(one.kept for one in row) or "'" in words[0] else "likely"
    if any(one.kept for one in row) or " ".join(words) in TWO_WORD_STATES:
        return None
    led = text.before(at) in _AT | {"the"} and not row[0].opens
    mixed = any(one.ordinary and not one.first for one in row) and not row[0].opens and row[0].word not in VAGUE
    if mixed or all(one.ordinary and one.word not in VAGUE for one in row) or (led and not row[0].listed):
        ends = text.written[row[-1].end : row[-1].end + 1] in {",", ".", "?", ""}
        return "likely" if led else None if row[0].opens and not ends else "unsure"
    return None


def _small_institutions(text: Passage) -> Iterator[Found]:
    """Yield the same in talk without capitals: words before a word for a kind of institution, street or firm."""
    done = 0
    for at, word in enumerate(text.words):
        if at < done:
            continue
        if word.word in HEADS | WEAK_HEADS and not (word.word in WEAK_HEADS and at and text[at - 1].possessive):
            first, last = _first_before(text, at), _last_head(text, at)
            if first < at and _is_named_small(text, first, at):
                done = last + 1
                yield Found(text[first].start, text[last].end, "PLACE", "likely", "institution")
                continue
        end = _kind_first(text, at) or _employer(text, at) or _led_institution(text, at)
        if end:
            done = end
            yield Found(word.start, text[end - 1].end, "PLACE", "likely", "institution")


def _first_before(text: Passage, head: int) -> int:
    """Return the first of the words that name the institution whose kind is a word."""
    first = head
    while first > 0 and head - first < _LONGEST and text.gap(first - 1) in {" ", "'s "}:
        word = text[first - 1].word
        if word in (SPOKEN - _MAY_NAME) | NEVER_NAMES or word[0].isdigit() or "'" in word:
            break
        first -= 1
    vague = frozenset[str]() if text[head].word in _STREETS else (VAGUE - _MAY_OPEN) | HEADS
    while first < head and text[first].word in vague:
        first += 1
    return first


def _last_head(text: Passage, at: int) -> int:
    """Return the last of several such words in a row: mercer [county community college]."""
    for last in range(min(at + 3, len(text) - 1), at, -1):
        spaces = text.written[text[at].end : text[last].start].count(" ")
        between = {one.word for one in text.words[at + 1 : last]}
        if text[last].word in HEADS | WEAK_HEADS and spaces == last - at and between <= HEADS | WEAK_HEADS | _MIDDLE:
            return last
    return at


def _is_named_small(text: Passage, first: int, head: int) -> bool:
    """Tell kings county jail from the county jail, and mercy general from my old high school."""
    row, lead, kind = text.words[first:head], text.before(first), text[head].word
    is_road = kind in _STREETS
    if is_road and lead in {"on", "off", "at", "near", "down", "to", "from"}:
        return all(one.word not in _ONE_OF_MANY | {"the"} for one in row)  # on main street
    rare = any(not one.ordinary and not one.kept for one in row)
    n_plain = sum(one.ordinary and one.word not in VAGUE for one in row)
    if rare or lead in _ONE_OF_MANY | (VAGUE - {"the"} - _AT):
        return rare and lead not in {"a", "an"}
    if lead == "the":
        return kind in HEADS and n_plain > (0 if is_road or kind in {"county", "elementary"} else 1)
    leads = lead in _AT or (lead == "of" and is_road) or first == 0
    return n_plain == len(row) and (leads or (kind in HEADS and lead in _BEFORE_NAME))


def _kind_first(text: Passage, at: int) -> int:
    """Return the end of a place that begins with its kind: university of leeds, saint mary's; 0 for none."""
    words = [one.word for one in text.words[at : at + 5]]
    if words[:3] == ["our", "lady", "of"] and len(words) > 3:
        return at + 4
    if words[0] in STATES - {"washington"} and words[1:2] in (["state"], ["tech"]):
        return at + 2
    if words[0] not in _NAME_FIRST | _OF_FIRST or len(words) < 2:
        return 0
    if words[1] == "of":
        name = words[3:4] if words[2:3] == ["the"] else words[2:3]
        named = bool(name) and name[0] not in SPOKEN and words[0] in _OF_FIRST
        return at + words.index(name[0]) + 1 if named else 0
    follows = text[at + 1]
    named = words[1] not in SPOKEN | VAGUE and not follows.kept and text.gap(at) == " "
    if not named or words[0] in _OF_FIRST or (words[0] in {"lake", "fort", "mount"} and follows.ordinary):
        return 0
    last = at + 2
    while last < min(len(text), at + 5) and _goes_on(text[last]):
        last += 1
    return last


def _goes_on(word: Token) -> bool:
    return word.word in HEADS | WEAK_HEADS or not (word.ordinary or word.kept)


def _employer(text: Passage, at: int) -> int:
    """Return the end of the name after "i work at", up to three content words; 0 for none."""
    if not _WORKS.search(text.until(at)[-60:]) or text[at].word in VAGUE:
        return 0
    end = _end_of_row(text, at, at + 3, _NO_EMPLOYER | (VAGUE - HEADS - WEAK_HEADS))
    rare = any(not one.ordinary for one in text.words[at:end])
    return end if rare or (end - at > 1 and text.before(at) != "the") else 0


def _led_institution(text: Passage, at: int) -> int:
    """Return the end of a rare word and the ordinary ones after it where a place is expected: at kinsella meats."""
    before = [one.word for one in text.words[max(0, at - 2) : at]]
    lead = before[0] if before[-1:] == ["the"] else "".join(before[-1:])
    word = text[at]
    if lead not in _LEADS or word.word in (VAGUE - {"first"}) | TITLES | CALLINGS:
        return 0
    end = _end_of_row(text, at + (word.word == "first"), at + 3, _NOT_OF_NAME)
    if before[-1] == "at" and word.possessive and end == at + 1:
        return end  # at king's on the hill
    plain = before[-1] == "at" and end == at + 2 and text[at + 1].word not in VAGUE
    plain = plain and not any(one.word.endswith(("ing", "ly")) for one in text.words[at:end])
    return end if end - at > 1 and (not word.ordinary or plain) else 0


def _end_of_row(text: Passage, at: int, most: int, stop: frozenset[str]) -> int:
    """Return where a row of content words ends, before `most` and before any word of `stop`."""
    end = at
    while end < min(most, len(text)) and (end == at or text.gap(end - 1) in {" ", "'s "}):
        word = text[end]
        if word.word in (SPOKEN - HEADS) | NEVER_NAMES | TITLES | stop or word.kept:
            break
        if word.word[0].isdigit() or "'" in word.word:
            break
        end += 1
    return end
