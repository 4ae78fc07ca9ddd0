"""The research corpora, where a developer has them: counts, layouts, and how good the pronoun rule is."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from therapy_analytics.core.session import Session
from therapy_analytics.readers import FileReading, RawSession, ReadOptions, Row, read, read_files
from therapy_analytics.readers.build import build_session


@pytest.mark.parametrize(
    ("path", "n_sessions"),
    [
        ("annomi/annomi.csv", 87),
        ("hlqc/hlqc.csv", 176),
        ("mibot/mibot.csv", 160),
        ("vera_mh", 35),
        ("mindeval", 29),
        ("spiral_bench", 60),
    ],
)
def test_sessions_are_all_there_and_have_both_roles(path: str, n_sessions: int, corpora: Path) -> None:
    sessions = read(corpora / path)
    assert len(sessions) == len({one.id.casefold() for one in sessions}) == n_sessions
    for one in sessions:
        assert {"therapist", "client"} <= {turn.role for turn in one.turns}
        assert one.role_method == "labels"
        assert all(turn.text.strip() or turn.marks for turn in one.turns)
        assert all(a.first_row < b.first_row for a, b in zip(one.turns, one.turns[1:], strict=False))


def test_every_file_of_a_chat_corpus_is_a_session_of_its_own(corpora: Path) -> None:
    readings = list(read_files([corpora / "vera_mh"]))
    assert len(readings) == 35
    assert [len(reading.sessions) for reading in readings] == [1] * 35
    assert {turn.speaker for reading in readings for turn in reading.sessions[0].turns} == {"user", "agent"}


def test_rows_of_ten_coders_are_read_once(corpora: Path) -> None:
    sessions = read(corpora / "annomi" / "annomi.csv")
    coded = [one for one in sessions if any("for another coder" in note for note in one.notes)]
    assert len(coded) == 3
    assert all(max(turn.first_row for turn in one.turns) - one.turns[0].first_row >= len(one.turns) for one in coded)


def layouts(corpora: Path) -> dict[str, FileReading]:
    return {reading.path.name: reading for reading in read_files([corpora / "layouts"])}


def test_odd_layouts_are_all_read(corpora: Path) -> None:
    readings = layouts(corpora)
    assert not [reading.problem for reading in readings.values() if reading.problem is not None]
    turns = [turn for reading in readings.values() for one in reading.sessions for turn in one.turns]
    assert all(turn.text or turn.marks for turn in turns)


@pytest.mark.parametrize(
    ("name", "method"),
    [("speaker_text.json", "labels"), ("therapist_client_labels.txt", "labels"), ("type_T_P.csv", "labels")],
)
def test_odd_layouts_with_labels_have_both_roles(name: str, method: str, corpora: Path) -> None:
    (one,) = layouts(corpora)[name].sessions
    assert {turn.role for turn in one.turns} == {"therapist", "client"}
    assert one.role_method == method


def without_labels(session: Session, names: dict[str, str]) -> Session:
    """Build the session again with neutral names for its speakers."""
    rows = [Row(names[turn.role], turn.text, turn.first_row) for turn in session.turns]
    return build_session(RawSession(session.id, rows), session.id, session.source_file, {}, ReadOptions())


def test_the_pronoun_rule_finds_the_therapist_or_says_that_it_is_unsure(corpora: Path) -> None:
    sessions = read(corpora / "annomi" / "annomi.csv")
    rng = random.Random(20)
    right = sure = sure_and_right = 0
    for one in sessions:
        first, second = rng.sample(["A", "B"], 2)
        guessed = without_labels(one, {"therapist": first, "client": second})
        assert guessed.role_method in {"pronouns", "pronouns_unsure"}
        found = {turn.speaker for turn in guessed.turns if turn.role == "therapist"} == {first}
        right += found
        sure += guessed.role_method == "pronouns"
        sure_and_right += found and guessed.role_method == "pronouns"
    assert right >= 0.98 * len(sessions)
    assert sure >= 0.8 * len(sessions)
    assert sure_and_right == sure
