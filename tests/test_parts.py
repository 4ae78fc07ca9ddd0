"""Runs for very many sessions: data sets in parts that any program reads, the same numbers, resumed like all others."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from folders import FAST, copied, files

import therapy_analytics as ta
from therapy_analytics import results
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.run import work

pytest.importorskip("pyarrow", reason="Parquet needs the package pyarrow")
duckdb = pytest.importorskip("duckdb", reason="what DuckDB reads is shown where it is installed")

PARTS = ta.Writing(form="parquet")
TABLES = ("sessions", "measures", "turns", "probabilities", "turn_measures", "parts", "responses")
N_SESSIONS = 7


@pytest.fixture(scope="module")
def talks(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = copied(samples, tmp_path_factory.mktemp("talks"), "harbor_logs.jsonl")
    (folder / "coded.csv").write_text(
        "speaker,text,code\nTherapist,What brings you here?,question\nClient,I worry a lot.,\n" * 6
    )
    return folder


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("therapy_analytics.measures.settings.TURNS_PER_BATCH", 60)


@pytest.fixture(scope="module")
def undisturbed(talks: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("therapy_analytics.measures.settings.TURNS_PER_BATCH", 60)
        return ta.run([talks], tmp_path_factory.mktemp("undisturbed") / "r", settings=FAST, writing=PARTS).out


def test_the_numbers_are_those_of_the_tables_in_csv(talks: Path, undisturbed: Path, tmp_path: Path) -> None:
    ta.run([talks], tmp_path / "r", settings=FAST, writing=ta.Writing(figures=(), report=False))
    parts, tables = ta.load(undisturbed), ta.load(tmp_path / "r")
    assert len(parts.sessions) == N_SESSIONS + 1
    for name in TABLES:
        one, other = getattr(parts, name), getattr(tables, name)
        assert set(one) == set(other)
        pd.testing.assert_frame_equal(one[list(other)], other, rtol=1e-5, atol=1e-12, check_categorical=False)
    assert (parts.codebook == tables.codebook).all(axis=None)


def test_all_parts_of_a_data_set_have_one_schema(undisturbed: Path) -> None:
    import pyarrow.parquet

    for name in TABLES:
        schemas = [pyarrow.parquet.read_schema(path) for path in sorted((undisturbed / name).iterdir())]
        assert len(schemas) > 2
        assert all(schema.equals(schemas[0], check_metadata=True) for schema in schemas)


def test_pandas_arrow_and_duckdb_read_them(undisturbed: Path) -> None:
    import pyarrow.dataset

    n = len(pd.read_parquet(undisturbed / "turns"))
    assert n == pyarrow.dataset.dataset(undisturbed / "turns").count_rows()
    with duckdb.connect() as base:
        table = f"read_parquet('{undisturbed}/turns/*.parquet')"
        assert base.sql(f"select count(*) from {table}").fetchall() == [(n,)]
        ids = base.sql(f"select distinct session_id from {table} where mi_question = 1").fetchall()
    assert {one for (one,) in ids} <= set(ta.load(undisturbed).sessions["session_id"])


def test_there_are_no_folders_of_sessions_figures_or_words(undisturbed: Path) -> None:
    names = {path.name for path in undisturbed.iterdir()}
    assert not {"folders", "report.html", "sessions.csv", "profile.png", "evidence"} & names
    assert not list(undisturbed.rglob("*.png"))
    assert "text" not in pd.read_parquet(undisturbed / "turns")


@pytest.mark.parametrize("asked", [{"report": True}, {"plots": "session"}])
def test_page_and_figures_cannot_be_had(asked: dict[str, Any], talks: Path, tmp_path: Path) -> None:
    with pytest.raises(BadOptionError, match=r"from tables in CSV\. Leave --.* out, or write CSV"):
        ta.run([talks], tmp_path / "r", settings=FAST, writing=ta.Writing(form="parquet", **asked))


def test_it_goes_on_where_it_was_stopped(
    talks: Path, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = 0

    def stop(*arguments: object) -> None:
        nonlocal written
        written += 1
        if written == 3:
            raise KeyboardInterrupt
        real(*arguments)  # type: ignore[arg-type]

    real = results.write_data_files
    with monkeypatch.context() as patched:
        patched.setattr(results, "write_data_files", stop)
        with pytest.raises(KeyboardInterrupt):
            ta.run([talks], tmp_path / "r", settings=FAST, writing=PARTS)
    done = files(tmp_path / "r")
    assert len(list((tmp_path / "r" / "turns").iterdir())) == 2
    assert {name: data for name, data in done.items() if name != ".going.json"}.items() <= files(undisturbed).items()
    cut = tmp_path / "r" / "parts" / "part-000000.parquet"
    cut.write_bytes(cut.read_bytes()[:-9])
    found = ta.run([talks], tmp_path / "r", settings=FAST, writing=PARTS)
    assert 0 < found.n_kept < N_SESSIONS
    assert files(tmp_path / "r") == files(undisturbed)


def test_the_same_again_measures_nothing(
    talks: Path, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(undisturbed, tmp_path / "r")
    monkeypatch.setattr(results, "write_data_files", None)
    assert ta.run([talks], tmp_path / "r", settings=FAST, writing=PARTS).n_kept == N_SESSIONS + 1
    assert files(tmp_path / "r") == files(undisturbed)


def test_the_other_form_leaves_nothing_of_this_one(talks: Path, tmp_path: Path) -> None:
    tables = ta.Writing(figures=(), report=False)
    one = [talks / "nair_yuki.txt"]
    ta.run(one, tmp_path / "csv", settings=FAST, writing=tables)
    ta.run(one, tmp_path / "parquet", settings=FAST, writing=PARTS)
    ta.run([talks], tmp_path / "r", settings=FAST, writing=PARTS)
    ta.run(one, tmp_path / "r", settings=FAST, writing=tables, replace=True)
    assert files(tmp_path / "r") == files(tmp_path / "csv")
    ta.run(one, tmp_path / "r", settings=FAST, writing=PARTS)
    assert files(tmp_path / "r") == files(tmp_path / "parquet")


def test_a_defect_is_told_again_when_its_part_is_kept(
    talks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("therapy_analytics.measures.settings.TURNS_PER_BATCH", 200)
    real = work.measure_batch

    def fails(batch: tuple[ta.Session, ...], *rest: object, **more: object) -> object:
        if any(session.id == "nair_tomas" for session in batch):
            raise KeyError("said in private")
        return real(batch, *rest, **more)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(work, "measure_batch", fails)
        first = ta.run([talks], tmp_path / "r", settings=FAST, writing=PARTS)
    again = ta.run([talks], tmp_path / "r", settings=FAST, writing=PARTS)
    assert len(first.sessions) == N_SESSIONS
    assert [str(one) for one in again.problems] == [str(one) for one in first.problems]
    assert "nair_tomas" in str(first.problems[0])
