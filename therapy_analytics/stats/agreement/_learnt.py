"""Sessions that the tagger learnt from, and its cross-validated agreement, which is evidence where theirs is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.measures.process.learnt_turns import UNKNOWN, among
from therapy_analytics.results.references import cross_validated
from therapy_analytics.stats.agreement._gold import Gold
from therapy_analytics.stats.agreement._labels import SETS
from therapy_analytics.stats.agreement._machine import Machine

ALL_LEFT_OUT = "all coded sessions were learnt from"
CROSS_VALIDATED = (
    "Cross-validated kappas are of the same tagger, on recordings of AnnoMI and HLQC that it had not seen (five folds)."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetApart:
    """People's codes, without those of sessions that the tagger learnt from unless these are counted.

    Attributes
    ----------
    people : Gold
        The codes that are left.
    how : str
        ``none``, ``left out``, ``counted`` or ``unknown``: what became of such sessions.
    words : tuple of str
        The same in sentences.
    left_out : tuple of str
        Codes and sets of which turns were left out.
    """

    people: Gold
    how: str
    words: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def set_apart(machine: Machine, people: Gold, *, counted: bool) -> SetApart:
    """Leave codes of sessions that the tagger learnt from out, or count them, and say so."""
    session = machine.turns["session_id"].to_numpy()
    parts = {name: getattr(people, name) for name in ("values", "sets")}
    of_part = {name: pd.Series(session[part["place"].to_numpy(int)], part.index) for name, part in parts.items()}
    every = set().union(*map(set, of_part.values()))
    own = every & (machine.learnt or frozenset())
    if machine.learnt is None:
        told = () if machine.recipe.get("tagger", {}).get("kind") == "llm" else (UNKNOWN,)
        return SetApart(people=people, how="unknown", words=told)
    head = among(pd.Series([one in own for one in every], dtype=bool), one="coded session")
    if not own:
        return SetApart(people=people, how="none", words=(f"{head}.",))
    if counted:
        told = (f"{head}, and counted as asked: agreement on these is not evidence of how good its codes are.",)
        return SetApart(people=people, how="counted", words=(*told, CROSS_VALIDATED))
    nothing = "" if own < every else " No agreement is left to tell."
    told = (f"{head}: agreement there is not evidence, and they are left out (--include-learnt counts them).{nothing}",)
    gone = {name: of_part[name].isin(own) for name in parts}
    codes = {code for name, part in parts.items() for code in part["code"][gone[name]]}
    given = [
        code
        for code in (*machine.codes, *SETS)
        if code in codes and set(SETS.get(code, ((),))[0]) <= set(machine.codes)
    ]
    left = {name: part[~gone[name]].reset_index(drop=True) for name, part in parts.items()}
    return SetApart(
        people=replace(people, **left), how="left out", words=(*told, CROSS_VALIDATED), left_out=tuple(given)
    )


def with_left_out(codes: pd.DataFrame, left_out: Sequence[str]) -> pd.DataFrame:
    """Add rows without turns for the codes of which nothing is left."""
    rows = codes.set_index("code").reindex(pd.Index([*codes["code"], *left_out], name="code").unique()).reset_index()
    known = rows["code"].isin(codes["code"])
    numbers, notes = (rows.get(name, pd.Series(np.nan, index=rows.index)) for name in ("n_turns", "note"))
    return rows.assign(n_turns=numbers.where(known, 0.0), note=notes.astype(object).where(known, ALL_LEFT_OUT))


def with_cross_validated(codes: pd.DataFrame, recipe: Mapping[str, Any]) -> pd.DataFrame:
    """Add the kappa of the same tagger on recordings that it had not seen, and who gave the codes there."""
    known = cross_validated(recipe.get("tagger", {})).reindex(codes["code"])
    return codes.assign(
        cross_validated_kappa=known["kappa"].to_numpy(), cross_validated_by=known["coded_by"].fillna("").to_numpy()
    )
