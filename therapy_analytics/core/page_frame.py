"""One page of HTML from a template, styles, scripts and data, which asks for nothing from elsewhere.

The report, the pages on which people code, and the page of courses are made by it; they share a style and a script.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

STYLE, SCRIPT = (Path(__file__).parent / "page" / name for name in ("style.css", "common.js"))
"""The files that all pages share."""
_MARK = re.compile(r"\{\{(\w+)\}\}")
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


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


def policy(style: str, script: str) -> str:
    """Return the Content-Security-Policy: this style and this script, pictures made here, and nothing else."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
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


def _source(path: Path) -> str:
    """Return a file of a page; browsers take every line break for one sign, and so must the hash of the policy."""
    return path.read_text(encoding="utf-8").replace("\r\n", "\n")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
