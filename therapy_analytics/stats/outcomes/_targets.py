"""What is explained: a session's score, the next session's given this one's, and the last given the first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.core.clusters import cluster_numbers

SESSION, NEXT, CHANGE = "session", "next", "change"
TARGETS = (SESSION, NEXT, CHANGE)
LENGTH, SESSIONS, NUMBER = "_length", "_sessions", "_number"
Y, BEFORE, CLIENT, COUNSELOR, KNOWN_CLIENT, KNOWN_COUNSELOR = (
    "_y", "_before", "_client", "_counselor", "_known_client", "_known_counselor"
)  # fmt: skip
_WORDS, _TURNS = ["n_words_therapist", "n_words_client"], "n_turns"


def with_groups(joined: pd.DataFrame) -> pd.DataFrame:
    """Add who each session belongs to, as numbers, and its length.

    Columns `CLIENT` and `COUNSELOR`: labels; a session whose client is unknown is its own client, and a client whose
    counselor is unknown has a counselor of its own, unless no counselor is known. `KNOWN_CLIENT`, `KNOWN_COUNSELOR`:
    whether they are known. `LENGTH`: the logarithm of 1 + the words of both, else of the turns; without either there is
    no such column.
    """
    frame = joined.reset_index(drop=True)
    names = {
        name: (frame[name] if name in frame else pd.Series("", index=frame.index)).fillna("").astype(str).str.strip()
        for name in ("client", "counselor")
    }
    people = pd.DataFrame(names)
    client = cluster_numbers(people, "client")
    alone = pd.Series([f"\x1e{one}" for one in client], index=frame.index)
    named = people["counselor"] != ""
    counselor = pd.factorize(people["counselor"].where(named if named.any() else ~named, alone))[0]
    length = frame[_WORDS].sum(axis=1, skipna=False) if set(_WORDS) <= set(frame) else frame.get(_TURNS)
    added: dict[str, Any] = {CLIENT: client, COUNSELOR: counselor}
    added |= {KNOWN_CLIENT: people["client"] != "", KNOWN_COUNSELOR: named}
    if length is not None:
        added[LENGTH] = np.log1p(length.astype(np.float64))
    return frame.assign(**added)


def target_rows(table: pd.DataFrame, scale: str, target: str, measures: Sequence[str]) -> pd.DataFrame:
    """Return the rows of a model, from a table as `with_groups` returns it.

    Parameters
    ----------
    table : DataFrame
        A row a session: a column for the scale, the measures, ``number``.
    scale, target : str
        A column of scores, and one of `TARGETS`.
    measures : sequence of str
        Columns of numbers.

    Returns
    -------
    DataFrame
        The columns of `with_groups` and the measures; `Y`, the score that is explained; `BEFORE`, the score that is
        given (this session's, the first one's), which the target ``session`` has not; `SESSIONS`, for how many
        sessions a row stands; `NUMBER`, of the session, nan where unknown. For ``next``, a row for each session whose
        number is followed by the next one of the client. For ``change``, a row a client with two scores or more; the
        measures and the length are means from the session of the first score to that of the last, and `NUMBER` is by
        how much the number of the last is above that of the first.
    """
    about = [CLIENT, COUNSELOR, KNOWN_CLIENT, KNOWN_COUNSELOR]
    numbers = [name for name in dict.fromkeys([*measures, LENGTH]) if name in table]
    if target == SESSION:
        return table[[*about, *numbers]].assign(**{Y: table[scale], NUMBER: table["number"]}).assign(**{SESSIONS: 1})
    ordered = table[table[KNOWN_CLIENT] & table["number"].notna()].sort_values([CLIENT, "number"], kind="stable")
    by_client = ordered.groupby(CLIENT, sort=True)
    if target == NEXT:
        follows = by_client["number"].shift(-1) == ordered["number"] + 1
        rows = ordered[[*about, *numbers]].assign(**{Y: by_client[scale].shift(-1), BEFORE: ordered[scale]})
        return rows.assign(**{NUMBER: ordered["number"]}).assign(**{SESSIONS: 1})[follows]
    scored = ordered[scale].notna()
    seen, ahead = (one.groupby(ordered[CLIENT]).cumsum().reindex(ordered.index) for one in (scored, scored[::-1]))
    # From the first score to the last: a score has been, and one is still to come
    spans = ordered[(seen > 0) & (ahead > 0)]
    by_client = spans.groupby(CLIENT, sort=True)
    rows = by_client[about].first().assign(**{name: by_client[name].mean() for name in numbers})
    rows = rows.assign(**{Y: by_client[scale].last(), BEFORE: by_client[scale].first(), SESSIONS: by_client.size()})
    rows[NUMBER] = by_client["number"].last() - by_client["number"].first()
    return rows[by_client[scale].count() > 1].reset_index(drop=True)
