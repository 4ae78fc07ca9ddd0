"""The examples of docs/extending.md, each as one new file of a copy of the package: they reach table, page and run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import therapy_analytics as ta
from therapy_analytics.behaviours import builtin_codebooks

PACKAGE = Path(ta.__file__).parent
EXAMPLES = Path(__file__).parents[2] / "docs" / "extending.md"
TALK = "RECORDER 1\n" + "".join(
    f"Therapist|How was it the {i}th time, and what did you do?\nClient|It was long, and I could not sleep at all.\n"
    for i in range(12)
)
HOMES = {
    "A measure": "measures/process/client_longest_turn.py",
    "A reader": "readers/recorder.py",
    "A plot": "plots/longest_client_turns.py",
}


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
    (home / PACKAGE.name / "behaviours/codebooks/our_clinic.toml").write_text(book, encoding="utf-8")
    (home / "talks").mkdir()
    for name in "abc":
        (home / "talks" / f"{name}.rec").write_text(TALK, encoding="utf-8")
    return home


def tanalyze(home: Path, *words: str) -> str:
    """Run the command of the copy."""
    command = [sys.executable, "-W", "error", "-c", "from therapy_analytics.cli import main; main()", *words]
    done = subprocess.run(
        command, cwd=home, env={**os.environ, "PYTHONPATH": str(home)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def results(extended: Path) -> Path:
    tanalyze(extended, "run", "talks", "--out", "results", "--tagger", "fast")
    return extended / "results"


def test_a_reader_is_one_file(extended: Path, results: Path) -> None:
    assert "recorder" in tanalyze(extended, "inspect", "talks/a.rec")
    assert pd.read_csv(results / "sessions.csv")["n_turns"].tolist() == [24, 24, 24]


def test_a_measure_is_one_file(results: Path) -> None:
    name = "client_longest_turn_share"
    assert pd.read_csv(results / "sessions.csv")[name].tolist() == pytest.approx([1 / 12] * 3, rel=1e-5)
    measures = pd.read_csv(results / "measures.csv").query("measure == @name")
    assert measures["value"].tolist() == pytest.approx([1 / 12] * 3, rel=1e-5)
    codebook = pd.read_csv(results / "codebook.csv").query("column == @name")
    assert set(codebook["table"]) == {"sessions", "measured"}
    page = (results / "report.html").read_text(encoding="utf-8")
    assert name in page
    assert "Longest turn (share of the client" in page


def test_a_measure_of_ones_own_is_compared(extended: Path, results: Path) -> None:
    tanalyze(
        extended, "compare", str(results), "--by", "source_file", "--measures", "client_longest_turn_share",
        "--out", "compared",
    )  # fmt: skip
    assert "client_longest_turn_share" in (extended / "compared" / "groups.csv").read_text(encoding="utf-8")


def test_a_plot_is_one_file(results: Path) -> None:
    assert (results / "longest_turns.png").stat().st_size > 1_000


def test_a_codebook_is_one_file(extended: Path) -> None:
    assert "our_clinic_joining" in tanalyze(extended, "codebook", "our_clinic")


WITHOUT_RATE = {
    "misc": "asked for by name, since its codes overlap those of mi; its summary counts are those of compare",
    "miti": "asked for by name, since its codes overlap those of mi; its summary counts are those of compare",
}
"""Codebooks whose codes get no rate of their own, and why."""


def test_every_code_of_a_shipped_codebook_has_a_rate(samples: Path) -> None:
    """A code that is added to a shipped codebook gets rows in the parts of each session, or a reason stands above."""
    analysis = ta.analyze(ta.read(samples)[:1], tagger=ta.TaggerOptions(all_codes=True))
    rated = set(analysis.profile["code"].astype(str))
    codes = {code.column: book.id for book in builtin_codebooks() for code in book.codes}
    missing = [code for code in analysis.probabilities if codes.get(code, "misc") not in WITHOUT_RATE]
    assert [code for code in missing if code in codes and code not in rated] == []
    assert set(codes.values()) - {codes[code] for code in rated} <= set(WITHOUT_RATE)
