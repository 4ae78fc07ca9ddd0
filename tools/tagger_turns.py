"""All labelled turns as one table, in the order of their sessions: what the accurate tagger learns from.

The turns of `tagger_corpora` (codes of `mi`, BOLT, MISC and MITI) and of `process_corpus` (codes of `process`) that are
the same are one row. To them come EPITOME's replies, OnCoCo's messages and the sentences of OffMyChest.
"""

from __future__ import annotations

import html
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
import process_corpus
import tagger_first
from numpy.typing import NDArray
from tagger_codes import task
from tagger_judged import FOLDS, folds

from therapy_analytics.core.session import ROLES

EMPATHY = {
    "emotional_reaction": "emotional-reactions",
    "interpretation": "interpretations",
    "exploration": "explorations",
}
"""Codes of `epitome`, and the files of EPITOME that have them."""
DISCLOSURE = {"emotional": "Emotional_disclosure", "informational": "Information_disclosure"}
"""Kinds of disclosure, and the columns of OffMyChest that have them."""
INVENTED = 0.7
"""How much an excerpt that was invented for `process` counts beside a turn of a corpus."""
SHARED = 0.6
"""How much the codes of `process`, `epitome`, disclosure and OnCoCo count; of the others `tagger_codes` tells it."""
SEED = 1
CHATBOTS = {"chatbot claude": "spiral_bench/(?!llama)", "chatbot llama": "spiral_bench/llama"}
"""The two chatbots of Spiral-Bench, and how the names of their sessions begin."""
SIDES = {"CO": "therapist", "CL": "client"}
"""Whose message it is, as OnCoCo says it."""
_ESCAPE = re.compile(r"<U\+([0-9A-F]{4,8})>")
Bools = NDArray[np.bool_]
Known = dict[str, float]


@dataclass(frozen=True)
class Turns:
    """Turns with what is known of them.

    Attributes
    ----------
    table : DataFrame
        ``corpus``, ``session``, ``role``, ``text``, ``group`` (the recording, post or message; copies share it),
        ``fold``, ``row`` (the place in `tagger_first.labelled`, or -1).
    names : list of str
        Codes: ``mi_question``, ..., ``process_advice``, ``epitome_exploration``, ``disclosure_emotional``, ...
    labels, weights : float32 arrays (n_turns, n_codes)
        How surely a turn has a code, 0 to 1, and how much that counts.
    """

    table: pd.DataFrame
    names: list[str]
    labels: NDArray[np.float32]
    weights: NDArray[np.float32]

    @cached_property
    def sessions(self) -> list[tuple[int, int]]:
        """First turn and end of each session."""
        first = np.flatnonzero(self.table["session"].ne(self.table["session"].shift()))
        return list(zip(first.tolist(), [*first[1:].tolist(), len(self.table)], strict=True))

    @cached_property
    def roles(self) -> NDArray[np.int64]:
        """Roles, as positions in ROLES."""
        return self.table["role"].map(ROLES.index).to_numpy(dtype=np.int64)

    def left_out(self, name: str) -> Bools:
        """Return the turns of a fold (its number as text), a chatbot, or a corpus with copies of its recordings."""
        if name in CHATBOTS:
            return self.table["session"].str.match(CHATBOTS[name]).to_numpy()
        if name.isdecimal():
            return self.table["fold"].eq(int(name)).to_numpy()
        groups = set(self.table.loc[self.table["corpus"] == name, "group"])
        return self.table["group"].isin(groups).to_numpy()


def turns(data: Path) -> Turns:
    """Read all corpora of a folder."""
    corpus = tagger_first.labelled(data)
    given = task(corpus)
    theirs = corpus.turns.assign(row=np.arange(len(corpus.turns)), place=corpus.turns.groupby("session").cumcount())
    rows = [*_of_process(data, theirs), *_epitome(data), *_oncoco(data), *_offmychest(data)]
    table = pd.DataFrame(rows)
    alone = theirs[~theirs["row"].isin(table["row"]) & theirs["text"].ne("")]
    alone = alone.assign(corpus=alone["source"], codes=[{}] * len(alone), counts=[()] * len(alone))
    table = _merged(pd.concat([table, alone[table.columns]], ignore_index=True))
    names = [*given.names, *sorted({code for codes in table["counts"] for code in codes})]
    labels, weights = (np.zeros((len(table), len(names)), dtype=np.float32) for _ in range(2))
    known, n = table["row"].to_numpy() >= 0, len(given.names)
    labels[known, :n], weights[known, :n] = (part[table.loc[known, "row"]] for part in (given.labels, given.weights))
    place = {name: at for at, name in enumerate(names)}
    for row, (codes, counts) in enumerate(zip(table["codes"], table["counts"], strict=True)):
        weights[row, [place[code] for code in counts]] = SHARED
        for code, sure in codes.items():
            labels[row, place[code]] = sure
    weights[table["corpus"].eq("excerpts")] *= INVENTED
    dealt = dict(zip(corpus.turns["group"], folds(corpus.turns["group"].to_numpy(), SEED), strict=True))
    fold = [dealt.get(group, zlib.crc32(group.encode()) % FOLDS) for group in table["group"]]
    kept = ["corpus", "session", "role", "text", "group", "row"]
    return Turns(table[kept].assign(fold=fold), names, labels, weights)


def _of_process(data: Path, theirs: pd.DataFrame) -> Iterator[dict[str, object]]:
    """Yield the turns of `process_corpus`, with their places among those of `tagger_corpora`."""
    sessions = theirs["session"].str.replace(" ", "/", n=1)
    same = dict(zip(zip(sessions, theirs["place"], strict=True), theirs["row"], strict=True))
    groups = dict(zip(theirs["row"], theirs["group"], strict=True))
    for place, one in _numbered(process_corpus.turns(data)):
        of_role = [
            name for name, role in zip(process_corpus.NAMES, process_corpus.ROLE_OF, strict=True) if role == one.role
        ]
        row = same.get((one.session, place), -1)
        name = str(one.session).partition("/")[2]
        group = groups.get(row, f"source {name}" if one.corpus == "mibot" else str(one.group))
        yield {
            "corpus": "excerpts" if one.corpus == "invented" else one.corpus,
            "session": one.session,
            "place": place,
            "role": one.role,
            "text": one.text,
            "group": group,
            "row": row,
            "codes": {f"process_{code}": sure for code, sure in one.codes.items() if code in of_role},
            "counts": tuple(f"process_{code}" for code in of_role) if one.read else (),
        }


def _numbered(table: pd.DataFrame) -> Iterator[tuple[int, object]]:
    return zip(table.groupby("session").cumcount(), table.itertuples(), strict=True)


def _epitome(data: Path) -> Iterator[dict[str, object]]:
    """Yield posts, and replies with what they express and how strongly."""
    files = {code: pd.read_csv(data / "epitome" / f"{file}.csv") for code, file in EMPATHY.items()}
    levels = {
        code: dict(zip(zip(rows["sp_id"], rows["rp_id"], strict=True), rows["level"], strict=True))
        for code, rows in files.items()
    }
    counts = tuple(f"epitome_{code}{kind}" for code in EMPATHY for kind in ("", "_strong"))
    for one in next(iter(files.values())).itertuples():
        about = {"corpus": "epitome", "session": f"epitome/{one.sp_id}-{one.rp_id}", "group": f"epitome {one.sp_id}"}
        yield _row(about, 0, "client", one.seeker_post)
        level = {code: float(of_pair[one.sp_id, one.rp_id]) for code, of_pair in levels.items()}
        codes = {f"epitome_{code}": float(much >= 1) for code, much in level.items()}
        codes |= {f"epitome_{code}_strong": float(much >= 2) for code, much in level.items()}
        yield _row(about, 1, "therapist", one.response_post, codes, counts)


def _oncoco(data: Path) -> Iterator[dict[str, object]]:
    """Yield messages with their category."""
    rows = pd.read_csv(data / "oncoco" / "messages.csv")
    names = ("oncoco_" + rows["type"] + "_" + rows["category"]).tolist()
    counts = {side: tuple(sorted({name for name in names if name.startswith(f"oncoco_{side}")})) for side in SIDES}
    for one, name in zip(rows.itertuples(), names, strict=True):
        about = {"corpus": "oncoco", "session": f"oncoco/{one.id}", "group": f"oncoco/{one.id}"}
        text = str(one.text).strip().removeprefix("Counselor:").removeprefix("Client:").strip()
        yield _row(about, 0, SIDES[one.type], text, {name: 1.0}, counts[one.type])


def _offmychest(data: Path) -> Iterator[dict[str, object]]:
    """Yield sentences with the disclosure in them."""
    counts = tuple(f"disclosure_{kind}" for kind in DISCLOSURE)
    for at, one in enumerate(pd.read_csv(data / "offmychest" / "disclosure.csv").to_dict("records")):
        text = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), html.unescape(str(one["full_text"])))
        about = {"corpus": "offmychest", "session": f"offmychest/{at}", "group": f"offmychest {one['source_id']}"}
        yield _row(
            about,
            0,
            "client",
            text,
            {f"disclosure_{kind}": float(one[name]) for kind, name in DISCLOSURE.items()},
            counts,
        )


def _row(
    about: Mapping[str, str],
    place: int,
    role: str,
    text: object,
    codes: Known | None = None,
    counts: tuple[str, ...] = (),
) -> dict[str, object]:
    return {**about, "place": place, "role": role, "text": str(text), "row": -1, "codes": codes or {}, "counts": counts}


def _merged(table: pd.DataFrame) -> pd.DataFrame:
    """Put what is known of a turn from several sides together, sessions in the order in which they come first."""
    order = {name: at for at, name in enumerate(table["session"].unique())}
    table = table.assign(order=table["session"].map(order)).sort_values(["order", "place"], kind="stable")
    found: dict[tuple[str, int], dict[str, object]] = {}
    for one in table.to_dict("records"):
        there = found.setdefault((one["session"], one["place"]), one)
        if there is not one:
            there["codes"] = {**there["codes"], **one["codes"]}
            there["counts"] = (*there["counts"], *one["counts"])
            there["group"] = one["group"]
    return pd.DataFrame(found.values())
