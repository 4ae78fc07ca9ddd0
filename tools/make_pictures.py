"""Make every picture of the documents from the sample transcripts: ``python tools/make_pictures.py``.

Figures are drawn at print size, the page is photographed by Chromium through Playwright (both named in the extra
``test``). All are stored with 256 colours, so that they stay small.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PIL import Image

import therapy_analytics as ta
from therapy_analytics.plots import PLOTS
from therapy_analytics.plots.files import save

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs"
SHOWN = "lindqvist_dana_1"

OF_A_SESSION = ("session", "profile", "synchrony")
OF_A_RUN = ("thirds", "responses", "synchrony_overview")
WIDTHS = {"": 174, "_column": 85}
"""Endings of the files, and the widths in print, in millimetres."""

# Views of the page: the picture's name and the address within the page. A new view, as the supervision sheet, is one
# more line here.
VIEWS = {
    "report": "#overview",
    "report_session": f"#session/{SHOWN}/turn/5",
    "report_sheet": f"#sheet/session/{SHOWN}",
}
LOOKS: dict[str, dict[str, Any]] = {
    "": {"viewport": {"width": 1366, "height": 900}},
    "_phone": {"viewport": {"width": 390, "height": 844}},
    "_dark": {"viewport": {"width": 1366, "height": 900}, "color_scheme": "dark"},
}
"""Endings of the files, and how the page is looked at; its first printed page is photographed as well (``_print``)."""
A4 = {"width": 794, "height": 1123}


def main() -> None:
    """Write ``docs/<figure>.png`` and ``docs/<view>.png``, each in its widths and looks."""
    with tempfile.TemporaryDirectory() as folder:
        found = ta.run([ROOT / "sample_transcripts"], folder, settings=ta.Settings(quotes=True))
        page = ta.report(found.out, quotes=True)
        analysis = ta.load(found.out)
        _draw(analysis.where(f"session_id == '{SHOWN}'"), OF_A_SESSION)
        _draw(analysis, OF_A_RUN)
        _photograph(page)


def _draw(analysis: ta.Analysis, names: tuple[str, ...]) -> None:
    for name in names:
        for ending, width in WIDTHS.items():
            path = save(PLOTS[name], analysis, PICTURES / f"{name}{ending}.png", width_mm=width)
            with Image.open(path) as picture:
                picture.load()
            picture.save(path, optimize=True, dpi=(300, 300))


def _photograph(page: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as player:
        options = ["--no-sandbox", "--disable-gpu"]
        browser = player.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        for name, place in VIEWS.items():
            for ending, look in LOOKS.items():
                _shoot(browser, f"{page.as_uri()}{place}", PICTURES / f"{name}{ending}.png", look)
            _shoot(browser, f"{page.as_uri()}{place}", PICTURES / f"{name}_print.png", {"viewport": A4}, media="print")
        browser.close()


def _shoot(browser: Browser, address: str, path: Path, look: dict[str, Any], media: Any = None) -> None:
    view = browser.new_page(**look)
    view.goto(address)
    if media:
        view.emulate_media(media=media)
    view.wait_for_timeout(500)
    view.screenshot(path=path)
    view.close()
    with Image.open(path) as picture:
        small = picture.convert("RGB").quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


if __name__ == "__main__":
    main()
