"""Ids of sessions: safe as names of folders on every system, and no two alike."""

from __future__ import annotations

import hashlib
import re
import unicodedata

MAX_ID = 80
_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)


def safe_id(name: str) -> str:
    """Return a name that is safe as a folder on every system.

    Examples
    --------
    >>> safe_id("../Dr. Lee: session #3"), safe_id("CON"), safe_id("")
    ('Dr.-Lee-session-3', 'CON-', 'session')
    """
    plain = unicodedata.normalize("NFKC", name)
    cleaned = re.sub(r"[^\w.-]+", "-", plain).strip("-._ ") or "session"
    if _DEVICE.fullmatch(cleaned):
        cleaned = f"{cleaned}-"
    if len(cleaned.encode()) <= MAX_ID:
        return cleaned
    digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
    return cleaned.encode()[: MAX_ID - 9].decode("utf-8", "ignore") + f"-{digest}"


def unique_id(wanted: str, stem: str, taken: dict[str, int]) -> str:
    """Return an id that no other session of the run has, upper and lower case aside, and take it.

    `taken` holds with each id the last number that was given to it, so that no number is tried twice.
    """
    for name in (wanted, safe_id(f"{stem}-{wanted}") if wanted != stem else wanted):
        if name.casefold() not in taken:
            taken[name.casefold()] = 1
            return name
    number = taken[wanted.casefold()] + 1
    while f"{wanted}-{number}".casefold() in taken:
        number += 1
    taken[wanted.casefold()] = number
    taken[f"{wanted}-{number}".casefold()] = 1
    return f"{wanted}-{number}"
