"""Couples, families and co-therapists: whose measures are whose."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import therapy_analytics as ta
from therapy_analytics.core.session import Session, Turn
from therapy_analytics.measures.dyads import MOST
from therapy_analytics.run import Writing

FAST = ta.TaggerOptions(kind="fast")
COUPLE = """\
Therapist: What brings the two of you here?
Client Ana: We argue about the dishes, and I am tired of it.
Client Ben: I am tired too.
Therapist: You are both worn out.
Client Ben: Yes.
Client Ana: Worn out, yes.
"""


def _read(tmp_path: Path, text: str) -> list[Session]:
    (tmp_path / "couple.txt").write_text(text)
    return ta.read(tmp_path / "couple.txt")


def test_each_client_of_a_couple_is_measured_alone(tmp_path: Path) -> None:
    analysis = ta.analyze(_read(tmp_path, COUPLE), tagger=FAST)
    together = ta.wide(analysis).iloc[0]
    assert (together["n_clients"], together["n_therapists"], together["n_turns_client"]) == (2, 1, 4)
    by_client = analysis.dyads.set_index("client")
    assert list(by_client.index) == ["Client Ana", "Client Ben"]
    assert by_client["n_words_client"].tolist() == [14, 5]
    assert by_client["n_words_client"].sum() == together["n_words_client"]
    assert (by_client["n_words_therapist"] == 12).all()
    assert by_client["n_client_change"].sum() == together["n_client_change"]


def test_a_session_of_two_people_has_no_dyads(tmp_path: Path) -> None:
    analysis = ta.analyze(
        _read(tmp_path, COUPLE.replace("Client Ana", "Client").replace("Client Ben", "Client")), tagger=FAST
    )
    assert ta.wide(analysis)["n_clients"].tolist() == [1]
    assert len(analysis.dyads) == 0
    assert "lsm_turn_mean" in analysis.dyads


def test_pairs_of_co_therapists_and_clients(tmp_path: Path) -> None:
    kim = "Counselor Kim: And what do you hope for?\nClient Ana: Peace.\nCounselor Kim: Peace.\n"
    dyads = ta.analyze(_read(tmp_path, COUPLE + kim), tagger=FAST).dyads
    assert list(zip(dyads["therapist"], dyads["client"], strict=True)) == [
        ("Therapist", "Client Ana"),
        ("Therapist", "Client Ben"),
        ("Counselor Kim", "Client Ana"),
        ("Counselor Kim", "Client Ben"),
    ]
    assert dyads["n_words_therapist"].tolist() == [12, 12, 7, 7]


def test_the_measures_of_a_pair_are_those_of_a_session_of_the_pair(tmp_path: Path) -> None:
    """Ben's words under another speaker's role count as nobody's, as if the file said so."""
    session = _read(tmp_path, COUPLE)[0]
    ana_alone = Session(
        id="ana",
        source_file="ana.txt",
        turns=tuple(
            Turn(
                index=turn.index,
                speaker=turn.speaker,
                role="other" if turn.speaker == "Client Ben" else turn.role,
                text=turn.text,
                first_row=turn.first_row,
            )
            for turn in session.turns
        ),
    )
    pair = ta.analyze([session], tagger=FAST).dyads.iloc[0]
    alone = ta.analyze([ana_alone], tagger=FAST).sessions.iloc[0]
    names = [name for name in pair.index if name.startswith(("n_", "lsm", "rlsm", "semantic"))]
    assert len(names) > 10
    assert pair["n_words_client"] == 14
    np.testing.assert_array_equal(pair[names].astype(float), alone[names].astype(float))


def test_a_chat_room_has_no_dyads() -> None:
    turns = tuple(
        Turn(index=i, speaker=f"P{i}", role="client" if i else "therapist", text="Hello there", first_row=i + 1)
        for i in range(MOST + 2)
    )
    analysis = ta.analyze([Session(id="chat", source_file="chat.txt", turns=turns)], tagger=FAST)
    assert ta.wide(analysis)["n_clients"].tolist() == [MOST + 1]
    assert len(analysis.dyads) == 0


def test_a_run_writes_dyads_where_there_are_any(tmp_path: Path) -> None:
    (tmp_path / "couple.txt").write_text(COUPLE)
    writing = Writing(figures=(), report=False)
    ta.run([tmp_path / "couple.txt"], tmp_path / "out", settings=ta.Settings(tagger=FAST), writing=writing)
    assert (tmp_path / "out" / "dyads.csv").exists()
    codebook = pd.read_csv(tmp_path / "out" / "codebook.csv")
    assert {"session_id", "therapist", "client"} == set(codebook.query("table == 'dyads'")["column"])
