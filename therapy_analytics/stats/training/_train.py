"""Learning a tagger from codes that people gave: ``tanalyze train``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from dataclasses import replace as replaced
from pathlib import Path

import numpy as np
import pandas as pd

from therapy_analytics.codes import Code, Tagger, load_accurate, load_tagger
from therapy_analytics.codes.cues import HAND
from therapy_analytics.codes.features import N_BUCKETS, Features, featurize
from therapy_analytics.codes.learnt import HALF, learnt_turns, n_among, turn_hashes
from therapy_analytics.codes.tagger import scores_of
from therapy_analytics.core.clusters import Bools, Floats, Ints
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.folders import Made, alone_in, refuse_others, sources_of
from therapy_analytics.core.session import Session
from therapy_analytics.core.verbs import options_of
from therapy_analytics.measures.process.learnt_turns import among
from therapy_analytics.readers import Account, ReadOptions, read_files
from therapy_analytics.stats.training import _fit
from therapy_analytics.stats.training._card import FILES, CodeWeights, LearntModel, scores_in_words, write_model
from therapy_analytics.stats.training._data import CODED, Material, TrainOptions, material_of
from therapy_analytics.stats.training._judge import FEWEST_GROUPS, Judged, judge, kept, statistics, too_little


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
    def left_out(self) -> Mapping[str, str]:
        """Columns of the codes that were left out, and why."""
        out = self.scores[~self.scores["learnt"]]
        return dict(zip(out["code"], out["why_left_out"], strict=True))

    @property
    def words(self) -> list[str]:
        """What was found, line by line: a table, what was left out and why, and how to use the model."""
        lines = [scores_in_words(self.scores)] if self.learnt else ["No code could be learnt."]
        lines += [f"Left out: {code}: {why}." for code, why in self.left_out.items()]
        lines += [*self.notes, *self.told]
        if self.out is None:
            return [*lines, "No model was written."]
        return [
            *lines,
            f"{self.out}: model_card.md (to read first), scores.csv, and the model itself",
            f"Use it: tanalyze run TRANSCRIPTS --model {self.out}",
        ]


@dataclass(frozen=True, slots=True, eq=False)
class _LearntRole:
    """Codes of one role, judged, with what a model of all turns needs.

    Their indices `at` among all codes (n_codes,); how well they did on unseen turns (`judged`); the `design` of the n
    turns that are coded for any of them, their soft `labels` (n, n_codes) and the `strength` of penalties (n_codes,);
    the `heads` of the package's tagger whose scores are features (n_heads,), and of them the head that decides the
    `same` code, by the place of the code here.
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
        The codes with their statistics, and what was left out and why.

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

    options = options_of(TrainOptions, options)
    told: list[str] = []
    sources = sources_of(codes, transcripts)
    made = Made(what="a model", names=FILES, sources=sources, replace=replace, say=told.append)
    account = Account(options_of(ReadOptions, read_options, "read_options"))
    with begun(out, made):
        pseudonyms = None if read_options is None else read_options.pseudonyms
        material = material_of(codes, read_sessions(transcripts, read_options, account), options, pseudonyms)
        if material.n_groups < FEWEST_GROUPS:
            option, what = "codes", material.together
            few = f"only {material.n_groups} with codes by {what.name}: nothing is left to try the model on"
            problem = f"{few} that it has not seen. {what.note}".rstrip(". ")
            remedy = f"Code turns of {FEWEST_GROUPS} sessions at least, better of 20 or more"
            raise BadOptionError(option, problem, remedy)
        with threadpool_limits(1):  # the order of additions must not depend on the number of cores
            found = _train(material, Path(out) if out is not None else None, options, made)
    return replaced(found, notes=(*found.notes, *told), told=tuple(account.lines()))


@contextmanager
def begun(out: str | Path | None, made: Made) -> Iterator[None]:
    """Hold the folder of a model, if it is to be written; refuse it before the hours that learning may take."""
    if out is None:
        yield
        return
    with alone_in(Path(out)):
        refuse_others(Path(out), made)
        yield


def read_sessions(
    transcripts: str | Path | Sequence[Session], options: ReadOptions | None, account: Account
) -> list[Session]:
    """Return the sessions of transcripts, or those that were read already."""
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


def _train(material: Material, out: Path | None, options: TrainOptions, made: Made) -> Training:
    features = featurize(material.batch.turns, material.batch.starts)
    tried = [_learn_role(material, features, role, options) for role in CODED]
    roles = [role for role in tried if role is not None]
    judged = {int(at): one for role in roles for at, one in zip(role.at, role.judged, strict=True)}
    shipped = _shipped(material, [one.code for one in judged.values() if not one.why_not], options)
    rows, kept_codes = [], {}
    for at, code in enumerate(material.codes):
        one = judged.get(at) or _not_tried(material, at)
        if at in judged and code.column in shipped:
            one = replaced(one, shipped=shipped[code.column][~np.isnan(material.labels[:, at])])
        one = kept(one)
        if not one.why_not:
            kept_codes[at] = one
        about = {"code": code.column, "role": code.role, "learnt": not one.why_not, "why_left_out": one.why_not}
        rows.append(about | statistics(one))
    scores = pd.DataFrame(rows)
    together = [material.together.note] if material.together.note else []
    notes = (*material.notes, *together, *_more_notes(material, scores, options))
    if out is None or not kept_codes:
        return Training(None, scores, notes)
    weights = _final(roles, kept_codes)
    write_model(out, made, LearntModel(list(kept_codes.values()), weights, scores, material, options, notes))
    return Training(out, scores, notes)


def _not_tried(material: Material, at: int) -> Judged:
    """Return a code that is not tried, if it has too little data (`why_not`)."""
    truth, group = material.of_code(at)
    why = too_little(truth, group, material.together.name)
    return Judged(material.codes[at], truth, group, np.zeros(0), np.zeros(0, dtype=np.bool_), why_not=why)


def _learn_role(material: Material, features: Features, role: str, options: TrainOptions) -> _LearntRole | None:
    """Learn and judge the codes of a role for which there is enough data."""
    mine = [number for number, code in enumerate(material.codes) if code.role == role]
    at = [number for number in mine if not _not_tried(material, number).why_not]
    if not at:
        return None
    labels = material.labels[:, at]
    rows = np.flatnonzero(~np.isnan(labels).all(axis=1))
    heads, same = np.zeros(0, dtype=np.int64), {}
    lifts, offset = np.zeros((len(features), 0)), np.zeros((len(features), len(at)))
    if options.warm_start:
        base = load_tagger(all_codes=True)
        theirs = scores_of(base.weights, features)
        heads = _fit.heads_for(base, role)
        lifts = theirs[:, heads]
        same = _same(base, [material.codes[number] for number in at])
        for code, head in same.items():
            offset[:, code] = theirs[:, head]
    design = _fit.design_of(features, rows, lifts, offset)
    labels, groups = labels[rows], material.groups[rows]
    unseen = _fit.out_of_fold(design, labels, groups, seed=options.seed)
    judged = []
    for place, number in enumerate(at):
        known = ~np.isnan(labels[:, place])
        truth, scores = labels[known, place], unseen.scores[known, place]
        judged.append(judge(material.codes[number], truth, scores, unseen.fold[known], groups[known]))
    return _LearntRole(np.array(at), judged, design, labels, unseen.strength, heads, same)


def _same(base: Tagger, codes: Sequence[Code]) -> dict[int, int]:
    """Return for each code, by place, the head of the package's tagger that decides the same code alone."""
    alone = {code.column: base.weights.heads.index(code.heads[0]) for code in base.codes if len(code.heads) == 1}
    found = {}
    for place, code in enumerate(codes):
        names = [code.column, *(one.to.replace(".", "_", 1) for one in code.crosswalk if one.quality == "same")]
        known = [alone[name] for name in names if name in alone]
        if known:
            found[place] = known[0]
    return found


def _shipped(material: Material, codes: Sequence[Code], options: TrainOptions) -> dict[str, Bools]:
    """Return the decisions (n_turns,) of the package's tagger for those of the codes that it has."""
    known = set(load_tagger(all_codes=True).names) & {code.column for code in codes}
    if not known:
        return {}
    load = load_accurate if options.beside == "accurate" else load_tagger
    found = load(all_codes=True).predict(material.batch)
    return {name: found.decision[:, found.names.index(name)] for name in known}


def _final(roles: Sequence[_LearntRole], wanted: Mapping[int, Judged]) -> CodeWeights:
    """Fit the codes that are kept on all turns, and write calibration and warm start into their weights."""
    found, places = [], []
    for role in roles:
        keep = [place for place, at in enumerate(role.at) if int(at) in wanted]
        if keep:
            design = replaced(role.design, offset=role.design.offset[:, keep])
            own = _folded(role, keep, _fit.fit(design, role.labels[:, keep], role.strength[keep]))
            slope, intercept = np.array([wanted[int(role.at[place])].line for place in keep]).T
            found.append(CodeWeights(own.buckets * slope, own.hand * slope, own.bias * slope + intercept))
            places += [int(role.at[place]) for place in keep]
    order = np.argsort(places)
    names = ("buckets", "hand", "bias")
    return CodeWeights(*(np.concatenate([getattr(one, name) for one in found], axis=-1)[..., order] for name in names))


def _folded(role: _LearntRole, keep: Sequence[int], head: _fit.LinearHead) -> CodeWeights:
    """Return the weights of a head with those of the package's tagger, whose scores it takes as features, added."""
    n_hand = len(HAND)
    buckets = np.zeros((N_BUCKETS, _fit.PARTS, len(keep)))
    buckets[role.design.columns] = head.buckets
    hand, bias = head.dense[:n_hand].copy(), head.bias.copy()
    if len(role.heads):
        mix = head.dense[n_hand:] / _fit.LIFT_SCALE
        for number, place in enumerate(keep):
            if place in role.same:
                mix[np.flatnonzero(role.heads == role.same[place]), number] += 1.0
        theirs, their_hand, their_bias = _fit.as_linear(load_tagger(all_codes=True), role.heads)
        buckets += theirs @ mix
        hand += their_hand @ mix
        bias += their_bias @ mix
    return CodeWeights(buckets, hand, bias)


def _more_notes(material: Material, scores: pd.DataFrame, options: TrainOptions) -> list[str]:
    notes = []
    if "difference_hi" in scores:  # codes that would be given up to the model
        names = list(scores.loc[scores["learnt"] & (scores["difference_hi"] < 0), "code"])
        better = f"The {options.beside} tagger of the package agrees better with these coders on {', '.join(names)}"
        notes += [f"{better}; to keep its codes there, name all others by --only."] if names else []
    too_few = scores["why_left_out"].str.startswith("too little data")
    shipped = set(load_tagger(all_codes=True).names).intersection(scores.loc[too_few, "code"])
    if shipped:
        notes.append(
            f"Too few turns to learn {', '.join(sorted(shipped))} anew. --recalibrate needs fewer: it keeps the "
            "package's tagger, and shifts its probabilities where that pays."
        )
    about = [session.session.metadata for session in material.batch]
    several = [one["counselor"] for one in about if one.get("counselor")]
    if options.group is None and len(set(several)) < len(several):
        notes.append(
            "Several sessions share a counselor: what is known of one may have helped with another. "
            "--group counselor says how good the codes are on others."
        )
    hashes = [turn_hashes(turn.text for turn in session.session.turns) for session in material.batch]
    shares = [n_among(one, learnt_turns()) for one in hashes]
    were = pd.Series([n >= HALF * out_of for n, out_of in shares])
    if were.any():
        cold = "; --cold gives honest ones of the model" if options.warm_start else ""
        notes.append(
            f"{among(were)} of the package: the statistics of that, and of what began at it, are too good{cold}."
        )
    return notes
