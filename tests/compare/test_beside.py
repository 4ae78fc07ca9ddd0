"""What stands beside a comparison: the tagger's error, summary counts, and codes by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import therapy_analytics as ta
from therapy_analytics.compare import CompareOptions
from therapy_analytics.errors import BadOptionError
from therapy_analytics.run import Writing

QUICK = CompareOptions(permutations=1000)
CODE = "mi_question"


@pytest.fixture(scope="module")
def results(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("beside") / "results"
    settings = ta.Settings(tagger=ta.TaggerOptions(kind="fast"))
    return ta.run([samples], out, settings=settings, writing=Writing(figures=(), report=False)).out


@pytest.fixture(scope="module")
def by_hand(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return codes of five sessions of each source: a question wherever the machine saw one."""
    sessions = pd.read_csv(results / "sessions.csv")
    chosen = sessions.groupby("source").head(5)["session_id"]
    turns = pd.concat([pd.read_csv(results / "sessions" / name / "turns.csv") for name in chosen])
    coded = turns[turns["role"] == "therapist"][["session_id", "turn", CODE]]
    path = tmp_path_factory.mktemp("gold") / "codes.csv"
    coded.to_csv(path, index=False)
    return path


def test_errors_and_counts_stand_beside_a_comparison(results: Path, tmp_path: Path) -> None:
    found = ta.compare(results, by="source", measures="core", options=QUICK)
    assert [one.name for one in found.more] == ["corrected", "summary_counts"]
    for group in ("human", "llm"):
        assert f"**{group}**: Reflections to questions" in found.words
    found.write(tmp_path / "c", plots=False)
    assert {"corrected.csv", "summary_counts.csv"} <= {path.name for path in (tmp_path / "c").iterdir()}


def test_with_codes_by_hand_the_rates_stand_on_them(results: Path, by_hand: Path) -> None:
    options = replace(QUICK, cluster="session", gold=by_hand)
    found = ta.compare(results, by="source", measures="core", options=options)
    rates = next(one.table for one in found.more if one.name == "gold").query("code == @CODE").set_index("source")
    gold = pd.read_csv(by_hand)
    about = pd.read_csv(results / "sessions.csv").set_index("session_id")["source"]
    shares = gold.groupby("session_id")[CODE].mean()
    for source, row in rates.iterrows():
        assert row["n_gold_sessions"] == 5
        assert row["gold_rate"] == pytest.approx(shares[about[shares.index] == source].mean())
        assert row["lo"] < row["rate"] < row["hi"]
    assert "With the turns that people coded" in found.words
    differences = next(one.table for one in found.more if one.name == "gold_differences")
    assert len(differences.query("code == @CODE")) == 1


def test_codes_by_hand_go_with_one_folder(results: Path, by_hand: Path) -> None:
    sessions = ta.compare(results, by="source", options=QUICK)
    assert sessions.more
    table = pd.read_csv(results / "sessions.csv")
    with pytest.raises(BadOptionError, match="with one folder"):
        ta.compare(table, by="source", options=replace(QUICK, gold=by_hand))
