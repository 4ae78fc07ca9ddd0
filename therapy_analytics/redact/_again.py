"""What was found once is found again: numbers in another form, and parts of addresses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from therapy_analytics.redact._found import Found
from therapy_analytics.redact._spoken import runs
from therapy_analytics.redact._tokens import Token, plain
from therapy_analytics.redact._vocabulary import SPOKEN

_FEW, _PHRASE = 4, 3
_NO_CODES = {"NAME", "PLACE", "DATE", "AGE_OVER_89"}
_ADDRESSES = {"EMAIL", "URL", "ID", "FILE"}


class Again:
    """The codes, addresses and places of one session, to be found wherever they are said again.

    Parameters
    ----------
    items : sequence of (str, str)
        Kinds and words that were found in its turns.
    """

    def __init__(self, items: Sequence[tuple[str, str]]) -> None:
        self._codes: dict[str, str] = {}
        self._phrases: dict[tuple[str, ...], str] = {}
        for kind, words in items:
            if kind not in _NO_CODES:
                self._codes.update({run.signs: kind for run in runs(words) if len(run.signs) >= _FEW})
            if kind in _ADDRESSES:
                self._phrases[tuple(plain(words).split())] = kind

    def found(self, text: str, words: Sequence[Token]) -> Iterator[Found]:
        """Yield what is said again in a turn."""
        for run in runs(text) if self._codes else ():
            kind = next((kind for signs, kind in self._codes.items() if self._is_part(run.signs, signs)), None)
            if kind is not None:
                yield Found(run.start, run.end, kind, "likely", "said_again")
        for phrase, kind in self._phrases.items():
            yield from self._phrase(words, phrase, kind)

    @staticmethod
    def _is_part(signs: str, whole: str) -> bool:
        """Return whether digits are those of a code, or its last four, or hold all of it."""
        return signs == whole or (len(signs) >= _FEW and (signs in whole or whole in signs))

    @staticmethod
    def _phrase(words: Sequence[Token], phrase: Sequence[str], kind: str) -> Iterator[Found]:
        """Yield the longest stretches of three words and more of an address that is known."""
        said, at = [one.word for one in words], 0
        while at < len(said):
            length = max(
                (_common(said[at:], phrase[start:]) for start in range(len(phrase)) if phrase[start] == said[at]),
                default=0,
            )
            if length >= _PHRASE and any(word not in SPOKEN for word in said[at : at + length]):
                yield Found(words[at].start, words[at + length - 1].end, kind, "likely", "said_again")
            at += max(length, 1)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    n_same = 0
    while n_same < min(len(one), len(other)) and one[n_same] == other[n_same]:
        n_same += 1
    return n_same
