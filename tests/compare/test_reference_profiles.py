"""The reference profiles of the package: whole, in order, and what their page says."""

from __future__ import annotations

from math import nan
from pathlib import Path

import pandas as pd
import pytest
from talks import session

from benchmarks import reference_profile
from therapy_analytics.core.errors import UnknownNameError
from therapy_analytics.measures.base import all_columns
from therapy_analytics.measures.process.learnt_turns import NAMES as OF_TRAINING
from therapy_analytics.stats.compare import GROUPS, reference_profiles
from therapy_analytics.text import builtin_lexicons

IN_PROFILES = ("all",)
"""Measures on request of which the profiles hold references."""


@pytest.fixture(params=["accurate", "fast"])
def profiles(request: pytest.FixtureRequest) -> pd.DataFrame:
    return reference_profiles(request.param)


def test_every_group_has_every_measure_once(profiles: pd.DataFrame) -> None:
    assert set(profiles["group"]) == set(GROUPS)
    assert not profiles.duplicated(["group", "measure"]).any()
    assert profiles.groupby("group")["measure"].nunique().nunique() == 1


def test_every_value_of_sessions_has_a_reference(profiles: pd.DataFrame) -> None:
    """Counts have none, for they grow with the session; of slopes only those of both speakers' replies together.

    Values of synchrony have none, for they grow with the length of turns: their excess over surrogate pairs does.
    """
    columns = [pair for pair in all_columns(builtin_lexicons(), extras=IN_PROFILES) if pair[1].level == "session"]
    compared = [one for of, one in columns if one.statistic == ("excess" if of.family == "synchrony" else "value")]
    values = [one for one in compared if not one.name.startswith("n_")]
    one_sided = ("therapist", "client", "difference")
    slopes = {one.name for one in values if one.row[0].endswith("_slope") and one.direction in one_sided}
    wanted = {one.name for one in values} - slopes - {*OF_TRAINING}
    assert set(profiles["measure"]) == wanted, "rebuild the profiles: tools/build_reference.py"


def test_numbers_are_in_order_and_in_range(profiles: pd.DataFrame) -> None:
    known = profiles[profiles["n_sessions"] > 0]
    quantiles = known[["q05", "q25", "median", "q75", "q95"]].to_numpy()
    assert (quantiles[:, 1:] >= quantiles[:, :-1]).all()
    several = known[known["n_sessions"] > 1]
    slack = 1e-3 * several["mean"].abs() + 1e-9  # four digits are kept
    assert (several["mean_lo"] <= several["mean"] + slack).all()
    assert (several["mean_hi"] >= several["mean"] - slack).all()
    columns = {one.name: one for _, one in all_columns(builtin_lexicons(), extras=IN_PROFILES)}
    for row in known.itertuples():
        assert columns[row.measure].low - 1e-9 <= row.q05, row
        assert row.q95 <= columns[row.measure].high + 1e-9, row


def test_the_page_and_its_table_show_them(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = []
    for options in ([], ["--page"]):
        monkeypatch.setattr("sys.argv", ["reference_profile", *options])
        reference_profile.main()
        printed.append(capsys.readouterr().out)
    assert (root / "docs" / "reference_profile" / "core.csv").read_text(encoding="utf-8") == printed[0]
    assert printed[1] in (root / "docs" / "reference_profile.md").read_text(encoding="utf-8")


def test_profiles_are_made_of_unseen_codes_and_hold_danger_as_it_is_marked() -> None:
    """The table names a session after its corpus; names that fit none were passed over, and danger took no phrase."""
    build_reference = pytest.importorskip("build_reference", reason="only a checkout has tools/")
    talk = session("How was the week?", "I want to kill myself.", "Do you think of ending your life?", "I do not know.")
    rows = pd.DataFrame({"source": "mine", "session": f"mine {talk.id}", "accurate_process_risk_own": [nan, 0.25] * 2})
    group_of = {("mine", talk.id): "human_high"}
    found = build_reference.measured("mine", [talk], group_of, rows, "accurate").iloc[0]
    assert found["client_risk_own_rate"] == 0.5
    assert found["client_risk_own_rate_expected"] == 0.25
    assert found["danger_asked_rate"] in (0.0, 1.0)
    for wrong in (rows.assign(session="mine another"), rows.iloc[:3]):
        with pytest.raises(ValueError, match="unseen codes"):
            build_reference.measured("mine", [talk], group_of, wrong, "accurate")


def test_an_unknown_tagger_is_named() -> None:
    with pytest.raises(UnknownNameError, match="accurate"):
        reference_profiles("llm")  # type: ignore[arg-type]
