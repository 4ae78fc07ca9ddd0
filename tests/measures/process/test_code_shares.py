"""Of a behaviour, what is of one kind; and questions that follow each other. Counted by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from tests.undefined import without_totals
from therapy_analytics.measures.process.code_shares import code_shares

# T C T C T C T C T C T C: six therapist turns, 0 2 4 6 8 10
SAID = [("TC"[at % 2], f"turn {at}") for at in range(12)]


def at(*places: int) -> list[int]:
    return [int(place in places) for place in range(12)]


CODES = {
    "mi_question": at(0, 2, 4, 10),
    "process_socratic_evidence": at(2, 10),
    "process_socratic_viewpoint": at(4),
    "process_leading_question": at(0),
    "process_advice": at(6, 8),
    "process_advice_again": at(8),
    "process_feeling_expressed": at(0),
    "process_feeling_unexpressed": at(2),
    "process_feeling_intensified": at(4),
}


def test_shares_that_a_reader_can_count(make) -> None:  # type: ignore[no-untyped-def]
    values = code_shares(make(SAID, CODES))
    assert values["socratic_question_rate"] == 3 / 4
    assert values["leading_question_rate"] == 1 / 4
    assert values["invited_advice_rate"] == 0
    assert values["repeated_advice_rate"] == 1 / 2
    assert values["unexpressed_feeling_rate"] == values["intensified_feeling_rate"] == 1 / 3
    assert (values["n_socratic_question"], values["out_of_socratic_question"]) == (3, 4)


def test_socratic_questions_in_therapist_turns_in_a_row_are_a_chain(make) -> None:  # type: ignore[no-untyped-def]
    values = code_shares(make(SAID, CODES))
    assert values["socratic_chain_rate"] == 2 / 3  # 2 and 4 are neighbours, 10 stands alone
    assert values["socratic_chain_longest"] == 2
    none = code_shares(make(SAID, {"process_advice": at(6)}))
    assert none["socratic_chain_longest"] == 0
    assert math.isnan(none["socratic_chain_rate"])


def test_a_question_is_open_where_that_is_likelier_than_closed(make) -> None:  # type: ignore[no-untyped-def]
    session = make(SAID, {"mi_question": at(0, 2, 4)})
    likely = {"mi_question_open": 0.4, "mi_question_closed": 0.3}
    own = session.spoken_by("therapist")
    given = {code: np.where(own, p, np.nan) for code, p in likely.items()}
    given["mi_question_closed"][2] = 0.45
    values = code_shares(replace(session, probabilities={**session.probabilities, **given}))
    assert values["open_question_rate"] == 2 / 3


def test_kinds_that_the_coder_does_not_give_have_no_share(make) -> None:  # type: ignore[no-untyped-def]
    session = make(SAID, CODES)
    some = {code: one for code, one in session.decisions.items() if not code.startswith("process_socratic_evidence")}
    assert code_shares(replace(session, decisions=some))["socratic_question_rate"] == 1 / 4
    for one in (make([]), replace(session, decisions={}, probabilities={})):
        for name, value in without_totals(code_shares(one)).items():
            assert np.isnan(value), name
