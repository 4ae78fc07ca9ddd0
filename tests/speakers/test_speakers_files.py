"""The command: copies, list of changes, files without speakers."""

from __future__ import annotations

import csv
import json
import re
import stat
import sys
from collections import Counter
from pathlib import Path

import pytest
from commands import commands
from spoken import FRENCH, SPOKEN, labelled, plain, session

import therapy_analytics as ta
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.speakers import speakers

CLOCK = [(f"{at // 6:02}:{10 * at % 60:02}", 10.0 * at) for at in range(len(SPOKEN))]


def stamp(at: int, comma: str = ".") -> str:
    return f"00:{CLOCK[at][0]}{comma}000"


def captions(head: str, comma: str) -> str:
    cues = [f"{at + 1}\n{stamp(at, comma)} --> {stamp(at, comma)[:-3]}900\n{text}\n" for at, text in enumerate(SPOKEN)]
    return head + "\n".join(cues)


def table(delimiter: str, *, header: str = "start,text", label: str = "") -> str:
    lines = [header.replace(",", delimiter)]
    for at, text in enumerate(SPOKEN):
        cells = [str(CLOCK[at][1]), *([label] if label else []), f'"{text}"']
        lines.append(delimiter.join(cells))
    return "\n".join(lines) + "\n"


UNLABELLED = {
    "lines.txt": "\n".join(SPOKEN),
    "blank_lines.md": "\ufeff" + "\r\n\r\n".join(SPOKEN),
    "stamped.txt": "".join(f"[{stamp(at)} --> {stamp(at)[:-3]}900]  {text}\n" for at, text in enumerate(SPOKEN)),
    "clock.txt": "".join(f"{CLOCK[at][0]} {text}\n" for at, text in enumerate(SPOKEN)),
    "captions.srt": captions("", ","),
    "captions.vtt": captions("WEBVTT\n\n", "."),
    "whisper.json": json.dumps(
        {"text": " ".join(SPOKEN), "language": "en",
         "segments": [{"id": at, "start": CLOCK[at][1], "end": CLOCK[at][1] + 9, "text": f" {text}"}
                      for at, text in enumerate(SPOKEN)]}
    ),
    "list.json": json.dumps([{"start": CLOCK[at][1], "text": text, "speaker": None} for at, text in enumerate(SPOKEN)]),
    "segments.csv": table(","),
    "segments.tsv": table("\t", header="start,text"),
    "only_text.csv": "text\n" + "".join(f'"{text}"\n' for text in SPOKEN),
    "one_label.csv": table(",", header="start,speaker,text", label="SPEAKER_00"),
    "one_label.txt": "".join(f"Speaker 1: {text}\n" for text in SPOKEN),
}  # fmt: skip
TIMED = {"stamped.txt", "clock.txt", "captions.srt", "captions.vtt", "whisper.json", "list.json", "segments.csv"}


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", UNLABELLED)
def test_files_without_speakers_get_some(name: str, tmp_path: Path) -> None:
    given = tmp_path / name
    given.write_bytes(UNLABELLED[name].encode())
    done = speakers([given], tmp_path / "out")
    assert not done.problems
    (copy,) = done.files
    found = rows(copy)
    assert [row["text"] for row in found] == list(SPOKEN)
    right = [row["role"] == ("client" if at % 2 else "therapist") for at, row in enumerate(found)]
    assert sum(right) >= 0.9 * len(SPOKEN)
    assert {row["speaker_changed"] for row in found} <= {"attributed", "unsure"}
    assert [row["start_s"] for row in found] == [str(time) if name in TIMED | {"segments.tsv", "one_label.csv"} else ""
                                                 for _, time in CLOCK]  # fmt: skip
    assert given.read_bytes() == UNLABELLED[name].encode()
    (again,) = ta.read(copy)  # the copy can be analyzed
    assert not any(turn.gold for turn in again.turns)
    spoken = Counter(word for text in SPOKEN for word in text.split())
    assert Counter(word for turn in again.turns for word in turn.text.split()) == spoken


def test_columns_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text("Said\n" + "".join(f'"{text}"\n' for text in SPOKEN))
    done = ta.speakers([tmp_path / "own.csv"], tmp_path / "out", options=ta.ReadOptions(columns={"text": "Said"}))
    assert [row["text"] for row in rows(done.files[0])] == list(SPOKEN)


def test_the_list_of_changes_gives_places_and_no_words(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.txt"
    spoken = tuple(map(plain, SPOKEN))
    lines = labelled(spoken[:8]) + labelled(spoken[8:18], "Tom", "Ruth") + labelled(spoken[18:])
    wrong.write_text(lines)
    done = speakers([wrong], tmp_path / "out", options=ta.ReadOptions(therapist="Ruth"))
    changes = rows(tmp_path / "out" / "changes.csv")
    (one,) = [row for row in changes if row["kind"] == "swapped"]
    assert 6 <= int(one["turn"]) <= 9
    assert one["from"] == one["to"] == "both"
    assert 0.5 < float(one["probability"]) < 1
    told = (tmp_path / "out" / "changes.csv").read_text()
    names = {"wrong", "swapped", "words_moved", "words", "turn", "last_turn", "row", "from", "to", "both"}
    names |= {"session_id", "kind", "probability", "therapist", "client"}
    assert not set(re.findall(r"[a-z_]+", told)) - names
    assert done.changes["swapped"] == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_what_is_written_is_for_its_owner_alone(tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_text(labelled())
    speakers([tmp_path / "talk.txt"], tmp_path / "out")
    for path in (tmp_path / "out", *(tmp_path / "out").rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "talk.txt").write_text(labelled())
    speakers([tmp_path / "talk.txt"], tmp_path / "out")
    with pytest.raises(BadOptionError):
        speakers([tmp_path / "talk.txt"], tmp_path / "out")


def test_what_cannot_be_told_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "foreign.txt").write_text("\n".join(FRENCH * 3))
    (tmp_path / "alone.txt").write_text("".join(f"Therapist: {text}\n" for text in SPOKEN[::2]))
    (tmp_path / "broken.json").write_text('{"segments": [')
    (tmp_path / "talk.txt").write_text(labelled())
    files = ["foreign.txt", "alone.txt", "broken.json", "talk.txt"]
    (done,) = commands(tmp_path, ["speakers", *files, "--therapist", "Ruth"])
    assert done.status == 1
    assert "English" in done.text
    assert "broken.json" in done.text
    assert {path.name for path in (tmp_path / "speakers" / "transcripts").iterdir()} == {
        "foreign.csv", "alone.csv", "talk.csv",
    }  # fmt: skip
    assert not any(phrase in done.text for phrase in ("wedding", "comment allez", "sister"))


def test_a_run_notes_swapped_speakers_and_changes_nothing(tmp_path: Path) -> None:
    lines = labelled(SPOKEN[:8]) + labelled(SPOKEN[8:20], "Tom", "Ruth") + labelled(SPOKEN[20:])
    for name, text in (("a_right", labelled()), ("b_wrong", lines), ("c_right", labelled(SPOKEN[:20]))):
        (tmp_path / f"{name}.txt").write_text(text)
    files = ["a_right.txt", "b_wrong.txt", "c_right.txt"]
    plain_run = ["--no-plots", "--no-report", "--therapist", "Ruth"]
    first, twice, alone, repair = commands(
        tmp_path,
        ["run", *files, "--out", "one", *plain_run],
        ["run", *files[::-1], "--out", "two", "--processes", "2", *plain_run],
        ["run", files[1], "--out", "alone", *plain_run],
        ["run", *files, "--out", "repaired", "--repair-speakers", *plain_run],
    )
    assert {done.status for done in (first, twice, alone, repair)} == {0}
    notes = {row["session_id"]: row["notes"] for row in rows(tmp_path / "one" / "sessions.csv")}
    assert re.search(r"Speakers look swapped in turns [789] to 1[678] \(probability \.\d\d\)", notes["b_wrong"])
    assert "tanalyze speakers shows it." in notes["b_wrong"]
    assert "swapped" not in notes["a_right"] + notes["c_right"]
    for other in ("two", "alone"):
        found = {row["session_id"]: row["notes"] for row in rows(tmp_path / other / "sessions.csv")}
        assert found["b_wrong"] == notes["b_wrong"]
    turns = rows(tmp_path / "one" / "sessions" / "b_wrong" / "turns.csv")
    assert "speaker_changed" not in turns[0]
    right = rows(tmp_path / "repaired" / "sessions" / "b_wrong" / "turns.csv")
    assert {row["speaker_changed"] for row in right} == {"", "swapped"}
    told = {row["session_id"]: row["notes"] for row in rows(tmp_path / "repaired" / "sessions.csv")}
    assert "were swapped" in told["b_wrong"]
    assert "look swapped" not in told["b_wrong"]
    assert {row["speaker_changed"] for row in rows(tmp_path / "repaired" / "sessions" / "a_right" / "turns.csv")} == {
        ""
    }
    recipe = json.loads((tmp_path / "repaired" / "run.json").read_text())
    assert recipe["options"]["repair_speakers"] is True


def test_the_session_in_memory_is_as_it_was() -> None:
    one = session(swapped=range(8, 18))
    before = repr(one) + "".join(turn.text for turn in one.turns)
    assert ta.analyze([one]).sessions["notes"].str.contains("look swapped").all()
    assert repr(one) + "".join(turn.text for turn in one.turns) == before
