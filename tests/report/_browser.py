"""A real browser for the tests of the page: found on this machine, opened from disk, and watched."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


def chromium() -> str:
    """Return where Chromium is, or skip the test and say why."""
    named = os.environ.get("THERAPY_ANALYTICS_CHROMIUM", "chromium")
    found = shutil.which(named) or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip(f"no browser {named!r} here: install chromium, or name one in THERAPY_ANALYTICS_CHROMIUM")
    return found


# What the page does after the event that asked for it comes late here, as on a busy machine: a test that does not wait
# for it fails every time, not once in fifty.
LATE = """
(() => {
  const [listen, wait] = [window.addEventListener, window.setTimeout.bind(window)];
  window.addEventListener = function (kind, heard, ...options) {
    const shown = (event) => { document.documentElement.dataset.shown = new URL(event.newURL).hash; };
    const late = (event) => wait(() => { heard(event); shown(event); }, 150);
    return listen.call(this ?? window, kind, kind === "hashchange" ? late : heard, ...options);
  };
  window.setTimeout = (run, time = 0, ...given) => wait(run, Math.max(time, 150), ...given);
  window.requestAnimationFrame = (run) => wait(() => run(performance.now()), 150);
})();
"""


@contextmanager
def started() -> Iterator[Any]:
    """Give a running Chromium; one serves all tests of a file."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the tests of the page need playwright")
    path = chromium()
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


def opened(browser: Any, **options: Any) -> Any:
    """Return a new context of `browser` whose pages do late what they do after an event."""
    context = browser.new_context(**options)
    context.set_default_timeout(5000)
    context.add_init_script(LATE)
    return context


def followed(page: Any, address: str) -> None:
    """Wait until the page has followed a link, or the reader's own typing, to `address`."""
    page.wait_for_selector(f"html[data-shown='{address}']", state="attached")


def watched(context: Any, trouble: list[str]) -> Any:
    """Return a new page that notes every error, and every request but for the file itself, in `trouble`."""
    page = context.new_page()
    page.on("console", lambda said: trouble.append(said.text) if said.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("request", lambda request: _note_request(request, trouble))
    return page


def _note_request(request: Any, trouble: list[str]) -> None:
    asked_by_hand = request.is_navigation_request() and request.url.startswith("file:")
    if not asked_by_hand and not request.url.startswith(("data:", "blob:")):
        trouble.append(f"request for {request.url}")


def violations(page: Any) -> list[str]:
    """Return what axe-core finds wrong with the page as it is shown now, a line each."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the tests of access need axe")
    found: dict[str, Any] = axe.Axe().run(page).response
    return [f"{one['id']}: {node['target']}" for one in found["violations"] for node in one["nodes"][:3]]
