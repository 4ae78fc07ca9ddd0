"""Numbers and codes as people say, spell and write them: "five five five, oh one two", "k o w a l", "1eg4-te5"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from therapy_analytics.redact._tokens import word_list
from therapy_analytics.redact._vocabulary import KEPT, SPOKEN, word_set

DIGITS = dict(
    zip(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"], "0123456789", strict=True)
) | {"oh": "0", "o": "0", "nought": "0", "naught": "0"}
TEENS = {
    word: str(number)
    for number, word in enumerate(
        ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"],
        start=10,
    )
}
TENS = {
    word: str(number)
    for number, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2
    )
}
_NATO = word_set(
    """
    alpha alfa bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima mike november oscar papa
    quebec romeo sierra tango uniform victor whiskey whisky xray yankee zulu
    """
)
_SPOKEN_SIGNS = (
    {word: (word[0], "nato") for word in _NATO}
    | {word: (digit, "said") for word, digit in (DIGITS | TEENS).items()}
    | {word: (f"{digit}0", "said") for word, digit in TENS.items()}
    | {"o": ("o", "oh"), "hundred": ("00", "hundred")}
)
_REPEATS = {"double": 2, "triple": 3, "treble": 3}
_WORD = re.compile(r"(?<!')[^\W_]+")
_ASIDE = (
    r"(?:uh|um|uhm|er|erm|ah|dash|hyphen|minus|slash|stroke|space|dot|point|period|colon|comma|hash|then|and then|so|"
    r"okay|capital|upper ?case|lower ?case|again|the letter|"
    r"no|wait|sorry|hold on|hang on|let me see|i mean|actually|something|scratch that|make that|correction)"
)
_GAP = re.compile(rf"(?:[\s,()/+#:_\u2010-\u2014-]|\.\s?(?=\S))*(?:\b{_ASIDE}\b[\s,.-]*)*", re.IGNORECASE)
_LABELS = word_set(
    """
    mrn vin id ssn sn rx ip po pin dob no ok tv pps nhs tfn ni sin udi lot ext am pm usa uk covid iban
    tel fax ref visa
    """
)
_DOT = re.compile(r"\s*(?:\.|\bdot\b|\bpoint\b)\s*", re.IGNORECASE)
_LIKE = re.compile(r",? (?:as in|for|like|is for) (?P<word>[^\W\d_]{3,})\b", re.IGNORECASE)
_NUMBERED = re.compile(r"(?:\bnumber|\bno\.?|#|\bid|\bcode|\bfile|:) $", re.IGNORECASE)
_NO_CODE = re.compile(
    r"\d{1,4}(?:st|nd|rd|th|s|am|pm|mg|ml|mcg|g|kg|lbs?|oz|k|m|km|cm|mm|ft|in|x|d|h|hrs?|min|mins|yo|yrs?|ish|%)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Element:
    """A digit, a letter or a part of a code: its position, its signs and its kind."""

    start: int
    end: int
    signs: str
    kind: str  # digits, said, letter, letters, mixed, nato


@dataclass(frozen=True, slots=True)
class Alphanumeric:
    """Digits and letters in a row, spoken, spelled or written: one number or code.

    Attributes
    ----------
    start, end : int
        Characters of the text.
    signs : str
        Its digits and letters, lower-cased.
    spoken : bool
        Whether any digit is spoken as a word.
    steps : tuple of str
        The digits and letters of its elements, in order; "twenty two" is one of them, "22".
    n_dots : int
        How many dots are written or spoken between them.
    """

    start: int
    end: int
    signs: str
    spoken: bool
    steps: tuple[str, ...]
    n_dots: int

    @property
    def digits(self) -> str:
        """Its digits."""
        return "".join(sign for sign in self.signs if sign.isdigit())

    @property
    def letters(self) -> int:
        """How many letters it has."""
        return len(self.signs) - len(self.digits)

    @property
    def counts(self) -> bool:
        """Whether somebody is counting (one two three, ten twenty thirty) or names years."""
        values = [int(step) for step in self.steps if step.isdigit()]
        gaps = {later - earlier for earlier, later in pairwise(values)}
        return len(values) == len(self.steps) and (
            (len(values) > 2 and len(gaps) == 1) or bool(re.fullmatch(r"(?:(?:19|20)\d\d)+", self.signs))
        )


def alphanumerics(text: str) -> Iterator[Alphanumeric]:
    """Yield the numbers and codes of a text, each as long as possible.

    Examples
    --------
    >>> [code.signs for code in alphanumerics("it's five five five, oh one double two, so call at 9")]
    ['5550122', '9']
    >>> [code.signs for code in alphanumerics("k o w a l, then 1eg4-te5-mk73 and b as in boy two")]
    ['kowal', '1eg4te5mk73', 'b2']
    """
    group: list[_Element] = []
    for element in _elements(text):
        if group and not _go_together(text, group[-1], element):
            yield from _run(text, group)
            group = []
        group.append(element)
    yield from _run(text, group)


def _go_together(text: str, one: _Element, other: _Element) -> bool:
    """Return whether two elements belong to one code; digits and words do not: "20416, twenty years"."""
    written = "said" not in {one.kind, other.kind} or {one.kind, other.kind} == {"digits", "said"}
    if (
        written
        and re.match(r"[,.;] ", text[one.end :])
        and ({one.kind, other.kind} != {"letter"} or other.signs == "i")
    ):
        return False
    return bool(_GAP.fullmatch(text, one.end, other.start))


def _elements(text: str) -> Iterator[_Element]:
    """Yield digits, letters and parts of codes with their positions; "double five" is one element."""
    times, begun, end = 1, -1, 0
    for match in _WORD.finditer(text):
        word, start = match[0].lower(), match.start()
        if start < end:
            continue
        if word in _REPEATS:
            times, begun = _REPEATS[word], start
            continue
        signs, kind = _signs(text, match)
        end = match.end()
        if kind:
            like = _LIKE.match(text, end) if kind == "letter" else None
            if like and like["word"][0].lower() == word:
                end = like.end()  # b as in boy
            elif word == "x" and re.match(r"[- ]ray\b", text[end:], re.IGNORECASE):
                end, kind = end + len("-ray"), "nato"
            yield _Element(begun if times > 1 else start, end, signs * times, kind)
        times = 1


def _signs(text: str, match: re.Match[str]) -> tuple[str, str]:
    """Return the digits and letters of a word, and its kind of element; empty for other words."""
    word = match[0].lower()
    if len(word) == 1 and text[match.end() : match.end() + 1] == "'":
        return "", ""  # o'clock
    if word in _SPOKEN_SIGNS:
        return _SPOKEN_SIGNS[word]
    if any(sign.isdigit() for sign in word):
        is_code = word.isascii() and not _NO_CODE.fullmatch(word)
        return (word, "digits" if word.isdigit() else "mixed") if is_code else ("", "")
    if len(word) == 1:
        return word, "letter"
    is_word = word in _LABELS or (match[0].islower() and (word in SPOKEN or word in KEPT))
    return (word, "letters") if not is_word and _is_part_of_code(text, match) else ("", "")


def _is_part_of_code(text: str, match: re.Match[str]) -> bool:
    """Return whether a short word is part of a code: XJT 449, fp-22871, 24-CV-033."""
    word, behind, before = match[0], text[match.end() : match.end() + 20], text[: match.start()][-2:]
    if len(word) > 5 or not word.isascii():
        return False
    if word.isupper():
        return bool(re.match(r"[ #/.:-]{0,2}(?:[A-Z]{1,4}[ -])?\w*\d", behind) or re.search(r"\d[ /.-]$", before))
    is_word = word in word_list("words")
    return not is_word and bool(re.match(r"[/-]\w*\d", behind) or re.search(r"\d[/-]$", before))


def _run(text: str, group: list[_Element]) -> Iterator[Alphanumeric]:
    """Yield the code that a row of elements makes, without articles and words at its edges."""
    is_number = any(one.kind in {"digits", "said", "mixed", "hundred"} for one in group)
    if is_number and [one.signs for one in group[:2]] == ["i", "d"]:  # the i d is no part of it
        group = group[2:]
    signs, kind = ("0", "said") if is_number else ("o", "letter")
    group = [replace(one, signs=signs, kind=kind) if one.kind == "oh" else one for one in group]
    while group and _is_edge(text, group, 0):
        group = group[1:]
    while group and _is_edge(text, group, -1):
        group = group[:-1]
    if not group or (not any(one.kind not in {"letter", "letters", "nato"} for one in group) and len(group) < 3):
        return
    gaps = [(one.end, other.start) for one, other in pairwise(group)]
    dots = sum(bool(_DOT.fullmatch(text, *gap)) for gap in gaps)
    start, end = _whole(text, group[0].start, group[-1].end)
    steps = tuple(_steps(group))
    spoken = any(one.kind == "said" for one in group)
    yield Alphanumeric(start, end, "".join(steps), spoken, steps, dots)


def _whole(text: str, start: int, end: int) -> tuple[int, int]:
    """Extend a code by the plus before a telephone number and the star after a code."""
    plus = re.search(r"(?:\bplus |\bpound |\bhash |\bstar |\+)$", text[max(0, start - 6) : start], re.IGNORECASE)
    star = re.match(r" ?[#*]| star\b| hash\b", text[end : end + 6], re.IGNORECASE)
    return start - len(plus[0]) if plus else start, end + len(star[0]) if star else end


def _is_edge(text: str, group: list[_Element], at: int) -> bool:
    """Return whether the first (0) or last (-1) element is no part of the code: "a four", "two i think"."""
    one = group[at]
    beside = group[1 if at == 0 else -2] if len(group) > 1 else None
    n_signs = sum(len(other.signs) for other in group)
    if one.kind == "hundred":
        return at == 0
    if one.kind == "nato":
        return n_signs < 4 and not (beside and beside.kind == "nato")
    if one.kind == "letter" and one.signs in {"a", "i"}:
        if at == -1 and one.signs == "i" and any(sign.isdigit() for other in group for sign in other.signs):
            return True
        spells = (
            len(group) > 2
            and beside is not None
            and beside.kind in {"letter", "nato"}
            and beside.signs not in {"a", "i"}
        )
        cued = len(group) > 1 and (group[1].kind != "digits" or bool(_NUMBERED.search(text[: one.start][-9:])))
        return not spells and not (at == 0 and one.signs == "a" and n_signs > 4 and cued)
    return False


def _steps(group: list[_Element]) -> Iterator[str]:
    """Yield the digits and letters of each element; twenty and two are 22."""
    waiting = ""
    for one in group:
        if waiting and one.kind == "said" and len(one.signs) == 1 and one.signs != "0":
            yield waiting[0] + one.signs
            waiting = ""
            continue
        if waiting:
            yield waiting
        is_tens = one.kind == "said" and len(one.signs) == 2 and one.signs[1] == "0" and one.signs not in {"10", "00"}
        waiting = one.signs if is_tens else ""
        if not waiting:
            yield one.signs
    if waiting:
        yield waiting


def number(words: str) -> int | None:
    """Return the value of a number below 1000, written or spoken; None for other words.

    Examples
    --------
    >>> [number(words) for words in ("91", "ninety-one", "a hundred and two", "seven", "many")]
    [91, 91, 102, 7, None]
    """
    if words.isdigit():
        return int(words)
    total = 0
    for word in re.split(r"[\s-]+", words.lower()):
        if word in {"a", "and"}:
            continue
        if word == "hundred":
            total = max(total, 1) * 100
        elif word in TENS:
            total += 10 * int(TENS[word])
        elif word in TEENS or word in DIGITS:
            total += int(TEENS.get(word) or DIGITS[word])
        else:
            return None
    return total or None
