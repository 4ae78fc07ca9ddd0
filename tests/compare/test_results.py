"""Results of a run compared: as a person types it, and with codes by hand."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from commands import tanalyze

import therapy_analytics as ta
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.run import Writing
from therapy_analytics.stats.compare import CompareOptions

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


@pytest.fixture(scope="module")
def drawn(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return codes of every second turn, as if each had been drawn with the probability 1/2."""
    turns = pd.concat([pd.read_csv(path) for path in sorted((results / "sessions").glob("*/turns.csv"))])
    coded = turns[turns["role"] == "therapist"].iloc[::2]
    path = tmp_path_factory.mktemp("drawn") / "codes.csv"
    coded[["session_id", "turn"]].assign(code=CODE, value=coded[CODE], inclusion=0.5).to_csv(path, index=False)
    return path


def _table(found: ta.Comparison, name: str) -> pd.DataFrame:
    return next(one.table for one in found.more if one.name == name)


def test_clients_of_the_same_name_are_told_apart_by_counselor(results: Path, drawn: Path, tmp_path: Path) -> None:
    named = tmp_path / "results"
    shutil.copytree(results, named)
    sessions = pd.read_csv(named / "sessions.csv").assign(client="1")
    sessions.to_csv(named / "sessions.csv", index=False)
    rows = [
        _table(ta.compare(named, by="all", options=replace(QUICK, cluster=one, gold=drawn)), "gold")
        for one in ("client", "counselor")
    ]
    assert rows[0]["df"].notna().all()
    pd.testing.assert_frame_equal(*(one.drop(columns="note") for one in rows))


def test_all_sessions_together_are_the_same_whatever_the_groups(results: Path, drawn: Path) -> None:
    by_counselor, by_all = (
        ta.compare(results, by=one, options=replace(QUICK, gold=drawn)) for one in ("counselor", "all")
    )
    pd.testing.assert_frame_equal(_table(by_counselor, "gold_all"), _table(by_all, "gold"))
    by_session = ta.compare(results, by="counselor", options=replace(QUICK, cluster="session", gold=drawn))
    assert _table(by_session, "gold_all")["df"].iloc[0] > _table(by_all, "gold")["df"].iloc[0]


def test_a_rate_without_an_interval_is_said_without_one(results: Path, drawn: Path) -> None:
    found = ta.compare(results, by="source", options=replace(QUICK, gold=drawn))
    assert _table(found, "gold")["lo"].isna().all()
    assert "(no interval); by hand alone" in found.words
    assert "nan" not in found.words


def test_codes_by_hand_go_with_one_folder(results: Path, by_hand: Path) -> None:
    assert not ta.compare(results, by="source", options=QUICK).more
    table = pd.read_csv(results / "sessions.csv")
    with pytest.raises(BadOptionError, match="with one folder"):
        ta.compare(table, by="source", options=replace(QUICK, gold=by_hand))


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
