"""Names of people: by lists, by capital letters, and by the words around them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from therapy_analytics.redact._announced import OFTEN_WORDS, by_context
from therapy_analytics.redact._found import Found, Sure
from therapy_analytics.redact._places import led_as_place
from therapy_analytics.redact._spoken import runs
from therapy_analytics.redact._tokens import Token, is_derived, tokens
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
"""Words that are known to be names in this session, and how sure that is."""

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


def names(text: str, words: Sequence[Token], known: Known, before: str = "", *, small: bool = False) -> Iterator[Found]:
    """Yield names of people in a turn; names that stand beside each other are one.

    Parameters
    ----------
    text : str
        Words of a turn.
    words : sequence of Token
        The same as `tokens(text)`.
    known : mapping of str to str
        Names of the session so far: its labels, what is known about it, what was found elsewhere in it.
    before : str
        The end of the turn before: "And her name?" says what the answer is.
    small : bool
        Whether no turn of the session has a capital letter, as speech is recognised: there, rare words are names.

    Yields
    ------
    Found
        In the order of the text.
    """
    cased = any(word.capital and word.word != "i" for word in words)
    found: dict[int, tuple[Sure, str]] = {}
    for at in range(len(words)):
        verdict = _verdict(text, words, at, known, cased, small)
        if verdict is not None:
            found[at] = verdict
    if _ASKED.search(before):
        found.update({at: ("likely", "asked") for at in _answer(words, cased) if at not in found})
    for at in list(found):
        _extend(text, words, at, found)
        _lead(text, words, at, found)
    yield from _together(text, words, found)


def _answer(words: Sequence[Token], cased: bool) -> Iterator[int]:
    """Yield the word that answers a question for a name: the first that is no word of grammar."""
    for at, word in enumerate(words[:4]):
        if word.word not in SPOKEN | NEVER_NAMES | TITLES | CALLINGS:
            answers = word.capital or (not cased and (not word.ordinary or (word.common and len(words) < 4)))
            if word.first and not word.kept and answers and (word.word not in ABSTRACT or len(words) < 3):
                yield at
            return


def spelled(text: str, before: str, known: Known) -> Iterator[Found]:
    """Yield names that are spelled: "k o w a l s k i", "S-A-O-I-R-S-E"."""
    for run in runs(text):
        word = run.signs
        if (
            re.match(r" (?:numbers?|cards?|forms?)\b", text[run.end :])
            or run.digits
            or len(set(word)) < 2
            or word in SPOKEN
            or word in ACRONYMS
        ):
            continue
        near = text[max(0, run.start - _SPELL_NEAR) : run.start] or before
        near += " " + text[run.end : run.end + _SPELL_NEAR // 2]
        cued = bool(_SPELLS.search(near) or (run.start < _SPELL_NEAR and _SPELLS.search(before)))
        if word in known or len(word) >= (_SPELLED_CUED if cued else _SPELLED):
            yield Found(run.start, run.end, "NAME", "certain", "spelled")


def _verdict(
    text: str, words: Sequence[Token], at: int, known: Known, cased: bool, small: bool
) -> tuple[Sure, str] | None:
    word = words[at]
    titled = at > 0 and words[at - 1].word in TITLES and word.capital
    holiday = at > 0 and words[at - 1].word in HOLIDAYS and words[at - 1].capital  # Christmas Eve
    if (
        word.word[0].isdigit()
        or _CONTRACTED.search(word.word)
        or holiday
        or _in_state(words, at)
        or (len(word.word) < 2 and not titled)
    ):
        return None
    announced = by_context(text, words, at, cased)
    if announced is not None:
        return announced
    if word.word in known:
        return (known[word.word], "name_of_session") if _fits(text, words, at, cased) else None
    if word.kept or word.word in SPOKEN | CLEAR_MONTHS:
        return None
    return _by_capital(text, words, at) if word.capital else _by_list(words, at, cased, small)


def _in_state(words: Sequence[Token], at: int) -> bool:
    """Return whether a word belongs to a state or country of two words: North Carolina."""
    pair = [one.word for one in words[max(0, at - 1) : at + 2]]
    return any(f"{one} {other}" in TWO_WORD_STATES for one, other in pairwise(pair)) and words[at].capital


def _fits(text: str, words: Sequence[Token], at: int, cased: bool) -> bool:
    """Decide whether a word that is a name in this session is meant as one here."""
    word = words[at]
    if not word.ordinary:
        return word.capital or not word.kept
    if word.capital:
        return not word.opens or _acts(text, words, at, known=True)
    return not cased and _fits_small(words, at)


def _fits_small(words: Sequence[Token], at: int) -> bool:
    """Decide it for a name that is also a word, written small: "my wife grace ... grace did it" but "with grace"."""
    word, before = words[at], words[at - 1].word if at else ""
    follows = words[at + 1].word if at + 1 < len(words) else ""
    if before in _THE:
        return False
    if word.possessive or follows in NAME_VERBS or (follows in IS_VERBS and word.word != "will"):
        return True
    if word.word in OFTEN_WORDS:
        return not follows and before in {"with", "and", "told", "for", "to"}
    return before not in DETERMINERS


def _acts(text: str, words: Sequence[Token], at: int, *, known: bool) -> bool:
    """Decide whether a capital that opens a sentence does what people do: "Hope told me", "Hope's", "Hope, listen"."""
    word = words[at]
    if at + 1 == len(words):
        return known or not word.ordinary
    follows = words[at + 1]
    gap = text[word.end : follows.start]
    if word.possessive:
        return known or not word.ordinary
    if gap != " ":
        return known
    if follows.word in NAME_VERBS or (
        follows.word == "and" and at + 2 < len(words) and words[at + 2].word in {"i", "me", "my"}
    ):
        return True
    does = known and follows.ordinary and follows.word.endswith("s") and follows.word not in {"his", "its", "this"}
    return does or ((known or not word.ordinary) and follows.word in IS_VERBS)


def _by_capital(text: str, words: Sequence[Token], at: int) -> tuple[Sure, str] | None:
    word = words[at]
    shouted = text[word.start : word.end].isupper() and len(word.word) > 1
    if shouted and not word.listed:
        return None
    if word.opens:
        return _opening(text, words, at)
    if word.word in CALLINGS or word.word in TITLES:
        return None
    if word.first or (word.last and not word.ordinary):
        return "likely", "listed_name"
    if word.last and _titlecase_alone(words, at):
        return "unsure", "listed_name"
    return ("unsure", "unknown_capital") if word.unknown and not led_as_place(words, at) else None


def _opening(text: str, words: Sequence[Token], at: int) -> tuple[Sure, str] | None:
    """Judge a capital that opens a sentence, where any word has one."""
    word = words[at]
    acts = _acts(text, words, at, known=False)
    if word.listed and not word.ordinary:
        return ("likely" if word.first or acts or _continues(text, words, at) else "unsure"), "listed_name"
    if word.unknown and (acts or word.possessive):
        return "unsure", "unknown_capital"
    return ("unsure", "listed_name") if word.first and _opens_as_name(text, words, at) else None


_OF_MINE = re.compile(rf", (?:my|our|his|her) (?:{KIN})\b")


def _opens_as_name(text: str, words: Sequence[Token], at: int) -> bool:
    """Tell "Bill would say" and "May, my mother" from "Faith comes up" and "Mark my words"."""
    word = words[at]
    if _OF_MINE.match(text, word.end):
        return True
    if at + 2 < len(words) and words[at + 1].word == "and" and words[at + 2].capital and words[at + 2].first:
        return True
    if at + 1 == len(words) or text[word.end : words[at + 1].start] != " ":
        return False
    follows = words[at + 1].word
    acts = (
        follows.endswith("s")
        and words[at + 1].ordinary
        and follows not in {"his", "its", "this", "us", "as"} | IS_VERBS
    )
    if word.word == "will" and (acts or follows in SPEECH_VERBS):
        return True
    if word.word in ABSTRACT or not word.common:
        return follows in SPEECH_VERBS | {"would've", "said", "let"}
    return follows in NAME_VERBS | IS_VERBS - {"will", "can", "just", "really", "never", "always", "and"}


def _continues(text: str, words: Sequence[Token], at: int) -> bool:
    return (
        at + 1 < len(words)
        and words[at + 1].capital
        and text[words[at].end : words[at + 1].start] == " "
        and words[at + 1].listed
    )


def _titlecase_alone(words: Sequence[Token], at: int) -> bool:
    """Tell a family name among small letters (and Baker said) from a heading (The Long Walk Home)."""
    return at > 0 and not words[at - 1].capital and at + 1 < len(words) and words[at + 1].word in NAME_VERBS | IS_VERBS


def _by_list(words: Sequence[Token], at: int, cased: bool, small: bool) -> tuple[Sure, str] | None:
    """Names with a small letter: those of the list that are no other word; where there are no capitals, rare words."""
    word = words[at]
    if len(word.word) < 3 or not word.word.replace("-", "").replace("'", "").isalpha():
        return None
    if word.word in TITLES | CALLINGS:
        return None
    if word.ordinary:
        return ("likely", "beside_name") if not cased and word.first and _beside_name(words, at) else None
    if word.common or (word.first and not cased):
        return "likely", "listed_name_small"
    if cased or (word.unknown and (not small or (at > 0 and words[at - 1].word in DETERMINERS))):
        return None
    return ("unsure", "rare_word_small") if word.unknown or not is_derived(word.word) else None


def _beside_name(words: Sequence[Token], at: int) -> bool:
    """Return whether a name that is also a word stands in a row with another name: precious and makayla."""
    beside = [at + 2 * side for side in (-1, 1) if 0 <= at + 2 * side < len(words) and words[at + side].word == "and"]
    return any(words[other].first and not words[other].ordinary for other in beside) and not words[at].kept


def _extend(text: str, words: Sequence[Token], at: int, found: dict[int, tuple[Sure, str]]) -> None:
    """Take what belongs to a name along: Dana [M. Reyes], brandon [whitaker], [Nguyen] Thi Mai."""
    sure = found[at][0]
    after = at + 1
    while after < len(words) and text[words[after - 1].end : words[after].start] in {" ", ". "}:
        if after not in found and not _is_surname(text, words, after, titled=found[at][1] == "title"):
            break
        found.setdefault(after, (sure, "rest_of_name"))
        after += 1


def _is_surname(text: str, words: Sequence[Token], at: int, *, titled: bool) -> bool:
    """Return whether a word behind a name is the rest of it."""
    word, previous = words[at], words[at - 1]
    follows = words[at + 1] if at + 1 < len(words) else None
    if word.word in _PARTICLES and follows is not None and not previous.possessive:
        goes_on = follows.word in _PARTICLES or not follows.ordinary or follows.capital
        return (goes_on and word.word not in {"la", "el", "den", "ten", "al"} | SPOKEN) or (
            word.word in {"la", "el", "al"} and not follows.ordinary
        )
    stop = word.kept or word.opens or previous.possessive or word.word in NEVER_NAMES | _NO_SURNAME | SPOKEN
    if stop or _CONTRACTED.search(word.word):
        return False
    if len(word.word) == 1:
        return word.capital and text[word.end : word.end + 1] == "." and word.word != "i"
    if word.capital or previous.capital:
        return word.capital and previous.capital and word.word not in CALLINGS
    ends = follows is None or follows.word in SPOKEN | NAME_VERBS | IS_VERBS
    return (word.last and not word.ordinary) or (titled and word.listed and ends and word.word not in NAME_VERBS)


def _lead(text: str, words: Sequence[Token], at: int, found: dict[int, tuple[Sure, str]]) -> None:
    """Take the small words in front of a family name along: [Van der] Berg."""
    sure, before = found[at][0], at - 1
    while before >= 0 and words[before].word in _PARTICLES and text[words[before].end : words[before + 1].start] == " ":
        before -= 1
    opener = words[before] if before >= 0 else None
    if (
        opener is not None
        and before + 1 == at
        and opener.capital
        and words[at].capital
        and text[opener.end : words[at].start] in {" ", ". "}
        and (
            (opener.first and opener.word not in TITLES | CALLINGS and opener.word not in SPOKEN)
            or (len(opener.word) == 1 and opener.word not in {"i", "a"})
        )
    ):
        found.setdefault(before, (sure, "rest_of_name"))
    if (
        before + 1 == at
        and opener is not None
        and opener.word in {"big", "lil"}
        and text[opener.end : words[at].start] == " "
    ):
        found.setdefault(before, (sure, "rest_of_name"))
    if before + 1 < at and words[before + 1].capital and words[at].capital:
        found.update({number: (sure, "rest_of_name") for number in range(before + 1, at) if number not in found})


def _together(text: str, words: Sequence[Token], found: Mapping[int, tuple[Sure, str]]) -> Iterator[Found]:
    rows: list[list[int]] = []
    for at in sorted(found):
        beside = rows and rows[-1][-1] == at - 1 and text[words[at - 1].end : words[at].start] in {" ", ". "}
        if beside and not words[at - 1].possessive:
            rows[-1].append(at)
        else:
            rows.append([at])
    for row in rows:
        sure, rule = min((found[at] for at in row), key=lambda one: ("certain", "likely", "unsure").index(one[0]))
        yield Found(words[row[0]].start, words[row[-1]].end, "NAME", sure, rule)


def person(words: str) -> Person:
    """Return the words of a name by which a person is known: no title, no initial, no possessive.

    Examples
    --------
    >>> sorted(person("Dr. Dana M. Reyes's"))
    ['dana', 'reyes']
    >>> sorted(person("r e y e s"))
    ['reyes']
    """
    spelled = [run for run in runs(words) if (run.start, run.end) == (0, len(words)) and not run.digits]
    if spelled:
        return frozenset({spelled[0].signs})
    found = [one.word for one in tokens(words)]
    kept = [word for word in found if word not in TITLES and len(word) > 1]
    return frozenset([word for word in kept if word not in CALLINGS] or kept or found)
