"""Names of people: by lists, by capital letters, and by the words around them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from therapy_analytics.redact._announced import OFTEN_WORDS, by_context
from therapy_analytics.redact._found import SURE, Found, Sure
from therapy_analytics.redact._places import led_as_place
from therapy_analytics.redact._spoken import alphanumerics
from therapy_analytics.redact._tokens import Passage, is_derived, tokens
from therapy_analytics.redact._vocabulary import (
    ABSTRACT,
    ACRONYMS,
    CALLINGS,
    CLEAR_MONTHS,
    DETERMINERS,
    HOLIDAYS,
    IS_VERBS,
    KIN,
    NAME_VERBS,
    NEVER_NAMES,
    SPEECH_VERBS,
    SPOKEN,
    TITLES,
    TWO_WORD_STATES,
    word_set,
)

_SPELLS = re.compile(
    r"\b(?:spel[lt]\w*|names?|name's|surname|initials?|letters?|called|with an?|that's|capital)\b", re.IGNORECASE
)
_SPELLED, _SPELLED_CUED, _SPELL_NEAR = 5, 2, 45

Person = frozenset[str]
"""The words of a name by which a person is known."""
Known = Mapping[str, Sure]
"""Words that are names in this session, and how sure that is."""

_ASKED = re.compile(
    r"\b(?:names?|called|call (?:you|him|her|them)|who|who's|nickname|go by|spell\w*)\b[^.]{0,40}$", re.IGNORECASE
)
_THE = word_set(
    """
    the a an to i you we they he she it this that these those my your his her our their its every each no some any
    will can
    """
)
_PARTICLES = word_set("van von der den de del della di da la le bin ibn al el ten ter")
_CONTRACTED = re.compile(r"\w'(?:m|s|re|ve|ll|d|t)$")
_NO_SURNAME = word_set("and or who that with when")


def names(text: Passage, known: Known, before: str = "", *, small: bool = False) -> Iterator[Found]:
    """Yield the names of people in a turn, in order; names side by side are one.

    Parameters
    ----------
    text : Passage
        The turn.
    known : mapping of str to str
        Names of the session so far: its labels, its metadata, names found in other turns; and how sure they are.
    before : str
        The end of the turn before: "And her name?" tells what the answer is.
    small : bool
        Whether the session has no capital letter at all, as speech is recognised: there, rare words may be names.
    """
    found: dict[int, tuple[Sure, str]] = {}
    for at in range(len(text)):
        verdict = _verdict(text, at, known, small)
        if verdict is not None:
            found[at] = verdict
    if _ASKED.search(before):
        found.update({at: ("likely", "asked") for at in _answer(text) if at not in found})
    for at in list(found):
        _extend(text, at, found)
        _lead(text, at, found)
    yield from _together(text, found)


def _answer(text: Passage) -> Iterator[int]:
    """Yield the word that answers a question for a name: the first content word."""
    for at, word in enumerate(text.words[:4]):
        if word.word not in SPOKEN | NEVER_NAMES | TITLES | CALLINGS:
            rare = not word.ordinary or (word.common and len(text) < 4)
            answers = (word.capital or (not text.cased and rare)) and (word.word not in ABSTRACT or len(text) < 3)
            if word.first and not word.kept and answers:
                yield at
            return


def spelled(text: str, before: str, known: Known) -> Iterator[Found]:
    """Yield names that are spelled: "k o w a l s k i", "S-A-O-I-R-S-E"."""
    for code in alphanumerics(text):
        word = code.signs
        is_thing = re.match(r" (?:numbers?|cards?|forms?)\b", text[code.end :])  # id card
        if is_thing or code.digits or len(set(word)) < 2 or word in SPOKEN | ACRONYMS:
            continue
        near = text[max(0, code.start - _SPELL_NEAR) : code.start] or before
        near += " " + text[code.end : code.end + _SPELL_NEAR // 2]
        cued = bool(_SPELLS.search(near) or (code.start < _SPELL_NEAR and _SPELLS.search(before)))
        if word in known or len(word) >= (_SPELLED_CUED if cued else _SPELLED):
            yield Found(code.start, code.end, "NAME", "certain", "spelled")


def _verdict(text: Passage, at: int, known: Known, small: bool) -> tuple[Sure, str] | None:
    word, before = text[at], text.before(at)
    holiday = before in HOLIDAYS and text[at - 1].capital  # Christmas Eve
    initial = len(word.word) < 2 and not (before in TITLES and word.capital)
    if word.word[0].isdigit() or _CONTRACTED.search(word.word) or holiday or initial or _in_state(text, at):
        return None
    announced = by_context(text, at)
    if announced is not None:
        return announced
    if word.word in known:
        return (known[word.word], "name_of_session") if _fits(text, at) else None
    if word.kept or word.word in SPOKEN | CLEAR_MONTHS:
        return None
    return _by_capital(text, at) if word.capital else _by_list(text, at, small)


def _in_state(text: Passage, at: int) -> bool:
    """Return whether a word is part of a state or country of two words: North Carolina."""
    row = [one.word for one in text.words[max(0, at - 1) : at + 2]]
    return any(f"{one} {other}" in TWO_WORD_STATES for one, other in pairwise(row)) and text[at].capital


def _fits(text: Passage, at: int) -> bool:
    """Return whether a name of the session is meant as a name here."""
    word = text[at]
    if not word.ordinary:
        return word.capital or not word.kept
    if word.capital:
        return not word.opens or _acts(text, at, known=True)
    return not text.cased and _fits_small(text, at)


def _fits_small(text: Passage, at: int) -> bool:
    """Return it for a name that is also a word, written small: "my wife grace ... grace did it" but "with grace"."""
    word, before, follows = text[at], text.before(at), text.after(at)
    if before in _THE:
        return False
    if word.possessive or follows in NAME_VERBS or (follows in IS_VERBS and word.word != "will"):
        return True
    if word.word in OFTEN_WORDS:
        return not follows and before in {"with", "and", "told", "for", "to"}
    return before not in DETERMINERS


def _acts(text: Passage, at: int, *, known: bool) -> bool:
    """Return whether a capital that opens a sentence does what people do: "Hope told me", "Hope's", "Hope, listen"."""
    word, follows = text[at], text.after(at)
    if not follows or word.possessive:
        return known or not word.ordinary
    if text.gap(at) != " ":
        return known
    if follows in NAME_VERBS or (follows == "and" and text.after(at + 1) in {"i", "me", "my"}):
        return True
    does = known and text[at + 1].ordinary and follows.endswith("s") and follows not in {"his", "its", "this"}
    return does or ((known or not word.ordinary) and follows in IS_VERBS)


def _by_capital(text: Passage, at: int) -> tuple[Sure, str] | None:
    word = text[at]
    shouted = text.written[word.start : word.end].isupper() and len(word.word) > 1
    if shouted and not word.listed:
        return None
    if word.opens:
        return _opening(text, at)
    if word.word in CALLINGS | TITLES:
        return None
    if word.first or (word.last and not word.ordinary):
        return "likely", "listed_name"
    # A family name among small letters (and Baker said), not a heading (The Long Walk Home)
    if word.last and at > 0 and not text[at - 1].capital and text.after(at) in NAME_VERBS | IS_VERBS:
        return "unsure", "listed_name"
    return ("unsure", "unknown_capital") if word.unknown and not led_as_place(text, at) else None


def _opening(text: Passage, at: int) -> tuple[Sure, str] | None:
    """Judge a capital that opens a sentence, where any word has one."""
    word, acts = text[at], _acts(text, at, known=False)
    if word.listed and not word.ordinary:
        goes_on = text.gap(at) == " " and text[at + 1].capital and text[at + 1].listed
        return ("likely" if word.first or acts or goes_on else "unsure"), "listed_name"
    if word.unknown and (acts or word.possessive):
        return "unsure", "unknown_capital"
    return ("unsure", "listed_name") if word.first and _opens_as_name(text, at) else None


_OF_MINE = re.compile(rf", (?:my|our|his|her) (?:{KIN})\b")


def _opens_as_name(text: Passage, at: int) -> bool:
    """Tell "Bill would say" and "May, my mother" from "Faith comes up" and "Mark my words"."""
    word, follows = text[at], text.after(at)
    if _OF_MINE.match(text.written, word.end):
        return True
    if follows == "and" and at + 2 < len(text) and text[at + 2].capital and text[at + 2].first:
        return True
    if text.gap(at) != " ":
        return False
    no_verb = {"his", "its", "this", "us", "as"} | IS_VERBS
    acts = follows.endswith("s") and text[at + 1].ordinary and follows not in no_verb
    if word.word == "will" and (acts or follows in SPEECH_VERBS):
        return True
    if word.word in ABSTRACT or not word.common:
        return follows in SPEECH_VERBS | {"would've", "said", "let"}
    return follows in NAME_VERBS | IS_VERBS - {"will", "can", "just", "really", "never", "always", "and"}


def _by_list(text: Passage, at: int, small: bool) -> tuple[Sure, str] | None:
    """Judge a word with a small letter: a name that is no other word or, where there are no capitals, a rare word."""
    word, cased = text[at], text.cased
    if len(word.word) < 3 or not word.word.replace("-", "").replace("'", "").isalpha():
        return None
    if word.word in TITLES | CALLINGS:
        return None
    if word.ordinary:
        return ("likely", "beside_name") if not cased and word.first and _beside_name(text, at) else None
    if word.common or (word.first and not cased):
        return "likely", "listed_name_small"
    if cased or (word.unknown and (not small or text.before(at) in DETERMINERS)):
        return None
    return ("unsure", "rare_word_small") if word.unknown or not is_derived(word.word) else None


def _beside_name(text: Passage, at: int) -> bool:
    """Return whether "and" joins a name that is also a word to another name: precious and makayla."""
    beside = [at + 2 * side for side in (-1, 1) if 0 <= at + 2 * side < len(text) and text[at + side].word == "and"]
    return any(text[other].first and not text[other].ordinary for other in beside) and not text[at].kept


def _extend(text: Passage, at: int, found: dict[int, tuple[Sure, str]]) -> None:
    """Add the words after a name that are the rest of it: Dana [M. Reyes], brandon [whitaker], [Nguyen] Thi Mai."""
    sure, rule = found[at]
    after = at + 1
    while text.gap(after - 1) in {" ", ". "}:
        if after not in found and not _is_surname(text, after, titled=rule == "title"):
            break
        found.setdefault(after, (sure, "rest_of_name"))
        after += 1


def _is_surname(text: Passage, at: int, *, titled: bool) -> bool:
    """Return whether a word after a name is the rest of it."""
    word, previous = text[at], text[at - 1]
    follows = text[at + 1] if at + 1 < len(text) else None
    if word.word in _PARTICLES and follows is not None and not previous.possessive:
        if word.word in {"la", "el", "al"} and not follows.ordinary:
            return True
        goes_on = follows.word in _PARTICLES or not follows.ordinary or follows.capital
        return goes_on and word.word not in {"la", "el", "den", "ten", "al"} | SPOKEN
    stop = word.kept or word.opens or previous.possessive or word.word in NEVER_NAMES | _NO_SURNAME | SPOKEN
    if stop or _CONTRACTED.search(word.word):
        return False
    if len(word.word) == 1:
        return word.capital and text.written[word.end : word.end + 1] == "." and word.word != "i"
    if word.capital or previous.capital:
        return word.capital and previous.capital and word.word not in CALLINGS
    ends = follows is None or follows.word in SPOKEN | NAME_VERBS | IS_VERBS
    return (word.last and not word.ordinary) or (titled and word.listed and ends and word.word not in NAME_VERBS)


def _lead(text: Passage, at: int, found: dict[int, tuple[Sure, str]]) -> None:
    """Add the words before a family name that belong to it: [Van der] Berg, [J.] Reyes, [big] mike."""
    rest: tuple[Sure, str] = (found[at][0], "rest_of_name")
    before = at - 1
    while before >= 0 and text[before].word in _PARTICLES and text.gap(before) == " ":
        before -= 1
    if before + 1 < at:
        if text[before + 1].capital and text[at].capital:
            found.update({number: rest for number in range(before + 1, at) if number not in found})
        return
    opener = text[before] if before >= 0 else None
    if opener is None:
        return
    first = opener.first and opener.word not in TITLES | CALLINGS | SPOKEN
    initial = len(opener.word) == 1 and opener.word not in {"i", "a"}
    named = opener.capital and text[at].capital and text.gap(before) in {" ", ". "} and (first or initial)
    if named or (opener.word in {"big", "lil"} and text.gap(before) == " "):
        found.setdefault(before, rest)


def _together(text: Passage, found: Mapping[int, tuple[Sure, str]]) -> Iterator[Found]:
    rows: list[list[int]] = []
    for at in sorted(found):
        beside = rows and rows[-1][-1] == at - 1 and text.gap(at - 1) in {" ", ". "}
        if beside and not text[at - 1].possessive:
            rows[-1].append(at)
        else:
            rows.append([at])
    for row in rows:
        sure, rule = min((found[at] for at in row), key=lambda one: SURE.index(one[0]))
        yield Found(text[row[0]].start, text[row[-1]].end, "NAME", sure, rule)


def person(words: str) -> Person:
    """Return the words of a name by which a person is known: no title, no initial, no possessive.

    Examples
    --------
    >>> sorted(person("Dr. Dana M. Reyes's"))
    ['dana', 'reyes']
    >>> sorted(person("r e y e s"))
    ['reyes']
    """
    spelled = [code for code in alphanumerics(words) if (code.start, code.end) == (0, len(words)) and not code.digits]
    if spelled:
        return frozenset({spelled[0].signs})
    found = [one.word for one in tokens(words)]
    kept = [word for word in found if word not in TITLES and len(word) > 1]
    return frozenset([word for word in kept if word not in CALLINGS] or kept or found)
