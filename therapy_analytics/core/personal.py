"""Values that look like the name of a person, an address or the number of a record."""

from __future__ import annotations

import re

from therapy_analytics.core._field_words import NO_NAMES
from therapy_analytics.core.identity import is_full_name

_MAIL = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@.]{2,}")
_NUMBER = re.compile(r"(?:(?:mrn|nhs|ssn|tel|phone|id|nr|no)\b[\s.:#-]*)?\+?[\d(][\d\s()./-]*", re.IGNORECASE)
_FEWEST_DIGITS = 6
"""Fewer are an id of a study; so many are a record, a phone or a date of birth."""
_HAN = re.compile(r"[\u4e00-\u9fff]{2,4}|[\uac00-\ud7a3]{3}")


def looks_personal(value: str) -> bool:
    """Tell whether a client or counselor is called by a full name, an e-mail address or a long number.

    Examples
    --------
    >>> [looks_personal(one) for one in ("Anna Smith", "smith, anna", "Dr. Lee", "a.smith@example.org", "MRN 004829")]
    [True, True, True, True, True]
    >>> [looks_personal(one) for one in ("p01", "dana", "A.B.", "counselor 3", "17", "harbor-xl", "usual care")]
    [False, False, False, False, False, False, False]
    """
    text = value.strip()
    if _MAIL.fullmatch(text) or _HAN.fullmatch(text):
        return True
    if _NUMBER.fullmatch(text):
        return sum(one.isdigit() for one in text) >= _FEWEST_DIGITS
    name = re.sub(r"[\s,_-]+", " ", text)
    return is_full_name(name.title() if name.islower() else name)


def looks_named(name: str) -> bool:
    """Tell whether the id of a session, or its file, has a full name in it: two or three words with capitals.

    Examples
    --------
    >>> [looks_named(one) for one in ("Anna-Smith-session-2", "2024-03-01_Smith_Anna", "aria_ben", "High-Quality-7")]
    [True, True, False, False]
    """
    words = [one for one in re.split(r"[\W\d_]+", name) if one and one.casefold() not in NO_NAMES]
    return is_full_name(" ".join(words))
