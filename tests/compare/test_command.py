"""``tanalyze compare`` as a person types it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from commands import tanalyze


@pytest.fixture(scope="module")
def results(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("compare") / "r"
    done = tanalyze("run", str(samples), "--out", str(out), "--no-plots", "--no-report", "--tagger", "fast")
    assert done.status == 0, done.err
    return out


def test_counselors_are_compared_and_the_words_printed(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "c"
    done = tanalyze("compare", str(results), "--by", "counselor", "--out", str(out), "--measures", "process")
    assert done.status == 0, done.err
    said = " ".join(done.out.split())
    for words in ("What differs", "No difference was tested", "With fewer than four clients", "Ruth Lindqvist"):
        assert words in said
    assert "no number here rates" in said
    written = {path.name for path in out.iterdir()}
    assert {"comparison.csv", "groups.csv", "comparison.md", "comparison.json", "comparison_process.png"} <= written
    table = pd.read_csv(out / "comparison.csv")
    assert table["against"].str.startswith("all others (").all()
    assert set(table["tested"]) == {"means by client"}
    assert all(path.stat().st_mode & 0o077 == 0 for path in out.iterdir())


def test_a_wrong_column_is_one_sentence(results: Path, tmp_path: Path) -> None:
    done = tanalyze("compare", str(results), "--by", "coach", "--out", str(tmp_path / "c"))
    assert done.status == 2
    assert "the sessions have no column coach" in done.err
    assert "counselor" in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "c").exists()


def test_a_folder_of_other_things_is_kept(results: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.docx").write_text("x")
    done = tanalyze("compare", str(results), "--out", str(tmp_path), "--measures", "therapist_input_rate", "--no-plots")
    assert done.status == 2
    assert "thesis.docx" in done.err


def test_no_results_no_comparison(tmp_path: Path) -> None:
    done = tanalyze("compare", str(tmp_path))
    assert done.status == 2
    assert "holds no sessions.csv" in done.err
