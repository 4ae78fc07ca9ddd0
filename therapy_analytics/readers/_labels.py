"""Which of the possible labels at the beginning of lines are speakers, and which are speech."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from itertools import pairwise
from typing import NamedTuple

from therapy_analytics.core.session import Role
from therapy_analytics.readers.roles import is_program, is_relative, role_of_label

_HEADING_WORDS = """
action answer date developer example exercise function goal homework idea important key keyword note notes option other
plan point practice prompt ps question remember reminder result sentence step subject summary takeaway technique
thought tip title tool topic warning risk assessment objective intervention medication medications diagnosis
from to cc bcc re type sent received status attachment attachments
"""
_HEADINGS = frozenset(_HEADING_WORDS.split())
"""First words of headings inside a turn: no speakers, unless they name a role and come back."""
_ANSWER_WORDS = """
hello hi hey good morning afternoon evening yes yeah no nope ok okay thanks thank welcome so well right mm mhm um uh
hmm and but what how why when sure please sorry great fine oh ah i you we bye goodbye maybe not really exactly never
"""
ANSWERS = frozenset(_ANSWER_WORDS.split())
"""Short answers: on a line of their own they are no names."""
_QUOTED = frozenset({"me", "i", "he", "him", "she", "her", "they", "them", "we", "us"})
"""Pronouns before a colon in a dialogue that somebody quotes: no speakers, but the user is told."""
AT_THE_KEYBOARD = frozenset({"you", "you said", "me", "i"})
"""What chat programs call the person at the keyboard."""
_FUNCTION_WORDS = """
the a an me my your him his her us our them their this that these those it its he she they there here who where which
if then than because also or for from with of to in on at by as is are was were be do does did can could will would
should let
"""
_NO_NAMES = ANSWERS | frozenset(_FUNCTION_WORDS.split())
_JOINTS = frozenset({"and", "de", "da", "del", "der", "di", "la", "van", "von", "y", "e", "und", "et"})
"""Small words between the parts of a name, or between two people who speak together."""
_TRUST = 3
"""Where names are more than so many times as frequent as roles, a role that occurs only once is a fact about a name."""
_LONGEST_NAME = 5
_ONE_IN = 10
_WHOLE_LINES = 0.5
"""Where at least this share of the lines begins with a label, names that occur only once are speakers, not headings."""
_NUMBERED = re.compile(r"[^\W\d_]\s?#?\d+$")
_TITLED = re.compile(r"(?:mr|mrs|ms|miss)\b\.? \w", re.IGNORECASE)
_COUNTED_LABEL = re.compile(r"(.*?[^\W\d])[ .#-]{0,2}(\d{1,4})\Z")
_LETTERS = re.compile(r"[^\W\d_]+")
_FEWEST_LETTERS = 6
_MUCH_MORE = 2
_MOST_LABELS = 200
_NAMES_LIKE_ROLES = frozenset({"clint", "heller", "mather"})
"""Names that are one letter away from client, helper and mother."""


class Beginning(NamedTuple):
    """The beginning of a line that may be a label.

    `key` is common to all spellings of a label and `written` one of them; `look` is what stands around it on the line,
    and `timed` tells whether a time does.
    """

    key: str
    written: str
    look: Hashable = None
    timed: bool = False


class SpeakerChoice(NamedTuple):
    """The keys of the speakers; and what looks like a label but was not taken for one, with its number of lines."""

    speakers: frozenset[str]
    passed_over: Counter[str]


def speakers(labels: Sequence[str]) -> frozenset[str]:
    """Return the speakers among labels that stand alone, as in the cells of a column, in their order.

    Examples
    --------
    >>> sorted(speakers(["t", "c", "he said", "t", "option 1", "c"]))
    ['c', 't']
    >>> sorted(speakers(["maya", "harbor", "right now", "maya", "harbor"] * 2))
    ['harbor', 'maya']
    """
    return speakers_among([Beginning(label, label) for label in labels]).speakers


def speakers_among(beginnings: Sequence[Beginning], n_places: float = math.inf) -> SpeakerChoice:
    """Return the speakers among the beginnings of lines that may be labels.

    Labels that name a role are speakers; where those do not cover both roles, so are labels that come back and make
    up a tenth of all. Beside these, whoever looks like them on the line is a speaker, if the label has the form of a
    name and comes back, or names a role or a relative. What stands only inside the turns of one speaker is a heading
    there, if it has several words or a program speaks. Where every other line begins with a label, or the labels come
    with times, a name that occurs only once is a speaker, too; not so where a program speaks, whose turns have
    headings.

    Parameters
    ----------
    beginnings : sequence of Beginning
        In the order of the text.
    n_places : float, optional
        At how many places of the text a turn could begin: the lines with words or, where labels stand above the words,
        the paragraphs. Without it, a label that occurs only once must name a role or a relative.

    Examples
    --------
    >>> lines = ["Therapist", "Client", "Husband", "I said", "Therapist", "Husband", "Mother", "Note"]
    >>> found = speakers_among([Beginning(label.casefold(), label) for label in lines], len(lines))
    >>> sorted(found.speakers), found.passed_over
    (['client', 'husband', 'mother', 'therapist'], Counter())
    """
    counts = Counter(one.key for one in beginnings)
    counts = Counter({label: n for label, n in counts.items() if not is_heading(label, n)})
    written = {one.key: one.written for one in reversed(beginnings)}
    lower_case = 2 * sum(n for label, n in counts.items() if written[label][0].islower()) > counts.total()
    is_chat = any(n > 1 and is_program(label) for label, n in counts.items())
    named = {label for label in counts if is_name(written[label], lower_case=lower_case, by_role=not is_chat)}
    sure = _sure(counts, named)
    if not sure:
        return SpeakerChoice(frozenset(), Counter())
    looks = {one.look for one in beginnings if one.key in sure}
    alike = Counter(one.key for one in beginnings if one.look in looks)
    like_names = {label for label in named - sure if 2 * alike[label] >= counts[label]}
    order = [one.key for one in beginnings if one.key in sure or one.key in like_names]
    by_line = (
        not is_chat and len(order) >= _WHOLE_LINES * n_places and 2 * sum(map(sure.__contains__, order)) >= len(order)
    )
    timed = {one.key for one in beginnings if one.timed}
    singles = like_names if by_line else {label for label in like_names if label in timed or is_trusted(written[label])}
    more = {label for label in like_names if counts[label] > 1} | (set() if is_chat else singles)
    people = sure | more
    if not by_line:
        spared = timed if is_chat else timed | {label for label in named if len(label.split()) == 1}
        order = [label for label in order if label in people]
        rare = _rarer(order) | (more if is_chat else set())
        people -= {label for label in rare - spared if stands_inside_one(label, order)}
    people |= {label for label, role in misspelled([one.key for one in beginnings]).items() if role in sure}
    rest = [label for label in counts if label in like_names or (label in _QUOTED and label in alike)]
    passed_over = Counter({written[label]: counts[label] for label in rest if label not in people})
    return SpeakerChoice(frozenset(people), passed_over)


def _sure(counts: Counter[str], named: Collection[str]) -> set[str]:
    """Return the labels by which the others are judged: those of roles, and names where these do not cover both."""
    known = _known(counts)
    least = max(2, counts.total() / _ONE_IN)
    names = {label for label in {*named, *AT_THE_KEYBOARD} if counts[label] >= least} - set(known)
    if sum(counts[label] for label in names) > _TRUST * sum(counts[label] for label in known):
        return names | {label for label in known if counts[label] > 1}
    if {"therapist", "client"} <= set(known.values()):
        return set(known)
    return names | set(known) if names or set(known.values()) - {"other"} else set()


def is_heading(label: str, n: int) -> bool:
    """Tell a heading inside a turn from a label, given its number of lines."""
    first = _LETTERS.findall(label)[0]
    return first in _HEADINGS and (n == 1 or role_of_label(label) is None)


def _known(counts: Counter[str]) -> dict[str, Role]:
    """Labels that name a role: the commonest of each role, others that come back, ``Client 5``, ``Client (crying)``."""
    known: dict[str, Role] = {}
    for label, n in counts.most_common():
        role = role_of_label(label)
        if role and (n > 1 or role not in known.values() or label[-1] == ")" or _NUMBERED.search(label)):
            known[label] = role
    return known


def is_name(written: str, *, lower_case: bool = False, by_role: bool = True) -> bool:
    """Tell whether a label has the form of a name, whose words begin with capitals, or of a role: ``Client's mother``.

    Two words in small letters are a name where most labels are written so (`lower_case`).
    """
    words = written.split()
    plain = [word.casefold().strip("().,") for word in words]
    is_no_name = plain[0] in _NO_NAMES and len(written) > 1 and not (plain[0] == "the" and is_trusted(written))
    if len(words) > _LONGEST_NAME or is_no_name or written[-1] in "?!":
        return False
    if lower_case and written.islower() and len(words) <= 2:
        return True
    if not any(word.islower() and word not in _JOINTS for word in words):
        return True
    names_role = bool(role_of_label(written)) or is_relative(written)
    return by_role and names_role and not words[0][0].islower() and _NO_NAMES.isdisjoint(plain)


def is_trusted(label: str) -> bool:
    """Tell whether a label is taken for a speaker even if it occurs only once.

    Examples
    --------
    >>> [is_trusted(label) for label in ("Observer", "Client 2", "MR. HALE", "THE INTERPRETER", "Hale")]
    [True, True, True, True, False]
    """
    words = _LETTERS.findall(label.casefold())
    is_one_word = len(words) - (words[0] == "the") == 1
    return bool(_TITLED.match(label)) or (is_one_word and bool(role_of_label(label) or is_relative(label)))


def _rarer(order: Sequence[str]) -> set[str]:
    """Return the labels that are at most half as frequent as the second most frequent."""
    counts = Counter(order)
    _, second = ([n for _, n in counts.most_common(2)] + [0, 0])[:2]
    return {label for label, n in counts.items() if 2 * n <= second}


def stands_inside_one(label: str, order: Sequence[str]) -> bool:
    """Tell a heading inside turns: it always follows the same speaker, who never speaks next."""
    if is_trusted(label):
        return False
    pairs = list(pairwise(order))
    before = {one for one, two in pairs if two == label != one}
    after = {two for one, two in pairs if one == label != two}
    return len(before) == 1 and not before & after


def unnumbered(keys: Sequence[str]) -> Sequence[str]:
    """Take the numbers off labels that count turns, as in T1, C1, T2, C2, but not off Client 1 and Client 2.

    Examples
    --------
    >>> unnumbered(["T1", "C1", "T2", "C2", "T3"]), unnumbered(["C1", "T", "C2", "T", "C1"])
    (['T', 'C', 'T', 'C', 'T'], ['C1', 'T', 'C2', 'T', 'C1'])
    """
    counts: dict[str, list[int]] = {}
    split = {key: _COUNTED_LABEL.fullmatch(key) for key in set(keys) if key[-1:].isdecimal()}
    for key in keys:
        if one := split.get(key):
            counts.setdefault(one[1], []).append(int(one[2]))
    turns = {
        base
        for base, numbers in counts.items()
        if len(numbers) > 1 and all(one < two for one, two in pairwise(numbers))
    }
    if len(turns) < 2 or max(len(counts[base]) for base in turns) < 3:
        return keys
    return [one[1] if (one := split.get(key)) and one[1] in turns else key for key in keys]


def without_number(label: str) -> str:
    """Return a label that counts turns without its number."""
    return _COUNTED_LABEL.sub(r"\1", label.strip())


def misspelled(order: Sequence[str]) -> dict[str, str]:
    """Return the labels that are misspelled roles, each with the label that is meant.

    The role is at least twice as frequent and never speaks next: somebody with a name of their own would answer, or
    be answered. Names and numbers are no misspellings (Ann and Anne, Client 1 and Client 2), nor is a last letter that
    may tell a woman from a man or one from several. Two spellings of a role are one: counsellor.

    Parameters
    ----------
    order : sequence of str
        The labels in order, in small letters.

    Examples
    --------
    >>> misspelled(["therapist", "client", "therpist", "client", "therapist", "cleint", "therapist", "client"])
    {'therpist': 'therapist', 'cleint': 'client'}
    >>> misspelled(["counselor", "client", "counsellor", "client", "counselor"])
    {'counsellor': 'counselor'}
    >>> misspelled(["therapist", "client", "clint", "therapist", "clients", "therapist 1", "client"])
    {}
    """
    counts = Counter(order)
    if len(counts) > _MOST_LABELS:
        return {}
    means = {label: role_of_label(label) or ("relative" if is_relative(label) else "") for label in counts}
    roles = [label for label, role in means.items() if len(label) >= _FEWEST_LETTERS and role not in {"", "other"}]

    def may_mean(label: str, role: str) -> bool:
        spelling = means[label] == means[role] != "relative" and label.isalpha()
        is_rare = _MUCH_MORE * counts[label] <= counts[role]
        return _is_misspelling(label, role) and (not means[label] or spelling) and is_rare

    labels = [label for label in means if label not in _NAMES_LIKE_ROLES]
    near = {label: [role for role in roles if may_mean(label, role)] for label in labels}
    found = {label: some[0] for label, some in near.items() if len(some) == 1}
    neighbours = {frozenset(pair) for pair in pairwise(order)} if found else set()
    return {label: role for label, role in found.items() if {label, role} not in neighbours}


def _is_misspelling(label: str, meant: str) -> bool:
    """Tell a word with one letter wrong, missing or too many, or two that changed places; not the first or the last."""
    if label[:1] != meant[0] or [*filter(str.isdecimal, label)] != [*filter(str.isdecimal, meant)]:
        return False
    same = next((at for at, (one, two) in enumerate(zip(label, meant, strict=False)) if one != two), 0)
    rest, right = label[same:], meant[same:]
    wrong, missing, more = rest[1:] == right[1:] != "", rest == right[1:] != "", rest[1:] == right != ""
    return same > 0 and (wrong or missing or more or (rest[1::-1], rest[2:]) == (right[:2], right[2:]))
