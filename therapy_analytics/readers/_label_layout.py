"""Which of the ways to write labels a file is written in: the one that finds most of them.

So a colon in the speech of one file is no label, and in another it is.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from therapy_analytics.readers._label_forms import (
    EDGE,
    PLAIN,
    STRICT,
    Form,
    Found,
    Line,
    Page,
    has_both_roles,
    is_beside_the_talk,
)
from therapy_analytics.readers._labels import (
    Beginning,
    is_heading,
    is_name,
    is_trusted,
    speakers_among,
    stands_inside_one,
    unnumbered,
    without_number,
)
from therapy_analytics.readers._roles import is_program, is_relative, role_of_label
from therapy_analytics.readers._stamps import STAMP

_SAMPLE = 2_000
_PLAINLY = 0.5
_SPELLED, _MOST_SPELLED = 4, 40
"""So many letters tell a label from a word; each line is held against no more labels than that."""
_CLOCK_ONLY = re.compile(rf"{EDGE}{STAMP}[ \t*_]*$")
_DATE = re.compile(
    r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? )?"
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2},? \d{4}",
    re.IGNORECASE,
)

_MARKS = frozenset("*_>#[(<-|")


class Layout(NamedTuple):
    """The lines that begin a turn, the labels, and what looks like a label but was not taken for one, with counts.

    `n_slips` tells how many of the lines have no colon behind the label, where all others have one.
    """

    begins: Found
    labels: frozenset[str]
    passed_over: Counter[str]
    n_slips: int = 0


_NOTHING = Layout({}, frozenset(), Counter())


def is_clock(text: str) -> bool:
    """Tell a line that holds only a time."""
    return bool(_CLOCK_ONLY.match(text))


def page_of(lines: Sequence[Line]) -> Page:
    """Return lines with what is known of the times between them."""
    filled = [bool(line.text.strip()) for line in lines]
    clocks = [is_filled and is_clock(line.text) for line, is_filled in zip(lines, filled, strict=True)]
    if not any(clocks):
        nowhere = [False] * len(lines)
        return Page(lines, nowhere, nowhere)
    kinds = list(zip(filled, clocks, strict=True))
    return Page(lines, _beside(kinds), _beside(kinds[::-1])[::-1])


def _beside(kinds: Sequence[tuple[bool, bool]]) -> list[bool]:
    """Tell for each line whether the last that was filled before it holds only a time."""
    beside, last = [], False
    for filled, clock in kinds:
        beside.append(last and not clock)
        last = clock if filled else last
    return beside


def layout(page: Page) -> Layout:
    """Return the lines that begin a turn, and the labels, in the form that finds most of them."""
    if len(page.lines) <= _SAMPLE:
        form, found = _best(page, (*PLAIN, *STRICT))
        return _with_colons(form, page, found)
    head = Page(page.lines[:_SAMPLE], page.above, page.below)
    form, found = _best(head, (*PLAIN, *STRICT))  # what is strict shows itself at the head
    if len(found.labels) < 2:
        return _best(page, PLAIN)[1]
    return _with_colons(form, page, _tried(form, page))


def _best(page: Page, forms: Sequence[Form]) -> tuple[Form, Layout]:
    """Return the form with more than one label that begins most turns, of equals the first."""
    chosen, best = forms[0], _tried(forms[0], page)
    if has_both_roles(best.labels) and len(best.begins) > _PLAINLY * len(page.filled):
        return chosen, best  # roles before colons on most lines: no other form can be meant
    for form in forms[1:]:
        one = _tried(form, page)
        if (len(one.labels) > 1, len(one.begins)) > (len(best.labels) > 1, len(best.begins)):
            chosen, best = form, one
    return chosen, best


def _tried(form: Form, page: Page) -> Layout:
    found = _candidates(form, page, page.filled)
    if not found:
        return _NOTHING
    keys = unnumbered(_keys(found))
    known: dict[Beginning, Beginning] = {}  # what comes a million times is held once
    beginnings = [
        known.setdefault(one := Beginning(key, match["label"].strip(), *_look(page, at, match)), one)
        for (at, match), key in zip(found, keys, strict=True)
    ]
    labels, passed_over = speakers_among(beginnings, _n_places(form, page, found))
    begins = {at: match for (at, match), key in zip(found, keys, strict=True) if key in labels}
    if not labels or not form.holds(page, list(begins), [key for key in keys if key in labels], labels):
        return _NOTHING
    chosen = Layout(begins, labels, passed_over)
    return _with_slips(page, chosen) if form is PLAIN[0] else chosen


def _candidates(form: Form, page: Page, places: Iterable[int]) -> list[tuple[int, re.Match[str]]]:
    match_line, lines = form.pattern.match, page.lines
    found = [(at, match) for at in places if (match := match_line(lines[at].text))]
    return [one for one in found if form.allowed(page, *one) and not _is_date(one[1]["label"])]


def _n_places(form: Form, page: Page, found: Sequence[tuple[int, re.Match[str]]]) -> float:
    """Return at how many lines a turn could begin: not below a label or a time alone, nor beside the talk."""
    if not form.has_names:
        return math.inf
    begins = {at for at, _ in found}
    lines = sum(at in begins or not is_beside_the_talk(page.lines[at].raw) for at in page.filled)
    return lines - sum(not match["words"].strip() for _, match in found) - sum(page.above)


def _look(page: Page, at: int, match: re.Match[str]) -> tuple[Hashable, bool]:
    """Return what stands around a label, and whether a time does.

    The marks before and behind it, the places of times, an empty line above, words behind it on its line.
    """
    groups, line = match.groupdict(), match.string
    marks = [line[: match.start("label")], line[match.end("label") : match.start("words")]]
    times = bool(groups.get("before")), bool(groups.get("after"))
    words = bool(groups["words"]) and not groups["words"].isspace()
    return (*map(_MARKS.intersection, marks), *times, page.is_blank(at - 1), words), any(times)


def _with_slips(page: Page, chosen: Layout) -> Layout:
    """Add the lines in which the colon behind a role is missing, or is another mark; the less sure ones are told of.

    A hyphen or semicolon that touches the label is a slip. A label without a mark is one only where no turn goes on
    over several lines: ``Client Centered Therapy`` may begin the second line of a turn.
    """
    spelled = [re.escape(label) for label in chosen.labels if len(label) >= _SPELLED]
    if not 0 < len(spelled) <= _MOST_SPELLED:
        return chosen
    slip = re.compile(
        rf"{EDGE}(?P<label>(?i:{'|'.join(spelled)}))(?:(?P<mark>[-;])[ \t]{{1,3}}(?=[^a-z])"
        r"|[ \t]{0,3}[-;.,\u2013\u2014]|(?P<space>[ \t]{1,3})(?=[A-Z]))(?P<words>.*)$"
    )
    begins, first = chosen.begins, min(chosen.begins)
    found = {at: match for at in page.filled if at not in begins and (match := slip.match(page.lines[at].text))}
    if not found:
        return chosen
    n_lines = sum(at >= first and not is_beside_the_talk(page.lines[at].raw) for at in page.filled)
    in_lines = len(begins) + sum(at > first for at in found) == n_lines
    before = ""
    taken: Found = {}
    for at, match in sorted({**begins, **found}.items()):
        label = _key(match["label"])
        if at in found and at > first and label != before and _is_slip(match, in_lines=in_lines):
            taken[at] = found.pop(at)
        before = before if at in found else label
    passed_over = chosen.passed_over + Counter(match["label"] for match in found.values())
    return Layout({**begins, **taken}, chosen.labels, passed_over, len(taken))


def _is_slip(match: re.Match[str], *, in_lines: bool) -> bool:
    role = role_of_label(match["label"])
    if match["mark"]:
        return bool(role) or is_relative(match["label"])
    return bool(match["space"]) and in_lines and role in {"therapist", "client"}


def _with_colons(form: Form, page: Page, chosen: Layout) -> Layout:
    """Add whoever has a label with a colon where those who mostly speak have none, as counsel beside Q. and A."""
    if form in PLAIN or not chosen.begins or any(map(is_program, chosen.labels)):
        return chosen
    begins, first = chosen.begins, min(chosen.begins)
    found = _candidates(PLAIN[0], page, [at for at in page.filled if at > first and at not in begins])
    keys = _keys(found)
    counts = Counter(keys)
    written = {key: match["label"].strip() for (_, match), key in zip(found, keys, strict=True)}
    names = {
        key for key, one in written.items() if not is_heading(key, counts[key]) and (is_name(one) or is_trusted(one))
    }
    labelled = {
        **{at: _key(match["label"]) for at, match in begins.items()},
        **dict(zip(dict(found), keys, strict=True)),
    }
    order = [key for _, key in sorted(labelled.items()) if key in names or key in chosen.labels]
    people = {
        key
        for key in names
        if is_trusted(key) or (counts[key] > 1 and (written[key].isupper() or not stands_inside_one(key, order)))
    }
    more = {at: match for (at, match), key in zip(found, keys, strict=True) if key in people}
    passed_over = chosen.passed_over + Counter({written[key]: counts[key] for key in names - people})
    return Layout({**begins, **more}, chosen.labels | people, passed_over)


def _keys(found: Sequence[tuple[int, re.Match[str]]]) -> list[str]:
    """Return what the spellings of each label have in common; what comes a million times is held once."""
    known: dict[str, str] = {}
    keys = []
    for _, match in found:
        label = match["label"]
        key = known.get(label)
        if key is None:
            key = known[label] = _key(label)
        keys.append(key)
    return keys


def _is_date(label: str) -> bool:
    """Tell a day, as messengers write it above what is said, from a name."""
    return label[-1].isdecimal() and bool(_DATE.fullmatch(label))


def _key(label: str) -> str:
    return " ".join(label.casefold().split())


def speaker_of(label: str, labels: frozenset[str]) -> str:
    """Return the label as written, without the number of the turn."""
    if label.casefold() not in labels and _key(label) not in labels:
        label = without_number(label)
    return label.strip(" \t\xa0*_")
