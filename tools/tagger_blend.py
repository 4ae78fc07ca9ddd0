"""How the fast tagger and the sequence model are weighed: a line for each code, on turns that neither has seen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from tagger_fit import Array
from tagger_judged import Findings, Judged, parts
from tagger_layers import SHARED

SEED = 51
Scores = dict[str, Array]
Lines = dict[str, list[float]]
"""By way of writing: what the fast tagger's log-odds are multiplied by, what the score is, and what is added."""


def blend(found: Findings, names: list[str], scores: Scores) -> tuple[Findings, dict[str, Lines]]:
    """Weigh both for each code.

    Parameters
    ----------
    found : Findings
        What the fast tagger says.
    names, scores
        Codes of the sequence model, and its scores (n_turns, n_codes) by way of writing; nan where it read nothing.

    Returns
    -------
    found : Findings
        What both say together, by lines from other recordings.
    lines : dict
        By column, found on all recordings.
    """
    together, lines = {}, {}
    for column, one in found.items():
        weighed = {way: _weighed(one.written(way), scores[way][one.rows, names.index(column)]) for way in one.ways}
        together[column] = replace(one, p=np.concatenate([p for p, _ in weighed.values()]))
        lines[column] = {way: weighed.get(way, next(iter(weighed.values())))[1] for way in scores}
    return together, lines


def _weighed(one: Judged, read: Array) -> tuple[Array, list[float]]:
    """Weigh both for a code on turns written in one way: probabilities by lines from other recordings, and the line."""
    x = np.stack([np.log(one.p / (1 - one.p)), read], axis=1)
    p, texts = one.p.copy(), ~np.isnan(read)
    for fold in parts(one.recording, SEED):
        mine = texts & fold
        p[mine] = _model(one, x, texts & ~fold).predict_proba(x[mine])[:, 1]
    model = _model(one, x, texts)
    return p, [*map(float, model.coef_[0]), float(model.intercept_[0])]


def _model(one: Judged, x: Array, keep: Any) -> Any:
    """Fit a line to soft labels: each turn once with the code, once without."""
    twice, truth = np.tile(x[keep], (2, 1)), np.repeat([1, 0], keep.sum())
    share = np.concatenate([one.truth[keep], 1 - one.truth[keep]]) * np.tile(one.weights[keep], 2)
    return LogisticRegression(C=10).fit(twice, truth, share)


def entries(fast: list[dict[str, Any]], found: Findings, lines: dict[str, Lines]) -> list[dict[str, Any]]:
    """Return the entries in ``accurate.json`` of the codes of the fast tagger, and of those of `epitome`."""
    asked = {code["column"]: code["on_request"] for code in fast}
    asked |= {column: True for column, one in found.items() if one.book == "epitome"}
    codes = []
    for column, on_request in asked.items():
        source = f"mi_{column.removeprefix('miti_')}" if column.removeprefix("miti_") in SHARED else column
        one = found[source]
        codes.append(
            {
                "column": column,
                "role": one.role,
                "head": source,
                "lines": {way: [round(value, 6) for value in line] for way, line in lines[source].items()},
                "group": one.group,
                "thresholds": one.limits(),
                "on_request": on_request,
            }
        )
    return codes
