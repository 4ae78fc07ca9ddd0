"""The pages in a real browser: two coders code 60 turns by keyboard alone, and what they differ on is settled."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from coding.samples import codes_of, drawn, invented, sample_of
from commands import tanalyze
from report._browser import opened, violations, watched

from therapy_analytics.codes import codebook_named
from therapy_analytics.coding import between_coders, coding_page

UNSURE = ".work-bar button:has-text('Unsure')"
Opened = Callable[..., "Desk"]


class Desk:
    """A browser of one person, who opens pages from disk; closing a page keeps what the browser keeps."""

    def __init__(self, browser: Any, **options: Any) -> None:
        self.wrong: list[str] = []
        self.asked = 0
        self.context = opened(browser, **options)

    def open(self, file: Path) -> Any:
        page = watched(self.context, self.wrong)
        page.on("dialog", self._dialog)
        page.goto(file.as_uri())
        return page

    def _dialog(self, dialog: Any) -> None:
        self.asked += 1
        dialog.accept()


@pytest.fixture
def desk(browser: Any) -> Iterator[Opened]:
    """Give a function that makes a person's browser; at the end nothing may have gone wrong in any."""
    desks: list[Desk] = []

    def make(**options: Any) -> Desk:
        desks.append(Desk(browser, **options))
        return desks[-1]

    yield make
    for one in desks:
        one.context.close()
        assert one.wrong == []


def press(page: Any, *keys: str) -> None:
    """Press keys, one after the other."""
    for key in keys:
        page.keyboard.press(key)


def handed_out(page: Any, button: str, path: Path) -> list[dict[str, str]]:
    """Download a file by keyboard: the button gets the focus, then Enter; return its rows."""
    with page.expect_download() as waiting:
        page.get_by_role("button", name=button).first.press("Enter")
    waiting.value.save_as(path)
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def code_by_keyboard(page: Any, careful: Callable[[int], bool], turns: range) -> None:
    """Code turns by a simple rule: a question mark is an open question, all else is what is left over."""
    for at in turns:
        asks = "?" in page.inner_text("#words")
        if "Client" in page.inner_text("#who"):
            press(page, "0", "Enter")
        elif asks and careful(at):
            press(page, "a", "Enter")
        else:
            press(page, "0", "Enter")


def test_two_coders_code_and_settle_by_keyboard_alone(
    desk: Opened, sample: Path, results: Path, talks: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "sample"
    shutil.copytree(sample, folder)
    for coder, careful in (("Ann", lambda _: True), ("Ben", lambda at: at % 4 > 0)):
        assert tanalyze("code", folder, "--coder", coder).status == 0
        own = desk()
        page = own.open(folder / f"code_{coder}.html")
        code_by_keyboard(page, careful, range(25))
        press(page, "u", "n")
        page.keyboard.type("the cat, perhaps")
        press(page, "Enter")
        page.close()
        page = own.open(folder / f"code_{coder}.html")
        assert page.inner_text(".count").startswith("25 of 60 done")
        assert page.get_attribute(UNSURE, "aria-pressed") == "true"
        code_by_keyboard(page, careful, range(25, 60))
        assert page.inner_text(".end h2") == "All 60 turns are coded"
        rows = handed_out(page, f"Download codes_{coder}.csv", tmp_path / f"codes_{coder}.csv")
        check_codes(rows, coder, folder)
        assert own.asked == 0

    done = tanalyze(
        *("agree", "codes_Ann.csv", "codes_Ben.csv", "--page", "--sample", "sample", "--out", "agreed"), folder=tmp_path
    )
    assert done.status == 0, done.err
    assert "mi_question" in done.out
    apart = pd.read_csv(tmp_path / "agreed" / "disagreements.csv")
    rows = settle_by_keyboard(desk(), tmp_path, len(apart.groupby(["session_id", "turn"])))
    check_settled(rows, apart, folder)

    words = ("compare", results, "--by", "counselor", "--gold", "settled.csv", "--no-plots", "--out", "compared")
    done = tanalyze(*words, folder=tmp_path)
    assert done.status == 0, done.err
    by_hand = pd.read_csv(tmp_path / "compared" / "gold.csv")
    n_therapist = sum(row["role"] == "therapist" for row in drawn(folder))
    assert by_hand.loc[by_hand["code"] == "mi_question", "n_gold_turns"].sum() == n_therapist
    done = tanalyze("agree", results, "settled.csv", "--out", "machine", "--no-plots", folder=tmp_path)
    assert done.status == 0, done.err
    assert f"Of {len(rows)} rows of the human codes {len(rows)} were matched" in done.text
    assert "Columns left out" not in done.text
    done = tanalyze("train", "settled.csv", talks, "--cold", "--beside", "fast", "--out", "model", folder=tmp_path)
    assert done.status in (0, 1), done.err
    assert f"Of {len(rows)} rows of the human codes {len(rows)} were matched" in done.text
    assert "own_" not in done.text


def check_codes(rows: list[dict[str, str]], coder: str, folder: Path) -> None:
    """See that every code of a turn's role has a value, and that sub-codes imply their parent."""
    known = {
        (row["session_id"], row["turn"], code.column): row["inclusion"]
        for row in drawn(folder)
        for code in codebook_named("mi").codes
        if code.role == row["role"]
    }
    assert {(row["session_id"], row["turn"], row["code"]): row["inclusion"] for row in rows} == known
    assert {row["coder"] for row in rows} == {coder}
    value = {(row["session_id"], row["turn"], row["code"]): row["value"] for row in rows}
    assert {"0", "1"} == set(value.values())
    assert all(
        value[(*key, "mi_question")] >= value[(*key, "mi_question_open")]
        for key in {one[:2] for one in value if one[2] == "mi_question"}
    )
    noted = [row for row in rows if row["note"]]
    assert {(row["note"], row["unsure"]) for row in noted} == {("the cat, perhaps", "1")}
    assert len({(row["session_id"], row["turn"]) for row in noted}) == 1


def settle_by_keyboard(own: Desk, folder: Path, n: int) -> list[dict[str, str]]:
    """Settle every difference: as the first, as the second, then by hand; half-way the page is closed."""
    page = own.open(folder / "agreed" / "adjudicate.html")
    assert n > 2
    press(page, "Enter")
    assert "still open" in page.inner_text(".state")
    press(page, "1", "Enter")
    page.keyboard.type("Cara")
    press(page, "Enter")
    assert page.inner_text(".count") == f"1 of {n} settled"
    page.get_by_role("button", name="Download settled.csv").first.press("Enter")
    assert f"{n - 1} differences not settled yet: their turns are not in it" in page.inner_text(".message")
    press(page, "2", "n")
    page.keyboard.type("=read on")
    press(page, "Enter", "Enter")
    page.close()
    page = own.open(folder / "agreed" / "adjudicate.html")
    assert page.inner_text(".count") == f"2 of {n} settled"
    for _ in range(2, n):
        press(page, "b", "Enter")  # an open question: its parent comes with it
    assert page.inner_text(".end h2") == f"All {n} differences are settled"
    return handed_out(page, "Download settled.csv", folder / "settled.csv")


def check_settled(rows: list[dict[str, str]], apart: pd.DataFrame, folder: Path) -> None:
    """See that every turn is settled, by whom, and what each had said."""
    assert len({(row["session_id"], row["turn"]) for row in rows}) == len(drawn(folder))
    assert {row["coder"] for row in rows} == {"settled"}
    differ = [row for row in rows if row["first"] != row["second"]]
    assert len(differ) == len(apart)
    assert {row["decided_by"] for row in differ} == {"Cara"}
    assert {row["decided_by"] for row in rows if row["first"] == row["second"]} == {"both agreed"}
    assert all(row["value"] == row["first"] for row in rows if row["first"] == row["second"])
    taken = [row["value"] for row in differ]
    assert set(taken) == {"0", "1"}
    assert {row["note"] for row in rows} == {"", "'=read on"}


# The page of a coder


@pytest.fixture
def page(desk: Opened, small: Path) -> Any:
    """Return the page of a small sample for two books, opened."""
    return desk().open(coding_page(small, "Ann"))


def pressed(page: Any) -> list[str]:
    """Return the codes that are given to the turn."""
    found = page.locator(".codes [aria-pressed=true]").evaluate_all("all => all.map((one) => one.dataset.code)")
    return [str(one) for one in found]


def to_therapist(page: Any) -> None:
    """Go on to a turn of the therapist."""
    while "Therapist" not in page.inner_text("#who"):
        press(page, "ArrowRight")


def test_keys_toggle_codes_and_sub_codes_bring_their_parent(page: Any) -> None:
    to_therapist(page)
    press(page, "a")
    assert pressed(page) == ["mi_question", "mi_question_open"]
    press(page, "c", "d")  # a reflection is simple or complex
    assert pressed(page) == ["mi_question", "mi_question_open", "mi_reflection", "mi_reflection_complex"]
    press(page, "1")
    assert pressed(page) == ["mi_reflection", "mi_reflection_complex"]
    press(page, "Shift+a")
    assert page.inner_text(".defined h3") == "Open question"
    assert pressed(page) == ["mi_reflection", "mi_reflection_complex"]


def test_enter_codes_nothing_by_itself(page: Any) -> None:
    before = page.inner_text("#words"), page.inner_text(".count")
    press(page, "Enter", "Enter", "Enter")
    assert (page.inner_text("#words"), page.inner_text(".count")) == before
    assert page.inner_text(".state") == "Give a code first, or 0."
    assert pressed(page) == []
    press(page, "1", "Enter", "Enter")  # the second one meets a turn that has not been read
    assert page.inner_text(".count").startswith("1 of 24 done")
    assert pressed(page) == []


def test_what_stands_for_the_rest_stands_alone(page: Any) -> None:
    to_therapist(page)
    assert page.locator("[data-none]").count() == 0
    press(page, "1", "2", "0")
    assert pressed(page) == ["mi_question", "mi_reflection"]
    assert page.inner_text(".state") == "0 once more takes all codes of this turn away."
    press(page, "0")
    assert pressed(page) == ["mi_other"]
    press(page, "2")
    assert pressed(page) == ["mi_reflection"]


def test_none_of_these_takes_codes_away_at_the_second_press(page: Any) -> None:
    page.click(".rounds button >> nth=1")  # the codes of process, of which none stands for the rest
    press(page, "0", "Enter")
    assert page.inner_text(".count").startswith("1 of 24 done")
    press(page, "1", "0")
    given = pressed(page)
    assert len(given) == 1
    assert page.inner_text(".state") == "0 once more takes all codes of this turn away."
    press(page, "0")
    assert page.get_attribute("[data-none]", "aria-pressed") == "true"
    press(page, "1")  # a code instead of none
    assert pressed(page) == given
    press(page, "1", "Enter")  # and taken away: open again
    assert page.inner_text(".state") == "Give a code first, or 0."
    assert page.inner_text(".count").startswith("1 of 24 done")


def test_codes_do_not_move_under_the_finger(page: Any) -> None:
    places = "[...document.querySelectorAll('button')].map((one) => JSON.stringify(one.getBoundingClientRect()))"
    page.set_viewport_size({"width": 1024, "height": 768})
    to_therapist(page)
    before = page.evaluate(places)
    for key in ("1", "d", "u"):
        press(page, key)
        assert page.evaluate(places) == before


def test_all_codes_are_listed_and_those_in_doubt_come_again(page: Any, tmp_path: Path) -> None:
    press(page, "0", "Enter", "0", "u", "n")
    page.keyboard.type("which week?")
    press(page, "Enter", "Enter", "0", "Enter", "0", "u", "Enter")
    page.get_by_role("button", name="Download").first.press("Enter")
    assert "codes_Ann.csv was handed to your browser" in page.inner_text(".notice.message")
    assert "20 turns of 24 are not coded yet" not in page.inner_text(".notice.message")  # two books: 44 of 48
    assert "44 turns of 48 are not coded yet" in page.inner_text(".notice.message")
    press(page, "End")
    page.click(".answers summary")
    rows = [one.split("\t") for one in page.locator(".answers tbody tr").all_inner_texts()]
    assert len(rows) == 24
    assert [row[0] for row in rows if row[3] == "unsure"] == ["2", "4"]
    assert rows[1][4] == "which week?"
    assert rows[4][2] == "not coded yet"
    page.get_by_role("button", name="Look at them again").press("Enter")
    assert page.inner_text(".noted") == "Your note: which week?"
    press(page, "Enter")
    assert page.get_attribute(UNSURE, "aria-pressed") == "true"
    press(page, "Enter")
    assert page.inner_text(".end h2") == "20 turns still to code"
    page.click(".work-tools button:has-text('Review unsure')")
    page.click(".work-tools button:has-text('Next uncoded')")
    fifth = page.inner_text("#words")
    press(page, "0", "Enter")
    assert page.is_visible("#words")
    assert page.inner_text("#words") != fifth
    press(page, "End")
    download = page.get_by_role("button", name="Download codes_Ann.csv").last
    download.press("Enter")
    page.wait_for_selector("#announce:has-text('was handed to your browser')", state="attached")
    assert page.evaluate("document.activeElement.tagName") == "BUTTON"


def test_a_coder_is_told_what_to_know_before_and_what_a_session_is_about(desk: Opened, small: Path) -> None:
    words = json.loads((small / "turns.json").read_text(encoding="utf-8"))
    for one in words["sessions"]:
        one["about"] = "problem: the night shift"
    (small / "turns.json").write_text(json.dumps(words), encoding="utf-8")
    page = desk().open(coding_page(small, "Ann"))
    assert page.inner_text(".about-session") == "problem: the night shift"
    assert "Do not talk with another coder" in page.inner_text(".before")
    press(page, "0", "Enter")
    assert page.is_hidden(".before")


def test_enter_that_is_held_down_codes_nothing_by_itself(page: Any) -> None:
    press(page, "0")
    for _ in range(5):
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    assert page.inner_text(".count").startswith("1 of 24 done")


def test_keys_rest_in_a_note_and_where_they_are_switched_off(page: Any) -> None:
    press(page, "n")
    page.keyboard.type("1 u ?")
    press(page, "Escape")
    assert pressed(page) == []
    assert page.input_value("#note") == "1 u ?"
    press(page, "?")
    assert page.is_visible("dialog")
    press(page, "1")
    page.uncheck("#letters")
    press(page, "Escape", "1", "u")
    assert pressed(page) == []
    page.click("[data-code] >> nth=0")
    press(page, "Enter")
    assert page.inner_text(".count").startswith("1 of 24 done")


def test_a_click_does_not_make_enter_press_the_button_again(page: Any) -> None:
    page.click("[data-code] >> nth=0")
    press(page, "Enter")
    assert page.inner_text(".count").startswith("1 of 24 done")
    page.click(UNSURE)
    press(page, "0", "Enter")
    assert page.inner_text(".count").startswith("2 of 24 done")
    assert page.inner_text("text=Review unsure") == "Review unsure (1)"


def test_pages_of_one_coder_for_two_books_keep_their_codes_apart(desk: Opened, small: Path) -> None:
    own = desk()
    page = own.open(coding_page(small, "Ann", book="mi"))
    press(page, "0", "Enter", "0", "Enter")
    page.close()
    page = own.open(coding_page(small, "Ann", book="process"))
    press(page, "0", "Enter")
    page.close()  # a page that is open may still be about to store what was pressed
    assert own.open(small / "code_Ann_mi.html").inner_text(".count").startswith("2 of 24 done")
    assert own.open(small / "code_Ann_process.html").inner_text(".count").startswith("1 of 24 done")


def test_what_is_loaded_keeps_the_doubts_of_each_book(desk: Opened, small: Path, tmp_path: Path) -> None:
    page = desk().open(coding_page(small, "Ann"))
    press(page, "0", "Enter")
    page.click(".rounds button >> nth=1")
    press(page, "0", "u", "n")
    page.keyboard.type("hard one")
    press(page, "Enter", "Enter")
    first = handed_out(page, "Download codes_Ann.csv", tmp_path / "codes.csv")
    marks = {(row["code"].partition("_")[0], row["unsure"], row["note"]) for row in first}
    assert marks == {("mi", "0", ""), ("process", "1", "hard one")}
    other = desk().open(small / "code_Ann.html")
    other.set_input_files("input[type=file]", tmp_path / "codes.csv")
    other.wait_for_selector("text=2 turns taken from the file.")
    assert handed_out(other, "Download codes_Ann.csv", tmp_path / "again.csv") == first


def test_one_book_comes_after_the_other(page: Any) -> None:
    for _ in range(24):
        press(page, "0", "Enter")
    assert page.inner_text(".end h2") == "All 24 turns are coded"
    page.get_by_role("button", name="Go on: Process of the session").press("Enter")
    assert page.inner_text("h1") == "Process of the session"
    assert page.inner_text(".count").startswith("0 of 24 done")


def test_a_file_is_taken_up_again_and_anothers_is_not(desk: Opened, small: Path, tmp_path: Path) -> None:
    own = desk()
    page = own.open(coding_page(small, "Ann"))
    press(page, "1", "u", "n")
    page.keyboard.type('so, "well"')
    press(page, "Enter", "Enter", "0", "Enter")
    first = handed_out(page, "Download codes_Ann.csv", tmp_path / "codes.csv")
    other = desk().open(small / "code_Ann.html")
    assert other.inner_text(".count").startswith("0 of 24 done")
    other.set_input_files("input[type=file]", tmp_path / "codes.csv")
    other.wait_for_selector("text=2 turns taken from the file.")
    assert other.inner_text(".count").startswith("2 of 24 done")
    assert handed_out(other, "Download codes_Ann.csv", tmp_path / "again.csv") == first
    bens = desk().open(coding_page(small, "Ben"))
    bens.set_input_files("input[type=file]", tmp_path / "codes.csv")
    bens.wait_for_selector("text=holds codes of another coder")
    assert bens.inner_text(".count").startswith("0 of 24 done")


def test_a_browser_that_keeps_nothing_says_so_and_asks_before_it_closes(
    desk: Opened, small: Path, tmp_path: Path
) -> None:
    own = desk()
    own.context.add_init_script("Storage.prototype.setItem = () => { throw new Error('no'); }")
    page = own.open(coding_page(small, "Ann"))
    page.click("[data-code] >> nth=0")
    assert "Download the file before you close the page" in page.inner_text(".message")
    page.reload()
    assert own.asked == 1
    page.click("[data-code] >> nth=0")
    press(page, "Enter")
    handed_out(page, "Download codes_Ann.csv", tmp_path / "codes.csv")
    page.reload()
    assert own.asked == 1


def test_training_shows_the_agreed_answer_and_does_not_go_into_the_file(
    desk: Opened, small: Path, tmp_path: Path
) -> None:
    before = sample_of(invented(6, 20), tmp_path / "before", n=60, seed=5)
    answers = codes_of(before, before / "settled.csv", "settled", lambda at, _, code: code.id in ("question", "change"))
    page = desk().open(coding_page(small, "Ann", book="mi", training=answers))
    assert page.inner_text("h1") == "Training: Motivational interviewing, coarse codes"
    press(page, "1", "Enter")
    assert page.inner_text(".reveal h3") == "✓ You gave the agreed answer"
    press(page, "2")  # it is too late to change it
    assert len(pressed(page)) == 1
    press(page, "Enter", "2", "Enter")
    assert page.inner_text(".reveal h3") == "≠ You differ from the agreed answer on 2 codes"
    press(page, "Enter")
    for _ in range(28):
        press(page, "1", "Enter", "Enter")
    assert page.inner_text(".end h2") == "The training round is done"
    cells = page.locator(".end tbody tr").last.inner_text().split("\t")
    n = sum(len(row.split("\t")) > 1 for row in page.locator(".end tbody tr").all_inner_texts())
    assert cells[0] == "All decisions together"
    assert cells[-2] == "99%"
    assert float(cells[-1]) > 0.9
    assert n > 5
    page.get_by_role("button", name="Go on: Motivational").press("Enter")
    assert page.inner_text(".count").startswith("0 of 24 done")
    press(page, "0", "Enter")
    rows = handed_out(page, "Download codes_Ann_mi.csv", tmp_path / "codes.csv")
    assert {row["session_id"] for row in rows} == {drawn(small)[0]["session_id"]}


def test_words_of_a_transcript_run_nothing(desk: Opened, small: Path) -> None:
    hostile = "</script><script>window.ran=1</script><img src=x onerror=window.ran=1>{{script}}"
    words = (small / "turns.json").read_text(encoding="utf-8")
    for said in ("How was the week with the new rota?", "It rained, so we stayed in."):
        words = words.replace(said, hostile)
    (small / "turns.json").write_text(words, encoding="utf-8")
    page = desk().open(coding_page(small, "Ann"))
    shown = set()
    for _ in range(24):
        shown.add(page.inner_text("#words"))
        press(page, "ArrowRight")
    assert hostile in shown
    assert page.evaluate("window.ran") is None
    assert page.locator("main img").count() == 0


SHOWN = [(320, 700, "dark"), (768, 1024, "light"), (1280, 800, "light")]


@pytest.mark.parametrize(("width", "height", "scheme"), SHOWN)
def test_every_view_is_accessible(
    desk: Opened, small: Path, tmp_path: Path, width: int, height: int, scheme: str
) -> None:
    before = sample_of(invented(6, 20), tmp_path / "before", n=60, seed=5)
    answers = codes_of(before, before / "settled.csv", "settled", lambda at, _, code: code.id in ("question", "change"))
    own = desk(viewport={"width": width, "height": height}, color_scheme=scheme, has_touch=width == 768)
    page = own.open(coding_page(small, "Ann", training=answers))
    press(page, "2", "u", "Enter", "Shift+1")
    check_shown(page, width)
    press(page, *(["ArrowRight"] * 30))
    check_shown(page, width)
    page.click(".rounds button >> nth=-1")
    press(page, "n")
    check_shown(page, width)
    press(page, "Enter", "?")
    check_shown(page, width)
    ann, ben = (
        codes_of(small, tmp_path / f"{name}.csv", name, lambda at, _, code, wanted=wanted: code.id == wanted)
        for name, wanted in (("Ann", "question"), ("Ben", "reflection"))
    )
    (tmp_path / "adjudicate.html").write_bytes(between_coders(ann, ben, sample=small)[1])
    page = own.open(tmp_path / "adjudicate.html")
    press(page, "b")
    page.click(".settle summary")
    check_shown(page, width)
    press(page, "1", "Enter")
    check_shown(page, width)
    press(page, "Escape", *(["ArrowRight"] * 30))
    check_shown(page, width)


SMALL = """
[...document.querySelectorAll("button, summary, input:not([hidden])")].filter((one) => one.getClientRects().length)
  .map((one) => [one.textContent || one.id, one.closest("label") ?? one])
  .filter(([, one]) => one.getBoundingClientRect().height < 44)
  .map(([name]) => name)
"""


def check_shown(page: Any, width: int) -> None:
    """See that axe finds nothing, that nothing is wider than the page, and that fingers find what they press."""
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if width < 1000:
        assert page.evaluate(SMALL) == []
