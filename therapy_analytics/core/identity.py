"""Which facts beside the turns may be copied into results: rules on their names and on their values.

Facts of a known meaning (ids of session, client and counselor, date, number, source, model, condition, language) are
copied. Any other field is copied only if over the sessions that are read together it looks like a grouping, and nothing
speaks against its name or its values: they may identify or reach somebody, open something, say where something lies, or
hold what was said. Each rule returns why, in a few words, or nothing.
"""

from __future__ import annotations

import functools
import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from therapy_analytics.core._field_words import (
    ID_ENDS,
    KNOWN,
    MEASURED,
    NAMED,
    NEVER_MEASURED,
    NO_NAMES,
    NO_TEXT,
    OF_A_PERSON,
    PARTICLES,
    PEOPLE,
    PRONOUNS,
    SESSIONS,
    THINGS,
    WITHIN,
)

FEWEST_SESSIONS = 5
"""In fewer sessions a grouping cannot be told from what identifies somebody."""
MOST_VALUES = 50
"""A field of more different values than that is no grouping."""
LARGEST = 1_000
"""Numbers on a scale are not larger; the number of something is."""
IDENTITY = "it may identify somebody"
CONTACT = "it may say how to reach somebody"
SECRET = "it may open something"  # noqa: S105 (a reason)
PLACE = "it says where something lies"
SPOKEN = "it may hold what was said"
IDENTIFIER = "it is the number or id of something else"
RARE = "fewer than five sessions have it"
VARIED = "its values do not repeat"


# ---- names

_WHY = {"identity": IDENTITY, "contact": CONTACT, "secret": SECRET, "place": PLACE, "spoken": SPOKEN}
_MODELS = frozenset({"model", "llm"})
_WHOSE = "|".join(sorted({"user", *PEOPLE, *SESSIONS}, key=len, reverse=True))
_JOINED = re.compile(rf"^({_WHOSE})({'|'.join(sorted({*ID_ENDS, *frozenset().union(*NAMED.values())}))})$")
"""Two words that are written together: ``patientdob``."""


@functools.lru_cache(maxsize=4096)
def words_of(name: str) -> tuple[str, ...]:
    """Return the words of the name of a field, in small letters and without accents.

    Examples
    --------
    >>> words_of("patientDOB"), words_of("Téléphone 2"), words_of("IPAddress")
    (('patient', 'dob'), ('telephone',), ('ip', 'address'))
    """
    spaced = re.sub(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", unicodedata.normalize("NFKC", name))
    plain = "".join(sign for sign in unicodedata.normalize("NFD", spaced) if not unicodedata.combining(sign))
    words = re.findall(r"[^\W\d_]+", plain.casefold())
    return tuple(part for word in words for part in _JOINED.sub(r"\1 \2", word).split())


@functools.lru_cache(maxsize=4096)
def is_known(name: str) -> bool:
    """Tell whether a field is by its name a fact of known meaning.

    Examples
    --------
    >>> [is_known(name) for name in ("sessionId", "patient_id", "judge_model", "arm", "patient_name", "mood")]
    [True, True, True, True, False, False]
    """
    words = words_of(name)
    if "_".join(words) in KNOWN:
        return True
    if not _MODELS.isdisjoint(words):
        return not against_name(name)
    return len(words) == 2 and words[0] in PEOPLE | SESSIONS and words[1] in ID_ENDS


@functools.lru_cache(maxsize=4096)
def against_name(name: str) -> str:
    """Return why a field is not copied as its name says; empty where that says nothing against it.

    Examples
    --------
    >>> against_name("clientEmail"), against_name("mood"), against_name("model_name"), against_name("policy no.")
    ('it may say how to reach somebody', '', '', 'it may identify somebody')
    """
    words = words_of(name)
    parts, together = set(words), "".join(words)
    if not words or words[-1] in ("first", "last", "middle", "given", "user", "md"):
        return IDENTITY
    if parts & THINGS:
        parts -= {"name", "number", "id", "key"}
    elif any(word.endswith("name") for word in words):
        parts.add("name")
    for kind, why in _WHY.items():
        if parts & NAMED[kind] and not (why == SPOKEN and not NO_TEXT.isdisjoint(words)):
            return why
        if any(part in together for part in WITHIN.get(kind, ())):
            return why
    return IDENTIFIER if words[-1] in ID_ENDS and not parts & THINGS else ""


# ---- values

LONGEST_FACT = 40
_MOST_WORDS = 5
_LONGEST_NAME = 100
"""Names of models and the like have no space and may be longer."""
_WORD = re.compile(r"[^\W\d_]+")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|m[aä]r|mai|okt|dez)[a-z]*\.?"
_DATE = re.compile(
    rf"\b(?:\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.](?:\d{{4}}|\d\d)\b|"
    rf"\d{{1,2}}(?:st|nd|rd|th|\.)?[ -]{_MONTH}|{_MONTH}[ -]\d{{1,2}})",
    re.IGNORECASE,
)
_SITE = re.compile(
    r"\w+:/{2}|\bwww\.|\b[\w-]+\.(?:com|org|net|io|edu|gov|de|uk|fr|es|it|eu|us|ca|au|ch|at|nl|app|ai|local)\b"
    r"|\b(?:\d{1,3}\.){3}\d{1,3}\b|\b(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b|\b[0-9a-f]{1,4}(?:::?[0-9a-f]{1,4}){3,}",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"^[~/]|\\|^\.\.?/|^[a-z]:|(?:/[^/]+){2}"
    r"|\.(?:wav|mp[34]|m4a|ogg|flac|mov|webm|txt|docx?|pdf|csv|tsv|jsonl?|xlsx?|vtt|srt|eaf|cha|png|jpe?g|gif|zip|html?)$",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"(?:\d[ ().-]{0,2}){7,}|\d{3}-\d\d-\d{4}|\+\d")
_CODE = re.compile(r"(?=\S*\d\S*\d\S*\d)(?=\S*[a-z])\S{12,}|\S*\d{4,}\S*", re.IGNORECASE)
_NAME_WORD = re.compile(r"[^\W\d_](?:\.|[^\W\d_]*(?:[-'\u2019][^\W\d_]+)*\.?)")


def is_sentence(text: str) -> bool:
    """Tell whether a text asks, exclaims, or has a personal pronoun."""
    words = _WORD.findall(text)
    if words[-1:] == ["I"] and len(words) > 1:
        words.pop()  # a numeral
    spoken = {word.casefold() for word in words if word == "I" or not word.isupper()}
    return text.rstrip().endswith(("?", "!", "\uff1f", "\uff01", "\u3002")) or not PRONOUNS.isdisjoint(spoken)


def may_be_fact(text: str) -> bool:
    """Tell a label, a name, a date or a number from something that somebody says.

    What has more than 40 letters or five words is no fact, nor is a sentence.

    Examples
    --------
    >>> [may_be_fact(text) for text in ("breakup with partner", "US, phase I", "I lost my job", "Why?")]
    [True, True, False, False]
    """
    return len(text) <= LONGEST_FACT and len(_WORD.findall(text)) <= _MOST_WORDS and not is_sentence(text)


def reads_like_talk(text: str) -> bool:
    """Tell a sentence, or more words or letters than a label has, from a label."""
    return is_sentence(text) or (" " in text and not may_be_fact(text)) or len(text) > _LONGEST_NAME


def is_full_name(text: str) -> bool:
    """Tell whether a text has the form of a person's full name: two to four words with capitals.

    Examples
    --------
    >>> [is_full_name(text) for text in ("Ruth Lindqvist", "Lindqvist, Ruth A.", "Dr. Lee", "Usual Care", "P 07")]
    [True, True, True, False, False]
    """
    words = [word for word in re.split(r"[\s,]+", text.strip()) if word]
    named = [word for word in words if word.casefold() not in PARTICLES]
    if not 2 <= len(named) <= 4 or not all(map(_NAME_WORD.fullmatch, words)):
        return False
    has_capitals = all(word[0].isupper() for word in named) and any(len(word.strip(".")) > 1 for word in named[1:])
    return has_capitals and not any(word.casefold() in NO_NAMES for word in named)


def against_value(value: str) -> str:
    """Return why a value is not copied; empty where nothing speaks against it.

    Examples
    --------
    >>> against_value("ann@example.org"), against_value("/home/ann/a.wav"), against_value("low"), against_value("4.5")
    ('it may say how to reach somebody', 'it says where something lies', '', '')
    """
    text = value.strip()
    if "@" in text:
        return CONTACT
    if _DATE.search(text) and len(text) <= LONGEST_FACT:
        return IDENTITY
    if _SITE.search(text) or _FILE.search(text):
        return PLACE
    if reads_like_talk(text):
        return SPOKEN
    return IDENTITY if is_full_name(text) or _DIGITS.search(text) or _CODE.search(text) else ""


def against_id(value: str) -> str:
    """Return why a value is not used as the id of a session: it names or reaches a person, or is a sentence.

    Examples
    --------
    >>> against_id("ann@example.org"), against_id("Ruth_Lindqvist-2"), against_id("k-0815"), against_id("20240312")
    ('it may say how to reach somebody', 'it may identify somebody', '', '')
    """
    text = value.strip()
    if "@" in text or re.search(r"\w+:/{2}|\bwww\.", text):
        return CONTACT
    if re.fullmatch(r"\d{3}-\d\d-\d{4}|\+\d[\d ().-]{6,}|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}", text):
        return IDENTITY
    if is_full_name(re.sub(r"(?:[\W_]*\d+)+$", "", text).replace("_", " ").replace(".", " ")):
        return IDENTITY
    return "" if may_be_fact(text) or " " not in text else SPOKEN


def against_known(name: str, value: str) -> str:
    """Return why a value is not copied although its field has a known meaning.

    A thing may have a name or number, and ids of clients and counselors may be names: these are the user's to judge.

    Examples
    --------
    >>> against_known("date", "12 March 2024"), against_known("model", "/home/m"), against_known("client", "Ann Lee")
    ('', 'it says where something lies', '')
    """
    words, why = words_of(name), against_value(value)
    if words in (("client",), ("counselor",)):
        return why if why == SPOKEN else ""
    if words[0] in PEOPLE or why in (CONTACT, SPOKEN):
        return why
    if why == PLACE and not _MODELS.isdisjoint(words):
        return why if re.search(r"^[~/.]|\\|:/|^[A-Za-z]:", value.strip()) else ""
    return why if why == PLACE else ""


def names_person(name: str, values: Iterable[str] = ()) -> bool:
    """Tell whether a column that changes from turn to turn holds people's names, addresses or numbers, and no codes.

    Examples
    --------
    >>> names_person("speakerEmail"), names_person("eye_contact", ["good"]), names_person("who", ["a@b.org"])
    (True, False, True)
    """
    last = words_of(name)[-1:]
    by_name = bool(last) and (last[0] in OF_A_PERSON or last[0].endswith("name")) and bool(against_name(name))
    return by_name or any("@" in value or _DIGITS.search(value) or _DATE.search(value) for value in values)


# ---- names of clients, counselors and files

_MAIL = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@.]{2,}")
_RECORD = re.compile(r"(?:(?:mrn|nhs|ssn|tel|phone|id|nr|no)\b[\s.:#-]*)?\+?[\d(][\d\s()./-]*", re.IGNORECASE)
_FEWEST_DIGITS = 6
"""Fewer are an id of a study; so many are a record, a phone or a date of birth."""
_HAN = re.compile(r"[\u4e00-\u9fff]{2,4}|[\uac00-\ud7a3]{3}")


def looks_personal(value: str) -> bool:
    """Tell whether a client or counselor is called by a full name, an e-mail address or a long number.

    Examples
    --------
    >>> [looks_personal(one) for one in ("Anna Smith", "smith, anna", "Dr. Lee", "a.smith@example.org", "MRN 004829")]
    [True, True, True, True, True]
    >>> [looks_personal(one) for one in ("p01", "dana", "A.B.", "counselor 3", "17", "harbor-xl", "usual care")]
    [False, False, False, False, False, False, False]
    """
    text = value.strip()
    if _MAIL.fullmatch(text) or _HAN.fullmatch(text):
        return True
    if _RECORD.fullmatch(text):
        return sum(one.isdigit() for one in text) >= _FEWEST_DIGITS
    name = re.sub(r"[\s,_-]+", " ", text)
    return is_full_name(name.title() if name.islower() else name)


def looks_named(name: str) -> bool:
    """Tell whether the id of a session, or its file, has a full name in it: two or three words with capitals.

    Examples
    --------
    >>> [looks_named(one) for one in ("Anna-Smith-session-2", "2024-03-01_Smith_Anna", "aria_ben", "High-Quality-7")]
    [True, True, False, False]
    """
    words = [one for one in re.split(r"[\W\d_]+", name) if one and one.casefold() not in NO_NAMES]
    return is_full_name(" ".join(words))


# ---- groupings


@dataclass(slots=True)
class Tally:
    """What is known of a field over many sessions, without its values.

    Attributes
    ----------
    n_sessions : int
        How many sessions have it.
    values : set of bytes
        Hashes of its different values, of which no more are kept than tell that they are too many.
    low, high : float
        The range of those that are numbers.
    numbers, whole : bool
        Whether all are numbers, and whether these are whole.
    why : str
        What spoke against a value.
    """

    n_sessions: int = 0
    values: set[bytes] = field(default_factory=set)
    low: float = float("inf")
    high: float = float("-inf")
    numbers: bool = True
    whole: bool = True
    why: str = ""

    @classmethod
    def of_value(cls, value: str) -> Tally:
        """Return the tally of one session."""
        number = _number(value)
        digest = hashlib.blake2b(value.encode("utf-8", "replace"), digest_size=8).digest()
        if number is None:
            return cls(1, {digest}, numbers=False, why=against_value(value))
        return cls(1, {digest}, low=number, high=number, whole=number == int(number))

    def merge(self, other: Tally) -> None:
        """Count in other sessions."""
        self.n_sessions += other.n_sessions
        if len(self.values) <= MOST_VALUES:
            self.values |= other.values
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.numbers, self.whole = self.numbers and other.numbers, self.whole and other.whole
        self.why = self.why or other.why

    def against(self, name: str) -> str:
        """Return why the field is not copied; empty where it looks like a grouping, or a number on a scale."""
        words = set(words_of(name))
        is_measure = self.numbers and bool(words & MEASURED) and not words & NEVER_MEASURED
        if why := ("" if is_measure else against_name(name)) or self.why:
            return why
        if self.n_sessions < FEWEST_SESSIONS:
            return RARE
        if not self.numbers:
            return "" if len(self.values) <= min(MOST_VALUES, self.n_sessions / 2) else VARIED
        all_differ = len(self.values) >= min(self.n_sessions, MOST_VALUES + 1)
        is_running = self.whole and all_differ and self.n_sessions == self.high - self.low + 1
        is_scale = -LARGEST <= self.low <= self.high <= LARGEST and not is_running
        return "" if is_measure or is_scale else IDENTIFIER


def _number(value: str) -> float | None:
    """Return a number in its plain form; none for one with a leading zero, which is an id."""
    plain = re.fullmatch(r"[-+]?(?:0|[1-9]\d{0,8})(?:\.\d{1,20})?", value.strip())
    return float(value) if plain else None


def count_in(fields: dict[str, Tally], other: Mapping[str, Tally]) -> None:
    """Count in the fields of other sessions."""
    for name, tally in other.items():
        fields.setdefault(name, Tally()).merge(tally)


def groupings(fields: Mapping[str, Tally]) -> frozenset[str]:
    """Return the fields that are copied."""
    return frozenset(name for name, tally in fields.items() if not tally.against(name))
