"""Single words with their speakers, as services of speech recognition write them, to messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from therapy_analytics.readers._columns import slug
from therapy_analytics.readers._json_fields import Message

_WORD = ("punctuated_word", "word", "text")
_SPEAKER = ("speaker", "speaker_label", "speaker_id", "speaker_tag")
_START, _END = ("start", "start_time", "start_offset"), ("end", "end_time", "end_offset")
_LONGEST = 60
_SAMPLE = 200


def spoken_words(items: Sequence[Any]) -> list[Message] | None:
    """Return the messages of a list of single words with their speakers; a mark of nobody goes to the word before."""
    words = [_word(item) for item in items[:_SAMPLE]]
    if 2 * sum(bool(word) for word in words) <= len(words) or not any(word and word[0] for word in words):
        return None
    messages: list[dict[str, Any]] = []
    for item in items:
        word = _word(item)
        if word is None:
            continue
        name, text, start, end = word
        if messages and name in {None, messages[-1]["speaker"]}:
            glue = "" if name is None or not text[:1].isalnum() else " "
            messages[-1]["pieces"].append(glue + text)
            messages[-1]["end"] = end or messages[-1]["end"]
        elif name is not None:
            messages.append({"speaker": name, "pieces": [text], "start": start, "end": end})
    return [{**one, "content": "".join(one.pop("pieces"))} for one in messages]


def is_word(item: Any) -> bool:
    """Tell whether something is a recognised word, of somebody or nobody."""
    word = _word(item)
    return word is not None and word[2] is not None


def words_apart(value: Mapping[str, Any]) -> Sequence[Any] | None:
    """Return the words of an object that has them apart: from their speakers (Amazon), or in many results (Google).

    Examples
    --------
    >>> words = [{"word": "hello", "speakerTag": 1}]
    >>> words_apart({"results": [{"alternatives": [{"transcript": "hello"}]}, {"alternatives": [{"words": words}]}]})
    [{'word': 'hello', 'speakerTag': 1}]
    """
    return _with_labels(value.get("items"), value.get("speaker_labels")) or _of_results(value.get("results"))


def _with_labels(items: Any, labels: Any) -> list[Any]:
    """Give each item the label of the segment that has an item of the same time."""
    segments = labels.get("segments") if isinstance(labels, dict) else None
    if not isinstance(items, list) or not isinstance(segments, list):
        return []
    words = list(filter(_is_object, items))
    if any("speaker_label" in word for word in words):
        return []
    timed = chain.from_iterable(map(_timed_items, filter(_is_object, segments)))
    known = {str(item["start_time"]): item.get("speaker_label") for item in timed}
    return [{**word, "speaker_label": known.get(str(word.get("start_time")))} for word in words]


def _timed_items(segment: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    items = segment.get("items")
    return [item for item in items if _is_object(item) and "start_time" in item] if isinstance(items, list) else []


def _of_results(results: Any) -> list[Any]:
    """Gather the words of all results that say who speaks them; some services repeat all words in the last."""
    found = map(_best, filter(_is_object, results)) if isinstance(results, list) else ()
    lists = (best.get("words") for best in found)
    words = (word for some in lists if isinstance(some, list) for word in some)
    return [word for word in words if (read := _word(word)) is not None and read[0] is not None]


def _word(item: Any) -> tuple[str | None, str, Any, Any] | None:
    """Return speaker, word, begin and end; a mark of punctuation may be of nobody."""
    if not _is_object(item):
        return None
    own, best = _by_slug(item), _by_slug(_best(item))
    text = next((own[key] for key in _WORD if isinstance(own.get(key), str)), best.get("content"))
    name = next((one[key] for one in (own, best) for key in _SPEAKER if one.get(key) is not None), None)
    if not isinstance(text, str) or len(text) > _LONGEST or not isinstance(name, str | int | None):
        return None
    nobody = name is None or (name == 0 and own.get("speaker_tag") == 0)  # tags count from 1
    return None if nobody else str(name), text, _first(own, _START), _first(own, _END)


def _best(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the likeliest of what a recogniser may have heard: the first."""
    options = item.get("alternatives")
    return options[0] if isinstance(options, list) and options and _is_object(options[0]) else {}


def _by_slug(item: Mapping[str, Any]) -> dict[str, Any]:
    return {slug(key): value for key, value in item.items()}


def _first(item: Mapping[str, Any], keys: Sequence[str]) -> Any:
    return next((item[key] for key in keys if key in item), None)


def _is_object(item: Any) -> bool:
    return isinstance(item, dict)
