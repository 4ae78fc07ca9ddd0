"""Names of columns for Stata and SPSS: letters, digits and _, not too long, unique."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

_SHORTEST, _LONGEST = 3, 12
_MARK = 4
"""Hexadecimal digits that are added to names that would be the same."""
_OF_STATA = ("byte", "double", "float", "if", "in", "int", "long", "strl", "using", "with")
_OF_SPSS = ("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with")
_VALID = re.compile(r"[A-Za-z]\w*", re.ASCII)
_TAKEN = frozenset((*_OF_STATA, *_OF_SPSS))
"""Reserved words of the programs."""


def short_names(names: Iterable[str], *, longest: int) -> dict[str, str]:
    """Return a name for each column of letters, digits and _.

    Parameters
    ----------
    names : iterable of str
        The columns of a table.
    longest : int
        The most characters of a name.

    Returns
    -------
    dict of str to str
        Names that are valid stay. The words of long names are cut, so that their ends (``_rate_lo``) can still be read.
        Names that would then be the same, apart from case, end in four hexadecimal digits.

    Examples
    --------
    >>> short_names(["lsm_turn", "therapist_reflections_on_strengths_rate_lo"], longest=32)["lsm_turn"]
    'lsm_turn'
    >>> list(short_names(["therapist_reflections_on_strengths_rate_lo"], longest=32).values())
    ['therap_reflec_on_streng_rate_lo']
    """
    names = list(names)
    found = {name: _fitting(_plain(name), longest) for name in names}
    result: dict[str, str] = {}
    taken: set[str] = set()
    # Valid names stay, whatever comes before them.
    for name in sorted(names, key=lambda name: found[name] != name):
        short = found[name]
        attempt = 0
        while short.casefold() in taken:
            short = _marked(found[name], f"{name}{attempt or ''}", longest)
            attempt += 1
        taken.add(short.casefold())
        result[name] = short
    return {name: result[name] for name in names}


def _plain(name: str) -> str:
    if _VALID.fullmatch(name) and not _is_reserved(name):
        return name
    letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = re.sub(r"\W+", "_", letters, flags=re.ASCII).strip("_")
    return plain if plain[:1].isalpha() and not _is_reserved(plain) else f"v_{plain}".rstrip("_")


def _is_reserved(name: str) -> bool:
    return name.casefold() in _TAKEN or re.fullmatch(r"(?i)str\d+", name) is not None


def _fitting(name: str, longest: int) -> str:
    """Cut the words of a name as little as necessary."""
    if len(name) <= longest:
        return name
    for most in range(_LONGEST, _SHORTEST - 1, -1):
        short = "_".join(word[:most] for word in name.split("_"))
        if len(short) <= longest:
            return short
    return _marked(name, name, longest)


def _marked(short: str, name: str, longest: int) -> str:
    mark = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:_MARK]
    return f"{short[: longest - _MARK - 1].rstrip('_')}_{mark}"
