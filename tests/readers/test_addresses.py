"""Transcripts at addresses: read as local ones are, said plainly when they cannot be, and no password shown."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from therapy_analytics.errors import NothingToReadError, UnreadableFileError, how_to_install
from therapy_analytics.readers import FileReading, ReadOptions, _fragments, find_files, inspect, read, read_files
from therapy_analytics.readers._addresses import is_address, placed, shown
from therapy_analytics.readers._fragment_reading import read_again, read_fragment
from therapy_analytics.readers._fragments import find_fragments

CHAT = "T: How are you?\nC: Well, I think.\n"
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(params=["memory", "file"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """Return an empty folder at an address."""
    upath = pytest.importorskip("upath", reason="universal-pathlib is not installed (extra: cluster)")
    address = "memory://talks/in" if request.param == "memory" else f"file://{tmp_path.as_posix()}/in"
    place = upath.UPath(address)
    place.mkdir(parents=True, exist_ok=True)
    yield place
    if request.param == "memory":
        place.fs.rm("/talks", recursive=True)


def put(folder: Any, name: str, content: str | bytes = CHAT) -> str:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def names(folder: Any) -> list[str]:
    root = f"{folder}/"
    return [str(path).removeprefix(root) for path in find_files([str(folder)])]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s3://bucket/a.json", True), ("GS://bucket", True), ("file:///a", True), ("abfss://c@host/a", True),
        ("C:\\a.txt", False), ("C://a.txt", False), ("a/b.txt", False), ("", False), ("://a", False),
        ("a b://c", False),
    ],
)  # fmt: skip
def test_what_is_an_address(text: str, expected: bool) -> None:
    assert is_address(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s3://key:secret@bucket/a.json", "s3://bucket/a.json"),
        ("https://host/a.json?X-Amz-Signature=secret", "https://host/a.json"),
        ("https://u:secret@host/a.json?x=1#secret", "https://host/a.json"),
        ("https://host/a.json#secret", "https://host/a.json"),
        ("zip://a.csv::s3://key:se@cret@bucket/a.zip", "zip://a.csv::s3://bucket/a.zip"),
        ("s3://bucket/ann@home #3.json", "s3://bucket/ann@home #3.json"),
        ("folder/who?.txt", "folder/who?.txt"),
    ],
)
def test_what_is_shown_of_an_address(text: str, expected: str) -> None:
    assert shown(text) == expected
    assert placed(text).endswith(text)


def test_a_folder_at_an_address_is_walked_like_a_local_one(folder: Any) -> None:
    for name in ("b.txt", "a/z.txt", ".hidden.txt", ".git/x.txt", "README.md", "a.wav", "old/run.json", "old/x.txt"):
        put(folder, name)
    put(folder, "old/problems.csv")
    put(folder, "sessions.csv", "session_id,site\nb,North\n")
    assert names(folder) == ["a/z.txt", "b.txt"]
    with pytest.raises(NothingToReadError, match="results of an earlier run"):
        find_files([f"{folder}/old"])
    assert find_files([str(folder), f"{folder}/b.txt"]) == find_files([str(folder)])


def test_sessions_with_what_a_table_beside_them_says(folder: Any) -> None:
    address = put(folder, "lee_1.txt")
    put(folder, "sessions.csv", "session_id,site\nlee_1,North\n")
    own = put(folder, "own/table.csv", "session_id,mood\nlee_1,4\n")
    (one,) = read(address, options=ReadOptions(pattern="{counselor}_{number}", metadata=own))  # type: ignore[arg-type]
    assert (one.id, one.source_file) == ("lee_1", "lee_1.txt")
    assert dict(one.metadata) == {"counselor": "lee", "number": "1", "site": "North", "mood": "4"}
    put(folder, "sessions.csv", "session_id,site\nlee_1,South\n")
    assert read(address)[0].metadata["site"] == "South"


def test_every_sample_is_read_as_the_local_one_is(folder: Any, samples: Path) -> None:
    for path in samples.iterdir():
        put(folder, path.name, path.read_bytes())
    local = list(read_files([samples]))
    there = list(read_files([str(folder)]))
    assert [facts(one) for one in there] == [facts(one) for one in local]
    assert [str(one.path) for one in there] == [f"{folder}/{one.path.name}" for one in local]
    (looked,) = inspect([f"{folder}/{local[0].path.name}"])
    assert next(looked.lines()) == f"{folder}/{local[0].path.name}"
    assert looked.encoding


def facts(reading: FileReading) -> tuple[object, ...]:
    sessions = [(one.id, one.turns, one.metadata, one.role_method, one.notes) for one in reading.sessions]
    return reading.path.name, reading.reader, reading.sha256, reading.problem and reading.problem.problem, sessions


def test_large_files_at_an_address_are_cut(folder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [{"id": f"k{at}", "messages": [{"role": "user", "content": f"I said {at} things."}] * 2} for at in range(60)]
    with (folder / "a.parquet").open("wb") as file:
        pq.write_table(pa.Table.from_pylist(rows), file, row_group_size=9)
    put(folder, "b.jsonl", "".join(f'{{"id": "x{row["id"]}", "messages": {MESSAGES}}}\n' for row in rows))
    whole = list(read_files([str(folder)]))
    monkeypatch.setattr(_fragments, "LARGE", 500)
    fragments = list(find_fragments([str(folder)]))
    assert all(sum(one.path.endswith(name) for one in fragments) > 4 for name in (".parquet", ".jsonl"))
    assert [facts(one) for one in read_files([str(folder)])] == [facts(one) for one in whole]
    assert len(pickle.dumps(fragments[0])) < 700


MESSAGES = '[{"role": "user", "content": "I am tired."}, {"role": "assistant", "content": "Since when?"}]'


def test_the_last_reading_is_kept_until_the_file_changes(folder: Any) -> None:
    (fragment,) = find_fragments([put(folder, "a.txt")])
    first = read_again(fragment, ReadOptions())
    assert read_again(fragment, ReadOptions()) is first
    put(folder, "a.txt", CHAT.replace("Well", "Good"))
    assert read_again(fragment, ReadOptions()).sessions[0].turns[1].text.startswith("Good")


def problem(address: str) -> UnreadableFileError:
    (reading,) = read_files([address])
    assert reading.problem is not None
    assert "secret" not in f"{reading.problem}{reading.problem!r}{reading.path}"
    return reading.problem


def test_a_file_that_is_not_there(folder: Any) -> None:
    assert problem(f"{folder}/gone.txt").problem == "the file cannot be opened (No such file or directory)"


def test_one_bad_file_stops_no_other(folder: Any) -> None:
    for name, content in (("a.txt", CHAT), ("b.txt", b"\x89PNG"), ("c.txt", CHAT)):
        put(folder, name, content)
    assert [one.problem is None for one in read_files([str(folder)])] == [True, False, True]


class RefusedError(Exception):
    """As the package of a storage raises it, with what it should not say."""


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError("secret"), "the file cannot be opened (Permission denied)"),
        (RefusedError("Unable to locate credentials: secret"), "you are not known there, or may not read it"),
        (RefusedError("secret timed out"), "the address cannot be opened (RefusedError)"),
        (OSError("secret"), "the file cannot be opened (OSError)"),
        (ImportError("Install secret"), "needs a package that is not installed"),
    ],
)
def test_what_goes_wrong_is_said_plainly(error: Exception, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = pytest.importorskip("fsspec.implementations.memory", reason="fsspec is not installed (extra: cluster)")
    pytest.importorskip("upath", reason="universal-pathlib is not installed (extra: cluster)")

    def refuse(*_: object, **__: object) -> None:
        raise error

    for name in ("info", "_open", "cat_file", "ls", "isdir", "isfile"):
        monkeypatch.setattr(memory.MemoryFileSystem, name, refuse)
    assert message in problem("memory://talks/a.txt").problem


def test_a_package_for_the_storage_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("upath", reason="universal-pathlib is not installed (extra: cluster)")
    monkeypatch.setitem(sys.modules, "s3fs", None)
    told = problem("s3://key:secret@bucket/a.json")
    assert told.path == "s3://bucket/a.json"
    assert (told.problem, told.remedy) == (
        "reading from s3:// needs a package that is not installed", f"Install it with: {how_to_install('s3fs')}",
    )  # fmt: skip
    assert problem("nosuch://secret:secret@x/a.json").problem == "nosuch:// is no known kind of address"


def test_without_the_packages_for_addresses(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "upath", None)
    (tmp_path / "a.txt").write_text(CHAT)
    address, local = [
        read_fragment(fragment, ReadOptions()) for fragment in find_fragments(["s3://k:secret@b/a.json", tmp_path])
    ]
    assert local.problem is None
    assert address.problem is not None
    assert address.problem.remedy == f"Install them with: {how_to_install('universal-pathlib', 'fsspec')}"
    assert "secret" not in str(address.problem)


def test_local_files_import_nothing_for_addresses(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(CHAT)
    (tmp_path / "sessions.csv").write_text("session_id,site\na,North\n")
    code = (
        "import sys; from therapy_analytics.readers import read_files; "
        f"assert len(list(read_files([{str(tmp_path)!r}]))) == 1; "
        "print({'fsspec', 'upath'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "set()"
