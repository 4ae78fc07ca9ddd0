"""How many processes a run takes by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from therapy_analytics.run import _writing, processes_for


@pytest.mark.parametrize(("cores", "most"), [(1, 1), (2, 2), (64, 4)])
def test_large_folders_are_shared_among_the_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: int, most: int
) -> None:
    monkeypatch.setattr(_writing, "threads", lambda: cores)
    (tmp_path / "inner").mkdir()
    for i in range(2):
        (tmp_path / "inner" / f"{i}.txt").write_bytes(b"T: yes\n" * 40_000)
    assert processes_for([tmp_path]) == most
    assert processes_for([tmp_path / "inner" / "0.txt", str(tmp_path / "inner" / "1.txt")]) == most
    assert processes_for([tmp_path / "inner" / "0.txt"]) == 1


def test_what_is_not_there_counts_for_nothing(tmp_path: Path) -> None:
    assert processes_for([tmp_path / "gone"]) == 1
