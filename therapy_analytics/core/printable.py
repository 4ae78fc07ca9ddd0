"""Names, numbers and taggers as people read them; names without characters that would control a terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_BYTES = 0xDC00
"""Python keeps a byte of a name that is not UTF-8 as a lone surrogate: the byte plus this number."""
_STEERING = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters except the tab, line separators, overrides of the writing direction, and lone surrogates."""


def printable(text: str) -> str:
    r"""Return a text from outside the program (a file name, a label, an id) that is safe to print and to encode.

    Control characters, and bytes of a name that are not UTF-8, become their numbers between ``<`` and ``>``; the result
    is one line.

    Examples
    --------
    >>> printable("dana\x1b[2J.txt"), printable("s\udce9ance.txt"), printable("a\u202eb"), printable("Zo\xeb")
    ('dana<1B>[2J.txt', 's<E9>ance.txt', 'a<U+202E>b', 'Zoë')
    """
    return _STEERING.sub(_number, text)


def _number(found: re.Match[str]) -> str:
    code = ord(found[0])
    if _BYTES + 0x80 <= code <= _BYTES + 0xFF:
        code -= _BYTES
    return f"<{code:02X}>" if code <= 0xFF else f"<U+{code:04X}>"


def counted(n: int, what: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(3, "row")
    ('1 row', '3 rows')
    """
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def tagger_words(recipe: Mapping[str, Any]) -> str:
    """Return who coded the turns, in words, from a recipe (``run.json``).

    Examples
    --------
    >>> tagger_words({"tagger": {"kind": "fast", "version": "0.3.0", "aim": "balanced"}})
    'fast tagger 0.3.0 (aim: balanced)'
    """
    tagger = recipe.get("tagger")
    if not isinstance(tagger, Mapping) or not tagger.get("kind"):
        return "coder, of which nothing is known"
    kind, version, aim = (str(tagger.get(key) or "") for key in ("kind", "version", "aim"))
    if kind == "llm":
        return f"language model {tagger.get('model') or tagger.get('name') or ''}".strip()
    own = ", with a model of your own" if tagger.get("own") else ""
    return f"{kind} tagger {version}".strip() + (f" (aim: {aim})" if aim else "") + own
