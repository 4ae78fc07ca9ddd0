"""What the plots of synchrony show: one session, many beside shuffles and surrogate pairs, and disclosure."""

import itertools

import numpy as np
import pandas as pd
import pytest
from boards import assert_no_overlaps, boxes, figure_of, panels, points, segments, texts

from therapy_analytics import plots
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.measures.association import (
    DIRECTIONS,
    DISCLOSURE,
    STATISTICS,
    SYNCHRONY,
    disclosure_after_synchrony,
)
from therapy_analytics.measures.rows import PART_COLUMNS

CORE = {
    "lsm_turn_mean": "Style matching, adjacent turns (LSM)",
    "rlsm": "Reciprocal style matching (rLSM)",
    "semantic_similarity": "Semantic similarity of adjacent turns",
    "lexical_alignment": "Lexical alignment of adjacent turns",
    "coordination": "Linguistic coordination",
    "lsm": "Style matching, whole session (LSM)",
}
PAIRS = ("lexical_alignment", "semantic_similarity", "lsm_turn_mean", "rlsm", "coordination", "c6", "c7", "c8")
WHOLES = ("lsm", "a_name_so_long_that_it_does_not_fit_beside_it", *(f"w{i}" for i in range(7)))
COLUMNS = [
    *("session_id", "measure", "direction", "part", "first_turn", "last_turn", "value"),
    *("null_mean", "null_sd", "z", "p", "surrogate_mean", "surrogate_z", "surrogate_p"),
]


def parts(n):
    """Return the parts of a session of n turns, as the table has them."""
    windows = [("window", first, first + 19) for first in range(0, n - 19, 5)]
    return [("whole", 0, n - 1), ("third_1", 0, n // 3), *windows]


def row(measure, direction, part, z, *, base=0.5, session_id="s1"):
    """Make a row: the null mean is `base`, its deviation 0.1; surrogates are 0.1 below it, their z is 1 more."""
    name, first, last = part
    null = [base, 0.1, z, 0.3, base - 0.1, z + 1, 0.2]
    return [session_id, measure, direction, name, first, last, base + 0.1 * z, *null]


def table(n, *, pairs=PAIRS, wholes=WHOLES, session_id="session_017", seed=0):
    """Make the rows of one session of n turns, without using any word of a real one."""
    rng = np.random.default_rng(seed + n)
    rows = [
        row(name, direction, part, rng.normal(0, 1.5), session_id=session_id, base=10.0 ** -(i % 4))
        for i, name in enumerate(pairs)
        for direction in ("both", "therapist", "client", "difference")
        for part in parts(n)
    ]
    rows += [row(name, "both", ("whole", 0, n - 1), rng.normal(0, 2), session_id=session_id) for name in wholes]
    return pd.DataFrame(rows, columns=COLUMNS)


def by_hand(windows, wholes=()):
    """Make a table of 30 turns from {(measure, direction): z of its three windows}; whole sessions have z 1."""
    rows = []
    for (measure, direction), zs in windows.items():
        rows.append(row(measure, direction, ("whole", 0, 29), 1.0))
        rows += [row(measure, direction, part, z) for part, z in zip(parts(30)[2:5], zs, strict=True)]
    rows += [row(name, "both", ("whole", 0, 29), z) for name, z in wholes]
    return pd.DataFrame(rows, columns=COLUMNS)


def draw(rows, plot=plots.synchrony):
    return figure_of(plot, rows)


# One session


def test_windows_stand_at_their_middle_with_the_band_of_shuffles():
    # Windows of turns 0-19, 5-24, 10-29; values .5, .6, .9; the band is .5 +- .196 and goes on for 2.5 turns.
    figure = draw(by_hand({("rlsm", "therapist"): [0, 1, 4]}))
    assert points(figure, "windows of therapist").tolist() == pytest.approx(
        np.array([[9.5, 0.5], [14.5, 0.6], [19.5, 0.9]])
    )
    assert boxes(figure, "shuffles of therapist").tolist() == [pytest.approx([7, 0.304, 22, 0.696])]
    # The ends of the range stand beside it.
    assert {"0.90", "0.30"} <= set(texts(figure))


def test_only_windows_outside_their_own_band_have_large_marks():
    # 1.96 standard deviations each way: -2 and 4 are outside, 1.9 is not.
    figure = draw(by_hand({("rlsm", "therapist"): [1.9, 4, 0], ("rlsm", "client"): [0, 0, -2]}))
    assert points(figure, "outside of therapist")[:, 0].tolist() == [14.5]
    assert points(figure, "outside of client")[:, 0].tolist() == [19.5]


def test_windows_of_both_are_drawn_only_where_the_speakers_have_none():
    figure = draw(by_hand({("a", "both"): [0, 1, 0], ("b", "both"): [0, 1, 0], ("b", "client"): [1, 0, 1]}))
    assert len(points(figure, "windows of both")) == 3
    assert len(points(figure, "windows of client")) == 3


def test_undefined_windows_part_line_and_band():
    rows = table(40, pairs=("rlsm",), wholes=()).query("direction == 'client'")
    third = (rows["part"] == "window") & (rows["first_turn"] == 10)
    figure = draw(rows.assign(**{name: rows[name].mask(third) for name in ("value", "null_mean", "null_sd")}))
    assert len(boxes(figure, "shuffles of client")) == 2
    assert np.isnan(points(figure, "windows of client")[:, 1]).tolist() == [False, False, True, False, False]


def test_values_and_z_of_the_whole_session_stand_beside():
    # The whole session: z 1, so value .6; z of surrogate pairs 2.
    figure = draw(by_hand({("rlsm", "therapist"): [0, 1, 0]}))
    assert {"therapist", "0.60"} <= set(texts(figure))
    assert points(figure, "z from shuffles of therapist")[:, 0].tolist() == [1]
    assert points(figure, "z from surrogates of therapist")[:, 0].tolist() == [2]


@pytest.mark.parametrize("plot", [plots.synchrony, plots.synchrony_all])
def test_what_is_further_than_the_scale_is_an_arrow_at_its_end(plot):
    figure = draw(by_hand({}, wholes=[("a", 9.0), ("b", -9.0), ("c", 1.75)]), plot)
    assert points(figure, "z from shuffles of both")[:, 0].tolist() == [6, -6, 1.75]
    assert points(figure, "z from surrogates of both")[:, 0].tolist() == [6, -6, 2.75]
    signs = [one.get_marker() for one in figure.findobj(lambda one: one.get_label() == "z from shuffles of both")]
    assert signs == [">", "<", "D"]


def test_the_core_is_shown_and_the_rest_on_request():
    rows = table(73)
    shown, every = set(texts(draw(rows))), set(texts(draw(rows, plots.synchrony_all)))
    assert set(CORE.values()) <= shown
    assert not {"c6", "w1"} & shown
    assert {"c6", "w1", *CORE.values()} <= every
    # A table with none of them shows the first six.
    others = set(texts(draw(rows[~rows["measure"].isin(CORE)])))
    assert {"c6", "c7", "c8"} <= others
    assert "w4" not in others


def test_measures_without_a_null_have_numbers_but_no_dot():
    rows = by_hand({}, wholes=[("a", 1.0), ("b", 1.0)])
    none = rows["measure"] == "a"
    figure = draw(rows.assign(**{name: rows[name].mask(none) for name in ("null_mean", "z", "p")}))
    assert np.isfinite(points(figure, "z from shuffles of both")[:, 0]).tolist() == [False, True]
    assert texts(figure).count("0.60") == 2


def test_sessions_too_short_for_windows_say_so_and_show_values():
    rows = table(12, pairs=("rlsm",), wholes=("lsm",))
    figure = draw(rows)
    assert "Too few turns for windows" in texts(figure)
    assert "windows" not in plots.synchrony.caption(rows)
    assert len(points(figure, "z from shuffles of both")) == 2
    assert not len(points(figure, "windows of therapist"))


def test_measures_without_a_value_and_slopes_are_left_out():
    rows = table(73)
    rows["value"] = rows["value"].mask(rows["measure"].isin(["rlsm", "lsm"]))
    whole = rows[(rows["measure"] == "coordination") & (rows["part"] == "whole")]
    found = texts(draw(pd.concat([rows, whole.assign(measure="coordination_slope")])))
    assert CORE["coordination"] in found
    assert not {CORE["rlsm"], CORE["lsm"]} & set(found)
    assert not any("slope" in text for text in found)


def test_nothing_left_is_a_picture_that_says_so():
    assert "no measure has a value" in " ".join(texts(draw(table(73).assign(value=np.nan))))
    assert "no row" in " ".join(texts(draw(table(73).head(0))))


def test_what_a_reader_must_know_is_written():
    found = " ".join([*texts(draw(table(73))), plots.synchrony.caption(table(73))])
    for needed in (
        "session_017",
        "(73 turns)",
        "Synchrony is not a quality score: it grows with the number of words per turn",
        "windows of 20 turns",
        "Therapist's replies",
        "95% of shuffles",
        "1 window in 20 lies outside",
        "surrogate pairs",
    ):
        assert needed in found


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.sample(frac=1, random_state=1),
        lambda t: t[t["part"] == "window"],
        lambda t: t.assign(z=np.nan, p=np.nan, null_mean=np.nan, null_sd=np.nan),
        lambda t: t.assign(null_sd=0.0, value=0.5, null_mean=0.5),
        lambda t: t.drop(columns=["surrogate_mean", "surrogate_z"]),
        lambda t: t.astype({"measure": "category", "direction": "category", "part": "category", "value": "Float64"}),
        lambda t: t.assign(measure=t["measure"].replace("rlsm", "$\\no_formula{$")),
        lambda t: t.assign(value=t["value"] * 1e5, null_mean=t["null_mean"] * 1e5, null_sd=t["null_sd"] * 1e5),
    ],
)
def test_odd_tables_are_drawn_without_overlaps(change):
    assert_no_overlaps(draw(change(table(73))))


# Many sessions


def two_measures():
    """Five sessions: z of `a` -1, 0, 1, 2, 9, of which two have p below .05; `b` has no shuffles."""
    rows = [row("a", "both", ("whole", 0, 29), z, session_id=f"s{i}") for i, z in enumerate((-1.0, 0, 1, 2, 9))]
    rows += [row("b", "both", ("whole", 0, 29), 1.0, session_id=f"s{i}") for i in range(5)]
    rows += [row("a", "client", ("whole", 0, 29), 1.0, session_id="s0"), row("a", "both", ("window", 0, 19), 1.0)]
    made = pd.DataFrame(rows, columns=COLUMNS)
    made.loc[3:4, "p"] = [0.049, 0.005]
    return made.assign(z=made["z"].mask(made["measure"] == "b"), p=made["p"].mask(made["measure"] == "b"))


def test_a_dot_is_a_session_and_far_ones_are_at_the_end():
    figure = draw(two_measures(), plots.synchrony_overview)
    assert sorted(points(figure, "z from shuffles")[:, 0]) == [-1, 0, 1, 2, 4]
    assert len(points(figure, "z from surrogates")) == 10
    assert segments(figure, "median from shuffles")[:, 0, 0].tolist() == [1]


def test_shares_are_of_the_sessions_that_have_a_p_and_have_wilsons_interval():
    figure = draw(two_measures(), plots.synchrony_overview)
    assert {"2/5", "0/5"} <= set(texts(figure))
    assert points(figure, "share of shuffles")[:, 0].tolist() == [0.4]
    # As in tables of the interval: 2 of 5.
    assert segments(figure, "interval of shuffles")[0, :, 0] == pytest.approx([0.1176, 0.7693], abs=5e-4)


def test_an_overview_without_z_says_so():
    figure = draw(two_measures().assign(z=np.nan, surrogate_z=np.nan), plots.synchrony_overview)
    assert "no synchrony: no measure" in " ".join(texts(figure))


@pytest.mark.parametrize("name", ["synchrony", "synchrony_overview"])
def test_the_table_of_the_package_has_what_the_plots_need(name):
    assert set(plots.PLOTS[name].needs) <= {column.name for column in PART_COLUMNS}


# Disclosure


def associations(synchrony=SYNCHRONY, disclosure=DISCLOSURE):
    rng = np.random.default_rng(0)
    keys = list(itertools.product(synchrony, disclosure, DIRECTIONS))
    made = pd.DataFrame(keys, columns=["synchrony", "disclosure", "direction"])
    estimate = rng.normal(0, 0.05, size=len(made))
    about = {"n_sessions": 120, "n_turns": 4321, "null": 0.0, "null_sd": 0.05}
    return made.assign(estimate=estimate, lo=estimate - 0.1, hi=estimate + 0.2, **about)


def test_estimates_intervals_and_null_stand_where_the_table_says():
    # Estimates .3 after, .1 beyond, -.2 before; shuffles reach 1.96 times .05, which is .098, to each side of 0.
    rows = associations(["rlsm_turn"], ["disclosure_informational_turn"]).assign(estimate=[0.3, 0.1, -0.2])
    rows = rows.assign(lo=rows["estimate"] - 0.1, hi=rows["estimate"] + 0.2)
    figure = draw(rows, plots.association)
    signs = set()
    for direction, estimate in zip(DIRECTIONS, (0.3, 0.1, -0.2), strict=True):
        assert points(figure, f"estimate {direction}")[:, 0].tolist() == [estimate]
        assert segments(figure, f"interval {direction}")[0, :, 0] == pytest.approx([estimate - 0.1, estimate + 0.2])
        assert boxes(figure, f"null {direction}")[0, [0, 2]] == pytest.approx([-0.098, 0.098])
        (line,) = figure.findobj(lambda one, label=f"estimate {direction}": one.get_label() == label)
        signs.add((line.get_marker(), line.get_markerfacecolor() == line.get_markeredgecolor()))
    assert len(signs) == 3


def test_rows_without_an_estimate_say_so_in_the_order_of_the_table():
    rows = associations()
    none = (rows["synchrony"] == "lsm_turn") & (rows["disclosure"] == "disclosure_informational_turn")
    figure = draw(rows.assign(estimate=rows["estimate"].mask(none)), plots.association)
    assert texts(figure).count("undefined") == 1
    levels = points(figure, "estimate after")[:, 1]
    assert len(levels) == len(SYNCHRONY) * len(DISCLOSURE) - 1
    assert panels(figure)[0].yaxis_inverted()


def test_a_table_without_estimates_is_a_picture_that_says_so():
    for rows in (associations().assign(estimate=np.nan), associations().head(0)):
        assert "no association" in " ".join(texts(draw(rows, plots.association)))


def test_what_a_reader_must_know_of_associations_is_written():
    found = " ".join([*texts(draw(associations(), plots.association)), plots.association.caption(associations())])
    for needed in ("120 sessions, 4,321 replies", "95% of shuffles", "no proof of a cause", "control", "held constant"):
        assert needed in found


def test_what_the_package_computes_can_be_drawn():
    turns = pd.DataFrame({"session_id": "a", "turn": range(3), "role": "client", "n_words": 1})
    turns = turns.assign(lsm_turn=0.5, disclosure_informational_turn=0.5)
    found = disclosure_after_synchrony(turns)
    assert {*plots.association.needs, *STATISTICS} <= set(found.columns)
    assert "no association" in " ".join(texts(draw(found, plots.association)))
    with pytest.raises(BadOptionError, match="no column estimate"):
        draw(associations().drop(columns="estimate"), plots.association)


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.astype({"synchrony": "category", "estimate": "Float64"}),
        lambda t: t.assign(synchrony="$\\odd{$ " + t["synchrony"]),
        lambda t: t.assign(disclosure=t["disclosure"] + " long" * 40),
        lambda t: t.assign(null=np.nan, null_sd=np.nan),
        lambda t: t.assign(estimate=0.0, lo=0.0, hi=0.0, null=0.0, null_sd=0.0),
    ],
)
def test_odd_associations_are_drawn_without_overlaps(change):
    assert_no_overlaps(draw(change(associations()), plots.association))
