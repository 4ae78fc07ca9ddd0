"""How much there is to hold in mind: ``python tools/size.py [FOLDER]`` prints lines, modules, bodies and names.

For each sub-package the modules, their lines, the longest module and the longest function body; then what the design
asks for (docs/architecture.md): modules over 600 lines, bodies over 60, class names that occur twice, functions called
``of``, and cycles of imports between files. Lines are those of the file, with comments, docstrings and blank lines.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "therapy_analytics"
MOST_LINES, MOST_BODY = 600, 60
Function = ast.FunctionDef | ast.AsyncFunctionDef


@functools.cache
def trees(package: Path) -> dict[Path, ast.Module]:
    """Return the syntax trees of the modules of a package, by their paths."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(package.rglob("*.py"))}


def n_lines(path: Path) -> int:
    """Return how many lines a file has."""
    return len(path.read_text(encoding="utf-8").splitlines())


def functions(tree: ast.Module) -> Iterator[Function]:
    """Yield all functions and methods of a module."""
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def body_lines(function: Function) -> int:
    """Return how many lines the body of a function has, without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def module_name(path: Path, package: Path) -> str:
    """Return the dotted name of a module."""
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(package: Path, *, everywhere: bool = False) -> dict[str, set[str]]:
    """Return which modules of the package each module imports when it is loaded, or anywhere in it.

    Imports that only the type checker sees count as well: a reader has to follow them.
    """
    found = trees(package)
    names = {module_name(path, package): path for path in found}
    edges: dict[str, set[str]] = {}
    for name, path in names.items():
        nodes = ast.walk(found[path]) if everywhere else _at_load(found[path])
        edges[name] = {target for node in nodes for target in _targets(node, names)} - {name}
    return edges


def _at_load(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes of a module that are not inside a function."""
    open_nodes: list[ast.AST] = [tree]
    while open_nodes:
        node = open_nodes.pop()
        yield node
        open_nodes += [one for one in ast.iter_child_nodes(node) if not isinstance(one, Function | ast.Lambda)]


def _targets(node: ast.AST, names: Mapping[str, Path]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names if alias.name in names)
    if isinstance(node, ast.ImportFrom) and node.module in names:
        for alias in node.names:
            inner = f"{node.module}.{alias.name}"
            yield inner if inner in names else node.module


def cycles(edges: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the groups of modules that reach each other by imports (strongly connected components of two or more)."""
    reached = {name: _reached(name, edges) for name in edges}
    groups = {frozenset({name} | {other for other in reached[name] if name in reached[other]}) for name in edges}
    return sorted(sorted(group) for group in groups if len(group) > 1)


def _reached(start: str, edges: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    open_names = list(edges[start])
    while open_names:
        name = open_names.pop()
        if name not in found:
            found.add(name)
            open_names += edges[name]
    return found


def main(package: Path) -> None:
    """Print the table."""
    found = trees(package)
    by_folder: dict[str, list[Path]] = defaultdict(list)
    for path in found:
        by_folder[path.parent.relative_to(package).as_posix()].append(path)
    print(f"{'package':<24}{'modules':>8}{'lines':>8}{'longest module':>16}{'longest body':>14}")
    for folder, paths in [*sorted(by_folder.items()), ("all", list(found))]:
        lines = [n_lines(path) for path in paths]
        bodies = [body_lines(one) for path in paths for one in functions(found[path])]
        print(f"{folder:<24}{len(paths):>8}{sum(lines):>8,}{max(lines):>16}{max(bodies, default=0):>14}")
    long_modules = [(n_lines(path), path) for path in found if n_lines(path) > MOST_LINES]
    long_bodies = [
        (body_lines(one), f"{path.relative_to(package)}:{one.name}")
        for path, tree in found.items()
        for one in functions(tree)
        if body_lines(one) > MOST_BODY
    ]
    classes = Counter(node.name for tree in found.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    named_of = [path for path, tree in found.items() if any(one.name == "of" for one in functions(tree))]
    print(f"\nmodules over {MOST_LINES} lines: {len(long_modules)}")
    for lines, path in sorted(long_modules, reverse=True):
        print(f"  {lines:>5} {path.relative_to(package)}")
    print(f"bodies over {MOST_BODY} lines: {len(long_bodies)}")
    for lines, where in sorted(long_bodies, reverse=True):
        print(f"  {lines:>5} {where}")
    print(f"class names that occur twice: {', '.join(name for name, n in classes.items() if n > 1) or 'none'}")
    print(f"files with a function called `of`: {', '.join(path.name for path in named_of) or 'none'}")
    print("cycles between files:", "; ".join(" <-> ".join(group) for group in cycles(imports(package))) or "none")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else PACKAGE)
