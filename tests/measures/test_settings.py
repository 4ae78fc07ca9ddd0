"""What a run depends on."""

from __future__ import annotations

from pathlib import Path

import pytest

from therapy_analytics.measures import settings


def test_the_hash_of_the_program_is_of_all_packages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[Path] = []
    monkeypatch.setattr(Path, "read_bytes", lambda path: read.append(path) or b"")
    settings.program.__wrapped__()
    assert {"core", "readers", "codes", "measures", "run"} <= {path.parent.name for path in read}
    assert "first_advice.toml" in {path.name for path in read}
