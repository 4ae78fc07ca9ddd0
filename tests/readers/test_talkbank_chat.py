"""CHAT: tiers, participants, bullets, and the codes among the words."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.session import Session
from therapy_analytics.readers import RawSession, Source
from therapy_analytics.readers.base import READERS
from therapy_analytics.readers.chat_talkbank import spoken

HANG_S = 10.0
"""Seconds of processor time that only a hang takes; speed itself is measured in benchmarks/."""

SessionOf = Callable[..., Session]

HEAD = "@UTF8\n@Begin\n@Languages:\teng\n@Participants:\tINV Ruth_Lee Investigator, PAR Dana Participant\n"


def raw(text: str) -> RawSession:
    (one,) = READERS["talkbank_chat"].read(Source(Path("a.cha"), text))
    return one


@pytest.mark.parametrize(
    ("coded", "words"),
    [
        ("hello there .", "hello there."),
        ("well , how are you ?", "well, how are you?"),
        ("<I want> [/] I want it .", "I want I want it."),
        ("<I want> [//] I need it .", "I want I need it."),
        ("I [/] I [///] we [/-] you .", "I I we you."),
        ("<<a b> [/] a b> [//] c .", "a b a b c."),
        ("&-um no &-you_know .", "um no you know."),
        ("&uh no &~gaga .", "uh no gaga."),
        ("the &+ca cat .", "the ca- cat."),
        ("no &=laughs .", "no [laughs]."),
        ("&=laughs .", "[laughs]"),
        ("so &=ges:wave yes .", "so [ges wave] yes."),
        ("&{l=crying no &}l=crying .", "[crying] no."),
        ("so &*PAR:mhm yes .", "so [PAR: mhm] yes."),
        ("so (.) no (..) yes (2.5) .", "so (.) no (..) yes (2.5)."),
        ("so (...) no (3.) yes (1:02.5) .", "so (long pause) no (3.0) yes (62.5)."),
        ("(be)cause I was goin(g) (a)bout .", "because I was going about."),
        ("xxx yyy .", "xxx yyy"),
        ("I xxx it .", "I xxx it."),
        ("www .", "[not transcribed]"),
        ("I was +...", "I was..."),
        ("I was +/.", "I was\u2014"),
        ("was I +//?", "was I\u2014?"),
        ("what +!?", "what!?"),
        ('+" she said no +".', "she said no."),
        ("+, and +^ so ++ yes .", "and so yes."),
        ("+< yeah .", "[overlap] yeah."),
        ("<oh no> [>] so <well> [<1] .", "oh no [overlap] so well [overlap]."),
        ("gonna [: going to] go .", "going to go."),
        ("<gonna be> [: going to be] fine .", "going to be fine."),
        ("peas [:: peace] [* s:r] .", "peace."),
        ("0 .", ""),
        ("0 +...", ""),
        ("0 [=! nods] .", "[nods]"),
        ("he 0is tall .", "he tall."),
        ("0 drinks since May .", "0 drinks since May."),
        ("10 or 0.5 or 30 .", "10 or 0.5 or 30."),
        ("no [!] yes [!!] so [?] it [x 3] is [+ gram] .", "no yes so [unclear] it is."),
        ("[- spa] si [% a remark] then [= the dog] .", "si then."),
        ("woof@o hola@s:spa be@l New_York .", "woof hola be New York."),
        ("no: wa:y ice+cream ha^ppy .", "no way icecream happy."),
        ("mind \u2021 you \u201e no .", "mind, you, no."),
        ("at 10:30 .", "at 10:30."),
        ("[laughs] plain marks [sighs] stay .", "[laughs] plain marks [sighs] stay."),
    ],
)
def test_codes_among_the_words(coded: str, words: str) -> None:
    assert spoken(coded) == words


def test_a_small_file(session: SessionOf) -> None:
    text = HEAD + (
        "@Date:\t05-NOV-2023\n@Comment:\tnot\n\tthis\n*INV:\thow are\n\tyou ? \x150_1250\x15\n%mor:\tno no\n\tno\n"
        "%com:\tno\n*PAR:\tI <was> [/] was fine . \x151300_2000\x15\n*PAR:\tI am fine . \x152100_3000\x15\n@End\n"
    )
    one = session(text, "a.cha")
    assert [(turn.speaker, turn.role, turn.text, turn.first_row, turn.start_s, turn.end_s) for turn in one.turns] == [
        ("INV", "therapist", "how are you?", 8, 0.0, 1.25),
        ("PAR", "client", "I was was fine. I am fine.", 13, 1.3, 3.0),
    ]
    assert one.notes == ("2 dependent tiers (morphology, comments, ...) left out.",)
    assert dict(one.metadata) == {"counselor": "Ruth Lee", "client": "Dana", "date": "2023-11-05"}


@pytest.mark.parametrize("change", [lambda text: "\ufeff" + text, lambda text: text.replace("\n", "\r\n")])
def test_a_mark_of_byte_order_and_other_line_ends_change_nothing(
    change: Callable[[str], str], session: SessionOf
) -> None:
    text = HEAD + "*INV:\thow are\n\tyou ?\n*PAR:\tfine .\n@End\n"
    assert session(change(text), "a.cha").turns == session(text, "b.cha").turns


@pytest.mark.parametrize(
    ("word", "role"),
    [
        ("Investigator", "therapist"),
        ("Therapist", "therapist"),
        ("Interviewer", "therapist"),
        ("Clinician", "therapist"),
        ("Participant", "client"),
        ("Client", "client"),
        ("Patient", "client"),
        ("Subject", "client"),
        ("Target_Child", "client"),
        ("Environment", "other"),
        ("Mother", None),
        ("Visitor", None),
    ],
)
def test_roles_of_participants(word: str, role: str | None) -> None:
    one = raw(f"@Begin\n@Participants:\tABC Anna {word} , XYZ Adult\n*ABC:\thi .\n*XYZ:\thi .\n*QQQ:\thi .\n@End\n")
    assert [(row.speaker, row.role) for row in one.rows] == [("ABC", role), ("XYZ", None), ("QQQ", None)]


def test_roles_from_ids_where_there_is_no_line_of_participants() -> None:
    one = raw(
        "@Begin\n@ID:\teng|x|ABC|||||Therapist|||\n@ID:\teng|x|XYZ|||||Client|||\n*XYZ:\thi .\n*ABC:\tho .\n@End\n"
    )
    assert [row.role for row in one.rows] == ["client", "therapist"]
    assert dict(one.metadata) == {}


def test_participants_go_on_over_lines() -> None:
    one = raw("@Begin\n@Participants:\tABC Anna\n\tTherapist, XYZ\n\tClient\n*ABC:\thi .\n*XYZ:\thi .\n@End\n")
    assert [row.role for row in one.rows] == ["therapist", "client"]
    assert dict(one.metadata) == {"counselor": "Anna"}


@pytest.mark.parametrize(
    ("bullet", "times"),
    [
        (" \x1515_2030\x15", (0.015, 2.03)),
        (" \u202215_2030\u2022", (0.015, 2.03)),
        (" 15_2030", (0.015, 2.03)),
        (" \x151700000000015_1700000002030\x15", (1700000000.015, 1700000002.03)),
        (' \x15%snd:"a_1"_15_2030\x15', (0.015, 2.03)),
        (" \x1515_900\x15 and \x15900_2030\x15", (0.015, 2.03)),
        ("", (None, None)),
        (" \x15%pic:\x15", (None, None)),
    ],
)
def test_bullets(bullet: str, times: tuple[float | None, float | None]) -> None:
    (row,) = raw(f"@Begin\n*INV:\thi .{bullet}\n@End\n").rows
    assert (row.start_s, row.end_s) == times
    assert "15" not in row.text


@pytest.mark.parametrize(
    ("tier", "gold"),
    [
        ("$REF", {"cod": "REF"}),
        ("$NIA:YQ <w2> $QUE\n\t$IMP", {"cod": "NIA:YQ;QUE;IMP"}),
        ("only words $", {}),
    ],
)
def test_codes_of_a_coding_tier(tier: str, gold: dict[str, str]) -> None:
    one = raw(f"@Begin\n*INV:\thi .\n%cod:\t{tier}\n*INV:\tho .\n@End\n")
    assert [row.gold for row in one.rows] == [gold, {}]
    assert bool(one.notes) == (not gold)


def test_a_line_that_lost_its_tab_is_not_lost() -> None:
    (row,) = raw("@Begin\n*INV:\thow are\nyou *really* doing\n\n today ?\n@End\n").rows
    assert row.text == "how are you *really* doing today?"


def test_a_file_without_its_end_says_so() -> None:
    assert raw("@Begin\n*INV:\thi .\n").notes == ("The file has no @End; it may have been cut off.",)
    assert raw("@Begin\n*INV:\thi .\n@End\n").notes == ()


def test_a_file_without_speech_is_refused(problem: Callable[..., UnreadableFileError]) -> None:
    assert problem(HEAD + "@End\n", "a.cha").problem == "no line of speech was found"


@pytest.mark.parametrize(
    ("head", "sure"),
    [("@UTF8\n@Begin\n", 1), ("\ufeff@Begin\n", 1), ("@begin \n", 1), ("@Beginning of it\n", 0), ("hi @Begin\n", 0)],
)
def test_how_a_file_is_known(head: str, sure: float) -> None:
    assert READERS["talkbank_chat"].sniff(Source(Path("a"), head)) == sure


CODES = "ab [](){}<>&=*+-~_@0:/.,\"'^?!x1\u2021\u2308\n\t"


@given(st.text(CODES, max_size=80))
@settings(max_examples=300, deadline=None)
def test_whatever_is_coded_leaves_no_angle_and_no_double_space(text: str) -> None:
    words = spoken(text)
    assert words == words.strip()
    assert not set("<>\u2308") & set(re.sub(r"\[[^\[\]]*\]", "", words))
    assert "  " not in words


@given(st.lists(st.text("abcdefg ", min_size=1, max_size=20).filter(str.strip), min_size=1, max_size=9))
@settings(max_examples=80, deadline=None)
def test_words_without_codes_are_read_as_they_are(texts: list[str]) -> None:
    lines = [f"*{'INV' if at % 2 else 'PAR'}:\t{text} .\n" for at, text in enumerate(texts)]
    one = raw("@Begin\n" + "".join(lines) + "@End\n")
    assert [row.text for row in one.rows] == [f"{' '.join(text.split())}." for text in texts]
    assert [row.place for row in one.rows] == list(range(2, 2 + len(texts)))


@pytest.mark.parametrize(
    "snippet",
    ["[", "(", "<", "&", "+", "0", "\x15", "1_1 ", " ", ":", "a@", "<a> [", "[: ", "xxx ", "_", "&=", ".", "a"],
)
def test_no_repetition_takes_endless_time(snippet: str) -> None:
    began = time.process_time()
    raw(f"@Begin\n*INV:\t[: a {snippet * 100_000}!\n@End\n")
    raw(f"@Begin\n*INV:\t(a {snippet * 100_000}\n@End\n")
    assert time.process_time() - began < HANG_S


def test_speed() -> None:
    line = "*{}:\t&-um I <do> [/] do not (be)cause it's (.) hard &=laughs , you see . \x15{}_{}\x15\n%mor:\tno no\n"
    text = HEAD + "".join(line.format("PAR" if at % 2 else "INV", at * 10, at * 10 + 9) for at in range(10_000))
    began = time.process_time()
    assert len(raw(text).rows) == 10_000
    assert time.process_time() - began < HANG_S / 4
