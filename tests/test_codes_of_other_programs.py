"""The recipes of docs/coding.md, by which codes from ELAN, NVivo or MAXQDA become the long form."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

import therapy_analytics as ta
from therapy_analytics.run import Writing
from therapy_analytics.stats.agreement import agreement


@pytest.fixture
def recipes(root: Path, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the code of the recipes, in a folder with results."""
    monkeypatch.chdir(tmp_path)
    settings = ta.Settings(tagger=ta.TaggerOptions(kind="fast"), quotes=True)
    ta.run([samples / "lindqvist_dana_1.vtt"], "results", settings=settings,
           writing=Writing(figures=(), report=False))  # fmt: skip
    page = (root / "docs" / "coding.md").read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)


def test_codes_with_times_and_with_words_find_their_turns(recipes: list[str]) -> None:
    turns = pd.read_csv(next(Path("results/sessions").glob("*/turns.csv")))
    coded = turns.iloc[[0, 2, 3]]
    rows = [
        f"Ann\t{a}\t{b}\tquestion\tlindqvist_dana_1.eaf\n"
        for a, b in zip(coded["start_s"], coded["end_s"], strict=True)
    ]
    Path("elan.txt").write_text("".join(rows), encoding="utf-8")
    names = {"session_id": "Document name", "text": "Segment"}
    coded[["session_id", "text"]].rename(columns=names).assign(Code="question", **{"Created by": "Ann"}).to_excel(
        "segments.xlsx", index=False
    )
    by_time, by_words = recipes
    space: dict[str, object] = {}
    for recipe in (by_time, by_words):
        Path("codes.csv").unlink(missing_ok=True)
        exec(recipe, space)
        written = pd.read_csv("codes.csv")
        assert list(written) == ["session_id", "turn", "code", "coder"]
        assert sorted(written["turn"]) == coded["turn"].tolist()
        found = agreement("results", "codes.csv")
        assert found.codes["code"].tolist() == ["mi_question"]
