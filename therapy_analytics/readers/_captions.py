"""What the caption formats share: captions, lines that roll on, and who speaks in a caption.

A speaker is named by a voice tag, by the format itself, by a label before the words, or only marked as a change.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple, cast

from therapy_analytics.readers._base import RawSession, Row, Source
from therapy_analytics.readers._labelled_lines import CHANGE, UNKNOWN, about_changes, other_of
from therapy_analytics.readers._labels import Beginning, is_heading, is_name, speakers_among
from therapy_analytics.readers._marks import split_marks
from therapy_analytics.readers._notes import counted, lost
from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.session import Role

_TAG = re.compile(r"</?(?:[a-zA-Z][^<>]*|\d[\d:.]*)?>|\{\\[a-zA-Z0-9][^{}]*\}")
_VOICE = re.compile(r"<v(?:\.(?P<role>therapist|client|other)|\.[^\s<>]*)?[ \t]++(?P<name>[^<>]*)>")
"""A voice tag; this package writes the role of the speaker as its class, and leaves out a name that nobody gave."""
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


@dataclass(frozen=True, slots=True)
class Cue:
    """A caption: the line of its first words, its times in seconds, its lines of words, the name of its speaker."""

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
    """Return captions in the order of their begins, where all have one."""
    if any(cue.start_s is None for cue in cues):
        return [*cues]
    return sorted(cues, key=lambda cue: cue.start_s or 0.0)


def without_repeats(cues: Sequence[Cue]) -> tuple[list[Cue], int]:
    """Blank the lines that roll over from the caption before, where half of the captions begin with such a line.

    Return the captions with words, and how many lines were blanked.
    """
    shown = [[words for line in cue.lines if (words := plain(line))] for cue in cues]
    full = [(cue, lines) for cue, lines in zip(cues, shown, strict=True) if lines]
    repeats = [0, *(_n_repeated(before, lines) for (_, before), (_, lines) in pairwise(full))]
    grown = [False, *(lines[0].startswith(f"{before[-1]} ") for (_, before), (_, lines) in pairwise(full))]
    rolled = sum(n > 0 or grows for n, grows in zip(repeats, grown, strict=True))
    if rolled < 2 or 2 * rolled < len(full) - 1:
        return [cue for cue, _ in full], 0
    rest = [
        _blanked(cue, n) if n or not grows else _cut(cue, full[at - 1][1][-1])
        for at, ((cue, _), n, grows) in enumerate(zip(full, repeats, grown, strict=True))
    ]
    return rest, sum(max(n, int(grows)) for n, grows in zip(repeats, grown, strict=True))


def _n_repeated(before: list[str], lines: list[str]) -> int:
    """Count the lines at the end of a caption that stand again at the beginning of the next."""
    most = min(len(before), len(lines))
    return next((n for n in range(most, 0, -1) if before[-n:] == lines[:n]), 0)


def _blanked(cue: Cue, n: int) -> Cue:
    lines = list(cue.lines)
    for at in [at for at, line in enumerate(lines) if plain(line)][:n]:
        lines[at] = ""
    return replace(cue, lines=lines)


def _cut(cue: Cue, known: str) -> Cue:
    """Take the words of the caption before off the line that has grown by some."""
    at = next(at for at, line in enumerate(cue.lines) if plain(line))
    more = html.escape(plain(cue.lines[at])[len(known) :], quote=False)
    return replace(cue, lines=[*cue.lines[:at], more, *cue.lines[at + 1 :]])


def session_of(source: Source, cues: Sequence[Cue], *, example: str) -> RawSession:
    """Return the rows of all captions, each with its speaker; `example` shows how this format names a speaker.

    Raises
    ------
    UnreadableFileError
        There is no caption, or nothing tells who speaks.
    """
    is_voiced = any("<v" in line and _VOICE.search(line) for cue in cues for line in cue.lines)
    cues = cues if is_voiced else _with_own_labels(cues)
    is_named = any(cue.speaker for cue in cues)
    # Captions that name each speaker do not roll: what stands there twice was said twice.
    once, n_repeats = (cues, 0) if is_voiced or is_named else without_repeats(cues)
    n_words = _n_words(cues) - _n_words(once)
    once = [cue for cue in once if any(map(plain, cue.lines))]
    passed_over: Mapping[str, int] = {}
    if is_voiced:  # a colon is speech then
        rows = _with_roles([row for cue in once for row in _by_voice(cue)])
    elif is_named:
        rows = [_row(cue, cue.speaker, "\n".join(cue.lines)) for cue in once]
    else:
        rows, passed_over = _by_labels(source, once, example)
    if not any(row.text for row in rows):
        raise source.error("no captions were found", "A caption is a line with two times and -->, then the words")
    if not any(row.speaker or row.role for row in rows):
        raise source.error("no caption says who speaks", _remedy(example))
    repeated = f"{counted(n_repeats, 'repeated line')} ({counted(n_words, 'word')})"
    notes = [f"{repeated} of rolling captions left out."] if n_repeats else []
    return RawSession("", _named(rows, notes), notes=tuple(notes), passed_over=passed_over)


def _row(cue: Cue, speaker: str, text: str, line: int = 0, role: Role | None = None) -> Row:
    """Return what is said in a caption from one of its lines on, counted from 0."""
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
    """Return on which line the first word between two places stands, from 0."""
    return text.count("\n", 0, end - len(text[begin:end].lstrip()))


def _with_roles(rows: Sequence[Row]) -> list[Row]:
    """Give a named voice its role wherever it speaks, if one of its tags tells the role."""
    roles = {row.speaker: row.role for row in rows if row.speaker and row.role}
    return [replace(row, role=roles.get(row.speaker, row.role)) for row in rows]


def _by_labels(source: Source, cues: Sequence[Cue], example: str) -> tuple[list[Row], Mapping[str, int]]:
    """Split captions at labels and marks of change; return as well what was not taken for a label, and how often."""
    lines = [[plain(line) for line in cue.lines] for cue in cues]
    labels = _labels_of(lines)
    change = _CHEVRON if any(CHANGE in line for cue in lines for line in cue) else None
    if not labels.names and not change:
        change = _dash(source, lines, example)
    both = zip(cues, lines, strict=True)
    return [row for cue, some in both for row in _by_label(cue, some, labels, change)], labels.passed_over


def _dash(source: Source, cues: Sequence[Sequence[str]], example: str) -> re.Pattern[str] | None:
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


def _by_label(cue: Cue, lines: list[str], labels: _CaptionLabels, change: re.Pattern[str] | None) -> Iterator[Row]:
    """Split a caption at each line that begins with a speaker's label, or with a mark of change."""
    speaker, words, begin = "", list[str](), 0
    for at, line in enumerate(labels.with_colons(lines)):
        for part in _line_parts(line):
            who, end = _label_of(part)
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


def _with_own_labels(cues: Sequence[Cue]) -> Sequence[Cue]:
    """Give captions without a named speaker the one whose label they begin with, where others have a named speaker.

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
    labels = _labels_of(all_lines).names
    return [cue if cue.speaker or not cue.lines else _labelled(cue, names, labels) for cue in cues]


def _labelled(cue: Cue, names: set[str], labels: frozenset[str]) -> Cue:
    label, end = _label_of(cue.lines[0])
    if label not in labels and (not label or label.casefold() not in names):
        return cue
    return replace(cue, speaker=label, lines=[cue.lines[0][end:], *cue.lines[1:]])


class _CaptionLabels(NamedTuple):
    """The speakers, and the form in which they stand without a colon, if they do."""

    names: frozenset[str]
    bare: re.Pattern[str] | None = None
    passed_over: Mapping[str, int] = MappingProxyType({})

    def with_colons(self, lines: list[str]) -> list[str]:
        """Write the labels of a caption as all others are written."""
        if self.bare is None:
            return lines
        done = list(lines)
        for at in _places(lines, self.bare):
            match = self.bare.match(lines[at])
            if match and match["label"] in self.names:
                done[at] = f"{match['label']}: {match['words']}".rstrip()
        return done


def _line_parts(line: str) -> list[str]:
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


def _labels_of(cues: Sequence[list[str]]) -> _CaptionLabels:
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
        return _CaptionLabels(
            frozenset(label for label, n in counts.items() if _may_stand_in_each(label, n, small=small))
        )
    sure = {label for label, line in lines if _is_plainly_a_label(label, line)}
    found, passed_over = speakers_among([Beginning(label.casefold(), label, timed=True) for label, _ in lines])
    labels = sure | {label for label in counts if label.casefold() in found}
    if len(labels) == 1 and not sure and max(counts.values()) < _FEW * len(cues):
        labels = set()
    partners = {label for label in counts if label.istitle()} if len(labels) == 1 else set()
    marked = any(CHANGE in line for cue in cues for line in cue)
    passed_over = Counter({label: n for label, n in passed_over.items() if label not in labels | partners})
    with_colon = _CaptionLabels(frozenset(labels | partners), passed_over=passed_over)
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


def _bare_labels(cues: Sequence[list[str]]) -> _CaptionLabels:
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
            return _CaptionLabels(frozenset(label for _, label in found if label.casefold() in known), bare)
    return _CaptionLabels(frozenset())


def _places(lines: list[str], bare: re.Pattern[str]) -> list[int]:
    """Return on which lines a label may stand: one above the words needs words below."""
    filled = [at for at, line in enumerate(lines) if line]
    return filled if bare is not _ABOVE else filled[: len(filled) > 1]


def _may_be_a_name(label: str) -> bool:
    """Tell a name from a sound: ``[laughs]``, ``(music)``."""
    _, marks = split_marks(f"[{label}]")
    is_sound = any(mark.kind != "event" for mark in marks) or label.casefold() in _SOUNDS
    return not is_sound and (not label[0].islower() or role_of_label(label) is not None or "_" in label)
