"""The reference profiles that come with the package: good and poor counseling by people, and language models.

``reference_profiles.csv`` is made by ``tools/build_reference.py``; docs/reference_profile.md shows it and says what the
groups are.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import pandas as pd

from therapy_analytics.errors import UnknownNameError

PROFILES = Path(__file__).parent / "reference_profiles.csv"
LEDGER = Path(__file__).parent / "outcome_ledger.csv"
"""What ratings of clients, outcomes and skill say of core measures; ``python -m benchmarks.outcomes --write`` makes
it."""
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
        ``q75``, ``q95``.

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
