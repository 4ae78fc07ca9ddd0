"""Codes of turns as programs for coding hold them: who gave which codes, and what else that person looked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from therapy_analytics.session import Session, Turn

MACHINE = "therapy-analytics"
"""The names of coders that begin so are the machine's, and never count as people."""
PEOPLE = "people"
"""The coder of columns of 0 and 1 that a transcript brought without saying whose they are."""
NONE = "none"
"""What a tier says of a turn that was coded and has none of the codes."""
_COLUMN = "gold_"
_CODER = "coder_"
_LONGEST = 12
_FLAGS = frozenset({"0", "1", ""})
_BETWEEN = re.compile(r"[;|,]")


@dataclass(frozen=True, slots=True)
class CodesOfTurn:
    """What one coder said of one turn.

    Attributes
    ----------
    coder : str
        The name.
    codes : tuple of str
        The codes given, in order.
    known : tuple of str or None
        All codes that the coder decided about, so that those which were not given are absent; None where the file does
        not say.
    note : str
        The coder's own words. Left out of ``repr``, because a note may quote the session.
    """

    coder: str
    codes: tuple[str, ...] = ()
    known: tuple[str, ...] | None = None
    note: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class CodedSession:
    """A session with the codes of its turns: `given` has an entry for each turn."""

    id: str
    turns: tuple[Turn, ...]
    given: tuple[tuple[CodesOfTurn, ...], ...]


def is_machine(coder: str) -> bool:
    """Return whether a coder is the machine."""
    return coder.casefold().startswith(MACHINE)


def with_own_codes(session: Session) -> CodedSession:
    """Return a session with the codes that its transcript brought."""
    columns = dict.fromkeys(name for turn in session.turns for name in turn.gold)
    values = {name: {turn.gold.get(name, "") for turn in session.turns} for name in columns}
    flags = {name for name, found in values.items() if found <= _FLAGS and not name.startswith(_CODER)}
    given = tuple(tuple(_of_gold(turn.gold, flags)) for turn in session.turns)
    return CodedSession(session.id, session.turns, given)


def _of_gold(gold: Mapping[str, str], flags: Iterable[str]) -> Iterator[CodesOfTurn]:
    decided = tuple(name for name in gold if name in set(flags) and gold[name])
    if decided:
        yield CodesOfTurn(PEOPLE, tuple(name for name in decided if gold[name] == "1"), decided)
    for name, value in gold.items():
        if value and name not in decided:
            coder = name.removeprefix(_CODER) if name.startswith(_CODER) else f"{_COLUMN}{name}"
            yield CodesOfTurn(coder, tuple(dict.fromkeys(filter(None, value.split(";")))))


def gold_of(given: Sequence[CodesOfTurn], names: Mapping[str, str]) -> dict[str, str]:
    """Return codes as columns of a transcript, one a coder; the machine's are left out.

    Parameters
    ----------
    given : sequence of CodesOfTurn
        The codes of one turn.
    names : mapping of str to str
        The column of each coder, of `columns_of`.
    """
    gold: dict[str, str] = {}
    for one in given:
        if one.coder == PEOPLE:
            gold |= {code: "1" if code in one.codes else "0" for code in one.known or one.codes}
        elif not is_machine(one.coder):
            labels = (_BETWEEN.sub(" ", code) for code in one.codes)
            gold[names[one.coder]] = ";".join(filter(None, (gold.get(names[one.coder], ""), *labels)))
    return gold


def columns_of(coders: Iterable[str]) -> dict[str, str]:
    """Return the column of each coder; names are cut to twelve letters, and numbered where two become the same.

    Examples
    --------
    >>> columns_of(["Ann Lee", "Maximiliane Berg", "Maximiliane Bauer", "gold_code"])
    {'Ann Lee': 'coder_ann_lee', 'Maximiliane Berg': 'coder_maximiliane_', 'Maximiliane Bauer': 'coder_maximilian_2', \
'gold_code': 'code'}
    """
    found: dict[str, str] = {}
    taken: set[str] = set()
    for coder in dict.fromkeys(coders):
        if coder.startswith(_COLUMN):
            found[coder] = coder.removeprefix(_COLUMN)
            continue
        slug = re.sub(r"\W+", "_", coder.casefold()).strip("_") or "unknown"
        name, number = slug[:_LONGEST], 1
        while name in taken:
            number += 1
            name = f"{slug[: _LONGEST - 2]}_{number}"
        taken.add(name)
        found[coder] = f"{_CODER}{name}"
    return found
