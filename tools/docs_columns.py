"""The pages on columns and codes, made from the registry whenever the site is built."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import pandas as pd

from therapy_analytics.codes import Codebook, builtin_codebooks
from therapy_analytics.measures import Column
from therapy_analytics.measures.base import all_columns, count_name, total_name
from therapy_analytics.results.codebook_table import codebook_of, codes_table
from therapy_analytics.run import analyze
from therapy_analytics.text import EXTRAS, builtin_lexicons

Row = Mapping[str, str]

FAMILIES = {
    "process": ("Process", "what is said, how often, and what answers what"),
    "synchrony": ("Synchrony", "how alike the two speak, beside its null distributions"),
    "alliance": ("Alliance proxies", "signs that may go with the alliance; the evidence is weak"),
}
SUFFIXES = {
    "lo": "lower end of the 95% interval",
    "hi": "upper end of the 95% interval",
    "expected": "the same from the tagger's probabilities instead of its decisions",
    "null_mean": "mean over shuffled replies",
    "null_sd": "standard deviation over shuffled replies",
    "z": "distance from the mean of the shuffles, in standard deviations",
    "p": "share of shuffles that are at least as synchronous",
    "surrogate_mean": "what surrogate pairs lead one to expect",
    "surrogate_sd": "standard deviation of what such an expectation misses",
    "excess": "by how much the value exceeds it: sessions and groups are compared by that",
    "surrogate_z": "the excess in those standard deviations",
    "surrogate_p": "share of surrogate pairs whose residual is at least as large",
    "therapist": "the therapist's replies to the client alone",
    "client": "the client's replies to the therapist alone",
    "difference": "therapist less client",
    "slope": "change over the session",
    "early": "in the first part of the session",
    "late": "in the last part of the session",
}
_CODES_ARE_COLUMNS = (
    "Of a code that the tagger gives, `turns.csv` has the decision (1 or 0, empty for the other role) under the name "
    "below, and `probabilities.csv` its probability under the same name. "
    "Not every code of a book [is given](../codebooks.md)."
)
_FILE = {"session": "measures", "turn": "turn_measures"}
"""The table that a number of each level stands in."""
_LONGEST_FIRST = sorted(SUFFIXES, key=len, reverse=True)
_EVIDENCE = {
    "supported": "supported by a check on real sessions",
    "weak": "weak: checked, and little or no better than counting keywords",
    "untested": "untested",
}


def column_pages() -> dict[str, str]:
    """Return the pages on columns: address below ``docs/`` to Markdown."""
    pages, found = {}, []
    for family, name, columns in _measures():
        address = f"columns/{family}/{name}.md"
        entries = _with_variants(
            row for column in columns for row in _rows(codebook_of(_FILE[column.level], family, [column]))
        )
        pages[address] = _measure_page(name, entries)
        found += [(row, address) for row, _ in entries]
    pages["columns/tables.md"] = _tables_page(_rows(analyze([], measures=EXTRAS).codebook))
    pages["columns/index.md"] = _index_page(found)
    return pages


def _rows(table: pd.DataFrame) -> list[Row]:
    return [{str(name): str(cell) for name, cell in row.items()} for row in table.to_dict("records")]


def code_pages() -> dict[str, str]:
    """Return a page a built-in codebook."""
    return {f"codes/{book.id}.md": _book_page(book) for book in builtin_codebooks()}


def navigation() -> list[dict[str, object]]:
    """Return the entries of the site's menu for these pages."""
    families: dict[str, list[dict[str, str]]] = defaultdict(list)
    for family, name, _ in _measures():
        families[FAMILIES[family][0]].append({_title(name): f"columns/{family}/{name}.md"})
    columns: list[object] = ["columns/index.md", {"Fixed columns and tables": "columns/tables.md"}]
    columns += [{family: pages} for family, pages in families.items()]
    codes: list[object] = ["codebooks.md"]
    codes += [{book.name: f"codes/{book.id}.md"} for book in builtin_codebooks()]
    return [{"Columns": columns}, {"Codes": codes}]


def _measures() -> Iterator[tuple[str, str, list[Column]]]:
    """Yield family, name, and the columns of each measure."""
    columns: dict[tuple[str, str], list[Column]] = defaultdict(list)
    for one, column in all_columns(builtin_lexicons(), extras=EXTRAS):
        columns[one.family, one.name].append(column)
    for (family, name), names in columns.items():
        yield family, name, names


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _with_variants(rows: Iterable[Row]) -> list[tuple[Row, list[Row]]]:
    """Put intervals, counts, null distributions and directions under the column that they belong to."""
    rows = list(rows)
    roots: dict[tuple[str, str], tuple[Row, list[Row]]] = {}
    names = {(row["column"], row["table"]) for row in rows}
    rates = [name for name, table in names if (f"{name}_lo", table) in names]
    counts = {count: name for name in rates for count in (count_name(name), total_name(name))}
    for row in rows:
        root = _root(row["column"], row["table"], names, counts)
        key = (root, row["table"])
        if root == row["column"]:
            roots[key] = (row, roots.get(key, (row, []))[1])
        else:
            roots.setdefault(key, (row, []))[1].append(row)
    return list(roots.values())


def _root(name: str, table: str, names: set[tuple[str, str]], counts: Mapping[str, str]) -> str:
    """Return the column that this one stands beside, or its own name."""
    if name in counts and counts[name] != name:
        return _root(counts[name], table, names, counts)
    for suffix in _LONGEST_FIRST:
        shorter = name.removesuffix(f"_{suffix}")
        if shorter != name and (shorter, table) in names:
            return _root(shorter, table, names, counts)
    return name


def _measure_page(name: str, entries: list[tuple[Row, list[Row]]]) -> str:
    shared = {field: _shared(entries, field) for field in ("misleads", "source")}
    lines = [f"# {_title(name)}", ""]
    if shared["misleads"]:
        lines += ['!!! warning "When it misleads"', "", f"    {_sentence(shared['misleads'])}", ""]
    for row, variants in entries:
        lines += _entry(row, variants, shared)
    if shared["source"]:
        lines += [f"**Source of all of these:** {_text(shared['source'])}", ""]
    return "\n".join(lines)


def _shared(entries: list[tuple[Row, list[Row]]], field: str) -> str:
    """Return what all columns of a page say of a field, or nothing."""
    spoken = {row[field] for row, _ in entries}
    return spoken.pop() if len(spoken) == 1 and len(entries) > 1 else ""


def _entry(row: Row, variants: list[Row], shared: Row) -> list[str]:
    facts = {
        "Table": f"`{row['table']}.csv`",
        "Unit and range": f"{_text(row['unit'])}, {_text(row['range'])}",
        "A high value": _text(row["high_means"]),
        "How it is computed": _text(row["formula"]),
        "When it misleads": "" if shared["misleads"] else _text(row["misleads"]),
        "Evidence": _EVIDENCE.get(row["evidence"], ""),
        "Source": "" if shared["source"] else _text(row["source"]),
    }
    lines = [f"## `{row['column']}`", "", _sentence(row["meaning"]), ""]
    table, *rest = [f"| {key} | {spoken} |" for key, spoken in facts.items() if spoken]
    lines += [table, "| --- | --- |", *rest, ""]
    if variants:
        lines += ["Beside it:", "", *(f"- {_variant(one, row)}" for one in variants), ""]
    return lines


def _variant(row: Row, base: Row) -> str:
    """Say what a column beside another is: by its suffix, or in the words of the codebook."""
    end = row["column"].removeprefix(f"{base['column']}_")
    if end in SUFFIXES and end != row["column"]:
        spoken = SUFFIXES[end]
    elif row["column"] == count_name(base["column"]):
        spoken = "the count"
    elif row["column"] == total_name(base["column"]):
        spoken = "what it is out of"
    else:
        spoken = _text(row["meaning"])
    return f"`{row['column']}`: {spoken}"


def _tables_page(rows: Iterable[Row]) -> str:
    """Return the page of the columns that are no measure of sessions or turns, table by table."""
    left = [row for row in rows if row["family"] in {"fixed", "codes"} or row["table"] not in _WITH_OWN_PAGES]
    lines = ["# Fixed columns and tables", "", "What stands in each table besides the measures.", ""]
    for table, group in pd.DataFrame(left).groupby("table", sort=False):
        lines += [f"## {_table_title(str(table))}", "", "| column | what it is | unit | range |", f"|{' --- |' * 4}"]
        lines += [
            f"| `{row['column']}` | {_text(row['meaning'])} | {_text(row['unit'])} | {_text(row['range'])} |"
            for row in _rows(group)
        ]
        lines.append("")
    return "\n".join(lines)


_WITH_OWN_PAGES = frozenset({"sessions", "turns", "probabilities", "turn_measures", "measured"})
"""Tables whose columns are mostly measures and codes, which have pages of their own."""


def _table_title(table: str) -> str:
    known = {
        "measures": "measures.csv of the run",
        "parts": "measures.csv of a session",
        "behaviours": "analysis.behaviours, in a notebook",
    }
    return known.get(table, f"{table}.csv")


def _index_page(found: list[tuple[Row, str]]) -> str:
    lines = [
        "# Columns",
        "",
        "Every number that a run writes, with what it means and when it misleads. The same stands in `codebook.csv` of",
        "every run. The pages are made from the program itself, so that they cannot say something else.",
        "",
        "The names are those of the wide table (`ta.wide`, `tanalyze export --wide`); in `measures.csv` the endings",
        "are columns. How to read a name:",
        "",
        "| beside a column `x` | stands |",
        "| --- | --- |",
        "| `n_x` | the count that a rate rests on |",
        "| `out_of_x` | what that count is out of |",
        *(f"| `x_{suffix}` | {spoken} |" for suffix, spoken in SUFFIXES.items()),
        "",
    ]
    for family, (title, about) in FAMILIES.items():
        lines += [f"## {title}", "", f"{about[0].upper()}{about[1:]}.", ""]
        lines += ["| column | table | what it is | evidence |", f"|{' --- |' * 4}"]
        lines += [_index_row(row, address) for row, address in found if row["family"] == family]
        lines.append("")
    return "\n".join(lines)


def _index_row(row: Row, address: str) -> str:
    link = f"[`{row['column']}`]({address.removeprefix('columns/')}#{row['column']})"
    return f"| {link} | {row['table']} | {_text(row['meaning'])} | {row['evidence']} |"


def _book_page(book: Codebook) -> str:
    lines = [f"# {book.name}", "", _text(book.definition), "", _CODES_ARE_COLUMNS, ""]
    for role, group in codes_table([book]).groupby("role", sort=False):
        lines += [f"## Codes of the {role}", ""]
        for row in _rows(group):
            lines += _code(row)
    return "\n".join(lines)


def _code(row: Row) -> list[str]:
    lines = [f"### {_text(row['name'])}", "", f"`{row['column']}`. {_sentence(row['definition'])}", ""]
    if row["status"]:
        lines += [f"*{_text(row['status'])}*", ""]
    for field, title in (
        ("examples", "Has it"),
        ("counter_examples", "Only looks so"),
        ("crosswalk", "In other books"),
    ):
        spoken = [line for line in row[field].split("\n") if line]
        if spoken:
            lines += [f"{title}:", "", *(f"- {_text(line)}" for line in spoken), ""]
    return lines


def _sentence(text: str) -> str:
    spoken = _text(text)
    return spoken if spoken.endswith((".", "!", "?")) else f"{spoken}."


def _text(text: str) -> str:
    """Return text so that Markdown leaves it as it is, names of columns as code."""
    safe = text.replace("\n", " ").replace("&", "&amp;").replace("<", "&lt;").replace("*", r"\*").replace("|", r"\|")
    return re.sub(r"(?<![\w`])((?:[a-z0-9]+_)+[a-z0-9]+)(?![\w`])", r"`\1`", safe)
