"""Figures are drawn last: one that fails costs no table, whatever the reason, and is a line in problems.csv."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest
from commands import Done, tanalyze

import therapy_analytics as ta
from therapy_analytics.plots import PLOTS

SAID = "I never told my sister about the lake"
Break = Callable[[str], dict[str, bool]]


@pytest.fixture
def broken() -> Iterator[Break]:
    """Return a function that registers a plot of the same name that fails, until its answer says otherwise."""
    before = {}

    def replace(name: str) -> dict[str, bool]:
        before[name] = usual = PLOTS[name]
        state = {"fails": True}

        @functools.wraps(usual)
        def draw(table, /, *, ax=None):
            if state["fails"]:
                raise RuntimeError(SAID)
            return usual(table, ax=ax)

        PLOTS.add(name, draw, module=usual.__module__)
        return state

    yield replace
    for name, usual in before.items():
        PLOTS.add(name, usual, module=usual.__module__)


@pytest.fixture(scope="module")
def results(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("results") / "results"
    done = tanalyze("run", str(samples), "--out", str(out), "--tagger", "fast", "--no-plots", "--no-report")
    assert done.status == 0, done.err
    return out


def tables(folder: Path) -> dict[str, bytes]:
    found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.csv")}
    found.pop("problems.csv", None)
    return found


def assert_said(done: Done, folder: Path, *figures: str) -> None:
    assert done.status == 0, done.err
    problems = pd.read_csv(folder / "problems.csv")
    assert problems["file"].tolist() == list(figures)
    assert set(problems["kind"]) == {"not drawn"}
    assert problems["problem"].str.startswith("the figure could not be drawn (RuntimeError in test_figures").all()
    n = "1 figure" if len(figures) == 1 else f"{len(figures)} figures"
    assert f"{n} could not be drawn" in done.text
    assert SAID not in f"{done.text} {(folder / 'problems.csv').read_text()}"
    assert not any((folder / name).exists() for name in figures)


def test_a_run_has_all_tables_and_draws_the_figure_when_it_is_run_again(
    samples: Path, tmp_path: Path, broken: Break
) -> None:
    session, whole = broken("session"), broken("thirds")
    out, path = tmp_path / "out", samples / "aria_ben.json"
    words = [
        "run",
        str(path),
        "--out",
        str(out),
        "--tagger",
        "fast",
        "--no-report",
        "--processes",
        "1",
        "--plots",
        "all",
    ]
    first = tanalyze(*words)
    assert_said(first, out, "sessions/aria_ben/session.png", "thirds.png")
    assert (out / "sessions" / "aria_ben" / "profile.png").is_file()
    assert any(path.name != "thirds.png" for path in out.glob("*.png"))
    problems = (out / "problems.csv").read_bytes()
    assert_said(tanalyze(*words), out, "sessions/aria_ben/session.png", "thirds.png")
    assert (out / "problems.csv").read_bytes() == problems
    plain = tmp_path / "plain"
    tanalyze("run", str(path), "--out", str(plain), "--tagger", "fast", "--no-plots", "--no-report")
    assert tables(out) == tables(plain)
    session["fails"] = whole["fails"] = False
    again = tanalyze(*words)
    assert again.status == 0
    assert "could not be drawn" not in again.text
    assert (out / "sessions" / "aria_ben" / "session.png").is_file()
    assert (out / "thirds.png").is_file()
    assert pd.read_csv(out / "problems.csv").empty


def test_a_comparison_has_all_tables(results: Path, tmp_path: Path, broken: Break) -> None:
    words = ["compare", str(results), "--by", "source", "--measures", "therapist_question_rate"]
    tanalyze(*words, "--out", str(tmp_path / "plain"), "--no-plots")
    state = broken("comparison")
    done = tanalyze(*words, "--out", str(tmp_path / "out"))
    figures = pd.read_csv(tmp_path / "out" / "problems.csv")["file"].tolist()
    assert_said(done, tmp_path / "out", *figures)
    assert tables(tmp_path / "out") == tables(tmp_path / "plain") != {}
    state["fails"] = False
    again = tanalyze(*words, "--out", str(tmp_path / "out"))
    assert again.status == 0
    assert not (tmp_path / "out" / "problems.csv").exists()
    assert all((tmp_path / "out" / name).is_file() for name in figures)


def test_outcomes_have_all_tables_and_the_page(results: Path, tmp_path: Path, broken: Break) -> None:
    scores = pd.read_csv(results / "sessions.csv")[["session_id"]]
    scores.assign(ORS=range(len(scores))).to_csv(tmp_path / "scores.csv", index=False)
    words = ["outcomes", str(results), "--outcomes", str(tmp_path / "scores.csv")]
    tanalyze(*words, "--out", str(tmp_path / "plain"), "--no-plots")
    broken("client_course")
    done = tanalyze(*words, "--out", str(tmp_path / "out"))
    clients = pd.read_csv(tmp_path / "out" / "course.csv")["client"].unique()
    figures = pd.read_csv(tmp_path / "out" / "problems.csv")["file"]
    assert len(figures) == len(clients) > 3
    assert_said(done, tmp_path / "out", *figures)
    assert tables(tmp_path / "out") == tables(tmp_path / "plain") != {}
    page = (tmp_path / "out" / "course.html").read_text(encoding="utf-8")
    assert page.count("The figure could not be drawn") == len(clients)
    assert "<img" not in page


def test_an_agreement_has_all_tables(results: Path, tmp_path: Path, broken: Break) -> None:
    turns = ta.load(results).turns
    codes = turns[turns["role"] == "therapist"][["session_id", "turn"]].assign(question=1)
    codes.to_csv(tmp_path / "codes.csv", index=False)
    words = ["agree", str(results), str(tmp_path / "codes.csv")]
    tanalyze(*words, "--out", str(tmp_path / "plain"), "--no-plots")
    broken("confusion_matrix")
    done = tanalyze(*words, "--out", str(tmp_path / "out"))
    assert_said(done, tmp_path / "out", "confusion.png")
    assert tables(tmp_path / "out") == tables(tmp_path / "plain") != {}
    assert (tmp_path / "out" / "calibration.png").is_file()
