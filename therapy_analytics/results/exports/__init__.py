"""Export of tables to CSV, Parquet, Stata and SPSS, and of codes by people turn by turn.

How to add a form: write ``f(tables, out) -> None`` in a new module of this folder, which calls `private.fresh` for each
file that it writes, and add it to `FORMS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from therapy_analytics.core.errors import BadOptionError, UnknownNameError
from therapy_analytics.core.folders import Made, alone_in, replaced_in, sources_of
from therapy_analytics.core.pseudonyms import OPTION, Pseudonyms
from therapy_analytics.results import load
from therapy_analytics.results.analysis import Analysis
from therapy_analytics.results.exports._coded import CODED_FORMS, export_codes
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

__all__ = ["CODED_FORMS", "FORMS", "export"]


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


def export(  # noqa: PLR0913 (each is an option of the command)
    results: Analysis | str | Path,
    out: str | Path,
    *,
    to: str = "csv",
    wide: bool | None = None,
    gold: Sequence[str | Path] = (),
    pseudonyms: Pseudonyms | None = None,
    replace: bool = False,
    on_before: Callable[[str], None] = lambda _: None,
) -> list[Path]:
    """Write the tables of an analysis for a spreadsheet, R, Stata or SPSS; or the codes that people gave.

    Parameters
    ----------
    results : Analysis, str or Path
        What `analyze` returned, or a folder that ``tanalyze run`` wrote.
    out : str or Path
        Folder for the files, made if need be (private, 0700). An earlier export of the same results to the same form
        is replaced.
    to : {"csv", "stata", "spss", "parquet", "codes_csv", "codes_jsonl"}, optional
        ``stata`` writes .dta files that Stata 14 and later open, ``spss`` .sav files. ``spss`` needs the package
        pyreadstat (extra ``stats``), ``parquet`` pyarrow (extra ``parquet``). ``codes_csv`` and ``codes_jsonl`` write
        the codes of people, a row a turn and code, without words.
    wide : bool, optional
        Whether the table `wide` is written, too: a row a session, every number that was measured in a column (up to
        some 1,300; Stata/BE opens 2,048). Default: for CSV alone.
    gold : sequence of str or Path, optional
        For forms of codes: files of codes by people, as ``tanalyze agree`` reads them.
    pseudonyms : Pseudonyms, optional
        For forms of codes: the key that the results were made with, to find their sessions in files of codes.
    replace : bool, optional
        Whether exports of other results, in any form, are replaced.
    on_before : callable, optional
        Called with a sentence on what was replaced.

    Returns
    -------
    list of Path
        The files: sessions, measures and parts (a row for each measure), turns, probabilities, turn_measures,
        behaviours (a row for each turn and code), responses, dyads where there are any, the codebook, and wide
        where it is asked for. For CSV also ``columns.csv``, which says what each column means; for Stata and
        SPSS ``names_stata.csv`` or ``names_spss.csv``, with the name of each column there.

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
    Tables hold the words of the sessions only where the results do (column ``text`` of the turns, of ``--quotes``).
    The same tables give the same bytes, but for SPSS files, which have the time of writing in them.
    """
    if to in CODED_FORMS:
        if wide:
            raise BadOptionError("--wide", f"it is for tables of measures, not for {to}", "Leave it out")
        return export_codes(
            results, Path(out), to=to, gold=gold, pseudonyms=pseudonyms, replace=replace, on_before=on_before
        )
    if to not in FORMS:
        kind = "form to export to"
        raise UnknownNameError(kind, to, (*FORMS, *CODED_FORMS))
    if gold or pseudonyms is not None:
        option = "--gold" if gold else OPTION
        raise BadOptionError(option, f"it is for forms of codes, not for {to}", f"Give --to {', '.join(CODED_FORMS)}")
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
