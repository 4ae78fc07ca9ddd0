"""WebVTT: voices, labels, and blocks that nobody speaks."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.session import Session
from therapy_analytics.readers._captions import Cue, plain, without_repeats

HANG_S = 10.0
"""Seconds of processor time that only a hang takes; speed itself is measured in benchmarks/."""

Spoken = Callable[..., list[tuple[str, str]]]
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
def test_a_voice(cue: str, expected: tuple[str, str], spoken: Spoken) -> None:
    assert spoken(vtt(cue), "a.vtt") == [expected]


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
    assert (one.text, one.start_s, one.end_s, one.first_row) == ("Hi. You.", 0.0, 2.0, 4)
    assert (two.text, two.start_s, two.end_s, two.first_row) == ("Hey.", 2.0, 3.0, 10)


def test_a_cue_without_a_speaker_goes_to_the_one_before(session: SessionOf) -> None:
    one = session(vtt("Well.", "<v Mary>Hi.", "You.", "<v Tom>Hey."), "a.vtt")
    assert [(turn.speaker, turn.text) for turn in one.turns] == [
        ("Unknown", "Well."),
        ("Mary", "Hi. You."),
        ("Tom", "Hey."),
    ]
    assert one.turns[0].role == "other"
    assert one.notes[:2] == (
        "1 caption without a speaker went to the speaker before.",
        "1 caption (1 word) without a speaker: read as said by Unknown.",
    )


def test_where_most_captions_repeat_their_name_one_without_is_nobodys(spoken: Spoken) -> None:
    text = vtt("<v Mary>Hi.", "<v Mary>Well.", "<v Tom>Hey.", "<v Tom>So.", "Hello?", "<v Mary>Yes.")
    assert spoken(text, "a.vtt")[2:4] == [("Unknown", "Hello?"), ("Mary", "Yes.")]


@pytest.mark.parametrize("name", ["Maria", "Maria Lopez", "iPhone de Mar\u00eda", "Lopez, Maria (Guest)"])
def test_who_speaks_once_among_captions_without_labels_is_a_speaker(name: str, spoken: Spoken) -> None:
    text = vtt("Ruth: Hi.", "and you?", "Tom: Hey.", "so so", f"{name}: Hello.", "I am here.", "Ruth: Oh.", "Tom: Yes.")
    assert spoken(text, "a.vtt")[1:4] == [("Tom", "Hey. so so"), (name, "Hello. I am here."), ("Ruth", "Oh.")]


def test_with_voice_tags_a_colon_is_speech(spoken: Spoken) -> None:
    text = vtt("<v Mary>Hi.", "Listen: no.", "Listen: yes.", "<v Tom>Dana: so she wrote.")
    assert spoken(text, "a.vtt") == [("Mary", "Hi. Listen: no. Listen: yes."), ("Tom", "Dana: so she wrote.")]


def test_labels_before_a_colon(spoken: Spoken) -> None:
    text = vtt("Mary Ann: Hi.", "Dr. Lee: Hey.", "Mary Ann: So: no.", "Dr. Lee: Well.")
    assert spoken(text, "a.vtt") == [
        ("Mary Ann", "Hi."),
        ("Dr. Lee", "Hey."),
        ("Mary Ann", "So: no."),
        ("Dr. Lee", "Well."),
    ]


def test_a_label_that_never_comes_back_is_speech(spoken: Spoken) -> None:
    text = vtt("Mary: Hi.", "Tom: Hey.", "Remember: no.", "Mary: Right.", "carry on", "Tom: Yes.")
    assert spoken(text, "a.vtt") == [
        ("Mary", "Hi."),
        ("Tom", "Hey. Remember: no."),
        ("Mary", "Right. carry on"),
        ("Tom", "Yes."),
    ]


def test_a_label_that_comes_once_counts_if_it_names_a_role_or_every_cue_has_one(spoken: Spoken) -> None:
    assert spoken(vtt("Therapist: Hi.", "so,", "client: Hey."), "a.vtt") == [
        ("Therapist", "Hi. so,"),
        ("client", "Hey."),
    ]
    assert spoken(vtt("Mary: Hi.", "Tom: Hey."), "a.vtt") == [("Mary", "Hi."), ("Tom", "Hey.")]


def test_two_labels_in_a_cue(spoken: Spoken) -> None:
    text = vtt("- Mary: Hi.\n- Tom: Hey,\nyou.", ">> Mary: So.", ">>Tom: Yes.")
    assert spoken(text, "a.vtt") == [("Mary", "Hi."), ("Tom", "Hey, you."), ("Mary", "So."), ("Tom", "Yes.")]


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


def test_an_endless_class_annotation_takes_no_endless_time(spoken: Spoken) -> None:
    began = time.process_time()
    spoken(vtt("<v Mary>Hi.", "<v" + ".a" * 5000, "<v Tom>Hey."), "a.vtt")
    assert time.process_time() - began < HANG_S


def test_a_name_that_nobody_has_is_how_somebody_speaks(problem: Callable[..., UnreadableFileError]) -> None:
    text = vtt("Well: yes.", "Well: no.", *(f"and on {at}" for at in range(30)))
    assert "no caption says who speaks" in problem(text, "a.vtt").problem


@pytest.mark.parametrize(
    "wrap", ["[{}]: ", "[{}] : ", "{}: ", "{} : ", "{}\uff1a", "<i>{}:</i> ", "{}:\n", "- {}: ", ">> {}: "]
)
def test_ways_to_write_a_label(wrap: str, spoken: Spoken) -> None:
    text = vtt(*(wrap.format(f"SPEAKER_0{at % 2}") + f"word {at}" for at in range(4)))
    assert spoken(text, "a.vtt") == [(f"SPEAKER_0{at % 2}", f"word {at}") for at in range(4)]


def test_a_label_on_a_line_of_its_own_begins_where_the_words_do(session: SessionOf) -> None:
    turns = session(
        vtt("Mary:\nHi.", "Tom:", "Hey.", "Mary:\nSo.", "Tom:\nand I said:\nNo.\nand I said:\nYes."), "a.vtt"
    ).turns
    assert [(turn.speaker, turn.text, turn.first_row) for turn in turns] == [
        ("Mary", "Hi.", 5),
        ("Tom", "Hey.", 11),
        ("Mary", "So.", 15),
        ("Tom", "and I said: No. and I said: Yes.", 19),
    ]


def test_markup_of_letters_is_decoded_before_a_label_is_sought(spoken: Spoken) -> None:
    text = vtt("&gt;&gt; Tom &amp; Ann: a &lt;b&gt;", "&gt;&gt; Mary: AT&amp;amp;T", "&gt;&gt; Tom &amp; Ann: so")
    assert spoken(text, "a.vtt") == [("Tom & Ann", "a <b>"), ("Mary", "AT&amp;T"), ("Tom & Ann", "so")]


def test_webex_names_the_speaker_above_the_times(spoken: Spoken) -> None:
    text = "WEBVTT\n\n" + "".join(
        f'{at} "{who}" (12345)\n00:0{at}.000 --> 00:0{at}.900\n{words}\n\n'
        for at, who, words in [(1, "Mary Ann", "Hi."), (2, "Tom", "Hey: you."), (3, "Tom", "So.")]
    )
    assert spoken(text, "a.vtt") == [("Mary Ann", "Hi."), ("Tom", "Hey: you. So.")]


YOUTUBE = """WEBVTT
Kind: captions
Language: en

00:00:00.320 --> 00:00:02.389 align:start position:0%
_
&gt;&gt; how<00:00:00.480><c> are</c><00:00:00.900><c> you</c>

00:00:02.389 --> 00:00:02.399 align:start position:0%
&gt;&gt; how are you
_

00:00:02.399 --> 00:00:04.000 align:start position:0%
&gt;&gt; how are you
sleeping<00:00:02.700><c> now</c>

00:00:04.000 --> 00:00:04.010 align:start position:0%
sleeping now
_

00:00:04.010 --> 00:00:06.000 align:start position:0%
sleeping now
&gt;&gt; badly<00:00:04.500><c> again</c>

00:00:06.000 --> 00:00:06.010 align:start position:0%
&gt;&gt; badly again
_

00:00:06.010 --> 00:00:08.000 align:start position:0%
&gt;&gt; badly again
and<00:00:07.000><c> short</c>
""".replace("_\n", " \n")


def test_rolling_captions_give_each_line_once(session: SessionOf) -> None:
    one = session(YOUTUBE, "a.vtt")
    assert [(turn.speaker, turn.text, turn.first_row, turn.start_s, turn.end_s) for turn in one.turns] == [
        ("Speaker 1", "how are you sleeping now", 7, 0.32, 4.0),
        ("Speaker 2", "badly again and short", 23, 4.01, 8.0),
    ]
    assert "6 repeated lines (18 words) of rolling captions left out." in one.notes


def test_rolling_captions_of_two_and_three_lines(spoken: Spoken) -> None:
    lines = ["Mary: a b", "c d", "Tom: e f", "g", "Mary: h", "i", "Tom: j"]
    for height in (2, 3):
        text = vtt(*("\n".join(lines[max(0, at - height + 1) : at + 1]) for at in range(len(lines))))
        assert spoken(text, "a.vtt") == [("Mary", "a b c d"), ("Tom", "e f g"), ("Mary", "h i"), ("Tom", "j")]


def test_captions_that_grow_by_a_word_give_each_word_once(spoken: Spoken) -> None:
    text = vtt("MARY: I", "MARY: I am", "MARY: I am < Tom", "TOM: No", "TOM: No way")
    assert spoken(text, "a.vtt") == [("MARY", "I am < Tom"), ("TOM", "No way")]


def test_a_line_said_twice_is_kept_where_captions_do_not_roll(session: SessionOf) -> None:
    one = session(
        vtt("Mary: Hm.", "Mary: Hm.", "Tom: So.", "Mary: Yes.", "Tom: Well.", "Tom: Well.", "Mary: No."), "a.vtt"
    )
    assert [turn.text for turn in one.turns] == ["Hm. Hm.", "So.", "Yes.", "Well. Well.", "No."]
    assert not any("rolling" in note for note in one.notes)


@given(
    lines=st.lists(
        st.text("abc ", min_size=1, max_size=8).filter(str.strip),
        min_size=4,
        max_size=12,
    ),
    height=st.integers(2, 3),
)
@settings(max_examples=60, deadline=None)
def test_rolling_captions_give_the_words_of_plain_ones(lines: list[str], height: int) -> None:
    lines = [f"{at} {line}" for at, line in enumerate(lines)]
    cues = [Cue(at, None, None, lines[max(0, at - height + 1) : at + 1]) for at in range(len(lines))]
    kept, n_repeats = without_repeats(cues)
    assert [plain(line) for cue in kept for line in cue.lines if line] == [plain(line) for line in lines]
    assert n_repeats == sum(len(cue.lines) - 1 for cue in cues)


def test_unnamed_changes_between_two_who_are_named_are_theirs(session: SessionOf) -> None:
    one = session(vtt(">> MARY: Hi.", ">> TOM: Hey.", ">> So. >> Yes.", "right", ">> MARY: No."), "a.vtt")
    assert [(turn.speaker, turn.text) for turn in one.turns] == [
        ("MARY", "Hi."),
        ("TOM", "Hey."),
        ("MARY", "So."),
        ("TOM", "Yes. right"),
        ("MARY", "No."),
    ]
    assert any("2 changes of speaker without a name" in note for note in one.notes)


def test_unnamed_changes_among_three_are_nobodys(spoken: Spoken) -> None:
    text = vtt(">> MARY: Hi.", ">> TOM: Hey.", ">> ANN: Ho.", ">> So.", ">> TOM: Yes.", ">> MARY: a", ">> ANN: b")
    assert ("Unknown", "So.") in spoken(text, "a.vtt")


def test_a_blank_line_of_spaces_ends_a_caption_before_the_next(spoken: Spoken) -> None:
    text = "WEBVTT\n \na-1\n00:01.0 --> 00:02.0\n<v Mary>Hi.\n \na-2\n00:02.000 --> 00:03.000\n<v Tom>Hey.\n \nNOTE\n"
    assert spoken(text, "a.vtt") == [("Mary", "Hi."), ("Tom", "Hey.")]


def test_a_number_without_an_empty_line_before_it_is_not_spoken(spoken: Spoken) -> None:
    text = "WEBVTT\n\n1\n00:01.000 --> 00:02.000\n<v Mary>Hi.\n2\n00:02.000 --> 00:03.000\n<v Tom>42\n"
    assert spoken(text, "a.vtt") == [("Mary", "Hi."), ("Tom", "42")]


@pytest.mark.parametrize("snippet", ["<v a", "<v.a", "{\\\\a", "<c", ">> ", "Aa ", "a: ", "- ", "&gt;", "["])
def test_no_repetition_takes_endless_time(snippet: str, reading: Callable[..., object]) -> None:
    began = time.process_time()
    reading(vtt("Mary: Hi.", snippet * 100_000, "Tom: Hey."), "a.vtt")
    assert time.process_time() - began < HANG_S


@pytest.mark.parametrize("wrap", ["[{}] ", "({}) ", "{}\n", "[{}]\n", "{} - ", "- [{}] "])
@pytest.mark.parametrize(
    "names", [("Therapist", "Client"), ("Speaker 1", "Speaker 2"), ("SPEAKER_00", "SPEAKER_01"), ("Ruth Lee", "DANA")]
)
def test_labels_without_a_colon(wrap: str, names: tuple[str, str], spoken: Spoken) -> None:
    text = vtt(*(wrap.format(names[at % 2]) + f"word {at} [laughs]\nso: (sighs) it goes" for at in range(4)))
    assert spoken(text, "a.vtt") == [(names[at % 2], f"word {at} so: it goes") for at in range(4)]


def test_labels_without_a_colon_may_stand_at_changes_alone(spoken: Spoken) -> None:
    text = vtt("[Therapist] How", "was it?", "[Client] Well", "it was", "as it is", "[Therapist] Hm.")
    assert spoken(text, "a.vtt") == [
        ("Therapist", "How was it?"),
        ("Client", "Well it was as it is"),
        ("Therapist", "Hm."),
    ]


@pytest.mark.parametrize(
    "cues",
    [
        ("[laughs] Well.", "[sighs] No.", "[laughs] So.", "[sighs] Yes."),
        ("(music) Well.", "(applause) No.", "(music) So.", "(applause) Yes."),
        ("You know\nI went.", "You know\nit rained.", "and then\nI slept", "and then\nno"),
    ],
)
def test_sounds_and_broken_lines_are_no_labels(
    cues: tuple[str, ...], problem: Callable[..., UnreadableFileError]
) -> None:
    assert problem(vtt(*cues), "a.vtt").problem == "no caption says who speaks"
