"""Times of tables and of JSON are read by one rule; the forms themselves stand in ``tests/formats/times``."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from therapy_analytics.core.session import Session

SessionOf = Callable[..., Session]
WORDS = ["You kept the ring on.", "It does not come off.", "Did you try?", "With soap, once."]


def as_json(rows: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    return json.dumps(rows), "a.json"


def as_table(rows: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    out = io.StringIO()
    table = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return out.getvalue(), "a.csv"


both_forms = pytest.mark.parametrize("form", [as_json, as_table])


def talk(field: str, values: Sequence[Any], words: Sequence[str] = WORDS) -> list[dict[str, Any]]:
    return [
        {"speaker": ("Therapist", "Client")[at % 2], "text": words[at % len(words)], field: value}
        for at, value in enumerate(values)
    ]


def starts(session: Session) -> list[float | None]:
    return [turn.start_s for turn in session.turns]


@both_forms
def test_what_is_no_time_is_counted(form: Callable[..., tuple[str, str]], session: SessionOf) -> None:
    one = session(*form(talk("time", ["00:06", "soon", "", "00:09"])))
    assert starts(one) == [6, None, None, 9]
    assert one.notes == ("1 time could not be read.",)


@both_forms
def test_a_missing_date_is_written_as_0(form: Callable[..., tuple[str, str]], session: SessionOf) -> None:
    one = session(*form(talk("ts", [1_710_252_300, 0, 1_710_252_306, 1_710_252_308])))
    assert starts(one) == [0, None, 6, 8]
    assert one.notes == ("1 time before that of the first utterance left out.",)


@both_forms
def test_an_answer_that_takes_hours_is_not_spoken_slowly(
    form: Callable[..., tuple[str, str]], session: SessionOf
) -> None:
    gaps = [1804, 7205, 3611, 1502, 9007, 2403, 4801, 6107, 3307, 1999, 5003]
    at = [sum(gaps[:n]) for n in range(len(gaps) + 1)]
    words = [
        "Yes.",
        "I went to the shop and to my sister and back home again, all in the rain.",
        "So you did it.",
        "No.",
    ]
    one = session(*form(talk("time", at, words)))
    assert starts(one) == at
    assert not any("thousandths" in note for note in one.notes)


@both_forms
def test_what_nobody_could_say_so_slowly_has_no_time(form: Callable[..., tuple[str, str]], session: SessionOf) -> None:
    rows = [{**row, "end": row["start"] + 10**15} for row in talk("start", [0, 10**15, 2 * 10**15, 3 * 10**15])]
    one = session(*form(rows))
    assert starts(one) == [None] * 4
    assert any("in no unit of theirs would people speak" in note for note in one.notes)


@pytest.mark.parametrize(
    ("rows", "parts"),
    [
        (
            talk("timestamp", [1_710_280_800, 1_710_280_920, 1_710_320_400, 1_710_320_460]),
            ["a-2024-03-12", "a-2024-03-13"],
        ),
        (
            talk("timestamp", [f"2024-03-{day}T10:00:00+02:00" for day in (12, 12, 13, 14)]),
            ["a-2024-03-12", "a-2024-03-13", "a-2024-03-14"],
        ),
    ],
)
@both_forms
def test_chats_split_by_days(
    form: Callable[..., tuple[str, str]], sessions: Callable[..., tuple[Session, ...]], rows: Any, parts: list[str]
) -> None:
    found = sessions(*form(rows), split_by="day")
    assert [one.id for one in found] == parts
    assert [one.metadata["date"] for one in found] == [name[2:] for name in parts]
