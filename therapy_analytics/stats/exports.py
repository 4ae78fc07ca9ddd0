"""Export: the tables of results for other programs, or codes by people turn by turn, without words."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from therapy_analytics.core.cells import csv_of_rows
from therapy_analytics.core.errors import BadOptionError, UnknownNameError
from therapy_analytics.core.folders import Made, replaced_in, sources_of
from therapy_analytics.core.private import write
from therapy_analytics.core.pseudonyms import OPTION, Pseudonyms, lacking_key, refuse_other_key
from therapy_analytics.results.analysis import Analysis
from therapy_analytics.results.exports import FORMS
from therapy_analytics.results.exports import export as export_tables
from therapy_analytics.results.tables import GOLD
from therapy_analytics.stats.machine_codes import Machine, read_machine
from therapy_analytics.stats.people_codes import ALONE, GoldOptions, read_gold, refuse_unblinded
from therapy_analytics.stats.people_tables import as_text, named, read_table
from therapy_analytics.stats.turn_matching import match

CODED_FORMS = {"codes_csv": "codes.csv", "codes_jsonl": "codes.jsonl"}
"""Forms that hold codes turn by turn, and their files."""
COLUMNS = ("session_id", "turn", "code", "value", "coder", "note")
"""A row says of a turn (from 0) whether a coder gave it a code (1) or not (0)."""
_PEOPLE = "people"
"""The coder of columns of 0 and 1 that a transcript brought without saying whose they are."""
_CODER = "coder_"
_FLAGS = frozenset({"0", "1", ""})


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
    if to not in CODED_FORMS:
        if to not in FORMS:
            kind = "form to export to"
            raise UnknownNameError(kind, to, (*FORMS, *CODED_FORMS))
        if gold or pseudonyms is not None:
            option, problem = "--gold" if gold else OPTION, f"it is for forms of codes, not for {to}"
            raise BadOptionError(option, problem, f"Give --to {', '.join(CODED_FORMS)}")
        return export_tables(results, out, to=to, wide=wide, replace=replace, on_before=on_before)
    if wide:
        raise BadOptionError("--wide", f"it is for tables of measures, not for {to}", "Leave it out")
    machine = read_machine(results)
    refuse_other_key([machine.recipe], pseudonyms)
    given = [_brought(machine), *(_of_people(machine, path, pseudonyms) for path in gold)]
    rows = _whole(pd.concat(given, ignore_index=True), machine.turns)
    if not rows:
        problem = "nobody but the machine gave codes in it"
        remedy = "Name tables of codes by people with --gold; the machine's are in turns.csv"
        raise BadOptionError("--gold", problem, remedy)
    text = csv_of_rows([COLUMNS, *rows])
    if to == "codes_jsonl":
        objects = (dict(zip(COLUMNS, row, strict=True)) for row in rows)
        text = "".join(f"{json.dumps(one, ensure_ascii=False)}\n" for one in objects)
    out, name = Path(out), CODED_FORMS[to]
    made = Made(what="exported codes", names=[name], sources=sources_of(results, *gold), replace=replace, say=on_before)
    with replaced_in(out, made) as part:
        write(part / name, text)
    return [out / name]


def _brought(machine: Machine) -> pd.DataFrame:
    """Return the codes that the transcripts brought: a column of labels is of one coder, one of 0 and 1 is a code.

    A row is a turn (``place``), ``coder``, ``code``, ``value`` (0 or 1) and ``note``; `listed`, if the coder's zeros
    are rows as well.
    """
    cells = as_text(machine.turns[[name for name in machine.turns if str(name).startswith(GOLD)]])
    flags, labels = [], []
    for column in cells:
        name, given = str(column).removeprefix(GOLD), cells[column]
        is_flag = given.isin(_FLAGS).groupby(machine.turns["session_id"]).transform("all")
        is_flag &= not name.startswith(_CODER)
        own = given[is_flag & (given != "")]
        flags.append(pd.DataFrame({"coder": _PEOPLE, "code": name, "value": (own == "1").astype(np.int64)}))
        own = given[~is_flag].str.split(";").explode()
        coder = name.removeprefix(_CODER) if name.startswith(_CODER) else f"{GOLD}{name}"
        labels.append(pd.DataFrame({"coder": coder, "code": own[own != ""], "value": 1}))
    found = [one.assign(listed=at == 0, note="") for at, part in enumerate((flags, labels)) for one in part]
    names = ["coder", "code", "value", "listed", "note"]
    whole = pd.concat(found) if found else pd.DataFrame(columns=names)
    return whole.rename_axis("place").reset_index()


def _of_people(machine: Machine, path: str | Path, pseudonyms: Pseudonyms | None) -> pd.DataFrame:
    """Return the codes of people in a table, in the form of `_brought`."""
    rows = named(read_table(path), {})
    refuse_unblinded(rows)
    if not {"code", "value"} <= set(rows.columns):
        return read_gold(machine, path, GoldOptions(pseudonyms=pseudonyms)).values.assign(note="", listed=True)
    place = match(rows, machine.turns, pseudonyms, lacking_key([machine.recipe], pseudonyms)).place
    coder, note, unsure = (
        rows[name] if name in rows else pd.Series("", index=rows.index) for name in ("coder", "note", "unsure")
    )
    found = pd.DataFrame({
        "place": place,
        "coder": coder.where(coder != "", ALONE),
        "code": rows["code"],
        "value": rows["value"].str.strip().str.removesuffix(".0").map({"1": 1, "0": 0}),
        "listed": True,
        "note": note.mask((note == "") & unsure.str.strip().isin(("1", "1.0")), "unsure"),
    })  # fmt: skip
    return found[(found["place"] >= 0) & found["value"].notna() & (found["code"] != "")]


def _whole(given: pd.DataFrame, turns: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return a row for each turn, coder and code, by session, turn and coder, with 1 or 0.

    Where nothing says which codes a coder decided about, these are all that the coder gave anywhere, in all turns of
    the sessions in which the coder gave one.
    """
    session = pd.factorize(turns["session_id"])[0]
    given = given.sort_values("place", kind="stable", ignore_index=True)
    given["session"] = session[given["place"].astype(np.int64)]
    given["rank"] = np.arange(len(given)) + np.where(given["listed"], 0, len(given))
    frames = [given]
    for coder, own in given[~given.groupby("coder")["listed"].transform("any").astype(bool)].groupby("coder"):
        codes = pd.DataFrame({"code": own["code"].unique(), "coder": coder, "value": 0})
        places = np.flatnonzero(np.isin(session, own["session"]))
        every = codes.assign(rank=np.arange(len(codes))).merge(pd.DataFrame({"place": places}), how="cross")
        frames.append(every.assign(session=session[every["place"]]))
    whole = pd.concat(frames).groupby(["session", "place", "coder", "code"], sort=False)
    rows = whole.agg(value=("value", "max"), rank=("rank", "min")).reset_index()
    first = given.groupby(["session", "coder"], sort=False).ngroup().groupby([given["session"], given["coder"]]).first()
    notes = given[given["note"] != ""].drop_duplicates(["place", "coder", "note"]).groupby(["place", "coder"])["note"]
    rows = rows.join(first.rename("first"), on=["session", "coder"]).join(notes.agg("\n".join), on=["place", "coder"])
    rows = rows.sort_values(["session", "place", "first", "rank"])
    at = rows["place"].astype(np.int64).to_numpy()
    about = turns.iloc[at]["session_id"].astype(str), turns.iloc[at]["turn"].astype(np.int64).astype(str)
    value = rows["value"].astype(np.int64).astype(str)
    return list(zip(*about, rows["code"], value, rows["coder"], rows["note"].fillna(""), strict=True))
