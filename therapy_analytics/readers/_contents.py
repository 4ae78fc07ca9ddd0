"""What the columns of a table hold: speakers, words, times, roles, codes that people gave, facts about the session.

Names tell first (``_columns``); here is what the cells tell where no name does.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise

from therapy_analytics.core.identity import LONGEST_FACT, is_sentence, names_person
from therapy_analytics.readers._columns import REMARKS, Places, Record, names_remarks, slug
from therapy_analytics.readers._times import seconds, span
from therapy_analytics.readers.roles import role_of_label

GOLD = "gold_"
"""How the names of columns begin in which this package writes the codes that people gave."""
_LONGEST_CODE, _MOST_CODES, _MOST_RATINGS = 60, 100, 12
_NO_CODE_NAMES = f"""
id ids idx index number no nr num n row turn line time timestamp date start end begin stop duration offset order
position url path file filename name gender sex age language lang text words word count length seed hash
transcript transcription verbatim {REMARKS}
"""
_NO_CODES = frozenset(_NO_CODE_NAMES.split())
_CODE_NAMES = """
code codes label labels tag tags act acts behaviour behavior subtype talk gold gt strategy category annotation misc miti
reflection question emotion intent domain rating score
"""
_CODES = frozenset(_CODE_NAMES.split())
_NO_SPEAKER_NAMES = """
section category topic theme condition diagnosis disorder drug medication class status site region country city group
arm product department source split platform title language problem month weekday season scene sentiment
"""
_NO_SPEAKERS = frozenset(_NO_SPEAKER_NAMES.split()) | _CODES | _NO_CODES
_ROLES = ("role", "speaker_role", "speaker_type", "participant_role", "type")
_NAMES = ("speaker_name", "name", "speaker", "participant_name", "author", "username", "person", "speaker_id")
_PEOPLE = (
    "client_id", "patient_id", "case_id", "dyad_id", "dyad", "pair_id", "couple_id", "family_id", "client", "patient",
    "participant_id", "case", "therapist_id", "counselor_id", "client_name", "patient_name",
)  # fmt: skip
_SAMPLE = 500
"""Rows that are looked at to tell who speaks and what."""
_LONGER = 4
"""A word of so many letters that names a role; one of fewer may name a kind: A, B, C."""
_FEWEST_SPEAKERS, _MOST_SPEAKERS = 2, 12
_LEAST_MORE, _LEAST_Z = 0.1, 1.5
_LONGEST_NAME = 4
_WORDS_A_ROW = 2
_MOSTLY = 0.8
_ENDS_SENTENCE = (".", "?", "!", "\u2026", "\u3002", "\uff1f")


# ---- speakers and words


def speaker_and_text(header: Sequence[str], rows: Sequence[Sequence[str]], known: Places) -> tuple[int, int] | None:
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
    if text is None or speaker is not None:
        return None if text is None or speaker is None else (speaker, text)
    alone = len(columns) == 2 and not any(header)
    others = [at for at in range(len(columns)) if at not in {*taken, text}]
    likely = {at: _likelihood_of_speakers(header[at], columns[at], alone=alone) for at in others}
    best = max(likely.values(), default=0)
    surest = [at for at in others if likely[at] == best > 0]
    return (surest[0], text) if len(surest) == 1 else None


def _holds_speech(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell.strip()]
    n_words = sum(len(cell.split()) for cell in filled)
    are_sentences = 2 * sum(cell.rstrip().endswith(_ENDS_SENTENCE) for cell in filled) > len(filled)
    is_long = n_words > _WORDS_A_ROW * len(filled) or are_sentences
    return is_long and 2 * len(filled) > len(cells) and 2 * len(set(filled)) > len(filled)


def _likelihood_of_speakers(name: str, cells: Sequence[str], *, alone: bool) -> int:
    """Return 3 for a column of roles, 2 for names in capitals, 1 for other names that take turns, else 0.

    Names of speakers are few, come again, and change from row to row more often than they would in a random order, as
    topics do not. A column that stands alone beside the words, without a header, needs capitals instead.
    """
    labels = [cell.strip() for cell in cells if cell.strip()]
    counts = Counter(labels)
    n_again = sum(n > 1 for n in counts.values())
    if not n_again or 2 * len(labels) <= len(cells) or len(counts) > _MOST_SPEAKERS:
        return 0
    if not all(map(_may_be_name, counts)):
        return 0
    main = {cell: role for cell in counts if (role := role_of_label(cell)) in {"therapist", "client"}}
    if len(set(main.values())) > 1 or any(len(cell) >= _LONGER for cell in main):
        return 3
    in_capitals = all(not cell[:1].islower() for cell in counts)
    if n_again < _FEWEST_SPEAKERS or 2 * len(counts) > max(2 * _FEWEST_SPEAKERS, len(labels)):
        return 0
    if set(slug(name).split("_")) & _NO_SPEAKERS or not ((alone and in_capitals) or _take_turns(labels, counts)):
        return 0
    return 1 + in_capitals


def _take_turns(labels: Sequence[str], counts: Counter[str]) -> bool:
    """Tell turns from a random order by the share of rows whose name is not that of the row before (one-sided test)."""
    at_random = 1 - sum((n / len(labels)) ** 2 for n in counts.values())
    changes = sum(one != two for one, two in pairwise(labels)) / (len(labels) - 1)
    spread = math.sqrt(at_random * (1 - at_random) / (len(labels) - 1))
    return changes - at_random > max(_LEAST_MORE, _LEAST_Z * spread)


def _may_be_name(cell: str) -> bool:
    return (
        len(cell.split()) <= _LONGEST_NAME
        and len(cell) <= LONGEST_FACT
        and any(map(str.isalpha, cell))
        and ":" not in cell[:-1]
        and not is_sentence(cell)
        and not cell.endswith(_ENDS_SENTENCE[1:])
    )


def names_without_header(rows: Sequence[Sequence[str]], known: Places) -> list[str]:
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
    first, (speaker, text) = rows[0], found
    others = {row[speaker].strip() for row in rows[1:]}
    if first[speaker].strip() not in others and not first[text].strip().endswith(_ENDS_SENTENCE):
        return []
    timed = columns_of_times(first, rows, found)
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


# ---- times


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


# ---- roles and people


def may_hold_roles(header: Sequence[str], speaker: int) -> list[int]:
    """Return the columns that may say roles beside the speakers' names, the likeliest first."""
    return _places(header, _ROLES, besides=speaker)


def _places(header: Sequence[str], names: Iterable[str], besides: int) -> list[int]:
    slugs = [slug(name) for name in header]
    return [slugs.index(name) for name in names if name in slugs and slugs.index(name) != besides]


def are_roles(labels: Collection[str]) -> bool:
    """Tell whether all labels of a column, if there are any, say therapist or client in words we know."""
    filled = set(labels) - {""}
    return bool(filled) and all(map(role_of_label, filled))


def names_beside_roles(
    header: Sequence[str], records: Sequence[Record], speaker: int, session: int | None
) -> int | None:
    """Return the column of names beside that of roles, where several people of one role speak in a session."""
    if slug(header[speaker]) not in _ROLES or not all(role_of_label(record[speaker]) for _, record in records):
        return None
    for at in _places(header, _NAMES, besides=speaker):
        pairs: dict[str, set[tuple[str, str]]] = {}
        for _, record in records:
            pair = record[at].strip().casefold(), record[speaker].strip().casefold()
            pairs.setdefault("" if session is None else record[session].strip(), set()).add(pair)
        people = [({name for name, _ in some}, {role for _, role in some}, some) for some in pairs.values()]
        one_role_each = all(len(names) == len(some) for names, _, some in people)
        several = any(len(names) > len(roles) for names, roles, _ in people)
        are_names = all("" not in names and len(names) <= _MOST_SPEAKERS for names, *_ in people)
        if one_role_each and several and are_names:
            return at
    return None


def partner_of(header: Sequence[str], records: Sequence[Record], session: int) -> int | None:
    """Return the column that a session's number needs beside it: session 1 of one client is not that of another.

    It is a column of people that differs within a number, while all rows of one person and
    number stand together, as they would not if it said who speaks.
    """
    people = people_columns(header, session)
    if not people or not all(map(is_small_number, {record[session] for _, record in records})):
        return None
    for at in people:
        pairs = [(record[session], record[at]) for _, record in records]
        n_blocks = 1 + sum(one != two for one, two in pairwise(pairs))
        if len(set(pairs)) == n_blocks > len({number for number, _ in pairs}):
            return at
    return None


def people_columns(header: Sequence[str], session: int) -> list[int]:
    """Return the columns beside that of sessions that say who was there."""
    return _places(header, _PEOPLE, besides=session)


def is_small_number(name: str) -> bool:
    """Tell the number of a session from a name that is no other's."""
    return re.fullmatch(r"(?:\w*\D)?\d{1,3}", name.strip()) is not None


# ---- codes and facts


def constant_columns(
    header: Sequence[str], sessions: Collection[Sequence[Record]], used: frozenset[int | None]
) -> dict[str, int]:
    """Return the columns that say one thing of each session as a whole, such as a topic, by their plain names."""
    if all(len(rows) < 2 for rows in sessions):
        return {}
    return {
        slug(name): at
        for at, name in enumerate(header)
        if at not in used
        and may_name_fact(name)
        and all(record[at] == rows[0][1][at] for rows in sessions for _, record in rows)
    }


def may_name_fact(name: str) -> bool:
    """Tell whether a column may be about the session: it has a name, and not that of codes."""
    return bool(slug(name)) and not name.startswith(GOLD)


def code_columns(
    header: Sequence[str], records: Sequence[Record], used: frozenset[int | None], about: Mapping[str, int]
) -> list[tuple[str, int]]:
    """Return the columns of codes that people gave: few short values that change within a session."""
    left = [at for at in range(len(header)) if at not in used and at not in about.values()]
    return named_codes(header, (at for at in left if holds_codes(header[at], (record[at] for _, record in records))))


def named_codes(header: Sequence[str], places: Iterable[int]) -> list[tuple[str, int]]:
    """Return columns of codes with names of which none comes twice."""
    found: dict[str, int] = {}
    for at in places:
        name = header[at].strip().removeprefix(GOLD)
        found[name if name not in found else f"{name} ({at + 1})"] = at
    return list(found.items())


def holds_codes(name: str, values: Iterable[str] | Counter[str]) -> bool:
    """Tell a column of codes from one of numbers, times, names or words.

    Parameters
    ----------
    name : str
        Of the column; one that begins with ``gold_`` holds codes.
    values : iterable of str, or Counter
        Its cells, or how often each comes, in the order in which they come first.

    Examples
    --------
    >>> holds_codes("Dialog_Act", ["gc", "irq", "gc", ""]), holds_codes("vol_idx", ["0", "1", "2", "3"])
    (True, False)
    """
    if name.startswith(GOLD) or not name.strip():
        return name.startswith(GOLD)
    parts = set(slug(name).split("_"))
    if parts & _NO_CODES:
        return False
    counts = values if isinstance(values, Counter) else Counter(map(str.strip, values))
    distinct = [value for value in counts if value]
    if not distinct or not may_be_codes(distinct) or (len(distinct) > 2 and _are_numbers_or_times(counts)):
        return False
    if names_person(name, distinct):
        return False
    if 2 * sum(map(is_sentence, distinct)) > len(distinct):
        return False
    return bool(parts & _CODES) or 2 * len(distinct) <= counts.total()


def may_be_codes(distinct: Collection[str]) -> bool:
    """Tell whether different values are few and short; further ones never make them so."""
    return len(distinct) <= _MOST_CODES and max(map(len, distinct), default=0) <= _LONGEST_CODE


def _are_numbers_or_times(counts: Counter[str]) -> bool:
    """Tell measurements and running numbers from the few numbers of a rating scale."""
    times = [seconds(value) for value in counts if value]
    if None in times:
        return False
    if len(times) > _MOST_RATINGS or any(":" in value for value in counts):
        return True
    each_once = all(n == 1 for value, n in counts.items() if value)
    return each_once and all((one or 0.0) < (two or 0.0) for one, two in pairwise(times))
