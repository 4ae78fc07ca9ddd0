"""Chats in a cell: the marks of language models' prompts, lists as Python prints them, what two people say by turns."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator

_MARKS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"<\|im_start\|>[ \t]*(?P<who>\w+)[ \t]*\n?",
        r"<\|start_header_id\|>[ \t]*(?P<who>\w+)[ \t]*<\|end_header_id\|>\s*",
        r"<start_of_turn>[ \t]*(?P<who>\w+)[ \t]*\n?",
        r"<\|(?P<who>user|assistant|system|human|prompter)\|>:?[ \t]*\n?",
        r"(?:^|(?<=\s))###[ \t]*(?P<who>human|user|assistant|bot|system|client|therapist|patient|counselor)[ \t]*:\s*",
    )
)
_END = re.compile(r"<\|(?:im_end|eot_id|end|end_of_text|endoftext|begin_of_text)\|>|<end_of_turn>|</?s>|<bos>|<eos>")
_INSTRUCTION = re.compile(r"\[INST\](.*?)(?:\[/INST\](.*?))?(?=\[INST\]|\Z)", re.DOTALL | re.IGNORECASE)
_SYSTEM = re.compile(r"<<SYS>>.*?<</SYS>>", re.DOTALL | re.IGNORECASE)
_BETWEEN = re.compile(r"__eou__|__eot__|<eou>|<eot>|<sep>|\[SEP\]|<turn>", re.IGNORECASE)
_STRING = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
_STRINGS = re.compile(rf"\[\s*+(?:(?:{_STRING})\s*+,?\s*+)++\]", re.DOTALL)
_ONE_STRING = re.compile(_STRING, re.DOTALL)
_LONGEST = 2_000_000
BY_TURNS = "Two people without names were read as taking turns. Check the first turns."

Message = tuple[str, str]
"""Who speaks, as written, and what."""


def messages_of(cell: str) -> list[Message]:
    r"""Return the messages of a cell that is marked as prompts of language models are; none where it is not.

    Examples
    --------
    >>> messages_of("[INST] I am late. [/INST] By much? </s>")
    [('user', 'I am late.'), ('assistant', 'By much?')]
    >>> messages_of("<|im_start|>user\nI am late.<|im_end|><|im_start|>assistant\nBy much?<|im_end|>")
    [('user', 'I am late.'), ('assistant', 'By much?')]
    """
    if "[INST]" in cell:
        return list(_instructions(_END.sub(" ", cell)))
    if "#" not in cell and "<" not in cell:
        return []
    for mark in _MARKS:
        found = list(mark.finditer(cell))
        if len({match["who"].casefold() for match in found}) > 1:
            ends = [match.start() for match in found[1:]] + [len(cell)]
            said = (_END.sub("", cell[match.end() : end]).strip() for match, end in zip(found, ends, strict=True))
            return [(match["who"], words) for match, words in zip(found, said, strict=True)]
    return []


def _instructions(cell: str) -> Iterator[Message]:
    for asked, answered in _INSTRUCTION.findall(cell):
        if words := _SYSTEM.sub("", asked).strip():
            yield "user", words
        if answered.strip():
            yield "assistant", answered.strip()


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
