"""What comes with the package to hold sessions against: reference profiles, a ledger of outcomes, and kappas.

``cross_validated.csv`` says how well the taggers agree with coders on recordings that they had not seen
(``tools/build_tagger_errors.py``). ``outcome_ledger.csv`` says what ratings of clients, outcomes and skill have to do
with core measures. ``reference_profiles.csv`` is made by ``tools/build_reference.py``; docs/reference_profile.md shows
it and says what the groups are.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from therapy_analytics.core.errors import UnknownNameError

PROFILES = Path(__file__).parent / "reference_profiles.csv"
LEDGER = Path(__file__).parent / "outcome_ledger.csv"
CROSS_VALIDATED = Path(__file__).parent / "cross_validated.csv"
GROUPS: Mapping[str, str] = {
    "human_high": "People, demonstrations of high quality (AnnoMI, HLQC)",
    "human_low": "People, demonstrations of low quality (AnnoMI, HLQC)",
    "mibot_a": "MIBot 6.3A, a language model counselling smokers",
    "mibot_b": "MIBot 6.3B, a language model counselling smokers",
    "claude_sonnet_4": "Claude Sonnet 4 with simulated clients at risk of suicide (VERA-MH)",
    "gpt_5_chat": "GPT-5 chat with simulated clients (MindEval)",
    "deepseek_r1": "DeepSeek R1 with simulated clients (MindEval)",
    "qwen3_235b": "Qwen3 235B with simulated clients (MindEval)",
}
"""The names of the groups, and who counsels whom in them."""
TAGGERS = ("accurate", "fast")


def reference_profiles(tagger: Literal["accurate", "fast"] = "accurate") -> pd.DataFrame:
    """Return the distribution of each measure of ``sessions.csv`` in each reference group.

    Parameters
    ----------
    tagger : {"accurate", "fast"}
        The tagger that coded the sessions of the reference. Compare only with sessions that the same one coded.

    Returns
    -------
    DataFrame
        One row for each group (`GROUPS`) and measure: ``group``, ``measure``, ``n_sessions`` (those in which it is
        defined), and, in the unit of the measure, ``mean`` with its 95 % bootstrap interval over sessions (``mean_lo``,
        ``mean_hi``), the standard deviation between sessions ``sd``, and the quantiles ``q05``, ``q25``, ``median``,
        ``q75``, ``q95``. Measures of synchrony are there as excess over surrogate pairs (``lsm_turn_mean_excess``), as
        their values grow with the length of turns.

    Raises
    ------
    UnknownNameError
        There is no such tagger.

    Notes
    -----
    The people's sessions are demonstrations, mostly of motivational interviewing; the models' clients are volunteers
    who smoke, or simulated. A session outside of the quantiles is different, and not necessarily worse.

    Examples
    --------
    >>> found = reference_profiles().set_index(["group", "measure"])["median"]
    >>> bool(found["human_low", "therapist_input_rate"] > found["human_high", "therapist_input_rate"])
    True
    """
    if tagger not in TAGGERS:
        raise UnknownNameError("tagger of the reference profiles", tagger, TAGGERS)
    whole = pd.read_csv(PROFILES)
    return whole[whole["tagger"] == tagger].drop(columns="tagger").reset_index(drop=True)


def cross_validated(tagger: Mapping[str, Any]) -> pd.DataFrame:
    """Return how well a tagger agrees with coders on whole sessions of recordings that it had not seen.

    Parameters
    ----------
    tagger : mapping
        Who coded, as in ``run.json``: ``kind``, ``version``, ``aim``, and ``own`` or ``recalibrated``.

    Returns
    -------
    DataFrame
        By code: Cohen's ``kappa`` (five folds by recording), and ``coded_by``, people or a language model that read the
        codebook. Without rows for any other version, and without those codes that a model of the user's own gives.
    """
    whole = pd.read_csv(CROSS_VALIDATED)
    version = str(tagger.get("version", "")).partition(" and ")[0].partition("+")[0]
    own = {*tagger.get("own", {}).get("codes", ()), *tagger.get("recalibrated", {})}
    asked = (tagger.get("kind"), version, tagger.get("aim"))
    same = [row == asked for row in zip(whole["tagger"], whole["version"], whole["aim"], strict=True)]
    return whole[np.array(same) & ~whole["code"].isin(own)].set_index("code")[["kappa", "coded_by"]]


LEDGER_KINDS: Mapping[str, str] = {
    "score": "clients' score of the session (KokoroChat)",
    "beyond_length": "the same beyond length",
    "within_counselors": "the same within counselors",
    "own_rating": "the rating that belongs to it, beyond length",
    "confidence": "confidence after less before, beyond length (MIBot)",
    "skilled": "skilled above unskilled people (AnnoMI, HLQC)",
}
"""What the ledger holds for each measure: correlations of ranks, and for skill 2 AUC - 1; all -1 to 1."""


def outcome_ledger() -> pd.DataFrame:
    """Return what ratings of clients, outcomes and skill have to do with core measures.

    Returns
    -------
    DataFrame
        One row a measure: ``measure``; ``expected``, the sign that its literature expects (+, -, or empty); ``rating``,
        the rating of KokoroChat that belongs to it; for each of `LEDGER_KINDS` a value with its 95 % bootstrap interval
        (``..._lo``, ``..._hi``), nan where it is undefined; and ``verdict`` in words.

    Notes
    -----
    KokoroChat are typed role plays in translation, MIBot a language model with people who smoke, AnnoMI and HLQC
    demonstrations: associations in such talk, and no causes. ``python -m benchmarks.outcomes --write`` makes the file.
    """
    return pd.read_csv(LEDGER, dtype={"expected": str}, keep_default_na=True).fillna({"expected": ""})


def ledger_words() -> dict[str, str]:
    """Return the ledger in a sentence a measure."""
    found = {}
    for _, row in outcome_ledger().iterrows():
        told = [
            f"{words} {row[kind]:+.2f} [{row[f'{kind}_lo']:+.2f}, {row[f'{kind}_hi']:+.2f}]"
            for kind, words in LEDGER_KINDS.items()
            if pd.notna(row[kind])
        ]
        expected = f"Expected: {row['expected'] or 'either sign'}"
        found[str(row["measure"])] = "; ".join([expected, str(row["verdict"]), *told])
    return found
