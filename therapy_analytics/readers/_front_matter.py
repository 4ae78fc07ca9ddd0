"""What stands between two lines of dashes at the top of a text: facts about the session, no words of it.

By hand, not with a YAML library: one would turn the id ``007`` into a number and ``no`` into
False, and a name is to stay as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from therapy_analytics.readers._metadata import ALIASES

_MOST_LINES = 200
_LONGEST_VALUE = 500
_PAIR = re.compile(r"(?P<key>[^\W\d_][\w .-]{0,59}?)[ \t]*:(?:[ \t]+(?P<value>\S.*)|[ \t]*)$")
_QUOTED = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^']|'')*)'")
_COMMENT = re.compile(r"(?:^|[ \t])#.*$")
_NOTHING = {"", "~", "null", "|", ">", "|-", ">-", "{}", "[]"}
_NAMES = {**ALIASES, "session": "session_id", "id": "session_id"}


class FrontMatter(NamedTuple):
    """What was found: facts by name, how many lines they took, and how many of these are no plain fact."""

    metadata: Mapping[str, str]
    n_lines: int
    n_left_out: int


NONE = FrontMatter({}, 0, 0)


def front_matter(lines: Sequence[str]) -> FrontMatter:
    """Read the front matter of a text, if it has one.

    Parameters
    ----------
    lines : sequence of str
        Of the text, from the first.

    Returns
    -------
    FrontMatter
        Empty where the first line is not ``---``, where no such line follows, or where what
        stands between is not made of names and values, each name once.

    Examples
    --------
    >>> front_matter(["---", "Therapist: Lee  # on call", "date: '2025-03-04'", "---", "T: Hello."])
    FrontMatter(metadata={'counselor': 'Lee', 'date': '2025-03-04'}, n_lines=4, n_left_out=0)
    >>> front_matter(["---", "T: Hello.", "C: Hi.", "T: So.", "---"]).n_lines
    0
    """
    end = _end(lines)
    metadata: dict[str, str] = {}
    listed, n_left_out, key = dict[str, list[str]](), 0, ""
    for line in lines[1 : max(end, 1)]:
        pair = _PAIR.fullmatch(line.rstrip())
        if pair and _name(pair["key"]) in metadata:
            return NONE
        if pair:
            key = _name(pair["key"])
            metadata[key] = _value(pair["value"] or "")
        elif key and line.lstrip().startswith("- "):
            listed.setdefault(key, []).append(_value(line.lstrip()[2:]))
        elif line.strip() and not line.startswith(("#", " ", "\t")):
            return NONE
        else:
            n_left_out += bool(line.strip()) and not line.startswith("#")
    metadata |= {name: "; ".join(values) for name, values in listed.items()}
    known = {name: value for name, value in metadata.items() if value and len(value) <= _LONGEST_VALUE}
    return FrontMatter(known, end + 1, n_left_out) if metadata else NONE


def _end(lines: Sequence[str]) -> int:
    """Return where the closing line stands, 0 where there is none."""
    if not lines or lines[0].lstrip("\ufeff").rstrip() != "---":
        return 0
    inside = enumerate(lines[1:_MOST_LINES], start=1)
    return next((at for at, line in inside if line.rstrip() in {"---", "..."}), 0)


def _name(key: str) -> str:
    name = re.sub(r"\W+", "_", key.casefold()).strip("_")
    return _NAMES.get(name, name)


def _value(written: str) -> str:
    """Return a value without its quotes or the comment after it; a list in brackets becomes ``a; b``."""
    written = written.strip()
    quoted = _QUOTED.match(written)
    if quoted and not _COMMENT.sub("", written[quoted.end() :]).strip():
        double, single = quoted.groups()
        return re.sub(r"\\(.)", r"\1", double) if double is not None else single.replace("''", "'")
    plain = _COMMENT.sub("", written).strip()
    if plain in _NOTHING:
        return ""
    if plain.startswith("[") and plain.endswith("]"):
        return "; ".join(filter(None, (_value(part) for part in plain[1:-1].split(","))))
    return plain
