"""The order of things: paths, sessions, arrays, codes, measures, tables, files."""

from __future__ import annotations

import functools
import json
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from therapy_analytics import results, tables
from therapy_analytics.behaviours import (
    Codebook,
    TaggerOptions,
    check_coder,
    codebooks_with,
    load_coder,
    meaning,
    recipe,
    with_codes,
)
from therapy_analytics.engine import in_batches, in_order
from therapy_analytics.errors import NothingToReadError, UnreadableFileError
from therapy_analytics.language import Lexicon, annotate, builtin_lexicons
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.measures import values_of
from therapy_analytics.measures._base import all_columns
from therapy_analytics.readers import FileReading, ReadOptions, read_files

if TYPE_CHECKING:
    from therapy_analytics.session import Session

TURNS_PER_BATCH = 2_000
TURNS_PER_SLOW_BATCH = 200
"""For coders that take seconds for a turn: so often is it told how far they are."""
_PACKAGES = ("numpy", "scipy", "pandas", "spacy", "matplotlib")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an analysis depends on besides the sessions.

    Attributes
    ----------
    lexicons : tuple of Lexicon
        The user's own; those of the package are always there.
    seed : int
        Of all shuffles.
    quotes : bool
        Whether tables may hold what was said.
    tagger : TaggerOptions
        Who codes the turns.
    """

    lexicons: tuple[Lexicon, ...] = ()
    seed: int = 0
    quotes: bool = False
    tagger: TaggerOptions = field(default_factory=TaggerOptions)

    @property
    def turns_per_batch(self) -> int:
        """How many turns are worked on at a time; results do not depend on it."""
        return TURNS_PER_BATCH if self.tagger.kind == "fast" else TURNS_PER_SLOW_BATCH


@dataclass(frozen=True, slots=True)
class Analysis:
    """What `analyze` returns.

    Attributes
    ----------
    sessions : DataFrame
        A row a session: metadata and session measures.
    turns : DataFrame
        A row a turn: place, role, times, words, codes, turn measures.
    dyads : DataFrame
        A row for each pair of a therapist and a client of the sessions with more than one pair
        (couples, families, co-therapists): their labels and session measures of that pair alone.
    codebook : DataFrame
        A row for each column of these: meaning, unit, range, formula, source.
    """

    sessions: pd.DataFrame = field(repr=False)
    turns: pd.DataFrame = field(repr=False)
    dyads: pd.DataFrame = field(repr=False)
    codebook: pd.DataFrame = field(repr=False)

    def __repr__(self) -> str:
        return f"Analysis({len(self.sessions)} sessions, {len(self.turns)} turns)"


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
    """

    out: Path
    sessions: pd.DataFrame = field(repr=False)
    problems: tuple[UnreadableFileError, ...]
    tagger: Mapping[str, Any] = field(default_factory=dict)


def analyze(
    sessions: Iterable[Session],
    *,
    lexicons: Sequence[Lexicon] = (),
    seed: int = 0,
    quotes: bool = False,
    tagger: TaggerOptions | None = None,
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

    Returns
    -------
    Analysis
        DataFrames; the same for every order and grouping of the sessions but for their order.
    """
    settings = Settings(lexicons=tuple(lexicons), seed=seed, quotes=quotes, tagger=tagger or TaggerOptions())
    batches = in_batches(sessions, settings.turns_per_batch)
    parts = [_frames(batch, settings) for batch in batches] or [_frames((), settings)]
    by_session = _stacked([part.sessions for part in parts])
    turns = pd.concat([part.turns for part in parts], ignore_index=True)
    dyads = pd.concat([part.dyads for part in parts], ignore_index=True)
    return Analysis(by_session, turns, dyads, _codebook(settings, by_session, _gold_names(turns)))


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
        The folder holds something that is not a result of this program.
    """
    settings, writing = settings or Settings(), writing or Writing()
    out = Path(out)
    reading = _Reading(paths, read_options or ReadOptions(), out, writing.on_file)
    work = functools.partial(_analyze_and_write, settings=settings, out=out, plots=writing.plots)
    batches = in_batches(reading.sessions(), settings.turns_per_batch)
    first = list(islice(batches, 1))  # with nothing to read at all, the folder is not touched
    check_coder(settings.tagger)
    results.prepare(out)
    parts = []
    for part in in_order(work, chain(first, batches), processes=writing.processes):
        writing.on_sessions(len(part.sessions))
        parts.append(part)
    results.write_csv(results.problems_table(reading.problems), out / "problems.csv")
    tagger = recipe(settings.tagger, [part.counts for part in parts])
    about = json.dumps(_recipe(reading, settings) | {"tagger": tagger}, indent=2, ensure_ascii=False)
    (out / "run.json").write_text(about + "\n", encoding="utf-8")
    if not parts:
        raise NothingToReadError(_nothing_readable(reading, out))
    by_session = _stacked([part.sessions for part in parts])
    results.write_csv(by_session, out / "sessions.csv")
    dyads = pd.concat([part.dyads for part in parts], ignore_index=True)
    if len(dyads):
        results.write_csv(dyads, out / "dyads.csv")
    gold = sorted({name for part in parts for name in part.gold})
    results.write_csv(_codebook(settings, by_session, gold), out / "codebook.csv")
    return RunResult(out, by_session, tuple(reading.problems), tagger)


def _ignore(_: object) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """How a run goes about it.

    Attributes
    ----------
    plots : bool
        Whether each session gets its figures.
    processes : int
        How many processes share the work; the results do not depend on it.
    on_file : callable
        Told of each file as it is read.
    on_sessions : callable
        Told how many sessions were just written.
    """

    plots: bool = True
    processes: int = 1
    on_file: Callable[[FileReading], None] = _ignore
    on_sessions: Callable[[int], None] = _ignore


class _Reading:
    """Files read one after the other into batches, with what is to be remembered of them."""

    def __init__(
        self,
        paths: Sequence[str | Path],
        options: ReadOptions,
        out: Path,
        on_file: Callable[[FileReading], None],
    ) -> None:
        self.options = options
        self.problems: list[UnreadableFileError] = []
        self.inputs: list[dict[str, Any]] = []
        self._files = read_files(paths, options=options, leave_out=out)
        self._on_file = on_file

    def sessions(self) -> Iterator[Session]:
        for reading in self._files:
            self._on_file(reading)
            if reading.problem is not None:
                self.problems.append(reading.problem)
            self.inputs.append(
                {
                    "file": str(reading.path),
                    "sha256": reading.sha256,
                    "reader": reading.reader,
                    "sessions": len(reading.sessions),
                }
            )
            yield from reading.sessions


def _lexicons(settings: Settings) -> tuple[Lexicon, ...]:
    return (*builtin_lexicons(), *settings.lexicons)


@functools.lru_cache(maxsize=2)
def _matcher(lexicons: tuple[Lexicon, ...]) -> Matcher:
    return Matcher(lexicons)


def measure_sessions(batch: Sequence[Session], settings: Settings) -> list[tables.Measured]:
    """Take one batch from sessions to values: arrays, codes, measures."""
    return _measured(batch, settings)[0]


def _measured(batch: Sequence[Session], settings: Settings) -> tuple[list[tables.Measured], Mapping[str, int]]:
    """Return the values of a batch, and what the coder counted."""
    arrays = annotate(batch, _matcher(_lexicons(settings)))
    codes = load_coder(settings.tagger).predict(arrays)
    measured = []
    for position, session in enumerate(arrays):
        tagged = replace(with_codes(session, codes, int(arrays.starts[position])), seed=settings.seed)
        measured.append(tables.Measured(tagged, values_of(tagged)))
    return measured, codes.counts


class _Frames(NamedTuple):
    """The tables of one batch."""

    sessions: pd.DataFrame
    turns: pd.DataFrame
    dyads: pd.DataFrame
    counts: Mapping[str, int]


def _frames(batch: Sequence[Session], settings: Settings) -> _Frames:
    """Take one batch from sessions to tables."""
    measured, counts = _measured(batch, settings)
    columns = [column for _, column in all_columns(_lexicons(settings))]
    all_codes = [code for book in _codebooks(settings) for code in book.codes]
    return _Frames(
        tables.sessions_table(measured, columns),
        tables.turns_table(measured, columns, all_codes, quotes=settings.quotes),
        tables.dyads_table(measured, columns),
        counts,
    )


def _stacked(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Put session tables under each other; metadata that a part lacks is empty, measures stay last."""
    measures = {column.name for _, column in all_columns(())}
    whole = pd.concat(parts, ignore_index=True)
    about = [name for name in whole if name not in measures]
    rest = [name for name in whole if name in measures]
    texts = {name: "" for name in about if name != "role_margin"}
    return whole[[*about, *rest]].fillna(texts)


def _codebooks(settings: Settings) -> tuple[Codebook, ...]:
    """Return the codebooks, each with the codes that the coder gives."""
    return codebooks_with(load_coder(settings.tagger).names)


def _codebook(settings: Settings, by_session: pd.DataFrame, gold: Iterable[str]) -> pd.DataFrame:
    return tables.codebook_table(
        _lexicons(settings),
        _codebooks(settings),
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


def _analyze_and_write(batch: tuple[Session, ...], *, settings: Settings, out: Path, plots: bool) -> _Written:
    frames = _frames(batch, settings)
    starts = np.cumsum([0, *(len(session.turns) for session in batch)])
    for position, session in enumerate(batch):
        turns = frames.turns.iloc[starts[position] : starts[position + 1]]
        # Codes that people gave in other sessions of the batch are no columns of this one.
        turns = turns.drop(columns=[name for name in _gold_names(turns) if not turns[name].any()])
        results.write_session(turns, out / "sessions" / session.id, plots=plots)
    return _Written(frames.sessions, frames.dyads, _gold_names(frames.turns), frames.counts)


def _nothing_readable(reading: _Reading, out: Path) -> str:
    return (
        f"None of the {len(reading.inputs)} files could be read as a transcript. "
        f"{out / 'problems.csv'} says what is wrong with each and what would be right."
    )


def _recipe(reading: _Reading, settings: Settings) -> dict[str, Any]:
    """Return all that is needed to repeat the run, besides who coded the turns."""
    options = reading.options
    return {
        "therapy_analytics": metadata.version("therapy-analytics"),
        "python": platform.python_version(),
        "packages": {name: metadata.version(name) for name in _PACKAGES},
        "options": {
            "columns": dict(options.columns),
            "therapist": options.therapist,
            "client": options.client,
            "metadata": str(options.metadata) if options.metadata else None,
            "pattern": options.pattern,
            "quotes": settings.quotes,
            "seed": settings.seed,
        },
        "inputs": reading.inputs,
        "lexicons": [{"name": one.name, "sha256": one.sha256} for one in _lexicons(settings)],
        "codebooks": [{"name": one.id, "sha256": one.sha256} for one in _codebooks(settings)],
    }
