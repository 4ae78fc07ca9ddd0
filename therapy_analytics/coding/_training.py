"""The training round: turns whose answers are agreed, which a coder sees after giving their own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.codes import Codebook
from therapy_analytics.coding._sample import SampleToCode, read_sample
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.stats.machine_codes import Machine
from therapy_analytics.stats.people_codes import GoldOptions, read_gold
from therapy_analytics.stats.sampling import WORDS

TURNS = 30
"""Turns of a training round; kappa needs as many."""
HALF = 0.5
OPTION = "--training"


def training_json(
    answers: Path, words: Path | None, sample: SampleToCode, folder: Path, books: Sequence[Codebook]
) -> tuple[dict[str, list[dict[str, Any]]], SampleToCode]:
    """Return the training turns of each book with their agreed answers, and the sample that they are of.

    Parameters
    ----------
    answers : Path
        A table of codes, as `read_gold` takes it: settled.csv, or any table of human codes.
    words : Path, optional
        The sample that the answers are about; by default the folder of `answers`, else `folder`.
    sample : SampleToCode
        What is to be coded afterwards, in `folder`: its own turns are left out, for their answers would be seen.
    folder : Path
        The folder of that sample.
    books : sequence of Codebook
        The books whose codes are trained.

    Raises
    ------
    BadOptionError
        No turn is left to train on.
    """
    beside = answers.parent if (answers.parent / WORDS).is_file() else folder
    about = read_sample(words or beside)
    codes = [code for book in books for code in book.codes]
    role = about.drawn["role"]
    columns = {code.column: np.where(role == code.role, 0.0, np.nan) for code in codes}
    turns = pd.concat([about.drawn, pd.DataFrame(columns)], axis=1)
    machine = Machine(turns, tuple(columns), {})
    agreed = _agreed(read_gold(machine, answers, GoldOptions()).values)
    to_code = set(zip(sample.drawn["session_id"], sample.drawn["turn"], strict=True))
    found = {book.id: _turns(agreed, about.drawn, book, to_code) for book in books}
    found = {name: turns for name, turns in found.items() if turns}
    if not found:
        problem = "it has no agreed answers on turns outside of this sample"
        raise BadOptionError(OPTION, problem, "Train on another sample, coded and settled before")
    return found, about


def _agreed(values: pd.DataFrame) -> pd.DataFrame:
    """Return what most coders gave, a row a turn (place) and a column a code; nan where they are tied or silent."""
    share = values.pivot_table(index="place", columns="code", values="value", aggfunc="mean")
    return share.where(share != HALF).round()


def _turns(
    agreed: pd.DataFrame, drawn: pd.DataFrame, book: Codebook, to_code: set[tuple[str, int]]
) -> list[dict[str, Any]]:
    """Return the first turns with answers of a book, as the page takes them."""
    names = [code.column for code in book.codes if code.column in agreed]
    own = agreed[names].dropna(how="all")
    found = []
    for place, answers in zip(own.index, own.to_dict("records"), strict=True):
        row = drawn.iloc[int(place)]
        if (row["session_id"], row["turn"]) not in to_code:
            given = {str(name): int(value) for name, value in answers.items() if not pd.isna(value)}
            turn = {"session": row["session_id"], "turn": int(row["turn"]), "role": row["role"], "answers": given}
            found.append(turn)
    return found[:TURNS]
