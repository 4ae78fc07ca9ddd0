"""The examples of docs/extending.md, each as one new file of a copy of the package: they reach table, page and run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import therapy_analytics as ta
from tests.talks import THINGS
from therapy_analytics.codes import builtin_codebooks, load_accurate

PACKAGE = Path(ta.__file__).parent
EXAMPLES = Path(__file__).parents[2] / "docs" / "extending.md"
HOMES = {
    "A measure": "measures/process/client_longest_turn.py",
    "A reader": "readers/recorder.py",
    "A plot": "plots/longest_client_turns.py",
}
N_TALKS, N_PAIRS = 8, 12
COMMANDS = {
    "inspect": ["inspect", "talks/talk_0.rec"],
    "codebook": ["codebook", "our_clinic"],
    "train": ["train", "codes.csv", "talks", "--codebook", "our_clinic", "--out", "model"],
    "run": ["run", "talks", "--out", "results", "--tagger", "fast", "--model", "model"],
    "compare": [
        *("compare", "results", "--by", "source_file", "--out", "compared"),
        *("--measures", "client_longest_turn_share,our_clinic_joining_rate"),
    ],
}
SCRIPT = """
import contextlib, io, json, pathlib, sys
from therapy_analytics.cli import main
for name, words in json.loads(sys.argv[1]).items():
    sys.argv[1:] = words
    with open(f"{name}.out", "w") as out, contextlib.redirect_stdout(out):
        try:
            main()
        except SystemExit as end:
            if end.code:
                raise
"""
"""One process for all commands: to start one takes as long as most of them."""


def a_talk(number: int) -> str:
    """Return a file of the recorder: client turns are of one length, and every third question sides with the client."""
    random = np.random.default_rng(number)
    lines = ["RECORDER 1"]
    for i in range(N_PAIRS):
        asks, said = (" ".join(random.choice(THINGS, n)) for n in (5, 8))
        joins = " Let us get the better of this worry together." if i % 3 == 0 else ""
        lines += [f"Therapist|How was it with {asks}?{joins}", f"Client|It was {said}."]
    return "\n".join(lines) + "\n"


def examples() -> dict[str, str]:
    """Return the first example of each section, by its heading."""
    sections = re.split(r"^## ", EXAMPLES.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    found = {}
    for section in sections:
        heading, _, rest = section.partition("\n")
        found[heading] = re.findall(r"^```python\n(.*?)^```", rest, flags=re.MULTILINE | re.DOTALL)[0]
    return found


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the package that has one file more of each kind."""
    home = tmp_path_factory.mktemp("extended")
    shutil.copytree(PACKAGE, home / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    beside = PACKAGE.parent / "lexicons"
    if beside.is_dir():  # a checkout keeps the word lists beside the package
        shutil.copytree(beside, home / "lexicons")
    texts = examples()
    for heading, path in HOMES.items():
        (home / PACKAGE.name / path).write_text(texts[heading], encoding="utf-8")
    (book,) = re.findall(r'write_text\("""\n(.*?)"""\)', texts["A codebook"], flags=re.DOTALL)
    (home / PACKAGE.name / "codes/codebooks/our_clinic.toml").write_text(book, encoding="utf-8")
    (home / "talks").mkdir()
    for number in range(N_TALKS):
        (home / "talks" / f"talk_{number}.rec").write_text(a_talk(number), encoding="utf-8")
    codes = [(f"talk_{number}", 2 * i, int(i % 3 == 0)) for number in range(N_TALKS) for i in range(N_PAIRS)]
    pd.DataFrame(codes, columns=["session_id", "turn", "joining"]).to_csv(home / "codes.csv", index=False)
    command = [sys.executable, "-W", "error", "-c", SCRIPT, json.dumps(COMMANDS)]
    environment = {**os.environ, "PYTHONPATH": str(home)}
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return home


@pytest.fixture(scope="module")
def results(extended: Path) -> Path:
    return extended / "results"


@pytest.fixture(scope="module")
def page(results: Path) -> dict[str, Any]:
    """What the page shows of all sessions."""
    text = (results / "report.html").read_text(encoding="utf-8")
    (block,) = re.findall(r'<script type="application/json" id="overview">(.*?)</script>', text)
    found: dict[str, Any] = json.loads(block)
    return found


def test_a_reader_is_one_file(extended: Path, results: Path, page: dict[str, Any]) -> None:
    assert "recorder" in (extended / "inspect.out").read_text(encoding="utf-8")
    sessions = pd.read_csv(results / "sessions.csv")
    assert sessions["n_turns"].tolist() == [2 * N_PAIRS] * N_TALKS
    assert [one["id"] for one in page["sessions"]] == sessions["session_id"].tolist()
    assert all((results / "sessions" / one / "session.png").is_file() for one in sessions["session_id"])


def test_a_measure_is_one_file(extended: Path, results: Path, page: dict[str, Any]) -> None:
    name, share = "client_longest_turn_share", pytest.approx([1 / N_PAIRS] * N_TALKS, rel=1e-4)
    assert pd.read_csv(results / "sessions.csv")[name].tolist() == share
    measures = pd.read_csv(results / "measures.csv").query("measure == @name")
    assert measures["value"].tolist() == share
    codebook = pd.read_csv(results / "codebook.csv").query("column == @name")
    assert set(codebook["table"]) == {"sessions", "measured"}
    at = [one["name"] for one in page["measures"]].index(name)
    shown = page["measures"][at]
    assert (shown["label"], shown["family"]) == ("Longest turn (share of the client's words)", "What the client does")
    assert [one["values"][at][0] for one in page["sessions"]] == pytest.approx([1 / N_PAIRS] * N_TALKS, abs=1e-4)
    assert name in (extended / "compared" / "groups.csv").read_text(encoding="utf-8")


def test_a_plot_is_one_file(results: Path) -> None:
    assert (results / "longest_turns.png").stat().st_size > 1_000


def test_a_codebook_is_one_file(extended: Path, results: Path, page: dict[str, Any]) -> None:
    """Once the tagger has learnt it, its codes have columns, rates with intervals, a place on the page and a lane."""
    assert "our_clinic_joining" in (extended / "codebook.out").read_text(encoding="utf-8")
    code, rate = "our_clinic_joining", "our_clinic_joining_rate"
    folder = results / "sessions" / "talk_0"
    turns = pd.read_csv(folder / "turns.csv")
    asked = turns[turns["role"] == "therapist"]
    assert asked[code].tolist() == [float(i % 3 == 0) for i in range(N_PAIRS)]
    assert turns.loc[turns["role"] == "client", code].isna().all()
    assert pd.read_csv(folder / "probabilities.csv")[code].between(0, 1).sum() == N_PAIRS
    measures = pd.read_csv(results / "measures.csv").query("measure == @rate")
    assert measures["value"].tolist() == pytest.approx([1 / 3] * N_TALKS, abs=1e-4)
    assert measures[["lo", "hi"]].notna().all(axis=None)
    assert rate in pd.read_csv(results / "codebook.csv")["column"].tolist()
    (shown,) = [one for one in page["codes"] if one["column"] == code]
    assert (shown["label"], shown["role"]) == ("Joining", "therapist")
    assert shown["lane"] in [one["key"] for one in page["lanes"]]
    assert rate in [one["name"] for one in page["measures"]]
    assert rate in (extended / "compared" / "groups.csv").read_text(encoding="utf-8")


NOT_GIVEN = {
    "mi_other": "a therapist turn without any of the others; no code of its own is learnt",
    "mi_neutral": "a client turn that is neither change nor sustain talk; no code of its own is learnt",
    **dict.fromkeys(
        (
            code.column
            for book in builtin_codebooks()
            for code in book.codes
            if book.id == "misc" and code.parent and code.column
        ),
        "kinds of the coarse codes of MISC, for human coders and outside coders: the tagger has no turns to learn from",
    ),
    **dict.fromkeys(
        (code.column for book in builtin_codebooks() for code in book.codes if book.id in ("process", "epitome")),
        "they need the encoder, which the fast tagger has not: see the next test",
    ),
}
"""Codes that the package's own tagger does not give, and why."""


def test_every_code_of_a_shipped_codebook_has_a_column_and_a_rate(samples: Path) -> None:
    """A code that is added to a shipped codebook is given and counted, or a reason stands above."""
    analysis = ta.analyze(ta.read(samples / "nair_yuki.txt"), tagger=ta.TaggerOptions(kind="fast", all_codes=True))
    books = {code.column: book for book in builtin_codebooks() for code in book.codes}
    given = {name for name in analysis.turns if name in books}
    assert sorted(set(books) - given - set(NOT_GIVEN)) == []
    assert sorted(given & set(NOT_GIVEN)) == []
    rated = set(analysis.profile["code"].astype(str))
    assert sorted(code for code in given - rated if not books[code].overlaps) == []
    assert {book.id for book in builtin_codebooks() if book.overlaps} == {"misc", "miti"}


def test_every_code_of_the_encoder_is_given_by_the_accurate_tagger() -> None:
    codes = {code.column for book in builtin_codebooks() for code in book.codes if book.id in ("process", "epitome")}
    assert codes <= set(load_accurate(all_codes=True).names)
    given = {name for name in load_accurate().names if name in codes}
    asked = {code.column for book in builtin_codebooks() for code in book.codes if code.status}
    assert given == codes - asked
