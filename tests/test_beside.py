"""What stands beside the turns and identifies somebody reaches no output of any command; groupings do."""

from __future__ import annotations

import csv
import json
import random
import re
from pathlib import Path

import pandas as pd
import pytest
import typer.main
from commands import PLAIN, Done, tanalyze

import therapy_analytics as ta
from therapy_analytics.cli import app
from therapy_analytics.readers import ReadOptions, as_sessions, read_files

BY_NAME = {
    "ssn": "078051120",
    "dob": "July 1984",
    "client_email": "vex at blimtharn",
    "mobile_phone": "0151 234",
    "home_address": "12 Grintlewock Lane",
    "real_name": "quorvex",
    "patientName": "blimtharn",
    "insurance_number": "BX-447",
    "MRN": "918273",
    "password": "zanthoric",
    "api_key": "sk-mubblefen",
    "session_token": "tok-vorpal",
    "ip_address": "host-vorpal",
    "profile_url": "vorpal/q",
    "file_path": "quorvex-talk",
    "last_line": "snickersnack",
    "preview": "so galumphing",
    "emergency_contact": "tulgey",
    "employer": "frabjous mills",
    "nickname": "bandersnatch",
    "zip_code": "grin 12",
    "title": "Beamish and sleep",
}
"""Fields whose names say what they hold."""
BY_VALUE = {
    "extra_one": "vex@blimtharn.example",
    "extra_two": "Quorvex Blimtharn",
    "extra_three": "1984-07-19",
    "extra_four": "078-05-1120",
    "extra_five": "I felt so manxome",
    "extra_six": "/home/quorvex/talk.wav",
    "extra_seven": "+49 151 2345678",
}
"""Fields of which only the values say it."""
PLANTED = BY_NAME | BY_VALUE
N = 6
"""Sessions in each format, all of one person: each value comes again and again, as that of a grouping would."""
OTHERS = ("tea", "rain", "bread", "music", "trains", "paint", "dogs", "letters", "snow", "songs")
TO_TELL = "Beside the turns and not copied:"
LINE = re.compile(rf"{TO_TELL}.*?--keep NAME copies one\.")
TABLES = ("csv", "parquet", "stata", "spss")
FORMS = ("csv", "jsonl")


def talk(number: int, kind: str) -> list[tuple[str, str]]:
    """Return a session of twelve turns with words of its own: copies would not be learnt from."""
    turns = []
    for at in range(12):
        others = " ".join(random.Random(f"{kind}{number}{at}").choices(OTHERS, k=40))
        asks = f"What about the week, how did the {others} go for you?" if at % 4 else f"Hello there, {others}, right."
        turns.append(("Client", f"I sleep badly, {others}, all of it.") if at % 2 else ("Therapist", asks))
    return turns


def mood(number: int) -> str:
    return "low" if number % 2 else "high"


def plant(folder: Path) -> None:
    """Write sessions as JSON, CSV and Markdown, each with all fields, and some with an id that names somebody."""
    folder.mkdir()
    header = [*PLANTED, "mood", "session", "speaker", "text"]
    rows = []
    for n in range(N):
        messages = [{"speaker": who, "text": said} for who, said in talk(n, "chat")]
        name = "Ann Quorvex" if n == 0 else f"k{n}"
        chat = {**PLANTED, "session_id": "ann@blimtharn.example" if n == 0 else f"j{n}", "mood": mood(n)}
        inner = {"patient": {"maiden_name": "tumtum"}, "messages": messages}
        (folder / f"chat{n}.json").write_text(json.dumps(chat | inner), encoding="utf-8")
        rows += [[*PLANTED.values(), mood(n), name, who, said] for who, said in talk(n, "table")]
        front = "\n".join(f"{key}: {json.dumps(value)}" for key, value in {**PLANTED, "mood": mood(n)}.items())
        spoken = "\n".join(f"{who}: {said}" for who, said in talk(n, "notes"))
        (folder / f"notes{n}.md").write_text(f"---\n{front}\n---\n{spoken}\n", encoding="utf-8")
    with (folder / "table.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with transcripts, scores, and codes by people."""
    folder = tmp_path_factory.mktemp("beside")
    plant(folder / "talks")
    names = [f"{kind}{n}" for kind in "jk" for n in range(1, N)]
    codes = [f"{name},{at},{at % 4 > 0:d}" for name in names for at in range(0, 12, 2)]
    (folder / "codes.csv").write_text("\n".join(["session_id,turn,mi_question", *codes]) + "\n", encoding="utf-8")
    scores = [f"{name},{8 + at % 5}" for at, name in enumerate(names)]
    (folder / "scores.csv").write_text("\n".join(["session_id,PHQ-9", *scores]) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def done(work: Path) -> dict[str, Done]:
    """Run every command that writes or prints something about transcripts."""
    fast, out = ("--tagger", "fast"), "--out"
    calls: list[tuple[str, ...]] = [
        ("inspect", "talks"),
        ("inspect", "talks", "--quotes"),
        ("run", "talks", *fast, "--figure-format", "svg", "--measures", "all", out, "r"),
        ("run", "talks", *fast, "--output-format", "parquet", out, "p"),
        ("run", "talks", *PLAIN, "--processes", "2", "--quotes", out, "q"),
        ("run", "talks", *fast, "--figure-format", "svg", "--measures", "all", out, "r"),
        ("report", "r", out, "page.html"),
        ("compare", "r", "--by", "mood", "--measures", "core", "--permutations", "1000", out, "compared"),
        ("outcomes", "r", "--outcomes", "scores.csv", out, "outcomes"),
        ("agree", "r", "codes.csv", out, "agreed"),
        ("sample", "r", "--transcripts", "talks", "--turns", "10", out, "sample"),
        ("code", "sample", "--coder", "Ann"),
        ("train", "codes.csv", "talks", "--only", "mi_question", "--cold", "--beside", "fast", out, "model"),
        ("speakers", "talks", out, "speakers"),
        ("codebook",),
        *(("export", "r", "--to", form, "--wide", out, f"exported_{form}") for form in TABLES),
        *(
            ("export", "r", "--to", form, "--gold", "codes.csv", out, f"exported_{form}")
            for form in ("codes_csv", "codes_jsonl")
        ),
        *(("convert", "talks", "--to", form, out, f"converted_{form}") for form in FORMS),
    ]
    found = {" ".join(words): tanalyze(*words, folder=work) for words in calls}
    assert [(words, one.err) for words, one in found.items() if one.status] == []
    return found


def made(work: Path) -> list[Path]:
    """Return all files and folders that the commands made."""
    given = {"talks", "codes.csv", "scores.csv"}
    return [path for path in work.rglob("*") if path.relative_to(work).parts[0] not in given]


VALUES = [*PLANTED.values(), "tumtum", "ann@blimtharn", "ann-blimtharn", "Ann Quorvex", "Ann-Quorvex", "quorvex"]
NAMES = [name for name in PLANTED if name not in ("title", "preview")] + ["maiden_name", "patient_maiden_name"]


def test_every_command_is_run(done: dict[str, Done]) -> None:
    commands = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
    assert {words.split()[0] for words in done} == commands


def test_no_value_stands_in_any_output_or_on_the_screen(work: Path, done: dict[str, Done]) -> None:
    shown = {words: (one.out + one.err).casefold() for words, one in done.items()}
    found = [(value, words) for words, text in shown.items() for value in VALUES if value.casefold() in text]
    files = made(work)
    assert len(files) > 200
    for path in files:
        text = str(path.relative_to(work)).casefold()
        if path.is_file():
            text += path.read_bytes().decode("utf-8", "replace").casefold()
        if path.suffix == ".parquet" or path.suffix in (".dta", ".sav"):
            text += str(_frame(path)).casefold()
        found += [(value, str(path)) for value in VALUES if value.casefold() in text]
    assert found == []


def test_no_name_of_such_a_field_stands_there_but_in_one_line(work: Path, done: dict[str, Done]) -> None:
    form = re.compile(rf"\b(?:{'|'.join(NAMES)})\b", re.IGNORECASE)
    for words, one in done.items():
        assert one.text.count(TO_TELL) <= 1
        assert words.startswith("inspect") or not form.search(LINE.sub("", one.text)), words
    files = [path for path in made(work) if path.is_file()]
    found = [str(path) for path in files if form.search(path.read_bytes().decode("latin-1"))]
    assert found == []


def _frame(path: Path) -> str:
    if path.suffix == ".parquet":
        return pd.read_parquet(path).to_csv()
    if path.suffix == ".dta":
        return pd.read_stata(path).to_csv()
    return pd.read_spss(path).to_csv()


def test_what_is_left_out_is_listed_once_and_inspect_says_why(done: dict[str, Done]) -> None:
    (line,) = LINE.findall(done["run talks --tagger fast --output-format parquet --out p"].text)
    assert {*re.findall(r"\w+", line)} >= {*PLANTED, "patient_maiden_name"}
    assert "mood" not in line
    look = done["inspect talks"].out
    told = dict(re.findall(r"beside the turns, not copied \((.*?)\): (.*)", look))
    assert {why for why in told if "client_email" in told[why]} == {"it may say how to reach somebody"}
    assert re.search(r"beside the turns, copied: .*\bmood\b", look)


@pytest.mark.parametrize("out", ["r", "q"])
def test_a_grouping_is_a_column(out: str, work: Path, done: dict[str, Done]) -> None:
    assert done
    sessions = pd.read_csv(work / out / "sessions.csv")
    assert sessions["mood"].value_counts().to_dict() == {"high": 9, "low": 9}
    ids = {*(f"j{n}" for n in range(1, N)), *(f"k{n}" for n in range(1, N)), *(f"notes{n}" for n in range(N))}
    assert set(sessions["session_id"]) == {*ids, "chat0", "table"}
    assert set(sessions["source_file"]) == {path.name for path in (work / "talks").iterdir()}
    noted = sessions[sessions["notes"].str.contains("id in the file", na=False)]
    assert set(noted["session_id"]) == {"chat0", "table"}


def test_python_reads_what_the_command_reads(work: Path) -> None:
    by_file = [one for reading in read_files([work / "talks"]) for one in reading.sessions]
    assert by_file == ta.read(work / "talks")
    assert {name for one in by_file for name in one.metadata} == {"mood"}
    assert ta.read(work / "talks" / "chat1.json")[0].metadata == {}


def test_keep_copies_a_field_by_its_name(work: Path) -> None:
    keep = ("Client Email", "mood", "patient.maiden_name")
    (one,) = ta.read(work / "talks" / "chat1.json", options=ReadOptions(keep=keep))
    assert one.metadata == {
        "client_email": PLANTED["client_email"], "mood": "low", "patient_maiden_name": "tumtum"
    }  # fmt: skip
    refused = tanalyze("run", "talks", "--keep", "frown", *PLAIN, "--out", "x", folder=work)
    assert refused.status == 2
    assert "--keep: no transcript has a field 'frown', and no table about sessions a column. " in refused.err
    assert "There are: ssn, dob, " in refused.err


def test_a_second_run_keeps_what_the_first_has_done(done: dict[str, Done]) -> None:
    again = done["run talks --tagger fast --figure-format svg --measures all --out r"]
    assert "18 sessions done by an earlier run of the same kind were kept." in again.text


def test_sentences_in_a_table_of_ones_own_are_left_out_unless_asked_for(tmp_path: Path) -> None:
    (tmp_path / "talks").mkdir()
    for name in "ab":
        (tmp_path / "talks" / f"{name}.txt").write_text(f"T: How was {name}?\nC: It was {name}.\n")
    about = (
        "session_id,client,site,plan,e_mail\na,Ann Lee,north,call her mother,a@b.org\nb,P2,south,She wants to stop,\n"
    )
    (tmp_path / "talks" / "sessions.csv").write_text(about)
    run = tanalyze("run", "talks", *PLAIN, folder=tmp_path)
    assert "the column plan was left out of the results, for remarks and sentences may hold" in run.text
    first = pd.read_csv(tmp_path / "results" / "sessions.csv").iloc[0]
    assert (first["client"], first["site"], first["e_mail"]) == ("Ann Lee", "north", "a@b.org")
    assert "plan" not in first
    assert tanalyze("run", "talks", "--keep", "plan", *PLAIN, "--out", "kept", folder=tmp_path).status == 0
    assert pd.read_csv(tmp_path / "kept" / "sessions.csv")["plan"][0] == "call her mother"


@pytest.mark.parametrize(
    ("given", "files"),
    [
        (["here/x"], ["one.txt", "sub/two.txt"]),
        (["here/x/one.txt"], ["one.txt"]),
        (["."], ["here/x/one.txt", "here/x/sub/two.txt", "here/y/x/one.txt"]),
        (["here/x/one.txt", "here/x/sub"], ["one.txt", "sub/two.txt"]),
        (["here/x", "here/y/x"], ["here/x/one.txt", "here/x/sub/two.txt", "y/x/one.txt"]),
    ],
)
def test_files_are_named_from_the_folder_that_was_given(
    given: list[str], files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for at, name in enumerate(("x/one.txt", "x/sub/two.txt", "y/x/one.txt")):
        path = tmp_path / "here" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"T: How was {at}?\nC: It was {at}.\n")
    assert tanalyze("run", *given, *PLAIN, "--out", "out/r").status == 0
    assert pd.read_csv("out/r/sessions.csv")["source_file"].tolist() == files
    absolute = [str(tmp_path / one) for one in given]
    assert [
        one.source_file for reading in read_files(absolute, leave_out=Path("out")) for one in reading.sessions
    ] == files
    assert str(tmp_path) not in "".join(
        path.read_text() for path in Path("out/r").rglob("*.[cj]s*") if path.name != "run.json"
    )


FIELDS = {
    "identity": (
        "firstName",
        "patientdob",
        "Geburtsdatum",
        "n\u00famero de seguro",
        "NHS-number",
        "next of kin",
        "uploader",
    ),
    "contact": ("HomePhone2", "E-Mail", "tel\u00e9fono m\u00f3vil", "PLZ", "twitter_handle", "\u7535\u8bdd"),
    "secret": ("apiKey", "mot_de_passe_passwd", "authToken", "session.cookie"),
    "place": ("audioPath", "IPAddress", "recording_url", "user-agent host"),
    "speech": ("lastMessage", "sessionNotes", "preview_line", "Title"),
    "number": ("employee_no", "sampleId"),
}


@pytest.mark.parametrize("name", [name for names in FIELDS.values() for name in names])
def test_fields_are_known_by_their_names_in_any_spelling(name: str) -> None:
    talks = [[("T", f"How was {at}?"), ("C", f"It was {at}.")] for at in range(6)]
    rows = [(f"s{at}", *turn, "vorpal") for at, talk in enumerate(talks) for turn in talk]
    frame = pd.DataFrame(rows, columns=["session_id", "speaker", "text", name])
    assert {field for one in as_sessions(frame) for field in one.metadata} == set()


@pytest.mark.parametrize(
    ("name", "values", "copied"),
    [
        ("quality", ["high", "low"] * 3, True),
        ("quality", ["high", "low"] * 2, False),
        ("satisfaction", ["4.5", "3", "2.5", "5", "1.25", "4"], True),
        ("badge", ["1", "2", "1", "2", "1", "2"], False),
        ("row", ["11", "12", "13", "14", "15", "16"], False),
        ("chosen", ["a", "b", "c", "d", "e", "f"], False),
        ("stamp", ["40712", "40712", "40712", "40713", "40713", "40713"], False),
        ("total_tokens", ["40712", "5120", "7019", "8143", "911", "60442"], True),
        ("experience", ["Previous Experience", "Current Experience"] * 3, True),
        ("seen_with", ["Ruth Lindqvist", "Odd Strand"] * 3, False),
        ("judge_model", ["hosted/Large-12B-A3B", "other-0613"] * 3, True),
        ("judge_model", ["/home/ann/large.bin"] * 6, False),
    ],
)
def test_a_field_is_copied_if_it_is_a_grouping_or_a_scale(name: str, values: list[str], *, copied: bool) -> None:
    rows = [(f"s{at}", who, f"{who} {at}", value) for at, value in enumerate(values) for who in "TC"]
    frame = pd.DataFrame(rows, columns=["session_id", "speaker", "text", name])
    assert [one.metadata for one in as_sessions(frame)] == [{name: value} if copied else {} for value in values]


def test_the_quality_of_a_corpus_is_a_column(corpora: Path) -> None:
    look = tanalyze("inspect", corpora / "annomi" / "annomi.csv")
    assert "beside the turns, copied: mi_quality, source_group, quality_label_disputed" in look.out
    assert f"{TO_TELL} topic." in look.out
    sessions = ta.read(corpora / "annomi" / "annomi.csv")
    assert {one.metadata["mi_quality"] for one in sessions} == {"high", "low"}
