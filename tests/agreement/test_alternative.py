"""The alternative-annotator test against the paper's procedure, written out plainly, and on cases that are known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.agreement.conftest import turns_of
from tests.agreement.test_agreement import coders_of
from therapy_analytics.agreement import agreement
from therapy_analytics.errors import BadOptionError

CODE = "mi_question"


def by_the_paper(people: pd.DataFrame, machine: pd.Series, epsilon: float) -> pd.DataFrame:
    """Return the test of each coder as the paper says it: turns x coders, without gaps."""
    rows = {}
    for coder in people:
        others = people.drop(columns=coder)
        score_machine = others.eq(machine, axis=0).mean(axis=1)
        score_coder = others.eq(people[coder], axis=0).mean(axis=1)
        machine_wins, coder_wins = score_machine >= score_coder, score_coder >= score_machine
        difference = coder_wins.astype(int) - machine_wins.astype(int)
        p = stats.ttest_1samp(difference, epsilon, alternative="less").pvalue
        rows[coder] = {"machine_advantage": machine_wins.mean(), "coder_advantage": coder_wins.mean(), "p": p}
    table = pd.DataFrame(rows).T
    ranks = table["p"].rank().astype(int)  # Benjamini and Yekutieli, step up
    m = len(table)
    below = table["p"] <= ranks * 0.05 / (m * sum(1 / i for i in range(1, m + 1)))
    return table.assign(wins=(ranks <= ranks[below].max()).astype(float) if below.any() else 0.0)


@pytest.mark.parametrize(("right", "epsilon"), [(0.85, 0.15), (0.7, 0.05), (0.9, 0.1)])
def test_each_coder_by_the_paper(right, epsilon):
    turns = turns_of(8, 30, seed=3)
    people = coders_of(turns, "abcd", right)
    # A machine that errs on some turns, too.
    noisy = turns.assign(
        **{CODE: np.where(np.random.default_rng(5).random(len(turns)) < 0.1, 1 - turns[CODE], turns[CODE])}
    )
    found = agreement(noisy, people, epsilon=epsilon)
    own = noisy[noisy["role"] == "therapist"].set_index(["session_id", "turn"])
    wide = people.pivot(index=["session_id", "turn"], columns="coder", values=CODE).loc[own.index]
    plain = by_the_paper(wide, own[CODE], epsilon)
    table = found.alt_test[found.alt_test["code"] == CODE].set_index("coder")
    for name in plain:
        assert table[name].astype(float).to_numpy() == pytest.approx(plain[name].to_numpy(dtype=float)), name
    row = found.codes.set_index("code").loc[CODE]
    assert row["winning_rate"] == pytest.approx(plain["wins"].mean())
    assert row["advantage"] == pytest.approx(plain["machine_advantage"].mean())
    assert (table["n_turns"] == 120).all()
    assert (table["n_blocks"] == 8).all()
    assert f"epsilon {epsilon:.2f}".replace("0.", ".") in found.text


def test_a_machine_that_errs_less_than_coders_passes_and_one_that_guesses_does_not():
    turns = turns_of(10, 40)
    good = agreement(turns, coders_of(turns, "abcde", 0.8)).codes.set_index("code").loc[CODE]
    assert good["winning_rate"] == good["winning_rate_blocks"] == 1
    assert good["advantage"] > 0.85
    guessing = agreement(turns_of(10, 40, seed=9), coders_of(turns, "abcde", 0.8))
    assert guessing.codes.set_index("code").loc[CODE, "winning_rate"] == 0
    assert "may stand for one more coder: none" in guessing.text


def test_turns_counted_by_hand():
    # Three coders, 40 turns: a and b say yes on all, c and the machine on the first 30.
    turns = pd.DataFrame({"session_id": "s", "turn": range(40), "role": "therapist", "p_mi_question": 0.5})
    turns[CODE] = [1.0] * 30 + [0.0] * 10
    yes = turns[["session_id", "turn"]]
    people = pd.concat([yes.assign(coder=one, question=1) for one in "ab"])
    people = pd.concat([people, yes.assign(coder="c", question=turns[CODE].astype(int))])
    table = agreement(turns, people).alt_test.set_index("coder")
    # Against a (left: b, c): on the last ten a agrees with b, the machine with c: even. Against c: they are the same.
    assert table["machine_advantage"].tolist() == [1, 1, 1]
    assert table["coder_advantage"].tolist() == [1, 1, 1]
    assert table["wins"].tolist() == [1, 1, 1]
    assert table["n_blocks"].tolist() == [4, 4, 4]  # one session: blocks of ten turns


def test_dependent_turns_are_not_taken_for_independent():
    # Whole sessions are read one way or the other: by turns the machine seems to win, by sessions nothing is shown.
    rng = np.random.default_rng(1)
    turns = turns_of(6, 60)
    therapist = turns["role"] == "therapist"
    people = coders_of(turns, "abc", 1.0)
    wrong = turns["session_id"].isin(["s0"]) & therapist & (rng.random(len(turns)) < 0.8)
    machine = turns.assign(**{CODE: np.where(wrong, 1 - turns[CODE], turns[CODE])})
    table = agreement(machine, people, epsilon=0.2).alt_test
    own = table[table["code"] == CODE]
    assert (own["p"] < 0.05).all()
    assert (own["p_blocks"] > 0.2).all()


def test_it_takes_three_coders_and_thirty_turns():
    turns = turns_of(6, 30)
    two = agreement(turns, coders_of(turns, "ab", 0.9))
    assert two.alt_test.empty
    assert "that takes three coders" in two.text
    few = agreement(turns_of(1, 40), coders_of(turns_of(1, 40), "abc", 0.9))
    assert few.alt_test["p"].isna().all()
    assert few.codes["winning_rate"].isna().all()
    with pytest.raises(BadOptionError, match=r"epsilon: 2 is not between 0 and 1"):
        agreement(turns, coders_of(turns, "abc", 0.9), epsilon=2)


def test_of_a_rare_code_it_shows_nothing():
    rng = np.random.default_rng(2)
    turns = turns_of(8, 40)
    rare = (turns["role"] == "therapist") & (rng.random(len(turns)) < 0.05)
    machine = turns.assign(**{CODE: np.where(turns["role"] == "therapist", rare.astype(float), np.nan)})
    found = agreement(machine, coders_of(machine, "abcd", 0.97))
    row = found.codes.set_index("code").loc[CODE]
    assert row["winning_rate"] == row["winning_rate_constant"] == 1
    assert found.codes.set_index("code").loc["mi_input", "winning_rate_constant"] == 0
    text = " ".join(found.text.split())
    assert f"Nothing is shown of {CODE}: a machine that gives every turn the commonest value passes as well." in text
