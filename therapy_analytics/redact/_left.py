"""Words and numbers that were left in and should be looked at by a person."""

from __future__ import annotations

import re
from collections.abc import Sequence

from therapy_analytics.redact._found import Found, protected, settle
from therapy_analytics.redact._spoken import Alphanumeric, alphanumerics
from therapy_analytics.redact._tokens import Passage, Token, seldom, straight, word_list
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
_LEADS = word_set("at outside past behind near by from off")
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
    """Return what may yet be a name, a place or a number: capitals, rare words, names that are also words, digits.

    Parameters
    ----------
    text : str
        A turn of the redacted copy.
    doubted : sequence of Found
        Findings in it that were not likely enough to be removed.

    Returns
    -------
    list of Found
        In the order of the text, without overlaps; their kind is ``WORD`` or ``NUMBER``.

    Examples
    --------
    >>> text = "Ask Zorblat about number 214 in 2021."
    >>> [(one.kind, text[one.start : one.end]) for one in left_in(text)]
    [('WORD', 'Zorblat'), ('NUMBER', '214')]
    >>> text = "and then precious met me in flushing"
    >>> [text[one.start : one.end] for one in left_in(text)]
    ['precious', 'flushing']
    """
    passage = Passage(straight(text))
    found = [
        Found(word.start, word.end, "WORD", "unsure", rule)
        for at, word in enumerate(passage.words)
        if (rule := _why(passage, at) or _beside(passage, at))
    ]
    codes = alphanumerics(passage.written)
    found += [Found(code.start, code.end, "NUMBER", "unsure", "number") for code in codes if _is_number(code)]
    found += [Found(*one.span(), "NUMBER", "unsure", "day_or_age") for one in _DAY.finditer(passage.written)]
    found += [Found(one.start, one.end, "WORD", "unsure", one.rule) for one in doubted]
    return settle(sorted(found, key=lambda one: (one.start, -one.end)), protected(text))


def _is_number(code: Alphanumeric) -> bool:
    """Return whether digits may be part of a number that identifies somebody: three or more, or letters in a row."""
    if not code.digits:
        return len(set(code.signs)) >= _LETTERS
    is_round = code.spoken and (len(code.steps) == 1 or (len(code.steps) == 2 and code.steps[1] in _ROUND))
    return len(code.signs) >= _SHORTEST and not is_round and not code.counts and not _YEAR.fullmatch(code.signs)


def _why(text: Passage, at: int) -> str:
    """Return why a word should be looked at, or nothing."""
    word, before = text[at], text.before(at)
    if word.kept or word.word in SPOKEN | TITLES | CALLINGS or len(word.word) < _SHORTEST or "'" in word.word:
        return ""
    if word.capital and not word.opens:
        return "month" if word.word in MONTHS else "capital"
    if text.cased:
        return "name_or_word" if word.capital and (not word.ordinary or _may_be_name(word)) else ""
    led = before in DETERMINERS | PRONOUNS
    reasons = {
        "unknown_word": not word.ordinary,
        "place_or_word": not led and before in _TO and word.word in word_list("places"),
        "name_or_word": not led and _may_be_name(word),
        "place_words": _may_be_institution(text, at),
        "rare_word": not led and _is_rare_noun(word.word),
    }
    return next((rule for rule, holds in reasons.items() if holds), "")


_PLACEHOLDER_BEFORE = re.compile(r"\[(?:NAME|PLACE)_\d+\] $")


def _beside(text: Passage, at: int) -> str:
    """Return whether a word may be the rest of what the placeholder before it replaces: [PLACE_1] vaults."""
    word = text[at]
    rest = word.ordinary and word.word not in SPOKEN | NEVER_NAMES | NAME_VERBS | _GOES_ON and "'" not in word.word
    return "beside_placeholder" if not text.cased and rest and _PLACEHOLDER_BEFORE.search(text.until(at)) else ""


def _may_be_name(word: Token) -> bool:
    """Return whether an English word is a common first name, or a first name and a rare word."""
    return word.word not in _HARDLY_NAMES and (word.common or (word.first and seldom(word.word)))


def _is_rare_noun(word: str) -> bool:
    """Return whether a short and rare English word may be somebody's nickname: moose, kettle."""
    rare = seldom(word, _RARE) and seldom(word.removesuffix("s"), _RARE)
    return rare and len(word) <= _LONGEST_RARE and not _ADJECTIVE.search(word)


def _may_be_institution(text: Passage, at: int) -> bool:
    """Return whether a word may begin the name of a shop or the like: at the [copper kettle], at [wattle grove]."""
    before = [one.word for one in text.words[max(0, at - 2) : at]]
    led = bool(before) and (before[-1] in _LEADS or (before[-1] == "the" and before[0] in _LEADS))
    follows = text.after(at)
    plain = bool(follows) and text[at + 1].ordinary and follows not in SPOKEN | NEVER_NAMES | NAME_VERBS
    return led and plain and text[at].word not in VAGUE | NEVER_NAMES and len(text[at].word) > _SHORTEST
