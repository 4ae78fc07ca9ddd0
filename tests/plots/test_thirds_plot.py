"""What behaviours by thirds of the session show."""

import numpy as np
import pandas as pd
import pytest
from boards import SIZES, assert_no_overlaps, codes, drawn, new_axes, place, texts

from therapy_analytics import plots
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.measures.intervals import wilson

THIRDS = ("third_1", "third_2", "third_3")


def rows(counts, session_id="s1"):
    """Make rows of a profile from {code: ((n, n_turns), ... of the three thirds)}."""
    made = [
        (session_id, code, part, of, n)
        for code, cells in counts.items()
        for part, (n, of) in zip(("whole", *THIRDS), ((0, 1), *cells), strict=True)
    ]
    return pd.DataFrame(made, columns=["session_id", "code", "part", "n_turns", "n"])


def many(n, k=None, session_id="session_017"):
    """Make the profile of a session of n turns, with k codes that occur."""
    rng = np.random.default_rng(n)
    of = max(n // 6, 1)
    names = codes()[:k]
    return rows({code: [(int(x), of) for x in rng.integers(of > 3, of + 1, 3)] for code in names}, session_id)


def test_points_are_the_rates_of_the_thirds_with_their_intervals():
    ax = plots.thirds(rows({"mi_question": ((0, 5), (2, 8), (4, 4))}), ax=new_axes())
    zero, all_of = place(ax, "0%")[1], place(ax, "100%")[1]
    points = drawn(ax, "rate therapist", 1)[:, 0]
    assert (points[:, 1] - zero) / (all_of - zero) == pytest.approx([0, 0.25, 1], abs=0.01)
    assert (np.diff(points[:, 0]) > 0).all()
    ends = drawn(ax, "interval therapist", 2)[1, :, 1]
    assert (ends - zero) / (all_of - zero) == pytest.approx(wilson(2, 8), abs=0.01)
    assert {"0/5", "2/8", "4/4", "Question"} <= set(texts(ax))
    assert len(drawn(ax, "slope therapist", 2)) == 2


def test_a_third_without_turns_has_no_point_and_no_slope():
    ax = plots.thirds(rows({"mi_change": ((1, 5), (0, 0), (4, 4))}), ax=new_axes())
    assert len(drawn(ax, "rate client", 1)) == 2
    assert not len(drawn(ax, "slope client", 2))


def test_roles_stand_apart_and_what_never_occurs_is_left_out():
    table = rows({"mi_change": ((1, 5),) * 3, "mi_input": ((1, 5),) * 3, "mi_sustain": ((0, 5),) * 3})
    ax = plots.thirds(table, ax=new_axes())
    assert place(ax, "Therapist input")[1] > place(ax, "Client codes")[1] > place(ax, "Change talk")[1]
    assert "Sustain talk" not in texts(ax)
    assert "1 more codes never occur." in plots.thirds.caption(table)


def test_several_sessions_are_pooled():
    two = pd.concat([rows({"mi_change": ((1, 5),) * 3}, "a"), rows({"mi_change": ((2, 6),) * 3}, "b")])
    ax = plots.thirds(two, ax=new_axes())
    assert texts(ax).count("3/11") == 3
    assert "2 sessions, pooled" in plots.thirds.caption(two)
    assert "intervals over sessions" in plots.thirds.caption(two)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("k", [1, 8, 26])
@pytest.mark.parametrize("n", [5, 500])
def test_no_text_lies_on_another_or_leaves_the_figure(n, k, size):
    table = many(n, k, "x" * 200)
    table.loc[table["code"] == table["code"].iloc[0], "n"] = 1
    assert_no_overlaps(plots.thirds(table, ax=new_axes(size)))


@pytest.mark.parametrize(
    "change",
    [
        lambda t: pd.concat([t.assign(session_id=f"s{i}") for i in range(200)]),
        lambda t: t.astype({"code": "category", "part": "category", "n": "Int64"}),
        lambda t: t.assign(code="own_code_of_a_very_long_name_" + t["code"]),
    ],
)
def test_odd_tables_are_drawn_without_overlaps(change):
    assert_no_overlaps(plots.thirds(change(many(90)), ax=new_axes()))


def test_no_rows_are_said_to_be_none():
    for table in (many(10).head(0), many(10).assign(n=0), many(10).assign(part="whole")):
        assert any("no behaviour" in text for text in texts(plots.thirds(table, ax=new_axes())))


def test_another_table_is_an_error_that_names_the_columns():
    with pytest.raises(BadOptionError, match="n_turns"):
        plots.thirds(pd.DataFrame({"session_id": ["s1"]}), ax=new_axes())
