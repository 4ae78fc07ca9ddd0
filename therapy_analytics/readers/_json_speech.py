"""Single words with their speakers, as services of speech recognition write them, to messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from therapy_analytics.readers._columns import slug
from therapy_analytics.readers._json_fields import Message
from therapy_analytics.readers._times import NEVER, Span, name_and_unit, span

_WORD = ("punctuated_word", "word", "text", "value")
_SPEAKER = ("speaker", "speaker_label", "speaker_id", "speaker_tag")
_START = frozenset({"start", "start_time", "start_offset", "time_begin", "data_start", "ts", "from", "begin_offset"})
_END = frozenset({"end", "end_time", "end_offset", "time_end", "data_end", "end_ts", "to"})
_LASTS = frozenset({"duration", "dur"})
_MARKS = frozenset({"punctuation", "punct", "spacing"})
_LONGEST = 60
_SAMPLE = 200
_PARTIAL, _FINAL = frozenset({"is_partial", "partial"}), frozenset({"is_final", "final"})


class Word(NamedTuple):
    """A word or a mark, who says it if that is known, and when; `is_mark` stands at the word before."""

    speaker: str | None
    text: str
    when: Span
    is_mark: bool


def spoken_words(items: Sequence[Any]) -> list[Message] | None:
    """Return the messages of a list of single words, if it says of them who speaks."""
    words = [word_of(item) for item in items[:_SAMPLE]]
    if 2 * sum(bool(word) for word in words) <= len(words) or not any(word and word.speaker for word in words):
        return None
    return messages_of([word for item in items if (word := word_of(item)) is not None])


def messages_of(words: Sequence[Word]) -> list[Message]:
    """Join words to messages; what nobody is said to speak goes with the words around it if these are of one speaker.

    A mark of nobody stands at the word before. Where words come with the spaces around them, as parts of words do, they
    are joined as they are.
    """
    with_spaces = any(word.text[:1].isspace() or word.text[-1:].isspace() for word in words[1:-1])
    messages: list[dict[str, Any]] = []
    for word, name in zip(words, _names(words), strict=True):
        if not word.text.strip():
            if messages:
                messages[-1]["pieces"].append(word.text)
            continue
        if not messages or name != messages[-1]["speaker"]:
            messages.append({"speaker": name, "pieces": [], "start": word.when.start, "end": None})
        last = messages[-1]
        last["pieces"].append(word.text if with_spaces or word.is_mark or not last["pieces"] else f" {word.text}")
        last["end"] = last["end"] if word.when.end is None else word.when.end
    return [_message(one) for one in messages if "".join(one["pieces"]).strip()]


def _message(one: Mapping[str, Any]) -> Message:
    when = Span(one["start"], one["end"])
    return {"speaker": one["speaker"], "content": "".join(one["pieces"]).strip(), "time": when}


def _names(words: Sequence[Word]) -> list[str]:
    """Return who says each word; nobody's are of the speaker before and after, if that is the same."""
    after: list[str] = []
    coming = ""
    for word in reversed(words):
        coming = coming if word.speaker is None else word.speaker
        after.append(coming)
    names: list[str] = []
    before = ""
    for word, following in zip(words, reversed(after), strict=True):
        inside = before == following or not following or (word.is_mark and before)
        name = word.speaker if word.speaker is not None else before if inside else ""
        before = name if word.speaker is not None else before
        names.append(name)
    return names


def is_word(item: Any) -> bool:
    """Tell whether something is a recognised word, of somebody or nobody."""
    word = word_of(item)
    return word is not None and word.when.start is not None


def are_words(sample: Sequence[Any]) -> bool:
    """Tell a list of single words from one of segments: hardly any has a space inside, and none a role."""
    n_words, n_longer = 0, 0
    for item in sample:
        if isinstance(item, dict) and "role" in item:
            return False
        word = word_of(item, longest=None)
        if word is not None and word.when.start is not None:
            n_words += 1
            n_longer += len(word.text.split(maxsplit=1)) > 1
            if 10 * n_longer > len(sample):
                return False
    return len(sample) > 1 and 2 * n_words > len(sample) and 10 * n_longer <= n_words


def is_replaced(message: Mapping[str, Any]) -> bool:
    """Tell what a recogniser wrote while somebody spoke, and wrote again when they had ended."""
    known = [(slug(key), item) for key, item in message.items() if isinstance(item, bool)]
    return any((item and key in _PARTIAL) or (not item and key in _FINAL) for key, item in known)


class _WordPlan(NamedTuple):
    """Which fields of a word hold what, and the units of its times; words with the same fields share one."""

    texts: tuple[str, ...]
    content: str
    speakers: tuple[str, ...]
    tag: str
    kind: str
    times: tuple[str, ...]
    """Of begin, end and duration; empty where there is none."""
    units: tuple[float | None, ...]
    has_options: bool


@lru_cache(maxsize=1024)
def _plan(fields: tuple[str, ...]) -> _WordPlan:
    names = {slug(field): field for field in fields}
    known = (_START, _END, _LASTS)
    times = tuple(next((field for field in fields if name_and_unit(field)[0] in wanted), "") for wanted in known)
    return _WordPlan(
        tuple(names[name] for name in _WORD if name in names),
        names.get("content", ""),
        tuple(names[name] for name in _SPEAKER if name in names),
        names.get("speaker_tag", ""),
        names.get("type", ""),
        times,
        tuple(name_and_unit(field)[1] if field else None for field in times),
        "alternatives" in names,
    )


def word_of(item: Any, longest: int | None = _LONGEST) -> Word | None:
    """Return speaker, word and time; a mark of punctuation may be of nobody."""
    if not is_object(item):
        return None
    plan = _plan(tuple(item))
    text = next((item[key] for key in plan.texts if isinstance(item[key], str)), item.get(plan.content))
    name = next((item[key] for key in plan.speakers if item[key] is not None), None)
    if plan.has_options:
        best = by_slug(best_of(item))
        text = best.get("content") if text is None else text
        name = next((best[key] for key in _SPEAKER if best.get(key) is not None), None) if name is None else name
    if not isinstance(text, str) or (longest and len(text) > longest) or not isinstance(name, str | int | None):
        return None
    nobody = name is None or (name == 0 and item.get(plan.tag) == 0)  # tags count from 1
    is_mark = item.get(plan.kind) in _MARKS or (name is None and not any(map(str.isalnum, text)))
    start, end, lasts = (item[key] if key else None for key in plan.times)
    when = span(start, end, lasts, plan.units) if any(plan.times) else NEVER
    return Word(None if nobody else str(name), text, when, is_mark)


def text_and_time(items: Any) -> tuple[str, Span]:
    """Return what the words inside a message are together, and when; nothing where the items are no words."""
    if not isinstance(items, list) or not any(map(is_word, items[:_SAMPLE])):
        return "", Span()
    words = [word._replace(speaker="") for item in items if (word := word_of(item, longest=None)) is not None]
    joined_words = messages_of(words)
    return (joined_words[0]["content"], joined_words[0]["time"]) if joined_words else ("", Span())


def best_of(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the likeliest of what a recogniser may have heard: the first."""
    options = item.get("alternatives", item.get("Alternatives"))
    return options[0] if isinstance(options, list) and options and is_object(options[0]) else {}


def by_slug(item: Mapping[str, Any]) -> dict[str, Any]:
    return {slug(key): value for key, value in item.items()}


def is_object(item: Any) -> bool:
    return isinstance(item, dict)
