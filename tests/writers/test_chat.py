"""CHAT as it is written: what CLAN sees, and that all of it is read back."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from therapy_analytics.readers import RawSession, ReadOptions, Row, join_marks, read
from therapy_analytics.readers._build import build_session
from therapy_analytics.readers._marks import split_marks
from therapy_analytics.session import Session
from therapy_analytics.writers import WRITERS
from therapy_analytics.writers.chat_talkbank import utterances

HANG_S = 10.0
"""Seconds of processor time that only a hang takes."""

WRITE = WRITERS["chat"].write


def made(*rows: Row, **about: str) -> Session:
    return build_session(RawSession("", list(rows), about), "made", "made.csv", about, ReadOptions())


def lines(session: Session) -> list[str]:
    return WRITE(session).decode().replace("\x15", "|").split("\n")


def back(session: Session, folder: Path) -> Session:
    path = folder / "made.cha"
    path.write_bytes(WRITE(session))
    (one,) = read(path)
    return one


def kept(session: Session) -> list[tuple[object, ...]]:
    """What must survive, with the white space of the words folded and the marks where a reader puts them."""
    found: list[tuple[object, ...]] = []
    for turn in session.turns:
        words, marks = turn.text, turn.marks
        for _ in range(2):  # a star closes another star only within 30 signs, and folding can bring them together
            words, marks = split_marks(" ".join(join_marks(words, marks).split()))
        seen = [(mark.kind, mark.at, mark.seconds) for mark in marks]
        codes = {name: value for name, value in turn.gold.items() if value}
        found.append((turn.speaker, turn.role, words, seen, turn.start_s, turn.end_s, codes))
    return found


def test_a_file_that_can_be_counted_by_hand() -> None:
    session = made(
        Row("Dr. Ames", "Hello, Bo. How are you?", 1, 0.5, 2.25, "therapist", {"code": "question;open one"}),
        Row("Bo | 7", "[laughs] I... (pause 2s) xxx it\u2019s \u201cfine\u201d", 2, 2.5, None, "client"),
        Row("Eve", "no", 3, None, None, "client"),
        Row("Clock", "[silence 3s]", 4, None, None, "other"),
        date="2024-03-14",
    )
    assert lines(session) == [
        "@UTF8",
        "@Begin",
        "@Languages:\tund",
        "@Participants:\tTHE Dr_Ames Therapist, CL1 Bo_7 Participant, CL2 Eve Participant, OTH Clock Other",
        "@ID:\tund|converted|THE|||||Therapist||label=Dr. Ames|",
        "@ID:\tund|converted|CL1|||||Participant||label=Bo %7C 7|",
        "@ID:\tund|converted|CL2|||||Participant||label=Eve|",
        "@ID:\tund|converted|OTH|||||Other||label=Clock|",
        "@Date:\t14-MAR-2024",
        "*THE:\tHello , Bo .",
        "%cod:\t$code=question $code=open%20one",
        "*THE:\tHow are you ? |500_2250|",
        "*CL1:\t&=laughs I +...",
        "*CL1:\t(2.) xxx it's fine . [+ nopunct]",
        '%xtxt:\t"(pause 2s) xxx it\u2019s \u201cfine\u201d"',
        "%xtim:\t2500_",
        "*CL2:\tno . [+ nopunct]",
        "*OTH:\t(3.) . [+ nopunct]",
        '%xtxt:\t"[silence 3s]"',
        "@End",
        "",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("yes", ["yes . [+ nopunct]"]),
        ("Well, yes. No?", ["Well , yes .", "No ?"]),
        ("Dr. Lee, e.g. J. Lee, left.", ["Dr Lee , e g J Lee , left ."]),
        ("So do I. And", ["So do I .", "And . [+ nopunct]"]),
        ("1. Sleep. 2. Walk.", ["1 Sleep .", "2 Walk ."]),
        ("I was\u2014", ["I was +/."]),
        ("and so...", ["and so +..."]),
        ("what?!", ["what !"]),
        ("2,500 at 10:30 or 3.5", ["2500 at 10:30 or 3_5 . [+ nopunct]"]),
        ("<b> & (so) [1] @me +1 #2 a_b", ["b so 1 me 1 2 a b . [+ nopunct]"]),
        ("0 and 007-0b", ["\uff10 and \uff1007-\uff10b . [+ nopunct]"]),
        ("www _xxx xx", ["\uff57ww \uff58xx \uff58x . [+ nopunct]"]),
        ("'so' he 'd -", ["so he 'd . [+ nopunct]"]),
        ("\U0001f600", ["0 . [+ nopunct]"]),
        ("[overlap] yes [crosstalk] no.", ["+< yes &=crosstalk no ."]),
        ("[overlap]", ["&=overlap . [+ nopunct]"]),
        ("no. [sighs softly] (long pause)", ["no .", "&=sighs_softly (...) . [+ nopunct]"]),
        ("(.) no (..) [inaudible 00:12] [00:13] no", ["(.) no (..) xxx no . [+ nopunct]"]),
        ("[A.B] so", ["so . [+ nopunct]"]),
        ("", ["0 . [+ nopunct]"]),
    ],
)
def test_words_and_marks(text: str, expected: list[str]) -> None:
    assert [one.line for one in utterances(*split_marks(text))] == expected


@pytest.mark.parametrize("text", ["yes", "Well, yes. No?", "I was\u2014", "[laughs] so (2.5) no.", "at 10:30, you: no"])
def test_what_chat_can_say_is_not_said_twice(text: str) -> None:
    assert not any(one.verbatim for one in utterances(*split_marks(text)))


@pytest.mark.parametrize(
    "written", ["[inaudible 00:12]", "[mumbles]", "[overlapping]", "[silence 3s]", "[long silence]", "*nods, smiles*"]
)
def test_a_mark_that_says_more_than_chat_can_is_kept_as_it_was(written: str, tmp_path: Path) -> None:
    session = made(Row("T", f"{written} yes", 1, role="therapist"), Row("C", "no.", 2, role="client"))
    one, two = session.turns[0], back(session, tmp_path).turns[0]
    assert [mark.written.strip("[]*") for mark in two.marks] == [mark.written.strip("[]*") for mark in one.marks]


def test_a_correction_of_the_utterance_is_read(tmp_path: Path) -> None:
    path = tmp_path / "made.cha"
    data = WRITE(made(Row("T", "I <b> see", 1, role="therapist"), Row("C", "(so) no", 2, role="client"))).decode()
    path.write_text(data.replace("so no", "oh no"), encoding="utf-8")
    (one,) = read(path)
    assert [turn.text for turn in one.turns] == ["I <b> see", "oh no"]


def test_long_utterances_go_on_and_no_code_is_torn(tmp_path: Path) -> None:
    for n in range(1, 60):
        session = made(Row("T", f"{'word ' * 12}{'x' * n}", 1, role="therapist"), Row("C", "no", 2, role="client"))
        assert all(len(line) < 100 for line in lines(session))
        assert sum("[+ nopunct]" in line for line in lines(session)) == 2
        assert kept(back(session, tmp_path)) == kept(session)


def test_more_than_nine_of_one_role(tmp_path: Path) -> None:
    rows = [Row(f"C{n}", "yes.", n, role="client") for n in range(1, 121)]
    session = made(Row("T", "no.", 1, role="therapist"), *rows)
    written = [line.split(":")[0] for line in lines(session) if line.startswith("*")]
    assert written[:2] == ["*THE", "*CL1"]
    assert len(set(written)) == 121
    assert kept(back(session, tmp_path)) == kept(session)


def test_a_converted_file_alone_has_no_names_for_metadata(tmp_path: Path) -> None:
    session = made(Row("T", "yes.", 1, role="therapist"), Row("Bo", "no.", 2, role="client"))
    assert dict(back(session, tmp_path).metadata) == {}


@pytest.mark.parametrize(("start", "end"), [(1.5, None), (None, 2.5), (1.5, 2.5), (1_700_000_000.25, 1_700_000_009.5)])
def test_times_of_turns_of_one_or_more_sentences(start: float | None, end: float | None, tmp_path: Path) -> None:
    for text in ("yes", "yes. no. so"):
        session = made(Row("T", text, 1, start, end, "therapist"), Row("C", "no. yes.", 2, role="client"))
        assert kept(back(session, tmp_path)) == kept(session)


_SIGNS = (
    "ab cI'\",;|\t\n:()[]{}<>&=-+*_#\\/.?!\u00e9e\u0301\u2019\u5f20\u2028\u200f\U0001f600\U0001f469\u200d\x15\x00\x1f"
    "\x7f\x85\u2022\u2014wx135%@$^~`\u2026\u2021\u201e\u2191\u05e9\u221e\u2122\u2460\u00bd\ufeff\ufffe\u3000"
)
_CODES = st.sampled_from(
    ["www", "xxx", "0", "0mg", "[laughs]", "[silence 3s]", "(pause 2s)", "(looks)", "[a/b c/d e]", "[A.B]", "[00:12]",
     "[overlap]", "*laughs*", "no.", "...", "\u2014", "1,000", "3.5", "Dr.", "a_b", "1_2", "(.)", "&=x", "+...",
     "[: a]", "'so.'", "[/]", "[?]", "@End", "*CLI:", "%cod:", "xxx's", "[1]", "(be)cause", "+<", "[+ nopunct]", ".*"]
)  # fmt: skip
_HOSTILE = st.one_of(st.text(_SIGNS, min_size=1, max_size=50), st.lists(_CODES, min_size=1, max_size=30).map(" ".join))
_LABELS = st.lists(st.text(_SIGNS, max_size=8), min_size=2, max_size=2, unique_by=lambda one: one.casefold().strip())
HOSTILE = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def hostile_sessions(draw: st.DrawFn) -> Session:
    """Sessions of two speakers with a row a turn, whose words, labels and codes are what no transcript should hold."""
    labels = draw(_LABELS)
    rows = []
    for n, text in enumerate(draw(st.lists(_HOSTILE, min_size=2, max_size=6))):
        gold = {draw(st.text(_SIGNS, max_size=4)): draw(st.text(_SIGNS.replace(";", ""), min_size=1, max_size=6))}
        rows.append(Row(labels[n % 2], text, n + 1, n + 1.0, n + 1.5, "client" if n % 2 else "therapist", gold))
    return made(*rows)


@HOSTILE
@given(session=hostile_sessions().filter(lambda session: len(session.turns) > 0))
def test_hostile_text_is_read_back(session: Session, tmp_path: Path) -> None:
    assert kept(back(session, tmp_path)) == kept(session)


@HOSTILE
@given(session=hostile_sessions())
def test_other_programs_read_it(session: Session) -> None:
    pylangacq = pytest.importorskip("pylangacq")
    written = WRITE(session).decode()
    read_by_others = pylangacq.CHAT.from_strs([written])
    assert len(read_by_others.utterances()) == sum(line.startswith("*") for line in written.split("\n"))


@pytest.mark.parametrize("snippet", [".", "a. ", "! ", "[laughs] ", "[laughs]. ", "'", "1,", "\u2014", "(", "* ", "0 "])
def test_no_repetition_takes_endless_time(snippet: str) -> None:
    text, marks = split_marks(snippet * (20_000 // len(snippet)))
    began = time.process_time()
    assert list(utterances(text, marks))
    assert time.process_time() - began < HANG_S
