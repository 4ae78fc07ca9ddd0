"""What the figures of behaviour show: the profile beside references, thirds of sessions, answers to the client."""

import numpy as np
import pandas as pd
import pytest
from boards import assert_no_overlaps, boxes, figure_of, panels, points, segments, texts
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle

from therapy_analytics import plots
from therapy_analytics.measures.intervals import wilson
from therapy_analytics.results.references import reference_profiles

PARTS = ("whole", "third_1", "third_2", "third_3")


def rows(counts, session_id="s1"):
    """Make rows of a profile from {code: ((n, n_turns) of the whole session, and of each third)}."""
    cells = [(code, part, *cell) for code, own in counts.items() for part, cell in zip(PARTS, own, strict=False)]
    table = pd.DataFrame(cells, columns=["code", "part", "n", "n_turns"]).assign(session_id=session_id)
    ends = [wilson(n, of) if of else (np.nan, np.nan) for n, of in table[["n", "n_turns"]].itertuples(index=False)]
    return table.assign(lo=[low for low, _ in ends], hi=[high for _, high in ends])


# The profile


def test_rates_stand_with_their_intervals_and_counts():
    figure = figure_of(plots.profile, rows({"mi_question": [(5, 20)], "mi_change": [(3, 4)]}))
    assert points(figure, "rate of therapist")[:, 0].tolist() == [0.25]
    assert points(figure, "rate of client")[:, 0].tolist() == [0.75]
    assert segments(figure, "interval of therapist")[0, :, 0] == pytest.approx(wilson(5, 20))
    assert {"Question", "5/20", "Change talk", "3/4", "Therapist codes", "Client codes"} <= set(texts(figure))


def test_codes_stand_beneath_each_other_by_role_and_book():
    table = rows({"bolt_planning": [(1, 9)], "mi_question": [(2, 9)], "mi_change": [(3, 9)], "my_own": [(4, 9)]})
    figure = figure_of(plots.profile, table)
    therapist, client = panels(figure)
    names = [[label.get_text() for label in axes.get_yticklabels()] for axes in (therapist, client)]
    assert names == [["Question", "Planning"], ["Change talk", "my own"]]
    assert therapist.yaxis_inverted()
    assert client.yaxis_inverted()
    assert [len(points(figure, f"rate of {role}")) for role in ("therapist", "client", "other")] == [2, 1, 1]
    assert "Client codes and own codes" in texts(figure)


def test_bands_are_the_middle_half_of_the_references():
    table = rows({"mi_question": [(5, 10)], "mi_question_open": [(5, 10)]})
    figure = figure_of(plots.profile_references, table)
    known = reference_profiles().set_index(["group", "measure"]).loc[("human_high", "therapist_question_rate")]
    assert boxes(figure, "human_high")[:, [0, 2]].tolist() == [pytest.approx([known["q25"], known["q75"]])]
    assert len(boxes(figure, "human_low")) == 1
    assert len(points(figure, "models")) == 6
    said = " ".join(texts(figure))
    assert "People, high quality" in said
    assert "6 language models, the median of each" in said


def test_the_profile_has_one_layer_of_people_and_one_of_reference():
    figure = figure_of(plots.profile, rows({"mi_question": [(5, 10)], "mi_question_open": [(5, 10)]}))
    assert len(boxes(figure, "human_high")) == 1
    assert not len(boxes(figure, "human_low"))
    assert not len(points(figure, "models"))
    assert not len(segments(figure, "expected"))


def test_references_are_those_of_the_tagger():
    table, found = rows({"bolt_planning": [(5, 10)]}), {}
    for tagger in ("accurate", "fast"):
        table.attrs["tagger"] = tagger
        assert f"coded by the {tagger} tagger" in plots.profile_references.caption(table)
        found[tagger] = points(figure_of(plots.profile_references, table), "models")
    assert not np.allclose(found["accurate"], found["fast"])


def test_codes_without_a_reference_have_none():
    figure = figure_of(plots.profile, rows({"mi_question_open": [(5, 10)], "my_own": [(1, 10)]}))
    assert not len(boxes(figure, "human_high"))
    assert not any("People" in text for text in texts(figure))


def test_several_sessions_are_pooled_and_a_session_without_turns_counts_for_nothing():
    tables = [rows({"mi_question": [cell]}, name) for name, cell in (("a", (5, 10)), ("b", (1, 30)), ("c", (0, 0)))]
    figure = figure_of(plots.profile, pd.concat(tables))
    assert "6/40" in texts(figure)
    assert "2 sessions, pooled" in plots.profile.caption(pd.concat(tables))
    assert "95% interval over sessions" in plots.profile.caption(pd.concat(tables))


def test_sessions_that_differ_have_a_wider_interval_than_turns():
    def interval(counts):
        tables = [rows({"mi_question": [one]}, f"s{i}") for i, one in enumerate(counts)]
        return segments(figure_of(plots.profile, pd.concat(tables)), "interval of therapist")[0, :, 0]

    alike, unlike = np.diff(interval([(5, 20)] * 8)), np.diff(interval([(0, 20), (10, 20)] * 4))
    # Alike: as many independent turns as there are, but a quantile of t with 7 degrees, 2.36.
    assert alike > np.diff(wilson(40, 160))
    assert unlike > 1.4 * alike
    assert interval([(0, 20)] * 3) == pytest.approx(wilson(0, 60))


def test_no_rows_are_said_to_be_none():
    table = rows({"mi_question": [(5, 10)]})
    for none in (table.head(0), table.assign(n_turns=0), table.assign(part="first")):
        assert any("no profile" in text for text in texts(figure_of(plots.profile, none)))


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.drop(columns=["lo", "hi"]),
        lambda t: t.astype({"code": "category", "part": "category", "session_id": "category", "n": "Int64"}),
        lambda t: t.assign(code=[f"own_code_of_a_very_long_name_{i}" for i in range(len(t))]),
        lambda t: t.assign(session_id="$\\no_formula{$"),
    ],
)
def test_odd_profiles_are_drawn_without_overlaps(change):
    table = rows({code: [(5, 10)] for code in ("mi_question", "mi_reflection", "bolt_planning", "mi_change")})
    assert_no_overlaps(figure_of(plots.profile, change(table)))


# Thirds


def test_points_are_the_rates_of_the_thirds_with_their_intervals():
    figure = figure_of(plots.thirds, rows({"mi_question": [(6, 17), (0, 5), (2, 8), (4, 4)]}))
    (axes,) = panels(figure)
    assert points(figure, "rate")[:, 1].tolist() == [0, 0.25, 1]
    assert axes.get_ylim() == (0, 1)
    assert segments(figure, "interval")[1, :, 1] == pytest.approx(wilson(2, 8))
    assert {"0/5", "2/8", "4/4", "Question", "0%", "100%"} <= set(texts(figure))


def test_a_third_without_turns_has_no_point():
    figure = figure_of(plots.thirds, rows({"mi_change": [(5, 9), (1, 5), (0, 0), (4, 4)]}))
    assert np.isnan(points(figure, "rate")[:, 1]).tolist() == [False, True, False]


def test_roles_stand_apart_and_what_never_occurs_is_left_out():
    table = rows({"mi_change": [(3, 15), *[(1, 5)] * 3], "mi_input": [(3, 15), *[(1, 5)] * 3],
                  "mi_sustain": [(0, 15), *[(0, 5)] * 3]})  # fmt: skip
    said = texts(figure_of(plots.thirds, table))
    assert [one for one in said if one in {"Therapist input", "Client codes", "Change talk", "Sustain talk"}] == [
        "Therapist input",
        "Client codes",
        "Change talk",
    ]
    assert "1 more codes never occur." in plots.thirds.caption(table)


def test_thirds_of_several_sessions_are_pooled():
    two = pd.concat(
        [rows({"mi_change": [(3, 15), *[(1, 5)] * 3]}, "a"), rows({"mi_change": [(6, 18), *[(2, 6)] * 3]}, "b")]
    )
    assert texts(figure_of(plots.thirds, two)).count("3/11") == 3
    assert "2 sessions, pooled" in plots.thirds.caption(two)
    assert "intervals over sessions" in plots.thirds.caption(two)


def test_no_thirds_are_said_to_be_none():
    table = rows({"mi_change": [(3, 15), *[(1, 5)] * 3]})
    for none in (table.head(0), table.assign(n=0), table.assign(part="whole")):
        assert any("no behaviour" in text for text in texts(figure_of(plots.thirds, none)))


# Answers

COLUMNS = ["client_code", "therapist_code", "n_client", "n_both", "n_client_other", "n_both_other"]


def answers(*cells, ends=(-0.5, 0.5), session_id="s1"):
    """Make rows of one session; `ends` are those of the interval of each difference."""
    table = pd.DataFrame(cells, columns=COLUMNS).assign(difference_lo=ends[0], difference_hi=ends[1])
    return table.assign(session_id=session_id)


def cells_of(figure):
    """Return the boxes of the cells, row by row."""
    (axes,) = panels(figure)
    return [one for one in axes.patches if isinstance(one, Rectangle)]


def test_cells_hold_counts_and_are_the_darker_the_more():
    table = answers(("mi_sustain", "mi_question", 10, 5, 10, 3), ("mi_sustain", "mi_input", 10, 10, 10, 0))
    figure = figure_of(plots.responses, table)
    found = {"5/10", "10/10", "8/20", "10/20", "Any client turn", "Sustain talk", "Question", "Therapist input"}
    assert {*found, "10", "20"} <= set(texts(figure))
    greys = [to_rgb(cell.get_facecolor())[0] for cell in cells_of(figure)]
    assert greys == pytest.approx([1 - share * (1 - 11 / 255) for share in (0.4, 0.5, 0.5, 1.0)], abs=0.01)


def test_few_turns_are_hatched_and_neither_shaded_nor_marked():
    figure = figure_of(plots.responses, answers(("mi_sustain", "mi_question", 4, 4, 20, 1), ends=(0.1, 0.9)))
    assert [bool(cell.get_hatch()) for cell in cells_of(figure)] == [False, True]
    assert cells_of(figure)[1].get_facecolor()[3] == 0
    assert "4/4" in texts(figure)
    assert not panels(figure)[0].lines
    assert any("fewer than 5 client turns" in text for text in texts(figure))


@pytest.mark.parametrize(("ends", "signs"), [((0.1, 0.9), ["^"]), ((-0.9, -0.1), ["v"]), ((-0.5, 0.5), [])])
def test_a_triangle_marks_an_interval_beyond_none(ends, signs):
    table = answers(("mi_sustain", "mi_question", 20, 10, 20, 1), ends=ends)
    for given in (table, table.drop(columns="session_id").assign(n_sessions=7)):
        figure = figure_of(plots.responses, given)
        assert [line.get_marker() for line in panels(figure)[0].lines] == signs
        assert ("by chance alone" in plots.responses.caption(given)) == bool(signs)
    assert "7 sessions, pooled" in plots.responses.caption(given)


def test_sessions_are_added_up_and_two_are_too_few_for_marks():
    one = answers(("mi_sustain", "mi_question", 10, 5, 10, 3), ends=(0.1, 0.9))
    two = answers(("mi_sustain", "mi_question", 20, 9, 1, 1), ends=(0.1, 0.9), session_id="s2")
    figure = figure_of(plots.responses, pd.concat([one, two]))
    assert {"14/30", "18/41"} <= set(texts(figure))
    assert not panels(figure)[0].lines
    assert "2 sessions, pooled" in plots.responses.caption(pd.concat([one, two]))


def test_codes_that_are_not_given_are_left_out_and_those_that_do_not_occur_stay():
    table = answers(
        ("mi_sustain", "mi_question", 0, 0, 20, 1),
        ("process_risk_own", "mi_question", 0, 0, 0, 0),
        ("bolt_changing", "mi_question", 7, 2, 13, 2),  # a code of which no measure of responses tells
    )
    found = texts(figure_of(plots.responses, table))
    assert {"Sustain talk", "0/0"} <= set(found)
    assert not {"Own danger", "2/7"} & set(found)


def test_no_answers_are_said_to_be_none():
    table = answers(("mi_sustain", "mi_question", 9, 3, 9, 1))
    for none in (table.head(0), table.assign(**dict.fromkeys(COLUMNS[2:], 0))):
        assert any("no answers" in text for text in texts(figure_of(plots.responses, none)))


@pytest.mark.parametrize("n", [2, 25_000])
def test_answers_of_one_code_or_of_very_many_turns_are_drawn_without_overlaps(n):
    table = answers(*(("mi_sustain", code, n, n // 2, n, 0) for code in ("mi_question", "mi_reflection", "mi_input")))
    typed = table.astype({"client_code": "category", "therapist_code": "category", "n_both": "Int64"})
    for given, width in ((typed, 85), (table.head(1), 174)):
        assert_no_overlaps(figure_of(plots.responses, given, width))
