"""``tanalyze sample``: its files, what they hold and do not hold, and what it refuses; from sample to rates."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import tanalyze

import therapy_analytics as ta
from therapy_analytics.coding import between_coders
from therapy_analytics.core.errors import BadDataFileError, BadOptionError
from therapy_analytics.stats.sampling import SampleOptions, renewed_promise, sample

RUN = ("--tagger", "fast", "--no-plots", "--no-report")


@pytest.fixture(scope="module")
def results(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("sampling") / "r"
    done = tanalyze("run", str(samples), "--out", str(out), *RUN)
    assert done.status == 0, done.err
    return out


@pytest.fixture(scope="module")
def made(results: Path, samples: Path) -> Path:
    out = results.parent / "sample"
    options = ("--codes", "mi,bolt", "--turns", "120", "--by", "source", "--cluster", "session")
    done = tanalyze("sample", str(results), "--transcripts", str(samples), *options, "--out", str(out))
    assert done.status == 0, done.err
    assert "120 of 728 turns were drawn" in done.out
    assert "mi_reflection, human" in done.out
    assert "turns.json holds the words" in " ".join(done.out.split())
    return out


def test_the_sample_and_its_design_hold_no_words(made: Path, results: Path) -> None:
    assert {path.name for path in made.iterdir()} == {"sample.csv", "design.json", "turns.json", ".made_from.json"}
    assert all(path.stat().st_mode & 0o077 == 0 for path in (made, *made.iterdir()))
    table = pd.read_csv(made / "sample.csv")
    assert list(table) == ["session_id", "turn", "role", "inclusion", "why", "counselor", "client"]
    assert len(table) == 120
    assert not table.duplicated(["session_id", "turn"]).any()
    assert table["inclusion"].between(0, 1, inclusive="right").all()
    assert set(table["why"]) == {"random", "unsure"}
    plan = json.loads((made / "design.json").read_text(encoding="utf-8"))
    assert (plan["format"], plan["version"], plan["books"]) == ("therapy-analytics sample", 1, ["mi", "bolt"])
    assert (plan["n_turns"], plan["by"], plan["seed"], plan["floor"]) == (120, "source", 0, 0.3)
    assert plan["n_population"] == {"client": 364, "therapist": 364}
    assert {"code", "group", "half_width_coded", "half_width_random"} <= set(plan["expected"][0])
    held = (made / "sample.csv").read_text(encoding="utf-8") + (made / "design.json").read_text(encoding="utf-8")
    assert "refreshing" not in held


def test_words_are_the_drawn_turns_and_up_to_eight_before_each(made: Path) -> None:
    table = pd.read_csv(made / "sample.csv", dtype={"session_id": str})
    sessions = json.loads((made / "turns.json").read_text(encoding="utf-8"))["sessions"]
    assert {one["session_id"] for one in sessions} == set(table["session_id"])
    for one in sessions:
        own = table.loc[table["session_id"] == one["session_id"], "turn"].tolist()
        shown = [turn["turn"] for turn in one["turns"]]
        wanted = {at for turn in own for at in range(turn - 8, turn + 1) if at >= 0}
        assert shown == sorted(wanted)
        assert all(set(turn) == {"turn", "role", "words"} for turn in one["turns"])


def test_sessions_are_coded_in_random_order(made: Path) -> None:
    order = [one["session_id"] for one in json.loads((made / "turns.json").read_text(encoding="utf-8"))["sessions"]]
    assert order != sorted(order)
    listed = pd.read_csv(made / "sample.csv", dtype=str)["session_id"].unique().tolist()
    assert sorted(order) == sorted(listed)
    assert order != listed


def test_the_same_seed_draws_the_same_turns(made: Path, results: Path, samples: Path) -> None:
    options = {"codes": ("mi", "bolt"), "turns": 120, "by": "source", "cluster": "session", "transcripts": samples}
    again = sample(results, options=SampleOptions(**options))
    written = pd.read_csv(made / "sample.csv", dtype={"session_id": str})
    pd.testing.assert_frame_equal(written, again.turns, check_dtype=False, rtol=1e-5)
    other = sample(results, options=SampleOptions(**options, seed=1))
    assert not other.turns[["session_id", "turn"]].equals(again.turns[["session_id", "turn"]])


def test_results_with_quotes_need_no_transcripts(samples: Path, tmp_path: Path) -> None:
    done = tanalyze("run", str(samples / "nair_tomas.csv"), "--out", str(tmp_path / "r"), "--quotes", *RUN)
    assert done.status == 0, done.err
    found = sample(tmp_path / "r", options=SampleOptions(codes=("mi_reflection",), turns=5))
    assert set(found.turns["role"]) == {"therapist"}
    assert found.spoken["sessions"][0]["turns"][0]["words"]
    assert "No interval for all sessions together: that needs 4 sessions, and it has 1." in str(found)
    assert found.write(tmp_path / "s").is_dir()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--turns", "900"], "900 were asked for, and the results have 728"),
        (["--turns", "0"], "Say 1 to 728"),
        (["--codes", "miti"], "'miti' is neither a codebook nor a code of these results. Codebooks: bolt, mi;"),
        (["--codes", ","], "no code is named"),
        (["--by", "coach"], "the sessions have no column coach"),
    ],
)
def test_what_cannot_be_drawn_is_a_sentence(
    results: Path, samples: Path, tmp_path: Path, options: list[str], sentence: str
) -> None:
    out = tmp_path / "s"
    done = tanalyze("sample", str(results), "--transcripts", str(samples), *options, "--out", str(out))
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert sentence in done.err
    assert not out.exists()


def test_words_must_be_those_of_the_results(results: Path, samples: Path, root: Path, tmp_path: Path) -> None:
    for given, sentence in (
        ([], "the results hold no words of the transcripts"),
        (["--transcripts", str(root / "sample_course" / "transcripts")], "none of the sessions in them"),
        (["--transcripts", str(samples / "nair_tomas.csv")], "sessions with drawn turns are not in them"),
    ):
        done = tanalyze("sample", str(results), *given, "--turns", "60", "--out", str(tmp_path / "s"))
        assert done.status == 2
        assert sentence in done.err


def test_a_sample_is_replaced_but_not_what_coders_made_of_it(results: Path, samples: Path, tmp_path: Path) -> None:
    command = ("sample", str(results), "--transcripts", str(samples), "--turns", "20", "--out", str(tmp_path / "s"))
    assert tanalyze(*command).status == 0
    again = tanalyze(*command, "--seed", "3")
    assert again.status == 0
    assert "Replaced in" in again.err
    (tmp_path / "s" / "code_Ann.html").write_text("x", encoding="utf-8")
    refused = tanalyze(*command, "--replace")
    assert refused.status == 2
    assert "code_Ann.html" in refused.err


@pytest.fixture(scope="module")
def codes(made: Path, results: Path) -> Path:
    """Let a coder agree with the machine, but for reflections, of which she sees none."""
    table = pd.read_csv(made / "sample.csv", dtype={"session_id": str})
    turns = ta.load(results).turns
    books = [name for name in turns if name.startswith(("mi_", "bolt_"))]
    both = table.merge(turns[["session_id", "turn", *books]].astype({"session_id": str}), on=["session_id", "turn"])
    long = both.melt(["session_id", "turn", "inclusion"], books, var_name="code").dropna(subset="value")
    long["value"] = np.where(long["code"].eq("mi_reflection"), 0, long["value"].astype(int))
    path = results.parent / "codes_Ann.csv"
    long.assign(coder="Ann", unsure=0, note="a note").to_csv(path, index=False)
    return path


def test_rates_and_their_differences_are_weighted_by_the_design(results: Path, codes: Path, tmp_path: Path) -> None:
    out = tmp_path / "c"
    options = ("--by", "source", "--cluster", "session", "--gold", str(codes), "--no-plots", "--out", str(out))
    done = tanalyze("compare", str(results), *options)
    assert done.status == 0, done.err
    said = " ".join(done.out.split())
    assert "each coded turn was drawn with a known probability" in said
    assert "looks most where it errs" not in said
    rates = pd.read_csv(out / "gold.csv").set_index(["code", "source"])
    assert rates.loc["mi_reflection", "rate"].tolist() == [0, 0]
    assert rates.loc["mi_question", "rate"].between(0.1, 0.95).all()
    whole = pd.read_csv(out / "gold_all.csv").set_index("code")
    assert whole.loc["mi_question", "n_gold_turns"] == rates.loc["mi_question", "n_gold_turns"].sum()
    assert len(pd.read_csv(out / "gold_differences.csv")) == len(whole)


def test_rates_of_all_sessions_need_no_groups(results: Path, codes: Path, tmp_path: Path) -> None:
    options = ("--by", "all", "--cluster", "session", "--gold", str(codes), "--no-plots", "--out", str(tmp_path / "c"))
    done = tanalyze("compare", str(results), *options)
    assert done.status == 0, done.err
    assert "mi_question, all sessions:" in done.out
    assert not (tmp_path / "c" / "gold_all.csv").exists()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda table: table.assign(inclusion=1.5), "say no inclusion between 0 and 1"),
        (lambda table: table.assign(inclusion=table["inclusion"].where(table.index > 3)), "4 rows say no inclusion"),
        (lambda table: pd.concat([table, table.assign(inclusion=0.9, coder="Ben")]), "with several inclusions"),
    ],
)
def test_inclusions_that_cannot_be_are_refused(
    results: Path, codes: Path, tmp_path: Path, change: object, sentence: str
) -> None:
    path = tmp_path / "codes.csv"
    assert callable(change)
    change(pd.read_csv(codes)).to_csv(path, index=False)
    done = tanalyze("compare", str(results), "--by", "source", "--gold", str(path), "--out", str(tmp_path / "c"))
    assert done.status == 2
    assert sentence in done.err


def test_outcomes_take_the_sample(results: Path, codes: Path) -> None:
    ids = ta.load(results).sessions["session_id"]
    scores = pd.DataFrame({"session_id": ids, "PHQ-9": np.arange(len(ids)) % 7 + 5})
    options = ta.OutcomeOptions(gold=pd.read_csv(codes), measures=("therapist_question_rate",))
    found = ta.outcomes(results, scores, options=options)
    assert found.corrected["n_gold"].unique().tolist() == [len(ids)]
    assert found.corrected["gold_slope"].notna().any()
    assert "drawn with a known probability" in found.words


def test_agreement_of_coders_clusters_by_the_counselors_that_the_sample_names(results: Path, samples: Path) -> None:
    out = results.parent / "named"
    options = ("--turns", "200", "--by", "counselor", "--cluster", "session")
    done = tanalyze("sample", str(results), "--transcripts", str(samples), *options, "--out", str(out))
    assert done.status == 0, done.err
    table = pd.read_csv(out / "sample.csv", dtype=str, keep_default_na=False)
    about = pd.read_csv(results / "sessions.csv", dtype=str, keep_default_na=False).set_index("session_id")
    assert table["counselor"].tolist() == about.loc[table["session_id"], "counselor"].tolist()
    asked = table[table["role"] == "therapist"].assign(code="mi_question", value="1")
    paths = []
    for coder in ("Ann", "Ben"):
        paths.append(out.parent / f"{coder}.csv")
        asked.assign(coder=coder)[["session_id", "turn", "code", "value", "coder"]].to_csv(paths[-1], index=False)
    found, _ = between_coders(*paths, sample=out)
    named = asked["counselor"].replace("", pd.NA)
    assert named.nunique() > 1
    assert f"{named.nunique() + asked.loc[named.isna(), 'session_id'].nunique()} counselors" in found.text


def test_coders_are_told_what_a_session_is_about(results: Path, samples: Path) -> None:
    out = results.parent / "about"
    options = ("--turns", "30", "--about", "problem", "--about", "session_number")
    done = tanalyze("sample", str(results), "--transcripts", str(samples), *options, "--out", str(out))
    assert done.status == 0, done.err
    told = {one["session_id"]: one["about"] for one in json.loads((out / "turns.json").read_text("utf-8"))["sessions"]}
    assert told["boyle_lucia"] == "problem: panic; session number: 1"
    done = tanalyze("sample", str(results), "--transcripts", str(samples), "--about", "mood", "--out", str(out))
    assert done.status != 0
    assert "--about: no column about the sessions is called 'mood'. Known: role_method, date" in done.text
    for name in ("session_id", "client", "source"):
        with pytest.raises(BadOptionError, match="coders would know whose session it is, or its group"):
            sample(results, options=SampleOptions(transcripts=samples, turns=30, about=("problem", name)))
    twice = sample(results, options=SampleOptions(transcripts=samples, turns=30, about=("problem", "problem")))
    assert {one["about"].count("problem") for one in twice.spoken["sessions"]} == {1}


def test_the_promise_is_computed_anew_from_fifty_coded_turns(
    made: Path, results: Path, codes: Path, tmp_path: Path
) -> None:
    out = ("--no-plots", "--out", str(tmp_path / "a"))
    done = tanalyze("agree", str(results), str(codes), "--sample", str(made), *out)
    assert done.status == 0, done.err
    assert "120 of 120 turns of the sample are coded. By what people gave them" in " ".join(done.out.split())
    now = {
        line.rsplit(maxsplit=2)[0]: [float(one) for one in line.split()[-2:]]
        for line in done.out.split("\n")
        if line.startswith("mi_") and line.rsplit(maxsplit=2)[0].endswith((", human", ", llm"))
    }
    plan = json.loads((made / "design.json").read_text(encoding="utf-8"))["expected"]
    for row in plan:
        if row["code"] == "mi_question":
            assert now[f"mi_question, {row['group']}"][0] == pytest.approx(100 * row["half_width_coded"], abs=0.5)
    # Ann agrees with the machine, but for reflections: she sees none.
    assert all(two < 0.8 * one for name, (one, two) in now.items() if name.startswith("mi_reflection"))
    few = pd.read_csv(codes, dtype={"session_id": str})
    few = few[few["session_id"].isin(few["session_id"].unique()[:2])]
    few.to_csv(tmp_path / "few.csv", index=False)
    n = len(few.drop_duplicates(["session_id", "turn"]))
    told = renewed_promise(results, tmp_path / "few.csv", made)
    assert told == f"{n} of 120 turns of the sample are coded. From 50, its promise is computed anew."


def test_only_the_sample_of_these_results_has_a_promise(made: Path, results: Path, codes: Path, tmp_path: Path) -> None:
    with pytest.raises(BadOptionError, match="holds no sample"):
        renewed_promise(results, codes, tmp_path)
    other = tmp_path / "s"
    shutil.copytree(made, other)
    plan = json.loads((made / "design.json").read_text(encoding="utf-8"))
    (other / "design.json").write_text(json.dumps(plan | {"results": "0"}), encoding="utf-8")
    with pytest.raises(BadOptionError, match="it was drawn from other results"):
        renewed_promise(results, codes, other)
    (other / "design.json").write_text("[]", encoding="utf-8")
    with pytest.raises(BadDataFileError, match="no design that can be read"):
        renewed_promise(results, codes, other)
