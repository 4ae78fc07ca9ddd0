"""Fitting the package's tagger to a clinic from few coded turns: a level and a slope for each code, where that pays.

The log-odds of a code become ``level + slope * logit(p)``. Both are shrunk towards what the package says (0 and 1), as
if their differences were drawn from normal distributions; turns are weighted by the inverse of the probability with
which they were drawn to be coded, and count for as many as they are worth then (Kish). Whether this pays is the
difference in log loss on groups of sessions that it was not fitted to.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from dataclasses import replace as replaced
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student

from therapy_analytics.codes import AccurateTagger, Tagger, load_accurate, load_tagger
from therapy_analytics.codes.learnt import FILE as LEARNT
from therapy_analytics.codes.own import CALIBRATION, calibration_text, load_calibrated, log_odds, on_line
from therapy_analytics.core import private
from therapy_analytics.core.cells import csv_of_frame
from therapy_analytics.core.clusters import Floats, Ints
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.folders import Made, replaced_in, sources_of
from therapy_analytics.core.session import Session
from therapy_analytics.core.verbs import options_of
from therapy_analytics.readers import Account, ReadOptions
from therapy_analytics.stats.training._material import Material, TrainOptions, material_of
from therapy_analytics.stats.training._train import begun, read_sessions

FILES = (CALIBRATION, LEARNT, "scores.csv", "model_card.md")
FEWEST_TURNS, FEWEST_EACH, FEWEST_GROUPS = 50, 5, 5
"""Of a code: coded turns, turns with it and without it, and groups of sessions that have coded turns."""
SPREAD = (1.0, 0.5)
"""Standard deviations of level and slope around 0 and 1: how far taggers are off elsewhere."""
FOLDS = 10
SURE = 0.75
"""Of the one-sided bound of the gain. Loss on unseen groups is pessimistic, so that in simulation .03 to .08 of codes
that need no calibration are changed with it; of codes whose level is 1 off, .7 to .8 with 100 turns and .99 with 300.
"""
_STEPS, _ENOUGH = 50, 1e-9

Line = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Recalibration:
    """What was found.

    Attributes
    ----------
    out : Path or None
        The folder of the calibration; None where it pays for no code, and nothing was written.
    scores : DataFrame
        A row a code: coded turns, `level` and `slope`, log loss of the package (`loss`) and after re-calibration
        (`loss_after`) on unseen groups, their difference `gain` with the lower bound `gain_lo`, the rates by people and
        by the tagger before and after, whether it `pays`, and `why_not`.
    notes, told : tuple of str
        What to know of the data; what to say of options and tables.
    """

    out: Path | None
    scores: pd.DataFrame = field(repr=False)
    notes: tuple[str, ...] = field(repr=False)
    told: tuple[str, ...] = field(default=(), repr=False)

    @property
    def words(self) -> list[str]:
        """What was found, line by line."""
        lines = [_in_words(row) for row in self.scores.to_dict("records")]
        lines += [*self.notes, *self.told]
        if self.out is None:
            return [*lines, "It pays for no code: go on with the tagger of the package. Nothing was written."]
        return [
            *lines,
            f"{self.out}: model_card.md (to read first), scores.csv, {CALIBRATION}",
            f"Use it: tanalyze run TRANSCRIPTS --model {self.out}",
        ]


def recalibrate(
    codes: str | Path | pd.DataFrame,
    transcripts: str | Path | Sequence[Session],
    out: str | Path | None,
    *,
    options: TrainOptions | None = None,
    reading: ReadOptions | None = None,
    replace: bool = False,
) -> Recalibration:
    """Fit the probabilities of the package's tagger to codes that people gave, code by code where that pays.

    Parameters
    ----------
    codes : str, Path or DataFrame
        As for `train`; a column ``inclusion`` holds the probability with which a turn was drawn to be coded.
    transcripts : str, Path or sequence of Session
        A file or folder, or sessions.
    out : str, Path or None
        Folder for the calibration; None writes nothing.
    options : TrainOptions, optional
        As for `train`; ``beside`` is the tagger that is re-calibrated.
    reading : ReadOptions, optional
        How transcripts are read.
    replace : bool, optional
        Whether a model of other codes or transcripts is replaced as well.

    Returns
    -------
    Recalibration
        The codes with their lines and what they gain.

    Raises
    ------
    BadOptionError
        None of the codes is one of the package, the options begin from nothing, or the folder holds something else.
    BadDataFileError, NothingToReadError, UnreadableFileError, CannotWriteError
        As for `train`.
    """
    options = options_of(TrainOptions, options)
    if not options.warm_start:
        option, problem = "--cold", "re-calibration is of the tagger of the package, and cannot begin from nothing"
        raise BadOptionError(option, problem, "Leave out --cold or --recalibrate")
    told: list[str] = []
    made = Made(
        what="a calibration", names=FILES, sources=sources_of(codes, transcripts), replace=replace, say=told.append
    )
    account = Account(reading or ReadOptions())
    with begun(out, made):
        pseudonyms = None if reading is None else reading.pseudonyms
        material = material_of(codes, read_sessions(transcripts, reading, account), options, pseudonyms)
        base = (load_accurate if options.beside == "accurate" else load_tagger)(all_codes=True)
        found = _recalibrated(material, base, options)
        lines = {row["code"]: (row["level"], row["slope"]) for row in found.scores.to_dict("records") if row["pays"]}
        place = None
        if out is not None and lines:
            place = Path(out)
            with replaced_in(place, made) as fresh:
                private.write(fresh / CALIBRATION, calibration_text(base, lines))
                private.write(fresh / LEARNT, material.hashes())
                private.write(fresh / "scores.csv", csv_of_frame(found.scores.round(4)))
                private.write(fresh / "model_card.md", _card(found, material, base))
                load_calibrated(base, fresh)
    return replaced(found, out=place, notes=(*found.notes, *told), told=tuple(account.lines()))


def _recalibrated(material: Material, base: Tagger | AccurateTagger, options: TrainOptions) -> Recalibration:
    known = [at for at, code in enumerate(material.codes) if code.column in base.names]
    if not known:
        problem = "none of its codes is one that the package's tagger gives"
        raise BadOptionError("codes", problem, "Leave out --recalibrate, and the codes are learnt anew")
    probability = base.predict(material.batch).probability
    rows = []
    for at in known:
        code = material.codes[at]
        coded = ~np.isnan(material.labels[:, at])
        p = probability[coded, base.names.index(code.column)]
        turns = TurnsOfCode(material.labels[coded, at], p, material.inclusion[coded], material.groups[coded])
        rows.append({"code": code.column, "role": code.role, **result(turns, options.seed, material.together.names)})
    notes = [note for note in (*material.notes, material.together.note) if note]
    if others := [code.column for code in material.codes if code.column not in base.names]:
        notes.append(f"No codes of the package's tagger, so left out: {', '.join(others)}.")
    if len(np.unique(material.inclusion[~np.isnan(material.labels).all(axis=1)])) > 1:
        notes.append("Turns were weighted by the probability with which they were drawn (column inclusion).")
    return Recalibration(None, pd.DataFrame(rows), tuple(notes))


@dataclass(frozen=True, slots=True, eq=False)
class TurnsOfCode:
    """The n turns that people coded for one code.

    `truth` (n,) is the share of coders who gave it, `p` (n,) the tagger's probability, `inclusion` (n,) the probability
    with which the turn was drawn, `group` (n,) what is kept together in cross-validation.
    """

    truth: Floats
    p: Floats
    inclusion: Floats
    group: Ints

    @property
    def weights(self) -> Floats:
        """Return the weight of each turn (n,); their sum is the number of turns drawn alike that tell as much."""
        inverse = 1 / self.inclusion
        return np.asarray(inverse * inverse.sum() / (inverse**2).sum())


def result(turns: TurnsOfCode, seed: int, groups: str) -> dict[str, Any]:
    """Return what is found of one code: see `Recalibration.scores`; `groups` is what groups are called."""
    n, given = len(turns.truth), turns.truth >= 0.5
    n_groups, weights = len(np.unique(turns.group)), turns.weights if n else turns.truth
    found: dict[str, Any] = {
        "n_turns": n, "n_positive": int(given.sum()), "n_groups": n_groups, "n_effective": float(weights.sum()),
    }  # fmt: skip
    why = _too_little(n, int(given.sum()), n_groups, groups)
    numbers = ("level", "slope", "loss", "loss_after", "gain", "gain_lo", "rate", "rate_before", "rate_after")
    if why:
        return {**found, **dict.fromkeys(numbers, np.nan), "pays": False, "why_not": why}
    scores = [log_odds(one) for one in (turns.p, unseen(turns, seed))]
    before, after = (np.asarray(np.logaddexp(0, one) - turns.truth * one) for one in scores)  # log loss of each turn
    gain, low = _gain(before - after, weights, turns.group)
    level, slope = fitted(turns.truth, turns.p, weights)
    rates = [np.average(one, weights=weights) for one in (turns.truth, turns.p, on_line(turns.p, level, slope))]
    losses = [np.average(one, weights=weights) for one in (before, after)]
    why = "" if low > 0 else "a gain so small could be random"
    return {
        **found,
        **dict(zip(numbers, (level, slope, *losses, gain, low, *rates), strict=True)),
        "pays": not why,
        "why_not": why,
    }


def fitted(truth: Floats, p: Floats, weights: Floats) -> Line:
    """Return level and slope of the log-odds by penalized maximum likelihood (Newton's method); arrays are (n,)."""
    design = np.column_stack([np.ones(len(p)), log_odds(p)])
    start, ridge = np.array([0.0, 1.0]), 1 / np.square(SPREAD)
    line = start.copy()
    for _ in range(_STEPS):
        q = 0.5 * (1 + np.tanh(design @ line / 2))
        slope_of_loss = design.T @ (weights * (q - truth)) + ridge * (line - start)
        curvature = (design.T * (weights * q * (1 - q))) @ design + np.diag(ridge)
        step = np.linalg.solve(curvature, slope_of_loss)
        line -= step / max(1.0, float(np.abs(step).max()))  # never further than 1, so that it cannot run away
        if np.abs(step).max() < _ENOUGH:
            break
    return float(line[0]), max(float(line[1]), 0.0)


def unseen(turns: TurnsOfCode, seed: int) -> Floats:
    """Return the probability of each turn (n,) by the line of the groups in other folds."""
    groups = np.unique(turns.group)
    order = np.random.default_rng(seed).permutation(len(groups))
    fold = (order % min(FOLDS, len(groups)))[np.searchsorted(groups, turns.group)]
    p, weights = np.zeros(len(turns.p)), turns.weights
    for number in np.unique(fold):
        mine = fold == number
        p[mine] = on_line(turns.p[mine], *fitted(turns.truth[~mine], turns.p[~mine], weights[~mine]))
    return p


def _gain(differences: Floats, weights: Floats, group: Ints) -> tuple[float, float]:
    """Return the mean gain and its lower bound (`SURE`) over groups (cluster-robust, t of groups less one)."""
    mean = float(np.average(differences, weights=weights))
    _, index = np.unique(group, return_inverse=True)
    sums = np.bincount(index, weights * (differences - mean))
    n = len(sums)
    error = float(np.sqrt(n / (n - 1) * (sums**2).sum())) / float(weights.sum())
    return mean, mean - float(student.ppf(SURE, n - 1)) * error


def _too_little(n: int, n_with: int, n_groups: int, groups: str) -> str:
    if n < FEWEST_TURNS:
        return f"too little data: {n} coded turns, {FEWEST_TURNS} are needed"
    if min(n_with, n - n_with) < FEWEST_EACH:
        return f"too little data: {n_with} turns with it and {n - n_with} without, {FEWEST_EACH} of each are needed"
    if n_groups < FEWEST_GROUPS:
        return f"too little data: turns in {n_groups} {groups}, {FEWEST_GROUPS} are needed"
    return ""


def _in_words(row: dict[Any, Any]) -> str:
    head = f"{row['code']} ({row['n_turns']:,} turns, {row['n_positive']:,} with it)"
    if np.isnan(row["gain"]):
        return f"{head}: {row['why_not']}."
    rates = f"people {row['rate']:.0%}, the tagger {row['rate_before']:.0%}"
    share = row["gain"] / row["loss"] if row["loss"] > 0 else 0.0
    loss = f"log loss on unseen turns {-share:+.0%}"
    if row["pays"]:
        return f"{head}: re-calibrated, {rates} before and {row['rate_after']:.0%} after; {loss}."
    return f"{head}: stays as it is, {rates}; {loss}: {row['why_not']}."


_CARD = """\
# Calibration of the {name} {version}

Made on {today} from {turns:,} turns of {n_groups} {groups}.

The log-odds of a code become *level + slope x log-odds by the package*. Both are shrunk towards 0 and 1. A code is
re-calibrated only if its log loss falls on {groups} that the line was not fitted to (one-sided 75% bound over
{groups}). In simulation that changed 3 to 8 of 100 codes which needed no calibration. Thresholds stay.

| code | turns | with it | rate by people | by the tagger | after | level | slope | log loss | after | |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
{rows}

{notes}
"""


def _card(found: Recalibration, material: Material, base: Tagger | AccurateTagger) -> str:
    names = ("rate", "rate_before", "rate_after", "level", "slope", "loss", "loss_after")
    rows = [
        f"| `{row['code']}` | {row['n_turns']:,} | {row['n_positive']:,} | "
        + " | ".join("" if np.isnan(row[name]) else f"{row[name]:.2f}" for name in names)
        + f" | {'re-calibrated' if row['pays'] else row['why_not']} |"
        for row in found.scores.to_dict("records")
    ]
    return _CARD.format(
        name=base.name,
        version=base.version,
        today=dt.datetime.now(tz=dt.UTC).date().isoformat(),
        turns=material.n_coded,
        n_groups=material.n_groups,
        groups=material.together.names,
        rows="\n".join(rows),
        notes="\n".join(f"- {note}" for note in found.notes),
    )
