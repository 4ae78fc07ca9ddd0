"""Small tables of turns that a reader can count."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest


def turns_of(n_sessions: int = 1, n: int = 8, *, seed: int = 0) -> pd.DataFrame:
    """Return turns of therapist and client in alternation, with codes at random."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"session_id": np.repeat([f"s{one}" for one in range(n_sessions)], n)})
    frame["turn"] = np.tile(np.arange(n), n_sessions)
    frame["role"] = np.where(frame["turn"] % 2 == 0, "therapist", "client")
    frame["first_row"] = frame["turn"] + 1
    codes = {"therapist": ("mi_question", "mi_reflection", "mi_input"), "client": ("mi_change", "mi_sustain")}
    for role, columns in codes.items():
        own = (frame["role"] == role).to_numpy()
        for column in columns:
            p = np.where(own, rng.random(len(frame)), np.nan)
            frame[f"p_{column}"] = p
            frame[column] = np.where(own, (p > 0.5).astype(float), np.nan)
    return frame


@pytest.fixture
def turns() -> pd.DataFrame:
    """Return one session of eight turns, of which the therapist has 0, 2, 4 and 6."""
    frame = turns_of()
    frame.loc[frame["role"] == "therapist", "mi_question"] = [1.0, 1, 0, 0]
    frame.loc[frame["role"] == "therapist", "p_mi_question"] = [0.9, 0.8, 0.2, 0.1]
    return frame
