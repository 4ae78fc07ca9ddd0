"""Folders of comparisons: tables and words, then figures, all or nothing of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from therapy_analytics.core import private
from therapy_analytics.core.folders import Made, replaced_in
from therapy_analytics.readers.account import Remark
from therapy_analytics.results import PROBLEMS, write_not_drawn
from therapy_analytics.stats.compare import Comparison


def write(
    found: Comparison,
    folder: str | Path,
    *,
    plots: bool = True,
    replace: bool = False,
    on_before: Callable[[str], None] = lambda _: None,
    on_problem: Callable[[str], None] = lambda _: None,
) -> list[Path]:
    """Write a comparison into a folder: tables, words, then a figure for each family of measures.

    A figure that cannot be drawn is a line of ``problems.csv``.

    Parameters
    ----------
    found : Comparison
        What `ta.compare` returned.
    folder : str or Path
        Made private (0700). What was written there of the same results is replaced.
    plots : bool, optional
        Whether figures are drawn.
    replace : bool, optional
        Whether what was written there of other results is replaced as well.
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
        The folder holds anything else, or what was made of other results and may not be replaced.
    CannotWriteError
        The system refused to write.
    """
    folder, texts = Path(folder), found.files()
    families = list(dict.fromkeys(found.groups["family"])) if plots else []
    names = {*texts, *(f"comparison_{family}.png" for family in families), PROBLEMS}
    made = Made(what="a comparison", names=names, sources=found.sources, replace=replace, say=on_before)
    with replaced_in(folder, made) as part:
        for name, text in texts.items():
            private.write(part / name, text)
        if families:
            write_not_drawn(_draw(found, families, part), part, folder, on_problem)
        written = sorted(path.name for path in part.iterdir())
    return [folder / name for name in written]


def _draw(found: Comparison, families: list[str], folder: Path) -> list[Remark]:
    """Draw a figure a family; return which could not be drawn."""
    from therapy_analytics.plots import PLOTS  # noqa: PLC0415 (matplotlib is slow to import)
    from therapy_analytics.plots._figures import tables_first  # noqa: PLC0415

    failed: list[Remark] = []
    for family in families:
        path = folder / f"comparison_{family}.png"
        with tables_first(failed, path):
            from therapy_analytics.plots._save import save  # noqa: PLC0415
            from therapy_analytics.plots.group_comparison import most_different  # noqa: PLC0415

            own = found.groups[found.groups["family"] == family]
            save(PLOTS["comparison"], most_different(own, found.table, common=found.usual), private.fresh(path))
    return failed
