"""What is said in objects that have words apart from their speakers: by time, on tracks, in results of a stream."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from therapy_analytics.readers._json_fields import Message
from therapy_analytics.readers._json_speech import (
    Word,
    best_of,
    by_slug,
    is_object,
    is_replaced,
    is_word,
    messages_of,
    word_of,
)
from therapy_analytics.readers._roles import role_of_label
from therapy_analytics.readers._times import span

_SAMPLE = 200
_PAUSE_S = 1.0
"""Between words of one channel, after which the other may have spoken."""
_END_OF_SENTENCE = (".", "?", "!")
_DEEPEST = 4
_MOST_KEYS = 40
_NAMES_OF_TRACKS = ("speaker", "name", "channel_label", "label")
_NUMBERS_OF_TRACKS = ("channel_index", "channel", "channel_tag")
_TRACKS = ("channels", "transcripts", "participants", "tracks", "speakers")
_NUMBERED = re.compile(r"(?:speaker|spk|spkr|person|channel|ch|s)[ _-]?\d{1,2}|[A-H]", re.IGNORECASE)
"""What recognisers call speakers whose names they do not know."""


class Timed(NamedTuple):
    """Words that nobody is said to speak, or a time in which somebody speaks."""

    what: str
    start: float
    end: float


def words_apart(value: Mapping[str, Any]) -> list[Message]:
    """Return what is said in an object that has its words apart from their speakers, or in many results or tracks.

    Examples
    --------
    >>> words = [{"word": "hello", "speakerTag": 1}]
    >>> found = words_apart({"results": [{"alternatives": [{"words": []}]}, {"alternatives": [{"words": words}]}]})
    >>> [(one["speaker"], one["content"]) for one in found]
    [('1', 'hello')]
    """
    labels, items = value.get("speaker_labels"), value.get("items")
    words: list[Word] = []
    if isinstance(items, list) and isinstance(labels, dict):
        words = _with_labels(items, labels.get("segments"))
    elif isinstance(labels, list) and isinstance(value.get("results"), list):
        words = _with_times(value["results"], labels)
    channels = value.get("channel_labels")
    channels = channels.get("channels") if isinstance(channels, dict) else None
    results = value.get("results", value.get("Results"))
    spoken = (word for item in _of_results(results) if (word := word_of(item)) is not None)
    words = words or [word for word in spoken if word.speaker is not None or word.is_mark]
    if any(word.speaker for word in words):
        return [*messages_of(words), *_replaced(results)]
    several = (channels, _by_channel(value.get("results")), *(value.get(key) for key in _TRACKS), value)
    return next(filter(None, map(tracks, several)), None) or []


def _by_channel(results: Any) -> list[Any]:
    """Return the results of each channel (Google), where there are several."""
    channels: dict[str, list[Any]] = {}
    for result in results if isinstance(results, list) else ():
        channel = _track(result) if is_object(result) else ""
        if not channel:
            return []
        channels.setdefault(channel, []).append(best_of(result).get("words"))
    return [{"name": name, "words": words} for name, words in channels.items()]


def _with_labels(items: list[Any], segments: Any) -> list[Word]:
    """Give each item the label of the segment that has an item of the same time (Amazon)."""
    if not isinstance(segments, list) or any("speaker_label" in item for item in items if isinstance(item, dict)):
        return []
    timed = chain.from_iterable(map(_timed_items, filter(is_object, segments)))
    known = {str(item["start_time"]): item.get("speaker_label") for item in timed}
    words = [(word, item.get("start_time")) for item in items if (word := word_of(item)) is not None]
    named = [word._replace(speaker=_label(known.get(str(start)))) for word, start in words]
    return named if any(word.speaker for word in named) else []


def _timed_items(segment: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    items = segment.get("items")
    return [item for item in items if is_object(item) and "start_time" in item] if isinstance(items, list) else []


def _with_times(results: list[Any], labels: list[Any]) -> list[Word]:
    """Give each word the label of its time (Watson): words are lists of the word, its begin and its end."""
    known = {one["from"]: _label(one.get("speaker")) for one in labels if is_object(one) and _is_time(one.get("from"))}
    stamps = (best_of(result).get("timestamps") for result in results if is_object(result) and not is_replaced(result))
    found = [one for some in stamps if isinstance(some, list) for one in some if _is_stamp(one)]
    words = [Word(known.get(start), text, span(start, end), is_mark=False) for text, start, end in found]
    return words if any(word.speaker for word in words) else []


def _replaced(results: Any) -> list[Message]:
    """Return what was heard for the moment, marked as such."""
    texts = (one.get("transcript", one.get("Transcript")) for one in _all_best(results, replaced=True))
    heard = {"speaker": "", "time": None, "is_partial": True}
    return [{**heard, "content": text} for text in texts if isinstance(text, str)]


def _all_best(results: Any, *, replaced: bool) -> list[Mapping[str, Any]]:
    listed = filter(is_object, results) if isinstance(results, list) else ()
    return [best_of(one) for one in listed if is_replaced(one) is replaced]


def results_of_stream(values: Sequence[Any]) -> list[Any]:
    """Return the results that a service wrote one after the other while it listened; nothing for other values.

    Examples
    --------
    >>> results_of_stream([{"TranscriptEvent": {"Transcript": {"Results": [{"IsPartial": True}]}}}, {"Transcript": {}}])
    [{'IsPartial': True}]
    """
    results: list[Any] = []
    for value in values:
        outer = value if is_object(value) else {}
        event = outer.get("TranscriptEvent", outer)
        inner = event.get("Transcript", event.get("channel")) if is_object(event) else None
        if not isinstance(inner, dict):
            return []
        options = inner.get("alternatives")
        results += inner["Results"] if isinstance(inner.get("Results"), list) else []
        results += [{**outer, "alternatives": options}] if isinstance(options, list) else []
    return results


def _is_stamp(one: Any) -> bool:
    return isinstance(one, list) and len(one) == 3 and isinstance(one[0], str) and all(map(_is_time, one[1:]))


def _label(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def _is_time(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _of_results(results: Any) -> list[Any]:
    """Gather the words of all results that say who speaks them; some services repeat all words in the last."""
    found = _all_best(results, replaced=False)
    lists = (best.get("words", best.get("Items")) for best in found)
    return [word for some in lists if isinstance(some, list) for word in some]


def tracks(several: Any) -> list[Message] | None:
    """Return what is said on the tracks of a recording, each of which holds the words of one speaker.

    Parameters
    ----------
    several : object
        A list of objects, each with its words and the name or number of its speaker or channel, or an object of lists
        of words by the speakers' labels.
    """
    if isinstance(several, dict):
        named = [(name, item) for name, item in several.items() if isinstance(item, list) and _names_track(name)]
        whole = len(named) == len(several)
    else:
        several = several if isinstance(several, list) and all(map(is_object, several)) else ()
        named = [(name, one) for number, one in enumerate(several) if (name := _track(one, number))]
        whole = len(named) == len(several)
    if not whole or not 1 < len(named) <= _MOST_KEYS or len({name for name, _ in named}) < len(named):
        return None
    found = [(name, list(_unnamed(item))) for name, item in named]
    if sum(bool(words) for _, words in found) < 2:
        return None
    pieces = [piece for name, words in found for piece in _pieces(name, words)]
    return sorted(pieces, key=lambda one: one["time"].start.at if one["time"].start else 0.0)


def _track(one: Mapping[str, Any], number: int | None = None) -> str:
    """Return the name of a track, or its number as a label; those that hold nothing but alternatives are numbered."""
    known = by_slug(one)
    name = next((known[key] for key in _NAMES_OF_TRACKS if isinstance(known.get(key), str)), "")
    bare = number if known.keys() <= {"alternatives", "search", "detected_language", "language_confidence"} else None
    index = next((known[key] for key in _NUMBERS_OF_TRACKS if _is_time(known.get(key))), bare)
    return name or ("" if index is None else f"channel {index}")


def _names_track(name: str) -> bool:
    return role_of_label(name) is not None or _NUMBERED.fullmatch(name.strip()) is not None


def _pieces(name: str, words: Sequence[Word]) -> Iterator[Message]:
    """Yield the sentences of a track, each with its time: between them others may speak."""
    piece: list[Word] = []
    for word in words:
        if piece and not word.is_mark and _may_end(piece[-1], word):
            yield from messages_of(piece)
            piece = []
        piece.append(word._replace(speaker=name))
    yield from messages_of(piece)


def _may_end(one: Word, two: Word) -> bool:
    """Tell whether there is the end of a sentence, or a pause, between two words."""
    paused = two.when.start is not None and one.when.end is not None and two.when.start.at - one.when.end.at > _PAUSE_S
    return paused or one.text.rstrip().endswith(_END_OF_SENTENCE)


def _unnamed(value: Any, depth: int = _DEEPEST) -> Iterator[Word]:
    """Yield the timed words, or else segments, inside a track, none of which says who speaks."""
    if isinstance(value, list) and value and any(map(is_word, value[:_SAMPLE])):
        found = (word_of(item, longest=None) for item in value)
        words = [word for word in found if word is not None and word.text.strip()]
        if any(word.speaker is not None for word in words):
            return
        both = zip(words, _timed(words), strict=True)
        yield from (word._replace(when=last.when) if word.is_mark else word for word, last in both)
    elif depth and isinstance(value, dict):
        for item in value.values():
            inside = list(_unnamed(item, depth - 1))
            if inside:
                yield from inside
                return
    elif depth and isinstance(value, list):
        for item in value:
            yield from _unnamed(item, depth - 1)


def _timed(words: Sequence[Word]) -> Iterator[Word]:
    """Yield for each word the last one that has a time."""
    last = words[0]
    for word in words:
        last = word if word.when.start is not None else last
        yield last


def joined(texts: Sequence[Timed], speakers: Sequence[Timed]) -> list[Message]:
    """Give each word or segment to whoever speaks for most of its time; what nobody speaks in is of nobody."""
    ordered = sorted(speakers, key=lambda one: one.start)
    messages, at = [], 0
    for text in sorted(texts, key=lambda one: one.start):
        while at < len(ordered) and ordered[at].end < text.start:
            at += 1
        shared: dict[str, float] = {}
        for one in ordered[at:]:
            if one.start > text.end:
                break
            time = min(one.end, text.end) - max(one.start, text.start)
            if time >= 0:
                shared[one.what] = shared.get(one.what, 0.0) + time
        name = max(shared, key=shared.__getitem__, default=None)
        messages.append(Word(name, text.what, span(text.start, text.end), is_mark=False))
    return messages_of(messages)
