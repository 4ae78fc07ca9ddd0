"""Samples, results and a browser that the tests of coding share."""

from __future__ import annotations

from pathlib import Path

import pytest
from coding.samples import invented, sample_of

import therapy_analytics as ta
from therapy_analytics.run import Writing

NAMES = (
    *("boyle_lucia.txt", "aria_ben.json", "lindqvist_dana_1.vtt", "nair_tomas.csv", "nair_yuki.txt"),
    *("lindqvist_omar.txt", "sessions.csv"),
)


@pytest.fixture(scope="session")
def talks(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with six of the sample transcripts and the table about them."""
    folder = tmp_path_factory.mktemp("coding_talks")
    for name in NAMES:
        (folder / name).write_bytes((samples / name).read_bytes())
    return folder


@pytest.fixture(scope="session")
def results(talks: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the results of the fast tagger on these transcripts."""
    out = tmp_path_factory.mktemp("coding") / "results"
    ta.run(
        [talks],
        out,
        settings=ta.Settings(tagger=ta.TaggerOptions(kind="fast")),
        writing=Writing(figures=(), report=False),
    )
    return out


@pytest.fixture(scope="session")
def sample(talks: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a sample of 60 turns of these transcripts. Tests that write into it copy it."""
    sessions = [session for name in NAMES[:-1] for session in ta.read(talks / name)]
    return sample_of(sessions, tmp_path_factory.mktemp("coding_sample") / "sample")


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Return a sample of 24 invented turns for two codebooks."""
    return sample_of(invented(), tmp_path / "small", n=24, books=("mi", "process"))
