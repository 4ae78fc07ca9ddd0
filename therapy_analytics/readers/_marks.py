"""Speech marks: what transcribers write about the talk, kept as data and out of the words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from therapy_analytics.session import MarkKind, SpeechMark

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
_PLACEHOLDER = re.compile(r"[A-Z][A-Z0-9]*_\w+|[A-Z]{2,}\d*|\.{3}|\u2026|x|\s*")
_LONGEST_EVENT = 4


def split_marks(text: str) -> tuple[str, tuple[SpeechMark, ...]]:
    """Take the speech marks out of a text.

    Parameters
    ----------
    text : str
        Words of one row, as written.

    Returns
    -------
    str
        The words alone.
    tuple of SpeechMark
        Each with its place in these words.

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
    if not _may_hold_marks(text):
        return text.strip(), ()
    pieces: list[str] = []
    marks, length, end = [], 0, 0
    for match in _MARK.finditer(text):
        found = _kind(match)
        if found is None:
            continue
        length += _add(pieces, text[end : match.start()])
        marks.append((found, match[0], length))
        end = match.end()
    _add(pieces, text[end:])
    words = "".join(pieces)
    return words, tuple(_placed(words, *mark) for mark in marks)


def join_marks(text: str, marks: Sequence[SpeechMark]) -> str:
    """Put marks back where they stood: what `split_marks` undoes.

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


def _may_hold_marks(text: str) -> bool:
    """Tell at a glance; one pattern for all of this takes six times as long, and most texts hold none."""
    return "[" in text or "(" in text or "*" in text or "xxx" in text or "yyy" in text


def _kind(match: re.Match[str]) -> tuple[MarkKind, float | None] | None:
    """Return what a bracket says, and for how long; None when it is speech."""
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
    said = match.groupdict().get("s")
    return float(said.replace(",", ".")) if said else None


def _add(pieces: list[str], more: str) -> int:
    """Add what stands behind a mark with one space, or none before punctuation; return by how much that is longer."""
    more = more.strip()
    if pieces and more and more[0] not in _NO_SPACE_BEFORE:
        more = f" {more}"
    if more:
        pieces.append(more)
    return len(more)


def _placed(words: str, found: tuple[MarkKind, float | None], written: str, at: int) -> SpeechMark:
    """Let a mark point at what follows it."""
    at = min(at, len(words))
    while at < len(words) and words[at] == " ":
        at += 1
    return SpeechMark(kind=found[0], at=at, written=written, seconds=found[1])
