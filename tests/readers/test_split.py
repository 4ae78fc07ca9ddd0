"""Sessions that are split by days or gaps, and talk that stands in one file a speaker."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.session import Session
from therapy_analytics.readers import ReadOptions, as_sessions, find_files, read, read_files
from therapy_analytics.readers.transcript_reading import read_transcript
from therapy_analytics.readers.transcripts import find_transcripts

Sessions = Callable[..., tuple[Session, ...]]

CHAT = """01/02/2024, 18:00 - Nina: How do you feel about your week, and your sleep?
01/02/2024, 18:05 - Paul: I sleep, I think.
20/02/2024, 18:00 - Paul: You know me.
20/02/2024, 18:10 - Nina: I do.
"""
DOCTOR = "[00:00:01] How did it go?\n[00:00:20] Well done.\n"
PATIENT = "[00:00:04] I went there.\n"


def visit(folder: Path, name: str = "v1", doctor: str = DOCTOR, patient: str = PATIENT) -> tuple[Path, Path]:
    paths = folder / f"{name}_doctor.txt", folder / f"{name}_patient.txt"
    for path, text in zip(paths, (doctor, patient), strict=True):
        path.write_text(text)
    return paths


def test_roles_are_found_in_the_whole(sessions: Sessions) -> None:
    whole = sessions(CHAT, "chat.txt")[0]
    parts = sessions(CHAT, "chat.txt", split_by="gap=4h")
    roles = {turn.speaker: turn.role for turn in whole.turns}
    assert roles == {"Nina": "therapist", "Paul": "client"}  # in the second part alone, it would be Paul
    assert [{turn.speaker: turn.role for turn in part.turns} for part in parts] == [roles, roles]
    assert {part.role_method for part in parts} == {whole.role_method}


def test_every_turn_is_in_one_part(sessions: Sessions) -> None:
    spoken = [turn.text for part in sessions(CHAT, "chat.txt", split_by="day") for turn in part.turns]
    assert len(spoken) == 4
    assert [len(part.turns) for part in sessions(CHAT, "chat.txt", split_by="gap=30d")] == [3]


def test_a_table_speaks_of_the_whole_or_of_a_part(tmp_path: Path) -> None:
    (tmp_path / "chat.txt").write_text(CHAT)
    (tmp_path / "sessions.csv").write_text("session_id,site\nchat,North\nchat-2,South\n")
    parts = read(tmp_path, options=ReadOptions(split_by="gap=4h"))
    assert [(part.id, part.metadata["site"]) for part in parts] == [("chat-1", "North"), ("chat-2", "South")]


@pytest.mark.parametrize(
    ("split_by", "message"),
    [
        ("gap=4h", "no session that was read has times"),
        ("day", "no session that was read has dates"),
        ("gap=0h", "'gap=0h' is not understood"),
        ("week", "'week' is not understood"),
    ],
)
def test_what_cannot_be_split_is_refused_in_plain_words(split_by: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Therapist: Hello.\nClient: Hi.\n")
    with pytest.raises(BadOptionError, match=message):
        read(tmp_path, options=ReadOptions(split_by=split_by))


def test_a_session_without_times_among_others_is_noted(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Therapist: Hello.\nClient: Hi.\n")
    (tmp_path / "chat.txt").write_text(CHAT)
    one, *parts = read(tmp_path, options=ReadOptions(split_by="gap=4h"))
    assert one.notes == ("--split-by had no effect: the session has no times.",)
    assert len(parts) == 2


def test_a_recording_has_no_days(sessions: Sessions) -> None:
    text = "[00:01:00] Therapist: Hello.\n[00:02:00] Client: Hi.\n[30:02:00] Client: So.\n"
    with pytest.raises(BadOptionError, match=r"split where nobody speaks for long: --split-by gap=4h"):
        sessions(text, "a.txt", split_by="day")
    assert len(sessions(text, "a.txt", split_by="gap=10h")) == 2


def test_a_data_frame_is_split_as_a_file_is() -> None:
    frame = pd.DataFrame(
        {
            "speaker": ["T", "C", "T", "C"],
            "text": ["One.", "Two.", "Three.", "Four."],
            "start_s": [0, 5, 90_000, 90_005],
        }
    )
    parts = as_sessions(frame, options=ReadOptions(split_by="gap=1h"))
    assert [(part.id, [turn.start_s for turn in part.turns]) for part in parts] == [
        ("dialogue_1-1", [0, 5]),
        ("dialogue_1-2", [0, 5]),
    ]
    with pytest.raises(BadOptionError, match="no session that was read has times"):
        as_sessions([("T", "One."), ("C", "Two.")], options=ReadOptions(split_by="gap=1h"))


def test_files_of_one_speaker_each_are_joined_wherever_they_are_read(tmp_path: Path) -> None:
    both = visit(tmp_path)
    (tmp_path / "v1.txt").write_text("Therapist: Hello.\nClient: Hi.\n")
    folder, named = read_files([tmp_path]), read_files(both)
    joined = [reading.sessions[0] for reading in (*folder, *named) if reading.reader == "one_file_a_speaker"]
    assert [[(turn.role, turn.text) for turn in one.turns] for one in joined] == 2 * [
        [("therapist", "How did it go?"), ("client", "I went there."), ("therapist", "Well done.")]
    ]


def test_a_file_that_is_given_alone_is_not_joined_with_one_that_is_not(tmp_path: Path) -> None:
    doctor, _ = visit(tmp_path, doctor="Doctor: How did it go?\nPatient: Well.\n")
    (transcript,) = find_transcripts([doctor])
    assert (transcript.voices, transcript.apart) == ((), "")


def test_a_joined_talk_travels_and_has_a_hash_of_all_its_files(tmp_path: Path) -> None:
    visit(tmp_path)
    (transcript,) = pickle.loads(pickle.dumps(list(find_transcripts([tmp_path]))))
    first = read_transcript(transcript, ReadOptions())
    visit(tmp_path, patient=PATIENT.replace("went", "walked"))
    second = read_transcript(transcript, ReadOptions())
    assert first.sha256 != second.sha256
    assert [one.sessions[0].turns[1].text for one in (first, second)] == ["I went there.", "I walked there."]


def test_a_talk_that_changes_between_two_passes_is_a_problem_in_plain_words(tmp_path: Path) -> None:
    visit(tmp_path)
    (transcript,) = find_transcripts([tmp_path])
    visit(tmp_path, patient="Nothing with times.\n")
    problem = read_transcript(transcript, ReadOptions()).problem
    assert problem is not None
    assert problem.problem == "the file changed while it was read"


def test_times_of_day_in_two_files_are_not_joined_by_guess(tmp_path: Path) -> None:
    doctor, patient = "9:00 AM\tHow did it go?\n", "9:01 AM\tI went there.\n"
    head = "time\ttext\n"
    for name, text in (("v1_doctor.tsv", head + doctor), ("v1_patient.tsv", head + patient)):
        (tmp_path / name).write_text(text)
    problems = [reading.problem for reading in read_files([tmp_path])]
    assert all(problem and "do not count from the same moment" in problem.remedy for problem in problems)


def test_names_alone_join_nothing(tmp_path: Path) -> None:
    for name in ("lee_anna.txt", "lee_berta.txt", "plan_a.txt", "plan_b.txt"):
        (tmp_path / name).write_text(DOCTOR)
    assert len(list(find_transcripts([tmp_path]))) == len(find_files([tmp_path]))
