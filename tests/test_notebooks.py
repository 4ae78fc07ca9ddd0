"""The notebooks run from top to bottom as Jupyter runs them, and what they show is what is stored in them."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from traces import PLACES, STRACE, beyond_this_machine, can_record, left_in

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = sorted(path.name for path in FOLDER.glob("*.ipynb"))
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
"""All that a notebook may say of who ran it."""
SECONDS = 120
Cell = dict[str, Any]


def cells_of(name: str, kind: str) -> list[Cell]:
    notebook = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return [cell for cell in notebook["cells"] if cell["cell_type"] == kind]


def source(cell: Cell) -> str:
    return "".join(cell["source"])


def test_there_are_six() -> None:
    assert [name[:2] for name in NOTEBOOKS] == ["01", "02", "03", "04", "05", "06"]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_says_nothing_of_the_machine(name: str) -> None:
    notebook = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    assert notebook["metadata"] == METADATA
    assert all(cell["metadata"] == {} and "attachments" not in cell for cell in notebook["cells"])
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])
    assert (FOLDER / name).stat().st_size < 600_000


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_asks_one_question_and_is_short(name: str) -> None:
    first = source(cells_of(name, "markdown")[0])
    assert re.fullmatch(r"# [^?\n]+\?", first.splitlines()[0])
    code = "\n".join(source(cell) for cell in cells_of(name, "code"))
    assert sum(bool(line.strip()) for line in code.splitlines()) <= 40
    assert not re.search(r"\b\w+\._\w", code), "a private name"
    text = "\n".join(source(cell) for cell in cells_of(name, "markdown"))
    limits, _, next_steps = text.partition("## What this does not show\n")[2].partition("## Where to go next\n")
    assert 1 <= len(re.findall(r"\w\)?\.\s", limits)) <= 2
    assert len(re.findall(r"(?m)^- ", next_steps)) == 3


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_stored_tables_are_small(name: str) -> None:
    tables = [data["text/html"] for cell in cells_of(name, "code") for data in shown(cell) if "text/html" in data]
    assert tables
    for table in tables:
        rows = re.findall(r"<tr.*?</tr>", "".join(table), flags=re.DOTALL)
        assert len(rows) <= 10
        assert max(len(re.findall(r"<t[hd]>", row)) for row in rows) <= 9


def shown(cell: Cell) -> list[dict[str, Any]]:
    """Return what a cell shows, by the types of its outputs."""
    return [output["data"] for output in cell["outputs"] if "data" in output]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_links_lead_somewhere(name: str) -> None:
    text = "\n".join(source(cell) for cell in cells_of(name, "markdown"))
    for target, anchor in re.findall(r"\]\(([^)#]+)(?:#([^)]+))?\)", text):
        page = FOLDER / target
        assert "://" in target or page.exists(), target
        assert not anchor or anchor in anchors(page), f"{target}#{anchor}"


def anchors(page: Path) -> set[str]:
    """Return the headings of a page as links write them."""
    headings = re.findall(r"(?m)^#+ (.+)$", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Iterator[Path]:
    """Return a copy of what the notebooks look for, so that they can write nothing into the checkout itself."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("sample_transcripts", "sample_course", "notebooks"):
        shutil.copytree(root / name, folder / name)
    with pytest.MonkeyPatch.context() as patched:
        # What belongs to Jupyter and to the reader's matplotlib is elsewhere: the home holds what is left by ours.
        for name in ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR", "MPLCONFIGDIR"):
            patched.setenv(name, str(folder / ".jupyter"))
        for name in PLACES:
            (folder / "home" / name).mkdir(parents=True)
            patched.setenv(name, str(folder / "home" / name))
        patched.delenv("MPLBACKEND", raising=False)  # in a notebook the kernel chooses
        yield folder


ONE_ANALYSIS = """
import therapy_analytics as ta
from therapy_analytics.measures.base import MEASURES

def analyze(sessions, *, _analyze=ta.analyze, _names=MEASURES.names, _done={}, **options):
    key = (len(sessions), str(options), len(_names()))
    if len(sessions) < 10 or key not in _done:
        _done[key] = _analyze(sessions, **options)
    return _done[key]

ta.analyze = analyze
"""
"""An analysis that several notebooks make is made once; with one measure more it is another."""


@pytest.fixture(scope="module")
def executed(checkout: Path) -> dict[str, list[Cell]]:
    """Execute all notebooks in one kernel, which loads everything once, and return their code cells with outputs.

    Each begins with no names and in its folder: Jupyter runs a notebook in its own folder, other programs in the root,
    so each half of them is tried so.
    """
    recorder = (*STRACE, "-o", str(checkout / "calls.txt")) if can_record() else ()
    nbclient = pytest.importorskip("nbclient", reason="needs nbclient, which runs notebooks as Jupyter does")
    pytest.importorskip("ipykernel", reason="needs ipykernel, the Python that Jupyter runs")
    import nbformat
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager

    class ThisPython(AsyncKernelManager):
        """Starts the interpreter that runs the tests, with its system calls recorded where that can be done."""

        def __init__(self, **options: Any) -> None:
            super().__init__(kernel_spec_manager=KernelSpecManager(kernel_dirs=[]), **options)

        def format_kernel_cmd(self, *args: Any, **options: Any) -> list[str]:
            return [*recorder, *super().format_kernel_cmd(*args, **options)]

    whole = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(ONE_ANALYSIS)])
    # A measure that a notebook adds stays in the kernel when its names are gone, so that notebook comes last
    for at, name in enumerate(sorted(NOTEBOOKS, key=lambda one: "your_own_measure" in one)):
        folder = checkout / "notebooks" if at % 2 else checkout
        whole.cells.append(nbformat.v4.new_code_cell(f"%reset -sf\n%cd -q {folder}"))
        cells = nbformat.read(checkout / "notebooks" / name, as_version=4).cells
        whole.cells += [{**cell, "metadata": {"of": name}} for cell in cells if cell.cell_type == "code"]
    whole.cells = [nbformat.from_dict(cell) for cell in whole.cells]
    where = {"metadata": {"path": str(checkout)}}
    nbclient.NotebookClient(whole, kernel_manager_class=ThisPython, timeout=SECONDS, resources=where).execute()
    return {name: [cell for cell in whole.cells if cell.metadata.get("of") == name] for name in NOTEBOOKS}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs(name: str, checkout: Path, executed: dict[str, list[Cell]]) -> None:
    cells = executed[name]
    assert len(cells) == len(cells_of(name, "code"))
    for cell in cells:
        warned = [one["text"] for one in cell["outputs"] if one.get("name") == "stderr"]
        assert not warned, f"a warning in a cell of {name}: {warned}"
        if "ta.plots." in source(cell):
            assert any("image/png" in one.get("data", {}) for one in cell["outputs"]), source(cell)
    if can_record():
        # Jupyter itself talks to the notebooks by addresses of this machine.
        assert (beyond_this_machine(checkout / "calls.txt"), left_in(checkout / "home")) == ([], [])
    assert any("image/png" in one.get("data", {}) for cell in cells for one in cell["outputs"])


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_stored_outputs_are_what_the_program_shows(name: str, executed: dict[str, list[Cell]]) -> None:
    for stored, now in zip(cells_of(name, "code"), executed[name], strict=True):
        assert list(map(sorted, shown(stored))) == list(map(sorted, shown(now))), RUN_AGAIN
        for old, new in zip(shown(stored), shown(now), strict=True):
            if "image/png" not in new:
                assert_same_text("".join(old["text/plain"]), "".join(new["text/plain"]))


RUN_AGAIN = "what a notebook shows has changed: run python tools/run_notebooks.py, and look at it"
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def assert_same_text(old: str, new: str) -> None:
    """Compare words exactly, and numbers to within what another processor may change."""
    words = [re.sub(r"[\s\\]+", " ", NUMBER.sub("#", text)) for text in (old, new)]
    assert words[0] == words[1], RUN_AGAIN
    numbers = [[float(found) for found in NUMBER.findall(text)] for text in (old, new)]
    assert numbers[1] == pytest.approx(numbers[0], abs=0.02, rel=0.02), RUN_AGAIN
