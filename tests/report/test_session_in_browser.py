"""The session view in a real browser: timeline, turn, transcript, and words that must not run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from pypdf import PdfReader
from report._browser import followed, violations
from report._browser import opened as in_browser

from therapy_analytics.report.data import report_data
from therapy_analytics.report.html import assemble

SESSION = "boyle_lucia"
HOSTILE = "<script>window.ran=1</script><img src=x onerror=window.ran=1> =1+1 </script><b>bold</b> 👩‍👧 end"
LONG = "and then another thing " * 100
LABELS = ["=HYPERLINK(1)", "<img src=x onerror=window.ran=1>"]


class Reader:
    """A page, and what went wrong in it."""

    def __init__(self, page: Any, file: Path) -> None:
        self.page, self.file = page, file
        self.wrong: list[str] = []
        page.on("console", lambda message: self.wrong.append(message.text) if message.type != "info" else None)
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("request", self._request)

    def _request(self, request: Any) -> None:
        if not request.url.startswith((self.file.as_uri(), "data:", "blob:")):
            self.wrong.append(f"asked for {request.url}")

    def open(self, address: str = f"#session/{SESSION}") -> Any:
        self.page.goto(self.file.as_uri() + address)
        self.page.wait_for_selector(".tl-svg")
        return self.page

    def title(self) -> str:
        return str(self.page.inner_text("#turn-title"))


Open = Callable[..., Reader]


@pytest.fixture(scope="module")
def plain(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("plain") / "report.html"
    file.write_bytes(assemble("Sessions", *report_data(results, quotes=False, most_sessions=9)))
    return file


@pytest.fixture(scope="module")
def quoted(results_with_quotes: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with quotes, one session with a turn of danger, one of hostile words."""
    overview, sessions = report_data(results_with_quotes, quotes=True, most_sessions=9)
    own = next(one for one in sessions if one["id"] == SESSION)
    own["text"][14] = "You sound angry, and 👩‍👧 sad."
    own["text"][20] = LONG
    own["marks"] = [{"name": "danger_turn", "label": "Danger: review", "danger": True, "turns": [9]}]
    bad = next(one for one in sessions if one["id"] != SESSION)
    n = len(bad["role"])
    bad["text"], bad["speaker"] = [HOSTILE] * n, [LABELS[at % 2] for at in range(n)]
    overview["sessions"][bad["index"]]["id"] = bad["id"] = HOSTILE
    file = tmp_path_factory.mktemp("quoted") / "report.html"
    file.write_bytes(assemble("Sessions", overview, sessions))
    return file


@pytest.fixture
def reader(browser: Any) -> Iterator[Open]:
    opened: list[tuple[Any, Reader]] = []

    def start(file: Path, **options: Any) -> Reader:
        size = {"width": 1280, "height": 900}
        context = in_browser(browser, viewport=size, **options)
        opened.append((context, Reader(context.new_page(), file)))
        return opened[-1][1]

    yield start
    for context, one in opened:
        context.close()
        assert one.wrong == []


def test_a_click_on_a_bar_or_a_mark_brings_the_turn(reader: Open, plain: Path) -> None:
    one = reader(plain)
    page = one.open()
    assert one.title() == "No turn picked"
    chart = page.locator(".tl-canvas").bounding_box()
    page.mouse.click(chart["x"] + 3, chart["y"] + 10)
    assert one.title() == "Turn 0, therapist"
    page.wait_for_url(f"**#session/{SESSION}/turn/0")
    # The lane of questions: its first mark but one is turn 2, and near is near enough.
    page.mouse.click(chart["x"] + chart["width"] * 31 / 1221, chart["y"] + 46 + 10)
    assert one.title() == "Turn 2, therapist"
    assert page.get_attribute(".line.picked", "data-turn") == "2"


def test_keys_walk_through_the_turns(reader: Open, plain: Path) -> None:
    one = reader(plain)
    page = one.open()
    page.focus(".tl-canvas")
    for key, turn in (("Home", 0), ("ArrowRight", 1), ("ArrowUp", 2), ("ArrowLeft", 1), ("End", 57), ("PageDown", 47)):
        page.keyboard.press(key)
        assert one.title().startswith(f"Turn {turn},")
    page.select_option("#tl-lane", "change")
    page.focus(".tl-canvas")
    for key in ("Home", "]", "]", "["):
        page.keyboard.press(key)
    words = page.get_attribute(".tl-canvas", "aria-valuetext")
    assert one.title() == "Turn 3, client"
    assert words.startswith("turn 3, client, 16 words: ")
    assert "changing" in words
    page.focus('.turn-link[tabindex="0"]')
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert one.title() == "Turn 4, therapist"


def test_a_turn_can_be_linked_to_and_bounds_are_kept(reader: Open, plain: Path) -> None:
    one = reader(plain)
    one.open(f"#session/{SESSION}/turn/16")
    assert one.title() == "Turn 16, therapist"
    one.page.goto(f"{plain.as_uri()}#session/{SESSION}/turn/9999")
    followed(one.page, f"#session/{SESSION}/turn/9999")
    assert one.title() == "Turn 16, therapist"


def test_without_quotes_there_are_numbers(reader: Open, plain: Path) -> None:
    one = reader(plain)
    page = one.open(f"#session/{SESSION}/turn/0")
    assert page.inner_text("#list-title") == "Turns"
    assert page.locator("tr.line").count() == 58


def test_with_quotes_the_transcript_and_what_a_code_means(reader: Open, quoted: Path) -> None:
    one = reader(quoted)
    page = one.open(f"#session/{SESSION}/turn/16")
    assert page.inner_text("#list-title") == "Transcript"
    assert "breathing exercises" in page.inner_text(".turn-words")
    assert page.inner_text("tr[data-code=mi_question] th").startswith("\N{CHECK MARK}")
    assert "\N{CHECK MARK}" not in page.inner_text("tr[data-code=mi_input] th")
    page.click("tr[data-code=mi_question] button")
    assert page.inner_text("#meaning-title") == "Question"
    assert page.inner_text("#meaning p").startswith("Meaning: ")
    page.keyboard.press("Escape")
    assert not page.is_visible("#meaning")


def test_words_of_a_transcript_run_nothing(reader: Open, quoted: Path) -> None:
    one = reader(quoted)
    page = one.open(f"#session/{quote(HOSTILE, safe='')}/turn/0")
    assert page.inner_text(".turn-words") == HOSTILE
    page.locator(".turn-table button").first.click()
    assert page.evaluate("window.ran") is None
    assert page.locator("main img, main b > b, main script").count() == 0
    assert LABELS[0] in page.inner_text(".who >> nth=0")


def box(page: Any, selector: str) -> dict[str, float]:
    found: dict[str, float] = page.locator(selector).first.bounding_box()
    return found


def test_numbers_and_the_turn_with_what_it_answers_are_in_sight(reader: Open, quoted: Path) -> None:
    one = reader(quoted)
    one.page.set_viewport_size({"width": 1366, "height": 768})
    page = one.open(f"#session/{SESSION}/turn/40")
    names = page.locator(".strip .tile-name").all_inner_texts()
    assert names[:4] == ["Talks (share of words)", "Asks", "Open questions (share of questions)", "Reflects"]
    asks = page.inner_text(".strip .tile >> nth=1")
    assert "% " in asks
    assert "skilled people:" in asks
    numbers, chart, transcript = box(page, ".strip"), box(page, ".tl-chart"), box(page, ".turns-scroll")
    assert numbers["y"] + numbers["height"] < 400
    assert chart["y"] + chart["height"] < 768
    assert transcript["x"] > chart["x"] + chart["width"]
    for turn in (39, 40):  # the client's turn before, and the chosen one
        row = box(page, f'tr[data-turn="{turn}"]')
        assert transcript["y"] < row["y"]
        assert row["y"] + row["height"] < 768
    assert page.inner_text(".turn-before").startswith("Before, turn 39, client: ")
    page.focus(".tl-canvas")
    page.keyboard.press("End")
    last = box(page, 'tr[data-turn="57"]')
    assert last["y"] + last["height"] < 768


def test_what_is_not_core_is_drawn_on_request(reader: Open, plain: Path) -> None:
    one = reader(plain)
    page = one.open()
    labels = page.locator(".tl-lane").all_inner_texts()
    assert page.locator(".tl-series").count() == 0
    assert not any("Insight" in label for label in labels)
    for key in ("codes", "synchrony"):
        page.check(f"[data-more={key}]")
    assert "Insight" in " ".join(page.locator(".tl-lane").all_inner_texts())
    assert page.locator(".tl-series").count() == 2
    page.goto(f"{plain.as_uri()}#session/aria_ben")
    followed(page, "#session/aria_ben")
    assert page.is_checked("[data-more=synchrony]")
    assert page.locator(".tl-series").count() == 2


def test_a_long_turn_is_cut_until_all_is_asked_for(reader: Open, quoted: Path) -> None:
    one = reader(quoted)
    page = one.open(f"#session/{SESSION}/turn/20")
    row = page.locator('tr[data-turn="20"]')
    short = row.bounding_box()["height"]
    assert short < 300
    button = row.locator("button")
    assert button.inner_text().startswith("Show all ")
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-expanded") == "true"
    assert row.bounding_box()["height"] > 2 * short


def test_the_sheet_of_a_session_is_one_page_with_its_reasons(reader: Open, quoted: Path, tmp_path: Path) -> None:
    one = reader(quoted)
    page = one.open()
    page.focus("text=Supervision sheet >> nth=0")
    page.keyboard.press("Enter")
    page.wait_for_selector(".sheet")
    assert page.evaluate("document.activeElement.id") == "sheet-title"
    turns = page.locator(".sheet-turns > li")
    assert turns.count() == 3
    assert "probability" in turns.first.inner_text()
    assert "Worth another look" in turns.first.inner_text()
    assert "no earlier session of this client" in page.inner_text(".sheet")
    assert pages(page, tmp_path) == 1
    link = page.locator(".sheet-where a").first
    where = link.inner_text()
    link.click()
    page.wait_for_selector(".tl-svg")
    assert one.title().startswith(f"{where},")


def pages(page: Any, folder: Path) -> int:
    """Return how many pages are printed on the shorter of the usual papers; A4 holds more."""
    page.pdf(path=folder / "sheet.pdf", format="Letter", prefer_css_page_size=True)
    return len(PdfReader(folder / "sheet.pdf").pages)


def test_without_quotes_the_sheet_has_reasons_and_no_words(reader: Open, plain: Path, tmp_path: Path) -> None:
    one = reader(plain)
    one.page.goto(f"{plain.as_uri()}#sheet/session/{SESSION}")
    steps = one.page.locator(".sheet-steps p").all_inner_texts()
    assert steps
    assert all(step.endswith("%).") and step.startswith("Turn ") for step in steps)
    assert pages(one.page, tmp_path) == 1


def test_the_sheet_of_a_counselor_names_the_sessions(reader: Open, quoted: Path, tmp_path: Path) -> None:
    one = reader(quoted)
    page = one.open()
    page.click("text=Supervision sheet of Martin Boyle")
    page.wait_for_selector(".sheet")
    assert page.inner_text("#sheet-title") == "Martin Boyle"
    assert f"{SESSION}, turn" in page.inner_text(".sheet-turns")
    assert "Nothing to compare with" in page.inner_text(".sheet")
    assert pages(page, tmp_path) == 1


def test_the_profile_of_a_counselor_leads_to_the_sheet(reader: Open, plain: Path) -> None:
    one = reader(plain)
    one.page.goto(f"{plain.as_uri()}#profile")
    one.page.select_option("#profile-of", "group counselor Martin Boyle")
    one.page.click(".profile >> text=Supervision sheet of Martin Boyle")
    one.page.wait_for_selector(".sheet")
    assert one.page.inner_text("#sheet-title") == "Martin Boyle"


@pytest.mark.parametrize("width", [320, 390, 768, 1366])
def test_nothing_pans_sideways(reader: Open, quoted: Path, width: int) -> None:
    one = reader(quoted)
    one.page.set_viewport_size({"width": width, "height": 800})
    for address in (f"session/{SESSION}/turn/20", f"sheet/session/{SESSION}", "sheet/counselor/Martin%20Boyle"):
        one.page.goto(f"{quoted.as_uri()}#{address}")
        one.page.wait_for_selector(".strip:visible")
        assert one.page.evaluate("document.documentElement.scrollWidth") == width, address


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 320)])
def test_the_sheet_is_accessible(reader: Open, quoted: Path, scheme: str, width: int) -> None:
    one = reader(quoted, color_scheme=scheme)
    one.page.set_viewport_size({"width": width, "height": 800})
    one.page.goto(f"{quoted.as_uri()}#sheet/session/{SESSION}")
    one.page.wait_for_selector(".sheet")
    assert violations(one.page) == []


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 320)])
def test_the_view_is_accessible(reader: Open, quoted: Path, scheme: str, width: int) -> None:
    one = reader(quoted, color_scheme=scheme)
    one.page.set_viewport_size({"width": width, "height": 800})
    page = one.open(f"#session/{SESSION}/turn/16")
    for part in page.locator("details").all():
        part.evaluate("node => { node.open = true; }")
    # The other rows are built like the first, and axe looks at each.
    others = "tr.line:nth-child(n+20), .session-part tbody tr:nth-child(n+3), .session-responses .scroll:nth-child(n+3)"
    page.evaluate("others => document.querySelectorAll(others).forEach(row => row.remove())", others)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
