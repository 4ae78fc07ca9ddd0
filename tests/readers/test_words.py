"""Words in, words out: every reader gives each speaker the words that the dialogue gives them, no more and no fewer.

Dialogues are drawn, written in each form by hand (``tests/spoken_forms.py``) and read. What a session lacks must be
counted in its notes, in words.
"""

from __future__ import annotations

import csv
import html
import io
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.spoken_forms import CASTS, FORMS, Cast, Dialogue, Form
from therapy_analytics.core.session import Session
from therapy_analytics.readers import ReadOptions, choose_reader, join_marks, read_files
from therapy_analytics.readers.base import READERS, load_source

BOUNDED = settings(
    max_examples=2,  # each is written for all casts
    phases=[Phase.generate],  # a dialogue is short enough to be read; to shrink it takes a minute
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
Words = Counter[tuple[str, str]]
"""How often who says which word."""

REJECTED = re.compile(r"(\d+) lines? begins? as a label does, but w(?:as|ere) not taken")
LEFT_OUT = re.compile(r"(\d[\d,]*) words?\b")

PHRASES = (
    """
I slept badly again|and then it was four in the morning|she never asks|what would you like instead
you miss him|my mother said no|ten minutes, or maybe twenty|no|mm-hm|okay|I can't go on like this
how was the week|the children came home|he drinks: every night|it is 3.5 kilometres|at 10:30 I gave up
"come here," he said|(my sister) was there|call me at 555-0199|a - b - c|half / half|50% sure; perhaps more
I thought: why me|well, yes...|it's [NAME] who calls|see https://example.org/a?b=1|mail ana@example.org
two things: rest, and food|I am #1 there|naïve, café, Übung|мне плохо сегодня|我睡不着|أنا بخير|it\u2019s \u2014 fine
yes & no
""".replace("\n", "|")
    .strip("|")
    .split("|")
)
FIRST = ["so: ", "- ", "... ", "3 times ", "10:30 was late, ", '"No," ', "I said: ", "well - ", "(quietly) ", "Note: "]
FURTHER = [
    "and I left it at that.",
    "At 10:30 I gave up.",
    "Nobody came, and nobody called.",
    "he said: let it be.",
    "https://example.org/page",
    "- the first thing is sleep",
    "1. go out once a day",
    "Then nothing.",
]
BEFORE = ["Session of the third of May", "Office 2, recorded by hand", "The names were changed."]


@st.composite
def texts(draw: st.DrawFn) -> str:
    phrases = draw(st.lists(st.sampled_from(PHRASES), min_size=1, max_size=4))
    first = draw(st.sampled_from(["", "", "", *FIRST]))
    last = draw(st.sampled_from([".", "?", "!", "", " ..."]))
    further = draw(st.sampled_from(["", "", "", *(f"\n{line}" for line in FURTHER)]))
    return f"{first}{', '.join(phrases)}{last}{further}"


Script = tuple[list[tuple[int, str]], tuple[str, ...]]
"""Turns of nobody in particular, each with a number that says whose of a cast it is, and lines before the first."""


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    """Draw turns, of which two in a row are the same two words."""
    turns = draw(
        st.lists(
            st.tuples(st.integers(0, 2**20), texts()),
            min_size=10,
            max_size=14,
            unique_by=lambda turn: turn[1],
        )
    )
    turns[3:5] = [(turns[at][0], "Mm-hm, okay.") for at in (3, 4)]
    return turns, draw(st.sampled_from([(), (), tuple(BEFORE[:1]), tuple(BEFORE)]))


def played(script: Script, cast: Cast) -> Dialogue:
    """Give the turns to a cast: the first two speak at least twice, the others at least once, also twice in a row."""
    turns, before = script
    mixed = [number * 2_654_435_761 % 2**32 for number, _ in turns]  # small numbers are drawn more often
    sure = [0, 1, *range(2, len(cast.labels)), 0, 1]
    numbers = [*sure, *(one % len(cast.labels) for one in mixed[len(sure) :])]
    order = [0, 1, *(numbers[at] for at in sorted(range(2, len(numbers)), key=lambda at: mixed[at] >> 8))]
    return Dialogue(cast, tuple((cast.labels[n], text) for n, (_, text) in zip(order, turns, strict=True)), before)


def words(text: str) -> list[str]:
    """Return what stands between spaces, without the signs around it."""
    stripped = (re.sub(r"^\W+|\W+$", "", word) for word in unicodedata.normalize("NFC", text).split())
    return [word for word in stripped if word]


def given_to(dialogue: Dialogue) -> Words:
    return Counter((who, word) for who, text in dialogue.turns for word in words(text))


def read_words(session: Session) -> Words:
    return Counter((turn.speaker, word) for turn in session.turns for word in words(join_marks(turn.text, turn.marks)))


def read_one(form: Form, dialogue: Dialogue, folder: Path) -> Session:
    written = form.write(dialogue)
    path = folder / f"case{form.suffix}"
    path.write_bytes(written if isinstance(written, bytes) else written.encode())
    (reading,) = read_files([path])
    assert reading.problem is None, f"{reading.problem}\n{dialogue}"
    assert len(reading.sessions) == 1
    return reading.sessions[0]


def told(session: Session) -> int:
    """Return how many words the notes say were left out."""
    return sum(int(n.replace(",", "")) for note in session.notes if "left out" in note for n in LEFT_OUT.findall(note))


def assert_same_words(dialogue: Dialogue, session: Session, *, loose: bool = False) -> None:
    """Nobody has words of another; what is missing is told."""
    there, read = given_to(dialogue), read_words(session)
    nobody = Counter(word for line in dialogue.before for word in words(line))
    if loose:
        there, read = without_rejected(dialogue, session, there, read)
    more = read - there
    assert Counter({word: n for (who, word), n in more.items() if not who}) <= nobody
    assert {one: n for one, n in more.items() if one[0]} == {}, f"words of others: {session.notes}"
    unread = there - read
    lost = unread.total() + nobody.total() - sum(n for (who, _), n in more.items() if not who)
    assert lost <= told(session), f"lost: {unread or nobody}; notes: {session.notes}"


def without_rejected(dialogue: Dialogue, session: Session, there: Words, read: Words) -> tuple[Words, Words]:
    """Leave out who speaks once and was not taken for a speaker, if a note counts such lines."""
    turns = Counter(who for who, _ in dialogue.turns)
    missing = {who for who in turns if who not in {turn.speaker for turn in session.turns}}
    n_told = sum(int(match[1]) for note in session.notes if (match := REJECTED.match(note)))
    if not missing or sum(turns[who] for who in missing) > n_told or any(turns[who] > 1 for who in missing):
        return there, read
    theirs = Counter(word for who, text in dialogue.turns if who in missing for word in words(f"{who} {text}"))
    more = Counter(word for who, word in (read - there).elements())
    return (
        Counter({one: n for one, n in there.items() if one[0] not in missing}),
        read if more - theirs else read & there,
    )


def assert_roles(dialogue: Dialogue, session: Session) -> None:
    roles = {turn.speaker: turn.role for turn in session.turns}
    assert {who: roles[who] for who in dialogue.cast.roles if who in roles} == {
        who: role for who, role in dialogue.cast.roles.items() if who in roles
    }
    if "therapist" in dialogue.cast.roles.values():
        therapists = {who for who, role in roles.items() if role == "therapist"}
        assert therapists <= {who for who, role in dialogue.cast.roles.items() if role == "therapist"}


def registered() -> Iterator[object]:
    for form in FORMS:
        if form.reader in READERS.names():
            yield pytest.param(form, id=f"{form.reader}: {form.name}")


def test_every_reader_has_a_form_here() -> None:
    assert set(READERS.names()) - {form.reader for form in FORMS} == set(), "write a form for it in spoken_forms.py"


@pytest.mark.parametrize("form", list(registered()))
@BOUNDED
@given(data=st.data())
def test_every_speaker_keeps_their_words(form: Form, data: st.DataObject, tmp_path: Path) -> None:
    script = data.draw(scripts())
    for name in form.casts or CASTS:
        dialogue = form.holds(played(script, CASTS[name]))
        session = read_one(form, dialogue, tmp_path)
        assert_same_words(dialogue, session, loose=form.loose)
        assert_roles(dialogue, session)
    assert form.loose or choose_reader(load_source(tmp_path / f"case{form.suffix}", ReadOptions())).name == form.reader


def extracted(path: Path) -> Words:
    """Return who says which words in a file as the standard library has it, where that is plain; else nothing."""
    plain = ((who.strip(), re.sub(r"</?think>", " ", text)) for who, text in said_in(path))
    return Counter((who, word) for who, text in plain for word in words(text))


def said_in(path: Path) -> Iterator[tuple[str, str]]:
    text = path.read_text(encoding="utf-8") if path.suffix in {".csv", ".json", ".jsonl", ".eaf", ".vtt"} else ""
    if path.suffix == ".csv":
        rows = csv.DictReader(io.StringIO(text))
        yield from ((row["speaker"], row["text"]) for row in rows if {"speaker", "text"} <= row.keys())
    elif path.suffix in {".json", ".jsonl"}:
        for value in map(json.loads, text.splitlines() if path.suffix == ".jsonl" else [text]):
            yield from messages_in(value)
    elif path.suffix == ".eaf":
        for tier in ET.fromstring(text).iter("TIER"):
            values = tier.iterfind("ANNOTATION/ALIGNABLE_ANNOTATION/ANNOTATION_VALUE")
            yield from ((tier.get("TIER_ID", ""), value.text or "") for value in values)
    elif path.suffix == ".vtt":
        voices = re.findall(r"<v ([^>]+)>((?:(?!\n\n)[^<])*)", text)
        yield from ((who, html.unescape(spoken)) for who, spoken in voices)


def messages_in(value: Any) -> Iterator[tuple[str, str]]:
    """Yield speaker and words of every message at any depth; a message may have its words in parts."""
    if isinstance(value, dict):
        who = next((value[key] for key in ("speaker", "from", "role") if isinstance(value.get(key), str)), None)
        spoken = next((value[key] for key in ("text", "value", "content") if key in value), None)
        if who is not None and spoken is not None:
            yield who, spoken if isinstance(spoken, str) else " ".join(part.get("text", "") for part in spoken)
            return
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from messages_in(one)


ROOT = Path(__file__).resolve().parents[2]
COMMITTED = {
    path: there
    for folder in ("sample_transcripts", "tests/formats")
    for path in sorted((ROOT / folder).glob("*.*"))
    if path.name != "whisperx.json"  # names the speaker of some segments by their words alone
    and (there := extracted(path))
}


@pytest.mark.parametrize("path", list(COMMITTED), ids=lambda path: path.name)
def test_a_committed_file_is_read_as_the_standard_library_has_it(path: Path) -> None:
    there = COMMITTED[path]
    (reading,) = read_files([path])
    read = sum((read_words(session) for session in reading.sessions), Words())
    assert read - there == {}
    assert (there - read).total() <= sum(map(told, reading.sessions)), there - read
