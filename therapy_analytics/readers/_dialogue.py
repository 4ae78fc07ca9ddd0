"""A dialogue as novels and some transcripts print it: a long dash before each turn, and no names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from therapy_analytics.readers._base import Row
from therapy_analytics.readers._label_forms import EDGE, Line

_DASH = re.compile(rf"{EDGE}[\u2013\u2014\u2015][ \t\xa0]*(?=\S)")
_FEWEST = 4
_LONGEST_TITLE = 3
_MOSTLY = 0.5
NOTE = "Dashes without names were read as two people taking turns. Check the first turns."


def dialogue_rows(lines: Sequence[Line]) -> list[Row]:
    r"""Return the turns of a text whose lines mostly begin with a long dash, or nothing; each dash is a change.

    Examples
    --------
    >>> text = ["\u2014 Hello.", "\u2014 Hi.", "\u2014 How so?", "\u2014 Well.", "It is late."]
    >>> [(row.speaker, row.text) for row in dialogue_rows([Line(1, line, line) for line in text])][2:]
    [('Speaker 1', 'How so?'), ('Speaker 2', 'Well.\nIt is late.')]
    """
    filled = [line for line in lines if line.raw.strip()]
    dashes = [(at, match) for at, line in enumerate(filled) if (match := _DASH.match(line.text))]
    if len(dashes) < max(_FEWEST, _MOSTLY * len(filled)) or dashes[0][0] > _LONGEST_TITLE:
        return []
    rows: list[Row] = []
    for n, (at, match) in enumerate(dashes):
        end = dashes[n + 1][0] if n + 1 < len(dashes) else len(filled)
        words = [filled[at].text[match.end() :], *(line.raw for line in filled[at + 1 : end])]
        rows.append(Row(f"Speaker {n % 2 + 1}", "\n".join(words), filled[at].place))
    return rows
