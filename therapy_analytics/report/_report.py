"""``report``: one file to open after a run."""

from __future__ import annotations

from pathlib import Path

from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.folders import alone_in, replaced, written_to
from therapy_analytics.core.private import write
from therapy_analytics.report.data import report_data
from therapy_analytics.report.html import assemble, made_from
from therapy_analytics.results import form_of, hash_of_all, read_recipe

NAME = "report.html"
MOST = 300
HEAD = 4096
"""Bytes at the beginning of a page in which it says of which transcripts it is."""
TITLE = "Counseling sessions"


def report(
    results: str | Path,
    *,
    out: str | Path | None = None,
    quotes: bool = False,
    most_sessions: int = MOST,
    replace: bool = False,
) -> Path:
    """Write one page about a folder of results, to be opened in any browser.

    Parameters
    ----------
    results : str or Path
        A folder that ``tanalyze run`` wrote. Transcripts are not needed, and only this folder is read.
    out : str or Path, optional
        The page; by default ``report.html`` in the folder. Only its owner may read it (0600). A page about the same
        transcripts is replaced.
    quotes : bool, optional
        Whether the page holds what was said, and the speakers' labels. Without, not one word of a transcript is in it,
        even if the folder has them.
    most_sessions : int, optional
        So many sessions get a view of their own; all stand in the table. More make the file slow to open.
    replace : bool, optional
        Whether another file of that name is replaced as well.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    BadOptionError
        The folder holds no results, or has them as Parquet, or quotes are asked for and the run was made without
        ``--quotes``, or a file of that name is there that is no page about the same transcripts.
    BadDataFileError
        A file of the folder is broken.
    CannotWriteError
        The system refused to write.

    Notes
    -----
    The same folder gives the same bytes. The page asks for nothing from any other address, and its own policy (CSP)
    forbids it to.

    Examples
    --------
    >>> report("no/such/folder")
    Traceback (most recent call last):
    ...
    therapy_analytics.core.errors.BadOptionError: results: no/such/folder holds no sessions.csv. Name a folder that ...
    """
    if most_sessions < 0:
        option = "most_sessions"
        raise BadOptionError(option, f"{most_sessions} is no number of sessions", "Give 0 or more")
    folder = Path(results)
    folder = folder.parent if folder.name == "sessions.csv" else folder
    target = _target(folder / NAME if out is None else Path(out))
    _refuse_parts(folder)
    with alone_in(target.parent):
        transcripts = hash_of_all([one.get("sha256") for one in read_recipe(folder).get("inputs", ())])
        if out is not None and not replace:
            _refuse_another(target, folder, made_from(transcripts))
        overview, sessions = report_data(folder, quotes=quotes, most_sessions=most_sessions)
        with written_to(target.parent), replaced(target) as part:
            write(part, assemble(TITLE, overview, sessions, transcripts=transcripts))
    return target


def _refuse_another(path: Path, folder: Path, mark: str) -> None:
    """Refuse a file that is there and is no page about the same transcripts."""
    if not path.exists() or path.resolve() == (folder / NAME).resolve():
        return
    with path.open("rb") as file:
        if mark.encode() in file.read(HEAD):
            return
    remedy = "Name another file with --out, or give --replace (in Python: replace=True) to have it replaced"
    raise BadOptionError("--out", f"{path} is there already, and is no page about these transcripts", remedy)


def _refuse_parts(folder: Path) -> None:
    """Refuse results of which no session has a folder of its own, as the page is made from these."""
    if form_of(folder) == "parquet":
        option = "results"
        problem = f"{folder} was written as Parquet, and the page needs results written as CSV"
        remedy = "Say tanalyze run ... --output-format csv, over fewer sessions where they are very many"
        raise BadOptionError(option, problem, remedy)


def _target(path: Path) -> Path:
    if path.is_dir():
        raise BadOptionError("--out", f"{path} is a folder", "Name a file, such as report.html")
    # The folder of results is looked at by whoever reads it.
    if path.name != NAME and not path.parent.is_dir():
        raise BadOptionError("--out", f"there is no folder {path.parent}", "Make it, or name a file elsewhere")
    return path
