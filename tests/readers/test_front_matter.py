"""Front matter: facts of the session, never words of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from therapy_analytics.core.session import Session
from therapy_analytics.readers._text_heads import NONE, front_matter

SessionOf = Callable[..., Session]
TALK = "T: Hello.\nC: Hi.\n"


def test_facts_become_metadata_and_the_id(session: SessionOf) -> None:
    one = session(
        f"---\nsession_id: x7\ncounsellor: 'Lee'\nPatient: \"P 01\"\ndate: 2025-03-04 # a note\n---\n\n{TALK}"
    )
    assert one.id == "x7"
    assert dict(one.metadata) == {"counselor": "Lee", "client": "P 01", "date": "2025-03-04"}
    assert [(turn.text, turn.first_row) for turn in one.turns] == [("Hello.", 8), ("Hi.", 9)]
    assert one.notes == ()


def test_values_stay_as_they_are_written() -> None:
    lines = ["---", "id: 007", "online: no", "rate: 1e3", "url: http://a.b/c#d", "empty:", "...", "T: Hi."]
    found = front_matter(lines)
    assert found.metadata == {"session_id": "007", "online": "no", "rate": "1e3", "url": "http://a.b/c#d"}
    assert found.n_lines == 7


def test_lists_are_joined_and_what_is_nested_is_counted() -> None:
    found = front_matter(["---", "tags: [a, 'b']", "who:", "- x", "- y", "deep:", "  inner: 1", "---"])
    assert found.metadata == {"tags": "a; b", "who": "x; y"}
    assert found.n_left_out == 1


@pytest.mark.parametrize(
    "text",
    [
        "---\nT: One.\nC: Two.\nT: Three.\n---\n",
        "---\nsession: 4\n",
        "Intro\n---\nsession: 4\n---\n",
        "---\njust a line\n---\n",
        "---\n---\n",
        "",
    ],
)
def test_what_only_looks_like_it_is_none(text: str) -> None:
    assert front_matter(text.split("\n")) == NONE


def test_turns_between_rules_are_turns_where_nothing_is_below(session: SessionOf) -> None:
    one = session("---\nTherapist: Hello.\nClient: Hi.\n---\n")
    assert [turn.speaker for turn in one.turns] == ["Therapist", "Client"]
    assert dict(one.metadata) == {}


@given(st.lists(st.text("-: ab#'\"[]\t.\n", max_size=12), max_size=12))
def test_any_lines_are_read_or_left(lines: list[str]) -> None:
    found = front_matter(["---", *lines, "---"])
    assert 0 <= found.n_lines <= len(lines) + 2
    assert all(key and value for key, value in found.metadata.items() if found.n_lines)


@pytest.mark.parametrize("names", [("T", "C"), ("Therapist", "Client"), ("Ruth", "Dana")])
@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_turns_between_rules_are_turns_where_the_talk_goes_on_below(
    names: tuple[str, str], between: str, session: SessionOf
) -> None:
    spoken = [f"{names[at % 2]}: So it goes, {at}." for at in range(6)]
    one = session(between.join(["---", *spoken[:2], "---", *spoken[2:4], "---", *spoken[4:]]))
    assert [turn.text for turn in one.turns] == [f"So it goes, {at}." for at in range(6)]
    assert dict(one.metadata) == {}


def test_names_between_rules_are_facts_though_they_are_labels_below(session: SessionOf) -> None:
    one = session("---\ntherapist: Dr Lee\nclient: Dana\n---\nTherapist: Hello.\nClient: Hi.\n")
    assert dict(one.metadata) == {"counselor": "Dr Lee", "client": "Dana"}
    assert len(one.turns) == 2
