"""The command as a person meets it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import typer.main
from commands import PLAIN, tanalyze
from typer import rich_utils
from typer.testing import CliRunner

import therapy_analytics as ta
from therapy_analytics.cli import _app as cli
from therapy_analytics.cli import app
from therapy_analytics.run.summary import checks

COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


def test_a_run_ends_with_a_summary_that_points_to_the_files(samples: Path, tmp_path: Path) -> None:
    done = tanalyze("run", str(samples), "--out", str(tmp_path / "r"), *PLAIN)
    assert done.status == 0, done.err
    assert "15 sessions, 728 turns" in done.out
    assert "sessions.csv" in done.out
    assert "lindqvist_dana_1" in done.out
    assert "Ruth Lindqvist" in done.out
    assert f"Read {samples / 'nair_yuki.txt'}: 1 session (labelled_text)" in done.err
    assert not (tmp_path / "r" / "sessions" / "aria_ben" / "session.png").exists()


def test_the_summary_counts_sessions_that_are_not_in_english(tmp_path: Path) -> None:
    text = "T: Was f\u00fchrt Sie heute zu mir?\nC: Ich schlafe schlecht und bin am Tag immer m\u00fcde.\n" * 4
    (tmp_path / "deutsch.txt").write_text(text, encoding="utf-8")
    done = tanalyze("run", str(tmp_path / "deutsch.txt"), "--out", str(tmp_path / "r"), *PLAIN)
    assert done.status == 0, done.err
    assert "1 session not in English, as it seems" in " ".join(done.out.split())


def test_the_summary_counts_sessions_whose_words_cannot_be_counted(tmp_path: Path) -> None:
    text = "T: \u4eca\u65e5\u306f\u3069\u3046\u3055\u308c\u307e\u3057\u305f\u304b\nC: \u7720\u308c\u307e\u305b\u3093\n"
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    done = tanalyze("run", str(tmp_path / "a.txt"), "--out", str(tmp_path / "r"), *PLAIN)
    assert done.status == 0, done.err
    told = "1 session in a script without spaces between words: words are not counted"
    assert told in " ".join(done.out.split())
    assert (
        pd.read_csv(tmp_path / "r" / "sessions.csv")[["n_words_client", "therapist_talk_share"]].isna().all(axis=None)
    )
    loaded = ta.load(tmp_path / "r")
    assert loaded.turns["n_words"].isna().all()
    assert "2 turns. Bars" in ta.plots.session.caption(loaded)  # type: ignore[attr-defined]


def test_the_summary_says_what_a_person_is_to_read_and_where_it_stands(samples: Path, tmp_path: Path) -> None:
    course = str(samples.parent / "sample_course" / "transcripts")
    told = "To read: 2 turns in 1 session, which may be about danger. "
    page = tanalyze("run", course, "--out", str(tmp_path / "page"), "--tagger", "fast", "--no-plots")
    assert f"{told}The page says in which sessions they are." in " ".join(page.out.split())
    whole = tanalyze("run", course, "--out", str(tmp_path / "p"), *PLAIN, "--output-format", "parquet")
    where = "Column n_turns_to_review of the table of sessions says in which sessions they are, and column danger_turn "
    assert f"{told}{where}of turn_measures marks the client's." in " ".join(whole.out.split())


def test_sessions_with_a_note_are_counted_whatever_else_is_said_of_them() -> None:
    usual = {"role_method": "labels", "role_pronoun_margin": 9.0, "distance_from_training": 0.4, "notes": ""}
    far, noted = {"distance_from_training": 2.0}, {"notes": "1 message of the system (31 words) left out."}
    said = checks(pd.DataFrame([usual, usual | noted, usual | noted | far, usual | far, usual, usual]))
    assert "2 sessions unlike those that the tagger learnt from" in said
    assert "2 sessions with another note" in said


def test_brackets_in_a_name_are_no_markup_of_the_summary(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("session,speaker,text,counselor\n1,T,How are you?,[/b] Lee\n1,C,Well.,[/b] Lee\n")
    done = tanalyze("run", str(tmp_path / "a.csv"), "--out", str(tmp_path / "r"), *PLAIN)
    assert done.status == 0, done.err
    assert "[/b] Lee" in done.out


def test_some_bad_files_give_status_one(samples: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{")
    done = tanalyze(
        "run", str(samples / "aria_ben.json"), str(tmp_path / "bad.json"), "--out", str(tmp_path / "r"), *PLAIN
    )
    assert done.status == 1
    assert "Not read:" in done.err
    assert "bad.json" in done.err
    assert "1 file could not be read" in done.out
    assert len(pd.read_csv(tmp_path / "r" / "sessions.csv")) == 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("run", "nowhere/at/all.txt"), "cannot be opened"),
        (("run", "EMPTY"), "No transcript was found"),
        (("run",), "Missing argument"),
        (("run", "SAMPLE", "--columns", "speaker"), "is not understood"),
        (("run", "SAMPLE", "--columns", "speker=Who"), "known: speaker, text"),
        (("run", "SAMPLE", "--processes", "0"), "--processes"),
        (("run", "SAMPLE", "--lexicon", "none.toml"), "none.toml: the lexicon cannot be opened"),
        (("run", "SAMPLE", "--tagger-aim", "speed"), "Known: balanced, precision, rate, recall"),
        (("run", "SAMPLE", "--out", "FULL"), "holds other things than results"),
        (("rum", "SAMPLE"), "No such command"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(value[:1] + value[2:]),
)
def test_misuse_gives_status_two_and_a_sentence(
    words: tuple[str, ...], says: str, samples: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("x")
    places = {"EMPTY": tmp_path / "empty", "SAMPLE": samples / "aria_ben.json", "FULL": tmp_path / "full"}
    given = [str(places.get(word, word)) for word in words]
    if "--out" not in given and "run" in given:
        given += ["--out", str(tmp_path / "r")]
    done = tanalyze(*given)
    assert done.status == 2, done.err
    assert says in " ".join(done.err.replace("\u2502", " ").split())
    assert "Traceback" not in done.err


def test_no_traceback_for_any_input(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    broken = [b"", b"\x00" * 100, b"\xff\xfe", b"{", b"[[[[", b"WEBVTT", b"a,b\n1", b"T:", b"\x80T: x"]
    for at, data in enumerate(broken):
        (tmp_path / "in" / f"x{at}.txt").write_bytes(data)
    done = tanalyze("run", str(tmp_path / "in"), "--out", str(tmp_path / "r"))
    assert done.status == 2
    assert f"None of the {len(broken)} files could be read" in " ".join(done.err.split())
    assert "Traceback" not in done.err
    assert "defect" not in done.err


def test_a_defect_of_ours_is_told_without_the_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> None:
        message = "what the client said"
        raise RuntimeError(message)

    monkeypatch.setattr(cli, "app", broken)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    told = capsys.readouterr().err
    assert caught.value.code == 2
    assert "RuntimeError in test_cli.py, line" in told
    assert "client said" not in told


@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (KeyboardInterrupt(), 130, "Stopped. The same command starts it again."),
        (OSError(28, "No space left on device", "results/x.csv"), 2, "results/x.csv: No space left on device"),
        (MemoryError(), 2, "not enough memory"),
    ],
)
def test_what_the_machine_does_to_us_is_a_sentence(
    error: BaseException, status: int, says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken() -> None:
        raise error

    monkeypatch.setattr(cli, "app", broken)
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert caught.value.code == status
    assert says in capsys.readouterr().err


def test_columns_and_a_lexicon_of_the_users_own(tmp_path: Path) -> None:
    rows = "Who;Said;Nr\nAnna;How do you sleep?;1\nBo;I lie awake, I think of my work.;1\n"
    (tmp_path / "a.csv").write_text(rows * 1)
    (tmp_path / "sleep.dic").write_text("%\n1\ttrouble\n%\nawake\t1\n")
    done = tanalyze(
        *("run", str(tmp_path / "a.csv"), "--columns", "speaker=Who,text=Said,session=Nr", "--therapist", "Anna"),
        *("--lexicon", str(tmp_path / "sleep.dic"), "--out", str(tmp_path / "r"), *PLAIN),
    )
    assert done.status == 0, done.err
    row = ta.wide(tmp_path / "r").iloc[0]
    assert row["role_method"] == "option"
    assert row["n_client_sleep_trouble"] == 1


def test_the_codebook_can_be_printed() -> None:
    done = tanalyze("codebook")
    assert done.status == 0
    assert done.out.startswith("column,table,family,meaning,unit,range")
    assert "therapist_reflection_rate_lo" in done.out


def test_a_process_of_its_own_ends_with_the_status() -> None:
    """All other tests call the command in this process."""
    command = [sys.executable, "-W", "error", "-c", "from therapy_analytics.cli import main; main()"]
    for word, status, says in (("--version", 0, "tanalyze "), ("rum", 2, "")):
        done = subprocess.run([*command, word], capture_output=True, text=True, check=False)
        assert done.returncode == status
        assert done.stdout.startswith(says)
        assert "Traceback" not in done.stderr


def test_the_summary_says_where_synchrony_has_no_surrogate_pairs(samples: Path, tmp_path: Path) -> None:
    one = tanalyze("run", str(samples / "nair_yuki.txt"), "--out", str(tmp_path / "r"), *PLAIN)
    assert "synchrony has no surrogate pairs, which take 6 sessions" in one.out
    assert "Next: code some turns yourself; tanalyze agree" in one.out


def test_many_sessions_do_not_scroll_everything_away(tmp_path: Path) -> None:
    for name, n in (("few", 30), ("many", 31)):
        rows = "".join(f"s{i},T,How are you?,c{i}\ns{i},C,Well.,c{i}\n" for i in range(n))
        (tmp_path / f"{name}.csv").write_text(f"session,speaker,text,counselor\n{rows}")
        done = tanalyze("run", str(tmp_path / f"{name}.csv"), "--out", str(tmp_path / name), *PLAIN)
        assert done.status == 0, done.err
        assert done.out.count("\u2502") == (30 * 8 if name == "few" else 21 * 8)
    assert "\u2026 and 11 more in sessions.csv" in done.out


def test_a_run_ends_with_at_most_five_things(tmp_path: Path) -> None:
    """Here all five have something to say, the fourth of five kinds of sessions."""
    danger = "T: How are you?\nC: I want to kill myself. I have pills at home.\n" * 3
    (tmp_path / "danger.txt").write_text(danger)
    (tmp_path / "guess.txt").write_text("Ann: The weather is fine today.\nBo: The roads are dry.\n" * 3)
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "sessions.csv").write_text("session_id,counselor\ndanger,A\nguess,B\nnobody,C\n")
    done = tanalyze("run", str(tmp_path), "--out", str(tmp_path / "r"), "--tagger", "fast", "--no-plots")
    assert done.status == 1
    last = done.out.partition("share of therapist turns.")[2].split("\n")
    lines = [line for line in last if re.match(r"Open |To read: |\d+ files? could|Check: |Next: ", line)]
    assert [line.split()[0] for line in lines] == ["Open", "To", "1", "Check:", "Next:"]
    assert "1 file could not be read; 1 thing to check in your tables" in lines[2]


@pytest.mark.parametrize("name", COMMANDS)
def test_options_stand_in_groups_and_help_is_short(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options = [one for one in COMMANDS[name].params if any(opt.startswith("--") for opt in one.opts)]
    if len(options) > 8:
        assert all(one.rich_help_panel for one in options)
    assert all(len(one.help) <= 110 for one in options)
    monkeypatch.setattr(rich_utils, "MAX_WIDTH", 100)
    shown = CliRunner().invoke(app, [name, "--help"])
    assert shown.exit_code == 0
    assert len(shown.output.splitlines()) <= 100
