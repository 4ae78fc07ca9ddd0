"""What was left in and may yet identify somebody, for the person who reads the copy."""

from __future__ import annotations

import re
from collections.abc import Sequence

from therapy_analytics.redact._found import Found, protected, settle
from therapy_analytics.redact._spoken import Run, runs
from therapy_analytics.redact._tokens import Token, seldom, straight, tokens, word_list
from therapy_analytics.redact._vocabulary import (
    CALLINGS,
    DETERMINERS,
    MONTHS,
    NAME_VERBS,
    NEVER_NAMES,
    PRONOUNS,
    SPOKEN,
    TITLES,
    VAGUE,
    word_set,
)

_YEAR = re.compile("(?:19|20)\\d\\d")
_SHORTEST, _LETTERS = 3, 4
_RARE, _LONGEST_RARE = 9_000, 8
_ADJECTIVE = re.compile(r"(?:ing|ed|ly|tion|ness|ful|ous|ive|able|ible|ish|ment|ism|ity|less|est|er|y)s?$")
_ROUND = {"00", "10", "15", "20", "30", "40", "45", "50"}
_TO = word_set("in from to near at around outside by past behind")
_HOUSE = word_set("at outside past behind near by from off")
_GOES_ON = word_set(
    """
    yesterday today tomorrow tonight every lately once since during until till which than sometimes together alone
    already soon later early late around across along won't doesn't didn't wouldn't isn't wasn't hasn't can't
    """
)
_HARDLY_NAMES = word_set("per young girl boy son case soon hang doc dear happiness forever cope hide add")
_DAY = re.compile(
    r"\b(?:the (?:\w+ty[ -])?(?:fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|\w+teenth)|"
    r"(?:a hundred|ninety)(?:[ -](?:and )?\w+)?(?= and a half| years| now| and still))\b",
    re.IGNORECASE,
)


def left_in(text: str, doubted: Sequence[Found] = ()) -> list[Found]:
    """Return what may be a name, a place or a number: capitals, rare words, names that are words too, digits, letters.

    Parameters
    ----------
    text : str
        Of a turn, after placeholders took the place of what was found.
    doubted : sequence of Found
        What was found in it and left, because it is not likely enough.

    Returns
    -------
    list of Found
        In the order of the text, without overlaps; their kind is ``WORD`` or ``NUMBER``.

    Examples
    --------
    >>> text = "Ask Zorblat about room 214 in 2021."
    >>> [(one.kind, text[one.start : one.end]) for one in left_in(text)]
    [('WORD', 'Zorblat'), ('NUMBER', '214')]
    >>> text = "and then precious met me in flushing"
    >>> [text[one.start : one.end] for one in left_in(text)]
    ['precious', 'flushing']
    """
    plain = straight(text)
    words = tokens(plain)
    cased = any(word.capital and word.word != "i" for word in words)
    found = [
        Found(word.start, word.end, "WORD", "unsure", rule)
        for at, word in enumerate(words)
        if (rule := _why(words, at, cased) or _beside(plain, words, at, cased))
    ]
    found += [Found(run.start, run.end, "NUMBER", "unsure", "number") for run in runs(plain) if _is_number(run)]
    found += [Found(*one.span(), "NUMBER", "unsure", "day_or_age") for one in _DAY.finditer(plain)]
    found += [Found(one.start, one.end, "WORD", "unsure", one.rule) for one in doubted]
    return settle(sorted(found, key=lambda one: (one.start, -one.end)), protected(text))


def _is_number(run: Run) -> bool:
    """Return whether digits may be left of a number that identifies: three and more, or letters in a row."""
    if not run.digits:
        return len(set(run.signs)) >= _LETTERS
    is_round = run.said and (len(run.steps) == 1 or (len(run.steps) == 2 and run.steps[1] in _ROUND))
    return len(run.signs) >= _SHORTEST and not is_round and not run.counts and not _YEAR.fullmatch(run.signs)


def _why(words: Sequence[Token], at: int, cased: bool) -> str:
    """Return why a word should be looked at, or nothing."""
    word, before = words[at], words[at - 1].word if at else ""
    known = word.kept or word.word in SPOKEN or word.word in TITLES or word.word in CALLINGS
    if known or len(word.word) < _SHORTEST or "'" in word.word:
        return ""
    if word.capital and not word.opens:
        return "month" if word.word in MONTHS else "capital"
    if cased:
        return "name_or_word" if word.capital and (not word.ordinary or _may_be_name(word)) else ""
    led = before in DETERMINERS | PRONOUNS
    reasons = {
        "unknown_word": not word.ordinary,
        "place_or_word": not led and before in _TO and word.word in word_list("places"),
        "name_or_word": not led and _may_be_name(word),
        "place_words": _may_be_house(words, at),
        "rare_word": not led and _is_rare_noun(word.word),
    }
    return next((rule for rule, holds in reasons.items() if holds), "")


_PLACEHOLDER_BEFORE = re.compile(r"\[(?:NAME|PLACE)_\d+\] $")


def _beside(text: str, words: Sequence[Token], at: int, cased: bool) -> str:
    """Return whether a word may be the rest of what a placeholder before it stands for: [PLACE_1] vaults."""
    word = words[at]
    rest = word.ordinary and word.word not in SPOKEN | NEVER_NAMES | NAME_VERBS | _GOES_ON and "'" not in word.word
    return "beside_placeholder" if not cased and rest and _PLACEHOLDER_BEFORE.search(text[: word.start]) else ""


def _may_be_name(word: Token) -> bool:
    """Return whether an English word is a common first name, or a first name and a word that is seldom written."""
    return word.word not in _HARDLY_NAMES and (word.common or (word.first and seldom(word.word)))


def _is_rare_noun(word: str) -> bool:
    """Return whether a short English word that is seldom written may be what somebody is called: moose, kettle."""
    singular = word.removesuffix("s")
    rare = seldom(word, _RARE) and seldom(singular, _RARE)
    return rare and len(word) <= _LONGEST_RARE and not _ADJECTIVE.search(word)


def _may_be_house(words: Sequence[Token], at: int) -> bool:
    """Return whether a word may begin the name of a shop or a house: at the [copper kettle], at [wattle grove]."""
    before = [one.word for one in words[max(0, at - 2) : at]]
    led = bool(before) and (before[-1] in _HOUSE or (before[-1] == "the" and before[0] in _HOUSE))
    follows = words[at + 1] if at + 1 < len(words) else None
    plain = follows is not None and follows.ordinary and follows.word not in SPOKEN | NEVER_NAMES | NAME_VERBS
    return led and plain and words[at].word not in VAGUE | NEVER_NAMES and len(words[at].word) > _SHORTEST
