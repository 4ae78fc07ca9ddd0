"""What the behaviour profile shows, counted by hand, and where it stands beside references."""

import numpy as np
import pandas as pd
import pytest
from boards import SIZES, assert_no_overlaps, codes, drawn, new_axes, place, texts

from therapy_analytics import plots
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.measures.intervals import wilson
from therapy_analytics.plots._codes import behaviours, rates
from therapy_analytics.results.references import reference_profiles

COLUMNS = ["session_id", "code", "part", "n_turns", "n", "rate", "lo", "hi", "expected"]


def rows(counts, session_id="s1", part="whole"):
    """Make rows of a profile from {code: (n, n_turns)}."""
    made = [(session_id, code, part, of, n, n / of, *wilson(n, of), 0.25) for code, (n, of) in counts.items()]
    return pd.DataFrame(made, columns=COLUMNS)


def many(n, session_id="session_017"):
    """Make the profile of a session of n turns with all codes."""
    found = np.random.default_rng(n).integers(0, n // 2 + 1, len(codes()))
    return rows({code: (int(k), max(n // 2, 1)) for code, k in zip(codes(), found, strict=True)}, session_id)


def scale(ax):
    """Return where 0% lies, and where the last share of the scale does, which is returned as well."""
    last = max(int(text[:-1]) for text in texts(ax) if text.endswith("%") and text[:-1].isdigit())
    return place(ax, "0%")[0], place(ax, f"{last}%")[0], last / 100


def share(ax, x):
    zero, end, last = scale(ax)
    return last * (x - zero) / (end - zero)


def test_a_dot_is_the_rate_and_a_line_its_interval():
    ax = plots.profile_references(rows({"mi_question": (5, 10)}), ax=new_axes())
    (dot,) = drawn(ax, "rate therapist", 1)[:, 0]
    ((begin, end),) = drawn(ax, "interval therapist", 2)
    assert share(ax, np.array([begin[0], dot[0], end[0]])) == pytest.approx([0.237, 0.5, 0.763], abs=0.01)
    assert "5/10" in texts(ax)
    assert share(ax, drawn(ax, "expected", 2)[0, 0, 0]) == pytest.approx(0.25, abs=0.01)


def test_rows_are_the_therapists_then_the_clients_with_names_in_words():
    table = rows({"mi_change": (1, 9), "bolt_planning": (2, 9), "mi_question": (3, 9), "my_own": (4, 9)})
    ax = plots.profile(table, ax=new_axes())
    assert {"Change talk", "Planning", "Question", "my own"} <= set(texts(ax))
    question, planning, change, own = (place(ax, name) for name in ("Question", "Planning", "Change talk", "my own"))
    assert question[1] > planning[1]
    assert change[1] > own[1]
    assert planning[0] < change[0]
    assert [len(drawn(ax, f"rate {role}", 1)) for role in ("therapist", "client", "other")] == [2, 1, 1]


def test_bands_are_the_middle_half_of_the_references():
    table = rows({"mi_question": (5, 10), "mi_question_open": (5, 10)})
    ax = plots.profile_references(table, ax=new_axes())
    (box,) = drawn(ax, "band human_high", 5)
    known = reference_profiles().set_index(["group", "measure"]).loc[("human_high", "therapist_question_rate")]
    assert share(ax, np.array([box[0, 0], box[2, 0]])) == pytest.approx([known["q25"], known["q75"]], abs=0.01)
    assert len(drawn(ax, "models", 1)) == 6
    said = " ".join(texts(ax))
    assert "People, high quality" in said
    assert "6 language models, the median of each" in said


def test_the_profile_has_one_layer_of_people_and_one_of_reference():
    ax = plots.profile(rows({"mi_question": (5, 10), "mi_question_open": (5, 10)}), ax=new_axes())
    assert len(drawn(ax, "band human_high", 5)) == 1
    for gid, corners in (("band human_low", 5), ("models", 1), ("expected", 2)):
        assert not len(drawn(ax, gid, corners))


def test_references_are_those_of_the_tagger():
    table = rows({"bolt_planning": (5, 10)})
    boxes = {}
    for tagger in ("accurate", "fast"):
        table.attrs["tagger"] = tagger
        ax = plots.profile_references(table, ax=new_axes())
        assert f"coded by the {tagger} tagger" in plots.profile_references.caption(table)
        boxes[tagger] = drawn(ax, "models", 1)
    assert not np.allclose(boxes["accurate"], boxes["fast"])


def test_codes_without_a_reference_have_none():
    ax = plots.profile(rows({"mi_question_open": (5, 10), "my_own": (1, 10)}), ax=new_axes())
    assert not len(drawn(ax, "band human_high", 5))
    assert not any("People" in text for text in texts(ax))


def test_every_rate_of_the_references_that_a_code_has_is_drawn():
    measures = set(reference_profiles()["measure"])
    ax = plots.profile_references(many(40), ax=new_axes())
    known = [one for one in behaviours(codes()).values() if f"{one.role}_{one.code.split('_', 1)[1]}_rate" in measures]
    assert len(known) == 24
    assert len(drawn(ax, "band human_low", 5)) == 24


def test_several_sessions_are_pooled_and_said_to_be():
    two = pd.concat([rows({"mi_question": (5, 10)}, "a"), rows({"mi_question": (1, 30)}, "b")])
    ax = plots.profile(two, ax=new_axes())
    assert "6/40" in texts(ax)
    assert "2 sessions, pooled" in plots.profile.caption(two)
    assert "95% interval over sessions" in plots.profile.caption(two)


def test_sessions_that_differ_have_a_wider_interval_than_turns():
    def made(counts):
        tables = [rows({"mi_question": one}, f"s{i}") for i, one in enumerate(counts)]
        return rates(pd.concat(tables), ["mi_question"], ("whole",))

    alike, unlike = made([(5, 20)] * 8), made([(0, 20), (10, 20)] * 4)
    assert alike.rate == unlike.rate == 0.25
    # Alike: as many independent turns as there are, but a quantile of t with 7 degrees, 2.36.
    assert alike.high - alike.low > wilson(40, 160)[1] - wilson(40, 160)[0]
    assert unlike.high - unlike.low > 1.4 * (alike.high - alike.low)
    none = made([(0, 20)] * 3)
    assert (none.low[0, 0], none.high[0, 0]) == pytest.approx(wilson(0, 60))


def test_a_session_without_turns_of_a_role_counts_for_nothing():
    two = pd.concat([rows({"mi_question": (5, 10)}, "a"), rows({"mi_question": (0, 1)}, "b").assign(n_turns=0)])
    found = rates(two, ["mi_question"], ("whole",))
    assert (found.n[0, 0], found.n_turns[0, 0]) == (5, 10)
    assert (found.low[0, 0], found.high[0, 0]) == pytest.approx(wilson(5, 10))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("n", [5, 500])
def test_no_text_lies_on_another_or_leaves_the_figure(n, size):
    assert_no_overlaps(plots.profile(many(n, "x" * 200), ax=new_axes(size)))


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.head(1),
        lambda t: t[t["code"].str.startswith("bolt_life")],
        lambda t: t.drop(columns=["rate", "lo", "hi", "expected"]),
        lambda t: t.astype({"code": "category", "part": "category", "session_id": "category", "n": "Int64"}),
        lambda t: t.assign(code=[f"own_code_of_a_very_long_name_{i}" for i in range(len(t))]),
        lambda t: t.assign(session_id="$\\no_formula{$"),
    ],
)
def test_odd_tables_are_drawn_without_overlaps(change):
    assert_no_overlaps(plots.profile(change(many(40)), ax=new_axes()))


def test_no_rows_are_said_to_be_none():
    for table in (many(10).head(0), many(10).assign(n_turns=0), many(10).assign(part="first")):
        assert any("no profile" in text for text in texts(plots.profile(table, ax=new_axes())))


def test_another_table_is_an_error_that_names_the_columns():
    with pytest.raises(BadOptionError, match="n_turns"):
        plots.profile(pd.DataFrame({"session_id": ["s1"]}), ax=new_axes())
