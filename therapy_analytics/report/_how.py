"""What the page says of itself: how findings are chosen, and what it cannot tell."""

from __future__ import annotations

REVIEW = "Turns with cues of danger come first: they are found by phrases and are turns to read, no assessment."
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
    "That no cue of danger was found is no sign of safety: the phrases miss much.",
    "Synchrony has no agreed direction: more is not better. It grows with turn length: see its null distribution.",
    "What good the sessions did the client, this page cannot tell.",
)
