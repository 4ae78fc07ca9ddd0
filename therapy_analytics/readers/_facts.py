"""Facts about a session, told from what was said in it: words of a session stand in no table that nobody asked for."""

from __future__ import annotations

import re

from therapy_analytics.readers._columns import names_words, slug

LONGEST_FACT = 40
_MOST_WORDS = 5
_WORD = re.compile(r"[^\W\d_]+")
_PRONOUNS = """
i me my mine myself we us our you your yours he she they him her his them their it
"""
_IN_SENTENCES = frozenset(_PRONOUNS.split())


def names_fact(name: str) -> bool:
    """Tell whether a column or a field may hold facts, as its name says.

    Examples
    --------
    >>> names_fact("problem type"), names_fact("transcript_id"), names_fact("lastMessage")
    (True, True, False)
    """
    return bool(slug(name)) and not names_words(name)


def is_fact(name: str, text: str) -> bool:
    """Tell whether something under a name is a fact about the session."""
    return names_fact(name) and may_be_fact(text)


def may_be_fact(text: str) -> bool:
    """Tell a label, a name, a date or a number from something that somebody says.

    What has more than 40 letters or five words is no fact, nor is a sentence.

    Examples
    --------
    >>> [may_be_fact(text) for text in ("breakup with partner", "US, phase I", "I lost my job", "Why?")]
    [True, True, False, False]
    """
    return len(text) <= LONGEST_FACT and len(_WORD.findall(text)) <= _MOST_WORDS and not is_sentence(text)


def is_sentence(text: str) -> bool:
    """Tell what asks, exclaims, or speaks of me and you."""
    words = _WORD.findall(text)
    if words[-1:] == ["I"] and len(words) > 1:
        words.pop()  # a numeral
    said = {word.casefold() for word in words if word == "I" or not word.isupper()}
    return text.rstrip().endswith(("?", "!")) or not _IN_SENTENCES.isdisjoint(said)
