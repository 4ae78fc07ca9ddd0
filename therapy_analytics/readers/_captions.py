"""What the caption formats share: who speaks in a caption."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import cast

from therapy_analytics.readers._base import RawSession, Row, Source
from therapy_analytics.readers._caption_labels import label_of, labels_of, parts
from therapy_analytics.readers._changes import CHANGE, UNKNOWN, about_changes, other_of
from therapy_analytics.readers._cues import Cue, plain, without_repeats
from therapy_analytics.readers._notes import counted, lost
from therapy_analytics.session import Role

_VOICE = re.compile(r"<v(?:\.(?P<role>therapist|client|other)(?=[ \t]+>)|\.[^\s<>]*)?[ \t]++([^<>]*)>")
"""A voice without a name may have a role."""
_VOICE_OF_ROLE = re.compile(r"<v\.(therapist|client|other)[ \t]++([^<>]*)>")
_NAMELESS: Mapping[str, Role] = {"\0therapist": "therapist", "\0client": "client", "\0other": "other"}
"""What stands for a voice with a role and without a name, until there are rows."""
_CHEVRON = re.compile(r">>+\s*")
_DASH = re.compile(r"[-\u2010-\u2015](?![-\u2010-\u2015\d])\s*(?=\S)")

Piece = tuple[str, str, int]
"""Speaker, words, and the line of the cue on which they begin, from 0."""
Split = Callable[[Cue], Iterator[Piece]]


def session_of(source: Source, cues: Sequence[Cue], *, example: str) -> RawSession:
    """Return the rows of all captions, each with its speaker.

    Parameters
    ----------
    source : Source
        The file, for errors.
    cues : sequence of Cue
        In the order of the file.
    example : str
        How a speaker is named in this format.

    Raises
    ------
    UnreadableFileError
        There is no caption, or nothing tells who speaks.
    """
    # Captions that name each voice do not roll: what stands there twice was said twice.
    is_named = _are_voiced(cues) or any(cue.speaker for cue in cues)
    once, n_repeats = (list(cues), 0) if is_named else without_repeats(cues)
    n_words = _n_words(cues) - _n_words(once)
    once = _with_words(once)
    split, passed_over = _splitter(source, once, example)
    roles = _roles_of_voices(once)
    rows = [_row(cue, piece, roles) for cue in once for piece in split(cue)]
    if not any(row.text for row in rows):
        raise source.error("no captions were found", "A caption is a line with two times and -->, then the words")
    if not any(row.speaker or row.role for row in rows):
        raise source.error("no caption says who speaks", _remedy(example))
    repeated = f"{counted(n_repeats, 'repeated line')} ({counted(n_words, 'word')})"
    notes = [f"{repeated} of rolling captions left out."] if n_repeats else []
    return RawSession("", _named(rows, notes), notes=tuple(notes), passed_over=passed_over)


def _row(cue: Cue, piece: Piece, roles: Mapping[str, Role]) -> Row:
    speaker, words, line = piece
    name = "" if speaker in _NAMELESS else speaker
    role = _NAMELESS.get(speaker, roles.get(name) if name else None)
    return Row(name, words, cue.place + line, cue.start_s, cue.end_s, role)


def _n_words(cues: Sequence[Cue]) -> int:
    return sum(len(plain(line).split()) for cue in cues for line in cue.lines)


def _remedy(example: str) -> str:
    return f"Export the captions with speaker names, or put the speaker before the words, as in {example}"


def _splitter(source: Source, cues: list[Cue], example: str) -> tuple[Split, Mapping[str, int]]:
    """Choose how this file says who speaks; where it has voice tags, a colon is speech."""
    if _are_voiced(cues):
        return lambda cue: _by_voice(cue.lines), {}
    if any(cue.speaker for cue in cues):
        return lambda cue: iter([(cue.speaker, plain("\n".join(cue.lines)), 0)]), {}
    lines = [[plain(line) for line in cue.lines] for cue in cues]
    labels = labels_of(lines)
    change = _CHEVRON if any(CHANGE in line for cue in lines for line in cue) else None
    if not labels.names and not change:
        change = _dash(source, lines, example)

    def by_label(cue: Cue) -> Iterator[Piece]:
        return _by_label(labels.with_colons([plain(line) for line in cue.lines]), labels.names, change)

    return by_label, labels.passed_over


def _are_voiced(cues: Sequence[Cue]) -> bool:
    return any("<v" in line and _VOICE.search(line) for cue in cues for line in cue.lines)


def _with_words(cues: Sequence[Cue]) -> list[Cue]:
    return [cue for cue in cues if any(map(plain, cue.lines))]


def _roles_of_voices(cues: Sequence[Cue]) -> dict[str, Role]:
    """Return the roles that the classes of voice tags tell, as in ``<v.therapist Ruth>``."""
    found = (_VOICE_OF_ROLE.search(line) for cue in cues for line in cue.lines if "<v." in line)
    return {plain(match[2]): cast(Role, match[1]) for match in found if match}


def _dash(source: Source, cues: list[list[str]], example: str) -> re.Pattern[str] | None:
    """Return the dash as a mark of change, only where every dash is one and nothing else is.

    Subtitles put dashes into a caption that two people share, and none into the others: there
    a caption without a dash may be anybody's. A dash before a small letter is a broken sentence.
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


def _by_label(lines: list[str], labels: frozenset[str], change: re.Pattern[str] | None) -> Iterator[Piece]:
    """Split a caption at each line that begins with a speaker's label, or with a mark of change."""
    speaker, words, begin = "", list[str](), 0
    for at, line in enumerate(lines):
        for part in parts(line):
            who, end = label_of(part)
            if who not in labels:
                mark = change.match(part) if change else None
                who, end = (CHANGE, mark.end()) if mark else ("", 0)
            if who:
                if speaker or words:
                    yield speaker, " ".join(words), begin
                speaker, words, begin = who, [], at
            if part[end:]:
                begin = begin if words else at
                words.append(part[end:])
    if speaker or words:
        yield speaker, " ".join(words), begin


def _by_voice(lines: list[str]) -> Iterator[Piece]:
    """Split a caption where the voice changes; a voice tag need not be closed."""
    before, *pieces = _VOICE.split("\n".join(lines))
    if plain(before):
        yield "", plain(before), _leading_lines(before)
    line = before.count("\n")
    for role, speaker, words in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True):
        yield f"\0{role}" if role else plain(speaker), plain(words), line + _leading_lines(words)
        line += words.count("\n")


def _leading_lines(words: str) -> int:
    return words[: len(words) - len(words.lstrip())].count("\n")


def _named(rows: list[Row], notes: list[str]) -> list[Row]:
    """Give each row its speaker, where it names none: who spoke before, or at a change the other one, or nobody.

    Who spoke before goes on where the captions of a speaker who goes on mostly have no label. Where most of them do,
    and before the first label, nobody knows who speaks.
    """
    names = list({" ".join(row.speaker.casefold().split()): row.speaker for row in reversed(rows)}.values())[::-1]
    names = [name for name in names if name not in {"", CHANGE}]
    pair = {0: ["Speaker 1", "Speaker 2"], 1: [*names, "Speaker 2"], 2: names}.get(len(names), [])
    changes = sum(row.speaker == CHANGE for row in rows)
    goes_on = bool(changes) or _goes_on(rows)
    speaker, done, n_before, unknown = "", list[Row](), 0, list[str]()
    for row in rows:
        if row.role is not None and not row.speaker:
            speaker = ""
            done += [row] if row.text else []
            continue
        if row.speaker == CHANGE:
            speaker = other_of(speaker, pair) if speaker or names else pair[0]
        elif row.speaker or not goes_on:
            speaker = row.speaker
        elif not names:
            speaker = speaker or pair[0]
        who = speaker or UNKNOWN
        if not row.speaker and who == UNKNOWN:
            unknown.append(row.text)
        n_before += not row.speaker and who != UNKNOWN
        if row.text:
            done.append(replace(row, speaker=who))
    notes += [f"{counted(n_before, 'caption')} without a speaker went to the speaker before."] if n_before else []
    notes += [f"{lost(unknown, 'caption')} without a speaker: read as said by Unknown."] if unknown else []
    notes += [about_changes(changes, pair)] if changes else []
    return done


def _goes_on(rows: Sequence[Row]) -> bool:
    """Tell whether a caption without a label goes on with the turn before: more do so than repeat its label."""
    named = [row.speaker.casefold() for row in rows if row.speaker or row.role is None]
    repeated = sum(one == two != "" for one, two in pairwise(named))
    return named.count("") > repeated
