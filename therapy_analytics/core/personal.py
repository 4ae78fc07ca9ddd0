"""Values that look like the name of a person, an address or the number of a record."""

from __future__ import annotations

import re

_MAIL = re.compile(r"[^\s@]+@[^\s@]+\.[^\s@.]{2,}")
_NUMBER = re.compile(r"(?:(?:mrn|nhs|ssn|tel|phone|id|nr|no)\b[\s.:#-]*)?\+?[\d(][\d\s()./-]*", re.IGNORECASE)
_FEWEST_DIGITS = 6
"""Fewer are an id of a study; so many are a record, a phone or a date of birth."""
_HAN = re.compile(r"[\u4e00-\u9fff]{2,4}|[\uac00-\ud7a3]{3}")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*\.?")
_TITLE_WORDS = "dr doctor prof professor mr mrs ms miss herr frau sir madam"
_TITLES = frozenset(_TITLE_WORDS.split())
_SMALL_WORDS = "de del della di da dos van von der den la le bin ibn al el y e"
_SMALL = frozenset(_SMALL_WORDS.split())
_NO_NAME_WORDS = """
a adult advanced agent agents ai all alpaca anthropic any apr april arm assistant audio aug august b bad base
baseline bot c care case cbt chat chatbot chatgpt child claude client clients clinic clinical clinician cloud coach
code coded coder coders cognitive command common community condition control conversation copy corpus counseling
counselling counsellor counsellors counselor counselors couple d data day dec december deepseek demo dialog dialogue
draft dyad e eight english example experienced experimental expert f family fast feb february female final first
five flash follow four friday gemini gemma glm gold good google gpt grok group haiku high home hospital human humans
inexperienced instruct intake intervention interview interviewer interviewing jan january jul july jun june junior
kimi large left level lite llama low male man manual mar march master maverick max may meta mi mini mistral mixtral
model models monday month motivational nano new nine no none not nov nova november novice nurse nursing observer oct
october old older one online open openai opus oss other out part participant patient patients peer people person
persona phase phi phone pilot play plus poor practice preview pro psychologist psychotherapist psychotherapy quality
qwen r random reading real reasoning recording right role round sample saturday scout second senior sep sept
september service session sessions set seven simulated simulator site six skilled small social sonnet source spanish
standard story strong student study sunday supervised supervision support supporter synthetic system tape team
telephone ten test text the therapist therapists therapy third three thursday time trained trainee transcript
transcripts treatment trial tuesday turbo turn two ultra unit unknown unskilled untrained up user usual v version
vicuna video virtual visit voice ward weak wednesday week with without woman work worker year yes young younger
"""
_NO_NAMES = frozenset(_NO_NAME_WORDS.split())
"""Words of values that are no names of people: roles, groups, models, months, what files are called."""


def looks_personal(value: str) -> bool:
    """Tell whether a client or counselor is called by a full name, an e-mail address or a long number.

    Examples
    --------
    >>> [looks_personal(one) for one in ("Anna Smith", "smith, anna", "Dr. Lee", "a.smith@example.org", "MRN 004829")]
    [True, True, True, True, True]
    >>> [looks_personal(one) for one in ("p01", "dana", "A.B.", "counselor 3", "17", "Claude Sonnet", "usual care")]
    [False, False, False, False, False, False, False]
    """
    text = value.strip()
    if _MAIL.fullmatch(text) or _HAN.fullmatch(text):
        return True
    if _NUMBER.fullmatch(text):
        return sum(one.isdigit() for one in text) >= _FEWEST_DIGITS
    return _is_full_name(re.split(r"[\s,_-]+", text))


def looks_named(name: str) -> bool:
    """Tell whether the id of a session, or its file, has a full name in it: two or three words with capitals.

    Examples
    --------
    >>> [looks_named(one) for one in ("Anna-Smith-session-2", "2024-03-01_Smith_Anna", "aria_ben", "High-Quality-7")]
    [True, True, False, False]
    """
    words = [one for one in re.split(r"[\W\d_]+", name) if one and one.casefold() not in _NO_NAMES]
    return all(one[0].isupper() for one in words) and _is_full_name(words)


def _is_full_name(words: list[str]) -> bool:
    words = [one for one in words if one]
    plain = [one.casefold().rstrip(".") for one in words]
    if not 2 <= len(words) <= 5 or not all(map(_WORD.fullmatch, words)) or _NO_NAMES.intersection(plain):
        return False
    names = [word.rstrip(".") for word, low in zip(words, plain, strict=True) if low not in _TITLES | _SMALL]
    names = [one for one in names if len(one) > 1 and not (one.isupper() and len(one) <= 3)]
    capitals = {one[0].isupper() for one in names}
    return len(capitals) == 1 and len(names) >= (1 if _TITLES.intersection(plain) else 2)
