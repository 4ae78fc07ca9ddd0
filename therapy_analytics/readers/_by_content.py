"""Which columns say who speaks and what, where no name of a column says it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from therapy_analytics.readers._columns import LONGEST_FACT, is_sentence, names_remarks, slug
from therapy_analytics.readers._long import CODE_WORDS, NOT_CODES
from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.readers._times import span

_NOT_SPEAKER_WORDS = """
section category topic theme condition diagnosis disorder drug medication class status site region country city group
arm product department source split platform title language problem month weekday season scene sentiment
"""
_NOT_SPEAKERS = frozenset(_NOT_SPEAKER_WORDS.split()) | CODE_WORDS | NOT_CODES
_SAMPLE = 500
_LONGER = 4
"""A word of so many letters that names a role, where one of fewer may name a kind: A, B, C."""
_FEWEST_SPEAKERS, _MOST_SPEAKERS = 2, 12
_LEAST_MORE, _LEAST_Z = 0.1, 1.5
_LONGEST_NAME = 4
_WORDS_A_ROW = 2
_MOSTLY = 0.8
_PAIR = 2
ENDS_SENTENCE = (".", "?", "!", "\u2026", "\u3002", "\uff1f")


def speaker_and_text(
    header: Sequence[str], rows: Sequence[Sequence[str]], known: Mapping[str, int | None]
) -> tuple[int, int] | None:
    """Return the columns of speakers and of words by what they hold.

    Parameters
    ----------
    header : sequence of str
        Names of the columns, which may be empty.
    rows : sequence of sequence of str
        Cells, as many in each row.
    known : mapping of str to int or None
        The columns of known names; these are left as they are.

    Returns
    -------
    (int, int) or None
        The words are in the column with the most of them that is not called comment or the like. The speakers are in
        the one column of few short values that come again and take turns; where several could be it, that with roles,
        then that with names in capitals. None where there is no such column, or more than one.

    Examples
    --------
    >>> rows = [["1", "Ann", "How was it?"], ["2", "Bo", "It went."], ["3", "Ann", "Well?"], ["4", "Bo", "Slowly so."]]
    >>> speaker_and_text(["", "", ""], rows, {"text": None, "speaker": None})
    (1, 2)
    """
    columns = list(zip(*rows[:_SAMPLE], strict=True))
    taken = {at for at in known.values() if at is not None}
    text, speaker = known.get("text"), known.get("speaker")
    if text is None:
        n_words = [sum(len(cell.split()) for cell in cells) for cells in columns]
        spoken = [at for at in range(len(columns)) if at not in taken and _holds_speech(columns[at])]
        text = max(spoken, key=lambda at: (not names_remarks(header[at]), n_words[at]), default=None)
        if text is None:
            return None
    if speaker is None:
        alone = len(columns) == _PAIR and not any(header)
        ranks = {
            at: _rank(header[at], cells, alone=alone) for at, cells in enumerate(columns) if at not in {*taken, text}
        }
        best = max(ranks.values(), default=0)
        surest = [at for at, rank in ranks.items() if rank == best > 0]
        if len(surest) != 1:
            return None
        speaker = surest[0]
    return speaker, text


def _holds_speech(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell.strip()]
    n_words = sum(len(cell.split()) for cell in filled)
    are_sentences = 2 * sum(cell.rstrip().endswith(ENDS_SENTENCE) for cell in filled) > len(filled)
    is_long = n_words > _WORDS_A_ROW * len(filled) or are_sentences
    return is_long and 2 * len(filled) > len(cells) and 2 * len(set(filled)) > len(filled)


def _rank(name: str, cells: Sequence[str], *, alone: bool) -> int:
    """Return how likely a column holds speakers: 3 roles, 2 names in capitals, 1 other names that take turns, 0 none.

    Few names come again, and change from row to row more often than they would in any order: topics do not. A column
    that stands alone beside the words, without a header, needs capitals instead.
    """
    said = [cell.strip() for cell in cells if cell.strip()]
    counts = Counter(said)
    n_again = sum(n > 1 for n in counts.values())
    if not n_again or 2 * len(said) <= len(cells) or len(counts) > _MOST_SPEAKERS or not all(map(_may_be_name, counts)):
        return 0
    main = {cell: role for cell in counts if (role := role_of_label(cell)) in {"therapist", "client"}}
    if len(set(main.values())) > 1 or any(len(cell) >= _LONGER for cell in main):
        return 3
    in_capitals = all(not cell[:1].islower() for cell in counts)
    if n_again < _FEWEST_SPEAKERS or 2 * len(counts) > max(2 * _FEWEST_SPEAKERS, len(said)):
        return 0
    if set(slug(name).split("_")) & _NOT_SPEAKERS or not ((alone and in_capitals) or _takes_turns(said, counts)):
        return 0
    return 1 + in_capitals


def _takes_turns(said: Sequence[str], counts: Counter[str]) -> bool:
    """Tell turns from a random order: one-sided, by the share of rows whose name is not that of the row before."""
    at_random = 1 - sum((n / len(said)) ** 2 for n in counts.values())
    changes = sum(one != two for one, two in pairwise(said)) / (len(said) - 1)
    spread = math.sqrt(at_random * (1 - at_random) / (len(said) - 1))
    return changes - at_random > max(_LEAST_MORE, _LEAST_Z * spread)


def _may_be_name(cell: str) -> bool:
    words = cell.split()
    return (
        len(words) <= _LONGEST_NAME
        and len(cell) <= LONGEST_FACT
        and any(map(str.isalpha, cell))
        and ":" not in cell[:-1]
        and not is_sentence(cell)
        and not cell.endswith(ENDS_SENTENCE[1:])
    )


def names_without_header(rows: Sequence[Sequence[str]], known: Mapping[str, int | None]) -> list[str]:
    """Return names for the columns of a table that begins with its first turn; empty where it has a header.

    It has none where the first row names a speaker who comes again, or holds a sentence where others do. Columns that
    the user gives are taken as they are.
    """
    if len(rows) < 2 or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        return []
    unnamed = [""] * len(rows[0])
    found = speaker_and_text(unnamed, rows, known) or speaker_and_text(unnamed, rows[1:], known) or _two_roles(rows)
    if found is None:
        return []
    speaker, text = found
    first = rows[0]
    others = {row[speaker].strip() for row in rows[1:]}
    timed = columns_of_times(first, rows, found)
    if first[speaker].strip() not in others and not first[text].strip().endswith(ENDS_SENTENCE):
        return []
    names = {speaker: "speaker", text: "text", **dict(zip(timed, ("start", "end"), strict=False))}
    return [names.get(at, "") for at in range(len(first))]


def _two_roles(rows: Sequence[Sequence[str]]) -> tuple[int, int] | None:
    """Return the columns of a short table in which two roles speak in words that we know."""
    columns = list(zip(*rows, strict=True))
    speakers = [at for at, cells in enumerate(columns) if all(map(role_of_label, cells)) and len(set(cells)) > 1]
    text = max(range(len(columns)), key=lambda at: sum(map(len, columns[at])))
    if len(speakers) != 1 or text in speakers or len(rows[0][text].split()) < 2:
        return None
    return speakers[0], text


def columns_of_times(header: Sequence[str], rows: Sequence[Sequence[str]], taken: Collection[int | None]) -> list[int]:
    """Return the columns that hold clock readings which mostly rise, of those that nothing else takes."""
    columns = enumerate(zip(*rows[:_SAMPLE], strict=True))
    return [at for at, cells in columns if at not in taken and at < len(header) and _holds_clocks(cells)]


def _holds_clocks(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell.strip()]
    if 2 * len(filled) <= len(cells) or not all(":" in cell for cell in filled):
        return False
    times = [mark.at for cell in filled if (mark := span(cell).start) is not None]
    rises = sum(one <= two for one, two in pairwise(times))
    return len(times) >= _MOSTLY * len(filled) and 2 * rises >= len(times) - 1
