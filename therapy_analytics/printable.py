"""Names as they may be shown: what would steer a terminal, or cannot be written, stands as its number."""

from __future__ import annotations

import re

_BYTES = 0xDC00
"""Python keeps a byte of a name that is not UTF-8 as a lone surrogate, this much above the byte's value."""
_STEERING = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but the tab, line separators, overrides of the direction of writing, and halves of characters."""


def printable(text: str) -> str:
    r"""Return a text on one line that no terminal takes for a command and every file can hold.

    Parameters
    ----------
    text : str
        The name of a file, a label, an id or any other text that comes from outside the program.

    Returns
    -------
    str
        Each control character, and each byte of a name that is not UTF-8, stands as its number between ``<`` and
        ``>``; everything else stands as it is.

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
