"""Who is who: the same person has the same number through a session."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from therapy_analytics.redact._spoken import runs
from therapy_analytics.redact._tokens import tokens
from therapy_analytics.redact._vocabulary import CALLINGS, TITLES

Person = frozenset[str]


def person(words: str) -> Person:
    """Return the words of a name by which a person is known: no title, no initial, no possessive.

    Examples
    --------
    >>> sorted(person("Dr. Dana M. Reyes's"))
    ['dana', 'reyes']
    >>> sorted(person("r e y e s"))
    ['reyes']
    """
    spelled = [run for run in runs(words) if (run.start, run.end) == (0, len(words)) and not run.digits]
    if spelled:
        return frozenset({spelled[0].signs})
    found = [one.word for one in tokens(words)]
    kept = [word for word in found if word not in TITLES and len(word) > 1]
    return frozenset([word for word in kept if word not in CALLINGS] or kept or found)


def people(mentions: Iterable[Person]) -> dict[Person, Person]:
    """Say whom each mention means: the one person with a longer name that holds it, else itself.

    A name that two people share ("Reyes", of Dana Reyes and Carlos Reyes) is nobody's: it stays by itself.

    Examples
    --------
    >>> dana, short = frozenset({"dana", "reyes"}), frozenset({"dana"})
    >>> people([short, dana])[short] == dana
    True
    """
    different = list(dict.fromkeys(mentions))
    return {one: _whole(one, different) for one in different}


def _whole(one: Person, others: Sequence[Person]) -> Person:
    longer = [other for other in others if one < other]
    longest = [other for other in longer if not any(other < another for another in longer)]
    return longest[0] if len(longest) == 1 else one
