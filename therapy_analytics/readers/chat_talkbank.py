"""CHAT transcripts (``.cha``) of TalkBank and CLAN.

By hand: pylangacq drops the line of an utterance, by which results refer to it, and the words of a retracing or of a
broken-off word, which were spoken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from therapy_analytics.core.printable import counted
from therapy_analytics.core.session import Role
from therapy_analytics.readers.base import RawSession, Row, Source, begins, reader

_BEGINS = r"[\ufeff \n\t]*@(?ai:begin|utf8)[^\S\n]*(?:\n|\Z)"
_TIER = re.compile(r"\*([^\s:*]{1,30}):[ \t]*")
_HEADER = re.compile(r"@([\w ]{1,40}):[ \t]*")
_BULLET = re.compile(
    r"[\x15\u2022][^\x15\u2022\n]*?(\d{1,15})_(\d{1,15})[^\x15\u2022\n]{0,3}[\x15\u2022]|\s(\d{1,15})_(\d{1,15})\s*$"
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

_REPLACED = re.compile(r"(?:<[^<>]*>|(?<![^\s<>\[\]])[^\s<>\[\]]++)\s*+\[::?\s++([^\[\]]*)\]")
_ENDS = {
    "+...": "...",
    "+..?": "...?",
    "+/.": "\u2014",
    "+//.": "\u2014",
    "+/?": "\u2014?",
    "+//?": "\u2014?",
    "+!?": "!?",
    '+"/.': ".",
    '+".': ".",
    "+.": ".",
    "+<": "[overlap]",
}
_CODE = re.compile(
    r"&=(?P<event>[^\s<>\[\]]+)"
    r"|&\*(?P<other>\w+:[^\s<>\[\]]+)"
    r"|&\{[ln]=(?P<long>[^\s<>\[\]]+)"
    r"|&\}[ln]=[^\s<>\[\]]*"
    r"|&\+(?P<broken>\w[\w']*)"
    r"|&[-~]?(?=\w)"
    r"|\[(?P<bracket>[^\[\]]*)\]"
    r"|\((?P<pause>\.{1,3}|(?:\d{1,3}:)?\d{1,5}(?:\.\d{0,9})?)\)"
    r"|\((?P<letters>[^\W\d_][\w']*)\)"
    r'|(?<!\S)(?P<end>\+(?:\.\.\.|\.\.\?|!\?|//?[.?]|"/\.|"\.|\.|["^<,+\u224b\u2248]))'
    r"|(?<![^\s<])0[^\W\d_][\w']*"
    r"|(?P<nothing>^\s*0(?=\s*(?:[.?!\[&(+]|$)))"
    r"|(?<=\w)@[a-z][\w:&$*-]*"
    r"|(?P<joint>(?<=[^\W_])_(?=[^\W_]))"
    r"|(?<=[^\W\d_])(?:\+(?=[^\W\d_])|:+(?=[\s\w.?!<>\[]|$)|\^(?=\w))"
    r"|(?P<tag>[\u2021\u201e])"
    r"|(?P<www>(?<!\S)www(?!\S))"
    r"|[<>\u2191\u2193\u2197\u2198\u21d7\u21d8\u2308\u2309\u230a\u230b\u221e\u2248\u224b\u02c8\u02cc]"
)
_MAY_HOLD_CODES = re.compile(r"[&\[(+@_0:^<>\u2021\u201e\u2191-\u230b]|www")
_SPACE_BEFORE = re.compile(r"\s+(?=[.?!,;:\u2014](?!\w))")
_NOT_WORDS = re.compile(r"\[[^\[\]]*\]|\([^()]*\)|(?<!\w)(?:xxx|yyy)(?!\w)|[\W_]")
_LONE_ENDS = re.compile(r"(?:(?<=[\])xy])|(?<!\S))[.?!,;:\u2014]+(?=\s|$)")
_OVERLAP = re.compile(r"[<>]\d*")


@dataclass(slots=True)
class _Tier:
    """An utterance: its line, speaker and text, and what its dependent tiers add."""

    line: int
    code: str
    text: str
    gold: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _File:
    """Utterances, headers, and the number of dependent tiers that were left out."""

    tiers: list[_Tier] = field(default_factory=list)
    headers: list[tuple[str, str]] = field(default_factory=list)
    n_dependent: int = 0


@reader("talkbank_chat", suffixes=(".cha", ".chat"), sniff=begins(_BEGINS), one_session=True)
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
    """Parse the lines; one that begins no tier or header continues the line before, with a tab or without."""
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
        file.tiers.append(_Tier(number, tier[1], whole[tier.end() :]))
    elif header := _HEADER.match(whole):
        file.headers.append((header[1].casefold(), " ".join(whole[header.end() :].split())))
    elif whole.startswith("%"):
        name, _, value = whole.partition(":")
        codes = [word[1:] for word in value.split() if word.startswith("$") and len(word) > 1]
        if name == "%cod" and codes and file.tiers:
            file.tiers[-1].gold["cod"] = ";".join(filter(None, (file.tiers[-1].gold.get("cod", ""), *codes)))
        else:
            file.n_dependent += 1


def _row(tier: _Tier, roles: Mapping[str, Role]) -> Row:
    text = tier.text
    times = [float(one or other) / 1000 for found in _BULLET.findall(text) for one, other in (found[::2], found[1::2])]
    start, end = (times[0], times[-1]) if times else (None, None)
    words = spoken(_BULLET.sub(" ", text) if times else text)
    return Row(tier.code, words, tier.line, start, end, roles.get(tier.code), tier.gold)


def _participants(headers: list[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Return by code name and role word, from ``@Participants`` (``INV Anna Investigator, ...``), else ``@ID``."""
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


def spoken(text: str) -> str:
    """Return the words of an utterance, with speech marks in brackets.

    Words that were retraced or repeated (``<I want> [/] I want``) were spoken and stay, as in any verbatim transcript;
    a replacement (``gonna [: going to]``) takes the place of the form that it replaces.

    Examples
    --------
    >>> spoken("<I want> [//] &-um I need &=laughs to (.) stop (be)cause +...")
    'I want um I need [laughs] to (.) stop because...'
    """
    if _MAY_HOLD_CODES.search(text):
        if "[:" in text:
            text = _REPLACED.sub(r" \1 ", text)
        text = _CODE.sub(_plain, text)
    text = _SPACE_BEFORE.sub("", " ".join(text.split()))
    return text if _NOT_WORDS.sub("", text) else _LONE_ENDS.sub("", text).strip()


def _plain(code: re.Match[str]) -> str:
    """Return what stands for a code: words, a speech mark, or nothing."""
    kind, inside = code.lastgroup or "", code[code.lastgroup or 0]
    if kind in {"event", "long"}:
        return f" [{inside.replace(':', ' ').replace('_', ' ').strip()}] "
    if kind == "bracket":
        return _bracket(inside.strip())
    if kind == "pause":
        return f" {_pause(inside)} "
    if kind == "end":
        return _ENDS.get(inside, "")
    if kind == "other":
        return f" [{inside.replace(':', ': ')}] "
    simple = {"broken": f"{inside}-", "letters": inside, "joint": " ", "tag": ",", "www": "[not transcribed]"}
    return simple.get(kind, "")


def _bracket(inside: str) -> str:
    """Keep sounds (``[=! laughing]``, ``[laughs]``) and what is uncertain; drop codes about the words."""
    if inside.startswith("=!"):
        return f"[{inside[2:].strip()}]"
    if _OVERLAP.fullmatch(inside):
        return "[overlap]"
    if inside == "?":
        return "[unclear]"
    return f"[{inside}]" if len(inside) > 1 and inside[0].isalpha() and not inside.startswith("x ") else ""


def _pause(inside: str) -> str:
    """Write a pause as other transcripts do: seconds with a decimal point; three dots are a long pause."""
    if inside.startswith("."):
        return f"({inside})" if len(inside) < 3 else "(long pause)"
    minutes, _, rest = inside.rpartition(":")
    return f"({round(60 * float(minutes or 0) + float(rest), 3)})"
