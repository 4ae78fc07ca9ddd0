"""Which files are read, and what is said of those that cannot be."""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from therapy_analytics.core.errors import BadDataFileError, NothingToReadError, UnreadableFileError
from therapy_analytics.readers import FileReading, ReadOptions, find_files, read, read_files

CHAT = "T: Hello.\nC: Hi.\n"
Problem = Callable[..., UnreadableFileError]


def put(folder: Path, *names: str, text: str = CHAT) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def names(folder: Path, **more: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in find_files([folder], **more)]


def test_files_below_a_folder_in_the_order_of_their_names(tmp_path: Path) -> None:
    put(tmp_path, "b.txt", "a/z.txt", "a/B.txt", "c.vtt", "a.txt")
    assert names(tmp_path) == ["a/B.txt", "a/z.txt", "a.txt", "b.txt", "c.vtt"]


def test_hidden_files_media_and_notes_about_the_folder_are_passed_over(tmp_path: Path) -> None:
    put(
        tmp_path,
        ".hidden.txt",
        ".git/x.txt",
        "~$open.txt",
        "README.md",
        "LICENSE",
        "licence.txt",
        "a.wav",
        "b.PNG",
        "c.py",
    )
    put(tmp_path, "sessions.csv", text="session_id,counselor\nx,Ann\n")
    put(tmp_path, "real.txt")
    assert names(tmp_path) == ["real.txt"]


def test_an_unknown_ending_is_tried(tmp_path: Path) -> None:
    put(tmp_path, "one.transcript", "two")
    assert [reading.reader for reading in read_files([tmp_path])] == ["labelled_text", "labelled_text"]


def test_results_of_an_earlier_run_are_not_read(tmp_path: Path) -> None:
    put(tmp_path, "real.txt", "results/sessions/x.txt", "results/run.json", "results/problems.csv", "notes/run.json")
    assert names(tmp_path) == ["notes/run.json", "real.txt"]


def test_the_folder_that_results_go_to_is_left_out(tmp_path: Path) -> None:
    put(tmp_path, "real.txt", "out/x.txt", "other/x.txt")
    assert names(tmp_path, leave_out=tmp_path / "other" / ".." / "out") == ["other/x.txt", "real.txt"]


def test_a_file_that_is_named_twice_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "a.txt", "sub/b.txt")
    monkeypatch.chdir(tmp_path)
    paths = ["a.txt", tmp_path / "a.txt", "./a.txt", "sub/../a.txt", tmp_path, "sub"]
    assert find_files(paths) == [Path("a.txt"), tmp_path / "sub" / "b.txt"]


def test_a_named_file_is_read_whatever_it_is_called(tmp_path: Path) -> None:
    put(tmp_path, ".hidden.txt", "README.md")
    assert len(find_files([tmp_path / ".hidden.txt", tmp_path / "README.md"])) == 2


@pytest.mark.parametrize("make", [lambda folder: None, lambda folder: put(folder, ".x", "a.png", "README")])
def test_a_folder_without_transcripts(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path)
    with pytest.raises(NothingToReadError, match=r"No transcript was found in .*captions"):
        find_files([tmp_path])


def test_no_paths_at_all() -> None:
    with pytest.raises(NothingToReadError, match="in no path"):
        list(read_files([]))


def only_problem(path: Path) -> UnreadableFileError:
    (one,) = read_files([path])
    assert one.problem is not None
    assert "could not be understood" not in one.problem.problem
    return one.problem


def test_a_missing_file_and_a_broken_link(tmp_path: Path) -> None:
    link = tmp_path / "link.txt"
    link.symlink_to(tmp_path / "gone.txt")
    for path in (tmp_path / "gone.txt", link, tmp_path):
        assert only_problem(path).problem == "the file cannot be opened (No such file or directory)"


def test_loops_of_links_end(tmp_path: Path) -> None:
    put(tmp_path, "sub/a.txt")
    (tmp_path / "sub" / "up").symlink_to(tmp_path, target_is_directory=True)
    assert names(tmp_path) == ["sub/a.txt"]
    loop = tmp_path / "loop.txt"
    loop.symlink_to(loop)
    assert "cannot be opened" in only_problem(loop).problem
    assert [reading.problem is None for reading in read_files([tmp_path])] == [False, True]


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, *_: object) -> bytes:
        raise PermissionError(13, "Permission denied", str(self))

    put(tmp_path, "a.txt")
    monkeypatch.setattr(Path, "open", refuse)
    assert only_problem(tmp_path / "a.txt").problem == "the file cannot be opened (Permission denied)"


def test_a_folder_that_may_not_be_listed_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "a.txt", "shut/b.txt")
    listed = Path.iterdir

    def refuse(self: Path) -> object:
        if self.name == "shut":
            raise PermissionError(13, "Permission denied", str(self))
        return listed(self)

    monkeypatch.setattr(Path, "iterdir", refuse)
    one, two = read_files([tmp_path])
    assert (one.problem, two.path.name) == (None, "shut")
    assert two.problem is not None
    assert "cannot be opened" in two.problem.problem


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    put(tmp_path, "a.txt")
    os.mkfifo(tmp_path / "pipe.txt")
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"PK\x03\x04rest", "a zip file, or a Word or Excel file that is damaged"),
        (b"\xd0\xcf\x11\xe0rest", "an old Word or Excel file"),
        (b"\x89PNG\r\n", "a picture"),
        (b"RIFFxxxxWAVE", "a sound or video file"),
        (b"T: Hello.\0\0\0", "a file that is not text"),
        (bytes(range(1, 256)) * 8, "could not be decoded"),
    ],
)
def test_what_is_no_text_is_named(data: bytes, what: str, problem: Problem) -> None:
    error = problem(data, "a.txt")
    assert what in error.problem
    assert error.remedy == "Save the transcript as plain text, CSV, JSON or WebVTT (UTF-8)"


@pytest.mark.parametrize("begins", ["<!DOCTYPE html>\n<p>", "\ufeff <html lang=en><p>"])
def test_a_web_page_without_turns_is_named(begins: str, problem: Problem) -> None:
    error = problem(f"{begins}<b>Our clinic</b> is open on Mondays.</p></html>", "chat.html")
    assert error.problem == "this web page shows no turns with the names of speakers"
    assert "export" in error.remedy


WESTERN = (
    "Therapist: It\u2019s \u201ctoo much\u201d \u2013 really?\n"
    "Client: Caf\u00e9, na\u00efve, d\u00e9j\u00e0 vu \u2026 yes.\n"
)


@pytest.mark.parametrize("times", [1, 1000])
def test_letters_of_western_windows(times: int, sessions: Callable[..., tuple[object, ...]], session: object) -> None:
    text = f"{WESTERN}{'Therapist: And then we talked of the week.' * 3}\nClient: Right.\n" * times
    assert sessions(text.encode("cp1252"), "a.txt")[0] == sessions(text.encode(), "a.txt")[0]


def test_a_letter_that_is_cut_in_half_at_the_end(spoken: Callable[..., list[tuple[str, str]]]) -> None:
    assert spoken("T: Caf\u00e9 \u5f20.\nC: Hi \U0001f600".encode()[:-1]) == [("T", "Caf\u00e9 \u5f20."), ("C", "Hi")]


def test_one_bad_file_stops_no_other(tmp_path: Path) -> None:
    put(tmp_path, "a.txt", "c.txt")
    put(tmp_path, "b.txt", text="")
    readings = list(read_files([tmp_path]))
    assert [reading.problem is None for reading in readings] == [True, False, True]
    with pytest.raises(UnreadableFileError, match=r"b\.txt: the file is empty\. It should hold a transcript\.$"):
        read(tmp_path)


def test_read_gives_all_sessions_in_order(tmp_path: Path) -> None:
    put(tmp_path, "b.txt", "a.txt", "a/b.txt")
    assert [session.id for session in read(tmp_path)] == ["b", "a", "b-2"]


def test_a_reading_says_which_bytes_it_read(reading: Callable[..., FileReading]) -> None:
    one = reading("T: Hello.\r\nC: Hi.\r\n")
    assert one.sha256 == hashlib.sha256(b"T: Hello.\r\nC: Hi.\r\n").hexdigest()


def test_a_reading_travels_between_processes(reading: Callable[..., FileReading]) -> None:
    for one in (reading(CHAT), reading("", "empty.txt")):
        copy = pickle.loads(pickle.dumps(one))
        assert (copy.path, str(copy.problem), len(copy.sessions)) == (one.path, str(one.problem), len(one.sessions))


def test_a_table_about_sessions_that_does_not_exist_stops_the_run_at_once(tmp_path: Path) -> None:
    put(tmp_path, "a.txt")
    with pytest.raises(BadDataFileError, match=r"typo\.csv: there is no such table"):
        list(read_files([tmp_path], options=ReadOptions(metadata=tmp_path / "typo.csv")))


def test_a_defect_of_a_reader_stops_nothing_and_says_no_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise KeyError("secret words")

    put(tmp_path, "a.txt")
    monkeypatch.setattr("therapy_analytics.readers.transcript_reading.choose_reader", fail)
    (one,) = read_files([tmp_path])
    assert one.problem is not None
    assert "KeyError" in one.problem.problem
    assert "secret" not in str(one.problem)


def zipped_project() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("project.qde", "<Project/>")
        archive.writestr("sources/a.txt", "T: One.\nC: Two.\n")
    return data.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "export"),
    [
        ("case.qdpx", zipped_project(), "Export its texts from NVivo, MAXQDA or ATLAS.ti as Word or plain text, and"),
        ("case.exb", b"<basic-transcription/>", "Export it from the Partitur-Editor as an ELAN file (.eaf) or a Praat"),
        (
            "case.exs",
            b'<?xml version="1.0"?>\n<segmented-transcription/>',
            "as an ELAN file (.eaf) or a Praat TextGrid",
        ),
        ("case.trs", b'<!DOCTYPE Trans SYSTEM "trans-14.dtd">\n<Trans/>', "Import it into ELAN as a Transcriber file"),
    ],
)
def test_a_file_of_another_program_is_refused_with_the_export_that_is_read(
    name: str, data: bytes, export: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(data)
    (reading,) = read_files([tmp_path])
    assert reading.problem is not None
    assert "which is not read" in reading.problem.problem
    assert export in reading.problem.remedy


def test_a_data_folder_of_kaldi_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("T: How are you?\nC: I am ill.\n")
    assert [one.problem is None for one in read_files([tmp_path])] == [True]  # a name alone says nothing
    (tmp_path / "utt2spk").write_text("t_01 ann\nc_01 bo\n")
    problem = next(one.problem for one in read_files([tmp_path]) if one.path.name == "text")
    assert "Make a table of it, a row an utterance: speaker by utt2spk" in str(problem)


@pytest.mark.parametrize(
    "address", ["s3://key:secret@bucket/talks", "gs://bucket/a.json", "https://host/a.json?secret"]
)
def test_an_address_is_refused_with_what_to_do(address: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("T: How are you?\nC: Well.\n")
    for given in (address, Path(address)):
        with pytest.raises(NothingToReadError, match="Copy the transcripts into a folder here first") as caught:
            list(read_files([tmp_path, given]))
        assert "secret" not in str(caught.value)
