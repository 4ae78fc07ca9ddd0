"""The machine's own decisions, given back as people's codes: every code must agree wholly, whatever the form."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from therapy_analytics.codes import builtin_codebooks
from therapy_analytics.stats.agreement import agreement

KEYS = ["session_id", "turn"]


@pytest.fixture(scope="module")
def turns() -> pd.DataFrame:
    """Return 4 sessions of 76 turns with every code of every book, decided at random, so that books contradict."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"session_id": np.repeat([f"s{one}" for one in range(4)], 76)})
    frame["turn"] = np.tile(np.arange(76), 4)
    frame["role"] = np.where(frame["turn"] % 2 == 0, "therapist", "client")
    made = {}
    for code in (code for book in builtin_codebooks() for code in book.codes):
        own = (frame["role"] == code.role).to_numpy()
        p = np.where(own, rng.random(len(frame)), np.nan)
        made |= {f"p_{code.column}": p, code.column: np.where(own, (p > 0.6).astype(float), np.nan)}
    return pd.concat([frame, pd.DataFrame(made)], axis=1)


def codes_of(turns: pd.DataFrame, book: str = "") -> list[str]:
    return [name for name in turns if f"p_{name}" in turns and str(name).startswith(book)]


def agrees_wholly(turns: pd.DataFrame, gold: pd.DataFrame, codes: list[str]) -> pd.DataFrame:
    found = agreement(turns, gold).codes.set_index("code")
    assert set(codes) <= set(found.index)
    for code in codes:
        row = found.loc[code]
        assert row["agreement"] == 1, code
        assert row["ac1"] == pytest.approx(1), code
        assert np.isnan(row["kappa"]) or row["kappa"] == pytest.approx(1), code
    sets = found.index.intersection(["therapist_behaviour", "client_talk"]) if "mi_question" in codes else []
    assert (found.loc[sets, "agreement"] == 1).all()
    return found


def test_all_columns_of_all_books(turns):
    codes = codes_of(turns)
    agrees_wholly(turns, turns[[*KEYS, *codes]], codes)


@pytest.mark.parametrize("book", ["mi", "bolt", "misc", "miti"])
def test_each_book_alone(turns, book):
    codes = codes_of(turns, f"{book}_")
    agrees_wholly(turns, turns[[*KEYS, *codes]], codes)


def test_the_whole_table_of_turns_with_what_people_and_machine_left_in_it(turns):
    # Someone codes in a copy of turns.csv: the columns that are no codes of theirs must not speak for them.
    whole = turns.assign(
        unsure_codes=np.where(turns["role"] == "therapist", "mi_question;mi_reflection", "mi_change"),
        gold_main_therapist_behaviour=np.where(turns["role"] == "therapist", "question", ""),
    )
    agrees_wholly(whole, whole, codes_of(turns))


def test_a_row_a_turn_and_code(turns):
    codes = codes_of(turns)
    long = turns.melt(id_vars=KEYS, value_vars=codes, var_name="code").dropna(subset=["value"])
    long = long.assign(value=long["value"].astype(int), coder="reader")
    agrees_wholly(turns, long, codes)
    # Of some codes, on some turns.
    shown = [*codes_of(turns, "mi_"), *codes_of(turns, "bolt_")]
    found = agrees_wholly(turns, long[long["code"].isin(shown) & (long["turn"] % 3 < 2)], shown)
    assert sorted(set(found.index) - {"therapist_behaviour", "client_talk"}) == sorted(shown)


def test_labels_of_all_books_in_one_column():
    # Here a sub-code implies its parent, as the tagger decides; the books still contradict each other.
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"session_id": np.repeat(list("abcdef"), 40), "turn": np.tile(np.arange(40), 6)})
    for code in ("mi_question", "mi_reflection", "misc_question", "misc_simple_listening", "miti_reflection"):
        p = rng.random(len(frame))
        frame = frame.assign(**{f"p_{code}": p, code: (p > 0.6).astype(float)})
    frame["role"] = "therapist"
    codes = codes_of(frame)
    labels = [";".join(code for code in codes if row[code] == 1) for _, row in frame.iterrows()]
    agrees_wholly(frame, frame[KEYS].assign(codes=labels), codes)


def test_an_explicit_value_wins_over_what_another_column_implies(turns):
    # The coder says of each turn that it is a question of MISC and none of MI.
    therapist = turns[turns["role"] == "therapist"]
    gold = therapist[KEYS].assign(misc_question=1, mi_question=0, mi_question_open=1)
    counts = agreement(turns, gold).confusion
    people = counts[counts["human"] == "1"].groupby("code")["n"].sum()
    assert people[["misc_question", "mi_question", "mi_question_open"]].tolist() == [152, 0, 152]


def test_one_book_still_reaches_the_others(turns):
    gold = turns[[*KEYS, "misc_question", "misc_change"]]
    found = agreement(turns, gold).codes.set_index("code")["n_reference"]
    assert found["mi_question"] == found["miti_question"] == found["misc_question"]
    assert found["mi_change"] == found["misc_change"]
    only_mi = turns.drop(columns=[name for name in turns if "misc_" in name or "miti_" in name or "bolt_" in name])
    long = gold.melt(id_vars=KEYS, var_name="code").dropna(subset=["value"]).astype({"value": int})
    assert agreement(only_mi, long).codes["code"].tolist() == ["mi_question", "mi_change"]
