"""Groups compared, as a person meets it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import therapy_analytics as ta
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.plots import PLOTS
from therapy_analytics.results import references
from therapy_analytics.stats.compare import CompareOptions, compare
from therapy_analytics.stats.compare.sessions import built_in_codebook, read_results

MEASURES = ("therapist_question_rate", "therapist_reflection_rate", "therapist_input_rate", "therapist_words_per_turn")
FEW = CompareOptions(permutations=1_000)
BOOK = built_in_codebook()


def sessions(n: int = 40, seed: int = 0, **about: object) -> pd.DataFrame:
    """Invent sessions of two counselors: Bo gives more advice, and talks longer."""
    rng = np.random.default_rng(seed)
    bo = np.arange(n) % 2 == 1
    frame = pd.DataFrame({"session_id": [f"s{i}" for i in range(n)], "counselor": np.where(bo, "Bo", "Ann")})
    frame["client"] = [f"{'b' if i % 2 else 'a'}{i // 4}" for i in range(n)]
    frame["n_turns"] = 50.0
    for name in MEASURES[:2]:
        frame[name] = rng.beta(6, 6, n)
    frame["therapist_input_rate"] = np.where(bo, rng.beta(8, 4, n), rng.beta(2, 8, n))
    frame["therapist_words_per_turn"] = rng.gamma(20, 1, n) + 8 * bo
    return frame.assign(**about)


def folder(path: Path, frame: pd.DataFrame, **tagger: str) -> Path:
    """Write a folder of results."""
    path.mkdir()
    frame.to_csv(path / "sessions.csv", index=False)
    BOOK[BOOK.index.isin(frame.columns)].reset_index().to_csv(path / "codebook.csv", index=False)
    recipe = {
        "therapy_analytics": "0.1.0",
        "options": {"seed": 0},
        "tagger": {"kind": "fast", "version": "1", **tagger},
    }
    (path / "run.json").write_text(json.dumps(recipe))
    return path


def row(found: pd.DataFrame, measure: str) -> pd.Series:
    return found[found["measure"] == measure].iloc[0]


def test_what_differs_is_found_and_said() -> None:
    found = compare(sessions(80), options=FEW)
    assert row(found.table, "therapist_input_rate")["finding"] == "differs"
    assert row(found.table, "therapist_question_rate")["finding"] in ("unclear", "alike")
    assert "**therapist input rate** is lower" in found.words
    one = row(found.table, "therapist_input_rate")
    assert (one["group"], one["against"], one["n_sessions"], one["n_turns"]) == ("Ann", "Bo", 40, 2000)
    assert one["n_clusters"] == 20
    assert one["mean"] - one["mean_against"] == pytest.approx(one["difference"])
    assert one["difference_lo"] < one["difference"] < one["difference_hi"] < 0


def test_tests_are_of_clients_not_of_sessions() -> None:
    """A session copied five times for its client adds nothing to p."""
    frame = sessions(24)
    copies = pd.concat(
        [frame.assign(session_id=frame["session_id"] + f"_{i}", client=frame["session_id"]) for i in "abcde"]
    )
    once = compare(frame, options=CompareOptions(permutations=1_000, cluster="session")).table
    often = compare(copies, options=FEW).table
    assert often["n_sessions"].iloc[0] == 60
    assert often["n_clusters"].iloc[0] == 12
    assert often["p"].to_numpy() == pytest.approx(once["p"].to_numpy(), nan_ok=True)
    assert often["hedges_g"].to_numpy() == pytest.approx(once["hedges_g"].to_numpy())
    assert often["mean_lo"].to_numpy() == pytest.approx(once["mean_lo"].to_numpy())


def test_the_same_again_to_the_byte(tmp_path: Path) -> None:
    frame = sessions()
    tables = [compare(frame, options=FEW) for _ in range(2)]
    for name, found in zip("ab", tables, strict=True):
        ta.write(found, tmp_path / name)
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert set(names) == {*tables[0].files(), "comparison_process.png", ".made_from.json"}
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    other = compare(frame, options=CompareOptions(permutations=1_000, seed=1)).table
    assert not np.array_equal(other["p"], tables[0].table["p"])


def test_the_folder_is_private_and_what_is_in_it_is_kept(tmp_path: Path) -> None:
    found = compare(sessions(), options=FEW)
    out = tmp_path / "c"
    ta.write(found, out, plots=False)
    assert out.stat().st_mode & 0o777 == 0o700
    ta.write(found, out, plots=False)
    (out / "mine.txt").write_text("x")
    with pytest.raises(BadOptionError, match=r"mine\.txt"):
        ta.write(found, out, plots=False)
    assert (out / "mine.txt").read_text() == "x"


def test_groups_in_pairs_or_against_all_others() -> None:
    three, four = (
        sessions(counselor=[f"g{i % n}" for i in range(40)], client=[f"c{i}" for i in range(40)]) for n in (3, 4)
    )
    assert set(compare(three, options=FEW).table["against"]) == {"g1", "g2"}
    others = set(compare(four, options=FEW).table["against"])
    assert others == {f"all others ({', '.join(f'g{i}' for i in range(4) if i != k)})" for k in range(4)}
    assert set(compare(four, against="g2", options=FEW).table["group"]) == {"g0", "g1", "g3"}
    assert len(compare(four, against="pairs", measures="therapist_input_rate", options=FEW).table) == 6
    with pytest.raises(BadOptionError, match="g0, g1"):
        compare(four, against="nobody", options=FEW)


def test_one_counselor_only() -> None:
    found = compare(sessions(counselor="Ann"), options=FEW)
    assert found.table.empty
    assert (found.groups["kind"] == "group").sum() == len(MEASURES)
    assert "one group only (Ann)" in found.words


def test_one_session_a_group() -> None:
    found = compare(sessions(5, counselor=list("abcde"), client=list("vwxyz")), options=FEW)
    assert set(found.table["finding"]) == {"too few"}
    assert found.table["p"].isna().all()
    assert "With fewer than four clients on a side nothing is claimed, only shown: a, b, c, d, e." in found.words


def test_a_constant_measure_and_one_that_is_nowhere_defined() -> None:
    found = compare(sessions(therapist_question_rate=0.5, therapist_reflection_rate=np.nan), options=FEW)
    assert row(found.table, "therapist_question_rate")["finding"] == "constant"
    assert row(found.table, "therapist_reflection_rate")["finding"] == "too few"
    assert "The same in every session" in found.words
    assert "Undefined in every session" in found.words


def test_a_missing_column_lists_those_there_are() -> None:
    with pytest.raises(BadOptionError, match="session_id, counselor, client"):
        compare(sessions(), by="counsellor", options=FEW)
    with pytest.raises(BadOptionError, match="is a measure"):
        compare(sessions(), by="therapist_input_rate", options=FEW)
    with pytest.raises(BadOptionError, match="therapist_input_rate"):
        compare(sessions(), measures="therapist_inputs_rate", options=FEW)
    with pytest.raises(BadOptionError, match="the column source is empty in all sessions"):
        compare(sessions(source=""), by="source", options=FEW)


def test_sessions_without_a_group_are_left_out_and_that_is_said() -> None:
    names = np.where(np.arange(40) < 3, "", np.where(np.arange(40) % 2 == 1, "Bo", "Ann"))
    found = compare(sessions(counselor=names), options=FEW)
    assert "3 sessions left out: column counselor is empty." in found.words


def test_thousands_of_groups() -> None:
    found = compare(sessions(2_000, counselor=[f"p{i}" for i in range(2_000)]), options=FEW)
    assert found.table.empty
    assert "2,000 values, each with one session" in found.words
    many = sessions(320, counselor=[f"p{i % 110}" if i < 240 else f"q{i}" for i in range(320)])
    found = compare(many, measures="therapist_input_rate", options=FEW)
    assert len(found.table) == 100
    assert "The 100 largest are compared" in found.words


def test_only_some_sessions_and_measures() -> None:
    frame = sessions(site=["x" if i < 30 else "y" for i in range(40)])
    options = CompareOptions(permutations=1_000, where=("site!=y",))
    found = compare(frame, measures="therapist_*_rate", options=options)
    assert found.table["n_sessions"].iloc[0] + found.table["n_sessions_against"].iloc[0] == 30
    assert list(found.table["measure"]) == [MEASURES[0], MEASURES[1], MEASURES[2]]
    with pytest.raises(BadOptionError, match="x, y"):
        compare(frame, options=CompareOptions(where=("site=z",)))


def test_what_is_independent_is_chosen() -> None:
    frame = sessions(quality=["high" if i % 2 else "low" for i in range(40)])
    assert compare(frame, options=FEW).recipe["clusters"] == "client"
    assert compare(frame, by="quality", options=FEW).recipe["clusters"] == "counselor"
    recorded = frame.assign(counselor="", client="", source_group=[f"r{i // 2}" for i in range(40)])
    assert compare(recorded, by="quality", options=FEW).recipe["clusters"] == "source_group"
    alone = frame.drop(columns=["counselor", "client"])
    assert compare(alone, by="quality", options=FEW).recipe["clusters"] == "session"


def test_folders_are_joined_and_clashes_explained(tmp_path: Path) -> None:
    one, two = sessions(20), sessions(20, seed=1, counselor="Cy")
    two.iloc[0] = one.iloc[0]
    paths = [folder(tmp_path / "one", one), folder(tmp_path / "two", two)]
    read = read_results(paths)
    assert len(read.sessions) == 39
    assert "one/s1" in set(read.sessions["session_id"])
    assert set(read.sessions["results"]) == {"one", "two"}
    assert any("number for number" in said for said in read.warnings)
    assert any("share their ids" in said for said in read.warnings)
    by_folder = compare(paths, by="results", options=FEW)
    assert {"one", "two"} <= set(by_folder.groups["group"])


def test_other_taggers_are_not_compared_unless_that_is_asked_for(tmp_path: Path) -> None:
    paths = [folder(tmp_path / "one", sessions()), folder(tmp_path / "two", sessions(seed=1), kind="accurate")]
    with pytest.raises(BadOptionError, match="accurate and fast"):
        compare(paths, options=FEW)
    found = compare(paths, options=CompareOptions(permutations=1_000, allow_mixed=True))
    assert "Not comparable" in found.words


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadOptionError, match=r"sessions\.csv"):
        compare(tmp_path)
    with pytest.raises(BadOptionError, match="too few"):
        compare(sessions(), options=CompareOptions(permutations=10))


def test_ids_that_look_like_numbers_stay_names(tmp_path: Path) -> None:
    frame = sessions(20, counselor=["007" if i % 2 else "NA" for i in range(20)])
    found = compare(folder(tmp_path / "r", frame), options=FEW)
    assert set(found.table["group"]) | set(found.table["against"]) == {"007", "NA"}


def test_copies_are_no_evidence() -> None:
    rng = np.random.default_rng(0)
    names = BOOK.index[(BOOK["unit"] == "proportion") & (BOOK["family"] == "process")][:30]
    frame = pd.DataFrame(rng.random((10, 30)), columns=names).assign(
        counselor=list("ab") * 5, session_id=list("0123456789")
    )
    twice = pd.concat([frame, frame.iloc[:1].assign(session_id="copy")], ignore_index=True)
    read = read_results(twice)
    assert len(read.sessions) == 10
    assert "1 session left out: number for number a copy of another." in read.warnings


@pytest.fixture
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {"tagger": tagger, "group": group, "measure": name, "n_sessions": 80, "mean": mean, "mean_lo": mean - 0.02}
        | {"mean_hi": mean + 0.02, "sd": 0.1, "q05": mean - 0.16, "q25": mean - 0.07, "median": mean}
        | {"q75": mean + 0.07, "q95": mean + 0.16}
        for tagger in ("accurate", "fast")
        for group, mean in (("human_high", 0.2), ("human_low", 0.6))
        for name in MEASURES[:3]
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "profiles.csv", index=False)
    monkeypatch.setattr(references, "PROFILES", tmp_path / "profiles.csv")


@pytest.mark.usefixtures("profiles")
def test_groups_beside_the_reference_profiles() -> None:
    found = compare(sessions(), against="reference", options=FEW)
    table = found.table.set_index(["group", "against", "measure"])
    one = table.loc[("Bo", "reference: human_high", "therapist_input_rate")]
    assert one["finding"] == "differs"
    assert (one["reference_q05"], one["reference_q95"]) == pytest.approx((0.04, 0.36))
    assert one["difference"] == pytest.approx(one["mean"] - 0.2)
    assert "Bo, reference: human high: **therapist input rate** is higher" in found.words
    assert set(found.groups["kind"]) == {"group", "reference"}


def test_without_profiles_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(references, "PROFILES", tmp_path / "none.csv")
    found = compare(sessions(), against="reference", options=FEW)
    assert found.table.empty
    assert "this installation has none" in found.words


def test_change_over_sessions_and_parts_within_clients() -> None:
    rng = np.random.default_rng(0)
    frame = sessions(120, client=[f"c{i // 6}" for i in range(120)])
    frame["date"] = pd.date_range("2025-01-01", periods=120).strftime("%Y-%m-%d")
    level = rng.normal(0, 3, 20)[np.arange(120) // 6]
    frame["therapist_words_per_turn"] += level + np.arange(120) * 0.2
    found = compare(frame, options=FEW)
    change = row(found.change, "therapist_words_per_turn")
    assert change["per"] == "month"
    assert change["lo"] < 0.2 * 30.4375 < change["hi"]
    assert change["errors"] == "robust to clients"
    parts = found.within.set_index("measure")["share_between"]
    assert parts["therapist_words_per_turn"] > 0.5 > parts["therapist_question_rate"]
    assert "Change over sessions" in found.words


def test_a_figure_without_groups_says_so() -> None:
    groups = compare(sessions(), options=FEW).groups
    ax = PLOTS["comparison"](groups.head(0))
    assert "no comparison" in ax.texts[0].get_text()


@pytest.mark.parametrize(("name", "by"), [("annomi", "mi_quality"), ("hlqc", "quality")])
def test_quality_is_found_from_the_machines_own_codes(corpora: Path, name: str, by: str) -> None:
    read = [session for reading in ta.read_files([corpora / name]) for session in reading.sessions]
    kept = [one for one in read if one.metadata["quality_label_disputed"] != "True"]
    few = []
    for quality in ("high", "low"):
        few += [one for one in kept if one.metadata[by] == quality and len(one.turns) < 60][:16]
    frame = ta.analyze(few, tagger=ta.TaggerOptions(kind="fast")).sessions
    measures = ["therapist_input_rate", "therapist_reflection_rate", "open_question_rate"]
    found = compare(frame, by=by, measures=measures, options=FEW).table.set_index("measure")
    assert found.at["therapist_input_rate", "finding"] == "differs"
    assert found.at["therapist_input_rate", "difference"] < 0 < found.at["therapist_reflection_rate", "difference"]
    assert found.at["open_question_rate", "finding"] != "differs"
