"""Export of tables to CSV, Parquet, Stata and SPSS.

How to add a form: write ``f(tables, out) -> None`` in a new module of this folder, which calls `private.fresh` for each
file that it writes, and add it to `FORMS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from therapy_analytics.core.errors import UnknownNameError
from therapy_analytics.core.folders import Made, alone_in, replaced_in, sources_of
from therapy_analytics.results import load
from therapy_analytics.results.analysis import Analysis
from therapy_analytics.results.exports._labelled import library, write_spss, write_stata
from therapy_analytics.results.exports._tables import (
    EXPORTED,
    WIDE,
    ExportTable,
    export_tables,
    nothing_needed,
    parquet_library,
    write_csv,
    write_parquet,
)

__all__ = ["FORMS", "export"]


@dataclass(frozen=True, slots=True)
class _ExportForm:
    """A form of export.

    Attributes
    ----------
    suffix : str
        The suffix of its files.
    check : callable
        Raises a `BadOptionError` if the library that writes it is not installed.
    write : callable
        Writes the tables into a folder.
    names : str
        The file that lists the columns, or their short names; empty where there is none.
    """

    suffix: str
    check: Callable[[], object]
    write: Callable[[Sequence[ExportTable], Path], None]
    names: str = ""

    @property
    def files(self) -> list[str]:
        """The names of all files that an export may write."""
        return [
            *(f"{table}{self.suffix}" for table in (*EXPORTED, WIDE)),
            *([self.names] if self.names else []),
        ]


FORMS = {
    "csv": _ExportForm(".csv", nothing_needed, write_csv, names="columns.csv"),
    "parquet": _ExportForm(".parquet", parquet_library, write_parquet),
    "stata": _ExportForm(".dta", nothing_needed, write_stata, names="names_stata.csv"),
    "spss": _ExportForm(".sav", library, write_spss, names="names_spss.csv"),
}
"""The forms that tables can be exported to, by name."""


def export(
    results: Analysis | str | Path,
    out: str | Path,
    *,
    to: str = "csv",
    wide: bool | None = None,
    replace: bool = False,
    on_before: Callable[[str], None] = lambda _: None,
) -> list[Path]:
    """Write the tables of an analysis for a spreadsheet, R, Stata or SPSS: as ``ta.export``, which writes codes, too.

    Raises
    ------
    UnknownNameError
        There is no such form.
    BadOptionError
        A library is missing, the folder holds other files, or exports of other results, or the results cannot be read.
    CannotWriteError
        The system refused to write.
    """
    if to not in FORMS:
        kind = "form to export to"
        raise UnknownNameError(kind, to, tuple(FORMS))
    form = FORMS[to]
    form.check()
    analysis = results if isinstance(results, Analysis) else load(results)
    out = Path(out)
    known = {name for one in FORMS.values() for name in one.files}
    made = Made(
        what="exported tables", names=form.files, beside=known.difference(form.files), sources=sources_of(results),
        replace=replace, say=on_before,
    )  # fmt: skip
    with alone_in(out):
        tables = export_tables(analysis, with_wide=to == "csv" if wide is None else wide)
        with replaced_in(out, made) as part:
            form.write(tables, part)
    return [out / name for name in form.files if (out / name).is_file()]
