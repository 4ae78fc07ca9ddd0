"""How well codes of the codebook `process` are found by models that have not seen the turns; calibration and limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from process_corpus import BOOK, NAMES, SESSIONS
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import cohen_kappa_score, roc_auc_score
from tagger_fit import Array, best_threshold, rate_threshold
from tagger_turns import Turns

from therapy_analytics.behaviours.danger import CODE as DANGER
from therapy_analytics.behaviours.prevalence import with_prevalence

FEWEST = 50
"""Turns with a code in the corpora of whole sessions, from which on its agreement is told."""
LIMIT, PULL = -0.8, 0.01
"""Log-odds from which on a turn has a code, where nothing speaks for another limit, and what a limit that is another by
1 must gain in kappa. Limits chosen for each code without that pull were worse in a corpus that they had not seen."""
LIMITS = np.arange(-2.5, 1.76, 0.25)
GIVEN = 0.5
"""How sure readers must be on the whole for a turn to have a code."""
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


def shifted(data: Unseen, at: int) -> tuple[Array, float]:
    """Return the scores of a code, shifted by how common it seems in each session, and its share of turns.

    Those of danger are not shifted, and its share is nan: the shift marked nearly all turns of some sessions.
    """
    counts = data.counts[:, at]
    if BOOK.codes[at].column == DANGER:
        return data.scores[:, at], float("nan")
    share = float(np.clip(data.truth[counts, at].mean(), 1e-3, 0.5))
    found = data.scores[:, at].copy()
    for first, stop in data.turns.sessions:
        own = first + np.flatnonzero(counts[first:stop])
        own = own[~np.isnan(found[own])]
        found[own] = with_prevalence(found[own], share)
    return found, share


def described(unseen: Sequence[Unseen], at: int) -> dict[str, Any]:
    """Return the entry of a code in ``accurate.json``: calibration and thresholds on turns that were not seen."""
    code = BOOK.codes[at]
    every = [_scored(one, at) for one in unseen]
    given, scores = (np.concatenate(part) for part in zip(*every, strict=True))
    limit = limit_of(every)
    if given.sum() >= FEWEST // 2:
        fitted = LogisticRegression(C=1e6).fit(scores[:, None], given)
        slope, intercept = max(0.2, float(fitted.coef_[0, 0])), float(fitted.intercept_[0])
    else:
        slope, intercept = 1.0, 0.0
    p = 1 / (1 + np.exp(-(slope * scores + intercept)))
    balanced = float(np.clip(1 / (1 + np.exp(-(slope * limit + intercept))), 0.01, 0.9))
    thresholds = {
        "balanced": round(balanced, 4),
        "precision": max(round(balanced, 4), best_threshold(p, given, score="F0.5")),
        "recall": min(round(balanced, 4), best_threshold(p, given, score="F2")),
        "rate": rate_threshold(p, np.ones(len(p))),
    }
    line = [0.0, round(slope, 4), round(intercept, 4)]
    return {
        "column": code.column,
        "role": code.role,
        "head": code.column,
        "lines": {"clean": line, "plain": line},
        "share": None if code.column == DANGER else round(shifted(unseen[0], at)[1], 5),
        "group": f"process_{code.parent}" if code.parent else None,
        "thresholds": thresholds,
        "on_request": code.status == "experimental",
    }


def limit_of(judgements: Sequence[tuple[Bools, Array]]) -> float:
    """Return the limit with the best mean kappa over some truths and scores; LIMIT where cases are few."""
    if sum(int(truth.sum()) for truth, _ in judgements) < FEWEST // 2 * len(judgements):
        return LIMIT
    gained = [np.mean([cohen_kappa_score(truth, scores > limit) for truth, scores in judgements]) for limit in LIMITS]
    return float(LIMITS[int(np.argmax(np.array(gained) - PULL * (LIMITS - LIMIT) ** 2))])


def kappas(data: Unseen, at: int) -> tuple[float, float, Bools, Bools]:
    """Return kappa and AUC of a code by scores that were not seen, the turns judged, and the decisions on all turns.

    The limit of a decision comes from turns that are not left out of the model that judges it.
    """
    scores, _ = shifted(data, at)
    truth = data.truth[:, at]
    rows = data.judged(at) & ~np.isnan(scores)
    found = np.zeros(len(scores), dtype=bool)
    for name, unseen in data.left_out.items():
        mine = (data.judge == name) & ~np.isnan(scores)
        others = rows & ~unseen
        found[mine] = scores[mine] > limit_of([(truth[others], scores[others])])
    auc = float(roc_auc_score(truth[rows], scores[rows])) if truth[rows].any() else np.nan
    return float(cohen_kappa_score(truth[rows], found[rows])), auc, rows, found


def _scored(data: Unseen, at: int) -> tuple[Bools, Array]:
    scores, _ = shifted(data, at)
    rows = data.judged(at) & ~np.isnan(scores)
    return data.truth[rows, at], scores[rows]


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
