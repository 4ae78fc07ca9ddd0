"""Which of the words before a colon are speakers, and which are speech."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.session import Role

_HEADING_WORDS = """
action answer date developer example exercise function goal homework idea important key keyword note notes option other
plan point practice prompt ps question remember reminder result sentence step subject summary takeaway technique
thought tip title tool topic warning
"""
_HEADINGS = frozenset(_HEADING_WORDS.split())
"""First words of lines with a colon inside a model's turns: no speakers, unless they name a role and come back."""
_ANSWER_WORDS = """
hello hi hey good morning afternoon evening yes yeah no nope ok okay thanks thank welcome so well right mm mhm um uh
hmm and but what how why when sure please sorry great fine oh ah i you we bye goodbye maybe not really exactly never
"""
SAID = frozenset(_ANSWER_WORDS.split())
"""What people answer in a word: on a line of its own it is no name."""
_TRUST = 3
"""Role labels are the speakers unless other labels are more than this many times as frequent."""
_NUMBERED = re.compile(r"[^\W\d_]\s?#?\d+$")
_COUNTED_LABEL = re.compile(r"(.*?[^\W\d])[ .#-]{0,2}(\d{1,4})\Z")
_LETTERS = re.compile(r"[^\W\d_]+")


def speakers(labels: Sequence[str]) -> frozenset[str]:
    """Tell the speakers among all the beginnings of lines that end in a colon, in their order.

    Labels that name a role are speakers. Where those do not cover both roles, or stand only
    at the top of the file, so are labels of at most three words that come back and make up a
    tenth of all. What stands only inside the turns of one speaker is a heading there.

    Examples
    --------
    >>> sorted(speakers(["t", "c", "he said", "t", "option 1", "c"]))
    ['c', 't']
    >>> sorted(speakers(["maya", "harbor", "right now", "maya", "harbor"] * 2))
    ['harbor', 'maya']
    """
    counts = Counter(labels)
    counts = Counter({label: n for label, n in counts.items() if not _is_heading(label, n)})
    candidates = _candidates(counts)
    order = [label for label in labels if label in candidates]
    _, second = ([n for _, n in Counter(order).most_common(2)] + [0, 0])[:2]
    inside = {label for label in candidates if 2 * counts[label] <= second and _stands_inside_one(label, order)}
    return frozenset(candidates - inside)


def _candidates(counts: Counter[str]) -> set[str]:
    known = _known(counts)
    least = max(2, counts.total() / 10)
    names = {label for label, n in counts.items() if n >= least and len(label.split()) <= 3}
    strangers = sum(counts[label] for label in names - set(known))
    if strangers > _TRUST * sum(counts[label] for label in known):
        return names
    if {"therapist", "client"} <= set(known.values()):
        return set(known)
    people = names | {label for label, role in known.items() if role != "other"}
    return people | set(known) if people else set()


def _is_heading(label: str, n: int) -> bool:
    first = _LETTERS.findall(label)[0]
    return first in _HEADINGS and (n == 1 or role_of_label(label) is None)


def _known(counts: Counter[str]) -> dict[str, Role]:
    """Labels that name a role: the commonest of each role, others that come back, and numbered ones (``Client 5``)."""
    known: dict[str, Role] = {}
    for label, n in counts.most_common():
        role = role_of_label(label)
        if role and (n > 1 or role not in known.values() or _NUMBERED.search(label)):
            known[label] = role
    return known


def _stands_inside_one(label: str, order: Sequence[str]) -> bool:
    """Tell a heading: it always follows the same speaker, who is never the next to speak.

    A single word that names a role, as in ``Observer`` or ``Client 2``, is trusted to be a speaker.
    """
    if len(_LETTERS.findall(label)) == 1 and role_of_label(label):
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
