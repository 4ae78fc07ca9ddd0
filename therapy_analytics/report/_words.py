"""Numbers as people read them, and what the page says of itself."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

SESSIONS = (
    "Each session's count of questions, of reflections, and of turns with advice or information is compared "
    "with {n} sessions of skilled people that were recorded as good practice (AnnoMI and HLQC). The test allows for "
    "the differences among those sessions and for the number of turns (beta-binomial, two-sided; {n_tests:,} "
    "comparisons)."
)
NO_REFERENCE = (
    "Single sessions are compared with no reference: the reference profiles hold only for this package's taggers with "
    "their usual aim."
)
GROUPS = (
    "Counselors and sources are compared with all others (permutation test of the difference of means) and with "
    "skilled people (t test over clients; {n:,} comparisons), in the same measures and in advice, where each side has "
    "at least four clients, or sessions. A mean counts each client once, or each counselor where sources are compared."
)
NO_GROUPS = "Counselors are compared where two or more have at least four clients each."
ADJUSTED = (
    "Each p value is adjusted for all comparisons of its kind: where counselors do not differ, at most one page in "
    "twenty shows a finding about them. No other measure is tested. The tagger's own errors are not in the intervals. "
    "To be unlike others, or unlike skilled people, is neither better nor worse."
)
LEARNT = "those that the tagger learnt from: its codes there are better than on other sessions."
IN_REFERENCE = "those that the reference of skilled people is made of: they are not tested against it."
LIMITS = (
    "Codes are predictions of a model, each with its probability, and some are wrong. Read the turns before you judge.",
    "Intervals cover sampling error (few turns, few clients), not the tagger's own errors.",
    "The references are demonstrations by people, mostly of motivational interviewing, and chats of language models.",
    "To be unlike the references is not to be worse.",
    "That no danger was found is no sign of safety: some is missed, and the fast tagger marks danger by phrases alone.",
    "Synchrony has no agreed direction: more is not better. Values grow with turn length: compare the excess alone.",
    "Nothing here shows whether the sessions helped the client.",
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


def brackets(low: float, high: float) -> str:
    """Return an interval in per cent as it stands behind its value; nothing where an end is not defined.

    Examples
    --------
    >>> brackets(0.442, 0.773), brackets(float("nan"), 0.5)
    (' [44, 77]', '')
    """
    return f" [{100 * low:.0f}, {100 * high:.0f}]" if isfinite(low) and isfinite(high) else ""


def p_short(p: float) -> str:
    """Return a p value.

    Examples
    --------
    >>> p_short(0.00021), p_short(0.0312)
    ('p < .001', 'p = .031')
    """
    return "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".")


def p_words(p: float) -> str:
    """Return the end of a sentence in parentheses: p, adjusted for all comparisons of its sort.

    Examples
    --------
    >>> p_words(0.00021), p_words(0.0312)
    ('p < .001 among all comparisons).', 'p = .031 among all comparisons).')
    """
    return f"{p_short(p)} among all comparisons)."


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


def sentence(text: str) -> str:
    """Return text with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]
