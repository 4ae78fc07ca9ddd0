"""Words of the documents, and terms that the field has better words for: ``python tools/words.py [--where]``.

Prints how many words each document has, then every retired term that is left, with its better word. ``--where`` names
the lines. The table is that of the design (docs/architecture.md, "Words"); `tests/contract/test_words.py` runs it.
Identifiers are looked at part by part: ``by_strangers`` and ``ByStrangers`` hold the word "strangers".
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CODE = ("therapy_analytics", "tests", "benchmarks", "tools")
SUFFIXES = (".py", ".js", ".css", ".html", ".toml", ".md", ".ipynb")
OURSELVES = {"tools/words.py", "tests/contract/test_words.py", "CHANGELOG.md"}
"""Files that must name retired terms: the list itself, its test, and what was renamed."""
DATA = (
    "therapy_analytics/codes/codebooks",
    "tests/formats",
    "tools/invented_sessions",
    "tools/process_codes/invented.jsonl",
    "tools/seed_sentences.toml",
)
"""Dialogues, sentences and lists, where words are what people say."""


@dataclass(frozen=True, slots=True)
class Term:
    """A retired term.

    Attributes
    ----------
    term : str
        A regular expression for it, over text whose identifiers are taken apart, in lower case.
    instead : str
        The field's word.
    allowed : str
        A regular expression for what contains the term and stays.
    everyday : bool
        Whether it is an everyday word, too, so that the invented dialogues of tests may hold it.
    """

    term: str
    instead: str
    allowed: str = ""
    everyday: bool = False


TERMS = (
    Term(
        r"chance",
        "null distribution, permutation, shuffle",
        r"by chance|chance alone|chance[- ]corrected|chance agreement",
        everyday=True,
    ),
    Term(r"strangers?", "surrogate pair, pseudo-pair", everyday=True),
    Term(r"company|lend(?:er|s|ing)?|lenders|lent", "surrogate pool, donor", everyday=True),
    Term(r"exchanged", "swapped (of labels), surrogate (of speakers)"),
    Term(r"stretch(?:es)?", "window, segment, third, passage"),
    Term(r"pieces?", "window, file chunk, work batch, part of a text", r"word ?pieces?|maxout pieces"),
    Term(r"crews?|who works", "executor, worker"),
    Term(r"meanwhile", "cached"),
    Term(r"bridges?|bridging", "crosswalk", everyday=True),
    Term(
        r"rooms?|houses?",
        "package, module, layer",
        r"(?:living|waiting|chat|emergency) rooms?|house (?:number|style)s?",
        everyday=True,
    ),
    Term(r"leave asked|asks? leave|asking leave", "permission asked"),
    Term(r"(?:middle )?nine in ten", "central 90% of sessions"),
    Term(r"talks? (?:for|against) (?:or against )?change|for or against change", "change talk, sustain talk"),
    Term(r"calls? it normal", "normalizing"),
    Term(r"explains? psychology", "psychoeducation"),
    Term(r"random draws begin from", "random seed"),
    Term(r"less right", "less accurate"),
    Term(r"cannot tell", "inconclusive"),
    Term(r"words that are not plain", "technical terms"),
)
NAMES = {
    "said": "word sequence, n-gram, what it holds",
    "once": "cached",
    "meanwhile": "cached",
    "def of": "a verb and its object",
}
"""Identifiers of Python code that are retired as a whole (in a sentence, "what was said" is plain English)."""


def documents() -> list[Path]:
    """Return the documents of users and maintainers."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def n_words(text: str) -> int:
    """Return how many words a text has, as ``wc -w`` counts them."""
    return len(text.split())


def files() -> list[Path]:
    """Return all files of code and prose that are looked at."""
    found = [*documents(), *sorted((ROOT / "notebooks").glob("*.ipynb"))]
    for folder in CODE:
        found += sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES)
    names = {path: path.relative_to(ROOT).as_posix() for path in found}
    return [path for path in found if names[path] not in OURSELVES and not names[path].startswith(DATA)]


def plain(line: str) -> str:
    """Return a line in lower case whose identifiers are taken apart.

    Examples
    --------
    >>> plain("found = ByStrangers(null_by_chance)")
    'found = by strangers(null by chance)'
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", line).lower().strip()


def left(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield line, retired term and better word of all that is left in a file."""
    text = path.read_text(encoding="utf-8")
    where = path.relative_to(ROOT).as_posix()
    whole = plain(text)
    terms = [term for term in TERMS if not (term.everyday and where.startswith("tests/"))]
    terms = [term for term in terms if re.search(rf"\b(?:{term.term})\b", whole)]  # most files hold none
    for number, line in enumerate(text.splitlines() if terms else (), start=1):
        words = plain(line)
        for term in terms:
            rest = re.sub(rf"\b(?:{term.allowed})\b", " ", words) if term.allowed else words
            for match in re.finditer(rf"\b(?:{term.term})\b", rest):
                yield number, match[0], term.instead
    if path.suffix == ".py" and not where.startswith("tests/"):
        yield from _names(ast.parse(text))


def _names(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Yield the retired identifiers of a module: functions, classes, arguments and variables."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = "def of" if node.name == "of" else node.name
        elif isinstance(node, ast.arg):
            name = node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        else:
            continue
        if name.lstrip("_").lower() in NAMES:
            yield node.lineno, name, NAMES[name.lstrip("_").lower()]


def main() -> None:
    """Print words of documents, then what is left of retired terms."""
    sizes = {path: n_words(path.read_text(encoding="utf-8")) for path in documents()}
    for path, size in sizes.items():
        print(f"{size:7,}  {path.relative_to(ROOT)}")
    print(f"{sum(sizes.values()):7,}  words in all")
    n = 0
    for path in files():
        found = list(left(path))
        n += len(found)
        if found:
            print(f"{len(found):5}  {path.relative_to(ROOT)}: {', '.join(sorted({term for _, term, _ in found}))}")
        if "--where" in sys.argv:
            for number, term, instead in found:
                print(f"       {number}: {term} -> {instead}")
    print(f"{n} retired terms left")


if __name__ == "__main__":
    main()
