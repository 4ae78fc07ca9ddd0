"""A transcript given by mistake where a table is wanted: the message must not repeat what was said in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import PLAIN, tanalyze

SPOKEN = "zanthoric"
FIRST_LINES = {
    "labelled.txt": f"Therapist: how {SPOKEN} was it, really, this week?\nClient: quite {SPOKEN}, I would say\n",
    "headless.csv": f"I felt {SPOKEN} all day, and then {SPOKEN} again\n,5\n",
    "prose.txt": f"{SPOKEN} {SPOKEN}, {SPOKEN} and so on\n",
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the results of one short session, with a counselor."""
    folder = tmp_path_factory.mktemp("results")
    (folder / "one.txt").write_text("Therapist: How are you?\nClient: Not well.\n" * 4, encoding="utf-8")
    (folder / "sessions.csv").write_text("session_id,counselor\none,Ash\n", encoding="utf-8")
    done = tanalyze("run", str(folder), "--out", str(folder / "out"), *PLAIN)
    assert done.status == 0, done.err
    return folder


@pytest.mark.parametrize("name", FIRST_LINES)
@pytest.mark.parametrize(
    "command",
    [
        ("outcomes", "{results}", "--outcomes", "{file}"),
        ("outcomes", "{results}", "--outcomes", "{file}", "--better", "x"),
        ("agree", "{results}", "{file}"),
        ("compare", "{results}", "--by", "counselor", "--gold", "{file}"),
        ("compare", "{results}", "--by", "counselor", "--metadata", "{file}"),
        ("train", "{file}", "{transcripts}"),
        ("run", "{transcripts}", "--metadata", "{file}", "--tagger", "fast"),
        ("run", "{transcripts}", "--lexicon", "{file}", "--tagger", "fast"),
    ],
    ids=lambda command: " ".join(one for one in command if "{" not in one),
)
def test_the_message_does_not_repeat_what_was_said(
    results: Path, tmp_path: Path, name: str, command: tuple[str, ...]
) -> None:
    file = tmp_path / name
    file.write_text(FIRST_LINES[name], encoding="utf-8")
    places = {"results": results / "out", "file": file, "transcripts": results / "one.txt"}
    done = tanalyze(*(one.format(**places) for one in command), "--out", str(tmp_path / "out"))
    assert done.status != 0
    assert done.err or done.out
    assert SPOKEN not in done.err + done.out
