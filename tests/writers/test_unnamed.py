"""Turns without a speaker's name keep their role, and stay without a name, in every form."""

from __future__ import annotations

from pathlib import Path

import pytest

from therapy_analytics.core.session import Role, Session, Turn
from therapy_analytics.readers import read
from therapy_analytics.readers.writers import WRITERS

TALKS: dict[str, list[tuple[str, Role]]] = {
    "nobody has a name": [("", "therapist"), ("", "client"), ("", "therapist"), ("", "other")],
    "one has none": [("Ann", "therapist"), ("Bo", "client"), ("", "client"), ("Ann", "therapist"), ("Bo", "client")],
    "between names": [("Ann", "therapist"), ("", "other"), ("Bo", "client"), ("", "other"), ("Ann", "therapist")],
}


@pytest.mark.parametrize("form", sorted(WRITERS.names()))
@pytest.mark.parametrize("people", TALKS.values(), ids=TALKS)
def test_a_turn_without_a_name_stays_one_and_keeps_its_role(
    form: str, people: list[tuple[str, Role]], tmp_path: Path
) -> None:
    turns = [
        Turn(index=at, speaker=speaker, role=role, text=f"This is number {at}.", first_row=at + 1, start_s=2.0 * at)
        for at, (speaker, role) in enumerate(people)
    ]
    path = tmp_path / f"talk{WRITERS[form].suffix}"
    path.write_bytes(WRITERS[form].write(Session(id="talk", source_file="talk.txt", turns=tuple(turns))))
    (again,) = read(path)
    assert [(turn.speaker, turn.role) for turn in again.turns] == people
