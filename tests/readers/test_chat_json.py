"""Chats: what is a message, which of them make a session, where the file is broken."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from therapy_analytics.errors import UnreadableFileError
from therapy_analytics.session import Session

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


def test_system_and_tool_messages_are_of_neither_role(session: SessionOf) -> None:
    one = session(json.dumps(messages(("system", "Be kind."), *CHAT, ("tool", "42"), ("assistant", "So."))), "a.json")
    assert [turn.role for turn in one.turns] == ["other", "client", "therapist", "other", "therapist"]
    assert [turn.first_row for turn in one.turns] == [1, 2, 3, 4, 5]


def test_null_content_is_no_turn_but_a_note(session: SessionOf) -> None:
    one = session(
        json.dumps(messages(("user", "Hi."), ("assistant", None), ("user", "?"), ("assistant", None))), "a.json"
    )
    assert heard(one) == [("user", "Hi.\n?")]
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


@pytest.mark.parametrize("key", ["id", "session_id", "conversation_id", "title"])
def test_ids_come_from_the_file(key: str, sessions: Sessions) -> None:
    text = json.dumps([{key: "first", "messages": messages()}, {key: 2, "messages": messages()}])
    assert [one.id for one in sessions(text, "a.json")] == ["first", "2"]


def test_short_facts_beside_the_messages_are_metadata(session: SessionOf) -> None:
    one = session(
        json.dumps({"id": "x", "model": "m-1", "rating": 4, "long": "w " * 40, "messages": messages()}), "a.json"
    )
    assert one.metadata == {"model": "m-1", "rating": "4"}


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
    began = time.perf_counter()
    assert "JSON" in problem(text, "a.json").problem
    assert time.perf_counter() - began < 1


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
