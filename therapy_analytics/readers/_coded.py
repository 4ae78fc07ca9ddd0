"""Codes of turns as programs for coding hold them: who gave which codes, and what else that person looked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from therapy_analytics.session import ROLES, Role, Session, Turn

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
_CLOCK = r"(\d{2,}):(\d\d):(\d\d\.\d{3})"
_TURN = re.compile(rf"Turn (\d{{1,9}}), ({'|'.join(ROLES)})(?:, from {_CLOCK})?(?:, until {_CLOCK})?")
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


def merged(given: Iterable[CodesOfTurn]) -> tuple[CodesOfTurn, ...]:
    """Return what is said of one turn with one entry for each coder."""
    found: dict[str, CodesOfTurn] = {}
    for one in given:
        old = found.get(one.coder, CodesOfTurn(one.coder))
        known = None if old.known is None and one.known is None else (*(old.known or ()), *(one.known or ()))
        found[one.coder] = CodesOfTurn(
            one.coder,
            tuple(dict.fromkeys((*old.codes, *one.codes))),
            None if known is None else tuple(dict.fromkeys(known)),
            "\n".join(dict.fromkeys(filter(None, (old.note, one.note)))),
        )
    return tuple(found.values())


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


class NamedTurn(NamedTuple):
    """What the name of a passage tells of the turn that it is: its number from 1, role and times in seconds."""

    number: int
    role: Role
    start_s: float | None
    end_s: float | None


def name_of_turn(turn: Turn) -> str:
    """Return a name for the passage of a turn, from which `turn_named` reads what the words do not say."""
    times = (("from", turn.start_s), ("until", turn.end_s))
    known = (f", {word} {_clock(time)}" for word, time in times if time is not None and time >= 0)
    return f"Turn {turn.index + 1}, {turn.role}{''.join(known)}"


def turn_named(name: str) -> NamedTurn | None:
    """Return what a name that `name_of_turn` gave says; None for other names.

    Examples
    --------
    >>> turn_named("Turn 2, client, from 00:01:02.500")
    NamedTurn(number=2, role='client', start_s=62.5, end_s=None)
    """
    match = _TURN.fullmatch(name)
    if match is None:
        return None
    number, role, *clock = match.groups()
    return NamedTurn(int(number), cast("Role", role), _seconds(clock[:3]), _seconds(clock[3:]))


def _clock(seconds: float) -> str:
    whole = round(1000 * seconds)
    return f"{whole // 3_600_000:02}:{whole // 60_000 % 60:02}:{whole // 1000 % 60:02}.{whole % 1000:03}"


def _seconds(clock: Sequence[str | None]) -> float | None:
    hours, minutes, seconds = clock
    if hours is None or minutes is None or seconds is None:
        return None
    return round(3600 * int(hours) + 60 * int(minutes) + float(seconds), 3)
