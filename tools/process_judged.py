"""How well codes of the codebook `process` are found by models that have not seen the turns; calibration and limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from process_corpus import BOOK, NAMES, SESSIONS
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score, roc_auc_score
from tagger_fit import Array, best_threshold, rate_threshold, sigmoid
from tagger_turns import Turns

from therapy_analytics.codes.danger import CODE as DANGER

FEWEST = 50
"""Turns with a code in the corpora of whole sessions, from which on its agreement is told."""
LIMIT = -0.8
"""Log-odds above which a turn has a code where cases are too few to fit a limit."""
GIVEN = 0.5
"""How sure readers must be on the whole for a turn to have a code."""
FREQUENT, FEWEST_OF_ROLE = 200, 8
"""Turns with a code, and read turns of its role in a session, from which on the rates of sessions are judged."""
OFF, FLOODED, HARDLY = 0.3, 0.75, 0.4
"""A rate is off by more than OFF; a session is flooded where more than FLOODED of its turns are given a code that less
than HARDLY of them have by the reading."""
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Unseen:
    """Turns, and scores of the codes of `process` by models of a kind that have not seen them.

    Attributes
    ----------
    turns : Turns
        All turns.
    scores : float array (n_turns, n_codes)
        Of the codes of NAMES; nan where no model of the kind judges a turn.
    left_out : dict of str to bool array (n_turns,)
        By model, the turns that it has not seen.
    judge : array of str (n_turns,)
        The model that judges a turn, or "".
    """

    turns: Turns
    scores: Array
    left_out: dict[str, Bools]
    judge: NDArray[Any]

    @cached_property
    def counts(self) -> Bools:
        """Whether a turn was read and its role can have the code, (n_turns, n_codes)."""
        return self._of_codes(self.turns.weights) > 0

    @cached_property
    def truth(self) -> Bools:
        """Whether a turn has a code on the whole, (n_turns, n_codes)."""
        return self._of_codes(self.turns.labels) >= GIVEN

    def _of_codes(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        return values[:, columns(self.turns)]

    def judged(self, at: int) -> Bools:
        """Return the turns that a code is judged on: read ones, of its role, of the corpora of whole sessions."""
        return self.counts[:, at] & self.turns.table["corpus"].isin(list(SESSIONS)).to_numpy()


def columns(turns: Turns) -> list[int]:
    """Return the places of the codes of NAMES among all codes."""
    return [turns.names.index(f"process_{name}") for name in NAMES]


class Decision(NamedTuple):
    """Log-odds ``slope * score + intercept``, and the limit above which a turn has the code."""

    slope: float
    intercept: float
    limit: float

    def odds(self, scores: Array) -> Array:
        """Return calibrated log-odds (n,)."""
        return self.slope * scores + self.intercept


def decision(judgements: Sequence[tuple[Bools, Array]]) -> Decision:
    """Return calibration (Platt's) and limit of a code from truths and scores of turns that were not seen.

    The limit is where as many turns are given the code as have it; where cases are few, nothing is fitted.
    """
    truth, scores = (np.concatenate(part) for part in zip(*judgements, strict=True))
    if truth.sum() < FEWEST // 2:
        return Decision(1.0, 0.0, LIMIT)
    fitted = LogisticRegression(C=1e6).fit(scores[:, None], truth)
    found = Decision(max(0.2, float(fitted.coef_[0, 0])), float(fitted.intercept_[0]), LIMIT)
    return found._replace(limit=float(np.quantile(found.odds(scores), 1 - truth.mean())))


def described(unseen: Sequence[Unseen], at: int) -> dict[str, Any]:
    """Return the entry of a code in ``accurate.json``: calibration and thresholds on turns that were not seen."""
    code = BOOK.codes[at]
    every = [_scored(one, at) for one in unseen]
    given, scores = (np.concatenate(part) for part in zip(*every, strict=True))
    found = decision(every)
    p = sigmoid(found.odds(scores))
    balanced = round(float(np.clip(sigmoid(np.array(found.limit)), 0.01, 0.9)), 4)
    thresholds = {
        "balanced": balanced,
        "precision": max(balanced, best_threshold(p, given, score="F0.5")),
        "recall": min(balanced, best_threshold(p, given, score="F2")),
        "rate": rate_threshold(p, np.ones(len(p))),
    }
    line = [0.0, round(found.slope, 4), round(found.intercept, 4)]
    return {
        "column": code.column,
        "role": code.role,
        "head": code.column,
        "lines": {"clean": line, "plain": line},
        "group": f"process_{code.parent}" if code.parent else None,
        "thresholds": thresholds,
        "on_request": code.status == "experimental",
    }


def kappas(data: Unseen, at: int) -> tuple[float, float, Bools, Bools]:
    """Return kappa and AUC of a code by scores that were not seen, the turns judged, and the decisions on all turns.

    Calibration and limit come from turns that are not left out of the model that judges.
    """
    scores, truth = data.scores[:, at], data.truth[:, at]
    rows = data.judged(at) & ~np.isnan(scores)
    found = np.zeros(len(scores), dtype=bool)
    for name, unseen in data.left_out.items():
        mine = (data.judge == name) & ~np.isnan(scores)
        others = rows & ~unseen
        by = decision([(truth[others], scores[others])])
        found[mine] = by.odds(scores[mine]) > by.limit
    auc = float(roc_auc_score(truth[rows], scores[rows])) if truth[rows].any() else np.nan
    return float(cohen_kappa_score(truth[rows], found[rows])), auc, rows, found


def _scored(data: Unseen, at: int) -> tuple[Bools, Array]:
    rows = data.judged(at) & ~np.isnan(data.scores[:, at])
    return data.truth[rows, at], data.scores[rows, at]


def session_rates(turns: pd.DataFrame, truth: Bools, found: Bools, counts: Bools) -> pd.DataFrame:
    """Return the rates of frequent codes in sessions, as read and as given: ``code``, ``session``, ``read``, ``given``.

    Codes have FREQUENT turns in the corpora of whole sessions; danger, which phrases decide, is left out. A session has
    FEWEST_OF_ROLE read turns of the role that can have the code.

    Parameters
    ----------
    turns : DataFrame
        ``corpus`` and ``session`` of each turn.
    truth, found, counts : bool array (n_turns, n_codes)
        Whether a turn has a code of NAMES by the reading, by the tagger; whether it was read and its role can have it.
    """
    whole = turns["corpus"].isin(list(SESSIONS)).to_numpy()
    rows = []
    for at, name in enumerate(NAMES):
        own = whole & counts[:, at]
        if BOOK.codes[at].column == DANGER or truth[own, at].sum() < FREQUENT:
            continue
        turn = pd.DataFrame({"read": truth[own, at], "given": found[own, at]})
        of = turn.groupby(turns["session"].to_numpy()[own], sort=False)
        rates = of.mean()[of.size() >= FEWEST_OF_ROLE].rename_axis("session").reset_index()
        rows.append(rates.assign(code=name))
    return pd.concat(rows, ignore_index=True)


def off_and_flooded(rates: pd.DataFrame) -> tuple[int, int]:
    """Return in how many rows of `session_rates` the rate is off by more than OFF, and how many are flooded.

    A session is flooded with a code that more than FLOODED of the turns are given, and less than HARDLY have as read.

    Examples
    --------
    >>> off_and_flooded(pd.DataFrame({"read": [0.1, 0.3, 0.5], "given": [0.35, 0.9, 0.9]}))
    (2, 1)
    """
    off = (rates["given"] - rates["read"]).abs() > OFF
    return int(off.sum()), int(((rates["given"] > FLOODED) & (rates["read"] < HARDLY)).sum())


def table(by_recording: Unseen, by_corpus: Unseen) -> str:
    """Return the table of agreement with the readers, by code."""
    lines = [
        "| code | cases | kappa, recording left out | AUC | given | kappa, corpus left out | AUC | given |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    means: list[tuple[float, float]] = []
    n_cases = [int(by_recording.truth[by_recording.judged(at), at].sum()) for at in range(len(NAMES))]
    order = np.argsort([-n for n in n_cases], kind="stable")
    for at in order:
        cases = n_cases[at]
        if cases < 3:
            continue
        parts = [f"`{NAMES[at]}`", str(cases)]
        both = [kappas(one, int(at)) for one in (by_recording, by_corpus)]
        for kappa, auc, rows, found in both:
            parts += [f"{kappa:.2f}", f"{auc:.2f}", str(int(found[rows].sum()))]
        if cases >= FEWEST:
            means.append((both[0][0], both[1][0]))
        lines.append(f"| {' | '.join(parts)} |")
    mean = np.mean(means, axis=0)
    lines.append(f"\nMean over the {len(means)} codes with {FEWEST} cases or more: {mean[0]:.3f} and {mean[1]:.3f}")
    return "\n".join(lines) + "\n"
