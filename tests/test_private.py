"""Private by construction: every command once, without a network or a place for temporary files, with words to find."""

from __future__ import annotations

import ast
import io
import json
import os
import pickle
import random
import re
import stat
import subprocess
import sys
import traceback
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import therapy_analytics as ta
from therapy_analytics import private
from therapy_analytics.behaviours import load_tagger
from therapy_analytics.behaviours.text_model import load_text_model
from therapy_analytics.errors import TherapyAnalyticsError

PACKAGE = Path(ta.__file__).parent
SPOKEN = ("zanthoric", "mubblefen", "grintlewock")
"""Words that nobody says, in every turn and in every broken file: they may stand nowhere."""
LABELS = ("Quorvex", "Blimtharn")
"""Speakers' labels, as the transcripts have them, the therapist's first: they may stand in the tables, and in the
messages that `docs/privacy.md` names, and in nothing else."""
OTHERS = ("tea", "rain", "bread", "music", "trains", "paint", "dogs", "letters", "snow", "songs")
HOLD_LABELS = {"turns", "sessions"}
"""Tables, in whatever form."""
HOLD_WORDS = {"converted_csv", "converted_jsonl", "redacted", "speakers", "drawn", "settling"}
"""Folders whose files hold words: what `convert`, `redact`, `speakers`, and the pages of people who code are for."""
TO_CODE = "turns.json"
"""The file of `sample` with the words of the turns that people are to code, of labels only the roles."""

GUARD = r"""
import contextlib, io, json, os, sys, tempfile, threading

NETWORK = ("socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethost",
           "urllib.", "http.client", "ftplib.", "smtplib.", "webbrowser.", "subprocess.", "os.exec", "os.system",
           "os.posix_spawn", "os.spawn", "pickle.find_class", "ctypes.dlopen_by_name")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
asked, written = [], set()

def watch(event, args):
    if event == "open" and isinstance(args[0], (str, bytes)) and (args[2] or 0) & WRITES:
        written.add(os.path.abspath(os.fsdecode(args[0])))
    if event in ("tempfile.mkstemp", "tempfile.mkdtemp"):
        written.add(os.path.abspath(args[0]))
    if event == "socket.__new__" and args[1] == 2 or event.startswith(NETWORK):
        asked.append(event)
        raise SystemExit(f"the program asked for {event}")

sys.addaudithook(watch)
os.umask(0)
os.umask = lambda mask: 0  # what is private is so by the mode that it is made with, not by luck
tempfile.tempdir = os.path.join(os.getcwd(), "nowhere", "at", "all")
title = open("/proc/self/cmdline", "rb").read() if os.path.exists("/proc/self/cmdline") else b""

from therapy_analytics.cli import app, main

def tanalyze(*words):
    sys.argv = ["tanalyze", *map(str, words)]
    print("$", words[0], flush=True)
    try:
        main()
    except SystemExit as end:
        return end.code or 0
    return 0

def finish(**found):
    same = not title or open("/proc/self/cmdline", "rb").read() == title
    threads = [thread.name for thread in threading.enumerate()]
    told = {"asked": asked, "written": sorted(written), "same_title": same, "threads": threads, **found}
    with open("told.json", "w") as file:
        json.dump(told, file)
"""

EVERY = """
fast, beside = ("--tagger", "fast"), ("--beside", "fast")
names = {one.name or one.callback.__name__ for one in app.registered_commands}
ends = {
    "inspect": tanalyze("inspect", "talks"),
    "run": max(
        tanalyze("run", "talks", "--out", "r", *fast, "--explain", "--figure-format", "svg"),
        tanalyze("run", "talks", "--out", "p", *fast, "--output-format", "parquet"),
    ),
    "report": tanalyze("report", "r", "--out", "r/report.html"),
    "compare": tanalyze(
        "compare", "r", "--by", "site", "--measures", "core", "--permutations", "1000", "--out", "compared"
    ),
    "outcomes": tanalyze("outcomes", "r", "--outcomes", "scores.csv", "--out", "outcomes"),
    "agree": max(
        tanalyze("agree", "r", "codes.csv", "--out", "agreed"),
        tanalyze("agree", "people/Ann.csv", "people/Ben.csv", "--page", "--out", "settled"),
        tanalyze("agree", "people/Ann.csv", "people/Ben.csv", "--page", "--sample", "drawn", "--out", "settling"),
    ),
    "code": tanalyze("code", "drawn", "--coder", "Ann"),
    "sample": tanalyze("sample", "r", "--transcripts", "talks", "--turns", "10", "--out", "sample"),
    "train": tanalyze("train", "codes.csv", "coded", "--cold", *beside, "--only", "own_greets", "--out", "model"),
    "export": max(tanalyze("export", "r", "--to", form, "--out", "exported") for form in ("parquet", "stata")),
    "convert": max(tanalyze("convert", "talks", "--to", to, "--out", f"converted_{to}") for to in ("csv", "jsonl")),
    "codebook": tanalyze("codebook"),
}
if "redact" in names:
    ends["redact"] = tanalyze("redact", "talks", "--out", "redacted")
if "speakers" in names:
    ends["speakers"] = tanalyze("speakers", "talks", "--out", "speakers")
"""

FAILING = """
from dataclasses import replace

from therapy_analytics.behaviours import load_accurate
from therapy_analytics.language import syntax
from therapy_analytics.measures import MEASURES

ready = [load_accurate(), syntax.load_tagger()]  # that these are data is seen by what they ask for
failed = {"broken": tanalyze("run", "broken", "--out", "b", "--tagger", "fast", "--no-plots")}
failed["inspected"] = tanalyze("inspect", "broken")
for words in (("agree", "r", "broken/quote.csv"), ("agree", "broken/quote.csv", "broken/headless.csv"),
              ("code", "misnamed", "--coder", "Ann"), ("code", "torn", "--coder", "Ann"),
              ("train", "broken/quote.csv", "talks"), ("compare", "misnamed"),
              ("report", "misnamed"), ("export", "misnamed"), ("run", "misnamed", "--out", "m"),
              ("run", "talks", "--metadata", "broken/quote.csv", "--out", "m"),
              ("run", "talks", "--lexicon", "broken/cut.json", "--out", "m"), ("codebook", "broken/cut.json")):
    failed[" ".join(words)] = tanalyze(*words)

def fails(session):
    raise ValueError("nothing like this was said: " + session.session.turns[0].text)

name = MEASURES.names()[0]
MEASURES.add(name, replace(MEASURES[name], compute=fails), module=MEASURES[name].compute.__module__)
failed["defect"] = tanalyze("run", "talks", "--out", "d", "--tagger", "fast", "--no-plots")
failed["label"] = tanalyze("run", "talks", "--therapist", "Nobody", "--out", "m")
finish(ends=ends, failed=failed, names=sorted(names))
"""


def greets(number: int, at: int) -> bool:
    """Tell whether the therapist greets in that turn of that session."""
    return (at // 2 + number) % 3 == 0


def talk(number: int) -> str:
    """Return a session of 16 turns, each with words of its own: copies would not be learnt from."""
    rows = ["speaker,text"]
    for at in range(16):
        word = SPOKEN[(at + number) % len(SPOKEN)]
        hello = "hello there, welcome, " if greets(number, at) else ""
        others = " ".join(random.Random(100 * number + at).choices(OTHERS, k=40))
        asks = f"{hello}{'how did the' if at % 4 else 'what about the'} {word} go for you this week, {others}?"
        tells = f"I could not sleep, my {word} made me feel so sad, {others}"
        rows.append(f'{LABELS[at % 2]},"{tells if at % 2 else asks}"')
    return "\n".join(rows) + "\n"


def make(work: Path) -> None:
    """Write transcripts, what is known of them, codes by people, and files that cannot be read."""
    for folder in ("talks", "coded", "broken", "misnamed"):
        (work / folder).mkdir()
    for number in range(10):
        (work / "coded" / f"s{number}.csv").write_text(talk(number), encoding="utf-8")
    for number in range(2):
        (work / "talks" / f"s{number}.csv").write_text(talk(number), encoding="utf-8")
    about = f"session_id,site,counselor,comment\ns0,north,C0,{SPOKEN[0]}\ns1,south,C1,so {SPOKEN[1]}\n"
    (work / "talks" / "sessions.csv").write_text(about, encoding="utf-8")
    places = [(number, at) for number in range(10) for at in range(0, 16, 2)]
    codes = [f"s{number},{at},{int(greets(number, at))},{int(at % 4 == 0)}" for number, at in places]
    (work / "codes.csv").write_text("\n".join(["session_id,turn,greets,mi_question", *codes]) + "\n", encoding="utf-8")
    (work / "scores.csv").write_text("session_id,PHQ-9\ns0,14\ns1,9\n", encoding="utf-8")
    make_sample(work)
    words = " ".join((*SPOKEN, *LABELS))
    for name, data in {
        "cut.json": f'[{{"speaker": "{LABELS[0]}", "text": "{words}',
        "keys.json": json.dumps([{SPOKEN[0]: words, LABELS[0]: words}] * 3),
        "quote.csv": f'speaker,text\n{LABELS[0]},"{words}\nand so on\n',
        "headless.csv": f"{words},{words}\n{words},{words}\n",
        "open.eaf": f"<ANNOTATION_DOCUMENT><X>{words}",
        "bad.TextGrid": f'File type = "ooTextFile"\nObject class = "TextGrid"\n\n{words}\n',
        "bad.srt": f"1\n00:00:01,000 --> {words}\n{words}\n",
        "bad.cha": f"@Begin\n*XXX: {words}\n",
        "bad.docx": f"PK\x03\x04{words}",
        "../misnamed/sessions.csv": f"{words}\n{words}\n",
    }.items():
        (work / "broken" / name).write_text(data, encoding="utf-8")


def make_sample(work: Path) -> None:
    """Write a sample with the words of its turns, one that is broken, and codes of two people."""
    said = [{"turn": at, "role": "client" if at % 2 else "therapist", "words": SPOKEN[at % 3]} for at in range(8)]
    files = {
        "sample.csv": "session_id,turn,role,inclusion,why\ns0,2,therapist,0.25,random\ns0,7,client,0.25,unsure\n",
        "design.json": json.dumps({"books": ["mi"]}),
        "turns.json": json.dumps({"sessions": [{"session_id": "s0", "turns": said}]}),
    }
    for folder, wrong in (("drawn", {}), ("torn", {"turns.json": f'{{"sessions": "{" ".join(SPOKEN)}'})):
        private.folder(work / folder)
        for name, text in (files | wrong).items():
            private.write(work / folder / name, text)
    (work / "people").mkdir()
    for coder, value in (("Ann", 1), ("Ben", 0)):
        rows = f"s0,2,mi_question,{value},{coder},0.25,1,not sure\ns0,7,mi_change,1,{coder},0.25,0,\n"
        text = f"session_id,turn,code,value,coder,inclusion,unsure,note\n{rows}"
        (work / "people" / f"{coder}.csv").write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("private")
    make(folder)
    return folder


@pytest.fixture(scope="module")
def told(work: Path) -> dict[str, Any]:
    """Run all commands, well and badly, in one process: what it asked for, wrote and printed."""
    import matplotlib.font_manager  # noqa: F401 (on a new machine it asks another program for the fonts, once)

    # A test that ran the command in this process has left its folder for matplotlib's list of fonts in the environment.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("MPL")}
    env = {
        **inherited,
        "PYTHONDONTWRITEBYTECODE": "1",
        "COLUMNS": "200",
        "TERM": "dumb",
        "TMPDIR": str(work / "nowhere"),
    }
    script = GUARD + EVERY + FAILING
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=work, capture_output=True, text=True, env=env, check=False
    )
    assert (work / "told.json").is_file(), done.stderr[-2000:]
    found = json.loads((work / "told.json").read_text())
    (work / "told.json").unlink()
    return {**found, "out": done.stdout, "err": done.stderr}


def made(work: Path) -> list[Path]:
    """Return all files that were written, those in archives apart."""
    given = {work / name for name in ("talks", "coded", "broken", "misnamed", "people", "torn")}
    return [
        one
        for one in work.rglob("*")
        if not given & {one, *one.parents} and one.name not in ("codes.csv", "scores.csv")
    ]


def contents(path: Path) -> str:
    """Return all that a file holds, as text; what is packed in it, unpacked."""
    data = path.read_bytes()
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            data += b"".join(archive.read(name) for name in archive.namelist())
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        data += repr(pq.read_table(path).to_pylist()).encode()
    return data.decode("utf-8", "replace") + data.decode("utf-16-le", "replace")


def test_every_command_ran(told: dict[str, Any]) -> None:
    assert told["ends"] == dict.fromkeys(told["ends"], 0), told["err"]
    assert sorted(told["ends"]) == told["names"], "a command was added: let it run here as well"


def test_no_command_asks_for_the_network_or_for_another_program(told: dict[str, Any]) -> None:
    assert told["asked"] == []


def test_files_are_their_owners_alone_whatever_the_umask(work: Path, told: dict[str, Any]) -> None:
    files = made(work)
    assert len(files) > 60
    wrong = {
        str(one.relative_to(work)): oct(stat.S_IMODE(one.stat().st_mode))
        for one in files
        if os.name == "posix" and stat.S_IMODE(one.stat().st_mode) != (0o700 if one.is_dir() else 0o600)
    }
    assert wrong == {}


def test_nothing_is_written_but_where_it_was_asked_for(work: Path, told: dict[str, Any]) -> None:
    names = ("r", "p", "compared", "outcomes", "agreed", "settled", "model", "exported", "sample", "b", "m", "d")
    names = (*names, *HOLD_WORDS)
    outs = [work / name for name in names]
    beside = re.compile(r"\.model\.\w+")
    for path in map(Path, told["written"]):
        own = any(out == path or out in path.parents for out in outs)
        fresh = any(beside.fullmatch(part) for part in path.parts)
        fonts = path.name.startswith("tanalyze-fonts-") or "matplotlib" in str(path)
        lock = path.name == ".lock" and not path.exists()  # of a command that failed, where it would write
        assert own or fresh or path == Path(os.devnull) or fonts or lock, path
    assert not (work / "nowhere").exists()
    assert not [one for one in work.iterdir() if one.name.startswith(".")]


def test_no_word_stands_in_any_file_or_on_the_screen(work: Path, told: dict[str, Any]) -> None:
    for word in SPOKEN:
        assert word not in f"{told['out']}{told['err']}".lower(), f"{word} on the screen"
    for path in made(work):
        if path.is_file() and not HOLD_WORDS & set(path.relative_to(work).parts) and path.name != TO_CODE:
            assert not [word for word in SPOKEN if word in contents(path).lower()], path.relative_to(work)


def test_labels_stand_in_the_tables_and_in_three_messages(work: Path, told: dict[str, Any]) -> None:
    for line in told["err"].splitlines():
        listed = line == f"tanalyze: --therapist: no speaker is called 'Nobody'. The labels are: {', '.join(LABELS)}."
        assert listed or not [label for label in LABELS if label in line and not guessed(line)], line
    for printed in told["out"].split("$ ")[1:]:
        lines = [] if printed.startswith("inspect") else printed.splitlines()
        assert not [line for line in lines if any(label in line for label in LABELS) and not guessed(line)]
    assert guessed(next(line for line in told["out"].splitlines() if line.startswith("Taken as therapist")))
    for path in made(work):
        is_table = HOLD_LABELS & {path.stem, path.parent.name}
        if path.is_file() and not is_table and not HOLD_WORDS & set(path.relative_to(work).parts):
            assert not [label for label in LABELS if label in contents(path)], path.relative_to(work)


def guessed(line: str) -> bool:
    """Tell whether this is the message on whom a guess took for the therapist, and names nobody else."""
    told = r"Taken as therapist, guessed from the pronouns you and I(, with a thin margin)?: (\w+) in \d+ sessions?\."
    found = re.match(told, line)
    return found is not None and found[2] == LABELS[0] and LABELS[1] not in line


def test_what_fails_says_so_without_the_words(work: Path, told: dict[str, Any]) -> None:
    ends = told["failed"]
    assert all(ends[name] for name in ends if name != "inspected"), ends
    assert "Traceback" not in told["err"]
    if ends["defect"] == 2:
        assert "a defect of this program stopped session s0 (ValueError in" in told["err"]
    problems = (work / "b" / "problems.csv").read_text(encoding="utf-8")
    assert {"cut.json", "keys.json", "quote.csv", "open.eaf", "bad.docx"} <= {
        Path(line.split(",")[0]).name for line in problems.splitlines()
    }


def test_neither_titles_nor_names_of_threads_are_changed(told: dict[str, Any]) -> None:
    assert told["same_title"]
    assert not [name for name in told["threads"] if any(word.lower() in name.lower() for word in (*SPOKEN, *LABELS))]


def test_a_traceback_of_ours_holds_no_words(work: Path) -> None:
    for path in sorted((work / "broken").iterdir()):
        try:
            ta.read(path)
        except TherapyAnalyticsError as error:
            shown = "".join(traceback.format_exception(error)).lower()
            assert not [word for word in (*SPOKEN, *map(str.lower, LABELS)) if word in shown], path.name


# Weights and lexicons are data


KINDS = {
    ".npz", ".json", ".onnx", ".safetensors", ".toml", ".csv", ".txt", ".gz", ".md", ".typed", ".py",
    ".html", ".css", ".js",
}  # fmt: skip
OF_SYNTAX = {"config.cfg", "cfg", "model", "tokenizer"}
"""spaCy's own forms: message pack and settings."""
RUNS_WHAT_IT_LOADS = {
    "pickle", "cPickle", "_pickle", "joblib", "dill", "cloudpickle", "marshal", "shelve", "yaml", "runpy", "code",
    "codeop", "ctypes", "subprocess", "pty", "webbrowser", "setproctitle",
}  # fmt: skip
RUNS_TEXT = {"eval", "exec", "compile", "__import__", "breakpoint", "input"}
CALLS = {"read_pickle", "to_pickle", "system", "popen", "eval", "register_custom_ops_library", "execfile"}


def shipped() -> list[Path]:
    files = [path for path in PACKAGE.rglob("*") if path.is_file()]
    return [
        one for one in files if not any(p.startswith(".") or p == "__pycache__" for p in one.relative_to(PACKAGE).parts)
    ]


def test_what_is_shipped_beside_the_code_is_data() -> None:
    for path in shipped():
        own = path.relative_to(PACKAGE).parts
        assert path.suffix in KINDS or ("syntax_model" in own and path.name in OF_SYNTAX), path
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as archive:
                assert all(archive[name].dtype.kind in "fiubU" for name in archive.files)
    assert sum(path.suffix == ".npz" for path in shipped()) >= 5


def test_the_source_has_no_word_for_running_what_it_reads() -> None:
    for path in (one for one in shipped() if one.suffix == ".py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not RUNS_WHAT_IT_LOADS & {name.partition(".")[0] for name in names}, path.name
            if isinstance(node, ast.Call):
                called = node.func
                assert not (isinstance(called, ast.Name) and called.id in RUNS_TEXT), f"{path.name}:{node.lineno}"
                assert not (isinstance(called, ast.Attribute) and called.attr in CALLS), f"{path.name}:{node.lineno}"
                loads = isinstance(called, ast.Attribute) and ast.unparse(called) in ("np.load", "numpy.load")
                refused = [ast.unparse(one.value) for one in node.keywords if one.arg == "allow_pickle"]
                assert refused == ["False"] if loads else refused in ([], ["False"]), f"{path.name}:{node.lineno}"


class Bomb:
    """What runs when it is loaded by pickle."""

    def __reduce__(self) -> tuple[object, ...]:
        return (os.mkdir, (os.environ["BOMB"],))


@pytest.mark.parametrize("folder", ["weights", "disclosure_weights"])
def test_weights_that_hold_a_program_are_refused(folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOMB", str(tmp_path / "it_ran"))
    own = tmp_path / "model"
    own.mkdir()
    (own / "model.json").write_bytes((PACKAGE / "behaviours" / folder / "model.json").read_bytes())
    with np.load(PACKAGE / "behaviours" / folder / "weights.npz") as archive:
        arrays = {name: archive[name] for name in archive.files}
    trap = io.BytesIO()
    np.savez(trap, **{name: np.array([Bomb()], dtype=object) for name in arrays}, allow_pickle=True)
    with pytest.raises(TherapyAnalyticsError):
        (load_tagger if folder == "weights" else load_text_model)(_with(own, trap.getvalue()))
    with pytest.raises(TherapyAnalyticsError):
        (load_tagger if folder == "weights" else load_text_model)(_with(own, pickle.dumps(Bomb())))
    assert not (tmp_path / "it_ran").exists()


def _with(folder: Path, weights: bytes) -> Path:
    (folder / "weights.npz").write_bytes(weights)
    return folder


def test_the_syntax_model_brings_no_code() -> None:
    import configparser

    folder = PACKAGE / "language" / "syntax_model"
    settings = configparser.ConfigParser(interpolation=None)
    settings.read_string((folder / "config.cfg").read_text(encoding="utf-8"))
    made_by = [
        value.strip('"') for part in settings.sections() for key, value in settings[part].items() if key[0] == "@"
    ]
    assert made_by
    assert all(re.fullmatch(r"spacy\.\w+\.v\d+|Adam\.v1|warmup_linear\.v1|\w+\.v\d+", one) for one in made_by)
    for key in ("before_creation", "after_creation", "after_pipeline_creation"):
        assert settings["nlp"][key] == "null"
    assert not {"requirements", "code", "import"} & set(json.loads((folder / "meta.json").read_text(encoding="utf-8")))


def test_every_promise_names_tests_that_there_are(root: Path) -> None:
    known = {
        name
        for path in (root / "tests").rglob("test_*.py")
        for name in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    }
    for name in ("SECURITY.md", "docs/privacy.md"):
        page = (root / name).read_text(encoding="utf-8")
        assert set(re.findall(r"`(test_\w+)`", page)) <= known, name
        promises = [line for line in page.splitlines() if line.startswith("| ") and "test_" in line]
        assert len(promises) >= 6
