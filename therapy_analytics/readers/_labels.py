"""Which of the words before a colon are speakers, and which are speech."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from itertools import pairwise
from typing import NamedTuple

from therapy_analytics.readers._roles import is_program, is_relative, role_of_label
from therapy_analytics.session import Role

_HEADING_WORDS = """
action answer date developer example exercise function goal homework idea important key keyword note notes option other
plan point practice prompt ps question remember reminder result sentence step subject summary takeaway technique
thought tip title tool topic warning risk assessment objective intervention medication medications diagnosis
from to cc bcc re type sent received status attachment attachments
"""
_HEADINGS = frozenset(_HEADING_WORDS.split())
"""First words of lines with a colon inside a model's turns: no speakers, unless they name a role and come back."""
_ANSWER_WORDS = """
hello hi hey good morning afternoon evening yes yeah no nope ok okay thanks thank welcome so well right mm mhm um uh
hmm and but what how why when sure please sorry great fine oh ah i you we bye goodbye maybe not really exactly never
"""
SAID = frozenset(_ANSWER_WORDS.split())
"""What people answer in a word: on a line of its own it is no name."""
_QUOTED = frozenset({"me", "i", "he", "him", "she", "her", "they", "them", "we", "us"})
"""Who speaks in a dialogue that somebody quotes: no speaker, and told of."""
AT_THE_KEYBOARD = frozenset({"you", "you said", "me", "i"})
"""What chat programs call the person at the keyboard."""
_FUNCTION_WORDS = """
the a an me my your him his her us our them their this that these those it its he she they there here who where which
if then than because also or for from with of to in on at by as is are was were be do does did can could will would
should let
"""
_NO_NAMES = SAID | frozenset(_FUNCTION_WORDS.split())
_JOINTS = frozenset({"and", "de", "da", "del", "der", "di", "la", "van", "von", "y", "e", "und", "et"})
"""Small words between the parts of a name, or between two people who speak together."""
_TRUST = 3
"""Role labels that stand once are facts about the session, where other labels are more than so many times as often."""
_LONGEST_NAME = 5
_ONE_IN = 10
_WHOLE_LINES = 0.5
"""Where so many of the lines begin with a label, what looks like one is one; headings stand among more lines."""
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
    """What may be a label: a key for all its spellings, one of them, what stands around it, and whether a time does."""

    key: str
    written: str
    look: Hashable = None
    timed: bool = False


class Choice(NamedTuple):
    """The keys of the speakers; and of what looks like a label but was not taken for one, how often it stands."""

    speakers: frozenset[str]
    passed_over: Counter[str]


def speakers(labels: Sequence[str]) -> frozenset[str]:
    """Tell the speakers among labels that stand alone, as in the cells of a column, in their order.

    Examples
    --------
    >>> sorted(speakers(["t", "c", "he said", "t", "option 1", "c"]))
    ['c', 't']
    >>> sorted(speakers(["maya", "harbor", "right now", "maya", "harbor"] * 2))
    ['harbor', 'maya']
    """
    return speakers_among([Beginning(label, label) for label in labels]).speakers


def speakers_among(beginnings: Sequence[Beginning], n_places: float = math.inf) -> Choice:
    """Tell the speakers among the beginnings of lines that may be labels.

    Labels that name a role are speakers; where those do not cover both roles, so are labels that come back and make
    up a tenth of all. Beside these, whoever looks as they do on the line is a speaker, if the label has the form of a
    name and comes back, or names a role or a relative. What stands only inside the turns of one speaker is a heading
    there, if it has several words or a program speaks. Where every other line begins with a label, or the labels come
    with times, a name that stands once is a speaker, too; not so where a program speaks, whose turns have headings.

    Parameters
    ----------
    beginnings : sequence of Beginning
        In the order of the text.
    n_places : int, optional
        At how many places of the text a turn could begin: the lines with words or, where labels stand above the words,
        the paragraphs. Without it, a label that stands once must name a role or a relative.

    Examples
    --------
    >>> lines = ["Therapist", "Client", "Husband", "I said", "Therapist", "Husband", "Mother", "Note"]
    >>> found = speakers_among([Beginning(label.casefold(), label) for label in lines], len(lines))
    >>> sorted(found.speakers), found.passed_over
    (['client', 'husband', 'mother', 'therapist'], Counter())
    """
    counts = Counter(one.key for one in beginnings)
    for label in [label for label, n in counts.items() if is_heading(label, n)]:
        del counts[label]
    written = {one.key: one.written for one in reversed(beginnings)}
    small = sum(counts[label] for label in counts if written[label][0].islower()) * 2 > counts.total()
    is_chat = any(n > 1 and is_program(label) for label, n in counts.items())
    named = {label for label in counts if is_name(written[label], small=small, by_role=not is_chat)}
    sure = _sure(counts, named)
    if not sure:
        return Choice(frozenset(), Counter())
    looks = {one.look for one in beginnings if one.key in sure}
    alike = Counter(one.key for one in beginnings if one.look in looks)
    like_names = {label for label in named - sure if 2 * alike[label] >= counts[label]}
    order = [one.key for one in beginnings if one.key in sure or one.key in like_names]
    n_sure = sum(label in sure for label in order)
    by_line = not is_chat and len(order) >= _WHOLE_LINES * n_places and 2 * n_sure >= len(order)
    timed = {one.key for one in beginnings if one.timed}
    once = like_names if by_line else {label for label in like_names if label in timed or is_trusted(written[label])}
    more = {label for label in like_names if counts[label] > 1} | (set() if is_chat else once)
    people = sure | more
    if not by_line:
        spared = timed if is_chat else timed | {label for label in named if len(label.split()) == 1}
        order = [label for label in order if label in people]
        rare = _rarer(order) | (more if is_chat else set())
        people -= {label for label in rare - spared if stands_inside_one(label, order)}
    people |= {label for label, role in misspelled([one.key for one in beginnings]).items() if role in sure}
    quoted = {label for label in alike if label in _QUOTED}
    passed = Counter({written[label]: counts[label] for label in (like_names | quoted) - people})
    return Choice(frozenset(people), passed)


def _sure(counts: Counter[str], named: Collection[str]) -> set[str]:
    """Return the labels by which the others are judged: those of roles; names, where these do not cover both."""
    known = _known(counts)
    least = max(2, counts.total() / _ONE_IN)
    names = {label for label in {*named, *AT_THE_KEYBOARD} if counts[label] >= least} - set(known)
    if sum(counts[label] for label in names) > _TRUST * sum(counts[label] for label in known):
        return names | {label for label in known if counts[label] > 1}
    if {"therapist", "client"} <= set(known.values()):
        return set(known)
    return names | set(known) if names or set(known.values()) - {"other"} else set()


def is_heading(label: str, n: int) -> bool:
    """Tell a word that heads a part of a turn from a label, given how often it stands."""
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


def is_name(written: str, *, small: bool = False, by_role: bool = True) -> bool:
    """Tell what has the form of a name, whose words begin with capitals, or of a role: ``Client's mother``."""
    words = written.split()
    plain = [word.casefold().strip("().,") for word in words]
    is_no_name = plain[0] in _NO_NAMES and len(written) > 1 and not (plain[0] == "the" and is_trusted(written))
    if len(words) > _LONGEST_NAME or is_no_name or written[-1] in "?!":
        return False
    if small and written.islower() and len(words) <= 2:
        return True
    if not any(word.islower() and word not in _JOINTS for word in words):
        return True
    names_role = bool(role_of_label(written)) or is_relative(written)
    return by_role and names_role and not words[0][0].islower() and _NO_NAMES.isdisjoint(plain)


def is_trusted(label: str) -> bool:
    """Tell what is trusted to be a speaker even where it stands once.

    Examples
    --------
    >>> [is_trusted(label) for label in ("Observer", "Client 2", "MR. HALE", "THE INTERPRETER", "Hale")]
    [True, True, True, True, False]
    """
    words = _LETTERS.findall(label.casefold())
    is_one_word = len(words) - (words[0] == "the") == 1
    return bool(_TITLED.match(label)) or (is_one_word and bool(role_of_label(label) or is_relative(label)))


def _rarer(order: Sequence[str]) -> set[str]:
    """Return the labels that stand no more than half as often as the second of all."""
    counts = Counter(order)
    _, second = ([n for _, n in counts.most_common(2)] + [0, 0])[:2]
    return {label for label, n in counts.items() if 2 * n <= second}


def stands_inside_one(label: str, order: Sequence[str]) -> bool:
    """Tell a heading: it always follows the same speaker, who is never the next to speak."""
    if is_trusted(label):
        return False
    pairs = list(pairwise(order))
    before = {one for one, two in pairs if two == label != one}
    after = {two for one, two in pairs if one == label != two}
    return len(before) == 1 and not before & after


def unnumbered(keys: Sequence[str]) -> Sequence[str]:
    """Take the numbers of turns off labels that count them, as in T1, C1, T2, C2, but not those of Client 1 and 2.

    Examples
    --------
    >>> unnumbered(["T1", "C1", "T2", "C2", "T3"]), unnumbered(["C1", "T", "C2", "T", "C1"])
    (['T', 'C', 'T', 'C', 'T'], ['C1', 'T', 'C2', 'T', 'C1'])
    """
    counts: dict[str, list[int]] = {}
    split = {key: _COUNTED_LABEL.fullmatch(key) for key in set(keys) if key[-1:].isdecimal()}
    for key in keys:
        one = split.get(key)
        if one:
            counts.setdefault(one[1], []).append(int(one[2]))
    turns = {base for base, numbers in counts.items() if len(numbers) > 1 and _grows(numbers)}
    if len(turns) < 2 or max(len(counts[base]) for base in turns) < 3:
        return keys
    return [one[1] if (one := split.get(key)) and one[1] in turns else key for key in keys]


def _grows(numbers: Sequence[int]) -> bool:
    return all(one < two for one, two in pairwise(numbers))


def without_number(label: str) -> str:
    """Return a label that counts turns as it is without the number."""
    return _COUNTED_LABEL.sub(r"\1", label.strip())


def misspelled(order: Sequence[str]) -> dict[str, str]:
    """Return the labels that are a slip of the pen away from a role's, each with the label that is meant.

    The role stands at least twice as often and is never the next to speak: somebody with a name of his own would
    answer, or be answered. Names and numbers are nobody's slip (Ann and Anne, Client 1 and Client 2), nor is a last
    letter, which may tell a woman from a man or one from several. Two spellings of a role are one: counsellor.

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
    found: dict[str, str] = {}
    for label in [one for one in means if one not in _NAMES_LIKE_ROLES]:
        near = [
            role
            for role in roles
            if _is_slip(label, role)
            and (not means[label] or (means[label] == means[role] != "relative" and label.isalpha()))
            and _MUCH_MORE * counts[label] <= counts[role]
        ]
        if len(near) == 1:
            found[label] = near[0]
    neighbours = {frozenset(pair) for pair in pairwise(order)} if found else set()
    return {label: role for label, role in found.items() if {label, role} not in neighbours}


def _is_slip(label: str, meant: str) -> bool:
    """Tell a word with one letter wrong, missing or too many, or two that changed places; not the first or the last."""
    if label[:1] != meant[0] or [*filter(str.isdecimal, label)] != [*filter(str.isdecimal, meant)]:
        return False
    same = next((at for at, (one, two) in enumerate(zip(label, meant, strict=False)) if one != two), 0)
    is_, was = label[same:], meant[same:]
    wrong, missing, more = is_[1:] == was[1:] != "", is_ == was[1:] != "", is_[1:] == was != ""
    return same > 0 and (wrong or missing or more or (is_[1::-1], is_[2:]) == (was[:2], was[2:]))
