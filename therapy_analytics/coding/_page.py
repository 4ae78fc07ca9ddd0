"""The files of which a page of coding is made; `put_together` makes them one, as for the report page."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from therapy_analytics.core.page_frame import SCRIPT, STYLE, as_json, put_together

OWN = Path(__file__).parent / "page"
STYLES = (STYLE, OWN / "coding.css")
COMMON = (SCRIPT, OWN / "shared.js")


def assemble(title: str, data: Mapping[str, Any], scripts: Sequence[str]) -> bytes:
    """Return a page as bytes: its title (any text), the data that its scripts read, and the names of these scripts."""
    block = f'<script type="application/json" id="data">{as_json(data)}</script>'
    put = {"title": html.escape(title), "data": block}
    return put_together(OWN / "page.html", STYLES, [*COMMON, *(OWN / name for name in scripts)], put)
