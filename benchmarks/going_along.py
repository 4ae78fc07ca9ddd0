"""Is going along what a judge calls sycophancy? ``python -m benchmarks.going_along --data DATA`` prints Markdown.

On Spiral-Bench: Spearman's correlation, over chats, of the session's columns with the sums of the judge's marks. The
model is fitted on the chats of one language model and used on those of the other, both ways; beside it stand keyword
counts, and the judge's own marks with each other, which bound what can be had. Then medians in other corpora.
Intervals: bootstrap over chats or sessions, within each language model.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from benchmarks._corpora import of_quality, sessions_of
from benchmarks._markdown import markdown
from therapy_analytics.behaviours import load_tagger, with_codes
from therapy_analytics.behaviours.going_along import KINDS, GoingAlong, load_going_along
from therapy_analytics.language import AnnotatedSession, annotate, builtin_lexicons
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.measures.process._agreement import model_says, says
from therapy_analytics.measures.process.going_along import going_along
from therapy_analytics.session import Session

Floats = NDArray[np.float64]
MARKS = {"sycophancy": "sycophancy or praise", "reinforcement": "delusion reinforcement", "pushback": "pushback"}
COLUMNS = (
    "agreement_opener_rate",
    "therapist_praise_per_100_words",
    "challenge_rate",
    "went_along_rate",
    "challenged_rate",
    "going_along_expected",
)
KEYWORDS = {
    "keywords of praise per word": "great|amazing|brilliant|exactly|absolutely|fascinating|insightful|profound",
    "keywords of challenge per word": "however|careful|evidence|concerned|but|disagree|instead|cannot",
}
_DRAWS, _BATCH = 400, 20


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tools", type=Path, default=Path(__file__).resolve().parents[1] / "tools")
    given = parser.parse_args()
    values, marks, model_of, names = chats(given.data, given.tools)
    print(f"### Spiral-Bench: {len(model_of)} chats, the language model left out\n")
    print(markdown(correlations(values, marks, model_of, names)), flush=True)
    print("\n### Medians\n")
    print(markdown(medians(given.data)))


def chats(data: Path, tools: Path) -> tuple[dict[str, Floats], dict[str, Floats], NDArray[np.int64], list[str]]:
    """Return measures and marks of each chat, its language model, and the names of these."""
    models = left_out(data, tools)
    names = sorted(models)
    sessions = [one for one in sessions_of(data, "spiral_bench") if Path(one.source_file).stem in models]
    model_of = np.array([names.index(Path(one.source_file).stem) for one in sessions], dtype=np.int64)
    rows = [_values(one, models[Path(one.session.source_file).stem]) for one in coded(sessions)]
    found = judged(data)
    values = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    keys = [(Path(one.source_file).stem, one.metadata["prompt_id"]) for one in sessions]
    marks = {name: np.array([found[key][mark] for key in keys]) for name, mark in MARKS.items()}
    return values, marks, model_of, names


def left_out(data: Path, tools: Path) -> dict[str, GoingAlong]:
    """Return for each language model the model of going along that was fitted and calibrated on the other's chats."""
    sys.path.insert(0, str(tools))
    text_models, training = (importlib.import_module(name) for name in ("text_models", "train_going_along"))

    corpus = training.read(data)
    tables = training.tables_of(corpus.cut)
    found = {}
    for out, name in enumerate(corpus.names):
        seen = np.flatnonzero(corpus.model_of != out)
        heads = []
        for labels in corpus.labels.T:
            left = np.zeros(len(labels))
            for half in np.array_split(seen, 2):  # the calibration, from the halves of the chats seen
                weights = training.fit(tables, labels, np.setdiff1d(seen, half))
                left[half] = text_models.score(tables[0][half], weights)
            line = text_models.line(left[seen][:, None], labels[seen])
            heads.append(text_models.calibrated(training.fit(tables, labels, seen), *line))
        with tempfile.TemporaryDirectory() as folder:
            text_models.write(Path(folder), np.stack(heads, axis=1), {}, kinds=KINDS, version=f"without {name}")
            found[name] = load_going_along(Path(folder))
    return found


def judged(data: Path) -> dict[tuple[str, str], dict[str, float]]:
    """Return the sums of the judge's marks, by language model and prompt."""
    found = {}
    for path in sorted((data / "spiral_bench").glob("*.json")):
        for name, chats_of in json.loads(path.read_text(encoding="utf-8"))["1"].items():
            for prompt, copies in chats_of.items() if name.endswith(".json") else ():
                chunks = copies[0]["judgements"].values()
                found[path.stem, prompt] = {
                    mark: float(sum(chunk.get("metrics", {}).get(mark, 0) for chunk in chunks))
                    for mark in MARKS.values()
                }
    return found


def coded(sessions: Sequence[Session]) -> list[AnnotatedSession]:
    """Return sessions as arrays with the fast tagger's codes."""
    found = []
    for start in range(0, len(sessions), _BATCH):
        batch = annotate(sessions[start : start + _BATCH], Matcher(builtin_lexicons()))
        codes = load_tagger().predict(batch)
        found += [with_codes(one, codes, int(batch.starts[i]), ("therapist", "client")) for i, one in enumerate(batch)]
    return found


def _values(session: AnnotatedSession, model: GoingAlong | None = None) -> dict[str, float]:
    if model is not None:
        session.cached(lambda one: says(one, model), key=model_says)
    all_values = going_along(session)
    values = {name: float(all_values[name]) for name in COLUMNS}
    own = [turn.text.lower() for turn in session.session.turns if turn.role == "therapist"]
    n_words = float(session.n_words[session.spoken_by("therapist")].sum())
    for name, words in KEYWORDS.items():
        values[name] = sum(len(re.findall(rf"\b({words})\b", text)) for text in own) / max(n_words, 1.0)
    return values | {"words": n_words}


def correlations(
    values: dict[str, Floats], marks: dict[str, Floats], model_of: NDArray[np.int64], names: Sequence[str]
) -> list[list[str]]:
    """Return a table: for each measure and mark, each language model and both, and with words held still."""
    rows = [["measure", "mark", "n", *(f"{name} unseen" for name in names), "both", "both, words held still"]]
    groups = [np.flatnonzero(model_of == m) for m in range(len(names))]
    words = values["words"]
    for name, own in [*values.items(), *((f"judge's {name}", one) for name, one in marks.items())]:
        for mark, other in marks.items():
            if name == f"judge's {mark}":
                continue
            rho = partial(_rho, own, other)
            cells = [_cell(rho, [one]) for one in groups]
            cells += [_cell(rho, groups), _cell(partial(_held, own, other, words), groups)]
            rows.append([f"`{name}`", mark, str(int(np.isfinite(own).sum())), *cells])
    return rows


def _rho(a: Floats, b: Floats, at: Any) -> float:
    known = at[np.isfinite(a[at]) & np.isfinite(b[at])]
    return _correlation(rankdata(a[known]), rankdata(b[known]))


def _held(a: Floats, b: Floats, still: Floats, at: Any) -> float:
    known = at[np.isfinite(a[at]) & np.isfinite(b[at])]
    base = np.stack([np.ones(len(known)), rankdata(still[known])], axis=1)
    ranks = (rankdata(one[known]) for one in (a, b))
    return _correlation(*(one - base @ np.linalg.lstsq(base, one, rcond=None)[0] for one in ranks))


def _correlation(a: Floats, b: Floats) -> float:
    if len(a) < 3 or min(np.ptp(a), np.ptp(b)) == 0:
        return float("nan")
    return float(np.corrcoef(a, b)[0, 1])


def _cell(of: Callable[[Any], float], groups: Sequence[NDArray[np.int64]], *, digits: int = 2) -> str:
    """Return a figure with its 95 % interval by bootstrap within groups."""
    rng = np.random.default_rng(0)
    draws = [of(np.concatenate([rng.choice(one, len(one)) for one in groups])) for _ in range(_DRAWS)]
    low, high = np.nanquantile(draws, [0.025, 0.975])
    return f"{of(np.concatenate(groups)):.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def _median(of: Floats, at: Any) -> float:
    return float(np.median(of[at]))


def medians(data: Path) -> list[list[str]]:
    """Return a table of medians with intervals, a column a corpus."""
    corpora = {f"{name} {quality}": of for name in ("annomi", "hlqc") for quality, of in of_quality(data, name).items()}
    corpora |= {name: sessions_of(data, name) for name in ("mibot", "vera_mh", "mindeval")}
    values = {name: [_values(one) for one in coded(of)] for name, of in corpora.items()}
    rows = [["column", *(f"{name} ({len(of)})" for name, of in corpora.items())]]
    for column in COLUMNS:
        cells = []
        for own in values.values():
            of = np.array([one[column] for one in own])
            of = of[np.isfinite(of)]
            median = _cell(partial(_median, of), [np.arange(len(of))], digits=3) if len(of) else "-"
            cells.append(f"{median}; mean {of.mean():.3f}, n {len(of)}" if len(of) else median)
        rows.append([f"`{column}`", *cells])
    return rows


if __name__ == "__main__":
    main()
