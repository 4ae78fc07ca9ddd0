"""What the page knows equals the tables that it was made from, and holds no word without quotes."""

from __future__ import annotations

import csv
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import therapy_analytics as ta
from therapy_analytics.codes import builtin_codebooks
from therapy_analytics.core.errors import BadDataFileError, BadOptionError
from therapy_analytics.core.printable import tagger_words
from therapy_analytics.report._session import usable
from therapy_analytics.report.data import report_data
from therapy_analytics.report.files import numbers, plain, read_columns
from therapy_analytics.run import Writing

Json = dict[str, Any]


def data_of(folder: Path, *, quotes: bool = False, most: int = 300) -> tuple[Json, list[Json]]:
    return report_data(folder, quotes=quotes, most_sessions=most)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def turn_rows(folder: Path) -> list[dict[str, str]]:
    """Return the rows of the three tables of turns of a session, joined; probabilities are called p_..."""
    likely = [{name if name == "unsure_codes" else f"p_{name}": cell for name, cell in row.items()}
              for row in rows(folder / "probabilities.csv")]  # fmt: skip
    tables = (likely, rows(folder / "turn_measures.csv"), rows(folder / "turns.csv"))
    return [a | b | c for a, b, c in zip(*tables, strict=True)]


def measured_in(results: Path) -> list[Json]:
    """Return the wide table of a run, a row a session, with None where there is no value."""
    return [{name: plain(one) if isinstance(one, float) else one for name, one in row.items()}
            for row in ta.wide(results).to_dict("records")]  # fmt: skip


def rewrite(path: Path, change: dict[str, str], *, where: int | None = None) -> None:
    """Put other cells into one row of a table, or into all."""
    table = rows(path)
    for i, row in enumerate(table):
        if where in (None, i):
            row.update(change)
    names = list(table[0])
    with path.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.DictWriter(lines, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)


def remeasure(folder: Path, session: int, values: dict[str, str]) -> None:
    """Put other values into the measures of one session of a run, which is named by its place."""
    name = rows(folder / "sessions.csv")[session]["session_id"]
    for i, row in enumerate(rows(folder / "measures.csv")):
        if row["session_id"] == name and row["measure"] in values:
            rewrite(folder / "measures.csv", {"value": values[row["measure"]]}, where=i)


@pytest.fixture
def copied(results: Path, tmp_path: Path) -> Path:
    """Return results that a test may break."""
    return shutil.copytree(results, tmp_path / "r")


@pytest.fixture
def copied_with_quotes(results_with_quotes: Path, tmp_path: Path) -> Path:
    return shutil.copytree(results_with_quotes, tmp_path / "q")


@pytest.fixture(scope="module")
def made(results: Path) -> tuple[Json, list[Json]]:
    return data_of(results)


def value(overview: Json, session: str, measure: str) -> list[float | None]:
    place = [one["name"] for one in overview["measures"]].index(measure)
    found: list[float | None] = next(one for one in overview["sessions"] if one["id"] == session)["values"][place]
    return found


def test_rates_counts_and_intervals_are_those_of_the_table(results: Path, made: tuple[Json, list[Json]]) -> None:
    overview, sessions = made
    checked = 0
    for row, session in zip(measured_in(results), sessions, strict=True):
        assert session["id"] == row["session_id"]
        for name in (
            "therapist_question_rate",
            "open_question_rate",
            "client_change_rate",
            "input_after_sustain_rate",
        ):
            rate, low, high, n, of = value(overview, session["id"], name)
            assert rate == row[name]
            assert (low, high) == (row[f"{name}_lo"], row[f"{name}_hi"])
            assert n == row[f"n_{name.removesuffix('_rate')}"]
            assert of == row[f"out_of_{name.removesuffix('_rate')}"]
            if of:
                assert rate == pytest.approx((n or 0) / of, abs=1e-4)
                checked += 1
    assert checked > 12


def test_rates_can_be_counted_from_the_turns(results: Path, made: tuple[Json, list[Json]]) -> None:
    overview, sessions = made
    for session in sessions:
        turns = turn_rows(results / "sessions" / session["id"])
        asks = [i for i, turn in enumerate(turns) if turn["mi_question"] == "1"]
        therapist = sum(turn["role"] == "therapist" for turn in turns)
        assert session["on"].get("mi_question", []) == asks
        assert value(overview, session["id"], "therapist_question_rate")[3:] == [len(asks), therapist]
        assert session["role"] == "".join(turn["role"][0] for turn in turns)
        assert session["p"]["mi_question"] == [
            round(100 * float(turn["p_mi_question"])) if turn["p_mi_question"] else None for turn in turns
        ]


def test_of_how_many_is_known_where_nothing_was_counted(made: tuple[Json, list[Json]]) -> None:
    overview, sessions = made
    found = 0
    for j, measure in enumerate(overview["measures"]):
        for session, data in zip(overview["sessions"], sessions, strict=True):
            n, of = session["values"][j][3:]
            if n == 0 and measure["profile"]:
                assert of == data["role"].count(measure["name"][0]), measure["name"]
                found += 1
    assert found > 5


def test_marks_and_unsure_codes_are_those_of_the_turns(results: Path, made: tuple[Json, list[Json]]) -> None:
    _, sessions = made
    seen: set[str] = set()
    for session in sessions:
        turns = turn_rows(results / "sessions" / session["id"])
        marks = {mark["name"]: mark["turns"] for mark in session["marks"]}
        seen |= set(marks)
        informed = [i for i, turn in enumerate(turns) if turn["input_after_sustain_turn"] == "1"]
        assert marks.get("input_after_sustain_turn", []) == informed
        for code, where in session["unsure"].items():
            assert where == [i for i, turn in enumerate(turns) if code in turn["unsure_codes"].split(";")]
    assert seen == {"input_after_sustain_turn"}  # the others are of codes that it does not give


def test_time_is_minutes_where_there_is_a_clock_and_words_elsewhere(made: tuple[Json, list[Json]]) -> None:
    by_id = {one["id"]: one for one in made[1]}
    assert by_id["lindqvist_dana_1"]["unit"] == "minutes"
    words = by_id["aria_ben"]
    assert words["unit"] == "words"
    assert words["start"][0] == 0
    assert [end - start for start, end in zip(words["start"], words["end"], strict=True)] == words["n_words"]


@pytest.mark.parametrize(
    ("starts", "ends", "good"),
    [
        ([0, 5], [4, 9], True),
        ([0, 5], [4, float("nan")], False),
        ([5, 0], [6, 9], False),
        ([0, 5], [4, 3], False),
        ([0, 0], [0, 0], False),
    ],
)
def test_a_clock_is_used_only_if_it_runs(starts: list[float], ends: list[float], good: bool) -> None:
    assert usable(starts, ends) is good


def test_groups_are_means_over_sessions_with_students_interval(samples_of_one: Json) -> None:
    # 0.2, 0.4, 0.6: mean 0.4, sd 0.2, t(2) = 4.303, so 0.4 -/+ 0.497, cut off at 0.
    group = next(one for one in samples_of_one["groups"]["counselor"] if one["name"] == "Ann")
    place = [one["name"] for one in samples_of_one["measures"]].index("therapist_question_rate")
    assert group["n_sessions"] == 3
    assert group["values"][place] == [0.4, 0, 0.8968]
    other = next(one for one in samples_of_one["groups"]["counselor"] if one["name"] == "Bo")
    assert other["values"][place] == [0.5, None, None]


@pytest.fixture
def samples_of_one(copied: Path) -> Json:
    """Return four sessions of two counselors, whose rates are easy."""
    for i, (who, rate) in enumerate((("Ann", ".2"), ("Ann", ".4"), ("Ann", ".6"), ("Bo", ".5"))):
        rewrite(copied / "sessions.csv", {"counselor": who}, where=i)
        remeasure(copied, i, {"therapist_question_rate": rate})
    return data_of(copied)[0]


def test_every_measure_has_its_words(made: tuple[Json, list[Json]]) -> None:
    overview, _ = made
    assert sum(one["shown"] for one in overview["measures"]) == 7
    for one in overview["measures"]:
        assert one["meaning"], one["name"]
        assert one["evidence"] in ("supported", "weak", "untested", "")
        assert set(one["references"]) <= {two["id"] for two in overview["references"]}
    asks = next(one for one in overview["measures"] if one["name"] == "therapist_question_rate")
    assert 0 < asks["references"]["human_high"]["q05"] < asks["references"]["human_high"]["q95"] < 1
    codes = {one["column"]: one for one in overview["codes"]}
    assert codes["mi_question"]["role"] == "therapist"
    assert codes["mi_question"]["label"] == "Question"


def test_the_strip_has_the_core_numbers_in_the_order_in_which_measures_say_it(made: tuple[Json, list[Json]]) -> None:
    overview, _ = made
    # The fast tagger gives no codes of feelings.
    assert overview["strip"] == [
        "therapist_talk_share",
        "therapist_question_rate",
        "open_question_rate",
        "therapist_reflection_rate",
        "reflection_to_question_ratio",
        "therapist_input_rate",
        "client_change_rate",
        "client_sustain_rate",
        "n_turns_to_review",
    ]
    assert [lane["label"] for lane in overview["lanes"] if lane["core"]] == [
        "Question", "Reflection", "Advice, input", "Change", "Sustain", "Feeling \N{PLUS-MINUS SIGN}",
    ]  # fmt: skip


# No word of a transcript

WORD = re.compile(r"[^\W\d_]{4,}")


def strings(data: object) -> Iterator[str]:
    """Yield every string anywhere in the data, keys too."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for key, one in data.items():
            yield key
            yield from strings(one)
    elif isinstance(data, list):
        for one in data:
            yield from strings(one)


def words_of(texts: Iterator[str]) -> set[str]:
    return {word.lower() for text in texts for word in WORD.findall(text)}


def said_in(folder: Path) -> set[str]:
    turns = (row for path in folder.glob("sessions/*/turns.csv") for row in rows(path))
    return words_of(turn["text"] for turn in turns)


def test_without_quotes_no_word_that_was_said_is_there(
    results_with_quotes: Path, made: tuple[Json, list[Json]]
) -> None:
    # The folder has the words, in turns.csv, and the page is made without.
    overview, sessions = data_of(results_with_quotes)
    # Of a folder that never held them: labels, sentences of the program.
    own = words_of(strings(list(made)))
    said = said_in(results_with_quotes)
    assert len(said - own) > 300, "the test looks for too little"
    assert not (words_of(strings([overview, sessions])) - own) & said


def test_unusual_words_stay_out_wherever_they_stood(copied_with_quotes: Path) -> None:
    planted = "Qwyxzzle"
    for path in copied_with_quotes.glob("sessions/*/turns.csv"):
        rewrite(path, {"text": f"{planted} said", "speaker": f"Dr {planted}"})
    without = json.dumps(data_of(copied_with_quotes))
    assert planted.lower() not in without.lower()
    assert planted in json.dumps(data_of(copied_with_quotes, quotes=True))


def test_with_quotes_what_was_said_is_there_word_for_word(results_with_quotes: Path) -> None:
    overview, sessions = data_of(results_with_quotes, quotes=True)
    assert overview["quotes"] is True
    for session in sessions:
        turns = rows(results_with_quotes / "sessions" / session["id"] / "turns.csv")
        assert session["text"] == [turn["text"] for turn in turns]
        assert session["speaker"] == [turn["speaker"] for turn in turns]


def test_quotes_need_a_run_with_quotes(results: Path) -> None:
    with pytest.raises(BadOptionError, match="Run tanalyze run with --quotes first"):
        data_of(results, quotes=True)


# Folders that are not as they should be


def test_a_session_over_the_limit_stands_in_the_table_alone(results: Path) -> None:
    overview, sessions = data_of(results, most=1)
    assert len(sessions) == 1
    assert overview["n_left_out"] == 3
    assert [one["view"] for one in overview["sessions"]] == [True, False, False, False]


def test_a_file_of_a_session_may_be_missing(copied: Path) -> None:
    """Each session lacks some of its files, and one lacks them all."""
    names = ("turns.csv", "probabilities.csv", "turn_measures.csv", "measures.csv", "responses.csv")
    folders = sorted(copied.glob("sessions/*"))
    for folder, missing in zip(folders, (names[:1], names[1:3], names[3:], names), strict=True):
        for name in missing:
            (folder / name).unlink(missing_ok=True)
    overview, sessions = data_of(copied)
    assert len(overview["sessions"]) == len(sessions) == 4


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("turns.csv", "a,b\n1\n"),
        ("turns.csv", "\x00,\n"),
        ("turns.csv", '"'),
        ("measures.csv", "\ufffd\n1,2,3\n"),
        ("measures.csv", "a,b\n"),
        ("probabilities.csv", "a,b\n"),
        ("responses.csv", "a,b\n1,2\n"),
    ],
)
def test_a_broken_file_gives_a_sentence(copied: Path, name: str, text: str) -> None:
    path = copied / "sessions" / "aria_ben" / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadDataFileError, match=rf"{name}: it .*Run tanalyze run again"):
        data_of(copied)


def test_bytes_that_are_no_text_give_a_sentence(copied: Path) -> None:
    (copied / "sessions" / "aria_ben" / "turns.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadDataFileError, match="Run tanalyze run again"):
        data_of(copied)


@pytest.mark.parametrize("name", ["../../etc", "..", "a/b", "a\\b"])
def test_an_id_cannot_lead_out_of_the_folder(copied: Path, name: str) -> None:
    rewrite(copied / "sessions.csv", {"session_id": name}, where=0)
    with pytest.raises(BadOptionError, match="no name of a folder"):
        data_of(copied)


def test_a_folder_without_problems_codebook_or_recipe_is_still_shown(copied: Path) -> None:
    for name in ("problems.csv", "codebook.csv", "run.json"):
        (copied / name).unlink()
    overview, _ = data_of(copied)
    assert overview["problems"] == []
    assert overview["references"] == []
    assert "run.json" in " ".join(overview["limits"])


def test_files_that_were_not_read_are_listed(copied: Path) -> None:
    (copied / "problems.csv").write_text("file,line,problem,what_would_be_right\nx.csv,3,it breaks off,Save it again\n")
    assert data_of(copied)[0]["problems"] == [
        {"file": "x.csv", "line": "3", "problem": "it breaks off", "remedy": "Save it again", "kind": "not read"}
    ]


def test_a_language_models_codes_are_held_against_no_reference(copied: Path) -> None:
    recipe = json.loads((copied / "run.json").read_text())
    recipe["tagger"] = {"kind": "llm", "model": "some-model"}
    (copied / "run.json").write_text(json.dumps(recipe))
    overview, _ = data_of(copied)
    assert overview["references"] == []
    assert overview["tagger"] == "language model some-model"
    assert all(one["references"] == {} for one in overview["measures"])
    assert any("compared with no reference" in one for one in overview["findings_how"])


def test_the_references_are_for_the_usual_aim(copied: Path) -> None:
    recipe = json.loads((copied / "run.json").read_text())
    recipe["tagger"]["aim"] = "recall"
    (copied / "run.json").write_text(json.dumps(recipe))
    assert data_of(copied)[0]["references"] == []


def test_a_session_without_therapist_turns_is_shown(copied: Path) -> None:
    path = copied / "sessions" / "aria_ben" / "turns.csv"
    rewrite(path, {"role": "client"})
    remeasure(copied, 1, dict.fromkeys(("therapist_question_rate", "therapist_talk_share", "n_turns_therapist"), ""))
    overview, sessions = data_of(copied)
    assert value(overview, overview["sessions"][1]["id"], "therapist_question_rate")[0] is None
    assert len(sessions) == 4


def test_codes_and_lanes_are_those_of_the_codebooks(made: tuple[Json, list[Json]]) -> None:
    overview, sessions = made
    known = {code.column: code for book in builtin_codebooks() for code in book.codes}
    codes = {code["column"]: code for code in overview["codes"]}
    assert {"mi_question", "bolt_negative_feeling"} <= set(codes) <= set(known)
    assert {lane["label"]: lane["role"] for lane in overview["lanes"]} == {
        **dict.fromkeys(["Question", "Reflection", "Advice, input", "Normalizing", "Psychoeducation"], "therapist"),
        **dict.fromkeys(["Change", "Sustain", "Feeling \N{PLUS-MINUS SIGN}", "Insight", "Event"], "client"),
    }
    assert [name for name, code in codes.items() if code["down"]] == ["bolt_negative_feeling"]
    assert codes["mi_question"]["marked"]
    assert not codes["bolt_questions_on_emotions"]["marked"]  # mi_question stands for its kinds
    assert all(session["p"].keys() <= codes.keys() for session in sessions)


def test_codes_of_the_users_own_are_shown_with_their_role(copied: Path) -> None:
    header = list(rows(copied / "codebook.csv")[0])
    code = {"column": "our_hope", "family": "codes, Our clinic"}
    rate = {"column": "our_hope_rate", "table": "measured", "family": "process", "measure": "our_hope_rate"}
    added = [
        {**code, "table": "turns", "meaning": "Hope: speaks of hope", "unit": "0 or 1", "range": "0 to 1"},
        {**code, "table": "probabilities", "meaning": "Probability of our_hope", "unit": "probability"},
        {**rate, "unit": "proportion", "range": "0 to 1", "label": "Hope", "page": "client"},
    ]
    with (copied / "codebook.csv").open("a", encoding="utf-8", newline="") as lines:
        csv.DictWriter(lines, header, lineterminator="\n").writerows(added)
    for path in (copied / "sessions").glob("*/turns.csv"):
        table = rows(path)
        for file, cell in ((path, "1"), (path.with_name("probabilities.csv"), "0.8")):
            heads, *body = file.read_text(encoding="utf-8").splitlines()
            cells = [cell if row["role"] == "client" else "" for row in table]
            longer = [f"{line},{one}" for line, one in zip(body, cells, strict=True)]
            file.write_text("\n".join([f"{heads},our_hope", *longer]) + "\n", encoding="utf-8")
    with (copied / "measures.csv").open("a", encoding="utf-8") as lines:
        for row in rows(copied / "sessions.csv"):
            lines.write(f"{row['session_id']},our_hope_rate,,1{',' * 11}\n")
    overview, sessions = data_of(copied)
    code = next(one for one in overview["codes"] if one["column"] == "our_hope")
    assert (code["role"], code["label"], code["book"]) == ("client", "Hope", "Our clinic")
    measure = next(one for one in overview["measures"] if one["name"] == "our_hope_rate")
    assert (measure["label"], measure["family"]) == ("Hope", "What the client does")
    assert sessions[0]["p"]["our_hope"][:2] in ([None, 80], [80, None])


@pytest.mark.parametrize(
    ("tagger", "words"),
    [
        ({"kind": "accurate", "version": "0.3.0", "aim": "balanced"}, "accurate tagger 0.3.0 (aim: balanced)"),
        ({"kind": "fast", "own": {"book": "x"}}, "fast tagger, with a model of your own"),
        ({"kind": "llm", "model": "m"}, "language model m"),
        ({}, "coder, of which nothing is known"),
    ],
)
def test_who_coded_is_said_in_words(tagger: Json, words: str) -> None:
    assert tagger_words({"tagger": tagger}) == words


def test_cells_that_are_no_numbers_are_nothing() -> None:
    assert numbers(["", "1", "0.25", "nan", "inf", "x"]) == [None, 1, 0.25, None, None, None]


def test_an_empty_table_has_its_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n")
    assert read_columns(tmp_path / "a.csv", ("a",)) == {"a": [], "b": []}
    assert read_columns(tmp_path / "b.csv", ("a",)) == {}


@pytest.mark.parametrize("options", [ta.TaggerOptions(kind="fast"), ta.TaggerOptions(all_codes=True)])
def test_the_lane_to_review_has_the_turns_that_the_session_counts(
    samples: Path, tmp_path: Path, options: ta.TaggerOptions
) -> None:
    course = (samples.parent / "sample_course" / "transcripts").glob("*.txt")
    paths = [*sorted(course), samples / "boyle_lucia.txt", samples / "boyle_sessions.csv"]
    ta.run(paths, tmp_path / "r", settings=ta.Settings(tagger=options), writing=Writing(figures=(), report=False))
    overview, sessions = data_of(tmp_path / "r")
    at = next(k for k, one in enumerate(overview["measures"]) if one["name"] == "n_turns_to_review")
    marks = [one["marks"] for one in sessions]
    assert any(mark["also"] for own in marks for mark in own)
    lanes = [len({turn for mark in own if not mark["also"] for turn in mark["turns"]}) for own in marks]
    assert lanes == [one["values"][at][0] for one in overview["sessions"]]
    assert sum(lanes) >= 2


def test_the_page_says_what_marks_danger_and_what_was_compared(results: Path, samples: Path) -> None:
    overview, _ = data_of(results)
    said = " ".join([*overview["limits"], *overview["look_first"]["notes"]])
    assert "the fast tagger marks danger by phrases alone" in said
    assert "the accurate tagger with --all-codes does" in said
    assert overview["n_compared"] == 12
    assert overview["units"] == {"counselor": "client", "source": "counselor"}


def test_turns_whose_words_cannot_be_counted_are_drawn_alike(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("T: \u4eca\u65e5\u306f\nC: \u7720\u308c\u307e\u305b\u3093\n", encoding="utf-8")
    settings = ta.Settings(tagger=ta.TaggerOptions(kind="fast"))
    ta.run([tmp_path / "a.txt"], tmp_path / "r", settings=settings, writing=Writing(figures=(), report=False))
    overview, (one,) = data_of(tmp_path / "r")
    assert overview["sessions"][0]["n_words"] is None
    assert (one["n_words"], one["start"], one["end"]) == ([None, None], [], [])
