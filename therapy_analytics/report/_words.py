"""Numbers as people read them, and what the page says of itself."""

from __future__ import annotations

from collections.abc import Sequence

REVIEW = "Turns of danger come first: a model marks them, and they are turns to read, no assessment."
SESSIONS = (
    "Each session's count of questions, reflections, and advice or information is held against the sessions of skilled "
    "people (AnnoMI and HLQC, {n} sessions that were shown as good practice), allowing for how those differ among "
    "themselves and for how few turns a session has (beta-binomial, two-sided; {n_tests:,} comparisons)."
)
NO_REFERENCE = (
    "Single sessions are held against no reference: the reference profiles rest on the taggers of this package, with "
    "their usual aim."
)
GROUPS = (
    "Counselors and sources with three sessions or more are compared with all others (permutation test of the "
    "difference of means) and with skilled people, the group counting like a single person ({n:,} comparisons), in the "
    "same three. The means are over what is independent, such as clients."
)
ADJUSTED = (
    "Each p is adjusted for all comparisons of its sort: where nothing differs, a sort makes any claim in at most one "
    "run of twenty. Of all other measures nothing is claimed. The tagger's own errors are not in it. To lie outside of "
    "what skilled people's sessions show is to be unlike them, and not thereby better or worse."
)
MEANS = "Groups: the mean over what is independent, each counting once, with its 95% interval."
_REFERENCES = (
    "The references are demonstrations by people, mostly of motivational interviewing, and language models with "
    "volunteers or simulated clients: to be unlike them is not to be worse."
)
LIMITS = (
    "Codes are a machine's predictions: each has its probability, and some are wrong. Read the turns before you judge.",
    "Intervals hold what few turns leave open (sampling), not the machine's own errors.",
    _REFERENCES,
    "That no danger was found is no sign of safety: the tagger misses some, and the fast tagger looks for none.",
    "Synchrony has no agreed direction: more is not better. It grows with turn length: see its null distribution.",
    "What good the sessions did the client, this page does not show.",
)


def per_cent(share: float) -> str:
    """Return a share in per cent, none that is not quite 0 or all as such.

    Examples
    --------
    >>> per_cent(0.621), per_cent(0.001), per_cent(0.999), per_cent(1.0)
    ('62%', '<1%', '>99%', '100%')
    """
    if 0 < share < 0.005:
        return "<1%"
    if 0.995 <= share < 1:
        return ">99%"
    return f"{100 * share:.0f}%"


def interval(low: float, high: float) -> str:
    """Return two ends in per cent.

    Examples
    --------
    >>> interval(0.442, 0.773)
    '44 to 77%'
    """
    return f"{100 * low:.0f} to {100 * high:.0f}%"


def p_words(p: float) -> str:
    """Return the end of a sentence in parentheses: p, adjusted for all comparisons of its sort.

    Examples
    --------
    >>> p_words(0.00021), p_words(0.0312)
    ('p < .001 among all comparisons).', 'p = .031 among all comparisons).')
    """
    size = "< .001" if p < 0.001 else f"= {p:.3f}".replace("0.", ".")
    return f"p {size} among all comparisons)."


def listed(names: Sequence[str], most: int) -> str:
    """Return names as a list with "and", the rest as a number.

    Examples
    --------
    >>> listed(["A", "B", "C"], 3), listed(["A", "B", "C"], 1), listed(["A"], 3)
    ('A, B and C', 'A and 2 others', 'A')
    """
    rest = len(names) - most
    if rest > 0:
        return f"{', '.join(names[:most])} and {rest} {plural(rest, 'other', 'others')}"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def plural(n: float, one: str, several: str) -> str:
    """Return the word for so many."""
    return one if n == 1 else several
