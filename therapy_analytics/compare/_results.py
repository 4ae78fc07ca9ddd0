"""Read the results of one run or several: sessions, what their columns mean, and how they were made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.analysis import Analysis
from therapy_analytics.errors import BadDataFileError, BadOptionError
from therapy_analytics.results import form_of, read_csv, read_recipe, read_sessions

RESULTS = "results"
"""The column that says of which folder a session is, where there are several."""
ABOUT = ("fixed", "metadata")
"""Families of columns that say something about a session, and measure nothing."""
_MOST_NAMED = 5
_RECIPE = ("kind", "name", "version", "aim", "model", "sha256")


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """What is compared.

    Attributes
    ----------
    sessions : DataFrame
        A row a session; columns about sessions are text ("" where nothing is known), measures are numbers.
    codebook : DataFrame
        A row a column of it, indexed by its name: family, meaning, unit, range, direction, evidence.
    recipes : tuple of mapping
        Each folder's ``run.json``.
    warnings : tuple of str
        What a reader must know, in sentences.
    """

    sessions: pd.DataFrame
    codebook: pd.DataFrame
    recipes: tuple[Mapping[str, Any], ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def about(self) -> list[str]:
        """Return the columns by which sessions can be grouped."""
        families = self.codebook["family"].to_dict()
        return [name for name in self.sessions.columns if families.get(name, ABOUT[1]) in ABOUT]

    @property
    def own_codes(self) -> bool:
        """Return whether a model of the user's own gave some of the codes: how it errs is not known here."""
        return any(one.get("tagger", {}).get("own") for one in self.recipes)

    @property
    def tagger(self) -> str:
        """Return who coded the turns: ``accurate``, ``fast``, ``llm``, or "" where that is not known."""
        return self._of_tagger("kind")

    @property
    def aim(self) -> str:
        """Return what the tagger's decisions were for, or "" where that is not known."""
        return self._of_tagger("aim")

    def _of_tagger(self, key: str) -> str:
        found = {str(one.get("tagger", {}).get(key) or "") for one in self.recipes}
        return found.pop() if len(found) == 1 else ""


def read_results(
    results: Analysis | pd.DataFrame | str | Path | Sequence[str | Path], *, mixed: bool = False
) -> Results:
    """Read result folders, or take an analysis or a table of sessions.

    Parameters
    ----------
    results : Analysis, DataFrame, path, or sequence of paths
        What `analyze` returned, its sessions, or folders that ``tanalyze run`` wrote.
    mixed : bool, optional
        Go on where folders were made by different taggers or versions.

    Returns
    -------
    Results

    Raises
    ------
    BadOptionError
        A path is no folder of results, no session is in it, or the folders are not comparable.
    BadDataFileError
        A file of the folder cannot be read.
    """
    if isinstance(results, Analysis):
        codebook = _of_sessions(results.codebook)
        return _checked(Results(_typed(results.sessions, codebook), codebook, ({"tagger": results.tagger},)))
    if isinstance(results, pd.DataFrame):
        return _checked(Results(_typed(results, built_in_codebook()), built_in_codebook()))
    folders = [_folder(Path(one)) for one in ([results] if isinstance(results, (str, Path)) else results)]
    folders = list(dict.fromkeys(folders))
    read = [_read(folder) for folder in folders]
    if len(read) == 1:
        return _checked(read[0])
    if not read:
        option = "results"
        raise BadOptionError(option, "no folder is given", "Name a folder that tanalyze run wrote")
    return _checked(_joined(folders, read, mixed=mixed))


def _folder(path: Path) -> Path:
    folder = path.parent if path.name == "sessions.csv" else path
    form_of(folder)
    return folder


def _read(folder: Path) -> Results:
    codebook = _codebook(folder)
    sessions = _typed(_sessions(folder, codebook), codebook)
    recipe = read_recipe(folder)
    unknown = () if recipe else (f"{folder.name} has no run.json: who coded its turns is unknown.",)
    return Results(sessions, codebook, (recipe,), unknown)


def _sessions(folder: Path, codebook: pd.DataFrame) -> pd.DataFrame:
    if form_of(folder) == "parquet":
        return read_sessions(folder)
    path = folder / "sessions.csv"
    try:
        return read_csv(path, numbers=codebook.index[~codebook["family"].isin(ABOUT)].tolist())
    except BadDataFileError:  # a program that saved it since may have put NA where nothing stood
        return read_csv(path)


def _codebook(folder: Path) -> pd.DataFrame:
    path = folder / "codebook.csv"
    if not path.is_file():
        return built_in_codebook()
    table = read_csv(path)
    needed = ("column", "table", "family", "meaning", "unit", "range", "direction", "evidence")
    missing = [name for name in needed if name not in table]
    if missing:
        raise BadDataFileError(str(path), f"it has no column {', '.join(missing)}", "Run tanalyze run again")
    return _of_sessions(table)


def _of_sessions(codebook: pd.DataFrame) -> pd.DataFrame:
    return codebook[codebook["table"] == "sessions"].drop_duplicates("column").set_index("column")


def built_in_codebook() -> pd.DataFrame:
    """Return the codebook of the measures of this package, for tables that have none beside them."""
    from therapy_analytics.behaviours import TaggerOptions  # noqa: PLC0415 (few need it)
    from therapy_analytics.behaviours.choice import meaning  # noqa: PLC0415
    from therapy_analytics.language import EXTRAS, builtin_lexicons  # noqa: PLC0415
    from therapy_analytics.measures._base import all_columns  # noqa: PLC0415
    from therapy_analytics.tables import codebook_table  # noqa: PLC0415

    measures = all_columns(builtin_lexicons(), extras=EXTRAS)
    told = meaning(TaggerOptions(kind="fast"))
    table = codebook_table(measures, (), sessions=(), gold=(), meaning=told)
    return _of_sessions(table)


def _typed(frame: pd.DataFrame, codebook: pd.DataFrame) -> pd.DataFrame:
    """Return columns about sessions as text, measures as numbers."""
    families = codebook["family"].to_dict()
    columns: dict[str, pd.Series] = {}
    for name in map(str, frame.columns):
        if families.get(name, ABOUT[1]) in ABOUT:
            columns[name] = frame[name].map(_text)
        else:
            columns[name] = pd.to_numeric(frame[name], errors="coerce").astype(float)
    return pd.DataFrame(columns).reset_index(drop=True)


def _text(value: object) -> str:
    return "" if value is None or value is pd.NA or value != value else str(value).strip()  # noqa: PLR0124 (nan)


def _joined(folders: Sequence[Path], read: Sequence[Results], *, mixed: bool) -> Results:
    """Put folders under one another; whose sessions they are stands in a column of its own."""
    warnings = [warning for one in read for warning in one.warnings]
    differing = _differences(read)
    if differing and not mixed:
        problem = f"the folders are not comparable: {'; '.join(differing)}"
        remedy = "Run tanalyze run over all transcripts alike, or say --allow-mixed and read the numbers with care"
        raise BadOptionError(RESULTS, problem, remedy)
    if differing:
        text = "; ".join(differing)
        warnings.append(f"Not comparable: {text}. Differences between these folders may be the tool's alone.")
    names = _folder_names(folders)
    frames = [one.sessions.assign(**{RESULTS: name}) for one, name in zip(read, names, strict=True)]
    codebook = pd.concat([one.codebook for one in read])
    codebook = codebook[~codebook.index.duplicated()]
    sessions, more = _named_apart(pd.concat(frames, ignore_index=True))
    about = [str(name) for name in sessions if codebook["family"].to_dict().get(name, ABOUT[1]) in ABOUT]
    sessions[about] = sessions[about].fillna("")
    return Results(sessions, codebook, tuple(recipe for one in read for recipe in one.recipes), (*warnings, *more))


def _folder_names(folders: Sequence[Path]) -> list[str]:
    names = [folder.resolve().name for folder in folders]
    return names if len(set(names)) == len(names) else [str(folder) for folder in folders]


def _differences(read: Sequence[Results]) -> list[str]:
    """Say what of the recipes differs that moves the numbers."""
    taggers = [{key: one.recipes[0].get("tagger", {}).get(key) for key in _RECIPE} for one in read]
    found = []
    for key in _RECIPE:
        values = sorted({str(one[key]) for one in taggers if one[key] is not None})
        if len(values) > 1:
            word = "its weights differ" if key == "sha256" else f"{' and '.join(values)}"
            found.append(f"tagger, {key}: {word}")
    versions = sorted({str(one.recipes[0].get("therapy_analytics", "unknown")) for one in read})
    return [*found, *([f"versions of the program: {' and '.join(versions)}"] if len(versions) > 1 else [])]


def _named_apart(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Leave out sessions that stand in two folders alike; give a clashing name its folder."""
    same = frame.drop(columns=RESULTS).duplicated()
    frame, warnings = frame[~same].reset_index(drop=True), []
    if same.any():
        warnings.append(f"{_n(int(same.sum()))} stood in several folders, number for number: each is taken once.")
    clash = frame["session_id"].duplicated(keep=False)
    if clash.any():
        frame.loc[clash, "session_id"] = frame[RESULTS] + "/" + frame["session_id"]
        ids = f"{_n(int(clash.sum()))} share their ids across folders with other numbers"
        warnings.append(f"{ids}: they are kept, as folder/session_id. Were they measured twice, leave one folder out.")
    return frame, warnings


def _n(count: int) -> str:
    return f"{count} session{'' if count == 1 else 's'}"


def _checked(results: Results) -> Results:
    """Refuse an empty table; leave out sessions that stand in one table twice."""
    frame = results.sessions
    if frame.empty:
        raise BadOptionError(RESULTS, "there is no session in it", "Name a folder whose run found sessions")
    if "session_id" not in frame:
        raise BadOptionError(RESULTS, "the table has no column session_id", "Give analysis.sessions or a result folder")
    return _without_copies(_without_infinities(results))


def _without_infinities(results: Results) -> Results:
    """Take infinite values as undefined, as a ratio over zero is, and say of which sessions and columns."""
    frame = results.sessions
    families = results.codebook["family"].to_dict()
    measures = [name for name in map(str, frame.columns) if families.get(name, ABOUT[1]) not in ABOUT]
    infinite = np.isinf(frame[measures].to_numpy(dtype=np.float64))
    if not infinite.any():
        return results
    rows, columns = (sorted(set(place.tolist())) for place in np.nonzero(infinite))
    ids = _listed([str(one) for one in frame["session_id"].iloc[rows]])
    said = f"Infinite values are taken as undefined: {_listed([measures[j] for j in columns])} of {ids}."
    kept = frame.assign(**{name: frame[name].replace([np.inf, -np.inf], np.nan) for name in measures})
    return replace(results, sessions=kept, warnings=(*results.warnings, said))


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _without_copies(results: Results) -> Results:
    """Leave out a session whose every number, and everything known of it, is another's: a copy is no evidence."""
    frame = results.sessions
    families = results.codebook["family"].to_dict()
    measures = [name for name in frame if families.get(name, ABOUT[1]) not in ABOUT]
    unlike = [name for name in results.about if name not in ("session_id", "source_file", "notes", RESULTS)]
    # A table without many measures cannot tell a copy from a likeness.
    if len(measures) < 20:
        copies = frame["session_id"].duplicated() & frame.duplicated()
    else:
        known = frame[measures].notna().sum(axis=1) > 10
        copies = frame.duplicated([*measures, *unlike]) & known
    if not copies.any():
        return results
    said = f"{_n(int(copies.sum()))} left out: number for number a copy of another."
    kept = frame[~copies].reset_index(drop=True)
    return Results(kept, results.codebook, results.recipes, (*results.warnings, said))
