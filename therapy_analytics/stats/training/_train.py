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
from therapy_analytics.codes.features import featurize
from therapy_analytics.codes.learnt import HALF, learnt_turns, n_among, turn_hashes
from therapy_analytics.codes.tagger import scores_of
from therapy_analytics.core.clusters import Bools, Floats
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.folders import Made, alone_in, refuse_others, sources_of
from therapy_analytics.core.session import Session
from therapy_analytics.core.verbs import options_of
from therapy_analytics.measures.process.learnt_turns import among
from therapy_analytics.readers import Account, ReadOptions, read_files
from therapy_analytics.stats.training._card import FILES, LearntModel, scores_in_words, write_model
from therapy_analytics.stats.training._material import Material, TrainOptions, material_of
from therapy_analytics.stats.training._model import (
    FEWEST_GROUPS,
    LIFTS,
    Judged,
    design_of,
    fitted,
    folds,
    judge,
    statistics,
    too_little,
    unseen_scores,
)


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
            few = (
                f"only {material.n_groups} with codes by {material.together.name}: nothing is left to try the model on"
            )
            problem = f"{few} that it has not seen. {material.together.note}".rstrip(". ")
            remedy = f"Code turns of {FEWEST_GROUPS} sessions at least, better of 20 or more"
            raise BadOptionError("codes", problem, remedy)
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
    base = load_tagger(all_codes=True) if options.warm_start else None
    design = design_of(features, scores_of(base.weights, features) if base else np.zeros((len(features), 0)))
    fold = folds(material.groups, options.seed)
    judged: list[Judged] = []
    for at, code in enumerate(material.codes):
        coded = np.flatnonzero(~np.isnan(material.labels[:, at]))
        truth, group = material.labels[coded, at], material.groups[coded]
        if why := too_little(truth, group, material.together.names):
            judged.append(Judged(code, truth, group, np.zeros(0), np.zeros(0, dtype=np.bool_), why_not=why))
            continue
        unseen = unseen_scores(design.picked(coded, _heads(base, code)), truth, fold[coded])
        judged.append(judge(code, truth, unseen, fold[coded], group))
    shipped = _shipped(material, [one.code for one in judged if len(one.p) and one.line[0] > 0], options)
    rows, learnt = [], []
    for at, one in enumerate(judged):
        about = {"code": one.code.column, "role": one.code.role, "learnt": not one.why_not}
        coded = np.flatnonzero(~np.isnan(material.labels[:, at]))
        theirs = shipped[one.code.column][coded] if one.code.column in shipped and len(one.p) else None
        rows.append(about | {"why_left_out": one.why_not} | statistics(replaced(one, shipped=theirs)))
        if out is not None and not one.why_not:  # what is given is learnt from all turns
            heads, (slope, intercept) = _heads(base, one.code), one.line
            weights, bias = fitted(design.picked(coded, heads), one.truth)
            began = base.weights if base else None
            learnt.append((one, design.unscaled(weights * slope, bias * slope + intercept, heads, began)))
    scores = pd.DataFrame(rows)
    together = [material.together.note] if material.together.note else []
    notes = (*material.notes, *together, *_more_notes(material, scores, options))
    if out is None or not learnt:
        return Training(None, scores, notes)
    write_model(out, made, LearntModel(learnt, scores, material, options, notes))
    return Training(out, scores, notes)


def _heads(base: Tagger | None, code: Code) -> Floats:
    """Return for each head of the package's tagger how its scores are scaled as features of a code, 0 for not at all.

    The head that decides the same code alone counts most: training begins there.
    """
    if base is None:
        return np.zeros(0)
    heads = base.weights.heads
    of_role = {head for one in base.codes if one.role == code.role for head in one.heads}
    found: Floats = np.array([float(head in of_role) for head in heads]) / np.sqrt(LIFTS)
    alone = {one.column: one.heads[0] for one in base.codes if len(one.heads) == 1}
    names = [code.column, *(one.to.replace(".", "_", 1) for one in code.crosswalk if one.quality == "same")]
    if same := next((alone[name] for name in names if name in alone), None):
        found[heads.index(same)] = 1.0
    return found


def _shipped(material: Material, codes: Sequence[Code], options: TrainOptions) -> dict[str, Bools]:
    """Return the decisions (n_turns,) of the package's tagger for those of the codes that it has."""
    known = set(load_tagger(all_codes=True).names) & {code.column for code in codes}
    if not known:
        return {}
    load = load_accurate if options.beside == "accurate" else load_tagger
    found = load(all_codes=True).predict(material.batch)
    return {name: found.decision[:, found.names.index(name)] for name in known}


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
