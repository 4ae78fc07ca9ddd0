"""The folder of a model: ``model.json`` and ``weights.npz`` (no pickle), codebook, scores, and a card about it."""

from __future__ import annotations

import datetime as dt
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.codes import Codebook, builtin_codebooks, load_tagger
from therapy_analytics.codes._weights import FORMAT
from therapy_analytics.codes.features import N_BUCKETS
from therapy_analytics.codes.learnt import FILE as LEARNT
from therapy_analytics.codes.own import CODEBOOK, MARK
from therapy_analytics.core import private
from therapy_analytics.core.cells import csv_of_frame
from therapy_analytics.core.clusters import Floats
from therapy_analytics.core.folders import Made, replaced_in
from therapy_analytics.core.printable import counted
from therapy_analytics.stats.agreement.coefficients import BINS, with_interval
from therapy_analytics.stats.training._data import Material, TrainOptions
from therapy_analytics.stats.training._groups import many
from therapy_analytics.stats.training._judge import Judged

FILES = ("model.json", "weights.npz", LEARNT, CODEBOOK, "scores.csv", "model_card.md")
_PACKAGES = ("therapy-analytics", "scikit-learn", "scipy", "numpy", "spacy")
_FIELDS = ("id", "name", "role", "group", "definition", "source", "label", "unit", "status", "status_reason")
_STATISTICS = ("kappa", "f1", "auc", "average_precision", "calibration_error", "shipped_kappa")


@dataclass(frozen=True, slots=True, eq=False)
class CodeWeights:
    """Weights of n codes, for features of the turn, the turn before and the turn after.

    `buckets` (N_BUCKETS, 3, n) of hashed words, `hand` (n_hand, n) of features counted by hand, and intercepts `bias`
    (n,).
    """

    buckets: Floats
    hand: Floats
    bias: Floats


@dataclass(frozen=True, slots=True, eq=False)
class LearntModel:
    """The codes of a model and their weights, the scores of all codes that were tried, and what it was learnt from."""

    judged: Sequence[Judged]
    weights: CodeWeights
    scores: pd.DataFrame
    material: Material
    options: TrainOptions
    notes: tuple[str, ...]


def write_model(out: Path, made: Made, found: LearntModel) -> None:
    """Write all files into a temporary folder, check that the model can be read, and move them into place."""
    with replaced_in(out, made) as fresh:
        weights = _npz(found.weights)
        private.write(fresh / "weights.npz", weights)
        private.write(fresh / LEARNT, found.material.hashes())
        model = _model(found, hashlib.sha256(weights).hexdigest()[:8])
        private.write(fresh / "model.json", json.dumps(model, indent=1, ensure_ascii=False) + "\n")
        text = _codebook_text(found.judged, found.options.codebook)
        if text:
            private.write(fresh / CODEBOOK, text)
        private.write(fresh / "scores.csv", csv_of_frame(found.scores.round(4)))
        private.write(fresh / "model_card.md", _card(model, found))
        load_tagger(fresh)


def _npz(arrays: CodeWeights) -> bytes:
    """Return the arrays as the tagger reads them, buckets in half precision."""
    n = len(arrays.bias)
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


def _model(found: LearntModel, version: str) -> dict[str, Any]:
    material, base = found.material, load_tagger() if found.options.warm_start else None
    codes = [
        {
            "column": one.code.column,
            "role": one.code.role,
            "heads": [one.code.column],
            "thresholds": dict(one.thresholds or {}),
            "on_request": False,
        }
        for one in found.judged
    ]
    return {
        "format": FORMAT,
        "name": "own",
        "version": version,
        "calibration": "a line on scores of groups that the model had not seen; threshold of highest kappa",
        MARK: {
            "sessions": len(material.batch.sessions),
            "turns": int((~np.isnan(material.labels)).any(axis=1).sum()),
            "coders": material.n_coders,
            "grouped_by": material.together.name,
            "seed": found.options.seed,
            "began_at": f"{base.name} {base.version}" if base else "",
            "versions": {name: metadata.version(name) for name in _PACKAGES},
        },
        "context_heads": [one.code.column for one in found.judged],
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
    lines = _lines(head)
    for code in own:
        fields = {name: value for name in _FIELDS if (value := getattr(code, name))}
        lines += ["", "[[codes]]", *_lines(fields)]
    return "\n".join(lines) + "\n"


def _lines(fields: dict[str, str]) -> list[str]:
    """Return a TOML table; a string of JSON is one of TOML."""
    return [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items()]


_CARD = """\
# Model {version}

Learnt on {today} from {turns:,} turns of {sessions}, coded by {coders}.
Versions: {versions}. Seed {seed}.

It is a logistic regression over hashed words and counts by hand of a turn and its neighbours{began}.
The weights are hashed: they hold no list of words. Whoever has them can still test whether a word
speaks for a code, so treat them like the codes that they come from. `{hashes}` has a hash of each
turn of eight words or more: whoever has it can test whether a sentence was said in these sessions.

## How good it is

On turns of {unit} that it had not seen: five folds over {n_groups} {unit}. Penalty, calibration and
threshold of each fold come from the other folds. In brackets 95% intervals over {unit}.
Random codes have kappa 0, AUC .5, and as average precision the share of turns with the code.

{table}

Calibration error: root mean squared distance of stated and true frequency over {bins} bins of equal size,
less what sampling alone adds.
The intervals are for other sessions like these; another clinic's are another matter.

## What was left out

{left_out}

## What to know of the data

{notes}

## Use

`tanalyze run transcripts/ --model FOLDER`: the codes of this model stand beside those of the package; where
both have a code of one name, this model's is taken.
"""


def _card(model: dict[str, Any], found: LearntModel) -> str:
    """Return the model card."""
    learnt, out, about = found.scores[found.scores["learnt"]], found.scores[~found.scores["learnt"]], model[MARK]
    left_out = [f"- `{row.code}`: {row.why_left_out}." for row in out.itertuples()]
    began = (
        f", begun at the tagger of the package ({about['began_at']})" if about["began_at"] else ", begun from nothing"
    )
    return _CARD.format(
        version=model["version"],
        today=dt.datetime.now(tz=dt.UTC).date().isoformat(),
        turns=about["turns"],
        sessions=counted(about["sessions"], "session"),
        coders=counted(about["coders"], "coder"),
        versions=", ".join(f"{name} {number}" for name, number in about["versions"].items()),
        seed=about["seed"],
        began=began,
        hashes=LEARNT,
        unit=many(about["grouped_by"]),
        n_groups=found.material.n_groups,
        table="\n".join(_table(learnt, found.options.beside)),
        bins=BINS,
        left_out="\n".join(left_out) or "Nothing.",
        notes="\n".join(f"- {note}" for note in found.notes),
    )


def _table(learnt: pd.DataFrame, beside: str) -> list[str]:
    """Return the Markdown table of the codes that were learnt."""
    heads = ["code", "turns", "with it", "kappa", "F1", "AUC", "average precision", "calibration error"]
    heads.append(f"kappa of the package's tagger ({beside})")
    rows = [heads, ["---"] * len(heads)]
    for row in learnt.to_dict("records"):
        numbers = [_number(row, name) for name in _STATISTICS]
        rows.append([f"`{row['code']}`", f"{row['n_turns']:,}", f"{row['n_positive']:,}", *numbers])
    return [f"| {' | '.join(row)} |" for row in rows]


def _number(row: Mapping[Any, Any], name: str) -> str:
    """Return a number with its interval, as in ``.83 [.80, .85]``; empty where it is undefined."""
    return "" if np.isnan(row.get(name, np.nan)) else with_interval(row, name)


def scores_in_words(scores: pd.DataFrame) -> str:
    """Return a small table of the codes that were learnt, for the terminal."""
    heads = {"kappa": "kappa", "f1": "F1", "auc": "AUC", "shipped_kappa": "package's kappa"}
    rows = [
        {"code": row["code"], "turns": f"{row['n_turns']:,}", "with it": f"{row['n_positive']:,}"}
        | {title: _number(row, name) for name, title in heads.items()}
        for row in scores[scores["learnt"]].to_dict("records")
    ]
    return str(pd.DataFrame(rows).to_string(index=False))
