"""Re-calibration: it pays for a tagger that is off, does not for one that is right, and minds how turns were drawn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import therapy_analytics as ta
from therapy_analytics.cli import app
from therapy_analytics.codes import TaggerOptions, load_coder, load_tagger
from therapy_analytics.codes.own import CalibratedTagger, log_odds, on_line
from therapy_analytics.core.errors import BadDataFileError, BadOptionError
from therapy_analytics.core.session import Session
from therapy_analytics.stats.training import Recalibration, TrainOptions, recalibrate, train
from therapy_analytics.stats.training.recalibration import TurnsOfCode, fitted, result
from therapy_analytics.text import annotate
from therapy_analytics.text.lexicons import Matcher

FAST = TrainOptions(beside="fast")


def simulated(seed: int, level: float, slope: float, *, n: int = 100, drawn: bool = False) -> TurnsOfCode:
    """Return turns of 20 sessions, which differ; with `drawn` those where the tagger is unsure are favoured."""
    rng = np.random.default_rng(seed)
    whole = 8 * n if drawn else n
    group = np.repeat(np.arange(20), whole // 20)
    scores = rng.normal(-1, 1.5, whole)
    p = 1 / (1 + np.exp(-scores))
    truth = (rng.random(whole) < on_line(p, level, slope)).astype(np.float64)
    if not drawn:
        return TurnsOfCode(truth, p, np.ones(whole), group)
    favoured = 0.3 + 0.7 * 4 * p * (1 - p)
    inclusion = np.clip(favoured * n / favoured.sum(), 0, 1)
    kept = rng.random(whole) < inclusion
    return TurnsOfCode(truth[kept], p[kept], inclusion[kept], group[kept])


@pytest.mark.parametrize("drawn", [False, True])
def test_it_pays_for_a_tagger_that_is_off_and_not_for_one_that_is_right(drawn: bool) -> None:
    def share(level: float, slope: float, n: int) -> float:
        found = [result(simulated(seed, level, slope, n=n, drawn=drawn), 0, "sessions") for seed in range(60)]
        return float(np.mean([one["pays"] for one in found]))

    assert share(0.0, 1.0, 100) <= 0.12
    assert share(-1.5, 1.0, 100) >= 0.8
    assert share(-1.0, 0.6, 300) >= 0.9


def test_what_is_not_needed_is_said() -> None:
    found = result(simulated(1, 0.0, 1.0), 0, "sessions")
    assert not found["pays"]
    assert found["why_not"] == "a gain so small could be random"
    few = simulated(1, 0.0, 1.0, n=40)
    assert result(few, 0, "sessions")["why_not"] == "too little data: 40 coded turns, 50 are needed"


def test_level_and_slope_are_found_and_shrunk() -> None:
    many, few = simulated(3, -1.0, 0.6, n=20_000), simulated(3, -1.0, 0.6, n=20)
    assert fitted(many.truth, many.p, many.weights) == pytest.approx((-1.0, 0.6), abs=0.06)
    level, slope = fitted(few.truth, few.p, few.weights)
    free = fitted(np.repeat(few.truth, 1000), np.repeat(few.p, 1000), np.ones(20_000))
    assert abs(level) < abs(free[0])
    assert abs(slope - 1) < abs(free[1] - 1)
    assert fitted(np.zeros(0), np.zeros(0), np.zeros(0)) == (0.0, 1.0)


def test_turns_drawn_unevenly_count_by_the_inverse_of_their_probability() -> None:
    """Two strata of which one was drawn ten times as often: without weights the rate would be .46."""
    truth = np.r_[np.ones(500), np.zeros(500), np.zeros(100)]
    turns = TurnsOfCode(truth, np.full(1100, 0.3), np.r_[np.full(1000, 1.0), np.full(100, 0.1)], np.arange(1100) % 20)
    found = result(turns, 0, "sessions")
    assert found["rate"] == pytest.approx(0.25)
    assert found["n_effective"] == pytest.approx(2000**2 / (1000 + 100 * 100))
    assert found["rate_after"] == pytest.approx(0.25, abs=0.01)


def test_certain_probabilities_do_not_break_it() -> None:
    p = np.r_[np.zeros(50), np.ones(50)]
    assert np.isfinite(fitted(p, p, np.ones(100))).all()
    assert on_line(np.array([np.nan, 0.5]), 1.0, 1.0)[1] == pytest.approx(0.731, abs=0.001)
    assert np.isnan(log_odds(np.array([np.nan]))).all()


def _codes(sessions: list[Session], level: float) -> pd.DataFrame:
    """Return codes as `tanalyze code` writes them, given with odds that differ from the fast tagger's by a level."""
    batch = annotate(sessions, Matcher([]))
    tagger = load_tagger(all_codes=True)
    p = tagger.predict(batch).probability[:, tagger.names.index("mi_question")]
    turns = [(one.id, turn.index, turn.role) for one in sessions for turn in one.turns]
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        [
            (session, turn, "mi_question", int(rng.random() < one), "Ann", 0.25, 0, "")
            for (session, turn, role), one in zip(turns, on_line(p, level, 1.0), strict=True)
            if role == "therapist"
        ],
        columns=["session_id", "turn", "code", "value", "coder", "inclusion", "unsure", "note"],
    )


@pytest.fixture(scope="module")
def shifted(sessions: list[Session], tmp_path_factory: pytest.TempPathFactory) -> Recalibration:
    out = tmp_path_factory.mktemp("models") / "shifted"
    return recalibrate(_codes(sessions, -2.0), sessions, out, options=FAST)


def test_from_codes_to_a_calibration(shifted: Recalibration) -> None:
    (row,) = shifted.scores.to_dict("records")
    assert row["code"] == "mi_question"
    assert row["n_turns"] == 96
    assert row["pays"]
    assert row["level"] < -1
    assert abs(row["rate_after"] - row["rate"]) < abs(row["rate_before"] - row["rate"])
    assert shifted.words[0].startswith("mi_question (96 turns, ")
    assert "re-calibrated, people" in shifted.words[0]
    assert shifted.out is not None
    assert {path.name for path in shifted.out.iterdir()} >= {"calibration.json", "scores.csv", "model_card.md"}


def test_a_run_uses_it(shifted: Recalibration, sessions: list[Session]) -> None:
    options = TaggerOptions(kind="fast", model=str(shifted.out))
    coder = load_coder(options)
    assert isinstance(coder, CalibratedTagger)
    batch = annotate(sessions[:2], Matcher([]))
    plain, found = load_tagger().predict(batch), coder.predict(batch)
    at = plain.names.index("mi_question")
    level, slope = coder.lines["mi_question"]
    np.testing.assert_allclose(found.probability[:, at], on_line(plain.probability[:, at], level, slope))
    others = [one for one, name in enumerate(plain.names) if not name.startswith(("mi_question", "bolt_question"))]
    np.testing.assert_array_equal(found.probability[:, others], plain.probability[:, others])
    kind = plain.names.index("mi_question_open")
    assert not (found.probability[:, kind] > found.probability[:, at]).any()
    analysis = ta.analyze(sessions[:2], tagger=options)
    assert analysis.tagger["recalibrated"] == {"mi_question": [level, slope]}


def test_nothing_is_written_where_it_does_not_pay(sessions: list[Session], tmp_path: Path) -> None:
    found = recalibrate(_codes(sessions, 0.0), sessions, tmp_path / "out", options=FAST)
    assert found.out is None
    assert not (tmp_path / "out").exists()
    assert "stays as it is" in found.words[0]
    assert found.words[-1] == "It pays for no code: go on with the tagger of the package. Nothing was written."


def test_a_calibration_is_for_one_tagger(shifted: Recalibration, tmp_path: Path) -> None:
    assert shifted.out is not None
    text = (shifted.out / "calibration.json").read_text()
    for name, content in (("other", text.replace('"version": "', '"version": "9')), ("broken", text[:-20])):
        (tmp_path / name).mkdir()
        (tmp_path / name / "calibration.json").write_text(content)
    with pytest.raises(BadOptionError, match="was made for the tagger"):
        load_coder(TaggerOptions(kind="fast", model=str(tmp_path / "other")))
    with pytest.raises(BadDataFileError, match="not the calibration of a tagger"):
        load_coder(TaggerOptions(kind="fast", model=str(tmp_path / "broken")))


def test_codes_that_the_package_does_not_have_are_refused(sessions: list[Session], coded: pd.DataFrame) -> None:
    with pytest.raises(BadOptionError, match="none of its codes is one that the package's tagger gives"):
        recalibrate(coded, sessions, None, options=FAST)


def test_it_cannot_begin_from_nothing(sessions: list[Session], coded: pd.DataFrame) -> None:
    with pytest.raises(BadOptionError, match="cannot begin from nothing"):
        recalibrate(coded, sessions, None, options=TrainOptions(warm_start=False))


def test_training_says_that_fewer_turns_are_enough_for_it(sessions: list[Session]) -> None:
    table = _codes(sessions, 0.0)
    found = train(table[table["turn"] < 4], sessions, None, options=FAST)
    assert any("--recalibrate needs fewer" in note for note in found.notes)


def test_the_command(samples: Path, root: Path, tmp_path: Path) -> None:
    codes = root / "notebooks" / "codes" / "therapist_codes.csv"
    arguments = [str(codes), str(samples), "--recalibrate", "--beside", "fast", "--out", str(tmp_path / "model")]
    done = CliRunner().invoke(app, ["train", *arguments])
    assert done.exit_code in {0, 1}, done.output
    assert "mi_question (" in " ".join(done.output.split())
    assert (tmp_path / "model").exists() == (done.exit_code == 0)
