"""Names that the words in front of them announce: titles, kin, introductions, greetings."""

from __future__ import annotations

import re
from collections.abc import Sequence

from therapy_analytics.redact._found import Sure
from therapy_analytics.redact._tokens import Token, seldom
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
_WITH_POINT = word_set("mr mrs ms mx dr prof rev sgt capt lt st det insp cpl fr")

OFTEN_WORDS = word_set(
    "will may can hope faith grace art mark bill pat rob chase drew sue grant dean max page love sunday"
)


def by_context(text: str, words: Sequence[Token], at: int, cased: bool) -> tuple[Sure, str] | None:
    """Names that titles, kin and introductions announce; they need not be on any list."""
    word = words[at]
    likely = word.capital or (word.first and not word.ordinary)
    previous = words[at - 1] if at else None
    if previous and _after_title(previous, text[previous.end : word.start]):
        if previous.word in TITLES:
            return ("certain", "title") if _titled(word, previous.word, cased) else None
        small = not cased and word.first and word.word not in NAME_VERBS | OFTEN_WORDS | NEVER_NAMES
        if previous.word in CALLINGS and (likely or small) and not word.kept and word.word not in SPOKEN:
            return "certain", "title"
    if word.word in NEVER_NAMES | TITLES | CALLINGS or (word.kept and word.word not in STATES):
        return None
    return _announced(text[: word.start].replace("\u2019", "'")[-60:], words, at, cased)


def _announced(before: str, words: Sequence[Token], at: int, cased: bool) -> tuple[Sure, str] | None:
    word = words[at]
    likely = word.capital or (word.first and not word.ordinary)
    named = likely or not word.ordinary
    if word.word in SPOKEN:
        return None
    if _NAMED.search(before) and (named or word.first):
        return "certain", "named"
    nicked = (word.listed or word.unknown) and (word.capital or not cased) and word.word not in NAME_VERBS
    hailed = not cased and word.ordinary and word.first
    if (nicked and _NICKED.search(before)) or (hailed and _is_hailed(before, words, at)):
        return "likely", "called"
    if _KIN.search(before):
        return _of_kin(words, at, likely)
    is_name = named and not word.kept and word.listed and (word.first or word.capital or not cased)
    is_called = is_name or (named and word.capital and not word.ordinary and not word.kept)
    if is_called and _CALLED.search(before):
        return "likely", "named"
    is_greeted = not word.ordinary and (likely or (word.listed and not cased)) and _GREETED.search(before)
    return ("likely", "greeted") if is_greeted else None


def _is_hailed(before: str, words: Sequence[Token], at: int) -> bool:
    """Tell "hi rose" and "this is joy how are you" from "this is hard": a name that is also a word, written small."""
    word, follows = words[at], words[at + 1].word if at + 1 < len(words) else ""
    if word.word in _NOBODY or not word.common:
        return False
    speaks = follows in _SPEAKS
    previous = words[at - 1].word if at else ""
    told = previous in _TELLS or before.endswith(("ask for ", "asked for ", "asking for "))
    told = told or (
        previous in _ASKS and follows not in SPOKEN - NAME_VERBS - {"say", "think", "want", "like", "do", "feel"}
    )
    return bool(_HAILED.search(before)) or (speaks and bool(_IT_IS.search(before))) or (told and follows != "of")


def _after_title(title: Token, gap: str) -> bool:
    """Only what is an abbreviation has a point inside a name: "the doctor. And ..." is two sentences."""
    return not title.possessive and (gap == " " or (gap == ". " and title.word in _WITH_POINT))


def _titled(word: Token, title: str, cased: bool) -> bool:
    if word.word in SPOKEN or word.word in NEVER_NAMES:
        return False
    if word.capital:
        return True
    if title in {"mx", "doctor", "miss", "professor", "prof", "mister"}:
        return (word.listed and not word.ordinary) or (not word.ordinary and not cased)
    return word.word not in NEVER_NAMES and word.word not in SPOKEN


def _of_kin(words: Sequence[Token], at: int, likely: bool) -> tuple[Sure, str] | None:
    word = words[at]
    if (likely and (word.listed or not word.ordinary)) or word.unknown:
        return "certain", "kin"
    follows = words[at + 1].word if at + 1 < len(words) else ""
    is_verb = word.word in {"will", "may", "can", "might"} or follows in {
        "a",
        "the",
        "my",
        "his",
        "her",
        "it",
        "an",
        "on",
        "to",
        "out",
    }
    is_name = word.common or (word.first and seldom(word.word))
    return ("likely", "kin") if is_name and not is_verb and word.word not in NAME_VERBS else None
