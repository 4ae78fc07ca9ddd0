"""No retired term is left in code, tests, tools and documents: the table is in tools/words.py."""

from __future__ import annotations

from pathlib import Path

import pytest
import words

FILES = words.files()


@pytest.mark.skipif(not (words.ROOT / "therapy_analytics").is_dir(), reason="only the checkout has the sources")
def test_no_retired_term_is_left() -> None:
    found = [
        f"{_place(path)}:{line}: {term}: say {instead}" for path in FILES for line, term, instead in words.left(path)
    ]
    assert found == []


def test_retired_terms_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "ROOT", tmp_path)
    path = tmp_path / "a.py"
    path.write_text("class ByStrangers:\n    said = 1\n\n# alike by chance, one in a living room\n", encoding="utf-8")
    assert [(line, term) for line, term, _ in words.left(path)] == [(1, "strangers"), (2, "said")]


def _place(path: Path) -> str:
    return path.relative_to(words.ROOT).as_posix()
