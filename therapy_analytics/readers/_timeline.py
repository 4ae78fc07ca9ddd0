"""The times of a session in seconds from its beginning, for tables, JSON and time stamps alike.

Three things are decided from all times of a session together: the unit of plain numbers, the moment from which dates
and times of day count, and what to note about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import correlation
from typing import NamedTuple

from therapy_analytics.core.printable import counted
from therapy_analytics.readers._times import (
    DAY,
    FIRST_DATE,
    HALF_DAY,
    LATE,
    SERIAL,
    SURELY_DATE,
    Span,
    Time,
    TimeMark,
    resolved,
    since_1970,
)

_SERIAL_1970 = 25_569.0
_FASTEST = 4.0
"""Words a second; nobody speaks faster for long (about 2.7 on the telephone: Yuan, Liberman & Cieri, 2006)."""
_SLOWEST = 0.05
"""Words a second; numbers with which people would speak slower than this are in a smaller unit than seconds."""
_SPEECH = (0.3, 12.0)
"""Words a second between which people speak, pauses included."""
_NO_SPEECH = 0.002
"""Words a second below which numbers cannot be seconds, of speech or of a chat."""
_MOSTLY = 0.8
_FEW_GAPS, _RELATED = 8, 0.3
_GUESSED = {1e-3: "thousandths", 1 / 16_000: "sixteen-thousandths", 1e-7: "ten-millionths", 1e-9: "billionths"}
"""Units other than seconds that whole numbers may count where no name tells it, the likeliest first; recognisers
count 16,000 samples of sound a second."""

_COUNTS = "Numbers that only count the messages were not taken as times."
_NO_UNIT = "Times were left out, because in no unit of theirs would people speak so fast or so slowly."
_SMALLER = "Times were taken as {} of a second: in seconds, they would be much too long for the words."
_SPREADSHEET = "Times were taken as days since the end of 1899, as spreadsheets count them."
_OF_DAY = "Times of day were counted from the first of them."


class Timeline(NamedTuple):
    """When the utterances of a session begin and end.

    Attributes
    ----------
    starts, ends : list of float or None
        Seconds, as many as utterances.
    began : float or None
        Where they are dates: the first, in seconds from 1970 to what a clock on the wall showed.
    by_day : bool
        They were times of day.
    told : tuple of str
        What the user should know.
    """

    starts: list[Time]
    ends: list[Time]
    began: Time = None
    by_day: bool = False
    told: tuple[str, ...] = ()


def timeline(spans: Sequence[Span], texts: Sequence[str]) -> Timeline:
    """Return the times of a session in seconds from its beginning.

    Parameters
    ----------
    spans : sequence of Span
        Of each utterance, in order.
    texts : sequence of str
        What is said in each: how fast people would speak tells the unit of plain numbers.

    Returns
    -------
    Timeline
        Dates and times of day count from the first; what is before it has no time. Numbers that only count the
        utterances are no times. A unit that no name says is told by how fast people would speak.
    """
    nothing: list[Time] = [None] * len(spans)
    spans = resolved(spans)
    n_unread = sum(one.n_unread for one in spans)
    told = (f"{counted(n_unread, 'time')} could not be read.",) if n_unread else ()
    if not any(one.start is not None or one.end is not None for one in spans):
        return Timeline(nothing, nothing, told=told)
    if _only_count(spans):
        return Timeline(nothing, nothing, told=(*told, _COUNTS))
    unit = _unit(spans, texts)
    if unit is None:
        return Timeline(nothing, nothing, told=(*told, _NO_UNIT))
    spans = _in_hours(spans, texts)
    if unit in _GUESSED:
        told = (*told, _SMALLER.format(_GUESSED[unit]))
    elif unit == DAY:
        told = (*told, _SPREADSHEET)
    found = _from_first([_scaled(one.start, unit) for one in spans], [_scaled(one.end, unit) for one in spans])
    return found._replace(told=(*told, *found.told))


def _in_hours(spans: Sequence[Span], texts: Sequence[str]) -> Sequence[Span]:
    """Take clock readings such as ``10:02`` for hours and minutes of a day where they cannot be minutes and seconds.

    They begin at six o'clock or later and never go back, and nobody could say the words between the first and the last
    in so few seconds.
    """
    known = [(one.start, len(text.split())) for one, text in zip(spans, texts, strict=True) if one.start is not None]
    times = [start.at for start, _ in known]
    if len(known) <= 2 or any(start.kind != "brief" for start, _ in known) or times != sorted(times):
        return spans
    if times[0] < LATE / 60 or times[-1] >= DAY / 60:
        return spans
    if sum(n for _, n in known[:-1]) <= _FASTEST * (times[-1] - times[0]):
        return spans
    return [Span(_of_day(one.start), _of_day(one.end)) for one in spans]


def _of_day(mark: TimeMark | None) -> TimeMark | None:
    return None if mark is None else TimeMark(60 * mark.at, "noon")


def _scaled(mark: TimeMark | None, unit: float) -> TimeMark | None:
    """Return a plain number in seconds, or as a date where it counts days."""
    if mark is None or mark.kind != "bare" or unit == 1:
        return mark
    if unit == DAY:
        return TimeMark(round((mark.at - _SERIAL_1970) * DAY, 2), "date")
    return TimeMark(round(mark.at * unit, 6), "time")


def _from_first(starts: Sequence[TimeMark | None], ends: Sequence[TimeMark | None]) -> Timeline:
    """Count dates and times of day from the first of them."""
    known = [mark for mark in starts if mark is not None]
    least = FIRST_DATE if all(mark.at >= FIRST_DATE for mark in known) else SURELY_DATE
    are_dates = [mark.kind == "date" or mark.at >= least for mark in known]
    if 2 * sum(are_dates) > len(known):
        first = next(mark for mark, is_date in zip(known, are_dates, strict=True) if is_date)
        origin = since_1970(first.at)
        since = [[_since(mark, origin, least) for mark in marks] for marks in (starts, ends)]
        n_lost = _n_lost((*starts, *ends), (*since[0], *since[1]))
        told = (f"{counted(n_lost, 'time')} before that of the first utterance left out.",) if n_lost else ()
        return Timeline(since[0], since[1], round(origin + first.zone, 6), told=told)
    by_day = any(mark.kind == "noon" for mark in known) or (
        bool(known) and known[0].at >= LATE and any(mark.kind in {"clock", "brief"} for mark in known)
    )
    if by_day:
        first_of_day = known[0].at
        return Timeline(_after(starts, first_of_day), _after(ends, first_of_day), by_day=True, told=(_OF_DAY,))
    plain = [[_of_recording(mark) for mark in marks] for marks in (starts, ends)]
    n_lost = _n_lost((*starts, *ends), (*plain[0], *plain[1]))
    told = (f"{counted(n_lost, 'date')} among other times left out.",) if n_lost else ()
    return Timeline(plain[0], plain[1], told=told)


def _n_lost(marks: Sequence[TimeMark | None], times: Sequence[Time]) -> int:
    return sum(mark is not None and time is None for mark, time in zip(marks, times, strict=True))


def _of_recording(mark: TimeMark | None) -> Time:
    return None if mark is None or mark.kind == "date" else round(mark.at, 6)


def _since(mark: TimeMark | None, origin: float, least: float) -> Time:
    at = None if mark is None or not (mark.kind == "date" or mark.at >= least) else since_1970(mark.at)
    return None if at is None or at < origin else round(at - origin, 6)


def _after(marks: Sequence[TimeMark | None], first: float) -> list[Time]:
    """Count times of day from the first; those much earlier are of the next day."""
    since = [None if mark is None else round(mark.at - first, 6) for mark in marks]
    return [time + DAY if time is not None and time < -HALF_DAY else time for time in since]


def _only_count(spans: Sequence[Span]) -> bool:
    first = spans[0].start
    if len(spans) < 3 or first is None or first.at not in {0, 1}:
        return False
    return all(
        one.end is None and one.start is not None and one.start.kind == "bare" and one.start.at == first.at + i
        for i, one in enumerate(spans)
    )


def _unit(spans: Sequence[Span], texts: Sequence[str]) -> float | None:
    """Return the unit of plain numbers in seconds; None where people would speak at no plausible pace in any unit."""
    bare = [(one, text) for one, text in zip(spans, texts, strict=True) if _is_bare(one)]
    numbers = [mark.at for one, _ in bare for mark in one[:2] if mark is not None and mark.kind == "bare"]
    starts = [one.start.at for one, _ in bare if one.start is not None]
    if not numbers or (not all(map(float.is_integer, numbers)) and not _are_serial(numbers)):
        return 1.0
    words = [len(text.split()) for _, text in bare]
    if not all(map(float.is_integer, numbers)):
        lasted = max(starts) - min(starts) if starts else 0.0
        return DAY if sum(words) > _SPEECH[1] * lasted > 0 else 1.0
    spoken = sum(one.end.at - one.start.at for one, _ in bare if one.start is not None and one.end is not None)
    if spoken <= 0:
        return _unit_of_starts(starts, words) if len(starts) == len(bare) else 1.0
    pace = sum(words) / spoken
    if pace >= _SLOWEST:
        return 1.0
    fitting = (unit for unit in _GUESSED if _SPEECH[0] <= pace / unit <= _SPEECH[1])
    return next(fitting, None if pace < _NO_SPEECH else 1.0)


def _is_bare(one: Span) -> bool:
    return any(mark is not None and mark.kind == "bare" for mark in one[:2])


def _are_serial(numbers: Sequence[float]) -> bool:
    """Tell whether numbers may be days as spreadsheets count them."""
    return all(SERIAL[0] <= number < SERIAL[1] for number in numbers)


def _unit_of_starts(starts: Sequence[float], words: Sequence[int]) -> float:
    """Return the unit of numbers that are starts alone: seconds, unless they fit speech in a smaller unit.

    In seconds they may be those of a slow chat. In a smaller unit they fit speech if the pace is that of speech, if
    nearly every gap can hold the words before it, and if longer gaps (of many) go with more words.
    """
    gaps = [(after - before, n) for (before, after), n in zip(pairwise(starts), words, strict=False) if n]
    lasted = max(starts) - min(starts)
    if (
        not gaps
        or min(starts) >= FIRST_DATE
        or sum(words) >= _SLOWEST / 5 * lasted
        or not any(at % 60 for at in starts)
    ):
        return 1.0
    lengths, n_words = zip(*gaps, strict=True)
    if (
        len(gaps) >= _FEW_GAPS
        and min(len(set(lengths)), len(set(n_words))) > 1
        and correlation(lengths, n_words) < _RELATED
    ):
        return 1.0
    for unit in _GUESSED:
        fit = sum(gap > 0 and _SLOWEST <= n / (gap * unit) <= _SPEECH[1] for gap, n in gaps)
        if fit >= _MOSTLY * len(gaps) and _SPEECH[0] <= sum(words) / (lasted * unit) <= _SPEECH[1]:
            return unit
    return 1.0
