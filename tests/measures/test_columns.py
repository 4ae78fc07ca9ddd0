"""Columns that a TOML file beside a measure describes."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest

from therapy_analytics import measures
from therapy_analytics.measures import MEASURES, Column, Mark, OnPage, columns_of
from therapy_analytics.measures.base import texts_beside

TOML = """
[words]
CARE = "{NOT_GIVEN}. Take care"

[all]
low = 0
high = inf
unit = "turns"
high_means = "more"
misleads = "{CARE}"
source = "A test"

[columns."{role}_sighs"]
meaning = "Sighs of the {role}"
formula = "count"
page = { heading = "{role}", label = "Sighs" }

[columns.sigh_rate]
meaning = "Share of turns with a sigh"
formula = "turns with a sigh / turns"
unit = "proportion"
high = 1
rate = "Turns with a sigh"

[turns.sigh_turn]
meaning = "Whether the turn sighs"
formula = "1 or 0"
level = "turn"
mark = { label = "A sigh", also = true }
ends = { source = "Another" }
"""


@pytest.fixture
def module(tmp_path: Path) -> str:
    (tmp_path / "sighs.toml").write_text(TOML)
    return str(tmp_path / "sighs.py")


def test_a_table_describes_a_column_for_each_word(module: str) -> None:
    first, *rate = columns_of(module, role="client")
    care = "undefined where the run's coder does not give the codes. Take care"
    expected = Column(
        name="client_sighs",
        meaning="Sighs of the client",
        unit="turns",
        low=0,
        high=inf,
        high_means="more",
        formula="count",
        misleads=care,
        source="A test",
        page=OnPage("client", "Sighs"),
    )
    assert first == expected
    assert [one.name for one in rate] == ["sigh_rate", "sigh_rate_lo", "sigh_rate_hi", "n_sigh", "out_of_sigh"]
    assert [one.statistic for one in rate] == ["value", "lo", "hi", "n", "out_of"]
    assert rate[3].meaning == "Turns with a sigh (what sigh_rate counts)"


def test_marks_and_ends_of_an_interval(module: str) -> None:
    value, low, high = columns_of(module, "turns")
    assert (value.page, low.page, value.level) == (Mark("A sigh", also=True), None, "turn")
    assert [one.source for one in (value, low, high)] == ["A test", "Another", "Another"]
    with pytest.raises(KeyError, match="role"):
        columns_of(module)


def test_each_toml_file_stands_beside_a_measure_that_reads_it() -> None:
    files = {path.stem: path for path in Path(measures.__path__[0]).rglob("*.toml")}
    assert len(files) > 10
    for name, path in files.items():
        module = path.with_suffix(".py")
        assert "__file__" in module.read_text(encoding="utf-8"), name
        own = {one.name for one in MEASURES[name].columns_for(())} if name in MEASURES.names() else set()
        plain = {column for column in texts_beside(str(module)).get("columns", {}) if "{" not in column}
        assert plain <= own or name not in MEASURES.names(), name
