"""Tables: which column is which, whose rows are whose, and what happens to ragged ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.session import Session
from therapy_analytics.readers import read_files

Spoken = Callable[..., list[tuple[str, str]]]
SessionOf = Callable[..., Session]
Sessions = Callable[..., tuple[Session, ...]]
Problem = Callable[..., UnreadableFileError]

TWO = [("T", "Hello, you."), ("C", "Hi.")]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('speaker,text\nT,"Hello, you."\nC,Hi.\n', "a.csv"),
        ('speaker;text\nT;"Hello, you."\nC;Hi.\n', "a.csv"),
        ("speaker;text\nT;Hello, you.\nC;Hi.\n", "a.csv"),
        ("speaker\ttext\nT\tHello, you.\nC\tHi.\n", "a.tsv"),
        ("speaker|text\nT|Hello, you.\nC|Hi.\n", "a.txt"),
        ('\ufeffspeaker,text\nT,"Hello, you."\nC,Hi.\n', "a.csv"),
        ('\ufeff"speaker","text"\n"T","Hello, you."\n"C","Hi."\n', "a.csv"),
        ('Speaker Name,Utterance Text\nT,"Hello, you."\nC,Hi.\n', "a.csv"),
        (' SPEAKER , Text \nT,"Hello, you."\nC,Hi.\n', "a.csv"),
        ('text,n,who\n"Hello, you.",1,T\nHi.,2,C\n', "a.csv"),
        ('Type,Utterance,Speaker\nx,"Hello, you.",T\nx,Hi.,C\n', "a.csv"),
        ('speaker,text\r\nT,"Hello, you."\r\n\r\nC,Hi.\r\n', "a.csv"),
        ("speaker,text\nT,Hello, you.\nC,Hi.\n", "a.csv"),
    ],
)
def test_ways_to_write_a_table(text: str, name: str, spoken: Spoken) -> None:
    assert spoken(text, name) == TWO


def test_quoted_lines_and_quotes(session: SessionOf) -> None:
    turns = session('speaker,text\nT,"One.\r\n\nTwo ""three"""\nC,\'four\' "five"\n', "a.csv").turns
    assert [(turn.text, turn.first_row) for turn in turns] == [('One.\n\nTwo "three"', 1), ("'four' \"five\"", 2)]


def test_missing_cells_are_empty_and_rows_without_words_no_turns(session: SessionOf) -> None:
    one = session("speaker,text,start\nT,One.\nC\nT\n,,\nC,Two.,0:05\n", "a.csv")
    assert [(turn.text, turn.first_row, turn.start_s) for turn in one.turns] == [("One.", 1, None), ("Two.", 5, 5.0)]
    assert one.notes == ("2 rows without words left out.",)


def test_cells_beyond_the_header_are_words_where_the_words_stand_last(session: SessionOf) -> None:
    one = session("speaker,text\nT,Well, I, think.\nC,Hi.,,\n", "a.csv")
    assert [turn.text for turn in one.turns] == ["Well, I, think.", "Hi."]
    assert one.notes == ("1 row of the file with more cells than the header; those are taken as words.",)


def test_cells_beyond_the_header_are_left_out_and_counted_elsewhere(session: SessionOf) -> None:
    one = session("text,speaker\nHello.,T,x\nHi.,C\n", "a.csv")
    assert [turn.text for turn in one.turns] == ["Hello.", "Hi."]
    assert one.notes == ("1 row of the file with more cells than the header; those were left out (1 word).",)


def test_a_row_without_a_speaker_goes_on_with_the_speaker_before(session: SessionOf) -> None:
    one = session("speaker,text\n,Zero.\nT,One.\n,Two.\nC,Three.\n,\n", "a.csv")
    assert [(turn.speaker, turn.text) for turn in one.turns] == [("", "Zero."), ("T", "One. Two."), ("C", "Three.")]
    assert "1 row without a speaker went to the speaker before." in one.notes


def test_times_are_seconds(session: SessionOf) -> None:
    one = session("speaker,text,start,end\nT,One.,0:01,2.5\nT,Two.,3,00:01:04\nC,Three.,later,-1\n", "a.csv")
    assert [(turn.start_s, turn.end_s) for turn in one.turns] == [(1.0, 64.0), (None, None)]


def test_columns_named_by_the_user(spoken: Spoken) -> None:
    columns = {"speaker": "Wer Spricht", "text": "worte"}
    assert spoken('Worte,Wer spricht,text\n"Hello, you.",T,x\nHi.,C,y\n', "a.csv", columns=columns) == TWO


@pytest.mark.parametrize("kind", ["speaker", "text", "session", "start", "end", "utterance", "annotator"])
def test_a_column_that_is_not_there_is_an_error(kind: str, problem: Problem) -> None:
    error = problem("speaker,text\nT,Hello.\n", "a.csv", columns={kind: "nowhere"})
    assert f"--columns {kind}=" in error.problem
    assert "not in the table (it has 2 columns)" in error.problem


@pytest.mark.parametrize(
    ("header", "what"),
    [
        ("who,nothing", "hold what is said"),
        ("text,nothing", "hold who speaks"),
        ("secret words,said", "hold what is said"),
    ],
)
def test_a_table_without_a_column_of_words_or_speakers_is_refused(header: str, what: str, problem: Problem) -> None:
    error = problem(f"{header}\na,b\n", "a.csv")
    assert what in error.problem
    assert "--columns" in error.remedy
    assert "secret" not in str(error)


@pytest.mark.parametrize("text", ["speaker,text\n", "speaker,text", "speaker,text\n\n\n", "speaker,text\n,\n , \n"])
def test_a_header_alone_is_refused(text: str, problem: Problem) -> None:
    assert problem(text, "a.csv").problem == "the table has a header and no rows"


def test_a_quotation_left_open_names_the_line_where_it_begins(problem: Problem) -> None:
    error = problem('speaker,text\nT,"One.\ntwo"\nC,"secret\nT,Three.\nC,Four.\n', "a.csv")
    assert error.line == 4
    assert "never closed" in error.problem
    assert "secret" not in str(error)


def test_a_last_row_without_a_newline_is_read(spoken: Spoken) -> None:
    assert spoken('speaker,text\nT,"Hello, you."\nC,"Hi."', "a.csv") == TWO


def test_many_sessions_interleaved(sessions: Sessions) -> None:
    text = "session_id,speaker,text\nx,T,One.\ny,T,Two.\nx,C,Three.\ny,C,Four.\nx,C,Five.\n"
    first, second = sessions(text, "a.csv")
    assert (first.id, [(turn.text, turn.first_row) for turn in first.turns]) == (
        "x",
        [("One.", 1), ("Three. Five.", 3)],
    )
    assert (second.id, [(turn.text, turn.first_row) for turn in second.turns]) == ("y", [("Two.", 2), ("Four.", 4)])


def test_the_same_session_id_in_two_files(tmp_path: Path) -> None:
    text = "session_id,speaker,text\nx,T,One.\nx,C,Two.\nX,C,Three.\n"
    paths = [tmp_path / name for name in ("a.csv", "b.csv")]
    for path in paths:
        path.write_text(text)
    ids = [one.id for reading in read_files(paths) for one in reading.sessions]
    assert ids == ["x", "a-X", "b-x", "X-2"]


def test_what_a_table_says_of_a_whole_session_is_metadata(sessions: Sessions) -> None:
    header = "session,speaker,text,counselor,mood"
    text = f"{header}\nx,Ann,One.,Ann,1\nx,Bob,Two.,Ann,2\ny,Ann,Three.,Cyd,1\ny,Cyd,Four.,Cyd,2\n"
    first, second = sessions(text, "a.csv")
    assert (first.metadata, second.metadata) == ({"counselor": "Ann"}, {"counselor": "Cyd"})
    assert [turn.role for turn in first.turns] == ["therapist", "client"]
    assert [turn.role for turn in second.turns] == ["client", "therapist"]


CODED = """session,utterance_id,annotator,speaker,text
x,1,a,T,Do you smoke?
x,1,b,T,Do you smoke?
x,2,a,C,Yeah.
x,2,b,C,Yeah.
x,3,a,C,Yeah.
x,3,b,C,Yeah.
x,4,a,T,I see.
x,4,b,T,I see.
"""


def test_rows_of_several_coders_are_read_once(spoken: Spoken) -> None:
    assert spoken(CODED, "a.csv") == [("T", "Do you smoke?"), ("C", "Yeah. Yeah."), ("T", "I see.")]


def test_rows_of_several_coders_one_coder_after_the_other(spoken: Spoken) -> None:
    header, *rows = CODED.splitlines()
    blocks = [row for coder in "ab" for row in rows if f",{coder}," in row]
    assert spoken("\n".join([header, *blocks]), "a.csv") == [
        ("T", "Do you smoke?"),
        ("C", "Yeah. Yeah."),
        ("T", "I see."),
    ]


def test_rows_of_several_coders_without_a_number_of_the_utterance(spoken: Spoken) -> None:
    rows = [
        row.replace(",1,", ",").replace(",2,", ",").replace(",3,", ",").replace(",4,", ",")
        for row in CODED.splitlines()
    ]
    text = "\n".join(rows).replace("utterance_id,", "")
    assert spoken(text, "a.csv") == [("T", "Do you smoke?"), ("C", "Yeah. Yeah."), ("T", "I see.")]


def test_the_same_words_later_for_another_coder_are_said_again(spoken: Spoken) -> None:
    text = "annotator,speaker,text\na,C,Yeah.\na,T,Ok.\nb,C,Yeah.\nb,T,So.\n"
    assert spoken(text, "a.csv") == [("C", "Yeah."), ("T", "Ok."), ("C", "Yeah."), ("T", "So.")]


def test_how_many_rows_were_of_other_coders_is_noted(session: SessionOf) -> None:
    assert session(CODED, "a.csv").notes == ("4 rows that repeat an utterance for another coder left out (7 words).",)


def test_rows_out_of_order_are_put_in_the_order_of_numbers_that_leave_none_out(session: SessionOf) -> None:
    one = session("turn,speaker,text\n10,C,Two.\n9,T,One.\n11,T,Three.\n", "a.csv")
    assert [(turn.text, turn.first_row) for turn in one.turns] == [("One.", 2), ("Two.", 1), ("Three.", 3)]
    assert one.notes == ("The rows were put in the order of their utterance numbers.",)


def test_each_session_of_a_table_is_put_in_its_own_order(sessions: Sessions) -> None:
    one, two = sessions("session,utterance_id,speaker,text\na,2,C,B.\nb,1,T,C.\na,1,T,A.\nb,2,C,D.\n", "a.csv")
    assert ([turn.text for turn in one.turns], [turn.text for turn in two.turns]) == (["A.", "B."], ["C.", "D."])
    assert (len(one.notes), two.notes) == (1, ())


def test_a_number_without_a_speaker_follows_the_number_before(spoken: Spoken) -> None:
    assert spoken("turn,speaker,text\n2,,B.\n3,C,C.\n1,T,A.\n", "a.csv") == [("T", "A. B."), ("C", "C.")]


@pytest.mark.parametrize(
    "rows",
    [
        "10,,T,One.\n9,,C,Two.\n12,,T,Three.\n",
        "2,,T,One.\n1,,C,Two.\n2,,T,Three.\n",
        "2,,T,One.\n1,,C,Two.\nx,,T,Three.\n",
        "2,0:01,T,One.\n1,0:02,C,Two.\n3,0:03,T,Three.\n",
    ],
    ids=["one left out", "twice", "no number", "times say otherwise"],
)
def test_rows_out_of_order_are_noted_where_the_numbers_are_no_order(rows: str, session: SessionOf) -> None:
    one = session(f"turn,time,speaker,text\n{rows}", "a.csv")
    assert [turn.text for turn in one.turns] == ["One.", "Two.", "Three."]
    assert one.notes == ("The rows are not in the order of their utterance numbers; they were read as they stand.",)


def test_rows_in_order_are_not_spoken_of(session: SessionOf) -> None:
    text = "turn,speaker,text\n{},T,One.\n{},C,Two.\n{},T,Three.\n"
    assert session(text.format(9, 10, 11), "a.csv").notes == ()
    assert session(text.format("x", 2, 2), "b.csv").notes == ()


def test_the_same_words_twice_without_a_column_of_coders_are_said_twice(spoken: Spoken) -> None:
    assert spoken("speaker,text\nC,Yeah.\nC,Yeah.\nT,Ok.\n", "a.csv") == [("C", "Yeah. Yeah."), ("T", "Ok.")]


def test_a_very_long_cell(spoken: Spoken) -> None:
    words = "word " * 60_000
    assert spoken(f"speaker,text\nT,{words}\nC,Hi.\n", "a.csv") == [("T", words.strip()), ("C", "Hi.")]


@pytest.mark.parametrize("first", ["sep=;\n", '"sep=;"\r\n', "\ufeffsep=;\n", "SEP=;\n"])
def test_the_line_in_which_excel_says_the_delimiter(first: str, session: SessionOf) -> None:
    turns = session(f"{first}speaker;text\nT;Hello, you.\nC;Hi.\n", "a.csv").turns
    assert [(turn.speaker, turn.text, turn.first_row) for turn in turns] == [("T", "Hello, you.", 1), ("C", "Hi.", 2)]


def test_a_delimiter_that_is_in_the_words_more_often(spoken: Spoken) -> None:
    assert spoken("speaker;text\nT;a, b, c, d\nC;e, f, g\n", "a.csv") == [("T", "a, b, c, d"), ("C", "e, f, g")]


def test_a_title_above_the_header(session: SessionOf) -> None:
    text = "Transcript of a visit,\n12 May,\n,\nspeaker,text\nT,Hello.\nC,Hi.\n"
    assert [(turn.text, turn.first_row) for turn in session(text, "a.csv").turns] == [("Hello.", 1), ("Hi.", 2)]


def test_a_header_that_comes_again_is_no_turn(session: SessionOf) -> None:
    text = "speaker,text\nT,Hello.\nspeaker,text\nC,Hi.\n"
    assert [(turn.text, turn.first_row) for turn in session(text, "a.csv").turns] == [("Hello.", 1), ("Hi.", 3)]


def test_a_table_without_a_header(session: SessionOf) -> None:
    one = session('1,Therapist,"Hello, how are you?"\n2,Client,Not so well.\n3,Therapist,Tell me.\n', "a.csv")
    assert [(turn.speaker, turn.first_row) for turn in one.turns] == [("Therapist", 1), ("Client", 2), ("Therapist", 3)]
    assert one.turns[0].text == "Hello, how are you?"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings(encoding: str, spoken: Spoken) -> None:
    words = "It was a long way to the caf\u00e9 by the river, and back again. "
    text = f'speaker,text\nT,"{words}"\nC,"{words}"\n'
    assert spoken(text.encode(encoding), "a.csv") == [("T", words.strip()), ("C", words.strip())]


def test_prose_with_commas_is_no_table() -> None:
    from therapy_analytics.readers import Source
    from therapy_analytics.readers.delimited import sniff

    prose = "Dear speaker, here is the text of the transcript\nTherapist: Hello, you.\nClient: Hi, there.\n"
    assert sniff(Source(Path("a.txt"), prose)) == 0


@pytest.mark.parametrize("name", ["a.csv", "a.md", "a.txt"])
@pytest.mark.parametrize("rule", ["|---|---|", "| :--- | ---: |", "|:-:|-|", "|===|===|"])
def test_the_rule_below_the_header_of_a_markdown_table_is_no_turn(name: str, rule: str, session: SessionOf) -> None:
    one = session(f"| speaker | text |\n{rule}\n| T | Hello, you. |\n| C | Hi. |\n", name)
    assert [(turn.speaker, turn.text) for turn in one.turns] == TWO
    assert one.notes == ()


def test_dashes_that_somebody_says_stay(spoken: Spoken) -> None:
    assert spoken("speaker,text\nT,---\nC,Hi.\n", "a.csv") == [("T", "---"), ("C", "Hi.")]


DATED = "speaker,text,{},{}\nT,One.,{},{}\nC,Two.,{},{}\nT,Three.,{},\n"


@pytest.mark.parametrize(
    "times",
    [
        ("2024-03-01T10:00:05Z", "2024-03-01T10:00:07Z", "2024-03-01T10:00:07.5Z", "2024-03-01T10:00:09Z"),
        ("2024-03-01 10:00:05", "2024-03-01 10:00:07", "2024-03-01 10:00:07.5", "2024-03-01 10:00:09"),
        (
            "2024-03-01T23:59:59+01:00",
            "2024-03-02T00:00:01+01:00",
            "2024-03-02T00:00:01.5+01:00",
            "2024-03-01T23:00:03Z",
        ),
    ],
)
def test_dates_are_seconds_from_the_first_turn(times: tuple[str, ...], session: SessionOf) -> None:
    turns = session(DATED.format("start_time", "end_time", *times, "soon"), "a.csv").turns
    assert [(turn.start_s, turn.end_s) for turn in turns] == [(0.0, 2.0), (2.5, 4.0), (None, None)]


def test_dates_count_in_each_session_by_itself_and_never_below_0(sessions: Sessions) -> None:
    rows = ["a,T,One.,2024-03-01T10:00:05", "a,C,Two.,2024-03-01T10:00:06"]
    rows += ["b,T,One.,2025-03-01T10:00:05", "b,C,Two.,2025-03-01T10:00:01", "b,T,Three.,2025-03-01T10:00:09"]
    one, two = sessions("session,speaker,text,timestamp\n" + "\n".join(rows) + "\n", "a.csv")
    assert [turn.start_s for turn in one.turns] == [0.0, 1.0]
    assert [turn.start_s for turn in two.turns] == [0.0, None, 4.0]
    assert two.notes == ("1 time before that of the first utterance left out.",)


def test_a_day_alone_is_no_time(session: SessionOf) -> None:
    one = session("speaker,text,timestamp\nT,One.,2024-03-01\nC,Two.,2024-03-02\n", "a.csv")
    assert [turn.start_s for turn in one.turns] == [None, None]
