"""Sessions with their scores and measures: the table that everything else is computed from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.printable import counted
from therapy_analytics.stats.compare.courses import Sessions, numbered, sessions_of
from therapy_analytics.stats.compare.groups import ComparedMeasure, choose
from therapy_analytics.stats.compare.sessions import Results
from therapy_analytics.stats.outcomes._match import MatchedScores, match
from therapy_analytics.stats.outcomes._scales import Scale
from therapy_analytics.stats.outcomes._scores import Scores

IDENTITY = ("session_id", "client", "counselor", "date", "number", "guessed")
LENGTH = ("n_turns", "n_words_therapist", "n_words_client")
"""How long a session is: what is held constant beside each association."""
_SYNCHRONY, _EXCESS = "synchrony", "excess"
DANGER = "n_danger_turns"
"""Client turns that speak of present danger of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """Sessions with scores and measures.

    Attributes
    ----------
    table : DataFrame
        A row a session, ordered by client and number: `IDENTITY` (``guessed``: whether nothing but the order of the
        results says the number), a column a scale (nan where there is no score), a
        column a measure with ``_lo`` and ``_hi`` where it has an interval, `LENGTH`, and `DANGER`. Sessions that have
        a score and no transcript have an empty ``session_id`` and no measure. ``client`` is one name a client:
        of clients of one name the counselor stands behind it; a session whose client is unknown has none.
    scales : tuple of Scale
        The scales.
    measures : tuple of ComparedMeasure
        The measures that are related to scores.
    unmatched : DataFrame
        As `MatchedScores`.
    notes : tuple of str
        What to know of all this, in sentences.
    n_clients, n_shared : int
        The names of clients in the results and scores, and how many of them stand beside more than one counselor.
    """

    table: pd.DataFrame
    scales: tuple[Scale, ...]
    measures: tuple[ComparedMeasure, ...]
    unmatched: pd.DataFrame
    notes: tuple[str, ...]
    n_clients: int
    n_shared: int

    @property
    def recorded(self) -> pd.DataFrame:
        """Return the sessions that have a transcript."""
        return self.table[self.table["session_id"] != ""].reset_index(drop=True)


def joined(results: Results, scores: Scores, measures: Sequence[str] | None = None, *, lacking: str = "") -> Joined:
    """Join the sessions of results with scores.

    Parameters
    ----------
    results : Results
        The sessions, as ``tanalyze compare`` reads them.
    scores : Scores
        The scores.
    measures : sequence of str, optional
        Names, patterns or families of measures, as for ``tanalyze compare``; by default `core_measures`. Of synchrony,
        the excess over surrogate pairs alone.
    lacking : str, optional
        As for `match`.

    Raises
    ------
    BadOptionError
        As `match`; or a measure is not known, or a scale is called as a measure.
    """
    sessions = sessions_of(results.sessions)
    found = match(scores, sessions, lacking)
    chosen = _chosen(results, core_measures(results) if measures is None else measures)
    _refuse_same_names(scores.scales, results)
    table, order_notes = _with_scores(sessions.table, scores, found)
    table = table.join(_numbers(results, chosen))
    table = pd.concat([table, _without_transcript(scores, found, table)], ignore_index=True)
    counselors = table[table["client"] != ""].groupby("client")["counselor"].nunique()
    table["client"] = _clients(table, counselors)
    order = table.sort_values(["counselor", "client", "number"], kind="stable", na_position="last")
    first = [*IDENTITY, *(one.name for one in scores.scales)]
    whole = order[[*first, *(name for name in order if name not in first)]].reset_index(drop=True)
    notes = (
        *results.warnings,
        *order_notes,
        *scores.notes,
        *_counted(sessions, scores, found),
        *_notes(whole, found),
    )
    return Joined(
        table=whole, scales=scores.scales, measures=chosen, unmatched=found.unmatched, notes=notes,
        n_clients=len(counselors), n_shared=int((counselors > 1).sum()),
    )  # fmt: skip


def core_measures(results: Results) -> list[str]:
    """Return the core measures that are a rate, a share or a mean, or a course over the session.

    Counts and sizes are left out, as they grow with the length of a session, and so is what the tool says of itself. Of
    synchrony it is the excess over surrogate pairs, where the results have it.
    """
    rows = results.codebook
    core = rows["measure"].isin(rows.loc[rows["core"] & (rows["compare"] != "no"), "measure"])
    fit = (core & (rows["statistic"] == _EXCESS)) | (
        rows["core"] & (rows["statistic"] == "value") & (rows["compare"] != "no") & (rows["family"] != _SYNCHRONY)
    )
    defined = results.sessions.notna().any()
    names = rows.index[fit & (rows["unit"] != "seconds")]
    core_names = [str(name) for name in names if name in results.sessions and defined[name]]
    if not core_names:
        problem = "the results hold no core measure"
        raise BadOptionError("--measures", problem, "Name measures, or make the results again with tanalyze run")
    return core_names


def _chosen(results: Results, names: Sequence[str]) -> tuple[ComparedMeasure, ...]:
    """Return the measures of these names, without raw synchrony: it grows with the length of turns and sessions."""
    statistic = results.codebook["statistic"]
    found = choose(results, names)
    kept = tuple(one for one in found if one.family != _SYNCHRONY or statistic[one.name] == _EXCESS)
    if not kept:
        problem = "synchrony is related to scores as excess over surrogate pairs alone, which these results do not have"
        raise BadOptionError("--measures", problem, "Name other measures, or make the results again with tanalyze run")
    return kept


def _refuse_same_names(scales: Sequence[Scale], results: Results) -> None:
    for one in scales:
        if one.name in results.sessions:
            problem = f"the results have a column {one.name}, and so has the table of scores"
            raise BadOptionError("--outcomes", problem, "Call the column of the scores otherwise")


def _numbers(results: Results, measures: Sequence[ComparedMeasure]) -> pd.DataFrame:
    """Return the columns of numbers: measures with their intervals, sizes, turns of danger."""
    frame = results.sessions
    names = [name for one in measures for name in (one.name, f"{one.name}_lo", f"{one.name}_hi") if name in frame]
    names += [name for name in (*LENGTH, DANGER) if name in frame]
    return frame[list(dict.fromkeys(names))].reset_index(drop=True)


def _with_scores(table: pd.DataFrame, scores: Scores, found: MatchedScores) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Add a column a scale, and what the scores' table alone says of a session; note where nothing orders sessions.

    Sessions are numbered again with the numbers and dates that the scores' table has for sessions that it names by id,
    and for sessions without a number. A number by which a score found its session says nothing new.
    """
    known = scores.table.assign(place=found.place)[found.place >= 0]
    wide = known.pivot_table(index="place", columns="scale", values="score", sort=False)

    def told(name: str, rows: pd.DataFrame) -> pd.Series:
        return rows.drop_duplicates("place").set_index("place")[name].reindex(table.index)

    for name in ("client", "counselor", "date"):
        table[name] = table[name].where(table[name] != "", told(name, known[known[name] != ""]).fillna(""))
    by_id = known[known["number"].notna() & (known["session_id"] != "")]
    given = table["number"].mask(table["counted"]).fillna(told("number", by_id))
    again = numbered(table.drop(columns=["number", "counted", "guessed"]).assign(given=given))
    table = again.table.drop(columns="counted").join(wide.reindex(columns=[one.name for one in scores.scales]))
    return table, again.notes


def _without_transcript(scores: Scores, found: MatchedScores, table: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each session of a known client that has scores and no transcript, where its number is known."""
    own = scores.table.assign(client=found.client, counselor=found.counselor)
    own = own[(found.place < 0) & (own["client"] != "") & own["number"].notna()]
    if own.empty:
        return own.reindex(columns=list(IDENTITY)).astype({"guessed": bool})
    keys = ["client", "counselor", "number"]
    wide = own.pivot_table(index=keys, columns="scale", values="score", sort=False).reset_index()
    dates = own.drop_duplicates(keys).set_index(keys)["date"]
    dated = dates.reindex(pd.MultiIndex.from_frame(wide[keys])).to_numpy()
    guessed = table.groupby(["client", "counselor"])["guessed"].any()
    of_client = guessed.reindex(pd.MultiIndex.from_frame(wide[keys[:2]])).fillna(False).to_numpy(dtype=bool)
    return wide.assign(session_id="", date=dated, guessed=of_client)


def _clients(table: pd.DataFrame, counselors: pd.Series) -> pd.Series:
    """Return one name a client: clients of one name under several counselors (their number by name) are told apart."""
    apart = table["client"] + " (" + table["counselor"] + ")"
    return table["client"].where(~(table["client"].map(counselors) > 1), apart)


def _counted(sessions: Sessions, scores: Scores, found: MatchedScores) -> list[str]:
    """Return a note where numbers of sessions may have shifted: a session in between may have no transcript."""
    left = scores.table.assign(client=found.client)[found.place < 0]
    clients = set(left.loc[left["number"].notna(), "client"]) & set(sessions.table["client"][sessions.table["counted"]])
    if not clients - {""}:
        return []
    whose = counted(len(clients - {""}), "client")
    note = (
        f"The table has more sessions of {whose} than the results, where sessions were counted by date: if one in "
        "between has no transcript, scores stand beside the wrong sessions. A session_number in the results, or dates "
        "in the table, make it sure."
    )
    return [note]


def _notes(table: pd.DataFrame, found: MatchedScores) -> list[str]:
    notes = []
    alone = int((table["client"] == "").sum())
    if alone:
        notes.append(f"{counted(alone, 'session')} of unknown clients: related to scores, and in no course.")
    missing = int((table["session_id"] == "").sum())
    if missing:
        what = counted(missing, "session")
        notes.append(f"{what} with scores and without a transcript: in the course, with scores alone.")
    left = found.unmatched
    sides = {
        "outcomes": "scores of the table could not be used, or belong to no session of the results",
        "results": "sessions of the results have no score",
    }
    for side, what in sides.items():
        n = int((left["side"] == side).sum())
        if n:
            notes.append(f"{n} {what}: see unmatched.csv.")
    return notes
