"""Chats in a cell: lists as Python prints them, and what two people without names say by turns."""

from __future__ import annotations

import ast
import json
import re

_BETWEEN = re.compile(r"__eou__|__eot__|<eou>|<eot>|<sep>|\[SEP\]|<turn>", re.IGNORECASE)
_STRING = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
_STRINGS = re.compile(rf"\[\s*+(?:(?:{_STRING})\s*+,?\s*+)++\]", re.DOTALL)
_ONE_STRING = re.compile(_STRING, re.DOTALL)
_LONGEST = 2_000_000
BY_TURNS = "Two people without names were read as taking turns. Check the first turns."


def said_by_turns(cell: str) -> list[str]:
    r"""Return what is said in a cell that lists it, with neither names nor roles, or parts it by marks.

    Examples
    --------
    >>> said_by_turns("['I am late.', \"It's early.\"]"), said_by_turns("Hi. __eou__ Hello. __eou__")
    (['I am late.', "It's early."], ['Hi.', 'Hello.'])
    """
    text = cell.strip()
    if text.startswith("[") and len(text) <= _LONGEST and _STRINGS.fullmatch(text):
        try:
            found = [str(ast.literal_eval(one)) for one in _ONE_STRING.findall(text)]
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return []
        return [words for one in found if (words := one.strip())]
    parts = _BETWEEN.split(text)
    return [words for part in parts if (words := part.strip())] if len(parts) > 1 else []


def as_json(cell: str) -> str:
    """Return a cell that holds lists and dictionaries as Python prints them in JSON, and any other as it is.

    Examples
    --------
    >>> as_json("[{'role': 'user', 'content': None}]"), as_json("[sic] So.")
    ('[{"role": "user", "content": null}]', '[sic] So.')
    """
    text = cell.strip()
    if not text.startswith(("[{'", "{'", '[{"', "[['", "[('")) or len(text) > _LONGEST:
        return cell
    try:
        json.loads(text)
    except ValueError:
        pass
    except RecursionError:
        return cell
    else:
        return cell
    try:
        return json.dumps(ast.literal_eval(text.replace("}\n {", "}, {")), ensure_ascii=False)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return cell
