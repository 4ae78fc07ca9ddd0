"""What the caption formats share: captions, rolling lines, and who speaks in a caption.

A speaker is named by a voice tag, by the format itself, or by a label before the words; or a mark tells that the
speaker changes.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import cast

from therapy_analytics.core.printable import counted
from therapy_analytics.core.session import Role
from therapy_analytics.readers._caption_labels import CaptionLabels, label_of, labels_of, line_parts
from therapy_analytics.readers._labelled_lines import CHANGE, UNKNOWN, about_changes, other_of
from therapy_analytics.readers._notes import lost
from therapy_analytics.readers.base import RawSession, Row, Source

_TAG = re.compile(r"</?(?:[a-zA-Z][^<>]*|\d[\d:.]*)?>|\{\\[a-zA-Z0-9][^{}]*\}")
_VOICE = re.compile(r"<v(?:\.(?P<role>therapist|client|other)|\.[^\s<>]*)?[ \t]++(?P<name>[^<>]*)>")
"""A voice tag; this package writes the role of the speaker as its class, and no name for a speaker without one."""
_CHEVRON = re.compile(r">>+\s*")
_DASH = re.compile(r"[-\u2010-\u2015](?![-\u2010-\u2015\d])\s*(?=\S)")


@dataclass(frozen=True, slots=True)
class Cue:
    """A caption: where its words begin in the file, its times in seconds, its lines, and the name of its speaker."""

    place: int
    start_s: float | None
    end_s: float | None
    lines: list[str]
    speaker: str = ""


def plain(text: str) -> str:
    r"""Return the words without markup, on one line.

    Examples
    --------
    >>> plain(r"{\an8}<i>you &amp; me</i>")
    'you & me'
    """
    if "<" in text or "{" in text:
        text = _TAG.sub("", text)
    return html.unescape(" ".join(text.split()))


def in_order(cues: Sequence[Cue]) -> list[Cue]:
    """Return captions in the order of their starts, where all have one."""
    if any(cue.start_s is None for cue in cues):
        return [*cues]
    return sorted(cues, key=lambda cue: cue.start_s or 0.0)


def without_repeats(cues: Sequence[Cue]) -> tuple[list[Cue], int]:
    """Blank the lines that roll over from the caption before, if at least half of the captions begin with such a line.

    Returns
    -------
    list of Cue
        Those with words.
    int
        The number of lines that were blanked.
    """
    lines = [[words for line in cue.lines if (words := plain(line))] for cue in cues]
    full = [(cue, words) for cue, words in zip(cues, lines, strict=True) if words]
    repeats = [0, *(_n_repeated(before, words) for (_, before), (_, words) in pairwise(full))]
    grown = [False, *(words[0].startswith(f"{before[-1]} ") for (_, before), (_, words) in pairwise(full))]
    rolled = [max(n, int(grows)) for n, grows in zip(repeats, grown, strict=True)]
    n_rolled = sum(map(bool, rolled))
    if n_rolled < 2 or 2 * n_rolled < len(full) - 1:
        return [cue for cue, _ in full], 0
    done = [
        _blanked(cue, n) if n or not grows else _without_words(cue, full[at - 1][1][-1])
        for at, ((cue, _), n, grows) in enumerate(zip(full, repeats, grown, strict=True))
    ]
    return done, sum(rolled)


def _n_repeated(before: list[str], lines: list[str]) -> int:
    """Count the lines at the end of a caption that come again at the beginning of the next."""
    most = min(len(before), len(lines))
    return next((n for n in range(most, 0, -1) if before[-n:] == lines[:n]), 0)


def _blanked(cue: Cue, n: int) -> Cue:
    """Blank the first lines with words."""
    lines = list(cue.lines)
    for at in [at for at, line in enumerate(lines) if plain(line)][:n]:
        lines[at] = ""
    return replace(cue, lines=lines)


def _without_words(cue: Cue, known: str) -> Cue:
    """Take the words of the caption before off a line that has grown."""
    at = next(at for at, line in enumerate(cue.lines) if plain(line))
    more = html.escape(plain(cue.lines[at])[len(known) :], quote=False)
    return replace(cue, lines=[*cue.lines[:at], more, *cue.lines[at + 1 :]])


def session_of(source: Source, cues: Sequence[Cue], *, example: str) -> RawSession:
    """Return the rows of all captions, each with its speaker.

    Parameters
    ----------
    source : Source
        The file, for errors.
    cues : sequence of Cue
        In order.
    example : str
        How this format names a speaker, for errors.

    Raises
    ------
    UnreadableFileError
        There is no caption, or nothing tells who speaks.
    """
    is_voiced = any("<v" in line and _VOICE.search(line) for cue in cues for line in cue.lines)
    cues = cues if is_voiced else _with_own_labels(cues)
    is_named = any(cue.speaker for cue in cues)
    # Captions that name each speaker do not roll: words that come twice there were spoken twice.
    kept, n_repeats = (cues, 0) if is_voiced or is_named else without_repeats(cues)
    n_words = _n_words(cues) - _n_words(kept)
    kept = [cue for cue in kept if any(map(plain, cue.lines))]
    passed_over: Mapping[str, int] = {}
    if is_voiced:  # a colon is speech then
        rows = [row for cue in kept for row in _by_voice(cue)]
        roles = {row.speaker: row.role for row in rows if row.speaker and row.role}  # a voice's, in one of its tags
        rows = [replace(row, role=roles.get(row.speaker, row.role)) for row in rows]
    elif is_named:
        rows = [_row(cue, cue.speaker, "\n".join(cue.lines)) for cue in kept]
    else:
        rows, passed_over = _by_labels(source, kept, example)
    if not any(row.text for row in rows):
        raise source.error("no captions were found", "A caption is a line with two times and -->, then the words")
    if not any(row.speaker or row.role for row in rows):
        raise source.error("no caption says who speaks", _remedy(example))
    rows, notes = _with_speakers(rows)
    repeated = f"{counted(n_repeats, 'repeated line')} ({counted(n_words, 'word')}) of rolling captions left out."
    return RawSession("", rows, notes=(*([repeated] if n_repeats else []), *notes), passed_over=passed_over)


def _row(cue: Cue, speaker: str, text: str, line: int = 0, role: Role | None = None) -> Row:
    """Return words of a caption that begin on one of its lines, counted from 0."""
    return Row(speaker, plain(text), cue.place + line, cue.start_s, cue.end_s, role)


def _n_words(cues: Sequence[Cue]) -> int:
    return sum(len(plain(line).split()) for cue in cues for line in cue.lines)


def _remedy(example: str) -> str:
    return f"Export the captions with speaker names, or put the speaker before the words, as in {example}"


def _by_voice(cue: Cue) -> Iterator[Row]:
    """Split a caption where the voice changes; a voice tag need not be closed."""
    text = "\n".join(cue.lines)
    tags = list(_VOICE.finditer(text))
    ends = [*(tag.start() for tag in tags), len(text)]
    if plain(text[: ends[0]]):
        yield _row(cue, "", text[: ends[0]], _line_of_words(text, 0, ends[0]))
    for tag, end in zip(tags, ends[1:], strict=True):
        role = cast("Role | None", tag["role"])
        yield _row(cue, plain(tag["name"]), text[tag.end() : end], _line_of_words(text, tag.end(), end), role)


def _line_of_words(text: str, begin: int, end: int) -> int:
    """Return the line of the first word between two offsets, from 0."""
    return text.count("\n", 0, end - len(text[begin:end].lstrip()))


def _by_labels(source: Source, cues: Sequence[Cue], example: str) -> tuple[list[Row], Mapping[str, int]]:
    """Split captions at labels and marks of change; return also what was not taken for a label, with counts."""
    lines = [[plain(line) for line in cue.lines] for cue in cues]
    labels = labels_of(lines)
    change = _CHEVRON if any(CHANGE in line for cue in lines for line in cue) else None
    if not labels.names and not change:
        change = _dash(source, lines, example)
    both = zip(cues, lines, strict=True)
    return [row for cue, some in both for row in _by_label(cue, some, labels, change)], labels.passed_over


def _dash(source: Source, cues: Sequence[Sequence[str]], example: str) -> re.Pattern[str] | None:
    """Return the dash as a mark of change, where every dash is one and nothing else is; refuse other dashes.

    Where subtitles have dashes only in captions that two people share, any of them may speak in the others. A dash
    before a small letter is a broken sentence.
    """
    dashes = [[match for line in cue if (match := _DASH.match(line))] for cue in cues]
    if not any(dashes):
        return None
    starts = [bool(_DASH.match(next(filter(None, cue)))) for cue in cues]
    shared = sum(len(one) > 1 for one in dashes)
    letters = [match.string[match.end()] for one in dashes for match in one]
    mixed = any(map(str.isupper, letters)) and any(map(str.islower, letters))
    if starts[0] and not mixed and (all(starts) or sum(map(bool, dashes)) >= 2 * shared):
        return _DASH
    raise source.error("dashes mark some changes of speaker here, but not each of them", _remedy(example))


def _by_label(cue: Cue, lines: list[str], labels: CaptionLabels, change: re.Pattern[str] | None) -> Iterator[Row]:
    """Split a caption at each line that begins with a label, or with a mark of change."""
    speaker, words, begin = "", list[str](), 0
    for at, line in enumerate(labels.with_colons(lines)):
        for part in line_parts(line):
            who, end = label_of(part)
            if who not in labels.names:
                mark = change.match(part) if change else None
                who, end = (CHANGE, mark.end()) if mark else ("", 0)
            if who:
                if speaker or words:
                    yield replace(_row(cue, speaker, "", begin), text=" ".join(words))
                speaker, words, begin = who, [], at
            if part[end:]:
                begin = begin if words else at
                words.append(part[end:])
    if speaker or words:
        yield replace(_row(cue, speaker, "", begin), text=" ".join(words))


def _with_speakers(rows: list[Row]) -> tuple[list[Row], list[str]]:
    """Give rows without a name their speaker: who spoke before, or at a change the other one, or nobody; add notes.

    Who spoke before goes on where the captions of a speaker who goes on mostly have no label. Where most of them do,
    and before the first label, the speaker is unknown.
    """
    names = list({" ".join(row.speaker.casefold().split()): row.speaker for row in reversed(rows)}.values())[::-1]
    names = [name for name in names if name not in {"", CHANGE}]
    pair = {0: ["Speaker 1", "Speaker 2"], 1: [*names, "Speaker 2"], 2: names}.get(len(names), [])
    n_changes = sum(row.speaker == CHANGE for row in rows)
    goes_on = n_changes > 0 or _goes_on(rows)
    done: list[Row] = []
    unknown: list[str] = []
    speaker, n_before = "", 0
    for row in rows:
        if row.role is not None and not row.speaker:  # a voice tag without a name
            speaker = ""
            done.append(row)
            continue
        if row.speaker == CHANGE:
            speaker = other_of(speaker, pair) if speaker or names else pair[0]
        elif row.speaker or not goes_on:
            speaker = row.speaker
        elif not names:
            speaker = speaker or pair[0]
        if not row.speaker and speaker in {"", UNKNOWN}:
            unknown.append(row.text)
        elif not row.speaker:
            n_before += 1
        done.append(replace(row, speaker=speaker or UNKNOWN))
    done = [row for row in done if row.text]
    notes = [f"{counted(n_before, 'caption')} without a speaker went to the speaker before."] if n_before else []
    notes += [f"{lost(unknown, 'caption')} without a speaker: read as said by Unknown."] if unknown else []
    notes += [about_changes(n_changes, pair)] if n_changes else []
    return done, notes


def _goes_on(rows: Sequence[Row]) -> bool:
    """Tell whether captions without a label go on with the turn before: more of them do than repeat its label."""
    named = [row.speaker.casefold() for row in rows if row.speaker or row.role is None]
    repeated = sum(one == two != "" for one, two in pairwise(named))
    return named.count("") > repeated


def _with_own_labels(cues: Sequence[Cue]) -> Sequence[Cue]:
    """Where the format names the speakers of some captions, take the others from the labels before their words.

    Examples
    --------
    >>> _with_own_labels([Cue(1, 0, 1, ["Hello."], "Ann"), Cue(2, 1, 2, ["LI: Hi."])])[1].speaker
    'LI'
    """
    names = {cue.speaker.casefold() for cue in cues if cue.speaker}
    if not names:
        return cues
    before = [f"{cue.speaker}: " if cue.speaker else "" for cue in cues]
    all_lines = [[label + plain(line) for line in cue.lines] for label, cue in zip(before, cues, strict=True)]
    labels = labels_of(all_lines).names
    return [cue if cue.speaker or not cue.lines else _labelled(cue, names, labels) for cue in cues]


def _labelled(cue: Cue, names: set[str], labels: frozenset[str]) -> Cue:
    label, end = label_of(cue.lines[0])
    if label not in labels and (not label or label.casefold() not in names):
        return cue
    return replace(cue, speaker=label, lines=[cue.lines[0][end:], *cue.lines[1:]])
