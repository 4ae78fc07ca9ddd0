"""What notebooks get: codes as categories, their long form, sessions and analyses as HTML, results read back."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from talks import TALK, session

import therapy_analytics as ta
from therapy_analytics.core.errors import BadDataFileError, BadOptionError
from therapy_analytics.core.session import Turn
from therapy_analytics.results import load, read_csv, write_csv
from therapy_analytics.results.codebook_table import FIRST
from therapy_analytics.results.frames import (
    BEHAVIOUR_COLUMNS,
    behaviours_table,
    sessions_html,
    with_categories,
)
from therapy_analytics.run import Writing

FAST = ta.TaggerOptions(kind="fast")
TABLES = (
    *("sessions", "measures", "dyads", "turns", "probabilities", "turn_measures", "parts", "responses"),
    *("codebook", "behaviours", "profile", "wide_turns"),
)
NASTY = '<script>alert("x")</script>'
COUPLE = """Counselor: What brings you both here today?
Ann: We argue every evening, and I am tired of it.
Bob: She never listens, and I want to change that.
Counselor: You are tired, and you would like it to change.
Ann: Yes, I would.
Bob: I could come home earlier.
Counselor: What would help you to do that?
Ann: A plan, I think.
"""


@pytest.fixture(scope="module")
def folder(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the transcripts of three sessions: two of the samples, and a couple's with codes that people gave."""
    folder = tmp_path_factory.mktemp("talks")
    for name in ("aria_ben.json", "lindqvist_omar.txt"):
        shutil.copy(samples / name, folder)
    (folder / "couple.txt").write_text(COUPLE, encoding="utf-8")
    rows = "".join(f"coded,{who},{text},{code}\n" for who, text, code in (
        ("therapist", "What do you hope for?", "QU"),
        ("client", "That I sleep again.", ""),
        ("therapist", "You hope to sleep.", "RE"),
    ))  # fmt: skip
    (folder / "coded.csv").write_text("session_id,speaker,text,code\n" + rows, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def analysis(folder: Path) -> ta.Analysis:
    """Return the analysis of these."""
    return ta.analyze(ta.read(folder), tagger=FAST, quotes=True, seed=3)


@pytest.fixture(scope="module")
def results(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the results of a run over these."""
    out = tmp_path_factory.mktemp("run") / "r"
    settings = ta.Settings(tagger=FAST, quotes=True, seed=3)
    ta.run([folder], out, settings=settings, writing=Writing(figures=(), report=False))
    return out


@pytest.fixture(scope="module")
def loaded(results: Path) -> ta.Analysis:
    """Return that run, read back."""
    return load(results)


def _codes(*rows: tuple[float, float, str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Three turns with their codes, and the probabilities that a coder gave two codes there."""
    likely = pd.DataFrame(rows, columns=["our_joining", "our_hope", "unsure_codes"])
    likely.insert(0, "session_id", "s")
    likely.insert(1, "turn", range(len(likely)))
    turns = likely[["session_id", "turn"]].assign(role=["therapist", "client", "therapist"][: len(likely)])
    for code in ("our_joining", "our_hope"):
        turns[code] = (likely[code] > 0.5).astype("Int8").mask(likely[code].isna())
    return turns, likely


BOOK = pd.DataFrame(
    [
        ("our_hope", "turns", "Hope: the client expects something good"),
        ("our_hope", "probabilities", "Probability of our_hope"),
        ("our_joining", "probabilities", "Probability of our_joining"),
        ("our_joining", "turns", "Joining in: the therapist sides with the client"),
        ("our_joining", "measured", "not this one"),
        ("gone", "turns", "A code that the table does not have"),
    ],
    columns=["column", "table", "meaning"],
)


def test_the_long_form_can_be_counted_by_hand() -> None:
    # turn            0 therapist   1 client   2 therapist, no answer
    # joining             .9 (yes)      -             -
    # hope                 -          .4 (no, unsure)  -
    turns = _codes((0.9, np.nan, ""), (np.nan, 0.4, "our_hope;our_else"), (np.nan, np.nan, ""))
    table = behaviours_table(*turns, BOOK)
    assert list(table) == [column.name for column in BEHAVIOUR_COLUMNS]
    assert table.to_numpy().tolist() == [
        ["s", 0, "therapist", "our_joining", "Joining in", 0.9, True, False],
        ["s", 1, "client", "our_hope", "Hope", 0.4, False, True],
    ]
    assert list(table["code"].cat.categories) == ["our_hope", "our_joining"]  # the codebook's order
    assert list(table["role"].cat.categories) == ["therapist", "client", "other"]
    assert table["coded"].dtype == table["unsure"].dtype == bool


def test_codes_called_alike_keep_apart() -> None:
    alike = BOOK.assign(meaning=BOOK["meaning"].str.replace("Joining in", "Hope"))
    labels = behaviours_table(*_codes((0.9, np.nan, ""), (np.nan, 0.4, "")), alike)["label"]
    assert labels.tolist() == ["Hope (our_joining)", "Hope (our_hope)"]


def test_the_long_form_says_what_the_other_tables_say(analysis: ta.Analysis) -> None:
    long = analysis.behaviours
    turns = analysis.wide_turns.set_index(["session_id", "turn"])
    by_code = long.groupby("code", observed=True)
    assert by_code.size().sum() == len(long) > 1000
    for code, own in by_code:
        one = turns[str(code)].dropna()
        assert own["coded"].astype(int).tolist() == one.tolist()
        unsure = [code in names.split(";") for names in turns["unsure_codes"]]
        assert own["unsure"].sum() == sum(unsure)
    rates = long.groupby(["session_id", "code"], observed=True)["coded"].mean()
    profile = analysis.profile.query("part == 'whole' and n_turns > 0").set_index(["session_id", "code"])["rate"]
    assert len(profile) > 50
    found = dict(rates.items())
    assert all(found[key] == pytest.approx(rate) for key, rate in profile.items())


def test_codes_parts_and_roles_are_categories(analysis: ta.Analysis) -> None:
    named = {"turns": ["role"], "profile": ["code", "part"], "responses": ["client_code", "therapist_code"]}
    named["behaviours"] = ["role", "code", "label"]
    for table, columns in named.items():
        for column in columns:
            assert isinstance(getattr(analysis, table)[column].dtype, pd.CategoricalDtype), (table, column)
    part = analysis.profile["part"]
    assert part.cat.ordered
    assert list(part.cat.categories) == ["whole", "third_1", "third_2", "third_3", "window"]
    assert list(analysis.profile["code"].cat.categories) == list(analysis.profile["code"].unique())
    assert analysis.responses["therapist_code"].cat.categories[-1] == "epitome_exploration"


def test_a_value_that_this_version_does_not_know_is_kept() -> None:
    made = with_categories(pd.DataFrame({"role": ["observer", "client", None]}))["role"]
    assert made.tolist()[:2] == ["observer", "client"]
    assert made.isna().tolist() == [False, False, True]


def test_nothing_analysed_is_nothing_everywhere() -> None:
    empty = ta.analyze([])
    assert list(empty.behaviours) == [column.name for column in BEHAVIOUR_COLUMNS]
    assert len(empty.behaviours) == len(empty.profile) == 0
    assert empty.profile["part"].cat.ordered
    assert "0 sessions, 0 turns" in empty._repr_html_()


def test_a_session_in_a_notebook_shows_no_words_and_no_markup() -> None:
    turns = [replace(turn, speaker=NASTY if turn.role == "client" else "T") for turn in TALK.turns]
    timed = tuple(replace(turn, start_s=10.0 * turn.index, end_s=10.0 * turn.index + 9) for turn in turns)
    about = {"problem": f"sleep {NASTY}", NASTY: "x"}
    shown = replace(TALK, id=f"a{NASTY}", turns=timed, metadata=about, notes=("No <b>times</b>.",))._repr_html_()
    assert "<script" not in shown
    assert "<b>" not in shown
    cells = dict(re.findall(r'<th scope="row"[^>]*>(.*?)</th><td[^>]*>(.*?)</td>', shown))
    assert cells["turns"] == "6"
    assert cells["therapist"] == "T: 3 turns, 24 words"
    assert cells["client"].endswith(": 3 turns, 22 words")
    assert cells["duration"] == "0 min 59 s"
    assert cells["roles found by"] == "labels"
    assert cells["note"] == "No &lt;b&gt;times&lt;/b&gt;."
    for turn in TALK.turns:
        assert not any(word in shown for word in re.findall(r"[a-z]{5,}", turn.text) if word != "sleep")
    assert repr(TALK).startswith("Session(id='s'")


def test_a_session_without_times_or_turns_says_so() -> None:
    shown = session(name="nobody")._repr_html_()
    assert "unknown: no times" in shown
    assert shown.count("does not speak") == 2
    assert "other" not in shown


def test_an_analysis_in_a_notebook(analysis: ta.Analysis) -> None:
    shown = analysis._repr_html_()
    assert f"4 sessions, {len(analysis.turns)} turns, 26 codes" in shown
    assert all(f">{name}<" in shown for name in ("session_id", "therapist_reflection_rate"))
    row = analysis.sessions.iloc[0]
    value, low, high = (row[f"therapist_question_rate{end}"] for end in ("", "_lo", "_hi"))
    assert f">{value:.0%} ({low:.0%} to {high:.0%})<" in shown
    assert "more;" not in shown


def test_names_of_sessions_are_no_markup(analysis: ta.Analysis) -> None:
    many = pd.concat([analysis.sessions.assign(counselor=NASTY)] * 5, ignore_index=True)
    shown = sessions_html(many, NASTY)
    assert "<script" not in shown
    assert "and 10 more; rates with their 95% intervals" in shown


def test_what_is_asked_first_is_measured(analysis: ta.Analysis) -> None:
    known = analysis.codebook.query("table == 'sessions'")
    first = set(known.loc[known["page"].str.endswith(FIRST), "column"])
    assert {"therapist_talk_share", "therapist_question_rate", "therapist_reflection_rate"} <= first
    assert all(f'<th scope="col" style="text-align:left">{name}<' in analysis._repr_html_() for name in first)


@pytest.mark.parametrize("name", TABLES)
def test_results_come_back_as_they_were_analysed(analysis: ta.Analysis, loaded: ta.Analysis, name: str) -> None:
    given, back = getattr(analysis, name), getattr(loaded, name)
    assert len(given) > 0
    pd.testing.assert_frame_equal(back[list(given)], given, rtol=1e-5)
    assert set(back) == set(given)


def test_what_a_run_was_for_comes_back(analysis: ta.Analysis, loaded: ta.Analysis) -> None:
    back = loaded
    assert back.seed == 3
    assert repr(back) == repr(analysis)
    assert back.turns["gold_code"].ne("").sum() == 2
    assert back.turns["text"].tolist() == analysis.turns["text"].tolist()


def test_results_without_pairs_or_newer_tables(results: Path, tmp_path: Path) -> None:
    shutil.copytree(results, tmp_path / "r")
    (tmp_path / "r" / "dyads.csv").unlink()
    (tmp_path / "r" / "run.json").unlink()
    back = load(str(tmp_path / "r"))
    assert len(back.dyads) == back.seed == 0
    assert list(back.dyads)[:3] == ["session_id", "therapist", "client"]
    assert back.dyads["lsm_turn_mean"].dtype == float


def test_odd_cells_come_back_as_they_were(tmp_path: Path) -> None:
    texts = ["a\rb", "a\nb", "a\r\nb", 'say "x", y', "NA", "", "007", " x ", "\N{GRINNING FACE}", "a\0b", "=1+1", "-1"]
    write_csv(pd.DataFrame({"text": texts, "last": "z"}), tmp_path / "t.csv")
    back = read_csv(tmp_path / "t.csv")
    assert back["text"].tolist() == texts
    assert back["last"].eq("z").all()


def test_a_table_that_a_spreadsheet_saved_again(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbfa,b\r\n1,x\r\n")
    assert read_csv(tmp_path / "t.csv").to_dict("records") == [{"a": "1", "b": "x"}]


def test_no_results_are_said_to_be_none(results: Path, tmp_path: Path) -> None:
    with pytest.raises(BadOptionError, match=r"holds no sessions\.csv\. Name a folder that tanalyze run wrote"):
        load(tmp_path)


def _broken(folder: Path, name: str, old: str, new: str) -> None:
    path = folder / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "old", "new", "sentence"),
    [
        ("sessions.csv", "\naria_ben,", "\n../aria_ben,", "a session_id is not the name of a folder"),
        (
            "sessions/aria_ben/turns.csv",
            "aria_ben,0,",
            "aria_ben,first,",
            "the column turn holds something",
        ),
        (
            "sessions/aria_ben/measures.csv",
            ",whole,0,",
            ",whole,0.5,",
            "the column first_turn holds something that is not a whole number",
        ),
        ("run.json", "{", "", "it does not say how the run was made"),
    ],
)
def test_what_is_wrong_with_results(
    results: Path, tmp_path: Path, name: str, old: str, new: str, sentence: str
) -> None:
    shutil.copytree(results, tmp_path / "r")
    _broken(tmp_path / "r", name, old, new)
    with pytest.raises(BadDataFileError, match=sentence):
        load(tmp_path / "r")


def test_missing_turns_are_missed(results: Path, tmp_path: Path) -> None:
    shutil.copytree(results, tmp_path / "r")
    (tmp_path / "r" / "sessions" / "aria_ben" / "turns.csv").unlink()
    with pytest.raises(BadDataFileError, match=r"turns\.csv: the file is not there"):
        load(tmp_path / "r")
    (tmp_path / "r" / "codebook.csv").write_bytes(b'a,"b\n1')
    with pytest.raises(BadDataFileError, match=r"codebook\.csv: it is not a table"):
        load(tmp_path / "r")


def test_categories_leave_the_files_as_they_were(results: Path) -> None:
    seen = json.loads((results / "run.json").read_text(encoding="utf-8"))["options"]
    assert seen["quotes"] is True
    rows = (results / "sessions" / "aria_ben" / "measures.csv").read_text(encoding="utf-8").splitlines()
    assert any(row.startswith("aria_ben,client_changing_rate,,third_1,0,") for row in rows)


def test_a_turn_is_no_more_than_it_was() -> None:
    assert "text" not in repr(Turn(index=0, speaker="T", role="therapist", text="secret", first_row=1))
