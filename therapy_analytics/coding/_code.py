"""`coding_page`: a page on which one person codes a sample, blind to the machine and to other coders."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from therapy_analytics.codes import Codebook, codebook_named
from therapy_analytics.coding._page import assemble, book_json
from therapy_analytics.coding._sample import SampleToCode, read_sample
from therapy_analytics.coding._training import training_json
from therapy_analytics.core.errors import BadOptionError, UnknownNameError
from therapy_analytics.core.folders import alone_in, replaced, written_to
from therapy_analytics.core.private import write
from therapy_analytics.stats.sampling import CONTEXT

TAKEN = {"settled", "machine", "majority", "human"}
_NAME = re.compile(r"\w[\w-]{0,29}")
SCRIPTS = ("code.js", "training.js", "code_view.js")


def coding_page(
    sample: str | Path,
    coder: str,
    *,
    book: str | None = None,
    training: str | Path | None = None,
    training_sample: str | Path | None = None,
) -> Path:
    """Write the page for one coder into the folder of the sample; an earlier page for the same coder is replaced.

    Parameters
    ----------
    sample : str or Path
        A folder that ``tanalyze sample`` wrote.
    coder : str
        The coder's name or initials: letters, digits, ``-`` and ``_``. It stands in the names of the files.
    book : str, optional
        One codebook only, of the package or a file; by default all that the sample was drawn for, one after the other.
    training : str or Path, optional
        Agreed answers, such as settled.csv of an earlier sample: 30 of its turns come first, each with its answer once
        it is coded. They do not stand among the codes that the page hands out.
    training_sample : str or Path, optional
        The sample that the agreed answers are about; by default the folder that they are in.

    Returns
    -------
    Path
        ``code_<coder>.html`` (``code_<coder>_<book>.html`` for one book), which only its owner may read (0600). It
        holds the words of the turns and of the `CONTEXT` turns before each.

    Raises
    ------
    BadOptionError
        The folder holds no sample, the name cannot be used, or there is nothing to train on.
    BadDataFileError, UnknownNameError
        A file of the sample is broken, or there is no such codebook.

    Notes
    -----
    The page knows neither the machine's codes nor another coder's. What is coded stays in the coder's browser until it
    is downloaded as ``codes_<coder>.csv``.
    """
    if not _NAME.fullmatch(coder) or coder.casefold() in TAKEN:
        remedy = "Give a short name of letters, digits, - and _, such as Ann"
        raise BadOptionError("--coder", f"{coder!r} cannot be a coder's name", remedy)
    folder = Path(sample)
    with alone_in(folder):
        read = read_sample(sample)
        books = _books(read, book)
        turns = [
            {"session": session, "turn": turn, "role": role, "inclusion": inclusion}
            for session, turn, role, inclusion in read.drawn[["session_id", "turn", "role", "inclusion"]].to_numpy()
        ]
        ending = f"_{books[0].id}" if book else ""
        data: dict[str, Any] = {
            "coder": coder,
            "sample": read.sha256,
            "file": f"codes_{coder}{ending}.csv",
            "context": CONTEXT,
            "books": [book_json(one) for one in books],
            "turns": turns,
            "sessions": sessions_json(read, {one["session"] for one in turns}),
            "training": None,
        }
        if training is not None:
            words = Path(training_sample) if training_sample is not None else None
            found, trained = training_json(Path(training), words, read, folder, books)
            named = {one["session"] for turns_of in found.values() for one in turns_of}
            data["training"] = {"books": found, "sessions": sessions_json(trained, named)}
        path = folder / f"code_{coder}{ending}.html"
        with written_to(folder), replaced(path) as part:
            write(part, assemble(f"Coding: {coder}", data, SCRIPTS))
    return path


def _books(sample: SampleToCode, wanted: str | None) -> list[Codebook]:
    """Return the books to code by; a book of the user's own is known by its file alone."""
    try:
        return [codebook_named(one) for one in ([wanted] if wanted else sample.books)]
    except UnknownNameError as error:
        if wanted:
            raise
        problem = f"the sample was drawn for the codebook {error.name!r}, which is not one of the package's"
        raise BadOptionError("--book", problem, "Name its file with --book") from None


def sessions_json(sample: SampleToCode, wanted: Iterable[str]) -> dict[str, Any]:
    """Return some sessions by id: what each is about, and for each turn its number, its role and what was said."""
    kept = set(wanted)
    return {
        session: {
            "about": sample.about[session],
            "turns": [[number, one.role, one.words] for number, one in sorted(turns.items())],
        }
        for session, turns in sample.sessions.items()
        if session in kept
    }
