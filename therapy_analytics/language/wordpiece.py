"""Words as the pieces that a small encoder knows: the tokenisation of uncased BERT models.

Text is lower-cased, accents are taken off, punctuation and ideographs stand alone; each word is then cut, from
its beginning, into the longest pieces that the vocabulary has (Wu et al. 2016, arXiv:1609.08144; Devlin et al.
2019, arXiv:1810.04805).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

PIECES = Path(__file__).parent / "vectors" / "pieces.txt"
"""The pieces of the package: the vocabulary of uncased BERT, one a line in the order of their ids."""
LONGEST = 100
"""Longer words are unknown as a whole."""
_PLAIN = re.compile("[a-z0-9]+|[^a-z0-9 ]")
_CJK = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2CEAF), (0x2F800, 0x2FA1F))


class WordPiece:
    """Cuts text into pieces.

    Parameters
    ----------
    vocabulary : sequence of str
        Pieces in the order of their ids; those that continue a word begin with ``##``.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids = {piece: place for place, piece in enumerate(vocabulary)}
        self._unknown = self._ids["[UNK]"]
        self._of_word: dict[str, list[int]] = {}

    def ids(self, text: str) -> list[int]:
        """Return the ids of a text's pieces, without marks of its beginning and end."""
        found: list[int] = []
        for word in words(text):
            pieces = self._of_word.get(word)
            if pieces is None:
                pieces = self._of_word[word] = self.cut(word)
            found += pieces
        return found

    def cut(self, word: str) -> list[int]:
        """Return the ids of one word's pieces; the word is as `words` gives it."""
        if len(word) > LONGEST:
            return [self._unknown]
        whole = self._ids.get(word)
        if whole is not None:  # as most are
            return [whole]
        pieces, start = [], 0
        while start < len(word):
            mark = "##" if start else ""
            end = next((end for end in range(len(word), start, -1) if mark + word[start:end] in self._ids), None)
            if end is None:
                return [self._unknown]
            pieces.append(self._ids[mark + word[start:end]])
            start = end
        return pieces


def words(text: str) -> list[str]:
    """Cut text at white space and around punctuation and ideographs, in lower case, without accents."""
    if text.isascii() and text.isprintable():
        return _PLAIN.findall(text.lower())  # what comes of the lines below, ten times as fast
    text = "".join(map(_spaced, text)).lower()
    if not text.isascii():
        text = "".join(letter for letter in unicodedata.normalize("NFD", text) if unicodedata.category(letter) != "Mn")
    return "".join(f" {letter} " if _apart(letter) else letter for letter in text).split()


def _spaced(letter: str) -> str:
    """Replace white space by a space, and leave out what is not printed."""
    if letter in "\t\n\r" or unicodedata.category(letter) == "Zs":
        return " "
    return "" if letter in "\0\ufffd" or unicodedata.category(letter).startswith("C") else letter


def _apart(letter: str) -> bool:
    """Whether a letter is a word of its own."""
    if letter.isascii():
        return not letter.isalnum() and letter > " " and letter != "\x7f"
    code = ord(letter)
    return unicodedata.category(letter).startswith("P") or any(low <= code <= high for low, high in _CJK)
