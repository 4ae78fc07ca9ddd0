"""Read, convert, read: the same session for every pair of forms, in every form."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import therapy_analytics as ta
from therapy_analytics.core.errors import BadOptionError, NothingToReadError, UnknownNameError
from therapy_analytics.core.session import Session, Turn
from therapy_analytics.readers import RawSession, ReadOptions, Row, read
from therapy_analytics.readers.base import READERS
from therapy_analytics.readers.build import build_session
from therapy_analytics.readers.writers import WRITERS, Writer, convert

FORMS = list(WRITERS)
SPEAKERS = [("Ruth Lindqvist", "therapist"), ("Dana", "client"), ("Observer", "other")]
_WORDS = st.sampled_from(
    ["yes", "no,", "I", "don't", "know.", '"so"', "=1+1", "a;b", "it\u2019s", "caf\u00e9", "<b>", "&amp;", "[laughs]",
     "(pause 2s)", "xxx", "10:30", "well:", "\U0001f600", "\u05e9\u05dc\u05d5\u05dd", "-", "{x}", "%", "@me", "*go*"]
)  # fmt: skip
_TEXTS = st.lists(_WORDS, min_size=1, max_size=12).map(" ".join).filter(lambda text: any(map(str.isalpha, text)))


@st.composite
def made_sessions(draw: st.DrawFn) -> Session:
    """Sessions as a reader would give them: turns of alternating speakers, with or without times and codes."""
    n = draw(st.integers(2, 10))
    timed, coded, others = draw(st.booleans()), draw(st.booleans()), draw(st.booleans())
    rows, clock = [], draw(st.integers(1, 5000)) / 1000
    for number in range(n):
        label, role = SPEAKERS[2] if others and number == n // 2 else SPEAKERS[number % 2]
        end = clock + draw(st.integers(1, 90_000)) / 1000
        times = (round(clock, 3), round(end, 3)) if timed else (None, None)
        gold = {"code": draw(st.sampled_from(["", "question", "reflection;question"]))} if coded else {}
        rows.append(Row(label, draw(_TEXTS), number + 1, *times, role, gold))  # type: ignore[arg-type]
        clock = end
    about = {"counselor": "Ruth Lindqvist", "client": "Dana", "source": "human"}
    return build_session(RawSession("", rows, about), "made", "made.csv", about, ReadOptions())


def _kept(session: Session) -> list[tuple[object, ...]]:
    """What must survive a form, turn by turn."""
    return [_kept_turn(turn) for turn in session.turns]


def _kept_turn(turn: Turn) -> tuple[object, ...]:
    codes = {name: value for name, value in turn.gold.items() if value}
    marks = [(mark.kind, mark.at, mark.seconds) for mark in turn.marks]
    return (turn.speaker, turn.role, turn.text, marks, turn.start_s, turn.end_s, codes)


def _through(session: Session, form: Writer, folder: Path) -> Session:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"made{form.suffix}").write_bytes(form.write(session))
    (folder / "sessions.csv").write_text("session_id,counselor,client,source\nmade,Ruth Lindqvist,Dana,human\n")
    (back,) = read(folder / f"made{form.suffix}")
    return back


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
@given(session=made_sessions())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_written_and_read_is_the_same(form: Writer, session: Session, tmp_path: Path) -> None:
    back = _through(session, form, tmp_path)
    assert _kept(back) == _kept(session)
    assert dict(back.metadata) == dict(session.metadata)
    assert back.id == session.id


@pytest.mark.parametrize(("one", "two"), list(itertools.permutations(FORMS, 2)), ids=lambda form: form.name)
@given(session=made_sessions())
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_through_two_forms_is_the_same(one: Writer, two: Writer, session: Session, tmp_path: Path) -> None:
    back = _through(_through(session, one, tmp_path / "one"), two, tmp_path / "two")
    assert _kept(back) == _kept(session)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_every_form_has_a_reader_and_says_what_it_is(form: Writer) -> None:
    assert any(form.suffix in one.suffixes for one in READERS)
    assert len(form.description.split()) >= 4


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_the_samples_survive(form: Writer, samples: Path, tmp_path: Path) -> None:
    done = convert([samples], form.name, tmp_path / "out")
    assert len(done.files) == 16
    before = {one.id: one for one in read(samples)}
    after = {one.id: one for one in read(tmp_path / "out")}
    assert before.keys() == after.keys()
    for name, session in before.items():
        assert _kept(after[name]) == _kept(session), name
        assert dict(after[name].metadata) == dict(session.metadata)


def test_nothing_is_overwritten(samples: Path, tmp_path: Path) -> None:
    convert([samples / "aria_ben.json"], "csv", tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(BadOptionError, match="is there already"):
        convert([samples / "aria_ben.json"], "csv", tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_unknown_forms_and_nothing_to_read(samples: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"no form named 'pdf'. Known: .*csv"):
        convert([samples / "aria_ben.json"], "pdf", tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NothingToReadError):
        convert([tmp_path / "empty"], "csv", tmp_path / "out")


def test_measures_are_the_same_after_conversion(samples: Path, tmp_path: Path) -> None:
    sessions = read(samples / "lindqvist_omar.txt")
    convert([samples / "lindqvist_omar.txt"], "jsonl", tmp_path)
    again = read(tmp_path / "lindqvist_omar.jsonl")
    one, two = ta.analyze(sessions).sessions, ta.analyze([replace(again[0], source_file="x")]).sessions
    numbers = one.select_dtypes("number").columns
    assert one[numbers].equals(two[numbers])
