"""Mistakes of speech recognition, made up: what the tagger reads in training beside the words as they were written."""

from __future__ import annotations

import numpy as np
from tagger_corpora import plain

DROPPED, REPEATED, FILLED, MISHEARD = 0.03, 0.03, 0.02, 0.12
"""How many words are left out, said twice, or follow a filler; and how many of those below are misheard."""
FILLERS = ("um", "uh", "you know", "like", "i mean", "well", "so", "yeah")
HOMOPHONES = (
    ("their", "there"),
    ("to", "too"),
    ("your", "you're"),
    ("its", "it's"),
    ("hear", "here"),
    ("know", "no"),
    ("than", "then"),
    ("are", "our"),
    ("were", "where"),
    ("right", "write"),
    ("whether", "weather"),
    ("week", "weak"),
)
_HEARD = {one: other for pair in HOMOPHONES for one, other in (pair, pair[::-1])}
_KEPT = frozenset(
    ["no", "not", "never", "nothing", "nobody", "none", "neither", "nor", "without", "cannot", "can't", "won't"]
    + [
        f"{verb}n't"
        for verb in ("do", "does", "did", "is", "are", "was", "were", "have", "has", "had", "could", "would")
    ]
)
"""Words that are never left out or misheard: without them the turn would say the opposite."""


def recognised(text: str, rng: np.random.Generator) -> str:
    """Return a text as a speech recogniser might write it: lower case, no punctuation, some mistakes."""
    found: list[str] = []
    for word in plain(text).split():
        luck = rng.random()
        if word in _KEPT:
            found.append(word)
        elif luck < DROPPED:
            continue
        elif luck < DROPPED + REPEATED:
            found += [word, word]
        elif luck < DROPPED + REPEATED + FILLED:
            found += [FILLERS[rng.integers(len(FILLERS))], word]
        elif luck < DROPPED + REPEATED + FILLED + MISHEARD:
            found.append(_HEARD.get(word, word))
        else:
            found.append(word)
    return " ".join(found)
