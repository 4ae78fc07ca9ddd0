"""Which session of the results each score belongs to."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from therapy_analytics.core.clusters import Bools, Ints
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.ids import safe_id
from therapy_analytics.stats.compare._courses import Sessions
from therapy_analytics.stats.compare._dates import dates_fit
from therapy_analytics.stats.outcomes._scores import Scores, rows_in_words
from therapy_analytics.stats.turn_matching import plain_id

Texts = NDArray[np.object_]
UNMATCHED = ("side", "row", "session_id", "client", "date", "number", "scale", "score", "why")
_OPTION = "--outcomes"


@dataclass(frozen=True, slots=True)
class MatchedScores:
    """Scores with their sessions.

    Attributes
    ----------
    place : int64 array (n_scores,)
        The row of the session of each score, -1 where there is none.
    client, counselor : object array (n_scores,)
        Of each score the client, as the results write the name, and the client's counselor; "" where unknown.
    unmatched : DataFrame
        `UNMATCHED`: scores without a session (``side`` is ``outcomes``) and sessions without a score (``results``).
    """

    place: Ints
    client: Texts
    counselor: Texts
    unmatched: pd.DataFrame


def match(scores: Scores, sessions: Sessions, lacking: str = "") -> MatchedScores:
    """Find the session of each score: by its id, else by client with date or number.

    `lacking` says what to do where it is for want of the key of pseudonyms that no score has a session.

    Raises
    ------
    BadOptionError
        A row fits several sessions, two scores of one scale belong to one session, or no row fits any.
    """
    table, finder = scores.table, _Finder(sessions.table)
    rows = table.groupby(["row", "number"], dropna=False, sort=False).ngroup().to_numpy()
    keys = table[~pd.Series(rows).duplicated()].to_dict("records")
    answers = [(*finder.find(key), *finder.client(key)) for key in keys]
    place, why, client, counselor = (np.array(one, dtype=object)[rows] for one in zip(*answers, strict=True))
    found = MatchedScores(place.astype(np.int64), client, counselor, pd.DataFrame())
    if not (found.place >= 0).any():
        known = ", ".join(sessions.table["session_id"][:3])
        problem = f"no row is about a session of these results ({rows_in_words(table['row'][:1])}: {why[0]})"
        remedy = lacking or f"Name sessions as sessions.csv does ({known}, ...), or clients"
        raise BadOptionError(_OPTION, problem, remedy)
    _refuse_twice(scores, sessions.table, found)
    left = table.assign(side="outcomes", why=why)[found.place < 0]
    without = sessions.table[~np.isin(np.arange(len(sessions.table)), found.place)]
    without = without.assign(side="results", row=np.nan, scale="", score="", why="the table has no score for it")
    parts = (left, scores.refused.assign(side="outcomes"), without)
    unmatched = pd.concat([one.reindex(columns=list(UNMATCHED)).astype(object) for one in parts], ignore_index=True)
    return replace(found, unmatched=unmatched)


def _refuse_twice(scores: Scores, sessions: pd.DataFrame, found: MatchedScores) -> None:
    """Refuse two scores of one scale for one session, with a transcript or without: nobody can know which counts."""
    known = scores.table.assign(place=found.place, client=found.client, counselor=found.counselor)
    known = known[(known["place"] >= 0) | ((known["client"] != "") & known["number"].notna())]
    number = known["number"].where(known["place"] < 0, 0)
    twice = known[
        known.assign(number=number).duplicated(["place", "client", "counselor", "number", "scale"], keep=False)
    ]
    if twice.empty:
        return
    first = twice.iloc[0]
    same = twice[["place", "client", "counselor", "scale"]].eq(first[["place", "client", "counselor", "scale"]])
    own = twice[same.all(axis=1) & ((twice["place"] >= 0) | (twice["number"] == first["number"]))]
    label = next(one.label for one in scores.scales if one.name == first["scale"])
    session = f"session {first['number']:.0f} of {first['client']}"
    session = f"the session {sessions['session_id'].iloc[first['place']]}" if first["place"] >= 0 else session
    where = rows_in_words(own["row"])
    problem = f"{where} both give the {label} of {session}"
    if own["row"].nunique() == 1:
        problem = f"two columns give the {label} of {session} ({where})"
    raise BadOptionError(_OPTION, problem, "Keep one of them")


class _Finder:
    """Finds sessions by what people write of them."""

    def __init__(self, sessions: pd.DataFrame) -> None:
        self._sessions = sessions
        self._ids = sessions["session_id"].map(_session_name).to_numpy()
        self._clients = {True: sessions["client"].map(_name).to_numpy()}
        self._clients[False] = sessions["client"].map(_compact).to_numpy()
        self._counselors = sessions["counselor"].map(_compact).to_numpy()

    def find(self, key: Mapping[Hashable, object]) -> tuple[int, str]:
        """Return the row of the session that a row of scores is about, or -1 and why there is none."""
        fits, why = self._by_id(key) if key["session_id"] else self._by_client(key)
        if why:
            return -1, why
        places = np.flatnonzero(fits)
        if len(places) == 1:
            return int(places[0]), ""
        some = ", ".join(self._sessions["session_id"].to_numpy()[places][:3]) + (", ..." if len(places) > 3 else "")
        problem = f"row {key['row']} fits {len(places)} sessions of the results ({some})"
        raise BadOptionError(_OPTION, problem, "Say which: give its session_id, a whole date, or a session_number")

    def _by_id(self, key: Mapping[Hashable, object]) -> tuple[Bools, str]:
        fits = self._ids == _session_name(key["session_id"])
        exact = fits & (self._sessions["session_id"] == key["session_id"]).to_numpy()
        return (exact if exact.any() else fits), "" if fits.any() else "the results have no session of that name"

    def client(self, key: Mapping[Hashable, object]) -> tuple[str, str]:
        """Return the client of a row and the counselor, as the results have them; "" where they are not one."""
        fits = self._of_client(key) if key["client"] else np.zeros(len(self._ids), dtype=np.bool_)
        own = self._sessions[fits][["client", "counselor"]].drop_duplicates()
        return (str(own["client"].iloc[0]), str(own["counselor"].iloc[0])) if len(own) == 1 else ("", "")

    def _of_client(self, key: Mapping[Hashable, object]) -> Bools:
        """Return which sessions are of the client of a row, and of its counselor where two have such a client."""
        exact = self._clients[True] == _name(key["client"])
        fits = exact if exact.any() else self._clients[False] == _compact(key["client"])
        if key["counselor"] and len(set(self._counselors[fits])) > 1:
            fits = fits & (self._counselors == _compact(key["counselor"]))
        return np.asarray(fits, dtype=np.bool_)

    def _by_client(self, key: Mapping[Hashable, object]) -> tuple[Bools, str]:
        if not key["client"]:
            return np.zeros(len(self._ids), dtype=np.bool_), "the row names neither a session nor a client"
        fits = self._of_client(key)
        if not fits.any():
            return fits, "the results have no client of that name"
        date, number = str(key["date"]), float(str(key["number"]))
        if not date and np.isnan(number):
            return fits, ""
        what = "date" if date else "number"
        if date:
            fits = fits & np.array([dates_fit(date, one) for one in self._sessions["date"]], dtype=np.bool_)
        if not np.isnan(number) and (not date or fits.sum() > 1):
            fits, what = fits & (self._sessions["number"] == number).to_numpy(), "number"
        return fits, "" if fits.any() else f"the results have no session of that client with that {what}"


def _session_name(name: object) -> str:
    return safe_id(plain_id(name)).casefold()


def _name(name: object) -> str:
    return " ".join(str(name).split()).casefold().removesuffix(".0")


def _compact(name: object) -> str:
    return re.sub(r"[\s_-]+", "", _name(name))
