"""What the timeline shows."""

import numpy as np
import pandas as pd
import pytest
from boards import assert_no_overlaps, new_axes, texts
from matplotlib.patches import PathPatch

from therapy_analytics import plots
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.plots._outlines import OutlinedText
from therapy_analytics.plots.session_timeline import NEGATIVE, POSITIVE

THERAPIST_CODES = ("mi_question", "mi_reflection", "mi_input", "bolt_normalizing", "bolt_psychoeducation")
CLIENT_CODES = (
    "mi_change",
    "mi_sustain",
    "bolt_positive_feeling",
    "bolt_negative_feeling",
    "bolt_gained_insight",
    "bolt_life_event",
)


def turns_table(n, *, times=True, session_id="session_017"):
    """Make a turns table of n turns, without using any word of a real one."""
    rng = np.random.default_rng(n)
    role = np.where(np.arange(n) % 2 == 0, "therapist", "client").astype(object)
    words = rng.integers(1, 60, n)
    start = np.cumsum(words) / 2.5 - words / 2.5 if times else np.full(n, np.nan)
    table = {
        "session_id": [session_id] * n,
        "turn": np.arange(n),
        "role": role,
        "start_s": start,
        "end_s": start + words / 3,
        "n_words": words,
        "lsm_turn": np.where(np.arange(n) > 0, rng.uniform(0.3, 1, n), np.nan),
    }
    for whose, codes in (("therapist", THERAPIST_CODES), ("client", CLIENT_CODES)):
        for code in codes:
            table[code] = np.where(role == whose, rng.random(n) < 0.25, np.nan)
    return pd.DataFrame(table)


def heights(ax, name):
    """Return the middle of the height at which a name stands left of the rows."""
    patches = [patch.get_path() for patch in ax.figure.findobj(PathPatch)]
    lines = [line for path in patches if isinstance(path, OutlinedText) and not path.turned for line in path.lines]
    return [y for _, y, text, side in lines if text == name and side == "right"]


def marks(ax, name, colour=None):
    """Return where the marks of a lane are on the x-axis; of one colour where a lane has two."""
    (level,) = heights(ax, name)
    found = []
    for patch in ax.patches:
        if str(patch.get_gid()).startswith("codes") and colour in (None, patch.get_gid().split()[1]):
            found += [low[0] for low, high in patch.get_path().vertices.reshape(-1, 2, 2) if low[1] <= level <= high[1]]
    return sorted(found)


def bars(ax, role):
    found = [patch for patch in ax.patches if patch.get_gid() == f"turns {role}"]
    return [(box[0, 0], box[2, 0]) for patch in found for box in patch.get_path().vertices.reshape(-1, 5, 2)]


# The timeline, by hand


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


def test_bars_span_the_turns_in_minutes():
    ax = plots.timeline(three_turns(), ax=new_axes())
    assert bars(ax, "therapist") == [(0, 0.8), (2, 3)]
    assert bars(ax, "client") == [(1, 2)]
    assert "Minutes" in texts(ax)


def test_bars_span_the_words_where_there_are_no_times():
    ax = plots.timeline(three_turns().drop(columns=["start_s", "end_s"]), ax=new_axes())
    assert bars(ax, "therapist") == [(0, 10), (40, 60)]
    assert bars(ax, "client") == [(10, 40)]
    assert "Words spoken so far" in texts(ax)


def test_marks_stand_in_the_middle_of_the_turns_that_have_the_code():
    ax = plots.timeline(three_turns(), ax=new_axes())
    assert marks(ax, "Question") == [0.4, 2.5]
    assert marks(ax, "Reflection") == [2.5]
    assert marks(ax, "Advice, input") == [0.4]
    assert marks(ax, "Change talk") == [1.5]
    assert marks(ax, "Feeling +/\N{MINUS SIGN}", POSITIVE) == []
    assert marks(ax, "Feeling +/\N{MINUS SIGN}", NEGATIVE) == [1.5]


def test_lanes_are_those_whose_columns_there_are():
    found = texts(plots.timeline(three_turns(), ax=new_axes()))
    lanes = ["Question", "Reflection", "Advice, input", "Change talk", "Feeling +/\N{MINUS SIGN}"]
    assert {"Therapist", "Client", *lanes, "0", "0.5", "1"} <= set(found)
    assert not {"Normalizing", "Psychoeducation", "Sustain talk", "Gained insight", "Life event"} & set(found)


def test_counts_are_of_the_turns_of_that_role():
    found = texts(plots.timeline(three_turns(), ax=new_axes()))
    assert {"2 of 2", "1 of 2", "1 of 1", "+0 \N{MINUS SIGN}1 of 1", "50% of words"} <= set(found)
    assert {"median 0.62", "2 of 3 turns"} <= set(found)


def test_a_code_of_the_group_itself_goes_before_its_parts():
    table = three_turns().assign(bolt_questions_on_emotions=[1, None, 0])
    assert len(marks(plots.timeline(table, ax=new_axes()), "Question")) == 2
    parts = table.drop(columns="mi_question")
    assert len(marks(plots.timeline(parts, ax=new_axes()), "Question on emotions")) == 1


def test_a_code_on_a_turn_of_the_other_role_is_not_drawn():
    table = three_turns().assign(mi_question=[1, 1, 1])
    ax = plots.timeline(table, ax=new_axes())
    assert marks(ax, "Question") == [0.4, 2.5]
    assert "2 of 2" in texts(ax)


def test_style_matching_is_drawn_where_it_is_defined():
    ax = plots.timeline(three_turns(), ax=new_axes())
    (dots,) = ax.lines
    ticks = {name: heights(ax, name)[0] for name in ("0.5", "1")}
    assert dots.get_xdata().tolist() == [1.5, 2.5]
    assert dots.get_ydata()[0] == pytest.approx(ticks["0.5"])
    assert dots.get_ydata()[1] == pytest.approx((ticks["0.5"] + ticks["1"]) / 2)


def test_the_line_is_the_median_of_seven_turns():
    table = turns_table(8).assign(lsm_turn=[None, 0.1, 0.9, 0.2, 0.5, 0.8, 0.3, 0.7])
    ax = plots.timeline(table, ax=new_axes())
    dots, line = ax.lines
    (zero,), (one,) = heights(ax, "0"), heights(ax, "1")
    assert line.get_xdata() == dots.get_xdata()[3]
    assert (line.get_ydata()[0] - zero) / (one - zero) == pytest.approx(0.5)


def test_what_a_reader_must_know_is_written():
    found = plots.timeline.caption(turns_table(50))
    for needed in ("session_017", "50 turns, ", " words", "positive above the line", "negative below it", "(LSM)"):
        assert needed in found
    assert "not a quality score" in found


# The timeline, in trouble


def test_rows_may_come_in_any_order():
    mixed = three_turns().iloc[[2, 0, 1]]
    assert bars(plots.timeline(mixed, ax=new_axes()), "therapist") == [(0, 0.8), (2, 3)]


def test_without_ends_a_turn_ends_where_the_next_begins():
    ax = plots.timeline(three_turns().assign(end_s=np.nan), ax=new_axes())
    assert bars(ax, "therapist") == [(0, 1), (2, 3)]


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ([0, 60, 10], "(times run backwards at turn 2)"),
        ([0, None, 60], "(no time for 1 of 3 turns)"),
        ([5, 5, 5], "(all turns start at one time)"),
    ],
)
def test_times_that_cannot_be_used_give_words_and_a_reason(start, said):
    ax = plots.timeline(three_turns().assign(start_s=start, end_s=None), ax=new_axes())
    assert f"Words spoken so far {said}" in texts(ax)


def test_talking_into_a_turn_is_no_broken_clock():
    ax = plots.timeline(three_turns().assign(start_s=[0, 60, 59]), ax=new_axes())
    assert "Minutes" in texts(ax)


def test_sessions_without_a_word_go_by_turns():
    ax = plots.timeline(three_turns().drop(columns="start_s").assign(n_words=0), ax=new_axes())
    assert bars(ax, "client") == [(1, 2)]
    assert "Turns" in texts(ax)
    assert "no words" in texts(ax)


def test_more_than_one_session_is_an_error_that_quotes_none():
    two = pd.concat([three_turns(), three_turns().assign(session_id="s2")])
    with pytest.raises(BadOptionError, match="one session and the table holds 2"):
        plots.timeline(two, ax=new_axes())


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
    ax = plots.timeline(change(turns_table(30)), ax=new_axes())
    assert_no_overlaps(ax)


@pytest.mark.parametrize(
    ("n", "times", "size"),
    [
        (5, True, (8, 4)),
        (5, False, (16, 9)),
        (50, False, (11, 5)),
        (50, True, (8, 4)),
        (500, True, (16, 9)),
        (500, False, (8, 4)),
    ],
)
def test_no_text_lies_on_another_or_leaves_the_figure(n, times, size):
    ax = plots.timeline(turns_table(n, times=times, session_id="x" * 80), ax=new_axes(size))
    assert_no_overlaps(ax)
