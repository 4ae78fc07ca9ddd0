"""Language: every text is read once, and everything after works on arrays.

`annotate` turns sessions into a `Batch`: token ids, turn offsets, roles, and for each
turn how often each lexicon category occurs. A lexicon is a data file (TOML, or LIWC's
``.dic``); to add one to the package, put it into ``lexicons/`` at the root of the
repository; a user adds one with ``--lexicon FILE`` or ``ta.analyze(..., lexicons=[...])``.
"""

from therapy_analytics.text.annotate import EXTRAS, AnnotatedSession, Batch, Extra, TurnArrays, annotate
from therapy_analytics.text.lexicons import Lexicon, builtin_lexicons, load_lexicon

__all__ = [
    "EXTRAS",
    "AnnotatedSession",
    "Batch",
    "Extra",
    "Lexicon",
    "TurnArrays",
    "annotate",
    "builtin_lexicons",
    "load_lexicon",
]
