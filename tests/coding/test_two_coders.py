"""Two coders with each other: counts that a reader can make, files, and the page on which they settle."""

from __future__ import annotations

import csv
from collections.abc import Collection, Sequence
from pathlib import Path

import pandas as pd
import pytest
from coding.samples import codes_of, drawn
from coding.test_coding_page import data_of
from commands import tanalyze

import therapy_analytics as ta
from therapy_analytics.coding import between_coders
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.stats.agreement import GoldOptions, people_agreement
from therapy_analytics.stats.training import TrainOptions, material_of

QUESTIONS = ("question", "question_open")


@pytest.fixture
def pair(small: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Return two files of codes: Ann finds a question in every turn, Ben in all but the first and the tenth."""
    ann = codes_of(small, tmp_path / "codes_Ann.csv", "Ann", lambda at, _, code: code.id == "question")
    ben = codes_of(small, tmp_path / "codes_Ben.csv", "Ben", lambda at, _, code: code.id == "question" and at % 10 > 0)
    return ann, ben


def table(path: Path, coder: str, values: str) -> Path:
    """Write codes of a question in 40 turns of 5 sessions, as a column of 0 and 1."""
    rows = [f"s{at // 8},{2 * (at % 8)},{coder},{value}" for at, value in enumerate(values)]
    path.write_text("\n".join(["session_id,turn,coder,mi_question", *rows]) + "\n", encoding="utf-8")
    return path


def test_agreement_is_what_a_reader_counts(tmp_path: Path) -> None:
    # 20 turns both yes, 12 both no, 4 only Ann, 4 only Ben: 32 of 40 the same; expected .6 * .6 + .4 * .4 = .52.
    ann = table(tmp_path / "a.csv", "Ann", "1111100011111000111110001111100011110000"[:40])
    ben = list("1111100011111000111110001111100011110000")
    for at in (0, 8, 16, 24):
        ben[at] = "0"
    for at in (7, 15, 23, 31):
        ben[at] = "1"
    found = people_agreement(ann, table(tmp_path / "b.csv", "Ben", "".join(ben)))
    row = found.coders.set_index("code").loc["mi_question"]
    assert (row["first"], row["second"], row["n_turns"], row["n_clusters"]) == ("Ann", "Ben", 40, 5)
    assert (row["n_first"], row["n_second"], row["n_both"]) == (24, 24, 20)
    assert row["agreement"] == pytest.approx(0.8)
    assert row["kappa"] == pytest.approx((0.8 - 0.52) / 0.48)
    assert row["kappa_lo"] < row["kappa"] < row["kappa_hi"]
    assert len(found.disagreements) == 8
    assert "sessions, taken as independent" in found.text


def named_as(path: Path, coder: str, **names: str) -> Path:
    """Write codes of a question in 20 turns of each session: in sessions called one, all have it, in others none."""
    rows = [f"{name},{at},{coder},{int(one == 'one')}" for one, name in names.items() for at in range(20)]
    path.write_text("\n".join(["session_id,turn,coder,mi_question", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("ann", "ben", "n_sessions"),
    [
        (("2024.03.01_a", "2024.03.02_b"), ("2024.03.01_a", "2024.03.02_b"), 2),
        (("s1", "S2"), ("talks/S1.txt", "s2"), 2),
        (("s1", "s1.txt"), ("s1", "s1.txt"), 2),
        (("s1", "s1.txt"), ("s1", "S1"), 1),  # nobody knows what S1 is; s1 is in both
    ],
)
def test_sessions_are_joined_where_their_names_fit_no_other(
    ann: tuple[str, str], ben: tuple[str, str], n_sessions: int, tmp_path: Path
) -> None:
    files = [
        named_as(tmp_path / f"{coder}.csv", coder, one=names[0], other=names[1])
        for coder, names in (("Ann", ann), ("Ben", ben))
    ]
    row = people_agreement(*files).coders.set_index("code").loc["mi_question"]
    assert (row["n_turns"], row["n_clusters"], row["n_both"], row["agreement"]) == (20 * n_sessions, n_sessions, 20, 1)


def test_the_order_of_the_files_is_the_order_of_the_coders(pair: tuple[Path, Path]) -> None:
    first, second = (people_agreement(*files).coders.iloc[0] for files in (pair, pair[::-1]))
    assert (first["first"], second["first"]) == ("Ann", "Ben")
    assert first["agreement"] == second["agreement"]


def test_of_few_turns_there_is_no_kappa(pair: tuple[Path, Path]) -> None:
    found = people_agreement(*pair).coders
    assert (found["n_turns"] < 30).all()
    assert found[["kappa", "ac1", "alpha"]].isna().all(axis=None)
    assert found["note"].str.contains("no kappa, AC1 or alpha: fewer than 30 turns").all()


def test_disagreements_are_listed_without_words_or_notes(small: Path, pair: tuple[Path, Path], tmp_path: Path) -> None:
    found, _ = between_coders(*pair, sample=small)
    apart = found.disagreements
    assert set(apart["code"]) == {"mi_question"}
    wanted = [row for at, row in enumerate(drawn(small)) if at % 10 == 0 and row["role"] == "therapist"]
    assert len(apart) == len(wanted) > 0
    assert apart[["first", "second"]].drop_duplicates().to_numpy().tolist() == [[1, 0]]
    assert set(apart["first_unsure"]) == {1}
    files = found.write(tmp_path / "out")
    assert [path.name for path in files] == ["coders.csv", "disagreements.csv", "agreement.md"]
    assert not [path for path in files if "hm" in path.read_text(encoding="utf-8").split(",")]


def test_what_somebody_was_unsure_of_goes_where_their_codes_go(tmp_path: Path) -> None:
    """Numbers that have shifted are mended by words: of the codes, and of what stands beside them."""
    said = ["How are you?", "Well enough.", "What else is new?", "We went to the lake.", "Was it cold?", "It was."]
    lines = "\n".join(f"{'TC'[at % 2]}: {words}" for at, words in enumerate(said))
    (tmp_path / "talk.txt").write_text(lines, encoding="utf-8")
    for name, shift, unsure in (("Ann", 1, 4), ("Ben", 0, -1)):
        table = pd.DataFrame({"session_id": "talk", "turn": [0, 2, 4], "code": "mi_question", "coder": name})
        table["value"], table["unsure"] = int(name == "Ann"), (table["turn"] == unsure).astype(int)
        table["text"] = [said[at] for at in table["turn"]]
        table.assign(turn=table["turn"] + shift).to_csv(tmp_path / f"{name}.csv", index=False)
    turns = pd.DataFrame({"session_id": "talk", "turn": range(6), "role": ["therapist", "client"] * 3})
    options = GoldOptions(transcripts=tmp_path / "talk.txt")
    apart = people_agreement(tmp_path / "Ann.csv", tmp_path / "Ben.csv", turns=turns, options=options).disagreements
    assert apart["turn"].tolist() == [0, 2, 4]
    assert apart["first_unsure"].tolist() == [0, 0, 1]


def test_clusters_come_from_the_sample(small: Path, pair: tuple[Path, Path]) -> None:
    rows = drawn(small)
    for row in rows:
        row["counselor"] = f"C{row['session_id'][-1]}"[:2] if row["session_id"] != "talk_1" else "C0"
    with (small / "sample.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    found, _ = between_coders(*pair, sample=small)
    assert "3 counselors" in found.text


def test_files_that_are_not_of_two_people_are_refused(pair: tuple[Path, Path], tmp_path: Path) -> None:
    ann, ben = pair
    with pytest.raises(BadOptionError, match="both files hold the codes of 'Ann'"):
        people_agreement(ann, ann)
    both = tmp_path / "both.csv"
    pd.concat([pd.read_csv(ann), pd.read_csv(ben)]).to_csv(both, index=False)
    with pytest.raises(BadOptionError, match=r"both.csv holds the codes of 2 people"):
        people_agreement(both, ben)
    pd.read_csv(ben).assign(session_id="elsewhere").to_csv(both, index=False)
    with pytest.raises(BadOptionError, match="no coded turn in common"):
        people_agreement(ann, both)
    for path in (both, tmp_path / "weather.csv"):
        path.write_text("session_id,turn,weather\ns,1,fine\n", encoding="utf-8")
    with pytest.raises(BadOptionError, match="no code of a codebook"):
        people_agreement(both, tmp_path / "weather.csv")
    both.write_text("turn,mi_question\n1,1\n", encoding="utf-8")
    with pytest.raises(BadOptionError, match="has no column session_id"):
        people_agreement(ann, both)


def test_unblinded_corrections_are_nobodys_codes(pair: tuple[Path, Path], tmp_path: Path) -> None:
    pd.read_csv(pair[1]).assign(unblinded=1).to_csv(tmp_path / "unblinded.csv", index=False)
    with pytest.raises(BadOptionError, match="made with the machine's answer in view"):
        people_agreement(pair[0], tmp_path / "unblinded.csv")


def test_codes_of_ones_own_book_are_compared_too(tmp_path: Path) -> None:
    for name in ("Ann", "Ben"):
        rows = [f"s,{at},own_greets,{at % 2},{name}" for at in range(40)]
        text = "\n".join(["session_id,turn,code,value,coder", *rows]) + "\n"
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
    found, page = between_coders(tmp_path / "Ann.csv", tmp_path / "Ben.csv")
    assert found.coders["code"].tolist() == ["own_greets"]
    (tmp_path / "page.html").write_bytes(page)
    data = data_of(tmp_path / "page.html")
    assert [book["name"] for book in data["books"]] == ["Codes of your own"]


def coders_of(folder: Path, codes: Sequence[str], unsure: Collection[str]) -> tuple[Path, Path]:
    """Write files of two coders who differ on every code of three turns; Ann is unsure of some codes at turn 1."""
    for name, value in (("Ann", 1), ("Ben", 0)):
        rows = [
            (turn, code, *((1, "hm") if name == "Ann" and turn == 1 and code in unsure else (0, "")))
            for turn in range(3)
            for code in codes
        ]
        table = pd.DataFrame(rows, columns=["turn", "code", "unsure", "note"])
        table.assign(session_id="s", value=value, coder=name).to_csv(folder / f"{name}.csv", index=False)
    return folder / "Ann.csv", folder / "Ben.csv"


def test_doubts_about_codes_of_ones_own_book_are_on_the_page(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_bytes(between_coders(*coders_of(tmp_path, ["clinic_greets"], ["clinic_greets"]))[1])
    data = data_of(tmp_path / "page.html")
    assert [book["id"] for book in data["books"]] == ["own"]
    assert [turn["said"][0]["own"] for turn in data["turns"]] == [
        {"unsure": int(at == 1), "note": "hm" if at == 1 else ""} for at in range(3)
    ]


def test_all_codes_of_ones_own_are_on_the_page(tmp_path: Path) -> None:
    columns = [f"own_{at}" for at in range(230)]
    (tmp_path / "page.html").write_bytes(between_coders(*coders_of(tmp_path, columns, []))[1])
    (book,) = data_of(tmp_path / "page.html")["books"]
    assert {code["column"] for code in book["codes"]} == set(columns)
    assert {code["key"] for code in book["codes"]} == {""}


def test_doubts_about_one_book_are_none_about_another(tmp_path: Path) -> None:
    files = coders_of(tmp_path, ["mi_question", "misc_question"], ["mi_question"])
    apart = people_agreement(*files).disagreements
    assert apart.loc[apart["first_unsure"] == 1, ["turn", "code"]].to_numpy().tolist() == [[1, "mi_question"]]
    wide = pd.DataFrame({"session_id": "s", "turn": range(3), "coder": "Ann", "mi_question": 1, "misc_question": 1})
    wide.assign(unsure=[0, 1, 0]).to_csv(files[0], index=False)  # of the turn, whatever the book
    apart = people_agreement(*files).disagreements
    assert apart.loc[apart["first_unsure"] == 1, "turn"].tolist() == [1, 1]


def test_the_page_knows_its_decisions_again_with_words_and_without(
    small: Path, pair: tuple[Path, Path], tmp_path: Path
) -> None:
    ann, ben = pair
    other = codes_of(small, tmp_path / "other.csv", "Ben", lambda at, _, code: code.id == "question" and at % 9 > 0)
    backwards = tmp_path / "backwards.csv"
    pd.read_csv(ann, dtype=str, keep_default_na=False)[::-1].to_csv(backwards, index=False)
    keys = []
    for first, second, sample in ((ann, ben, None), (ann, ben, small), (backwards, ben, None), (ann, other, None)):
        (tmp_path / "page.html").write_bytes(between_coders(first, second, sample=sample)[1])
        keys.append(data_of(tmp_path / "page.html")["key"])
    assert keys[0] == keys[1] == keys[2] != keys[3]


def test_the_page_holds_words_only_of_a_sample(small: Path, pair: tuple[Path, Path], tmp_path: Path) -> None:
    for name, given in (("with", small), ("without", None)):
        (tmp_path / f"{name}.html").write_bytes(between_coders(*pair, sample=given)[1])
    words, none = (data_of(tmp_path / f"{name}.html") for name in ("with", "without"))
    assert set(words["sessions"]) == {row["session_id"] for row in drawn(small)}
    assert none["sessions"] == {}
    assert len(words["turns"]) == len(none["turns"]) == 24
    assert words["turns"][0]["said"][0]["mi"] == {"unsure": 1, "note": "hm"}


# The command


def test_the_command_writes_what_it_says(small: Path, pair: tuple[Path, Path], tmp_path: Path) -> None:
    done = tanalyze("agree", *pair, "--out", "out", folder=tmp_path)
    assert done.status == 0
    assert "out: agreement.md (to cite), coders.csv, disagreements.csv" in done.text
    assert not (tmp_path / "out" / "adjudicate.html").exists()
    done = tanalyze("agree", *pair, "--page", "--out", "out", folder=tmp_path)
    assert "It holds no words: give --sample to have them in it." in done.text
    done = tanalyze("agree", *pair, "--page", "--sample", small, "--out", "out", folder=tmp_path)
    assert "It holds the words of the sample." in done.text
    assert "Replaced in out: an agreement of coders" in done.text
    (tmp_path / "out" / "settled.csv").write_text("session_id\n", encoding="utf-8")  # put there by hand: it stays
    assert tanalyze("agree", *pair, "--out", "out", folder=tmp_path).status == 0
    assert (tmp_path / "out" / "settled.csv").exists()


def test_options_that_do_not_go_together_are_refused(pair: tuple[Path, Path], tmp_path: Path) -> None:
    assert "Give the codes of a second person, too" in tanalyze("agree", pair[0], folder=tmp_path).text
    assert "no table that can be read" in tanalyze("agree", "no_such.csv", pair[0], folder=tmp_path).text
    assert "holds no results" in tanalyze("agree", "no_such", pair[0], folder=tmp_path).text
    done = tanalyze("agree", tmp_path, pair[0], "--page", folder=tmp_path)
    assert (done.status, "two files of codes, not for results" in done.text) == (2, True)
    done = tanalyze("agree", tmp_path, "--sample", ".", folder=tmp_path)
    assert (done.status, "It is for codes of a sample: name their file." in done.text) == (2, True)
    done = tanalyze("code", tmp_path, "--coder", "A", "--training-sample", ".", folder=tmp_path)
    assert "It says where the words of --training are" in done.text


def test_the_codes_of_a_page_are_read_as_they_are(sample: Path, results: Path, tmp_path: Path) -> None:
    codes = codes_of(sample, tmp_path / "codes_Ann.csv", "Ann", lambda at, _, code: code.id == "question" and at % 2)
    found = ta.agreement(results, codes)
    assert found.codes.set_index("code").at["mi_question", "n_turns"] > 20
    assert "Somebody who corrects a machine" not in found.text


def settled(path: Path, codes: Path) -> Path:
    """Write a file of codes as the page hands out what was settled."""
    rows = pd.read_csv(codes, keep_default_na=False).assign(coder="settled", decided_by="both agreed")
    rows.assign(first=rows["value"], second=rows["value"]).to_csv(path, index=False)
    return path


def test_what_was_settled_is_learnt_from_as_it_is(sample: Path, talks: Path, tmp_path: Path) -> None:
    codes = codes_of(sample, tmp_path / "codes.csv", "Ann", lambda at, _, code: code.id == "question" and at % 2)
    sessions = [session for path in sorted(talks.glob("*_*")) for session in ta.read(path)]
    found = material_of(settled(tmp_path / "settled.csv", codes), sessions, TrainOptions())
    assert {code.book for code in found.codes} == {"mi"}
    assert not [note for note in found.notes if "left out" in note or "corrects a machine" in note]
    pd.read_csv(codes).assign(unblinded=1).to_csv(tmp_path / "unblinded.csv", index=False)
    with pytest.raises(BadOptionError, match="made with the machine's answer in view"):
        material_of(tmp_path / "unblinded.csv", sessions, TrainOptions())


def test_outcomes_take_what_was_settled(sample: Path, results: Path, tmp_path: Path) -> None:
    codes = codes_of(sample, tmp_path / "codes.csv", "Ann", lambda at, _, code: code.id == "question" and at % 2)
    gold = settled(tmp_path / "settled.csv", codes)
    names = sorted({row["session_id"] for row in drawn(sample)})
    scores = "".join(f"{name},{20 - at}\n" for at, name in enumerate(names))
    (tmp_path / "scores.csv").write_text(f"session_id,PHQ-9\n{scores}", encoding="utf-8")
    done = tanalyze("outcomes", results, "--outcomes", "scores.csv", "--gold", gold, folder=tmp_path)
    assert done.status == 0, done.err
