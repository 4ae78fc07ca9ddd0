"""Codes for other programs: REFI-QDA projects and ELAN files with words, tables of codes without."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from therapy_analytics.agreement._coded_files import COLUMNS, code_rows, holds_codes
from therapy_analytics.agreement._gold import (
    ALONE,
    GoldOptions,
    as_text,
    named,
    read_gold,
    read_table,
    refuse_unblinded,
)
from therapy_analytics.agreement._machine import Machine, read_machine
from therapy_analytics.agreement._match import match
from therapy_analytics.analysis import Analysis
from therapy_analytics.behaviours import builtin_codebooks
from therapy_analytics.cells import csv_of_rows
from therapy_analytics.core.folders import Made, replaced_in
from therapy_analytics.core.pseudonyms import Pseudonyms, lacking_key, refuse_other_key
from therapy_analytics.errors import BadDataFileError, BadOptionError
from therapy_analytics.private import write
from therapy_analytics.readers import ReadOptions, read_files
from therapy_analytics.readers._account import Account
from therapy_analytics.readers._addresses import sources_of
from therapy_analytics.readers._coded import MACHINE, CodedSession, CodesOfTurn, merged, with_own_codes
from therapy_analytics.results import read_csv, read_wide_turns
from therapy_analytics.session import Role, Session, Turn
from therapy_analytics.tables import GOLD
from therapy_analytics.writers._refi import CodeMeaning, refi_project
from therapy_analytics.writers.elan import elan_file

QDPX, ELAN, CODES_CSV, CODES_JSONL = "qdpx", "elan", "codes_csv", "codes_jsonl"
CODED_FORMS = (QDPX, ELAN, CODES_CSV, CODES_JSONL)
"""Forms that hold codes turn by turn: the first two with the words of the sessions, the others without."""
WITH_WORDS = (QDPX, ELAN)
_FILES = {QDPX: "project.qdpx", CODES_CSV: "codes.csv", CODES_JSONL: "codes.jsonl"}
_OWN_CODES = "Own codes"
_TRANSCRIPTS = "--transcripts"


@dataclass(frozen=True, slots=True)
class _Coded:
    """Sessions with codes, what the codes mean, and when each coder's codes were written."""

    sessions: Sequence[CodedSession]
    meanings: Mapping[str, CodeMeaning] = field(default_factory=dict)
    dates: Mapping[str, str] = field(default_factory=dict)


def export_codes(  # noqa: PLR0913 (each is an option of the command)
    results: Analysis | str | Path,
    out: Path,
    *,
    to: str,
    transcripts: str | Path | None,
    gold: Sequence[str | Path],
    pseudonyms: Pseudonyms | None,
    replace: bool,
    on_before: Callable[[str], None],
) -> list[Path]:
    """Write codes turn by turn, see `therapy_analytics.exports.export`."""
    tables = to in (CODES_CSV, CODES_JSONL)
    source = None if isinstance(results, Analysis) else Path(results)
    if source is not None and holds_codes(source) and not (source / "run.json").is_file():
        if not tables or gold or transcripts is not None:
            problem = f"{source} holds codes of other programs, from which {CODES_CSV} and {CODES_JSONL} alone are made"
            raise BadOptionError("--to", problem, "To write words in another form, use tanalyze convert")
        table = read_table(source)
        refuse_unblinded(table)
        lacking = [name for name in ("session_id", "turn", "code", "value") if name not in table]
        if lacking:
            problem = f"its lines have no {lacking[0]}: a line is a turn and one code"
            raise BadDataFileError(str(source), problem, "Name the results, and this file with --gold")
        files = {_FILES[to]: _table(table.reindex(columns=list(COLUMNS), fill_value="").to_numpy().tolist(), to)}
    else:
        coded = _coded(results, transcripts, gold, pseudonyms, needs_words=not tables)
        files = _files(coded, to)
    made = Made(
        what="exported codes", names=list(files), sources=sources_of(results, *gold), replace=replace, say=on_before
    )
    with replaced_in(out, made) as part:
        for name, content in files.items():
            write(part / name, content)
    return [out / name for name in files]


def _files(coded: _Coded, to: str) -> dict[str, bytes]:
    if to == QDPX:
        name = "Sessions coded with therapy-analytics"
        return {_FILES[to]: refi_project(name, coded.sessions, meanings=coded.meanings, dates=coded.dates)}
    if to == ELAN:
        return {f"{one.id}.eaf": elan_file(one, **_when(coded.dates)) for one in coded.sessions}
    return {_FILES[to]: _table(list(code_rows(coded.sessions)), to)}


def _when(dates: Mapping[str, str]) -> dict[str, str]:
    return {"when": dates[MACHINE]} if MACHINE in dates else {}


def _table(rows: Sequence[Sequence[str]], to: str) -> bytes:
    """Return a row a turn and code, as CSV or JSON Lines."""
    if not rows:
        problem = "nobody but the machine gave codes in it"
        raise BadOptionError(
            "--gold", problem, "Name tables of codes by people with --gold; the machine's are in turns.csv"
        )
    if to == CODES_CSV:
        return csv_of_rows([COLUMNS, *rows]).encode()
    return "".join(json.dumps(dict(zip(COLUMNS, row, strict=True)), ensure_ascii=False) + "\n" for row in rows).encode()


def _coded(
    results: Analysis | str | Path,
    transcripts: str | Path | None,
    gold: Sequence[str | Path],
    pseudonyms: Pseudonyms | None,
    *,
    needs_words: bool,
) -> _Coded:
    frame = results.wide_turns if isinstance(results, Analysis) else read_wide_turns(results)
    machine = read_machine(results)
    refuse_other_key([machine.recipe], pseudonyms)
    given: list[list[CodesOfTurn]] = [[] for _ in range(len(machine.turns))]
    whose = MACHINE if not machine.recipe else f"{MACHINE} ({dict(machine.recipe['tagger']).get('kind', 'tagger')})"
    decided = machine.turns[list(machine.codes)].eq(1).to_numpy()
    if needs_words:
        for at, row in enumerate(decided):
            codes = tuple(code for code, has in zip(machine.codes, row, strict=True) if has)
            given[at].append(CodesOfTurn(whose, codes))
    turns = _turns(frame.reset_index(drop=True), machine)
    words = _read_words(transcripts, machine, pseudonyms) if transcripts is not None else turns
    if needs_words and transcripts is None and "text" not in frame:
        problem = "these results hold no words, and this form is words with codes"
        raise BadOptionError(_TRANSCRIPTS, problem, "Name the transcripts that the run read, or run with --quotes")
    dates = (
        {} if isinstance(results, Analysis) else {one: _date(Path(results) / "run.json") for one in (MACHINE, whose)}
    )
    for path in gold:
        for at, one in _people(machine, path, pseudonyms):
            given[at].append(one)
            dates[one.coder] = _date(Path(path))
    sessions = []
    for name, places in machine.turns.groupby("session_id", sort=False).indices.items():
        brought = with_own_codes(Session(id=str(name), source_file="", turns=turns[str(name)]))
        both = zip(map(int, places), brought.given, strict=True)
        of_turns = tuple(merged((*given[at], *more)) for at, more in both)
        sessions.append(CodedSession(str(name), words[str(name)], of_turns))
    return _Coded(sessions, _meanings(machine, results), dates)


def _turns(frame: pd.DataFrame, machine: Machine) -> dict[str, tuple[Turn, ...]]:
    """Return the turns of the results by session, with the codes that the transcripts brought."""
    brought = {
        name: as_text(machine.turns[[name]])[name].tolist() for name in machine.turns if str(name).startswith(GOLD)
    }
    text = as_text(frame[["text"]])["text"].tolist() if "text" in frame else [""] * len(frame)
    speaker = as_text(frame[["speaker"]])["speaker"].tolist() if "speaker" in frame else machine.turns["role"].tolist()
    times = [
        pd.to_numeric(frame[name], errors="coerce").tolist() if name in frame else [float("nan")] * len(frame)
        for name in ("start_s", "end_s")
    ]
    found: dict[str, list[Turn]] = {}
    for at, (session, turn, role) in enumerate(
        zip(machine.turns["session_id"], machine.turns["turn"], machine.turns["role"], strict=True)
    ):
        start, end = (None if pd.isna(column[at]) else float(column[at]) for column in times)
        codes = {str(name).removeprefix(GOLD): cells[at] for name, cells in brought.items() if cells[at]}
        found.setdefault(session, []).append(
            Turn(
                index=int(turn), speaker=speaker[at], role=_role(role), text=text[at], first_row=int(turn) + 1,
                start_s=start, end_s=end, gold=codes,
            )
        )  # fmt: skip
    return {session: tuple(own) for session, own in found.items()}


def _role(written: str) -> Role:
    return "therapist" if written == "therapist" else "client" if written == "client" else "other"


def _read_words(
    transcripts: str | Path, machine: Machine, pseudonyms: Pseudonyms | None
) -> dict[str, tuple[Turn, ...]]:
    """Return the turns of the sessions in the transcripts, which must be those of the results."""
    found: dict[str, tuple[Turn, ...]] = {}
    options = ReadOptions(pseudonyms=pseudonyms)
    for reading in read_files([transcripts], options=options, account=Account(options)):
        if reading.problem is not None:
            raise reading.problem
        found |= {session.id: session.turns for session in reading.sessions}
    for key, role in machine.turns.groupby("session_id", sort=False)["role"]:
        name = str(key)
        if name not in found:
            remedy = lacking_key([machine.recipe], pseudonyms) or "Name all transcripts of the run"
            raise BadOptionError(_TRANSCRIPTS, f"session {name} is not among them", remedy)
        if [turn.role for turn in found[name]] != role.tolist():
            problem = f"session {name} has other turns there than in the results"
            raise BadOptionError(_TRANSCRIPTS, problem, "Name the transcripts as the run read them, or run again")
    return found


def _people(machine: Machine, path: str | Path, pseudonyms: Pseudonyms | None) -> list[tuple[int, CodesOfTurn]]:
    """Return the codes of people in a table or a file of another program, with the row of the turn each is about."""
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
        (at, CodesOfTurn(coder, tuple(one["codes"]), tuple(one["known"]), "\n".join(one["notes"])))
        for (at, coder), one in found.items()
    ]


def _meanings(machine: Machine, results: Analysis | str | Path) -> dict[str, CodeMeaning]:
    """Return the category and definition of codes: of the package's books, else of the run's codebook."""
    found = {
        code.column: CodeMeaning(book.name, code.definition) for book in builtin_codebooks() for code in book.codes
    }
    own = [code for code in machine.codes if code not in found]
    if own:
        table = results.codebook if isinstance(results, Analysis) else read_csv(Path(results) / "codebook.csv")
        meanings = dict(zip(table["column"], table["meaning"], strict=True))
        found |= {code: CodeMeaning(_OWN_CODES, str(meanings.get(code, ""))) for code in own}
    return found


def _date(path: Path) -> str:
    """Return when a file was last changed, in UTC."""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
