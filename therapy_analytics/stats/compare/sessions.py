"""Read the sessions that are compared: of one run or several, what their columns mean, and how they were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.core.errors import BadDataFileError, BadOptionError
from therapy_analytics.core.printable import counted
from therapy_analytics.measures.base import STATISTICS
from therapy_analytics.results import form_of, joined_wide, read_csv, read_recipe, read_table, wide
from therapy_analytics.results.analysis import Analysis
from therapy_analytics.results.codebook_table import ABOUT, wide_codebook

RESULTS = "results"
"""The column with the folder that a session comes from, where several folders are read."""
_CODEBOOK_COLUMNS = ("column", "table", "family", "meaning", "unit", "range", "high_means", "evidence")
_TAGGER_KEYS = ("kind", "name", "version", "aim", "model", "sha256")
_MOST_NAMED = 5
_ENOUGH_TO_TELL_COPIES, _ENOUGH_DEFINED = 20, 10
"""Two sessions are called copies if the table has this many measures, and more than this many of the session's are
defined: in a small table two different sessions can have the same numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """The sessions that are compared.

    Attributes
    ----------
    sessions : DataFrame
        A row a session. Columns that describe a session are text, "" where unknown; measures are floats.
    codebook : DataFrame
        A row a column of `sessions`, indexed by its name: family, meaning, unit, range, high_means, evidence,
        and which statistic of which measure it is.
    recipes : tuple of mapping
        The ``run.json`` of each folder.
    warnings : tuple of str
        What a reader must know of the data, in sentences.
    sources : tuple of (str, Path or Analysis)
        Where the turns are, with the name that stands in column `RESULTS`; none for a table of sessions.
    """

    sessions: pd.DataFrame
    codebook: pd.DataFrame
    recipes: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()
    sources: tuple[tuple[str, Path | Analysis], ...] = ()

    @property
    def about(self) -> list[str]:
        """Return the columns that describe sessions, by which they can be grouped."""
        return _about(self.sessions, self.codebook)

    @property
    def measured(self) -> list[str]:
        """Return all other columns."""
        about = set(self.about)
        return [str(name) for name in self.sessions.columns if name not in about]

    @property
    def tagger(self) -> str:
        """Return who coded the turns: ``accurate``, ``fast``, ``llm``, or "" if unknown or not the same everywhere."""
        return self._of_tagger("kind")

    @property
    def aim(self) -> str:
        """Return what the tagger's thresholds were chosen for, as ``balanced``, or "" if unknown."""
        return self._of_tagger("aim")

    def _of_tagger(self, key: str) -> str:
        found = {str(one.get("tagger", {}).get(key) or "") for one in self.recipes}
        return found.pop() if len(found) == 1 else ""

    def turns(self, codes: Sequence[str]) -> pd.DataFrame:
        """Return the turns of the sessions, as far as they are at hand.

        Parameters
        ----------
        codes : sequence of str
            Columns of codes; those that a run did not give are left out.

        Returns
        -------
        DataFrame
            A row a turn: ``session_id`` as in `sessions`, ``role``, ``n_words`` and the codes, which are 1, 0 or
            missing. Without rows where a table of sessions was given, or a file of turns is not there any more.
        """
        wanted = ("session_id", "role", "n_words", *codes)
        known, found = set(self.sessions["session_id"]), []
        for name, source in self.sources:
            try:
                turns = source.turns if isinstance(source, Analysis) else _turns(source, wanted)
            except BadDataFileError:
                continue
            ids = turns["session_id"].astype(str)
            turns = turns[[column for column in wanted if column in turns]]
            found.append(turns.assign(session_id=ids.where(ids.isin(known), f"{name}/" + ids)))
        return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=list(wanted[:3]))


def read_results(
    results: Analysis | pd.DataFrame | str | Path | Sequence[str | Path], *, mixed: bool = False
) -> Results:
    """Read result folders, or take an analysis or a table of sessions.

    Infinite values become undefined, and copies of a session are left out, with a warning each. `mixed` accepts
    folders that were made by different taggers or versions.

    Raises
    ------
    BadOptionError
        A path is not a folder of results, it holds no session, or the folders are not comparable.
    BadDataFileError
        A file of the folder cannot be read.
    """
    if isinstance(results, Analysis):
        codebook = wide_codebook(results.codebook)
        read = _typed(_wide_sessions(results, codebook), codebook, ({"tagger": results.tagger},))
        read = replace(read, sources=(("", results),))
    elif isinstance(results, pd.DataFrame):
        read = _typed(results, built_in_codebook())
    else:
        paths = [Path(one) for one in ([results] if isinstance(results, (str, Path)) else results)]
        folders = list(dict.fromkeys(path.parent if path.name == "sessions.csv" else path for path in paths))
        if not folders:
            raise BadOptionError(RESULTS, "no folder is given", "Name a folder that tanalyze run wrote")
        for folder in folders:
            form_of(folder)  # raises where it is not a folder of results
        every = [_read_folder(folder) for folder in folders]
        read = every[0] if len(every) == 1 else _joined(folders, every, mixed=mixed)
    if read.sessions.empty:
        raise BadOptionError(RESULTS, "there is no session in it", "Name a folder whose run found sessions")
    if "session_id" not in read.sessions:
        raise BadOptionError(RESULTS, "the table has no column session_id", "Give analysis.sessions or a result folder")
    return _without_copies(_without_infinities(read))


def _about(frame: pd.DataFrame, codebook: pd.DataFrame) -> list[str]:
    """Return the columns that describe sessions; one that the codebook does not know is the user's own metadata."""
    measures = set(codebook.index[~codebook["family"].isin(ABOUT)])
    return [str(name) for name in frame.columns if name not in measures]


def _typed(frame: pd.DataFrame, codebook: pd.DataFrame, recipes: tuple[Mapping[str, Any], ...] = ()) -> Results:
    """Return the table with columns that describe sessions as text, and measures as numbers."""
    about = set(_about(frame, codebook))
    columns = {
        str(name): frame[name].map(_text)
        if name in about
        else pd.to_numeric(frame[name], errors="coerce").astype(float)
        for name in frame.columns
    }
    return Results(pd.DataFrame(columns).reset_index(drop=True), codebook, recipes)


def _text(value: object) -> str:
    return "" if value is None or value is pd.NA or value != value else str(value).strip()  # noqa: PLR0124 (nan)


def _read_folder(folder: Path) -> Results:
    path = folder / "codebook.csv"
    if path.is_file():
        table = read_csv(path)
        if missing := [name for name in _CODEBOOK_COLUMNS if name not in table]:
            raise BadDataFileError(str(path), f"it has no column {', '.join(missing)}", "Run tanalyze run again")
        codebook = wide_codebook(table)
    else:
        codebook = built_in_codebook()
    recipe = read_recipe(folder)
    read = _typed(_wide_sessions(folder, codebook), codebook, (recipe,))
    unknown = () if recipe else (f"{folder.name} has no run.json: who coded its turns is unknown.",)
    has_turns = (folder / "measures.csv").is_file() or form_of(folder) == "parquet"
    return replace(read, warnings=unknown, sources=(("", folder),) if has_turns else ())


def _turns(folder: Path, wanted: Sequence[str]) -> pd.DataFrame:
    """Return some columns of the turns of a folder of results."""
    codebook = read_csv(folder / "codebook.csv")
    known = set(codebook.loc[codebook["table"] == "turns", "column"])
    return read_table(folder, "turns", codebook, names=[name for name in wanted if name in known])


def _wide_sessions(source: Analysis | Path, codebook: pd.DataFrame) -> pd.DataFrame:
    """Return the wide table of an analysis or a folder: a row a session, a column a measure."""
    if isinstance(source, Analysis) or form_of(source) == "parquet":
        return wide(source)
    long = (source / "measures.csv").is_file()
    if long and (source / "codebook.csv").is_file():
        return wide(source)
    core = codebook.index[~codebook["family"].isin(ABOUT)].tolist()
    if long:  # a run's folder that has lost its codebook
        measures = read_csv(source / "measures.csv", numbers=STATISTICS)
        return joined_wide(read_csv(source / "sessions.csv"), measures, core)
    path = source / "sessions.csv"  # a user's own table, with measures that are named as ours
    try:
        return read_csv(path, numbers=core)
    except BadDataFileError:  # another program may have written NA for missing values
        return read_csv(path)


def built_in_codebook() -> pd.DataFrame:
    """Return the codebook of the measures of this package, for tables that have none beside them."""
    from therapy_analytics.codes import TaggerOptions  # noqa: PLC0415 (few need it)
    from therapy_analytics.codes.choice import meaning  # noqa: PLC0415
    from therapy_analytics.measures.base import all_columns  # noqa: PLC0415
    from therapy_analytics.measures.settings import Settings  # noqa: PLC0415
    from therapy_analytics.results.codebook_table import codebook_table  # noqa: PLC0415
    from therapy_analytics.text import EXTRAS, builtin_lexicons  # noqa: PLC0415

    measures = all_columns(builtin_lexicons(), extras=EXTRAS)
    books, fast = Settings().codebooks, TaggerOptions(kind="fast")
    return wide_codebook(codebook_table(measures, books, sessions=(), gold=(), meaning=meaning(fast)))


def _joined(folders: Sequence[Path], read: Sequence[Results], *, mixed: bool) -> Results:
    """Join the sessions of several folders into one table, with the folder of each in column ``results``.

    Sessions that are equal in several folders are taken once; of other sessions with one id, the folder is put before.
    """
    warnings = [warning for one in read for warning in one.warnings]
    differing = "; ".join(_differences(read))
    if differing and not mixed:
        problem = f"the folders are not comparable: {differing}"
        remedy = "Run tanalyze run over all transcripts alike, or say --allow-mixed and read the numbers with care"
        raise BadOptionError(RESULTS, problem, remedy)
    if differing:
        warnings.append(f"Not comparable: {differing}. Differences between these folders may be the tool's alone.")
    names = [folder.resolve().name for folder in folders]
    names = names if len(set(names)) == len(names) else [str(folder) for folder in folders]
    frames = [one.sessions.assign(**{RESULTS: name}) for one, name in zip(read, names, strict=True)]
    codebook = pd.concat([one.codebook for one in read])
    codebook = codebook[~codebook.index.duplicated()]

    frame = pd.concat(frames, ignore_index=True)
    same = frame.drop(columns=RESULTS).duplicated()
    frame = frame[~same].reset_index(drop=True)
    if same.any():
        copies = counted(int(same.sum()), "session")
        warnings.append(f"{copies} stood in several folders, number for number: each is taken once.")
    clash = frame["session_id"].duplicated(keep=False)
    if clash.any():
        frame.loc[clash, "session_id"] = frame[RESULTS] + "/" + frame["session_id"]
        ids = f"{counted(int(clash.sum()), 'session')} share their ids across folders with other numbers"
        warnings.append(f"{ids}: they are kept, as folder/session_id. Were they measured twice, leave one folder out.")
    about = _about(frame, codebook)
    frame[about] = frame[about].fillna("")
    recipes = tuple(recipe for one in read for recipe in one.recipes)
    sources = tuple((name, source) for name, one in zip(names, read, strict=True) for _, source in one.sources)
    return Results(frame, codebook, recipes, tuple(warnings), sources)


def _differences(read: Sequence[Results]) -> list[str]:
    """Return which entries of the recipes differ, of those on which the numbers depend."""
    taggers = [one.recipes[0].get("tagger", {}) for one in read]
    found = []
    for key in _TAGGER_KEYS:
        values = sorted({str(one[key]) for one in taggers if one.get(key) is not None})
        if len(values) > 1:
            found.append(f"tagger, {key}: {'its weights differ' if key == 'sha256' else ' and '.join(values)}")
    versions = sorted({str(one.recipes[0].get("therapy_analytics", "unknown")) for one in read})
    return [*found, *([f"versions of the program: {' and '.join(versions)}"] if len(versions) > 1 else [])]


def _without_infinities(results: Results) -> Results:
    """Take infinite values as undefined, as a ratio over zero is, and say of which sessions and columns."""
    frame, measures = results.sessions, results.measured
    infinite = np.isinf(frame[measures].to_numpy(dtype=np.float64))
    if not infinite.any():
        return results
    ids = _listed([str(one) for one in frame["session_id"][infinite.any(axis=1)]])
    columns = _listed([name for name, any_ in zip(measures, infinite.any(axis=0), strict=True) if any_])
    warning = f"Infinite values are taken as undefined: {columns} of {ids}."
    kept = frame.assign(**{name: frame[name].replace([np.inf, -np.inf], np.nan) for name in measures})
    return replace(results, sessions=kept, warnings=(*results.warnings, warning))


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _without_copies(results: Results) -> Results:
    """Leave out a session that has all numbers and the whole description of another: a copy is no evidence."""
    frame, measures = results.sessions, results.measured
    if len(measures) < _ENOUGH_TO_TELL_COPIES:
        copies = frame.duplicated()
    else:
        described = [name for name in results.about if name not in ("session_id", "source_file", "notes", RESULTS)]
        enough = frame[measures].notna().sum(axis=1) > _ENOUGH_DEFINED
        copies = frame.duplicated([*measures, *described]) & enough
    if not copies.any():
        return results
    warning = f"{counted(int(copies.sum()), 'session')} left out: number for number a copy of another."
    return replace(results, sessions=frame[~copies].reset_index(drop=True), warnings=(*results.warnings, warning))
