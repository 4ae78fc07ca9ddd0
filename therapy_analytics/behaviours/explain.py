"""Why a turn has a code: what each word and each feature adds to the tagger's scores, as places in the turn.

The tagger is linear but for its two layers: the score of a head (the log-odds of its probability) is a sum over
the words of the turn, the words of the turns beside it, the features by hand, the first layer's scores, and a
bias. `explain` gives the terms of this sum, the largest one by one and all others together, so that the rows of
a head add up to the score that the tagger computed. No word leaves this module unless quotes are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from therapy_analytics.behaviours._terms import KINDS, Limits, Terms, names, terms_of
from therapy_analytics.behaviours.accurate import AccurateTagger
from therapy_analytics.behaviours.choice import TaggerOptions, load_coder
from therapy_analytics.behaviours.own import OwnTagger
from therapy_analytics.behaviours.tagger import Codes, Tagger
from therapy_analytics.errors import BadOptionError, UnknownNameError
from therapy_analytics.language import Batch, annotate
from therapy_analytics.language.lexicons import Matcher
from therapy_analytics.language.tokens import spans
from therapy_analytics.session import Session, Turn

N_WORDS = 8
"""So many words of a turn are named for each head, those with the largest weights of either sign."""
N_CONTEXT = 4
"""So many of all else are named: the turns before and after, features by hand, scores of the first layer."""
SHARES = ("fast", "encoder", "bias")
"""What the accurate tagger's log-odds are the sum of."""
COLUMNS = ("session_id", "turn", "code", "head", "kind", "name", "start", "end", "weight")


def explain(
    sessions: Session | Iterable[Session],
    code: str | None = None,
    *,
    quotes: bool = False,
    tagger: TaggerOptions | None = None,
    n_words: int = N_WORDS,
    n_context: int = N_CONTEXT,
) -> pd.DataFrame:
    """Say what moved the tagger to its codes.

    Parameters
    ----------
    sessions : Session or iterable of Session
        As `read` returns them.
    code : str, optional
        A column such as ``mi_question``: this code alone, on every turn whose speaker can have it, decided or
        not. Without it, the codes that each turn has, and those of ``unsure_codes``.
    quotes : bool, optional
        Whether `name` holds the words themselves; without it there is only where they stand.
    tagger : TaggerOptions, optional
        As in `analyze`; an outside coder cannot be explained.
    n_words, n_context : int, optional
        How many words, and how many other terms, stand in rows of their own.

    Returns
    -------
    DataFrame
        Rows are terms of the score of a head, on a turn, for a code; the weights of a head on a turn add up
        to its score, the log-odds of its probability. A code of two heads has the product of both
        probabilities: P(group), then P(kind given the group), whose head is named like the code.

        ``session_id``, ``turn``, ``code``, ``head``
            What is explained.
        ``kind``
            ``word``: a word of the turn, with its share of the pairs and triples that it stands in;
            ``before``, ``after``: all words of the turn before, after; ``form``: a feature of
            `therapy_analytics.behaviours.cues`; ``code``: the score of a head of the first layer; ``rest``:
            everything else, together; ``bias``: where the head stands before anything is said.
            With the accurate tagger all these explain the score of the fast one within it. Three rows more, of the
            head ``blend``, add up to the code's own log-odds: ``fast``, what that score counts; ``encoder``, what
            the encoder says, which cannot be taken apart; ``bias``.
        ``name``
            Of the feature or head; of words only with `quotes`.
        ``start``, ``end``
            Of words: characters of `Turn.text`, from 0, the end not included.
        ``weight``
            Added to the log-odds; above 0 speaks for the head, below against it.

    Raises
    ------
    UnknownNameError
        The tagger knows no such code.
    BadOptionError
        The options are for an outside coder.
    """
    coder = explaining_tagger(tagger)
    batch = annotate((sessions,) if isinstance(sessions, Session) else tuple(sessions), Matcher([]))
    limits = Limits(n_words, n_context)
    if isinstance(coder, Tagger):
        wanted = _wanted(coder.predict(batch), code)
        return _frame(terms_of(coder, batch, wanted, limits), coder, batch, quotes=quotes)
    codes, shares = coder.weighed(batch)
    wanted = _wanted(codes, code)
    found = _frame(terms_of(coder.fast, batch, wanted, limits), coder.fast, batch, quotes=quotes)
    return _with_shares(found, shares, coder.names, batch, wanted)


def explaining_tagger(options: TaggerOptions | None = None) -> Tagger | AccurateTagger:
    """Return the tagger of these options.

    Raises
    ------
    BadOptionError
        They are for an outside coder, which does not say what moved it, or name a model of the user's own.
    """
    coder = load_coder(options) if options is None or options.kind != "llm" else None
    if isinstance(coder, OwnTagger):
        problem = "what moved a model of your own is not told yet"
        raise BadOptionError("--explain", problem, "Leave it out, or leave out --model")
    if not isinstance(coder, Tagger | AccurateTagger):
        problem = "an outside coder does not say what moved it to a code"
        raise BadOptionError("--explain", problem, "Leave it out, or leave out --tagger llm")
    return coder


def _wanted(codes: Codes, code: str | None) -> NDArray[np.bool_]:
    """Which codes of which turns are explained, (n_turns, n_codes)."""
    if code is None:
        return codes.decision | codes.unsure
    if code not in codes.names:
        raise UnknownNameError("code", code, codes.names)
    wanted: NDArray[np.bool_] = ~np.isnan(codes.probability) & (np.array(codes.names) == code)
    return wanted


def _frame(terms: Terms, tagger: Tagger, batch: Batch, *, quotes: bool) -> pd.DataFrame:
    """Put terms into words: names, places in the turn's text."""
    turns = [turn for session in batch.sessions for turn in session.turns]
    owners = np.repeat(_texts(one.id for one in batch.sessions), np.diff(batch.starts))
    of_code = {(at, place): head for at, code in enumerate(tagger.codes) for place, head in enumerate(code.heads)}
    places = zip(terms.code.tolist(), terms.place.tolist(), strict=True)
    bounds = _bounds(terms, batch, turns)
    name = _texts([*names(tagger.weights.heads[: tagger.weights.n_context]), ""])[terms.name]
    is_word = terms.token >= 0
    if quotes:
        said = zip(terms.turn[is_word].tolist(), bounds[is_word].tolist(), strict=True)
        name[is_word] = _texts(turns[turn].text[start:end] for turn, (start, end) in said)
    values = (
        owners[terms.turn],
        np.array([turn.index for turn in turns], dtype=np.int64)[terms.turn],
        _texts(tagger.names)[terms.code],
        _texts(of_code[place] for place in places),
        _texts(KINDS)[terms.kind],
        name,
        pd.arrays.IntegerArray(bounds[:, 0].copy(), ~is_word),
        pd.arrays.IntegerArray(bounds[:, 1].copy(), ~is_word),
        terms.weight,
    )
    return pd.DataFrame(dict(zip(COLUMNS, values, strict=True)))


def _with_shares(
    found: pd.DataFrame, shares: NDArray[np.float64], codes: Sequence[str], batch: Batch, wanted: NDArray[np.bool_]
) -> pd.DataFrame:
    """Put after the terms of each code what the fast tagger and the encoder add to its log-odds."""
    row, column = np.nonzero(wanted & ~np.isnan(shares[:, :, 0]))
    turns = [turn.index for session in batch.sessions for turn in session.turns]
    n = len(SHARES)
    above = pd.DataFrame(
        {
            "session_id": np.repeat(_texts(one.id for one in batch.sessions), np.diff(batch.starts))[row].repeat(n),
            "turn": np.array(turns, dtype=np.int64)[row].repeat(n),
            "code": _texts(codes)[column].repeat(n),
            "head": "blend",
            "kind": np.tile(_texts(SHARES), len(row)),
            "name": "",
            "start": pd.array([pd.NA] * (n * len(row)), dtype="Int64"),
            "end": pd.array([pd.NA] * (n * len(row)), dtype="Int64"),
            "weight": shares[row, column].ravel(),
        }
    )
    place = {one.id: number for number, one in enumerate(batch.sessions)}
    code = {name: number for number, name in enumerate(codes)}
    both = pd.concat([found, above], ignore_index=True)
    order = np.lexsort((both["code"].map(code), both["turn"], both["session_id"].map(place)))
    return both.iloc[order].reset_index(drop=True)


def _texts(texts: Iterable[str]) -> NDArray[np.object_]:
    return np.array(list(texts), dtype=object)


def _bounds(terms: Terms, batch: Batch, turns: Sequence[Turn]) -> NDArray[np.int64]:
    """Where each term's word stands in its turn, (n_terms, 2); the tokeniser keeps no places, so it is asked again."""
    result = np.zeros((len(terms.token), 2), dtype=np.int64)
    is_word = np.flatnonzero(terms.token >= 0)
    turn = terms.turn[is_word]
    for each in np.unique(turn).tolist():
        mine = is_word[np.searchsorted(turn, each) : np.searchsorted(turn, each, side="right")]
        found = np.array(spans(turns[each].text), dtype=np.int64)
        result[mine] = found[terms.token[mine] - batch.turns.offsets[each]]
    return result
