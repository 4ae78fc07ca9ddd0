"""What the two plots of synchrony show: one session along its turns, many beside shuffles and surrogate pairs."""

import numpy as np
import pandas as pd
import pytest
from boards import assert_no_overlaps, new_axes, outlined, texts, written
from matplotlib import pyplot as plt
from matplotlib.path import Path

from therapy_analytics import plots
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.measures.rows import PART_COLUMNS
from therapy_analytics.plots._outlines import MINUS
from therapy_analytics.plots._synchrony import CORE
from therapy_analytics.plots.synchrony_beside_null import wilson

PAIRS = ("lexical_alignment", "semantic_similarity", "lsm_turn_mean", "rlsm", "coordination", "c6", "c7", "c8")
WHOLES = (
    "lsm",
    "lexical_alignment_whole",
    "a_name_so_long_that_it_does_not_fit_beside_it",
    *(f"w{i}" for i in range(7)),
)
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
    return plot(rows, ax=new_axes(plot.size(rows)))


def turns_at(ax, points):
    """Return on which turns points lie, by the labels 0 and 20 of the left scale."""
    (zero, _), (twenty, _) = place(ax, "0", least=True), place(ax, "20")
    return [20 * (x - zero) / (twenty - zero) for x, _ in points]


def zs_at(ax, points):
    """Return the z of points, by the labels -2 and +2 of the right scale."""
    (low, _), (high, _) = place(ax, f"{MINUS}2"), place(ax, "+2")
    return [4 * (x - low) / (high - low) - 2 for x, _ in points]


def place(ax, text, *, least=False):
    """Return where a text stands, in units of the axes: the only one, or that furthest left."""
    boxes = [box for said, box in written(ax) if said == text]
    assert least or len(boxes) == 1
    left, bottom, right, top = min(boxes, key=lambda box: box[0])
    return ax.transData.inverted().transform([(left + right) / 2, (bottom + top) / 2])


def points(ax, gid):
    """Return the marks of a kind."""
    return [tuple(xy) for line in ax.lines if line.get_gid() == gid for xy in line.get_xydata().tolist()]


def bands(ax):
    return drawn(ax, "null")


def drawn(ax, gid):
    """Return the corners of each part of a shape, a closed one's first once."""
    paths = [patch.get_path() for patch in ax.patches if patch.get_gid() == gid]
    found = [np.split(path.vertices, np.flatnonzero(path.codes == Path.MOVETO)[1:]) for path in paths]
    return [corners for path in found for corners in path if len(corners)]


# One session, by hand


def test_windows_stand_at_their_middle_and_lanes_fill_their_own_range():
    # Windows of turns 0-19, 5-24, 10-29 have their middles at 9.5, 14.5, 19.5. Values .5, .6, .9; the band is
    # .5 +- .196, so that the lane goes from .304 to .9.
    ax = draw(by_hand({("rlsm", "therapist"): [0, 1, 4]}))
    found = points(ax, "points therapist")
    assert turns_at(ax, found) == pytest.approx([9.5, 14.5, 19.5], abs=0.1)
    foot = min(band[:, 1].min() for band in bands(ax))
    heights = [(y - foot) / (found[-1][1] - foot) for _, y in found]
    assert heights == pytest.approx([(value - 0.304) / (0.9 - 0.304) for value in (0.5, 0.6, 0.9)])


def test_only_windows_outside_their_own_band_have_large_marks():
    # 1.96 standard deviations each way: -2 and 4 are outside, 1.9 is not.
    ax = draw(by_hand({("rlsm", "therapist"): [1.9, 4, 0], ("rlsm", "client"): [0, 0, -2]}))
    assert turns_at(ax, points(ax, "outside therapist")) == pytest.approx([14.5], abs=0.1)
    assert turns_at(ax, points(ax, "outside client")) == pytest.approx([19.5], abs=0.1)


def test_windows_of_both_are_drawn_only_where_the_speakers_have_none():
    ax = draw(by_hand({("a", "both"): [0, 1, 0], ("b", "both"): [0, 1, 0], ("b", "client"): [1, 0, 1]}))
    assert len(points(ax, "points both")) == 3
    assert len(points(ax, "points client")) == 3


def test_undefined_windows_part_line_and_band():
    # Five windows, the third undefined: two bands, two lines.
    rows = table(40, pairs=("rlsm",), wholes=()).query("direction == 'client'")
    third = (rows["part"] == "window") & (rows["first_turn"] == 10)
    ax = draw(rows.assign(**{name: rows[name].mask(third) for name in ("value", "null_mean", "null_sd")}))
    assert len(bands(ax)) == 2
    assert [len(corners) for corners in drawn(ax, "windows client")] == [2, 2]


def test_values_and_z_of_the_whole_session_stand_beside():
    # The whole session: z 1, so value .6; z of surrogate pairs 2.
    ax = draw(by_hand({("rlsm", "therapist"): [0, 1, 0]}))
    assert {"therapist", "0.60"} <= set(texts(ax))
    assert zs_at(ax, points(ax, "shuffles therapist")) == pytest.approx([1], abs=0.03)
    assert zs_at(ax, points(ax, "surrogates therapist")) == pytest.approx([2], abs=0.03)


def test_range_of_a_lane_is_written_at_its_left():
    # The band's foot is .5 - .196 and the highest value .9.
    assert {"0.90", "0.30"} <= set(texts(draw(by_hand({("rlsm", "therapist"): [0, 1, 4]}))))


def test_whole_dialogues_are_dots_on_a_scale_of_z():
    for plot in (plots.synchrony, plots.synchrony_all):
        ax = draw(by_hand({}, wholes=[("a", 0.0), ("b", 1.75), ("c", -1.75)]), plot)
        assert zs_at(ax, points(ax, "shuffles both")) == pytest.approx([0, 1.75, -1.75], abs=0.03)
        assert zs_at(ax, points(ax, "surrogates both")) == pytest.approx([1, 2.75, -0.75], abs=0.03)


def test_the_core_is_shown_and_the_rest_on_request():
    rows = table(73)
    shown, every = set(texts(draw(rows))), set(texts(draw(rows, plots.synchrony_all)))
    assert set(CORE.values()) <= shown
    assert not {"c6", "w1", "Share of pairs of words, one of each speaker, that are the same word"} & shown
    assert {"c6", "w1"} <= every
    assert len([one for one in CORE.values() if one in every]) >= 4
    # A table with none of them shows the first six.
    others = set(texts(draw(rows[~rows["measure"].isin(CORE)])))
    assert {"c6", "c7", "c8"} <= others
    assert "w4" not in others


def test_what_is_further_than_the_scale_is_an_arrow_at_its_end():
    ax = draw(by_hand({}, wholes=[("a", 9.0), ("b", -9.0)]))
    arrows = {line.get_marker(): line.get_xydata() for line in ax.lines if line.get_gid() == "shuffles both"}
    assert zs_at(ax, arrows[">"]) == pytest.approx([6], abs=0.1)
    assert zs_at(ax, arrows["<"]) == pytest.approx([-6], abs=0.1)


def test_measures_without_a_null_have_numbers_but_no_dot():
    rows = by_hand({}, wholes=[("a", 1.0), ("b", 1.0)])
    none = rows["measure"] == "a"
    ax = draw(rows.assign(**{name: rows[name].mask(none) for name in ("null_mean", "z", "p")}))
    assert len(points(ax, "shuffles both")) == 1
    assert texts(ax).count("0.60") == 2


def test_sessions_too_short_for_windows_say_so_and_show_values():
    ax = draw(table(12, pairs=("rlsm",), wholes=("lsm",)))
    assert "windows" not in plots.synchrony.caption(table(12, pairs=("rlsm",), wholes=("lsm",)))
    assert len(points(ax, "shuffles therapist")) == len(points(ax, "shuffles client")) == 1
    assert len(points(ax, "shuffles both")) == 2
    assert not points(ax, "points therapist")


def test_measures_without_a_value_are_left_out():
    rows = table(73)
    rows["value"] = rows["value"].mask(rows["measure"].isin(["rlsm", "lsm"]))
    found = texts(draw(rows))
    assert CORE["coordination"] in found
    assert not {CORE["rlsm"], CORE["lsm"]} & set(found)


def test_slopes_are_seen_in_the_windows_and_take_no_row():
    rows = table(73, pairs=("rlsm",), wholes=("lsm",))
    whole = rows[(rows["measure"] == "rlsm") & (rows["part"] == "whole")]
    found = texts(draw(pd.concat([rows, whole.assign(measure="rlsm_slope")])))
    assert CORE["rlsm"] in found
    assert not any("slope" in text for text in found)


def test_nothing_left_is_a_picture_that_says_so():
    rows = table(73).assign(value=np.nan)
    assert "no measure has a value" in draw(rows).texts[0].get_text()
    assert "no row" in draw(rows.head(0)).texts[0].get_text()


def test_what_a_reader_must_know_is_written():
    found = "\n".join([*texts(draw(table(73))), plots.synchrony.caption(table(73))])
    for needed in (
        "session_017",
        "(73 turns)",
        "Synchrony is not a quality score: it grows with the number of words per turn",
        "windows of 20 turns",
        "Therapist's replies",
        "95% of shuffles",
        "1 window in 20 lies outside",
        "Lexical alignment",
        "surrogate pairs",
    ):
        assert needed in found


def test_more_than_one_session_is_an_error_that_quotes_none():
    two = pd.concat([table(12), table(12, session_id="s2")])
    with pytest.raises(BadOptionError, match="one session and the table holds 2"):
        plots.synchrony(two, ax=new_axes())


def test_a_new_figure_is_as_high_as_its_rows_need():
    rows = table(73)
    with plt.rc_context({"backend": "agg"}):
        ax = plots.synchrony(rows)
    size = plots.synchrony.size
    assert tuple(ax.figure.get_size_inches()) == pytest.approx(size(rows))
    assert size(rows)[1] > size(table(73, pairs=("rlsm",), wholes=()))[1]
    plt.close(ax.figure)


# One session, in trouble


def only(*names):
    return lambda t: t[t["measure"].isin(names)]


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.sample(frac=1, random_state=1),
        lambda t: t[t["direction"] == "client"],
        lambda t: t[t["part"] == "window"],
        lambda t: t.assign(z=np.nan, p=np.nan, null_mean=np.nan, null_sd=np.nan),
        lambda t: t.assign(null_sd=0.0, value=0.5, null_mean=0.5),
        lambda t: t.drop(columns=["surrogate_mean", "surrogate_z"]),
        lambda t: t.astype({"measure": "category", "direction": "category", "part": "category", "value": "Float64"}),
        lambda t: t.assign(session_id="$\\no_formula{$ " + "long " * 40),
        lambda t: t.assign(measure=t["measure"].replace("rlsm", "$\\no_formula{$")),
        lambda t: t.assign(value=t["value"] * 1e5, null_mean=t["null_mean"] * 1e5, null_sd=t["null_sd"] * 1e5),
        only("rlsm"),
        only("lsm"),
    ],
)
def test_odd_tables_are_drawn_without_overlaps(change):
    assert_no_overlaps(draw(change(table(73))))


@pytest.mark.parametrize(
    ("n", "size"), [(2, (8, 6)), (10, (16, 9)), (20, None), (73, (11, 5)), (73, (8, 6)), (500, (16, 9)), (500, None)]
)
def test_no_text_lies_on_another_or_leaves_the_figure(n, size):
    rows = table(n, session_id="x" * 80)
    ax = plots.synchrony(rows, ax=new_axes(size or plots.synchrony.size(rows)))
    assert_no_overlaps(ax)


def test_text_has_a_size_that_can_be_read():
    assert min(size for _, size, _ in outlined(draw(table(500)))) >= 7


# Many sessions


def many(n=20):
    wholes = [table(73, session_id=f"s{i}", seed=i).query("part == 'whole'") for i in range(n)]
    return pd.concat(wholes, ignore_index=True)


def two_measures():
    """Five sessions: z of `a` -1, 0, 1, 2, 9, of which two have p below .05; `b` has no shuffles."""
    rows = [row("a", "both", ("whole", 0, 29), z, session_id=f"s{i}") for i, z in enumerate((-1.0, 0, 1, 2, 9))]
    rows += [row("b", "both", ("whole", 0, 29), 1.0, session_id=f"s{i}") for i in range(5)]
    rows += [row("a", "client", ("whole", 0, 29), 1.0, session_id="s0"), row("a", "both", ("window", 0, 19), 1.0)]
    made = pd.DataFrame(rows, columns=COLUMNS)
    made.loc[3:4, "p"] = [0.049, 0.005]
    return made.assign(z=made["z"].mask(made["measure"] == "b"), p=made["p"].mask(made["measure"] == "b"))


def test_a_dot_is_a_session_and_far_ones_are_at_the_end():
    ax = plots.synchrony_overview(two_measures(), ax=new_axes())
    assert sorted(x for x, _ in points(ax, "z shuffles")) == [-1, 0, 1, 2, 4]
    assert len(points(ax, "z surrogates")) == 10


def test_medians_and_shares_are_of_the_sessions_that_have_one():
    ax = plots.synchrony_overview(two_measures(), ax=new_axes())
    (medians,) = [one for one in ax.collections if one.get_gid() == "median shuffles"]
    assert [path.vertices[0, 0] for path in medians.get_paths()] == [1]
    assert "2/5" in texts(ax)
    assert texts(ax).count("0/5") == 2


def test_wilson_has_ends_within_a_share():
    assert wilson(0, 20)[0] == 0
    assert wilson(20, 20)[1] == 1
    assert wilson(0, 20)[1] == pytest.approx(0.161, abs=5e-4)  # as in tables of the interval


@pytest.mark.parametrize("name", ["synchrony", "synchrony_overview"])
def test_the_table_of_the_package_has_what_the_plots_need(name):
    assert set(plots.PLOTS[name].needs) <= {column.name for column in PART_COLUMNS}


def test_an_overview_without_z_says_so():
    ax = plots.synchrony_overview(two_measures().assign(z=np.nan, surrogate_z=np.nan), ax=new_axes())
    assert "no synchrony: no measure" in ax.texts[0].get_text()


@pytest.mark.parametrize("size", [(11, 5), (8, 6), (16, 9)])
def test_no_text_of_the_overview_lies_on_another(size):
    for rows in (many(), two_measures()):
        assert_no_overlaps(plots.synchrony_overview(rows, ax=new_axes(size)))
