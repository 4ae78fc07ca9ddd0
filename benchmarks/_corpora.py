"""The research corpora as sessions, for the benchmarks: docs/model_card.md names them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import therapy_analytics as ta
from therapy_analytics.core.session import Session
from therapy_analytics.measures.settings import Settings
from therapy_analytics.results.tables import Measured
from therapy_analytics.run import measure_sessions

FAST = ta.TaggerOptions(kind="fast")
_BATCH = 20


def sessions_of(data: Path, name: str) -> list[Session]:
    """Return the sessions of a corpus by its name: ``annomi``, ``hlqc``, ``mibot``, ``vera_mh``, ..."""
    return [session for reading in ta.read_files([data / name]) for session in reading.sessions]


def of_quality(data: Path, name: str) -> dict[str, list[Session]]:
    """Return the sessions of ``annomi`` or ``hlqc`` of high and low quality, without disputed labels and copies.

    One session stands for a recording: the first of each `source_group`.
    """
    found: dict[str, dict[str, Session]] = {"high": {}, "low": {}}
    for session in sessions_of(data, name):
        about = session.metadata
        quality = about.get("mi_quality") or about.get("quality", "")
        if about["quality_label_disputed"] != "True":
            found[quality].setdefault(about["source_group"], session)
    return {quality: list(by_group.values()) for quality, by_group in found.items()}


def measured(sessions: Sequence[Session], tagger: ta.TaggerOptions = FAST) -> Iterator[Measured]:
    """Yield sessions as arrays with the codes and values of all measures."""
    settings = Settings(tagger=tagger)
    for start in range(0, len(sessions), _BATCH):
        yield from measure_sessions(sessions[start : start + _BATCH], settings)
