"""What MkDocs does besides rendering docs/: generated pages, and links that are good on GitHub and on the site.

The README is the first page of the site, CONTRIBUTING and CHANGELOG are pages of it; columns, codes and the Python
interface are written from the program, notebooks are pages with their stored outputs. Samples that documents link to
travel with the site.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from docs_api import api_page
from docs_columns import code_pages, column_pages, navigation
from docs_notebooks import notebook_page
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
WHOLE = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Documents at the root of the repository, and what they are called on the site."""
NOTEBOOKS = sorted(ROOT.glob("notebooks/*.ipynb"))
BAR = r"\|"
"""How GitHub wants a bar inside code inside a table; MkDocs shows the backslash."""
_LINK = re.compile(r"(\]\(|src=\"|href=\")([^)\s\"#]+)")
_FENCE = re.compile(r"^(```.*?^```|~~~.*?^~~~)", flags=re.DOTALL | re.MULTILINE)
_BAR_IN_CODE = re.compile(r"`([^`\n]*\\\|[^`\n]*)`")
_INTERRUPTED = re.compile(r"^((?:> ?)?(?![-*>|#\d ]|\d+\.).+\n)((?:> ?)?(?:- |\d+\. ))", flags=re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the generated pages into the menu, where its entry ``GENERATED`` stands, and notebooks under theirs."""
    for section in config.nav or []:
        for pages in section.values():
            if isinstance(pages, list) and "GENERATED" in pages:
                at = pages.index("GENERATED")
                pages[at : at + 1] = navigation()
            if isinstance(pages, list) and (page := {"Notebooks": "in_a_notebook.md"}) in pages:
                pages[pages.index(page)] = {"Notebooks": [*page.values(), *(_page_of(one) for one in NOTEBOOKS)]}
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages, and the files outside docs/ that documents link to."""
    pages = {new: (ROOT / old).read_text(encoding="utf-8") for old, new in WHOLE.items()}
    pages |= column_pages() | code_pages() | {"python.md": api_page()}
    for address, text in pages.items():
        files.append(File.generated(config, address, content=text))
    for notebook in NOTEBOOKS:
        text, figures = notebook_page(notebook)
        files.append(File.generated(config, _page_of(notebook), content=text))
        files.append(File.generated(config, f"notebooks/{notebook.name}", abs_src_path=str(notebook)))
        for name, figure in figures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=figure))
    for document in [*(ROOT / old for old in WHOLE), *ROOT.glob("docs/*.md"), *NOTEBOOKS]:
        for target in _outside(document):
            address = _address(target)
            if files.get_file_from_path(address) is None:
                files.append(File.generated(config, address, abs_src_path=str(ROOT / target)))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: object) -> str:
    """Make links of the repository links of the site, and let lists begin without an empty line, as GitHub does."""
    folder = "" if page.file.src_uri in WHOLE.values() else "docs"
    if page.file.src_uri.startswith("notebooks/"):
        name = f"{Path(page.file.src_uri).stem}.ipynb"
        text = _LINK.sub(lambda found: f"{found[1]}{_from_notebooks(found[2])}", markdown)
        return text.replace("\n\n", f"\n\n[Download this notebook]({name})\n\n", 1)
    if page.file.src_uri.count("/"):
        return markdown
    markdown = _BAR_IN_CODE.sub(lambda found: f"<code>{found[1].replace(BAR, '&#124;')}</code>", markdown)
    parts = _FENCE.split(_LINK.sub(lambda found: found[1] + _on_site(found[2], folder), markdown))
    return "".join(part if part.startswith(("```", "~~~")) else _INTERRUPTED.sub(r"\1\n\2", part) for part in parts)


def _on_site(target: str, folder: str) -> str:
    """Return where a target, seen from a folder of the repository, is on the site."""
    if "://" in target or target.startswith("mailto:"):
        return target
    path = posixpath.normpath(posixpath.join(folder, target))
    return WHOLE[path] if path in WHOLE else path.removeprefix("docs/") if path.startswith("docs/") else _address(path)


def _from_notebooks(target: str) -> str:
    """Return where a target that a notebook links to is, seen from the pages of notebooks."""
    found = _on_site(target, "notebooks")
    return found if "://" in found else f"../{found}"


def _page_of(notebook: Path) -> str:
    """Return the page that shows a notebook."""
    return f"notebooks/{notebook.stem}.md"


def _address(path: str) -> str:
    """Return where a file outside docs/ lies on the site: notes in Markdown as text, for they are no pages of it."""
    if path.endswith(".ipynb"):
        return _page_of(Path(path))
    return f"{path.removesuffix('.md')}.txt" if path.endswith(".md") else path


def _outside(document: Path) -> set[str]:
    """Return the files that a document links to and that are not pages of the site."""
    folder = document.parent.relative_to(ROOT).as_posix()
    found: set[str] = set()
    for _, target in _LINK.findall(document.read_text(encoding="utf-8")):
        path = posixpath.normpath(posixpath.join(folder, target))
        elsewhere = "://" in target or path in WHOLE or path.startswith(("docs/", ".."))
        if not elsewhere and (ROOT / path).is_file():
            found.add(path)
    return found
