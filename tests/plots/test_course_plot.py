"""What the course of a client shows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from boards import assert_no_overlaps, new_axes, texts
from matplotlib.patches import Rectangle

from therapy_analytics import plots
from therapy_analytics.core.errors import BadOptionError


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


def draw(table):
    return plots.client_course(table, ax=new_axes(plots.client_course.size(table)))


def panels(ax):
    return ax.child_axes


def test_scores_stand_above_measures_with_band_cutoff_and_intervals():
    first, second, *_ = found = panels(draw(course()))
    assert len(found) == 4
    (band,) = [one for one in first.patches if isinstance(one, Rectangle)]
    assert (band.get_y(), band.get_y() + band.get_height()) == (10, 22)
    assert [line for line in first.lines if list(line.get_ydata()) == [10, 10]]
    dots = next(line for line in first.lines if line.get_marker() == "o")
    assert dots.get_xydata().tolist() == [[x, 15 + x] for x in range(1, 7)]
    (bars,) = second.collections
    assert bars.get_segments()[0][:, 1].tolist() == pytest.approx([0.05, 0.2])


def test_sessions_with_danger_have_a_line_through_all_and_a_triangle_above():
    found = panels(draw(course(danger=(2, 4))))
    for panel in found:
        assert sorted(line.get_xdata()[0] for line in panel.lines if list(line.get_ydata()) == [0, 1]) == [2, 4]
    triangles = [line for panel in found for line in panel.lines if line.get_marker() == "v"]
    assert [line.get_xdata().tolist() for line in triangles] == [[2, 4]]
    assert not [line for panel in panels(draw(course(danger=()))) for line in panel.lines if line.get_marker() == "v"]


def test_what_signs_mean_is_written():
    told = " ".join([*texts(draw(course())), plots.client_course.caption(course())])
    for words in ("Course of p03: 6 sessions", "no reliable change", "cutoff", "95% interval", "Triangle", "is better"):
        assert words in told
    assert "Triangle" not in plots.client_course.caption(course(danger=()))


def test_a_counselors_lines_are_apart_and_have_the_clients_names():
    two = pd.concat([course(3, danger=()).assign(client="p01"), _later(course(3, danger=()))])
    ax = draw(two.assign(who="Ash", lo=two["lo"].where(two["kind"] == "measure")))
    first, second, *_ = panels(ax)
    assert {"p01", "p02"} <= {text.get_text() for text in first.texts}
    assert [len(line.get_xdata()) for line in _joined(first)] == [3, 3]
    assert not _joined(second)
    assert "Course of Ash: 6 sessions, 2 clients" in plots.client_course.caption(two.assign(who="Ash"))


def _joined(panel):
    return [line for line in panel.lines if line.get_linestyle() == "-" and line.get_marker() == "None"]


def _later(table):
    return table.assign(client="p02", number=table["number"] + 3)


def test_several_people_are_refused():
    with pytest.raises(BadOptionError, match="shows one person and the table holds 2"):
        draw(pd.concat([course(), course(who="p04")]))


def test_names_of_files_and_markup_are_drawn_as_they_are():
    ax = draw(course(who="$\\odd{$ client with a very long name " * 4, scales=("$x_1$",)))
    assert any("$x_1$" in text for text in texts(ax))


@pytest.mark.parametrize("table", [course(), course(1), course(40), course(scales=("PHQ-9", "ORS", "SRS")),
                                   course(measures=("Reflects after a negative feeling that is shown",))])  # fmt: skip
def test_no_text_lies_on_another_or_leaves_the_figure(table):
    assert_no_overlaps(draw(table))


def test_sessions_without_a_number_give_a_picture_that_says_so():
    assert "no session has a number" in " ".join(texts(draw(course().assign(number=np.nan))))
