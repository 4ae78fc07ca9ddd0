"""Lexicons: named word lists, read from files, compiled for look-up, and counted in turns."""

from __future__ import annotations

import functools
import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.core.errors import BadDataFileError, DuplicateNameError
from therapy_analytics.text.data_files import LARGEST_TEXT, read_bytes, toml_table
from therapy_analytics.text.tokens import Tokens

Counts = NDArray[np.int32]
_NO_LIST = "it is not written as a word list is"
MAX_PHRASE = 4
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Category:
    """One word class of a lexicon.

    Attributes
    ----------
    name : str
        ``lexicon.category``, as in ``function_words.articles``.
    definition : str
        What belongs to it.
    words : tuple of str
        Lower-case entries: a word, a phrase of up to four words, and ``*`` at the end for
        any continuation.
    """

    name: str
    definition: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """A named set of word classes, as `load_lexicon` reads it.

    Attributes
    ----------
    name, definition, source, licence : str
        What it is called, what it is meant to measure, who published it, and on what terms.
    categories : tuple of Category
        The word classes; each becomes measures of its own, as words per 100 words.
    sha256 : str
        Hash of its file, which `run.json` records.
    builtin : bool
        Whether it comes with the package.
    """

    name: str
    definition: str
    source: str
    licence: str
    categories: tuple[Category, ...]
    sha256: str
    builtin: bool = False

    def __hash__(self) -> int:
        # Lexicons are keys of caches; hashing thousands of words each time would be slow
        return hash((self.name, self.sha256))


def load_lexicon(path: str | Path) -> Lexicon:
    """Read a lexicon file: TOML as in ``lexicons/``, or a LIWC dictionary (``.dic``).

    Parameters
    ----------
    path : str or Path
        The file; ``docs/lexicons.md`` shows its form.

    Returns
    -------
    Lexicon
        To be given to `analyze` as one of its `lexicons`.

    Raises
    ------
    BadDataFileError
        The file cannot be opened, or does not have the form of a lexicon.
    """
    path = Path(path)
    data = read_bytes(path, LARGEST_TEXT, what="the lexicon", remedy="Split it into several lexicons")
    parse = _parse_dic if path.suffix.lower() == ".dic" else _parse_toml
    return parse(data, path, hashlib.sha256(data).hexdigest())


@functools.cache
def builtin_lexicons() -> tuple[Lexicon, ...]:
    """Return the lexicons that come with the package, by name."""
    return tuple(replace(load_lexicon(path), builtin=True) for path in sorted(lexicon_folder().glob("*.toml")))


def lexicon_folder() -> Path:
    """Return where the shipped lexicons are: in the installed package, or the checkout's root."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "lexicons"
    return installed if installed.is_dir() else package.parent / "lexicons"


def _parse_toml(raw: bytes, path: Path, sha256: str) -> Lexicon:
    data = toml_table(raw, path, what="the lexicon", remedy="docs/lexicons.md has an example", problem=_NO_LIST)
    name = _name(data.get("name"), path)
    categories = data.get("categories")
    if not isinstance(categories, dict) or not categories:
        raise BadDataFileError(
            str(path),
            "the lexicon has no categories",
            "Give at least one [categories.NAME] with words = [...]",
        )
    return Lexicon(
        name=name,
        definition=str(data.get("definition", "")),
        source=str(data.get("source", "")),
        licence=str(data.get("licence", "")),
        categories=tuple(_toml_category(name, key, table, path) for key, table in categories.items()),
        sha256=sha256,
    )


def _toml_category(lexicon: str, key: str, table: Any, path: Path) -> Category:
    words = table.get("words") if isinstance(table, dict) else None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise BadDataFileError(str(path), f"category {key!r} has no words", "Give words = [...]")
    name = f"{lexicon}.{_name(key, path)}"
    return Category(name, str(table.get("definition", "")), _entries(words, path))


def _parse_dic(data: bytes, path: Path, sha256: str) -> Lexicon:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadDataFileError(str(path), "the lexicon is not UTF-8 text", "Save it as UTF-8") from None
    parts = re.split(r"^%.*$", text, maxsplit=2, flags=re.MULTILINE)
    if len(parts) != 3:
        raise BadDataFileError(
            str(path),
            "not a LIWC dictionary",
            "It must list its categories between two lines that hold only %",
        )
    labels: dict[str, str] = {}
    for line in filter(str.strip, parts[1].splitlines()):
        number, _, label = line.strip().partition("\t" if "\t" in line.strip() else " ")
        labels[number] = _slug(label.split("(")[0])
    words: dict[str, list[str]] = {number: [] for number in labels}
    for line in filter(str.strip, parts[2].splitlines()):
        entry, *numbers = line.strip().split("\t") if "\t" in line.strip() else line.split()
        for number in " ".join(numbers).split():
            if number not in labels:
                named = number[:20] if number.isalnum() else "of another name than a number"
                raise BadDataFileError(str(path), f"an entry uses the unknown category {named}", "List it above")
            words[number].append(entry)
    name = _slug(path.stem)
    return Lexicon(
        name=name,
        definition=f"User's dictionary {path.name}",
        source=path.name,
        licence="the user's own",
        categories=tuple(
            Category(f"{name}.{label}", label, _entries(words[number], path)) for number, label in labels.items()
        ),
        sha256=sha256,
    )


def _entries(words: Iterable[str], path: Path) -> tuple[str, ...]:
    cleaned = tuple(dict.fromkeys(" ".join(word.lower().split()) for word in words))
    for position, word in enumerate(cleaned, start=1):
        if not word.strip("*") or "*" in word[:-1] or len(word.split()) > MAX_PHRASE:
            raise BadDataFileError(
                str(path),
                f"entry {position} of a category is empty, too long or has * inside",
                f"An entry is up to {MAX_PHRASE} words, with * only at its end",
            )
    return cleaned


def _slug(label: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", label.lower()).strip("_") or "unnamed"


def _name(value: Any, path: Path) -> str:
    if not isinstance(value, str) or not _NAME.fullmatch(value):
        raise BadDataFileError(
            str(path), "a name is missing, or has other signs than a to z, 0 to 9 and _", "Write it like bad_sleep"
        )
    return value


class Matcher:
    """Lexicons compiled for look-up: which categories a token type belongs to, and the phrases.

    Parameters
    ----------
    lexicons : sequence of Lexicon
        Their names must differ.

    Attributes
    ----------
    categories : tuple of Category
        All categories, in order; positions are the columns of the tables.
    phrases : list of (tuple of str, int)
        The words of each phrase and the column that it counts for, shortest first.
    user_categories : tuple of str
        Names of the categories that are not the package's own.
    """

    def __init__(self, lexicons: Sequence[Lexicon]) -> None:
        seen: dict[str, Lexicon] = {}
        for lexicon in lexicons:
            if lexicon.name in seen:
                raise DuplicateNameError("lexicon", lexicon.name, seen[lexicon.name].source, lexicon.source)
            seen[lexicon.name] = lexicon
        self.categories = tuple(category for lexicon in lexicons for category in lexicon.categories)
        self.user_categories = tuple(
            one.name for lexicon in lexicons if not lexicon.builtin for one in lexicon.categories
        )
        self.phrases: list[tuple[tuple[str, ...], int]] = []
        self._exact: dict[str, list[int]] = {}
        self._prefix: dict[str, list[int]] = {}
        for column, category in enumerate(self.categories):
            for word in category.words:
                if " " in word:
                    self.phrases.append((tuple(word.split()), column))
                else:
                    table = self._prefix if word.endswith("*") else self._exact
                    table.setdefault(word.rstrip("*"), []).append(column)
        self.phrases.sort(key=lambda phrase: len(phrase[0]))
        self._memo: dict[str, tuple[int, ...]] = {}

    def columns_of(self, word: str) -> tuple[int, ...]:
        """Return the columns of the categories that hold a (normalised) word."""
        known = self._memo.get(word)
        if known is None:
            found = set(self._exact.get(word, ()))
            found.update(column for end in range(len(word) + 1) for column in self._prefix.get(word[:end], ()))
            known = self._memo[word] = tuple(sorted(found))
        return known


def count_categories(tokens: Tokens, matcher: Matcher, turn_of: NDArray[np.int64]) -> tuple[Counts, Counts]:
    """Count the words and phrases of each category; a phrase counts once, and its words do not count again.

    Where phrases of one category overlap, the longer one counts.

    Parameters
    ----------
    tokens : Tokens
        The tokens of all turns.
    matcher : Matcher
        The compiled lexicons.
    turn_of : int64 array (n_tokens,)
        The turn of each token.

    Returns
    -------
    counts, covered : int32 array (n_turns, n_categories)
        How often each category occurs, and how many words it accounts for.
    """
    types = np.zeros((len(tokens.norm), len(matcher.categories)), dtype=np.bool_)
    for row, word in enumerate(tokens.norm):
        types[row, list(matcher.columns_of(word))] = True
    begins = types[tokens.ids]  # (n_tokens, n_categories)
    covers = begins.copy()
    for first, last, column in _phrases(tokens, matcher, turn_of):
        covers[first:last, column] = True
        begins[first:last, column] = False
        begins[first, column] = True
    covers &= tokens.word_start[:, None]
    return _per_turn(begins, turn_of, tokens), _per_turn(covers, turn_of, tokens)


def _per_turn(marks: NDArray[np.bool_], turn_of: NDArray[np.int64], tokens: Tokens) -> Counts:
    """Count the marked tokens of each turn, (n_tokens, n_categories) to (n_turns, n_categories)."""
    shape = (len(tokens.offsets) - 1, marks.shape[1])
    token, column = np.nonzero(marks)
    counts = np.bincount(turn_of[token] * shape[1] + column, minlength=shape[0] * shape[1])
    return counts.reshape(shape).astype(np.int32)


def _phrases(tokens: Tokens, matcher: Matcher, turn_of: NDArray[np.int64]) -> list[tuple[int, int, int]]:
    """Return first token, last token (exclusive) and column of each phrase that occurs, the shortest phrases first."""
    index: dict[str, list[int]] = {}
    for number, norm in enumerate(tokens.norm):
        index.setdefault(norm, []).append(number)
    beginning: dict[tuple[int, int], list[tuple[int, list[frozenset[int]], int]]] = {}
    for number, (phrase, column) in enumerate(matcher.phrases):
        words = []  # the token types that fit each word; * at its end stands for any continuation
        for word in phrase:
            norms = [norm for norm in index if norm.startswith(word[:-1])] if word.endswith("*") else [word]
            words.append(frozenset(number for norm in norms for number in index.get(norm, ())))
        for one, other in product(words[0], words[1]) if all(words) else ():
            beginning.setdefault((one, other), []).append((number, words, column))
    ids, turns = tokens.ids.tolist(), turn_of.tolist()
    found = []
    for first, pair in enumerate(pairwise(ids)):
        for number, words, column in beginning.get(pair, ()):
            last = first + len(words)
            inside = last <= len(ids) and turns[last - 1] == turns[first]
            if inside and all(id_ in word for id_, word in zip(ids[first:last], words, strict=True)):
                found.append((number, first, last, column))
    return [(first, last, column) for _, first, last, column in sorted(found)]
