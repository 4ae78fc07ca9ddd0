"""What the figure of a session shows, by hand."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from boards import assert_no_overlaps, boxes, figure_of, panels, points, segments, texts
from figure_tables import made

from therapy_analytics import plots

MINUS = "\N{MINUS SIGN}"


def three_turns():
    return pd.DataFrame(
        {
            "session_id": "s1",
            "turn": [0, 1, 2],
            "role": ["therapist", "client", "therapist"],
            "start_s": [0.0, 60.0, 120.0],
            "end_s": [48.0, 120.0, 180.0],
            "n_words": [10, 30, 20],
            "mi_question": [1, None, 1],
            "mi_reflection": [0, None, 1],
            "bolt_planning": [0, None, 0],
            "bolt_problem_solving": [1, None, 0],
            "mi_change": [None, 1, None],
            "bolt_positive_feeling": [None, 0, None],
            "bolt_negative_feeling": [None, 1, None],
            "lsm_turn": [None, 0.5, 0.75],
        }
    )


def draw(turns, parts=None):
    return figure_of(plots.session, turns if parts is None else SimpleNamespace(wide_turns=turns, parts=parts))


def bars(figure, role):
    return [(left, right) for left, _, right, _ in boxes(figure, f"turns of {role}").tolist()]


def marks(figure, codes):
    return [x for x, _ in segments(figure, codes)[:, 0].tolist()]


def test_bars_span_the_turns_in_minutes():
    figure = draw(three_turns())
    assert bars(figure, "therapist") == [(0, 0.8), (2, 3)]
    assert bars(figure, "client") == [(1, 2)]
    assert "Minutes" in texts(figure)


def test_bars_span_the_words_where_there_are_no_times():
    figure = draw(three_turns().drop(columns=["start_s", "end_s"]))
    assert bars(figure, "therapist") == [(0, 10), (40, 60)]
    assert bars(figure, "client") == [(10, 40)]
    assert "Words spoken so far" in texts(figure)


def test_rows_may_come_in_any_order_and_without_ends():
    mixed = three_turns().iloc[[2, 0, 1]].assign(end_s=np.nan)
    assert bars(draw(mixed), "therapist") == [(0, 1), (2, 3)]


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ([0, 60, 10], "Words spoken so far (times run backwards at turn 2)"),
        ([0, None, 60], "Words spoken so far (no time for 1 of 3 turns)"),
        ([5, 5, 5], "Words spoken so far (all turns start at one time)"),
        ([0, 60, 59], "Minutes"),  # people talk into each other's turns
    ],
)
def test_times_that_cannot_be_used_give_words_and_a_reason(start, said):
    assert said in texts(draw(three_turns().assign(start_s=start, end_s=None)))


def test_sessions_without_a_word_go_by_turns():
    figure = draw(three_turns().drop(columns="start_s").assign(n_words=0))
    assert bars(figure, "client") == [(1, 2)]
    assert {"Turns", "no words"} <= set(texts(figure))


def test_marks_stand_in_the_middle_of_the_turns_that_have_the_code():
    figure = draw(three_turns())
    assert marks(figure, "mi_question") == [0.4, 2.5]
    assert marks(figure, "mi_reflection") == [2.5]
    assert marks(figure, "bolt_problem_solving bolt_planning") == [0.4]
    assert marks(figure, "mi_change") == [1.5]
    assert marks(figure, "bolt_positive_feeling") == []
    assert marks(figure, "bolt_negative_feeling") == [1.5]


def test_lanes_are_those_whose_columns_there_are_with_counts_of_turns_of_that_role():
    found = set(texts(draw(three_turns())))
    lanes = ["Question", "Reflection", "Advice, input", "Change talk", f"Feeling +/{MINUS}"]
    assert {"Therapist", "Client", "Therapist codes", "Client codes", *lanes} <= found
    assert not {"Normalizing", "Psychoeducation", "Sustain talk", "Gained insight", "Life event"} & found
    assert {"2 of 2", "1 of 2", "1 of 1", f"+0 {MINUS}1 of 1", "50% of words"} <= found


def test_a_code_of_the_group_itself_goes_before_its_parts():
    table = three_turns().assign(bolt_questions_on_emotions=[1, None, 0])
    assert len(marks(draw(table), "mi_question")) == 2
    assert len(marks(draw(table.drop(columns="mi_question")), "bolt_questions_on_emotions")) == 1


def test_a_code_on_a_turn_of_the_other_role_is_not_drawn():
    figure = draw(three_turns().assign(mi_question=[1, 1, 1]))
    assert marks(figure, "mi_question") == [0.4, 2.5]
    assert "2 of 2" in texts(figure)


def test_style_matching_is_drawn_where_it_is_defined_with_the_median_of_seven_turns():
    figure = draw(three_turns())
    assert points(figure, "lsm of turns").tolist() == [[1.5, 0.5], [2.5, 0.75]]
    assert {"0", "0.5", "1", "median 0.62", "2 of 3 turns"} <= set(texts(figure))
    eight = pd.concat([three_turns()] * 3).head(8).assign(turn=range(8), start_s=np.arange(8) * 60.0, end_s=np.nan)
    figure = draw(eight.assign(lsm_turn=[None, 0.1, 0.9, 0.2, 0.5, 0.8, 0.3, 0.7]))
    assert points(figure, "running median").tolist() == [[4.5, 0.5]]


def test_windows_of_synchrony_lie_beneath_the_turns_that_they_are_of():
    turns, parts = (made(60)[name] for name in ("wide_turns", "parts"))
    figure = draw(turns.assign(start_s=np.arange(60) * 60.0, end_s=np.nan), parts)
    rows = parts[(parts["measure"] == "rlsm") & (parts["part"] == "window") & (parts["direction"] == "client")]
    (axes,) = [
        one for one in panels(figure)[1:]
        if any(line.get_label() == "windows of client" and np.allclose(line.get_ydata(), rows["value"])
               for line in one.lines)
    ]  # fmt: skip
    # Turn n begins at minute n, so that its middle is half a minute later.
    (line,) = [one for one in axes.lines if one.get_label() == "windows of client"]
    assert line.get_xdata().tolist() == pytest.approx(((rows["first_turn"] + rows["last_turn"]) / 2 + 0.5).tolist())
    whole = parts[(parts["measure"] == "rlsm") & (parts["part"] == "whole")].set_index("direction")
    assert f"{whole.loc['client', 'z']:+.1f}, -" in texts(figure)
    assert {"Synchrony", "Therapist's replies", "95% of shuffles", "z of shuffles,"} <= set(texts(figure))
    assert {"Reciprocal style matching (rLSM)", "Semantic similarity of adjacent turns"} <= set(texts(figure))
    assert not len(points(figure, "running median"))


def test_what_a_reader_must_know_is_written():
    turns, parts = (made(60)[name] for name in ("wide_turns", "parts"))
    both = SimpleNamespace(wide_turns=turns, parts=parts)
    alone, found = plots.session.caption(turns), plots.session.caption(both)
    for needed in ("session_of_60: 60 turns, ", " words", "positive above the line", "negative below it", "(LSM)"):
        assert needed in alone
        assert needed in found
    assert "not a quality score" in alone
    assert "running median of 7 turns" in alone
    assert "windows of 20 turns" in found
    assert "running median" not in found
    assert "1 window in 20" in found


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.head(1),
        lambda t: t[t["role"] == "client"],
        lambda t: t.assign(role="other"),
        lambda t: t.assign(lsm_turn=np.nan),
        lambda t: t[["session_id", "turn", "role", "n_words"]],
        lambda t: t.astype({"n_words": "Int64", "role": "category", "mi_question": "Float64"}),
        lambda t: t.assign(mi_question=t["mi_question"].astype(object).where(t["role"] == "therapist", "")),
        lambda t: t.assign(session_id="$\\no_formula{$ " + "long " * 40),
    ],
)
def test_odd_sessions_are_drawn_without_overlaps(change):
    assert_no_overlaps(draw(change(made(60)["wide_turns"].head(30))))
