"""Which coder codes the turns: a tagger of the package, or a language model that the user runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import numpy as np

from therapy_analytics.codes.accurate import load_accurate
from therapy_analytics.codes.codebook import Codebook, codebook_named
from therapy_analytics.codes.learnt import FILE, Hashes, learnt_turns
from therapy_analytics.codes.own import (
    CalibratedTagger,
    OwnTagger,
    codebook_of,
    is_calibration,
    is_own,
    load_calibrated,
    load_own,
)
from therapy_analytics.codes.tagger import NEAR, Codes, load_tagger
from therapy_analytics.codes.weights import AIMS, DEFAULT_AIM
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.session import Role
from therapy_analytics.core.verbs import options_of
from therapy_analytics.text import AnnotatedSession, Batch

KINDS = ("accurate", "fast", "llm")


class Coder(Protocol):
    """Interface of all coders."""

    @property
    def name(self) -> str:
        """Name of the coder."""

    @property
    def version(self) -> str:
        """Version of the coder."""

    @property
    def sha256(self) -> str:
        """Hash of its weights or instructions."""

    @property
    def names(self) -> tuple[str, ...]:
        """Columns of the codes."""

    def predict(self, batch: Batch) -> Codes:
        """Code all turns of a batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaggerOptions:
    """The coder of a run. All options but `kind`, `aim`, `all_codes` and `model` are for ``llm``.

    Attributes
    ----------
    kind : {"accurate", "fast", "llm"}
        The package's tagger with its encoder; without it (less accurate, and thirty times as fast); or an outside
        coder.
    aim : {"balanced", "precision", "recall", "rate"}
        Aim of the tagger's decisions, see ``docs/tagger.md``; an outside coder has none.
    all_codes : bool
        Whether to give also the codes on which people agree little, which were learnt from a language model's codes, or
        which the tagger finds poorly: kinds of reflection and of input, those of MISC and MITI, most of ``process``.
    endpoint : str or None
        Base address of a server with OpenAI's interface, as in ``http://127.0.0.1:11434/v1``.
    model : str or None
        For ``llm`` the model, as the server names it. Otherwise the folder of the user's own model, as ``tanalyze
        train`` writes it: its codes are added to those of the package, and replace those with the same name; or of a
        calibration of the package's codes (``train --recalibrate``).
    allow_remote : bool
        Whether the server may be another machine, so that words leave this one.
    parallel : int
        How many requests may be open at a time.
    timeout_s : float
        How long one answer may take.
    cache : Path or None
        Folder of cached answers (codes, no words); None for the user's cache folder.
    keep_answers : bool
        Whether answers are cached there, so that a run that was stopped does not ask again.
    codebooks : tuple of str, Path or Codebook
        Codebooks to use instead of the tagger's codes: ids of built-in ones, files, or codebooks as `load_codebook`
        returns them. All codes of each are given.
    """

    kind: str = "accurate"
    aim: str = DEFAULT_AIM
    all_codes: bool = False
    endpoint: str | None = None
    model: str | None = None
    allow_remote: bool = False
    parallel: int = 4
    timeout_s: float = 180.0
    cache: Path | None = None
    keep_answers: bool = True
    codebooks: tuple[str | Path | Codebook, ...] = ()


@dataclass(frozen=True, slots=True)
class Meaning:
    """Descriptions of the columns of codes, for the codebook of a run."""

    probability: str
    decision: str
    unsure: str
    misleads: str


def load_coder(options: TaggerOptions | None = None) -> Coder:
    """Return the coder of these options; nothing is connected to yet.

    Raises
    ------
    BadOptionError
        The options do not fit together, or would send words to another machine without permission.
    UnknownNameError
        There is no such aim or codebook.
    BadDataFileError
        A file is not a codebook.
    """
    options = options_of(TaggerOptions, options)
    if options.kind not in KINDS:
        raise BadOptionError("--tagger", f"there is no tagger named {options.kind!r}", f"Known: {', '.join(KINDS)}")
    if options.kind != "llm":
        _refuse_options_of_llm(options)
        load = load_accurate if options.kind == "accurate" else load_tagger
        tagger = load(aim=options.aim, all_codes=options.all_codes)
        if options.model and is_calibration(Path(options.model)):
            return load_calibrated(tagger, Path(options.model))
        return load_own(tagger, Path(options.model), aim=options.aim) if options.model else tagger
    if options.aim != DEFAULT_AIM:
        problem = "it has no effect with --tagger llm, which decides without thresholds"
        raise BadOptionError("--tagger-aim", problem, "Leave it out, or leave out --tagger llm")
    from therapy_analytics.codes.llm import llm_coder  # noqa: PLC0415 (only this coder may use the network)

    return llm_coder(options)


def chosen_codebooks(options: TaggerOptions) -> tuple[Codebook, ...]:
    """Return the codebooks that the user chose: those of an outside coder, or that of the user's own model.

    There are none where all codes are of the package's codebooks.

    Raises
    ------
    UnknownNameError
        There is no such codebook or file.
    BadDataFileError
        A file is not a codebook.
    BadOptionError
        Two of them have one id, or would make one column.
    """
    if options.kind != "llm":
        has_codes = options.model and not is_calibration(Path(options.model))
        own = codebook_of(Path(options.model)) if options.model and has_codes else None
        return (own,) if own else ()
    books = []
    owners: dict[tuple[str, str], str] = {}
    for name in options.codebooks:
        book = name if isinstance(name, Codebook) else codebook_named(str(name))
        place = book.file if isinstance(name, Codebook) else str(name)
        for claim in (("id", book.id), *(("column", code.column) for code in book.codes)):
            if claim in owners:
                problem = f"{owners[claim]} and {place} would both have the {claim[0]} {claim[1]!r}"
                raise BadOptionError("--codebook", problem, "Leave one of them out, or give it an id of its own")
            owners[claim] = place
        books.append(book)
    return tuple(books)


def with_codebooks_read(options: TaggerOptions) -> TaggerOptions:
    """Return the options with the codebooks read, so that editing a file during a run does not change the run."""
    return replace(options, codebooks=chosen_codebooks(options)) if options.kind == "llm" else options


def check_coder(options: TaggerOptions) -> None:
    """Raise the errors of the first turn before a run replaces anything of an earlier run.

    Raises
    ------
    BadOptionError, UnknownNameError, BadDataFileError
        As `load_coder`.
    CoderServerError
        The outside coder's server is not there, and has never answered.
    """
    coder = load_coder(options)
    check = getattr(coder, "check", None)
    if check is not None:
        check()


def meaning(options: TaggerOptions) -> Meaning:
    """Return the descriptions of the columns of codes from the coder of these options."""
    coder = load_coder(options)
    if options.kind != "llm":
        return Meaning(
            f"calibrated output of the tagger ({coder.name} {coder.version})",
            f"probability at or over the code's threshold, and no contradiction to a code of the same turn "
            f"(docs/tagger.md); aim {options.aim}: {AIMS[options.aim]}",
            f"codes with |logit(p) - logit(threshold)| < {NEAR:g}: odds within a factor {math.exp(NEAR):.2f} "
            "of those at which the code is decided",
            _misleads(coder),
        )
    return Meaning(
        f"1 where the outside coder {options.model} named the code, else 0: a decision, not a probability",
        f"1 where the outside coder {options.model} named the code",
        "always empty: an outside coder gives decisions, not probabilities",
        "An outside coder's decision that nobody has checked, see docs/tagger.md; "
        "empty for turns of the other role and for turns that it did not code",
    )


def _misleads(coder: Coder) -> str:
    text = "A prediction, see docs/tagger.md; empty for turns of the other role"
    if isinstance(coder, CalibratedTagger):
        return f"{text}. Re-calibrated on the user's codes: {', '.join(coder.lines)}"
    if not isinstance(coder, OwnTagger):
        return text
    return f"{text}. By the user's own model, whose folder says how good it is: {', '.join(coder.own.names)}"


def learnt_by(options: TaggerOptions) -> Hashes | None:
    """Return the sorted hashes of the turns that the coder of these options learnt from (see `learnt`).

    With the user's own model, or calibration, those of its codes are among them. None where they are not known: of an
    outside coder, and of a model that an earlier version wrote.
    """
    if options.kind == "llm" or (options.model and not (Path(options.model) / FILE).is_file()):
        return None
    shipped = learnt_turns()
    return np.union1d(shipped, learnt_turns(Path(options.model))) if options.model else shipped


def with_codes(session: AnnotatedSession, codes: Codes, start: int, roles: Iterable[Role]) -> AnnotatedSession:
    """Return a session with its codes, and with a note if the coder could not code all of its turns.

    Parameters
    ----------
    session : AnnotatedSession
        One of a batch.
    codes : Codes
        Of the whole batch.
    start : int
        Position of the session's first turn in the batch.
    roles : iterable of Role
        Roles that have codes.
    """
    stop = start + len(session)
    coded = replace(
        session,
        probabilities=codes.by_name(codes.probability[start:stop]),
        decisions=codes.by_name(codes.decision[start:stop]),
        unsure=codes.by_name(codes.unsure[start:stop]),
    )
    of_role = np.logical_or.reduce([session.spoken_by(role) for role in roles])
    missing = int(np.count_nonzero(of_role & np.isnan(codes.probability[start:stop]).all(axis=1)))
    if not missing:
        return coded
    note = f"{missing} of {np.count_nonzero(of_role)} turns have no codes: the coder gave no valid answer on them."
    return replace(coded, session=replace(session.session, notes=(*session.session.notes, note)))


def recipe(options: TaggerOptions, batches: Iterable[Mapping[str, int]]) -> dict[str, Any]:
    """Return the record of the coder for ``run.json``, with the counts of all batches added up."""
    coder, counts = load_coder(options), Counter[str]()
    for one in batches:
        counts.update(one)
    about: dict[str, Any] = {"kind": options.kind, "name": coder.name, "version": coder.version, "sha256": coder.sha256}
    if options.kind != "llm":
        about["aim"] = options.aim
        if isinstance(coder, CalibratedTagger):
            about["recalibrated"] = {name: list(line) for name, line in coder.lines.items()}
        if isinstance(coder, OwnTagger):
            about["own"] = {"version": coder.own.version, "sha256": coder.own.sha256, "codes": list(coder.own.names)}
    else:
        about |= {"model": options.model or "", "endpoint_host": urlsplit(options.endpoint or "").hostname or ""}
    if books := chosen_codebooks(options):
        about["codebooks"] = [book.id for book in books]
    return {**about, **counts}


_OPTION_NAMES = {
    "endpoint": "--endpoint",
    "model": "--model",
    "allow_remote": "--allow-remote",
    "parallel": "--llm-parallel",
    "timeout_s": "--llm-timeout",
    "cache": "--llm-cache",
    "keep_answers": "--no-llm-cache",
    "codebooks": "--codebook",
}


def _refuse_options_of_llm(options: TaggerOptions) -> None:
    """Refuse options of an outside coder without one: the user would not notice that they have no effect."""
    for one in fields(options):
        if one.name == "model" and options.model:
            if not any(known(Path(options.model)) for known in (is_own, is_calibration)):
                problem = f"{options.model} is not a folder that tanalyze train wrote"
                remedy = "Name such a folder; a model on a server also needs --tagger llm"
                raise BadOptionError("--model", problem, remedy)
        elif one.name in _OPTION_NAMES and getattr(options, one.name) != one.default:
            problem = "it has an effect only with --tagger llm"
            raise BadOptionError(_OPTION_NAMES[one.name], problem, "Add that, or leave it out")
