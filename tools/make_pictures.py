"""Make the pictures of the README from the sample transcripts: ``python tools/make_pictures.py``.

The page is photographed by Chromium through Playwright (both named in the extra ``test``).
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import therapy_analytics as ta
from therapy_analytics.plots import PLOTS
from therapy_analytics.plots._save import save

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs"
SHOWN = "lindqvist_dana_1"


def main() -> None:
    """Write ``docs/timeline.png``, ``docs/profile.png``, ``docs/report.png`` and ``docs/report_session.png``."""
    with tempfile.TemporaryDirectory() as folder:
        found = ta.run([ROOT / "sample_transcripts"], folder, settings=ta.Settings(quotes=True))
        page = ta.report(found.out, quotes=True)
        shown = ta.load(found.out).where(f"session_id == '{SHOWN}'")
        save(PLOTS["timeline"], shown.wide_turns, PICTURES / "timeline.png")
        save(PLOTS["profile"], shown.profile, PICTURES / "profile.png")
        _photograph(page)


def _photograph(page: Path) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as player:
        options = ["--no-sandbox", "--disable-gpu"]
        browser = player.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        view = browser.new_page(viewport={"width": 1280, "height": 900})
        for place, name in (("#overview", "report"), (f"#session/{SHOWN}/turn/5", "report_session")):
            view.goto(f"{page.as_uri()}{place}")
            view.wait_for_timeout(500)
            view.screenshot(path=PICTURES / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
