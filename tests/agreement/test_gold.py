"""Human codes in the forms that people have them, and which turn each row is about."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from therapy_analytics.core.errors import BadDataFileError, BadOptionError
from therapy_analytics.stats.code_labels import LabelIndex
from therapy_analytics.stats.machine_codes import read_machine
from therapy_analytics.stats.people_codes import GoldOptions, read_gold
from therapy_analytics.stats.turn_matching import aligned, match, plain_id


def values(turns, table, **options):
    """Return the values of codes as {(turn, coder, code): value}."""
    found = read_gold(read_machine(turns), table, GoldOptions(**options)).values
    return {(one.place, one.coder, one.code): one.value for one in found.itertuples()}


def given(found, code, coder="human"):
    return {place: value for (place, whose, name), value in found.items() if name == code and whose == coder}


def test_a_column_of_0_and_1_for_each_code(turns):
    table = pd.DataFrame(
        {"session_id": "s0", "turn": [0, 2, 4], "question": [1, 0, None], "mi_reflection": ["x", "no", 0]}
    )
    found = values(turns, table.astype(object))
    assert given(found, "mi_question") == {0: 1, 2: 0}  # turn 4 was not coded
    assert given(found, "mi_reflection") == {0: 1, 2: 0, 4: 0}


def test_names_separated_by_semicolons(turns):
    table = pd.DataFrame({"session": "s0", "turn": range(4), "codes": ["question; reflection", "change", "", ""]})
    found = values(turns, table)
    assert given(found, "mi_question") == {0: 1, 2: 0}
    assert given(found, "mi_reflection") == {0: 1, 2: 0}
    assert given(found, "mi_change") == {1: 1, 3: 0}
    assert given(values(turns, table, blank="missing"), "mi_change") == {1: 1}


def test_rows_without_a_value_are_the_codes_of_their_turn(turns):
    table = pd.DataFrame({"session_id": "s0", "turn": [0, 0, 2, 2], "annotator_id": list("abab")})
    found = values(turns, table.assign(code=["question", "input", "question", ""]))
    assert given(found, "mi_question", "a") == {0: 1, 2: 1}
    assert given(found, "mi_question", "b") == {0: 0, 2: 0}
    assert given(found, "mi_input", "b") == {0: 1, 2: 0}


@pytest.mark.parametrize("column", ["coder_a", "kategorie", "note"])
def test_a_table_of_another_form_is_told_what_it_lacks(column, turns):
    table = pd.DataFrame({"session_id": "s0", "turn": [0, 2], column: ["question", "input"]})
    lacks = "it has no column code, and no column of 0 and 1 that is named for a code"
    with pytest.raises(BadOptionError, match=f"{lacks}. Give columns session_id, turn, code and value"):
        values(turns, table)
    assert given(values(turns, table, columns={"code": column}), "mi_question") == {0: 1, 2: 0}


def test_rows_of_codes_say_nothing_of_turns_that_they_do_not_list(turns):
    table = pd.DataFrame({"session_id": "s0", "turn": [0, 2, 1], "code": ["mi_question", "mi_question", "mi_change"]})
    table["value"], table["coder"] = [1, 0, 1], "ann"
    assert values(turns, table) == {
        (0, "ann", "mi_question"): 1,
        (2, "ann", "mi_question"): 0,
        (1, "ann", "mi_change"): 1,
    }


def test_codes_given_with_the_machines_answer_in_view_are_refused(turns, tmp_path):
    table = pd.DataFrame({"session_id": "s0", "turn": [0], "code": "mi_question", "value": 1, "unblinded": 1})
    table.to_csv(tmp_path / "unblinded_corrections.csv", index=False)
    with pytest.raises(BadOptionError, match="made with the machine's answer in view"):
        read_gold(read_machine(turns), tmp_path / "unblinded_corrections.csv", GoldOptions())


def test_codes_that_the_transcripts_brought(turns):
    turns["gold_main_therapist_behaviour"] = ["question", "", "reflection", "", "other", "", "therapist_input", ""]
    turns["gold_reflection_exists"] = ["True", "", "True", "", "False", "", "False;True", ""]
    found = values(turns, None)
    assert given(found, "mi_question") == {0: 1, 2: 0, 4: 0, 6: 0}
    assert given(found, "mi_reflection") == {0: 1, 2: 1, 4: 0, 6: 0}
    assert given(found, "mi_input") == {0: 0, 2: 0, 4: 0, 6: 1}
    with pytest.raises(BadOptionError, match="no codes by people"):
        values(turns.drop(columns=["gold_main_therapist_behaviour", "gold_reflection_exists"]), None)


def test_labels_of_misc_reach_the_codes_by_their_crosswalks(turns):
    # RF (reframe) overlaps with reflection: whether the turn is one stays open.
    table = pd.DataFrame({"session_id": "s0", "turn": [0, 2, 4, 6], "code": ["SR", "OQ", "RF", "AF"]})
    found = values(turns, table)
    assert given(found, "mi_question") == {0: 0, 2: 1, 4: 0, 6: 0}
    assert given(values(turns, table.assign(code=["SR", "CR", "RF", "OQ"])), "mi_reflection") == {0: 1, 2: 1, 6: 0}


def test_absence_of_some_kinds_says_nothing_of_the_whole(turns):
    # BOLT codes some kinds of questions: a turn without them may be another question.
    table = pd.DataFrame(
        {"session_id": "s0", "turn": [0, 2, 4], "codes": ["questions_on_emotions", "planning", "normalizing"]}
    )
    with pytest.raises(BadOptionError, match="no code in it is one of the machine's"):
        values(turns, table)


def test_thought_units_are_joined_to_turns(turns):
    table = pd.DataFrame({"session_id": "s0", "turn": [0, 0, 2, 2], "code": ["OQ", "SR", "CR", "FA"]})
    found = values(turns, table)
    assert given(found, "mi_question") == {0: 1, 2: 0}
    assert given(found, "mi_reflection") == {0: 1, 2: 1}


def test_the_users_own_labels(turns, tmp_path):
    own = tmp_path / "labels.csv"
    own.write_text("label,code\nFRAGE,mi_question\nsonst,\nRefl,mi.reflection\n", encoding="utf-8")
    table = pd.DataFrame({"session_id": "s0", "turn": [0, 2, 4], "code": ["Frage", "Sonst", "REFL"]})
    assert given(values(turns, table, labels=own), "mi_question") == {0: 1, 2: 0, 4: 0}
    own.write_text("label,code\nFRAGE,nonsense\n", encoding="utf-8")
    with pytest.raises(BadDataFileError, match="'nonsense' of 'frage' is not known"):
        values(turns, table, labels=own)
    own.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(BadDataFileError, match="no columns label and code"):
        values(turns, table, labels=own)


def test_a_book_settles_labels_that_several_have():
    labels = LabelIndex(frozenset({"mi_question", "misc_question", "miti_question"}))
    assert labels.meaning("Q", "miti").same >= {"miti_question", "mi_question"}
    assert labels.meaning("nothing such", "mi") is None


def test_files_of_each_form_and_columns_by_other_names(turns, tmp_path):
    table = pd.DataFrame({"fall": "s0", "nr": [0, 2], "question": [1, 0]})
    names = {"session_id": "fall", "turn": "nr"}
    table.to_csv(tmp_path / "g.csv", index=False)
    table.to_csv(tmp_path / "g2.csv", index=False, sep=";")
    table.to_excel(tmp_path / "g.xlsx", index=False)
    for name in ("g.csv", "g2.csv", "g.xlsx"):
        assert given(values(turns, tmp_path / name, columns=names), "mi_question") == {0: 1, 2: 0}
    with pytest.raises(BadOptionError, match="'wo' is not known"):
        values(turns, tmp_path / "g.csv", columns={"turn": "wo"})
    with pytest.raises(BadDataFileError, match="no table"):
        values(turns, tmp_path / "absent.csv")
    (tmp_path / "broken.xlsx").write_bytes(b"PK no")
    with pytest.raises(Exception, match="damaged"):
        values(turns, tmp_path / "broken.xlsx")


def test_turns_counted_from_1_and_rows(turns):
    counted = pd.DataFrame({"session_id": "s0", "turn": range(1, 9), "codes": ["question", ""] * 4})
    assert given(values(turns, counted), "mi_question") == {0: 1, 2: 1, 4: 1, 6: 1}
    rows = pd.DataFrame({"session_id": "s0", "first_row": [1, 3, 99], "question": [1, 0, 1]})
    found = read_gold(read_machine(turns), rows, GoldOptions())
    assert len(found.values) == 2
    assert any("1 row matched to no turn (33.3%)" in note for note in found.notes)


def test_of_drawn_turns_the_last_does_not_say_where_counting_begins(turns):
    drawn = turns[turns["turn"].isin([3, 5])]  # as of a sample; the codes are about more turns, and not about turn 0
    found = match(pd.DataFrame({"session_id": "s0", "turn": [2, 3, 4, 5, 6]}), drawn)
    assert found.place.tolist() == [-1, 0, -1, 1, -1]
    assert not [note for note in found.notes if "counted from 1" in note]


SAID = [
    "so how are you",
    "fine",
    "you are fine then",
    "mm-hmm",
    "and at home",
    "well it is hard",
    "hard at home",
    "yes",
]


def test_shifted_numbers_are_mended_by_words(turns):
    turns["text"] = SAID
    table = pd.DataFrame({"session_id": "S0.csv", "turn": range(1, 8), "question": [1, 0] * 3 + [1]})
    table["text"] = [
        "So -- how are you?",
        "Fine. [laughs]",
        "You are fine, then.",
        "And at home?",
        "Well it's hard",
        "Hard at home.",
        "Yes",
    ]
    found = match(table.astype(str).assign(coder="a"), read_machine(turns).turns)
    assert found.place.tolist() == [0, 1, 2, 4, 5, 6, 7]
    assert any("numbers have shifted" in note for note in found.notes)
    assert not any("home" in note for note in found.notes)


def test_rows_that_are_parts_of_turns_and_turns_that_are_parts_of_rows():
    turns = [one.split() for one in SAID]
    rows = [
        ["so"],
        ["how", "are", "you"],
        ["fine"],
        ["you", "are", "fine", "then", "yes"],
        ["never", "said"],
        ["and", "at", "home"],
    ]
    assert aligned(rows, turns).tolist() == [0, 0, 1, 2, -1, 4]
    assert aligned([], turns).tolist() == []
    assert aligned(rows, []).tolist() == [-1] * 6


def test_words_from_the_transcripts(samples):
    import therapy_analytics as ta

    path = samples / "aria_ben.json"
    analysis = ta.analyze(ta.read(path), tagger=ta.TaggerOptions(kind="fast"))
    session = ta.read(path)[0]
    own = [turn for turn in session.turns if turn.role == "therapist"]
    table = pd.DataFrame({"session_id": session.id, "text": [turn.text.upper() for turn in own], "codes": "question"})
    assert "text" not in analysis.wide_turns
    found = values(analysis.wide_turns, table, transcripts=path)
    assert sorted(given(found, "mi_question")) == [turn.index for turn in own]
    with pytest.raises(BadOptionError, match="hold no words to match them with"):
        values(analysis.wide_turns, table)


def test_what_cannot_be_matched_is_said_plainly(turns):
    some = pd.DataFrame({"session_id": ["s0", "else"], "turn": [0, 0], "question": [1, 1]})
    notes = read_gold(read_machine(turns), some, GoldOptions()).notes
    assert notes[0] == "1 session of the human codes not among the results."
    with pytest.raises(BadOptionError, match="none of its sessions"):
        values(turns, some[1:])
    with pytest.raises(BadOptionError, match="which turn"):
        values(turns, some[:1].drop(columns="turn"))
    with pytest.raises(BadOptionError, match="no codes"):
        values(turns[["session_id", "turn", "role"]], some)


@pytest.mark.parametrize("names", [("2024.03.01_anna", "2024.03.02_ben"), ("S1.1", "S1.2"), ("Dr. Lee 1", "Dr. Lee 2")])
def test_ids_with_dots_are_sessions_of_their_own(turns, names):
    both = pd.concat([turns.assign(session_id=name) for name in names], ignore_index=True)
    table = pd.DataFrame({"session_id": np.repeat(names, 4), "turn": [0, 2, 4, 6] * 2, "question": [1] * 4 + [0] * 4})
    found = values(both, table.assign(session_id=[f"talks/{name}.TXT" for name in table["session_id"]]))
    assert given(found, "mi_question") == given(values(both, table), "mi_question")
    assert given(found, "mi_question") == {0: 1, 2: 1, 4: 1, 6: 1, 8: 0, 10: 0, 12: 0, 14: 0}


def test_a_name_that_fits_several_sessions_is_matched_to_none(turns):
    both = pd.concat([turns.assign(session_id=name) for name in ("s1", "s1.csv")], ignore_index=True)
    table = pd.DataFrame({"session_id": ["s1", "s1.csv", "S1"], "turn": 0, "question": [1, 0, 1]})
    found = match(table, both)
    assert found.place.tolist() == [0, 8, -1]
    assert "1 session of the human codes not matched: the name fits several sessions of the results." in found.notes
    assert "1 row matched to no turn (33.3%): left out." in found.notes
    with pytest.raises(BadOptionError, match="none of its sessions"):
        match(table[2:], both)


def test_the_plain_form_of_a_name():
    names = ["a/b/Ann.TXT", "c:\\ann.xlsx", " ann ", "ann.v2", "7.0", "7", "S1.0", "01.02", "03/01"]
    assert [plain_id(name) for name in names] == ["ann", "ann", "ann", "ann.v2", "7", "7", "s1.0", "01.02", "03/01"]


def test_words_of_people_are_in_no_note_and_no_error(turns):
    secret = [f"my secret number {one} is private" for one in range(8)]
    table = pd.DataFrame({"session_id": "s0", "turn": range(8), "question": [1, 0] * 4, "comment": secret})
    labels = ["reflection", "my boss Bob beats me up at work", "question", "bob"] * 2
    for one in (table, table.drop(columns="question").assign(code=labels)):
        notes = read_gold(read_machine(turns), one, GoldOptions()).notes
        assert not [note for note in notes if "secret" in note or "bob" in note.lower()]
        assert "Columns left out: comment." in notes
    assert "2 labels of no code of the machine." in notes


def test_what_follows_from_another_book_is_said(turns):
    turns["p_misc_question"], turns["misc_question"] = turns["p_mi_question"], turns["mi_question"]
    table = pd.DataFrame({"session_id": "s0", "turn": [0, 2, 4], "question": [1, 0, 1]})
    notes = read_gold(read_machine(turns), table, GoldOptions()).notes
    assert "Taken from labels of another codebook that mean the same, or contain it: misc_question." in notes
    listed = pd.DataFrame({"session_id": "s0", "turn": [0], "code": "mi_question", "value": 1})
    assert any("corrects a machine" in note for note in read_gold(read_machine(turns), listed, GoldOptions()).notes)


def test_options_that_are_not_known():
    with pytest.raises(BadOptionError, match=r"'empty' is not known\. Known: none, missing"):
        GoldOptions(blank="empty")
    with pytest.raises(BadOptionError, match="'wai' is not known"):
        GoldOptions(book="wai")


def test_the_one_code_of_a_set_is_named_or_follows_from_the_codes(turns):
    flags = pd.DataFrame(
        {"session_id": "s0", "turn": [0, 2, 4], "question": [1, 0, 1], "reflection": [0, 0, 1], "input": 0}
    )
    found = read_gold(read_machine(turns), flags, GoldOptions()).sets
    assert found["value"].tolist() == ["mi_question", "other"]  # turn 4 has two of them
    named = flags[["session_id", "turn"]].assign(code=["reflection", "other", "question"])
    found = read_gold(read_machine(turns), named, GoldOptions()).sets
    assert found["value"].tolist() == ["mi_reflection", "other", "mi_question"]
    assert np.array_equal(found["place"], [0, 2, 4])
