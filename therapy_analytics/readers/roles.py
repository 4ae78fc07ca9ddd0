"""Who is the therapist and who the client: by option, label, metadata, elimination, or pronouns."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from therapy_analytics.core.session import Role

THIN_MARGIN = 4.0
"""You-minus-I words per 100 words: with a smaller difference, roles by pronouns are called unsure."""

_THERAPIST = """
t th ther therapist psychotherapist counselor counsellor couns clinician practitioner provider doctor doc
psychologist psychiatrist nurse coach interviewer helper supporter listener facilitator mentor advisor
adviser moderator professional worker caseworker agent assistant bot chatbot ai model gpt chatgpt claude gemini llm
system_therapist psy dr leader coleader cotherapist cofacilitator
therapeut therapeutin psychologe psychologin berater beraterin terapeuta terapeut terapeutka terapeutti terapist
terápeuta thérapeute psychologue psicólogo psicóloga psicologo psicologa psicoterapeuta conseiller conseillère
psicanalista consejero consejera psycholoog psycholog psykolog psykologi psikolog hulpverlener
терапевт психолог психотерапевт консультант θεραπευτής θεραπεύτρια ψυχολόγος מטפל מטפלת المعالج المعالجة
治疗师 治療師 咨询师 諮商師 心理咨询师 カウンセラー セラピスト 상담사 상담자 치료사
"""
_CLIENT = """
c cl cli client clt patient p pt pat user human seeker helpseeker help_seeker supportseeker caller participant
interviewee respondent visitor customer member subject student veteran consumer coachee witness the_witness
klient klientin patientin befragte befragter ratsuchende ratsuchender kl paciente cliente consultante paziente
patiente cliënt cliënte patiënt klijent klijentka klientka pacjent pacjentka asiakas potilas
клиент клиентка пациент пациентка πελάτης πελάτισσα ασθενής מטופל מטופלת العميل العميلة المريض
来访者 來訪者 案主 求助者 クライエント クライアント 患者 내담자 환자
"""
_OTHER = """
system tool function developer narrator observer unknown unidentified other operator supervisor transcriber
interpreter translator dolmetscher dolmetscherin intérprete interprete interprète tolk переводчик 口译 通訳
judge bailiff the_court the_clerk the_reporter the_interpreter the_translator the_judge the_bailiff
"""
_PROGRAM_WORDS = "user human assistant agent bot chatbot ai model gpt chatgpt claude gemini llm system tool"
_PROGRAMS = frozenset(_PROGRAM_WORDS.split())
"""Labels of chats with a program, whose turns contain headings."""
_RELATIVE_WORDS = """
husband wife spouse partner hus husb fiance fiancé fiancee fiancée boyfriend girlfriend mother mom mum mummy mommy mama
father dad daddy papa parent parents stepmother stepmom stepfather stepdad son daughter stepson stepdaughter
child kid adolescent sister brother sibling grandmother grandma granny nana grandfather grandpa grandad aunt auntie
uncle cousin niece nephew guardian caregiver carer toddler teen teenager girl boy friend neighbor neighbour roommate
couple teacher mann ehefrau ehemann frau mutter vater tochter sohn schwester bruder père mère fils fille sœur frère
esposo esposa marido madre padre hijo hija hermana hermano pareja marito moglie figlio figlia sorella fratello
"""
_TOGETHER = frozenset({"all", "both", "everyone", "everybody", "group", "several", "multiple"})
"""Labels of several people who speak at the same time."""
_ANYBODY = frozenset(("speaker", "spk", "voice", "channel", "track", "unnamed", "dr"))
_RELATIVES = frozenset(_RELATIVE_WORDS.split())
"""Who comes with a client, or is the client where nobody else is: such a label names no role by itself."""
_KNOWN: dict[str, Role] = {
    **dict.fromkeys(_THERAPIST.split(), "therapist"),
    **dict.fromkeys(_CLIENT.split(), "client"),
    **dict.fromkeys(_OTHER.split(), "other"),
}
_NOBODY = ("unknown", "unidentified", "unbekannt", "inconnu", "desconocido")
_BY_FIRST: dict[str, Role] = {"dr": "therapist", "doctor": "therapist", **dict.fromkeys(_NOBODY, "other")}
_FIRST_NAME = "pat"
"""A role that is a first name as well: it names the role only beside a label of the other role."""
_PAIRS = (("c", "p"), ("q", "a"), ("i", "r"), ("i", "b"), ("i", "p"))
"""Letters that name roles only together, the therapist's first: counselor and patient, question and answer, interviewer
and respondent (Befragte, participant)."""
_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_NO_WORDS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|[\W\d_]+")
_MAIN: tuple[Role, Role] = ("therapist", "client")
_LONGEST_ROLE = 3
_YOU = re.compile(r"\b(?:you|your|yours|yourself|youre|youve|youd|youll)\b", re.IGNORECASE)
_I = re.compile(r"\b(?:i|me|my|mine|myself|im|ive)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)?")


class Assignment(NamedTuple):
    """The role of each label, the method, the margin of the pronoun rule (nan for others), and notes for the user."""

    roles: Mapping[str, Role]
    method: str
    margin: float
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hints:
    """What is known beside the labels: the user's options, names in the metadata, and roles that the file tells."""

    therapist: str | None = None
    client: str | None = None
    counselor_name: str = ""
    client_name: str = ""
    told: Mapping[str, Role] = field(default_factory=dict)


def role_of_label(label: str) -> Role | None:
    """Return the role that a label names by itself, or None.

    Examples
    --------
    >>> role_of_label("Counselor 1"), role_of_label("**P01**"), role_of_label("Therapist (Dr. Lee)")
    ('therapist', 'client', 'therapist')
    >>> role_of_label("Dana") is None
    True
    """
    plain = label.lower()
    if plain in _KNOWN:
        return _KNOWN[plain]
    words = _NO_WORDS.sub(" ", plain).split()
    if not words:
        return None
    whole, first, last = "_".join(words), words[0], words[-1]
    if whole in _KNOWN:
        return _KNOWN[whole]
    if first in _BY_FIRST:
        return _BY_FIRST[first]
    if len(words) > _LONGEST_ROLE or _are_relative(words):
        return None
    ends = {_KNOWN[word] for word in {first, last} - {_FIRST_NAME} if word in _KNOWN and len(word) > 1} - {"other"}
    return ends.pop() if len(ends) == 1 else None


def is_program(label: str) -> bool:
    """Tell whether a label is one of those that chats with programs have: ``user``, ``assistant``."""
    return label.casefold().strip(" *_") in _PROGRAMS


def is_relative(label: str) -> bool:
    """Tell whether a label names a relative or another companion of a client.

    Examples
    --------
    >>> is_relative("Husband"), is_relative("Client's mother"), is_relative("Mother-in-law"), is_relative("Dana")
    (True, True, True, False)
    """
    return _are_relative(_NO_WORDS.sub(" ", label.casefold()).split())


def _are_relative(words: Sequence[str]) -> bool:
    if not 0 < len(words) <= _LONGEST_ROLE:
        return False
    return words[-1] in _RELATIVES or (words[0] in _RELATIVES and words[1:2] in (["of"], ["in"]))


def is_first_name(label: str) -> bool:
    """Tell a label that is a first name although it can name a role as well.

    Examples
    --------
    >>> is_first_name("Pat"), is_first_name("Pat:"), is_first_name("Patient")
    (True, True, False)
    """
    return _NO_WORDS.sub(" ", label.lower()).split() == [_FIRST_NAME]


def is_plain_label(label: str) -> bool:
    """Tell a label that says what a speaker is, by words of roles, numbers or a letter, from one that can be a name.

    Examples
    --------
    >>> [is_plain_label(one) for one in ("Therapist 2", "P01", "SPEAKER_00", "A", "Client's mother")]
    [True, True, True, True, True]
    >>> [is_plain_label(one) for one in ("Anna", "Therapist (Dr. Lee)", "A.B.", "Pat")]
    [False, False, False, False]
    """
    words = re.findall(r"[^\W\d_]+", label.casefold())
    initials = len(words) > 1 and all(len(word) == 1 for word in words)
    known = (word in _KNOWN or word in _RELATIVES or word in _TOGETHER or word in _ANYBODY for word in words)
    return (
        not initials
        and not is_first_name(label)
        and all(len(word) == 1 or one for word, one in zip(words, known, strict=True))
    )


def names_speaker(name: str, labels: Iterable[str]) -> bool:
    """Tell whether a name equals one of the labels, holds all words of one, or has all its words in one."""
    return bool(_named(labels, name, None))


def assign_roles(texts: Mapping[str, Sequence[str]], hints: Hints) -> Assignment:
    """Find the role of every speaker of a session.

    Parameters
    ----------
    texts : mapping of str to sequence of str
        By label, the texts of its turns.
    hints : Hints
        The user's options and what the file and its metadata tell.

    Returns
    -------
    Assignment
        By the first method that settles the therapist: the user's option, roles that the file tells beside the labels,
        the labels, names in the metadata, elimination, and last the pronoun rule. A note names each option with a label
        that no speaker has.
    """
    found = _assigned(texts, hints)
    given = {"--therapist": hints.therapist, "--client": hints.client}
    missing = [option for option, name in given.items() if name is not None and not names_speaker(name, texts)]
    return found._replace(notes=(*found.notes, *(f"No speaker has the label given with {one}." for one in missing)))


def _assigned(texts: Mapping[str, Sequence[str]], hints: Hints) -> Assignment:
    by_label = {**_by_label(texts), **hints.told}
    by_option = _named(texts, hints.therapist, hints.client)
    if by_option:
        others = {label: role for label, role in by_label.items() if role == "other"}
        return _complete(texts, {**others, **by_option}, "option")
    if {"therapist", "client"} <= set(by_label.values()):
        return _complete(texts, by_label, "file" if hints.told else "labels")
    by_name = _named(texts, hints.counselor_name or None, hints.client_name or None)
    if by_name:
        return _complete(texts, {**by_label, **by_name}, "metadata")
    if {"therapist", "client"} & set(by_label.values()):
        return _complete(texts, by_label, "labels" if len(by_label) == len(texts) else "elimination")
    unknown = {label: some for label, some in texts.items() if label not in by_label}
    alone = [label for label in unknown if not is_relative(label)]
    if len(alone) == 1 and len(unknown) > 1:  # a therapist among relatives
        return _complete(texts, {**by_label, alone[0]: "therapist"}, "elimination")
    return _by_pronouns(unknown, by_label)


def _by_label(labels: Collection[str]) -> dict[str, Role]:
    """Return the roles that labels name: each by itself, and pairs of letters together."""
    plain = {label.strip().casefold() for label in labels}
    if len(plain) > 2 and plain == set(_ALPHABET[: len(plain)]):
        return {}  # a recogniser calls its speakers A, B and C, the third of whom is no client for that
    roles = {label: role for label in labels if (role := role_of_label(label))}
    roles |= {label: "other" for label in labels if label.casefold() in _TOGETHER}
    unnamed = any(label not in roles and not is_relative(label) for label in labels)
    if unnamed or "therapist" not in roles.values():
        roles = {label: role for label, role in roles.items() if not is_first_name(label)}
    letters = {label.strip(" .*").lower(): label for label in labels}
    for one, other in _PAIRS:
        if "therapist" not in roles.values() and {one, other} <= set(letters):
            roles |= {letters[one]: "therapist", letters[other]: "client"}
    return roles


def _named(labels: Iterable[str], therapist: str | None, client: str | None) -> dict[str, Role]:
    """Return the labels that equal the given names, or hold all words of one, or have all their words in one."""
    exact: dict[str, Role] = {}
    similar: dict[str, Role] = {}
    names: tuple[tuple[str | None, Role], ...] = ((client, "client"), (therapist, "therapist"))
    for name, role in names:
        wanted = _name_words(name or "")
        same = [label for label in labels if wanted and _name_words(label) == wanted]
        exact |= dict.fromkeys(same, role)
        if wanted and not same:
            words = {label: _name_words(label) for label in labels}
            similar |= {label: role for label, own in words.items() if own and (own <= wanted or wanted <= own)}
    return similar | exact


def _name_words(name: str) -> frozenset[str]:
    return frozenset(_WORD.findall(name.casefold()))


def _complete(labels: Iterable[str], roles: Mapping[str, Role], method: str) -> Assignment:
    """Give the other speakers the role that is missing, if one is; a relative is never the therapist by elimination."""
    missing: Role = next((role for role in _MAIN if role not in roles.values()), "other")
    left = [label for label in labels if label not in roles]
    taken = [label for label in left if missing == "client" or not is_relative(label)]
    full: dict[str, Role] = {**roles, **dict.fromkeys(left, "other"), **dict.fromkeys(taken, missing)}
    return Assignment(full, method, math.nan, tuple(_role_notes(full)))


def _role_notes(roles: Mapping[str, Role]) -> Iterator[str]:
    """Yield a note for each of the two roles that nobody, or more than one person, has."""
    counts = Counter(roles.values())
    for role in _MAIN:
        if not counts[role]:
            yield f"No {role} speaks in this session; measures of the {role} are undefined."
    for role in _MAIN:
        if counts[role] > 1:
            yield (
                f"{counts[role]} {role}s speak in this session; measures of the {role} are of all of them together, "
                "and dyads.csv has them for each pair of speakers."
            )


def _by_pronouns(texts: Mapping[str, Sequence[str]], known: Mapping[str, Role]) -> Assignment:
    """Take the speaker with the highest you-minus-I rate for the therapist."""
    if len(texts) < 2:
        roles: dict[str, Role] = {**known, **dict.fromkeys(texts, "other")}
        note = "Nobody could be told to be the therapist or the client. Say who is, with --therapist LABEL."
        return Assignment(roles, "none", math.nan, (note,))
    rates = sorted(((you_minus_i(some), label) for label, some in texts.items()), reverse=True)
    (best, therapist), (second, _) = rates[0], rates[1]
    margin = best - second
    roles = {**known, **dict.fromkeys(texts, "client"), therapist: "therapist"}
    notes = tuple(_role_notes(roles))
    if len(texts) > 2:
        guessed = (
            f"{len(texts)} speakers without a role in their label: one was taken as therapist, the rest as clients."
        )
        notes = (guessed, *notes)
    if margin >= THIN_MARGIN:
        return Assignment(roles, "pronouns", margin, notes)
    unsure = (
        f"Who is the therapist was guessed from pronouns with a thin margin ({margin:.1f}; "
        f"under {THIN_MARGIN:.0f} is unsure). Check it, and settle it with --therapist LABEL."
    )
    return Assignment(roles, "pronouns_unsure", margin, (*notes, unsure))


def you_minus_i(texts: Sequence[str]) -> float:
    """Return second-person minus first-person-singular pronouns per 100 words.

    Examples
    --------
    >>> you_minus_i(["How do you feel?", "I see."])
    0.0
    >>> round(you_minus_i(["What brings you here today"]), 1)
    20.0
    """
    text = " ".join(texts)
    n_words = len(_WORD.findall(text))
    if not n_words:
        return 0.0
    return 100.0 * (len(_YOU.findall(text)) - len(_I.findall(text))) / n_words
