"""WordPiece, the tokenisation of uncased BERT models.

Text is lower-cased, accents are removed, punctuation and ideographs are words of their own; each word is then cut, from
its beginning, into the longest subwords of the vocabulary (Wu et al. 2016, arXiv:1609.08144; Devlin et al. 2019,
arXiv:1810.04805).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

VOCABULARY = Path(__file__).parent / "vectors" / "vocabulary.txt"
"""The vocabulary of uncased BERT: subwords, one a line, in the order of their ids."""
LONGEST = 100
"""Words of more characters are unknown."""
MOST_CACHED = 50_000
"""So many words are cached with their subwords, some 10 MB; then the cache begins anew."""
_PLAIN = re.compile("[a-z0-9]+|[^a-z0-9 ]")
_CJK = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2CEAF), (0x2F800, 0x2FA1F))


class WordPiece:
    """Cuts text into subwords.

    Parameters
    ----------
    vocabulary : sequence of str
        Subwords in the order of their ids; those that continue a word begin with ``##``.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids = {subword: number for number, subword in enumerate(vocabulary)}
        self._unknown = self._ids["[UNK]"]
        self._of_word: dict[str, list[int]] = {}

    def ids(self, text: str) -> list[int]:
        """Return the ids of a text's subwords, without marks of its beginning and end."""
        found: list[int] = []
        for word in words(text):
            known = self._of_word.get(word)
            if known is None:
                known = self._cut(word)
                if len(self._of_word) >= MOST_CACHED:
                    self._of_word.clear()
                self._of_word[word] = known
            found += known
        return found

    def _cut(self, word: str) -> list[int]:
        if len(word) > LONGEST:
            return [self._unknown]
        found, start = [], 0
        while start < len(word):
            mark = "##" if start else ""
            end = next((end for end in range(len(word), start, -1) if mark + word[start:end] in self._ids), None)
            if end is None:
                return [self._unknown]
            found.append(self._ids[mark + word[start:end]])
            start = end
        return found


def words(text: str) -> list[str]:
    """Cut text at white space and around punctuation and ideographs, in lower case, without accents."""
    if text.isascii() and text.isprintable():
        return _PLAIN.findall(text.lower())  # the same result as below, ten times as fast
    text = "".join(map(_spaced, text)).lower()
    if not text.isascii():
        text = "".join(letter for letter in unicodedata.normalize("NFD", text) if unicodedata.category(letter) != "Mn")
    return "".join(f" {letter} " if _apart(letter) else letter for letter in text).split()


def _spaced(letter: str) -> str:
    """Replace white space by a space, and control characters by nothing."""
    if letter in "\t\n\r" or unicodedata.category(letter) == "Zs":
        return " "
    return "" if letter in "\0\ufffd" or unicodedata.category(letter).startswith("C") else letter


def _apart(letter: str) -> bool:
    """Whether a letter is a word of its own."""
    if letter.isascii():
        return not letter.isalnum() and letter > " " and letter != "\x7f"
    code = ord(letter)
    return unicodedata.category(letter).startswith("P") or any(low <= code <= high for low, high in _CJK)
