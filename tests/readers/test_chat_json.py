"""Chats: what is a message, which of them make a session, where the file is broken."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.session import Session
from therapy_analytics.readers import RawSession, ReadOptions, Source, chat_json, read
from therapy_analytics.readers.chat_json import read_chat_json

HANG_S = 10.0
"""Seconds of processor time that only a hang takes; speed itself is measured in benchmarks/."""

Sessions = Callable[..., tuple[Session, ...]]
SessionOf = Callable[..., Session]
Problem = Callable[..., UnreadableFileError]

CHAT = [("user", "Hi."), ("assistant", "Hello.")]


def messages(*pairs: tuple[str, Any], who: str = "role", what: str = "content") -> list[dict[str, Any]]:
    return [{who: speaker, what: words} for speaker, words in pairs or CHAT]


def heard(session: Session) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in session.turns]


@pytest.mark.parametrize(
    ("who", "what"),
    [("role", "content"), ("from", "value"), ("speaker", "text"), ("author", "message"), ("sender", "body")],
)
def test_names_of_the_two_fields(who: str, what: str, session: SessionOf) -> None:
    assert heard(session(json.dumps(messages(who=who, what=what)), "a.json")) == CHAT


@pytest.mark.parametrize(
    "labels", [("human", "gpt"), ("user", "assistant"), ("seeker", "supporter"), ("Patient", "Therapist")]
)
def test_the_usual_labels_are_roles(labels: tuple[str, str], session: SessionOf) -> None:
    client, therapist = labels
    one = session(json.dumps(messages((client, "Hi."), (therapist, "Hello."))), "a.json")
    assert [turn.role for turn in one.turns] == ["client", "therapist"]
    assert one.role_method == "labels"


def test_content_parts_are_joined_and_pictures_left_out(session: SessionOf) -> None:
    parts = [
        {"type": "text", "text": "Look."},
        {"type": "image_url", "image_url": {"url": "x"}},
        "And.",
        {"text": "Hm."},
    ]
    one = session(json.dumps(messages(("user", parts), ("assistant", "Hello."))), "a.json")
    assert heard(one) == [("user", "Look.\nAnd.\nHm."), ("assistant", "Hello.")]


def test_system_and_tool_messages_are_no_turns(session: SessionOf) -> None:
    one = session(json.dumps(messages(("system", "Be kind."), *CHAT, ("tool", "42"), ("assistant", "So."))), "a.json")
    assert [turn.role for turn in one.turns] == ["client", "therapist"]
    assert [turn.first_row for turn in one.turns] == [2, 3]
    assert one.turns[1].text == "Hello. So."
    assert one.notes == ("2 messages of the system, a tool or a developer (3 words) left out.",)


def test_null_content_is_no_turn_but_a_note(session: SessionOf) -> None:
    one = session(
        json.dumps(messages(("user", "Hi."), ("assistant", None), ("user", "?"), ("assistant", None))), "a.json"
    )
    assert heard(one) == [("user", "Hi. ?")]
    assert one.notes[0] == "2 rows without words left out."


def test_numbers_as_words_and_as_speakers(session: SessionOf) -> None:
    one = session('[{"speaker": 1, "text": 42}, {"speaker": 2, "text": 4.5}]', "a.json")
    assert heard(one) == [("1", "42"), ("2", "4.5")]


def test_what_is_not_a_message_is_passed_over(session: SessionOf) -> None:
    listed = [*messages(), "a word", {"note": "x"}, *messages(("user", "Bye."))]
    one = session(json.dumps(listed), "a.json")
    assert [(turn.text, turn.first_row) for turn in one.turns] == [("Hi.", 1), ("Hello.", 2), ("Bye.", 5)]
    assert one.notes == ("2 items among the messages without a speaker or words left out.",)


def test_times_of_messages(session: SessionOf) -> None:
    rows = [
        {"speaker": "T", "text": "Hi.", "start": 1, "end": "00:02.5"},
        {"speaker": "C", "text": "Hey.", "start": 10**400, "end": True},
    ]
    one = session(json.dumps(rows), "a.json")
    assert [(turn.start_s, turn.end_s) for turn in one.turns] == [(1.0, 2.5), (None, None)]
    assert isinstance(one.turns[0].start_s, float)


@pytest.mark.parametrize("key", ["id", "session_id", "conversation_id"])
def test_ids_come_from_the_file(key: str, sessions: Sessions) -> None:
    text = json.dumps([{key: "first", "messages": messages()}, {key: 2, "messages": messages()}])
    assert [one.id for one in sessions(text, "a.json")] == ["first", "2"]


@pytest.mark.parametrize("key", ["title", "name"])
def test_a_title_is_no_id(key: str, sessions: Sessions) -> None:
    text = json.dumps([{key: "first", "messages": messages()}, {key: 2, "uuid": "u2", "messages": messages()}])
    assert [(one.id, one.metadata) for one in sessions(text, "a.json")] == [("a", {}), ("u2", {})]


def test_facts_beside_the_messages_are_metadata(session: SessionOf) -> None:
    text = json.dumps({"id": "x", "model": "m-1", "rating": 4, "long": "w " * 40, "messages": messages()})
    assert session(text, "a.json").metadata == {"model": "m-1"}
    assert session(text, "a.json", keep=("Rating",)).metadata == {"model": "m-1", "rating": "4"}


def test_a_long_name_of_a_model_is_a_fact_too(session: SessionOf) -> None:
    name = "hosted/" + "Large-12B-A3B-Instruct-" * 2 + "2507"
    one = session(json.dumps({"id": "x", "model": name, "messages": messages()}), "a.json")
    assert one.metadata == {"model": name}


def test_sessions_at_any_depth(sessions: Sessions) -> None:
    text = json.dumps({"data": [[messages()], {"chats": [messages(), messages()]}]})
    assert [one.id for one in sessions(text, "a.json")] == ["a", "a-2", "a-3"]


def test_sessions_under_names_of_their_own(sessions: Sessions) -> None:
    text = json.dumps({"monday": messages(), "friday": messages()})
    assert [one.id for one in sessions(text, "a.json")] == ["monday", "friday"]


def test_a_session_a_line(sessions: Sessions) -> None:
    lines = [json.dumps({"id": name, "messages": messages()}) for name in ("x", "y")]
    assert [one.id for one in sessions("\n\n".join(lines) + "\n", "a.jsonl")] == ["x", "y"]
    assert [one.id for one in sessions(f"{json.dumps(messages())}\n{json.dumps(messages())}", "b.jsonl")] == [
        "b",
        "b-2",
    ]


def test_a_message_a_line(session: SessionOf) -> None:
    one = session("\n".join(map(json.dumps, messages())), "a.jsonl")
    assert heard(one) == CHAT
    assert one.id == "a"


def test_messages_that_name_their_session_are_parted(sessions: Sessions) -> None:
    rows = [{"session_id": name, **message} for message in messages() for name in ("x", "y")]
    read = sessions("\n".join(map(json.dumps, rows)), "a.jsonl")
    assert [one.id for one in read] == ["x", "y"]
    assert [heard(one) for one in read] == [CHAT, CHAT]
    assert [turn.first_row for turn in read[1].turns] == [2, 4]


def test_a_line_separator_inside_words_does_not_break_a_line(sessions: Sessions) -> None:
    lines = [json.dumps(messages(("user", "a\u2028b"), ("assistant", "c\x85d")), ensure_ascii=False) for _ in range(2)]
    assert heard(sessions("\n".join(lines), "a.jsonl")[1]) == [("user", "a\u2028b"), ("assistant", "c\x85d")]


def test_half_a_letter_does_not_stop_the_run(session: SessionOf) -> None:
    one = session(
        '[{"role": "user", "content": "ok \\ud83d"}, {"role": "assistant\\ud83d", "content": "yes"}]', "a.json"
    )
    assert heard(one) == [("user", "ok ?"), ("assistant?", "yes")]


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000, "[{}\n" + "[" * 100_000]
)
def test_deep_nesting_is_refused_quickly(text: str, problem: Problem) -> None:
    began = time.process_time()
    assert "JSON" in problem(text, "a.json").problem
    assert time.process_time() - began < HANG_S


@pytest.mark.parametrize(
    ("text", "name", "line"),
    [
        (json.dumps(messages(), indent=1)[:-3], "a.json", 9),
        ('{"messages": [\n{"role": "user", "content": "secret" "x"}\n]}', "a.json", 2),
        (f"{json.dumps(messages())}\n{json.dumps(messages())}\n\n[{{broken\n", "a.jsonl", 4),
        ('[{"role": "user", "content": "secret', "a.json", 1),
    ],
)
def test_broken_json_names_the_line(text: str, name: str, line: int, problem: Problem) -> None:
    error = problem(text, name)
    assert error.line == line
    assert f"line {line}:" in str(error)
    assert "secret" not in str(error)


@pytest.mark.parametrize(
    "text", ["[]", "{}", '{"messages": []}', '[{"a": 1}]', '["secret", "words"]', '{"role": "user"}']
)
def test_json_without_messages_is_refused(text: str, problem: Problem) -> None:
    error = problem(text, "a.json")
    assert '"speaker"' in error.remedy
    assert "secret" not in str(error)


def test_messages_without_a_word_are_refused(problem: Problem) -> None:
    assert (
        problem(json.dumps(messages(("user", ""), ("assistant", None))), "a.json").problem
        == "the file holds no spoken words"
    )


def raw(value: Any) -> list[RawSession]:
    text = value if isinstance(value, str) else json.dumps(value)
    return list(read_chat_json(Source(Path("a.json"), text)))


def lines(*values: Any) -> str:
    return "\n".join(map(json.dumps, values))


def roles(session: Session) -> str:
    return "".join(turn.role[0] for turn in session.turns)


# OpenAI, and what models do beside speaking


def test_pictures_among_the_parts_are_counted(session: SessionOf) -> None:
    parts = [{"type": "text", "text": "Look here."}, {"type": "image_url"}, {"type": "input_audio", "input_audio": {}}]
    one = session(json.dumps(messages(("user", parts), ("assistant", "I see."))), "a.json")
    assert one.notes == ("2 parts without text (a picture, sound, a file) left out.",)


def test_a_message_that_only_calls_a_tool_is_counted(session: SessionOf) -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}, {"id": "2"}]}
    bare = {"role": "assistant", "function_call": {"name": "f"}}
    spoken = {"role": "assistant", "content": "One moment.", "tool_calls": [{"id": "3"}]}
    one = session(json.dumps([*messages(), call, bare, spoken, *messages(("user", "Fine."))]), "a.json")
    assert heard(one) == [("user", "Hi."), ("assistant", "Hello. One moment."), ("user", "Fine.")]
    assert one.notes == ("4 calls of a tool left out.",)


@pytest.mark.parametrize("role", ["system", "tool", "function", "developer"])
def test_what_nobody_says_is_no_turn(role: str, session: SessionOf) -> None:
    one = session(json.dumps(messages((role, "Note this."), *CHAT)), "a.json")
    assert heard(one) == CHAT
    assert "(2 words) left out." in one.notes[0]


def test_a_person_who_is_called_as_a_tool_is_keeps_their_words(session: SessionOf) -> None:
    rows = [
        {"speaker": name, "text": words}
        for name, words in [("Interviewer", "What do you do?"), ("Developer", "I write programs.")]
    ]
    assert [turn.speaker for turn in session(json.dumps(rows), "a.json").turns] == ["Interviewer", "Developer"]


@pytest.mark.parametrize(
    ("words", "left", "n"),
    [
        ("<think>a plan</think>Hello.", "Hello.", 1),
        ("a plan</think>\n\nHello.", "Hello.", 1),
        ("One.<thinking>x</thinking> Two.<think>y</think>", "One. Two.", 2),
        ("Hello.<think>it breaks off", "Hello.", 1),
        ("<think>a<think>b</think>Hello.", "Hello.", 1),
        ("<b>Hello</b> 1 < 2", "<b>Hello</b> 1 < 2", 0),
    ],
)
def test_thoughts_are_left_out_and_counted(words: str, left: str, n: int, session: SessionOf) -> None:
    one = session(json.dumps(messages(("user", "Hi."), ("assistant", words))), "a.json")
    assert one.turns[1].text == left
    assert sum(int(note.split()[0]) for note in one.notes if "thinks" in note) == n


def test_reasoning_beside_the_words_and_among_the_parts_is_counted(session: SessionOf) -> None:
    rows = messages(
        ("user", "Hi."), ("assistant", [{"type": "thinking", "thinking": "x"}, {"type": "text", "text": "A."}])
    )
    rows.append({"role": "user", "content": "And?"})
    rows.append({"role": "assistant", "content": "B.", "reasoning_content": "secret plan"})
    rows.append({"role": "assistant", "content": None, "reasoning_content": "more"})
    one = session(json.dumps(rows), "a.json")
    assert heard(one) == [("user", "Hi."), ("assistant", "A."), ("user", "And?"), ("assistant", "B.")]
    assert one.notes == ("3 parts in which a model thinks to itself (4 words) left out.",)


def test_names_and_values_beside_the_messages_are_no_session(session: SessionOf) -> None:
    beside = [{"name": "age", "value": "41"}, {"name": "town", "value": "a b c"}]
    one = session(
        json.dumps({"traits": beside, "messages": messages(), "forms": [{"name": "x", "text": "a b"}]}), "a.json"
    )
    assert heard(one) == CHAT


@pytest.mark.parametrize("beside", [["user: a b", "agent: c d"] * 3, [{"question": "a b", "answer": "c d"}] * 2])
def test_weaker_forms_beside_the_messages_are_no_session(beside: list[Any], session: SessionOf) -> None:
    assert heard(session(json.dumps({"quotes": beside, "messages": messages()}), "a.json")) == CHAT


def test_two_clients_with_names_are_kept_apart(session: SessionOf) -> None:
    rows = [
        {"role": role, "name": name, "content": "Yes."}
        for role, name in [("user", "Ann"), ("user", "Bo"), ("assistant", "Lee")]
    ]
    one = session(json.dumps(rows), "a.json")
    assert [(turn.speaker, turn.role) for turn in one.turns] == [
        ("Ann", "client"),
        ("Bo", "client"),
        ("Lee", "therapist"),
    ]


def test_one_account_name_for_both_roles_is_no_speaker(session: SessionOf) -> None:
    rows = [{"role": role, "user": "account-1", "content": words} for role, words in CHAT]
    assert roles(session(json.dumps(rows), "a.json")) == "ct"


# ChatGPT account export


def node(name: str, parent: str | None, role: str, *parts: Any, **more: Any) -> dict[str, Any]:
    message = {"author": {"role": role}, "content": {"content_type": "text", "parts": list(parts)}, **more}
    return {"id": name, "parent": parent, "children": [], "message": message}


def tree(*nodes: dict[str, Any], **more: Any) -> dict[str, Any]:
    root: dict[str, Any] = {"id": "r", "parent": None, "message": None}
    return {"title": "A walk", "mapping": {one["id"]: one for one in (root, *nodes)}, **more}


def test_the_current_branch_is_followed_from_its_leaf(session: SessionOf) -> None:
    nodes = [
        node("s", "r", "system", "", weight=0),
        node("c", "b2", "user", "Third."),
        node("a", "s", "user", "First.", create_time=1_710_252_333.5),
        node("b1", "a", "assistant", "Tried again."),
        node("b2", "a", "assistant", "Second.", create_time=1_710_252_393.5),
    ]
    one = session(
        json.dumps([tree(*nodes, current_node="c", conversation_id="x-1", create_time=1_710_252_333)]), "a.json"
    )
    assert heard(one) == [("user", "First."), ("assistant", "Second."), ("user", "Third.")]
    assert one.id == "x-1"
    assert one.metadata == {"date": "2024-03-12"}
    assert one.notes == ("1 message of branches that were edited or tried again left out.",)
    assert [turn.start_s for turn in one.turns] == [0.0, 60.0, None]
    assert [turn.first_row for turn in one.turns] == [1, 2, 3]


def test_without_a_current_node_the_newest_leaf_is_taken(session: SessionOf) -> None:
    nodes = [
        node("a", "r", "user", "First."),
        node("new", "a", "assistant", "New.", create_time=1_710_252_999),
        node("old", "a", "assistant", "Old.", create_time=1_710_252_333),
    ]
    assert [turn.text for turn in session(json.dumps(tree(*nodes, current_node="gone")), "a.json").turns] == [
        "First.",
        "New.",
    ]


def test_what_the_user_never_saw_is_left_out(session: SessionOf) -> None:
    nodes = [
        node("h", "r", "system", "Hidden rules.", metadata={"is_visually_hidden_from_conversation": True}),
        node("w", "h", "assistant", "Weighs nothing.", weight=0.0),
        node("a", "w", "user", {"content_type": "image_asset_pointer"}, "Look."),
        node("t", "a", "assistant", "search(x)", recipient="browser"),
        node("b", "t", "assistant", "I see."),
    ]
    one = session(json.dumps(tree(*nodes, current_node="b")), "a.json")
    assert heard(one) == [("user", "Look."), ("assistant", "I see.")]
    assert one.notes == (
        "2 messages that the chat does not show, or that weigh nothing, left out.",
        "1 part without text (a picture, sound, a file) left out.",
        "1 call of a tool left out.",
    )


def test_a_circle_of_parents_ends(sessions: Sessions) -> None:
    nodes = [node("a", "b", "user", "First."), node("b", "a", "assistant", "Second.")]
    assert len(sessions(json.dumps(tree(*nodes, current_node="b")), "a.json")[0].turns) == 2


def test_chats_of_one_export_are_kept_apart_and_empty_ones_left_out(sessions: Sessions) -> None:
    full = [tree(node("a", "r", "user", f"Chat {n}."), current_node="a", conversation_id=f"x-{n}") for n in (1, 2)]
    assert [one.id for one in sessions(json.dumps([full[0], tree(current_node="r"), full[1]]), "a.json")] == [
        "x-1",
        "x-2",
    ]


# speech recognition


def segment(speaker: str | None, text: str, start: float, **more: Any) -> dict[str, Any]:
    named = {} if speaker is None else {"speaker": speaker}
    return {"start": start, "end": start + 1, "text": text, **named, **more}


def test_whisperx_segments_have_speakers_and_times(session: SessionOf) -> None:
    rows = [segment("SPEAKER_00", " How are you?", 0.5), segment("SPEAKER_01", " Fine, I think.", 2.25)]
    one = session(
        json.dumps({"segments": rows, "word_segments": [{"word": "How", "start": 0.5, "speaker": "SPEAKER_00"}]}),
        "a.json",
    )
    assert [(turn.speaker, turn.text, turn.start_s, turn.end_s) for turn in one.turns] == [
        ("SPEAKER_00", "How are you?", 0.5, 1.5),
        ("SPEAKER_01", "Fine, I think.", 2.25, 3.25),
    ]


def test_a_segment_without_a_speaker_goes_by_its_words_or_stays_without_one(session: SessionOf) -> None:
    words = [{"word": "I", "speaker": "B"}, {"word": "am", "speaker": "B"}, {"word": "so", "speaker": "A"}]
    rows = [segment("A", "You?", 0), segment(None, "I am so.", 1, words=words), segment(None, "Tired.", 2)]
    one = session(json.dumps({"segments": [*rows, segment("B", "Yes.", 3)]}), "a.json")
    assert heard(one) == [("A", "You?"), ("B", "I am"), ("A", "so."), ("", "Tired."), ("B", "Yes.")]
    assert one.turns[3].role == "other"
    assert one.notes[0] == "1 segment without a speaker (1 word) stayed without one, in neither role."


def test_who_speaks_without_a_name_is_of_neither_role_and_has_their_words(session: SessionOf) -> None:
    talk = [("Therapist", "Where shall we begin?"), ("Client", "With the letter."), (None, "I told her to write it.")]
    talk += [("Therapist", "Your mother speaks, too."), ("Client", "She does.")]
    rows = [segment(name, words, 4 * at) for at, (name, words) in enumerate(talk)]
    one = session(json.dumps({"segments": rows}), "a.json")
    assert heard(one) == [(name or "", words) for name, words in talk]
    assert roles(one) == "tcotc"


def test_seconds_beyond_a_million_are_times(session: SessionOf) -> None:
    rows = [{"speaker": "TC"[at % 2], "text": "Yes.", "start_s": 700_000.5 * at} for at in range(4)]
    assert session(json.dumps(rows), "a.json").turns[3].start_s == 2_100_001.5


@pytest.mark.parametrize("extra", [{}, {"words": [{"word": "secret", "start": 0, "end": 1, "probability": 0.5}]}])
def test_segments_without_any_speaker_are_refused_by_the_name_of_what_is_missing(
    extra: dict[str, Any], problem: Problem
) -> None:
    rows = [segment(None, "secret words", n, **extra) for n in range(3)]
    error = problem(json.dumps({"text": "secret words", "segments": rows, "language": "en"}), "a.json")
    assert "diarisation" in error.problem
    assert "--diarize" in error.remedy
    assert "secret" not in str(error)


def test_deepgram_utterances_are_read_once(session: SessionOf) -> None:
    word = [{"word": "hi", "start": 0.1, "end": 0.3, "speaker": 0}] * 3
    channel = {"alternatives": [{"transcript": "hi", "words": word}]}
    utterances = [{"speaker": n, "transcript": f"Line {n}.", "start": n, "end": n + 1, "words": word} for n in (0, 1)]
    one = session(json.dumps({"results": {"channels": [channel], "utterances": utterances}}), "a.json")
    assert heard(one) == [("0", "Line 0."), ("1", "Line 1.")]


def test_thousandths_of_a_second_become_seconds(session: SessionOf) -> None:
    rows = [
        {"speaker": "A", "text": "How have you been this week?", "start": 250, "end": 2250},
        {"speaker": "B", "text": "Not bad at all, thanks.", "start": 3000, "end": 5000},
    ]
    one = session(json.dumps({"utterances": rows, "words": [{"text": "How", "start": 250, "speaker": "A"}]}), "a.json")
    assert [(turn.start_s, turn.end_s) for turn in one.turns] == [(0.25, 2.25), (3.0, 5.0)]


def test_words_with_speakers_alone_become_turns(session: SessionOf) -> None:
    def item(speaker: str | None, word: str, start: str | None = None) -> dict[str, Any]:
        times = {} if start is None else {"start_time": start, "end_time": start}
        return {"alternatives": [{"content": word}], **times, **({} if speaker is None else {"speaker_label": speaker})}

    items = [
        item("spk_0", "How", "0.5"),
        item("spk_0", "so", "0.9"),
        item(None, "?"),
        item("spk_1", "Well", "2.0"),
        item(None, "."),
    ]
    one = session(json.dumps({"results": {"transcripts": [{"transcript": "secret"}], "items": items}}), "a.json")
    assert heard(one) == [("spk_0", "How so?"), ("spk_1", "Well.")]
    assert [turn.start_s for turn in one.turns] == [0.5, 2.0]


# ConvoKit


def utterance(name: str, talk: str, speaker: Any, text: str, at: Any = None, **meta: Any) -> dict[str, Any]:
    return {
        "id": name,
        "conversation_id": talk,
        "speaker": speaker,
        "text": text,
        "timestamp": at,
        "reply-to": None,
        "meta": meta,
    }


def test_convokit_conversations_are_kept_apart_and_put_in_order(sessions: Sessions) -> None:
    text = lines(
        utterance("1", "x", "client", "Third.", 30),
        utterance("2", "y", {"id": "client", "meta": {"age": 3}}, "Other.", 1_700_000_000, code="CT"),
        utterance("3", "x", "client", "First.", 10),
        utterance("4", "y", {"id": "therapist"}, "More.", 1_700_000_060.5, code=None, score=3, url="x"),
        utterance("5", "x", "therapist", "Second.", 20),
    )
    x, y = sessions(text, "utterances.jsonl")
    assert (x.id, y.id) == ("x", "y")
    assert [turn.text for turn in x.turns] == ["First.", "Second.", "Third."]
    assert [turn.first_row for turn in x.turns] == [3, 5, 1]
    assert [turn.start_s for turn in x.turns] == [10.0, 20.0, 30.0]
    assert x.notes == ("The messages were put in the order of their times.",)
    assert [turn.start_s for turn in y.turns] == [0.0, 60.5]
    assert [dict(turn.gold) for turn in y.turns] == [{"code": "CT"}, {}]


def test_numbers_that_only_count_are_no_times(session: SessionOf) -> None:
    text = lines(*(utterance(str(n), "x", "T" if n % 2 else "C", "Yes.", n) for n in range(4)))
    assert [turn.start_s for turn in session(text, "a.jsonl").turns] == [None] * 4


def test_messages_that_stand_newest_first_are_turned_around(session: SessionOf) -> None:
    rows = [
        {"sender_name": name, "timestamp_ms": 1_700_000_000_000 + at, "content": words}
        for name, at, words in [("B", 5000, "Two."), ("A", 5000, "One b."), ("A", 0, "One a.")]
    ]
    one = session(json.dumps({"messages": rows}), "a.json")
    assert heard(one) == [("A", "One a. One b."), ("B", "Two.")]


# pairs, single turns, lines


def test_pairs_with_role_names_are_exchanges_in_their_written_order(session: SessionOf) -> None:
    one = session(
        json.dumps([{"Doctor": "How so?", "Patient": "I fell."}, {"Doctor": "When was it?", "Patient": "Monday."}]),
        "a.json",
    )
    assert heard(one) == [
        ("Doctor", "How so?"),
        ("Patient", "I fell."),
        ("Doctor", "When was it?"),
        ("Patient", "Monday."),
    ]
    assert [turn.first_row for turn in one.turns] == [1, 2, 3, 4]
    assert one.notes == ("2 pairs of fields were read as the exchanges of one session.",)


@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        ("input", "output"),
        ("Context", "Response"),
        ("question", "answer"),
        ("prompt", "completion"),
        ("user", "assistant"),
    ],
)
def test_what_answers_is_the_therapist(ask: str, answer: str, session: SessionOf) -> None:
    one = session(
        json.dumps(
            [
                {answer: f"Why {n}?", ask: f"I fell {n}."}
                if ask == "input"
                else {ask: f"I fell {n}.", answer: f"Why {n}?"}
                for n in (1, 2)
            ]
        ),
        "a.json",
    )
    assert roles(one) == "ctct"
    assert one.turns[0].text == "I fell 1."


def test_an_instruction_is_no_turn(session: SessionOf) -> None:
    one = session(json.dumps([{"instruction": "Be kind.", "input": "I fell.", "output": "How so?"}] * 1), "a.json")
    assert roles(one) == "ct"
    assert "1 message of the system (2 words) left out." in one.notes
    one = session(
        json.dumps([{"conversation": [{"system": "Be kind.", "input": "I fell.", "output": "How so?"}]}]), "b.json"
    )
    assert roles(one) == "ct"


def test_questions_a_line_are_sessions_and_exchanges_a_line_are_one(sessions: Sessions) -> None:
    alone = lines(*({"Context": f"I fell {n}.", "Response": "How so?"} for n in range(3)))
    assert len(sessions(alone, "a.jsonl")) == 3
    together = lines(*({"user": f"I fell {n}.", "assistant": "How so?"} for n in range(3)))
    assert [len(one.turns) for one in sessions(together, "b.jsonl")] == [6]
    repeated = json.dumps([{"Context": "I fell.", "Response": f"How so {n}?"} for n in range(3)])
    assert len(sessions(repeated, "c.json")) == 3


def test_ids_of_client_and_therapist_are_no_exchange(problem: Problem, session: SessionOf) -> None:
    assert (
        "no list of messages"
        in problem('[{"client": "P01", "therapist": "T2"}, {"client": "P02", "therapist": "T2"}]', "a.json").problem
    )
    one = session(json.dumps({"client": "P 01", "therapist": "Dr Lee", "messages": messages()}), "b.json")
    assert heard(one) == CHAT
    assert one.metadata["client"] == "P 01"


@pytest.mark.parametrize(
    "turns",
    [
        [{"Therapist": "How so?"}, {"Client": "I fell: hard."}, {"Therapist": "Oh."}, {"Client": "Yes."}],
        [["Therapist", "How so?"], ["Client", "I fell: hard."], ["Therapist", "Oh."], ["Client", "Yes."]],
        ["Therapist: How so?", "Client: I fell: hard.", "**Therapist:** Oh.", "client\uff1aYes."],
        {
            "1": {"who": "Therapist", "text": "How so?"},
            "2": {"who": "Client", "text": "I fell: hard."},
            "3": {"who": "Therapist", "text": "Oh."},
            "4": {"who": "Client", "text": "Yes."},
        },
        {"speaker": ["Therapist", "Client"] * 2, "text": ["How so?", "I fell: hard.", "Oh.", "Yes."]},
        {
            "speaker": dict(zip("0123", ["Therapist", "Client"] * 2, strict=True)),
            "text": dict(zip("0123", ["How so?", "I fell: hard.", "Oh.", "Yes."], strict=True)),
        },
        {"id": 7, "dialogue": "Therapist: How so?\nClient: I fell: hard.\nTherapist: Oh.\nClient: Yes."},
        [
            {"time": "10:00", "message": {"role": role, "content": words}}
            for role, words in [
                ("Therapist", "How so?"),
                ("Client", "I fell: hard."),
                ("Therapist", "Oh."),
                ("Client", "Yes."),
            ]
        ],
    ],
)
def test_turns_in_other_clothes(turns: Any, session: SessionOf) -> None:
    one = session(json.dumps(turns), "a.json")
    assert [turn.text for turn in one.turns] == ["How so?", "I fell: hard.", "Oh.", "Yes."]
    assert roles(one) == "tctc"


def test_a_line_without_a_label_goes_on_with_the_turn(session: SessionOf) -> None:
    one = session(
        json.dumps({"dialog": ["Therapist: How so?", "Client: I fell.", "It hurt.", "Therapist: Oh."]}), "a.json"
    )
    assert [turn.text for turn in one.turns] == ["How so?", "I fell.\nIt hurt.", "Oh."]


@pytest.mark.parametrize(
    "value", [["Note: a b", "Idea: c d"], [{"tag": "a b"}, {"tag": "c d"}], [["a b", "c d"], ["e", "f"]]]
)
def test_other_lists_are_no_session(value: Any, problem: Problem) -> None:
    assert "no list of messages" in problem(json.dumps(value), "a.json").problem


# several sessions, names, codes


def test_sessions_of_one_case_are_named_by_the_case(sessions: Sessions) -> None:
    case = {"id": "nora", "sessions": [{"session": n, "messages": messages()} for n in (1, 2)]}
    assert [one.id for one in sessions(json.dumps(case), "a.json")] == ["nora-1", "nora-2"]
    listed = {"id": "omar", "sessions": [messages(), messages()]}
    assert [one.id for one in sessions(json.dumps(listed), "b.json")] == ["omar-1", "omar-2"]


def test_lists_deep_in_a_case_are_named_by_their_keys(sessions: Sessions) -> None:
    deep = {
        "1": {
            "prompts.json": {"ec05": [{"transcript": messages()}], "td01": [{"transcript": messages()}]},
            "meta": {"n": 2},
        }
    }
    assert [one.id for one in sessions(json.dumps(deep), "a.json")] == ["ec05", "td01"]


def test_facts_of_objects_beside_the_messages_are_metadata(session: SessionOf) -> None:
    about = {
        "survey": {"client": {"empathy": "5"}, "therapist": {}},
        "created_at": "2024-03-12T23:30:00-02:00",
        "_id": "q",
    }
    kept = session(json.dumps({**about, "messages": messages()}), "a.json", keep=("survey.client.empathy",))
    assert kept.metadata == {
        "survey_client_empathy": "5",
        "date": "2024-03-13",
    }


def test_words_beside_the_messages_are_no_facts(sessions: Sessions) -> None:
    """Speech recognisers write all that was said beside the segments; of a short talk it became a column."""
    about = {
        "text": "Why? So.",
        "lastMessage": {"content": "I am sad", "sender": "c", "message_id": "m7"},
        "preview": "Why?",
        "summary": "cried a lot",
        "situation": "I hate my job",
        "problem": "job crisis",
        "transcript_language": "en",
        "content_topic": "sleep",
    }
    chats = [{**about, "id": n, "messages": messages()} for n in range(5)]
    for one in sessions(json.dumps(chats), "a.json"):
        assert one.metadata == {"problem": "job crisis", "transcript_language": "en", "content_topic": "sleep"}


def test_codes_of_people_beside_a_message_are_gold(session: SessionOf) -> None:
    rows = [
        {
            "speaker": "T",
            "content": "Why?",
            "annotation": {"strategy": "Question", "n": 3, "user_id": "u"},
            "strategy": None,
        },
        {
            "speaker": "C",
            "content": "So.",
            "talk_type": "change",
            "labels": ["R+", "D+"],
            "id": "7",
            "meta": "a b " * 20,
        },
    ]
    one = session(json.dumps(rows), "a.json")
    assert [dict(turn.gold) for turn in one.turns] == [
        {"strategy": "Question"},
        {"talk_type": "change", "labels": "R+;D+"},
    ]


def test_values_without_line_feeds_between_them_are_read(sessions: Sessions) -> None:
    pretty = [json.dumps({"id": name, "messages": messages()}, indent=2) for name in "xy"]
    assert [one.id for one in sessions("\x1e" + "\n\x1e".join(pretty), "a.jsonl")] == ["x", "y"]


# hostile


@pytest.mark.parametrize(
    "text",
    [
        "[" + "{}," * 4_000_000 + "{}]",
        '[{"role": "user", "content": ' + "9" * 10_000 + "}]",
        json.dumps(["a:b"] * 100_000),
        json.dumps({"text": "a: b\n" * 150_000}),
        json.dumps({"segments": [{"start": 1, "text": "x", "words": [{"speaker": str(n)} for n in range(20_000)]}]}),
        '[{"mapping": {"a": {"parent": {}, "message": []}}, "current_node": ["a"]}]',
        '[{"role": "user", "content": {"parts": [[[]], {"text": {}}, null, true]}}]',
        '{"speaker": [1, 2], "text": [3]}',
        '[{"role": {"role": {"role": {"role": {}}}}, "content": "x y"}]',
    ],
    ids=range(9),
)
def test_what_is_hostile_ends_quickly(text: str) -> None:
    began = time.process_time()
    with suppress(UnreadableFileError):
        raw(text)
    assert time.process_time() - began < HANG_S


def test_a_line_of_twenty_megabytes_is_read(tmp_path: Path) -> None:
    began = time.process_time()
    (one,) = raw(
        '[{"role": "user", "content": "' + "ab " * 7_000_000 + '"}, {"role": "assistant", "content": "I see."}]'
    )
    assert len(one.rows) == 2
    assert time.process_time() - began < HANG_S


def test_jsonl_is_read_at_speed() -> None:
    text = "I think it went well and I felt a bit lighter on the way home."
    chat = messages(*[("user", text), ("assistant", text)] * 20)
    text = lines(*({"id": str(n), "messages": chat} for n in range(500)))
    began = time.process_time()
    assert sum(len(one.rows) for one in raw(text)) == 20_000
    assert time.process_time() - began < HANG_S


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12)
FIELDS = """
role content speaker text mapping current_node parent message parts words start end segments id meta input output type
tool_calls timestamp reply-to alternatives user Client
"""
fields = st.sampled_from(FIELDS.split())
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(fields, inner, max_size=6), max_leaves=25
)


@settings(max_examples=150, deadline=None)
@given(values)
@example({"content": None, "speaker": None, "type": [], "text": ""})
@example([{"start": 1, "text": "x", "type": []}])
def test_any_json_is_sessions_or_a_plain_problem(value: Any) -> None:
    found: list[RawSession] = []
    with suppress(UnreadableFileError):
        found = raw(value)
    assert all(
        isinstance(row.text, str) and isinstance(row.speaker, str) and row.place > 0
        for one in found
        for row in one.rows
    )


spoken = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="<"), min_size=1, max_size=30)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(spoken, min_size=2, max_size=12), st.sampled_from(["messages", "sharegpt", "pairs", "singles", "convokit"])
)
def test_every_word_comes_through_in_order(texts: list[str], form: str) -> None:
    texts = [f"{words} x" for words in texts[: len(texts) // 2 * 2]]
    who = ["client", "therapist"] * len(texts)
    made = {
        "messages": [{"role": name, "content": words} for name, words in zip(who, texts, strict=False)],
        "sharegpt": {"conversations": [{"from": name, "value": text} for name, text in zip(who, texts, strict=False)]},
        "pairs": [{"client": one, "therapist": two} for one, two in zip(texts[::2], texts[1::2], strict=True)],
        "singles": [{name: words} for name, words in zip(who, texts, strict=False)],
        "convokit": [utterance(str(n), "c", who[n], words) for n, words in enumerate(texts)],
    }
    (one,) = raw(made[form])
    assert [row.text for row in one.rows] == texts
    assert [row.speaker for row in one.rows] == who[: len(texts)]


# real files, where a developer has them


def volleys(speakers: list[str]) -> int:
    return sum(1 for _ in groupby(speakers))


def test_real_chats_have_the_right_turns(corpora: Path) -> None:
    assert [len(one.turns) for one in read(corpora / "spiral_bench" / "claude-3.5-sonnet.json")] == [41] * 30
    assert [len(one.turns) for one in read(corpora / "mindeval" / "sessions.jsonl")] == [21] * 29


def test_a_real_list_of_dialogs_has_the_right_turns_and_codes(corpora: Path) -> None:
    path = corpora / "layouts" / "esconv_dialog_list.json"
    dialogs = [one["dialog"] for one in json.loads(path.read_text(encoding="utf-8"))]
    sessions = read(path)
    assert len(sessions) == 196
    assert [len(one.turns) for one in sessions] == [
        volleys([turn["speaker"] for turn in turns if turn["content"].strip()]) for turns in dialogs
    ]
    coded = {turn["annotation"]["strategy"] for turns in dialogs for turn in turns if "strategy" in turn["annotation"]}
    assert {
        code for one in sessions for turn in one.turns for code in turn.gold.get("strategy", "").split(";") if code
    } == coded
    assert all({turn.role for turn in one.turns} == {"therapist", "client"} for one in sessions)
    assert sessions[0].metadata["survey_score_seeker_empathy"] == "1"


def test_a_real_pair_of_turns(corpora: Path) -> None:
    (one,) = read(corpora / "layouts" / "speaker_text.json")
    assert [(turn.speaker, turn.role) for turn in one.turns] == [("Patient", "client"), ("Therapist", "therapist")]


def test_sentences_are_joined_by_spaces_and_fragments_by_nothing(sessions: Sessions) -> None:
    spoken = [{"speaker": n, "sentences": [{"text": "One."}, {"text": "Two."}]} for n in (0, 1)]
    assert heard(sessions(json.dumps({"paragraphs": spoken}), "a.json")[0])[0] == ("0", "One. Two.")
    telegram = [{"from": name, "text": ["see ", {"type": "bold", "text": "th"}, "is"]} for name in ("Ann", "Bo")]
    assert heard(sessions(json.dumps({"messages": telegram}), "b.json")[0])[1] == ("Bo", "see this")


@pytest.mark.parametrize("unit", [1, 1000, 1_000_000])
def test_dates_in_smaller_units(unit: int) -> None:
    rows = [
        {"sender": name, "text": "Yes.", "timestamp": (1_700_000_000 + at) * unit} for name, at in [("A", 0), ("B", 9)]
    ]
    (one,) = raw(rows)
    assert [row.start_s for row in one.rows] == [0.0, 9.0]


def test_tables_of_other_things_are_no_facts(sessions: Sessions) -> None:
    beside = {
        "judge": {f"chunk{n}": {"length": n} for n in range(5)},
        "rated": {f"by{n}": {"score": n} for n in range(2)},
    }
    chats = [{**beside, "id": n, "messages": messages()} for n in range(5)]
    one, *_ = sessions(json.dumps(chats), "a.json")
    assert one.metadata == {"rated_by0_score": "0", "rated_by1_score": "1"}


def test_names_and_values_alone_are_refused(problem: Problem) -> None:
    assert (
        "no list of messages"
        in problem('[{"name": "age", "value": "a b"}, {"name": "sex", "value": "c"}]', "a.json").problem
    )


def test_what_nobody_says_has_its_role_in_the_row() -> None:
    (one,) = raw(messages(("developer", "Note."), *CHAT))
    assert [row.role for row in one.rows] == ["other", None, None]


def test_too_many_values_are_refused_before_they_are_read() -> None:
    with pytest.raises(UnreadableFileError, match="more than 8 million"):
        raw("[" + "1," * 9_000_000 + '{"role": "user", "content": "x"}]')


def test_a_speaker_in_the_words_alone_is_found(session: SessionOf) -> None:
    rows = [segment(None, f"Line {who}.", n, words=[{"word": "Line", "speaker": who}]) for n, who in enumerate("ABA")]
    assert heard(session(json.dumps({"segments": rows}), "a.json")) == [
        ("A", "Line A."),
        ("B", "Line B."),
        ("A", "Line A."),
    ]


def test_a_large_table_of_names_is_refused_before_it_is_decoded(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_json, "_LARGE", 10_000)
    names = ", ".join(f'"word {number}": {number}' for number in range(2_000))
    assert "has a name of its own" in problem(f"{{{names}}}", "vocabulary.json").problem


def test_messages_under_an_id_each_are_read_however_large_the_file(
    session: SessionOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_json, "_LARGE", 10_000)
    messages = {f"m{n}": {"speaker": "TC"[n % 2], "text": "So it was a hard week."} for n in range(2_000)}
    assert len(session(json.dumps(messages), "a.json").turns) == 2_000


# ---- logs of runs of models


def test_what_goes_in_and_comes_out_of_a_run_is_no_session_beside_its_messages(sessions: Sessions) -> None:
    chat = messages()
    sample = {"id": 7, "input": chat[:1], "messages": chat, "output": {"choices": [{"message": chat[-1]}]}}
    log = {"eval": {"model": "m/1"}, "samples": [sample, {**sample, "id": 8, "input": "I am low"}]}
    one, two = sessions(json.dumps(log), "a.json")
    assert heard(one) == heard(two) == CHAT
    assert one.metadata == two.metadata == {"eval_model": "m/1"}
    (run,) = sessions(json.dumps({"runs": [{"inputs": {"m": chat[:1]}, "outputs": {"m": chat}}]}), "a.json")
    assert heard(run) == CHAT


def test_what_goes_in_is_a_session_where_nothing_else_holds_it(sessions: Sessions) -> None:
    both = sessions(
        json.dumps({"input": messages(("user", "One."), ("assistant", "Two.")), "chat": messages()}), "a.json"
    )
    assert [len(one.turns) for one in both] == [2, len(CHAT)]


def test_messages_whose_kind_stands_around_them(session: SessionOf) -> None:
    chat = [{"type": "human", "data": {"content": "Hm."}}, {"type": "ai", "data": {"content": "Why?", "id": None}}]
    assert heard(session(json.dumps(chat), "a.json")) == [("human", "Hm."), ("ai", "Why?")]


def test_columns_of_a_table_are_not_looked_for_in_the_json_of_its_cells(tmp_path: Path) -> None:
    cell = json.dumps(messages()).replace('"', '""')
    (tmp_path / "a.csv").write_text(f'Visit,messages\nv1,"{cell}"\nv2,"{cell}"\n')
    found = read(tmp_path / "a.csv", options=ReadOptions(columns={"session": "Visit"}))
    assert [one.id for one in found] == ["v1", "v2"]


def test_messages_without_the_fields_of_other_files_are_read_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(messages()))
    (tmp_path / "b.json").write_text(json.dumps([{"Who": who, "Quote": words} for who, words in CHAT]))
    plain, own = read(tmp_path, options=ReadOptions(columns={"speaker": "Who", "text": "Quote"}))
    assert heard(plain) == heard(own) == CHAT
    assert plain.notes[-1].startswith("--columns had no effect")
    assert not any("--columns" in note for note in own.notes)
