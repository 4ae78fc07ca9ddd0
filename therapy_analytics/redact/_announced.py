"""Names that the words before them announce: titles, kin, introductions, greetings."""

from __future__ import annotations

import re

from therapy_analytics.redact._found import Sure
from therapy_analytics.redact._tokens import Passage, Token, seldom
from therapy_analytics.redact._vocabulary import (
    CALLINGS,
    KIN,
    NAME_VERBS,
    NEVER_NAMES,
    SPOKEN,
    STATES,
    TITLES,
    word_set,
)

_NAMED = re.compile(
    r"\b(?:my (?:first |full |real |last |middle |maiden )?name is|my name's|my names|(?:his|her|their|its|"
    r"whose) names?(?:'s| is| was)|"
    r"names|named|nicknamed|name of|it's pronounced|(?:first|last|full|maiden|middle|family|given|"
    r"sur) ?name(?:'s| is)?)\s+$",
    re.IGNORECASE,
)
_CALLED = re.compile(
    r"\b(?:call me|called|calls me|i am|i'm|im|this is|(?:it's|its|that's|thats)|goes by|known as|we call (?:him|"
    r"her|them)|"
    r"(?:called|call) (?:him|her|them|it)|she's called|he's called)\s+$",
    re.IGNORECASE,
)
_KIN = re.compile(
    rf"\b(?:my|his|her|our|your|their|the|a|that|and|little|big|old|\w+'s) "
    rf"(?:(?:old|late|little|big|older|younger|oldest|youngest|best|first|second|ex|dear|poor|new|step|twin|great|"
    rf"other|public) )?"
    rf"(?:{KIN})(?:,| is| was|'s)? (?:named |called |is )?$",
    re.IGNORECASE,
)
_NICKED = re.compile(
    r"\b(?:everybody|everyone|people|they|we|friends|laws|family|kids|guys|mom|dad|he|she) (?:all |just |always )?"
    r"(?:says?|calls?|called|calling|call|goes)(?: (?:me|him|her|it|them))? $",
    re.IGNORECASE,
)
_HAILED = re.compile(
    r"\b(?:hi|hello|hey|bye|goodbye|thanks|thank you|good morning|morning|welcome|night) $", re.IGNORECASE
)
_IT_IS = re.compile(r"(?:^|\b(?:hi|hello|hey|line|yeah|yes|okay)[ ,]+)(?:this is|it's|its) $", re.IGNORECASE)
_GREETED = re.compile(
    r"(?:^|[.,!?] |\b(?:and|so|oh|well|okay|ok) )(?:hi|hello|hey|thanks|thank you|bye|goodbye|good ?night|"
    r"good morning|morning|good afternoon|"
    r"good evening|welcome(?: back)?|dear|take care|come in|come on in|see you|yeah|yes|no|okay|ok|so|so sorry|"
    r"sorry|all right|alright)"
    r"(?: there)?,? $",
    re.IGNORECASE,
)
_NOBODY = word_set("buddy honey dear love sweetie sunshine babe doc doll sweetheart friend sir girl boy son princess")
_TELLS = word_set("told tell asked texted hugged married messaged phoned invited")
_SPEAKS = {"", "are", "from", "with", "calling", "speaking", "how", "i'm", "and", "can", "what", "at", "you"}
_ASKS = word_set("did does")
_AFTER_A_NAME = word_set("say think want like do feel")
_AFTER_A_VERB = word_set("a the my his her it an on to out")
_WITH_POINT = word_set("mr mrs ms mx dr prof rev sgt capt lt st det insp cpl fr")
_ALSO_ALONE = word_set("mx doctor miss professor prof mister")
"""Titles that also stand without a name."""

OFTEN_WORDS = word_set(
    "will may can hope faith grace art mark bill pat rob chase drew sue grant dean max page love sunday"
)


def by_context(text: Passage, at: int) -> tuple[Sure, str] | None:
    """Return how sure it is, and by which rule, that titles, kin or introductions announce a word as a name."""
    word, title = text[at], text.before(at)
    likely = word.capital or (word.first and not word.ordinary)
    if at and _after_title(text[at - 1], text.gap(at - 1)):
        if title in TITLES:
            return ("certain", "title") if _titled(word, title, text.cased) else None
        small = not text.cased and word.first and word.word not in NAME_VERBS | OFTEN_WORDS | NEVER_NAMES
        if title in CALLINGS and (likely or small) and not word.kept and word.word not in SPOKEN:
            return "certain", "title"
    if word.word in NEVER_NAMES | TITLES | CALLINGS | SPOKEN or (word.kept and word.word not in STATES):
        return None
    return _announced(text, at, text.until(at)[-60:])


def _announced(text: Passage, at: int, before: str) -> tuple[Sure, str] | None:
    word, cased = text[at], text.cased
    likely = word.capital or (word.first and not word.ordinary)
    named = likely or not word.ordinary
    if _NAMED.search(before) and (named or word.first):
        return "certain", "named"
    nicked = (word.listed or word.unknown) and (word.capital or not cased) and word.word not in NAME_VERBS
    hailed = not cased and word.ordinary and word.first
    if (nicked and _NICKED.search(before)) or (hailed and _is_hailed(text, at, before)):
        return "likely", "called"
    if _KIN.search(before):
        return _of_kin(text, at, likely)
    is_name = named and not word.kept and word.listed and (word.first or word.capital or not cased)
    is_called = is_name or (named and word.capital and not word.ordinary and not word.kept)
    if is_called and _CALLED.search(before):
        return "likely", "named"
    is_greeted = not word.ordinary and (likely or (word.listed and not cased)) and _GREETED.search(before)
    return ("likely", "greeted") if is_greeted else None


def _is_hailed(text: Passage, at: int, before: str) -> bool:
    """Tell "hi rose" and "this is joy how are you" from "this is hard", for a name that is also a word."""
    word, previous, follows = text[at], text.before(at), text.after(at)
    if word.word in _NOBODY or not word.common:
        return False
    told = previous in _TELLS or before.endswith(("ask for ", "asked for ", "asking for "))
    told |= previous in _ASKS and follows not in SPOKEN - NAME_VERBS - _AFTER_A_NAME
    if told and follows != "of":
        return True
    return bool(_HAILED.search(before)) or (follows in _SPEAKS and bool(_IT_IS.search(before)))


def _after_title(title: Token, gap: str) -> bool:
    """Return whether a word goes on after a title: only abbreviations have a point ("the doctor. And" goes not on)."""
    return not title.possessive and (gap == " " or (gap == ". " and title.word in _WITH_POINT))


def _titled(word: Token, title: str, cased: bool) -> bool:
    if word.word in SPOKEN | NEVER_NAMES:
        return False
    if word.capital or title not in _ALSO_ALONE:
        return True
    return not word.ordinary and (word.listed or not cased)


def _of_kin(text: Passage, at: int, likely: bool) -> tuple[Sure, str] | None:
    word = text[at]
    if (likely and (word.listed or not word.ordinary)) or word.unknown:
        return "certain", "kin"
    is_verb = word.word in {"will", "may", "can", "might"} or text.after(at) in _AFTER_A_VERB
    is_name = word.common or (word.first and seldom(word.word))
    return ("likely", "kin") if is_name and not is_verb and word.word not in NAME_VERBS else None
