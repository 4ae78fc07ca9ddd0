"""The command: what a person types and what is printed."""

from __future__ import annotations

import pandas as pd
import pytest
from typer.testing import CliRunner

import therapy_analytics as ta
from therapy_analytics.cli import app


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Return the results of six sessions of twelve turns, with codes that people gave."""
    folder = tmp_path_factory.mktemp("agree")
    turns = pd.DataFrame({"session_id": [f"s{i // 12}" for i in range(72)], "speaker": ["therapist", "client"] * 36})
    turns["text"] = ["What would you like to change?", "I want to sleep more."] * 36
    turns.assign(mi_question=[1, ""] * 36).to_csv(folder / "talk.csv", index=False)
    settings, writing = ta.Settings(tagger=ta.TaggerOptions(kind="fast")), ta.Writing(figures=(), report=False)
    ta.run([folder / "talk.csv"], folder / "results", settings=settings, writing=writing)
    return folder / "results"


def invoke(*words):
    return CliRunner().invoke(app, ["agree", *map(str, words)])


def test_from_files_to_a_report(results, tmp_path):
    human = pd.DataFrame({"session_id": [f"s{i // 12}" for i in range(72)], "turn": list(range(12)) * 6})
    human = human.assign(nr=range(72), Frage=[1, 0, 0, 0] * 18)
    human.to_csv(tmp_path / "gold.csv", index=False)
    (tmp_path / "labels.csv").write_text("label,code\nFrage,mi_question\n", encoding="utf-8")
    out = tmp_path / "out"
    done = invoke(results, tmp_path / "gold.csv", "--map", tmp_path / "labels.csv", "--out", out)
    assert done.exit_code == 0, done.output
    assert "Of 72 rows of the human codes 72 were matched to a turn, by session and turn." in done.output
    assert "mi_question" in done.output
    assert "agreement.md (to cite)" in done.output
    assert {"codes.csv", "pairs.csv", "agreement.md", "confusion.png"} <= {path.name for path in out.iterdir()}
    assert pd.read_csv(out / "codes.csv").set_index("code").at["mi_question", "n_turns"] == 36


def test_the_codes_of_the_transcripts_need_no_file(results, tmp_path):
    done = invoke(results, "--out", tmp_path / "out", "--no-plots")
    assert done.exit_code == 0, done.output
    assert "columns gold_... of turns.csv" in done.output
    assert not list((tmp_path / "out").glob("*.png"))


def test_what_is_wrong_is_a_sentence(results, tmp_path):
    assert "holds no results" in invoke(tmp_path / "nothing").output
    assert "'perhaps' is not known" in invoke(results, "--blank", "perhaps").output
    assert "no table that can be read" in invoke(results, tmp_path / "absent.csv").output
    assert invoke(results, "--columns", "turn=Nr", tmp_path / "absent.csv").exit_code == 2
