"""The page on validity: its tables lie beside it as CSV, and its pictures are drawn from them."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from therapy_analytics.results.references import LEDGER_KINDS, outcome_ledger

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "validity"
TABLES = sorted(FOLDER.glob("*.csv"))
PICTURES = sorted(FOLDER.glob("*.png"))


@pytest.fixture(scope="module")
def page() -> str:
    return (ROOT / "docs" / "validity.md").read_text(encoding="utf-8")


def test_the_page_links_to_every_table_and_shows_every_picture(page: str) -> None:
    assert set(re.findall(r"[^!]\[[^\]]*\]\(validity/(\w+\.csv)\)", page)) == {one.name for one in TABLES}
    assert set(re.findall(r"!\[[^\]]+\]\(validity/(\w+\.png)\)", page)) == {one.name for one in PICTURES}


@pytest.mark.parametrize("table", TABLES, ids=lambda one: one.stem)
def test_a_table_is_tidy(table: Path) -> None:
    lines = pd.read_csv(table, header=None, dtype=str, keep_default_na=False)
    head = list(lines.iloc[0])
    assert all(re.fullmatch(r"[a-z0-9_]+", name) for name in head)
    assert len(set(head)) == len(head)
    assert len(lines) > 1
    assert not lines.duplicated().any()
    for name, values in lines.iloc[1:].items():
        cells = [cell for cell in values if cell]
        assert cells, f"{head[int(str(name))]} is empty"
        assert all(cell == cell.strip() for cell in cells)


def test_values_lie_in_their_intervals() -> None:
    for table in TABLES:
        found = pd.read_csv(table)
        if {"lo", "hi"} <= set(found):
            value = found.iloc[:, list(found).index("lo") - 1]
            known = found[found["lo"].notna()]
            assert (known["lo"] <= value[known.index]).all(), table.name
            assert (value[known.index] <= known["hi"]).all(), table.name


@pytest.mark.parametrize("picture", PICTURES, ids=lambda one: one.stem)
def test_a_picture_has_the_width_of_a_page_at_150_dpi(picture: Path) -> None:
    data = picture.read_bytes()
    assert len(data) < 60_000
    assert abs(struct.unpack(">I", data[16:20])[0] - 174 / 25.4 * 150) <= 1


def test_the_script_draws_every_picture_from_the_tables(tmp_path: Path) -> None:
    code = "import sys; sys.path.insert(0, 'tools'); import validity_pictures as v; v.main([], v.Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=True)
    assert {one.name for one in tmp_path.iterdir()} == {one.name for one in PICTURES}


def test_the_ledger_is_that_of_the_codebook() -> None:
    shown = pd.read_csv(FOLDER / "outcome_ledger.csv", keep_default_na=False)
    ledger = outcome_ledger().set_index("measure")
    assert set(shown["measure"]) == set(ledger.index)
    for row in shown.to_dict("records"):
        kind = row["comparison"].replace(" ", "_")
        assert kind in LEDGER_KINDS
        assert row["verdict"] == ledger.loc[row["measure"], "verdict"]
        assert row["value"] == pytest.approx(ledger.loc[row["measure"], kind], abs=0.0051)
