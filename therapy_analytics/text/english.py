"""Whether a session has words, and is in English, the only language of the tagger, the lexicons and the tokeniser."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.core.session import Session
from therapy_analytics.text.annotate import Batch

_WORDS = """
    the and to you it that this these those my your yours they them their his she
    what which who when where why how there here if but or because than then not yes
    with from about into just like down off
    have has having being been are were does did doing could would should might
    get got going know think very really some any only
    through before after again always never every something anything nothing
    other much many more most while until maybe even both few same such own
    myself yourself anyone someone everything everyone
"""
FUNCTION_WORDS = frozenset(_WORDS.split())
"""Common words of English, without those that are words of other European languages too: a, i, in, is, of, was, ..."""
LEAST_SHARE = 0.12
"""At least .28 of the words of English sessions are in this set (547 sessions of research corpora, of people and of
language models, written and recognised), and at least .12 of their first 30 words; in German, French, Spanish, Dutch,
Turkish, Italian, Portuguese, Danish, Polish and Afrikaans at most .03.
"""
LEAST_WORDS = 30
"""Fewer words are too few to tell the language."""
NOT_ENGLISH = "of the words are common English words"
"""Part of the note on sessions that do not seem to be in English, and of no other note."""
UNDIVIDED = "written without spaces between words"
"""Part of the note on sessions whose words cannot be counted, and of no other note."""
MOST_UNDIVIDED = 0.25
"""So large a share of a session's letters may be of scripts without spaces between words before words are not counted:
such a letter says more than a letter of English, so that some half of what is said is then in that script."""
_SCRIPTS_WITHOUT_SPACES = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua9e0-\ua9ff\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)
"""Thai, Lao, Tibetan, Burmese, Khmer, and the signs of Chinese and Japanese."""
_OURS = "The taggers and word lists of this program are for English and mean nothing here."
_WORDLESS = "No turn has words, so its rates say nothing."


def undivided(session: Session) -> bool:
    """Tell whether much of a session is in a script without spaces between words, so that words cannot be counted.

    Examples
    --------
    >>> from therapy_analytics.core.session import Turn
    >>> said = Turn(index=0, speaker="C", role="client", text="\u7720\u308c\u307e\u305b\u3093", first_row=1)
    >>> undivided(Session(id="s", source_file="s.txt", turns=(said,)))
    True
    """
    texts = [turn.text for turn in session.turns]
    n = sum(len(_SCRIPTS_WITHOUT_SPACES.findall(text)) for text in texts if not text.isascii())
    if not n:
        return False
    others = sum(sum(map(str.isalpha, _SCRIPTS_WITHOUT_SPACES.sub("", text))) for text in texts)
    return n > MOST_UNDIVIDED * (n + others)


def english_shares(batch: Batch) -> NDArray[np.float64]:
    """Return the share of each session's words that are `FUNCTION_WORDS`, float64 (n_sessions,); nan without words.

    In English it is about .35 to .40.
    """
    tokens = batch.turns.tokens
    common = np.array([word in FUNCTION_WORDS for word in tokens.lower], dtype=np.bool_)
    hits = common[tokens.ids] & tokens.word_start
    bounds = tokens.offsets[batch.starts]
    n_words, n_hits = _between(tokens.word_start, bounds), _between(hits, bounds)
    return np.where(n_words > 0, n_hits / np.maximum(n_words, 1), np.nan)


def with_language_notes(batch: Batch) -> Batch:
    """Return the batch with a note on each session not in English, as it seems, or whose words are not counted."""
    shares = english_shares(batch)
    n_words = _between(batch.turns.tokens.word_start, batch.turns.tokens.offsets[batch.starts])
    rows = zip(batch.sessions, n_words.tolist(), shares.tolist(), strict=True)
    return replace(batch, sessions=tuple(_noted(one, n, share) for one, n, share in rows))


def _noted(session: Session, n_words: int, share: float) -> Session:
    if undivided(session):
        note = f"Much of it is in a script {UNDIVIDED}: words are not counted, and what rests on them is empty. {_OURS}"
    elif n_words >= LEAST_WORDS and share < LEAST_SHARE:
        note = f"Only {share:.0%} {NOT_ENGLISH} (about 40% of an English session are). {_OURS}"
    elif session.turns and not n_words:
        note = _WORDLESS
    else:
        return session
    return replace(session, notes=(*session.notes, note))


def _between(marks: NDArray[np.bool_], bounds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the marked tokens from each bound to the next, int64 (n_bounds - 1,)."""
    total = np.concatenate([[0], np.cumsum(marks, dtype=np.int64)])
    counts: NDArray[np.int64] = np.diff(total[bounds])
    return counts
