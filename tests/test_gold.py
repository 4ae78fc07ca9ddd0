"""The double-coded samples fit the transcripts, the coders agree, and the tagger is not far off."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

import therapy_analytics as ta
from therapy_analytics.codes import load_tagger

SESSIONS = ("boyle_lucia", "harbor_maya", "lindqvist_dana_1", "nair_tomas")
FILES = ("boyle_lucia.txt", "harbor_maya.json", "lindqvist_dana_1.vtt", "nair_tomas.csv")
LATER = {"mi_question_open", "mi_question_closed"}
"""Codes that the tagger learnt after the sessions were coded; MISC's, too."""
ROLE = {
    code.column: code.role
    for code in load_tagger().codes
    if code.column not in LATER and not code.column.startswith("misc_")
}


@pytest.fixture(scope="module")
def gold(root: Path) -> dict[str, pd.DataFrame]:
    """Return coder to a frame of session, turn, role and one 0/1 column a code."""
    frames = {}
    for coder in ("coder_a", "coder_b"):
        parts = [
            pd.read_csv(root / "tests" / "gold" / coder / f"{name}.csv").fillna("").assign(session_id=name)
            for name in SESSIONS
        ]
        frame = pd.concat(parts, ignore_index=True)
        given = frame["codes"].str.split(";")
        frames[coder] = frame.assign(**{code: [code in one for one in given] for code in ROLE})
    return frames


@pytest.fixture(scope="module")
def turns(samples: Path) -> pd.DataFrame:
    """Return the same turns as the program sees them."""
    turns = ta.analyze([session for name in FILES for session in ta.read(samples / name)]).turns
    return turns[turns["session_id"].isin(SESSIONS)].sort_values(["session_id", "turn"], ignore_index=True)


@pytest.mark.parametrize("coder", ["coder_a", "coder_b"])
def test_the_files_fit_the_transcripts(coder: str, gold: dict[str, pd.DataFrame], turns: pd.DataFrame) -> None:
    frame = gold[coder]
    assert frame["session_id"].tolist() == turns["session_id"].tolist()
    assert frame["turn"].tolist() == turns["turn"].tolist()
    assert frame["role"].tolist() == turns["role"].tolist()
    known = {code for one in frame["codes"] for code in one.split(";") if code}
    assert known <= set(ROLE)
    for code, role in ROLE.items():
        assert not frame.loc[frame["role"] != role, code].any(), code


def test_the_coders_agree_and_are_two(gold: dict[str, pd.DataFrame]) -> None:
    first, second = gold["coder_a"], gold["coder_b"]
    assert first["codes"].tolist() != second["codes"].tolist()
    for code, role in ROLE.items():
        own = first["role"] == role
        assert cohen_kappa_score(first.loc[own, code], second.loc[own, code]) > 0.6, code


@pytest.mark.parametrize(("code", "least"), [("mi_question", 0.6), ("mi_reflection", 0.3), ("mi_input", 0.3)])
def test_the_tagger_is_not_far_off(code: str, least: float, gold: dict[str, pd.DataFrame], turns: pd.DataFrame) -> None:
    """Floors to notice a broken tagger by; no measure of how good it is."""
    own = (turns["role"] == ROLE[code]).to_numpy()
    machine = turns.loc[own, code].astype(bool).to_numpy()
    assert cohen_kappa_score(machine, gold["coder_a"].loc[own, code].to_numpy()) > least
