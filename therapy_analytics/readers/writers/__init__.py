"""Writers: a session in another form.

How to add a form:

1. Write one file here, with a function from a `Session` to the bytes of a file.
2. Decorate it with ``@writer(name, suffix=...)``.
3. There must be a reader for it, and it must hold all that a session has: a property test writes and reads back every
   form.

The metadata of sessions (counselor, client, date, ...) go into a ``sessions.csv`` beside the files, for every form.
"""

from therapy_analytics.readers.writers._base import WRITERS, Conversion, Writer, convert, writer

__all__ = ["WRITERS", "Conversion", "Writer", "convert", "writer"]
