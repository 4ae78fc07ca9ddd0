"""The package as a whole: imports go one way, nothing is too large, names are kept, errors can be pickled."""

from __future__ import annotations

import ast
import functools
import inspect
import pickle
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import size

from therapy_analytics.core import errors
from therapy_analytics.core.errors import DuplicateNameError, UnknownNameError
from therapy_analytics.core.registry import Registry
from therapy_analytics.measures import MEASURES
from therapy_analytics.plots import PLOTS
from therapy_analytics.readers.base import READERS
from therapy_analytics.readers.writers import WRITERS

PACKAGES = tuple(size.BUDGETS)
"""The packages, the lowest first: a package imports from those before it, or stays in itself."""
MOST_PRIVATE = 14
"""Files of tests that import what is private, most of them of the readers."""
PACKAGE = Path(__file__).resolve().parents[2] / "therapy_analytics"
CHECKOUT = pytest.mark.skipif(not PACKAGE.is_dir(), reason="only the checkout has the sources beside the tests")


@functools.cache
def _nodes(path: Path) -> list[ast.AST]:
    """Return all nodes of the syntax tree of a module."""
    return list(ast.walk(size.trees(PACKAGE)[path]))


@CHECKOUT
def test_nothing_lies_loose_and_there_are_thirteen_packages() -> None:
    loose = {path.name for path in PACKAGE.iterdir() if path.is_file()}
    assert loose == {"__init__.py", "py.typed"}
    packages = {path.name for path in PACKAGE.iterdir() if path.is_dir() and any(path.glob("*.py"))}
    assert packages == set(PACKAGES)


@CHECKOUT
def test_imports_go_one_way_and_past_no_private_module_of_another_package() -> None:
    assert size.upward_imports(PACKAGE) == []
    assert size.private_imports(PACKAGE) == []


@CHECKOUT
def test_tests_speak_to_what_is_public() -> None:
    files = Path(__file__).resolve().parents[1].rglob("*.py")
    private = {
        path.name for path in files if any(map(size.is_private, size.named_imports(ast.parse(path.read_text()))))
    }
    assert len(private) <= MOST_PRIVATE


@CHECKOUT
def test_no_files_import_each_other_in_a_ring() -> None:
    assert size.cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]
    assert size.cycles(size.imports(PACKAGE)) == []


@CHECKOUT
def test_no_module_and_no_function_is_too_long() -> None:
    trees = size.trees(PACKAGE)
    lines = {path.name: size.n_lines(path) for path in trees}
    bodies = {
        f"{path.name}: {one.name}": size.body_lines(one) for path, tree in trees.items() for one in size.functions(tree)
    }
    assert {name: n for name, n in lines.items() if n > size.MOST_LINES} == {}
    assert {name: n for name, n in bodies.items() if n > size.MOST_BODY} == {}


@CHECKOUT
def test_a_name_says_what_it_names() -> None:
    """A class name stands once in the package, so that it can be searched for; `of` is no name."""
    nodes = [(path.name, node) for path in PACKAGE.rglob("*.py") for node in _nodes(path)]
    classes = Counter(node.name for _, node in nodes if isinstance(node, ast.ClassDef))
    assert [name for name, n in classes.items() if n > 1] == []
    assert [name for name, node in nodes if isinstance(node, size.Function) and node.name == "of"] == []


@CHECKOUT
def test_only_the_command_prints() -> None:
    for path in PACKAGE.rglob("*.py"):
        calls = [node for node in _nodes(path) if isinstance(node, ast.Call)]
        printed = [node for node in calls if isinstance(node.func, ast.Name) and node.func.id == "print"]
        assert not printed or path.parent.name == "cli"


def test_registered_names_are_what_they_were() -> None:
    assert READERS.names() == [
        "chat_json",
        "chat_template",
        "delimited",
        "elan",
        "labelled_text",
        "messenger_export",
        "open_document",
        "parquet",
        "pdf_document",
        "rich_text",
        "srt",
        "substation",
        "talkbank_chat",
        "textgrid",
        "ttml",
        "web_page",
        "webvtt",
        "word_document",
        "workbook",
    ]
    assert WRITERS.names() == ["csv", "jsonl"]
    assert MEASURES.names() == [
        "affirmation",
        "alignment",
        "behaviour_rates",
        "change_balance",
        "code_rates",
        "code_shares",
        "collaboration",
        "coordination",
        "course",
        "first_advice",
        "learnt_turns",
        "lexicon_use",
        "linguistic_distance",
        "reflection_to_question",
        "responses",
        "role_check",
        "ruptures",
        "safety",
        "self_disclosure",
        "semantic_similarity",
        "shared_expressions",
        "speech_marks",
        "style_matching",
        "talk",
        "timing",
        "training_distance",
    ]
    assert PLOTS.names() == [
        "association",
        "calibration_curve",
        "client_course",
        "comparison",
        "confusion_matrix",
        "limits_of_agreement",
        "profile",
        "profile_references",
        "responses",
        "session",
        "synchrony",
        "synchrony_all",
        "synchrony_overview",
        "thirds",
    ]


def test_two_things_of_one_name_name_both_files() -> None:
    registry: Registry[int] = Registry("thing", package="therapy_analytics.run")
    registry.add("one", 1, module="here")
    registry.add("one", 2, module="here")  # the same file again, as a notebook does
    with pytest.raises(DuplicateNameError, match=r"'one' is defined twice: in here and in there"):
        registry.add("one", 3, module="there")
    assert registry["one"] == 2


def test_an_unknown_name_lists_the_known() -> None:
    with pytest.raises(UnknownNameError, match=r"no reader named 'pdf'. Known: chat_json, chat_template, delimited"):
        READERS["pdf"]


EXAMPLES: dict[str, tuple[object, ...]] = {
    "UnreadableFileError": ("a.csv", 3, "it breaks off", "Save it again"),
    "NothingToReadError": ("nothing",),
    "UnknownNameError": ("reader", "x", ["b", "a"]),
    "DuplicateNameError": ("reader", "x", "here", "there"),
    "BadDataFileError": ("a.toml", "no name", "Give one"),
    "BadOptionError": ("--out", "a file", "Name a folder"),
    "CannotWriteError": ("results", "the disk is full", "Free some space"),
    "CoderServerError": ("http://127.0.0.1:1", "nobody answers", "Start it"),
}


@pytest.mark.parametrize(
    "kind",
    [one for name, one in inspect.getmembers(errors, inspect.isclass) if name in EXAMPLES],
    ids=lambda kind: kind.__name__,
)
def test_errors_survive_pickling_and_read_as_sentences(kind: type[Exception]) -> None:
    error = kind(*EXAMPLES[kind.__name__])
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert str(again) == str(error)
    assert vars(again) == vars(error)
    assert str(error).strip()
    assert ".." not in str(error)


def test_every_error_has_an_example() -> None:
    public = {one for one in vars(errors) if one.endswith("Error") and not one.startswith("_")}
    assert public == {*EXAMPLES, "TherapyAnalyticsError"}


def _loaded_by(code: str) -> set[str]:
    script = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


HEAVY = {"numpy", "pandas", "scipy", "spacy", "matplotlib", "sklearn", "rich.progress"}


def test_help_loads_nothing_heavy() -> None:
    code = "from typer.testing import CliRunner\nfrom therapy_analytics.cli import app\n"
    code += "assert CliRunner().invoke(app, ['--help']).exit_code == 0"
    assert not HEAVY & _loaded_by(code)


def test_importing_the_package_does_no_work() -> None:
    loaded = _loaded_by("import therapy_analytics")
    assert not HEAVY & loaded
    assert not {name for name in loaded if name.startswith("therapy_analytics.")}


def test_an_analysis_loads_no_trainer_no_plotting_and_no_outside_coder(samples: Path) -> None:
    code = f"import therapy_analytics as ta\nta.analyze(ta.read({str(samples / 'aria_ben.json')!r}))"
    loaded = _loaded_by(code)
    assert "therapy_analytics.text.tokens" in loaded
    assert not {"sklearn", "torch", "matplotlib"} & loaded
    assert not [name for name in loaded if name.startswith("therapy_analytics.codes") and "llm" in name]


def test_a_run_without_figures_loads_no_plotting(samples: Path, tmp_path: Path) -> None:
    words = ["run", str(samples / "aria_ben.json"), "--out", str(tmp_path / "r"), "--tagger", "fast", "--no-plots"]
    code = "from typer.testing import CliRunner\nfrom therapy_analytics.cli import app\n"
    code += f"assert CliRunner().invoke(app, {[*words, '--no-report', '--processes', '1']!r}).exit_code == 0"
    assert "matplotlib" not in _loaded_by(code)
    assert (tmp_path / "r" / "sessions.csv").is_file()


KNOW_OF_SOCKETS = {"llm_client.py", "cluster.py", "third_party.py"}
"""An outside coder and a cluster: the user names the address of each. The third keeps a library from opening one."""


def test_only_what_the_user_gives_an_address_knows_of_sockets() -> None:
    reach = {
        "socket",
        "ssl",
        "http",
        "http.client",
        "urllib.request",
        "asyncio",
        "requests",
        "httpx",
        "smtplib",
        "ftplib",
    }
    for path in PACKAGE.rglob("*.py"):
        nodes = _nodes(path)
        names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
        assert not names & reach or path.name in KNOW_OF_SOCKETS, path.name


def test_every_public_name_is_there_and_documented() -> None:
    import therapy_analytics as ta

    assert sorted(ta.__all__) == ta.__all__ or set(ta.__all__) == set(ta._HOMES)
    for name in ta.__all__:
        assert inspect.getdoc(getattr(ta, name))
        assert name in dir(ta)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ta.nothing
