"""The order of things: paths, sessions, arrays, codes, measures, tables, files."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from therapy_analytics import results, tables
from therapy_analytics.analysis import Analysis
from therapy_analytics.arrays import in_company, read_as_arrays
from therapy_analytics.behaviours import (
    Code,
    TaggerOptions,
    check_coder,
    load_coder,
    meaning,
    recipe,
    with_codebooks_read,
    with_codes,
)
from therapy_analytics.behaviours.explain import explain, explaining_tagger
from therapy_analytics.engine import in_batches, in_order
from therapy_analytics.errors import NothingToReadError, UnreadableFileError
from therapy_analytics.language import EXTRAS, Extra, Lexicon
from therapy_analytics.language.company import Strangers, choose_strangers
from therapy_analytics.language.syntax import load_tagger
from therapy_analytics.measures import Column, Measure, values_of
from therapy_analytics.measures._base import all_columns
from therapy_analytics.measures._dyads import dyads
from therapy_analytics.measures.process._responses import Pooled, response_counts
from therapy_analytics.measures.synchrony._rows import kinds
from therapy_analytics.plots._figures import check_formats
from therapy_analytics.readers import FileReading, ReadOptions
from therapy_analytics.readers._inputs import Inputs
from therapy_analytics.settings import Settings, as_recipe

if TYPE_CHECKING:
    from therapy_analytics.session import Session


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run did and where it wrote.

    Attributes
    ----------
    out : Path
        The folder.
    sessions : DataFrame
        As ``sessions.csv``.
    problems : tuple of UnreadableFileError
        As ``problems.csv``.
    tagger : mapping of str to object
        Who coded the turns, and what an outside coder counted: as in ``run.json``.
    rated : tuple of Code
        Codes of the codebooks that the user named; each has a rate in the sessions table.
    """

    out: Path
    sessions: pd.DataFrame = field(repr=False)
    problems: tuple[UnreadableFileError, ...]
    tagger: Mapping[str, Any] = field(default_factory=dict)
    rated: tuple[Code, ...] = ()


def analyze(
    sessions: Iterable[Session],
    *,
    lexicons: Sequence[Lexicon] = (),
    seed: int = 0,
    quotes: bool = False,
    tagger: TaggerOptions | None = None,
    extras: Collection[Extra] = (),
) -> Analysis:
    """Tag and measure sessions.

    Parameters
    ----------
    sessions : iterable of Session
        As `read` returns them.
    lexicons : sequence of Lexicon, optional
        More word lists, see `load_lexicon`.
    seed : int, optional
        Of all shuffles.
    quotes : bool, optional
        Whether the turns table gets a column ``text``.
    tagger : TaggerOptions, optional
        Who codes the turns, when it is not the tagger of the package.
    extras : collection of str, optional
        Costly measures besides the usual ones: ``"syntax"``, ``"nclid"``.

    Returns
    -------
    Analysis
        DataFrames; the same for every order and grouping of the sessions but for their order.
        Columns that end in ``_strangers`` and their z and p rest on the other sessions; all
        other values of a session are its own.
    """
    coder = with_codebooks_read(tagger or TaggerOptions())
    settings = Settings(lexicons=tuple(lexicons), seed=seed, quotes=quotes, tagger=coder, extras=frozenset(extras))
    _refuse_taken_names(settings)
    sessions = list(sessions)
    strangers = choose_strangers(sessions)
    batches = in_batches(sessions, settings.turns_per_batch)
    measured = (_measured(batch, settings, strangers) for batch in batches)
    parts = [_frames(*one, settings) for one in measured] or [_frames((), {}, settings)]
    by_session = _stacked([part.sessions for part in parts], settings)
    turns, dyads, profile, responses, feelings = (
        pd.concat([getattr(part, name) for part in parts], ignore_index=True)
        for name in ("turns", "dyads", "profile", "responses", "feelings")
    )
    codebook = _codebook(settings, by_session, _gold_names(turns))
    coded_by = recipe(settings.tagger, [part.counts for part in parts])
    return Analysis(by_session, turns, dyads, profile, responses, feelings, codebook, seed, coded_by)


def run(
    paths: Sequence[str | Path],
    out: str | Path,
    *,
    settings: Settings | None = None,
    read_options: ReadOptions | None = None,
    writing: Writing | None = None,
) -> RunResult:
    """Read, analyse and write: what ``tanalyze run`` does.

    Parameters
    ----------
    paths : sequence of str or Path
        Transcripts and folders of them.
    out : str or Path
        Folder for the results, made if need be (private, 0700). Results of an earlier run in
        it are replaced.
    settings, read_options, writing : optional
        What is measured, how files are read, what is written.

    Returns
    -------
    RunResult
        The sessions table, and the files that could not be read.

    Raises
    ------
    NothingToReadError
        There is no transcript, or none that can be read (``problems.csv`` then says why).
    BadOptionError
        The folder holds something that is not a result of this program, or what is to be written cannot be.
    """
    settings, writing = settings or Settings(), writing or Writing()
    settings = replace(settings, tagger=with_codebooks_read(settings.tagger))
    _refuse_taken_names(settings)
    check_formats(writing.figures)
    if writing.explain:
        explaining_tagger(settings.tagger)
    out = Path(out)
    inputs = Inputs(paths, read_options or ReadOptions(), out, writing.on_file)
    # Every file is read twice: first for those sessions that are strangers to all others.
    quietly = replace(writing, on_file=_ignore, on_sessions=_ignore)  # who listens stays in this process
    work = functools.partial(
        _analyze_and_write, settings=settings, strangers=choose_strangers(inputs.at_first()), out=out, writing=quietly
    )
    batches = in_batches(inputs.sessions(), settings.turns_per_batch)
    first = list(islice(batches, 1))  # with nothing to read at all, the folder is not touched
    check_coder(settings.tagger)
    if "syntax" in settings.extras:
        load_tagger(settings.spacy_model)
    results.prepare(out)
    parts, pooled = [], Pooled()
    for part in in_order(work, chain(first, batches), processes=writing.processes):
        writing.on_sessions(len(part.sessions))
        for counts in part.responses:
            pooled.add(counts)
        parts.append(replace(part, responses=()))
    results.write_csv(results.problems_table(inputs.problems), out / "problems.csv")
    tagger = recipe(settings.tagger, [part.counts for part in parts])
    about = json.dumps(
        as_recipe(settings, inputs.options, inputs.files) | {"tagger": tagger}, indent=2, ensure_ascii=False
    )
    (out / "run.json").write_text(about + "\n", encoding="utf-8")
    if not parts:
        raise NothingToReadError(_nothing_readable(inputs, out))
    by_session = _stacked([part.sessions for part in parts], settings)
    results.write_csv(by_session, out / "sessions.csv")
    results.write_csv(tables.pooled_responses_table(pooled), out / "responses.csv")
    dyads = pd.concat([part.dyads for part in parts], ignore_index=True)
    if len(dyads):
        results.write_csv(dyads, out / "dyads.csv")
    gold = sorted({name for part in parts for name in part.gold})
    results.write_csv(_codebook(settings, by_session, gold), out / "codebook.csv")
    if writing.figures:
        results.write_run_figures(out, by_session["session_id"].tolist(), writing.figures, settings.tagger.kind)
    if writing.report:
        _write_report(out, quotes=settings.quotes)
    return RunResult(out, by_session, tuple(inputs.problems), tagger, settings.rated)


def _write_report(out: Path, *, quotes: bool) -> None:
    from therapy_analytics.report import report  # noqa: PLC0415 (it brings what compares sessions)

    report(out, quotes=quotes)


def _ignore(_: object) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """How a run goes about it.

    Attributes
    ----------
    figures : tuple of str
        The formats in which each session gets its figures: png, svg, pdf; none for no figures.
    report : bool
        Whether ``report.html`` is written; with what was said in it, where the settings ask for quotes.
    explain : bool
        Whether each session gets the evidence for its codes.
    processes : int
        How many processes share the work; the results do not depend on it.
    on_file : callable
        Told of each file as it is read.
    on_sessions : callable
        Told how many sessions were just written.
    """

    figures: tuple[str, ...] = ("png",)
    report: bool = True
    explain: bool = False
    processes: int = 1
    on_file: Callable[[FileReading], None] = _ignore
    on_sessions: Callable[[int], None] = _ignore


def measure_sessions(
    batch: Sequence[Session], settings: Settings, *, strangers: Strangers | None = None
) -> list[tables.Measured]:
    """Take one batch from sessions to values; its own sessions are the strangers by default."""
    return _measured(batch, settings, choose_strangers(batch) if strangers is None else strangers)[0]


def _measured(
    batch: Sequence[Session], settings: Settings, strangers: Strangers
) -> tuple[list[tables.Measured], Mapping[str, int]]:
    """Return the values of a batch, and what the coder counted."""
    arrays = read_as_arrays(batch, settings)
    codes = load_coder(settings.tagger).predict(arrays)
    rated = tuple(code.column for code in settings.rated)
    roles = {code.role for book in settings.codebooks for code in book.codes}
    measured = []
    for position, session in enumerate(arrays):
        tagged = with_codes(session, codes, int(arrays.starts[position]), roles)
        tagged = replace(in_company(tagged, settings, strangers), rated=rated)
        measured.append(tables.Measured(tagged, values_of(tagged)))
    return measured, codes.counts


class _Frames(NamedTuple):
    """The tables of one batch."""

    sessions: pd.DataFrame
    turns: pd.DataFrame
    dyads: pd.DataFrame
    profile: pd.DataFrame
    responses: pd.DataFrame
    feelings: pd.DataFrame
    counts: Mapping[str, int]


def _frames(measured: Sequence[tables.Measured], counts: Mapping[str, int], settings: Settings) -> _Frames:
    """Put the values of one batch into tables."""
    columns = [column for _, column in _columns(settings)]
    all_codes = [code for book in settings.codebooks for code in book.codes]
    sessions = [one.session for one in measured]
    pairs = [(dyad, values_of(dyad.session)) for session in sessions for dyad in dyads(session)]
    profile = tables.profile_table(sessions)
    profile.attrs["tagger"] = settings.tagger.kind  # whose references stand beside it in a figure
    return _Frames(
        tables.sessions_table(measured, columns),
        tables.turns_table(measured, columns, all_codes, quotes=settings.quotes),
        tables.dyads_table(pairs, columns),
        profile,
        tables.responses_table(sessions),
        tables.feelings_table(sessions),
        counts,
    )


def _refuse_taken_names(settings: Settings) -> None:
    others = all_columns(settings.all_lexicons, extras=EXTRAS)
    tables.refuse_taken_names(settings.rated, [column for _, column in others])


def _columns(settings: Settings) -> list[tuple[Measure, Column]]:
    return all_columns(settings.all_lexicons, settings.rated, extras=settings.extras)


def _stacked(parts: Sequence[pd.DataFrame], settings: Settings) -> pd.DataFrame:
    """Put session tables under each other; metadata that a part lacks is empty, measures stay last."""
    measures = {column.name for _, column in _columns(settings)}
    whole = pd.concat(parts, ignore_index=True)
    about = [name for name in whole if name not in measures]
    rest = [name for name in whole if name in measures]
    texts = {name: "" for name in about if name != "role_margin"}
    return whole[[*about, *rest]].fillna(texts)


def _codebook(settings: Settings, by_session: pd.DataFrame, gold: Iterable[str]) -> pd.DataFrame:
    return tables.codebook_table(
        _columns(settings),
        settings.codebooks,
        sessions=map(str, by_session),
        gold=gold,
        meaning=meaning(settings.tagger),
    )


def _gold_names(turns: pd.DataFrame) -> list[str]:
    return [name for name in map(str, turns) if name.startswith(tables.GOLD)]


@dataclass(frozen=True, slots=True)
class _Written:
    """What the main process must know of a batch that was written."""

    sessions: pd.DataFrame
    dyads: pd.DataFrame
    gold: list[str]
    counts: Mapping[str, int]
    responses: Sequence[NDArray[np.float64]]
    """What the therapist answers to what, a small array a session; added up and let go."""


def _analyze_and_write(
    batch: tuple[Session, ...], *, settings: Settings, strangers: Strangers, out: Path, writing: Writing
) -> _Written:
    measured, counts = _measured(batch, settings, strangers)
    frames = _frames(measured, counts, settings)
    asked = kinds(extras=settings.extras)
    evidence = _evidence(batch, settings) if writing.explain else {}
    starts = np.cumsum([0, *(len(session.turns) for session in batch)])
    for position, session in enumerate(batch):
        turns = frames.turns.iloc[starts[position] : starts[position + 1]]
        # Codes that people gave in other sessions of the batch are no columns of this one.
        turns = turns.drop(columns=[name for name in _gold_names(turns) if not turns[name].any()])
        folder = out / "sessions" / session.id
        rows = tables.synchrony_table([measured[position].session], asked)
        profile, responses, feelings = (
            frame[frame["session_id"] == session.id] for frame in (frames.profile, frames.responses, frames.feelings)
        )
        found = results.SessionTables(turns, rows, profile, responses, feelings, evidence.get(session.id))
        results.write_session(found, folder, figures=writing.figures)
    answers = [response_counts(one.session) for one in measured]
    return _Written(frames.sessions, frames.dyads, _gold_names(frames.turns), counts, answers)


def _evidence(batch: Sequence[Session], settings: Settings) -> dict[str, pd.DataFrame]:
    """Return the evidence for the codes of each session of a batch, by its id."""
    whole = explain(batch, quotes=settings.quotes, tagger=settings.tagger)
    found = {str(name): part for name, part in whole.groupby("session_id", sort=False)}
    return {session.id: found.get(session.id, whole.iloc[:0]) for session in batch}


def _nothing_readable(inputs: Inputs, out: Path) -> str:
    return (
        f"None of the {len(inputs.files)} files could be read as a transcript. "
        f"{out / 'problems.csv'} says what is wrong with each and what would be right."
    )
