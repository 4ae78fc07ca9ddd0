"""Put the one file together: template, style, script, and data that cannot leave their blocks."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from therapy_analytics.core.page_frame import SCRIPT, STYLE, as_json, put_together

PAGE = Path(__file__).parent / "page"
STYLES = (STYLE, PAGE / "session.css", PAGE / "sheet.css")
SCRIPTS = (
    SCRIPT,
    PAGE / "overview.js",
    PAGE / "overview_table.js",
    PAGE / "overview_sessions.js",
    PAGE / "overview_profile.js",
    PAGE / "strip.js",
    PAGE / "timeline.js",
    PAGE / "turn.js",
    PAGE / "session.js",
    PAGE / "sheet.js",
    PAGE / "main.js",
)


def assemble(
    title: str, overview: Mapping[str, Any], sessions: Sequence[Mapping[str, Any]], *, transcripts: str = ""
) -> bytes:
    """Return the page as bytes.

    Parameters
    ----------
    title : str
        Of the document; any text.
    overview, sessions : mappings
        As the browser's scripts expect them.
    transcripts : str, optional
        A hash of the transcripts, by which a page about the same ones is known.
    """
    put = {"title": html.escape(title), "made_from": made_from(transcripts), "data": data_blocks(overview, sessions)}
    return put_together(PAGE / "page.html", STYLES, SCRIPTS, put)


def made_from(transcripts: str) -> str:
    """Return the line of the page's head that says of which transcripts it is, by their hash."""
    return f'<meta name="therapy-analytics-transcripts" content="{html.escape(transcripts)}">'


def data_blocks(overview: Mapping[str, Any], sessions: Sequence[Mapping[str, Any]]) -> str:
    """Return one block of JSON for the overview, and one a session."""
    blocks = {"overview": overview} | {f"session-{one['index']}": one for one in sessions}
    return "\n".join(
        f'<script type="application/json" id="{name}">{as_json(data)}</script>' for name, data in blocks.items()
    )
