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

from therapy_analytics.codes import Code, Codebook, builtin_codebooks, load_tagger
from therapy_analytics.codes.features import N_BUCKETS
from therapy_analytics.codes.learnt import FILE as LEARNT
from therapy_analytics.codes.own import CODEBOOK, MARK
from therapy_analytics.codes.weights import FORMAT
from therapy_analytics.core import private
from therapy_analytics.core.cells import csv_of_frame
from therapy_analytics.core.folders import Made, replaced_in
from therapy_analytics.core.printable import counted
from therapy_analytics.stats.agreement.coefficients import BINS, with_interval
from therapy_analytics.stats.training._material import Material, TrainOptions
from therapy_analytics.stats.training._model import CodeWeights, Judged

FILES = ("model.json", "weights.npz", LEARNT, CODEBOOK, "scores.csv", "model_card.md")
_PACKAGES = ("therapy-analytics", "scikit-learn", "scipy", "numpy", "spacy")
_FIELDS = ("id", "name", "role", "group", "definition", "source", "label", "unit", "status", "status_reason")
_STATISTICS = ("kappa", "f1", "auc", "average_precision", "calibration_error", "shipped_kappa")


@dataclass(frozen=True, slots=True, eq=False)
class LearntModel:
    """The codes of a model and their weights, the scores of all codes that were tried, and what it was learnt from."""

    learnt: Sequence[tuple[Judged, CodeWeights]]
    scores: pd.DataFrame
    material: Material
    options: TrainOptions
    notes: tuple[str, ...]


def write_model(out: Path, made: Made, found: LearntModel) -> None:
    """Write all files into a temporary folder, check that the model can be read, and move them into place."""
    file = io.BytesIO()
    weights = [one for _, one in found.learnt]
    np.savez_compressed(
        file,
        allow_pickle=False,
        buckets=np.stack([one.buckets for one in weights], axis=-1).reshape(N_BUCKETS, -1).astype(np.float16),
        hand=np.stack([one.hand for one in weights], axis=-1).astype(np.float32),
        lift=np.zeros((len(weights), 0), dtype=np.float32),
        bias=np.array([one.bias for one in weights], dtype=np.float32),
    )
    with replaced_in(out, made) as fresh:
        private.write(fresh / "weights.npz", file.getvalue())
        private.write(fresh / LEARNT, found.material.hashes())
        model = _model(found, hashlib.sha256(file.getvalue()).hexdigest()[:8])
        private.write(fresh / "model.json", json.dumps(model, indent=1, ensure_ascii=False) + "\n")
        text = _codebook_text([one.code for one, _ in found.learnt], found.options.codebook)
        if text:
            private.write(fresh / CODEBOOK, text)
        private.write(fresh / "scores.csv", csv_of_frame(found.scores.round(4)))
        private.write(fresh / "model_card.md", _card(model, found))
        load_tagger(fresh)


def _model(found: LearntModel, version: str) -> dict[str, Any]:
    material, base = found.material, load_tagger() if found.options.warm_start else None
    judged = [one for one, _ in found.learnt]
    return {
        "format": FORMAT,
        "name": "own",
        "version": version,
        "calibration": "a line on scores of groups that the model had not seen; threshold of highest kappa",
        MARK: {
            "sessions": len(material.batch.sessions),
            "turns": material.n_coded,
            "coders": material.n_coders,
            "grouped_by": material.together.name,
            "seed": found.options.seed,
            "began_at": f"{base.name} {base.version}" if base else "",
            "versions": {name: metadata.version(name) for name in _PACKAGES},
        },
        "context_heads": [one.code.column for one in judged],
        "heads": [],
        "codes": [
            {
                "column": one.code.column,
                "role": one.code.role,
                "heads": [one.code.column],
                "thresholds": dict(one.thresholds or {}),
                "on_request": False,
            }
            for one in judged
        ],
    }


def _codebook_text(codes: Sequence[Code], book: str | Path | Codebook | None) -> str:
    """Return the codebook of the codes that no book of the package has; none where there is no such code."""
    builtin = {one.id for one in builtin_codebooks()}
    own = [code for code in codes if code.book not in builtin]
    if not own:
        return ""
    if isinstance(book, str | Path):
        return Path(book).read_text(encoding="utf-8-sig")
    head = {
        "id": own[0].book,
        "name": book.name if book else "The user's codes",
        "definition": book.definition if book else "Codes that were learnt from the user's own; no codebook was given.",
        "source": book.source if book else "The user's codes",
    }
    tables = [{name: value for name in _FIELDS if (value := getattr(code, name))} for code in own]
    lines: list[str] = []
    for table in (head, *tables):
        lines += ["", "[[codes]]"] if lines else []
        lines += [f"{key} = {json.dumps(text, ensure_ascii=False)}" for key, text in table.items()]  # also TOML
    return "\n".join(lines) + "\n"


_CARD = """\
# Model {version}

Learnt on {today} from {turns:,} turns of {sessions}, coded by {coders}.
Versions: {versions}. Seed {seed}.

It is a logistic regression over hashed words and counts by hand of a turn and its neighbours{began}.
The weights are hashed: they hold no list of words. Whoever has them can still test whether a word
speaks for a code, so treat them like the codes that they come from. `{hashes}` has a hash of each
turn of eight words or more: whoever has it can test whether a sentence was said in these sessions.

## How good it is

On turns of {unit} that it had not seen: five folds over {n_groups} {unit}. Calibration and
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
    scores, about, together = found.scores, model[MARK], found.material.together
    heads = ["code", "turns", "with it", "kappa", "F1", "AUC", "average precision", "calibration error"]
    heads.append(f"kappa of the package's tagger ({found.options.beside})")
    rows = [heads, ["---"] * len(heads)]
    for row in scores[scores["learnt"]].to_dict("records"):
        numbers = [_number(row, name) for name in _STATISTICS]
        rows.append([f"`{row['code']}`", f"{row['n_turns']:,}", f"{row['n_positive']:,}", *numbers])
    left_out = [f"- `{row.code}`: {row.why_left_out}." for row in scores[~scores["learnt"]].itertuples()]
    start = f"at the tagger of the package ({about['began_at']})" if about["began_at"] else "from nothing"
    return _CARD.format(
        version=model["version"],
        today=dt.datetime.now(tz=dt.UTC).date().isoformat(),
        turns=about["turns"],
        sessions=counted(about["sessions"], "session"),
        coders=counted(about["coders"], "coder"),
        versions=", ".join(f"{name} {number}" for name, number in about["versions"].items()),
        seed=about["seed"],
        began=f", begun {start}",
        hashes=LEARNT,
        unit=together.names,
        n_groups=found.material.n_groups,
        table="\n".join(f"| {' | '.join(row)} |" for row in rows),
        bins=BINS,
        left_out="\n".join(left_out) or "Nothing.",
        notes="\n".join(f"- {note}" for note in found.notes),
    )


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
