"""One self-contained file from template, style, scripts and data, with the content policy of the report page."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from therapy_analytics.report._page import PAGE as REPORT
from therapy_analytics.report._page import as_json, policy

OWN = Path(__file__).parent / "page"
STYLES = (REPORT / "style.css", OWN / "coding.css")
COMMON = (REPORT / "common.js", OWN / "shared.js")
_MARK = re.compile(r"\{\{(title|csp|style|data|script)\}\}")


def assemble(title: str, data: Mapping[str, Any], scripts: Sequence[str]) -> bytes:
    """Return a page as bytes: its title (any text), the data that its scripts read, and the names of these scripts.

    The marks of the template are replaced in one pass over the template alone, so that ``{{script}}`` in a transcript
    stays what it is.
    """
    style = "\n".join(map(_source, STYLES))
    program = "".join(map(_source, (*COMMON, *(OWN / name for name in scripts))))
    script = f'"use strict";(()=>{{\n{program}\n}})();'
    put = {
        "title": html.escape(title),
        "csp": html.escape(policy(style, script)),
        "style": style,
        "data": f'<script type="application/json" id="data">{as_json(data)}</script>',
        "script": script,
    }
    whole = _MARK.sub(lambda found: put[found[1]], _source(OWN / "page.html"))
    return whole.encode("utf-8", "replace")


def _source(path: Path) -> str:
    """Return a file of the page; browsers take every line break for one sign, and so must the hash of the policy."""
    return path.read_text(encoding="utf-8").replace("\r\n", "\n")
