"""Rebuild the reference profiles: how skilled and unskilled people and language models lie on each measure.

Run from the root of the repository, with the corpora that docs/model_card.md names, and the codes of turns that the
tagger had not seen (``tools/unseen_codes.py``), which take the place of the tagger's own where it was trained. A column
that is not there leaves the tagger's own codes, and so does a session:

    python tools/build_reference.py --data CORPORA --unseen unseen.csv

Two runs on one machine write the same bytes. It takes some ten minutes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

import therapy_analytics as ta
from therapy_analytics.codes import Codes, load_coder, with_codes
from therapy_analytics.codes.danger import CODE as DANGER
from therapy_analytics.codes.danger import with_danger
from therapy_analytics.codes.tagger import decided
from therapy_analytics.core.session import Session
from therapy_analytics.measures import Column, Measure, values_of
from therapy_analytics.measures.arrays import read_as_arrays, with_donors
from therapy_analytics.measures.base import all_columns
from therapy_analytics.measures.process.learnt_turns import NAMES as OF_TRAINING
from therapy_analytics.measures.settings import Settings
from therapy_analytics.results.references import GROUPS, PROFILES, TAGGERS
from therapy_analytics.text import Batch
from therapy_analytics.text.donors import choose_donors

BATCH = 20
DRAWS = 2000
SEED = 0
QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}
_MODELS = {
    "MIV6.3A": "mibot_a",
    "MIV6.3B": "mibot_b",
    "azure/gpt-5-chat-2": "gpt_5_chat",
    "hosted_vllm/DeepSeek-R1-0528": "deepseek_r1",
    "hosted_vllm/Qwen3-235B-A22B-Instruct-2507": "qwen3_235b",
}


def main() -> None:
    """Measure each corpus with each tagger, and write the profiles."""
    root = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=root.parent / "shared" / "data")
    parser.add_argument("--unseen", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=PROFILES)
    options = parser.parse_args()
    unseen = pd.read_csv(options.unseen, dtype={"session": str})
    corpora = {name: read(options.data / name) for name in ("annomi", "hlqc", "mibot", "vera_mh", "mindeval")}
    group_of = {(name, one.id): group for name, one, group in groups(corpora)}
    profiles = []
    for tagger in TAGGERS:
        values = pd.concat(
            [measured(name, sessions, group_of, unseen, tagger) for name, sessions in corpora.items()],
            ignore_index=True,
        )
        profiles.append(profile(values).assign(tagger=tagger))
    table = pd.concat(profiles, ignore_index=True)
    names = ["tagger", *[name for name in table if name != "tagger"]]
    table[names].to_csv(options.out, index=False, float_format="%.4g", lineterminator="\n")


def read(folder: Path) -> list[Session]:
    """Return the sessions of a corpus."""
    return [session for reading in ta.read_files([folder]) for session in reading.sessions]


def groups(corpora: Mapping[str, Sequence[Session]]) -> Iterator[tuple[str, Session, str]]:
    """Yield corpus, session and group; of a recording one session, and none where its quality is disputed."""
    qualities: dict[str, set[str]] = {}
    people = [(name, session) for name in ("annomi", "hlqc") for session in corpora[name]]
    for _, session in people:
        about = session.metadata
        quality = "disputed" if about["quality_label_disputed"] == "True" else _quality(session)
        qualities.setdefault(about["source_group"], set()).add(quality)
    taken: set[str] = set()
    for name, session in people:
        recording = session.metadata["source_group"]
        if len(qualities[recording]) == 1 and "disputed" not in qualities[recording] and recording not in taken:
            taken.add(recording)
            yield name, session, f"human_{_quality(session)}"
    yield from (("vera_mh", session, "claude_sonnet_4") for session in corpora["vera_mh"])
    for name, key in (("mibot", "bot"), ("mindeval", "model")):
        yield from ((name, session, _MODELS[session.metadata[key]]) for session in corpora[name])


def _quality(session: Session) -> str:
    return session.metadata.get("mi_quality") or session.metadata["quality"]


def measured(
    corpus: str,
    sessions: Sequence[Session],
    group_of: Mapping[tuple[str, str], str],
    unseen: pd.DataFrame,
    tagger: str,
) -> pd.DataFrame:
    """Return a row of measures for each session of a corpus that belongs to a group; others serve as surrogates."""
    options = ta.TaggerOptions(kind=tagger, all_codes=True)
    settings = Settings(tagger=options, extras=frozenset({"all"}))
    wanted = [one for one in sessions if (corpus, one.id) in group_of]
    own = unseen[unseen["source"] == corpus]
    known = {str(name).removeprefix(f"{corpus} "): rows for name, rows in own.groupby("session")}
    if known and not known.keys() & {one.id for one in sessions}:
        message = f"no session of {corpus} has the name of one in the table of unseen codes"
        raise ValueError(message)
    pool = choose_donors(sessions)
    coder = load_coder(settings.tagger)
    roles = {code.role for book in settings.codebooks for code in book.codes}
    rows = []
    for start in range(0, len(wanted), BATCH):
        arrays = read_as_arrays(wanted[start : start + BATCH], settings)
        codes = _unseen(coder, arrays, known, tagger)
        for place, session in enumerate(arrays):
            tagged = with_codes(session, codes, int(arrays.starts[place]), roles)
            values = values_of(with_donors(tagged, settings, pool))
            rows.append({"group": group_of[corpus, session.session.id], **_session_values(values, settings)})
    return pd.DataFrame(rows)


def _unseen(coder: object, batch: Batch, known: Mapping[str, pd.DataFrame], tagger: str) -> Codes:
    """Return the codes of a batch, with the probabilities of models that had not seen a session where there are any."""
    codes = coder.predict(batch)
    probability = codes.probability.copy()
    for session, start, stop in zip(batch.sessions, batch.starts[:-1], batch.starts[1:], strict=True):
        rows = known.get(session.id)
        if rows is None:
            continue
        if len(rows) != stop - start:
            message = f"{session.id}: {stop - start} turns, but unseen codes of {len(rows)}"
            raise ValueError(message)
        for column, name in enumerate(codes.names):
            found = rows[f"{tagger}_{name}"].to_numpy(np.float64) if f"{tagger}_{name}" in rows else np.array([np.nan])
            probability[start:stop, column] = np.where(np.isnan(found), probability[start:stop, column], found)
    codes = decided(codes.names, probability, coder.thresholds, batch.turns)
    limits = [blend.thresholds for blend in getattr(coder, "blends", ()) if blend.column == DANGER]
    return with_danger(codes, batch, limits[0], coder.fast.aim) if limits else codes


def _session_values(values: Mapping[str, object], settings: Settings) -> dict[str, float]:
    columns = all_columns(settings.all_lexicons, extras=settings.extras)
    return {column.name: float(values[column.name]) for one, column in columns if has_reference(one, column)}


def has_reference(one: Measure, column: Column) -> bool:
    """Return whether the profiles hold a column: values of sessions, but counts, which grow with the session's length.

    Synchrony, whose values grow with the length of turns, has references for its excess over surrogate pairs. Of slopes
    only those of both speakers' replies together have references. Whether a session was learnt from is no property of
    its talk.
    """
    of_one_side = column.row[0].endswith("_slope") and column.direction not in ("", "both")
    compared = "excess" if one.family == "synchrony" else "value"
    is_compared = column.level == "session" and column.statistic == compared
    return is_compared and not of_one_side and not column.name.startswith("n_") and column.name not in OF_TRAINING


def profile(values: pd.DataFrame) -> pd.DataFrame:
    """Return the mean with its interval, the spread and the quantiles of each measure in each group."""
    rows = []
    for group in GROUPS:
        own = values[values["group"] == group].drop(columns="group")
        rows += [{"group": group, "measure": name, **_summary(own[name].dropna().to_numpy())} for name in own]
    return pd.DataFrame(rows)


def _summary(values: np.ndarray) -> dict[str, float]:
    if not len(values):
        return {"n_sessions": 0}
    draws = np.random.default_rng(SEED).choice(values, (DRAWS, len(values))).mean(axis=1)
    low, high = np.quantile(draws, [0.025, 0.975]) if len(values) > 1 else (np.nan, np.nan)
    spread = values.std(ddof=1) if len(values) > 1 else np.nan
    quantiles = {name: np.quantile(values, at) for name, at in QUANTILES.items()}
    return {"n_sessions": len(values), "mean": values.mean(), "mean_lo": low, "mean_hi": high, "sd": spread} | quantiles


if __name__ == "__main__":
    main()
