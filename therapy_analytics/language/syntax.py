"""Parts of speech of tokens, by the small tagger of the package or by the user's own spaCy pipeline."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from therapy_analytics import third_party
from therapy_analytics.errors import BadDataFileError, BadOptionError
from therapy_analytics.language.data_files import MB
from therapy_analytics.language.tokens import spans

UPOS: tuple[str, ...] = (
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT", "SCONJ",
    "SYM", "VERB", "X",
)  # fmt: skip
"""The universal part-of-speech tags, in alphabetical order."""

_SHIPPED = Path(__file__).with_name("syntax_model")
LARGEST_PIPELINE = 2048 * MB
"""Bytes of all files of a spaCy pipeline together; the largest that spaCy offers have a quarter of that."""
_APOSTROPHES = str.maketrans(dict.fromkeys("\u2019\u2018\u02bc\u00b4", "'"))
_NEEDED = frozenset({"tok2vec", "transformer", "curated_transformer", "tagger", "morphologizer", "attribute_ruler"})
_BATCH_TOKENS = 2_000
_TRIED = "She told me, when I slept well, that 2 of the old books were lost there and she does not know why."


def tag(texts: Sequence[str], *, model: str | None = None) -> NDArray[np.int8]:
    """Return the part of speech of each token that `tokens.tokenize` finds in the texts, in that order.

    The tagger reads the tokens as they were written, because capitals help it. Each text is read by itself.

    Parameters
    ----------
    texts : sequence of str
        One text a turn.
    model : str, optional
        As for `load_tagger`.

    Returns
    -------
    int8 array (n_tokens,)
        Positions in `UPOS`; -1 where a user's pipeline gives none of them.

    Raises
    ------
    BadOptionError, BadDataFileError
        As `load_tagger`.

    Examples
    --------
    >>> [UPOS[i] for i in tag(["She told me", "", "i don\u2019t know"])]
    ['PRON', 'VERB', 'PRON', 'PRON', 'AUX', 'PART', 'VERB']
    """
    nlp = load_tagger(model)
    table = _positions()
    docs = (doc for batch in _batches(nlp, texts) for doc in nlp.pipe(batch, batch_size=len(batch)))
    found = [table[_coarse(doc)] for doc in docs]
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int8)


def load_tagger(name: str | None = None) -> Any:
    """Return a spaCy pipeline that does nothing but tag; cached.

    Parameters
    ----------
    name : str, optional
        A spaCy pipeline that the user installed (``en_core_web_sm``), or the folder of one; by default the
        package's own.

    Raises
    ------
    BadOptionError
        It is not installed, or gives no parts of speech.
    BadDataFileError
        It is there, but spaCy cannot load it.
    """
    return _load(name or str(_SHIPPED))


@functools.cache
def _load(name: str) -> Any:
    spacy = third_party.spacy()  # slow to import
    if not spacy.util.is_package(name) and not Path(name).is_dir():
        remedy = f"Install it (python -m spacy download {name}), or leave the option out to use the tagger included"
        raise BadOptionError("--spacy-model", f"there is no spaCy pipeline {name!r} on this machine", remedy)
    remedy = "Install it again, in the version that belongs to your spaCy (python -m spacy validate)"
    if sum(path.stat().st_size for path in Path(name).rglob("*") if path.is_file()) > LARGEST_PIPELINE:
        raise BadDataFileError(name, f"the pipeline has more than {LARGEST_PIPELINE // MB} MB", remedy)
    try:
        nlp = spacy.load(name)
        list(nlp.pipe([_document(nlp, _TRIED)]))  # a broken component may show only when it is used
    except Exception as error:  # noqa: BLE001 (a broken component can make spaCy raise anything)
        problem = f"spaCy cannot load this pipeline ({type(error).__name__})"
        raise BadDataFileError(name, problem, remedy) from None
    _keep_tagging(nlp, name)
    return nlp


def _keep_tagging(nlp: Any, name: str) -> None:
    """Disable what is not needed for parts of speech (parsers are slow, and some components merge tokens)."""
    factories = {one: nlp.get_pipe_meta(one).factory for one in nlp.pipe_names}
    kept = [one for one, factory in factories.items() if factory in _NEEDED]
    made = {factories[one] for one in kept}
    if "morphologizer" not in made and not made >= {"tagger", "attribute_ruler"}:
        problem = f"the spaCy pipeline {name!r} gives no parts of speech"
        remedy = "Name one with a morphologizer, or with a tagger and an attribute_ruler, as en_core_web_sm has"
        raise BadOptionError("--spacy-model", problem, remedy)
    nlp.select_pipes(enable=kept)


def _batches(nlp: Any, texts: Sequence[str]) -> Iterator[list[Any]]:
    """Yield texts as spaCy documents, about 2,000 tokens at a time, to bound the memory."""
    batch: list[Any] = []
    size = 0
    for text in texts:
        batch.append(_document(nlp, text))
        size += len(batch[-1])
        if size >= _BATCH_TOKENS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _document(nlp: Any, text: str) -> Any:
    from spacy.tokens import Doc  # noqa: PLC0415

    places = spans(text)
    text = text.translate(_APOSTROPHES)
    words = [text[begin:end] for begin, end in places]
    space_after = [end < begin for (_, end), (begin, _) in pairwise(places)]
    return Doc(nlp.vocab, words=words, spaces=[*space_after, False][: len(words)])


def _coarse(doc: Any) -> NDArray[np.int64]:
    """Return spaCy's numbers of the parts of speech, int64 (n_tokens,)."""
    from spacy.attrs import POS  # noqa: PLC0415

    return np.asarray(doc.to_array(POS)).astype(np.int64).reshape(-1)


@functools.cache
def _positions() -> NDArray[np.int8]:
    """Return the position in `UPOS` of each of spaCy's numbers, -1 for others."""
    from spacy.parts_of_speech import IDS  # noqa: PLC0415

    table = np.full(max(IDS.values()) + 1, -1, dtype=np.int8)
    table[[IDS[name] for name in UPOS]] = np.arange(len(UPOS))
    return table
