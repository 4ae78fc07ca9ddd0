"""The run: what it writes, that it repeats, that nothing said gets out, that bad files stop nothing."""

from __future__ import annotations

import json
import math
import re
import stat
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from folders import NAMES, QUICK, copied, files

import therapy_analytics as ta
from therapy_analytics.codes import load_accurate
from therapy_analytics.core.errors import BadOptionError, NothingToReadError
from therapy_analytics.measures.settings import Settings
from therapy_analytics.readers import ReadOptions
from therapy_analytics.results.frames import wide_turns
from therapy_analytics.run import Writing, in_batches

FIXED_SESSIONS = ["session_id", "source_file", "counselor", "client", "source"]
FIXED_TURNS = ["session_id", "turn", "role", "speaker", "first_row", "start_s", "end_s", "n_words"]
BOLT = [
    "reflections_on_needs",
    "reflections_on_emotions",
    "reflections_on_values",
    "reflections_on_consequences",
    "reflections_on_conflicts",
    "reflections_on_strengths",
    "questions_on_experiences",
    "questions_on_perspectives",
    "questions_on_emotions",
    "problem_solving",
    "planning",
    "normalizing",
    "psychoeducation",
    "changing",
    "sustaining",
    "negative_feeling",
    "positive_feeling",
    "gained_insight",
    "life_event",
]
MI = ["question", "reflection", "input", "change", "sustain"]


@pytest.fixture(scope="module")
def out(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "results"
    ta.run([samples], folder)
    return folder


@pytest.fixture(scope="module")
def sessions(out: Path) -> pd.DataFrame:
    return pd.read_csv(out / "sessions.csv")


def test_every_sample_is_there(sessions: pd.DataFrame, samples: Path) -> None:
    about = pd.read_csv(samples / "sessions.csv")
    assert sorted(sessions["session_id"]) == sorted(about["session_id"])
    assert len(sessions) == 15
    joined = sessions.merge(about, on="session_id", suffixes=("", "_told"))
    assert (joined["counselor"] == joined["counselor_told"]).all()
    assert set(joined["source"]) == {"human", "llm"}
    assert sessions["n_turns"].between(30, 80).all()


def turns_of(out: Path, session: str) -> pd.DataFrame:
    """Return the three tables of turns of a session as one; probabilities are called p_..."""
    turns, likely, measured = (
        pd.read_csv(out / "sessions" / session / f"{name}.csv") for name in ("turns", "probabilities", "turn_measures")
    )
    return wide_turns(turns, likely, measured)


def test_the_columns_that_others_rely_on(out: Path, sessions: pd.DataFrame) -> None:
    assert list(sessions.columns[:5]) == FIXED_SESSIONS
    turns = turns_of(out, "lindqvist_dana_1")
    assert list(turns.columns[:8]) == FIXED_TURNS
    for code in [f"bolt_{one}" for one in BOLT] + [f"mi_{one}" for one in MI]:
        assert turns[f"p_{code}"].dropna().between(0, 1).all()
        assert set(turns[code].dropna()) <= {0, 1}
        assert (turns[code].isna() == turns[f"p_{code}"].isna()).all()
    therapist = turns["role"] == "therapist"
    assert turns.loc[therapist, "mi_question"].notna().all()
    assert turns.loc[~therapist, "mi_question"].isna().all()
    assert turns.loc[therapist, "mi_change"].isna().all()
    assert turns["turn"].tolist() == list(range(len(turns)))


def test_unsure_codes_are_those_near_their_threshold(out: Path) -> None:
    turns = turns_of(out, "lindqvist_dana_1")
    limits = dict(zip(load_accurate().names, load_accurate().thresholds, strict=True))
    codes = [name for name in turns if f"p_{name}" in turns]
    likely = list(pd.read_csv(out / "sessions" / "lindqvist_dana_1" / "probabilities.csv"))
    assert likely == ["session_id", "turn", *codes, "unsure_codes"]
    for row in turns.to_dict("records"):
        near = {
            code: abs(math.log(row[f"p_{code}"] / (1 - row[f"p_{code}"])) - math.log(limits[code] / (1 - limits[code])))
            for code in codes
            if row[f"p_{code}"] == row[f"p_{code}"]
        }
        named = row["unsure_codes"].split(";") if isinstance(row["unsure_codes"], str) else []
        assert named == sorted(named, key=codes.index)
        assert {code for code in near if near[code] < 0.249} <= set(named) <= {c for c in near if near[c] < 0.251}
    assert 0 < turns["unsure_codes"].notna().mean() < 1


def test_every_column_is_in_the_codebook(out: Path, sessions: pd.DataFrame) -> None:
    codebook = pd.read_csv(out / "codebook.csv")
    assert list(sessions) == codebook.query("table == 'sessions'")["column"].tolist()
    assert len(list(sessions)) <= 72
    for name, file in (("probabilities", "probabilities"), ("turn_measures", "turn_measures"), ("parts", "measures")):
        table = pd.read_csv(out / "sessions" / "aria_ben" / f"{file}.csv")
        assert list(table) == codebook.query("table == @name")["column"].tolist(), name
    turns = pd.read_csv(out / "sessions" / "aria_ben" / "turns.csv")
    assert set(turns) | {"text"} == set(codebook.query("table == 'turns'")["column"])
    measures = pd.read_csv(out / "measures.csv", keep_default_na=False)
    assert list(measures) == codebook.query("table == 'measures'")["column"].tolist()
    known = codebook.query("table == 'measured'").fillna({"direction": ""})
    explained = set(zip(known["measure"], known["direction"], strict=True))
    assert set(zip(measures["measure"], measures["direction"], strict=True)) <= explained
    for needed in ("meaning", "unit", "range", "formula", "source"):
        assert codebook[needed].notna().all(), needed
    assert not codebook.duplicated(["table", "column"]).any()


def test_turns_add_up_to_the_session(out: Path, sessions: pd.DataFrame) -> None:
    for row in sessions.to_dict("records"):
        turns = turns_of(out, str(row["session_id"]))
        asks = turns.loc[turns["role"] == "therapist", "mi_question"]
        assert row["n_turns"] == len(turns)
        assert row["n_therapist_question"] == asks.sum()
        assert row["therapist_question_rate"] == pytest.approx(asks.mean(), abs=1e-5)
        by_role = turns.groupby("role")["lsm_turn"].mean()
        assert row["lsm_turn_mean"] == pytest.approx(by_role[["therapist", "client"]].mean(), abs=1e-5)


def test_a_default_run_writes_these_files(out: Path) -> None:
    written = list(files(out))
    assert len(written) == 9 + 7 * 15


def test_the_same_with_two_processes_and_smaller_batches(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The accurate tagger in other processes has a test of its own."""
    (tmp_path / "talks").mkdir()
    talks, settings = copied(samples, tmp_path / "talks"), Settings(tagger=ta.TaggerOptions(kind="fast"))
    ta.run([talks], tmp_path / "one", settings=settings)
    monkeypatch.setattr("therapy_analytics.measures.settings.TURNS_PER_BATCH", 60)
    sessions = [session for name in NAMES[:-1] for session in ta.read(samples / name)]
    assert len(list(in_batches(sessions, settings.turns_per_batch))) > 2
    ta.run([talks], tmp_path / "two", settings=settings, writing=Writing(processes=2))
    assert files(tmp_path / "two") == files(tmp_path / "one")


CODED = {
    "a": "speaker,text,tone\nTherapist,What brings you here?,open\nClient,I worry a lot.,\n",
    "b": "speaker,text,tone,code\nTherapist,What is new?,,question\nClient,I slept badly.,flat,\n",
    "c": "speaker,text,code,tone\nTherapist,How was it?,question,\nClient,It was hard.,,flat\n",
}


def test_codes_of_people_stand_alike_however_sessions_are_batched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talks = tmp_path / "talks"
    talks.mkdir()
    for name, text in CODED.items():
        (talks / f"{name}.csv").write_text(text)
    options = ta.TaggerOptions(kind="fast")
    together = ta.analyze(ta.read(talks), tagger=options).turns
    ta.run([talks], tmp_path / "one", settings=Settings(tagger=options), writing=QUICK)
    monkeypatch.setattr("therapy_analytics.measures.settings.TURNS_PER_BATCH", 1)
    assert len(list(in_batches(ta.read(talks), 1))) == len(CODED)
    pd.testing.assert_frame_equal(together, ta.analyze(ta.read(talks), tagger=options).turns)
    assert [name for name in together if name.startswith("gold_")] == ["gold_code", "gold_tone"]
    assert together["gold_code"].tolist() == ["", "", "question", "", "question", ""]
    ta.run([talks], tmp_path / "many", settings=Settings(tagger=options), writing=QUICK)
    assert files(tmp_path / "one") == files(tmp_path / "many")
    only = pd.read_csv(tmp_path / "one" / "sessions" / "a" / "turns.csv")
    assert [name for name in only if name.startswith("gold_")] == ["gold_tone"]


def _in_fours(words: list[str]) -> set[str]:
    return {" ".join(words[i : i + 4]) for i in range(len(words) - 3)}


def test_nothing_that_was_said_is_written(out: Path, samples: Path) -> None:
    written = b"\n".join(data for name, data in files(out).items() if not name.endswith(".png")).decode().lower()
    sentences = re.findall(r"[^\W_]+(?: [^\W_]+){3,}", written)
    found = set().union(*(_in_fours(one.split(" ")) for one in sentences))
    found -= _in_fours(re.findall(r"\w+", (out / "codebook.csv").read_text().lower()))
    n_said = 0
    for session in ta.read(samples):
        for turn in session.turns:
            spoken = _in_fours(re.findall(r"[^\W_]+", turn.text.lower()))
            assert not spoken & found, (session.id, turn.index)
            n_said += len(spoken)
    assert n_said > 5000
    assert len(found) > 100, "the page has sentences, so that this test can see some"


def test_quotes_are_written_when_asked_for(samples: Path, tmp_path: Path) -> None:
    ta.run(
        [samples / "nair_yuki.txt"],
        tmp_path / "r",
        settings=ta.Settings(quotes=True),
        writing=QUICK,
    )
    turns = pd.read_csv(tmp_path / "r" / "sessions" / "nair_yuki" / "turns.csv")
    (session,) = ta.read(samples / "nair_yuki.txt")
    assert turns["text"].tolist() == [turn.text for turn in session.turns]


def test_the_folder_is_private(out: Path) -> None:
    folders = [out, out / "sessions", out / "sessions" / "aria_ben"]
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in folders] == [0o700] * 3


def test_the_recipe_repeats_the_run(out: Path, samples: Path) -> None:
    recipe = json.loads((out / "run.json").read_text())
    assert recipe["options"]["seed"] == 0
    assert {one["name"] for one in recipe["lexicons"]} >= {"function_words", "emotions"}
    assert [one["name"] for one in recipe["codebooks"]] == ["bolt", "mi", "process"]
    assert len(recipe["tagger"]["sha256"]) == 64
    assert recipe["tagger"]["aim"] == "balanced"
    assert {Path(one["file"]).name for one in recipe["inputs"]} == {
        path.name for path in samples.iterdir() if path.name != "sessions.csv"
    }
    assert all(len(one["sha256"]) == 64 for one in recipe["inputs"])


def test_the_aim_is_written_down(samples: Path, tmp_path: Path) -> None:
    settings = ta.Settings(tagger=ta.TaggerOptions(aim="recall"))
    ta.run([samples / "nair_yuki.txt"], tmp_path, settings=settings, writing=QUICK)
    assert json.loads((tmp_path / "run.json").read_text())["tagger"]["aim"] == "recall"
    codebook = pd.read_csv(tmp_path / "codebook.csv").query("table == 'turns'").set_index("column")
    assert "aim recall: few turns" in codebook.loc["mi_question", "formula"]


def test_bad_files_are_named_and_the_rest_is_analysed(samples: Path, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "good.txt").write_bytes((samples / "nair_yuki.txt").read_bytes())
    (folder / "broken.json").write_text('[{"speaker": "T", "text": "private words"')
    (folder / "empty.csv").write_text("")
    (folder / "picture.txt").write_bytes(b"\x89PNG\r\n\x00\x00")
    result = ta.run([folder], tmp_path / "out", writing=QUICK)
    problems = pd.read_csv(tmp_path / "out" / "problems.csv")
    assert [Path(name).name for name in problems["file"]] == ["broken.json", "empty.csv", "picture.txt"]
    assert problems["line"].fillna(0).tolist()[0] == 1
    assert problems[["problem", "what_would_be_right"]].notna().all(axis=None)
    assert "private" not in (tmp_path / "out" / "problems.csv").read_text()
    assert result.sessions["session_id"].tolist() == ["good"]
    assert len(result.problems) == 3


def test_nothing_readable_says_where_to_look(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("no labels here\n")
    with pytest.raises(NothingToReadError, match=r"The file could not be read as a transcript.*a\.txt") as caught:
        ta.run([tmp_path / "a.txt"], tmp_path / "new" / "out")
    assert [one.path for one in caught.value.problems] == [str(tmp_path / "a.txt")]
    assert not (tmp_path / "new").exists()
    (tmp_path / "out").mkdir()
    for name in ("run.json", "problems.csv"):
        (tmp_path / "out" / name).write_text("")
    with pytest.raises(NothingToReadError, match="holds the results of an earlier run"):
        ta.run([tmp_path / "out"], tmp_path / "other")


def test_a_folder_of_something_else_is_not_touched(samples: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.docx").write_text("dear to me")
    with pytest.raises(BadOptionError, match=r"thesis.docx"):
        ta.run([samples / "nair_yuki.txt"], tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(BadOptionError, match="is a file"):
        ta.run([samples / "nair_yuki.txt"], tmp_path / "file")
    assert (tmp_path / "thesis.docx").read_text() == "dear to me"


def test_results_inside_the_input_folder_are_not_input(samples: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes((samples / "nair_yuki.txt").read_bytes())
    for _ in range(2):
        result = ta.run([tmp_path], tmp_path / "results", writing=QUICK)
        assert len(result.sessions) == 1
        assert not result.problems


def test_who_the_therapist_is_by_pronouns_option_and_note(tmp_path: Path) -> None:
    lines = [
        "A: What brings you to me today, and how do you feel?",
        "B: I am tired. I think my job is too much for me.",
    ]
    (tmp_path / "a.txt").write_text("\n".join(lines * 4))
    guessed = ta.run([tmp_path / "a.txt"], tmp_path / "r", writing=QUICK).sessions.iloc[0]
    assert guessed["role_method"] == "pronouns"
    assert ta.read(tmp_path / "a.txt")[0].role_margin > 4
    told = ta.run(
        [tmp_path / "a.txt"],
        tmp_path / "r",
        read_options=ReadOptions(therapist="b"),
        writing=QUICK,
    ).sessions.iloc[0]
    assert told["role_method"] == "option"
    assert told["n_words_therapist"] == guessed["n_words_client"]


ADDED = """
import sys
import pandas as pd
from therapy_analytics.results import analysis
from therapy_analytics.measures.rows import row_column

COLUMNS = (row_column("session_id", "The session"), row_column("n_turns", "Turns", "count", low=0))
analysis.TABLES += (
    analysis.RunTable(
        name="lengths", in_analysis=False, columns=COLUMNS, family="added", whole=("n_turns",),
        make=lambda some: pd.DataFrame({
            "session_id": [one.session.id for one in some.sessions], "n_turns": [len(one) for one in some.sessions],
        }),
    ),
)
analysis.NAMED["lengths"] = analysis.TABLES[-1]

import therapy_analytics as ta
fast = ta.Settings(tagger=ta.TaggerOptions(kind="fast"))
for form in ("csv", "parquet"):
    ta.run([sys.argv[1]], form, settings=fast, writing=ta.Writing(form=form, figures=(), report=False))
"""


def test_a_table_is_added_in_one_place(samples: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    subprocess.run([sys.executable, "-c", ADDED, str(samples / "nair_yuki.txt")], check=True, cwd=tmp_path)
    written = pd.read_csv(tmp_path / "csv" / "sessions" / "nair_yuki" / "lengths.csv")
    pd.testing.assert_frame_equal(written, pd.read_parquet(tmp_path / "parquet" / "lengths"), check_dtype=False)
    assert written["n_turns"].tolist() == [len(ta.read(samples / "nair_yuki.txt")[0].turns)]
    codebook = pd.read_csv(tmp_path / "csv" / "codebook.csv").query("table == 'lengths'")
    assert codebook["column"].tolist() == ["session_id", "n_turns"]
