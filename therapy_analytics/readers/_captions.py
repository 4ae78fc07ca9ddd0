"""What the caption formats share: who speaks in a caption, by a voice tag, a label, or a mark of a change."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple, cast

from therapy_analytics.readers._base import RawSession, Row, Source
from therapy_analytics.readers._changes import CHANGE, UNKNOWN, about_changes, other_of
from therapy_analytics.readers._cues import Cue, plain, without_repeats
from therapy_analytics.readers._labels import Beginning, is_heading, is_name, speakers_among
from therapy_analytics.readers._marks import split_marks
from therapy_analytics.readers._notes import counted, lost
from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.session import Role

_VOICE = re.compile(r"<v(?:\.(?P<role>therapist|client|other)(?=[ \t]+>)|\.[^\s<>]*)?[ \t]++([^<>]*)>")
"""A voice without a name may have a role."""
_VOICE_OF_ROLE = re.compile(r"<v\.(therapist|client|other)[ \t]++([^<>]*)>")
_NAMELESS: Mapping[str, Role] = {"\0therapist": "therapist", "\0client": "client", "\0other": "other"}
"""What stands for a voice with a role and without a name, until there are rows."""
_CHEVRON = re.compile(r">>+\s*")
_DASH = re.compile(r"[-\u2010-\u2015](?![-\u2010-\u2015\d])\s*(?=\S)")

_NAME = r"[^\W\d_][\w.'\u2019-]*(?:,? [\w.'\u2019()&-]+){0,4}"
_LABEL = re.compile(rf"(?:>>+|[-\u2010-\u2015])?\s*(?:\[({_NAME})\]|({_NAME}))\s?(?::(?:\s+(?=\S)|\s*$)|\uff1a\s*)")
_BEFORE_CHEVRON = re.compile(r"\s+(?=>>)")
_IN_BRACKETS = re.compile(rf"(?:[-\u2010-\u2015]\s*)?[\[(](?P<label>{_NAME})[\])]\s*(?P<words>.*)$")
_BEFORE_DASH = re.compile(rf"(?P<label>{_NAME}) [-\u2013\u2014] (?P<words>\S.*)$")
_ABOVE = re.compile(r"(?P<label>[^\W\d_][\w.'\u2019-]*(?: [\w.'\u2019()&-]+){0,3})(?<![.,!?])(?P<words>)$")
_SOUNDS = frozenset({"music", "applause", "noise", "background noise", "cheering", "coughs", "cough", "phone rings"})
_FEW = 0.1
_EVEN = 0.5

Lines = list[str]
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
    cues = cues if _are_voiced(cues) else _with_own_labels(cues)
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
    labels = _labels_of(lines)
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
        for part in _line_parts(line):
            who, end = _label_of(part)
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


def _with_own_labels(cues: Sequence[Cue]) -> list[Cue]:
    """Give captions without a named speaker the one whose label they begin with, where others have a named speaker.

    Parameters
    ----------
    cues : sequence of Cue
        In order; where none names a speaker, labels are left to who reads captions without such names.

    Examples
    --------
    >>> _with_own_labels([Cue(1, 0, 1, ["Hello."], "Ann"), Cue(2, 1, 2, ["LI: Hi."])])[1].speaker
    'LI'
    """
    names = {cue.speaker.casefold() for cue in cues if cue.speaker}
    if not names:
        return list(cues)
    labels = _labels_of([[_as_label(cue.speaker) + plain(line) for line in cue.lines] for cue in cues]).names
    return [cue if cue.speaker or not cue.lines else _labelled(cue, names, labels) for cue in cues]


def _as_label(speaker: str) -> str:
    return f"{speaker}: " if speaker else ""


def _labelled(cue: Cue, names: set[str], labels: frozenset[str]) -> Cue:
    label, end = _label_of(cue.lines[0])
    if label not in labels and (not label or label.casefold() not in names):
        return cue
    return replace(cue, speaker=label, lines=[cue.lines[0][end:], *cue.lines[1:]])


class _Labels(NamedTuple):
    """The speakers, and the form in which they stand without a colon, if they do."""

    names: frozenset[str]
    bare: re.Pattern[str] | None = None
    passed_over: Mapping[str, int] = MappingProxyType({})

    def with_colons(self, lines: Lines) -> Lines:
        """Write the labels of a caption as all others are written."""
        if self.bare is None:
            return lines
        return [
            self._with_colon(line, self.bare) if at in _places(lines, self.bare) else line
            for at, line in enumerate(lines)
        ]

    def _with_colon(self, line: str, bare: re.Pattern[str]) -> str:
        match = bare.match(line)
        known = match and match["label"] in self.names
        return f"{match['label']}: {match['words']}".rstrip() if match and known else line


def _line_parts(line: str) -> Lines:
    """Split a line before each mark of change."""
    return _BEFORE_CHEVRON.split(line) if CHANGE in line else [line]


def _label_of(line: str) -> tuple[str, int]:
    """Return the label at the beginning of a line, and where it ends; ``and I said:`` at an end of line is none."""
    match = _LABEL.match(line)
    if not match:
        return "", 0
    label = match[1] or match[2]
    is_speech = match.end() == len(line) and any(word[0].islower() for word in label.split())
    return ("", 0) if is_speech and not role_of_label(label) else (label, match.end())


def _labels_of(cues: Sequence[Lines]) -> _Labels:
    """Tell speakers from a colon inside speech: they come back, or look like one, or stand in every caption.

    A name that stands once beside others that come back is a speaker as well: each caption has its time.

    One name alone that comes back now and then, and looks like none, is how somebody speaks;
    where one name alone comes back often, it has a partner who is named once.
    """
    lines = [
        (label, part) for cue in cues for line in cue for part in _line_parts(line) if (label := _label_of(part)[0])
    ]
    counts = Counter(label for label, _ in lines)
    if cues and all(_label_of(next(filter(None, cue)))[0] for cue in cues):
        small = 2 * sum(n for label, n in counts.items() if label.islower()) > counts.total()
        return _Labels(frozenset(label for label, n in counts.items() if _may_stand_in_each(label, n, small=small)))
    sure = {label for label, line in lines if _is_plainly_a_label(label, line)}
    found, passed_over = speakers_among([Beginning(label.casefold(), label, timed=True) for label, _ in lines])
    labels = sure | {label for label in counts if label.casefold() in found}
    if len(labels) == 1 and not sure and max(counts.values()) < _FEW * len(cues):
        labels = set()
    partners = {label for label in counts if label.istitle()} if len(labels) == 1 else set()
    marked = any(CHANGE in line for cue in cues for line in cue)
    passed_over = Counter({label: n for label, n in passed_over.items() if label not in labels | partners})
    with_colon = _Labels(frozenset(labels | partners), passed_over=passed_over)
    if sure or marked or len(with_colon.names) > 1:
        return with_colon
    without = _bare_labels(cues)
    return without if without.names else with_colon


def _may_stand_in_each(label: str, n: int, *, small: bool) -> bool:
    """Tell a label from a word with a colon, where each caption begins with one or the other."""
    return bool(role_of_label(label)) or (is_name(label, small=small) and not is_heading(label.casefold(), n))


def _is_plainly_a_label(label: str, line: str) -> bool:
    """Tell a role, a name in capitals, and what follows a mark of change."""
    return bool(role_of_label(label)) or (label.isupper() and len(label) > 2) or line.startswith(CHANGE)


def _bare_labels(cues: Sequence[Lines]) -> _Labels:
    """Find labels without a colon, in the first form that most captions have, or all changes of two named roles."""
    for bare in (_IN_BRACKETS, _ABOVE, _BEFORE_DASH):
        found = [
            (at, match["label"])
            for at, cue in enumerate(cues)
            for place in _places(cue, bare)
            if (match := bare.match(cue[place])) and _may_be_a_name(match["label"])
        ]
        known, _ = speakers_among([Beginning(label.casefold(), label) for _, label in found], len(cues))
        begins = {at for at, label in found if label.casefold() in known}
        roles = {role_of_label(label) for label in known}
        share = _FEW if {"therapist", "client"} <= roles and 0 in begins else _EVEN
        if len(known) > 1 and len(begins) >= share * len(cues):
            return _Labels(frozenset(label for _, label in found if label.casefold() in known), bare)
    return _Labels(frozenset())


def _places(lines: Lines, bare: re.Pattern[str]) -> Sequence[int]:
    """Return on which lines a label may stand: one above the words needs words below."""
    filled = [at for at, line in enumerate(lines) if line]
    return filled if bare is not _ABOVE else filled[: len(filled) > 1]


def _may_be_a_name(label: str) -> bool:
    """Tell a name from a sound: ``[laughs]``, ``(music)``."""
    _, marks = split_marks(f"[{label}]")
    is_sound = any(mark.kind != "event" for mark in marks) or label.casefold() in _SOUNDS
    return not is_sound and (not label[0].islower() or role_of_label(label) is not None or "_" in label)
