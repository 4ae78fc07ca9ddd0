"""Results read back, as CSV and as Parquet: the same tables, some sessions or columns alone, and what is broken."""

from __future__ import annotations

import json
import shutil
import struct
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import therapy_analytics as ta
from therapy_analytics.core.errors import BadDataFileError, BadOptionError
from therapy_analytics.results import form_of, load, read_csv, read_sessions, read_wide_turns, write_csv
from therapy_analytics.stats.compare._results import read_results
from therapy_analytics.stats.machine_codes import read_machine

TABLES = ("sessions", "measures", "dyads", "turns", "probabilities", "turn_measures", "parts", "responses")
FILES = {"parts": "measures"}
"""Of tables whose files are called otherwise."""
PARTS = ("part-000000", "part-000001-0000", "part-000001-0001", "part-000002")
COUPLE = """Counselor: What brings you both here today?
Ann: We argue every evening, and I am tired of it.
Bob: She never listens, and I want to change that.
Counselor: You are tired, and you would like it to change.
Ann: Yes, I would.
Bob: I could come home earlier.
"""


@pytest.fixture(scope="module")
def arrow() -> Any:
    """Return the library that writes parts."""
    parquet = pytest.importorskip("pyarrow.parquet", reason="Parquet needs pyarrow")
    assert parquet
    return sys.modules["pyarrow"]


@pytest.fixture(scope="module")
def analysis(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> ta.Analysis:
    """Return the analysis of three samples and a couple, with words and names that a spreadsheet would run."""
    talk = tmp_path_factory.mktemp("talk") / "couple.txt"
    talk.write_text(COUPLE, encoding="utf-8")
    paths = [samples / name for name in ("nair_yuki.txt", "aria_ben.json", "lindqvist_omar.txt")]
    sessions = [session for path in (*paths, talk) for session in ta.read(path)]
    found = ta.analyze(sessions, tagger=ta.TaggerOptions(kind="fast"), quotes=True, seed=3)
    odd = found.sessions.assign(client=["=1+1", "'tis", "NA", "007"], counselor=["- x", "", "\tB", "@c"])
    coded = found.turns.assign(gold_code=["=QU", ""] * (len(found.turns) // 2))
    return replace(found, sessions=odd, turns=coded)


def _of_session(analysis: ta.Analysis, name: str, one: str) -> pd.DataFrame:
    frame: pd.DataFrame = getattr(analysis, name)
    return frame[frame["session_id"] == one].reset_index(drop=True)


def _ids(analysis: ta.Analysis) -> list[str]:
    ids: list[str] = analysis.sessions["session_id"].tolist()
    return ids


def _about_the_run(analysis: ta.Analysis, folder: Path) -> None:
    write_csv(analysis.codebook, folder / "codebook.csv")
    recipe = {"options": {"seed": analysis.seed}, "tagger": {"kind": "fast"}}
    (folder / "run.json").write_text(json.dumps(recipe), encoding="utf-8")


def as_csv(analysis: ta.Analysis, folder: Path) -> Path:
    """Write an analysis as a run does."""
    folder.mkdir()
    _about_the_run(analysis, folder)
    write_csv(analysis.sessions, folder / "sessions.csv")
    write_csv(analysis.measures, folder / "measures.csv")
    write_csv(analysis.dyads, folder / "dyads.csv")
    for one in _ids(analysis):
        (folder / "sessions" / one).mkdir(parents=True)
        for name in ("turns", "probabilities", "turn_measures", "parts", "responses"):
            write_csv(_of_session(analysis, name, one), folder / "sessions" / one / f"{FILES.get(name, name)}.csv")
    return folder


def as_parts(analysis: ta.Analysis, folder: Path, arrow: Any) -> Path:
    """Write an analysis as a run does with ``--output-format parquet``, a part a session."""
    folder.mkdir()
    _about_the_run(analysis, folder)
    for one, part in zip(_ids(analysis), PARTS, strict=True):
        for name in TABLES:
            write_part(_of_session(analysis, name, one), folder / name / f"{part}.parquet", arrow)
    return folder


def write_part(frame: pd.DataFrame, path: Path, arrow: Any) -> None:
    """Write rows of a table; there are no files without pairs of speakers."""
    path.parent.mkdir(exist_ok=True)
    fields = [(name, _type(kind, arrow)) for name, kind in frame.dtypes.items()]
    arrays = [arrow.array(frame[name], type=kind, from_pandas=True) for name, kind in fields]
    if len(frame) or path.parent.name != "dyads":
        table = arrow.Table.from_arrays(arrays, schema=arrow.schema(fields))
        sys.modules["pyarrow.parquet"].write_table(table, path, row_group_size=20)


def _type(kind: Any, arrow: Any) -> Any:
    plain = getattr(kind, "numpy_dtype", kind)
    return arrow.from_numpy_dtype(plain) if getattr(plain, "kind", "O") in "if" else arrow.string()


@pytest.fixture(scope="module")
def csv(analysis: ta.Analysis, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return results in CSV; tests that break them write their own."""
    return as_csv(analysis, tmp_path_factory.mktemp("csv") / "r")


@pytest.fixture(scope="module")
def parts(analysis: ta.Analysis, tmp_path_factory: pytest.TempPathFactory, arrow: Any) -> Path:
    """Return results in Parquet, below a folder whose name looks like a column."""
    return as_parts(analysis, tmp_path_factory.mktemp("parts") / "source=llm", arrow)


@pytest.fixture(scope="module", params=["csv", "parquet"])
def either(request: pytest.FixtureRequest) -> Path:
    """Return the one and the other."""
    folder: Path = request.getfixturevalue("csv" if request.param == "csv" else "parts")
    assert form_of(folder) == request.param
    return folder


@pytest.fixture(scope="module")
def from_csv(csv: Path) -> ta.Analysis:
    return load(csv)


@pytest.fixture(scope="module")
def from_parts(parts: Path) -> ta.Analysis:
    return load(parts)


@pytest.fixture
def broken(parts: Path, tmp_path: Path) -> Path:
    """Return results in Parquet, to be broken."""
    return shutil.copytree(parts, tmp_path / "r")


@pytest.mark.parametrize("name", TABLES)
def test_parquet_comes_back_as_it_was_analysed(analysis: ta.Analysis, from_parts: ta.Analysis, name: str) -> None:
    back = getattr(from_parts, name)
    given = getattr(analysis, name)
    assert len(given) > 0
    pd.testing.assert_frame_equal(back, given[list(back)], check_dtype=name != "turns", check_column_type=False)
    assert set(back) == set(given)


@pytest.mark.parametrize("name", TABLES)
def test_both_forms_have_the_same_types(from_csv: ta.Analysis, from_parts: ta.Analysis, name: str) -> None:
    one, other = getattr(from_csv, name), getattr(from_parts, name)
    pd.testing.assert_frame_equal(one, other, rtol=1e-5, atol=1e-12)
    assert list(one.dtypes) == list(other.dtypes)


def test_what_a_run_was_for_comes_back(either: Path) -> None:
    back = load(either)
    assert (back.seed, back.tagger) == (3, {"kind": "fast"})
    assert back.sessions["client"].tolist() == ["=1+1", "'tis", "NA", "007"]
    assert back.sessions["counselor"].tolist() == ["- x", "", "\tB", "@c"]
    assert back.turns["gold_code"].isin(["=QU", ""]).all()


def test_some_sessions_come_in_the_order_of_the_folder(either: Path, analysis: ta.Analysis) -> None:
    names = ["lindqvist_omar", "nair_yuki", "lindqvist_omar"]
    back = load(either, sessions=names)
    assert _ids(back) == ["nair_yuki", "lindqvist_omar"]
    chosen = load(either).where("session_id in ['nair_yuki', 'lindqvist_omar']")
    for name in TABLES:
        pd.testing.assert_frame_equal(getattr(back, name), getattr(chosen, name), check_categorical=False)
    assert _ids(load(either, sessions="couple")) == ["couple"]
    assert len(load(either, sessions="couple").dyads) == len(analysis.dyads)
    assert len(load(either, sessions=[]).turns) == 0


def test_a_session_that_is_not_there(either: Path) -> None:
    with pytest.raises(BadOptionError, match=r"no session 'nobody'\. Name some of its 4 sessions: nair_yuki, aria_ben"):
        load(either, sessions=["nair_yuki", "nobody"])


def test_files_of_other_sessions_are_not_read(analysis: ta.Analysis, broken: Path, tmp_path: Path) -> None:
    for name in ("turns", "responses"):
        (broken / name / "part-000000.parquet").write_bytes(b"not these")
    written = as_csv(analysis, tmp_path / "c")
    (written / "sessions" / "nair_yuki" / "turns.csv").unlink()
    for folder in (broken, written):
        assert len(load(folder, sessions=["aria_ben"]).turns) == len(_of_session(analysis, "turns", "aria_ben"))
        with pytest.raises(BadDataFileError):
            load(folder)


def test_some_columns_alone(either: Path, analysis: ta.Analysis) -> None:
    found = read_sessions(either, ["lsm_turn_mean", "session_id", "client"])
    assert list(found) == ["session_id", "client", "lsm_turn_mean"]
    assert found["client"].tolist() == ["=1+1", "'tis", "NA", "007"]
    assert found["lsm_turn_mean"].tolist() == pytest.approx(
        analysis.sessions["lsm_turn_mean"].tolist(), rel=1e-5, nan_ok=True
    )
    pd.testing.assert_frame_equal(read_sessions(either), load(either).sessions)
    with pytest.raises(BadDataFileError, match=r"it has no column nothing, nowhere\."):
        read_sessions(either, ["session_id", "nothing", "nowhere"])


def test_the_tables_of_turns_are_read_as_one(either: Path) -> None:
    found = read_wide_turns(either)
    assert list(map(str, found[["turn", "role", "mi_question", "p_mi_question"]].dtypes)) == [
        "int64", "category", "Int8", "float64",
    ]  # fmt: skip
    pd.testing.assert_frame_equal(found, load(either).wide_turns)


def test_other_columns_of_a_part_are_not_read(parts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet, asked = sys.modules["pyarrow.parquet"], []
    real = parquet.read_table

    def watched(path: Path, *, columns: list[str] | None, **options: Any) -> Any:
        asked.append(columns)
        return real(path, columns=columns, **options)

    monkeypatch.setattr(parquet, "read_table", watched)
    read_sessions(parts, ["lsm_turn_mean"])
    assert asked == [["lsm_turn_mean"]] * 4


def test_the_codebook_is_read_once(csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, real = [], Path.open

    def watched(path: Path, *words: Any, **options: Any) -> Any:
        opened.append(path.name)
        return real(path, *words, **options)

    monkeypatch.setattr(Path, "open", watched)
    load(csv)
    assert opened.count("codebook.csv") == opened.count("sessions.csv") == 1


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


def test_a_run_without_any_session(analysis: ta.Analysis, parts: Path, tmp_path: Path) -> None:
    _about_the_run(analysis, tmp_path)
    for name in TABLES:
        (tmp_path / name).mkdir()
    (tmp_path / "turns" / ".part-000000.parquet.part").write_bytes(b"half of a part")
    back, full = load(tmp_path), load(parts)
    for name in set(TABLES) - {"turns"}:  # the turns of this analysis hold what was said
        assert len(getattr(back, name)) == 0
        assert list(getattr(back, name)) == list(getattr(full, name))
    assert back.sessions["lsm_turn_mean"].dtype == float
    assert list(read_sessions(tmp_path, ["lsm_turn_mean", "session_id"])) == ["session_id", "lsm_turn_mean"]


@pytest.mark.parametrize("table", ["sessions", "turns", "responses"])
@pytest.mark.parametrize("content", [b"", b"PAR1", b"session_id,turn\n", None])
def test_a_part_that_is_broken(broken: Path, table: str, content: bytes | None) -> None:
    path = broken / table / "part-000002.parquet"
    path.write_bytes(path.read_bytes()[:-100] if content is None else content)
    with pytest.raises(BadDataFileError, match=rf"{table}.part-000002\.parquet: it is not a table \(Arrow"):
        load(broken)


def test_a_number_that_was_changed_on_the_disk(broken: Path) -> None:
    parquet, path = sys.modules["pyarrow.parquet"], broken / "probabilities" / "part-000000.parquet"
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


@pytest.mark.parametrize("table", [name for name in TABLES if name != "dyads"])
def test_a_part_that_is_missing(broken: Path, table: str) -> None:
    (broken / table / "part-000001-0001.parquet").unlink()
    with pytest.raises(BadDataFileError, match=rf"{table}.part-000001-0001\.parquet: the file is not there"):
        load(broken)


def test_a_part_of_other_types(broken: Path, analysis: ta.Analysis, arrow: Any) -> None:
    path = broken / "turns" / "part-000000.parquet"
    turns = _of_session(analysis, "turns", "nair_yuki")
    for odd, sentence in (
        (turns.assign(turn="first"), "the column turn holds something that is not a whole number"),
        (turns.assign(n_words=0.5), "the column n_words holds something that is not a whole number"),
        (turns.assign(turn=pd.array([None] * len(turns), dtype="Int64")), "the column turn holds something"),
        (turns.assign(mi_question=1000), "the column mi_question holds something that is not a whole number"),
        (turns.drop(columns="speaker"), "its parts do not have the same columns"),
    ):
        write_part(odd, path, arrow)
        with pytest.raises(BadDataFileError, match=sentence):
            load(broken)
    write_part(turns, path, arrow)
    likely = _of_session(analysis, "probabilities", "nair_yuki").assign(mi_question="x")
    write_part(likely, broken / "probabilities" / "part-000000.parquet", arrow)
    with pytest.raises(BadDataFileError, match="the column mi_question holds something that is not a number"):
        load(broken)


def test_codes_as_categories_are_texts(broken: Path, analysis: ta.Analysis, arrow: Any) -> None:
    whole = load(broken)
    table = arrow.Table.from_pandas(_of_session(analysis, "parts", "nair_yuki").astype({"part": "category"}))
    sys.modules["pyarrow.parquet"].write_table(table, broken / "parts" / "part-000000.parquet")
    pd.testing.assert_frame_equal(load(broken).parts, whole.parts)


def test_parquet_without_its_library(parts: Path, csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr("therapy_analytics.core.arrow.import_module", missing)
    with pytest.raises(BadOptionError, match="-m pip install pyarrow"):
        load(parts)
    assert len(read_sessions(csv, ["session_id"])) == 4


def test_commands_take_either_form(csv: Path, parts: Path, analysis: ta.Analysis, tmp_path: Path) -> None:
    one, other = read_results(csv), read_results(parts)
    measures = one.measured
    pd.testing.assert_frame_equal(one.sessions[measures], other.sessions[measures], rtol=1e-5)
    assert one.sessions["client"].tolist() == other.sessions["client"].tolist()
    assert (one.tagger, one.about) == (other.tagger, other.about)
    coded, same = (read_machine(one).turns.set_index(["session_id", "turn"]).sort_index() for one in (csv, parts))
    pd.testing.assert_frame_equal(coded, same[list(coded)], rtol=1e-5, check_dtype=False)
    assert coded["text"].tolist() == same["text"].tolist()
    found = ta.export(parts, tmp_path / "e")
    assert len(pd.read_csv(tmp_path / "e" / "turns.csv")) == len(analysis.turns)
    assert found[0].name == "sessions.csv"


def test_the_page_says_what_it_needs(parts: Path) -> None:
    with pytest.raises(BadOptionError, match=r"the page needs results written as CSV\. Say tanalyze run"):
        ta.report(parts)
    assert not (parts / "report.html").exists()


def test_measures_that_another_program_left_out(analysis: ta.Analysis, tmp_path: Path) -> None:
    folder = as_csv(analysis, tmp_path / "r")
    path = folder / "sessions.csv"
    told = pd.read_csv(path, dtype=str, keep_default_na=False).assign(lsm_turn_mean="NA")
    told.to_csv(path, index=False)
    with pytest.raises(BadDataFileError, match="the column lsm_turn_mean holds something that is not a number"):
        read_sessions(folder, ["session_id", "lsm_turn_mean"])
    (folder / "measures.csv").unlink()  # a table of somebody else's, with measures called as ours
    assert read_results(folder).sessions["lsm_turn_mean"].isna().all()


def test_numbers_are_read_to_the_last_digit(tmp_path: Path) -> None:
    numbers = [1e-300, 123456.0, 0.1, -1.23457e22, 3.33333e-15, float("nan"), float("inf")]
    texts = ["'=x", "1.50", "NA", "a\rb", "", "\u00e9", "nan"]
    write_csv(pd.DataFrame({"n": numbers, "s": texts, "m": 1.0}), tmp_path / "t.csv")
    for names in (None, ["n", "s"]):
        back = read_csv(tmp_path / "t.csv", names, numbers=["n", "m", "absent"])
        assert back["s"].tolist() == texts
        assert [f"{one:.6g}" for one in back["n"]] == [f"{one:.6g}" for one in numbers]
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbfn,s\r\n,'-\r\n2,x\r\n")
    back = read_csv(tmp_path / "t.csv", numbers=["n"])
    assert back["n"].isna().tolist() == [True, False]
    assert back["s"].tolist() == ["-", "x"]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"n,s\n1,x\nlots,y\n", "the column n holds something that is not a number"),
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
