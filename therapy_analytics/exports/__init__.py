"""Export of the tables of an analysis to CSV, Parquet, Stata and SPSS, each column with its meaning.

How to add a form: write ``f(tables, out) -> None`` in a new module of this folder, which calls `private.fresh` for each
file that it writes, and add it to `FORMS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from therapy_analytics.analysis import Analysis
from therapy_analytics.errors import UnknownNameError
from therapy_analytics.exports._labelled import library, write_spss, write_stata
from therapy_analytics.exports._tables import (
    EXPORTED,
    IMPUTED,
    WIDE,
    ExportTable,
    export_tables,
    imputed_table,
    nothing_needed,
    parquet_library,
    write_csv,
    write_parquet,
)
from therapy_analytics.outcomes._imputation import imputed
from therapy_analytics.outputs import Made, replaced_in, sources_of
from therapy_analytics.results import load


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
    imputation : str
        What the program calls the number of an imputed data set.
    """

    suffix: str
    check: Callable[[], object]
    write: Callable[[Sequence[ExportTable], Path], None]
    names: str = ""
    imputation: str = ".imp"

    @property
    def files(self) -> list[str]:
        """The names of all files that an export may write."""
        return [
            *(f"{table}{self.suffix}" for table in (*EXPORTED, WIDE, IMPUTED)),
            *([self.names] if self.names else []),
        ]


FORMS = {
    "csv": _ExportForm(".csv", nothing_needed, write_csv, names="columns.csv"),
    "parquet": _ExportForm(".parquet", parquet_library, write_parquet),
    "stata": _ExportForm(".dta", lambda: library("stata"), write_stata, names="names_stata.csv"),
    "spss": _ExportForm(".sav", lambda: library("spss"), write_spss, names="names_spss.csv", imputation="Imputation_"),
}
"""The forms that tables can be exported to, by name."""


def export(  # noqa: PLR0913 (each is an option of the command)
    results: Analysis | str | Path,
    out: str | Path,
    *,
    to: str = "csv",
    wide: bool | None = None,
    imputations: int = 0,
    replace: bool = False,
    on_before: Callable[[str], None] = lambda _: None,
) -> list[Path]:
    """Write the tables of an analysis for a spreadsheet, R, Stata or SPSS.

    Parameters
    ----------
    results : Analysis, str or Path
        What `analyze` returned, or a folder that ``tanalyze run`` wrote.
    out : str or Path
        Folder for the files, made if need be (private, 0700). An earlier export of the same results to the same form
        is replaced.
    to : {"csv", "stata", "spss", "parquet"}, optional
        ``stata`` writes .dta files that Stata 14 and later open, ``spss`` .sav files. Both need the package pyreadstat
        (extra ``stats``), ``parquet`` needs pyarrow (extra ``parquet``), ``csv`` needs nothing.
    wide : bool, optional
        Whether the table `wide` is written, too: a row a session, every number that was measured in a column (up to
        some 1,300; Stata/BE opens 2,048). Default: for CSV alone.
    imputations : int, optional
        So many data sets (2 or more) with codes drawn from their probabilities are written under each other into the
        table `imputed`, for multiple imputation, with the seed of the run; 0 for none. See
        `therapy_analytics.outcomes._imputation.imputed`.
    replace : bool, optional
        Whether exports of other results, in any form, are replaced.
    on_before : callable, optional
        Called with a sentence on what was replaced.

    Returns
    -------
    list of Path
        The files: sessions, measures and parts (a row for each measure), turns, probabilities, turn_measures,
        behaviours (a row for each turn and code), responses, dyads where there are any, the codebook, and wide and
        imputed where they are asked for. For CSV also ``columns.csv``, which says what each column means; for Stata and
        SPSS ``names_stata.csv`` or ``names_spss.csv``, with the name of each column there, and how many of its texts
        had to be cut.

    Raises
    ------
    UnknownNameError
        There is no such form.
    BadOptionError
        A library is missing, the folder holds other files, or exports of other results, or the results cannot be read.
    CannotWriteError
        The system refused to write.

    Notes
    -----
    No words of the sessions are written unless the results hold them (column ``text`` of the turns, of ``--quotes``).
    The same tables give the same bytes: where a form has a date, it is 1 January 2000.
    """
    if to not in FORMS:
        kind = "form to export to"
        raise UnknownNameError(kind, to, FORMS)
    form = FORMS[to]
    form.check()
    analysis = results if isinstance(results, Analysis) else load(results)
    out = Path(out)
    known = {name for one in FORMS.values() for name in one.files}
    made = Made(
        what="exported tables", names=form.files, beside=known.difference(form.files), sources=sources_of(results),
        replace=replace, say=on_before,
    )  # fmt: skip
    tables = export_tables(analysis, with_wide=to == "csv" if wide is None else wide)
    if imputations:
        drawn = imputed(analysis, imputations, analysis.seed)
        tables.append(imputed_table(analysis.sessions, drawn, analysis.codebook, number=form.imputation))
    with replaced_in(out, made) as part:
        form.write(tables, part)
    return [out / name for name in form.files if (out / name).is_file()]
