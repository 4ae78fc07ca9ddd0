"""Every command with its default options, as the operating system sees it: no internet, and nothing left behind.

Hooks in Python do not see native code: that is how telemetry of a library went unnoticed in versions before 0.4.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from coding.samples import codes_of, sample_of
from traces import Traced, beyond_this_machine, need_strace, tanalyze, traced

import therapy_analytics
import therapy_analytics as ta

TALKS = ("aria_ben.json", "nair_tomas.csv", "sessions.csv")
TAUGHT = (*TALKS, "boyle_lucia.txt", "lindqvist_dana_1.vtt", "lindqvist_omar.txt", "nair_yuki.txt")
COMMANDS = {
    "--help": ["--help"],
    "inspect": ["inspect", "talks"],
    "run": ["run", "talks", "--out", "results"],
    "run in two processes": [
        "run", "talks/aria_ben.json", "--out", "in_two", "--processes", "2", "--no-plots", "--no-report",
    ],
    "run with all that may be asked for": [
        "run", "talks/aria_ben.json", "--out", "all", "--measures", "all", "--quotes",
        "--all-codes", "--output-format", "parquet",
    ],
    "report": ["report", "results"],
    "compare": ["compare", "results", "--by", "source", "--out", "compared"],
    "outcomes": ["outcomes", "results", "--outcomes", "scores.csv", "--out", "outcomes"],
    "agree": ["agree", "results", "codes.csv", "--out", "agreed"],
    "code": ["code", "drawn", "--coder", "Ann", "--training", "trained/settled.csv"],
    "agree of two people": [
        "agree", "people/Ann.csv", "people/Ben.csv", "--page", "--sample", "drawn", "--out", "people_agreed",
    ],
    "sample": ["sample", "results", "--transcripts", "talks", "--turns", "30", "--out", "sample"],
    "export": ["export", "results", "--to", "parquet", "--out", "exported"],
    "export to Stata": ["export", "results", "--to", "stata", "--out", "exported_stata"],
    "train": ["train", "codes.csv", "taught", "--out", "model", "--only", "mi_question"],
    "convert": ["convert", "talks", "--to", "csv", "--out", "converted"],
    "speakers": ["speakers", "talks", "--out", "speakers"],
    "codebook": ["codebook"],
}  # fmt: skip
"""Each with its defaults, so with the accurate tagger. They run in this order: some read what others wrote."""
IN_TURN = """
import json, sys
from therapy_analytics.cli import main

ends = {}
for name, words in json.loads(sys.argv[1]).items():
    sys.argv = ["tanalyze", *words]
    try:
        main()
        ends[name] = 0
    except SystemExit as end:
        ends[name] = end.code or 0
print(json.dumps(ends))
"""


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory, root: Path, samples: Path) -> Path:
    need_strace()
    folder = tmp_path_factory.mktemp("system_calls")
    for place, names in (("talks", TALKS), ("taught", TAUGHT)):
        (folder / place).mkdir()
        for name in names:
            shutil.copy(samples / name, folder / place)
    shutil.copy(root / "notebooks" / "codes" / "therapist_codes.csv", folder / "codes.csv")
    sessions = ta.read(folder / "talks" / TALKS[0])
    sample = sample_of(sessions, folder / "drawn", n=12)
    trained = sample_of(sessions, folder / "trained", n=40, seed=1)
    codes_of(trained, trained / "settled.csv", "settled", lambda at, *_: at % 2 == 0)
    (folder / "people").mkdir()
    for coder in ("Ann", "Ben"):
        codes_of(sample, folder / "people" / f"{coder}.csv", coder, lambda *_, coder=coder: coder == "Ann")
    ids = [Path(name).stem for name in TALKS]
    rows = "".join(f"{name},{20 - at}\n" for at, name in enumerate(ids))
    (folder / "scores.csv").write_text(f"session_id,PHQ-9\n{rows}", encoding="utf-8")
    return folder


def test_the_installed_command_opens_no_connection_and_leaves_nothing_behind(work: Path) -> None:
    """It calls what the next test calls with every command; and its help lists these."""
    done = traced(tanalyze(), "--help", work=work)
    assert (done.status, done.sockets, done.left) == (0, [], [])
    known = set(re.findall(r"^. (\w+) {2,}\S", done.output.partition("─ Transcripts ─")[2], flags=re.MULTILINE))
    assert known == {words[0] for words in COMMANDS.values() if words[0] != "--help"}


def test_a_command_opens_no_connection_and_leaves_nothing_behind(work: Path) -> None:
    """All in one process, because each start takes seconds."""
    done = traced(sys.executable, "-c", IN_TURN, json.dumps(COMMANDS), work=work)
    assert json.loads(done.output.splitlines()[-1]) == dict.fromkeys(COMMANDS, 0), done.output
    assert (done.sockets, done.left) == ([], [])


def test_analyzing_in_a_notebooks_process_does_neither(work: Path) -> None:
    script = "import therapy_analytics as ta; print(len(ta.analyze(ta.read('talks/aria_ben.json')).sessions))"
    done = traced(sys.executable, "-c", script, work=work)
    assert (done.status, done.output.strip()) == (0, "1"), done.output
    assert (done.sockets, done.left) == ([], [])


# What these tests rest on: they see what they look for.


def test_what_native_code_asks_of_a_network_and_leaves_in_the_home_is_seen(work: Path) -> None:
    script = (
        "import os, socket, pathlib; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('127.0.0.1', 9));"
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('192.0.2.1', 9));"
        "pathlib.Path.home().joinpath('left').touch(); pathlib.Path(os.environ['TMPDIR'], 'also').touch()"
    )
    done = traced(sys.executable, "-c", script, work=work)
    assert sum("connect(" in call for call in done.sockets) == 2
    assert len(beyond_this_machine(work / "calls.txt")) == 1
    assert done.left == ["HOME/left", "TMPDIR/also"]


def test_a_version_of_onnxruntime_with_telemetry_is_seen_when_it_is_not_switched_off(work: Path) -> None:
    encoder = Path(therapy_analytics.__file__).parent / "codes" / "weights" / "encoder_lower.onnx"
    script = (
        "import onnxruntime; "
        f"onnxruntime.InferenceSession({str(encoder)!r}, providers=['CPUExecutionProvider']); "
        "print(onnxruntime.__version__)"
    )
    done: Traced = traced(sys.executable, "-c", script, work=work)
    version = tuple(map(int, done.output.split()[-1].split(".")[:2]))
    if version < (1, 29):
        pytest.skip("this version of onnxruntime has no telemetry")
    assert done.left


def test_onnxruntime_and_spacy_are_loaded_in_one_place_alone(root: Path) -> None:
    package = Path(therapy_analytics.__file__).parent
    files = [*package.rglob("*.py"), *(root / "tools").rglob("*.py"), *(root / "benchmarks").rglob("*.py")]
    wrong = [str(one) for one in files if one.name != "third_party.py" and _loads(one, "onnxruntime")]
    wrong += [str(one) for one in package.rglob("*.py") if one.name != "third_party.py" and _loads(one, "spacy")]
    assert wrong == []


def _loads(path: Path, library: str) -> bool:
    """Tell whether a file imports a library itself; names from a module of spaCy come after spaCy was loaded."""
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)) if library in source else ():
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and library == "onnxruntime":
            names = [node.module or ""]
        if any(name.partition(".")[0] == library for name in names):
            return True
    return False
