"""Speech marks: what transcribers note about the talk, such as laughter and pauses, kept apart from the words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from therapy_analytics.core.session import MarkKind, SpeechMark

_SECONDS = r"(?P<s>\d+(?:[.,]\d+)?)\s*(?:s|sec|secs|seconds?)\.?"
_KINDS: tuple[tuple[MarkKind, str], ...] = (
    ("laughter", r"(?:\w+ )?(?:laugh|chuckl|giggl|snicker)\w*(?: \w+)?|haha"),
    ("crying", r"(?:\w+ )?(?:crie[sd]|cry|crying|sob|sobs|sobbing|weep\w*|tear\w*(?: up)?)(?: \w+)?"),
    ("sigh", r"(?:\w+ )?(?:sigh|exhal|inhal|sniff)\w*|deep breaths?|breath\w*"),
    ("silence", rf"(?:long |brief |short )?(?:silen(?:ce|t)|no (?:response|answer|reply))(?:[ ,:]*{_SECONDS})?"),
    ("pause", rf"(?:long |brief |short )?(?:pauses?|pausing|beat)(?:[ ,:]*(?:of |for )?{_SECONDS})?"),
    ("unclear", r"(?:inaudible|unclear|unintelligible|indistinct|indiscernible|garbled|mumbl\w*)(?: [\w:.]+){0,2}"),
    ("overlap", r"(?:cross-? ?talk|overlap\w*|talking over.*|interrupt\w*|simultaneous\w*)(?: [\w:.]+){0,2}"),
    ("time", r"\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d+)?"),
)
_BARE_PAUSE = re.compile(r"\.{1,2}|(?P<s>\d+[.,]\d+(?=s|$)|\d+(?=\s*s))(?:\s*s(?:ec(?:ond)?s?)?\.?)?")
_KNOWN = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _KINDS)
_MARK = re.compile(
    r"\[(?P<square>[^\[\]\n]{1,60})\](?!\()"
    r"|\((?P<round>[^()\n]{1,40})\)"
    r"|(?<!\*)\*(?P<star>[^*\n]{1,30})\*(?!\*)"
    r"|(?<![\w'])(?P<xxx>xxx|yyy)(?![\w'])"
)
_SIGNS = ("[", "(", "*", "xxx", "yyy")
_PLACEHOLDER = re.compile(r"[A-Z][A-Z0-9]*_\w+|[A-Z]{2,}\d*|\.{3}|\u2026|x|\s*")
_LONGEST_EVENT = 4


def split_marks(text: str) -> tuple[str, tuple[SpeechMark, ...]]:
    """Take the speech marks out of a text.

    Parameters
    ----------
    text : str
        Of one row, as written.

    Returns
    -------
    str
        The words.
    tuple of SpeechMark
        Each with its offset in the words.

    Examples
    --------
    >>> words, marks = split_marks("I know [laughs] it (pause 3s) is xxx hard")
    >>> words
    'I know it is hard'
    >>> [(mark.kind, mark.at, mark.seconds) for mark in marks]
    [('laughter', 7, None), ('pause', 10, 3.0), ('unclear', 13, None)]
    >>> split_marks("She (my sister) said so")[1]
    ()
    """
    if not any(sign in text for sign in _SIGNS):  # most texts; six times as fast as the pattern
        return text.strip(), ()
    parts: list[str] = []
    found: list[tuple[MarkKind, float | None, str, int]] = []
    length = end = 0
    for match in _MARK.finditer(text):
        kind = _kind(match)
        if kind is not None:
            length += _add(parts, text[end : match.start()])
            found.append((*kind, match[0], length))
            end = match.end()
    _add(parts, text[end:])
    words = "".join(parts)
    return words, tuple(
        SpeechMark(kind=kind, at=_next_word(words, at), written=written, seconds=seconds)
        for kind, seconds, written, at in found
    )


def join_marks(text: str, marks: Sequence[SpeechMark]) -> str:
    """Put marks back where they stood; `split_marks` is the inverse.

    Examples
    --------
    >>> join_marks(*split_marks("I know [laughs] it (pause 3s) is xxx hard"))
    'I know [laughs] it (pause 3s) is xxx hard'
    """
    whole, end = "", 0
    for mark in marks:
        whole = " ".join(filter(None, (f"{whole}{text[end : mark.at]}".rstrip(), mark.written)))
        end = mark.at
        if text[end : end + 1] not in _NO_SPACE_BEFORE:
            whole += " "
    return whole + text[end:]


_NO_SPACE_BEFORE = ".,;:!?)"


def _kind(match: re.Match[str]) -> tuple[MarkKind, float | None] | None:
    """Return the kind of a mark and its length in seconds; None for speech."""
    if match["xxx"]:
        return "unclear", None
    inside = (match["square"] or match["round"] or match["star"] or "").strip()
    for kind, pattern in _KNOWN:
        known = pattern.fullmatch(inside)
        if known and not (kind == "time" and match["square"] is None):
            return kind, _duration(known)
    bare = _BARE_PAUSE.fullmatch(inside)
    if bare and match["round"] is not None:
        return "pause", _duration(bare)
    is_event = inside[:1].isalpha() and not _PLACEHOLDER.fullmatch(inside) and len(inside.split()) <= _LONGEST_EVENT
    return ("event", None) if match["square"] is not None and is_event else None


def _duration(match: re.Match[str]) -> float | None:
    seconds = match.groupdict().get("s")
    return float(seconds.replace(",", ".")) if seconds else None


def _add(parts: list[str], more: str) -> int:
    """Add the words behind a mark after one space, or none before punctuation; return the length that is added."""
    more = more.strip()
    if parts and more and more[0] not in _NO_SPACE_BEFORE:
        more = f" {more}"
    if more:
        parts.append(more)
    return len(more)


def _next_word(words: str, at: int) -> int:
    """Return where the word behind an offset begins."""
    while at < len(words) and words[at] == " ":
        at += 1
    return at
