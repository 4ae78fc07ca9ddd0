"""What the heat map of answers shows."""

import numpy as np
import pandas as pd
import pytest
from boards import SIZES, assert_no_overlaps, drawn, new_axes, place, texts

from therapy_analytics import plots
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.measures.response_rows import codes_of

CLIENT, THERAPIST = codes_of("client"), codes_of("therapist")
COLUMNS = ["client_code", "therapist_code", "n_client", "n_both", "n_client_other", "n_both_other"]


def rows(*cells, ends=(-0.5, 0.5), session_id="s1"):
    """Make rows of one session; `ends` are those of the interval of each difference."""
    table = pd.DataFrame(cells, columns=COLUMNS).assign(difference_lo=ends[0], difference_hi=ends[1])
    return table.assign(session_id=session_id)


def many(n, session_id="session_017"):
    """Make the rows of a session with n client turns that are answered, with all codes."""
    rng = np.random.default_rng(n)
    of = {code: int(rng.integers(0, n + 1)) for code in CLIENT}
    cells = [
        (client, therapist, of[client], int(rng.integers(0, of[client] + 1)), n - of[client], 0)
        for client in CLIENT
        for therapist in THERAPIST
    ]
    table = rows(*cells, session_id=session_id)
    table.loc[::7, "difference_lo"] = 0.1
    table.loc[::5, "difference_hi"] = -0.1
    return table


def shades(ax):
    """Return the grey of each cell, nan where it is not shaded, for each grid from the top down."""
    meshes = [mesh for mesh in ax.collections if mesh.get_gid() == "cells"]
    return [np.where(mesh.get_facecolor()[:, 3] > 0, mesh.get_facecolor()[:, 0], np.nan) for mesh in meshes]


def test_cells_hold_counts_and_are_the_darker_the_more():
    ax = plots.responses(
        rows(("mi_sustain", "mi_question", 10, 5, 10, 3), ("mi_sustain", "mi_input", 10, 10, 10, 0)), ax=new_axes()
    )
    assert {"5/10", "10/10", "8/20", "10/20", "Any client turn", "Sustain talk", "Question", "Therapist input"} <= set(
        texts(ax)
    )
    every, own = shades(ax)
    low = 0.043
    assert own == pytest.approx([1 - 0.5 * (1 - low), low])
    assert every == pytest.approx([1 - 0.4 * (1 - low), 1 - 0.5 * (1 - low)])
    assert place(ax, "5/10")[0] < place(ax, "10/10")[0]
    assert {"10", "20"} <= set(texts(ax))


def test_few_turns_are_hatched_and_neither_shaded_nor_marked():
    ax = plots.responses(rows(("mi_sustain", "mi_question", 4, 4, 20, 1), ends=(0.1, 0.9)), ax=new_axes())
    assert np.isnan(shades(ax)[1]).all()
    assert len(drawn(ax, "hatched", 2)) == 3
    assert "4/4" in texts(ax)
    assert not len(drawn(ax, "marks ^", 1))
    assert any("fewer than 5 client turns" in text for text in texts(ax))


@pytest.mark.parametrize(("ends", "up", "down"), [((0.1, 0.9), 1, 0), ((-0.9, -0.1), 0, 1), ((-0.5, 0.5), 0, 0)])
def test_a_triangle_marks_an_interval_beyond_none(ends, up, down):
    table = rows(("mi_sustain", "mi_question", 20, 10, 20, 1), ends=ends)
    ax = plots.responses(table, ax=new_axes())
    assert len(drawn(ax, "marks ^", 1)) == up
    assert len(drawn(ax, "marks v", 1)) == down
    assert ("by chance alone" in plots.responses.caption(table)) == bool(up or down)


def test_sessions_are_added_up_and_two_are_too_few_for_marks():
    one = rows(("mi_sustain", "mi_question", 10, 5, 10, 3), ends=(0.1, 0.9))
    two = rows(("mi_sustain", "mi_question", 20, 9, 1, 1), ends=(0.1, 0.9), session_id="s2")
    ax = plots.responses(pd.concat([one, two]), ax=new_axes())
    assert {"14/30", "18/41"} <= set(texts(ax))
    assert not len(drawn(ax, "marks ^", 1))
    assert "2 sessions, pooled" in plots.responses.caption(pd.concat([one, two]))


def test_the_table_of_a_run_keeps_its_marks():
    table = rows(("mi_sustain", "mi_question", 20, 10, 20, 1), ends=(0.1, 0.9)).drop(columns="session_id")
    ax = plots.responses(table.assign(n_sessions=7), ax=new_axes())
    assert "7 sessions, pooled" in plots.responses.caption(table.assign(n_sessions=7))
    assert len(drawn(ax, "marks ^", 1)) == 1


def test_codes_that_are_not_given_are_left_out_and_those_that_do_not_occur_stay():
    table = rows(("mi_sustain", "mi_question", 0, 0, 20, 1), ("process_risk_own", "mi_question", 0, 0, 0, 0))
    found = texts(plots.responses(table, ax=new_axes()))
    assert "Sustain talk" in found
    assert "0/0" in found
    assert "Own danger" not in found


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("n", [2, 250, 25_000])
def test_no_text_lies_on_another_or_leaves_the_figure(n, size):
    assert_no_overlaps(plots.responses(many(n, "x" * 200), ax=new_axes(size)))


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.head(1),
        lambda t: t[t["therapist_code"] == "process_advice"],
        lambda t: t.astype({"client_code": "category", "therapist_code": "category", "n_both": "Int64"}),
    ],
)
def test_odd_tables_are_drawn_without_overlaps(change):
    assert_no_overlaps(plots.responses(change(many(40)), ax=new_axes()))


def test_other_codes_of_the_table_are_not_drawn():
    table = rows(("mi_sustain", "mi_question", 9, 3, 9, 1), ("bolt_changing", "mi_question", 7, 2, 11, 2))
    found = texts(plots.responses(table.assign(session_id="s1"), ax=new_axes()))
    assert "3/9" in found
    assert "2/7" not in found


def test_no_rows_are_said_to_be_none():
    nothing = dict.fromkeys(COLUMNS[2:], 0)
    for table in (many(10).head(0), many(10).assign(**nothing)):
        assert any("no answers" in text for text in texts(plots.responses(table, ax=new_axes())))


def test_another_table_is_an_error_that_names_the_columns():
    with pytest.raises(BadOptionError, match="n_client"):
        plots.responses(pd.DataFrame({"session_id": ["s1"]}), ax=new_axes())
