"""Results read back, as CSV and as Parquet: the tables as they were, some sessions or columns, and what is broken."""

from __future__ import annotations

import shutil
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import therapy_analytics as ta
from therapy_analytics.core.errors import BadDataFileError, BadOptionError
from therapy_analytics.results import form_of, load, read_csv, read_sessions, read_wide_turns, write_csv

FAST = ta.TaggerOptions(kind="fast")
TABLES = ("sessions", "measures", "dyads", "turns", "probabilities", "turn_measures", "parts", "responses")
ABOUT = {
    "aria_ben": ("- x", "=1+1"),
    "coded": ("", "'tis"),
    "couple": ("+B", "NA"),
    "lindqvist_omar": ("@c", "007"),
}
"""The counselor and the client of each session: names that a spreadsheet would run or change."""
COUPLE = """Counselor: What brings you both here today?
Ann: We argue every evening, and I am tired of it.
Bob: She never listens, and I want to change that.
Counselor: You are tired, and you would like it to change.
Ann: Yes, I would.
Bob: I could come home earlier.
"""
CODED = """speaker,text,code
therapist,What do you hope for?,=QU
client,That I sleep again.,
therapist,"You hope: = to ""sleep"".",RE
"""


@pytest.fixture(scope="module")
def talks(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return four transcripts, of which one is of a couple and one has codes that people gave."""
    folder = tmp_path_factory.mktemp("talks")
    for name in ("aria_ben.json", "lindqvist_omar.txt"):
        shutil.copy(samples / name, folder)
    (folder / "couple.txt").write_text(COUPLE)
    (folder / "coded.csv").write_text(CODED)
    rows = "".join(f"{name},{counselor},{client}\n" for name, (counselor, client) in ABOUT.items())
    (folder / "sessions.csv").write_text(f"session_id,counselor,client\n{rows}")
    return folder


@pytest.fixture(scope="module")
def analysis(talks: Path) -> ta.Analysis:
    return ta.analyze(ta.read(talks), tagger=FAST, quotes=True, seed=3)


def run(talks: Path, out: Path, form: Any) -> Path:
    """Run with small batches, so that Parquet has a data file a session."""
    settings = ta.Settings(tagger=FAST, quotes=True, seed=3)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("therapy_analytics.measures.settings.TURNS_PER_BATCH", 1)
        return ta.run([talks], out, settings=settings, writing=ta.Writing(form=form, figures=(), report=False)).out


@pytest.fixture(scope="module")
def csv(talks: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run(talks, tmp_path_factory.mktemp("csv") / "r", "csv")


@pytest.fixture(scope="module")
def parts(talks: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return results in Parquet, below a folder whose name looks like a column."""
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    return run(talks, tmp_path_factory.mktemp("parts") / "source=llm", "parquet")


@pytest.fixture(scope="module")
def from_csv(csv: Path) -> ta.Analysis:
    return load(csv)


@pytest.fixture(scope="module")
def from_parts(parts: Path) -> ta.Analysis:
    return load(parts)


@pytest.fixture(scope="module", params=["csv", "parquet"])
def either(request: pytest.FixtureRequest) -> tuple[Path, ta.Analysis]:
    """Return the folder of the one and of the other, and what is loaded from it."""
    folder, loaded = ("csv", "from_csv") if request.param == "csv" else ("parts", "from_parts")
    assert form_of(request.getfixturevalue(folder)) == request.param
    return request.getfixturevalue(folder), request.getfixturevalue(loaded)


@pytest.fixture
def broken(parts: Path, tmp_path: Path) -> Path:
    """Return results in Parquet, to be broken."""
    return shutil.copytree(parts, tmp_path / "r")


def part_of(folder: Path, table: str, at: int) -> Path:
    """Return a data file of a table."""
    return sorted((folder / table).glob("part-*.parquet"))[at]


@pytest.mark.parametrize("name", [*TABLES, "codebook", "behaviours", "profile", "wide_turns"])
def test_results_come_back_as_they_were_analysed(
    analysis: ta.Analysis, from_csv: ta.Analysis, from_parts: ta.Analysis, name: str
) -> None:
    given, back, other = (getattr(one, name) for one in (analysis, from_csv, from_parts))
    assert len(given) > 0
    pd.testing.assert_frame_equal(back[list(given)], given, rtol=1e-5)
    pd.testing.assert_frame_equal(back, other, rtol=1e-5, atol=1e-12)
    assert set(back) == set(given)
    assert list(back.dtypes) == list(other.dtypes)


def test_what_a_run_was_for_comes_back(either: tuple[Path, ta.Analysis], analysis: ta.Analysis) -> None:
    _, back = either
    assert (back.seed, back.tagger["kind"], repr(back)) == (3, "fast", repr(analysis))
    about = {row["session_id"]: (row["counselor"], row["client"]) for row in back.sessions.to_dict("records")}
    assert about == ABOUT
    assert back.turns["gold_code"].value_counts()[["=QU", "RE"]].tolist() == [1, 1]
    assert back.turns["text"].tolist() == analysis.turns["text"].tolist()


def test_some_sessions_come_in_the_order_of_the_folder(either: tuple[Path, ta.Analysis]) -> None:
    folder, whole = either
    back = load(folder, sessions=["lindqvist_omar", "coded", "lindqvist_omar"])
    assert back.sessions["session_id"].tolist() == ["coded", "lindqvist_omar"]
    chosen = whole.where("session_id in ['coded', 'lindqvist_omar']")
    for name in TABLES:
        pd.testing.assert_frame_equal(getattr(back, name), getattr(chosen, name), check_categorical=False, obj=name)
    assert load(folder, sessions="couple").dyads["client"].tolist() == ["Ann", "Bob"]
    assert len(load(folder, sessions=[]).turns) == 0
    with pytest.raises(BadOptionError, match=r"no session 'nobody'\. Name some of its 4 sessions: aria_ben, coded"):
        load(folder, sessions=["couple", "nobody"])


def test_files_of_other_sessions_are_not_read(csv: Path, broken: Path, tmp_path: Path) -> None:
    for name in ("turns", "responses"):
        part_of(broken, name, 0).write_bytes(b"not these")
    written = shutil.copytree(csv, tmp_path / "c")
    (written / "sessions" / "aria_ben" / "turns.csv").unlink()
    for folder in (broken, written):
        assert len(load(folder, sessions=["couple"]).turns) == 6
        with pytest.raises(BadDataFileError):
            load(folder)


def test_some_columns_alone(either: tuple[Path, ta.Analysis]) -> None:
    folder, whole = either
    found = read_sessions(folder, ["lsm_turn_mean", "session_id", "client"])
    pd.testing.assert_frame_equal(found, whole.sessions[["session_id", "client", "lsm_turn_mean"]])
    pd.testing.assert_frame_equal(read_sessions(folder), whole.sessions)
    pd.testing.assert_frame_equal(read_wide_turns(folder), whole.wide_turns)
    with pytest.raises(BadDataFileError, match=r"it has no column nothing, nowhere\."):
        read_sessions(folder, ["session_id", "nothing", "nowhere"])


def test_results_without_pairs_or_recipe(csv: Path, from_csv: ta.Analysis, tmp_path: Path) -> None:
    folder = shutil.copytree(csv, tmp_path / "r")
    (folder / "dyads.csv").unlink()
    (folder / "run.json").unlink()
    back = load(str(folder))
    assert len(back.dyads) == back.seed == 0
    pd.testing.assert_series_equal(back.dyads.dtypes, from_csv.dyads.dtypes)


def test_a_folder_of_neither_form(tmp_path: Path) -> None:
    (tmp_path / "sessions" / "part-1.parquet").mkdir(parents=True)  # a session of that name, of a run that was stopped
    for read in (form_of, load, read_sessions):
        with pytest.raises(BadOptionError, match=r"holds no sessions\.csv\. Name a folder that tanalyze run wrote"):
            read(tmp_path)
    (tmp_path / "turns").mkdir()
    assert form_of(tmp_path) == "parquet"
    with pytest.raises(BadOptionError, match=r"holds no codebook\.csv\."):
        load(tmp_path)


def test_results_of_an_earlier_version_must_be_computed_again(csv: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(csv, tmp_path / "r")
    columns = ["column", "table", "family", "meaning", "unit", "range", "formula", "misleads", "source"]
    write_csv(read_csv(folder / "codebook.csv")[columns], folder / "codebook.csv")
    for read in (load, read_sessions, read_wide_turns, ta.wide):
        with pytest.raises(BadOptionError, match=r"of a version before 0\.4.* Compute them again: tanalyze run"):
            read(folder)
    (folder / "codebook.csv").write_bytes(b'a,"b\n1')
    with pytest.raises(BadDataFileError, match=r"codebook\.csv: it is not a table"):
        load(folder)


def test_a_run_without_any_session(broken: Path, from_parts: ta.Analysis) -> None:
    for path in broken.glob("*/part-*.parquet"):
        path.unlink()
    (broken / "turns" / ".part-000000.parquet.part").write_bytes(b"half of a part")
    back = load(broken)
    for name in TABLES:
        own, full = getattr(back, name), getattr(from_parts, name)
        assert len(own) == 0
        assert list(own) == [one for one in full if (name, one) != ("turns", "text")]
    assert back.sessions["lsm_turn_mean"].dtype == float
    assert list(read_sessions(broken, ["lsm_turn_mean", "session_id"])) == ["session_id", "lsm_turn_mean"]


@pytest.mark.parametrize(
    ("name", "old", "new", "sentence"),
    [
        ("sessions.csv", "\naria_ben,", "\n../aria_ben,", "a session_id is not the name of a folder"),
        ("sessions/aria_ben/turns.csv", "aria_ben,0,", "aria_ben,first,", "the column turn holds something that is"),
        (
            "sessions/aria_ben/measures.csv",
            ",whole,0,",
            ",whole,0.5,",
            "the column first_turn holds something that is not a whole number",
        ),
        ("run.json", "{", "", "it does not say how the run was made"),
        ("sessions/aria_ben/turns.csv", "", "", r"turns\.csv: the file is not there"),
    ],
)
def test_what_is_wrong_with_files_of_csv(
    csv: Path, tmp_path: Path, name: str, old: str, new: str, sentence: str
) -> None:
    path = shutil.copytree(csv, tmp_path / "r") / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    if old:
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
    else:
        path.unlink()
    with pytest.raises(BadDataFileError, match=sentence):
        load(tmp_path / "r")


@pytest.mark.parametrize(
    ("table", "content"), [("sessions", b"PAR1"), ("turns", b""), ("responses", b"session_id,turn\n"), ("turns", None)]
)
def test_a_part_that_is_broken(broken: Path, table: str, content: bytes | None) -> None:
    path = part_of(broken, table, 2)
    path.write_bytes(path.read_bytes()[:-100] if content is None else content)
    with pytest.raises(BadDataFileError, match=rf"{table}.{path.name}: it is not a table \(Arrow"):
        load(broken)


@pytest.mark.parametrize("table", ["sessions", "turns", "responses"])
def test_a_part_that_is_missing(broken: Path, table: str) -> None:
    path = part_of(broken, table, 2)
    path.unlink()
    with pytest.raises(BadDataFileError, match=rf"{table}.{path.name}: the file is not there"):
        load(broken)


def test_a_number_that_was_changed_on_the_disk(broken: Path) -> None:
    parquet, path = sys.modules["pyarrow.parquet"], part_of(broken, "probabilities", 0)
    table = parquet.ParquetFile(path).read()
    parquet.write_table(table, path, compression="none", use_dictionary=False, write_page_checksum=True)
    numbers = sorted(table["mi_question"].drop_null().to_pylist())
    number = numbers[len(numbers) // 2]  # the least and the most stand in the head of the column as well
    whole = path.read_bytes()
    written = struct.pack("<d", number)
    assert written in whole[: len(whole) // 2]
    path.write_bytes(whole.replace(written, struct.pack("<d", number / 2), 1))
    with pytest.raises(BadDataFileError, match="it is not a table"):
        load(broken)


def changed(path: Path, change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    """Write a data file as another program may have done."""
    change(pd.read_parquet(path)).to_parquet(path, index=False)


@pytest.mark.parametrize(
    ("table", "change", "sentence"),
    [
        ("turns", lambda one: one.assign(turn="first"), "the column turn holds something that is not a whole number"),
        ("turns", lambda one: one.assign(n_words=0.5), "the column n_words holds something that is not a whole number"),
        ("turns", lambda one: one.assign(turn=np.nan), "the column turn holds something that is not a whole number"),
        ("turns", lambda one: one.assign(mi_question=1000), "the column mi_question holds something that is not a wh"),
        ("turns", lambda one: one.drop(columns="speaker"), "its parts do not have the same columns"),
        ("probabilities", lambda one: one.assign(mi_question="x"), "the column mi_question holds something that is no"),
    ],
)
def test_a_part_of_other_types(
    broken: Path, table: str, change: Callable[[pd.DataFrame], pd.DataFrame], sentence: str
) -> None:
    changed(part_of(broken, table, 0), change)
    with pytest.raises(BadDataFileError, match=sentence):
        load(broken)


def test_codes_as_categories_are_texts(broken: Path, from_parts: ta.Analysis) -> None:
    changed(part_of(broken, "parts", 0), lambda one: one.astype({"part": "category"}))
    pd.testing.assert_frame_equal(load(broken).parts, from_parts.parts)


def test_parquet_without_its_library(parts: Path, csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(BadOptionError, match="-m pip install pyarrow"):
        load(parts)
    assert len(read_sessions(csv, ["session_id"])) == 4


def test_commands_take_either_form(csv: Path, parts: Path, analysis: ta.Analysis, tmp_path: Path) -> None:
    codes = analysis.turns.query("role == 'therapist'")[["session_id", "turn"]].assign(question=1)
    options = {"by": "session_id", "measures": "therapist_question_rate"}
    one, other = (ta.compare(folder, **options).table for folder in (csv, parts))
    pd.testing.assert_frame_equal(one, other, rtol=1e-5)
    one, other = (ta.agreement(folder, codes).codes for folder in (csv, parts))
    pd.testing.assert_frame_equal(one, other, rtol=1e-5)
    assert ta.export(parts, tmp_path / "e")[0].name == "sessions.csv"
    assert len(pd.read_csv(tmp_path / "e" / "turns.csv")) == len(analysis.turns)
    with pytest.raises(BadOptionError, match=r"the page needs results written as CSV\. Say tanalyze run"):
        ta.report(parts)
    assert not (parts / "report.html").exists()


def test_odd_cells_and_numbers_come_back_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    texts = ["a\rb", "a\nb", "a\r\nb", 'say "x", y', "NA", "", "007", " x ", "\N{GRINNING FACE}", "a\0b", "=1+1", "-1"]
    numbers = [1e-300, 123456.0, 0.1, -1.23457e22, 3.33333e-15, np.nan, np.inf, *range(5)]
    write_csv(pd.DataFrame({"n": numbers, "s": texts, "m": 1.0}), path)
    for names in (None, ["n", "s"]):
        back = read_csv(path, names, numbers=["n", "m", "absent"])
        assert back["s"].tolist() == texts
        assert [f"{one:.6g}" for one in back["n"]] == [f"{one:.6g}" for one in numbers]
    path.write_bytes(b"\xef\xbb\xbfn,s\r\n,'-\r\n2,x\r\n")  # as a spreadsheet saves it
    assert read_csv(path).to_dict("list") == {"n": ["", "2"], "s": ["-", "x"]}
    assert read_csv(path, numbers=["n"])["n"].isna().tolist() == [True, False]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"n,s\n1,x\nlots,y\n", "the column n holds something that is not a number"),
        (b"n,s\n1,x\nNA,y\n", "the column n holds something that is not a number"),
        (b"n,s\n1,\xff\xfe\n", r"it is not a table \(UnicodeDecodeError\)"),
        (b"", r"it is not a table \(EmptyDataError\)"),
        (b"s,t\n1,2\n", "it has no column n"),
        (b'n,"s\n1', r"it is not a table \(ParserError\)"),
    ],
)
def test_what_is_wrong_with_a_table(tmp_path: Path, data: bytes, sentence: str) -> None:
    (tmp_path / "t.csv").write_bytes(data)
    with pytest.raises(BadDataFileError, match=sentence):
        read_csv(tmp_path / "t.csv", ["n", "s"] if data[:1] != b"s" else ["n"], numbers=["n"])
