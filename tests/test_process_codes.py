"""The codes of `tools/process_codes` are those of the codebook, on turns that were read, and of the right role."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from talks import arrays, session

from therapy_analytics.codes import builtin_codebooks, load_accurate

BOOK = next(book for book in builtin_codebooks() if book.id == "process")
ROLES = {code.id: code.role for code in BOOK.codes}
PARENTS = {code.id: code.parent for code in BOOK.codes if code.parent}


@pytest.fixture(scope="module")
def folder(root: Path) -> Path:
    found = root / "tools" / "process_codes"
    if not found.is_dir():
        pytest.skip("only a checkout has tools/")
    return found


def lines(path: Path) -> Iterator[dict[str, Any]]:
    yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


def turns_of(path: Path) -> set[tuple[str, int]]:
    """Return the turns that some segments hold."""
    return {(one["session"], turn) for one in lines(path) for turn in range(one["from"], one["to"] + 1)}


@pytest.mark.parametrize("name", ["read", "second"])
def test_codes_stand_on_turns_that_were_read(folder: Path, name: str) -> None:
    segments = "segments.jsonl" if name == "read" else "second_segments.jsonl"
    read = turns_of(folder / segments)
    coded = [(one["session"], one["turn"]) for one in lines(folder / f"{name}.jsonl")]
    assert len(coded) == len(set(coded))
    assert set(coded) <= read
    assert {code.removesuffix("?") for one in lines(folder / f"{name}.jsonl") for code in one["codes"]} <= set(ROLES)


def test_a_third_decided_where_two_readers_differed(folder: Path) -> None:
    first, second = (
        {
            (one["session"], one["turn"]): {code.removesuffix("?") for code in one["codes"]}
            for one in lines(folder / name)
        }
        for name in ("read.jsonl", "second.jsonl")
    )
    twice = {(name, turn) for name, turn in turns_of(folder / "second_segments.jsonl") if "/" in name}
    differed = {turn: first.get(turn, set()) ^ second.get(turn, set()) for turn in twice}
    settled = {(one["session"], one["turn"]): one["codes"] for one in lines(folder / "settled.jsonl")}
    assert {turn: set(codes) for turn, codes in settled.items()} == {
        turn: codes for turn, codes in differed.items() if codes
    }
    assert {verdict for codes in settled.values() for verdict in codes.values()} == {"yes", "no", "unsure"}


def test_the_reading_is_as_large_as_its_page_says(folder: Path) -> None:
    page = (folder / "README.md").read_text(encoding="utf-8")
    n_turns = sum(one["to"] - one["from"] + 1 for one in lines(folder / "segments.jsonl"))
    excerpts = list(lines(folder / "invented.jsonl"))
    sessions = {one["session"] for one in lines(folder / "segments.jsonl")}
    assert f"{n_turns:,} turns of {len(sessions):,} sessions" in page
    n_invented = sum(len(one["turns"]) for one in excerpts)
    assert f"{len(excerpts):,} invented excerpts of sessions, {n_invented:,} turns" in page


def test_each_code_stands_in_excerpts_with_its_role_and_its_parent(folder: Path) -> None:
    seen: set[str] = set()
    for excerpt in lines(folder / "invented.jsonl"):
        assert 2 <= len(excerpt["turns"]) <= 20
        for turn in excerpt["turns"]:
            codes = {code.removesuffix("?") for code in turn["codes"]}
            assert {ROLES[code] for code in codes} <= {turn["role"]}, excerpt["id"]
            assert {PARENTS[code] for code in codes & set(PARENTS)} <= codes, excerpt["id"]
            seen |= codes
    assert seen == set(ROLES)


# A code that its writer gave to no turn, or to one. A tagger that moved its scores by how common a code seemed in the
# session gave it to nearly all turns.
@pytest.mark.parametrize(
    ("excerpt", "code"),
    [
        ("w3-057", "corrects"),
        ("w3-092", "rupture_confrontation"),
        ("w3-108", "persists"),
        ("w11-034", "persists"),
        ("w13-022", "wrong_attribution"),
        ("w13-025", "risk_past"),
    ],
)
def test_no_code_floods_an_excerpt(folder: Path, excerpt: str, code: str) -> None:
    turns = next(one["turns"] for one in lines(folder / "invented.jsonl") if one["id"] == excerpt)
    assert sum(code in turn["codes"] for turn in turns) <= 1
    talk = session(*(turn["text"] for turn in turns), roles=tuple(turn["role"] for turn in turns))
    codes = load_accurate(all_codes=True).predict(arrays(talk))
    given = codes.by_name(codes.decision)[f"process_{code}"]
    assert given.sum() <= sum(turn["role"] == ROLES[code] for turn in turns) / 3


def test_rates_that_are_off_and_floods_are_counted() -> None:
    judged = pytest.importorskip("process_judged", reason="only a checkout has tools/")
    at = judged.NAMES.index("advice")
    table = pd.DataFrame({"corpus": "annomi", "session": np.repeat(["a", "b", "short"], [300, 10, 7])})
    truth, found, counts = (np.zeros((317, len(judged.NAMES)), dtype=bool) for _ in range(3))
    counts[:, at] = True
    truth[:250, at] = found[:250, at] = True  # frequent enough; right
    truth[300:303, at] = True
    found[300:309, at] = True  # 3 of 10 by the reading, 9 given
    rates = judged.session_rates(table, truth, found, counts)
    assert rates[["code", "session"]].to_numpy().tolist() == [["advice", "a"], ["advice", "b"]]
    assert rates[["read", "given"]].to_numpy().tolist() == [[250 / 300, 250 / 300], [0.3, 0.9]]
    assert judged.off_and_flooded(rates) == (1, 1)
