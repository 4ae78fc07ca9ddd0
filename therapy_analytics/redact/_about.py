"""What is known of a session as a whole: ids in place of names, years in place of dates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from therapy_analytics.redact._found import protected
from therapy_analytics.redact._vocabulary import word_set

_PEOPLE = re.compile(
    r"counsell?or|client|patient|therapist|clinician|provider|supervisor|interviewer|rater|coder|annotator|name|"
    r"person|family|participant",
    re.IGNORECASE,
)
_PLACES_OF_DATA = re.compile(
    r"(?:^|_)(?:ids?|file|files|path|recording|video|audio|url|link|title|group|source_group|transcript|doi)(?:_|$)",
    re.IGNORECASE,
)
_CONTACT = re.compile(
    r"phone|mobile|fax|mail|address|street|city|town|county|zip|post_?code|ssn|social_security|mrn|"
    r"record_number|insurance|policy|account|"
    r"licen[sc]e|passport|ip\b|device|serial|school|employer|clinic|hospital|site|location|place",
    re.IGNORECASE,
)
_WHEN = re.compile(r"date|\bday\b|dob|birth|recorded|when|time_?stamp|created|modified", re.IGNORECASE)
_AGE = re.compile(r"(?:^|_)age(?:_|$)", re.IGNORECASE)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_NUMBER = re.compile(r"[-+]?\d{1,6}(?:[.,]\d+)?%?")
_SAFE = word_set(
    """
    session_number source model quality mi_quality quality_label_disputed language modality role condition arm
    """
)
_OLDEST, _OLD = 89, 1940
REMOVED = "[REMOVED]"


@dataclass(slots=True)
class Ids:
    """Numbers in place of names through a whole run: the same counselor is ``counselor_001`` in every session.

    Attributes
    ----------
    given : dict of (str, str) to str
        Kind and old name, and the new one: what the key holds.
    """

    given: dict[tuple[str, str], str] = field(default_factory=dict)
    _last: dict[str, int] = field(default_factory=dict)

    def of(self, kind: str, old: str) -> str:
        """Return the number of a thing; a new one gets the next."""
        if (kind, old) not in self.given:
            self._last[kind] = self._last.get(kind, 0) + 1
            width = 5 if kind == "session" else 3
            self.given[kind, old] = f"{kind}_{self._last[kind]:0{width}}"
        return self.given[kind, old]

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """Yield kind, old and new."""
        return ((kind, old, new) for (kind, old), new in self.given.items())


def redact_about(about: Mapping[str, str], ids: Ids, clean: Callable[[str], str]) -> dict[str, str]:
    """Return what may be known of a session: people and files as ids, years of dates, no contacts.

    Parameters
    ----------
    about : mapping of str to str
        Names of columns and their values.
    ids : Ids
        Of the run.
    clean : callable
        Takes names and the like out of a text.

    Examples
    --------
    >>> redact_about({"counselor": "Ruth Lindqvist", "date": "2025-03-04", "phone": "914-555-0123"}, Ids(), str)
    {'counselor': 'counselor_001', 'date': '2025', 'phone': '[REMOVED]'}
    """
    return {name: _value(name, value.strip(), ids, clean) for name, value in about.items()}


def _value(name: str, value: str, ids: Ids, clean: Callable[[str], str]) -> str:
    if not value or name in _SAFE or value == REMOVED:
        return value
    if _WHEN.search(name):
        return _years(name, value)
    if _AGE.search(name) and value.isdigit():
        return "[AGE_OVER_89]" if int(value) > _OLDEST else value
    return _removed(name, value, ids, clean)


def _removed(name: str, value: str, ids: Ids, clean: Callable[[str], str]) -> str:
    if _CONTACT.search(name):
        return REMOVED
    if _PEOPLE.search(name) or _PLACES_OF_DATA.search(name):
        return ids.of(re.sub(r"\W+", "_", name.lower()), value)
    return value if _NUMBER.fullmatch(value) or protected(value) == [(0, len(value))] else clean(value)


def _years(name: str, value: str) -> str:
    """Keep the year, but not one of birth that tells an age over 89."""
    year = _YEAR.search(value)
    is_birth = re.search("birth|dob", name, re.IGNORECASE)
    return "" if year is None or (is_birth and int(year[0]) < _OLD) else year[0]
