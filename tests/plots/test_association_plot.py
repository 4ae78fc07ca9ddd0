"""What the forest of synchrony and disclosure shows."""

import itertools

import numpy as np
import pandas as pd
import pytest
from boards import assert_no_overlaps, new_axes
from boards import texts as said

from therapy_analytics import plots
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.measures.association import (
    DIRECTIONS,
    DISCLOSURE,
    STATISTICS,
    SYNCHRONY,
    disclosure_after_synchrony,
)
from therapy_analytics.plots.disclosure_after_synchrony import STYLES


def table(synchrony=SYNCHRONY, disclosure=DISCLOSURE, *, seed=0):
    rng = np.random.default_rng(seed)
    keys = list(itertools.product(synchrony, disclosure, DIRECTIONS))
    made = pd.DataFrame(keys, columns=["synchrony", "disclosure", "direction"])
    estimate = rng.normal(0, 0.05, size=len(made))
    about = {"n_sessions": 120, "n_turns": 4321, "null": 0.001, "null_sd": 0.02}
    return made.assign(estimate=estimate, lo=estimate - 0.04, hi=estimate + 0.05, **about)


def one(**figures):
    """A single measure: estimates .3 after, .1 beyond, -.2 before; shuffles 0 +- .05."""
    made = table(["rlsm_turn"], ["disclosure_informational_turn"]).assign(estimate=[0.3, 0.1, -0.2])
    made = made.assign(null=0.0, null_sd=0.05)
    return made.assign(lo=made["estimate"] - 0.1, hi=made["estimate"] + 0.2, **figures)


def draw(rows, size=(11, 5)):
    return plots.association(rows, ax=new_axes(size))


def points(ax, gid):
    return [tuple(xy) for line in ax.lines if line.get_gid() == gid for xy in line.get_xydata().tolist()]


def lines(ax, gid):
    found = [part for part in ax.collections if part.get_gid() == gid]
    return [path.vertices[:, 0].tolist() for part in found for path in part.get_paths()]


def test_estimates_intervals_and_null_stand_where_the_table_says():
    # Shuffles reach 1.96 times .05, which is .098, to each side of 0.
    ax = draw(one())
    for direction, estimate in zip(DIRECTIONS, (0.3, 0.1, -0.2), strict=True):
        assert [x for x, _ in points(ax, f"estimate {direction}")] == pytest.approx([estimate])
        assert lines(ax, f"interval {direction}")[0] == pytest.approx([estimate - 0.1, estimate + 0.2])
        assert lines(ax, f"null {direction}")[0] == pytest.approx([-0.098, 0.098])


def test_directions_differ_without_colour():
    ax = draw(one())
    looks = [
        (line.get_marker(), line.get_markerfacecolor() == line.get_markeredgecolor())
        for line in ax.lines
        if str(line.get_gid()).startswith("estimate")
    ]
    assert len(set(looks)) == len(DIRECTIONS) == len(STYLES)


def test_the_order_of_rows_is_that_of_the_table_from_above():
    ax = draw(table())
    heights = [y for _, y in points(ax, "estimate after")]
    by_disclosure = table()[lambda t: t["direction"] == "after"]["disclosure"].to_numpy()
    tops = [max(np.array(heights)[by_disclosure == name]) for name in DISCLOSURE]
    assert tops == sorted(tops, reverse=True)


def test_rows_without_an_estimate_say_so():
    rows = table()
    none = (rows["synchrony"] == "lsm_turn") & (rows["disclosure"] == "disclosure_informational_turn")
    ax = draw(rows.assign(estimate=rows["estimate"].mask(none)))
    assert said(ax).count("undefined") == 1
    assert len(points(ax, "estimate after")) == 9


def test_a_table_without_estimates_is_a_picture_that_says_so():
    for rows in (table().assign(estimate=np.nan), table().head(0)):
        assert "no association" in draw(rows).texts[0].get_text()


def test_what_a_reader_must_know_is_written():
    found = "\n".join([*said(draw(table())), plots.association.caption(table())])
    for needed in ("120 sessions, 4,321 replies", "95% of shuffles", "no proof of a cause", "control", "held constant"):
        assert needed in found


def test_a_table_that_is_no_such_table_is_an_error():
    with pytest.raises(BadOptionError, match="no column estimate"):
        draw(table().drop(columns="estimate"))


def test_what_the_package_computes_can_be_drawn():
    turns = pd.DataFrame({"session_id": "a", "turn": range(3), "role": "client", "n_words": 1})
    turns = turns.assign(lsm_turn=0.5, disclosure_informational_turn=0.5)
    found = disclosure_after_synchrony(turns)
    assert set(plots.PLOTS["association"].needs) <= set(found.columns)
    assert set(STATISTICS) <= set(found.columns)
    assert "no association" in draw(found).texts[0].get_text()


ODD = [
    lambda t: t,
    lambda t: t.astype({"synchrony": "category", "estimate": "Float64"}),
    lambda t: t.assign(synchrony="$\\odd{$ " + t["synchrony"]),
    lambda t: t.assign(disclosure=t["disclosure"] + " long" * 40),
    lambda t: t.assign(null=np.nan, null_sd=np.nan),
    lambda t: t.assign(estimate=0.0, lo=0.0, hi=0.0, null=0.0, null_sd=0.0),
    lambda t: t.head(3),
]
SIZES = [(11, 5), (8, 6), (16, 9)]


@pytest.mark.parametrize(
    ("change", "size"), [*((one, (11, 5)) for one in ODD), *((ODD[0], size) for size in SIZES[1:])]
)
def test_no_text_lies_on_another_or_leaves_the_figure(change, size):
    assert_no_overlaps(draw(change(table()), size))
