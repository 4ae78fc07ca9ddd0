"""Reads the corpora that the tagger is trained on into sessions, soft labels, and ways of writing."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from therapy_analytics.behaviours import builtin_codebooks
from therapy_analytics.language import Batch, annotate
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.session import Role, Session, Turn

FLAGS = ("question", "reflection", "input")
MAIN = ("question", "reflection", "input", "other")
TALK = ("change", "sustain", "neutral")
KINDS = ("question_open", "question_closed")
"""Known of questions alone."""
LABELS = (*FLAGS, *(f"main_{name}" for name in MAIN), *KINDS, *TALK)
SEEDED = ("bolt", "mi")
"""Codebooks whose examples the tagger learns from."""
THERAPIST_LABELS = 9
"""So many of `LABELS` are of therapist turns, the others of client turns."""


@dataclass(frozen=True)
class Corpus:
    """Turns in order: table with session, role, text, group; labels and their weights (n, n_labels)."""

    turns: pd.DataFrame
    labels: NDArray[np.float64]
    weights: NDArray[np.float64]


def plain(text: str) -> str:
    """Write as speech recognisers do: lower case, no punctuation but apostrophes."""
    return " ".join(re.sub(r"[^\w\s']", " ", text.lower().replace("\u2019", "'")).split())


def bare(text: str) -> str:
    """Write as `plain`, without apostrophes."""
    return plain(text).replace("'", "")


def batch(turns: pd.DataFrame, write: Callable[[str], str]) -> Batch:
    """Return sessions as arrays, each turn written in some way."""
    sessions = []
    for name, part in turns.groupby("session", sort=False):
        rows = zip(part["role"], part["text"], strict=True)
        made = tuple(_turn(i, role, write(text)) for i, (role, text) in enumerate(rows))
        sessions.append(Session(id=str(name), source_file="", turns=made))
    return annotate(sessions, Matcher([]))


def _turn(index: int, role: Role, text: str) -> Turn:
    return Turn(index=index, speaker=role, role=role, text=text, first_row=index + 1)


def annomi(folder: Path) -> Corpus:
    """Read AnnoMI: annotators averaged, adjacent rows of a speaker merged, flags OR-ed."""
    rows = pd.read_csv(folder / "annomi" / "annomi.csv")
    for name in FLAGS:
        column = "therapist_input" if name == "input" else name
        rows[name] = rows[f"{column}_exists"].eq(True).astype(float)
    for name in KINDS:
        rows[name] = rows["question_subtype"].eq(name.removeprefix("question_")).astype(float) * rows["question"]
    for name in MAIN:
        rows[f"main_{name}"] = rows["main_therapist_behaviour"].str.replace("therapist_", "").eq(name).astype(float)
    for name in TALK:
        rows[name] = rows["client_talk_type"].eq(name).astype(float)
    keep = {"utterance_text": "first", "interlocutor": "first", "source_group": "first"}
    rows = rows.groupby(["transcript_id", "utterance_id"], as_index=False).agg(dict.fromkeys(LABELS, "mean") | keep)
    rows["group"] = "annomi" + rows["source_group"].astype(str)
    rows = rows.rename(columns={"transcript_id": "session", "interlocutor": "role", "utterance_text": "text"})
    turns = _merged(rows)
    for family in ([f"main_{name}" for name in MAIN], list(TALK)):
        turns[family] = turns[family].div(turns[family].sum(axis=1).replace(0, 1), axis=0)
    return _corpus(turns, LABELS)


def misc_units(folder: Path) -> pd.DataFrame:
    """Read MISC's thought units: session, role, text, group, coarse label, and what it says of `LABELS`."""
    parts = [pd.read_csv(folder / "misc_gold" / name) for name in ("hlqc.csv", "mibot.csv")]
    units = pd.concat(parts, ignore_index=True)
    units["session"], units["text"] = units["conv_id"], units["utt_text"].astype(str)
    units["group"], units["label"] = "misc" + units["conv_id"], units["t1_label_GT"]
    units["role"] = units["speaker"].map({"counsellor": "therapist", "client": "client"})
    kinds = {
        "question": {"OQ", "CQ"},
        "reflection": {"SR", "CR", "RF"},
        "input": {"GI", "ADP", "ADW", "DI", "WA", "RCW", "CO"},
    }
    for name, codes in kinds.items():
        units[name] = units["t2_label_GT"].isin(codes).astype(float)
    for name, code in (("question_open", "OQ"), ("question_closed", "CQ")):
        units[name] = units["t2_label_GT"].eq(code).astype(float)
    for name, code in (("change", "C"), ("sustain", "S")):
        units[name] = (units["label"].eq(code) & units["role"].eq("client")).astype(float)
    units["neutral"] = 0.0
    return units.assign(**dict.fromkeys([f"main_{name}" for name in MAIN], 0.0))


def misc_gold(folder: Path) -> Corpus:
    """Read MISC twice: its units as turns of their own, and as whole turns with flags by any unit of them.

    What a turn does mainly is unknown.
    """
    units = misc_units(folder)
    turns = pd.concat([units.assign(session="units" + units["session"]), _merged(units)], ignore_index=True)
    turns["neutral"] = 1.0 - turns[["change", "sustain"]].max(axis=1)
    return _corpus(turns, (*FLAGS, *KINDS, *TALK))


def invented() -> pd.DataFrame:
    """Return the turns of the invented sessions: session, role, text, group, and lists of codes ``mi, bolt, misc``."""
    rows = []
    for path in sorted((Path(__file__).parent / "invented_sessions").glob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
            name = f"invented_{path.stem}_{number}"
            for turn in json.loads(line)["turns"]:
                mi = [*turn.get("mi", []), f"main_{turn['main']}"] if turn["role"] == "therapist" else [turn["talk"]]
                codes = {"mi": mi, "bolt": turn["bolt"], "misc": turn["misc"]}
                rows.append({"session": name, "group": name, "role": turn["role"], "text": turn["text"], **codes})
    return pd.DataFrame(rows)


def invented_as_turns() -> Corpus:
    """Return the invented sessions with what they say of AnnoMI's labels."""
    turns = invented()
    flags = {name: [float(name in codes) for codes in turns["mi"]] for name in LABELS}
    return _corpus(turns.assign(**flags), LABELS)


def bolt(folder: Path, role: Role) -> tuple[pd.DataFrame, list[str]]:
    """Read BOLT: a row an utterance with its text and a column of 0 and 1 for each label."""
    rows = pd.read_csv(folder / "bolt" / f"{role}.csv").drop_duplicates()
    table = pd.crosstab(rows["prompt"], rows["completion"]).astype(float)
    names = list(table.columns)
    return table.reset_index().rename(columns={"prompt": "text"}), names


def alone(texts: list[str], role: Role, margin: int = 20) -> pd.DataFrame:
    """Put single utterances into the middle of sessions whose other turns are empty."""
    roles = ["client", "therapist"] * (margin + 1)
    at = margin if roles[margin] == role else margin + 1
    rows = [(i, role_, text if j == at else "") for i, text in enumerate(texts) for j, role_ in enumerate(roles)]
    return pd.DataFrame(rows, columns=["session", "role", "text"]).assign(wanted=lambda d: d["text"] != "")


def seeds() -> pd.DataFrame:
    """Return invented sentences with their code and role: the codebooks' examples, and this folder's own."""
    own = tomllib.loads((Path(__file__).parent / "seed_sentences.toml").read_text(encoding="utf-8"))
    rows = [
        (text, code.id, code.role)
        for book in builtin_codebooks()
        if book.id in SEEDED
        for code in book.codes
        for text in (*code.examples, *(own.get(code.id, []) if book.id == "bolt" else []))
    ]
    return pd.DataFrame(rows, columns=["text", "code", "role"])


def seeds_as_turns() -> Corpus:
    """Return the seeds that say something about AnnoMI's labels, each in a session of its own."""
    means = {
        "problem_solving": "input",
        "psychoeducation": "input",
        "changing": "change",
        "sustaining": "sustain",
    }
    parts = []
    for number, row in enumerate(seeds().to_dict("records")):
        label = means.get(row["code"], row["code"].split("_")[0].rstrip("s"))
        if label in LABELS:
            turns = alone([row["text"]], row["role"], margin=6).assign(session=f"seed{number}", group="seed")
            parts.append(turns.assign(**{name: float(name == label) for name in LABELS}))
    turns = pd.concat(parts, ignore_index=True)
    corpus = _corpus(turns, (*FLAGS, *TALK))
    return Corpus(corpus.turns, corpus.labels, corpus.weights * turns["wanted"].to_numpy()[:, None])


def _merged(rows: pd.DataFrame) -> pd.DataFrame:
    new = rows["session"].ne(rows["session"].shift()) | rows["role"].ne(rows["role"].shift())
    first = dict.fromkeys(["session", "role", "group"], "first")
    agg = dict.fromkeys(LABELS, "max") | first | {"text": lambda texts: " ".join(map(str, texts))}
    return rows.groupby(new.cumsum()).agg(agg).reset_index(drop=True)


def _corpus(turns: pd.DataFrame, known: tuple[str, ...]) -> Corpus:
    therapist = turns["role"].eq("therapist").to_numpy()[:, None]
    own = np.where(np.arange(len(LABELS)) < THERAPIST_LABELS, therapist, ~therapist)
    weights = own & np.isin(LABELS, known)
    labels = turns[list(LABELS)].to_numpy(float)
    kinds = np.isin(LABELS, KINDS)
    weights[:, kinds] &= labels[:, kinds].any(axis=1)[:, None]
    return Corpus(turns[["session", "role", "text", "group"]], labels, weights.astype(float))
