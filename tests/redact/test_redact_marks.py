"""How much is found in texts that the rules were not made on: the marks that were set."""

from __future__ import annotations

import pytest

benchmark = pytest.importorskip("benchmarks.redact")


@pytest.mark.parametrize(("half", "places", "listed"), [("held", 0.9, 0), ("more", 0.85, 0.7)])
def test_marks_are_reached(half: str, places: float, listed: float) -> None:
    counts = benchmark.table(half)
    structured = [(kind, seen) for kind, seen in counts.items() if kind not in {"NAME", "PLACE", "WORD", "REVIEW"}]
    planted = sum(seen.total() for _, seen in structured)
    missed = sum(benchmark.n_left(seen) for _, seen in structured)
    assert planted >= 80
    assert 1 - missed / planted >= 0.95
    assert 1 - benchmark.n_left(counts["NAME"]) / counts["NAME"].total() >= 0.85
    assert 1 - benchmark.n_left(counts["PLACE"]) / counts["PLACE"].total() >= places
    left = sum(benchmark.n_left(seen) for kind, seen in counts.items() if kind not in {"WORD", "REVIEW"})
    assert sum(seen["listed"] for seen in counts.values()) >= listed * left
    assert counts["REVIEW"]["entry"] <= 0.035 * counts["WORD"].total()
    assert counts["WORD"]["removed"] / counts["WORD"].total() <= 0.006


def test_a_plant_that_is_left_is_counted_as_missed() -> None:
    texts = "== x 01 T=T C=C\nT: I know {NAME:the plumber} and {NAME:Dana}.\n"
    (one,) = [benchmark._planted(block) for block in texts.split("== ")[1:]]
    assert [verdict for kind, verdict in benchmark.score(one) if kind == "NAME"] == ["missed", "found"]


def test_the_year_of_a_date_may_stay_and_what_the_review_list_has_is_told() -> None:
    texts = "== x r01 T=T C=C\nT: born {DATE:march third nineteen ninety one} and i paid {CODE:450} for it\n"
    (one,) = [benchmark._planted(block) for block in texts.split("== ")[1:]]
    assert one.manner == "recognised"
    assert [verdict for kind, verdict in benchmark.score(one) if kind in {"DATE", "CODE"}] == ["found", "listed"]
