"""Put the one file together: template, style, script, and data that cannot leave their blocks."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parent / "page"
STYLES = ("style.css", "session.css", "sheet.css")
SCRIPTS = (
    "common.js",
    "overview.js",
    "overview_table.js",
    "overview_sessions.js",
    "overview_profile.js",
    "strip.js",
    "timeline.js",
    "turn.js",
    "session.js",
    "sheet.js",
    "main.js",
)
_MARK = re.compile(r"\{\{(\w+)\}\}")
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


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
    return put_together(PAGE / "page.html", [PAGE / one for one in STYLES], [PAGE / one for one in SCRIPTS], put)


def put_together(template: Path, styles: Sequence[Path], scripts: Sequence[Path], put: Mapping[str, str]) -> bytes:
    """Return a template with its marks (``{{style}}``) replaced, and a policy that allows this style and script alone.

    Parameters
    ----------
    template : Path
        With marks for ``csp``, ``style``, ``script`` and whatever `put` names.
    styles, scripts : sequence of Path
        The files of the style and of the script, in order.
    put : mapping of str to str
        HTML for the other marks.

    Notes
    -----
    The marks of the template are replaced in one pass over the template alone: what is put in is never searched, so
    that ``{{script}}`` in a transcript stays what it is.
    """
    style = "\n".join(map(_source, styles))
    script = f'"use strict";(()=>{{\n{"".join(map(_source, scripts))}\n}})();'
    every = {**put, "csp": html.escape(policy(style, script)), "style": style, "script": script}
    return _MARK.sub(lambda found: every[found[1]], _source(template)).encode("utf-8", "replace")


def made_from(transcripts: str) -> str:
    """Return the line of the page's head that says of which transcripts it is, by their hash."""
    return f'<meta name="therapy-analytics-transcripts" content="{html.escape(transcripts)}">'


def _source(path: Path) -> str:
    """Return a file of a page; browsers take every line break for one sign, and so must the hash of the policy."""
    return path.read_text(encoding="utf-8").replace("\r\n", "\n")


def policy(style: str, script: str) -> str:
    """Return the Content-Security-Policy: this style and this script, pictures made here, and nothing else."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def data_blocks(overview: Mapping[str, Any], sessions: Sequence[Mapping[str, Any]]) -> str:
    """Return one block of JSON for the overview, and one a session."""
    blocks = {"overview": overview} | {f"session-{one['index']}": one for one in sessions}
    return "\n".join(
        f'<script type="application/json" id="{name}">{as_json(data)}</script>' for name, data in blocks.items()
    )


def as_json(data: Mapping[str, Any]) -> str:
    r"""Return JSON in plain ASCII without a sign that HTML knows.

    Examples
    --------
    >>> print(as_json({"said": "</script>\u2028"}))
    {"said":"\u003c/script\u003e\u2028"}
    """
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for sign, written in _UNSAFE.items():
        text = text.replace(sign, written)
    return text
