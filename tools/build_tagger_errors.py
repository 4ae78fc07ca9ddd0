"""Write how well the taggers agree with coders on unseen recordings: ``references/cross_validated.csv``.

Run from the root of the repository with files of ``unseen_codes.py``, whose probabilities are by taggers that had not
seen the recording:

    python tools/build_tagger_errors.py --unseen unseen.csv

There is a row for each tagger, aim and code, of the turns of whole sessions. ``coded_by`` says who coded: people, or a
language model that read the codebook (all of BOLT's codes). A turn on which coders differ counts in part on both sides.
Kappas of `process` are published in docs/tagger/process_codes.csv. ``--errors FILE`` also writes what they rest on:
sensitivity and specificity, with standard errors between recordings, also of utterances that stand alone (BOLT's own
rows, which were chosen because they have codes, and MISC's thought units).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from therapy_analytics.codes import builtin_codebooks
from therapy_analytics.codes.tagger import without_contradictions
from therapy_analytics.codes.weights import AIMS, WEIGHTS
from therapy_analytics.results.references import CROSS_VALIDATED

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
ROOT = Path(__file__).resolve().parents[1]
PROCESS = ROOT / "docs" / "tagger" / "process_codes.csv"
TAGGERS = {"accurate": "accurate.json", "fast": "model.json"}
CORPORA = {"annomi": "sessions", "hlqc": "sessions", "bolt": "BOLT's rows", "misc": "MISC's units"}
"""What the sources of the file are put together to."""
PEOPLE = "people"
READER = "language model"
ROUNDING = 1e-15
COLUMNS = ["tagger", "aim", "code", "role", "corpus", "whole_sessions", "truth"]


def main() -> None:
    """Read, count, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unseen", type=Path, nargs="+", required=True, help="several files are put together")
    parser.add_argument("--errors", type=Path, help="where to write sensitivity and specificity")
    options = parser.parse_args()
    turns = pd.concat([pd.read_csv(path, low_memory=False) for path in options.unseen], ignore_index=True)
    table = error_rates(turns)
    if options.errors is not None:
        table.to_csv(options.errors, index=False, float_format="%.4g", lineterminator="\n")
    kappas(table).to_csv(CROSS_VALIDATED, index=False, float_format="%.3f", lineterminator="\n")


def kappas(errors: pd.DataFrame) -> pd.DataFrame:
    """Return Cohen's kappa of each code in whole sessions that the tagger had not seen, from the rows of the file."""
    found = errors[errors["whole_sessions"]].rename(columns={"truth": "coded_by"})
    n = found["n_with"] + found["n_without"]
    rate = found["n_with"] / n
    both, neither = rate * found["sensitivity"], (1 - rate) * found["specificity"]
    given = both + (1 - rate) - neither
    expected = rate * given + (1 - rate) * (1 - given)
    found = found.assign(kappa=(both + neither - expected) / (1 - expected), n_turns=n.round().astype(int))
    process = pd.read_csv(PROCESS).rename(columns={"kappa_recording_left_out": "kappa"})
    process = process.assign(tagger="accurate", aim="balanced", coded_by=READER)
    whole = pd.concat([found, process], ignore_index=True)
    versions = {
        name: json.loads((WEIGHTS / file).read_text(encoding="utf-8"))["version"] for name, file in TAGGERS.items()
    }
    whole = whole.assign(version=whole["tagger"].map(versions), n_turns=whole["n_turns"].astype("Int64"))
    columns = ["tagger", "version", "aim", "code", "coded_by", "n_turns", "kappa"]
    return whole.dropna(subset="kappa").sort_values(columns[:4])[columns]


def error_rates(turns: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the file, from turns with ``source``, ``role``, ``group``, probabilities and truths."""
    rows = []
    for tagger, aim, code, source, p, decision in decisions(turns):
        for corpus in dict.fromkeys(CORPORA.values()):
            known = turns["source"].map(CORPORA).eq(corpus) & turns[f"truth_{source}"].notna() & ~np.isnan(p)
            if known.any():
                part = turns[known]
                truth = part[f"truth_{source}"].to_numpy(dtype=np.float64)
                about = (tagger, aim, code, part["role"].iloc[0], corpus, corpus == "sessions", who(source, corpus))
                found = errors_of(truth, decision[known], part["group"].to_numpy())
                rows.append(dict(zip(COLUMNS, about, strict=True)) | found)
    return pd.DataFrame(rows)


def decisions(turns: pd.DataFrame) -> Iterator[tuple[str, str, str, str, Floats, Bools]]:
    """Yield tagger, aim, code, the code whose head it shares, and probabilities and decisions of all turns."""
    for tagger, name in TAGGERS.items():
        codes = json.loads((WEIGHTS / name).read_text(encoding="utf-8"))["codes"]
        sources = [code.get("head", _shared(code["column"], turns)) for code in codes]
        judged = [f"truth_{source}" in turns for source in sources]  # codes of `process` and `epitome` are not
        codes, sources = ([one for one, kept in zip(some, judged, strict=True) if kept] for some in (codes, sources))
        p = turns[[f"{tagger}_{source}" for source in sources]].to_numpy(dtype=np.float64)
        for place, code in enumerate(codes):
            if code.get("group"):
                group = turns[f"{tagger}_{code['group']}"].fillna(1.0).to_numpy(dtype=np.float64)
                p[:, place] = np.minimum(p[:, place], group)
        names = tuple(code["column"] for code in codes)
        for aim in AIMS:
            # What a code is not judged on is not known, and speaks against no other code.
            apart = np.isnan(p) | (p >= np.array([code["thresholds"][aim] for code in codes]))
            asked = turns["n_questions"].to_numpy(dtype=np.int64)
            decision = without_contradictions(names, apart, np.nan_to_num(p, nan=-1.0), asked, builtin_codebooks())
            for place, (column, source) in enumerate(zip(names, sources, strict=True)):
                yield tagger, aim, column, source, p[:, place], decision[:, place]


def _shared(column: str, turns: pd.DataFrame) -> str:
    """Return the code whose head it is: some of MITI's are AnnoMI's by the same name."""
    return column if f"truth_{column}" in turns else column.replace("miti_", "mi_", 1)


def who(code: str, corpus: str) -> str:
    """Return who gave the true codes."""
    return READER if corpus == "sessions" and code.startswith(("bolt_", "miti_")) else PEOPLE


def errors_of(truth: Floats, decided: NDArray[np.bool_], recording: NDArray[np.object_]) -> dict[str, float]:
    """Return sensitivity and specificity with what is needed for their uncertainty.

    Parameters
    ----------
    truth : float array (n,)
        How many of the coders gave the code, 0 to 1.
    decided : bool array (n,)
        Whether the tagger gave it.
    recording : array (n,)
        What each turn is a part of.

    Returns
    -------
    dict
        ``n_recordings``, ``n_with`` and ``n_without`` (turns with and without the code, parts of turns included),
        ``sensitivity``, ``specificity``, their standard errors by recording (linearised, with G / (G - 1)), and the
        ``correlation`` of the two estimates.
    """
    place = np.unique(recording.astype(str), return_inverse=True)[1]
    groups = int(place.max()) + 1
    found: dict[str, float] = {"n_recordings": groups, "n_with": truth.sum(), "n_without": (1 - truth).sum()}
    shifts = []
    for name, weight, right in (("sensitivity", truth, decided), ("specificity", 1 - truth, ~decided)):
        total = weight.sum()
        found[name] = weight @ right / total if total else np.nan
        shifts.append(
            np.bincount(place, weight * (right - found[name]), groups) / total if total else np.full(1, np.nan)
        )
    scale = np.sqrt(groups / max(groups - 1, 1))
    errors = [float(scale * np.sqrt((one**2).sum())) for one in shifts]
    both = scale**2 * float((shifts[0] * shifts[1]).sum())
    found |= {"sensitivity_error": errors[0], "specificity_error": errors[1]}
    product = errors[0] * errors[1]
    return found | {"correlation": both / product if product > ROUNDING else 0.0}


if __name__ == "__main__":
    main()
