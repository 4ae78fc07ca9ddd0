"""What tables of all kinds share: names of columns, layouts, coders, human codes."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from therapy_analytics.core.errors import BadOptionError, UnreadableFileError
from therapy_analytics.core.session import Session
from therapy_analytics.readers import ReadOptions, _long, read_files
from therapy_analytics.readers._columns import find_columns, slug
from therapy_analytics.readers._contents import holds_codes

HANG_S = 10.0
"""Seconds of processor time that only a hang takes; speed itself is measured in benchmarks/."""

Spoken = Callable[..., list[tuple[str, str]]]
SessionOf = Callable[..., Session]
Sessions = Callable[..., tuple[Session, ...]]
Problem = Callable[..., UnreadableFileError]
MANGLED = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def turns_of(session: Session) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in session.turns]


@pytest.mark.parametrize(
    "speaker",
    [
        "speaker", "Interlocutor", "Type", "ROLE", "Speaker Name", "speakerRole", "Turn speaker", "Speaker (T/C)",
        "Therapist/Client", "client_or_therapist", "Sprecher", "Sender name", "Who",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "text",
    [
        "text", "utterance_text", "vol_text", "Utterance", "Dialogue", "Turn text", "Message", "Transcript",
        "utteranceText", "Spoken text", "Utterance (verbatim)", "Transcription of speech", "Content",
    ],
)  # fmt: skip
def test_names_of_columns(speaker: str, text: str, spoken: Spoken) -> None:
    assert spoken(f"{speaker},n,{text}\nT,1,Hello.\nC,2,Hi.\n", "a.csv") == [("T", "Hello."), ("C", "Hi.")]


@pytest.mark.parametrize(
    ("header", "kind", "at"),
    [
        ("Session #,Speaker,Text", "session", 0),
        ("Session Number,Speaker,Text", "session", 0),
        ("session_date,Speaker,Text", "session", None),
        ("Interview No.,Speaker,Text", "session", 0),
        ("dialog_act_id,Speaker,Text", "session", None),
        ("conv_vol_idx,Speaker,Text", "session", None),
        ("Speaker,Text,Start Time,End Time", "start", 2),
        ("Speaker,Text,Start Time,End Time", "end", 3),
        ("Speaker,Text,Time In,Time Out", "end", 3),
        ("Speaker,Text,Timestamp (begin)", "start", 2),
        ("Speaker,Text,Rater ID", "annotator", 2),
        ("Speaker,Text,Speaker gender,Text length", "speaker", 0),
        ("Text ID,Speaker gender,x", "text", None),
        ("Text ID,Speaker gender,x", "speaker", None),
    ],
)
def test_kinds_of_columns(header: str, kind: str, at: int | None) -> None:
    assert find_columns(header.split(","), {})[kind] == at


def test_slugs() -> None:
    assert [slug(name) for name in (" A  b ", "aB", "ABC", "\u00c4u\u00dferung!", "")] == [
        "a_b", "a_b", "abc", "\u00e4usserung", "",
    ]  # fmt: skip


def test_a_type_is_the_speaker_only_if_it_names_roles(spoken: Spoken, problem: Problem) -> None:
    assert spoken("Type,Utterance\nT,Hello.\nP,Hi.\n", "a.csv") == [("T", "Hello."), ("P", "Hi.")]
    assert "who speaks" in problem("Type,Utterance\nquestion,Hello.\nanswer,Hi.\n", "b.csv").problem


def test_a_role_beside_names(session: SessionOf) -> None:
    one = session("speaker,role,text\nDana,client,Hello.\nLee,therapist,Hi.\nDana,client,So.\n", "a.csv")
    assert [(turn.speaker, turn.role) for turn in one.turns] == [
        ("Dana", "client"), ("Lee", "therapist"), ("Dana", "client"),
    ]  # fmt: skip


def test_times_in_thousandths(session: SessionOf) -> None:
    turns = session("speaker,text,start_ms,End (ms)\nT,One.,1500,2000\nC,Two.,0:03,4000\n", "a.csv").turns
    assert [(turn.start_s, turn.end_s) for turn in turns] == [(1.5, 2.0), (3.0, 4.0)]


def test_session_one_of_two_clients(sessions: Sessions) -> None:
    text = "client_id,session,speaker,text\na,1,T,One.\na,1,C,Two.\na,2,T,Three.\nb,1,T,Four.\nb,1,C,Five.\n"
    assert [(one.id, len(one.turns)) for one in sessions(text, "a.csv")] == [("a-1", 2), ("a-2", 1), ("b-1", 2)]


def test_who_speaks_is_no_part_of_the_session(sessions: Sessions) -> None:
    text = "participant_id,session,speaker,text\na,1,T,One.\nb,1,C,Two.\na,1,T,Three.\n"
    assert [(one.id, len(one.turns)) for one in sessions(text, "a.csv")] == [("1", 3)]


def test_a_session_named_once_for_all_its_rows(sessions: Sessions) -> None:
    first, second = sessions("session,speaker,text\nx,T,One.\n,C,Two.\ny,T,Three.\n,C,Four.\n", "a.csv")
    assert (first.id, second.id) == ("x", "y")
    assert turns_of(second) == [("T", "Three."), ("C", "Four.")]
    assert "2 rows of the file without a session went to the session before." in second.notes


@pytest.mark.parametrize(("n", "told"), [(_long.MOST_ROWS, False), (_long.MOST_ROWS + 1, True)])
def test_a_table_that_is_hardly_one_session(n: int, *, told: bool, session: SessionOf) -> None:
    found = session("speaker,text\n" + "".join(f"{'TC'[i % 2]},Yes.\n" for i in range(n)), "a.csv")
    assert len(found.turns) == n
    note = (
        f"All {n} rows were read as one session, because no column is known to say which session a row belongs to. "
        "If they are several, name it: --columns session=NAME."
    )
    assert [one for one in found.notes if one == note] == [note] * told


# ---- human codes

CODED = """session,n,speaker,text,Main Code,subtype,turn_idx,topic,emoji,free
x,1,T,Do you?,question,open,0,sleep,,aa
x,2,C,Yes.,neutral,,1,sleep,,bb
x,3,T,I see.,reflection,simple,2,sleep,,cc
y,1,T,And now?,question,open,0,work,,dd
y,2,C,No.,,,1,work,,ee
"""


def test_codes_are_kept_as_gold(sessions: Sessions) -> None:
    first, second = sessions(CODED, "a.csv", keep=("topic",))
    assert [turn.gold for turn in first.turns] == [
        {"Main Code": "question", "subtype": "open"},
        {"Main Code": "neutral"},
        {"Main Code": "reflection", "subtype": "simple"},
    ]
    assert [turn.gold for turn in second.turns] == [{"Main Code": "question", "subtype": "open"}, {}]
    assert (first.metadata, second.metadata) == ({"topic": "sleep"}, {"topic": "work"})


def test_facts_about_the_only_session(session: SessionOf) -> None:
    one = session("speaker,text,counselor,empty\nT,One.,Ann,\nC,Two.,Ann,\n", "a.csv")
    assert one.metadata == {"counselor": "Ann"}


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("Dialog_Act", ["gc", "irq", "gc", "id"], True),
        ("Strategy2", ["", "", "Goal", ""], True),
        ("code", ["a", "b", "c", "d"], True),
        ("free", ["a", "b", "c", "d"], False),
        ("flag", ["True", "False", "", "True"], True),
        ("empathy", ["3", "4", "3", "5", "4", "3"], True),
        ("percent", [str(at % 40) for at in range(400)], False),
        ("place", ["1", "2", "3", "4"], False),
        ("moment", ["0:01", "0:01", "0:02", "0:02", "0:03", "0:03"], False),
        ("speaker gender", ["f", "m", "f", "m"], False),
        ("vol_idx", ["0", "0", "1", "1"], False),
        ("note", ["word " * 20, "word " * 20], False),
        ("label", ["", "", ""], False),
        ("kind", [f"k{at % 101}" for at in range(500)], False),
        ("kind", [f"k{at % 100}" for at in range(500)], True),
    ],
)
def test_what_is_a_code(name: str, values: list[str], expected: bool) -> None:
    assert holds_codes(name, values) is expected


def test_two_columns_of_one_name_are_both_kept(session: SessionOf) -> None:
    one = session("speaker,text,code,code\nT,One.,a,x\nC,Two.,b,y\n", "a.csv")
    assert one.turns[0].gold == {"code": "a", "code (4)": "x"}


def test_speakers_with_the_numbers_of_their_turns(spoken: Spoken, session: SessionOf) -> None:
    rows = ["T1,So?", "C1,Yes.", "C1,And no.", "T 2,Hm.", "C2,I ...", "T3,Go on."]
    assert [who for who, _ in spoken("speaker,text\n" + "\n".join(rows), "a.csv")] == ["T", "C", "T", "C", "T"]
    couple = session("speaker,text\nT,So?\nC1,Yes.\nC2,No.\nT,Hm.\nC1,I ...\nC2,And I ...\n", "a.csv")
    assert {turn.speaker for turn in couple.turns} == {"T", "C1", "C2"}


def test_words_in_a_further_column_are_neither_facts_nor_codes(session: SessionOf) -> None:
    table = "speaker,text,translation,reply,comment,situation,dialogue_act\n"
    table += "T,Ja?,Yes?,none,,I hate him,gc\nC,Ja,Yes,none,he cries,I hate him,gc\n"
    table += "T,Ja?,Yes?,none,,I hate him,irq\nC,Ja,Yes,none,,I hate him,gc\n"
    found = session(table, "a.csv")
    assert found.metadata == {}
    assert [turn.gold for turn in found.turns] == [{"dialogue_act": code} for code in ("gc", "gc", "irq", "gc")]


def test_codes_of_several_coders_are_joined_in_the_order_met(session: SessionOf) -> None:
    header = "utterance_id,coder,speaker,text,code\n"
    rows = ["1,a,T,Do you?,q", "1,b,T,Do you?,o", "1,c,T,Do you?,q", "2,a,C,Yes.,", "2,b,C,Yes.,n", "2,c,C,Yes.,"]
    for text in (rows, sorted(rows, key=lambda row: row.split(",")[1])):
        one = session(header + "\n".join(text), "a.csv")
        assert [(turn.text, turn.gold["code"]) for turn in one.turns] == [("Do you?", "q;o"), ("Yes.", "n")]


def test_the_nth_time_of_one_coder_is_the_nth_of_another(session: SessionOf) -> None:
    rows = ["a,C,Yeah.,x", "a,C,Yeah.,y", "a,T,Ok.,z", "b,C,Yeah.,x", "b,C,Yeah.,w", "b,T,Ok.,z"]
    text = "utterance_id,coder,speaker,text,code\n" + "\n".join(f"1,{row}" for row in rows)
    one = session(text, "a.csv")
    assert [(turn.text, turn.gold["code"]) for turn in one.turns] == [("Yeah. Yeah.", "x;y;w"), ("Ok.", "z")]


def test_several_codes_of_one_utterance_in_rows_of_their_own(session: SessionOf) -> None:
    text = "utterance_id,speaker,text,label\n1,T,Do you?,q\n1,T,Do you?,o\n2,C,Yes.,n\n2,T,Yes.,r\n,C,Hm.,f\n,C,Hm.,f\n"
    one = session(text, "a.csv")
    assert [(turn.text, turn.gold["label"]) for turn in one.turns] == [
        ("Do you?", "q;o"), ("Yes.", "n"), ("Yes.", "r"), ("Hm. Hm.", "f"),
    ]  # fmt: skip


def test_the_same_words_twice_in_a_turn_are_said_twice(spoken: Spoken) -> None:
    assert spoken("turn,speaker,text\n1,C,Yeah.\n1,C,Yeah.\n2,T,Ok.\n", "a.csv") == [("C", "Yeah. Yeah."), ("T", "Ok.")]


# ---- who speaks is in the header


def test_patient_and_doctor_in_turn_across_a_row(sessions: Sessions) -> None:
    text = "id,mood,p1,d1,p2,d2\nk1,low,I am tired today.,Since when?,Monday.,I see.\nk2,high,Hello.,,Hi.,Well then.\n"
    first, second = sessions(text, "a.csv", keep=("mood",))
    assert (first.id, first.metadata) == ("k1", {"mood": "low"})
    assert turns_of(first) == [("p", "I am tired today."), ("d", "Since when?"), ("p", "Monday."), ("d", "I see.")]
    assert turns_of(second) == [("p", "Hello. Hi."), ("d", "Well then.")]
    assert [turn.role for turn in second.turns] == ["client", "therapist"]
    assert [turn.first_row for turn in second.turns] == [2, 2]


@pytest.mark.parametrize("header", ["Therapist 1,Client 1,Therapist 2,Client 2", "turn_1_therapist,turn_1_client,turn_2_therapist,turn_2_client"])  # fmt: skip # noqa: E501
def test_numbered_columns_of_roles(header: str, sessions: Sessions) -> None:
    (one,) = sessions(f"{header}\nHow is it going?,Well.,So?,So.\n", "a.csv")
    assert [(turn.role, turn.text) for turn in one.turns] == [
        ("therapist", "How is it going?"), ("client", "Well."), ("therapist", "So?"), ("client", "So."),
    ]  # fmt: skip
    assert one.id == "a"


def test_numbered_columns_in_blocks(session: SessionOf) -> None:
    one = session("therapist1,therapist2,client1,client2\nHow is it going?,So?,Well.,So.\n", "a.csv")
    assert [turn.text for turn in one.turns] == ["How is it going?", "Well.", "So?", "So."]


@pytest.mark.parametrize("header", ["prompt,hq1,hq2,mq1,lq1", "p1,d1,p2,d2", "p1,p2,d1,d2", "item1,item2,item3,item4"])
def test_numbered_columns_that_are_no_talk(header: str, problem: Problem) -> None:
    words = "One two three." if not header.startswith("p1,d1") else "4"
    error = problem(f"{header}\n{','.join([words] * len(header.split(',')))}\n", "a.csv")
    assert "no column is known to hold what is said or who speaks" in error.problem
    assert "three" not in str(error)


def test_an_exchange_a_row(sessions: Sessions) -> None:
    text = "session,therapist,client\nx,How are you today?,Fine.\nx,Sure?,\ny,,Hello to you there.\n"
    first, second = sessions(text, "a.csv")
    assert [(turn.role, turn.text, turn.first_row) for turn in first.turns] == [
        ("therapist", "How are you today?", 1), ("client", "Fine.", 1), ("therapist", "Sure?", 2),
    ]  # fmt: skip
    assert turns_of(second) == [("client", "Hello to you there.")]


def test_columns_of_names_are_no_exchange(problem: Problem) -> None:
    assert "what is said" in problem("therapist,client\nDana Lee,Bob\nDana Lee,Ann\n", "a.csv").problem


def test_each_response_to_a_question_is_a_session(sessions: Sessions) -> None:
    text = "Question,Response_1,Response_2\nWhat should I do?,You could wait a bit.,What do you want?\nAm I mad?,No.,\n"
    one, two, three = sessions(text, "a.csv")
    assert [turn.text for turn in one.turns] == ["What should I do?", "You could wait a bit."]
    assert [turn.text for turn in two.turns] == ["What should I do?", "What do you want?"]
    assert [(turn.role, turn.first_row) for turn in three.turns] == [("client", 2), ("therapist", 2)]
    assert len({one.id, two.id, three.id}) == 3


# ---- who speaks is in the cells

SESSION = "Therapist: How are you?\nClient: Fine.\nAnd you?\nTherapist: Well."

AS_MESSAGES = json.dumps(
    [
        {"role": "assistant", "content": "How are you?"},
        {"role": "user", "content": "Fine.\nAnd you?"},
        {"role": "assistant", "content": "Well."},
    ]
)


def table(*rows: list[str]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue()


@pytest.mark.parametrize(
    "cell",
    [
        SESSION,
        SESSION.replace("\n", "\r\n"),
        SESSION.replace("\n", "<br>"),
        SESSION.replace("\n", "\\n"),
        SESSION.replace("\n", " "),
        AS_MESSAGES,
    ],
)
@pytest.mark.parametrize("name", ["transcript", "conversation", "some column"])
def test_a_session_in_a_cell(cell: str, name: str, sessions: Sessions) -> None:
    first, second = sessions(table(["id", name], ["k1", cell], ["k2", cell.replace("Well", "So")]), "a.csv")
    assert [(turn.role, " ".join(turn.text.split()), turn.first_row) for turn in first.turns] == [
        ("therapist", "How are you?", 1), ("client", "Fine. And you?", 1), ("therapist", "Well.", 1),
    ]  # fmt: skip
    assert (first.id, second.id) == ("k1", "k2")
    assert [turn.first_row for turn in second.turns] == [2, 2, 2]


def test_a_cell_that_begins_like_a_document_is_none(sessions: Sessions) -> None:
    cell = f"%PDF is what she sent me.\n{SESSION}"
    one, two = sessions(table(["id", "transcript"], ["k1", cell], ["k2", SESSION]), "a.csv")
    assert [turn.role for turn in one.turns][-3:] == [turn.role for turn in two.turns]


@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a"])
def test_long_sessions_in_cells_are_not_taken_for_a_text(name: str, sessions: Sessions) -> None:
    long = "\n".join([SESSION] * 1000)
    one, two = sessions(
        table(["id", "transcript", "mood"], ["k1", long, "low"], ["k2", long, "high"]), name, keep=("mood",)
    )
    assert (one.id, two.id, len(one.turns), one.metadata) == ("k1", "k2", 2001, {"mood": "low"})


def test_a_cell_that_is_no_session_is_counted(sessions: Sessions) -> None:
    rows = [["k", SESSION] for _ in range(9)]
    read = sessions(table(["id", "transcript"], *rows, ["k", "secret " * 20]), "a.csv")
    assert len(read) == 9
    assert all("1 row of the file without labelled turns left out (20 words)." in one.notes for one in read)


def test_labels_before_each_row(session: SessionOf) -> None:
    one = session('n,text\n1,T: Hello.\n2,"C: Hi, you."\n3,and there\n4,T: So.\n', "a.csv")
    assert [(turn.speaker, " ".join(turn.text.split()), turn.first_row) for turn in one.turns] == [
        ("T", "Hello.", 1), ("C", "Hi, you. and there", 2), ("T", "So.", 4),
    ]  # fmt: skip


# ---- hostile, general, and the real ones


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n" + "x,y\n" * 200_000,
        ",".join(f"p{at},d{at}" for at in range(5_000)) + "\n" + ",".join(["a b c"] * 10_000),
        "id,transcript\n" + "1,Therapist: a: b: c: d\n" * 50_000,
        "id,transcript\n1," + "A: b " * 100_000,
        "speaker,text\n" + "T," * 300_000,
        "," * 100_000 + "\n" + "," * 100_000,
        '"' * 100_001,
    ],
    ids=["no_transcript", "wide", "colons", "one_line", "cells", "empty", "quotes"],
)
def test_hostile_tables_end_soon(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text)
    began = time.process_time()
    (reading,) = read_files([tmp_path / "a.csv"])
    assert time.process_time() - began < HANG_S
    assert reading.problem is None or "could not be understood" not in reading.problem.problem


WORDS = st.text("abc e,;'\"\n:.", min_size=1, max_size=30).filter(lambda text: text.strip() != "" and ":" not in text)


@MANGLED
@given(talk=st.lists(st.tuples(WORDS, WORDS, st.sampled_from(["q", "r", "o"])), min_size=1, max_size=8))
@example(talk=[(";;", ";;", "q")])
@example(talk=[(";a;b", ";a;b", "q")])
def test_the_layouts_agree(talk: list[tuple[str, str, str]], tmp_path: Path) -> None:
    """The same exchanges, a row an utterance, a row an exchange, a row a session."""
    talk = [("One two three four.", "Five six seven eight.", "q"), *talk]
    long = [row for one, two, code in talk for row in (["therapist", one, code], ["client", two, ""])]
    across = [f"{who} {at}" for at in range(len(talk)) for who in ("therapist", "client")]
    texts = {
        "long": table(["speaker", "text", "code"], *long),
        "rows": table(["therapist", "client"], *([one, two] for one, two, _ in talk)),
        "wide": table(across, [words for one, two, _ in talk for words in (one, two)]),
    }
    read = []
    for name, text in texts.items():
        (tmp_path / f"{name}.csv").write_text(text, newline="")
        (reading,) = read_files([tmp_path / f"{name}.csv"])
        assert reading.problem is None, str(reading.problem)
        (one,) = reading.sessions
        read.append([(turn.role, turn.text) for turn in one.turns])
    assert read[0] == read[1] == read[2]
    assert [words for _, words in read[0]] == [words.strip() for one, two, _ in talk for words in (one, two)]


@pytest.mark.parametrize(
    ("path", "n_sessions", "n_turns"),
    [
        ("annomi/annomi.csv", 87, 6939),
        ("hlqc/hlqc.csv", 176, 7316),
        ("misc_gold/hlqc.csv", 7, 536),
        ("misc_gold/mibot.csv", 8, 225),
        ("layouts/mi_tags_utterances.csv", 10, 10),
        ("layouts/type_T_P.csv", 1, 62),
        ("layouts/coded_session.xlsx", 1, 11),
    ],
)
def test_corpora(path: str, n_sessions: int, n_turns: int, corpora: Path) -> None:
    (reading,) = read_files([corpora / path])
    assert len(reading.sessions) == n_sessions
    assert sum(len(one.turns) for one in reading.sessions) == n_turns


NO_TRANSCRIPTS = """
bolt/client.csv distortions/distortions.csv pair/reflections.csv socratic_questions/questions.csv
offmychest/disclosure.csv mibot/outcomes_165.csv
"""


@pytest.mark.parametrize("path", NO_TRANSCRIPTS.split())
def test_tables_that_are_no_transcripts_are_refused(path: str, corpora: Path) -> None:
    (reading,) = read_files([corpora / path])
    assert reading.problem is not None
    assert "who speaks" in reading.problem.problem


def test_codes_of_the_corpora(corpora: Path) -> None:
    (reading,) = read_files([corpora / "annomi" / "annomi.csv"])
    codes = {name for one in reading.sessions for turn in one.turns for name in turn.gold}
    assert {"main_therapist_behaviour", "question_subtype", "client_talk_type"} <= codes
    assert not {"utterance_id", "source_group", "mi_quality", "timestamp"} & codes
    assert any(";" in turn.gold.get("client_talk_type", "") for one in reading.sessions for turn in one.turns)


def test_the_users_own_column_goes_before_names_beside_roles(spoken: Spoken) -> None:
    text = "name,role,text\nAda,therapist,Hello.\nBo,therapist,Welcome.\nCy,client,Hi.\n"
    assert spoken(text, "a.csv") == [("Ada", "Hello."), ("Bo", "Welcome."), ("Cy", "Hi.")]
    by_role = spoken(text, "a.csv", columns={"speaker": "role"})
    assert by_role == [("therapist", "Hello. Welcome."), ("client", "Hi.")]


def test_an_option_of_columns_that_is_for_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Therapist: Hello, you.\nClient: Hi, you.\n")
    with pytest.raises(BadOptionError, match="no session that was read stands in a table with columns"):
        list(read_files([tmp_path], options=ReadOptions(columns={"speaker": "1", "text": "2"})))


def test_what_a_header_says_is_not_repeated_where_somebody_may_have_said_it(session: SessionOf) -> None:
    one = session(
        "Voice,I never told you this before\nAnn,How so then?\nBo,Well now.\nAnn,Go on.\nBo,I will.\n", "a.csv"
    )
    assert not any("told you" in note for note in one.notes)
