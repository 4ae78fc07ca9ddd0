"""What is explained by what: scores and measures of sessions, clients and counselors, apart from each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from therapy_analytics.core.clusters import Floats, Ints, cluster_numbers

WITHIN, CLIENTS, COUNSELORS = "within_clients", "between_clients", "between_counselors"
LEVELS = (WITHIN, CLIENTS, COUNSELORS)
FEWEST_DF = 4
"""Degrees of freedom that a slope needs: six clients, or counselors, for one between them."""
SEPARATE = FEWEST_DF + 3
"""Units more than the level above that a level needs to be told apart: enough for a slope beside the intercept, the
length and the score that is given."""
SESSIONS_ALONE = "hardly any client has several sessions: clients are not told apart from sessions"
CLIENTS_ALONE = "hardly any counselor has several clients: counselors are not told apart from clients"

SESSION, NEXT, CHANGE = "session", "next", "change"
TARGETS = (SESSION, NEXT, CHANGE)
Y, BEFORE, LENGTH, SESSIONS, NUMBER = "_y", "_before", "_length", "_sessions", "_number"
CLIENT, COUNSELOR, KNOWN_CLIENT, KNOWN_COUNSELOR = "_client", "_counselor", "_known_client", "_known_counselor"
"""Columns beside the measures, which have names of their own."""


@dataclass(frozen=True, slots=True, eq=False)
class Nesting:
    """Which sessions are of one client, and which clients of one counselor, as far as the sessions can tell.

    Attributes
    ----------
    client, counselor : int64 arrays (n,)
        Numbers from 0. Where a level cannot be told from the one below it, each unit has a number of its own (clients)
        or all have the same (counselors).
    free : dict of str to int
        For each level that the sessions have: its units less those of the level above. A level that they have not is
        missing.
    note : str
        Which levels are taken together, and why; empty where none are.
    """

    client: Ints
    counselor: Ints
    free: dict[str, int]
    note: str

    def split(self, values: Floats) -> dict[str, Floats]:
        """Return the deviations of `values` (n,) at each level, (n,) each; their sum is `values` less the mean."""
        counselors, clients = (
            (np.bincount(units, values) / np.bincount(units))[units] for units in (self.counselor, self.client)
        )
        clients = clients if WITHIN in self.free else values
        found = {WITHIN: values - clients, CLIENTS: clients - counselors, COUNSELORS: counselors - values.mean()}
        return {level: np.asarray(part) for level, part in found.items() if level in self.free}

    def spread(self, parts: dict[str, Floats]) -> dict[str, float]:
        """Return the standard deviation of the units of each level from the deviations of `split`; 0 for rounding."""
        every = np.arange(len(self.client))
        clients, counselors = (np.unique(units, return_index=True)[1] for units in (self.client, self.counselor))
        one_each = {WITHIN: every, CLIENTS: clients if WITHIN in self.free else every, COUNSELORS: counselors}
        total = np.sqrt(np.mean(sum(parts.values()) ** 2)) if parts else 0.0
        found = {
            level: float(np.sqrt((part[one_each[level]] ** 2).sum() / self.free[level]))
            for level, part in parts.items()
        }
        return {level: spread if spread > 1e-9 * total else 0.0 for level, spread in found.items()}


def nesting(clients: Ints, counselors: Ints, *, repeats: bool = True) -> Nesting:
    """Return how sessions are nested, from the labels of their clients and counselors, (n,) each.

    `repeats` says whether a client could have several rows at all.

    A level with fewer than `SEPARATE` more units than the one above it is taken together with that: hardly any client
    has several sessions, or hardly any counselor several clients.

    Examples
    --------
    Two counselors with five clients each, of whom each comes three times:

    >>> nested = nesting(np.repeat(np.arange(10), 3), np.repeat([0, 1], 15))
    >>> nested.free
    {'within_clients': 20, 'between_clients': 8, 'between_counselors': 1}
    """
    client, counselor = (np.unique(one, return_inverse=True)[1].astype(np.int64) for one in (clients, counselors))
    n_clients, n_counselors = (len(np.unique(one)) for one in (client, counselor))
    notes = []
    if n_counselors > 1 and n_clients - n_counselors < SEPARATE:
        notes.append(CLIENTS_ALONE)
        counselor, n_counselors = np.zeros_like(counselor), 1
    free = {WITHIN: len(client) - n_clients, CLIENTS: n_clients - n_counselors, COUNSELORS: n_counselors - 1}
    if free[WITHIN] < SEPARATE:
        # Rows of clients, as a model of the change has, are what they should be
        notes += [SESSIONS_ALONE] if repeats else []
        free[CLIENTS] += free.pop(WITHIN)
    kept = {level: units for level, units in free.items() if units > 0}
    return Nesting(client, counselor, kept, "; ".join(notes))


def with_groups(joined: pd.DataFrame) -> pd.DataFrame:
    """Add who each session belongs to, as numbers, and its length.

    Columns `CLIENT` and `COUNSELOR`: labels; a session whose client is unknown is its own client, and a client whose
    counselor is unknown has a counselor of its own, unless no counselor is known. `KNOWN_CLIENT`, `KNOWN_COUNSELOR`:
    whether they are known. `LENGTH`: the logarithm of 1 + the words of both, else of the turns; without either there is
    no such column.
    """
    frame = joined.reset_index(drop=True)
    blank = pd.Series("", index=frame.index)
    people = pd.DataFrame(
        {name: frame.get(name, blank).fillna("").astype(str).str.strip() for name in ("client", "counselor")}
    )
    client = cluster_numbers(people, "client")
    named = people["counselor"] != ""
    alone = pd.Series([f"\x1e{one}" for one in client], index=frame.index)
    counselor = pd.factorize(people["counselor"].where(named | (not named.any()), alone))[0]
    frame[[CLIENT, COUNSELOR]] = np.column_stack([client, counselor])
    frame[[KNOWN_CLIENT, KNOWN_COUNSELOR]] = people != ""
    words = ["n_words_therapist", "n_words_client"]
    length = frame[words].sum(axis=1, skipna=False) if set(words) <= set(frame) else frame.get("n_turns")
    return frame if length is None else frame.assign(**{LENGTH: np.log1p(length.astype(np.float64))})


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
        after = {Y: by_client[scale].shift(-1), BEFORE: ordered[scale], NUMBER: ordered["number"]}
        return ordered[[*about, *numbers]].assign(**after).assign(**{SESSIONS: 1})[follows]
    scored = ordered[scale].notna()
    seen, ahead = (one.groupby(ordered[CLIENT]).cumsum().reindex(ordered.index) for one in (scored, scored[::-1]))
    # From the first score to the last: a score has been, and one is still to come
    by_client = ordered[(seen > 0) & (ahead > 0)].groupby(CLIENT, sort=True)
    rows = by_client[about].first().assign(**{name: by_client[name].mean() for name in numbers})
    rows = rows.assign(**{Y: by_client[scale].last(), BEFORE: by_client[scale].first(), SESSIONS: by_client.size()})
    rows[NUMBER] = by_client["number"].last() - by_client["number"].first()
    return rows[by_client[scale].count() > 1].reset_index(drop=True)
