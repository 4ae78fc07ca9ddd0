"""WebVTT: voices, labels, and blocks that nobody speaks."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from therapy_analytics.errors import UnreadableFileError
from therapy_analytics.session import Session

Said = Callable[..., list[tuple[str, str]]]
SessionOf = Callable[..., Session]


def vtt(*cues: str) -> str:
    """Return a file with a second for each cue; the words of the first are on line 4, of the next on line 7."""
    blocks = [f"00:{at:02d}.000 --> 00:{at + 1:02d}.000\n{words}" for at, words in enumerate(cues)]
    return "\n\n".join(["WEBVTT", *blocks]) + "\n"


@pytest.mark.parametrize(
    ("cue", "expected"),
    [
        ("<v Mary>Hi.", ("Mary", "Hi.")),
        ("<v Mary>Hi.</v>", ("Mary", "Hi.")),
        ("<v.loud Mary>Hi.</v>", ("Mary", "Hi.")),
        ("<v.loud.first Mary Ann>Hi.", ("Mary Ann", "Hi.")),
        ("<v Mary>Hi,\nyou.", ("Mary", "Hi, you.")),
        ("<v Mary>\nHi.", ("Mary", "Hi.")),
        ("<v Mary>Hi <b>you</b><00:00:00.500> <c.x>there</c>.", ("Mary", "Hi you there.")),
        ("<v Tom &amp; Mary>a &lt;b&gt; &amp; c", ("Tom & Mary", "a <b> & c")),
        ("<v Mary>He said: no.", ("Mary", "He said: no.")),
        ("<v Mary>Note: this.", ("Mary", "Note: this.")),
    ],
)
def test_a_voice(cue: str, expected: tuple[str, str], said: Said) -> None:
    assert said(vtt(cue), "a.vtt") == [expected]


@pytest.mark.parametrize(
    "times",
    [
        "00:01.500 --> 00:02.250",
        "00:00:01.500 --> 00:00:02.250",
        "000:00:01,500 --> 00:00:02,250",
        "  00:01.500 -->00:02.250 align:start position:10%",
    ],
)
def test_times_with_and_without_hours(times: str, session: SessionOf) -> None:
    (turn,) = session(f"WEBVTT\n\n{times}\n<v Mary>Hi.\n", "a.vtt").turns
    assert (turn.start_s, turn.end_s) == (1.5, 2.25)


def test_notes_styles_regions_ids_and_headers_are_not_spoken(session: SessionOf) -> None:
    text = (
        "WEBVTT - a title: here\nKind: captions\nLanguage: en\n\nSTYLE\n::cue { color: red }\n\nREGION\nid:one\n\n"
        "NOTE\nMary: not this\n\nNOTE nor this\n\nNOTE\tnor this\n\nintro: 1\n00:01.000 --> 00:02.000\n<v Mary>Hi.\n\n"
        "2\n00:02.000 --> 00:03.000\n<v Tom>NOTE well.\n"
    )
    turns = session(text, "a.vtt").turns
    assert [(turn.speaker, turn.text, turn.first_row) for turn in turns] == [
        ("Mary", "Hi.", 20),
        ("Tom", "NOTE well.", 24),
    ]


def test_two_voices_in_a_cue_are_two_turns_each_on_its_line(session: SessionOf) -> None:
    turns = session(vtt("<v Mary>Hi.\n<v Tom>Hey.", "<v Mary>Well,</v> <v Tom>\nso."), "a.vtt").turns
    assert [(turn.speaker, turn.text, turn.first_row) for turn in turns] == [
        ("Mary", "Hi.", 4),
        ("Tom", "Hey.", 5),
        ("Mary", "Well,", 8),
        ("Tom", "so.", 9),
    ]


def test_a_turn_runs_over_cues(session: SessionOf) -> None:
    one, two = session(vtt("<v Mary>Hi.", "<v Mary>You.", "<v Tom>Hey."), "a.vtt").turns
    assert (one.text, one.start_s, one.end_s, one.first_row) == ("Hi.\nYou.", 0.0, 2.0, 4)
    assert (two.text, two.start_s, two.end_s, two.first_row) == ("Hey.", 2.0, 3.0, 10)


def test_a_cue_without_a_speaker_goes_to_the_one_before(session: SessionOf) -> None:
    one = session(vtt("Well.", "<v Mary>Hi.", "You.", "<v Tom>Hey."), "a.vtt")
    assert [(turn.speaker, turn.text) for turn in one.turns] == [("Mary", "Well.\nHi.\nYou."), ("Tom", "Hey.")]
    assert one.notes == ("2 captions without a speaker went to the speaker before.",)


def test_with_voice_tags_a_colon_is_speech(said: Said) -> None:
    text = vtt("<v Mary>Hi.", "Listen: no.", "Listen: yes.", "<v Tom>Dana: so she wrote.")
    assert said(text, "a.vtt") == [("Mary", "Hi.\nListen: no.\nListen: yes."), ("Tom", "Dana: so she wrote.")]


def test_labels_before_a_colon(said: Said) -> None:
    text = vtt("Mary Ann: Hi.", "Dr. Lee: Hey.", "Mary Ann: So: no.", "Dr. Lee: Well.")
    assert said(text, "a.vtt") == [
        ("Mary Ann", "Hi."),
        ("Dr. Lee", "Hey."),
        ("Mary Ann", "So: no."),
        ("Dr. Lee", "Well."),
    ]


def test_a_label_that_never_comes_back_is_speech(said: Said) -> None:
    text = vtt("Mary: Hi.", "Tom: Hey.", "Remember: no.", "Mary: Right.", "carry on", "Tom: Yes.")
    assert said(text, "a.vtt") == [
        ("Mary", "Hi."),
        ("Tom", "Hey.\nRemember: no."),
        ("Mary", "Right.\ncarry on"),
        ("Tom", "Yes."),
    ]


def test_a_label_that_comes_once_counts_if_it_names_a_role_or_every_cue_has_one(said: Said) -> None:
    assert said(vtt("Therapist: Hi.", "so,", "client: Hey."), "a.vtt") == [
        ("Therapist", "Hi.\nso,"),
        ("client", "Hey."),
    ]
    assert said(vtt("Mary: Hi.", "Tom: Hey."), "a.vtt") == [("Mary", "Hi."), ("Tom", "Hey.")]


def test_two_labels_in_a_cue(said: Said) -> None:
    text = vtt("- Mary: Hi.\n- Tom: Hey,\nyou.", ">> Mary: So.", ">>Tom: Yes.")
    assert said(text, "a.vtt") == [("Mary", "Hi."), ("Tom", "Hey, you."), ("Mary", "So."), ("Tom", "Yes.")]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("WEBVTT\n", "no captions"),
        ("WEBVTT\n\nNOTE nothing\n", "no captions"),
        (vtt("Hi.", "Hey."), "no caption says who speaks"),
        (vtt("<v >Hi."), "no caption says who speaks"),
    ],
)
def test_captions_without_speakers_are_refused(
    text: str, what: str, problem: Callable[..., UnreadableFileError]
) -> None:
    assert what in problem(text, "a.vtt").problem


def test_an_endless_class_annotation_takes_no_endless_time(said: Said) -> None:
    began = time.perf_counter()
    said(vtt("<v Mary>Hi.", "<v" + ".a" * 5000, "<v Tom>Hey."), "a.vtt")
    assert time.perf_counter() - began < 2
