"""Folders of comparison, agreement and outcomes: tables and words, then figures and a page, all or nothing of them.

What these are made of is computed in `therapy_analytics.stats`, which returns tables and draws nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from therapy_analytics.core import private
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.folders import Made, replaced_in, seen_from
from therapy_analytics.core.ids import safe_id
from therapy_analytics.readers.account import Remark
from therapy_analytics.report import NAME as REPORT
from therapy_analytics.results import PROBLEMS, write_not_drawn
from therapy_analytics.run import course_page
from therapy_analytics.stats.agreement import Agreement
from therapy_analytics.stats.compare import Comparison
from therapy_analytics.stats.outcomes import Outcomes

if TYPE_CHECKING:
    import pandas as pd

Found: TypeAlias = Comparison | Agreement | Outcomes
Figures: TypeAlias = "Mapping[str, tuple[str, Callable[[], pd.DataFrame]]]"
"""The name of each file of a figure, its plot, and what returns its table."""
_WHAT = {Comparison: "a comparison", Agreement: "an agreement", Outcomes: "courses and outcomes"}
_OF_AGREEMENT = {"confusion": "confusion_matrix", "calibration": "calibration_curve", "rates": "limits_of_agreement"}
"""Tables of an agreement and the plots that show them."""
PAGE = "course.html"
MOST_COURSES = 300
"""People whose courses are drawn; a figure takes a third of a second."""


def write(
    found: Found,
    folder: str | Path,
    *,
    plots: bool = True,
    replace: bool = False,
    on_before: Callable[[str], None] = lambda _: None,
    on_problem: Callable[[str], None] = lambda _: None,
) -> list[Path]:
    """Write a comparison, an agreement or outcomes into a folder: tables, words, then figures.

    A figure that cannot be drawn is a line of ``problems.csv``; the tables are complete without it.

    Parameters
    ----------
    found : Comparison, Agreement or Outcomes
        What `ta.compare`, `ta.agreement` or `ta.outcomes` returned.
    folder : str or Path
        Made private (0700). What was written there of the same results is replaced.
    plots : bool, optional
        Whether figures are drawn; without them outcomes have no page.
    replace : bool, optional
        Whether what was written there of other results is replaced as well.
    on_before : callable, optional
        Told in a sentence what was replaced.
    on_problem : callable, optional
        Told in a sentence that figures could not be drawn.

    Returns
    -------
    list of Path
        The files that were written, in that order.

    Raises
    ------
    BadOptionError
        The folder holds anything else, or what was made of other results and may not be replaced; or `found` is none
        of the three.
    CannotWriteError
        The system refused to write.
    """
    what = next((what for kind, what in _WHAT.items() if isinstance(found, kind)), None)
    if what is None:
        problem = f"an object of type {type(found).__name__} cannot be written"
        raise BadOptionError("found", problem, "Give what ta.compare, ta.agreement or ta.outcomes returned")
    folder = Path(folder)
    texts, figures = found.files(), _figures(found) if plots else {}
    names = {*texts, *figures, PROBLEMS, PAGE}
    made = Made(what=what, names=names, sources=found.sources, replace=replace, say=on_before)
    with replaced_in(folder, made) as part:
        for name, text in texts.items():
            private.write(part / name, text)
        drawn, failed = _draw(figures, part)
        write_not_drawn(failed, part, folder, on_problem)
        if isinstance(found, Outcomes) and figures:
            pictures = dict(zip(_shown(found), drawn, strict=True))
            private.write(part / PAGE, course_page.html(found, pictures, report=_report(found, folder)))
    return [path for name in (*texts, *figures, PAGE, PROBLEMS) if (path := folder / name).is_file()]


def _figures(found: Found) -> Figures:
    """Return the figures of a comparison (one a family of measures), an agreement, or courses (one a person)."""
    if isinstance(found, Agreement):
        plots = _OF_AGREEMENT if len(found.rates) else {}
        return {f"{name}.png": (plot, partial(getattr, found, name)) for name, plot in plots.items()}
    if isinstance(found, Comparison):
        families = dict.fromkeys(map(str, found.groups["family"]))
        return {f"comparison_{one}.png": ("comparison", partial(_most_different, found, one)) for one in families}
    files: dict[str, tuple[str, Callable[[], pd.DataFrame]]] = {}
    for who in _shown(found):
        wanted, n = f"course_{safe_id(who)}", 1
        while (name := f"{wanted}{f'_{n}' if n > 1 else ''}.png").casefold() in {one.casefold() for one in files}:
            n += 1
        files[name] = "client_course", partial(_course, found, who)
    return files


def _most_different(found: Comparison, family: str) -> pd.DataFrame:
    from therapy_analytics.plots.group_comparison import most_different  # noqa: PLC0415 (matplotlib is slow to import)

    return most_different(found.groups[found.groups["family"] == family], found.table, common=found.usual)


def _course(found: Outcomes, who: str) -> pd.DataFrame:
    return found.lines[found.lines["who"] == who]


def _shown(found: Outcomes) -> list[str]:
    """Return the people whose courses are drawn, those who got worse first."""
    return course_page.ordered(found)[:MOST_COURSES]


def _draw(figures: Figures, folder: Path) -> tuple[list[bytes], list[Remark]]:
    """Draw figures into files; return the pictures, empty where that failed, and why it failed."""
    if not figures:
        return [], []
    from therapy_analytics.plots import PLOTS  # noqa: PLC0415 (matplotlib is slow to import)
    from therapy_analytics.plots.files import save, tables_first  # noqa: PLC0415

    failed: list[Remark] = []
    for name, (plot, table) in figures.items():
        with tables_first(failed, folder / name):
            save(PLOTS[plot], table(), private.fresh(folder / name))
    paths = [folder / name for name in figures]
    return [path.read_bytes() if path.is_file() else b"" for path in paths], failed


def _report(found: Outcomes, folder: Path) -> str:
    """Return where the report page of the results lies, seen from the folder; "" where there is not one."""
    pages = [Path(source, REPORT) for source in found.sources if Path(source, REPORT).is_file()]
    return seen_from(str(pages[0]), folder) if len(pages) == 1 else ""
