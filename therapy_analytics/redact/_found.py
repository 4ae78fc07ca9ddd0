"""Findings in a text, and which of two overlapping ones counts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Sure = Literal["certain", "likely", "unsure"]
SURE: tuple[Sure, ...] = ("certain", "likely", "unsure")

KINDS: dict[str, str] = {
    "NAME": "names of people",
    "PLACE": "places smaller than a state, with streets, institutions and postal codes",
    "DATE": "dates and months; the year stays",
    "AGE_OVER_89": "ages over 89",
    "PHONE": "telephone numbers",
    "FAX": "fax numbers",
    "EMAIL": "e-mail addresses",
    "URL": "web addresses",
    "IP": "internet (IP) addresses",
    "SSN": "social security numbers",
    "RECORD": "medical record numbers",
    "PLAN": "health plan numbers",
    "ACCOUNT": "account and card numbers",
    "LICENCE": "certificate and licence numbers",
    "VEHICLE": "number plates and vehicle numbers",
    "DEVICE": "device and serial numbers",
    "FILE": "names of pictures and recordings (faces, voices)",
    "ID": "other identifying numbers and codes, and names in social media",
}
"""The kinds that are removed, and their names: those identifiers of Safe Harbor that text can contain."""

PLACEHOLDER = re.compile(rf"\[?\b(?:(?P<kind>{'|'.join(KINDS)})_(?P<number>\d+)|AGE_OVER_89)\b\]?")
_GIVEN = re.compile(rf"{PLACEHOLDER.pattern}|\[[A-Z][A-Z0-9_ ]*\]|\b(?:session|counselor|client)_\d+\b")


@dataclass(frozen=True, slots=True)
class Found:
    """A part of a text that may identify somebody.

    Attributes
    ----------
    start, end : int
        Characters of the text.
    kind : str
        One of `KINDS`.
    sure : {"certain", "likely", "unsure"}
        How sure the rule is, in its author's judgement.
    rule : str
        The rule that found it.
    keep : str
        What of it is kept after the placeholder: the year of a date.
    """

    start: int
    end: int
    kind: str
    sure: Sure
    rule: str
    keep: str = ""


def protected(text: str) -> list[tuple[int, int]]:
    """Return where there are placeholders already, of this package or another: ``[NAME_1]``, ``[REDACTED]``."""
    return [match.span() for match in _GIVEN.finditer(text)]


def settle(found: Iterable[Found], taken: Iterable[tuple[int, int]] = ()) -> list[Found]:
    """Return findings without overlaps, in the order of the text; of two, the first in `found` counts.

    Examples
    --------
    >>> long, short = Found(0, 9, "PLACE", "likely", "x"), Found(5, 9, "NAME", "certain", "y")
    >>> [one.kind for one in settle([long, short])]
    ['PLACE']
    """
    kept: list[Found] = []
    spans = list(taken)
    for one in found:
        if all(one.end <= start or end <= one.start for start, end in spans):
            kept.append(one)
            spans.append((one.start, one.end))
    return sorted(kept, key=lambda one: one.start)
