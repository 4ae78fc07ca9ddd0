"""Where in the session behaviours happen, and how often: rows that a reader can count."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from therapy_analytics.codes import builtin_codebooks
from therapy_analytics.codes.codebook import correlation_of
from therapy_analytics.measures.intervals import wilson
from therapy_analytics.measures.process.behaviour_rates import behaviour_rates
from therapy_analytics.measures.profile_rows import PARTS, profile_rows
from therapy_analytics.measures.turns import THIRDS
from therapy_analytics.results.frames import profile_table

# Nine turns, three a third: T C T | C T C | T C T; five of the therapist (2, 1, 2 by thirds).
SAID = [("TC"[i % 2], f"turn {i}") for i in range(9)]
CODES = {
    "mi_question": [1, 0, 1, 0, 0, 0, 1, 0, 0],  # 2 of 2, 0 of 1, 1 of 2
    "bolt_life_event": [0, 1, 0, 1, 0, 0, 0, 0, 0],  # 1 of 1, 1 of 2, 0 of 1
}


def _frame(session) -> pd.DataFrame:  # type: ignore[no-untyped-def]
    """Return the rows of a session as `profile_table` shows them, by code and part."""
    names = ["measure", "direction", "part", "first_turn", "last_turn", "value", "n", "out_of", "lo", "hi"]
    rows = pd.DataFrame(profile_rows(session), columns=names)
    return profile_table(rows.assign(session_id="made")).astype({"part": str}).set_index(["code", "part"])


def test_thirds_that_a_reader_can_count(make) -> None:  # type: ignore[no-untyped-def]
    rows = _frame(make(SAID, CODES))
    found = rows.loc["mi_question"].loc[list(PARTS)]
    assert found["n_turns"].tolist() == [5, 2, 1, 2]
    assert found["n"].tolist() == [3, 2, 0, 1]
    assert found["rate"].tolist() == [3 / 5, 1, 0, 1 / 2]
    assert (found["lo"].iloc[0], found["hi"].iloc[0]) == pytest.approx(wilson(3, 5, correlation_of("mi_question")))
    # Probabilities of the fixture are .9 and .1.
    assert found["expected"].tolist() == pytest.approx([(3 * 0.9 + 2 * 0.1) / 5, 0.9, 0.1, 0.5])
    assert rows.loc["bolt_life_event"].loc[list(PARTS)]["n"].tolist() == [2, 1, 1, 0]


def test_rows_say_where_their_thirds_begin_and_end(make) -> None:  # type: ignore[no-untyped-def]
    rows = profile_rows(make(SAID, CODES))
    own = [row for row in rows if row["measure"] == "therapist_question_rate"]
    places = [(row["part"], row["first_turn"], row["last_turn"]) for row in own]
    assert places == [("whole", 0, 8), ("third_1", 0, 2), ("third_2", 3, 5), ("third_3", 6, 8)]


def test_the_whole_has_the_intervals_of_the_session_table(make) -> None:  # type: ignore[no-untyped-def]
    session = make(SAID, CODES)
    rows, values = _frame(session), behaviour_rates(session)
    for code, name in (("mi_question", "therapist_question"), ("bolt_life_event", "client_life_event")):
        own = rows.loc[(code, "whole")]
        assert own[["lo", "hi"]].tolist() == pytest.approx([values[f"{name}_rate_lo"], values[f"{name}_rate_hi"]])


def test_the_thirds_add_up_to_the_whole(make) -> None:  # type: ignore[no-untyped-def]
    rows = _frame(make(SAID, CODES))
    for _, code in rows.groupby(level="code"):
        parts = code.droplevel("code")
        assert parts.loc[list(THIRDS), ["n", "n_turns"]].sum().tolist() == [
            parts.loc["whole", "n"],
            parts.loc["whole", "n_turns"],
        ]


def test_every_code_of_both_books_has_rows_and_rates(make) -> None:  # type: ignore[no-untyped-def]
    session = make(SAID, CODES)
    codes = set(_frame(session).index.get_level_values("code"))
    values = behaviour_rates(session)
    (bolt,) = (book.codes for book in builtin_codebooks() if book.id == "bolt")
    assert len(bolt) == 19
    for code in bolt:
        assert code.column in codes
        assert {f"{code.role}_{code.id}_rate", f"{code.role}_{code.id}_rate_expected"} <= set(values)
    assert {f"mi_{name}" for name in ("question", "reflection", "input", "change", "sustain")} <= codes


def test_where_there_are_no_turns_a_rate_is_undefined(make) -> None:  # type: ignore[no-untyped-def]
    for said in ([], [("O", "Somebody else")]):
        rows = _frame(make(said))
        assert (rows["n_turns"] == 0).all()
        assert rows[["rate", "lo", "hi", "expected"]].isna().all(axis=None)


def test_turns_that_were_not_coded_are_left_out(make) -> None:  # type: ignore[no-untyped-def]
    session = make(SAID, CODES)
    likely = session.probabilities["mi_question"].copy()
    likely[0] = np.nan
    partly = replace(session, probabilities={**session.probabilities, "mi_question": likely})
    whole = _frame(partly).loc[("mi_question", "whole")]
    assert (whole["n_turns"], whole["n"]) == (4, 2)
    bare = replace(session, probabilities={}, decisions={})
    assert len(_frame(bare)) == 0
    assert profile_rows(bare) == []


def test_codes_of_the_users_own_have_rows(make) -> None:  # type: ignore[no-untyped-def]
    session = make(SAID, CODES)
    own = session.probabilities["mi_question"]
    mine = {"our_clinic_hope": own}, {"our_clinic_hope": session.decisions["mi_question"]}
    named = replace(session, probabilities=mine[0], decisions=mine[1], rated={"our_clinic_hope": 0.1})
    assert set(_frame(named).index.get_level_values("code")) == {"our_clinic_hope"}
