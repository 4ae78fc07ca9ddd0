"""How much there is to hold in mind: ``python tools/size.py [FOLDER]`` prints the packages beside their budgets.

For each package below ``therapy_analytics`` its modules, lines, statements, and lines of TOML and of scripts
and styles, beside the lines that docs/architecture.md allows; then what the design asks for: no loose file, modules up
to 600 lines, bodies up to 60, no import of another package's private modules, none that goes up, no cycle between
files, no class name twice. Lines are those of the file, with comments, docstrings and blank lines; statements are
counted in the syntax tree, without docstrings.
"""

from __future__ import annotations

import ast
import functools
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "therapy_analytics"
MOST_LINES, MOST_BODY = 600, 60
BUDGETS = {
    "core": 2_100, "readers": 8_000, "text": 1_900, "codes": 4_400, "speakers": 800, "measures": 6_200,
    "results": 1_400, "stats": 7_400, "plots": 2_400, "coding": 500, "report": 1_900, "run": 1_600, "cli": 1_400,
}  # fmt: skip
"""The packages, the lowest first (each imports from those before it, or stays in itself), with their lines at most."""
MOST_ALL, MOST_WITHOUT_READERS = 40_000, 30_000
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


def n_statements(tree: ast.Module) -> int:
    """Return how many statements a module has, without docstrings and other texts that stand alone."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    return sum(not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) for node in nodes)


def body_lines(function: Function) -> int:
    """Return how many lines the body of a function has, without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def whole_lines(function: Function) -> int:
    """Return how many lines a function has, with its head and docstring."""
    return (function.end_lineno or 0) - function.lineno + 1


def module_name(path: Path, package: Path) -> str:
    """Return the dotted name of a module."""
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def home_of(name: str) -> str:
    """Return the package below ``therapy_analytics`` in which a dotted name stands; "" for that itself."""
    return name.split(".")[1] if "." in name else ""


def named_imports(tree: ast.AST) -> Iterator[str]:
    """Yield the dotted names of the package that a module imports, anywhere in it."""
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from (name for name in names if name.startswith(f"{PACKAGE.name}."))


def is_private(name: str) -> bool:
    """Return whether a dotted name goes through a private module or names something private."""
    return any(part.startswith("_") and not part.startswith("__") for part in name.split("."))


def _named_by_module(package: Path) -> Iterator[tuple[str, str]]:
    """Yield each module of a package with each name of the package that it imports."""
    for path, tree in trees(package).items():
        yield from ((module_name(path, package), name) for name in named_imports(tree))


def private_imports(package: Path) -> list[tuple[str, str]]:
    """Return each import of what is private to another package: the module that imports, and the name."""
    return [
        (module, name)
        for module, name in _named_by_module(package)
        if home_of(module) != home_of(name) and is_private(name)
    ]


def upward_imports(package: Path) -> list[tuple[str, str]]:
    """Return each import of a package from one that stands above it: the module that imports, and the name."""
    order = list(BUDGETS)
    inside = [
        (module, name) for module, name in _named_by_module(package) if {home_of(module), home_of(name)} <= set(order)
    ]
    return [(module, name) for module, name in inside if order.index(home_of(name)) > order.index(home_of(module))]


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


def sizes(package: Path) -> dict[str, dict[str, int]]:
    """Return what each package holds: modules, lines, statements, lines of TOML, and of scripts and styles."""
    found = trees(package)
    table: dict[str, dict[str, int]] = {}
    for name in BUDGETS:
        paths = [path for path in found if path.relative_to(package).parts[0] == name]
        data = [path for path in (package / name).rglob("*") if path.suffix in {".toml", ".js", ".css"}]
        table[name] = {
            "modules": len(paths),
            "lines": sum(map(n_lines, paths)),
            "statements": sum(n_statements(found[path]) for path in paths),
            "TOML": sum(n_lines(path) for path in data if path.suffix == ".toml"),
            "JS, CSS": sum(n_lines(path) for path in data if path.suffix != ".toml"),
        }
    return table


def listed(what: str, found: Iterable[object]) -> None:
    """Print how many things there are of a kind, and which."""
    things = [str(one) for one in found]
    print(f"{what}: {len(things)}", *(f"  {one}" for one in things), sep="\n")


def main(package: Path) -> None:
    """Print the table and what the design asks for."""
    found, table = trees(package), sizes(package)
    heads = ["modules", "lines", "at most", "statements", "TOML", "JS, CSS"]
    print(f"{'package':<12}" + "".join(f"{head:>12}" for head in heads))
    total = {head: sum(row[head] for row in table.values()) for head in next(iter(table.values()))}
    for name, row in [*table.items(), ("all", total)]:
        shown = {**row, "at most": BUDGETS.get(name, MOST_ALL)}
        print(f"{name:<12}" + "".join(f"{shown[head]:>12,}" for head in heads))
    others = total["lines"] - table["readers"]["lines"] - table["speakers"]["lines"]
    print(f"without readers and speakers: {others:,} lines, at most {MOST_WITHOUT_READERS:,}\n")
    every = [one for tree in found.values() for one in functions(tree)]
    own = [one for one in every if one.name.startswith("_") and not one.name.startswith("__")]
    print(f"functions: {len(every):,}; median lines {statistics.median(map(whole_lines, every)):.0f}")
    print(f"private functions: {len(own):,}, {len(own) / len(every):.0%}")
    longest = sorted(((n_lines(path), str(path.relative_to(package))) for path in found), reverse=True)
    bodies = [
        (body_lines(one), f"{path.relative_to(package)}:{one.name}") for path in found for one in functions(found[path])
    ]
    classes = Counter(node.name for tree in found.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    loose = {path.name for path in package.iterdir() if path.is_file()} - {"__init__.py", "py.typed"}
    print(f"longest module: {longest[0]}; longest body: {max(bodies)}\n")
    listed("loose files", sorted(loose))
    listed(f"modules over {MOST_LINES} lines", [one for one in longest if one[0] > MOST_LINES])
    listed(f"bodies over {MOST_BODY} lines", sorted((one for one in bodies if one[0] > MOST_BODY), reverse=True))
    listed("class names that occur twice", [name for name, n in classes.items() if n > 1])
    listed(
        "imports of another package's private modules", [f"{one} <- {name}" for one, name in private_imports(package)]
    )
    listed("imports that go up", [f"{one} <- {name}" for one, name in upward_imports(package)])
    listed("cycles between files", [" <-> ".join(group) for group in cycles(imports(package))])


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else PACKAGE)
