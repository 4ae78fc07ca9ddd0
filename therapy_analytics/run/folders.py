"""Write what was found into a folder: tables, texts and figures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from therapy_analytics.core import private
from therapy_analytics.core.folders import Made, replaced_in
from therapy_analytics.readers.account import Remark
from therapy_analytics.results import PROBLEMS, write_not_drawn
from therapy_analytics.stats.agreement import Agreement

FIGURES = {"confusion": "confusion_matrix", "calibration": "calibration_curve", "rates": "limits_of_agreement"}
"""Tables of an agreement, and the plots that show them."""


def write(
    result: Agreement,
    folder: Path | str,
    *,
    plots: bool = True,
    replace: bool = False,
    on_before: Callable[[str], None] = lambda _: None,
    on_problem: Callable[[str], None] = lambda _: None,
) -> list[Path]:
    """Write tables and texts, and then the figures; return the files.

    A figure that cannot be drawn is a line of ``problems.csv``.

    Parameters
    ----------
    result : Agreement
        What `agreement` returned.
    folder : str or Path
        Made private. What was written there of the same results and human codes is replaced.
    plots : bool, optional
        Whether figures are drawn.
    replace : bool, optional
        Whether what was written there of other results or codes is replaced as well.
    on_before : callable, optional
        Told in a sentence what was replaced.
    on_problem : callable, optional
        Told in a sentence that figures could not be drawn.

    Raises
    ------
    BadOptionError
        The folder holds anything else, or the agreement of others that may not be replaced.
    CannotWriteError
        The system refused to write.
    """
    folder, texts = Path(folder), result.files()
    figures = [f"{name}.png" for name in FIGURES]
    names = [*texts, *figures, PROBLEMS]
    made = Made(what="an agreement", names=names, sources=result.sources, replace=replace, say=on_before)
    with replaced_in(folder, made) as part:
        for name, text in texts.items():
            private.write(part / name, text)
        if plots and len(result.rates):
            write_not_drawn(_draw(result, part), part, folder, on_problem)
        written = [folder / name for name in names]
    return [path for path in written if path.is_file()]


def _draw(result: Agreement, folder: Path) -> list[Remark]:
    """Draw the figures; return which could not be drawn."""
    from therapy_analytics.plots import PLOTS  # noqa: PLC0415  # matplotlib is slow to import
    from therapy_analytics.plots._figures import tables_first  # noqa: PLC0415

    failed: list[Remark] = []
    for name, plot in FIGURES.items():
        path = folder / f"{name}.png"
        with tables_first(failed, path):
            from therapy_analytics.plots._save import save  # noqa: PLC0415

            save(PLOTS[plot], getattr(result, name), private.fresh(path))
    return failed
