"""One session redacted: its words, speech marks, labels and codes, and the list of what was done."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from therapy_analytics.redact._addresses import addresses
from therapy_analytics.redact._codes import numbered, written
from therapy_analytics.redact._found import PLACEHOLDER, Found, protected, settle
from therapy_analytics.redact._known import Learned, all_found, judged, label_names, learn, mentions
from therapy_analytics.redact._left import left_in
from therapy_analytics.redact._names import Person, person
from therapy_analytics.redact._reader import Verdict
from therapy_analytics.redact._spoken import runs
from therapy_analytics.redact._tokens import plain, texts_before, tokens
from therapy_analytics.session import Session, SpeechMark, Turn

_MOST_ROUNDS = 6
_FEWEST_DIGITS = 4
_BRACKETS = re.compile(r"^[\[(*]|[\])*]$")


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
    learned, verdicts = judged(session)
    work = _Work(learned, _Numbers(session.turns, mentions(session, verdicts)))
    notes: list[Noted] = []
    turns: list[Turn] = []
    for turn, before, verdict in zip(session.turns, texts_before(session.turns), verdicts, strict=True):
        copy, noted = work.turn(turn, before, verdict)
        turns.append(copy)
        notes += noted
    return Redacted(replace(session, turns=tuple(turns)), tuple(notes))


def redact_text(text: str, session: Session) -> str:
    """Return a text about a session (a problem, a remark) without what identifies people; nothing is numbered."""
    learned = learn(session)
    for one in reversed(settle(all_found(text, "", learned), protected(text))):
        keep = f" {one.keep}" if one.keep else ""
        text = f"{text[: one.start]}[{one.kind}]{keep}{text[one.end :]}"
    return text


@dataclass(slots=True)
class _Work:
    """What the turns of a session share."""

    learned: Learned
    numbers: _Numbers

    def turn(self, turn: Turn, before: str, verdict: Verdict) -> tuple[Turn, list[Noted]]:
        """Return the copy of a turn and what there is to note of it."""

        def find(text: str) -> Sequence[Found]:
            if text == turn.text:
                return verdict.removed
            return [one for one in all_found(text, before, self.learned) if one.sure == "certain"]

        label, of_label = self._clean(turn.speaker, label_names)
        text, of_text = self._clean(turn.text, find)
        moved = _mover(of_text)
        look = [replace(one, start=moved(one.start), end=moved(one.end)) for one in verdict.looked_at]
        marks, noted_marks = self._marks(turn, moved, text)
        gold, noted_codes = self._codes(turn)
        notes = [
            *_noted(turn.index, "label", of_label),
            *_noted(turn.index, "words", of_text),
            *(
                Noted(turn.index, "words", one.start, one.end, one.kind, "", "", one.rule, text[one.start : one.end])
                for one in left_in(text, look)
            ),
            *noted_marks,
            *noted_codes,
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
            cuts.append(_Cut(start, start + len(placeholder), length, one, placeholder, words))
            end = one.end
        return "".join([*pieces, text[end:]]), cuts

    def _marks(self, turn: Turn, moved: Callable[[int], int], text: str) -> tuple[tuple[SpeechMark, ...], list[Noted]]:
        """Clean what transcribers wrote in brackets; there a placeholder has none of its own."""
        done, notes = [], []
        for mark in turn.marks:
            at = min(moved(mark.at), len(text))
            written, cuts = self._clean(
                mark.written, lambda text: all_found(_BRACKETS.sub(" ", text), "", self.learned)
            )
            if cuts:
                inner = _BRACKETS.sub("", written).replace("[", "").replace("]", "")
                written = f"{written[0]}{inner}{written[-1]}"
                notes += [replace(one, start=at, end=at) for one in _noted(turn.index, "mark", cuts)]
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
                notes += _noted(turn.index, "code", cuts)
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
    """A placeholder in the new text and what it stands for in the old one; `new_end` is behind a year that stays."""

    start: int
    end: int
    new_end: int
    found: Found
    placeholder: str
    words: str

    def moved(self, moved: Callable[[int], int]) -> _Cut:
        shift = moved(self.start) - self.start
        return replace(self, start=self.start + shift, end=self.end + shift, new_end=self.new_end + shift)


def _mover(cuts: Sequence[_Cut]) -> Callable[[int], int]:
    """Return a function from places in the text before to places in the new text."""

    def moved(at: int) -> int:
        shift = 0
        for one in cuts:
            if at < one.found.end:
                return min(at, one.found.start) + shift
            shift = one.new_end - one.found.end
        return at + shift

    return moved


def _noted(turn: int, where: str, cuts: Iterable[_Cut]) -> Iterator[Noted]:
    for one in cuts:
        found = one.found
        yield Noted(turn, where, one.start, one.end, found.kind, one.placeholder, found.sure, found.rule, one.words)


class _Numbers:
    """Numbers of the people and things of one session, in the order in which they come up.

    Parameters
    ----------
    turns : sequence of Turn
        Placeholders that stand in them already keep their numbers; new ones go on behind.
    names : iterable of str
        All names of the session, by which a mention is known to mean the same person as another.
    """

    def __init__(self, turns: Sequence[Turn], names: Iterable[str]) -> None:
        self._last: dict[str, int] = {}
        self._given: dict[tuple[str, object], str] = {}
        self._people = people(person(name) for name in names)
        texts = (text for turn in turns for text in (turn.speaker, turn.text, *(mark.written for mark in turn.marks)))
        for match in (match for text in texts for match in PLACEHOLDER.finditer(text) if match["kind"]):
            self._last[match["kind"]] = max(self._last.get(match["kind"], 0), int(match["number"]))

    def placeholder(self, kind: str, words: str) -> str:
        """Return what stands in place of some words: ``[NAME_1]``; ages share one."""
        if kind == "AGE_OVER_89":
            return f"[{kind}]"
        key = (kind, self._identity(kind, words))
        if key not in self._given:
            self._last[kind] = self._last.get(kind, 0) + 1
            self._given[key] = f"[{kind}_{self._last[kind]}]"
        return self._given[key]

    def _identity(self, kind: str, words: str) -> object:
        if kind == "NAME":
            who = person(words)
            return self._people.get(who, who)
        digits = "".join(run.digits for run in runs(words))
        return digits if len(digits) >= _FEWEST_DIGITS else re.sub(r"\W+", " ", plain(words)).strip()


def people(mentions: Iterable[Person]) -> dict[Person, Person]:
    """Say whom each mention means: the one person with a longer name that holds it, else itself.

    A name that two people share ("Reyes", of Dana Reyes and Carlos Reyes) is nobody's: it stays by itself.

    Examples
    --------
    >>> dana, short = frozenset({"dana", "reyes"}), frozenset({"dana"})
    >>> people([short, dana])[short] == dana
    True
    """
    different = list(dict.fromkeys(mentions))
    return {one: _whole(one, different) for one in different}


def _whole(one: Person, others: Sequence[Person]) -> Person:
    longer = [other for other in others if one < other]
    longest = [other for other in longer if not any(other < another for another in longer)]
    return longest[0] if len(longest) == 1 else one
