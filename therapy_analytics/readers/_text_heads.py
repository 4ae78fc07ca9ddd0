"""What a text says about its session: front matter and facts above the turns; and clinical notes, which hold no talk.

Front matter is read by hand, not with a YAML library: one would turn the id ``007`` into a number and ``no`` into
False, and values should stay as they are written. In a clinical note (SOAP, DAP, BIRP, ...) nobody speaks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.readers._columns import find_columns, slug
from therapy_analytics.readers._label_forms import EDGE, Line
from therapy_analytics.readers._labels import ANSWERS
from therapy_analytics.readers._metadata import ALIASES
from therapy_analytics.readers.base import Row, Source
from therapy_analytics.readers.roles import role_of_label

_MOST_LINES = 200
_LONGEST_VALUE = 500
_FIELD = re.compile(r"(?P<key>[^\W\d_][\w .-]{0,59}?)[ \t]*:(?:[ \t]+(?P<value>\S.*)|[ \t]*)$")
_QUOTED = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^']|'')*)'")
_COMMENT = re.compile(r"(?:^|[ \t])#.*$")
_NOTHING = {"", "~", "null", "|", ">", "|-", ">-", "{}", "[]"}
_NAMES = {**ALIASES, "session": "session_id", "id": "session_id"}
_LONGEST_HEAD = 40
_MOST_WORDS = 6
_MOST_IN_NAME = 4
_COLON = r"(?:(?<!\d)[:\uff1a=]|[:\uff1a](?!\d))"  # not the one of a clock
_PAIR = re.compile(
    rf"{EDGE}(?:[-+\u2022][ \t]+)?[*_]*(?P<key>[^\W\d_][^:\uff1a=|\n]{{0,39}}?)[ \t*_]{{0,9}}+"
    rf"{_COLON}[*_ \t]*+(?P<value>.*)$"
)
_ABOUT_WORDS = """
date time session duration length file filename audio video recording recorded transcriber transcribed transcript
location place setting participants attendees speakers language project study title id case visit week site consent
datum sitzung dauer fecha sesi\u00f3n duraci\u00f3n data durata s\u00e9ance dur\u00e9e
"""
_ABOUT = frozenset(_ABOUT_WORDS.split())
_FULL_NAME = re.compile(r"(?:(?:Dr|Mr|Mrs|Ms|Miss|Prof)\b\.?|[^\W\d_]{3,}) [^\W\d_]{3,}")
_KEPT = {"therapist": "counselor", "client": "client"}
_DATE = "date"

Pair = tuple[str, str]


class FrontMatter(NamedTuple):
    """Facts by name, the number of lines of the front matter, and how many of these are not understood."""

    metadata: Mapping[str, str]
    n_lines: int
    n_left_out: int


NONE = FrontMatter({}, 0, 0)


def front_matter(lines: Sequence[str]) -> FrontMatter:
    """Read the front matter of a text from all its lines.

    It is empty where the first line is not ``---``, where no such line follows, or where the lines between are not
    names and values, each name once.

    Examples
    --------
    >>> front_matter(["---", "Therapist: Lee  # on call", "date: '2025-03-04'", "---", "T: Hello."])
    FrontMatter(metadata={'counselor': 'Lee', 'date': '2025-03-04'}, n_lines=4, n_left_out=0)
    >>> front_matter(["---", "T: Hello.", "C: Hi.", "T: So.", "---"]).n_lines
    0
    """
    end = _end(lines)
    metadata: dict[str, str] = {}
    listed, n_left_out, key = dict[str, list[str]](), 0, ""
    for line in lines[1 : max(end, 1)]:
        pair = _FIELD.fullmatch(line.rstrip())
        if pair and _name(pair["key"]) in metadata:
            return NONE
        if pair:
            key = _name(pair["key"])
            metadata[key] = _value(pair["value"] or "")
        elif key and line.lstrip().startswith("- "):
            listed.setdefault(key, []).append(_value(line.lstrip()[2:]))
        elif line.strip() and not line.startswith(("#", " ", "\t")):
            return NONE
        else:
            n_left_out += bool(line.strip()) and not line.startswith("#")
    metadata |= {name: "; ".join(values) for name, values in listed.items()}
    known = {name: value for name, value in metadata.items() if value and len(value) <= _LONGEST_VALUE}
    return FrontMatter(known, end + 1, n_left_out) if metadata else NONE


def _end(lines: Sequence[str]) -> int:
    """Return the position of the closing line, 0 where there is none."""
    if not lines or lines[0].lstrip("\ufeff").rstrip() != "---":
        return 0
    inside = enumerate(lines[1:_MOST_LINES], start=1)
    return next((at for at, line in inside if line.rstrip() in {"---", "..."}), 0)


def _name(key: str) -> str:
    name = re.sub(r"\W+", "_", key.casefold()).strip("_")
    return _NAMES.get(name, name)


def _value(written: str) -> str:
    """Return a value without its quotes or the comment after it; a list in brackets becomes ``a; b``."""
    written = written.strip()
    quoted = _QUOTED.match(written)
    if quoted and not _COMMENT.sub("", written[quoted.end() :]).strip():
        double, single = quoted.groups()
        return re.sub(r"\\(.)", r"\1", double) if double is not None else single.replace("''", "'")
    plain = _COMMENT.sub("", written).strip()
    if plain in _NOTHING:
        return ""
    if plain.startswith("[") and plain.endswith("]"):
        return "; ".join(filter(None, (_value(part) for part in plain[1:-1].split(","))))
    return plain


class Head(NamedTuple):
    """The number of lines of the head, and facts about the session by name."""

    n_lines: int
    facts: Mapping[str, str]


def session_head(lines: Sequence[Line]) -> Head:
    """Find the lines at the top of a text that are about the session, some of which look like turns.

    A paragraph of names and values is such a head where one of its names is no speaker's (date, file, ...), or where
    all values are names or roles. It ends before the first turn.

    Examples
    --------
    >>> top = ["Session: 4", "Therapist: Dr Lee", "", "Therapist: Hello there.", "Client: Hi."]
    >>> session_head([Line(at, text, text) for at, text in enumerate(top, start=1)])
    Head(n_lines=2, facts={'counselor': 'Dr Lee'})
    """
    end, facts = 0, dict[str, str]()
    for begin, block in _blocks(lines[:_LONGEST_HEAD]):
        pairs = [_pair(line.text) for line in block]
        if not any(pairs):
            continue
        n = _n_of_facts(pairs, ends=begin + len(block) < len(lines))
        if not n:
            break
        end = begin + n
        facts |= dict(_facts(pairs[:n]))
        if n < len(block):
            break
    return Head(end, facts)


def _blocks(lines: Sequence[Line]) -> Iterator[tuple[int, list[Line]]]:
    block: list[Line] = []
    for at, line in enumerate(lines):
        if line.raw.strip():
            block.append(line)
        elif block:
            yield at - len(block), block
            block = []
    if block:
        yield len(lines) - len(block), block


def _pair(text: str) -> Pair | None:
    match = _PAIR.match(text)
    return (" ".join(match["key"].split()), match["value"].rstrip(" \t*_")) if match else None


def _n_of_facts(pairs: Sequence[Pair | None], *, ends: bool) -> int:
    """Return the number of lines at the beginning of a paragraph that are facts."""
    first_turn = next((at for at, pair in enumerate(pairs) if pair and not _is_fact(*pair)), len(pairs))
    about = [at for at, pair in enumerate(pairs[:first_turn]) if pair and _is_about(pair[0])]
    people = {at: pair for at, pair in enumerate(pairs[:first_turn]) if pair and at not in about}
    if max(Counter(key.casefold() for key, _ in people.values()).values(), default=0) > 1:
        return 0
    if (
        first_turn < len(pairs) or not ends
    ):  # turns go on in the paragraph: behind the last certain fact may be an answer
        certain = about + [at for at, pair in enumerate(pairs[:first_turn]) if pair and _is_name(*pair)]
        return max(certain) + 1 if about else 0
    # a list of participants; a single word after a single label may be a turn
    is_list = len(people) > 1 or any(_FULL_NAME.match(value) for _, value in people.values())
    are_people = is_list and all(_is_name(*pair) for pair in people.values())
    return max([*about, *people]) + 1 if about or are_people else 0


def _is_fact(key: str, value: str) -> bool:
    words = value.split()
    is_person = role_of_label(key) is not None and 0 < len(words) <= _MOST_WORDS and value[-1] not in ".?!\u2026,"
    return _is_about(key) or is_person


def _is_about(key: str) -> bool:
    return key.casefold().split()[0].rstrip(".#") in _ABOUT


def _is_name(key: str, value: str) -> bool:
    """Tell a name or a role from a short answer."""
    words = re.findall(r"[\w'\u2019-]+", value)
    if not words or len(words) > _MOST_IN_NAME or value[-1] in "?!,\u2026" or role_of_label(key) is None:
        return False
    if len(value) > 1 and role_of_label(value) == role_of_label(key):
        return True  # a legend: what the labels stand for
    named = len(max(words, key=len)) > 2 and all(word[0].isupper() or word[0].isdigit() for word in words)
    return named and ANSWERS.isdisjoint(word.casefold() for word in words) and value[-1] != "."


def _facts(pairs: Sequence[Pair | None]) -> Iterator[Pair]:
    for pair in pairs:
        role = role_of_label(pair[0]) if pair else None
        if pair and role in _KEPT and (role_of_label(pair[1]) is None or len(pair[1].split()) > 1):
            yield _KEPT[str(role)], pair[1]
        elif pair and pair[0].casefold() == _DATE and pair[1]:
            yield _DATE, pair[1]


_HEADING_TEXT = """
subjective; objective; assessment; plan; data; behavior; behaviour; intervention; interventions; response; goal; goals;
presenting problem; presenting concern; presenting issue; chief complaint; mental status; mental status exam;
mental status examination; mse; diagnosis; diagnoses; risk; risk assessment; safety plan; treatment plan; progress;
medication; medications; history; history of present illness; hpi; homework; next session; next appointment;
next steps; session focus; clinical impression; clinical impressions; impression; affect; mood; appearance; follow-up;
follow up; recommendation; recommendations; observations; prognosis; symptoms; treatment goals; progress toward goals;
evaluation; allergies; vitals; examination
"""
_HEADINGS = frozenset(heading.strip() for heading in _HEADING_TEXT.split(";"))
_BEGINS = re.compile(rf"{EDGE}(?:\d{{1,2}}[.)][ \t]+)?(?P<heading>[^\W\d_][\w /-]{{0,39}}?)[ \t*_]*(?::|$)")
_INSIDE = re.compile(r"(?:\A|(?<=[.\n;] )|(?<=\n))([A-Za-z]{3,16}(?:[ -][A-Za-z]{2,16}){0,3})[ \t]*[:\-\u2013]")
_LETTERS = ("soap", "dap", "birp", "girp", "pie")
"""Notes whose headings are letters, in this order."""
_FEWEST = 3
_MOSTLY = 0.8
_SAMPLE = 500


def is_clinical_note(lines: Sequence[Line], rows: Sequence[Row]) -> bool:
    """Tell a note about a session from a transcript.

    Parameters
    ----------
    lines : sequence of Line
        Of the text.
    rows : sequence of Row
        The rows if its labels are taken for speakers.

    Examples
    --------
    >>> text = ["Subjective: Sleeps badly.", "Objective: Tired.", "Plan: A diary."]
    >>> is_clinical_note([Line(1, line, line) for line in text], [])
    True
    """
    written = [match["heading"].casefold() for line in lines if (match := _BEGINS.match(line.text))]
    order = [row.speaker.casefold() for row in rows]
    if _are_letters(written) or _are_letters(order):
        return True
    headings = [heading for heading in written if heading in _HEADINGS]
    roles = [role_of_label(label) for label in order if label not in _HEADINGS]
    n_turns = min(roles.count("therapist"), roles.count("client"))
    return len(set(headings)) >= _FEWEST and (n_turns < 2 or 2 * n_turns < len(headings))


def _are_letters(order: Sequence[str]) -> bool:
    """Tell labels that are the letters of a kind of note, in order, one time or repeatedly."""
    letters = "".join(order) if all(len(label) == 1 for label in order) else ""
    return bool(letters) and any(letters == kind * (len(letters) // len(kind)) for kind in _LETTERS)


def are_clinical_notes(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Tell a table of notes about patients from one of talk, by the names of its columns and the cells of its rows.

    Examples
    --------
    >>> are_clinical_notes(["id", "note"], [["1", "Subjective: poor sleep. Objective: alert. Plan: diary."]])
    True
    >>> are_clinical_notes(["speaker", "text"], [["T", "What is the plan: go or stay?"]])
    False
    """
    columns = list(zip(*rows[:_SAMPLE], strict=True))
    known = find_columns(header, {})
    speaker = known["speaker"]
    if speaker is not None and known["text"] is not None:
        return _name_headings(columns[speaker]) if columns else False
    if any(role_of_label(name) in {"therapist", "client"} for name in header):
        return False
    if len({" ".join(slug(name).split("_")) for name in header} & _HEADINGS) >= _FEWEST:
        return True
    return any(_name_headings(cells) or _hold_headings(cells) for cells in columns)


def _name_headings(cells: Iterable[str]) -> bool:
    """Tell a column of headings from one of speakers."""
    labels = Counter(cell.strip(" :").casefold() for cell in cells if cell.strip())
    known = _HEADINGS & labels.keys()
    return len(known) >= _FEWEST and sum(labels[one] for one in known) >= _MOSTLY * labels.total()


def _hold_headings(cells: Iterable[str]) -> bool:
    """Tell a column whose cells are whole notes."""
    filled = [cell for cell in cells if cell.strip()]
    noted = sum(len({one.casefold() for one in _INSIDE.findall(cell)} & _HEADINGS) > 1 for cell in filled)
    return bool(filled) and noted >= _MOSTLY * len(filled)


def note_error(source: Source) -> UnreadableFileError:
    """Return the error of a file that is a clinical note."""
    return source.error(
        "this is a clinical note about a session (its headings are those of SOAP, DAP or similar notes), and does not "
        "say who said what",
        'Give the transcript itself. If there is talk in it, begin each turn with a label, as in "Therapist:"',
    )
