"""Writers: a session in another form.

How to add a form:

1. Write one file here, with a function from a `Session` to the bytes of a file.
2. Decorate it with ``@writer(name, suffix=..., holds=...)``; ``holds`` names those of `FEATURES` that the form can
   hold. The user is told what a session has and the form cannot hold.
3. There must be a reader for it: a property test writes and reads back every form.

The metadata of sessions (counselor, client, date, ...) go into a ``sessions.csv`` beside the files, for every form.
"""

from therapy_analytics.readers.writers._base import FEATURES, WRITERS, Conversion, Writer, convert, writer

__all__ = ["FEATURES", "WRITERS", "Conversion", "Writer", "convert", "writer"]
