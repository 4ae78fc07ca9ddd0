"""The site is built without a warning, asks nothing of any other address, and names every column."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from therapy_analytics.measures.base import all_columns
from therapy_analytics.text import EXTRAS, builtin_lexicons

ROOT = Path(__file__).resolve().parents[1]

pytestmark = pytest.mark.skipif(
    find_spec("material") is None or find_spec("mkdocs") is None,
    reason="mkdocs-material is not installed: pip install '.[docs]'",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site as CI does: a warning stops it."""
    folder = tmp_path_factory.mktemp("site")
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", "mkdocs.yml", "--site-dir", folder]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(words, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return folder


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    loads = re.compile(r"<(?:script|img|iframe|source)[^>]*\ssrc=[\"']?(https?:)?//|@import\s+[\"'(]+https?:")
    links = re.compile(r"<link[^>]*rel=[\"']?(?:stylesheet|preconnect|icon|preload)[^>]*href=[\"']?https?:")
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not loads.search(text), page
        assert not links.search(text), page


def test_search_works_from_disk(site: Path) -> None:
    assert (site / "search" / "search_index.js").stat().st_size > 100_000
    assert "assets/iframe-worker.js" in (site / "index.html").read_text(encoding="utf-8")


def test_every_column_stands_on_a_page(site: Path) -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in (site / "columns").rglob("*.html"))
    names = [column.name for _, column in all_columns(builtin_lexicons(), extras=EXTRAS)]
    assert len(names) > 900
    assert not [name for name in names if f"<code>{name}</code>" not in pages]


def test_notebooks_are_pages_with_their_tables_and_figures(site: Path) -> None:
    notebooks = sorted((ROOT / "notebooks").glob("*.ipynb"))
    assert notebooks
    overview = (site / "in_a_notebook.html").read_text(encoding="utf-8")
    for notebook in notebooks:
        page = (site / "notebooks" / f"{notebook.stem}.html").read_text(encoding="utf-8")
        assert f'href="notebooks/{notebook.stem}.html"' in overview
        assert f'href="{notebook.name}"' in page
        assert "<table>" in page
        assert "dataframe" not in page
        figures = re.findall(r'<img [^>]*src="([^"]+\.png)"', page)
        assert figures
        assert all((site / "notebooks" / name).stat().st_size > 10_000 for name in figures)


def test_every_public_name_stands_on_the_page_on_python(site: Path) -> None:
    import therapy_analytics as ta

    page = (site / "python.html").read_text(encoding="utf-8")
    assert not [name for name in ta.__all__ if f"ta.{name}" not in page]
    assert not [name for name in ta.plots.PLOTS.names() if f"ta.plots.{name}" not in page]
