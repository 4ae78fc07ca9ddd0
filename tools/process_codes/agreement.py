"""How far two readings agree: ``python tools/process_codes/agreement.py`` prints Cohen's kappa, code by code.

The first table is of turns of corpora that were read twice; the second of invented excerpts, whose writer's codes are
set beside those of a reader who had not seen them. Unsure codes (``?``) count as given.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

HERE = Path(__file__).parent
FEWEST = 20
"""The mean is over codes that the two readings give so often together."""
Turn = tuple[str, int]
Codes = Mapping[Turn, frozenset[str]]


def lines(name: str) -> Iterator[dict[str, object]]:
    """Yield the objects of a file of JSON Lines."""
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def codes(name: str) -> dict[Turn, frozenset[str]]:
    """Return the codes of the turns of a reading."""
    return {(str(one["session"]), int(str(one["turn"]))): _sure(one["codes"]) for one in lines(name)}


def invented() -> dict[Turn, frozenset[str]]:
    """Return the codes that the writers gave the turns of their excerpts."""
    return {
        (str(excerpt["id"]), place): _sure(turn["codes"])
        for excerpt in lines("invented.jsonl")
        for place, turn in enumerate(excerpt["turns"])  # type: ignore[arg-type, var-annotated]
    }


def _sure(given: object) -> frozenset[str]:
    assert isinstance(given, list)
    return frozenset(str(code).removesuffix("?") for code in given)


def kappa(first: list[bool], second: list[bool]) -> float:
    """Return Cohen's kappa of two codings, nan where both never vary."""
    n = len(first)
    agreed = sum(one == other for one, other in zip(first, second, strict=True)) / n
    a, b = sum(first) / n, sum(second) / n
    expected = a * b + (1 - a) * (1 - b)
    return (agreed - expected) / (1 - expected) if expected < 1 else float("nan")


def table(turns: list[Turn], first: Codes, second: Codes) -> list[tuple[str, int, int, float]]:
    """Return code, turns with it in the first and in the second reading, and kappa, the commonest first."""
    given: dict[str, list[list[bool]]] = defaultdict(list)
    none: frozenset[str] = frozenset()
    for code in sorted({code for turn in turns for one in (first, second) for code in one.get(turn, none)}):
        given[code] = [[code in one.get(turn, none) for turn in turns] for one in (first, second)]
    rows = [(code, sum(a), sum(b), kappa(a, b)) for code, (a, b) in given.items()]
    return sorted(rows, key=lambda row: -row[1] - row[2])


def main() -> None:
    """Print both tables and their means."""
    first, second, written = codes("read.jsonl"), codes("second.jsonl"), invented()
    of_corpora: list[Turn] = []
    of_excerpts: list[Turn] = []
    for one in lines("second_segments.jsonl"):
        turns = [(str(one["session"]), turn) for turn in range(int(str(one["from"])), int(str(one["to"])) + 1)]
        (of_corpora if "/" in str(one["session"]) else of_excerpts).extend(turns)
    for title, turns, a, b in (
        ("Corpora", of_corpora, first, second),
        ("Invented excerpts", of_excerpts, written, second),
    ):
        rows = table(turns, a, b)
        print(f"\n{title}, {len(turns)} turns\n\n| code | first | second | kappa |\n| --- | --- | --- | --- |")
        for code, n, m, value in rows:
            print(f"| `{code}` | {n} | {m} | {value:.2f} |")
        common = [value for _, n, m, value in rows if n + m >= FEWEST]
        print(f"\nMean of {len(common)} codes with {FEWEST} or more: {sum(common) / len(common):.2f}")


if __name__ == "__main__":
    main()
