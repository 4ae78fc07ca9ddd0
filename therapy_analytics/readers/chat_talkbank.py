"""CHAT transcripts (``.cha``) of TalkBank and CLAN.

By hand: pylangacq reads CHAT well, but it drops the line of an utterance, which a reader of
results needs, and the words of a retracing or of a broken-off word, which were spoken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from therapy_analytics.readers._base import RawSession, Row, Source, reader
from therapy_analytics.readers._chat_codes import spoken
from therapy_analytics.readers._notes import counted
from therapy_analytics.session import Role

_BEGINS = ("@begin", "@utf8")
_TIER = re.compile(r"\*([^\s:*]{1,30}):[ \t]*")
_HEADER = re.compile(r"@([\w ]{1,40}):[ \t]*")
_BULLET = re.compile(
    r"[\x15\u2022][^\x15\u2022\n]*?(\d{1,9})_(\d{1,9})[^\x15\u2022\n]{0,3}[\x15\u2022]|\s(\d{1,9})_(\d{1,9})\s*$"
)
_THERAPIST = (
    "therapist psychotherapist investigator interviewer clinician counselor counsellor examiner doctor provider"
)
_CLIENT = "client patient participant subject target_child interviewee"
_OTHER = "environment camera media text narrator non_human"
_ROLES: Mapping[str, Role] = {
    **dict.fromkeys(_THERAPIST.split(), "therapist"),
    **dict.fromkeys(_CLIENT.split(), "client"),
    **dict.fromkeys(_OTHER.split(), "other"),
}
_DATE = re.compile(r"(\d{1,2})-(\w{3})-(\d{4})")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_NAMED = {"therapist": "counselor", "client": "client"}


@dataclass(slots=True)
class _File:
    """What a file holds: tiers as (line, speaker, text), headers, and how much was left out."""

    tiers: list[tuple[int, str, str]] = field(default_factory=list)
    headers: list[tuple[str, str]] = field(default_factory=list)
    n_dependent: int = 0


def sniff(source: Source) -> float:
    """Be certain of a file that begins with the first header of the format."""
    first = source.head.lstrip("\ufeff \n\t").split("\n", 1)[0].strip().casefold()
    return 1.0 if first in _BEGINS else 0.0


@reader("talkbank_chat", suffixes=(".cha", ".chat"), sniff=sniff)
def read_chat(source: Source) -> Iterator[RawSession]:
    """CHAT transcripts of TalkBank, with roles from the line of participants."""
    file = _parsed(source.lines)
    if not file.tiers:
        raise source.error(
            "no line of speech was found", "In CHAT each begins with a star, three letters and a colon, as in *INV:"
        )
    participants = _participants(file.headers)
    roles = {code: role for code, (_, word) in participants.items() if (role := _ROLES.get(word.casefold()))}
    rows = [_row(tier, roles) for tier in file.tiers]
    notes = []
    if file.n_dependent:
        notes.append(f"{counted(file.n_dependent, 'dependent tier')} (morphology, comments, ...) left out.")
    if not any(line.strip().casefold() == "@end" for line in source.lines[-50:]):
        notes.append("The file has no @End; it may have been cut off.")
    yield RawSession("", rows, metadata=_metadata(file.headers, participants), notes=tuple(notes))


def _parsed(lines: list[str]) -> _File:
    """Sort the lines; one that begins no tier or header (it should begin with a tab) goes on with the line before."""
    file = _File()
    parts: list[str] = []
    for number, line in enumerate([*lines, "@"], start=1):
        if not line.startswith(("@", "%")) and not _TIER.match(line):
            parts.append(line)
            continue
        if parts:
            _keep(file, number - len(parts), parts)
        parts = [line]
    return file


def _keep(file: _File, number: int, parts: list[str]) -> None:
    whole = " ".join(parts).lstrip("\ufeff")
    if tier := _TIER.match(whole):
        file.tiers.append((number, tier[1], whole[tier.end() :]))
    elif header := _HEADER.match(whole):
        file.headers.append((header[1].casefold(), " ".join(whole[header.end() :].split())))
    else:
        file.n_dependent += whole.startswith("%")


def _row(tier: tuple[int, str, str], roles: Mapping[str, Role]) -> Row:
    number, code, text = tier
    times = [float(one or other) / 1000 for found in _BULLET.findall(text) for one, other in (found[::2], found[1::2])]
    start, end = (times[0], times[-1]) if times else (None, None)
    return Row(code, spoken(_BULLET.sub(" ", text) if times else text), number, start, end, role=roles.get(code))


def _participants(headers: list[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Return code to name and role word, from ``@Participants`` (``INV Anna Investigator, ...``), else ``@ID``."""
    found: dict[str, tuple[str, str]] = {}
    for header, value in headers:
        if header == "id" and len(cells := value.split("|")) > 7:
            found.setdefault(cells[2].strip(), ("", cells[7].strip()))
        if header == "participants":
            people = [words for one in value.split(",") if len(words := one.split()) > 1]
            found |= {words[0]: (" ".join(words[1:-1]), words[-1]) for words in people}
    return found


def _metadata(headers: list[tuple[str, str]], participants: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Return the date, and the names of therapist and client where there is one of each."""
    found: dict[str, str] = {}
    for role, column in _NAMED.items():
        names = [name for name, word in participants.values() if _ROLES.get(word.casefold()) == role]
        if len(names) == 1 and names[0] and names[0].casefold() not in _ROLES:
            found[column] = names[0].replace("_", " ")
    date = next((value for header, value in headers if header == "date"), "")
    return found | ({"date": _iso(date)} if date else {})


def _iso(date: str) -> str:
    """Write ``14-MAR-2024`` as ``2024-03-14``; leave another form as it is."""
    match = _DATE.fullmatch(date)
    if not match or match[2].casefold() not in _MONTHS:
        return date[:40]
    return f"{match[3]}-{_MONTHS.index(match[2].casefold()) + 1:02d}-{int(match[1]):02d}"
