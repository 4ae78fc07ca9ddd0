"""Feelings in the words of a session: which family, how strong, denied or supposed, and whose.

Each mention is read once, for both roles; whose feeling it is follows from the nearest person named before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan

import numpy as np

from therapy_analytics.language import AnnotatedSession
from therapy_analytics.language.word_sequence import Ints, Marks, WordSequence
from therapy_analytics.measures.process._clauses import Bools, Clauses, Floats, clauses
from therapy_analytics.measures.process._feeling_words import (
    DEGREES,
    IGNORED,
    Entry,
    Words,
    families,
    idioms,
    names_a_feeling,
    of_word,
)
from therapy_analytics.session import THERAPIST

_STEP = 0.5
"""What a word that makes a feeling stronger or weaker adds or takes."""
_PERSON_REACH = 10
"""Words back to the person whose feeling it is; unpunctuated turns are one sentence."""
_SELF, _YOU, _THIRD, _IT = 1, 2, 3, 4
_I = frozenset({"i", "me", "my", "myself", "we", "us", "our"})
_ME, _YOU_ALONE = frozenset({"me"}), frozenset({"you"})
_YOUS = frozenset({"you", "your", "yourself", "yours", "u"})
_THIRDS = frozenset({"he", "she", "they", "people", "somebody", "someone", "everybody", "everyone"})
_THIRD_OBJECTS = frozenset({"his", "her", "their", "him", "them"})
_ITS = frozenset({"it", "that", "this", "there", "those", "these", "things", "situation"})
_IS = frozenset({
    "is", "'s", "was", "are", "were", "gets", "got", "feels", "felt", "seems", "seemed", "must", "had", "has", "became",
    "sounds", "looked", "looks", "being", "be", "been", "made", "makes", "make", "sound", "seem", "feel", "become",
    "can",
})  # fmt: skip
_PERCEIVES = frozenset({
    "hear", "hearing", "heard", "see", "sense", "sensing", "notice", "noticing", "imagine", "guess", "wonder",
    "wondering", "think", "understand", "can", "could", "am", "get",
})  # fmt: skip
_ASIDE = frozenset({"know", "see"})
_MEANING_IT = frozenset({"mean"})
_IF, _NO_IF = frozenset({"if", "unless", "suppose"}), frozenset({"as", "wonder", "wondering", "see", "even", "like"})
_WERE = frozenset({"were", "would", "'d"})
_WOULD = frozenset({"would", "'d"})
_NO_WOULD = frozenset({"imagine", "guess", "think", "say", "assume", "expect", "been", "had", "better"})
_WILL = frozenset({"will", "'ll"})
_CAN = frozenset({"can", "could"})
_NO_CAN = frozenset({"see", "hear", "imagine", "understand", "tell", "sense", "feel", "not"})
_WANTS = frozenset({
    "want", "wants", "wanted", "wish", "like", "hope", "hoping", "try", "trying", "need", "needed", "order", "how",
    "deserve", "helps", "help",
})  # fmt: skip
_TO = frozenset({"to"})
_BE = frozenset({"be", "feel", "get", "become", "stay"})
_AUXILIARIES = frozenset({
    "are", "were", "do", "did", "does", "is", "was", "have", "has", "would", "could", "can", "will",
})  # fmt: skip
_SUBJECTS = frozenset({"you", "that", "it", "this", "there", "your"})
_ASKS_WHAT = frozenset({"what", "how", "why", "when", "where", "which", "who"})
_NOT_DENIED = frozenset({"only", "just", "help", "stop", "know", "sure", "understand", "remember"})
_SO = frozenset({"so", "this", "that", "as"})
_HAPPY_TO_SAY = frozenset({"glad", "pleased", "delighted", "grateful", "happy", "thankful", "hope", "love", "proud"})
_SHORT, _POLITE = 6, 2
"""Words of a sentence that may be a reflection without a person; words before a feeling that is only polite."""
_FEEL = frozenset({"feel", "feeling", "feels", "felt", "sounds", "sound", "seems", "seem", "sounding", "must"})


@dataclass(frozen=True, slots=True, eq=False)
class Mentions:
    """Feelings in a session's words, in the order of the words; a word of two families is two mentions.

    Attributes
    ----------
    at, end : int64 array (n,)
        The word at which each begins, and the word after it.
    turn : int64 array (n,)
        Its turn.
    family : int64 array (n,)
        Its family: a denied pleasant feeling is of the family that this expresses.
    degree : float64 array (n,)
        0.5 to 3.5; nan for signs.
    client : bool array (n,)
        The client says it of themselves, as it is.
    named : bool array (n,)
        The therapist says it of the client, as it is.
    word : tuple of str (n,)
        The word; empty for idioms.
    """

    at: Ints
    end: Ints
    turn: Ints
    family: Ints
    degree: Floats
    client: Bools
    named: Bools
    word: tuple[str, ...] = field(repr=False, default=())


def stated(session: AnnotatedSession) -> Marks:
    """Return which words of `fluent_words` are neither denied nor supposed nor said of another, bool (n_words,)."""
    return session.cached(_stated)


def _stated(session: AnnotatedSession) -> Marks:
    denied, unreal, whose = session.cached(_readings)
    return np.asarray(~denied & ~unreal & (whose != _THIRD))


def _readings(session: AnnotatedSession) -> tuple[Marks, Marks, Ints]:
    """Return which words are denied, which supposed, wished or to come, and whose a feeling would be at each."""
    row = clauses(session)
    therapist = session.turns.roles[row.words.turn_of] == THERAPIST
    return _denied(row), _unreal(row, therapist), _whose(row, therapist)


def mentions(session: AnnotatedSession) -> Mentions:
    """Return the feelings that are mentioned in a session, found once."""
    return session.cached(_mentions)


def _mentions(session: AnnotatedSession) -> Mentions:
    row = clauses(session)
    words = row.words
    found = _found(words)
    at, length, family = (np.array([one[i] for one in found], dtype=np.int64) for i in range(3))
    degree = np.array([one[3] for one in found], dtype=np.float64)
    therapist = session.turns.roles[words.turn_of] == THERAPIST
    all_denied, all_unreal, before = session.cached(_readings)
    sign, denied, unreal = degree == 0, all_denied[at], all_unreal[at]
    whose = _whose_is(row, before[at], at + length - 1)
    family = np.where(denied, families().denied[family], family)
    real = (family >= 0) & ~(sign & denied) & ~unreal
    client = session.spoken_by("client")[words.turn_of[at]] & real & (whose != _THIRD)
    named = therapist[at] & real & _is_named(row, at, whose) & ~_asked(row)[at] & ~sign
    step = _STEP * (row.before("stronger", 3).astype(np.float64) - row.before("weaker", 4))[at]
    size = np.where(sign, nan, np.where(denied, DEGREES["weak"], degree + step))
    kept = np.flatnonzero(client | named)
    types = tuple(words.index)
    single = zip(words.ids[at[kept]].tolist(), length[kept].tolist(), strict=True)
    word = tuple(types[i] if n == 1 else "" for i, n in single)
    begin, end, turn = at[kept], (at + length)[kept], words.turn_of[at[kept]]
    return Mentions(begin, end, turn, family[kept], size[kept], client[kept], named[kept], word)


def _whose_is(row: Clauses, before: Ints, end: Ints) -> Ints:
    """Return whose the feelings up to the words `end` are: by who stands before them, unless by who stands after."""
    whose = np.where(_theirs_after(row)[end], _THIRD, before)
    whose = np.where(row.next(_ME)[end], _SELF, whose)
    return np.where(row.next(_YOU_ALONE)[end] & (whose != _SELF), _YOU, whose)


def _found(words: WordSequence) -> list[tuple[int, int, int, float]]:
    """Return begin, length, family and degree of all entries in a row of words; idioms hide the words in them."""
    types, ids, goes_on = tuple(words.index), words.ids.tolist(), words.goes_on.tolist()
    begins, single = _begin_idioms(words), words.types(names_a_feeling)[words.ids]
    found, covered = [], -1
    for at in np.flatnonzero(begins | single).tolist():
        stand = _idioms_at(types, ids, goes_on, at) if begins[at] else []
        if stand:
            covered = max(covered, at + len(stand[0][0]) - 1)
            found += [(at, len(entry), family, degree) for entry, family, degree in stand if family != IGNORED]
        elif at > covered:
            found += [(at, 1, family, degree) for family, degree in of_word(types[ids[at]])]
    return found


def _begin_idioms(words: WordSequence) -> Marks:
    """Return which words begin what may be an idiom, by their two or three words, within the sentence."""
    begins = np.zeros(len(words.ids), dtype=np.bool_)
    keys: dict[int, list[int]] = {2: [], 3: []}
    for opening in idioms().openings:
        keys[len(opening)] += _keys(opening, words.index)
    for size, some in keys.items():
        begins[_that_begin(words, np.array(some, dtype=np.int64), size)] = True
    return begins


def _that_begin(words: WordSequence, keys: Ints, size: int) -> Ints:
    """Return the words at which, within the sentence, so many words stand that are among these keys, see `_keys`."""
    n = len(words.index)
    first = np.zeros(n, dtype=np.bool_)
    first[keys // n ** (size - 1)] = True
    at = np.flatnonzero(first[words.ids[: max(len(words.ids) - size + 1, 0)]])
    key, together = words.ids[at], np.ones(len(at), dtype=np.bool_)
    for step in range(1, size):
        key, together = key * n + words.ids[at + step], together & words.goes_on[at + step]
    return at[np.isin(key, keys) & together]


def _keys(opening: Words, index: Mapping[str, int]) -> list[int]:
    """Return words that follow one another as numbers; of a last one that may go on, all that are in the index."""
    *head, last = opening
    key = 0
    for word in head:
        if word not in index:
            return []
        key = key * len(index) + index[word]
    if last.endswith("*"):
        ends = [number for word, number in index.items() if word.startswith(last[:-1])]
    else:
        ends = [index[last]] if last in index else []
    return [key * len(index) + end for end in ends]


def _idioms_at(types: Words, ids: Sequence[int], goes_on: Sequence[bool], at: int) -> list[Entry]:
    """Return the longest idioms that stand at a word, within the sentence."""
    known, found = idioms(), list[Entry]()
    words: Words = (types[ids[at]],)
    for end in range(at + 1, len(ids)):
        words = (*words, types[ids[end]])
        if not goes_on[end] or words[:-1] not in known.begins:
            break
        found = known.entries_of(words) or found
    return found


def _denied(row: Clauses) -> Marks:
    """Return which words are denied: a denial before them in the clause that is not itself taken back."""
    denying = row.are(families().slots["denying"])
    no = row.are(frozenset({"no"}))
    off = row.next(_NOT_DENIED) | (no & row.next(_I | _YOUS | _THIRDS | _ITS))
    off |= row.are(frozenset({"never"})) & row.next(_SO, 2)
    off |= no & ~row.words.goes_on
    return np.asarray(row.near(denying & ~off, 4, within=row.clause))


def _unreal(row: Clauses, therapist: Marks) -> Marks:
    """Return which words are supposed, wished or to come."""
    supposed = row.are(_IF) & ~row.near(row.are(_NO_IF), 2)
    iffy = row.near(supposed, 6)
    iffy &= therapist | row.near(row.are(_WERE), 6, 8)
    would = row.near(row.are(_WOULD) & ~row.next(_NO_WOULD, 2), 4)
    would |= row.near(row.are(_WILL), 4) & therapist
    can = row.near(row.are(_CAN) & ~row.next(_NO_CAN), 3) & therapist
    to = row.are(_TO) & row.near(row.are(_WANTS), 2) & row.next(_BE)
    wishes = row.near(to, 4)
    return np.asarray(iffy | would | can | wishes)


def _persons(row: Clauses, therapist: Marks) -> Ints:
    """Return for each word the person that it is: self, you, a third one, a thing, or 0."""
    aside = row.next(_ASIDE) & row.are(frozenset({"you"}))
    perceives = therapist & row.next(_PERCEIVES, 2)
    own = row.are(_I) & ~row.next(_MEANING_IT)
    kin = row.are(families().slots["kin"]) & row.next(_IS)
    choices = [own & perceives & row.are(frozenset({"i"})) & ~row.next(frozenset({"am"})), own]
    choices += [row.are(_YOUS) & ~aside, row.are(_THIRDS) | kin, row.are(_ITS)]
    return np.select(choices, [_YOU, _SELF, _YOU, _THIRD, _IT], 0)


def _whose(row: Clauses, therapist: Marks) -> Ints:
    """Return whose a feeling would be at each word: that of the nearest person before it in the sentence, or 0."""
    person = _persons(row, therapist)
    at = np.arange(len(person))
    last = np.append(-1, np.maximum.accumulate(np.where(person > 0, at, -1)))[: len(person)]
    known = (last >= row.sentence[0]) & (at - last <= _PERSON_REACH)
    found = np.where(known, person[last], 0)
    thirds = row.near(row.are(_THIRD_OBJECTS), 2) | row.near(row.are(families().slots["kin"]), 1)
    return np.where(thirds, _THIRD, found)


def _theirs_after(row: Clauses) -> Marks:
    """Return after which words it is said that they are another's: 'frustrating for him'."""
    others = row.are(_THIRD_OBJECTS | families().slots["kin"])
    return row.near(row.are(frozenset({"for"})) & row.near(others, -1, 2), -1, 1)


def _asked(row: Clauses) -> Marks:
    """Return which words are asked about, not said: after an auxiliary before its subject, or after how."""
    turned = row.are(_AUXILIARIES) & row.next(_SUBJECTS) & ~row.near(row.are(_SUBJECTS | _ASKS_WHAT | _I), 1)
    how = row.near(row.are(frozenset({"how"})), 2) & row.next(_AUXILIARIES, 2)
    return np.asarray(row.near(turned, 7) | how)


def _is_named(row: Clauses, at: Ints, whose: Ints) -> Bools:
    """Return which mentions of a therapist are of the client: by a person before them, or as a short reflection."""
    begin, end = row.sentence[:, at]
    polite = row.are(_HAPPY_TO_SAY)[at] & (at - begin <= _POLITE)
    bare = (whose == 0) & ~polite & ((end - begin <= _SHORT) | row.near(row.are(_FEEL), 4)[at])
    thing = (whose == _IT) & row.near(row.are(_IS | _FEEL), 5)[at]
    return np.asarray((whose == _YOU) | bare | thing)
