"""The folder of a model: ``model.json`` and ``weights.npz`` (no pickle), codebook, scores, and a card about it."""

from __future__ import annotations

import datetime as dt
import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from therapy_analytics import private
from therapy_analytics.agreement._coefficients import BINS
from therapy_analytics.behaviours import Code, Codebook, builtin_codebooks, load_tagger
from therapy_analytics.behaviours._weights import FORMAT
from therapy_analytics.behaviours.features import N_BUCKETS
from therapy_analytics.behaviours.own import CODEBOOK, MARK
from therapy_analytics.cells import csv_of_frame
from therapy_analytics.outputs import Made, replaced_in
from therapy_analytics.readers._notes import counted
from therapy_analytics.training._groups import many
from therapy_analytics.training._judge import Judged

Floats = NDArray[np.float64]
FILES = ("model.json", "weights.npz", CODEBOOK, "scores.csv", "model_card.md")
_PACKAGES = ("therapy-analytics", "scikit-learn", "scipy", "numpy", "spacy")
_FIGURES = ("kappa", "f1", "auc", "average_precision", "calibration_error", "shipped_kappa")


@dataclass(frozen=True, slots=True, eq=False)
class Arrays:
    """Weights of codes: buckets (N_BUCKETS, 3, n), hand (n_hand, n), bias (n,); of one code without the last axis."""

    buckets: Floats
    hand: Floats
    bias: Floats

    NAMES: ClassVar = ("buckets", "hand", "bias")

    def only(self, number: int) -> Arrays:
        """Return those of one code."""
        return Arrays(self.buckets[..., number], self.hand[..., number], self.bias[..., number])


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What a model was learnt from: counts, the tagger that it began at, and how it was tried."""

    n_sessions: int
    n_turns: int
    n_coders: int
    n_groups: int
    grouped_by: str
    base: str
    beside: str
    seed: int
    book: str | Path | Codebook | None
    notes: tuple[str, ...]


def write_model(
    out: Path, made: Made, judged: Sequence[Judged], arrays: Arrays, scores: pd.DataFrame, about: About
) -> None:
    """Write all files aside, then put them in place: a model that cannot be read takes no other's place."""
    with replaced_in(out, made) as fresh:
        _fill(fresh, judged, arrays, scores, about)
        load_tagger(fresh)


def _fill(folder: Path, judged: Sequence[Judged], arrays: Arrays, scores: pd.DataFrame, about: About) -> None:
    weights = _npz(arrays)
    private.write(folder / "weights.npz", weights)
    model = _model(judged, about, hashlib.sha256(weights).hexdigest()[:8])
    private.write(folder / "model.json", json.dumps(model, indent=1, ensure_ascii=False) + "\n")
    text = _codebook_text(judged, about.book)
    if text:
        private.write(folder / CODEBOOK, text)
    private.write(folder / "scores.csv", csv_of_frame(scores.round(4)))
    private.write(folder / "model_card.md", _card(model, scores, about))


def _npz(arrays: Arrays) -> bytes:
    """Return the arrays as the tagger reads them, buckets in half precision."""
    n = arrays.bias.shape[-1]
    file = io.BytesIO()
    np.savez_compressed(
        file,
        allow_pickle=False,
        buckets=arrays.buckets.reshape(N_BUCKETS, -1).astype(np.float16),
        hand=arrays.hand.astype(np.float32),
        lift=np.zeros((n, 0), dtype=np.float32),
        bias=arrays.bias.astype(np.float32),
    )
    return file.getvalue()


def _model(judged: Sequence[Judged], about: About, version: str) -> dict[str, Any]:
    codes = [
        {
            "column": one.code.column,
            "role": one.code.role,
            "heads": [one.code.column],
            "thresholds": dict(one.thresholds or {}),
            "on_request": False,
        }
        for one in judged
    ]
    return {
        "format": FORMAT,
        "name": "own",
        "version": version,
        "calibration": "a line on scores of groups that the model had not seen; threshold of highest kappa",
        MARK: {
            "sessions": about.n_sessions,
            "turns": about.n_turns,
            "coders": about.n_coders,
            "grouped_by": about.grouped_by,
            "seed": about.seed,
            "began_at": about.base,
            "versions": {name: metadata.version(name) for name in _PACKAGES},
        },
        "context_heads": [one.code.column for one in judged],
        "heads": [],
        "codes": codes,
    }


def _codebook_text(judged: Sequence[Judged], book: str | Path | Codebook | None) -> str:
    """Return the codebook of the codes that no book of the package has; none where there is no such code."""
    builtin = {one.id for one in builtin_codebooks()}
    own = [one.code for one in judged if one.code.book not in builtin]
    if not own:
        return ""
    if isinstance(book, str | Path):
        return Path(book).read_text(encoding="utf-8-sig")
    name = book.name if book else "The user's codes"
    about = book.definition if book else "Codes that were learnt from the user's own; no codebook was given."
    source = book.source if book else "The user's codes"
    head = {"id": own[0].book, "name": name, "definition": about, "source": source}
    return (
        "\n".join([*_lines(head), *(line for code in own for line in ("", "[[codes]]", *_lines(_fields(code))))]) + "\n"
    )


def _fields(code: Code) -> dict[str, str]:
    names = ("id", "name", "role", "group", "definition", "source", "label", "unit", "status", "status_reason")
    return {name: value for name in names if (value := getattr(code, name))}


def _lines(fields: dict[str, str]) -> list[str]:
    # A string of JSON is one of TOML.
    return [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]


def _card(model: dict[str, Any], scores: pd.DataFrame, about: About) -> str:
    learnt, out = scores[scores["learnt"]], scores[~scores["learnt"]]
    unit = many(about.grouped_by)
    coders = counted(about.n_coders, "coder")
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    versions = ", ".join(f"{name} {number}" for name, number in model[MARK]["versions"].items())
    lines = [
        f"# Model {model['version']}",
        "",
        f"Learnt on {today} from {about.n_turns:,} turns of {counted(about.n_sessions, 'session')}, coded by {coders}.",
        f"Versions: {versions}. Seed {about.seed}.",
        "",
        "It is a logistic regression over hashed words and counts by hand of a turn and its neighbours"
        + (f", begun at the tagger of the package ({about.base})." if about.base else ", begun from nothing."),
        "The weights are hashed: they hold no list of words. Whoever has them can still test whether a word",
        "speaks for a code, so treat them like the codes that they come from.",
        "",
        "## How good it is",
        "",
        f"On turns of {unit} that it had not seen: five folds over {about.n_groups} {unit}. Penalty, calibration and",
        f"threshold of each fold come from the other folds. In brackets 95% intervals over {unit}.",
        "By chance kappa is 0, AUC .5, average precision the share of turns with the code.",
        "",
        *_table(learnt, about.beside),
        "",
        f"Calibration error: root mean squared distance of stated and true frequency over {BINS} bins of equal size,",
        "less what sampling alone adds.",
        "The intervals are for other sessions like these; another clinic's are another matter.",
        "",
        "## What was left out",
        "",
        *([f"- `{row.code}`: {row.why_left_out}." for row in out.itertuples()] or ["Nothing."]),
        "",
        "## What to know of the data",
        "",
        *[f"- {note}" for note in about.notes],
        "",
        "## Use",
        "",
        "`tanalyze run transcripts/ --model FOLDER`: the codes of this model stand beside those of the package; where",
        "both have a code of one name, this model's is taken.",
    ]
    return "\n".join(lines) + "\n"


def _table(learnt: pd.DataFrame, beside: str) -> list[str]:
    heads = ["code", "turns", "with it", "kappa", "F1", "AUC", "average precision", "calibration error"]
    lines = [
        "| " + " | ".join([*heads, f"kappa of the package's tagger ({beside})"]) + " |",
        "|" + " --- |" * (len(heads) + 1),
    ]
    for row in learnt.to_dict("records"):
        cells = [with_interval(row, name) for name in _FIGURES]
        lines.append(
            "| " + " | ".join([f"`{row['code']}`", f"{row['n_turns']:,}", f"{row['n_positive']:,}", *cells]) + " |"
        )
    return lines


def with_interval(row: dict[Any, Any], name: str) -> str:
    """Return a figure with its interval, as in ``.83 [.80, .85]``; empty where there is none.

    Examples
    --------
    >>> with_interval({"kappa": 0.83, "kappa_lo": 0.796, "kappa_hi": 0.85}, "kappa")
    '.83 [.80, .85]'
    """
    value, low, high = (row.get(f"{name}{end}", np.nan) for end in ("", "_lo", "_hi"))
    if np.isnan(value):
        return ""
    return _short(value) + (f" [{_short(low)}, {_short(high)}]" if not np.isnan(low) else "")


def _short(value: float) -> str:
    text = f"{value:.2f}"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def table_of(scores: pd.DataFrame) -> str:
    """Return a small table of the codes that were learnt, for the terminal."""
    learnt = scores[scores["learnt"]].to_dict("records")
    heads = {"kappa": "kappa", "f1": "F1", "auc": "AUC", "shipped_kappa": "package's kappa"}
    rows = [
        {"code": row["code"], "turns": f"{row['n_turns']:,}", "with it": f"{row['n_positive']:,}"}
        | {title: with_interval(row, name) for name, title in heads.items()}
        for row in learnt
    ]
    return str(pd.DataFrame(rows).to_string(index=False))
