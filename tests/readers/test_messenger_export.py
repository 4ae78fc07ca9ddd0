"""Chats exported as text: stamps in many orders, lines that go on, news of the program, media that are not there."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.session import Session
from therapy_analytics.readers import FileReading, Source
from therapy_analytics.readers.base import READERS
from therapy_analytics.readers.messenger_export import read_messenger_export, sniff

HANG_S = 10.0
"""Seconds of processor time that only a hang takes; speed itself is measured in benchmarks/."""

SessionOf = Callable[..., Session]
Reading = Callable[..., FileReading]

BEFORE = "[12/03/2024, 14:05:33] Anna: "


def source(text: str) -> Source:
    return Source(Path("chat.txt"), text)


def chat(*texts: str, form: str = "[{}/03/2024, 14:05:33] {}: {}") -> str:
    return "\n".join(form.format(20 + n, ("Anna", "Ben")[n % 2], text) for n, text in enumerate(texts))


def heard(session: Session) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in session.turns]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("[25/03/2024, 14:05:33] {}: {}", "[25/03/2024, 14:06:03] {}: {}"),
        ("\u200e[25/03/2024, 14:05:33] \u200e{}: {}", "\u200f[25/03/2024, 14:06:03] {}: {}"),
        ("25/03/24, 2:05:33\u202fpm - {}: {}", "25/03/24, 2:06:03\u202fpm - {}: {}"),
        ("3/25/24, 2:05:33 PM - {}: {}", "3/25/24, 2:06:03 PM - {}: {}"),
        ("25.03.24, 14:05:33 - {}: {}", "25.03.24, 14:06:03 - {}: {}"),
        ("[25.03.24, 14:05:33] ~\u202f{}: {}", "[25.03.24, 14:06:03] ~\u202f{}: {}"),
        ("2024-03-25 14:05:33 - {}: {}", "2024-03-25 14:06:03 - {}: {}"),
        ("2024-03-25T14:05:33Z {}: {}", "2024-03-25T14:06:03Z {}: {}"),
        ("[2024-03-25 14:05:33] <{}> {}", "[2024-03-25 14:06:03] <{}> {}"),
        ("25.3.2024 klo 14.05.33 - {}: {}", "25.3.2024 klo 14.06.03 - {}: {}"),
        ("25/03/24, 14:05:33: {}: {}", "25/03/24, 14:06:03: {}: {}"),
        ("25/03/24, 2:05:33\u00a0p.\u00a0m. - {}: {}", "25/03/24, 2:06:03\u00a0p.\u00a0m. - {}: {}"),
        ("{}, [25.03.2024 14:05:33]\n{}\n", "{}, [25.03.2024 14:06:03]\n{}\n"),
        ("{} (2024-03-25 14:05:33): {}", "{} (2024-03-25 14:06:03): {}"),
    ],
)
def test_date_forms(one: str, two: str, session: SessionOf) -> None:
    read = session("\n".join([one.format("Dr. Lee", "How so?"), two.format("Nora", "Because: why not.")]))
    assert heard(read) == [("Dr. Lee", "How so?"), ("Nora", "Because: why not.")]
    assert [turn.start_s for turn in read.turns] == [0.0, 30.0]
    assert read.metadata["date"] == "2024-03-25"


@pytest.mark.parametrize(("hour", "half", "since"), [("12:00", "am", -43200), ("12:00", "pm", 0), ("1:00", "pm", 3600)])
def test_noon_and_midnight(hour: str, half: str, since: int) -> None:
    text = f"25/03/24, 12:00 pm - Anna: Hello\n25/03/24, {hour} {half} - Ben: Hi"
    (raw,) = read_messenger_export(source(text))
    assert raw.rows[1].start_s == (since if since >= 0 else None)


@pytest.mark.parametrize(
    ("first", "second", "days"),
    [
        ("03/04/2024", "03/13/2024", 9),
        ("03/04/2024", "13/04/2024", 10),
        ("01/02/2024", "02/02/2024", 1),
        ("01/31/24", "02/01/24", 1),
        ("31.12.23", "01.01.24", 1),
    ],
)
def test_which_number_is_the_day(first: str, second: str, days: int) -> None:
    (raw,) = read_messenger_export(source(f"{first}, 10:00 - Anna: Hello\n{second}, 10:00 - Ben: Hi"))
    assert raw.rows[1].start_s == days * 86400
    assert not any("day first or month first" in note for note in raw.notes)


def test_an_unclear_date_is_said_to_be_unclear(session: SessionOf) -> None:
    one = session("03/04/2024, 10:00 - Anna: Hello\n03/04/2024, 10:01 - Ben: Hi")
    assert one.metadata["date"] == "2024-04-03"
    assert any("day first or month first" in note for note in one.notes)


def test_a_message_goes_on_over_lines(session: SessionOf) -> None:
    one = session(chat("First.\n\nThen: this.\n- 12:30", "Yes."))
    assert one.turns[0].text == "First.\n\nThen: this.\n- 12:30"
    assert [turn.first_row for turn in one.turns] == [1, 5]


def test_news_of_the_program_is_left_out_and_counted(session: SessionOf) -> None:
    news = [
        "25/03/24, 10:00 - Messages and calls are end-to-end encrypted.",
        '25/03/24, 10:00 - Anna created group "Check: in"',
        "25/03/24, 10:01 - Anna: Hello",
        '25/03/24, 10:02 - Anna changed the subject from "a: b" to "c: d"',
        "25/03/24, 10:03 - Ben: Hi",
        "25/03/24, 10:04 - Ben left",
    ]
    one = session("\n".join(news))
    assert heard(one) == [("Anna", "Hello"), ("Ben", "Hi")]
    assert one.notes[0] == "4 messages of the program itself (joined, left, encrypted) left out (23 words)."


@pytest.mark.parametrize(
    "written",
    [
        "<Media omitted>",
        "\u200eimage omitted",
        "GIF omitted",
        "\u200e<attached: 00000012-PHOTO-2024-03-12.jpg>",
        "IMG-20240312-WA0001.jpg (file attached)",
        "<Medien ausgeschlossen>",
        "Bild weggelassen",
        "<Multimedia omitido>",
        "<M\u00e9dias omis>",
    ],
)
def test_media_are_marks_and_no_words(written: str, session: SessionOf) -> None:
    text = chat("Look.", written, f"{written}\nMy garden.", "It is green.")
    rows = next(iter(read_messenger_export(source(text)))).rows
    assert [row.text for row in rows] == ["Look.", "[media omitted]", "[media omitted]\nMy garden.", "It is green."]
    one = session(text)
    assert [turn.text for turn in one.turns if turn.text] == ["Look.", "My garden.", "It is green."]
    assert sum(len(turn.marks) for turn in one.turns) == 2
    assert "2 messages with pictures, sound or files that are not in the export." in one.notes


@pytest.mark.parametrize(
    "words", ["The image omitted half of it.", "I am <b>bold</b>.", "no media (omitted)", "a < b > c"]
)
def test_words_about_media_stay_words(words: str) -> None:
    rows = next(iter(read_messenger_export(source(chat("Look.", words))))).rows
    assert rows[1].text == words


def test_edited_and_deleted_messages() -> None:
    text = chat(
        "So. <This message was edited>",
        "\u200eThis message was deleted.",
        "You deleted this message",
        "This message was deleted by me",
    )
    rows = next(iter(read_messenger_export(source(text)))).rows
    assert [row.text for row in rows] == [
        "So.",
        "[message deleted]",
        "[message deleted]",
        "This message was deleted by me",
    ]


def test_lines_before_the_first_message_are_counted(session: SessionOf) -> None:
    assert (
        "2 lines before the first message left out (4 words)."
        in session(f"Chat with Ben\nexported\n\n{chat('Hello.', 'Hi.')}").notes
    )


def test_phone_numbers_are_speakers(session: SessionOf) -> None:
    one = session("25/03/24, 10:00 - +49 170 1234567: Hello\n25/03/24, 10:01 - Dr. Lee: Hi")
    assert [(turn.speaker, turn.role) for turn in one.turns] == [
        ("+49 170 1234567", "client"),
        ("Dr. Lee", "therapist"),
    ]


TIMED = (
    "[00:01:02] Therapist: How so?\n[00:01:09] Client: I fell.\n[00:01:12] Therapist: When?\n[00:01:19] Client: Monday."
)
LABELLED = (
    "Date: 12/03/2024, 14:05\nTherapist: How so?\nClient: On 12/03/2024, 14:05 - I fell.\nTherapist: Oh.\nClient: Yes."
)


@pytest.mark.parametrize(
    "text", [TIMED, LABELLED, TIMED.replace("[", "(").replace("]", ")"), "speaker,text\nT,Hello\n"]
)
def test_other_transcripts_are_not_its_own(text: str, reading: Reading) -> None:
    assert sniff(source(text)) == 0.0
    assert reading(text).reader != "messenger_export"


@pytest.mark.parametrize(
    "text", ["2024-03-12,14:05,Anna,hello", "2024-03-12 14:05,Anna: hello", "12/03/2024\tAnna: x", ""]
)
def test_rows_of_a_table_are_no_messages(text: str) -> None:
    assert sniff(source(f"{text}\n{text}")) == 0.0


@pytest.mark.parametrize("texts", [("Therapist: x", "Client: y") * 4, ("a\nb: c\nd: e", "f\nb: c\nd: e") * 4])
def test_it_is_surest_of_its_own(texts: tuple[str, ...], reading: Reading) -> None:
    text = chat(*texts[:8])
    bids = sorted((one.sniff(source(text)), one.name) for one in READERS)
    assert bids[-1][1] == "messenger_export"
    assert bids[-2][0] <= 0.8
    assert reading(text, "chat.txt").reader == "messenger_export"


def test_dates_that_do_not_exist_are_no_times(session: SessionOf) -> None:
    one = session("[99/99/2024, 14:05:33] Anna: Hello\n[12/03/2024, 25:61:33] Ben: Hi")
    assert [turn.start_s for turn in one.turns] == [None, None]
    assert "date" not in one.metadata


def test_only_news_is_refused_in_plain_words() -> None:
    with pytest.raises(UnreadableFileError, match="no messages with a date") as caught:
        list(read_messenger_export(source("25/03/24, 10:00 - secret words")))
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        BEFORE + "a" * 5_000_000,
        (BEFORE + "x (" * 300 + "\n") * 2000,
        (BEFORE + "<media " * 300 + "\n") * 1000,
        "1/1/1 1:11" * 300_000,
        "[" * 1_000_000,
        ("Anna " * 12 + "(1\n") * 100_000,
        (BEFORE + "\u200e" * 5000 + "\n") * 200,
        "\u200e" * 2_000_000,
    ],
    ids=range(8),
)
def test_what_is_hostile_ends_quickly(text: str) -> None:
    began = time.process_time()
    sniff(source(text))
    with suppress(UnreadableFileError):
        list(read_messenger_export(source(text)))
    assert time.process_time() - began < HANG_S


def test_it_reads_at_speed() -> None:
    text = "\n".join(f"{BEFORE}I think it went well and I felt a bit lighter on the way home." for _ in range(10_000))
    began = time.process_time()
    (raw,) = read_messenger_export(source(text))
    assert len(raw.rows) == 10_000
    assert time.process_time() - began < HANG_S / 4


@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from("[]12/03.:, -\n\u200eAnna<>~\u202fpm"), max_size=300))
def test_any_text_is_a_chat_or_a_plain_problem(text: str) -> None:
    with suppress(UnreadableFileError):
        (raw,) = read_messenger_export(source(text))
        assert all(row.speaker and row.place > 0 for row in raw.rows)


words = st.text(st.characters(categories=["L", "N"], include_characters=" .,:!?"), min_size=1, max_size=40)
spoken = words.map(str.strip).filter(lambda text: text not in {"", "null"})


@settings(max_examples=150, deadline=None)
@given(
    st.lists(spoken, min_size=2, max_size=10),
    st.sampled_from(["[%d/%m/%Y, %H:%M:%S] ", "%d.%m.%y, %H:%M - ", "%m/%d/%y, %I:%M\u202f%p - ", "%Y-%m-%d %H:%M - "]),
    st.datetimes(datetime(2015, 1, 1), datetime(2030, 1, 1)),
    st.integers(1, 40_000),
)
def test_every_message_comes_through_with_its_time(texts: list[str], form: str, began: datetime, minutes: int) -> None:
    began = began.replace(second=0, microsecond=0)
    times = [began + n * timedelta(minutes=minutes) for n in range(len(texts))]
    text = "\n".join(
        f"{at.strftime(form)}{'AB'[n % 2]}nna: {one}" for n, (at, one) in enumerate(zip(times, texts, strict=True))
    )
    (raw,) = read_messenger_export(source(text))
    assert [row.text for row in raw.rows] == texts
    unclear = any("day first or month first" in note for note in raw.notes)
    if not unclear and any(at.day > 12 for at in times):
        assert [row.start_s for row in raw.rows] == [60.0 * minutes * n for n in range(len(texts))]


@pytest.mark.parametrize(
    "form",
    [
        "[4 March 2025, 09:0{}] {}: {}",
        "March 4, 2025 9:0{} AM - {}: {}",
        "[Mar 4, 2025, 9:0{} AM] {}: {}",
        "4 Mar 2025 at 09:0{} - {}: {}",
        "[ 04 March 2025 9:0{} AM ] {}: {}",
        "4 de marzo de 2025 09:0{} - {}: {}",
        "[04-Mar-25 09:0{} AM] {}\n{}\n",
        "[3/4/2025 9:0{} AM] {}\n{}\n",
        "[2025-03-04 09:0{}:00] {}\n{}",
        "2025-03-04 09:0{}\t{}\t{}",
        "2025-03-04 09:0{} | {} | {}",
    ],
)
def test_named_months_and_names_set_apart_in_other_ways(form: str, session: SessionOf) -> None:
    one = session("\n".join(form.format(at, ("Dr. Lee", "Nora")[at % 2], f"Word {at}: so.") for at in range(4)))
    assert heard(one) == [(("Dr. Lee", "Nora")[at % 2], f"Word {at}: so.") for at in range(4)]
    assert [turn.start_s for turn in one.turns] == [0.0, 60.0, 120.0, 180.0]
    assert one.metadata["date"] == "2025-03-04"


def test_a_dash_between_a_name_and_the_stamp(session: SessionOf) -> None:
    one = session("".join(f"{('Lee', 'Nora')[at % 2]} \u2014 13/04/2025 9:0{at} AM\nWord {at}.\n" for at in range(4)))
    assert heard(one) == [(("Lee", "Nora")[at % 2], f"Word {at}.") for at in range(4)]


def test_news_under_a_name_calls_and_pictures_seen_once() -> None:
    text = chat(
        "\u200eMessages and calls are end-to-end encrypted. No one outside of this chat can read them.",
        "Hello.",
        "\u200eMissed voice call, \u200eTap to call back",
        "null",
        "I missed a voice call.",
    )
    (raw,) = read_messenger_export(source(text))
    assert [row.text for row in raw.rows] == ["Hello.", "[missed call]", "[media omitted]", "I missed a voice call."]
