"""Learning a tagger from codes that people gave: ``tanalyze train``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.behaviours import Code, load_accurate, load_tagger
from therapy_analytics.behaviours.cues import HAND
from therapy_analytics.behaviours.features import N_BUCKETS, Features, featurize
from therapy_analytics.behaviours.tagger import scores_of
from therapy_analytics.errors import BadOptionError
from therapy_analytics.outputs import Made, refuse_others, sources_of
from therapy_analytics.readers import Account, ReadOptions, read_files
from therapy_analytics.session import Session
from therapy_analytics.training import _fit
from therapy_analytics.training._card import FILES, CodeWeights, LearntModel, table_of, write_model
from therapy_analytics.training._data import CODED, Material, TrainOptions, material_of
from therapy_analytics.training._fit import Floats, Ints
from therapy_analytics.training._judge import FEWEST_GROUPS, Judged, figures, judge, kept, too_little


@dataclass(frozen=True, slots=True)
class Training:
    """What was learnt.

    Attributes
    ----------
    out : Path or None
        The folder of the model; None where no code could be learnt, and nothing was written.
    scores : DataFrame
        A row a code, as ``scores.csv``.
    notes : tuple of str
        What a reader should know of the data, in sentences.
    told : tuple of str
        What to say of options, guessed roles and tables about sessions, in sentences. Labels stand here, and in no
        file of the model.
    """

    out: Path | None
    scores: pd.DataFrame = field(repr=False)
    notes: tuple[str, ...] = field(repr=False)
    told: tuple[str, ...] = field(default=(), repr=False)

    @property
    def learnt(self) -> tuple[str, ...]:
        """Columns of the codes that the model gives."""
        return tuple(self.scores.loc[self.scores["learnt"], "code"])

    @property
    def words(self) -> list[str]:
        """What was found, line by line: a table, what was left out and why, and how to use the model."""
        told = [table_of(self.scores)] if self.learnt else ["No code could be learnt."]
        told += [f"Left out: {code}: {why}." for code, why in self.left_out.items()]
        told += [*self.notes, *self.told]
        if self.out is None:
            return [*told, "No model was written."]
        return [
            *told,
            f"{self.out}: model_card.md (to read first), scores.csv, and the model itself",
            f"Use it: tanalyze run TRANSCRIPTS --model {self.out}",
        ]

    @property
    def left_out(self) -> Mapping[str, str]:
        """Columns of the codes that were left out, and why."""
        out = self.scores[~self.scores["learnt"]]
        return dict(zip(out["code"], out["why_left_out"], strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class _LearntRole:
    """Codes of one role, judged, with what a model of all turns needs.

    Attributes
    ----------
    at : int64 array (n_codes,)
        Their places among all codes.
    judged : list of Judged
        How well they did on unseen turns.
    design : Design
        The n turns that are coded for any of them.
    labels : float64 array (n, n_codes)
        Soft labels; nan where unknown.
    strength : float64 array (n_codes,)
        What the penalties are multiplied by.
    heads : int64 array (n_heads,)
        Heads of the package's tagger whose scores are features.
    same : mapping of int to int
        The head that decides the same code, by the place of the code here.
    """

    at: Ints
    judged: list[Judged]
    design: _fit.Design
    labels: Floats
    strength: Floats
    heads: Ints
    same: Mapping[int, int]


def train(
    codes: str | Path | pd.DataFrame,
    transcripts: str | Path | Sequence[Session],
    out: str | Path | None,
    *,
    options: TrainOptions | None = None,
    read_options: ReadOptions | None = None,
    replace: bool = False,
) -> Training:
    """Learn a tagger from codes that people gave, and say how good it is on turns that it has not seen.

    Parameters
    ----------
    codes : str, Path or DataFrame
        A table in the forms that ``tanalyze agree`` reads: a row a turn with a column of labels, or with columns of
        0 and 1; a row for each turn and code; several coders.
    transcripts : str, Path or sequence of Session
        A file or folder, or sessions as `read` returns them.
    out : str, Path or None
        Folder for the model: new, empty, or an earlier model of the same codes and transcripts, which is replaced. None
        writes nothing.
    options, read_options : optional
        How codes are read and learnt from; how transcripts are read.
    replace : bool, optional
        Whether a model of other codes or transcripts is replaced as well.

    Returns
    -------
    Training
        The codes with their figures, and what was left out and why.

    Raises
    ------
    BadOptionError
        There are too few sessions to try the model on what it has not seen, no code is found in the table, or the
        folder holds something else, or a model of other codes or transcripts.
    CannotWriteError
        The system refused to write.
    BadDataFileError
        The table or the codebook is none.
    NothingToReadError, UnreadableFileError
        There is no transcript, or one cannot be read.
    """
    from threadpoolctl import threadpool_limits  # noqa: PLC0415 (comes with scikit-learn)

    options = options or TrainOptions()
    told: list[str] = []
    sources = sources_of(codes, transcripts)
    made = Made(what="a model", names=FILES, sources=sources, replace=replace, say=told.append)
    if out is not None:
        refuse_others(Path(out), made)  # before the hours that it may take
    account = Account(read_options or ReadOptions())
    sessions = _sessions(transcripts, read_options, account)
    material = material_of(codes, sessions, options)
    _refuse_few(material)
    with threadpool_limits(1):  # the order of additions must not depend on the number of cores
        found = _train(material, Path(out) if out is not None else None, options, made)
    return dataclasses.replace(found, notes=(*found.notes, *told), told=tuple(account.lines()))


def _sessions(
    transcripts: str | Path | Sequence[Session], options: ReadOptions | None, account: Account
) -> list[Session]:
    if not isinstance(transcripts, str | Path):
        if options is not None and options != ReadOptions():
            problem = "the sessions are read already, so that options of reading have no effect"
            raise BadOptionError("read_options", problem, "Give them to read(), or give the path of the transcripts")
        return list(transcripts)
    sessions: list[Session] = []
    for reading in read_files([transcripts], options=options, account=account):
        if reading.problem is not None:
            raise reading.problem
        sessions += reading.sessions
    return sessions


def _refuse_few(material: Material) -> None:
    n, what = material.n_groups, material.together
    if n < FEWEST_GROUPS:
        option = "codes"
        said = f"only {n} with codes by {what.name}: nothing is left to try the model on that it has not seen"
        problem = f"{said}. {what.note}".rstrip(". ")
        raise BadOptionError(option, problem, f"Code turns of {FEWEST_GROUPS} sessions at least, better of 20 or more")


def _train(material: Material, out: Path | None, options: TrainOptions, made: Made) -> Training:
    features = featurize(material.batch.turns, material.batch.starts)
    parts = [_of_role(material, features, role, options) for role in CODED]
    judged: dict[int, Judged] = {
        int(at): one for part in parts if part is not None for at, one in zip(part.at, part.judged, strict=True)
    }
    shipped = _shipped(material, [one.code for one in judged.values() if not one.why_not], options)
    rows, kept_codes = [], {}
    for at, code in enumerate(material.codes):
        one = judged.get(at)
        if one is None:
            one = _hopeless(material, at)
        else:
            rows_of = ~np.isnan(material.labels[:, at])
            one = dataclasses.replace(one, shipped=shipped[code.column][rows_of] if code.column in shipped else None)
            one = kept(one)
            if not one.why_not:
                kept_codes[at] = one
        rows.append(_row(one, tried=at in judged))
    scores = pd.DataFrame(rows)
    together = [material.together.note] if material.together.note else []
    notes = (*material.notes, *together, *_more_notes(material, scores, options))
    if out is None or not kept_codes:
        return Training(None, scores, notes)
    weights = _final([part for part in parts if part is not None], kept_codes)
    write_model(out, made, LearntModel(list(kept_codes.values()), weights, scores, material, options, notes))
    return Training(out, scores, notes)


def _hopeless(material: Material, at: int) -> Judged:
    known = ~np.isnan(material.labels[:, at])
    truth, group = material.labels[known, at], material.groups[known]
    nothing = np.zeros(0)
    why = too_little(truth, group, material.together.name)
    return Judged(material.codes[at], truth, nothing, nothing.astype(np.bool_), group, why_not=why)


def _of_role(material: Material, features: Features, role: str, options: TrainOptions) -> _LearntRole | None:
    """Learn and judge the codes of a role for which there is enough."""
    at = [
        number
        for number, code in enumerate(material.codes)
        if code.role == role and not _hopeless(material, number).why_not
    ]
    if not at:
        return None
    labels = material.labels[:, at]
    rows = np.flatnonzero(~np.isnan(labels).all(axis=1))
    heads, same = np.zeros(0, dtype=np.int64), {}
    lifts, offset = np.zeros((len(features), 0)), np.zeros((len(features), len(at)))
    if options.warm_start:
        base = load_tagger(all_codes=True)
        scores = scores_of(base.weights, features)
        heads = _fit.heads_for(base, role)
        lifts = scores[:, heads]
        same = _same(base, [material.codes[number] for number in at])
        for code, head in same.items():
            offset[:, code] = scores[:, head]
    design = _fit.design_of(features, rows, lifts, offset)
    unseen = _fit.out_of_fold(design, labels[rows], material.groups[rows], seed=options.seed)
    judged = []
    for place, number in enumerate(at):
        known = ~np.isnan(labels[rows, place])
        parts = (labels[rows, place], unseen.scores[:, place], unseen.fold, material.groups[rows])
        truth, own_scores, fold, group = (values[known] for values in parts)
        judged.append(judge(material.codes[number], truth, own_scores, fold, group))
    return _LearntRole(np.array(at), judged, design, labels[rows], unseen.strength, heads, same)


def _same(base: Any, codes: Sequence[Code]) -> dict[int, int]:
    """Return for each code, by place, the head of the package's tagger that decides the same code alone."""
    alone = {code.column: base.weights.heads.index(code.heads[0]) for code in base.codes if len(code.heads) == 1}
    found = {}
    for place, code in enumerate(codes):
        names = [code.column, *(one.to.replace(".", "_", 1) for one in code.crosswalk if one.quality == "same")]
        known = [alone[name] for name in names if name in alone]
        if known:
            found[place] = known[0]
    return found


def _shipped(material: Material, codes: Sequence[Code], options: TrainOptions) -> dict[str, np.ndarray]:
    """Return what the package's tagger decides of the codes that it has, too."""
    known = set(load_tagger(all_codes=True).names) & {code.column for code in codes}
    if not known:
        return {}
    load = load_accurate if options.beside == "accurate" else load_tagger
    found = load(all_codes=True).predict(material.batch)
    return {name: found.decision[:, found.names.index(name)] for name in known}


def _row(one: Judged, *, tried: bool) -> dict[str, Any]:
    about = {"code": one.code.column, "role": one.code.role, "learnt": not one.why_not, "why_left_out": one.why_not}
    return {**about, **figures(one if tried else dataclasses.replace(one, p=np.zeros(0)))}


def _final(parts: Sequence[_LearntRole], wanted: Mapping[int, Judged]) -> CodeWeights:
    """Fit the codes that are kept on all turns, and write calibration and warm start into their weights."""
    found: dict[int, CodeWeights] = {}
    for part in parts:
        keep = [place for place, at in enumerate(part.at) if int(at) in wanted]
        if keep:
            design = dataclasses.replace(part.design, offset=part.design.offset[:, keep])
            head = _fit.fit(design, part.labels[:, keep], part.strength[keep])
            own = _folded(part, keep, head)
            lines = np.array([wanted[int(part.at[place])].line for place in keep]).T
            whole = CodeWeights(own.buckets * lines[0], own.hand * lines[0], own.bias * lines[0] + lines[1])
            found |= {int(part.at[place]): whole.only(number) for number, place in enumerate(keep)}
    ordered = [found[at] for at in wanted]
    return CodeWeights(*(np.stack([getattr(one, name) for one in ordered], axis=-1) for name in CodeWeights.NAMES))


def _folded(part: _LearntRole, keep: Sequence[int], head: _fit.LinearHead) -> CodeWeights:
    n_hand = len(HAND)
    buckets = np.zeros((N_BUCKETS, _fit.PARTS, len(keep)))
    buckets[part.design.columns] = head.buckets
    hand, bias = head.dense[:n_hand].copy(), head.bias.copy()
    if len(part.heads):
        base = load_tagger(all_codes=True)
        mix = head.dense[n_hand:] / _fit.LIFT_SCALE
        for number, place in enumerate(keep):
            if place in part.same:
                mix[np.flatnonzero(part.heads == part.same[place]), number] += 1.0
        theirs, their_hand, their_bias = _fit.as_linear(base, part.heads)
        buckets += theirs @ mix
        hand += their_hand @ mix
        bias += their_bias @ mix
    return CodeWeights(buckets, hand, bias)


def _better(scores: pd.DataFrame, options: TrainOptions) -> list[str]:
    """Name the codes that the package's tagger finds better, and would give up to the model."""
    if "difference_hi" not in scores:
        return []
    names = list(scores.loc[scores["learnt"] & (scores["difference_hi"] < 0), "code"])
    said = f"The {options.beside} tagger of the package agrees better with these coders on {', '.join(names)}"
    return [f"{said}; to keep its codes there, name all others by --only."] if names else []


def _more_notes(material: Material, scores: pd.DataFrame, options: TrainOptions) -> list[str]:
    notes = _better(scores, options)
    about = [session.session.metadata for session in material.batch]
    several = [one["counselor"] for one in about if one.get("counselor")]
    if options.group is None and len(set(several)) < len(several):
        notes.append(
            "Several sessions share a counselor: what is known of one may have helped with another. "
            "--group counselor says how good the codes are on others."
        )
    if options.warm_start:
        notes.append(
            "Training began from what the package's tagger knows. On AnnoMI, HLQC, MISC and BOLT, which it "
            "learnt from, "
            "the figures are too good; --cold gives honest ones there."
        )
    return notes
