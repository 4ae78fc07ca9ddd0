"""Numbers and addresses as people say them: "five five five, oh one two three", "dana dot r at gmail dot com"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

DIGITS = dict(
    zip(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"], "0123456789", strict=True)
) | {
    "oh": "0",
    "o": "0",
}
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
_REPEATS = {"double": 2, "triple": 3}
_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_GAP = re.compile(r"(?:[\s,()/+\u2013\u2014-]|\.(?=\S))*(?:\b(?:uh|um|uhm|er|erm|dash|hyphen)\b[\s,-]*)*")


@dataclass(frozen=True, slots=True)
class Run:
    """Digits in a row, said or written, with letters spelled out between them.

    Attributes
    ----------
    start, end : int
        Characters of the text.
    digits : str
        The digits alone.
    letters : int
        How many letters stand among them.
    said : bool
        Whether any digit is a word.
    """

    start: int
    end: int
    digits: str
    letters: int
    said: bool


def runs(text: str) -> Iterator[Run]:
    """Yield the rows of digits and single letters that a text holds, longest stretches, at least one digit.

    Examples
    --------
    >>> [run.digits for run in runs("it's five five five, oh one double two, so call at 9")]
    ['5550122', '9']
    """
    group: list[tuple[int, int, str, bool]] = []
    for start, end, digits, said in _elements(text):
        if group and not _GAP.fullmatch(text, group[-1][1], start):
            yield from _run(group)
            group = []
        group.append((start, end, digits, said))
    yield from _run(group)


def _elements(text: str) -> Iterator[tuple[int, int, str, bool]]:
    """Yield digits and letters with their places; "double five" is one of them; a letter has no digits."""
    times, begun = 1, -1
    for match in _WORD.finditer(text):
        word = match[0].lower()
        if word in _REPEATS:
            times, begun = _REPEATS[word], match.start()
            continue
        digits = _digits(word)
        if digits or (len(word) == 1 and word.isalpha() and word not in "ai"):
            yield (begun if times > 1 else match.start()), match.end(), digits * times, not word.isdigit()
        times = 1


def _digits(word: str) -> str:
    if word.isdigit() and word.isascii():
        return word
    if word in TENS:
        return TENS[word]
    return DIGITS.get(word) or TEENS.get(word, "")


def _run(group: list[tuple[int, int, str, bool]]) -> Iterator[Run]:
    while group and not group[0][2] and len(group) > 1 and not any(one[2] for one in group[:4]):
        group = group[1:]
    if any(one[2] for one in group):
        digits = "".join(one[2] for one in group)
        letters = sum(not one[2] for one in group)
        said = any(one[3] and one[2] for one in group)
        yield Run(group[0][0], group[-1][1], digits, letters, said)


_ENDING = r"(?:com|org|net|edu|gov|io|co dot uk|co|us|uk|ca|info|de|mil|biz)"
_PIECE = r"[^\W_]+(?:[._-][^\W_]+)*"
EMAIL = re.compile(
    rf"\b{_PIECE}(?: (?:dot|underscore|dash|hyphen) {_PIECE})* (?:at|@) "
    rf"(?:{_PIECE}(?: dot {_PIECE})*? dot {_ENDING}\b|{_PIECE}\.{_ENDING}\b"
    r"|(?:gmail|yahoo|hotmail|outlook|icloud|aol)(?: dot com)?\b)",
    re.IGNORECASE,
)
URL = re.compile(
    rf"\b(?:(?:www|w w w|double u double u double u) dot (?:[^\W_]+ ){{1,6}}?dot {_ENDING}"
    rf"|[^\W_]+(?: dash [^\W_]+)* dot {_ENDING})\b(?: slash [^\W_]+)*",
    re.IGNORECASE,
)


def number(words: str) -> int | None:
    """Return what a number below 1000 says, written or spoken.

    Examples
    --------
    >>> [number(said) for said in ("91", "ninety-one", "a hundred and two", "seven", "many")]
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
