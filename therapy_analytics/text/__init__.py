"""Language: every text is read once, and everything after works on arrays.

`annotate` turns sessions into a `Batch`: token ids, turn offsets, roles, and for each
turn how often each lexicon category occurs. A lexicon is a data file (TOML, or LIWC's
``.dic``); to add one to the package, put it into ``lexicons/`` at the root of the
repository; a user adds one with ``--lexicon FILE`` or ``ta.analyze(..., lexicons=[...])``.

`annotate` and `tokens` make the arrays; `lexicons` and `phrases` count; `segments` cuts turns for small models;
`wordpiece`, `embeddings` and `meanings` give vectors; `donors` chooses sessions for surrogate pairs; `english` and
`training_talk` say for which sessions all this was made; `data_files` checks files of data; `integers` helps with
arrays.
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
