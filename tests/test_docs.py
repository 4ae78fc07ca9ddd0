"""The documents say what the program does, and the other way round."""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import typer.main

from therapy_analytics.cli import app
from therapy_analytics.measures import Column
from therapy_analytics.measures.base import MEASURES, all_columns
from therapy_analytics.plots import PLOTS
from therapy_analytics.readers.base import READERS
from therapy_analytics.text import EXTRAS, builtin_lexicons

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


OPTIONS = [(name, one) for name, command in COMMANDS.items() for one in command.params]


@pytest.mark.parametrize(("name", "parameter"), OPTIONS, ids=lambda one: getattr(one, "name", one))
def test_every_option_has_help_and_stands_with_its_command(name: str, parameter: object, root: Path) -> None:
    assert parameter.help  # type: ignore[attr-defined]
    page = (root / "docs" / "commands.md").read_text(encoding="utf-8")
    section = _section(page, f"tanalyze {name}")
    assert section
    if "](#options-of-several-commands)" in section:
        section += _section(page, "Options of several commands")
    options = [one for one in (*parameter.opts, *parameter.secondary_opts) if one.startswith("--")]  # type: ignore[attr-defined]
    missing = [one for one in options if f"`{one}" not in section and one not in UNSAID]
    assert not missing, f"the section on {name} of docs/commands.md does not say {missing}"


def _section(page: str, heading: str) -> str:
    return page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


TECHNICAL = (
    *("kappa", "AC1", "alpha", "F1", "AUC", "ICC", "precision", "recall", "sensitivity", "specificity", "calibration"),
    *("bootstrap", "draws", "seed", "interval", "mixed model", "cluster", "Hedges' g"),
    *("p", "q", "tagger", "encoder", "threshold", "probability", "codebook", "code", "turn", "dyad", "lexicon"),
    *("surrogate pairs", "gold", "endpoint", "cache", "hash", "fold", "proxy", "synchrony", "rate", "nan", "TOML"),
    *("CSV", "outside coder"),
)


@pytest.mark.parametrize("word", TECHNICAL)
def test_technical_terms_are_explained(word: str, root: Path) -> None:
    rows = re.findall(
        r"^\| ([^|]+) \|", (root / "docs" / "glossary.md").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    explained = {one.strip().strip("`") for row in rows for one in row.split(",")}
    assert word in explained


UNSAID = {"--plots"}
"""What happens anyway."""


def test_links_lead_somewhere(root: Path) -> None:
    for document in _documents(root):
        for target in re.findall(r"\]\(([^)#\s]+)", _without_code(document)):
            place = document.parent / target
            made = GENERATED.match(target) if document.parent.name == "docs" else None
            assert "://" in target or made or place.exists(), f"{document.name}: {target}"


GENERATED = re.compile(r"(columns|codes)/[\w/]+\.md$|python\.md$")
"""Pages that only the site has: they are made from the program when it is built."""


def test_tables_beside_the_pages_are_tidy_and_linked(root: Path) -> None:
    linked = {
        (page.parent / target).resolve()
        for page in _documents(root)
        for target in re.findall(r"\]\(([^)#\s]+\.csv)\)", page.read_text(encoding="utf-8"))
    }
    tables = list((root / "docs").rglob("*.csv"))
    assert tables
    for path in tables:
        with path.open(encoding="utf-8", newline="") as lines:
            head, *rows = csv.reader(lines)
        assert len(set(head)) == len(head), path
        assert rows, path
        assert {len(row) for row in rows} == {len(head)}, path
        assert path.resolve() in linked, path


def test_places_in_pages_are_headings_of_them(root: Path) -> None:
    for document in _documents(root):
        for target, place in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", _without_code(document)):
            page = document.parent / target if target else document
            if "://" not in target and page.exists():
                assert place in _places(page), f"{document.name}: {target}#{place}"


def test_no_page_leads_into_the_code(root: Path) -> None:
    for document in root.glob("docs/*.md"):
        assert not re.search(r"\]\([^)]*therapy_analytics/", document.read_text(encoding="utf-8")), document.name


def _documents(root: Path) -> list[Path]:
    return [*root.glob("*.md"), *root.glob("docs/*.md")]


def _without_code(page: Path) -> str:
    return re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def _places(page: Path) -> set[str]:
    """Return the names that GitHub, and the site, give to the headings of a page."""
    lines = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE).splitlines()
    headings = [line.lstrip("#").strip().lower() for line in lines if re.match(r"#+ ", line)]
    return {re.sub(r"[^\w\- ]", "", one).replace(" ", "-") for one in headings}


def test_every_format_stands_in_the_readme(readme: str) -> None:
    words = {
        "labelled_text": "label before each turn",
        "rich_text": "rich text",
        "delimited": "CSV",
        "workbook": "Excel",
        "parquet": "Parquet",
        "chat_json": "JSON",
        "chat_template": "ChatML",
        "messenger_export": "WhatsApp",
        "webvtt": "WebVTT",
        "srt": "SRT",
        "word_document": "Word",
        "talkbank_chat": "CHAT",
        "elan": "ELAN",
        "textgrid": "TextGrid",
        "ttml": "TTML",
        "substation": "SubStation Alpha",
        "open_document": "OpenDocument",
        "web_page": "web pages",
        "pdf_document": "PDF",
    }
    assert set(words) == set(READERS.names())
    assert all(word in readme for word in words.values())


def test_the_readmes_notebook_code_runs(
    readme: str, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL)
    assert blocks
    (tmp_path / "sample_transcripts").mkdir()
    for name in ("lindqvist_dana_1.vtt", "nair_tomas.csv"):
        shutil.copy(samples / name, tmp_path / "sample_transcripts")
    _run_headless(blocks, tmp_path, monkeypatch)


@pytest.mark.parametrize("name", ["extending.md", "in_a_notebook.md"])
def test_the_code_of_a_page_runs(name: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for registry in (MEASURES, READERS, PLOTS):  # what they add is taken back
        assert registry.names()
        monkeypatch.setattr(registry, "_things", dict(registry._things))
    shutil.copytree(root / "sample_transcripts", tmp_path / "sample_transcripts")
    page = (root / "docs" / name).read_text(encoding="utf-8")
    _run_headless(re.findall(r"^```python\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE), tmp_path, monkeypatch)


def _run_headless(cells: list[str], root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    monkeypatch.chdir(root)
    names: dict[str, object] = {"__name__": "example"}
    for cell in cells:
        exec(compile(cell, "cell", "exec"), names)
    plt.close("all")


def test_no_document_names_a_path_of_a_machine(root: Path) -> None:
    for path in [*root.glob("*.md"), *root.glob("docs/*.md"), *root.glob("notebooks/*.ipynb")]:
        assert not re.search(r"/(work|root|home)/", path.read_text(encoding="utf-8")), path.name


def test_the_tables_on_validity_say_the_verdict_of_every_column(root: Path) -> None:
    with (root / "docs" / "validity" / "verdicts.csv").open(encoding="utf-8", newline="") as file:
        verdicts = [(row["pattern"], row["verdict"]) for row in csv.DictReader(file)]
    for column, name in _columns():
        stated = next((verdict for pattern, verdict in verdicts if fnmatchcase(name, pattern)), None)
        assert stated == column.evidence, f"{column.name} is {column.evidence}, verdicts.csv says {stated}"


def test_the_page_on_validity_says_the_verdict_of_every_core_measure(root: Path) -> None:
    page = (root / "docs" / "validity.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.+`) \| (supported|weak|untested) \|", page, flags=re.MULTILINE)
    verdicts = {name: verdict for names, verdict in rows for name in re.findall(r"`([^`]+)`", names)}
    core = [(column, name) for column, name in _columns() if column.core]
    for column, name in core:
        stated = verdicts.get(column.name) or verdicts.get(name)
        assert stated == column.evidence, f"{column.name} is {column.evidence}, docs/validity.md says {stated}"
    assert set(verdicts) <= {column.name for column, _ in core}


def _columns() -> Iterator[tuple[Column, str]]:
    """Yield all columns, each with the name by which a verdict on it is found: an interval's is that of its rate."""
    columns = [column for _, column in all_columns(builtin_lexicons(), extras=EXTRAS)]
    values = {column.row: column.name for column in columns if column.statistic == "value"}
    for column in columns:
        yield column, re.sub(r"(?<=_rate)_expected$", "", values.get(column.row, column.name))
