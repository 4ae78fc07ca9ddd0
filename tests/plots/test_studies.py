"""What the figures of agreement, comparison and outcomes show."""

import numpy as np
import pandas as pd
import pytest
from boards import assert_no_overlaps, boxes, figure_of, panels, points, segments, texts
from figure_tables import tables_for
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_rgb

from therapy_analytics import plots
from therapy_analytics.core.errors import BadOptionError

# Agreement


def confusion(codes=("mi_question",), counts=((90, 10), (5, 45))):
    cells = [(str(i), str(j), n) for i, row in enumerate(counts) for j, n in enumerate(row)]
    return pd.DataFrame([(code, *cell) for code in codes for cell in cells], columns=["code", "human", "machine", "n"])


def calibration(codes=("mi_question",)):
    rows = [(code, p, p**2, p**2 - 0.01, p**2 + 0.02) for code in codes for p in (0.1, 0.5, 0.9)]
    return pd.DataFrame(rows, columns=["code", "p_mean", "observed", "observed_lo", "observed_hi"])


def rates(codes=("mi_question",), n=9):
    human = np.linspace(0.1, 0.5, n)
    machine = human + np.tile([0.1, -0.1, 0.0], n)[:n]
    return pd.concat([pd.DataFrame({"code": code, "human": human, "machine": machine}) for code in codes])


def test_thousands_of_codes_are_cut_to_a_sheet_that_can_be_read():
    said = texts(figure_of(plots.calibration_curve, calibration([f"c{one}" for one in range(61)]).head(183)))
    assert "c59" in said
    assert "c60" not in said


def shades(figure):
    """Return the grey of each cell of the first matrix."""
    (mesh,) = [one for one in panels(figure)[0].collections if isinstance(one, QuadMesh)]
    return [colour[0] for colour in mesh.get_facecolor()]


def test_cells_hold_counts_and_the_share_of_their_row():
    figure = figure_of(plots.confusion_matrix, confusion())
    assert {"90 90%", "10 10%", "5 10%", "45 90%", "no", "yes", "mi question"} <= set(texts(figure))
    assert shades(figure) == pytest.approx([0.28, 0.92, 0.92, 0.28], abs=0.01)
    # A row without turns has no share.
    figure = figure_of(plots.confusion_matrix, confusion(counts=((5, 0), (0, 0))))
    assert {"5 100%", "0 0%", "0"} <= set(texts(figure))


def test_writing_stands_out_from_its_cell():
    for n in range(0, 101, 10):
        figure = figure_of(plots.confusion_matrix, confusion(counts=((100 - n, n), (0, 1))))
        (written,) = [one for one in panels(figure)[0].texts if one.get_text() == f"{n}\n{n / 100:.0%}"][:1]
        light = [_light(shades(figure)[1]), _light(to_rgb(written.get_color())[0])]
        assert (max(light) + 0.05) / (min(light) + 0.05) > 4


def _light(value):
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def test_points_of_a_calibration_curve_stand_where_the_table_says():
    figure = figure_of(plots.calibration_curve, calibration())
    assert points(figure, "observed").tolist() == pytest.approx(np.array([[0.1, 0.01], [0.5, 0.25], [0.9, 0.81]]))
    assert segments(figure, "interval")[1, :, 1] == pytest.approx([0.24, 0.27])
    without = figure_of(plots.calibration_curve, calibration().drop(columns=["observed_lo", "observed_hi"]))
    assert len(points(without, "observed")) == 3


def test_limits_lie_196_standard_deviations_around_the_mean():
    # Differences .1, -.1, 0 three times: mean 0, standard deviation sqrt(.06 / 8); the axis reaches from -.2 to .2.
    figure, reach = figure_of(plots.limits_of_agreement, rates()), 1.96 * np.sqrt(0.06 / 8)
    assert points(figure, "limits")[::2, 1] == pytest.approx([0, -reach, reach])
    assert panels(figure)[0].get_ylim() == pytest.approx((-0.2, 0.2))
    assert len(points(figure, "sessions")) == 9
    # Of few sessions there are points and no limits.
    assert not len(points(figure_of(plots.limits_of_agreement, rates(n=3)), "limits"))


# Comparison


def test_a_comparison_has_a_panel_a_measure_with_groups_intervals_and_bands():
    table = tables_for(plots.comparison)["2 groups"]
    figure = figure_of(plots.comparison, table)
    own = table[(table["kind"] == "group") & (table["measure"] == "therapist_question_rate")]
    first, second = panels(figure)
    (dots,) = [line for line in first.lines if line.get_label() == "mean"]
    assert dots.get_xdata().tolist() == own["mean"].tolist()
    (line,) = [one for one in first.collections if one.get_label() == "interval"]
    assert [part[:, 0].tolist() for part in line.get_segments()] == own[["mean_lo", "mean_hi"]].to_numpy().tolist()
    (band,) = [one for one in first.patches if one.get_label() == "human_high"]
    assert (band.get_x(), band.get_x() + band.get_width()) == pytest.approx((0.1, 0.4))
    assert {"Therapist question rate (%)", "Client change rate (%)", "Ash_0", "Ash_1"} <= set(texts(figure))
    assert {"People, high quality", "People, low quality"} <= set(texts(figure))
    assert second.yaxis_inverted()


def test_long_names_of_groups_keep_their_ends():
    table = tables_for(plots.comparison)["12 groups"]
    names = [label.get_text() for label in panels(figure_of(plots.comparison, table, 85))[0].get_yticklabels()]
    assert len(set(names)) == 12
    assert all("…" in name for name in names)
    assert "others are left out" in plots.comparison.caption(table)


# Outcomes


def course(n=6, *, who="p03", scales=("PHQ-9",), measures=("Reflects", "Asks", "Change talk"), danger=(4,)):
    """Return the lines of one client: scores from 16 on, a band of six points round the first, and a cutoff of 10."""
    x = np.arange(1, n + 1, dtype=float)
    about = {"who": who, "client": who, "number": x}
    parts = [
        pd.DataFrame({**about, "kind": "scale", "name": name, "label": name, "unit": "lower is better",
                      "value": 15 + x, "lo": 10.0, "hi": 22.0})
        for name in scales
    ]  # fmt: skip
    parts += [one.head(1).assign(kind="cutoff", value=10.0, lo=np.nan, hi=np.nan) for one in parts]
    parts += [
        pd.DataFrame({**about, "kind": "measure", "name": name, "label": name, "unit": "proportion",
                      "value": 0.1 * (x % 5), "lo": 0.1 * (x % 5) - 0.05, "hi": 0.1 * (x % 5) + 0.1})
        for name in measures
    ]  # fmt: skip
    marked = pd.DataFrame({**about, "kind": "danger", "name": "n_danger_turns", "label": "", "unit": "count",
                           "value": 1.0, "lo": np.nan, "hi": np.nan})  # fmt: skip
    return pd.concat([*parts, marked[marked["number"].isin(danger)]], ignore_index=True)


def test_scores_stand_above_measures_with_band_cutoff_and_intervals():
    figure = figure_of(plots.client_course, course())
    first, *_ = found = panels(figure)
    assert len(found) == 4
    (band,) = [one for one in first.patches if one.get_label() == "no reliable change"]
    assert (band.get_y(), band.get_y() + band.get_height()) == (10, 22)
    assert points(figure, "cutoff")[:, 1].tolist() == [10, 10]
    assert points(figure, "sessions")[:6].tolist() == [[x, 15 + x] for x in range(1, 7)]
    assert segments(figure, "interval")[0, :, 1] == pytest.approx([0.05, 0.2])
    assert {"PHQ-9 (lower is better)", "Reflects", "Session"} <= set(texts(figure))


def test_sessions_with_danger_have_a_line_through_all_and_a_triangle_above():
    figure = figure_of(plots.client_course, course(danger=(2, 4)))
    for axes in panels(figure):
        lines = [one for one in axes.lines if one.get_label() == "danger" and one.get_marker() == "None"]
        assert [line.get_xdata()[0] for line in lines] == [2, 4]
    triangles = [one for axes in panels(figure) for one in axes.lines if one.get_marker() == "v"]
    assert [one.get_xdata().tolist() for one in triangles] == [[2, 4]]
    assert not len(points(figure_of(plots.client_course, course(danger=())), "danger"))


def test_what_signs_mean_is_written():
    told = plots.client_course.caption(course())
    for words in ("Course of p03: 6 sessions", "no reliable change", "cutoff", "95% interval", "Triangle"):
        assert words in told
    assert "Triangle" not in plots.client_course.caption(course(danger=()))


def test_a_counselors_lines_are_apart_and_have_the_clients_names():
    later = course(3, danger=()).assign(client="p02", number=lambda t: t["number"] + 3)
    two = pd.concat([course(3, danger=()).assign(client="p01"), later]).assign(who="Ash")
    figure = figure_of(plots.client_course, two.assign(lo=two["lo"].where(two["kind"] == "measure")))
    first, second, *_ = panels(figure)
    assert {"p01", "p02"} <= set(texts(figure))
    assert [len(one.get_xdata()) for one in first.lines if one.get_label() == "course"] == [3, 3]
    assert not [one for one in second.lines if one.get_label() == "course"]
    assert "Course of Ash: 6 sessions, 2 clients" in plots.client_course.caption(two)


def test_several_people_are_refused_and_names_are_drawn_as_they_are():
    with pytest.raises(BadOptionError, match="shows one person and the table holds 2"):
        figure_of(plots.client_course, pd.concat([course(), course(who="p04")]))
    figure = figure_of(plots.client_course, course(scales=("$x_1$", "ORS", "SRS")))
    assert_no_overlaps(figure)
    assert "$x_1$ (lower is better)" in texts(figure)


def test_sessions_without_a_number_give_a_picture_that_says_so():
    said = texts(figure_of(plots.client_course, course().assign(number=np.nan)))
    assert "no session has a number" in " ".join(said)
    assert not len(boxes(figure_of(plots.client_course, course()), "none of this name"))
