"""Which form of labels a file is written in: the one that finds the most turns.

So a colon inside the speech of one file is no label, and in another it is.
"""

from __future__ import annotations

import math
import re
import sys
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
    TextPage,
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
from therapy_analytics.readers._stamps import STAMP
from therapy_analytics.readers.roles import is_program, is_relative, role_of_label

_SAMPLE = 2_000
_PLAINLY = 0.5
_SHORTEST, _MOST_LABELS = 4, 40
"""Labels with fewer letters may be words of speech; with more labels, a missing colon is not looked for."""
_CLOCK_ONLY = re.compile(rf"{EDGE}{STAMP}[ \t*_]*$")
_DATE = re.compile(
    r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? )?"
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2},? \d{4}",
    re.IGNORECASE,
)
_MARKS = frozenset("*_>#[(<-|")


class LabelLayout(NamedTuple):
    """The lines that begin a turn, the labels, and what looks like a label but was not taken for one, with counts.

    `n_slips` is the number of lines without a colon behind the label, where all others have one.
    """

    begins: Found
    labels: frozenset[str]
    passed_over: Counter[str]
    n_slips: int = 0


_NOTHING = LabelLayout({}, frozenset(), Counter())


def is_clock(text: str) -> bool:
    """Tell a line that holds only a time."""
    return bool(_CLOCK_ONLY.match(text))


def page_of(lines: Sequence[Line]) -> TextPage:
    """Return lines with what is known of the times between them."""
    filled = [bool(line.text.strip()) for line in lines]
    clocks = [has_words and is_clock(line.text) for line, has_words in zip(lines, filled, strict=True)]
    kinds = list(zip(filled, clocks, strict=True))
    return TextPage(lines, _after_clocks(kinds), _after_clocks(kinds[::-1])[::-1])


def _after_clocks(kinds: Sequence[tuple[bool, bool]]) -> list[bool]:
    """Tell of each line whether the last line with words before it holds only a time."""
    after, last = [], False
    for filled, clock in kinds:
        after.append(last and not clock)
        last = clock if filled else last
    return after


def layout(page: TextPage) -> LabelLayout:
    """Return the lines that begin a turn, and the labels, in the form that finds the most turns."""
    if len(page.lines) <= _SAMPLE:
        form, found = _best(page, (*PLAIN, *STRICT))
        return _with_colons(form, page, found)
    head = TextPage(page.lines[:_SAMPLE], page.above, page.below)
    form, found = _best(head, (*PLAIN, *STRICT))  # strict forms show at the head
    if len(found.labels) < 2:
        return _best(page, PLAIN)[1]
    return _with_colons(form, page, _tried(form, page))


def _best(page: TextPage, forms: Sequence[Form]) -> tuple[Form, LabelLayout]:
    """Return the form with more than one label that begins the most turns, of equals the first."""
    chosen, best = forms[0], _tried(forms[0], page)
    if has_both_roles(best.labels) and len(best.begins) > _PLAINLY * len(page.filled):
        return chosen, best  # roles before colons on most lines: no other form can be meant
    for form in forms[1:]:
        one = _tried(form, page)
        if (len(one.labels) > 1, len(one.begins)) > (len(best.labels) > 1, len(best.begins)):
            chosen, best = form, one
    return chosen, best


def _tried(form: Form, page: TextPage) -> LabelLayout:
    """Return what a form finds on a page; nothing where it does not fit."""
    found = _candidates(form, page, page.filled)
    if not found:
        return _NOTHING
    keys = unnumbered([_key(match["label"]) for _, match in found])
    held: dict[Beginning, Beginning] = {}  # of a long text, what comes many times is held once
    beginnings = [
        held.setdefault(one := Beginning(key, match["label"].strip(), *_look(page, at, match)), one)
        for (at, match), key in zip(found, keys, strict=True)
    ]
    labels, passed_over = speakers_among(beginnings, _n_places(form, page, found))
    begins = {at: match for (at, match), key in zip(found, keys, strict=True) if key in labels}
    if not labels or not form.holds(page, list(begins), [key for key in keys if key in labels], labels):
        return _NOTHING
    chosen = LabelLayout(begins, labels, passed_over)
    return _with_slips(page, chosen) if form is PLAIN[0] else chosen


def _candidates(form: Form, page: TextPage, places: Iterable[int]) -> list[tuple[int, re.Match[str]]]:
    match_line, lines = form.pattern.match, page.lines
    found = [(at, match) for at in places if (match := match_line(lines[at].text))]
    return [(at, match) for at, match in found if form.allowed(page, at, match) and not _is_date(match["label"])]


def _n_places(form: Form, page: TextPage, found: Sequence[tuple[int, re.Match[str]]]) -> float:
    """Return at how many lines a turn could begin: not below a label or a time alone, nor beside the talk."""
    if not form.has_names:
        return math.inf
    begins = {at for at, _ in found}
    lines = sum(at in begins or not is_beside_the_talk(page.lines[at].raw) for at in page.filled)
    return lines - sum(not match["words"].strip() for _, match in found) - sum(page.above)


def _look(page: TextPage, at: int, match: re.Match[str]) -> tuple[Hashable, bool]:
    """Return what stands around a label, and whether a time does.

    The marks before and behind it, the places of times, an empty line above, words behind it on its line.
    """
    groups, line = match.groupdict(), match.string
    marks = [line[: match.start("label")], line[match.end("label") : match.start("words")]]
    times = bool(groups.get("before")), bool(groups.get("after"))
    words = bool(groups["words"]) and not groups["words"].isspace()
    return (*map(_MARKS.intersection, marks), *times, page.is_blank(at - 1), words), any(times)


def _with_slips(page: TextPage, chosen: LabelLayout) -> LabelLayout:
    """Add lines in which the colon behind a role is missing or is another mark; less certain ones are passed over.

    A hyphen or semicolon that touches the label is a slip. A label without a mark is one only where no turn goes on
    over several lines: ``Client Centered Therapy`` may begin the second line of a turn.
    """
    labels = [re.escape(label) for label in chosen.labels if len(label) >= _SHORTEST]
    if not 0 < len(labels) <= _MOST_LABELS:
        return chosen
    slip = re.compile(
        rf"{EDGE}(?P<label>(?i:{'|'.join(labels)}))(?:(?P<mark>[-;])[ \t]{{1,3}}(?=[^a-z])"
        r"|[ \t]{0,3}[-;.,\u2013\u2014]|(?P<space>[ \t]{1,3})(?=[A-Z]))(?P<words>.*)$"
    )
    begins, first = chosen.begins, min(chosen.begins)
    found = {at: match for at in page.filled if at not in begins and (match := slip.match(page.lines[at].text))}
    if not found:
        return chosen
    n_lines = sum(at >= first and not is_beside_the_talk(page.lines[at].raw) for at in page.filled)
    in_lines = len(begins) + sum(at > first for at in found) == n_lines
    taken: Found = {}
    before = ""
    for at, match in sorted({**begins, **found}.items()):
        label = _key(match["label"])
        if at in found and at > first and label != before and _is_slip(match, in_lines=in_lines):
            taken[at] = found.pop(at)
        if at not in found:
            before = label
    passed_over = chosen.passed_over + Counter(match["label"] for match in found.values())
    return LabelLayout({**begins, **taken}, chosen.labels, passed_over, len(taken))


def _is_slip(match: re.Match[str], *, in_lines: bool) -> bool:
    role = role_of_label(match["label"])
    if match["mark"]:
        return bool(role) or is_relative(match["label"])
    return bool(match["space"]) and in_lines and role in {"therapist", "client"}


def _with_colons(form: Form, page: TextPage, chosen: LabelLayout) -> LabelLayout:
    """Add speakers with a colon where those who mostly speak have none, as counsel beside Q. and A."""
    if form in PLAIN or not chosen.begins or any(map(is_program, chosen.labels)):
        return chosen
    begins, first = chosen.begins, min(chosen.begins)
    found = dict(_candidates(PLAIN[0], page, [at for at in page.filled if at > first and at not in begins]))
    keys = {at: _key(match["label"]) for at, match in found.items()}
    counts = Counter(keys.values())
    written = {keys[at]: match["label"].strip() for at, match in found.items()}
    names = [
        key for key, one in written.items() if not is_heading(key, counts[key]) and (is_name(one) or is_trusted(one))
    ]
    known = chosen.labels.union(names)
    every = {**{at: _key(match["label"]) for at, match in begins.items()}, **keys}
    order = [key for _, key in sorted(every.items()) if key in known]
    people = {
        key
        for key in names
        if is_trusted(key) or (counts[key] > 1 and (written[key].isupper() or not stands_inside_one(key, order)))
    }
    more = {at: match for at, match in found.items() if keys[at] in people}
    passed_over = chosen.passed_over + Counter({written[key]: counts[key] for key in names if key not in people})
    return LabelLayout({**begins, **more}, chosen.labels | people, passed_over)


def _is_date(label: str) -> bool:
    """Tell a day, as messengers write it above the messages, from a name."""
    return label[-1].isdecimal() and bool(_DATE.fullmatch(label))


def _key(label: str) -> str:
    """Return what the spellings of a label have in common."""
    return sys.intern(" ".join(label.casefold().split()))  # of a long text, each key is held once


def speaker_of(label: str, labels: frozenset[str]) -> str:
    """Return the label as written, without the number of the turn."""
    if label.casefold() not in labels and _key(label) not in labels:
        label = without_number(label)
    return label.strip(" \t\xa0*_")
