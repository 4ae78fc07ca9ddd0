"""The documents say what the program does, and the other way round."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import typer.main

from therapy_analytics.cli import app
from therapy_analytics.language import EXTRAS, builtin_lexicons
from therapy_analytics.measures._base import all_columns, count_name
from therapy_analytics.readers._base import READERS

COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def readme(root: Path) -> str:
    return (root / "README.md").read_text(encoding="utf-8")


def test_the_readme_has_two_commands(readme: str) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", readme, flags=re.DOTALL)
    lines = [line for block in blocks for line in block.strip().splitlines()]
    assert len(lines) == 2
    assert "tanalyze run sample_transcripts/" in lines[0]
    assert "pytest" in lines[1]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_stands_in_a_document(name: str, root: Path) -> None:
    documents = " ".join(path.read_text(encoding="utf-8") for path in [root / "README.md", *root.glob("docs/*.md")])
    assert COMMANDS[name].help
    assert f"tanalyze {name}" in documents


@pytest.mark.parametrize("parameter", COMMANDS["run"].params, ids=lambda one: one.name)
def test_every_option_has_help_and_stands_in_a_document(parameter: object, root: Path) -> None:
    documents = " ".join(path.read_text(encoding="utf-8") for path in [root / "README.md", *root.glob("docs/*.md")])
    assert parameter.help  # type: ignore[attr-defined]
    options = [one for one in parameter.opts if one.startswith("--")]  # type: ignore[attr-defined]
    assert all(option in documents for option in options)


def test_links_lead_somewhere(root: Path) -> None:
    for document in [root / "README.md", root / "CONTRIBUTING.md", *root.glob("docs/*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")):
            assert "://" in target or (document.parent / target).exists(), f"{document.name}: {target}"


def test_every_format_stands_in_the_readme(readme: str) -> None:
    words = {
        "labelled_text": "label before each turn",
        "delimited": "CSV",
        "workbook": "Excel",
        "parquet": "Parquet",
        "chat_json": "JSON",
        "messenger_export": "WhatsApp",
        "webvtt": "WebVTT",
        "srt": "SRT",
        "word_document": "Word",
        "talkbank_chat": "CHAT",
        "elan": "ELAN",
        "textgrid": "TextGrid",
    }
    assert set(words) == set(READERS.names())
    assert all(word in readme for word in words.values())


def _cells(path: Path) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]


def test_the_readmes_notebook_code_runs(readme: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL)
    assert len(blocks) == 2
    _run_headless(blocks, root, monkeypatch)


def test_notebooks_run_and_carry_no_output(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebooks = sorted((root / "notebooks").glob("*.ipynb"))
    assert notebooks
    for path in notebooks:
        cells = json.loads(path.read_text())["cells"]
        assert not any(cell.get("outputs") for cell in cells)
        _run_headless(_cells(path), root, monkeypatch)


def _run_headless(cells: list[str], root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    monkeypatch.chdir(root)
    names: dict[str, object] = {}
    for cell in cells:
        exec(compile(cell, "cell", "exec"), names)
    plt.close("all")


def test_no_document_names_a_path_of_a_machine(root: Path) -> None:
    for path in [*root.glob("*.md"), *root.glob("docs/*.md"), *root.glob("notebooks/*.ipynb")]:
        assert not re.search(r"/(work|root|home)/", path.read_text(encoding="utf-8")), path.name


def test_the_page_on_validity_says_the_verdict_of_every_column(root: Path) -> None:
    page = (root / "docs" / "validity.md").read_text(encoding="utf-8")
    verdicts = list(_verdicts(page))
    assert len(verdicts) > 20
    columns = [column for _, column in all_columns(builtin_lexicons(), extras=EXTRAS)]
    names = {column.name for column in columns}
    counts = {count_name(name): name for name in names if f"{name}_lo" in names}
    for column in columns:
        name = re.sub(r"_(lo|hi)$|(?<=_rate)_expected$", "", counts.get(column.name, column.name))
        said = next((verdict for pattern, verdict in verdicts if fnmatchcase(name, pattern)), None)
        assert said == column.evidence, f"{column.name} is {column.evidence}, docs/validity.md says {said}"


def _verdicts(page: str) -> Iterator[tuple[str, str]]:
    """Yield pattern and verdict of the rows of all tables that end in a verdict."""
    inside = False
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        inside = line.startswith("|") and (inside or cells[-1] == "verdict")
        if inside and cells[-1] in {"supported", "weak", "untested"}:
            yield from ((pattern, cells[-1]) for pattern in re.findall(r"`([^`]+)`", cells[0]))
