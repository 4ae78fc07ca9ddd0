"""With `--pseudonyms` no name of a client, counselor, session or file reaches what commands write; tables join."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from commands import PLAIN, tanalyze
from folders import files

import therapy_analytics as ta

CLIENTS = {"Zsofia Quarrington": 3, "Ottokar Vandelmeer": 3, "Yrsa Holmquillin": 2}
COUNSELORS = {
    "Zsofia Quarrington": "Ludmila Ferncastle",
    "Ottokar Vandelmeer": "Bartholo Nexwick",
    "Yrsa Holmquillin": "Bartholo Nexwick",
}
PARTS = {part.lower() for one in (*CLIENTS, *COUNSELORS.values()) for part in one.split()}
QUESTIONS = ("What was the week like?", "What would you like to change?", "How did you sleep?", "Who could help?")
ANSWERS = ("It was long.", "I want to walk more.", "Badly, as before.", "I do not know yet.", "My sister, perhaps.")
posix = pytest.mark.skipif(os.name != "posix", reason="no file modes")


def talk(client: str, counselor: str, number: int) -> str:
    """Return a transcript whose labels are a first name and a whole one."""
    lines, first = [], client.split(maxsplit=1)[0]
    for at in range(8):
        lines += [
            f"{first}: {ANSWERS[(at + number) % 5]} {'Well. ' * (at % 3)}It is day {number}, {len(client)}.",
            f"{counselor}: {QUESTIONS[(at * number) % 4]}",
        ]
    return "\n".join(lines)


def write(folder: Path) -> Path:
    """Write transcripts whose file names, labels and table are full of names, and two files with faults."""
    folder.mkdir()
    about = []
    for client, n in CLIENTS.items():
        for number in range(1, n + 1):
            name = f"{client} {number}"
            (folder / f"{name}.txt").write_text(talk(client, COUNSELORS[client], number), encoding="utf-8")
            about.append((name, COUNSELORS[client], client, f"2025-0{number}-01", number))
    about.append(("Zsofia Quarrington 9", "Ludmila Ferncastle", "Zsofia Quarrington", "2025-09-01", 9))
    columns = ["session_id", "therapist", "client_name", "date", "session_number"]
    table = pd.DataFrame(about, columns=columns).assign(client=[row[2] for row in about])
    table.to_csv(folder / "sessions.csv", index=False)
    (folder / "Yrsa Holmquillin broken.json").write_text("{")
    return folder


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with transcripts, tables of scores and codes, and what commands made of them with one key."""
    folder = tmp_path_factory.mktemp("named")
    write(folder / "in")
    shutil.copytree(folder / "in", folder / "whole", ignore=shutil.ignore_patterns("*.json"))
    scores = [(f"{client.upper()} ", n, 20 - n) for client, last in CLIENTS.items() for n in range(1, last + 1)]
    scores.append(("Nobody Quarrington", 1, 9))
    pd.DataFrame(scores, columns=["patient", "session_number", "PHQ-9"]).to_csv(folder / "scores.csv", index=False)
    codes = [
        (f"{client} {n}.txt", turn, int(turn % 4 == 1)) for client, last in CLIENTS.items()
        for n in range(1, last + 1) for turn in range(1, 16, 2)
    ]  # fmt: skip
    pd.DataFrame(codes, columns=["file", "turn", "question"]).to_csv(folder / "codes.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def out(work: Path) -> Path:
    """Return the results of a run with the key `key`."""
    done = tanalyze("run", "in", "--out", "r", "--tagger", "fast", "--no-plots", "--pseudonyms", "key", folder=work)
    assert done.status == 1, "one file cannot be read"
    assert "key is the new key of pseudonyms" in done.err
    assert "The results will hold names" not in done.err
    assert "Yrsa Holmquillin broken.json" in done.err, "on the screen, the user sees which file it is"
    return work / "r"


def names_in(*paths: Path) -> list[str]:
    """Return what holds a name: the paths of files, and lines of them."""
    found = []
    for path in (one for top in paths for one in (top, *top.rglob("*"))):
        held = path.name.lower()
        held += path.read_bytes().decode("utf-8", "replace").lower() if path.is_file() else ""
        found += [f"{path}: {part}" for part in PARTS if part in held]
    return found


def test_no_name_is_in_any_result(work: Path, out: Path) -> None:
    assert names_in(out) == []
    sessions = pd.read_csv(out / "sessions.csv")
    assert sessions["client"].nunique() == len(CLIENTS)
    assert (sessions["client"] == sessions["client_name"]).all()
    turns = pd.read_csv(next((out / "sessions").iterdir()) / "turns.csv")
    assert set(turns["speaker"]) == {*sessions["client"], *sessions["counselor"]} & set(turns["speaker"])
    problems = pd.read_csv(out / "problems.csv")
    assert set(problems["kind"]) == {"not read", "check"}
    assert problems["file"].str.fullmatch(r"file_[a-z]{10}\.(json|csv)").all()
    recipe = json.loads((out / "run.json").read_text())
    assert re.fullmatch("[0-9a-f]{16}", recipe["options"]["pseudonyms"])
    secret = (work / "key").read_text().split("\n")[1]
    assert not [name for name, data in files(out).items() if secret.encode() in data]


@pytest.mark.parametrize(
    "words",
    [
        ("export", "r"),
        ("export", "r", "--to", "codes_csv", "--gold", "codes.csv", "--pseudonyms", "key"),
        ("compare", "r", "--by", "client", "--permutations", "1000", "--gold", "codes.csv", "--pseudonyms", "key"),
        ("outcomes", "r", "--outcomes", "scores.csv", "--pseudonyms", "key"),
        ("agree", "r", "codes.csv", "--no-plots", "--pseudonyms", "key"),
        ("sample", "r", "--transcripts", "whole", "--turns", "40", "--pseudonyms", "key"),
        ("convert", "in", "--to", "csv", "--pseudonyms", "key"),
    ],
    ids=lambda words: "-".join(words[:1]),
)
def test_no_name_is_in_what_other_commands_write(words: tuple[str, ...], work: Path, out: Path, tmp_path: Path) -> None:
    done = tanalyze(*words, "--out", tmp_path / "made", folder=work)
    assert done.status == (1 if words[0] == "convert" else 0), done.err
    assert names_in(tmp_path / "made") == []
    if words[0] == "outcomes":
        course = pd.read_csv(tmp_path / "made" / "course.csv")
        assert course["phq9"].notna().sum() == sum(CLIENTS.values()), "every score has found its session"
    if words[0] == "agree":
        assert f"{8 * sum(CLIENTS.values())} were matched" in (tmp_path / "made" / "agreement.md").read_text()
    if words[0] == "sample":
        page = tanalyze("code", tmp_path / "made", "--coder", "Ann")
        assert page.status == 0, page.err
        assert names_in(tmp_path / "made") == []


def test_one_key_gives_the_same_names_and_another_gives_others(work: Path, out: Path, tmp_path: Path) -> None:
    again = tanalyze("run", "in", "--out", tmp_path / "again", *PLAIN, "--pseudonyms", "key", folder=work)
    other = tanalyze("run", "in", "--out", tmp_path / "other", *PLAIN, "--pseudonyms", tmp_path / "key", folder=work)
    assert again.status == other.status == 1
    tables = [pd.read_csv(one / "sessions.csv") for one in (out, tmp_path / "again", tmp_path / "other")]
    names = ["session_id", "client", "counselor", "source_file"]
    pd.testing.assert_frame_equal(tables[0][names], tables[1][names])
    assert not set(tables[0][names].to_numpy().ravel()) & set(tables[2][names].to_numpy().ravel())


def test_parquet_and_processes_hold_no_names(work: Path, out: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    done = tanalyze(
        *("run", "in", "--out", tmp_path / "p", *PLAIN, "--pseudonyms", "key"),
        *("--output-format", "parquet", "--processes", "2"), folder=work,
    )  # fmt: skip
    assert done.status == 1, done.err
    assert names_in(tmp_path / "p") == []
    ids = set(pd.read_csv(out / "sessions.csv")["session_id"])
    assert set(ta.load(tmp_path / "p").sessions["session_id"]) == ids


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_a_run_that_is_killed_goes_on_without_names(work: Path, out: Path, tmp_path: Path) -> None:
    words = ["run", str(work / "in"), "--out", str(tmp_path / "r"), *PLAIN, "--pseudonyms", str(work / "key")]
    code = (
        "from therapy_analytics import settings; settings.TURNS_PER_BATCH = 10;"
        "from therapy_analytics.cli import main; main()"
    )
    with subprocess.Popen([sys.executable, "-c", code, *words], stderr=subprocess.DEVNULL) as process:
        while process.poll() is None and not list((tmp_path / "r").glob("sessions/session_*/done.json")):
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
    assert names_in(tmp_path / "r") == []
    assert tanalyze(*words).status == 1
    assert names_in(tmp_path / "r") == []
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "r" / "sessions.csv"), pd.read_csv(out / "sessions.csv"))


def test_results_of_other_transcripts_are_kept(work: Path, tmp_path: Path) -> None:
    write(tmp_path / "in")
    words = ("run", "in", "--out", "r", *PLAIN, "--pseudonyms", work / "key")
    assert tanalyze(*words, folder=tmp_path).status == 1
    (tmp_path / "in" / "Ottokar Vandelmeer 2.txt").write_text(talk("Ottokar Vandelmeer", "Bartholo Nexwick", 7))
    changed = tanalyze(*words, folder=tmp_path)
    assert changed.status == 1
    assert "1 transcript changed" in changed.err
    some = sorted((tmp_path / "in").glob("*.txt"))[:6]
    fewer = tanalyze("run", *map(str, some), *words[2:], folder=tmp_path)
    assert fewer.status == 2
    assert "not among those named now" in fewer.err
    plain = tanalyze(*words[:-2], folder=tmp_path)
    assert plain.status == 1, "the same transcripts by their contents"
    assert "Not as in the run before into this folder: options" in plain.err
    assert names_in(tmp_path / "r" / "sessions.csv")


def test_inspect_shows_who_is_who_and_writes_nothing(work: Path, out: Path, tmp_path: Path) -> None:
    before = set(work.rglob("*"))
    done = tanalyze("inspect", "in", "--pseudonyms", "key", folder=work)
    assert set(work.rglob("*")) == before
    sessions = pd.read_csv(out / "sessions.csv").set_index("session_number")
    row = sessions[sessions["counselor"] == sessions.loc[1].groupby("counselor").size().idxmin()].loc[2]
    assert f"session {row['session_id']}, counselor Ludmila Ferncastle is {row['counselor']}, " in done.text
    assert f"client Zsofia Quarrington is {row['client']}" in done.text
    assert f"label Zsofia is {row['client']}" in done.text
    assert f"its file is {row['source_file']}" in done.text
    lacking = tanalyze("inspect", "in", "--pseudonyms", tmp_path / "none", folder=work)
    assert lacking.status == 2
    assert "there is no key" in lacking.err
    assert not (tmp_path / "none").exists()


def test_a_command_without_the_key_says_that_it_lacks(work: Path, out: Path, tmp_path: Path) -> None:
    other = tmp_path / "key"
    tanalyze("run", "in", "--out", tmp_path / "r", *PLAIN, "--pseudonyms", other, folder=work)
    tanalyze("run", "in", "--out", tmp_path / "plain", *PLAIN, folder=work)
    for words in (
        ("outcomes", "r", "--outcomes", "scores.csv"),
        ("agree", "r", "codes.csv"),
        ("compare", "r", "--gold", "codes.csv"),
        ("export", "r", "--to", "codes_csv", "--gold", "codes.csv"),
        ("sample", "r", "--transcripts", "whole", "--turns", "4"),
    ):
        place = ("--out", tmp_path / "o")
        assert "made with --pseudonyms: give the same key" in tanalyze(*words, *place, folder=work).err
        assert "made with another key" in tanalyze(*words, *place, "--pseudonyms", other, folder=work).err
        plain = (words[0], tmp_path / "plain", *words[2:])
        assert "made without pseudonyms" in tanalyze(*plain, *place, "--pseudonyms", "key", folder=work).err
    assert not (tmp_path / "o").exists()


def test_tables_may_have_the_pseudonyms_already(work: Path, out: Path, tmp_path: Path) -> None:
    course = pd.read_csv(out / "sessions.csv")[["client", "session_number"]].assign(mood=range(8))
    course.to_csv(tmp_path / "scores.csv", index=False)
    for key in ((), ("--pseudonyms", "key")):
        done = tanalyze(
            *("outcomes", "r", "--outcomes", tmp_path / "scores.csv", "--better", "mood"),
            *("--out", tmp_path / f"o{len(key)}", "--no-plots", *key), folder=work,
        )  # fmt: skip
        assert done.status == 0, done.err
        assert pd.read_csv(tmp_path / f"o{len(key)}" / "course.csv")["mood"].notna().all()


def test_copies_with_pseudonyms_have_the_same_names_with_the_key_again(work: Path, out: Path, tmp_path: Path) -> None:
    tanalyze("convert", "in", "--to", "jsonl", "--out", tmp_path / "c", "--pseudonyms", "key", folder=work)
    done = tanalyze("run", tmp_path / "c", "--out", tmp_path / "r", *PLAIN, "--pseudonyms", "key", folder=work)
    assert done.status == 0, done.err
    first, second = (pd.read_csv(one / "sessions.csv").set_index("session_id") for one in (out, tmp_path / "r"))
    assert set(first.index) == set(second.index)
    assert (first["client"] == second["client"].loc[first.index]).all()


def test_names_in_other_forms_of_transcripts(work: Path, tmp_path: Path) -> None:
    """Sessions of one file, one file a speaker, one chat cut into days, a pattern, labels that are given."""
    folder = tmp_path / "in"
    folder.mkdir()
    lines = [
        {
            "session_id": f"Zsofia Quarrington {n}",
            "client": "Zsofia Quarrington",
            "speaker": who,
            "text": f"{text} {n}.",
        }
        for n in (1, 2)
        for who, text in (("Ludmila", "What was it like?"), ("Zsofia", "Long, and it rained"), ("Ludmila", "Go on."))
    ]
    pd.DataFrame(lines).to_csv(folder / "Ferncastle.csv", index=False)
    for who, starts in (("therapist", (0, 8)), ("client", (4, 12))):
        cues = "\n\n".join(f"00:00:{at:02d}.000 --> 00:00:{at + 3:02d}.000\nIt is said {at}." for at in starts)
        (folder / f"Ottokar Vandelmeer_{who}.vtt").write_text(f"WEBVTT\n\n{cues}\n")
    done = tanalyze(
        *("run", folder, "--out", tmp_path / "r", *PLAIN, "--pseudonyms", work / "key", "--therapist", "Ludmila"),
        *("--split-by", "gap=1h"),
    )  # fmt: skip
    assert done.status == 0, done.err
    assert names_in(tmp_path / "r") == []
    notes = " ".join(pd.read_csv(tmp_path / "r" / "sessions.csv")["notes"].dropna())
    assert "2 files of one speaker each were joined by their times: file_" in notes
    (tmp_path / "p").mkdir()
    shutil.copy(work / "in" / "Ottokar Vandelmeer 1.txt", tmp_path / "p" / "nexwick_vandelmeer.txt")
    by_pattern = ("--pattern", "{counselor}_{client}", "--out", tmp_path / "q")
    assert tanalyze("run", tmp_path / "p", *PLAIN, *by_pattern, "--pseudonyms", work / "key").status == 0
    assert names_in(tmp_path / "q") == []


def test_two_coders_are_compared_under_pseudonyms(work: Path, out: Path, tmp_path: Path) -> None:
    codes = pd.read_csv(work / "codes.csv")
    for who in ("ann", "bo"):
        (codes if who == "ann" else codes.assign(question=1)).to_csv(tmp_path / f"{who}.csv", index=False)
    done = tanalyze("agree", "ann.csv", "bo.csv", "--out", "o", "--pseudonyms", work / "key", folder=tmp_path)
    assert done.status == 0, done.err
    assert names_in(tmp_path / "o") == []
    apart = pd.read_csv(tmp_path / "o" / "disagreements.csv")
    assert set(apart["session_id"]) == set(pd.read_csv(out / "sessions.csv")["session_id"])


def test_codes_of_a_sample_teach_a_model(work: Path, out: Path, tmp_path: Path) -> None:
    """What was coded under pseudonyms, and what under names, is learnt from transcripts with names."""
    ids = pd.read_csv(out / "sessions.csv")["session_id"]
    codes = pd.read_csv(work / "codes.csv")
    under = codes.assign(file=ids.repeat(8).to_numpy())
    for name, table in (("names", codes), ("pseudonyms", under)):
        table.to_csv(tmp_path / f"{name}.csv", index=False)
        words = ("train", tmp_path / f"{name}.csv", "whole", "--beside", "fast", "--out", tmp_path / "m")
        found = tanalyze(*words, "--pseudonyms", "key", folder=work).text
        assert "8 of 8 sessions were kept together" in found, "they are found, and too few to learn from"
    assert "none of its sessions can be matched" in tanalyze(*words, folder=work).text


@posix
def test_the_key_is_for_its_owner_alone(work: Path, tmp_path: Path) -> None:
    key, words = tmp_path / "key", ("run", "in", "--out", tmp_path / "r", *PLAIN, "--pseudonyms")
    old = os.umask(0)
    try:
        tanalyze(*words, key, folder=work)
    finally:
        os.umask(old)
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    again = tanalyze(*words, key, folder=work)
    assert again.status == 1
    assert "new key" not in again.err
    key.chmod(0o640)
    refused = tanalyze(*words, key, folder=work)
    assert refused.status == 2
    assert "others can read the key" in refused.err
    assert f"chmod 600 {key}" in refused.err


@pytest.mark.parametrize("content", ["", "secret", "Ann: hello\nBo: hello\n", "cut"])
def test_another_file_is_no_key_and_stays(content: str, work: Path, out: Path, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text((work / "key").read_text()[:-9] if content == "cut" else content)
    path.chmod(0o600)
    before = path.read_bytes()
    done = tanalyze("run", "in", "--out", tmp_path / "r", *PLAIN, "--pseudonyms", path, folder=work)
    assert done.status == 2
    assert "something other than a key of pseudonyms" in done.err
    assert path.read_bytes() == before
    assert not (tmp_path / "r").exists()


def test_a_key_that_cannot_be_made(work: Path, tmp_path: Path) -> None:
    words = ("run", "in", "--out", tmp_path / "r", *PLAIN, "--pseudonyms")
    assert "there is no folder" in tanalyze(*words, tmp_path / "none" / "key", folder=work).err
    assert "cannot be used" in tanalyze(*words, work / "whole", folder=work).err
    for place in ("in/key", tmp_path / "r" / "key"):
        assert "whoever gets that would get the key" in tanalyze(*words, place, folder=work).err
    assert not (work / "in" / "key").exists()
    assert not (tmp_path / "r").exists()


def test_names_are_announced_and_not_shown(work: Path, tmp_path: Path) -> None:
    done = tanalyze("run", "in", "--out", tmp_path / "r", *PLAIN, folder=work)
    (line,) = [one for one in done.err.splitlines() if one.startswith("The results will hold names")]
    counts = dict(re.findall(r"([a-z_ ]+) \((\d+)\)", line.partition("values of ")[2].replace(" and ", ", ")))
    assert {name.strip(): int(n) for name, n in counts.items()} == {
        "client": 3, "client_name": 3, "counselor": 2, "the speaker labels": 2, "the session ids": 8
    }  # fmt: skip
    assert "--pseudonyms KEYFILE" in line
    assert not [part for part in PARTS if part in line.lower()]


@pytest.mark.parametrize(
    ("client", "n"),
    [
        ("Anna Smith", 1), ("Smith, Anna", 1), ("Dr. Lee", 1), ("anna.smith@example.org", 1), ("0048291", 1),
        ("+44 20 7946 0018", 1), ("MRN 482913", 1), ("María del Carmen", 1), ("1980-02-17", 1), ("王小明", 1),
        ("p01", 0), ("c07", 0), ("dana", 0), ("Dana", 0), ("A.B.", 0), ("A. B.", 0), ("client 3", 0), ("17", 0),
        ("10482", 0), ("Claude Sonnet", 0), ("usual care", 0), ("GPT-4o mini", 0), ("78b4832ced", 0), ("CBT MI", 0),
    ],
)  # fmt: skip
def test_what_looks_like_a_name(client: str, n: int, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("T: What was it like?\nC: It was long.\nT: Go on.\nC: That is all.\n")
    pd.DataFrame({"file": ["a.txt"], "client": [client]}).to_csv(tmp_path / "sessions.csv", index=False)
    done = tanalyze("run", "a.txt", "--out", "r", *PLAIN, folder=tmp_path)
    assert done.status == 0, done.err
    assert ("values of client (1) look like full names" in done.err) == bool(n)


@pytest.mark.parametrize(
    ("name", "n"), [("Anna-Smith 2", 1), ("2024-03-01_Smith_Anna", 1), ("aria_ben", 0), ("high_7", 0)]
)
def test_file_names_that_look_like_names(name: str, n: int, tmp_path: Path) -> None:
    (tmp_path / f"{name}.txt").write_text("T: What was it like?\nC: It was long.\nT: Go on.\nC: That is all.\n")
    done = tanalyze("run", f"{name}.txt", "--out", "r", *PLAIN, folder=tmp_path)
    assert ("values of the session ids (1) look like full names" in done.err) == bool(n)


def test_a_copy_of_a_session_under_its_pseudonym_is_said(work: Path, out: Path, tmp_path: Path) -> None:
    (folder := tmp_path / "in").mkdir()
    name = "Zsofia Quarrington 1"
    shutil.copy(work / "in" / f"{name}.txt", folder)
    done = tanalyze("inspect", folder, "--pseudonyms", work / "key")
    (made,) = re.findall(r"session (session_\w+)", done.out)
    shutil.copy(folder / f"{name}.txt", folder / f"{made}.txt")
    done = tanalyze("run", folder, "--out", tmp_path / "r", *PLAIN, "--pseudonyms", work / "key")
    assert done.status == 2
    assert f"two sessions would be called {made}" in done.err


def test_dialogues_in_memory_have_pseudonyms_too(work: Path, out: Path) -> None:
    from therapy_analytics.core.pseudonyms import load_pseudonyms
    from therapy_analytics.readers import as_sessions

    options = ta.ReadOptions(pseudonyms=load_pseudonyms(work / "key"), client="Zsofia")
    (session,) = as_sessions([("Ludmila", "What was it like?"), ("Zsofia", "Long.")], options=options)
    assert re.fullmatch("session_[a-z]{10}", session.id)
    assert [turn.speaker.partition("_")[0] for turn in session.turns] == ["counselor", "client"]
    assert "secret" not in repr(options)
