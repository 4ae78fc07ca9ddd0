"""Features of turns for the tagger: hashed words, character n-grams, word n-grams, and features counted by hand.

There is no vocabulary: a word is represented by the bucket that its hash falls into, so the weights of buckets cannot
be read back as words. Words and their character n-grams are the same wherever a token type occurs, so
`Features.project` multiplies types by weights once and then adds up the tokens of each turn.

By hand are counted forms of questions, echoes, lengths and small word sets, which belong to the trained model and must
not change with the lexicons, which users may change.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from therapy_analytics.text import TurnArrays
from therapy_analytics.text.tokens import Tokens

BITS = 16
N_BUCKETS = 1 << BITS
CHAR_WEIGHT = 0.7
"""Weight of a word's character n-grams together; that of the word itself is 1."""
DAMPING = 0.6
"""Exponent of the length that each row is divided by: 0 leaves rows as they are, 1 makes all of length one."""
_LONGEST = 40
_P = np.uint64(0x100000001B3)
_Matrix = Any  # scipy itself does not say what its sparse arrays return
CUES: dict[str, str] = {
    "wh": "what how why who when where which",
    "aux": "do does did are is was were have has had can could would will should might am",
    "you": "you your yours yourself u",
    "i": "i my me mine myself",
    "we": "we our us let",
    "modal": "should must ought better might could gotta",
    "command": "try stop go take make write talk ask tell start call keep think remember consider avoid",
    "feeling": "feel feels feeling feelings felt sad angry anger upset scared afraid fear anxious anxiety worried "
    "worry lonely hurt hurts guilty guilt ashamed shame frustrated frustrating frustration overwhelmed "
    "overwhelming depressed stressed stress stressful hopeless nervous tired disappointed painful pain",
    "positive": "happy glad proud excited relieved relief hopeful calm joy enjoy enjoyed good great better",
    "need": "need needs needed want wants wanted wish wishing hope hoping longing looking like",
    "value": "important importance value values matter matters care cares caring mean means family believe "
    "meaningful priority love health faith honest",
    "consequence": "if then because leads lead result consequence consequences happens happen causes cause causing "
    "affect affects affecting impact effect end ends so",
    "conflict": "but torn hand hands yet although though however while same part conflicted ambivalent both "
    "either between other",
    "strength": "strong strength strengths able capable courage brave managed succeeded success achieved "
    "confident confidence skills hard resourceful determined motivated worked working able job",
    "advise": "should could try maybe might recommend suggest suggestion advice consider idea option options ought "
    "encourage helpful help",
    "plan": "plan plans planning goal goals step steps week weeks tomorrow tonight today next schedule write "
    "start starting set ready agree homework practice daily monday tuesday wednesday thursday friday",
    "normal": "normal common many everyone everybody lots people others natural understandable alone usual "
    "okay typical sense unusual",
    "teach": "research studies study brain body called known evidence cognitive thoughts behavior behaviors "
    "disorder symptoms cycle response system associated tend tends tends increases reduces risk",
    "now": "now right here moment present just",
    "perspective": "if think imagine would else differently different another perspective friend suppose wonder "
    "miracle scale number",
    "insight": "realize realized realizing understand understood learned notice noticed see aware realise makes sense",
    "change": "stop stopped quit quitting change changing changed cut less reduce started trying try tried going "
    "decided will gonna promise",
    "sustain": "not can never no still keep always hard difficult impossible problem fine enjoy relax anyway",
    "event": "yesterday last week month year ago happened went got told said lost died moved broke mother father "
    "mom dad wife husband son daughter boyfriend girlfriend friend boss job school",
    "backchannel": "ok okay mm mhm hmm hm uh huh um yeah yes right sure alright good great wow oh ah exactly",
    "summary": "sounds sound seems seem hearing hear saying said wondering guess sense looks feels mentioned",
    "social": "thank thanks welcome bye hello hi nice meet goodbye appreciate",
}
_PLACES = {name: place for place, name in enumerate(CUES)}
_COLUMNS: dict[str, list[int]] = {}
for _column, _words in enumerate(CUES.values()):
    for _word in set(_words.split()):
        _COLUMNS.setdefault(_word, []).append(_column)
_STOP_WORDS = """
    a about after again all am an and any are as at be because been before being but by can could did do
    does doing down for from get go going got had has have having he her here him his how i if in into is
    it its just know let like me more most my no not now of off oh ok okay on one only or other our out
    over really right she should so some such than that the their them then there these they thing things
    think this those to too um uh up us very was we well were what when where which while who why will with
    would yeah yes you your mm hmm kind of sort lot mean would 's 're 've 'm 'd 'll gonna want
"""
_STOP = frozenset(_STOP_WORDS.split())
_FORM_NAMES = """
    words sentences empty one_word two_words to_five_words to_ten_words over_60_words asks n_asks
    ends_asking wh_opens aux_opens wh_opens_sentence aux_you_opens_sentence aux_you wh_aux n_aux_you
    n_wh_aux first_turn early late last_turn position words_before words_after asks_before echo_share echo
    echo_next_share
    you_modal you_modal_opens_sentence command_opens_sentence
"""
_FORMS = tuple(_FORM_NAMES.split())
HAND: tuple[str, ...] = (
    *_FORMS,
    *(f"has_{name}" for name in CUES),
    *(f"rate_{name}" for name in CUES),
    "plain",
    *(f"plain_{name}" for name in _FORMS),
)
"""Names of the features; ``plain...`` are zero except in sessions without punctuation."""
_Column = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Features:
    """Features of consecutive turns, in factors: ``buckets = words @ types + grams``.

    Attributes
    ----------
    words : CSR (n_turns, n_types)
        Damped counts of token types.
    types : CSR (n_types, N_BUCKETS)
        Buckets of each type: of the word, and of its character n-grams of two to five letters.
    grams : CSR (n_turns, N_BUCKETS)
        Damped counts of the buckets of word bigrams and trigrams, and of the words that a turn begins and ends with.
    hand : CSR (n_turns, len(HAND))
        See `hand_features`.
    before, after : int64 array (n_turns,)
        The neighbouring turn in the same session, or -1.
    """

    words: _Matrix
    types: _Matrix
    grams: _Matrix
    hand: _Matrix
    before: NDArray[np.int64]
    after: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.before)

    def project(self, weights: NDArray[Any]) -> NDArray[Any]:
        """Return the buckets times weights (N_BUCKETS, n): an array (n_turns, n)."""
        result: NDArray[Any] = self.words @ (self.types @ weights) + self.grams @ weights
        return result


def neighbour(values: NDArray[Any], index: NDArray[np.int64]) -> NDArray[Any]:
    """Return the values (n_turns, n) of each turn's neighbour, 0 where it has none (index -1)."""
    return np.where((index >= 0)[:, None], values[index], values.dtype.type(0))


def featurize(turns: TurnArrays, starts: NDArray[np.int64] | Sequence[int]) -> Features:
    """Compute the features of turns from their token ids.

    Parameters
    ----------
    turns : TurnArrays
        The turns of a batch, or of one session of it.
    starts : int array (n_sessions + 1,)
        Session ``i`` owns turns ``starts[i]:starts[i + 1]``.

    Returns
    -------
    Features
        What it holds for a session does not depend on the other sessions.
    """
    starts = np.asarray(starts, dtype=np.int64)
    types = types_of(turns.tokens)
    before, after = neighbours(starts)
    rows, buckets = grams_of(types, turns.ids, turns.turn_of)
    return Features(
        words=_count(turns.turn_of, turns.ids, (len(turns), len(types.spoken))),
        types=types.buckets,
        grams=_count(rows, buckets, (len(turns), N_BUCKETS)),
        hand=sparse.csr_array(hand_features(turns, types.cues, starts)),
        before=before,
        after=after,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Types:
    """Features of token types, which do not depend on the turns that they occur in.

    Attributes
    ----------
    spoken : bool array (n_types,)
        Whether the type has a letter or digit in its normal form.
    hashes : uint64 array (n_types,)
        Of the normal forms; the same on every machine and in every process.
    buckets : CSR (n_types, N_BUCKETS)
        See `Features.types`.
    cues : CueTypes
        For the hand-crafted features.
    """

    spoken: NDArray[np.bool_]
    hashes: NDArray[np.uint64]
    buckets: _Matrix
    cues: CueTypes


def types_of(tokens: Tokens) -> Types:
    """Return the features of the token types of a batch; cached for all who read its turns."""
    return _types_of(tokens.lower, tokens.norm)


@functools.lru_cache(maxsize=2)
def _types_of(lower: tuple[str, ...], norm: tuple[str, ...]) -> Types:
    spoken = np.array([any(map(str.isalnum, word)) for word in norm], dtype=np.bool_)
    hashes = _string_hashes(norm)
    return Types(spoken, hashes, _type_buckets(lower, hashes), cue_types(norm))


def _count(rows: NDArray[np.int64], columns: NDArray[np.integer], shape: tuple[int, int]) -> _Matrix:
    """Count pairs of row and column, take ``1 + log(count)``, and divide each row by its length to the `DAMPING`."""
    cells, counts = np.unique(rows * shape[1] + columns, return_counts=True)
    row, column = np.divmod(cells, shape[1])
    values = 1.0 + np.log(counts)
    length = np.sqrt(np.bincount(row, values**2, minlength=shape[0]))
    ends = np.append(0, np.cumsum(np.bincount(row, minlength=shape[0])))
    return sparse.csr_array((values / (length**DAMPING)[row], column, ends), shape=shape)


def grams_of(
    types: Types, ids: NDArray[np.integer], turn_of: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return turn and bucket of each bigram and trigram, and of the first and last words of each turn.

    Parameters
    ----------
    types : Types
        Of the tokens.
    ids, turn_of : int arrays (n_tokens,)
        Type and turn of each token; n-grams skip punctuation.
    """
    spoken = np.flatnonzero(types.spoken[ids])
    words, turn_of = types.hashes[ids[spoken]], turn_of[spoken]
    first = np.flatnonzero(np.diff(turn_of, prepend=-1))
    last = np.flatnonzero(np.diff(turn_of, append=-1))
    found = [(first, words[first] ^ np.uint64(11)), (last, words[last] ^ np.uint64(12))]
    gram = words
    for n in (2, 3):
        gram = _mix(gram[:-1] * _P + words[n - 1 :]) if len(gram) else gram
        whole = turn_of[: len(gram)] == turn_of[n - 1 :]
        opening = first[first < len(gram)]
        opening = opening[whole[opening]]
        found.append((np.flatnonzero(whole), gram[whole]))
        found.append((opening, gram[opening] ^ np.uint64(10 + n)))
    at, keys = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return turn_of[at], _bucket(keys)


def _type_buckets(lower: Sequence[str], hashes: NDArray[np.uint64]) -> _Matrix:
    """Return the buckets of each type: the word, and its character n-grams with marks at both ends."""
    letters, owner = _letters([f"<{word[:_LONGEST]}>" for word in lower])
    rows, columns = [], []
    gram = letters
    for n in range(2, 6):
        gram = gram[:-1] * _P + letters[n - 1 :] if len(gram) else gram
        whole = owner[: len(gram)] == owner[n - 1 :]
        rows.append(owner[: len(gram)][whole])
        columns.append(_bucket(gram[whole] + np.uint64(n)))
    row = np.concatenate(rows)
    n_grams = np.maximum(np.bincount(row, minlength=len(lower)), 1)
    row = np.concatenate([np.arange(len(lower)), row])
    value = np.concatenate([np.ones(len(lower)), (CHAR_WEIGHT / np.sqrt(n_grams))[row[len(lower) :]]])
    column = np.concatenate([_bucket(hashes), *columns])
    return sparse.csr_array((value, (row, column)), shape=(len(lower), N_BUCKETS))


def _letters(words: list[str]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    data = "".join(words).encode("utf-32-le", "surrogatepass")
    letters = np.frombuffer(data, dtype="<u4").astype(np.uint64)
    return letters, np.repeat(np.arange(len(words)), [len(word) for word in words])


def _string_hashes(words: Sequence[str]) -> NDArray[np.uint64]:
    """Hash each word, the same on every machine and in every process."""
    words = [f"<{word[:_LONGEST]}>" for word in words]
    letters, owner = _letters(words)
    lengths = np.array([len(word) for word in words], dtype=np.int64)
    begins = np.cumsum(lengths) - lengths
    powers = np.cumprod(np.full(_LONGEST + 2, _P, dtype=np.uint64))
    if not words:
        return np.zeros(0, dtype=np.uint64)
    return _mix(np.add.reduceat(letters * powers[np.arange(len(letters)) - begins[owner]], begins))


def _mix(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread keys over 64 bits (the finaliser of splitmix64)."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def _bucket(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    return (_mix(keys) >> np.uint64(64 - BITS)).astype(np.int64)


# ---- features counted by hand


def hand_features(turns: TurnArrays, types: CueTypes, starts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the features `HAND` of turns, about 0 to 1 each: float64 (n_turns, len(HAND)).

    Parameters
    ----------
    turns : TurnArrays
        The turns.
    types : CueTypes
        Of their tokens.
    starts : int64 array (n_sessions + 1,)
        Session ``i`` owns turns ``starts[i]:starts[i + 1]``.
    """
    stream = Stream(types, turns.ids, turns.tokens.sentence_end[turns.span], turns.turn_of, *neighbours(starts))
    token, column = np.nonzero(types.cues[stream.ids])
    counts = np.bincount(stream.turn_of[token] * len(CUES) + column, minlength=len(turns) * len(CUES))
    counts = counts.reshape(len(turns), len(CUES)).astype(np.float64)
    plain = _plain(turns, stream, starts)[:, None]
    forms = _lengths(turns) | _forms_of_speech(stream) | _places(turns, starts)
    forms |= _neighbourhood(forms, stream)
    table = np.stack([forms[name] for name in _FORMS], axis=1)
    rates = np.minimum(counts / np.maximum(turns.n_words, 1)[:, None] * 4, 1.0)
    return np.hstack([table, counts > 0, rates, plain, plain * table]).astype(np.float64)


def neighbours(starts: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the turn before and the turn after each turn of the same session, -1 for none, int64 (n_turns,) each."""
    turns = np.arange(starts[-1])
    return np.where(np.isin(turns, starts), -1, turns - 1), np.where(np.isin(turns + 1, starts), -1, turns + 1)


@dataclass(frozen=True, slots=True, eq=False)
class CueTypes:
    """Properties of token types that the features need.

    Attributes
    ----------
    cues : bool array (n_types, len(CUES))
        Which word sets the type is in.
    asks, content : bool array (n_types,)
        Whether it has a question mark; whether it is a content word, which may be echoed.
    stem : int64 array (n_types,)
        A number for its first five letters.
    """

    cues: NDArray[np.bool_]
    asks: NDArray[np.bool_]
    content: NDArray[np.bool_]
    stem: NDArray[np.int64]


def cue_types(norm: Sequence[str]) -> CueTypes:
    """Return the properties of types in normal form."""
    cues = np.zeros((len(norm), len(CUES)), dtype=np.bool_)
    for row, word in enumerate(norm):
        cues[row, _COLUMNS.get(word, [])] = True
    asks = np.array(["?" in word for word in norm], dtype=np.bool_)
    content = np.array([word.isalpha() and len(word) > 2 and word not in _STOP for word in norm], dtype=np.bool_)
    index: dict[str, int] = {}
    stem = np.array([index.setdefault(word[:5], len(index)) for word in norm], dtype=np.int64)
    return CueTypes(cues, asks, content, stem)


@dataclass(frozen=True, slots=True)
class Stream:
    """The tokens of some turns.

    Attributes
    ----------
    types : CueTypes
        Of the batch.
    ids, turn_of : int array (n_tokens,)
        Type and turn of each token.
    marks : bool array (n_tokens,)
        Whether it closes a sentence.
    before, after : int64 array (n_turns,)
        Neighbouring turns, -1 for none.
    """

    types: CueTypes
    ids: NDArray[np.integer]
    marks: NDArray[np.bool_]
    turn_of: NDArray[np.int64]
    before: NDArray[np.int64]
    after: NDArray[np.int64]

    def per_turn(self, marks: NDArray[np.bool_]) -> _Column:
        """Count the marked tokens of each turn."""
        return np.bincount(self.turn_of[marks], minlength=len(self.before)).astype(np.float64)


def _lengths(turns: TurnArrays) -> dict[str, _Column]:
    n = turns.n_words
    bounds = {
        "empty": (0, 0),
        "one_word": (1, 1),
        "two_words": (2, 2),
        "to_five_words": (3, 5),
        "to_ten_words": (6, 10),
    }
    found = {name: ((n >= low) & (n <= high)).astype(np.float64) for name, (low, high) in bounds.items()}
    return found | {
        "words": np.minimum(np.log1p(n) / 5, 1.5),
        "sentences": np.minimum(np.log1p(turns.n_sentences) / 3, 1.5),
        "over_60_words": (n > 60).astype(np.float64),
    }


def _forms_of_speech(stream: Stream) -> dict[str, _Column]:
    """Return forms of questions, with and without question mark, and of advice."""
    mark = stream.types.asks[stream.ids]
    names = ("wh", "aux", "you", "modal", "command")
    wh, aux, you, modal, command = (stream.types.cues[:, _PLACES[name]][stream.ids] for name in names)
    follows = np.append(stream.turn_of[1:] == stream.turn_of[:-1], np.zeros(min(len(mark), 1), np.bool_))
    aux_you = aux & follows & np.roll(you, -1)
    wh_aux = wh & follows & np.roll(aux, -1)
    you_modal = you & follows & np.roll(modal, -1)
    opens = np.diff(stream.turn_of, prepend=-1) > 0
    sentence = opens | (np.roll(stream.marks, 1) & ~opens)
    n_asks = stream.per_turn(mark)
    forms = {
        "ends_asking": stream.per_turn(mark & ~follows),
        "wh_opens": stream.per_turn(wh & opens),
        "aux_opens": stream.per_turn(aux & opens),
        "you_modal": np.minimum(stream.per_turn(you_modal), 1),
        "you_modal_opens_sentence": np.minimum(stream.per_turn(you_modal & sentence), 1),
        "command_opens_sentence": np.minimum(stream.per_turn(command & sentence), 1),
        "wh_opens_sentence": np.minimum(stream.per_turn(wh & sentence), 1),
        "aux_you_opens_sentence": np.minimum(stream.per_turn(aux_you & sentence), 1),
    }
    for name, count in (
        ("asks", n_asks),
        ("aux_you", stream.per_turn(aux_you)),
        ("wh_aux", stream.per_turn(wh_aux)),
    ):
        forms[name] = np.minimum(count, 1)
        forms[f"n_{name}"] = np.minimum(np.log1p(count) / 2, 1.5)
    return forms


def _places(turns: TurnArrays, starts: NDArray[np.int64]) -> dict[str, _Column]:
    """Return the position of turns in their session."""
    sizes = np.diff(starts)
    size = np.repeat(sizes, sizes)
    index = np.arange(len(turns)) - np.repeat(starts[:-1], sizes)
    left = size - 1 - index
    return {
        "first_turn": (index < 2).astype(np.float64),
        "early": np.exp(-index / 6),
        "late": np.exp(-left / 6),
        "last_turn": (left < 2).astype(np.float64),
        "position": index / np.maximum(size - 1, 1),
    }


def _neighbourhood(forms: dict[str, _Column], stream: Stream) -> dict[str, _Column]:
    """Return features of the turns before and after, and how much of the turn before is repeated."""
    before, after = stream.before, stream.after
    n_echoed, share = _echo(stream)
    return {
        "words_before": _of_turn(forms["words"], before),
        "words_after": _of_turn(forms["words"], after),
        "asks_before": _of_turn(forms["asks"], before),
        "echo": np.minimum(np.log1p(n_echoed) / 2, 1.5),
        "echo_share": share,
        "echo_next_share": _of_turn(share, after),
    }


def _of_turn(values: _Column, index: NDArray[np.int64]) -> _Column:
    return np.where(index >= 0, values[index], 0.0) if len(values) else values


def _echo(stream: Stream) -> tuple[_Column, _Column]:
    """Return how many content stems of a turn are in the turn before it, and their share of its stems."""
    n_turns = len(stream.before)
    if not (stream.before >= 0).any():
        return np.zeros(n_turns), np.zeros(n_turns)
    keep = stream.types.content[stream.ids]
    n_stems = int(stream.types.stem.max(initial=0)) + 1
    cells = np.unique(stream.turn_of[keep] * n_stems + stream.types.stem[stream.ids[keep]])
    turn = cells // n_stems
    origin = stream.before[turn]
    echoed = (origin >= 0) & np.isin(cells + (origin - turn) * n_stems, cells)
    n = np.bincount(turn, minlength=n_turns)
    n_echoed = np.bincount(turn, echoed, minlength=n_turns).astype(np.float64)
    return n_echoed, n_echoed / np.maximum(n, 1)


def _plain(turns: TurnArrays, stream: Stream, starts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which turns belong to a session without punctuation, as speech recognisers write."""
    sizes = np.diff(starts)
    session = np.repeat(np.arange(len(sizes)), sizes)
    n_marks = np.bincount(session, stream.per_turn(stream.marks), minlength=len(sizes))
    n_words = np.bincount(session, turns.n_words, minlength=len(sizes))
    plain: NDArray[np.bool_] = (n_marks * 100 < n_words)[session]
    return plain
