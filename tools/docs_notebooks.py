"""Notebooks as pages of the site: their text, code and stored outputs in Markdown, and their figures as files.

A notebook is JSON with cells of Markdown and of code, and the outputs that ``tools/run_notebooks.py`` stored. Nothing
is run here, and nothing is needed besides the standard library: nbconvert would add nine packages, and its own styles.
"""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

FIGURE = "Figure drawn by the code above"
TAGS = re.compile(r"<style.*?</style>\s*|(?<=<table) border=\"1\" class=\"dataframe\"|<tr style=\"[^\"]*\"", re.DOTALL)
"""What pandas says about looks; the site's own tables look right without it."""


class NotebookPage(NamedTuple):
    """A page of Markdown, and its figures by file name."""

    text: str
    figures: dict[str, bytes]


def notebook_page(path: Path) -> NotebookPage:
    """Return a notebook as a page of the site."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    figures: dict[str, bytes] = {}
    blocks = ["---\nhide:\n  - toc\n---"]
    for cell in cells:
        source = "".join(cell["source"])
        blocks.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        blocks += [_shown(output["data"], path.stem, figures) for output in cell.get("outputs", ()) if "data" in output]
    return NotebookPage("\n\n".join(blocks) + "\n", figures)


def _shown(data: dict[str, Any], stem: str, figures: dict[str, bytes]) -> str:
    """Return one output as Markdown; a figure is put aside, and opens in full size when it is chosen."""
    if "image/png" in data:
        name = f"{stem}_{len(figures) + 1}.png"
        figures[name] = base64.b64decode("".join(data["image/png"]))
        return f"[![{FIGURE}]({name})]({name})"
    if "text/html" in data:
        return TAGS.sub(lambda found: "<tr" if found[0].startswith("<tr") else "", "".join(data["text/html"]))
    return "```text\n" + "".join(data["text/plain"]) + "\n```"
