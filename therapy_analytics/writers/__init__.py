"""Writers: a session in another form.

How to add a form:

1. Write one file here, with a function from a `Session` to the bytes of a file.
2. Decorate it with ``@writer(name, suffix=..., holds=...)``; ``holds`` names which of `FEATURES`
   the form can hold. What a session has and the form cannot hold is said to the user.
3. There must be a reader for it: a property test writes and reads back every form.

What is known of a session as a whole (counselor, client, date, ...) stands in a
``sessions.csv`` beside the files, for every form alike.
"""

from therapy_analytics.writers._base import FEATURES, WRITERS, Conversion, Writer, convert, writer

__all__ = ["FEATURES", "WRITERS", "Conversion", "Writer", "convert", "writer"]
