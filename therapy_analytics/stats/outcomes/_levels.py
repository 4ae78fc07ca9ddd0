"""A measure taken apart: how a session differs from its client's others, clients from each other, and counselors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from therapy_analytics.core.clusters import Floats, Ints

WITHIN, CLIENTS, COUNSELORS = "within_clients", "between_clients", "between_counselors"
LEVELS = (WITHIN, CLIENTS, COUNSELORS)
FEWEST_DF = 4
"""Degrees of freedom that a slope needs: six clients, or counselors, for one between them."""
SEPARATE = FEWEST_DF + 3
"""Units more than the level above that a level needs to be told apart: enough for a slope beside the intercept, the
length and the score that is given."""
SESSIONS_ALONE = "hardly any client has several sessions: clients are not told apart from sessions"
CLIENTS_ALONE = "hardly any counselor has several clients: counselors are not told apart from clients"
_ROUNDING = 1e-9


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
        counselors = _means(values, self.counselor)
        clients = _means(values, self.client) if WITHIN in self.free else values
        found = {WITHIN: values - clients, CLIENTS: clients - counselors, COUNSELORS: counselors - values.mean()}
        return {level: part for level, part in found.items() if level in self.free}

    def spread(self, parts: dict[str, Floats]) -> dict[str, float]:
        """Return the standard deviation of the units of each level from the deviations of `split`; 0 for rounding."""
        first = {WITHIN: np.arange(len(self.client)), CLIENTS: _first(self.client), COUNSELORS: _first(self.counselor)}
        first[CLIENTS] = first[CLIENTS] if WITHIN in self.free else first[WITHIN]
        total = np.sqrt(np.mean(sum(parts.values()) ** 2)) if parts else 0.0
        found = {}
        for level, part in parts.items():
            squares = float((part[first[level]] ** 2).sum())
            spread = float(np.sqrt(squares / self.free[level])) if self.free[level] else 0.0
            found[level] = spread if spread > _ROUNDING * total else 0.0
        return found


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
    n, n_clients, n_counselors = (len(np.unique(one)) for one in (np.arange(len(client)), client, counselor))
    notes = []
    if n_counselors > 1 and n_clients - n_counselors < SEPARATE:
        notes.append(CLIENTS_ALONE)
        counselor, n_counselors = np.zeros_like(counselor), 1
    free = {WITHIN: n - n_clients, CLIENTS: n_clients - n_counselors, COUNSELORS: n_counselors - 1}
    if free[WITHIN] < SEPARATE:
        # Rows of clients, as a model of the change has, are what they should be
        notes += [SESSIONS_ALONE] if repeats else []
        free[CLIENTS] += free.pop(WITHIN)
    kept = {level: units for level, units in free.items() if units > 0}
    return Nesting(client, counselor, kept, "; ".join(notes))


def _means(values: Floats, place: Ints) -> Floats:
    """Return for each row the mean of its group, (n,)."""
    return np.asarray((np.bincount(place, values) / np.bincount(place))[place])


def _first(place: Ints) -> Ints:
    """Return one row of each group."""
    return np.unique(place, return_index=True)[1].astype(np.int64)
