"""The filled paragraphs of docs/reporting.md have the numbers that its commands give."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from therapy_analytics.cli import app

WORDS = {2: "Two"}
CODES = ("mi_question", "mi_reflection", "mi_input")
RATES = ("therapist_question_rate", "therapist_reflection_rate", "therapist_input_rate")


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    """Return the page in one line, without the marks of quoted paragraphs."""
    text = (root / "docs" / "reporting.md").read_text(encoding="utf-8")
    return " ".join(re.sub(r"^> ?", "", text, flags=re.MULTILINE).split())


@pytest.fixture(scope="module")
def folder(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the commands of the page, without figures, in a folder like the program's."""
    made = tmp_path_factory.mktemp("program")
    shutil.copytree(root / "sample_transcripts", made / "sample_transcripts")
    shutil.copytree(root / "notebooks" / "codes", made / "notebooks" / "codes")
    (block,) = re.findall(r"```sh\n(.*?)```", (root / "docs" / "reporting.md").read_text(encoding="utf-8"), re.DOTALL)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        for line in block.splitlines():
            name, *words = shlex.split(line)
            done = CliRunner().invoke(app, [*words, "--no-plots"])
            assert name == "tanalyze", line
            assert done.exit_code == 0, done.output
    return made


def test_what_was_run(page: str, folder: Path) -> None:
    sessions = pd.read_csv(folder / "results" / "sessions.csv")
    recipe = json.loads((folder / "results" / "run.json").read_text(encoding="utf-8"))
    counselors = sessions.groupby("counselor")["source"].first()
    version, tagger, seed = recipe["therapy_analytics"], recipe["tagger"], recipe["options"]["seed"]
    assert f"{len(sessions)} sessions ({sessions['n_turns'].sum()} turns)" in page
    assert f"of {len(counselors)} counselors, {(counselors == 'llm').sum()} of them language models" in page
    assert f"with therapy-analytics {version} (tagger {tagger['name']} {tagger['version']}" in page
    assert f'aim "{tagger["aim"]}", seed {seed};' in page
    assert f"(Version {version})" in page
    assert f"All {len(recipe['inputs'])} files were read" in page
    assert len(pd.read_csv(folder / "results" / "problems.csv")) == 0
    assert f"{WORDS[(sessions['distance_from_training'] > 1).sum()]} sessions were unlike" in page


def test_how_far_the_coders_and_the_tagger_agree(page: str, folder: Path) -> None:
    rows = _rows(folder / "results" / "agreement" / "codes.csv", "code", CODES)
    first, *others = (f"[{_short(row['kappa_lo'])}, {_short(row['kappa_hi'])}]" for row in rows)
    values = [_short(row["kappa"]) for row in rows]
    assert f"was {values[0]}, 95% CI {first}, for questions" in page
    assert f"{values[1]} {others[0]} for reflections and {values[2]} {others[1]} for input" in page
    people = [row["human_kappa_mean"] for row in rows]
    assert f"inter-rater kappa was {_short(min(people))} to {_short(max(people))}" in page


def test_what_differs(page: str, folder: Path) -> None:
    rows = _rows(folder / "results" / "comparison" / "comparison.csv", "measure", RATES)
    human, model, change = (_interval(rows[0], name) for name in ("mean", "mean_against", "difference"))
    assert f"questions in {human.replace(' [', '% of turns, 95% CI [')}, and" in page
    assert f"language models in {model.replace(' [', '% [')}, a" in page
    assert f"a difference of {change.replace(' [', ' points [')}. Reflections" in page
    for row in rows[1:]:
        assert f"{_points(row['mean'])}% and {_points(row['mean_against'])}%" in page
        assert f"{_interval(row, 'difference')})" in page
    assert {row["finding"] for row in rows} == {"too few"}


def test_the_null_distribution_of_synchrony(page: str, folder: Path) -> None:
    measures = pd.read_csv(folder / "results" / "measures.csv")
    both = measures[(measures["measure"] == "semantic_similarity") & (measures["direction"] == "both")]
    known = both.dropna(subset="surrogate_p")
    value, surrogates = _short(known["value"].mean()), _short(known["surrogate_mean"].mean())
    assert f"In the {len(known)} sessions with surrogate pairs, semantic similarity averaged {value}" in page
    assert f"against {surrogates} for surrogate pairs" in page
    assert f"exceeded them in {(known['surrogate_p'] < 0.05).sum()} of {len(known)} (each p < .05)" in page


def _rows(path: Path, key: str, names: tuple[str, ...]) -> list[Mapping[Hashable, Any]]:
    return pd.read_csv(path).set_index(key).loc[list(names)].to_dict("records")


def _short(number: float) -> str:
    return f"{number:.2f}".lstrip("0")


def _points(share: float) -> str:
    return f"{100 * share:.0f}"


def _interval(row: Mapping[Hashable, Any], name: str) -> str:
    return f"{_points(row[name])} [{_points(row[f'{name}_lo'])}, {_points(row[f'{name}_hi'])}]"
