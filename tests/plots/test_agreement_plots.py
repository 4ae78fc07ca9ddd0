"""What the figures of agreement show."""

import numpy as np
import pandas as pd
import pytest
from boards import SIZE, assert_no_overlaps
from boards import new_axes as axes_of
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from therapy_analytics import plots
from therapy_analytics.plots._blocks import MOST, PictureGrid


def new_axes(n=1):
    return axes_of((SIZE[0], PictureGrid().height(n, 72 * SIZE[0]) / 72))


def confusion(codes=("mi_question",), counts=((90, 10), (5, 45))):
    cells = [(str(i), str(j), n) for i, row in enumerate(counts) for j, n in enumerate(row)]
    return pd.DataFrame([(code, *cell) for code in codes for cell in cells], columns=["code", "human", "machine", "n"])


def calibration(codes=("mi_question",)):
    rows = [(code, p, p**2, p**2 - 0.01, p**2 + 0.02) for code in codes for p in (0.1, 0.5, 0.9)]
    return pd.DataFrame(rows, columns=["code", "p_mean", "observed", "observed_lo", "observed_hi"])


def rates(codes=("mi_question",), n=9):
    human = np.linspace(0.1, 0.5, n)
    machine = human + np.tile([0.1, -0.1, 0.0], n)[:n]
    frames = [pd.DataFrame({"code": code, "human": human, "machine": machine}) for code in codes]
    return pd.concat(frames)


TABLES = {"confusion_matrix": confusion, "calibration_curve": calibration, "limits_of_agreement": rates}


def said(ax):
    return [text.get_text() for text in ax.figure.findobj(Text) if text.get_text()]


@pytest.mark.parametrize("name", list(TABLES))
def test_each_code_has_a_picture_with_its_name_inside_the_figure(name):
    codes = [f"book_code_{one}" for one in range(13)]
    ax = plots.PLOTS[name](TABLES[name](codes), ax=new_axes(13))
    assert {code.replace("_", " ") for code in codes} <= set(said(ax))
    assert_no_overlaps(ax)


@pytest.mark.parametrize("name", list(TABLES))
def test_thousands_of_codes_are_cut_to_a_sheet_that_can_be_read(name):
    ax = plots.PLOTS[name](TABLES[name]([f"c{one}" for one in range(MOST + 40)]), ax=new_axes(MOST))
    assert f"c{MOST - 1}" in said(ax)
    assert f"c{MOST}" not in said(ax)


def test_cells_hold_counts_and_the_share_of_their_row():
    ax = plots.confusion_matrix(confusion(), ax=new_axes())
    assert {"90\n90%", "10\n10%", "5\n10%", "45\n90%"} <= set(said(ax))
    greys = [to_rgb(patch.get_facecolor())[0] for patch in ax.patches if isinstance(patch, Rectangle)]
    assert greys == pytest.approx([0.28, 0.92, 0.92, 0.28])


def test_a_row_without_turns_has_no_share():
    ax = plots.confusion_matrix(confusion(counts=((5, 0), (0, 0))), ax=new_axes())
    assert {"5\n100%", "0\n0%", "0"} <= set(said(ax))


def test_writing_stands_out_from_its_cell():
    for share in np.linspace(0, 1, 21):
        n = round(100 * share)
        ax = plots.confusion_matrix(confusion(counts=((100 - n, n), (0, 1))), ax=new_axes())
        cell = [patch for patch in ax.patches if isinstance(patch, Rectangle)][1]
        written = next(text for text in ax.texts if text.get_text() == f"{n}\n{n / 100:.0%}")
        light = [_light(to_rgb(one)) for one in (cell.get_facecolor(), written.get_color())]
        assert (max(light) + 0.05) / (min(light) + 0.05) > 4


def _light(rgb):
    value = rgb[0]
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def test_points_of_a_calibration_curve_stand_where_the_table_says():
    ax = plots.calibration_curve(calibration(), ax=new_axes())
    (curve,) = [line for line in ax.lines if line.get_marker() == "o"]
    corner = next(line.get_xydata() for line in ax.lines if line.get_color() == "0.5").min(axis=0)
    assert (curve.get_xydata() - corner).tolist() == pytest.approx(np.array([[0.1, 0.01], [0.5, 0.25], [0.9, 0.81]]))
    assert len(ax.collections[0].get_paths()) == 3
    assert plots.calibration_curve(calibration().drop(columns=["observed_lo", "observed_hi"]), ax=new_axes())


def test_limits_lie_196_standard_deviations_around_the_mean():
    ax = plots.limits_of_agreement(rates(), ax=new_axes())
    # Differences .1, -.1, 0 three times: mean 0, standard deviation sqrt(.06 / 8); the axis reaches from -.2 to .2.
    frame = next(line.get_ydata() for line in ax.lines if line.get_color() == "0.5")
    heights = [line.get_ydata()[0] - min(frame) for line in ax.lines if line.get_color() == "k"]
    reach = 1.96 * np.sqrt(0.06 / 8)
    assert heights == pytest.approx([0.5, 0.5 - reach / 0.4, 0.5 + reach / 0.4])


def test_few_sessions_have_points_and_no_limits():
    ax = plots.limits_of_agreement(rates(n=3), ax=new_axes())
    assert not [line for line in ax.lines if line.get_color() == "k"]
