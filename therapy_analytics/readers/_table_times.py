"""When the utterances of a table are spoken, by its columns of starts, ends, durations and days."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from therapy_analytics.readers._columns import Columns, time_unit
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._times import HALF_DAY, Column, Time, are_hours, read_column

_SLOWEST = 0.05
"""Words a second; what is said slower than this in whole numbers was timed in thousandths."""
_OF_DAY = "Times of day were counted from the first of them."
_IN_THOUSANDTHS = "Times were taken as thousandths of a second: in seconds, they would be much too long for the words."
_MILLI = 1e-3

Records = Sequence[Sequence[str]]


class Times(NamedTuple):
    """When utterances begin and end in seconds, when the first was by the clock on the wall, and what to tell."""

    starts: Sequence[Time]
    ends: Sequence[Time]
    began: Time = None
    told: tuple[str, ...] = ()


class Clock:
    """What reads the times of one session after another.

    Parameters
    ----------
    header : sequence of str
        Names of the columns, which may tell the units.
    columns : Columns
        Which column is which.
    """

    def __init__(self, header: Sequence[str], columns: Columns) -> None:
        self._columns = columns
        places = {"start": columns.start, "end": columns.end, "duration": columns.duration}
        self._units = {kind: None if at is None else time_unit(header[at]) for kind, at in places.items()}

    def read(self, records: Records) -> Times:
        """Return the times of a session; dates and times of day count from the first, what is before it has none.

        Parameters
        ----------
        records : sequence of sequence of str
            The cells of each utterance, in order.
        """
        days = self._cells(records, self._columns.day)
        several = len({day.strip() for day in days} - {""}) > 1
        start = self._column(records, "start", self._columns.start, days if several else ())
        end = self._column(records, "end", self._columns.end, days if several else ())
        nothing: list[Time] = [None] * len(records)
        if start is None:
            return Times(nothing, nothing if end is None else end.starts)
        start, end = self._hours(records, start, end)
        if end is None or end.is_dates != start.is_dates:
            return self._from_first(records, start, self._ends(records, start))
        if self._in_thousandths(records, start, end):
            return Times(_in_seconds(start.starts), _in_seconds(end.starts), told=(_IN_THOUSANDTHS,))
        return self._from_first(records, start, end.starts)

    def _from_first(self, records: Records, start: Column, ends: Sequence[Time]) -> Times:
        first = next((time for time in start.starts if time is not None), None)
        if first is None or not (start.is_dates or start.by_day):
            return Times(start.starts, ends)
        if start.by_day:
            dated = self._column(records, "start", self._columns.start, self._cells(records, self._columns.day))
            began = None if dated is None else dated.began
            return Times(_after(first, start.starts), _after(first, ends), began, (_OF_DAY,))
        n_early = sum(time is not None and time < first for time in (*start.starts, *ends))
        told = (f"{counted(n_early, 'time')} before that of the first row left out.",) if n_early else ()
        return Times(_since(first, start.starts), _since(first, ends), start.began, told)

    def _ends(self, records: Records, start: Column) -> Sequence[Time]:
        """Return the ends of ranges, or starts with their durations."""
        lengths = self._column(records, "duration", self._columns.duration, ())
        if lengths is None or any(time is not None for time in start.ends):
            return start.ends
        both = zip(start.starts, lengths.starts, strict=True)
        return [None if one is None or length is None else one + length for one, length in both]

    def _column(self, records: Records, kind: str, at: int | None, days: Sequence[str]) -> Column | None:
        return None if at is None else read_column(self._cells(records, at), self._units[kind] or 1.0, days)

    def _in_thousandths(self, records: Records, start: Column, end: Column) -> bool:
        """Tell whole numbers without a unit that can be no seconds, as some recognisers write them."""
        if self._units["start"] or self._units["end"] or not (start.whole and end.whole):
            return False
        both = zip(start.starts, end.starts, strict=True)
        spoken = sum(after - before for before, after in both if before is not None and after is not None)
        n_words = sum(len(record[self._columns.text].split()) for record in records)
        return spoken > 0 and n_words < _SLOWEST * spoken

    def _hours(self, records: Records, start: Column, end: Column | None) -> tuple[Column, Column | None]:
        """Take minutes and seconds in which nobody could say the words for hours and minutes of the day."""
        cells = self._cells(records, self._columns.start)
        n_words = [len(record[self._columns.text].split()) for record in records]
        if self._units["start"] or any(cell.count(":") > 1 for cell in cells) or not any(":" in cell for cell in cells):
            return start, end
        if start.is_dates or start.by_day or not are_hours(start.starts, n_words):
            return start, end
        return _by_minutes(start), None if end is None else _by_minutes(end)

    @staticmethod
    def _cells(records: Records, at: int | None) -> Sequence[str]:
        return () if at is None else [record[at] for record in records]


def _by_minutes(column: Column) -> Column:
    starts, ends = ([None if time is None else 60 * time for time in times] for times in (column.starts, column.ends))
    return column._replace(starts=starts, ends=ends, by_day=True)


def _in_seconds(times: Sequence[Time]) -> list[Time]:
    return [None if time is None else round(time * _MILLI, 6) for time in times]


def _since(first: float, times: Sequence[Time]) -> list[Time]:
    return [None if time is None or time < first else round(time - first, 6) for time in times]


def _after(first: float, times: Sequence[Time]) -> list[Time]:
    """Count times of day from the first; those of the small hours may be of the next day."""
    since = [None if time is None else round(time - first, 6) for time in times]
    return [time + 2 * HALF_DAY if time is not None and time < -HALF_DAY else time for time in since]
