"""The page on the Python interface, made from the docstrings of the public names."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from types import ModuleType

import therapy_analytics as ta

_GROUPS = {
    "Read": ["read", "read_files", "ReadOptions", "Session", "Turn"],
    "Analyze": ["analyze", "Analysis", "run", "Settings", "TaggerOptions", "synchrony"],
    "Compare, check, train": ["compare", "CompareOptions", "agreement", "GoldOptions", "train", "TrainOptions"],
    "Add your own": ["Lexicon", "load_lexicon", "Column", "measure", "reader"],
}
_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", flags=re.MULTILINE)


def api_page() -> str:
    """Return the page: every public name with its signature and docstring, then plots and errors."""
    lines = ["# Python", "", "`import therapy_analytics as ta`, then:", ""]
    for title, names in _groups():
        lines += [f"## {title}", ""]
        for name in names:
            lines += _entry(f"ta.{name}", getattr(ta, name))
    lines += ["## Figures", "", "Each takes a table of an analysis and returns Matplotlib axes.", ""]
    for one in sorted(ta.plots.PLOTS.names()):
        lines += _entry(f"ta.plots.{one}", ta.plots.PLOTS[one])
    lines += ["## Errors", "", "All of them are in `ta.errors`. None quotes what somebody said.", ""]
    for name, error in inspect.getmembers(ta.errors, inspect.isclass):
        if issubclass(error, ta.errors.TherapyAnalyticsError):
            lines += [f"- `{name}`: {_first_line(error)}"]
    return "\n".join([*lines, ""])


def _groups() -> Iterator[tuple[str, list[str]]]:
    """Yield the groups above, and whatever public name is in none of them."""
    public = [name for name in ta.__all__ if callable(getattr(ta, name)) or not _is_module(name)]
    known = {name for names in _GROUPS.values() for name in names}
    yield from ((title, [name for name in names if name in ta.__all__]) for title, names in _GROUPS.items())
    others = [name for name in public if name not in known]
    if others:
        yield "More", others


def _is_module(name: str) -> bool:
    return isinstance(getattr(ta, name), ModuleType)


def _entry(name: str, thing: object) -> list[str]:
    return [f"### {name}", "", "```python", f"{name}{_signature(thing)}", "```", "", _markdown(thing), ""]


def _signature(thing: object) -> str:
    """Return the parameters, one a line where they are many, without the annotations' modules."""
    try:
        signature = inspect.signature(thing)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ""
    parts = [_parameter(one) for one in signature.parameters.values() if one.name != "self"]
    first = next((i for i, one in enumerate(signature.parameters.values()) if one.kind is one.KEYWORD_ONLY), None)
    if first is not None:
        parts.insert(first, "*")
    inline = ", ".join(parts)
    return f"({inline})" if len(inline) < 80 else "(\n    " + ",\n    ".join(parts) + ",\n)"


def _parameter(one: inspect.Parameter) -> str:
    default = "" if one.default is one.empty else f" = {one.default!r}"
    if "<factory>" in default or " at 0x" in default:
        default = " = ..."
    annotation = "" if one.annotation is one.empty else f": {_annotation(one.annotation)}"
    return f"{one.name}{annotation}{default}"


def _annotation(annotation: object) -> str:
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", text)


def _first_line(thing: object) -> str:
    return (inspect.getdoc(thing) or "").split("\n", 1)[0]


def _markdown(thing: object) -> str:
    """Turn a numpydoc docstring into Markdown."""
    doc = inspect.getdoc(thing) or ""
    parts = _SECTION.split(doc)
    meaning = [_prose(parts[0])]
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        meaning.append(f"**{title}**\n\n{_section(title, body)}")
    return "\n\n".join(one.strip() for one in meaning if one.strip())


def _section(title: str, body: str) -> str:
    if title in {"Parameters", "Attributes", "Returns", "Raises", "Yields"}:
        return "\n".join(_definitions(body))
    return f"```python\n{body.strip()}\n```" if title == "Examples" else _prose(body)


def _definitions(body: str) -> Iterator[str]:
    """Yield a list item for each name and what stands indented under it."""
    for block in re.split(r"\n(?=\S)", body.strip()):
        name, _, rest = block.partition("\n")
        names, colon, kind = name.partition(" : ")
        meaning = " ".join(line.strip() for line in rest.splitlines() if line.strip())
        yield f"- `{names}`" + (f" ({_prose(kind)})" if colon else "") + (f": {_prose(meaning)}" if meaning else "")


def _prose(text: str) -> str:
    """Return prose with reST's doubled backticks as Markdown's single ones."""
    lines = text.strip("\n").splitlines()
    doctest = [index for index, line in enumerate(lines) if line.startswith(">>>")]
    if doctest:
        return _fenced(lines[: doctest[0]], lines[doctest[0] :])
    return text.replace("``", "`").replace("<", "&lt;")


def _fenced(head: list[str], tail: list[str]) -> str:
    return "\n".join([_prose("\n".join(head)), "", "```python", *tail, "```"])
