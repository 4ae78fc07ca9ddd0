"""What identifies people in a session: by its labels and metadata, by rules, and by the classifier's verdict."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.redact._addresses import addresses
from therapy_analytics.redact._classifier import SessionWords, Verdict
from therapy_analytics.redact._codes import numbered, written
from therapy_analytics.redact._dates import ages, dates
from therapy_analytics.redact._found import PLACEHOLDER, SURE, Found, Sure, protected, settle
from therapy_analytics.redact._names import Known, names, person, spelled
from therapy_analytics.redact._places import addresses_of_homes, places
from therapy_analytics.redact._spoken import alphanumerics
from therapy_analytics.redact._tokens import Passage, Token, plain, straight, texts_before, tokens, without_capitals
from therapy_analytics.redact._vocabulary import CALLINGS, SPOKEN, TITLES, word_set
from therapy_analytics.session import Session

_NEAR = 80
_FEW, _PHRASE = 4, 3
_NO_CODES = {"NAME", "PLACE", "DATE", "AGE_OVER_89"}
_ADDRESSES = {"EMAIL", "URL", "ID", "FILE"}
_ROLES = word_set("speaker spk voice person male female both all group host guest intake a b q")
PEOPLE_KEYS = ("counselor", "client", "therapist", "supervisor", "interviewer", "name", "client_name", "counselor_name")


class Repeats:
    """The codes and addresses of one session, to be found again in all its turns.

    Parameters
    ----------
    found : sequence of (str, str)
        Kinds and words of the findings.
    """

    def __init__(self, found: Sequence[tuple[str, str]]) -> None:
        self._codes: dict[str, str] = {}
        self._phrases: dict[tuple[str, ...], str] = {}
        for kind, words in found:
            if kind not in _NO_CODES:
                self._codes.update({code.signs: kind for code in alphanumerics(words) if len(code.signs) >= _FEW})
            if kind in _ADDRESSES:
                self._phrases[tuple(plain(words).split())] = kind

    def found(self, text: str, words: Sequence[Token]) -> Iterator[Found]:
        """Yield codes and addresses that are repeated in a turn."""
        for code in alphanumerics(text) if self._codes else ():
            kind = next((kind for signs, kind in self._codes.items() if self._is_part(code.signs, signs)), None)
            if kind is not None:
                yield Found(code.start, code.end, kind, "likely", "said_again")
        for phrase, kind in self._phrases.items():
            yield from self._phrase(words, phrase, kind)

    @staticmethod
    def _is_part(signs: str, whole: str) -> bool:
        """Return whether the signs of a code are those of another, or four and more of them, or contain them."""
        return signs == whole or (len(signs) >= _FEW and (signs in whole or whole in signs))

    @staticmethod
    def _phrase(words: Sequence[Token], phrase: Sequence[str], kind: str) -> Iterator[Found]:
        """Yield the longest rows of three words or more that a turn shares with a known address."""
        row, at = [one.word for one in words], 0
        while at < len(row):
            starts = (start for start in range(len(phrase)) if phrase[start] == row[at])
            length = max((_common(row[at:], phrase[start:]) for start in starts), default=0)
            if length >= _PHRASE and any(word not in SPOKEN for word in row[at : at + length]):
                yield Found(words[at].start, words[at + length - 1].end, kind, "likely", "said_again")
            at += max(length, 1)


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    n_same = 0
    while n_same < min(len(one), len(other)) and one[n_same] == other[n_same]:
        n_same += 1
    return n_same


@dataclass(frozen=True, slots=True)
class Learned:
    """What is known of a session: its names, its codes and addresses, and whether it has no capital letters."""

    names: Known
    repeats: Repeats
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


def judged(session: Session) -> tuple[Learned, list[Verdict]]:
    """Return what is known of a session in the end, and what is to be removed from each of its turns.

    The classifier judges what the rules find and finds more; the names among that are then looked for in all turns. It
    was not trained on placeholders: in a copy that has some already, the rules decide alone, as far as they are sure.
    """
    if any(PLACEHOLDER.search(turn.text) for turn in session.turns):
        learned = learn(session)
        sure = ([one for one in found if one.sure != "unsure"] for found in _by_rules(session, learned))
        return learned, [Verdict(tuple(found), ()) for found in sure]
    words = SessionWords(session)
    verdicts = list(words.judge(by_rules(session)))
    learned = _with(session, _of_labels(session), [one.removed for one in verdicts])
    return learned, list(words.judge(_by_rules(session, learned)))


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
    return Learned(names, Repeats([]), without_capitals(session.turns))


def _with(session: Session, learned: Learned, found: Sequence[Sequence[Found]]) -> Learned:
    """Return what is known of a session when findings in its turns are taken into account as well."""
    names = dict(learned.names)
    written_as = [
        (one, turn.text[one.start : one.end]) for turn, some in zip(session.turns, found, strict=True) for one in some
    ]
    for one, words in written_as:
        if one.kind == "NAME":
            _learn(names, [words], one.sure)
    return Learned(names, Repeats([(one.kind, words) for one, words in written_as]), learned.small)


def _by_rules(session: Session, learned: Learned) -> list[list[Found]]:
    return [
        settle(all_found(turn.text, before, learned), protected(turn.text))
        for turn, before in zip(session.turns, texts_before(session.turns), strict=True)
    ]


def mentions(session: Session, verdicts: Sequence[Verdict]) -> Iterator[str]:
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


def all_found(text: str, before: str, learned: Learned) -> list[Found]:
    """Return what all rules find, in the order of precedence."""
    previous = straight(before[-_NEAR:])
    passage, found, found_places = _whatever_the_names(straight(text), previous)
    named = [
        *spelled(passage.written, previous, learned.names),
        *names(passage, learned.names, previous, small=learned.small),
    ]
    firm = [one for one in named if one.sure == "certain"]
    sure_places = [one for one in found_places if one.sure != "unsure"]
    again = learned.repeats.found(passage.written, passage.words)
    return [*found, *sure_places, *firm, *found_places, *named, *again]


def _contains(one: Found, other: Found) -> bool:
    """Return whether one finding contains another and is longer."""
    return one.start <= other.start and other.end <= one.end and one.end - one.start > other.end - other.start


@functools.lru_cache(maxsize=1 << 9)
def _whatever_the_names(text: str, previous: str) -> tuple[Passage, list[Found], list[Found]]:
    """Return the words of a turn, its codes and dates, and its places; cached, as turns are searched repeatedly."""
    passage = Passage(text)
    coded = [*addresses(text), *addresses_of_homes(text), *written(text), *numbered(text, previous)]
    whole = [one for one in coded if not any(_contains(other, one) for other in coded)]
    first = [one for one in whole if one.sure == "certain" and one.kind != "PHONE"]
    return passage, [*first, *dates(text, previous), *ages(text, previous), *whole], list(places(passage))


def label_names(label: str) -> list[Found]:
    """Return the names in a speaker's label: all words but roles, titles and numbers.

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
    return word in _ROLES | TITLES or word.isdigit() or role_of_label(word) is not None
