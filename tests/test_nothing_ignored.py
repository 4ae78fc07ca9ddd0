"""Nothing that the user says or gives is silently ignored: options, tables about sessions, names of any kind."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pandas as pd
import pytest
from commands import PLAIN, commands

import therapy_analytics as ta
from therapy_analytics.core.errors import BadOptionError, UnknownNameError
from therapy_analytics.readers import TablesWarning, as_sessions

STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Signs that no terminal may get, but for the end of a line."""


def talk(therapist: str, client: str) -> str:
    """Return a session in which the pronouns tell who is the therapist."""
    asked = f"{therapist}: What brings you here, and how do you feel about your week?\n"
    return f"{asked}{client}: I am tired. I could not sleep, and I miss my work.\n" * 3


def written(folder: Path, **talks: tuple[str, str]) -> Path:
    """Write a folder of sessions by name, of a therapist and a client."""
    folder.mkdir(exist_ok=True)
    for name, labels in talks.items():
        (folder / f"{name}.txt").write_text(talk(*labels), encoding="utf-8")
    return folder


# Options


def test_a_label_that_nobody_has_is_an_error_that_lists_the_labels(tmp_path: Path) -> None:
    written(tmp_path / "talks", one=("Dana R.", "Lee"), two=("Dana R.", "Bo"))
    (tmp_path / "codes.csv").write_text("session_id,turn,mi_question\none,0,1\n", encoding="utf-8")
    nobody = ("--therapist", "Dora")
    made = ("run", "convert", "train", "inspect")
    found = commands(
        tmp_path,
        ("run", "talks", *PLAIN, *nobody, "--out", "run"),
        ("convert", "talks", "--to", "csv", *nobody, "--out", "convert"),
        ("train", "codes.csv", "talks", *nobody, "--out", "train"),
        ("inspect", "talks", *nobody),
        ("inspect", "talks", "--client", "Lea"),
        ("inspect", "talks", "--therapist", ""),
        ("inspect", "talks", "--therapist", "Lee", "--client", "Lee"),
    )
    for name, done in zip(made, found, strict=False):
        assert done.status == 2, name
        assert "--therapist: no speaker is called 'Dora'. The labels are: Dana R., Lee, Bo." in done.text, name
    assert [one.status for one in found[4:]] == [2, 2, 2]
    assert "--client: no speaker is called 'Lea'. The labels are: Dana R., Lee, Bo." in found[4].text
    assert "no speaker is called ''" in found[5].text
    assert "--therapist and --client give the same label" in found[6].text
    assert sorted(path.name for path in tmp_path.iterdir() if path.name in made and any(path.glob("*.csv"))) == []


def test_a_label_of_some_sessions_is_used_and_the_others_are_told_of(tmp_path: Path) -> None:
    written(tmp_path / "talks", one=("Dana", "Lee"), two=("Kim", "Bo"))
    run, look = commands(
        tmp_path,
        ("run", "talks", *PLAIN, "--therapist", "Dana", "--out", "r"),
        ("inspect", "talks", "--therapist", "Dana"),
    )
    assert (run.status, look.status) == (0, 0), run.err
    for done in (run, look):
        assert "--therapist had an effect on 1 of 2 sessions; the notes on the others say so." in done.text
        assert "Taken as therapist, guessed from the pronouns you and I: Kim in 1 session." in done.text
    sessions = pd.read_csv(tmp_path / "r" / "sessions.csv", index_col="session_id", keep_default_na=False)
    assert sessions["role_method"].to_dict() == {"one": "option", "two": "pronouns"}
    assert "--therapist" not in sessions.at["one", "notes"]
    assert "No speaker has the label given with --therapist." in sessions.at["two", "notes"]


def test_options_on_columns_and_names_that_fit_nothing_are_errors(tmp_path: Path) -> None:
    written(tmp_path / "talks", lee_p1=("T", "C"), notes=("T", "C"))
    mixed = written(tmp_path / "mixed", lee_p2=("T", "C"))
    (mixed / "table.csv").write_text("Who,Said\nT,How are you?\nC,Well.\n", encoding="utf-8")
    (tmp_path / "first_line_is_talk.csv").write_text("Ann,I cried all night\nBo,Why?\n", encoding="utf-8")
    columns = ("--columns", "speaker=Who,text=Said")
    no_table, no_name, some_names, some_tables, no_column, no_header, twice = commands(
        tmp_path,
        ("inspect", "talks", *columns),
        ("run", "talks", *PLAIN, "--pattern", "{counselor}-{client}-{date}", "--out", "r"),
        ("inspect", "talks", "--pattern", "{counselor}_{client}"),
        ("inspect", "mixed", *columns),
        ("inspect", "mixed/table.csv", "--columns", "speaker=Who,text=Sad"),
        ("inspect", "first_line_is_talk.csv", "--columns", "speaker=Who"),
        ("inspect", "mixed", "--columns", "speaker=Who,speaker=Said"),
    )
    assert [one.status for one in (no_table, no_name, some_names, some_tables)] == [2, 2, 0, 0]
    assert "--columns: no session that was read stands in a table with columns" in no_table.text
    assert "fits the name of no file. Without their endings, the names are: lee_p1, notes." in no_name.text
    assert "--pattern had an effect on 1 of 2 sessions" in some_names.text
    assert "note: The name of the file does not fit --pattern." in some_names.text
    assert "--columns had an effect on 1 of 2 sessions" in some_tables.text
    assert "note: --columns had no effect: the session does not stand in a table with columns." in some_tables.text
    assert no_column.status == 1
    assert "--columns text=... is not in the table (it has 2 columns). Its columns are: Who, Said." in no_column.text
    assert "cried" not in no_header.text
    assert twice.status == 2
    assert "A name is given twice" in twice.text


def test_options_that_another_takes_the_effect_from_are_refused(tmp_path: Path, samples: Path) -> None:
    written(tmp_path / "talks", one=("T", "C"))
    found = commands(
        tmp_path,
        ("run", "talks", "--no-plots", "--figure-format", "svg"),
        ("run", "talks", "--engine", "dask", "--scheduler", "tcp://127.0.0.1:1", "--processes", "2"),
        ("run", "talks", "--tagger", "llm", "--endpoint", "http://127.0.0.1:1/v1", "--model", "m", "--codebook", "mi",
         "--all-codes"),
        ("run", str(samples / "nair_yuki.txt"), *PLAIN, "--out", "r"),
        ("agree", "r", "--columns", "turn=Nr"),
        ("agree", "r", "--transcripts", "talks"),
        ("agree", "r", "codes.csv", "--columns", "turn"),
    )  # fmt: skip
    says = (
        "--no-plots and --figure-format contradict each other",
        "--processes: the workers of the cluster do the work",
        "--all-codes: it has no effect with --codebook",
        "1 session",
        "--columns: it is for a table of codes, and none was given",
        "--transcripts: it is for a table of codes, and none was given",
        "'turn' is not understood. Write pairs such as session_id=SESSION_ID,turn=TURN",
    )
    for done, sentence in zip(found, says, strict=True):
        assert sentence in done.text
    assert [one.status for one in found] == [2, 2, 2, 0, 2, 2, 2]
    frame = pd.DataFrame({"session_id": ["nair_yuki"], "turn": [0], "mi_question": ["1"]})
    options = ta.GoldOptions(transcripts=tmp_path / "talks")
    with pytest.raises(BadOptionError, match="none of the sessions in them is one of the results"):
        ta.agreement(tmp_path / "r", frame, options=options)


def test_arguments_in_python_without_effect_are_refused(tmp_path: Path) -> None:
    folder = written(tmp_path / "talks", one=("Dana", "Lee"))
    pairs = [("Dana", "How are you?"), ("Lee", "I am well.")]
    with pytest.raises(UnknownNameError, match="Known: all, core, nclid"):
        ta.Settings(extras=frozenset({"nclit"}))  # type: ignore[arg-type]
    with pytest.raises(BadOptionError, match="The labels are: Dana, Lee"):
        ta.read(folder, options=ta.ReadOptions(therapist="Dora"))
    with pytest.raises(BadOptionError, match="The labels are: Dana, Lee"):
        as_sessions(pairs, options=ta.ReadOptions(client="Lea"))
    for options in (ta.ReadOptions(pattern="{client}"), ta.ReadOptions(columns={"text": "Said"})):
        with pytest.raises(BadOptionError):
            as_sessions(pairs, options=options)
    sessions = ta.read(folder)
    with pytest.raises(BadOptionError, match="the sessions are read already"):
        ta.train("codes.csv", sessions, None, read_options=ta.ReadOptions(therapist="Dana"))
    for writing in (ta.Writing(remote=True), ta.Writing(form="xlsx")):  # type: ignore[arg-type]
        with pytest.raises(BadOptionError):
            ta.run([folder], tmp_path / "r", writing=writing)
    assert not (tmp_path / "r").exists()


# Guessed roles


def test_a_first_name_is_no_role_unless_the_other_label_is_one(tmp_path: Path) -> None:
    written(
        tmp_path / "talks",
        names=("Pat", "Dana"),
        roles=("Ther", "Pat"),
        two_words=("Pat Kim", "Jo Lund"),
        known=("Dana", "Client"),
    )
    (run,) = commands(tmp_path, ("run", "talks", *PLAIN, "--out", "r"))
    assert run.status == 0, run.err
    names, roles, two = (ta.load(tmp_path / "r", [name]).turns for name in ("names", "roles", "two_words"))
    assert names.groupby("speaker")["role"].first().to_dict() == {"Dana": "client", "Pat": "therapist"}
    assert roles.groupby("speaker")["role"].first().to_dict() == {"Pat": "client", "Ther": "therapist"}
    assert two.groupby("speaker")["role"].first().to_dict() == {"Jo Lund": "client", "Pat Kim": "therapist"}
    says = (
        "Taken as therapist, guessed from the pronouns you and I: Pat in 1 session, Pat Kim in 1 session.",
        "Taken as therapist, because the other speakers are known: Dana in 1 session.",
    )
    assert all(sentence in run.text for sentence in says), run.text


# Tables about sessions


def test_rows_and_sessions_that_do_not_meet_are_told_of_and_cost_nothing(tmp_path: Path) -> None:
    talks = written(tmp_path / "talks", one=("T", "C"), two=("T", "C"))
    about = "session_id,counselor,comment\none,Lee,She cried about Mubble\nonne,Lee,\n"
    (talks / "Sessions.csv").write_text(about, encoding="utf-8")
    run, again, look = commands(
        tmp_path,
        ("run", "talks", "--tagger", "fast", "--no-plots", "--out", "r"),
        ("run", "talks", *PLAIN, "--keep", "Comment", "--out", "kept"),
        ("inspect", "talks", "--keep", "remark"),
    )
    assert (run.status, again.status, look.status) == (0, 0, 2), run.err
    path = Path("talks") / "Sessions.csv"
    says = (
        (
            f"Check: {path}: the column comment was left out of the results, "
            "for remarks and sentences may hold what was said."
        ),
        "If it is wanted there, say --keep comment.",
        f"Check: {path}: no row is about 1 session: two.",
        f"Check: {path}, line 3: the row about 'onne' is about no session that was read.",
    )
    for sentence in says:
        assert sentence in run.text
    problems = pd.read_csv(tmp_path / "r" / "problems.csv")
    assert problems["kind"].tolist() == ["check"] * 3
    assert problems["file"].unique().tolist() == [str(path)]
    assert problems["line"].dropna().tolist() == [3]
    sessions = pd.read_csv(tmp_path / "r" / "sessions.csv", index_col="session_id", keep_default_na=False)
    assert sessions["counselor"].to_dict() == {"one": "Lee", "two": ""}
    assert "No row of the table about the sessions is about this one." in sessions.at["two", "notes"]
    assert "comment" not in sessions
    for file in (tmp_path / "r").rglob("*"):
        assert file.is_dir() or b"Mubble" not in file.read_bytes(), file
    assert "the row about 'onne'" in (tmp_path / "r" / "report.html").read_text(encoding="utf-8")
    assert pd.read_csv(tmp_path / "kept" / "sessions.csv").loc[0, "comment"] == "She cried about Mubble"
    assert "--keep: no transcript has a field 'remark', and no table about sessions a column" in look.text
    assert "There are: session_id, counselor, comment." in look.text


def test_a_table_is_held_against_what_was_given(tmp_path: Path) -> None:
    talks = written(tmp_path / "talks", one=("T", "C"), two=("T", "C"))
    table = "session_id,site\none,north\ntwo,south\nthree,south\n"
    (talks / "sessions.csv").write_text(table, encoding="utf-8")
    (tmp_path / "own.csv").write_text(table, encoding="utf-8")
    above = written(tmp_path / "above")
    written(above / "below", one=("T", "C"))
    (above / "sessions.csv").write_text(table, encoding="utf-8")
    both = written(tmp_path / "both", one=("T", "C"))
    for name in ("own.csv", "sessions.csv"):
        (both / name).write_text(table, encoding="utf-8")
    (talks / "two.txt").write_bytes(b"%PDF and no transcript")
    one, own, high, two, unread = commands(
        tmp_path,
        ("inspect", "talks/one.txt"),
        ("inspect", "talks/one.txt", "--metadata", "own.csv"),
        ("inspect", "above"),
        ("inspect", "both", "--metadata", "both/own.csv"),
        ("run", "talks", *PLAIN, "--out", "r"),
    )
    assert "Check:" not in one.text, "a file of a folder was given, whose table tells of the others as well"
    assert own.text.count("is about no session that was read") == 2
    assert "none of its 3 rows is about a session that was read" in high.text
    assert two.text.count("is about no session that was read") == 4
    assert unread.status == 1
    kinds = pd.read_csv(tmp_path / "r" / "problems.csv")[["kind", "line"]].fillna(0).to_numpy().tolist()
    assert kinds == [["not read", 0], ["check", 4]], "the row of a file that cannot be read is right"


def test_two_tables_that_differ_in_case_are_refused(tmp_path: Path) -> None:
    talks = written(tmp_path / "talks", one=("T", "C"))
    for name in ("sessions.csv", "Sessions.csv"):
        (talks / name).write_text("session_id,site\none,north\n", encoding="utf-8")
    if len(list(talks.glob("*.csv"))) < 2:
        pytest.skip("this file system does not tell upper from lower case")
    (done,) = commands(tmp_path, ("inspect", "talks"))
    assert done.status == 2
    assert "there are two tables about the sessions: Sessions.csv and sessions.csv. Keep one of them." in done.text


def test_in_python_tables_that_do_not_fit_are_warnings(tmp_path: Path) -> None:
    talks = written(tmp_path / "talks", one=("T", "C"))
    (talks / "sessions.csv").write_text("session_id,site,notes\none,north,late\nonne,south,\n", encoding="utf-8")
    with pytest.warns(TablesWarning) as caught:
        (session,) = ta.read(talks)
    sentence = " ".join(str(one.message) for one in caught)
    assert "the row about 'onne'" in sentence
    assert "the column notes was left out" in sentence
    assert dict(session.metadata) == {"site": "north"}
    assert {Path(one.filename).name for one in caught} == {"test_nothing_ignored.py"}


# Names


NAMES = (b"s\xe9ance.txt", b"esc\x1b[2J\x1b[31m.txt", "over\u202etxt.txt".encode(), b"cr\rback\nline.txt", b"ok.txt")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere files cannot have such names")
def test_no_name_stops_a_command_or_steers_the_terminal(tmp_path: Path) -> None:
    talks = tmp_path / "talks"
    (talks / os.fsdecode(b"d\xffr\x1b[1m")).mkdir(parents=True)
    label = "Da\x1b[2Jna\u202e"
    for at, name in enumerate(NAMES):
        folder = os.fsencode(talks) + (b"/d\xffr\x1b[1m" if at == 1 else b"")
        sentence = f"{talk(label, f'Lee{at}')}{label}: And {at}?\n"
        Path(os.fsdecode(folder + b"/" + name)).write_text(sentence, encoding="utf-8")
    (talks / os.fsdecode(b"broken\xfe\x1b[2J.pdf")).write_bytes(b"%PDF")
    (talks / "t.csv").write_text(f"Who\x1b[2J,Said,site\x1b[2J\n{label},You?,\x9b2J\nBo,I.,\x9b2J\n", encoding="utf-8")
    columns = ("--columns", "speaker=Who\x1b[2J,text=Said")
    inside = b"talks/d\xffr\x1b[1m"
    found = commands(
        tmp_path,
        ("run", "talks", *PLAIN, "--processes", "2", *columns, "--out", b"r\xff\x1b[2J"),
        ("inspect", "talks", *columns, "--quotes"),
        ("convert", "talks", "--to", "csv", "--out", "converted"),
        ("inspect", "talks", "--therapist", "\x1b[2J\u202e"),
        ("run", "--\u202e\x1b[2J"),
        ("run", b"nowhere\xff\x1b[2J.txt", "--out", "none"),
        ("run", inside, *PLAIN, "--output-format", "parquet", "--out", b"own\xff"),
        ("export", b"own\xff", "--out", b"exported\xff"),
        ("compare", b"r\xff\x1b[2J", "--by", "speakers\x1b[2J"),
        ("report", b"nowhere\x1b[2J\xff"),
    )
    assert [one.status for one in found] == [1, 1, 1, 2, 2, 2, 0, 0, 2, 2], [
        (one.status, one.err[-300:]) for one in found
    ]
    for at, done in enumerate(found):
        assert not STEERING.search(done.out + done.err), at
    run, look = found[:2]
    for name in ("s<E9>ance.txt", "esc<1B>[2J<1B>[31m.txt", "over<U+202E>txt.txt", "cr<0D>back<0A>line.txt"):
        assert f"{name}: 1 session" in run.err
        assert name in look.out
    assert "Not read: talks/broken<FE><1B>[2J.pdf" in run.err
    assert "Da<1B>[2Jna<U+202E> in" in look.out
    out = Path(os.fsdecode(os.fsencode(tmp_path) + b"/r\xff\x1b[2J"))
    sessions = pd.read_csv(out / "sessions.csv")
    assert len(sessions) == 6
    assert "s-E9-ance" in set(sessions["session_id"])
    for file in ("problems.csv", "run.json"):
        text = (out / file).read_text(encoding="utf-8")
        assert not STEERING.search(text), file
    assert {"talks/s<E9>ance.txt"} < {one["file"] for one in json.loads((out / "run.json").read_text())["inputs"]}
