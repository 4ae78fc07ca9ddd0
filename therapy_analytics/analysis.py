"""What an analysis of sessions gives: tables that belong together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pandas as pd

from therapy_analytics.association import disclosure_after_synchrony
from therapy_analytics.errors import BadOptionError
from therapy_analytics.frames import behaviours_table, code_labels, sessions_html

_TABLES = ("sessions", "turns", "dyads", "profile", "responses", "feelings")


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
    profile : DataFrame
        A row for each session, code and part of the session (whole, first, middle, last third): how often.
    responses : DataFrame
        A row for each session, client code and therapist code: how often the therapist answers the one by the other.
    feelings : DataFrame
        A row for each feeling of the client's that the therapist names: where, and where the client said so.
    codebook : DataFrame
        A row for each column of these: meaning, unit, range, formula, source.
    seed : int
        Of all shuffles.
    tagger : mapping of str to object
        Who coded the turns, as in ``run.json``; empty where that is not known.
    """

    sessions: pd.DataFrame = field(repr=False)
    turns: pd.DataFrame = field(repr=False)
    dyads: pd.DataFrame = field(repr=False)
    profile: pd.DataFrame = field(repr=False)
    responses: pd.DataFrame = field(repr=False)
    feelings: pd.DataFrame = field(repr=False)
    codebook: pd.DataFrame = field(repr=False)
    seed: int = 0
    tagger: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Tell figures of the profile whose codes these are: the references beside them are of the same tagger."""
        self.profile.attrs["tagger"] = str(self.tagger.get("kind", ""))

    def __repr__(self) -> str:
        return f"Analysis({len(self.sessions)} sessions, {len(self.turns)} turns)"

    def _repr_html_(self) -> str:
        n_codes = len(code_labels(self.turns, self.codebook))
        sizes = f"{len(self.sessions):,} sessions, {len(self.turns):,} turns, {n_codes} codes"
        return sessions_html(self.sessions, sizes)

    def where(self, condition: str) -> Analysis:
        """Return the analysis of some of the sessions.

        Parameters
        ----------
        condition : str
            On the columns of `sessions`, as `pandas.DataFrame.query` takes it: ``"source == 'llm'"``,
            ``"counselor == 'Priya Nair' and n_turns > 20"``, ``"session_id == 'nair_yuki'"``.

        Returns
        -------
        Analysis
            With the rows of those sessions in every table; the numbers stay as they were.

        Raises
        ------
        BadOptionError
            The condition cannot be read, or names a column that is not there.
        """
        try:
            kept = self.sessions.query(condition)["session_id"]
        except Exception as error:  # noqa: BLE001 (pandas and Python raise many kinds)
            option = "condition"
            problem = f"{condition!r} cannot be read ({type(error).__name__})"
            raise BadOptionError(option, problem, "Write one such as \"source == 'llm'\"") from None
        tables = {name: getattr(self, name) for name in _TABLES}
        some = {name: frame[frame["session_id"].isin(kept)].reset_index(drop=True) for name, frame in tables.items()}
        return replace(self, **some)

    @property
    def behaviours(self) -> pd.DataFrame:
        """The codes of `turns` in long form: a row for each turn and code, see `behaviours_table`.

        Put together anew each time it is asked for.
        """
        return behaviours_table(self.turns, self.codebook)

    @property
    def associations(self) -> pd.DataFrame:
        """Whether clients disclose more after replies that follow them more, see `disclosure_after_synchrony`.

        Computed anew each time it is asked for: a mixed model for each pair of columns takes seconds.
        """
        return disclosure_after_synchrony(self.turns, seed=self.seed)
