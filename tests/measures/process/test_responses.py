"""What the therapist answers to what: tables that a reader can count, sums over sessions, and real sessions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import nchypergeom_fisher
from statsmodels.stats.contingency_tables import StratifiedTable

import therapy_analytics as ta
from benchmarks._corpora import of_quality
from tests.undefined import without_totals
from therapy_analytics.behaviours.codebook import correlation_of
from therapy_analytics.language import AnnotatedSession
from therapy_analytics.measures._intervals import odds_ratios, wilson, wilsons
from therapy_analytics.measures.process._counts import replies
from therapy_analytics.measures.process._responses import (
    CLIENT,
    POOLED_COLUMNS,
    RESPONSE_COLUMNS,
    THERAPIST,
    Pooled,
    pooled_responses,
    pooled_rows,
    response_counts,
    response_rows,
)
from therapy_analytics.measures.process.responses import responses
from therapy_analytics.run import Writing
from therapy_analytics.session import Role, Session

# T C T C T C T C: the client is answered three times; nobody answers the last turn.
SAID = [("TC"[i % 2], f"turn {i}") for i in range(8)]
CODES = {
    "mi_sustain": [0, 1, 0, 1, 0, 0, 0, 1],  # turns 1 and 3 are answered, by 2 and 4; 7 is not
    "mi_input": [1, 0, 1, 0, 0, 0, 1, 0],  # answers 2 and 6
    "mi_reflection": [0, 0, 0, 0, 1, 0, 0, 0],  # answer 4
    "bolt_negative_feeling": [0, 1, 0, 0, 0, 0, 0, 0],
    "bolt_positive_feeling": [0, 0, 0, 0, 0, 1, 0, 0],  # a feeling in 1 and 5, answered by 2 and 6
    "bolt_planning": [0, 0, 0, 0, 0, 0, 1, 0],
    "bolt_problem_solving": [0, 0, 1, 0, 1, 0, 0, 0],  # 4 has no input: no advice for the measure
}


def as_arrays(*counts: float) -> list[np.ndarray]:
    return [np.array([float(one)]) for one in counts]


def of_table(*counts: float) -> tuple[float, ...]:
    """Return the odds ratio of k of n against k of n others, with its ends."""
    return tuple(float(one[0]) for one in odds_ratios(*as_arrays(*counts)))


def _frame(rows: Mapping[str, np.ndarray]) -> pd.DataFrame:
    return pd.DataFrame(dict(rows)).set_index(["client_code", "therapist_code"])


def test_a_table_that_a_reader_can_count(make) -> None:  # type: ignore[no-untyped-def]
    rows = _frame(response_rows(make(SAID, CODES)))
    assert len(rows) == len(CLIENT) * len(THERAPIST) == 8 * 17
    one = rows.loc[("mi_sustain", "mi_input")]
    assert (one["n_client"], one["n_both"], one["n_client_other"], one["n_both_other"]) == (2, 1, 1, 1)
    assert one["rate"] == 0.5
    assert (one["lo"], one["hi"]) == pytest.approx(wilson(1, 2, correlation_of("mi_input")))
    assert one["base_rate"] == pytest.approx(2 / 3)
    assert math.isnan(one["odds_ratio"])  # of three client turns nothing is said
    assert rows.loc[("mi_sustain", "advice"), "n_both"] == 2  # problem-solving in 2 and 4


def test_undefined_where_there_is_nothing_to_compare(make) -> None:  # type: ignore[no-untyped-def]
    rows = _frame(response_rows(make(SAID, CODES)))
    assert math.isnan(rows.loc[("bolt_life_event", "mi_input"), "rate"])
    assert math.isnan(rows.loc[("bolt_life_event", "mi_input"), "odds_ratio"])
    assert rows.loc[("bolt_life_event", "mi_input"), "base_rate"] == pytest.approx(2 / 3)
    assert math.isnan(rows.loc[("mi_sustain", "mi_question"), "odds_ratio"])  # nobody ever asks
    empty = _frame(response_rows(make([])))
    assert empty[["rate", "lo", "hi", "base_rate", "odds_ratio"]].isna().all(axis=None)
    bare = _frame(response_rows(replace(make(SAID), decisions={}, probabilities={})))
    assert bare["n_client"].sum() == 0


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


def test_an_odds_ratio_turned_around_is_its_inverse() -> None:
    one, low, high = of_table(3, 10, 2, 30)
    other, other_low, other_high = of_table(2, 30, 3, 10)
    assert (one * other, low * other_high, high * other_low) == pytest.approx((1, 1, 1))


@pytest.mark.parametrize(
    "table",
    [
        (0, 3, 0, 5),  # nobody answers so
        (2, 2, 1, 30),  # two client turns
        (1, 9, 1, 30),  # two answers
        (5, 5, 3, 30),  # over zero: all are answered so
        (5, 9, 0, 30),  # over zero: no other is answered so
    ],
)
def test_an_odds_ratio_of_too_little_or_over_zero_is_undefined(table: tuple[int, ...]) -> None:
    assert np.isnan(of_table(*table)).all()


@pytest.mark.parametrize("table", [(6, 8, 4, 16), (3, 4, 9, 30), (0, 8, 12, 20), (40, 60, 30, 90)])
def test_the_ends_are_where_half_of_the_table_and_all_beyond_have_a_fortieth(table: tuple[int, ...]) -> None:
    k, n, k_other, n_other = table
    _, low, high = of_table(*table)
    for odds, tail in ((low, "upper"), (high, "lower")):
        if odds > 0:
            drawn = nchypergeom_fisher(n + n_other, n, k + k_other, odds)
            beyond = drawn.sf(k) if tail == "upper" else drawn.cdf(k - 1)
            assert beyond + drawn.pmf(k) / 2 == pytest.approx(0.025, abs=1e-6)
    assert (low == 0) == (k == 0)


def test_a_design_effect_widens_and_other_tables_change_no_bit() -> None:
    _, low, high = of_table(6, 8, 4, 16)
    _, wider_low, wider_high = (float(one[0]) for one in odds_ratios(*as_arrays(6, 8, 4, 16), 2.0))
    assert wider_low < low < high < wider_high
    both = odds_ratios(
        *(np.append(one, other) for one, other in zip(as_arrays(6, 8, 4, 16), (400.0, 900, 200, 800), strict=True))
    )
    assert (both[1][0], both[2][0]) == (low, high)


def test_intervals_of_odds_ratios_leave_out_the_true_one_at_most_as_often_as_they_say() -> None:
    """Of 30 other client turns and few of the kind; before, .075 of the intervals from two turns left out 1."""
    random = np.random.default_rng(0)
    for n in (2, 3, 5, 10):
        for rate in (0.05, 0.2, 0.5):
            for odds in (1.0, 4.0):
                k = random.binomial(n, odds * rate / (1 - rate + odds * rate), 2000).astype(float)
                other = random.binomial(30, rate, 2000).astype(float)
                _, low, high = odds_ratios(k, np.full(2000, float(n)), other, np.full(2000, 30.0))
                told = ~np.isnan(low)
                assert told.any() == (n >= 3)
                assert not told.any() or ((low > odds) | (high < odds))[told].mean() <= 0.055


def test_the_pooled_odds_ratio_is_that_of_mantel_and_haenszel() -> None:
    rng = np.random.default_rng(1)
    pooled, tables = Pooled(), []
    for _ in range(6):
        counts = np.zeros((4, len(CLIENT), len(THERAPIST)))
        n, n_other = rng.integers(1, 20, 2)
        a, b = rng.integers(0, n + 1), rng.integers(0, n_other + 1)
        counts[:, 0, 0] = n, a, n_other, b
        pooled.add(counts)
        tables.append([[a, n - a], [b, n_other - b]])
    row = _frame(pooled_rows(pooled)).iloc[0]
    theirs = StratifiedTable([np.array(table, dtype=float) for table in tables])
    assert row["odds_ratio"] == pytest.approx(theirs.oddsratio_pooled)
    low, high = theirs.oddsratio_pooled_confint()  # turns as independent: no shorter
    assert row["odds_ratio_lo"] < low < row["odds_ratio"] < high < row["odds_ratio_hi"]
    assert row["n_client"] == sum(sum(table[0]) for table in tables)
    assert row["n_sessions"] == 6


@pytest.mark.parametrize("n_sessions", [5, 12])
def test_pooled_intervals_hold_over_sessions_that_differ(n_sessions: int) -> None:
    """Each cell is a draw of its own: sessions differ in both rates, and the answer does not depend on the client."""
    random, held, rates = np.random.default_rng(2), [], []
    for _ in range(15):
        pooled = Pooled()
        for _ in range(n_sessions):
            rate = random.beta(3, 6, (len(CLIENT), len(THERAPIST)))
            n, other = random.integers(5, 15, (2, *rate.shape))
            pooled.add(np.stack([n, random.binomial(n, rate), other, random.binomial(other, rate)]).astype(float))
        rows = _frame(pooled_rows(pooled))
        held.append((rows["odds_ratio_lo"] <= 1) & (rows["odds_ratio_hi"] >= 1))
        rates.append((rows["lo"] <= 1 / 3) & (rows["hi"] >= 1 / 3))
    assert 0.925 <= np.mean(held) <= 0.99
    assert 0.925 <= np.mean(rates) <= 0.99


def test_the_pooled_rows_of_one_session_are_its_own(make) -> None:  # type: ignore[no-untyped-def]
    session, pooled = make(SAID, CODES), Pooled()
    pooled.add(response_counts(session))
    own, rows = _frame(response_rows(session)), _frame(pooled_rows(pooled))
    pd.testing.assert_frame_equal(own[["rate", "lo", "hi", "base_rate"]], rows[["rate", "lo", "hi", "base_rate"]])
    assert rows["odds_ratio_lo"].isna().all()


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
    assert values["advice_after_feeling_rate"] == 1  # 2 (input and a solution), 6 (input and a plan)
    assert values["reflection_after_feeling_rate"] == 0
    assert values["advice_after_sustain_rate"] == 1 / 2
    nan = math.nan
    np.testing.assert_equal(values["input_after_sustain_turn"], [nan, nan, 1, nan, 0, nan, nan, nan])
    np.testing.assert_equal(values["advice_after_feeling_turn"], [nan, nan, 1, nan, nan, nan, 1, nan])
    # Of 3 answers the 2 after a feeling advise, the other does not: too little for odds
    assert math.isnan(values["advice_after_feeling_odds_ratio"])


def test_odds_that_a_reader_can_count(make) -> None:  # type: ignore[no-untyped-def]
    # A feeling and advice; a feeling alone; advice alone; neither: (3 x 4) / (1 x 1)
    pairs = [(1, 1)] * 3 + [(1, 0), (0, 1)] + [(0, 0)] * 4
    feels, advises = (
        [0, *(mark for pair in pairs for mark in one(pair))] for one in (lambda p: (p[0], 0), lambda p: (0, p[1]))
    )
    codes = {"bolt_negative_feeling": feels, "bolt_positive_feeling": [0] * 19}
    codes |= {"mi_input": advises, "bolt_planning": advises, "bolt_problem_solving": [0] * 19}
    session = make([("TC"[i % 2], f"turn {i}") for i in range(19)], codes)
    values = responses(session)
    assert values["advice_after_feeling_odds_ratio"] == pytest.approx(12)
    assert values["advice_after_feeling_odds_ratio_lo"] < 1 < values["advice_after_feeling_odds_ratio_hi"]
    row = _frame(response_rows(session)).loc[("bolt_negative_feeling", "mi_input")]
    assert row["odds_ratio"] == pytest.approx(12)
    # The rate's interval is that of the same answers in sessions.csv
    rate = _frame(response_rows(session)).loc[("bolt_negative_feeling", "advice")]
    names = [f"advice_after_feeling_rate{end}" for end in ("", "_lo", "_hi")]
    assert [values[name] for name in names] == pytest.approx(rate[["rate", "lo", "hi"]].tolist())


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
        pooled = Pooled()
        for session in sessions:
            pooled.add(response_counts(_human(session, make([]))))
        rates[quality] = _frame(pooled_rows(pooled)).loc["mi_sustain", "rate"]
    assert rates["high"]["mi_input"] == pytest.approx(0.07, abs=0.02)
    assert rates["low"]["mi_input"] == pytest.approx(0.54, abs=0.06)
    assert rates["high"]["mi_reflection"] == pytest.approx(0.37, abs=0.06)
    assert rates["low"]["mi_reflection"] == pytest.approx(0.06, abs=0.05)
