"""The measures on codes that readers gave: the invented excerpts of ``tools/process_codes``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from therapy_analytics.codes import codebook_named
from therapy_analytics.measures import MEASURES
from therapy_analytics.measures.base import Value
from therapy_analytics.text import AnnotatedSession

CODES = [code.id for code in codebook_named("process").codes]
BUILT_ON_CODES = ("behaviour_rates", "code_shares", "course", "first_advice", "responses", "ruptures", "safety")


@pytest.fixture(scope="module")
def excerpts(root: Path, make) -> list[AnnotatedSession]:  # type: ignore[no-untyped-def]
    path = root / "tools" / "process_codes" / "invented.jsonl"
    if not path.is_file():
        pytest.skip("only a checkout has tools/")
    read = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()[::3]]
    found = []
    for turns in (one["turns"] for one in read):
        given = [{code.removesuffix("?") for code in turn["codes"]} for turn in turns]
        said = [(turn["role"][0].upper(), turn["text"]) for turn in turns]
        found.append(make(said, {f"process_{code}": [int(code in one) for one in given] for code in CODES}))
    return found


@pytest.mark.parametrize("name", BUILT_ON_CODES)
def test_values_are_in_their_range(excerpts: list[AnnotatedSession], name: str) -> None:
    columns = MEASURES[name].columns_for([])
    seen = set()
    for session in excerpts[::3]:
        values = MEASURES[name].compute(session)
        assert values.keys() == {column.name for column in columns}
        for column in columns:
            value = np.asarray(values[column.name], dtype=np.float64)
            known = value[~np.isnan(value)]
            assert ((known >= column.low) & (known <= column.high)).all(), column.name
            seen |= {column.name} if len(known) else set()
    assert len(seen) > len(columns) / 3


def test_no_danger_is_passed_over_where_a_turn_asks_or_helps(excerpts: list[AnnotatedSession]) -> None:
    """Each danger turn has one outcome, and all that readers saw are counted."""
    n_danger = n_passed = 0.0
    for session in excerpts:
        values: Mapping[str, Value] = MEASURES["safety"].compute(session)
        own = session.decided("process_risk_own")
        assert values["n_danger_turns"] >= own.sum()
        outcome, danger = np.asarray(values["danger_outcome"]), np.asarray(values["danger_turn"]) == 1
        assert danger[own].all()
        assert not (~np.isnan(outcome) & ~danger).any()
        met = session.decided("process_risk_asked") | session.decided("process_risk_help")
        assert not (met & ~session.decided("process_risk_worsened") & (values["danger_missed_turn"] == 1)).any()
        n_danger, n_passed = n_danger + own.sum(), n_passed + np.count_nonzero(outcome == 1)
    assert n_danger > 50
    assert 6 < n_passed < n_danger / 2


def test_advice_that_readers_saw_is_the_rate_of_advice(excerpts: list[AnnotatedSession]) -> None:
    for session in excerpts[::7]:
        own = session.spoken_by("therapist")
        values = MEASURES["behaviour_rates"].compute(session)
        assert values["n_therapist_advice"] == np.count_nonzero(session.decided("process_advice") & own)


def test_whoever_wrote_the_excerpts_repairs_more_often_than_in_life(excerpts: list[AnnotatedSession]) -> None:
    n: Counter[str] = Counter()
    for session in excerpts:
        values = MEASURES["ruptures"].compute(session)
        n.update({name: int(np.nan_to_num(value)) for name, value in values.items() if name.startswith(("n_", "out_"))})
    assert 0.02 < n["n_client_rupture"] / n["out_of_client_rupture"] < 0.15
    taken_up, passed_by = (n[f"n_rupture_{one}"] / n[f"out_of_rupture_{one}"] for one in ("taken_up", "passed_by"))
    assert taken_up > 0.4 > passed_by
