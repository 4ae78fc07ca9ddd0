"""What is found: cases that can be counted by hand, one line each."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from therapy_analytics.redact import KINDS, redact_session
from therapy_analytics.session import Session, Turn


def redacted(*texts: str, labels: tuple[str, str] = ("T", "C"), **about: str) -> list[str]:
    """Return the words of a redacted session in which two people take turns."""
    turns = tuple(
        Turn(index=i, speaker=labels[i % 2], role=("therapist", "client")[i % 2], text=text, first_row=i + 1)
        for i, text in enumerate(texts)
    )
    done = redact_session(Session(id="s", source_file="s", turns=turns, metadata=about))
    return [turn.text for turn in done.session.turns]


STRUCTURED = [
    ("Call 914-555-0123 now", "Call [PHONE_1] now"),
    ("Call (914) 555 0123 or 555-0199", "Call [PHONE_1] or [PHONE_2]"),
    ("five five five, oh one two three", "[PHONE_1]"),
    ("nine one four double five five oh one two three", "[PHONE_1]"),
    ("Fax it to 845.555.0147", "Fax it to [FAX_1]"),
    ("Write to d.reyes+x@example.org.", "Write to [EMAIL_1]."),
    ("it's dana dot r at gmail dot com", "it's [EMAIL_1]"),
    ("See https://example.org/a?b=1, or www.example.org.", "See [URL_1], or [URL_2]."),
    ("From 10.0.34.7 and fe80::1ff:fe23:4567:890a", "From [IP_1] and [IP_2]"),
    ("My SSN is 078-05-1120", "My SSN is [SSN_1]"),
    ("my social is oh seven eight oh five one one two oh", "my social is [SSN_1]"),
    ("Card 4417 1234 5678 9113", "Card [ACCOUNT_1]"),
    ("account number 0091 5528", "account number [ACCOUNT_1]"),
    ("the chart number is 00482913", "the chart number is [RECORD_1]"),
    ("insurance ID XJT449120877", "insurance ID [PLAN_1]"),
    ("driver's license R8821-40573-66120", "driver's license [LICENCE_1]"),
    ("license plate HRT-2290", "license plate [VEHICLE_1]"),
    ("VIN 1HGCM82633A004352", "VIN [VEHICLE_1]"),
    ("serial number 23-0091847", "serial number [DEVICE_1]"),
    ("case number 24-CV-03318", "case number [ID_1]"),
    ("I am @sleepless_annie there", "I am [ID_1] there"),
    ("the file papa_lastcall.m4a", "the file [FILE_1]"),
    ("zip code 11372", "zip code [PLACE_1]"),
    ("my medicare number is 1eg4-te5-mk73 okay", "my medicare number is [PLAN_1] okay"),
    ("My IBAN is DE89 3704 0044 0532 0130 00.", "My IBAN is [ACCOUNT_1]."),
    ("the plate is kilo lima mike four four one two", "the plate is [VEHICLE_1]"),
    ("the plate is b as in boy k t four one one six", "the plate is [VEHICLE_1]"),
    ("my badge is double seven three four one", "my badge is [ID_1]"),
    ("my cell is five one eight no wait five one nine five five five oh one four two", "my cell is [PHONE_1]"),
    ("it's dana dot reyes eighty four at gmail dot com thanks", "it's [EMAIL_1] thanks"),
    ("it's d r e y e s at northgate college dot edu but", "it's [EMAIL_1] but"),
    ("yeah quiet nights dot example dot org slash sleep helped", "yeah [URL_1] helped"),
    ("on there i'm annie underscore seventy seven and", "on there i'm [ID_1] and"),
    ("she goes by sleepless_annie77 there", "she goes by [ID_1] there"),
    ("it's called i m g underscore four four one two dot j p g", "it's called [FILE_1]"),
    ("it came from one ninety two dot one sixty eight dot four dot twenty", "it came from [IP_1]"),
]
DATES = [
    ("on March 3rd, 2021", "on [DATE_1] 2021"),
    ("since the third of march", "since the [DATE_1]"),
    ("on 3/4/21", "on [DATE_1] 2021"),
    ("on 2019-11-23", "on [DATE_1] 2019"),
    ("It was in March.", "It was in [DATE_1]."),
    ("in November 2022", "in [DATE_1] 2022"),
    ("on the 17th.", "on the [DATE_1]."),
    ("june twenty second twenty nineteen", "[DATE_1] twenty nineteen"),
    ("she was born in 1931", "she was born in [DATE_1]"),
    ("she was born in 1961", "she was born in 1961"),
    ("born March 4, 1931", "born [DATE_1]"),
    ("She is 91.", "She is [AGE_OVER_89]."),
    ("my ninety-four year old aunt", "my [AGE_OVER_89] year old aunt"),
    ("he turned a hundred and two", "he turned [AGE_OVER_89]"),
    ("She is 89 and I am 38.", "She is 89 and I am 38."),
    ("my nana is ninety three now", "my nana is [AGE_OVER_89] now"),
    ("i can stay till the twenty third", "i can stay till the [DATE_1]"),
    ("he left on tuesday the fourteenth and", "he left on [DATE_1] and"),
    ("the ninth of february two thousand and eleven", "the [DATE_1] two thousand and eleven"),
]
NAMES = [
    ("My husband Mark called.", "My husband [NAME_1] called."),
    ("my wife grace said so", "my wife [NAME_1] said so"),
    ("I told Dana's mother", "I told [NAME_1]'s mother"),
    ("Ask Dr. Abernathy-Cole", "Ask Dr. [NAME_1]"),
    ("i saw ms alvarez", "i saw ms [NAME_1]"),
    ("my name is siobhan", "my name is [NAME_1]"),
    ("This is Laura I'm calling, Laura said.", "This is [NAME_1] I'm calling, [NAME_1] said."),
    ("D'Angelo and Van der Berg left", "[NAME_1] and [NAME_2] left"),
    ("So Will told you?", "So [NAME_1] told you?"),
    ("I saw Xiuyng there", "I saw [NAME_1] there"),
    ("I moved to Yonkers", "I moved to [PLACE_1]"),
    ("we moved to yonkers", "we moved to [PLACE_1]"),
    ("He lives at 412 Sycamore Lane", "He lives at [PLACE_1]"),
    ("in Kings County", "in [PLACE_1]"),
    ("We were at Maple Grove Elementary", "We were at [PLACE_1]"),
    ("it's k o w a l s k i like the bird", "it's [NAME_1] like the bird"),
    ("My name is spelled S-A-O-I-R-S-E.", "My name is spelled [NAME_1]."),
    ("so my husband thabo called", "so my husband [NAME_1] called"),
    ("my in laws all call him zbig", "my in laws all call him [NAME_1]"),
    ("we live at forty two sycamore lane in yonkers", "we live at [PLACE_1] in [PLACE_2]"),
    ("i work at brightline logistics right now", "i work at [PLACE_1] right now"),
    ("he is at kinsella meats on nights", "he is at [PLACE_1] on nights"),
    ("we sat at mercy general all night", "we sat at [PLACE_1] all night"),
    ("she's at saint brigid's care home", "she's at [PLACE_1]"),
    ("she works on main street now", "she works on [PLACE_1] now"),
    ("Harlow & Finch let me go.", "[PLACE_1] let me go."),
    ("He did nights at Harlan Tool & Die.", "He did nights at [PLACE_1]."),
]
STAYS = [
    "Mark my words, I will not sleep.",
    "Hope dies last, and I hope so.",
    "May I ask you something on Monday?",
    "Will you march with me? I may.",
    "He was in the county jail, in Texas.",
    "I drink 14 beers a week and weigh 212 pounds.",
    "My pressure is 150 over 95.",
    "I take 50 milligrams of Zoloft at 10 pm.",
    "He speaks English at Christmas.",
    "On a scale from one to ten, a four.",
    "It was 2020 when I lost my job.",
    "i dont know i guess so yeah",
    "She's got a hundred and one opinions.",
    "I was 115 pounds. It was 95 yesterday.",
    "We are from North Carolina and New Jersey.",
    "The doctor. And then we went home.",
    "I've been to the high school down the street.",
    "i counted one two three four five six seven",
    "it was nineteen ninety one or twenty nineteen",
    "i had a d h d and p t s d",
    "look at the dot on the wall",
    "i go to high school and the community college",
    "i stay at home at night and we went to the grocery store",
    "he is always at the new clinic or in our garden",
    "I have a 2009 Corolla and a PHQ-9 of 14.",
]


@pytest.mark.parametrize(("spoken", "expected"), STRUCTURED + DATES + NAMES)
def test_it_is_removed(spoken: str, expected: str) -> None:
    assert redacted(spoken) == [expected]


@pytest.mark.parametrize("spoken", STAYS)
def test_it_stays(spoken: str) -> None:
    assert redacted(spoken) == [spoken]


def test_the_question_before_says_what_a_number_is() -> None:
    assert redacted("And your social?", "four four eight one two two")[1] == "[SSN_1]"
    assert redacted("And your record number?", "four four eight one two two")[1] == "[RECORD_1]"


def test_the_question_before_says_what_an_answer_is() -> None:
    assert redacted("How old is she?", "ninety one last week")[1] == "[AGE_OVER_89] last week"
    assert redacted("what should i call you", "rose")[1] == "[NAME_1]"


def test_what_was_found_once_is_found_again_in_another_form() -> None:
    assert redacted("my card ends in 4471", "yes four four seven one")[1] == "yes [ACCOUNT_1]"
    assert redacted("so my son hunter left", "did hunter say why")[1] == "did [NAME_1] say why"
    spoken = redacted("it's dana dot reyes at lumo dot example", "so reyes at lumo dot example")
    assert spoken == ["it's [EMAIL_1]", "so [EMAIL_2]"]
    assert redacted("her name is thandeka", "t h a n d e k a")[1] == "[NAME_1]"


def test_a_role_as_a_label_is_no_name_in_the_talk() -> None:
    assert redacted("the driver left", "my mother too", labels=("Driver", "Mother")) == [
        "the driver left",
        "my mother too",
    ]


def test_one_person_has_one_number() -> None:
    spoken = redacted(
        "Hi Dana. I'm Ruth Lindqvist.",
        "Dana Reyes, yes. My brother Carlos Reyes came, Carlos is kind.",
        "Dana's brother. And Ms. Reyes?",
        labels=("Ruth Lindqvist", "Dana"),
    )
    assert spoken == [
        "Hi [NAME_2]. I'm [NAME_1].",
        "[NAME_2], yes. My brother [NAME_3] came, [NAME_3] is kind.",
        "[NAME_2]'s brother. And Ms. [NAME_4]?",  # two people are called Reyes
    ]


def test_what_is_known_of_the_session_is_found_in_small_letters() -> None:
    assert redacted("and zorblat said so", client="Dana Zorblat") == ["and [NAME_1] said so"]


def test_one_number_is_the_same_said_and_written() -> None:
    assert redacted("It's 914 555 0177.", "nine one four, five five five, oh one seven seven") == [
        "It's [PHONE_1].",
        "[PHONE_1]",
    ]


def test_placeholders_that_stand_already_keep_their_numbers() -> None:
    assert redacted("[NAME_3] met Dana and [REDACTED].") == ["[NAME_3] met [NAME_4] and [REDACTED]."]


_DIGITS = st.text("0123456789", min_size=7, max_size=7).map(lambda rest: f"2{rest[:2]}-555-{rest[2:6]}")
_MAIL = st.from_regex(r"[a-z]{3,8}[._]?[a-z0-9]{2,6}@[a-z]{3,9}\.(com|org|net)", fullmatch=True)
_SSN = st.from_regex(r"[1-8][0-9]{2}-[0-9]{2}-[0-9]{4}", fullmatch=True)
_IP = st.tuples(*[st.integers(0, 255)] * 4).map(lambda four: ".".join(map(str, four)))
_CARD = st.from_regex(r"[45][0-9]{3} [0-9]{4} [0-9]{4} [0-9]{4}", fullmatch=True)
_CUED = st.tuples(
    st.sampled_from(
        [
            "account number",
            "my policy is",
            "chart number",
            "case number",
            "badge number",
            "serial number",
            "license number",
        ]
    ),
    st.from_regex(r"[A-Z]{1,3}-[0-9]{5,9}|[0-9]{6,10}", fullmatch=True),
)
_AROUND = st.sampled_from(["So {}, yeah.", "i said {} and then", "It's {}.", "{}", "Well, ({}) I think; {}?"])
_TEXTS = dict(
    zip("0123456789", ["oh", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"], strict=True)
)


@settings(max_examples=60, deadline=None)
@given(st.one_of(_DIGITS, _MAIL, _SSN, _IP, _CARD), _AROUND)
def test_no_planted_identifier_survives(planted: str, around: str) -> None:
    assert planted not in redacted(around.format(planted, planted))[0]


@settings(max_examples=60, deadline=None)
@given(_CUED, _AROUND)
def test_no_number_survives_behind_its_cue(cued: tuple[str, str], around: str) -> None:
    cue, planted = cued
    assert planted not in redacted(around.format(f"{cue} {planted}", planted))[0].split("?")[0].split(";")[0]


@settings(max_examples=40, deadline=None)
@given(_DIGITS, st.sampled_from([", ", " ", " uh "]))
def test_no_spoken_telephone_number_survives(planted: str, gap: str) -> None:
    spoken = gap.join(" ".join(_TEXTS[digit] for digit in part) for part in planted.split("-"))
    assert not re.search("|".join(list(_TEXTS.values())[1:]), redacted(f"it's {spoken}")[0])


_TALK = st.lists(
    st.one_of(
        st.sampled_from([pair[0] for pair in STRUCTURED + DATES + NAMES] + STAYS),
        st.text("abc DanaMark.,!?'0123456789-@/[]\u00e9\n", max_size=40),
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=30, deadline=None)
@given(_TALK)
def test_redacting_twice_changes_nothing(texts: list[str]) -> None:
    first = redacted(*texts)
    assert redacted(*first) == first


def test_every_kind_has_words_for_people() -> None:
    assert all(KINDS.values())
    texts = [redacted(spoken)[0] for spoken, _ in STRUCTURED + DATES + NAMES]
    assert {kind for text in texts for kind in re.findall(r"\[([A-Z]+)_\d+\]", text)} >= set(KINDS) - {"AGE_OVER_89"}
