"""Agreement on turns that were drawn where the machine is unsure; kinds of codes; rare codes; counts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.agreement_coverage import sample_kappas, talks
from tests.agreement.conftest import turns_of
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.stats.agreement import agreement, people_agreement

CODE = "mi_question"


def sessions_of(cells: list[tuple[int, int, float, int]]) -> pd.DataFrame:
    """Return six sessions alike, with as many turns of first and second value and inclusion as the cells say."""
    rows = [(first, second, inclusion) for first, second, inclusion, n in cells for _ in range(n)]
    one = pd.DataFrame(rows, columns=["first", "second", "inclusion"])
    return pd.concat([one.assign(session_id=f"s{at}", turn=range(len(one))) for at in range(6)], ignore_index=True)


DRAWN = sessions_of([(1, 1, 0.8, 4), (1, 0, 0.8, 4), (0, 1, 0.8, 4), (0, 0, 0.1, 3)])
"""The hard turns were drawn with .8, the easy ones with .1: 5 each stand for 4 turns of the first kinds, 30 for 3."""
TRUE = ((5 + 30) / 45 - (100 + 35**2) / 45**2) / (1 - (100 + 35**2) / 45**2)


def as_machine(turns: pd.DataFrame) -> pd.DataFrame:
    about = turns[["session_id", "turn"]].assign(role="therapist")
    return about.assign(**{CODE: turns["second"].astype(float), f"p_{CODE}": 0.2 + 0.6 * turns["second"]})


def test_drawn_turns_count_one_over_their_inclusion():
    human = DRAWN[["session_id", "turn", "inclusion"]].assign(**{CODE: DRAWN["first"]})
    found = agreement(as_machine(DRAWN), human)
    row = found.codes.set_index("code").loc[CODE]
    assert row["agreement"] == pytest.approx(35 / 45)
    assert row["kappa"] == found.pairs["kappa"].iloc[0] == pytest.approx(TRUE)
    assert row["precision"] == row["recall"] == pytest.approx(0.5)
    assert (row["n_turns"], row["n_reference"], row["n_other"], row["n_both"]) == (90, 48, 48, 24)
    assert row["brier"] == pytest.approx((35 * 0.04 + 10 * 0.64) / 45)
    assert found.rates["human"].tolist() == pytest.approx([10 / 45] * 6)
    assert found.confusion["n"].tolist() == [18, 24, 24, 24]
    assert found.confusion["share_of_human"].tolist() == pytest.approx([30 / 35, 5 / 35, 0.5, 0.5])
    high = found.calibration.iloc[-1]
    assert (high["n_turns"], high["observed"]) == (48, pytest.approx(0.5))
    assert "Each counts 1 / inclusion" in found.text
    plain = agreement(as_machine(DRAWN), human.drop(columns="inclusion"))
    assert plain.codes["kappa"].iloc[0] < 0 < TRUE
    assert "inclusion" not in plain.text


def files_of(folder: Path, turns: pd.DataFrame, inclusion: tuple[str, ...] = ("Ann", "Ben")) -> tuple[Path, Path]:
    for coder, values in (("Ann", "first"), ("Ben", "second")):
        table = turns[["session_id", "turn", "inclusion"]].assign(coder=coder, code=CODE, value=turns[values])
        table = table if coder in inclusion else table.drop(columns="inclusion")
        table.to_csv(folder / f"{coder}.csv", index=False)
    return folder / "Ann.csv", folder / "Ben.csv"


def test_so_do_those_of_two_people(tmp_path):
    for told in (("Ann", "Ben"), ("Ann",)):
        found = people_agreement(*files_of(tmp_path, DRAWN, told))
        row = found.coders.iloc[0]
        assert row["kappa"] == pytest.approx(TRUE)
        assert row["alpha"] == pytest.approx(TRUE, abs=0.01)
        assert "Each counts 1 / inclusion" in "\n".join(found.summary)
    files = files_of(tmp_path, DRAWN, ())
    plain = people_agreement(*files)
    assert plain.coders["kappa"].iloc[0] < 0
    turns = DRAWN[["session_id", "turn", "inclusion"]].astype({"inclusion": str}).assign(role="therapist")
    assert people_agreement(*files, turns=turns).coders["kappa"].iloc[0] == pytest.approx(TRUE)


def test_two_people_of_two_samples_are_refused(tmp_path):
    ann, ben = files_of(tmp_path, DRAWN)
    pd.read_csv(ben).assign(inclusion=0.5).to_csv(ben, index=False)
    with pytest.raises(BadOptionError, match="different inclusions"):
        people_agreement(ann, ben)


def test_kappa_of_a_simulated_sample_is_that_of_all_turns():
    # benchmarks/agreement_coverage.py has sizes and coverage. Of 10,000 sessions the kappa of two people is .633.
    assert 35 < talks(np.random.default_rng(0)).groupby("session_id").size().mean() < 65
    found = np.array([sample_kappas(np.random.default_rng([300, run]), 300, "second") for run in range(40)])
    assert found[:, 0, 0].mean() < 0.6
    assert found[:, 1, 0].mean() == pytest.approx(0.633, abs=0.02)
    assert ((found[:, 1, 1] <= 0.633) & (found[:, 1, 2] >= 0.633)).mean() >= 0.9


# Kinds of a code


def asked(first: tuple[str, ...], second: tuple[str, ...], n: tuple[int, ...]) -> pd.DataFrame:
    """Return turns of six sessions with what two give them: open or closed question, or none ("")."""
    rows = [pair for pair, times in zip(zip(first, second, strict=True), n, strict=True) for _ in range(times)]
    one = pd.DataFrame(rows, columns=["first", "second"])
    return pd.concat([one.assign(session_id=f"s{at}", turn=range(len(one))) for at in range(6)], ignore_index=True)


KINDS = asked(("o", "o", "c", "c", "o", "", ""), ("o", "c", "o", "c", "", "c", ""), (4, 2, 3, 3, 1, 1, 20))
"""Of 12 turns that both call a question 7 are of one kind for both. Expected: (6 x 7 + 6 x 5) / 144 = 1 / 2."""
WITHIN = (7 / 12 - 1 / 2) / (1 - 1 / 2)


def with_codes(turns: pd.DataFrame, given: str, codes: tuple[str, ...]) -> pd.DataFrame:
    kinds = {CODE: turns[given].ne(""), f"{CODE}_open": turns[given].eq("o"), f"{CODE}_closed": turns[given].eq("c")}
    return turns[["session_id", "turn"]].assign(**{code: kinds[code].astype(int) for code in codes})


EVERY = (CODE, f"{CODE}_open", f"{CODE}_closed")


def machine_of(turns: pd.DataFrame) -> pd.DataFrame:
    machine = with_codes(turns, "second", EVERY).assign(role="therapist")
    return machine.assign(**{f"p_{code}": 0.5 for code in EVERY})


def test_kappa_of_a_kind_is_among_the_turns_to_which_both_gave_the_code():
    found = agreement(machine_of(KINDS), with_codes(KINDS, "first", EVERY))
    codes = found.codes.set_index("code")
    row = codes.loc[f"{CODE}_open"]
    assert (row["among"], row["n_turns"], row["n_differ"]) == (CODE, 72, 30)
    assert (row["n_reference"], row["n_other"], row["n_both"]) == (36, 42, 24)
    assert row["kappa"] == pytest.approx(WITHIN)
    assert row["recall"] == pytest.approx(4 / 7)  # of all turns, as is precision
    assert row["precision"] == pytest.approx(4 / 7)
    assert (codes.loc[CODE, "among"], codes.loc[CODE, "n_turns"]) == ("", 204)
    assert f"72 turns to which both gave {CODE}, with it by people 36, machine 42, both 24: kappa" in "\n".join(
        found.summary
    )


def test_of_several_people_too(tmp_path):
    ann = with_codes(KINDS, "first", EVERY)
    ben = with_codes(KINDS, "second", EVERY)
    people = pd.concat([one.assign(coder=name) for one, name in ((ann, "Ann"), (ben, "Ben"), (ben, "Cem"))])
    found = agreement(machine_of(KINDS), people)
    own = found.pairs[found.pairs["code"] == f"{CODE}_open"].set_index(["reference", "other"])
    assert own.loc[("Ann", "Ben"), "kappa"] == pytest.approx(WITHIN)
    assert own.loc[("Ben", "Cem"), ["n_turns", "n_differ"]].tolist() == [78, 0]
    assert own.loc[("majority", "machine"), "n_turns"] == 78  # most call these a question
    row = found.codes.set_index("code").loc[f"{CODE}_open"]
    assert row["human_kappa_min"] == pytest.approx(WITHIN)
    for one, name in ((ann, "Ann"), (ben, "Ben")):
        one.assign(coder=name).to_csv(tmp_path / f"{name}.csv", index=False)
    pair = people_agreement(tmp_path / "Ann.csv", tmp_path / "Ben.csv").coders.set_index("code")
    assert pair.loc[f"{CODE}_open", "kappa"] == pytest.approx(WITHIN)


def test_without_the_code_itself_its_kinds_have_no_kappa():
    found = agreement(machine_of(KINDS), with_codes(KINDS, "first", (f"{CODE}_open",)))
    row = found.codes.iloc[0]
    assert (row["code"], row["n_turns"]) == (f"{CODE}_open", 204)
    assert np.isnan([row["kappa"], row["ac1"]]).all()
    assert row["note"] == f"no kappa, AC1 or alpha: {CODE}, of which it is a kind, was not coded"
    assert row["recall"] == pytest.approx(4 / 7)


# Few and equal


@pytest.mark.parametrize(
    ("n", "flip", "what"), [(4, False, "the code"), (5, False, ""), (4, True, "no code"), (5, True, "")]
)
def test_no_kappa_where_a_coder_gave_a_code_to_fewer_than_five_turns(n, flip, what):
    turns = turns_of(6, 20)
    value = np.zeros(len(turns))
    value[np.flatnonzero(turns["role"] == "therapist")[: 4 * n : 4]] = 1
    machine = turns.assign(**{CODE: np.where(turns["role"] == "therapist", np.abs(value - flip), np.nan)})
    human = turns[["session_id", "turn"]].assign(**{CODE: np.abs(value - flip).astype(int)})
    human.loc[1:9, CODE] = 1 - int(flip)  # people differ from the machine on some turns
    row = agreement(machine, human).codes.set_index("code").loc[CODE]
    told = f"no kappa or alpha: a coder gave {what} to fewer than 5 turns" if what else ""
    assert (row["note"], np.isnan(row["kappa"])) == (told, bool(what))
    assert not np.isnan(row["ac1"])


def test_where_no_turn_differs_that_is_said(tmp_path):
    turns = sessions_of([(1, 1, 1, 10), (0, 0, 1, 10)])
    found = agreement(as_machine(turns), turns[["session_id", "turn"]].assign(**{CODE: turns["first"]}))
    row = found.codes.set_index("code").loc[CODE]
    assert (row["kappa"], row["n_differ"], row["note"]) == (1, 0, "0 of 120 turns differ")
    line = next(one for one in found.summary if one.startswith(CODE))
    assert "120 turns, with it by people 60, machine 60, both 60: 0 of 120 turns differ; " in line
    assert "1.00" not in line
    assert "| 0 of 120 turns differ |" in found.text
    people = people_agreement(*files_of(tmp_path, turns, ()))
    assert f"{CODE}  120 turns, with it by Ann 60, Ben 60, both 60: 0 of 120 turns differ" in people.summary
    assert "1.00" not in people.text
