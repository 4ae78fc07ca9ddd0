"""The overview in a real browser: opened from disk, sorted, filtered, printed, and read by a machine for access."""

from __future__ import annotations

import copy
import csv
import io
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pypdf
import pytest
from report import _browser

from therapy_analytics.report import report
from therapy_analytics.report.data import report_data
from therapy_analytics.report.html import assemble

Open = Callable[..., Any]
Data = tuple[dict[str, Any], list[dict[str, Any]]]
REFLECTS = "therapist_reflection_rate"


@pytest.fixture(scope="module")
def file(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return report(results, out=tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture(scope="module")
def data(results: Path) -> Data:
    return report_data(results, quotes=False, most_sessions=9)


@contextmanager
def opening(browser: Any) -> Iterator[Open]:
    """Open files as a reader would; whatever goes wrong with them is an error at the end."""
    trouble: list[str] = []
    contexts: list[Any] = []

    def start(file: Path, address: str = "", *, width: int = 1400, **options: Any) -> Any:
        size = {"width": width, "height": 900}
        context = _browser.opened(browser, viewport=size, reduced_motion="reduce", **options)
        contexts.append(context)
        page = _browser.watched(context, trouble)
        page.goto(file.as_uri() + address)
        return page

    yield start
    for context in contexts:
        context.close()
    assert trouble == []


@pytest.fixture
def opened(browser: Any) -> Iterator[Open]:
    with opening(browser) as start:
        yield start


@pytest.fixture(scope="module")
def page(browser: Any, file: Path) -> Iterator[Any]:
    """One page for the tests that leave its table as it is."""
    with opening(browser) as start:
        yield start(file)


def names(page: Any) -> list[str]:
    """The sessions that the table shows, from the top down."""
    found: list[str] = page.locator("section[aria-labelledby=sessions] tbody tr > th a:not(.note)").all_inner_texts()
    return found


def values(page: Any, column: str) -> list[str]:
    """What stands first in the cells of a column of the table of sessions."""
    heads = page.locator("section[aria-labelledby=sessions] thead th").evaluate_all(
        "all => all.map(h => h.dataset.key)"
    )
    cells = page.locator(f"section[aria-labelledby=sessions] tbody tr > :nth-child({heads.index(column) + 1})")
    return [text.split()[0] for text in cells.all_inner_texts()]


def head(page: Any, column: str) -> Any:
    return page.locator(f"section[aria-labelledby=sessions] th[data-key='{column}']")


def filters(page: Any) -> None:
    """Open the fold of the filters."""
    page.click("summary:text-is('Filter')")


def written(file: Path, overview: dict[str, Any], sessions: list[dict[str, Any]]) -> Path:
    file.write_bytes(assemble("Counseling sessions", overview, sessions))
    return file


def without(overview: dict[str, Any]) -> dict[str, Any]:
    """One session without anything to hold it against, and some of its values not defined."""
    bare = copy.deepcopy(overview)
    bare |= {"references": [], "groups": {}, "about": [], "findings": [], "findings_how": [], "limits": []}
    bare |= {"look_first": {"rows": [], "notes": []}, "who": "1 session"}
    bare |= {"sessions": bare["sessions"][:1], "problems": [], "n_compared": 0}
    for measure in bare["measures"]:
        measure["references"] = {}
    bare["sessions"][0]["values"] = [[None] * 5 for _ in bare["measures"]]
    return bare


def many(data: Data, n: int) -> Data:
    """The same sessions again and again, under other names."""
    overview, sessions = copy.deepcopy(data[0]), []
    own = overview["sessions"]
    overview["sessions"] = [{**own[i % len(own)], "id": f"s{i:04d}", "view": i < len(own)} for i in range(n)]
    sessions = [{**one, "id": f"s{i:04d}"} for i, one in enumerate(data[1])]
    return overview, sessions


def test_it_says_what_it_is_and_what_it_holds(page: Any) -> None:
    assert page.locator("h1").all_inner_texts() == ["Counseling sessions"]
    text = page.inner_text("main")
    assert "4 sessions" in text
    assert "This page holds no words of the sessions." in text
    assert sorted(names(page)) == ["aria_ben", "boyle_lucia", "lindqvist_dana_1", "nair_tomas"]


def test_a_page_with_quotes_says_so(opened: Open, results_with_quotes: Path, tmp_path: Path) -> None:
    page = opened(report(results_with_quotes, out=tmp_path / "quotes.html", quotes=True))
    assert "keep it as you keep those" in page.inner_text("main")


def a_finding(i: int, counselor: str) -> dict[str, Any]:
    one = {"session": None, "under": ["counselor", counselor], "measure": REFLECTS, "p": 0.01}
    return one | {"line": f"Reflects in {i}% of turns [1, 9]; p = .010", "detail": f"detail {i}"}


def test_five_findings_stand_under_their_counselors_and_the_rest_is_folded(
    opened: Open, data: Data, tmp_path: Path
) -> None:
    overview = copy.deepcopy(data[0])
    overview["findings"] = [a_finding(i, ("Ruth", "Priya")[i % 2]) for i in range(7)]
    page = opened(written(tmp_path / "found.html", overview, data[1]))
    section = page.locator("section[aria-labelledby=standing-out]")
    shown = [text for text in section.locator(".findings > li").all_inner_texts() if text]
    assert len(shown) == 5
    assert [one for one in section.locator("h3").all_inner_texts() if one] == ["Ruth", "Priya"]
    assert " ".join(shown[0].split()) == "Reflects in 0% of turns [1, 9]; p = .010 Profile"
    section.locator("summary").click()
    assert "2 more findings" in section.inner_text()
    assert "detail 6" in section.inner_text()


def test_a_finding_about_a_session_is_told_in_its_own_letters_and_opens_it(
    opened: Open, data: Data, tmp_path: Path
) -> None:
    """An id at its beginning is a name, and stays as it is written."""
    overview = copy.deepcopy(data[0])
    overview["findings"] = [a_finding(1, "") | {"session": 0, "line": "boyle_lucia: asks"}]
    page = opened(written(tmp_path / "found.html", overview, data[1]))
    item = page.locator("ul.findings li").first
    assert item.inner_text().startswith("boyle_lucia: asks")
    assert item.locator("a").get_attribute("href") == "#session/boyle_lucia"


def test_sessions_to_look_at_first_lead_to_their_turns(opened: Open, data: Data, tmp_path: Path) -> None:
    overview = copy.deepcopy(data[0])
    reasons = [{"text": "5 possible ruptures", "turns": [2, 4, 6, 8, 10]}, {"text": "asks a lot", "turns": []}]
    overview["look_first"] = {"rows": [{"session": 0, "reasons": reasons}], "notes": ["a note"]}
    page = opened(written(tmp_path / "look.html", overview, data[1]))
    item = page.locator(".look > li")
    told = "boyle_lucia (Martin Boyle): 5 possible ruptures: turn 2, 4, 6, \N{HORIZONTAL ELLIPSIS}; asks a lot"
    assert item.inner_text() == told
    item.locator("a >> nth=2").click()
    _browser.followed(page, "#session/boyle_lucia/turn/4")


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (390, 844)])
def test_the_first_screen_holds_who_the_findings_and_on_a_laptop_the_table(
    opened: Open, file: Path, width: int, height: int
) -> None:
    page = opened(file, width=width)
    page.set_viewport_size({"width": width, "height": height})
    seen = {"h2#standing-out": 1, "h2#look-first": 1, "section[aria-labelledby=sessions] tbody tr": width > 1000}
    for place, wanted in seen.items():
        box = page.locator(place).first.bounding_box()
        assert not wanted or box["y"] + box["height"] <= height, place


def test_a_counselors_models_and_references_of_models_go_together(data: Data, results: Path, tmp_path: Path) -> None:
    assert any(one["kind"] == "llm" for one in data[0]["references"])
    folder = shutil.copytree(results, tmp_path / "r")
    table = (folder / "sessions.csv").read_text(encoding="utf-8")
    (folder / "sessions.csv").write_text(table.replace(",llm,", ",human,"), encoding="utf-8")
    assert {one["kind"] for one in report_data(folder, most_sessions=9)[0]["references"]} == {"human"}


def test_a_head_sorts_the_table_both_ways(opened: Open, file: Path) -> None:
    page = opened(file)
    button = head(page, REFLECTS).locator(".sorter")
    button.focus()
    page.keyboard.press("Enter")
    assert head(page, REFLECTS).get_attribute("aria-sort") == "descending"
    downwards = [int(value.rstrip("%")) for value in values(page, REFLECTS)]
    assert downwards == sorted(downwards, reverse=True)
    page.locator("#announce", has_text="highest first").wait_for(state="attached")
    page.keyboard.press("Enter")
    assert head(page, REFLECTS).get_attribute("aria-sort") == "ascending"
    assert [int(value.rstrip("%")) for value in values(page, REFLECTS)] == downwards[::-1]
    head(page, "session_id").locator(".sorter").click()
    assert names(page) == sorted(names(page))
    assert page.locator("section[aria-labelledby=sessions] th[aria-sort=ascending]").count() == 1


def test_undefined_values_sort_last_and_are_no_zero(opened: Open, data: Data, tmp_path: Path) -> None:
    overview = copy.deepcopy(data[0])
    at = [measure["name"] for measure in overview["measures"]].index(REFLECTS)
    overview["sessions"][1]["values"][at] = [None] * 5
    page = opened(written(tmp_path / "p.html", overview, data[1]))
    for _ in range(2):
        head(page, REFLECTS).locator(".sorter").click()
        assert values(page, REFLECTS)[-1].startswith("\N{EN DASH}")
        assert names(page)[-1] == overview["sessions"][1]["id"]
    filters(page)
    page.select_option("#filter-measure", label="Reflects")
    page.select_option("#filter-side", "most")
    page.fill("#filter-amount", "100")
    assert overview["sessions"][1]["id"] not in names(page)


def test_filters_by_name_by_kind_and_by_number(opened: Open, file: Path) -> None:
    page = opened(file)
    filters(page)
    page.fill("#filter-words", "ARIA llm")
    assert names(page) == ["aria_ben"]
    assert page.inner_text(".status") == "1 of 4 sessions."
    page.click("text=Show all")
    page.locator(".status", has_text="All 4 sessions.").wait_for()
    page.select_option("#filter-about-source", "=human")
    assert sorted(names(page)) == ["boyle_lucia", "lindqvist_dana_1", "nair_tomas"]
    page.select_option("#filter-measure", label="Reflects")
    page.fill("#filter-amount", "50")
    assert all(int(value.rstrip("%")) >= 50 for value in values(page, REFLECTS))
    page.fill("#filter-words", "nobody")
    assert names(page) == []
    assert "None of the 4 sessions" in page.inner_text(".status")


def test_columns_come_and_go_and_the_file_has_what_is_shown(opened: Open, file: Path) -> None:
    page = opened(file)
    page.click("text=Choose columns")
    page.check("[data-column=reflection_to_question_ratio]")
    page.uncheck("[data-column=source]")
    keys = page.locator("section[aria-labelledby=sessions] thead th").evaluate_all("all => all.map(h => h.dataset.key)")
    assert "reflection_to_question_ratio" in keys
    assert "about source" not in keys
    assert page.locator("section[aria-labelledby=groups] th[data-key=reflection_to_question_ratio]").count() == 1
    filters(page)
    page.fill("#filter-words", "nair")
    with page.expect_download() as waiting:
        page.click("#download-table")
    rows = list(csv.DictReader(io.StringIO(Path(waiting.value.path()).read_text(encoding="utf-8"))))
    assert [row["session_id"] for row in rows] == ["nair_tomas"]
    assert float(rows[0][f"{REFLECTS}_lo"]) < float(rows[0][REFLECTS]) < float(rows[0][f"{REFLECTS}_hi"])
    assert "reflection_to_question_ratio" in rows[0]


def test_cells_that_a_spreadsheet_would_run_are_quoted(opened: Open, data: Data, tmp_path: Path) -> None:
    overview = copy.deepcopy(data[0])
    overview["sessions"][0]["id"] = '=1+1,"<img src=x>'
    page = opened(written(tmp_path / "p.html", overview, []))
    with page.expect_download() as waiting:
        page.click("#download-table")
    rows = list(csv.reader(io.StringIO(Path(waiting.value.path()).read_text(encoding="utf-8"))))
    assert rows[1][0] == "'=1+1,\"<img src=x>"
    assert page.locator("main img").count() == 0


def test_what_a_column_means_is_told_on_demand(page: Any) -> None:
    button = head(page, REFLECTS).locator(".why")
    button.focus()
    page.keyboard.press("Enter")
    told = page.inner_text("dialog")
    assert "When it misleads" in told
    assert "Evidence" in told
    page.keyboard.press("Escape")
    assert not page.is_visible("dialog")
    assert page.evaluate("document.activeElement.className") == "why"


def test_groups_have_means_and_lead_to_their_profile(page: Any) -> None:
    page.select_option("#group-by", "source")
    rows = page.locator("section[aria-labelledby=groups] tbody tr")
    assert rows.count() == 2
    page.click("section[aria-labelledby=groups] tbody a >> text=human")
    assert page.evaluate("document.activeElement.id") == "profile"
    assert page.input_value("#profile-of") == "group source human"


def test_the_profile_holds_a_session_against_the_references(page: Any) -> None:
    page.select_option("#profile-of", label="nair_tomas")
    row = page.locator(".profile-rows li").filter(has_text="Reflects").first
    assert "turns" in row.inner_text()
    assert "high:" in row.inner_text()
    assert row.locator(".band.high").count() == row.locator(".point").count() == 1
    page.click("text=The references as numbers")
    assert "n = 143" in page.inner_text("section[aria-labelledby=profile] table")


def test_the_way_to_a_session_and_back(opened: Open, file: Path) -> None:
    page = opened(file)
    head(page, "session_id").locator(".sorter").click()
    page.click("section[aria-labelledby=sessions] tbody a >> text=boyle_lucia")
    _browser.followed(page, "#session/boyle_lucia")
    assert page.is_hidden("#overview-view")
    assert page.title() == "boyle_lucia \N{EN DASH} Counseling sessions"
    assert page.inner_text("nav").split("\n") == ["All sessions", "Before: aria_ben", "Next: lindqvist_dana_1"]
    page.click("text=All sessions")
    _browser.followed(page, "#overview")
    assert page.is_visible("#overview-view")
    assert page.evaluate("document.activeElement.textContent") == "boyle_lucia"
    assert names(page) == sorted(names(page))
    page.goto(file.as_uri() + "#session/nobody")
    _browser.followed(page, "#session/nobody")
    assert page.is_visible("#overview-view")
    page.keyboard.press("Tab")


def test_the_first_tab_skips_to_the_content_and_keeps_the_view(opened: Open, file: Path) -> None:
    page = opened(file, "#session/boyle_lucia")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    assert page.is_visible("#session-view")


def test_groups_say_whose_means_they_are_and_which_have_no_interval(opened: Open, data: Data, tmp_path: Path) -> None:
    page = opened(written(tmp_path / "p.html", *data))
    text = "section[aria-labelledby=groups]"
    assert "Each client counts once. A group of one client has no interval." in page.inner_text(text)
    page.select_option("#group-by", "source")
    assert "Each counselor counts once. A group of one counselor has no interval." in page.inner_text(text)
    none = copy.deepcopy(data[0]) | {"findings": [], "n_compared": 7}
    page = opened(written(tmp_path / "q.html", none, data[1]))
    assert "None of 7 comparisons shows a significant difference." in page.inner_text("main")


def test_nothing_to_compare_with(opened: Open, data: Data, tmp_path: Path) -> None:
    page = opened(written(tmp_path / "p.html", without(data[0]), data[1][:1]))
    text = page.inner_text("main")
    for said in (
        "1 session.",
        "Nothing was compared",
        "in no groups",
        "no references here",
    ):
        assert said in text
    assert page.locator(".profile-rows .point").count() == 0
    assert "0%" not in page.inner_text("section[aria-labelledby=sessions] tbody")
    assert _browser.violations(page) == []


def test_problems_notes_and_limits_are_shown(opened: Open, data: Data, tmp_path: Path) -> None:
    overview = copy.deepcopy(data[0])
    overview["problems"] = [
        {"file": "a.docx", "line": 3, "problem": "no table", "remedy": "Save it as text", "kind": "check"}
    ]
    overview["sessions"][0]["notes"] = ["few turns"]
    page = opened(written(tmp_path / "p.html", overview, data[1]))
    text = page.inner_text("section[aria-labelledby=unread]")
    assert all(said in text for said in ("a.docx", "Save it as text", "check", "few turns", "does not show"))
    page.click("text=1 note")
    assert page.evaluate("document.activeElement.id") == "unread"


def test_two_thousand_sessions_are_drawn_three_hundred_at_a_time(opened: Open, data: Data, tmp_path: Path) -> None:
    page = opened(written(tmp_path / "p.html", *many(data, 2000)))
    assert len(names(page)) == 4
    assert page.locator("section[aria-labelledby=sessions] tbody tr").count() == 300
    page.click(".sorter >> nth=0")
    assert page.locator("section[aria-labelledby=sessions] tbody tr").count() == 300
    page.click("text=Show 300 more")
    assert page.locator("section[aria-labelledby=sessions] tbody tr").count() == 600
    filters(page)
    page.fill("#filter-words", "s1999")
    assert page.inner_text(".status") == "1 of 2000 sessions."


@pytest.mark.parametrize("width", [320, 390, 768, 1024, 1366, 1920])
def test_the_page_never_pans_sideways(opened: Open, data: Data, tmp_path: Path, width: int) -> None:
    """Hidden labels in the cells of a wide table once made the page as wide as the table."""
    overview, sessions = many(data, 50)
    for one in overview["sessions"]:
        one["values"] = [[None] * 5 for _ in one["values"]]
    page = opened(written(tmp_path / "p.html", overview, sessions), width=width)
    assert page.evaluate("document.scrollingElement.scrollWidth") == width
    page.evaluate("for (const box of document.querySelectorAll('main details')) box.open = true")
    assert page.evaluate("document.scrollingElement.scrollWidth") == width


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 320)])
def test_axe_finds_no_violation_and_nothing_is_wider_than_the_page(
    opened: Open, file: Path, scheme: str, width: int
) -> None:
    page = opened(file, width=width, color_scheme=scheme)
    page.evaluate("for (const box of document.querySelectorAll('main details')) box.open = true")
    # Further entries are built like the first, and axe looks at each.
    others = ".glossary > :nth-child(n+2), .menu label:nth-of-type(n+2), .profile-rows li:nth-child(n+4)"
    page.evaluate("others => document.querySelectorAll(others).forEach(one => one.remove())", others)
    assert _browser.violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    head(page, REFLECTS).locator(".why").click()
    assert _browser.violations(page) == []


def test_targets_are_large_enough(opened: Open, file: Path) -> None:
    page = opened(file, width=320)
    small = page.locator("main button, main select, main input, main summary").evaluate_all(
        """all => all.filter(e => e.checkVisibility()).map(e => [(e.closest("label") ?? e).getBoundingClientRect(), e])
        .filter(([box]) => box.width < 24 || box.height < 24).map(([, e]) => e.outerHTML.slice(0, 80))"""
    )
    assert small == []


def test_the_overview_prints_light_what_is_open_on_a_few_sheets(opened: Open, file: Path, tmp_path: Path) -> None:
    page = opened(file, color_scheme="dark")
    page.pdf(path=str(tmp_path / "page.pdf"), prefer_css_page_size=True, format="A4")
    sheets = pypdf.PdfReader(tmp_path / "page.pdf").pages
    assert len(sheets) <= 3
    assert all(
        word in sheets[0].extract_text() for word in ("Findings", "Sessions to look at", "boyle_lucia", "95% interval")
    )
    assert not any("What the words mean" in sheet.extract_text() for sheet in sheets)
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.is_visible("#download-table")
    assert not page.is_visible(".profile-rows")
    page.emulate_media(media="screen")
    page.select_option("#profile-of", label="nair_tomas")
    page.emulate_media(media="print")
    assert page.is_visible(".profile-rows"), "a profile that the reader chose is printed"


def test_without_scripts_it_says_where_the_numbers_are(browser: Any, file: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(file.as_uri())
    assert "sessions.csv" in page.inner_text("noscript")
    context.close()
