"""The folder of a comparison: made private, all its files put there at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from therapy_analytics import private
from therapy_analytics.compare._measures import CORE
from therapy_analytics.outputs import Made, replaced_in
from therapy_analytics.results import write_csv

if TYPE_CHECKING:
    from therapy_analytics.compare._compare import Comparison

RECIPE = "comparison.json"
_FILES = ("comparison.csv", "groups.csv", "within.csv", "change.csv", "comparison.md", RECIPE)


def write(found: Comparison, out: Path, *, plots: bool, replace: bool, on_before: Callable[[str], None]) -> Path:
    """Write a comparison; raise `BadOptionError` where the folder holds anything else, or one of other results."""
    names = {*_FILES, *_earlier(out)}
    made = Made(what="a comparison", names=names, sources=found.sources, replace=replace, say=on_before)
    with replaced_in(out, made) as part:
        _fill(found, part, plots=plots)
    return out


def _fill(found: Comparison, out: Path, *, plots: bool) -> None:
    tables = {"comparison.csv": found.table, "groups.csv": found.groups}
    tables |= {name: one for name, one in (("within.csv", found.within), ("change.csv", found.change)) if len(one)}
    tables |= {f"{one.name}.csv": one.table for one in found.more}
    figures = _families(found) if plots else {}
    written = sorted([*tables, "comparison.md", RECIPE, *(f"comparison_{family}.png" for family in figures)])
    recipe = json.dumps({**found.recipe, "files": written}, indent=2, ensure_ascii=False)
    private.write(out / RECIPE, recipe + "\n")
    for name, table in tables.items():
        write_csv(table, private.fresh(out / name))
    private.write(out / "comparison.md", found.words)
    if figures:
        _draw(found, out, figures)


def _families(found: Comparison) -> dict[str, None]:
    return dict.fromkeys(str(family) for family in found.groups["family"])


def _draw(found: Comparison, out: Path, families: dict[str, None]) -> None:
    from therapy_analytics.plots import PLOTS  # noqa: PLC0415 (matplotlib is slow to import)
    from therapy_analytics.plots._save import save  # noqa: PLC0415
    from therapy_analytics.plots.group_comparison import figure_size, most_different  # noqa: PLC0415

    for family in families:
        table = most_different(found.groups[found.groups["family"] == family], found.table, common=CORE)
        path = private.fresh(out / f"comparison_{family}.png")
        save(PLOTS["comparison"], table, path, figsize=figure_size(table))


def _earlier(out: Path) -> list[str]:
    """Return what an earlier comparison says that it wrote here: names without a folder."""
    try:
        names = json.loads((out / RECIPE).read_text(encoding="utf-8")).get("files", [])
    except (OSError, ValueError, AttributeError):
        return []
    return [name for name in names if isinstance(name, str) and Path(name).name == name and name not in ("", ".", "..")]
