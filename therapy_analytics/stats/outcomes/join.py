"""Sessions with their scores and measures: the table that everything else is computed from."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.ids import safe_id
from therapy_analytics.core.printable import counted
from therapy_analytics.stats.compare.courses import Sessions, dates_fit, numbered, sessions_of
from therapy_analytics.stats.compare.groups import ComparedMeasure, choose
from therapy_analytics.stats.compare.sessions import Results
from therapy_analytics.stats.outcomes.scales import Scale
from therapy_analytics.stats.outcomes.scores import OPTION, Scores, rows_in_words
from therapy_analytics.stats.turn_matching import plain_id

IDENTITY = ("session_id", "client", "counselor", "date", "number", "guessed")
UNMATCHED = ("side", "row", "session_id", "client", "date", "number", "scale", "score", "why")
LENGTH = ("n_turns", "n_words_therapist", "n_words_client")
"""How long a session is: what is held constant beside each association."""
DANGER = "n_danger_turns"
"""Client turns that speak of present danger of their own."""
_SYNCHRONY, _EXCESS = "synchrony", "excess"


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
        `UNMATCHED`: scores without a session (``side`` is ``outcomes``) and sessions without a score (``results``).
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
    found, unmatched = match(scores, sessions.table, lacking)
    asked = choose(results, core_measures(results) if measures is None else measures)
    # Raw synchrony grows with the length of turns and sessions
    statistic = results.codebook["statistic"]
    chosen = tuple(one for one in asked if one.family != _SYNCHRONY or statistic[one.name] == _EXCESS)
    if not chosen:
        problem = "synchrony is related to scores as excess over surrogate pairs alone, which these results do not have"
        raise BadOptionError("--measures", problem, "Name other measures, or make the results again with tanalyze run")
    for scale in scores.scales:
        if scale.name in results.sessions:
            problem = f"the results have a column {scale.name}, and so has the table of scores"
            raise BadOptionError(OPTION, problem, "Call the column of the scores otherwise")
    known = _with_scores(sessions.table, scores, found)
    wanted = [f"{one.name}{end}" for one in chosen for end in ("", "_lo", "_hi")] + [*LENGTH, DANGER]
    numbers = results.sessions[[name for name in dict.fromkeys(wanted) if name in results.sessions]]
    table = known.table.drop(columns="counted").join(numbers.reset_index(drop=True))
    table = pd.concat([table, _without_transcript(found, table)], ignore_index=True)
    counselors = table[table["client"] != ""].groupby("client")["counselor"].nunique()
    shared = table["client"].map(counselors) > 1
    table["client"] = table["client"].where(~shared, table["client"] + " (" + table["counselor"] + ")")
    first = [*IDENTITY, *(one.name for one in scores.scales)]
    table = table[[*first, *(name for name in table if name not in first)]]
    table = table.sort_values(["counselor", "client", "number"], kind="stable", na_position="last", ignore_index=True)
    return Joined(
        table=table,
        scales=scores.scales,
        measures=chosen,
        unmatched=unmatched,
        notes=(*results.warnings, *known.notes, *scores.notes, *_notes(table, unmatched, sessions.table, found)),
        n_clients=len(counselors),
        n_shared=int((counselors > 1).sum()),
    )


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


# Which session a score belongs to


def match(scores: Scores, sessions: pd.DataFrame, lacking: str = "") -> tuple[pd.DataFrame, pd.DataFrame]:
    """Find the session of each score: by its id, else by client with date or number.

    Parameters
    ----------
    scores : Scores
        The scores.
    sessions : DataFrame
        A row a session: ``session_id``, ``client``, ``counselor``, ``date``, ``number``.
    lacking : str, optional
        What to do where it is for want of the key of pseudonyms that no score has a session.

    Returns
    -------
    found : DataFrame
        The table of scores with ``place``, the row of the session (-1: none); ``why`` there is none; and
        ``known_client``, ``known_counselor``: who the client is, as the results write the names, "" where unknown.
    unmatched : DataFrame
        `UNMATCHED`.

    Raises
    ------
    BadOptionError
        A row fits several sessions, two scores of one scale belong to one session, or no row fits any.
    """
    names = sessions.assign(
        id=sessions["session_id"].map(_session_name),
        name=sessions["client"].map(_name),
        compact=sessions["client"].map(_compact),
        of=sessions["counselor"].map(_compact),
    )
    rows = scores.table.drop_duplicates("row")
    answers = pd.DataFrame([_found(row, names) for row in rows.to_dict("records")], index=rows["row"])
    found = scores.table.join(answers, on="row")
    if not (found["place"] >= 0).any():
        known = ", ".join(sessions["session_id"][:3])
        first = found.iloc[0]
        problem = f"no row is about a session of these results (row {first['row']}: {first['why']})"
        remedy = lacking or f"Name sessions as sessions.csv does ({known}, ...), or clients"
        raise BadOptionError(OPTION, problem, remedy)
    _refuse_twice(found, sessions, scores.scales)
    without = sessions[~np.isin(np.arange(len(sessions)), found["place"])]
    parts = (
        found[found["place"] < 0].assign(side="outcomes"),
        scores.refused.assign(side="outcomes"),
        without.assign(side="results", row=np.nan, scale="", score="", why="the table has no score for it"),
    )
    unmatched = pd.concat([one.reindex(columns=list(UNMATCHED)).astype(object) for one in parts], ignore_index=True)
    return found, unmatched


def _found(row: Mapping[Hashable, object], sessions: pd.DataFrame) -> dict[str, object]:
    """Return where the session is that a row of scores is about (-1 where there is none, and why), and who its client.

    A BadOptionError where it could be several: a guess could give the score to the wrong session.
    """
    of_client = pd.Series(data=False, index=sessions.index)
    if row["client"]:
        exact = sessions["name"] == _name(row["client"])
        of_client = exact if exact.any() else sessions["compact"] == _compact(row["client"])
        if row["counselor"] and sessions.loc[of_client, "of"].nunique() > 1:
            of_client &= sessions["of"] == _compact(row["counselor"])
    people = sessions.loc[of_client, ["client", "counselor"]].drop_duplicates().to_numpy().tolist()
    client, counselor = people[0] if len(people) == 1 else ("", "")
    if row["session_id"]:
        fits = sessions["id"] == _session_name(row["session_id"])
        exact = fits & (sessions["session_id"] == row["session_id"])
        fits, why = exact if exact.any() else fits, "the results have no session of that name"
    else:
        fits, why = _when(row, sessions, of_client)
    places = np.flatnonzero(fits)
    if len(places) > 1:
        some = ", ".join(sessions["session_id"].to_numpy()[places][:3]) + (", ..." if len(places) > 3 else "")
        problem = f"row {row['row']} fits {len(places)} sessions of the results ({some})"
        raise BadOptionError(OPTION, problem, "Say which: give its session_id, a whole date, or a session_number")
    place = int(places[0]) if len(places) else -1
    return {"place": place, "why": "" if place >= 0 else why, "known_client": client, "known_counselor": counselor}


def _when(row: Mapping[Hashable, object], sessions: pd.DataFrame, of_client: pd.Series) -> tuple[pd.Series, str]:
    """Return which sessions of a client have the date or number of a row, and why there are none, if so."""
    if not row["client"]:
        return of_client, "the row names neither a session nor a client"
    if not of_client.any():
        return of_client, "the results have no client of that name"
    date, number = str(row["date"]), float(str(row["number"]))
    fits, what = of_client, "date"
    if date:
        fits = fits & np.array([dates_fit(date, one) for one in sessions["date"]], dtype=np.bool_)
    if not np.isnan(number) and (not date or fits.sum() > 1):
        fits, what = fits & (sessions["number"] == number), "number"
    return fits, f"the results have no session of that client with that {what}"


def _session_name(name: object) -> str:
    return safe_id(plain_id(name)).casefold()


def _name(name: object) -> str:
    return " ".join(str(name).split()).casefold().removesuffix(".0")


def _compact(name: object) -> str:
    return re.sub(r"[\s_-]+", "", _name(name))


def _refuse_twice(found: pd.DataFrame, sessions: pd.DataFrame, scales: Sequence[Scale]) -> None:
    """Refuse two scores of one scale for one session, with a transcript or without: nobody can know which counts."""
    known = found[(found["place"] >= 0) | ((found["known_client"] != "") & found["number"].notna())]
    known = known.assign(number=known["number"].where(known["place"] < 0, 0))
    same = ["place", "known_client", "known_counselor", "number", "scale"]
    twice = known[known.duplicated(same, keep=False)]
    if twice.empty:
        return
    first = twice.iloc[0]
    own = twice[twice[same].eq(first[same]).all(axis=1)]
    label = next(one.label for one in scales if one.name == first["scale"])
    session = f"session {first['number']:.0f} of {first['known_client']}"
    session = f"the session {sessions['session_id'].iloc[first['place']]}" if first["place"] >= 0 else session
    where = rows_in_words(own["row"])
    problem = f"{where} both give the {label} of {session}"
    if own["row"].nunique() == 1:
        problem = f"two columns give the {label} of {session} ({where})"
    raise BadOptionError(OPTION, problem, "Keep one of them")


# The table


def _with_scores(table: pd.DataFrame, scores: Scores, found: pd.DataFrame) -> Sessions:
    """Add a column a scale, and what the scores' table alone says of a session; number sessions again with that.

    It says something new where it names sessions by id, or where a session has no number. A number by which a score
    found its session does not.
    """
    known = found[found["place"] >= 0]
    wide = known.pivot_table(index="place", columns="scale", values="score", sort=False)

    def told(name: str, rows: pd.DataFrame) -> pd.Series:
        return rows.drop_duplicates("place").set_index("place")[name].reindex(table.index)

    for name in ("client", "counselor", "date"):
        given_here = told(name, known[known[name] != ""]).fillna("")
        table = table.assign(**{name: table[name].where(table[name] != "", given_here)})
    by_id = known[known["number"].notna() & (known["session_id"] != "")]
    given = table["number"].mask(table["counted"]).fillna(told("number", by_id))
    again = numbered(table.drop(columns=["number", "counted", "guessed"]).assign(given=given))
    return Sessions(again.table.join(wide.reindex(columns=[one.name for one in scores.scales])), again.notes)


def _without_transcript(found: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each session of a known client that has scores and no transcript, where its number is known."""
    own = found.assign(client=found["known_client"], counselor=found["known_counselor"])
    own = own[(own["place"] < 0) & (own["client"] != "") & own["number"].notna()]
    if own.empty:
        return own.reindex(columns=list(IDENTITY)).astype({"guessed": bool})
    keys = ["client", "counselor", "number"]
    wide = own.pivot_table(index=keys, columns="scale", values="score", sort=False).reset_index()
    dates = own.drop_duplicates(keys).set_index(keys)["date"]
    dated = dates.reindex(pd.MultiIndex.from_frame(wide[keys])).to_numpy()
    guessed = table.groupby(["client", "counselor"])["guessed"].any()
    of_client = guessed.reindex(pd.MultiIndex.from_frame(wide[keys[:2]])).fillna(False).to_numpy(dtype=bool)
    return wide.assign(session_id="", date=dated, guessed=of_client)


def _notes(table: pd.DataFrame, unmatched: pd.DataFrame, sessions: pd.DataFrame, found: pd.DataFrame) -> list[str]:
    """Return what to know of the join: numbers that may have shifted, and who and what is left out."""
    notes = []
    left = found.loc[(found["place"] < 0) & found["number"].notna(), "known_client"]
    shifted = (set(left) & set(sessions.loc[sessions["counted"], "client"])) - {""}
    if shifted:
        notes.append(
            f"The table has more sessions of {counted(len(shifted), 'client')} than the results, where sessions were "
            "counted by date: if one in between has no transcript, scores stand beside the wrong sessions. A "
            "session_number in the results, or dates in the table, make it sure."
        )
    alone, missing = int((table["client"] == "").sum()), int((table["session_id"] == "").sum())
    if alone:
        notes.append(f"{counted(alone, 'session')} of unknown clients: related to scores, and in no course.")
    if missing:
        what = counted(missing, "session")
        notes.append(f"{what} with scores and without a transcript: in the course, with scores alone.")
    sides = {
        "outcomes": "scores of the table could not be used, or belong to no session of the results",
        "results": "sessions of the results have no score",
    }
    for side, what in sides.items():
        n = int((unmatched["side"] == side).sum())
        notes += [f"{n} {what}: see unmatched.csv."] if n else []
    return notes
