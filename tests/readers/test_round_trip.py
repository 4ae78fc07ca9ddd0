"""Whatever is written in a format is read back; whatever is done to a file, reading it is safe."""

from __future__ import annotations

import csv
import html
import io
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from therapy_analytics.core.session import Session
from therapy_analytics.readers import FileReading, join_marks, read_files

HANG_S = 10.0
"""Seconds of processor time that only a hang takes; speed itself is measured in benchmarks/."""

Talk = list[tuple[str, str]]

ALPHABET = "ab cI'\",;|\t\n:()[]{}<>&=-+*_#\\/.?!\u00e9e\u0301\u0308\u2019\u5f20\u2028\u200f\U0001f600\U0001f469\u200d"
SPEAKERS = st.sampled_from(
    [("T", "C"), ("Therapist", "Client"), ("Counselor 1", "Patient"), ("assistant", "user"), ("Dr. Lee", "P01")]
)
MANGLED = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
ROUND = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def plain(text: str) -> bool:
    """Tell whether a text has words once the edges are off (white space of any alphabet is no word)."""
    return bool(text.strip())


@st.composite
def talks(draw: st.DrawFn) -> Talk:
    """Two speakers who take turns, the therapist or the client first, 2 to 12 turns in all."""
    speakers = list(draw(SPEAKERS))
    if draw(st.booleans()):
        speakers.reverse()
    texts = draw(st.lists(st.text(ALPHABET, min_size=1, max_size=60).filter(plain), min_size=2, max_size=12))
    return [(speakers[at % 2], text) for at, text in enumerate(texts)]


def as_csv(talk: Talk) -> str:
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["speaker", "text"])
    writer.writerows(talk)
    return out.getvalue()


def as_tsv(talk: Talk) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t", quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(["n", "text", "who"])
    writer.writerows((at, text, speaker) for at, (speaker, text) in enumerate(talk))
    return out.getvalue()


def as_json(talk: Talk) -> str:
    return json.dumps({"id": "case", "messages": [{"role": who, "content": text} for who, text in talk]}, indent=1)


def as_jsonl(talk: Talk) -> str:
    return "\n".join(json.dumps({"speaker": who, "text": text}, ensure_ascii=False) for who, text in talk)


def as_vtt(talk: Talk) -> str:
    """Write a cue a turn: markup is escaped, and white space is folded, for a blank line would end the cue."""
    cues = []
    for at, (speaker, text) in enumerate(talk):
        words = html.escape(folded(text), quote=False)
        cues.append(f"{at}\n00:{at:02d}.000 --> 00:{at + 1:02d}.000\n<v {speaker}>{words}</v>\n")
    return "WEBVTT\n\n" + "\n".join(cues)


def as_text(talk: Talk) -> str:
    """Write a label a turn; a bar before each further line keeps it from looking like a label."""
    return "\n\n".join(f"{speaker}: {barred(text)}" for speaker, text in talk) + "\n"


def barred(text: str) -> str:
    return text.strip().replace("\n", "\n| ")


def kept(text: str) -> str:
    return text.strip()


def folded(text: str) -> str:
    return " ".join(text.split())


def read_back(content: str, path: Path) -> Session:
    path.write_bytes(content.encode())
    (reading,) = read_files([path])
    assert reading.problem is None, str(reading.problem)
    (session,) = reading.sessions
    return session


FORMATS: list[tuple[Callable[[Talk], str], str, Callable[[str], str]]] = [
    (as_csv, ".csv", kept),
    (as_tsv, ".tsv", kept),
    (as_json, ".json", kept),
    (as_jsonl, ".jsonl", kept),
    (as_vtt, ".vtt", folded),
    (as_text, ".txt", barred),
]


@pytest.mark.parametrize(("write", "suffix", "expected"), FORMATS, ids=[suffix for _, suffix, _ in FORMATS])
@ROUND
@given(talk=talks())
def test_what_is_written_is_read(
    write: Callable[[Talk], str], suffix: str, expected: Callable[[str], str], talk: Talk, tmp_path: Path
) -> None:
    session = read_back(write(talk), tmp_path / f"case{suffix}")
    found = [(turn.speaker, "".join(join_marks(turn.text, turn.marks).split())) for turn in session.turns]
    assert found == [(who, "".join(expected(text).split())) for who, text in talk]
    unmarked = [(turn.text, expected(talk[turn.index][1])) for turn in session.turns if not turn.marks]
    assert all(one == two for one, two in unmarked)
    therapists = {"T", "Therapist", "Counselor 1", "assistant", "Dr. Lee"}
    assert [turn.role == "therapist" for turn in session.turns] == [who in therapists for who, _ in talk]
    assert [turn.role == "client" for turn in session.turns] == [who not in therapists for who, _ in talk]
    assert (session.id, session.role_method, session.notes) == ("case", "labels", ())


def sample_paths() -> Iterator[Path]:
    """Yield one sample of each ending; what is not text has such tests of its own."""
    root = Path(__file__).resolve().parents[2]
    seen = {"", ".py", ".pyc", ".docx", ".xlsx", ".parquet"}
    for path in [*sorted((root / "sample_transcripts").iterdir()), *sorted((root / "tests" / "formats").iterdir())]:
        if path.suffix not in seen and path.name != "sessions.csv":
            seen.add(path.suffix)
            yield path


SAMPLES = list(sample_paths())
each_sample = pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.suffix)


def assert_safe(data: bytes, path: Path) -> FileReading:
    """Reading gives sessions or a foreseen problem, soon."""
    path.write_bytes(data)
    began = time.process_time()
    (reading,) = read_files([path])
    assert time.process_time() - began < HANG_S
    if reading.problem is None:
        assert any(session.turns for session in reading.sessions)
    else:
        assert reading.sessions == ()
        assert "could not be understood" not in reading.problem.problem
        assert str(reading.problem).endswith(".")
    return reading


@MANGLED
@given(data=st.binary(max_size=400), suffix=st.sampled_from([".txt", ".csv", ".json", ".vtt", ".odd", ""]))
def test_random_bytes(data: bytes, suffix: str, tmp_path: Path) -> None:
    assert_safe(data, tmp_path / f"case{suffix}")


@MANGLED
@given(text=st.text(ALPHABET, max_size=300), suffix=st.sampled_from([".txt", ".csv", ".json", ".vtt", ".odd", ""]))
def test_random_text(text: str, suffix: str, tmp_path: Path) -> None:
    assert_safe(text.encode(), tmp_path / f"case{suffix}")
    assert_safe(b"WEBVTT\n\n" + text.encode(), tmp_path / f"case{suffix}")
    assert_safe(b"speaker,text\n" + text.encode(), tmp_path / f"case{suffix}")


@each_sample
@MANGLED
@given(cut=st.tuples(st.floats(0, 1), st.floats(0, 1)))
def test_random_cuts(sample: Path, cut: tuple[float, float], tmp_path: Path) -> None:
    data = sample.read_bytes()
    begin, end = sorted(round(part * len(data)) for part in cut)
    assert_safe(data[begin:end], tmp_path / sample.name)
    assert_safe(data[:begin] + data[end:], tmp_path / sample.name)


NASTY = st.one_of(
    st.binary(min_size=1, max_size=8),
    st.text(ALPHABET, min_size=1, max_size=8).map(str.encode),
    st.sampled_from([b'"', b"\n", b"\0", b"\r", b"\xff", b"[" * 500, b"{", b"}", b"<v ", b"-->", b",", b":", b"\\"]),
)


@each_sample
@MANGLED
@given(insertions=st.lists(st.tuples(st.floats(0, 1), NASTY), min_size=1, max_size=6))
def test_random_insertions(sample: Path, insertions: list[tuple[float, bytes]], tmp_path: Path) -> None:
    data = sample.read_bytes()
    for place, nasty in insertions:
        at = round(place * len(data))
        data = data[:at] + nasty + data[at:]
    assert_safe(data, tmp_path / sample.name)
