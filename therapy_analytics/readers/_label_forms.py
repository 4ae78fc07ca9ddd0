"""The ways to write a label before a turn, each a `Form`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from therapy_analytics.readers._labels import AT_THE_KEYBOARD, SAID
from therapy_analytics.readers._roles import is_relative, role_of_label
from therapy_analytics.readers._stamps import CLOCK, SECOND, STAMP

_CHANGES, _CHANGES_OF_ROLES = 0.4, 0.2
"""At how many of the lines that begin with a label the speaker is another than before, at least."""
_COVERED = 0.4
_FOLLOWED = 0.9
_OF_BLOCKS = 0.4
_OF_LINES = 0.3

_PICTURES = "\u2600-\u27bf\ufe0f\U0001f300-\U0001faff"
EDGE = rf"[ \t\x0c\xa0\u202f>#*_\ufeff\u200b-\u200f\u202a-\u202e\u2066-\u2069{_PICTURES}]*+"
"""What may stand before a label and is no part of it, as part of a pattern."""
_GAP = r"[ \t\xa0\u202f*_\u200b-\u200f]{0,20}+"
_LABEL = r"[^\W\d_](?:[^:\uff1a\t,;|*<>]|, ){0,39}?"
_SHORT = r"[^\W\d_][\w.'\u2019()-]{0,24}(?: [\w.'\u2019()&-]{1,24}){0,2}?"
_COLON = r"(?:(?<!\d)[:\uff1a]|[:\uff1a](?!\d\d\b))[:*_]*"  # not the one in 10:30
_BEFORE = rf"^{EDGE}(?:(?P<before>{STAMP}|{SECOND})[ \t\xa0*_|,-]*+(?:From[ \t]+)?)?"
_LABEL_FIRST = rf"(?P<square>[\[<(])?(?P<label>{_LABEL})(?(square)[\]>)])"
_AFTER = rf"(?:[ \t\xa0*_|\u00b7\u2022@,\u2013\u2014-]{{0,20}}+(?P<after>{STAMP}))?{_GAP}"
_STRICT = rf"{_BEFORE}(?P<label>{_SHORT})"
_REST = r"(?![ \t*_]*[:\uff1a])(?P<words>.*\S.*)$"
_PIECE = r"[\w.'\u2019()&/-]"
_ADDRESSED = re.compile(r"\bFrom[ \t]+\S.* to ")
_INITIALS = re.compile(r"(?:\w{1,3}\.){1,3}")


class Line(NamedTuple):
    """A line: its place in the file, what to look at for a label, and its words if there is none."""

    place: int
    text: str
    raw: str


@dataclass(frozen=True)
class Page:
    """Lines, and for each whether the line with words above it, or below it, holds only a time."""

    lines: Sequence[Line]
    above: Sequence[bool]
    below: Sequence[bool]

    @cached_property
    def filled(self) -> list[int]:
        """Where the lines with words are."""
        return [at for at, line in enumerate(self.lines) if line.raw and not line.raw.isspace()]

    def is_blank(self, at: int) -> bool:
        """Tell whether there is no word on a line, or no such line."""
        return not 0 <= at < len(self.lines) or not self.lines[at].raw.strip()


Found = dict[int, re.Match[str]]
"""Lines that may begin a turn, by their index."""
Labels = frozenset[str]
Allowed = Callable[[Page, int, re.Match[str]], bool]
Holds = Callable[[Page, Sequence[int], Sequence[str], Labels], bool]
"""From the lines that begin a turn, the label of each, and all labels."""


def has_both_roles(labels: Labels) -> bool:
    """Tell whether labels by themselves name a therapist and a client, or a client's relative."""
    roles = {role_of_label(label) for label in labels}
    return "therapist" in roles and ("client" in roles or any(map(is_relative, labels)))


def _anywhere(_page: Page, _at: int, _match: re.Match[str]) -> bool:
    return True


def _without_addressee(_page: Page, _at: int, match: re.Match[str]) -> bool:
    """Tell a label from one with somebody to whom it is said, which has a form of its own."""
    return " to " not in match["label"] or not _ADDRESSED.search(match.string, 0, match.end("label"))


def _by_role_or_time(_page: Page, _at: int, match: re.Match[str]) -> bool:
    """Without a colon, a line is a label only if it names a role or a relative, or has a time."""
    if match["before"] or match["after"]:
        return True
    label = match["label"]
    return bool(role_of_label(label) or is_relative(label)) and not label.endswith((".", "?", "!"))


def _like_a_name(_page: Page, _at: int, match: re.Match[str]) -> bool:
    label = match["label"]
    if not SAID.isdisjoint(label.casefold().split()) and role_of_label(label) is None:
        return label.casefold() in AT_THE_KEYBOARD
    return not label[0].islower() and (label[-1] != "." or bool(_INITIALS.fullmatch(label)))


def _always(_page: Page, _starts: Sequence[int], _order: Sequence[str], _labels: Labels) -> bool:
    return True


def _throughout(page: Page, starts: Sequence[int], order: Sequence[str], labels: Labels) -> bool:
    """Tell whether labels without a colon are labels: they take turns, and stand all through the file."""
    share = _COVERED / 4 if has_both_roles(labels) else _COVERED
    return _take_turns(order, labels) and len(starts) >= share * len(page.filled)


def _both_throughout(page: Page, starts: Sequence[int], order: Sequence[str], labels: Labels) -> bool:
    return has_both_roles(labels) and _throughout(page, starts, order, labels)


def _above_each_turn(page: Page, starts: Sequence[int], order: Sequence[str], labels: Labels) -> bool:
    """Tell names that stand alone above what is said from short answers that somebody gives more than once."""
    follower = dict(pairwise(page.filled))
    begins = set(starts)
    followed = sum(at in follower and follower[at] not in begins for at in starts)
    if not _take_turns(order, labels) or followed < _FOLLOWED * len(starts):
        return False
    blocks = sum(page.is_blank(at - 1) for at in page.filled)
    if blocks < len(starts):
        return len(starts) >= _OF_LINES * len(page.filled)
    first_of_block = sum(page.is_blank(at - 1) for at in starts)
    return first_of_block >= _FOLLOWED * len(starts) and len(starts) >= _OF_BLOCKS * blocks


def _take_turns(order: Sequence[str], labels: Labels) -> bool:
    changes = sum(one != two for one, two in pairwise(order))
    share = _CHANGES_OF_ROLES if has_both_roles(labels) else _CHANGES
    return len(labels) > 1 and changes >= share * (len(order) - 1)


@dataclass(frozen=True, slots=True)
class Form:
    """A way to write labels: what a line looks like, where it may stand, and what must hold of all of them.

    `has_names` tells whether what stands there once can be a name; it cannot where any word of speech could stand so.
    """

    pattern: re.Pattern[str]
    allowed: Allowed = _anywhere
    holds: Holds = _always
    has_names: bool = True


def _form(pattern: str, holds: Holds = _throughout, *, has_names: bool = True) -> Form:
    return Form(re.compile(pattern), holds=holds, has_names=has_names)


_WITH_COLON = rf"{_LABEL_FIRST}{_AFTER}{_COLON}(?P<words>.*)$"
_ALONE = re.compile(rf"{_BEFORE}{_LABEL_FIRST}{_AFTER}(?P<words>)$")
_NAME = re.compile(
    rf"^{EDGE}(?P<square>\[)?(?P<label>[^\W\d_]{_PIECE}{{0,24}}(?: {_PIECE}{{1,24}}){{0,3}})(?(square)\]){_GAP}"
    r"(?P<words>)$"
)

PLAIN = (
    Form(re.compile(rf"{_BEFORE}{_WITH_COLON}"), _without_addressee),
    Form(_ALONE, _by_role_or_time),
    Form(_ALONE, lambda page, at, _match: page.above[at]),
    Form(_ALONE, lambda page, at, _match: page.below[at]),
)
"""Ways that need not hold for the whole file; the first is a label and a colon."""
STRICT = (
    _form(
        rf"^{EDGE}(?P<before>{STAMP})[ \t]*From[ \t]+(?P<label>[^:\n]{{1,40}}?)"
        rf"(?:[ \t]+to[ \t]+[^:\n]{{1,40}})?[ \t]*:(?P<words>.*)$"
    ),
    Form(_NAME, _like_a_name, _above_each_turn),
    _form(rf"{_STRICT}[ \t]*[-\u2013\u2014]+[ \t]++{_REST}"),
    _form(rf"{_STRICT}[ \t]*(?:\||->|=>?|;|\u2192)[ \t]++{_REST}"),
    _form(rf"{_STRICT}(?:[ \t]*\t|[ ]{{3,}}+)[ \t]*+{_REST}"),
    _form(
        rf"{_BEFORE}(?!(?i:mr|mrs|ms|dr|prof|st)\.)(?P<label>[^\W\d_]\w{{0,11}}(?: \d{{1,2}})?)[.)][ \t]++{_REST}",
        has_names=False,
    ),
    _form(rf"{_BEFORE}[\[<](?P<label>{_SHORT})[\]>][ \t]++{_REST}"),
    _form(rf"^[ \t>#]*(?P<bold>\*\*|__)(?P<label>{_SHORT})[ \t]*(?P=bold)[ \t]*+{_REST}"),
    _form(rf"^[ \t>#]*(?P<bold>\*\*|__)(?P<label>{_SHORT})(?P=bold)[ \t]*(?P<words>)$"),
    _form(rf"{_BEFORE}(?P<label>[A-Z][A-Z.'\u2019-]+(?: [A-Z][A-Z.'\u2019-]+){{0,2}})[ ]{{2,}}+{_REST}"),
    _form(rf"{_BEFORE}(?P<label>(?:DR\.? )?[A-Z]{{2,24}}(?: ?\d{{1,2}})?)[ \t]++{_REST}", has_names=False),
    _form(rf"^[ \t]*[-+\u2022\u2013\u2014][ \t]+[*_]*{_WITH_COLON}", _always),
    _form(rf"^{EDGE}(?P<label>{_LABEL})[ \t]*(?P<after>{STAMP})[ \t]*+{_GAP}{_REST}"),
    _form(rf"^{EDGE}\[(?P<label>{_SHORT}),?[ \t]+(?P<after>{CLOCK})\]:?[ \t]++{_REST}"),
    _form(rf"{_BEFORE}\((?P<label>[^\W\d_]\w{{0,14}})\)[ \t]++{_REST}", _both_throughout),
    _form(
        rf"^{EDGE}(?P<before>{STAMP}){_GAP}(?P<label>[^\W\d_]\w{{0,14}})[ \t]++{_REST}",
        _both_throughout,
        has_names=False,
    ),
    _form(rf"^{EDGE}(?P<label>[^\W\d_]\w{{0,14}})[ ]{{2,}}+{_REST}"),
    _form(rf"^{EDGE}(?P<label>(?:[A-Z]|T[Hh]|C[Ll])\d{{0,3}})[ \t]++{_REST}", _both_throughout, has_names=False),
    _form(rf"^{EDGE}(?P<label>[^\W\d_][\w. ]{{0,14}}?)>[ \t]*+{_REST}"),
)
"""Ways that must hold all through a file, so they show themselves at its head."""
