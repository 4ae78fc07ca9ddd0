"""Run the notebooks and store what they show, for the site and for readers on the web.

``python tools/run_notebooks.py [01_first_look ...]`` runs each notebook in a fresh kernel, as Jupyter does, says how
long it took, and saves it with its outputs and with nothing that tells of the machine. Run it after a change of what
the program computes or draws; ``tests/test_notebooks.py`` fails where the stored outputs are no longer true.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
"""All that a notebook may say of who ran it."""
FIGURES = ["--InlineBackend.rc={'figure.dpi': 200}"]
"""Figures are stored sharp enough for a screen of twice the usual resolution."""
SECONDS = 300


def main(names: list[str]) -> None:
    """Run the notebooks of these names, or all."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        if not names or path.stem in names:
            started = time.perf_counter()
            run(path)
            print(f"{path.name}: {time.perf_counter() - started:.1f} s, {path.stat().st_size / 1000:.0f} kB")


def run(path: Path) -> None:
    """Execute a notebook in its folder, and save it with its outputs."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=SECONDS, extra_arguments=FIGURES, resources={"metadata": {"path": str(FOLDER)}}
    )
    client.execute()
    notebook.metadata = nbformat.from_dict(METADATA)
    for number, cell in enumerate((one for one in notebook.cells if one.cell_type == "code"), start=1):
        cell.metadata, cell.execution_count = nbformat.from_dict({}), number
        for output in cell.outputs:
            output.get("metadata", {}).clear()
            if "execution_count" in output:
                output.execution_count = number
    nbformat.write(notebook, path)


if __name__ == "__main__":
    main(sys.argv[1:])
