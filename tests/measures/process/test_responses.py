"""What the therapist answers to what: tables that a reader can count, sums over sessions, and real sessions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import therapy_analytics as ta
from benchmarks._corpora import of_quality
from tests.undefined import without_totals
from therapy_analytics.codes.codebook import correlation_of
from therapy_analytics.core.session import Role, Session
from therapy_analytics.measures.intervals import matched_differences, wilson, wilsons
from therapy_analytics.measures.process.responses import responses
from therapy_analytics.measures.response_rows import (
    COUNTS,
    POOLED_COLUMNS,
    RESPONSE_COLUMNS,
    codes_of,
    pooled_responses,
    response_rows,
)
from therapy_analytics.measures.turns import replies
from therapy_analytics.run import Writing
from therapy_analytics.text import AnnotatedSession

# T C T C T C T C: the client is answered three times; nobody answers the last turn.
SAID = [("TC"[i % 2], f"turn {i}") for i in range(8)]
CODES = {
    "mi_sustain": [0, 1, 0, 1, 0, 0, 0, 1],  # turns 1 and 3 are answered, by 2 and 4; 7 is not
    "mi_input": [1, 0, 1, 0, 0, 0, 1, 0],  # answers 2 and 6
    "mi_reflection": [0, 0, 0, 0, 1, 0, 0, 0],  # answer 4
    "process_feeling_negative": [0, 1, 0, 0, 0, 1, 0, 0],  # a feeling in 1 and 5, answered by 2 and 6
    "process_advice": [0, 0, 1, 0, 0, 0, 1, 0],
    "process_rupture_withdrawal": [0, 0, 0, 1, 0, 0, 0, 0],
    "process_rupture_confrontation": [0, 0, 0, 0, 0, 1, 0, 0],  # a rupture in 3 and 5, answered by 4 and 6
    "process_repair": [0, 0, 0, 0, 1, 0, 0, 0],
}
CLIENT, THERAPIST = codes_of("client"), codes_of("therapist")


def _frame(rows: Mapping[str, np.ndarray]) -> pd.DataFrame:
    return pd.DataFrame(dict(rows)).set_index(["client_code", "therapist_code"])


def test_a_table_that_a_reader_can_count(make) -> None:  # type: ignore[no-untyped-def]
    rows = _frame(response_rows(make(SAID, CODES)))
    given = [code for code in THERAPIST if not code.startswith("epitome_")]  # these turns have no codes of that book
    assert len(rows) == len(CLIENT) * len(given)
    one = rows.loc[("mi_sustain", "mi_input")]
    assert (one["n_client"], one["n_both"], one["n_client_other"], one["n_both_other"]) == (2, 1, 1, 1)
    assert one["rate"] == 0.5
    assert (one["lo"], one["hi"]) == pytest.approx(wilson(1, 2, correlation_of("mi_input")))
    assert one["base_rate"] == pytest.approx(2 / 3)
    assert math.isnan(one["difference"])  # of three client turns nothing is said
    assert rows.loc[("mi_sustain", "process_advice"), "n_both"] == 1
    assert {code.partition("_")[0] for code in (*CLIENT, *THERAPIST)} == {"mi", "bolt", "process", "epitome"}


def test_pairs_of_codes_that_the_coder_does_not_give_have_no_rows(make) -> None:  # type: ignore[no-untyped-def]
    rows = _frame(response_rows(make(SAID, {"mi_sustain": CODES["mi_sustain"]})))
    assert {code.partition("_")[0] for pair in rows.index for code in pair} == {"mi", "bolt"}


def test_undefined_where_there_is_nothing_to_compare(make) -> None:  # type: ignore[no-untyped-def]
    rows = _frame(response_rows(make(SAID, CODES)))
    assert math.isnan(rows.loc[("bolt_life_event", "mi_input"), "rate"])
    assert math.isnan(rows.loc[("bolt_life_event", "mi_input"), "difference"])
    assert rows.loc[("bolt_life_event", "mi_input"), "base_rate"] == pytest.approx(2 / 3)
    assert math.isnan(rows.loc[("mi_sustain", "mi_question"), "difference"])  # nobody ever asks
    empty = _frame(response_rows(make([])))
    assert empty[["rate", "lo", "hi", "base_rate", "difference"]].isna().all(axis=None)
    bare = _frame(response_rows(replace(make(SAID), decisions={}, probabilities={})))
    assert len(bare) == 0


def test_the_answer_is_the_next_turn_of_the_therapist_unless_the_client_goes_on(make) -> None:  # type: ignore[no-untyped-def]
    said = [
        ("C", "a"),
        ("O", "b"),
        ("T", "c"),
        ("C", "d"),
        ("O", "e"),
        ("C", "f"),
        ("T", "..."),
        ("T", "g"),
        ("C", "h"),
    ]
    client, answer = replies(make(said))
    assert list(zip(client.tolist(), answer.tolist(), strict=True)) == [(0, 2), (5, 7)]


def test_arrays_of_intervals_are_wilsons() -> None:
    k, n = np.array([0.0, 1, 5, 10, 0]), np.array([10.0, 10, 10, 10, 0])
    rate, low, high = wilsons(k, n)
    for i in range(4):
        assert (low[i], high[i]) == pytest.approx(wilson(k[i], n[i]))
    assert np.isnan([rate[4], low[4], high[4]]).all()


def _sessions(counts: np.ndarray) -> pd.DataFrame:
    """Return a table of responses from counts (n_sessions, 4, n_pairs)."""
    n_pairs = counts.shape[2]
    codes = {"client_code": "mi_sustain", "therapist_code": [f"answer_{i}" for i in range(n_pairs)]}
    parts = [pd.DataFrame(dict(zip(COUNTS, own, strict=True))).assign(session_id=i, **codes)
             for i, own in enumerate(counts)]  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def test_the_pooled_difference_that_a_reader_can_count() -> None:
    # 3 of 4 against 1 of 4, weight 2; 2 of 2 against 3 of 6, weight 3 / 2; none of 3 against none of 3, weight 3 / 2
    counts = np.array([[4, 3, 4, 1], [2, 2, 6, 3], [3, 0, 3, 0]], dtype=float)[:, :, None]
    row = pooled_responses(_sessions(counts)).iloc[0]
    assert row["difference"] == pytest.approx((2 * 0.5 + 1.5 * 0.5 + 1.5 * 0) / 5)
    assert row["difference_lo"] < 0 < row["difference"] < row["difference_hi"]
    assert (row["n_client"], row["n_both_other"], row["n_sessions"]) == (9, 4, 3)
    two = pooled_responses(_sessions(counts[:2])).iloc[0]
    assert two["difference"] == pytest.approx(0.5)
    assert math.isnan(two["difference_lo"])  # two sessions tell nothing of others


@pytest.mark.parametrize("n_sessions", [5, 12])
def test_pooled_intervals_hold_over_sessions_that_differ(n_sessions: int) -> None:
    """Each pair is a draw of its own: sessions differ in both rates, and the answer does not depend on the client."""
    random = np.random.default_rng(2)
    rate = random.beta(3, 6, (n_sessions, 3_000))
    n, other = random.integers(5, 15, (2, *rate.shape))
    counts = np.stack([n, random.binomial(n, rate), other, random.binomial(other, rate)], axis=1)
    rows = pooled_responses(_sessions(counts.astype(float)))
    held = (rows["difference_lo"] <= 0) & (rows["difference_hi"] >= 0)
    assert 0.925 <= held.mean() <= 0.99
    assert 0.925 <= ((rows["lo"] <= 1 / 3) & (rows["hi"] >= 1 / 3)).mean() <= 0.99


def test_the_pooled_rows_of_one_session_are_its_own(make) -> None:  # type: ignore[no-untyped-def]
    session = make(SAID, CODES)
    own = _frame(response_rows(session))
    rows = pooled_responses(own.reset_index()).set_index(own.index.names)
    pd.testing.assert_frame_equal(own[["rate", "lo", "hi", "base_rate"]], rows[["rate", "lo", "hi", "base_rate"]])
    assert rows["difference_lo"].isna().all()


def test_pooled_rows_are_the_sums_of_the_sessions(samples: Path, tmp_path: Path) -> None:
    sessions = ta.read(samples)[:4]
    fast = ta.TaggerOptions(kind="fast")
    whole = ta.analyze(sessions, tagger=fast).responses
    assert list(whole) == [column.name for column in RESPONSE_COLUMNS]
    paths = [samples / session.source_file for session in sessions]
    ta.run(paths, tmp_path / "r", settings=ta.Settings(tagger=fast), writing=Writing(figures=(), report=False))
    assert not (tmp_path / "r" / "responses.csv").exists()
    pooled = pooled_responses(whole)
    assert list(pooled) == [column.name for column in POOLED_COLUMNS]
    names = ["n_client", "n_both", "n_client_other", "n_both_other"]
    sums = whole.groupby(["client_code", "therapist_code"], sort=False)[names].sum()
    assert pooled[names].to_numpy().tolist() == sums.to_numpy().tolist()
    session = sessions[0].id
    own = pd.read_csv(tmp_path / "r" / "sessions" / session / "responses.csv")
    assert own[names].to_numpy().tolist() == whole.loc[whole["session_id"] == session, names].to_numpy().tolist()
    codebook = pd.read_csv(tmp_path / "r" / "codebook.csv")
    assert codebook.loc[codebook["table"] == "responses", "column"].tolist() == list(own)


def test_rates_that_a_reader_can_count(make) -> None:  # type: ignore[no-untyped-def]
    values = responses(make(SAID, CODES))
    assert values["input_after_sustain_rate"] == 1 / 2
    assert values["reflection_after_sustain_rate"] == 1 / 2
    assert values["n_input_after_sustain"] == 1
    assert values["advice_after_feeling_rate"] == 1  # by 2 and 6
    assert values["reflection_after_feeling_rate"] == 0
    assert values["advice_after_sustain_rate"] == 1 / 2
    assert values["repair_after_rupture_rate"] == 1 / 2  # by 4, not by 6
    nan = math.nan
    np.testing.assert_equal(values["input_after_sustain_turn"], [nan, nan, 1, nan, 0, nan, nan, nan])
    np.testing.assert_equal(values["advice_after_feeling_turn"], [nan, nan, 1, nan, nan, nan, 1, nan])
    # Of 3 answers the 2 after a feeling advise, the other does not: too little to compare
    assert math.isnan(values["advice_after_feeling_difference"])


def test_a_difference_that_a_reader_can_count(make) -> None:  # type: ignore[no-untyped-def]
    # (feeling, advice) of nine pairs; the last four answers are long, and all of these advise
    pairs = [(1, 1), (1, 0), (1, 0), (0, 0), (0, 0), (1, 1), (0, 1), (0, 1), (0, 1)]
    said = [("T", "hello")]
    for at in range(len(pairs)):
        said += [("C", "so"), ("T", "well" if at < 5 else "well, as I said, do that")]
    feels = [0, *(mark for feeling, _ in pairs for mark in (feeling, 0))]
    advises = [0, *(mark for _, advice in pairs for mark in (0, advice))]
    session = make(said, {"process_feeling_negative": feels, "process_advice": advises})
    values = responses(session)
    # Short answers: 1 of 3 against 0 of 2, weight 3 x 2 / 5; long ones: 1 of 1 against 3 of 3, weight 3 / 4
    assert values["advice_after_feeling_difference"] == pytest.approx((6 / 5) * (1 / 3) / (6 / 5 + 3 / 4))
    assert values["advice_after_feeling_difference_lo"] < 0 < values["advice_after_feeling_difference_hi"]
    row = _frame(response_rows(session)).loc[("process_feeling_negative", "process_advice")]
    ends = ("", "_lo", "_hi")
    assert [values[f"advice_after_feeling_difference{end}"] for end in ends] == pytest.approx(
        [row[f"difference{end}"] for end in ends]
    )
    # The rate's interval is that of the same answers in the table of responses
    rate = [values[f"advice_after_feeling_rate{end}"] for end in ends]
    assert rate == pytest.approx(row[["rate", "lo", "hi"]].tolist())


def test_answers_that_go_with_length_alone_make_no_difference(make) -> None:  # type: ignore[no-untyped-def]
    # Long client turns are felt and answered by advice; short ones are neither, but for one of each
    said, feels, advises = [("T", "hello")], [0], [0]
    for at in range(16):
        long, odd = at % 2, at in (6, 7)
        said += [("C", "so it went on and on" if long else "so"), ("T", "well")]
        feels, advises = [*feels, long ^ odd, 0], [*advises, 0, long]
    session = make(said, {"process_feeling_negative": feels, "process_advice": advises})
    values = responses(session)
    assert values["advice_after_feeling_rate"] == 7 / 8
    assert values["advice_after_feeling_difference"] == 0


def test_a_difference_of_one_stratum_is_that_of_two_rates_and_of_too_little_none() -> None:
    table = [np.array([[float(one)]]) for one in (6, 8, 4, 16)]
    value, low, high = (float(one[0]) for one in matched_differences(*table))
    assert value == pytest.approx(6 / 8 - 4 / 16)
    assert 0 < low < value < high < 1
    _, wider_low, wider_high = (float(one[0]) for one in matched_differences(*table, 2.0))
    assert wider_low < low < high < wider_high
    for few in ((2, 2, 4, 16), (1, 8, 1, 16), (8, 8, 14, 16), (0, 0, 4, 16)):
        assert np.isnan(matched_differences(*(np.array([[float(one)]]) for one in few))).all()


def test_intervals_of_differences_hold_the_true_one() -> None:
    """Forty replies in four strata, in which both the event and the answer are more or less frequent."""
    random, n, held = np.random.default_rng(3), 40, []
    for _ in range(800):
        stratum = random.integers(0, 4, n)
        event = random.random(n) < np.array([0.2, 0.4, 0.2, 0.4])[stratum]
        answer = random.random(n) < np.array([0.1, 0.2, 0.3, 0.4])[stratum] + 0.2 * event
        here = stratum == np.arange(4)[:, None]
        of = [(here & kind).sum(axis=1, dtype=float)[:, None] for kind in (event, ~event)]
        k = [(here & kind & answer).sum(axis=1, dtype=float)[:, None] for kind in (event, ~event)]
        _, low, high = matched_differences(k[0], of[0], k[1], of[1])
        held += [] if np.isnan(low[0]) else [low[0] <= 0.2 <= high[0]]
    assert 0.92 <= np.mean(held) <= 0.99


def test_the_balance_weighs_answers_by_probability(make) -> None:  # type: ignore[no-untyped-def]
    values = responses(make(SAID, CODES))
    # p(sustain) of the answered turns .9, .9, .1; p(reflection) - p(input) of the answers -.8, .8, -.8.
    assert values["sustain_response_balance"] == pytest.approx((-0.9 * 0.8 + 0.9 * 0.8 - 0.1 * 0.8) / 1.9)
    swapped = {**CODES, "mi_input": CODES["mi_reflection"], "mi_reflection": CODES["mi_input"]}
    turned = responses(make(SAID, swapped))["sustain_response_balance"]
    assert turned == pytest.approx(-values["sustain_response_balance"])


def test_undefined_without_answers_or_codes(make) -> None:  # type: ignore[no-untyped-def]
    bare = replace(make(SAID), decisions={}, probabilities={})
    for session in (make([]), make([("T", "Hello")]), make([("C", "Hello")]), bare):
        for name, value in without_totals(responses(session)).items():
            assert np.isnan(np.asarray(value, dtype=float)).all(), name


def _human(session: Session, make_empty: AnnotatedSession) -> AnnotatedSession:
    """Return a session of AnnoMI with what its (first) coder took for the main behaviour and the client's talk."""
    turns = session.turns
    roles = np.array([("therapist", "client", "other").index(turn.role) for turn in turns], dtype=np.int8)

    def codes(role: Role, field: str, label: str) -> tuple[np.ndarray, np.ndarray]:
        own = np.array([turn.role == role for turn in turns])
        has = np.array([turn.gold.get(field, "").split(";")[0] == label for turn in turns]) & own
        return np.where(own, has.astype(float), np.nan), has

    asked = {
        "mi_sustain": codes("client", "client_talk_type", "sustain"),
        "mi_input": codes("therapist", "main_therapist_behaviour", "therapist_input"),
        "mi_reflection": codes("therapist", "main_therapist_behaviour", "reflection"),
    }
    words = np.ones(len(turns), dtype=np.int64)
    arrays = replace(make_empty.turns, roles=roles, n_words=words)
    given = {code: p for code, (p, _) in asked.items()}, {code: has for code, (_, has) in asked.items()}
    return AnnotatedSession(session, arrays, *given)


def test_human_coders_saw_input_after_sustain_talk_in_poor_sessions(corpora: Path, make) -> None:  # type: ignore[no-untyped-def]
    rates = {}
    for quality, sessions in of_quality(corpora, "annomi").items():
        rows = [pd.DataFrame(dict(response_rows(_human(session, make([]))))) for session in sessions]
        rates[quality] = _frame(pooled_responses(pd.concat(rows))).loc["mi_sustain", "rate"]
    assert rates["high"]["mi_input"] == pytest.approx(0.07, abs=0.02)
    assert rates["low"]["mi_input"] == pytest.approx(0.54, abs=0.06)
    assert rates["high"]["mi_reflection"] == pytest.approx(0.37, abs=0.06)
    assert rates["low"]["mi_reflection"] == pytest.approx(0.06, abs=0.05)
