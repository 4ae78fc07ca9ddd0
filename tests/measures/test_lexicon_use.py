"""The user's own word lists become columns."""

from __future__ import annotations

from pathlib import Path

import pytest

import therapy_analytics as ta
from therapy_analytics import load_lexicon
from therapy_analytics.measures.process.lexicon_use import lexicon_use

TOML = """
name = "sleep"
definition = "Talk of sleep"
source = "A test"
licence = "Apache-2.0"
[categories.trouble]
definition = "Bad sleep"
words = ["insomnia", "sleepless*", "lie awake", "awake"]
"""
DIC = "%\n1\ttrouble (Bad sleep)\n2\tnight\n%\ninsomnia\t1\nsleepless*\t1\t2\nnight*\t2\n"
SPOKEN = [("T", "Insomnia again?"), ("C", "I lie awake, sleeplessness and nights awake.")]


def test_a_toml_lexicon(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "sleep.toml").write_text(TOML)
    values = lexicon_use(make(SPOKEN, lexicons=[load_lexicon(tmp_path / "sleep.toml")]))
    assert values["n_therapist_sleep_trouble"] == 1
    assert values["therapist_sleep_trouble_per_100_words"] == pytest.approx(50)
    # "lie awake" counts once, not again as "awake"; with sleeplessness and the last awake: 3 of 7 words.
    assert values["n_client_sleep_trouble"] == 3
    assert values["client_sleep_trouble_per_100_words"] == pytest.approx(100 * 3 / 7)


def test_a_liwc_dictionary(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "my sleep.dic").write_text(DIC)
    values = lexicon_use(make(SPOKEN, lexicons=[load_lexicon(tmp_path / "my sleep.dic")]))
    assert values["n_client_my_sleep_trouble"] == 1
    assert values["n_client_my_sleep_night"] == 2


def test_without_a_lexicon_of_the_user_there_are_no_columns(make) -> None:  # type: ignore[no-untyped-def]
    assert lexicon_use(make(SPOKEN)) == {}


def test_a_rate_over_no_words_is_missing_in_the_table(tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "sleep.toml").write_text(TOML)
    sessions = ta.analyze([make(SPOKEN[:1]).session], lexicons=[load_lexicon(tmp_path / "sleep.toml")]).sessions
    assert sessions["client_sleep_trouble_per_100_words"].isna().tolist() == [True]
    names = list(sessions)
    assert names.index("client_sleep_trouble_per_100_words") > names.index("therapist_question_rate")
