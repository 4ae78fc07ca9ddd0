"""The page of a coder: what it holds, and what it must not hold."""

from __future__ import annotations

import json
import re
import shutil
import stat
from pathlib import Path

import pytest
from coding.samples import codes_of, drawn, invented, sample_of

from therapy_analytics.codes import codebook_named
from therapy_analytics.coding import coding_page, read_sample
from therapy_analytics.core.errors import BadDataFileError, BadOptionError, UnknownNameError


def data_of(page: Path) -> dict[str, object]:
    """Return what the scripts of a page read."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(encoding="utf-8"))
    assert found is not None
    return json.loads(found[1])


def test_the_page_holds_the_sample_and_no_code_of_the_machine(small: Path) -> None:
    page = coding_page(small, "Ann")
    assert page == small / "code_Ann.html"
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    data = data_of(page)
    assert set(data) == {"coder", "sample", "file", "context", "books", "turns", "sessions", "training"}
    assert (data["file"], data["training"]) == ("codes_Ann.csv", None)
    assert [set(turn) for turn in data["turns"]] == [{"session", "turn", "role", "inclusion"}] * 24
    assert {turn["inclusion"] for turn in data["turns"]} == {row["inclusion"] for row in drawn(small)}
    assert [book["id"] for book in data["books"]] == ["mi", "process"]
    assert "why" not in json.dumps(data["turns"])


def test_the_page_may_load_nothing(small: Path) -> None:
    text = coding_page(small, "Ann").read_text(encoding="utf-8")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src &#x27;none&#x27;; script-src &#x27;sha256-")
    assert not re.findall(r"(?:src|href)=\"(?!data:|#)", text.partition("<script")[0])


def test_turns_come_by_session_and_in_order(small: Path) -> None:
    table = (small / "sample.csv").read_text(encoding="utf-8").splitlines()
    (small / "sample.csv").write_text("\n".join([table[0], *reversed(table[1:])]) + "\n", encoding="utf-8")
    turns = data_of(coding_page(small, "Ann"))["turns"]
    order = [(turn["session"], turn["turn"]) for turn in turns]
    assert order == sorted(order)


def test_pages_know_the_sample_by_a_hash_and_not_by_its_order(small: Path, tmp_path: Path) -> None:
    first = read_sample(small).sha256
    shutil.copytree(small, tmp_path / "moved")
    assert read_sample(tmp_path / "moved").sha256 == first
    assert read_sample(sample_of(invented(), tmp_path / "other", n=20)).sha256 != first


def test_one_book_has_files_of_its_own(small: Path) -> None:
    page = coding_page(small, "Ann", book="process")
    assert page.name == "code_Ann_process.html"
    data = data_of(page)
    assert data["file"] == "codes_Ann_process.csv"
    assert [book["id"] for book in data["books"]] == ["process"]


@pytest.mark.parametrize("book", ["mi", "bolt", "misc", "miti", "process", "epitome"])
def test_every_code_of_the_package_has_a_key_of_its_own(book: str, small: Path) -> None:
    codes = data_of(coding_page(small, "Ann", book=book))["books"][0]["codes"]
    assert len(codes) == len(codebook_named(book).codes)
    for role in ("therapist", "client"):
        keys = [code["key"] for code in codes if code["role"] == role]
        assert len(set(keys)) == len(keys)
        assert not {"", "n", "u"} & set(keys)
        assert [code["key"] == "0" for code in codes] == [code["rest"] for code in codes]


def test_sub_codes_stand_under_their_parent(small: Path) -> None:
    (book,) = data_of(coding_page(small, "Ann", book="mi"))["books"]
    assert [(code["column"], code["parent"]) for code in book["codes"][:3]] == [
        ("mi_question", ""),
        ("mi_question_open", "mi_question"),
        ("mi_question_closed", "mi_question"),
    ]


@pytest.mark.parametrize("name", ["", "Ann Lee", "../Ann", "settled", "a" * 31])
def test_a_name_that_cannot_stand_in_a_file_is_refused(small: Path, name: str) -> None:
    with pytest.raises(BadOptionError, match="cannot be a coder's name"):
        coding_page(small, name)


def test_what_is_no_sample_is_a_sentence(small: Path, tmp_path: Path) -> None:
    with pytest.raises(BadOptionError, match=r"holds no sample \(there is no sample.csv\)"):
        coding_page(tmp_path, "Ann")
    with pytest.raises(UnknownNameError):
        coding_page(small, "Ann", book="nothing")
    words = json.loads((small / "turns.json").read_text(encoding="utf-8"))
    words["sessions"][0]["turns"] = []
    (small / "turns.json").write_text(json.dumps(words), encoding="utf-8")
    with pytest.raises(BadDataFileError, match="lacks the words of 6 turns"):
        coding_page(small, "Ann")
    (small / "turns.json").write_text("{", encoding="utf-8")
    with pytest.raises(BadDataFileError, match="cannot be read as JSON"):
        coding_page(small, "Ann")
    (small / "sample.csv").write_text("session_id,turn,role\na,x,client\n", encoding="utf-8")
    with pytest.raises(BadDataFileError, match="without a number"):
        coding_page(small, "Ann")


def test_a_book_of_ones_own_is_named_by_its_file(small: Path) -> None:
    design = json.loads((small / "design.json").read_text(encoding="utf-8"))
    (small / "design.json").write_text(json.dumps(design | {"books": ["clinic"]}), encoding="utf-8")
    with pytest.raises(BadOptionError, match="Name its file with --book"):
        coding_page(small, "Ann")


# Training


def test_training_takes_thirty_turns_that_are_not_in_the_sample(small: Path, tmp_path: Path) -> None:
    before = sample_of(invented(6, 20), tmp_path / "before", n=60, seed=5)
    answers = codes_of(before, before / "settled.csv", "settled", lambda at, _, code: code.id == "question" and at % 2)
    data = data_of(coding_page(small, "Ann", training=answers))
    turns = data["training"]["books"]["mi"]
    assert len(turns) == 30
    to_code = {(turn["session"], turn["turn"]) for turn in data["turns"]}
    assert not to_code & {(turn["session"], turn["turn"]) for turn in turns}
    of_role = {code.column for code in codebook_named("mi").codes if code.role == turns[0]["role"]}
    assert set(turns[0]["answers"]) == of_role
    assert set(data["training"]["books"]) == {"mi"}
    assert {turn["session"] for turn in turns} == set(data["training"]["sessions"])


def test_answers_on_which_coders_are_tied_are_not_trained(small: Path, tmp_path: Path) -> None:
    before = sample_of(invented(6, 20), tmp_path / "before", n=40, seed=5)
    ann = codes_of(before, tmp_path / "a.csv", "Ann", lambda at, _, code: code.id in ("question", "change"))
    ben = codes_of(before, tmp_path / "b.csv", "Ben", lambda at, _, code: code.id == "change")
    both = ann.read_text(encoding="utf-8") + "\n".join(ben.read_text(encoding="utf-8").splitlines()[1:]) + "\n"
    (before / "gold.csv").write_text(both, encoding="utf-8")
    turns = data_of(coding_page(small, "Ann", training=before / "gold.csv"))["training"]["books"]["mi"]
    assert all("mi_question" not in turn["answers"] for turn in turns)
    assert {turn["answers"]["mi_change"] for turn in turns if turn["role"] == "client"} == {1}


def test_answers_about_the_sample_itself_train_nobody(small: Path) -> None:
    answers = codes_of(small, small / "settled.csv", "settled", lambda *_: False)
    with pytest.raises(BadOptionError, match="no agreed answers on turns outside of this sample"):
        coding_page(small, "Ann", training=answers)
