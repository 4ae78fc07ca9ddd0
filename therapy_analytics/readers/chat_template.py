"""Chats as language models are given them: text with marks such as ``<|im_start|>user`` or ``[INST]``."""

from __future__ import annotations

from collections.abc import Iterator

from therapy_analytics.readers._chat_markup import begins_marked, marked_messages
from therapy_analytics.readers._json_messages import WEAK, session_of
from therapy_analytics.readers.base import RawSession, Source, reader


def sniff(source: Source) -> float:
    """Return .96 for a text that begins with the mark of a message and has another."""
    return 0.96 if begins_marked(source.head) else 0.0


@reader("chat_template", suffixes=(".txt",), sniff=sniff, one_session=True)
def read_chat_template(source: Source) -> Iterator[RawSession]:
    """Chats in the marks of language models: ChatML, Llama, Mistral, Gemma, Zephyr."""
    messages = marked_messages(source.text)
    if not messages:
        raise source.error(
            "the text has the marks of a chat with a language model, in which only one side speaks",
            "It should hold the messages of both",
        )
    yield session_of(messages, WEAK).session
