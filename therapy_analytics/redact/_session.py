"""One session redacted: its words, speech marks, labels and codes, and the list of what was done."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.redact._addresses import addresses
from therapy_analytics.redact._again import Again
from therapy_analytics.redact._codes import numbered, written
from therapy_analytics.redact._dates import ages, dates
from therapy_analytics.redact._found import PLACEHOLDER, SURE, Found, Sure, protected, settle
from therapy_analytics.redact._left import left_in
from therapy_analytics.redact._names import Known, names, spelled
from therapy_analytics.redact._numbers import Numbers
from therapy_analytics.redact._people import person
from therapy_analytics.redact._places import homes, places
from therapy_analytics.redact._reader import Reading, Verdict
from therapy_analytics.redact._tokens import Token, straight, tokens
from therapy_analytics.redact._vocabulary import CALLINGS, TITLES
from therapy_analytics.session import Mark, Session, Turn

_MOST_ROUNDS = 6
_NEAR = 80
_BRACKETS = re.compile(r"^[\[(*]|[\])*]$")
_ROLE_WORDS = re.compile(r"[\W\d_]+")
PEOPLE_KEYS = ("counselor", "client", "therapist", "supervisor", "interviewer", "name", "client_name", "counselor_name")


@dataclass(frozen=True, slots=True)
class Noted:
    """A line of the review list: what was removed, or what was left in and may identify somebody.

    Attributes
    ----------
    turn : int or None
        Index of the turn, from 0; None for what is said of the session as a whole.
    where : {"words", "label", "mark", "code", "about"}
        In which part of the turn or of the session.
    start, end : int
        Characters of that part in the redacted copy.
    kind : str
        One of `KINDS`; of what was left in, ``WORD`` or ``NUMBER``.
    placeholder : str
        What stands there now; empty for what was left in.
    sure : str
        certain, likely or unsure; of what was left in, empty.
    rule : str
        What found it.
    words : str
        What stood there. Left out of ``repr``.
    """

    turn: int | None
    where: str
    start: int
    end: int
    kind: str
    placeholder: str
    sure: str
    rule: str
    words: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Redacted:
    """A session without what identifies people, as far as it was found, and the list for the person who reads it."""

    session: Session
    notes: tuple[Noted, ...]


def redact_session(session: Session) -> Redacted:
    """Remove what identifies people from the turns of a session: an assist, after which a person must read it.

    The session's id, file and metadata are not touched here; `redact` replaces those.

    Parameters
    ----------
    session : Session
        Any.

    Returns
    -------
    Redacted
        The copy, and what was removed and left in.

    Examples
    --------
    >>> from therapy_analytics.session import Turn
    >>> said = "My husband Mark called from 914-555-0123."
    >>> turn = Turn(index=0, speaker="Dana", role="client", text=said, first_row=1)
    >>> copy = redact_session(Session(id="a", source_file="a", turns=(turn,))).session.turns[0]
    >>> copy.speaker, copy.text
    ('[NAME_1]', 'My husband [NAME_2] called from [PHONE_1].')
    """
    learned, verdicts = _judged(session)
    work = _Work(learned, Numbers(session.turns))
    work.numbers.learn_people(_mentions(session, verdicts))
    notes: list[Noted] = []
    turns: list[Turn] = []
    befores = ["", *(turn.text for turn in session.turns[:-1])]
    for turn, before, verdict in zip(session.turns, befores, verdicts, strict=True):
        copy, noted = work.turn(turn, before, verdict)
        turns.append(copy)
        notes += noted
    return Redacted(replace(session, turns=tuple(turns)), tuple(notes))


def redact_text(text: str, session: Session) -> str:
    """Return a text about a session (a problem, a remark) without what identifies people; nothing is numbered."""
    learned = learn(session)
    for one in reversed(settle(_all(text, "", learned), protected(text))):
        keep = f" {one.keep}" if one.keep else ""
        text = f"{text[: one.start]}[{one.kind}]{keep}{text[one.end :]}"
    return text


@dataclass(frozen=True, slots=True)
class Learned:
    """What is known of a session: its names, its codes, addresses and places, and whether it has no capitals at all."""

    names: Known
    again: Again
    small: bool


def learn(session: Session) -> Learned:
    """Return what identifies people in a session by its labels, its metadata, and what rules find in its turns."""
    learned = _of_labels(session)
    for _ in range(2):
        learned = _with(session, learned, _by_rules(session, learned))
    return learned


def by_rules(session: Session) -> list[list[Found]]:
    """Return what rules find in each turn of a session, without overlaps."""
    return _by_rules(session, learn(session))


def _judged(session: Session) -> tuple[Learned, list[Verdict]]:
    """Return what is known of a session in the end, and what is to be removed from each of its turns.

    The model judges what the rules find, and finds more itself; the names among that are then looked for everywhere.
    It never saw placeholders: in a copy that has some already, the rules decide alone.
    """
    if any(PLACEHOLDER.search(turn.text) for turn in session.turns):
        learned = learn(session)
        return learned, [Verdict(tuple(found), ()) for found in _by_rules(session, learned)]
    reading = Reading(session)
    verdicts = list(reading.judge(by_rules(session)))
    learned = _with(session, _of_labels(session), [one.removed for one in verdicts])
    return learned, list(reading.judge(_by_rules(session, learned)))


def _of_labels(session: Session) -> Learned:
    names: dict[str, Sure] = {}
    for turn in session.turns:
        named = {word for one in label_names(turn.speaker) for word in person(turn.speaker[one.start : one.end])}
        rare = {one.word for one in tokens(turn.speaker) if one.common or not one.ordinary}  # "Driver" is a role
        _learn(names, named & rare, "certain")
    _learn(
        names,
        (value for key, value in session.metadata.items() if key in PEOPLE_KEYS and not protected(value)),
        "certain",
    )
    small = not any(sign.isupper() for turn in session.turns for sign in turn.text)
    return Learned(names, Again([]), small)


def _with(session: Session, learned: Learned, found: Sequence[Sequence[Found]]) -> Learned:
    """Return what is known of a session when findings in its turns are taken into account as well."""
    names = dict(learned.names)
    said = [
        (one, turn.text[one.start : one.end]) for turn, some in zip(session.turns, found, strict=True) for one in some
    ]
    for one, words in said:
        if one.kind == "NAME":
            _learn(names, [words], one.sure)
    return Learned(names, Again([(one.kind, words) for one, words in said]), learned.small)


def _by_rules(session: Session, learned: Learned) -> list[list[Found]]:
    befores = ["", *(turn.text for turn in session.turns[:-1])]
    return [
        settle(_all(turn.text, before, learned), protected(turn.text))
        for turn, before in zip(session.turns, befores, strict=True)
    ]


def _mentions(session: Session, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield the names of a session, labels before words."""
    for turn in session.turns:
        yield from (turn.speaker[one.start : one.end] for one in label_names(turn.speaker))
    for turn, verdict in zip(session.turns, verdicts, strict=True):
        yield from (turn.text[one.start : one.end] for one in verdict.removed if one.kind == "NAME")


def _learn(known: dict[str, Sure], written: Iterable[str], sure: Sure) -> None:
    for name in written:
        for word in person(name) - TITLES - CALLINGS:
            if len(word) > 1 and not word[0].isdigit():
                known[word] = min(known.get(word, sure), sure, key=SURE.index)


def _all(text: str, before: str, learned: Learned) -> list[Found]:
    """Return what all rules find, what counts more first."""
    plain, previous = straight(text), straight(before[-_NEAR:])
    words, found, found_places = _whatever_the_names(plain, previous)
    named = [
        *spelled(plain, previous, learned.names),
        *names(plain, words, learned.names, previous, small=learned.small),
    ]
    firm = [one for one in named if one.sure == "certain"]
    sure_places = [one for one in found_places if one.sure != "unsure"]
    return [*found, *sure_places, *firm, *found_places, *named, *learned.again.found(plain, words)]


def _holds(one: Found, other: Found) -> bool:
    """Return whether one finding holds another and more."""
    return one.start <= other.start and other.end <= one.end and one.end - one.start > other.end - other.start


@functools.lru_cache(maxsize=1 << 9)
def _whatever_the_names(plain: str, previous: str) -> tuple[list[Token], list[Found], list[Found]]:
    """Return what is found without knowing the session's names; its turns are asked several times."""
    words = tokens(plain)
    coded = [*addresses(plain), *homes(plain), *written(plain), *numbered(plain, previous)]
    whole = [one for one in coded if not any(_holds(other, one) for other in coded)]
    first = [one for one in whole if one.sure == "certain" and one.kind != "PHONE"]
    found = [*first, *dates(plain, previous), *ages(plain, previous), *whole]
    return words, found, list(places(plain, words))


def label_names(label: str) -> list[Found]:
    """Return what of a speaker's label is a name: all of it but roles, titles and numbers.

    Examples
    --------
    >>> [label_names(label) != [] for label in ("Therapist", "Dana", "Client 2", "SPEAKER_01", "[NAME_1]")]
    [False, True, False, False, False]
    """
    taken = protected(label)
    words = [one for one in tokens(label) if not any(start < one.end and one.start < end for start, end in taken)]
    kept = [one for one in words if not _is_role(one.word)]
    if not kept or (len(label.strip(" .:*")) == 1):
        return []
    rows: list[Found] = []
    for one in kept:
        if rows and re.fullmatch(r"[ .'-]*", label[rows[-1].end : one.start]):
            rows[-1] = Found(rows[-1].start, one.end, "NAME", "certain", "label")
        else:
            rows.append(Found(one.start, one.end, "NAME", "certain", "label"))
    return rows


def _is_role(word: str) -> bool:
    if word in {
        "speaker",
        "spk",
        "voice",
        "person",
        "male",
        "female",
        "both",
        "all",
        "group",
        "host",
        "guest",
        "intake",
        "a",
        "b",
        "q",
    }:
        return True
    return word in TITLES or word.isdigit() or role_of_label(word) is not None


@dataclass(slots=True)
class _Work:
    """What the turns of a session share."""

    learned: Learned
    numbers: Numbers

    def turn(self, turn: Turn, before: str, verdict: Verdict) -> tuple[Turn, list[Noted]]:
        """Return the copy of a turn and what there is to note of it."""

        def find(text: str) -> Sequence[Found]:
            if text == turn.text:
                return verdict.removed
            return [one for one in _all(text, before, self.learned) if one.sure == "certain"]

        label, of_label = self._clean(turn.speaker, label_names)
        text, of_text = self._clean(turn.text, find)
        moved = _mover(of_text)
        look = [replace(one, start=moved(one.start), end=moved(one.end)) for one in verdict.looked_at]
        marks, noted_marks = self._marks(turn.marks, moved, text)
        gold, noted_codes = self._codes(turn)
        notes = [
            *_noted(turn.index, "label", of_label),
            *_noted(turn.index, "words", of_text),
            *(
                Noted(turn.index, "words", *one.span, one.kind, "", "", one.rule, one.words)
                for one in left_in(text, look)
            ),
            *(replace(one, turn=turn.index) for one in (*noted_marks, *noted_codes)),
        ]
        return replace(turn, speaker=label, text=text, marks=marks, gold=gold), notes

    def _clean(self, text: str, find: Callable[[str], Sequence[Found]]) -> tuple[str, list[_Cut]]:
        """Replace what is found, until nothing more is: what stands beside a placeholder may read in another way."""
        cuts: list[_Cut] = []
        for _ in range(_MOST_ROUNDS):
            found = settle(find(text), protected(text))
            if not found:
                break
            text, new = self._replaced(text, found)
            moved = _mover(new)
            cuts = sorted([*(one.moved(moved) for one in cuts), *new], key=lambda one: one.start)
        return text, cuts

    def _replaced(self, text: str, found: Sequence[Found]) -> tuple[str, list[_Cut]]:
        pieces, cuts, end, length = [], [], 0, 0
        for one in found:
            words = text[one.start : one.end]
            placeholder = self.numbers.placeholder(one.kind, words)
            shown = f"{placeholder} {one.keep}" if one.keep else placeholder
            pieces += [text[end : one.start], shown]
            start = length + one.start - end
            length = start + len(shown)
            cuts.append(_Cut(start, start + len(placeholder), one, placeholder, words, one.start, one.end, length))
            end = one.end
        return "".join([*pieces, text[end:]]), cuts

    def _marks(
        self, marks: Sequence[Mark], moved: Callable[[int], int], text: str
    ) -> tuple[tuple[Mark, ...], list[Noted]]:
        """Clean what transcribers wrote in brackets; there a placeholder has none of its own."""
        done, notes = [], []
        for mark in marks:
            at = min(moved(mark.at), len(text))
            written, cuts = self._clean(mark.written, lambda text: _all(_BRACKETS.sub(" ", text), "", self.learned))
            if cuts:
                inner = _BRACKETS.sub("", written).replace("[", "").replace("]", "")
                written = f"{written[0]}{inner}{written[-1]}"
                notes += [
                    Noted(0, "mark", at, at, one.found.kind, one.placeholder, one.found.sure, one.found.rule, one.words)
                    for one in cuts
                ]
            done.append(replace(mark, at=at, written=written))
        return tuple(done), notes

    def _codes(self, turn: Turn) -> tuple[dict[str, str], list[Noted]]:
        """Take the session's names out of codes that people gave and of what their columns are called."""
        given: dict[str, str] = {}
        notes: list[Noted] = []
        for name, value in turn.gold.items():
            cleaned = []
            for part in (name, value):
                new, cuts = self._clean(part, self._known_in_code)
                cleaned.append(new)
                notes += _noted(None, "code", cuts)
            given[cleaned[0]] = cleaned[1]
        return given, notes

    def _known_in_code(self, text: str) -> list[Found]:
        return [
            *(one for one in addresses(text) if one.kind != "ID"),
            *written(text),
            *numbered(text),
            *(
                Found(one.start, one.end, "NAME", "likely", "name_of_session")
                for one in tokens(text)
                if one.word in self.learned.names and not one.ordinary
            ),
        ]


@dataclass(frozen=True, slots=True)
class _Cut:
    """A placeholder in the new text, and where it comes from in the text before."""

    start: int
    end: int
    found: Found
    placeholder: str
    words: str
    old_start: int
    old_end: int
    new_end: int

    def moved(self, moved: Callable[[int], int]) -> _Cut:
        start = moved(self.start)
        return replace(self, start=start, end=start + self.end - self.start, new_end=start + self.new_end - self.start)


def _mover(cuts: Sequence[_Cut]) -> Callable[[int], int]:
    """Return a function from places in the text before to places in the new text."""

    def moved(at: int) -> int:
        shift = 0
        for one in cuts:
            if at < one.old_end:
                return min(at, one.old_start) + shift if at > one.old_start else at + shift
            shift = one.new_end - one.old_end
        return at + shift

    return moved


def _noted(turn: int | None, where: str, cuts: Iterable[_Cut]) -> Iterator[Noted]:
    for one in cuts:
        yield Noted(
            turn, where, one.start, one.end, one.found.kind, one.placeholder, one.found.sure, one.found.rule, one.words
        )
