"""The examples of docs/commands.md do what the page shows; every other command of the documents can be typed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest
import typer.main
from typer.testing import CliRunner

from therapy_analytics.cli import app

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


class Example(NamedTuple):
    """A command, and what the page says that it prints."""

    words: tuple[str, ...]
    shown: str


def examples() -> Iterator[Example]:
    """Yield the examples: each begins with a dollar in a block of the kind console."""
    for block in re.findall(r"^```console\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            name, *words = shlex.split(command)
            assert name == "tanalyze", command
            yield Example(tuple(words), shown)


EXAMPLES = sorted(examples(), key=lambda one: one.words[0] != "run" or "--model" in one.words)
"""Those that make what the others take come first."""


def command_lines() -> dict[tuple[str, ...], str]:
    """Return all commands that the documents tell a reader to type, without the examples, with a page each is on."""
    found: dict[tuple[str, ...], str] = {}
    for page in (ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))):
        text = page.read_text(encoding="utf-8")
        blocks = re.findall(r"^(?:    |\.venv[/\\]\S+[/\\])?(tanalyze [a-z]+ .*)$", text, flags=re.MULTILINE)
        spans = re.findall(r"`(tanalyze [a-z]+ [^`\n]*)`", text)
        for line in (*blocks, *spans):
            words = shlex.split(line.replace("\\", "/"))[1:]
            if not any(word.startswith("-") for word in words[1:2]) or line in blocks:
                found.setdefault(tuple(words), page.name)
    return {words: page for words, page in found.items() if words not in {one.words for one in EXAMPLES}}


TRANSCRIPTS = (
    *("transcripts/", "transcripts", "my_folder/", "more_transcripts/", "chats/", "~/transcripts/"),
    "$HOME/transcripts",
)
STAND_INS = {
    **dict.fromkeys(TRANSCRIPTS, "sample_transcripts/"),
    **dict.fromkeys(("codes.csv", "gold.csv", "gold.xlsx"), "notebooks/codes/therapist_codes.csv"),
    "scores.csv": "sample_course/outcomes.csv",
    "settled.csv": "notebooks/codes/therapist_codes.csv",
    "FILE": "sample_transcripts/nair_yuki.txt",
    "8": "2",  # processes
}


def as_typed(words: tuple[str, ...], out: Path) -> list[str]:
    """Return a command with files that are there, an output of its own, and the fast tagger."""
    typed = [STAND_INS.get(word, word) for word in words]
    if words[0] == "outcomes":
        stand_ins = {"results/": "course/", "notebooks/codes/therapist_codes.csv": "course_codes.csv"}
        typed = [stand_ins.get(word, word) for word in typed]
    if "our_clinic.toml" in words:
        typed = ["clinic_codes.csv" if word.endswith("therapist_codes.csv") else word for word in typed]
    if words[0] in {"run", "convert", "speakers"}:
        typed = ["few_transcripts/" if word == "sample_transcripts/" else word for word in typed]
    if words[0] in {"inspect", "codebook", "report", "code"}:
        return typed
    if "--out" in typed:
        typed[typed.index("--out") + 1] = str(out)
    else:
        typed += ["--out", str(out)]
    quick = {"run": ["--no-plots"], "compare": ["--no-plots", "--permutations", "1000"], "train": ["--beside", "fast"]}
    typed += quick.get(words[0], ["--no-plots"] if words[0] in {"agree", "outcomes"} else [])
    return typed + (["--tagger", "fast"] if words[0] == "run" and "--tagger" not in words else [])


LINES = {tuple(as_typed(words, Path("out"))): page for words, page in command_lines().items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Go to a folder like the program's, for as long as the examples run."""
    made = tmp_path_factory.mktemp("program")
    for name in ("sample_transcripts", "sample_course"):
        shutil.copytree(ROOT / name, made / name)
    few = ("aria_ben.json", "boyle_lucia.txt", "lindqvist_dana_1.vtt", "nair_tomas.csv", "sessions.csv")
    (made / "few_transcripts").mkdir()
    for file in few:
        shutil.copy(ROOT / "sample_transcripts" / file, made / "few_transcripts")
    shutil.copytree(ROOT / "notebooks" / "codes", made / "notebooks" / "codes")
    for page, file in (("codebooks.md", "our_clinic.toml"), ("lexicons.md", "sleep.toml")):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        (made / file).write_text(re.findall(r"^```toml\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)[0])
    codes = pd.read_csv(made / "notebooks" / "codes" / "therapist_codes.csv")
    codes.rename(columns={"question": "joining"})[["session_id", "turn", "coder", "joining"]].to_csv(
        made / "clinic_codes.csv", index=False
    )
    pd.DataFrame({"label": ["question"], "code": ["mi_question"]}).to_csv(made / "our_labels.csv", index=False)
    people = codes.groupby(["session_id", "turn"]).filter(lambda rows: len(rows) == 2)  # those that two people coded
    for coder, name in (("a", "Ann"), ("b", "Ben")):
        people[people["coder"] == coder].assign(coder=name).to_csv(made / f"codes_{name}.csv", index=False)
    here, mask = Path.cwd(), os.umask(0o077)
    os.chdir(made)
    yield made
    os.chdir(here)
    os.umask(mask)


@pytest.fixture(scope="module")
def given(folder: Path) -> set[str]:
    """Return what stands in the folder before any command."""
    return {path.name for path in folder.iterdir()}


@pytest.fixture(scope="module")
def printed(given: set[str]) -> list[tuple[Example, int, str]]:
    """Run all examples, in their order: each may take what one before it wrote."""
    assert given
    found = []
    for example in EXAMPLES:
        done = CliRunner().invoke(app, example.words)
        found.append((example, done.exit_code, done.output))
    turns = pd.concat([pd.read_csv(path) for path in Path("course/sessions").glob("*/turns.csv")])
    coded = turns[turns["role"] == "therapist"][["session_id", "turn", "mi_reflection"]]
    coded.assign(inclusion=1).to_csv("course_codes.csv", index=False)  # sessions that were coded whole
    return found


def plain(output: str) -> str:
    """Return the words of an output, without the lines of its tables."""
    return " ".join(re.sub(r"[\u2500-\u257f]", " ", output).split())


@pytest.mark.parametrize("index", range(len(EXAMPLES)), ids=[" ".join(one.words[:2]) for one in EXAMPLES])
def test_an_example_prints_what_the_page_shows(index: int, printed: list[tuple[Example, int, str]]) -> None:
    example, status, output = printed[index]
    assert status == 0, output
    place, words = 0, plain(output)
    for part in re.split(r"\.\.\.", example.shown):
        wanted = " ".join(part.split())
        at = words.find(wanted, place)
        assert at >= 0, f"{wanted!r} is not in what follows: {words[place : place + 600]}"
        place = at + len(wanted)


@pytest.mark.parametrize("words", LINES, ids=" ".join)
def test_every_command_of_the_documents_can_be_typed(
    words: tuple[str, ...], printed: list[Example], folder: Path, tmp_path: Path
) -> None:
    """What needs a server or a cluster gets as far as asking for it. Nothing is written but where that is asked for."""
    assert printed
    before = set(folder.iterdir())
    typed = [str(tmp_path / "out") if word == "out" else word for word in words]
    done = CliRunner().invoke(app, typed)
    if {"llm", "dask"}.intersection(words):
        assert done.exit_code == 2
        assert re.search("Start the server|no Dask scheduler answers|there is no certificate", plain(done.output))
    else:
        assert done.exit_code == 0, f"{LINES[words]}: {done.output}"
    named = {folder / one for one, option in zip(words[1:], words, strict=False) if option == "--pseudonyms"}
    assert set(folder.iterdir()) - named == before - named


MENTIONED = re.compile(r"`tanalyze ([a-z]+) (-[^`\n]*)`")


def test_options_that_are_mentioned_with_a_command_are_its_own() -> None:
    for page in (ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))):
        for name, rest in MENTIONED.findall(page.read_text(encoding="utf-8")):
            known = {opt for one in COMMANDS[name].params for opt in (*one.opts, *one.secondary_opts)} | {"--help"}
            asked = {word for word in rest.split() if word.startswith("--")}
            assert asked <= known, f"{page.name}: tanalyze {name} has no {asked - known}"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example(name: str) -> None:
    assert any(one.words[0] == name for one in EXAMPLES)


def test_files_that_the_page_names_are_written(printed: list[tuple[Example, int, str]], folder: Path) -> None:
    for name in (
        "results/sessions.csv",
        "results/sessions/boyle_lucia/turns.csv",
        "results/comparison/comparison.md",
        "results/agreement/agreement.md",
        "my_model/model_card.md",
        "converted/lindqvist_dana_1.csv",
    ):
        assert (folder / name).is_file(), name


def test_examples_write_only_where_they_are_asked_to(printed: list[Example], given: set[str], folder: Path) -> None:
    """A folder or key that it names, and by default `results_sample` and `results_export` beside the results."""
    named = {words[at + 1] for words, _ in EXAMPLES for at, word in enumerate(words) if word == "--out"}
    assert printed
    assert {path.name for path in folder.iterdir()} - given == {
        *(name.rstrip("/") for name in named), "results_sample", "results_export",
        "course_codes.csv",  # which the tests make
        *(["KEYFILE"] if (folder / "KEYFILE").exists() else []),  # which --pseudonyms names
    }  # fmt: skip
    assert not [path for path in folder.rglob("*") if path.name == ".lock" or path.name.endswith(".part")]


WRITTEN = (
    *(f"results/comparison/{name}" for name in ("comparison", "groups")),
    *("course/outcomes/associations", "course/outcomes/unmatched", "my_model/scores"),
    *(f"results/agreement/{name}" for name in ("codes", "pairs", "sessions", "calibration", "confusion")),
    *("results/measures", "results/problems", "speakers/changes"),
)


@pytest.mark.parametrize("name", WRITTEN)
def test_columns_of_what_is_written_are_explained(name: str, printed: list[Example], folder: Path) -> None:
    """docs/output_columns.csv has them: the other side and the ends of an interval under the name of the value."""
    assert printed
    page = pd.read_csv(ROOT / "docs" / "output_columns.csv")
    file = f"{name.rpartition('/')[2]}.csv"
    explained = set(" ".join(page.loc[page["file"] == file, "columns"]).split()) | {"source"}  # the groups' column
    columns = set(pd.read_csv(folder / f"{name}.csv", nrows=1).columns)
    assert {re.sub(r"(_against)?(_lo|_hi)?$|_against_(lo|hi)$", "", one) for one in columns - explained} <= explained
