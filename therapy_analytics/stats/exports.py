"""Export: the tables of results for other programs; or codes by people turn by turn, without words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from therapy_analytics.core.cells import csv_of_rows
from therapy_analytics.core.errors import BadOptionError, UnknownNameError
from therapy_analytics.core.folders import Made, replaced_in, sources_of
from therapy_analytics.core.private import write
from therapy_analytics.core.pseudonyms import OPTION, Pseudonyms, lacking_key, refuse_other_key
from therapy_analytics.results.analysis import Analysis
from therapy_analytics.results.exports import FORMS
from therapy_analytics.results.exports import export as export_tables
from therapy_analytics.results.tables import GOLD
from therapy_analytics.stats.agreement._gold import (
    ALONE,
    GoldOptions,
    as_text,
    named,
    read_gold,
    read_table,
    refuse_unblinded,
)
from therapy_analytics.stats.agreement._machine import Machine, read_machine
from therapy_analytics.stats.agreement._match import match

CODES_CSV, CODES_JSONL = "codes_csv", "codes_jsonl"
CODED_FORMS = (CODES_CSV, CODES_JSONL)
"""Forms that hold codes turn by turn."""
_FILES = {CODES_CSV: "codes.csv", CODES_JSONL: "codes.jsonl"}
_COLUMNS = ("session_id", "turn", "code", "value", "coder", "note")
"""A row says of a turn (from 0) whether a coder gave it a code (1) or not (0)."""
_PEOPLE = "people"
"""The coder of columns of 0 and 1 that a transcript brought without saying whose they are."""
_CODER = "coder_"
_FLAGS = frozenset({"0", "1", ""})


@dataclass(frozen=True, slots=True)
class _CodesOfTurn:
    """What one coder said of one turn; `known` are all codes decided about, None where nothing says which."""

    coder: str
    codes: tuple[str, ...] = ()
    known: tuple[str, ...] | None = None
    note: str = ""


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
    return export_tables(results, out, to=to, wide=wide, replace=replace, on_before=on_before)


def export_codes(  # noqa: PLR0913 (each is an option of the command)
    results: Analysis | str | Path,
    out: Path,
    *,
    to: str,
    gold: Sequence[str | Path],
    pseudonyms: Pseudonyms | None,
    replace: bool,
    on_before: Callable[[str], None],
) -> list[Path]:
    """Write codes turn by turn, see `export`."""
    machine = read_machine(results)
    refuse_other_key([machine.recipe], pseudonyms)
    given = _brought(machine)
    for path in gold:
        for at, one in _people(machine, path, pseudonyms):
            given[at].append(one)
    rows = list(_rows(machine, list(map(_merged, given))))
    if not rows:
        problem = "nobody but the machine gave codes in it"
        remedy = "Name tables of codes by people with --gold; the machine's are in turns.csv"
        raise BadOptionError("--gold", problem, remedy)
    name = _FILES[to]
    made = Made(what="exported codes", names=[name], sources=sources_of(results, *gold), replace=replace, say=on_before)
    with replaced_in(out, made) as part:
        write(part / name, _table(rows, to))
    return [out / name]


def _table(rows: Sequence[Sequence[str]], to: str) -> bytes:
    """Return a row a turn and code, as CSV or JSON Lines."""
    if to == CODES_CSV:
        return csv_of_rows([_COLUMNS, *rows]).encode()
    lines = (json.dumps(dict(zip(_COLUMNS, row, strict=True)), ensure_ascii=False) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode()


def _brought(machine: Machine) -> list[list[_CodesOfTurn]]:
    """Return the codes that the transcripts brought: a column of labels is of one coder, one of 0 and 1 is a code."""
    cells = as_text(machine.turns[[name for name in machine.turns if str(name).startswith(GOLD)]])
    cells = cells.rename(columns=lambda name: str(name).removeprefix(GOLD))
    given: list[list[_CodesOfTurn]] = [[] for _ in range(len(cells))]
    for places in machine.turns.groupby("session_id", sort=False).indices.values():
        own = cells.iloc[places]
        flags = {name for name in own if set(own[name]) <= _FLAGS and not str(name).startswith(_CODER)}
        for at, row in zip(map(int, places), own.to_dict("records"), strict=True):
            decided = tuple(str(name) for name, value in row.items() if name in flags and value)
            if decided:
                codes = tuple(name for name in decided if row[name] == "1")
                given[at].append(_CodesOfTurn(_PEOPLE, codes, decided))
            for name, value in ((str(name), value) for name, value in row.items() if value and name not in flags):
                coder = name.removeprefix(_CODER) if name.startswith(_CODER) else f"{GOLD}{name}"
                given[at].append(_CodesOfTurn(coder, tuple(dict.fromkeys(filter(None, value.split(";"))))))
    return given


def _people(machine: Machine, path: str | Path, pseudonyms: Pseudonyms | None) -> list[tuple[int, _CodesOfTurn]]:
    """Return the codes of people in a table, with the row of the turn each is about."""
    rows = named(read_table(path), {})
    refuse_unblinded(rows)
    if not {"code", "value"} <= set(rows.columns):
        values = read_gold(machine, path, GoldOptions(pseudonyms=pseudonyms)).values
        rows = values.assign(value=values["value"].astype(str), note="", unsure="")
        place = values["place"].tolist()
    else:
        lacking = lacking_key([machine.recipe], pseudonyms)
        place = match(rows, machine.turns, pseudonyms, lacking).place.tolist()
        rows = rows.assign(**{name: rows.get(name, "") for name in ("coder", "note", "unsure")})
    found: dict[tuple[int, str], dict[str, Any]] = {}
    columns = (rows[name].tolist() for name in ("coder", "code", "value", "note", "unsure"))
    for at, coder, code, value, note, unsure in zip(place, *columns, strict=True):
        given = {"1": True, "0": False}.get(str(value).strip().removesuffix(".0"))
        if at < 0 or given is None or not code:
            continue
        one = found.setdefault((at, coder or ALONE), {"codes": {}, "known": {}, "notes": {}})
        one["known"][code] = None
        if given:
            one["codes"][code] = None
        remark = note or ("unsure" if str(unsure).strip() in {"1", "1.0"} else "")
        if remark:
            one["notes"][remark] = None
    return [
        (at, _CodesOfTurn(coder, tuple(one["codes"]), tuple(one["known"]), "\n".join(one["notes"])))
        for (at, coder), one in found.items()
    ]


def _merged(given: Iterable[_CodesOfTurn]) -> dict[str, _CodesOfTurn]:
    """Return what is said of one turn by coder."""
    found: dict[str, _CodesOfTurn] = {}
    for one in given:
        old = found.get(one.coder, _CodesOfTurn(one.coder))
        known = None if old.known is None and one.known is None else (*(old.known or ()), *(one.known or ()))
        found[one.coder] = _CodesOfTurn(
            one.coder,
            tuple(dict.fromkeys((*old.codes, *one.codes))),
            None if known is None else tuple(dict.fromkeys(known)),
            "\n".join(dict.fromkeys(filter(None, (old.note, one.note)))),
        )
    return found


def _rows(machine: Machine, given: Sequence[dict[str, _CodesOfTurn]]) -> Iterator[tuple[str, str, str, str, str, str]]:
    """Yield a row for each turn, coder and code, with 1 or 0.

    Where nothing says which codes a coder decided about, these are all that the coder gave anywhere, in all turns of
    the sessions in which the coder gave one.
    """
    used: dict[str, dict[str, None]] = {}
    for one in (one for row in given for one in row.values()):
        used.setdefault(one.coder, {}).update(dict.fromkeys(one.codes))
    told = {one.coder for row in given for one in row.values() if one.known is not None}
    numbers = machine.turns["turn"].tolist()
    for session, places in machine.turns.groupby("session_id", sort=False).indices.items():
        here = dict.fromkeys(one.coder for at in places for one in given[at].values() if one.codes or one.known)
        for at in places:
            for coder in here:
                one = given[at].get(coder, _CodesOfTurn(coder))
                known = (one.known or ()) if coder in told else tuple(used[coder])
                for code in dict.fromkeys((*known, *one.codes)):
                    value = "1" if code in one.codes else "0"
                    yield str(session), str(int(numbers[at])), code, value, coder, one.note
