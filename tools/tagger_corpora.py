"""Reads the corpora that the tagger is trained on into sessions, soft labels, and ways of writing."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, compress
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from therapy_analytics.codes import codebook_named
from therapy_analytics.core.session import Role, Session, Turn
from therapy_analytics.text import Batch, annotate
from therapy_analytics.text.lexicons import Matcher

FLAGS = ("question", "reflection", "input")
MAIN = ("question", "reflection", "input", "other")
TALK = ("change", "sustain", "neutral")
KINDS = ("question_open", "question_closed")
"""Known of questions alone."""
SUBTYPES = {
    "reflection": ("reflection_simple", "reflection_complex"),
    "input": ("input_information", "input_advice", "input_options", "input_negotiation"),
}
"""Kinds that are written on request only: people hardly agree on them."""
LABELS = (*FLAGS, *(f"main_{name}" for name in MAIN), *KINDS, *TALK)
IDS = {
    "Changing Unhealthy Behavior": "changing",
    "Gained Insights": "gained_insight",
    "Problem-Solving": "problem_solving",
    "Sharing Experiences": "life_event",
    "Sharing Negative Emotions": "negative_feeling",
    "Sharing Positive Emotions": "positive_feeling",
    "Sustaining Unhealthy Behavior": "sustaining",
}
"""Labels of BOLT's files whose ids are not just the label in lower case."""
SPEAKERS: tuple[Role, Role] = ("therapist", "client")
SEEDED = ("bolt", "mi")
"""Codebooks whose examples the tagger learns from."""
THERAPIST_LABELS = 9
"""So many of `LABELS` are of therapist turns, the others of client turns."""
CODES = ("codes", "read", "misc")
"""Columns of a corpus, None where nothing is known: codes of `mi`, BOLT and MITI; AnnoMI's codes as a language model
read them; MISC's coarse labels."""


@dataclass(frozen=True)
class Corpus:
    """Turns in order: table with session, role, text, group, source, and `CODES`; labels, weights (n, n_labels)."""

    turns: pd.DataFrame
    labels: NDArray[np.float64]
    weights: NDArray[np.float64]


def plain(text: str) -> str:
    """Write as speech recognisers do: lower case, no punctuation but apostrophes."""
    return " ".join(re.sub(r"[^\w\s']", " ", text.lower().replace("\u2019", "'")).split())


def bare(text: str) -> str:
    """Write as `plain`, without apostrophes."""
    return plain(text).replace("'", "")


WAYS: dict[str, Callable[[str], str]] = {"clean": str, "plain": plain}
"""Ways of writing: as people do, and as speech recognisers do."""


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
    """Read AnnoMI: annotators averaged, adjacent rows of a speaker merged, flags OR-ed; BOLT's codes as read."""
    rows = pd.read_csv(folder / "annomi" / "annomi.csv")
    for name in FLAGS:
        column = "therapist_input" if name == "input" else name
        rows[name] = rows[f"{column}_exists"].eq(True).astype(float)
    for name in KINDS:
        rows[name] = rows["question_subtype"].eq(name.removeprefix("question_")).astype(float) * rows["question"]
    for group, names in SUBTYPES.items():
        column = "therapist_input_subtype" if group == "input" else f"{group}_subtype"
        for name in names:
            rows[name] = rows[column].eq(name.removeprefix(f"{group}_")).astype(float) * rows[group]
    for name in MAIN:
        rows[f"main_{name}"] = rows["main_therapist_behaviour"].str.replace("therapist_", "").eq(name).astype(float)
    for name in TALK:
        rows[name] = rows["client_talk_type"].eq(name).astype(float)
    keep = {"utterance_text": "first", "interlocutor": "first", "source_group": "first"}
    labels = dict.fromkeys([*LABELS, *chain.from_iterable(SUBTYPES.values())], "mean")
    rows = rows.groupby(["transcript_id", "utterance_id"], as_index=False).agg(labels | keep)
    rows["group"] = _source(rows["source_group"])
    rows = rows.rename(columns={"transcript_id": "session", "interlocutor": "role", "utterance_text": "text"})
    turns = _merged(rows)
    for family in ([f"main_{name}" for name in MAIN], list(TALK)):
        turns[family] = turns[family].div(turns[family].sum(axis=1).replace(0, 1), axis=0)
    turns = _as_read("annomi", turns).assign(read=lambda table: table["codes"])
    coded = [*FLAGS, *KINDS, *chain.from_iterable(SUBTYPES.values()), *TALK]
    theirs = turns[coded].ge(0.5).to_numpy()
    turns["codes"] = [
        read - frozenset(coded) | frozenset(compress(coded, own))
        for read, own in zip(turns["codes"], theirs, strict=True)
    ]
    return _corpus("annomi", turns, LABELS)


def hlqc(folder: Path) -> Corpus:
    """Read the sessions of HLQC whose codes were read."""
    rows = pd.read_csv(folder / "hlqc" / "hlqc.csv")
    rows["group"] = _source(rows["source_group"])
    rows["role"] = rows["speaker"].replace("counsellor", "therapist")
    rows["text"] = rows["vol_text"].astype(str)
    turns = _as_read("hlqc", rows.rename(columns={"conv_id": "session"}))
    whole = turns.groupby("session")["codes"].transform("count") > 0
    return _corpus("hlqc", _flags(turns[whole].reset_index(drop=True)), LABELS)


def _as_read(name: str, turns: pd.DataFrame) -> pd.DataFrame:
    """Put the codes that a language model read out of turns of a corpus beside them."""
    read = pd.read_csv(Path(__file__).parent / "read_codes" / f"{name}.csv", dtype={"session": str})
    keys = [read["session"], read["turn"]]
    of_turn = pd.Series(list(map(frozenset, read["codes"].str.split())), index=pd.MultiIndex.from_arrays(keys))
    place = pd.MultiIndex.from_arrays([turns["session"].astype(str), turns.groupby("session").cumcount()])
    return turns.assign(codes=list(of_turn.reindex(place)))


def _flags(turns: pd.DataFrame) -> pd.DataFrame:
    """Say of `LABELS` what the codes say."""
    return turns.assign(**{name: [float(name in known(codes)) for codes in turns["codes"]] for name in LABELS})


def known(codes: object) -> frozenset[str]:
    """Return the codes of a turn; none where nothing is known."""
    return codes if isinstance(codes, frozenset) else frozenset()


def misc_units(folder: Path) -> pd.DataFrame:
    """Read MISC's thought units: session, role, text, group, coarse label, and what it says of `LABELS`."""
    parts = [pd.read_csv(folder / "misc_gold" / name) for name in ("hlqc.csv", "mibot.csv")]
    units = pd.concat(parts, ignore_index=True)
    units["session"], units["text"] = units["conv_id"], units["utt_text"].astype(str)
    source = pd.read_csv(folder / "hlqc" / "hlqc.csv").drop_duplicates("conv_id").set_index("conv_id")["source_group"]
    units["group"] = _source(units["conv_id"].map(source).fillna(units["conv_id"]))
    units["label"] = units["t1_label_GT"]
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
    alone = units.assign(session="units" + units["session"], misc=units["label"].map(lambda label: frozenset([label])))
    turns = pd.concat([alone, _merged(units)], ignore_index=True)
    turns["neutral"] = 1.0 - turns[["change", "sustain"]].max(axis=1)
    return _corpus("misc", turns, (*FLAGS, *KINDS, *TALK))


def invented() -> Corpus:
    """Read the invented sessions."""
    rows = []
    for path in sorted((Path(__file__).parent / "invented_sessions").glob("*.jsonl")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
            name = f"{path.stem}_{number}"
            for turn in json.loads(line)["turns"]:
                mi = [*turn.get("mi", []), f"main_{turn['main']}"] if turn["role"] == "therapist" else [turn["talk"]]
                codes = {"codes": frozenset([*mi, *turn["bolt"]]), "misc": frozenset(turn["misc"])}
                rows.append({"session": name, "group": name, "role": turn["role"], "text": turn["text"], **codes})
    return _corpus("invented", _flags(pd.DataFrame(rows)), LABELS)


def bolt(folder: Path, sources: pd.DataFrame) -> Corpus:
    """Read BOLT's rows, each in the middle of a session of empty turns, in the group of the recording it is from.

    ``sources`` are the turns that may hold them.
    """
    found = {run: group for group, text in zip(sources["group"], sources["text"], strict=True) for run in _runs(text)}
    parts = []
    for role in SPEAKERS:
        rows = pd.read_csv(folder / "bolt" / f"{role}.csv")
        rows["code"] = rows["completion"].map(lambda label: IDS.get(label, label.lower().replace(" ", "_")))
        codes = rows.groupby("prompt", sort=False)["code"].agg(frozenset)
        for number, (text, given) in enumerate(codes.items()):
            from_ = next((found[run] for run in _runs(text) if run in found), f"bolt {role} {number}")
            turns = alone(text, role).assign(session=f"{role}{number}", group=from_)
            parts.append(turns.assign(codes=[given if one else None for one in turns["text"]]))
    return _corpus("bolt", pd.concat(parts, ignore_index=True), ())


def _runs(text: str, n: int = 8) -> list[str]:
    """Return runs of so many words, the whole when it is shorter."""
    words = bare(text).split()
    return [" ".join(words[i : i + n]) for i in range(max(len(words) - n, 0) + 1)]


def alone(text: str, role: Role, margin: int = 6) -> pd.DataFrame:
    """Put an utterance into the middle of a session whose other turns are empty."""
    roles = ["client", "therapist"] * (margin + 1)
    at = margin if roles[margin] == role else margin + 1
    return pd.DataFrame({"role": roles, "text": [text if i == at else "" for i in range(len(roles))]})


def seeds() -> Corpus:
    """Return invented sentences: the codebooks' examples and this folder's own, each in a session of its own."""
    own = tomllib.loads((Path(__file__).parent / "seed_sentences.toml").read_text(encoding="utf-8"))
    rows = [
        (text, book.id, code.id, code.role)
        for book in map(codebook_named, SEEDED)
        for code in book.codes
        for text in (*code.examples, *(own.get(code.id, []) if book.id == "bolt" else []))
    ]
    means = {
        "problem_solving": "input",
        "psychoeducation": "input",
        "changing": "change",
        "sustaining": "sustain",
    }
    parts = []
    for number, (text, book, code, role) in enumerate(rows):
        label = means.get(code, code.split("_")[0].rstrip("s"))
        turns = alone(text, role).assign(session=str(number), group=f"seed {number}")
        turns["codes"] = [frozenset([code]) if book == "bolt" and one else None for one in turns["text"]]
        sure = [float(label in LABELS and bool(one)) for one in turns["text"]]
        parts.append(turns.assign(sure=sure, **{name: float(name == label) for name in LABELS}))
    turns = pd.concat(parts, ignore_index=True)
    corpus = _corpus("seed", turns, (*FLAGS, *TALK))
    return Corpus(corpus.turns, corpus.labels, corpus.weights * turns["sure"].to_numpy()[:, None])


def _source(names: pd.Series) -> pd.Series:
    """Name recordings alike in all corpora: AnnoMI, HLQC and MISC's units have some in common."""
    return "source " + names.astype(str).str.removesuffix(".0")


def _merged(rows: pd.DataFrame) -> pd.DataFrame:
    new = rows["session"].ne(rows["session"].shift()) | rows["role"].ne(rows["role"].shift())
    first = dict.fromkeys(["session", "role", "group"], "first")
    agg = (
        {name: "max" for name in rows if rows[name].dtype == float}
        | first
        | {"text": lambda texts: " ".join(map(str, texts))}
    )
    return rows.groupby(new.cumsum()).agg(agg).reset_index(drop=True)


def _corpus(source: str, turns: pd.DataFrame, labelled: tuple[str, ...]) -> Corpus:
    labels = turns.reindex(columns=list(LABELS), fill_value=0.0).to_numpy(float)
    therapist = turns["role"].eq("therapist").to_numpy()[:, None]
    own = np.where(np.arange(len(LABELS)) < THERAPIST_LABELS, therapist, ~therapist)
    weights = own & np.isin(LABELS, labelled)
    kinds = np.isin(LABELS, KINDS)
    weights[:, kinds] &= labels[:, kinds].any(axis=1)[:, None]
    turns = turns.assign(source=source, session=source + " " + turns["session"].astype(str))
    turns = turns.reindex(columns=["session", "role", "text", "group", "source", *CODES]).astype(
        dict.fromkeys(CODES, object)
    )
    return Corpus(turns.where(turns.notna(), None), labels, weights.astype(float))
