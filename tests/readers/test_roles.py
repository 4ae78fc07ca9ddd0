"""Who is the therapist."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from therapy_analytics.core.session import Role, Session
from therapy_analytics.readers.roles import Hints, assign_roles, role_of_label, you_minus_i

SessionOf = Callable[..., Session]

LABELS: list[tuple[str, Role | None]] = [
    ("T", "therapist"),
    ("t.", "therapist"),
    ("Therapist", "therapist"),
    ("THERAPIST 1", "therapist"),
    ("Therapist (Dr. Lee)", "therapist"),
    ("**Counselor**", "therapist"),
    ("Counsellor 2", "therapist"),
    ("Dr. Lee", "therapist"),
    ("Dr Anna Lee", "therapist"),
    ("Interviewer", "therapist"),
    ("Clinician_01", "therapist"),
    ("Nurse", "therapist"),
    ("Coach", "therapist"),
    ("assistant", "therapist"),
    ("gpt", "therapist"),
    ("GPT-4", "therapist"),
    ("ChatGPT", "therapist"),
    ("AI", "therapist"),
    ("bot", "therapist"),
    ("agent", "therapist"),
    ("supporter", "therapist"),
    ("listener", "therapist"),
    ("C", "client"),
    ("P", "client"),
    ("P01", "client"),
    ("Client", "client"),
    ("Client 2", "client"),
    ("Client (Anna)", "client"),
    ("CLIENT [crying]", "client"),
    ("Patient", "client"),
    ("human", "client"),
    ("user", "client"),
    ("seeker", "client"),
    ("help-seeker", "client"),
    ("Participant_7", "client"),
    ("caller", "client"),
    ("system", "other"),
    ("Observer", "other"),
    ("Psicóloga", "therapist"),
    ("Psychologin", "therapist"),
    ("Терапевт", "therapist"),
    ("カウンセラー", "therapist"),
    ("治疗师", "therapist"),
    ("מטפלת", "therapist"),
    ("Paziente", "client"),
    ("Клиентка", "client"),
    ("来访者", "client"),
    ("Respondent 4", "client"),
    ("SPEAKER_00", None),
    ("Speaker 1", None),
    ("Dana", None),
    ("Ruth Lindqvist", None),
    ("Therapist and client", None),
    ("K", None),
    ("", None),
    ("12", None),
    ("--", None),
]


@pytest.mark.parametrize(("label", "role"), LABELS)
def test_what_a_label_says(label: str, role: Role | None) -> None:
    assert role_of_label(label) == role


def test_the_users_word_comes_first() -> None:
    found = assign_roles({"user": ["Hi."], "assistant": ["Hello."]}, Hints(therapist="user"))
    assert (found.roles, found.method) == ({"user": "therapist", "assistant": "client"}, "option")


def test_the_users_word_leaves_the_system_alone() -> None:
    found = assign_roles({"system": ["x"], "Ann": ["Hi."], "Bob": ["Hello."]}, Hints(client="Ann"))
    assert found.roles == {"system": "other", "Ann": "client", "Bob": "therapist"}


@pytest.mark.parametrize(
    ("therapist", "client", "roles"),
    [
        ("Ann", "Ann Lee", {"Ann": "therapist", "Ann Lee": "client"}),
        ("Ann Lee", None, {"Ann": "client", "Ann Lee": "therapist"}),
        (None, "ann", {"Ann": "client", "Ann Lee": "therapist"}),
    ],
)
def test_a_whole_name_comes_before_a_part(therapist: str | None, client: str | None, roles: dict[str, Role]) -> None:
    assert assign_roles({"Ann": ["Hi."], "Ann Lee": ["Hello."]}, Hints(therapist, client)).roles == roles


def test_a_part_of_a_name_will_do() -> None:
    found = assign_roles({"Ann": ["Hi."], "Bob 1": ["Hey."], "Bob 2": ["Hello."]}, Hints("ann lee", "Bob"))
    assert found.roles == {"Ann": "therapist", "Bob 1": "client", "Bob 2": "client"}


def test_a_name_of_another_session_is_no_help() -> None:
    found = assign_roles({"T": ["Hi."], "C": ["Hello."]}, Hints(therapist="Zoe"))
    assert (found.roles, found.method) == ({"T": "therapist", "C": "client"}, "labels")


def test_labels_come_before_the_metadata() -> None:
    found = assign_roles({"T": ["Hi."], "C": ["Hello."]}, Hints(counselor_name="C"))
    assert (found.roles, found.method) == ({"T": "therapist", "C": "client"}, "labels")


@pytest.mark.parametrize(
    ("counselor", "client"), [("Ruth Lindqvist", ""), ("", "Dana"), ("Ruth", "Dana K."), ("RUTH", "")]
)
def test_names_in_the_metadata(counselor: str, client: str) -> None:
    found = assign_roles({"Ruth Lindqvist": ["Hi."], "dana": ["Hello."]}, Hints(None, None, counselor, client))
    assert (found.roles, found.method) == ({"Ruth Lindqvist": "therapist", "dana": "client"}, "metadata")


def test_who_is_left_is_the_other() -> None:
    found = assign_roles({"Client": ["Hi."], "Ruth": ["Hello."]}, Hints())
    assert (found.roles, found.method) == ({"Client": "client", "Ruth": "therapist"}, "elimination")


def test_a_third_speaker_beside_both_roles_is_an_other() -> None:
    found = assign_roles({"T": ["Hi."], "C": ["Hello."], "Ann": ["Hey."]}, Hints())
    assert found.roles == {"T": "therapist", "C": "client", "Ann": "other"}


@pytest.mark.parametrize(
    "roles",
    [
        {"Therapist": "therapist", "Husband": "client", "Wife": "client"},
        {"Therapist": "therapist", "Client": "client", "Husband": "other", "All": "other"},
        {"Therapist": "therapist", "Mother": "client", "Child": "client"},
        {"Therapist": "therapist", "H": "client", "W": "client", "Child": "client"},
        {"Therapist": "therapist", "Child": "client"},
        {"Therapist": "therapist", "Client": "client", "Child": "other"},
        {"Ann": "therapist", "Mother": "client", "Mother-in-law": "client"},
        {"Client": "client", "Ann": "therapist", "Mother": "other"},
        {"Counselor": "therapist", "Interpreter": "other", "Patient": "client", "Unknown Speaker": "other"},
        {"Therapist": "therapist", "Pat": "client", "Sam": "client"},
        {"Therapist": "therapist", "Pat": "client"},
    ],
)
def test_relatives_and_others_beside_the_client(roles: dict[str, Role]) -> None:
    assert assign_roles({label: ["Hm."] for label in roles}, Hints()).roles == roles


def test_beside_a_p_a_c_is_the_counselor() -> None:
    found = assign_roles({"C": ["How are you?"], "P": ["I am tired."]}, Hints())
    assert (found.roles, found.method) == ({"C": "therapist", "P": "client"}, "labels")


ASKS = "What brings you here, and how do you sleep at night?"
TELLS = "I lie awake and I think of my work until my alarm rings."


@pytest.mark.parametrize("pair", ["QA", "IR", "IB", "IP"])
def test_letters_that_have_a_role_beside_each_other(pair: str) -> None:
    asks, answers = pair
    found = assign_roles({answers: ["It is late."], asks: ["It is dark."]}, Hints())
    assert (found.roles, found.method) == ({answers: "client", asks: "therapist"}, "labels")


def test_letters_of_a_pair_mean_nothing_alone() -> None:
    assert assign_roles({"Q": ["I am here."], "M": ["You are here."]}, Hints()).roles["M"] == "therapist"
    assert assign_roles({"Therapist": ["Q?"], "A": ["a"], "Q": ["q"]}, Hints()).roles["Q"] == "client"


def test_several_clients_are_said() -> None:
    found = assign_roles({"Therapist": ["a"], "Client 1": ["b"], "Client 2": ["c"]}, Hints())
    (note,) = found.notes
    assert note.startswith("2 clients speak in this session; measures of the client are of all of them together")


def test_you_minus_i_by_counting() -> None:
    assert len(ASKS.split()) == 11  # you, you
    assert len(TELLS.split()) == 13  # I, I, my, my
    assert you_minus_i([ASKS]) == pytest.approx(100 * 2 / 11)
    assert you_minus_i([TELLS]) == pytest.approx(-100 * 4 / 13)
    assert you_minus_i(["You're", "I'm"]) == 0
    assert you_minus_i(["\u2014 ... !"]) == 0


def test_pronouns_tell_who_asks() -> None:
    found = assign_roles({"A": [TELLS], "B": [ASKS]}, Hints())
    assert (found.roles, found.method, found.notes) == ({"A": "client", "B": "therapist"}, "pronouns", ())
    assert found.margin == pytest.approx(100 * 2 / 11 + 100 * 4 / 13)


def test_a_thin_margin_is_called_unsure() -> None:
    found = assign_roles({"A": ["It is cold."], "B": ["So it is, again."]}, Hints())
    assert (found.method, found.margin) == ("pronouns_unsure", 0)
    assert "--therapist LABEL" in found.notes[0]


def test_the_margin_at_which_it_is_sure() -> None:
    hundred = "word " * 96
    sure = assign_roles({"A": [f"{hundred}you you you you"], "B": ["word"]}, Hints())
    unsure = assign_roles({"A": [f"{hundred}you you you word"], "B": ["word"]}, Hints())
    assert (sure.margin, sure.method) == (4.0, "pronouns")
    assert (unsure.margin, unsure.method) == (3.0, "pronouns_unsure")


def test_three_unknown_speakers() -> None:
    found = assign_roles({"A": [TELLS], "B": [ASKS], "D": [TELLS]}, Hints())
    assert found.roles == {"A": "client", "B": "therapist", "D": "client"}
    assert found.notes[0].startswith("3 speakers without a role in their label")


@pytest.mark.parametrize(("label", "role", "missing"), [("T", "therapist", "client"), ("C", "client", "therapist")])
def test_one_speaker_with_a_role(label: str, role: Role, missing: str) -> None:
    found = assign_roles({label: ["Hi."]}, Hints())
    assert (found.roles, found.method) == ({label: role}, "labels")
    assert found.notes == (f"No {missing} speaks in this session; measures of the {missing} are undefined.",)


def test_one_speaker_without_a_role_is_nobody() -> None:
    found = assign_roles({"Ann": [ASKS]}, Hints())
    assert (found.roles, found.method) == ({"Ann": "other"}, "none")
    assert math.isnan(found.margin)


def test_nobody_at_all() -> None:
    assert assign_roles({}, Hints()).method == "none"


def test_the_session_says_how_it_was_found(session: SessionOf) -> None:
    chat = f"Ann: {TELLS}\nBob: {ASKS}\n" * 2
    assert session(chat).role_method == "pronouns"
    assert session(chat).role_margin == pytest.approx(100 * 2 / 11 + 100 * 4 / 13)
    assert session(chat, therapist="ann").role_method == "option"
    assert [turn.role for turn in session(chat, therapist="ann").turns] == ["therapist", "client"] * 2
    assert [turn.role for turn in session(chat, client="ANN").turns] == ["client", "therapist"] * 2
