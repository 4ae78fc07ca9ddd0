"""How much is found in texts that the rules were not made on: the marks that were set."""

from __future__ import annotations

import pytest

benchmark = pytest.importorskip("benchmarks.redact")


@pytest.mark.parametrize("half", ["dev", "held"])
def test_marks_are_reached(half: str) -> None:
    counts = benchmark.table(half)
    structured = [(kind, seen) for kind, seen in counts.items() if kind not in {"NAME", "PLACE", "WORD"}]
    planted = sum(seen.total() for _, seen in structured)
    missed = sum(seen["missed"] for _, seen in structured)
    assert planted >= 80
    assert 1 - missed / planted >= 0.95
    assert 1 - counts["NAME"]["missed"] / counts["NAME"].total() >= 0.85
    assert counts["WORD"]["removed"] / counts["WORD"].total() <= 0.005


def test_a_plant_that_is_left_is_counted_as_missed() -> None:
    texts = "== x 01 T=T C=C\nT: I know {NAME:the plumber} and {NAME:Dana}.\n"
    (one,) = [benchmark._planted(block) for block in texts.split("== ")[1:]]
    assert [verdict for kind, verdict in benchmark.score(one) if kind == "NAME"] == ["missed", "found"]
