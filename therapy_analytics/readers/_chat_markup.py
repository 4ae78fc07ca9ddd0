"""Chats in the templates of language models: ChatML, Llama, Mistral, Gemma, Phi, and plain headings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from therapy_analytics.readers._json_fields import Message

_ROLES = r"system|user|assistant|model|tool|function|developer|human|gpt|ipython"
_HEADINGS = "System|User|Assistant|Bot|Human|Instruction|Input|Response|Gpt"
_BEGINS = re.compile(
    rf"<\|im_start\|>[ \t]*(?P<chatml>\w+)(?:[ \t]+name=(?P<name>\S+))?[ \t]*\n?"
    rf"|<\|start_header_id\|>(?P<llama3>\w+)<\|end_header_id\|>\s*"
    rf"|<\|(?P<bare>{_ROLES})\|>\s*"
    rf"|<start_of_turn>(?P<gemma>\w+)[ \t]*\n?"
    rf"|^#{{2,4}}[ ]?(?P<heading>{_HEADINGS})[ \t]*+(?:\n|:[ \t]*+\n|:[ ])"
    rf"|(?<=\s)###[ ]?(?P<inline>{_HEADINGS}):[ ]",
    re.MULTILINE | re.IGNORECASE,
)
_MARKS = re.compile(
    r"<\|(?:im_end|eot_id|eom_id|end|endoftext|end_of_text|begin_of_text|im_sep|return)\|>|<end_of_turn>|<bos>|<eos>|</?s>"
)
_SYSTEM = re.compile(r"\s*<<SYS>>(?P<told>.*?)<</SYS>>", re.DOTALL)
_NAMES = {"instruction": "system", "input": "user", "response": "assistant", "ipython": "tool"}


def begins_marked(head: str) -> bool:
    """Tell a text that begins with the mark of a message and has another one."""
    start = _MARKS.sub("", head[:200]).lstrip("\ufeff \t\r\n")
    several = start.startswith("<") and len(_BEGINS.findall(head)) > 1
    return start.startswith("[INST]") or (several and _BEGINS.match(start) is not None)


def marked_messages(text: str) -> list[Message]:
    r"""Return the messages of a text with such marks; none where there are none, or one speaker alone.

    Examples
    --------
    >>> marked_messages("<|im_start|>user\nHi.<|im_end|>\n<|im_start|>assistant\nHello.<|im_end|>")
    [{'role': 'user', 'content': 'Hi.'}, {'role': 'assistant', 'content': 'Hello.'}]
    >>> [one["role"] for one in marked_messages("<s>[INST] <<SYS>>Be kind.<</SYS>> Hi. [/INST] Hello. </s>")]
    ['system', 'user', 'assistant']
    """
    messages = list(_instructions(text)) if "[INST]" in text else list(_headed(text))
    messages = [one for one in messages if one["content"]]
    spoken = {one["role"].lower() for one in messages} - {"system", "tool", "function", "developer"}
    return messages if len(spoken) > 1 else []


def _headed(text: str) -> Iterator[Message]:
    found = list(_BEGINS.finditer(text))
    kinds = {match.lastgroup for match in found}
    ends = [*(match.start() for match in found[1:]), len(text)]
    for match, end in zip(found, ends, strict=False):
        role = next(filter(None, (match[kind] for kind in kinds if kind and kind != "name")))
        name = {"name": match["name"]} if match["name"] else {}
        yield {"role": _NAMES.get(role.lower(), role), **name, "content": _plain(text[match.end() : end])}


def _instructions(text: str) -> Iterator[Message]:
    for exchange in text.split("[INST]")[1:]:
        asked, _, answer = exchange.partition("[/INST]")
        told = _SYSTEM.match(asked)
        if told:
            yield {"role": "system", "content": _plain(told["told"])}
            asked = asked[told.end() :]
        yield {"role": "user", "content": _plain(asked)}
        yield {"role": "assistant", "content": _plain(answer)}


def _plain(text: str) -> str:
    return _MARKS.sub("", text).strip()
