"""Folders of outcomes: tables and words, then figures and a page, all or nothing of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from therapy_analytics.core import private
from therapy_analytics.core.folders import Made, replaced_in, seen_from
from therapy_analytics.core.ids import safe_id
from therapy_analytics.readers.account import Remark
from therapy_analytics.report._report import NAME as REPORT
from therapy_analytics.results import PROBLEMS, write_not_drawn
from therapy_analytics.run import course_page
from therapy_analytics.stats.outcomes import Outcomes

PAGE = "course.html"
MOST_COURSES = 300
"""People whose courses are drawn; a figure takes a third of a second."""


def write(
    found: Outcomes,
    folder: str | Path,
    *,
    plots: bool = True,
    replace: bool = False,
    on_before: Callable[[str], None] = lambda _: None,
    on_problem: Callable[[str], None] = lambda _: None,
) -> list[Path]:
    """Write tables, words, then a figure for each client (or counselor), and the page, into a folder made private.

    A figure that cannot be drawn is a line of ``problems.csv``.

    Parameters
    ----------
    found : Outcomes
        What `ta.outcomes` returned.
    folder : str or Path
        What was written there of the same results and scores is replaced.
    plots : bool, optional
        Whether figures are drawn, without which there is no page.
    replace : bool, optional
        Whether what was written there of other results or scores is replaced as well.
    on_before : callable, optional
        Told in a sentence what was replaced.
    on_problem : callable, optional
        Told in a sentence that figures could not be drawn.

    Returns
    -------
    list of Path
        The files that were written.

    Raises
    ------
    BadOptionError
        The folder holds anything else, or outcomes of other results that may not be replaced.
    CannotWriteError
        The system refused to write.
    """
    folder = Path(folder)
    texts, figures = found.files(), _course_figures(found) if plots else {}
    names = {*texts, "corrected.csv", *figures.values(), PAGE, PROBLEMS}
    made = Made(what="courses and outcomes", names=names, sources=found.sources, replace=replace, say=on_before)
    with replaced_in(folder, made) as part:
        for name, text in texts.items():
            private.write(part / name, text)
        if figures:
            drawn, failed = _draw(found, figures, part)
            write_not_drawn(failed, part, folder, on_problem)
            pages = [Path(source, REPORT) for source in found.sources if Path(source, REPORT).is_file()]
            report = seen_from(str(pages[0]), folder) if len(pages) == 1 else ""
            private.write(part / PAGE, course_page.html(found, drawn, report=report))
        written = sorted(path.name for path in part.iterdir())
    return [folder / name for name in written]


def _course_figures(found: Outcomes) -> dict[str, str]:
    """Return the people whose courses are drawn, each with a file name of its own."""
    files: dict[str, str] = {}
    for who in course_page.ordered(found)[:MOST_COURSES]:
        wanted, n = f"course_{safe_id(who)}", 1
        while (name := f"{wanted}{f'_{n}' if n > 1 else ''}.png").casefold() in map(str.casefold, files.values()):
            n += 1
        files[who] = name
    return files


def _draw(found: Outcomes, figures: dict[str, str], folder: Path) -> tuple[dict[str, bytes], list[Remark]]:
    """Draw figures into files; return the pictures, empty where that failed, and why it failed."""
    from therapy_analytics.plots import PLOTS  # noqa: PLC0415 (matplotlib is slow to import)
    from therapy_analytics.plots._figures import tables_first  # noqa: PLC0415

    failed: list[Remark] = []
    drawn = dict.fromkeys(figures, b"")
    for who, name in figures.items():
        with tables_first(failed, folder / name):
            from therapy_analytics.plots._save import save  # noqa: PLC0415

            table = found.lines[found.lines["who"] == who]
            drawn[who] = save(PLOTS["client_course"], table, private.fresh(folder / name)).read_bytes()
    return drawn, failed
