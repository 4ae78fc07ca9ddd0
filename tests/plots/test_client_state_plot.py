"""What the client's state along a session shows."""

import numpy as np
import pandas as pd
import pytest
from boards import SIZES, assert_no_overlaps, drawn, new_axes, texts

from therapy_analytics import plots
from therapy_analytics.errors import BadOptionError
from therapy_analytics.plots._save import save


def turns(change, sustain, balance=None, points=None, session_id="s1"):
    """Make a session in which therapist and client take turns, with these estimates for the client's."""
    n = len(change)
    client = pd.DataFrame(
        {
            "session_id": session_id,
            "turn": 2 * np.arange(n) + 1,
            "role": "client",
            "n_words": 10,
            "state_change": change,
            "state_sustain": sustain,
            "state_balance": np.subtract(change, sustain) if balance is None else balance,
            "turning_point_turn": np.zeros(n) if points is None else points,
        }
    )
    therapist = client[["session_id", "turn", "n_words"]].assign(turn=client["turn"] - 1, role="therapist")
    return pd.concat([therapist, client]).sort_values("turn", ignore_index=True)


def many(n, session_id="session_017"):
    rng = np.random.default_rng(n)
    change, sustain, _ = rng.dirichlet([1, 1, 2], max(n // 2, 1)).T
    return turns(change, sustain, points=rng.choice([-1, 0, 0, 0, 1], len(change)), session_id=session_id)


def test_bars_stand_where_the_clients_turns_are_and_are_as_high_as_sure():
    ax = plots.client_state(turns([0.5, 0.25], [0.25, 0.0]), ax=new_axes())
    up, down = (drawn(ax, f"bars {kind}", 5) for kind in ("change", "sustain"))
    # Ten words a turn: the client's run from 10 to 20 and from 30 to 40. Four rows are a probability of 1.
    assert [(box[0, 0], box[2, 0]) for box in up] == [(10, 20), (30, 40)]
    assert [box[1, 1] for box in up] == pytest.approx([2, 1])
    assert [box[1, 1] for box in down] == pytest.approx([-1, 0])
    assert {"mean 0.38", "mean 0.12", "2 turns", "Words spoken so far"} <= set(texts(ax))


def test_the_line_is_the_balance_in_the_middle_of_the_turns():
    ax = plots.client_state(turns([0.5, 0.25], [0.25, 0.0], balance=[-0.5, 1.0]), ax=new_axes())
    assert drawn(ax, "balance", 1)[:, 0].tolist() == [[15, -2], [35, 4]]


def test_turning_points_are_marked_and_counted():
    ax = plots.client_state(turns([0.5] * 4, [0.2] * 4, points=[0, 1, 0, -1]), ax=new_axes())
    assert drawn(ax, "turning to change", 1)[:, 0, 0].tolist() == [35]
    assert drawn(ax, "turning to sustain", 1)[:, 0, 0].tolist() == [75]
    assert "1 up, 1 down" in texts(ax)


def test_it_is_said_to_be_an_estimate():
    assert "All are a model's estimates, not facts." in plots.client_state.caption(many(50))


def test_turns_that_were_not_coded_are_passed_over():
    table = turns([0.5, np.nan, 0.25], [0.25, np.nan, 0.0])
    ax = plots.client_state(table, ax=new_axes())
    assert len(drawn(ax, "bars change", 5)) == 2
    assert "2 turns" in texts(ax)


def test_times_give_minutes_and_rows_may_come_in_any_order():
    table = turns([0.5, 0.25], [0.25, 0.0]).assign(start_s=[0, 60, 120, 180], end_s=[60, 120, 180, 240])
    ax = plots.client_state(table.iloc[::-1], ax=new_axes())
    assert drawn(ax, "balance", 1)[:, 0, 0].tolist() == [1.5, 3.5]
    assert "Minutes" in texts(ax)


def test_more_than_one_session_is_an_error_that_quotes_none():
    two = pd.concat([many(10), many(10, "another")])
    with pytest.raises(BadOptionError, match="one session and the table holds 2") as caught:
        plots.client_state(two, ax=new_axes())
    assert "another" not in str(caught.value)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("n", [2, 5, 60, 500])
def test_no_text_lies_on_another_or_leaves_the_figure(n, size):
    assert_no_overlaps(plots.client_state(many(n, "x" * 200), ax=new_axes(size)))


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t[t["role"] == "client"],
        lambda t: t.assign(n_words=0),
        lambda t: t.astype({"role": "category", "turning_point_turn": "Float64"}),
        lambda t: t.assign(session_id="$\\no_formula{$"),
    ],
)
def test_odd_sessions_are_drawn_without_overlaps(change):
    assert_no_overlaps(plots.client_state(change(many(40)), ax=new_axes()))


def test_no_rows_and_no_codes_are_said_to_be_none():
    for table in (many(10).head(0), many(10).assign(state_change=np.nan)):
        assert any(text.startswith("no ") for text in texts(plots.client_state(table, ax=new_axes())))


def test_another_table_is_an_error_that_names_the_columns():
    with pytest.raises(BadOptionError, match="state_change"):
        plots.client_state(pd.DataFrame({"session_id": ["s1"]}), ax=new_axes())


def test_the_same_bytes_twice_and_the_table_unchanged(tmp_path):
    table = many(40)
    before = table.copy(deep=True)
    one = save(plots.client_state, table, tmp_path / "a.png").read_bytes()
    assert one == save(plots.client_state, table, tmp_path / "b.png").read_bytes()
    pd.testing.assert_frame_equal(table, before)
