"""Recognised speech as services write it: lists of single words, and words apart from the speakers' times.

A `Word` is anything that was heard and timed: a word, a mark of punctuation, or a whole segment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from therapy_analytics.readers._columns import slug
from therapy_analytics.readers._json_fields import (
    FIELDS,
    Message,
    field_plan,
    first,
    is_segment,
    person,
    times,
    word_plan,
)
from therapy_analytics.readers._times import NEVER, Span, span
from therapy_analytics.readers.roles import role_of_label

_PUNCTUATION = frozenset({"punctuation", "punct", "spacing"})
_LONGEST = 60
_SAMPLE = 200
_PARTIAL, _FINAL = frozenset({"is_partial", "partial"}), frozenset({"is_final", "final"})
_PAUSE_S = 1.0
"""A pause between words of one channel, in which the other may have spoken."""
_END_OF_SENTENCE = (".", "?", "!")
_DEEPEST = 4
_MOST_TRACKS = 40
_NAMES_OF_TRACKS = ("speaker", "name", "channel_label", "label")
_NUMBERS_OF_TRACKS = ("channel_index", "channel", "channel_tag")
_TRACKS = ("channels", "transcripts", "participants", "tracks", "speakers")
_NUMBERED = re.compile(r"(?:speaker|spk|spkr|person|channel|ch|s)[ _-]?\d{1,2}|[A-H]", re.IGNORECASE)
"""Labels of recognisers for speakers whose names they do not know."""
_APART_WORDS = """
diarization diarisation diarize diarized segmentation speakers speaker_segments paragraphs turns speaker_turns rttm
"""
_APART = frozenset(_APART_WORDS.split())
"""Names of fields that hold the times of speakers without their words."""


class Word(NamedTuple):
    """A word, its speaker if known, and its time; a mark (`is_mark`) is joined to the word before without a space."""

    speaker: str | None
    text: str
    when: Span = NEVER
    is_mark: bool = False


def word_of(item: Any, longest: int | None = _LONGEST) -> Word | None:
    """Return the word that an object holds; None where it holds none."""
    if not isinstance(item, dict):
        return None
    plan = word_plan(tuple(item))
    best = {slug(key): value for key, value in best_of(item).items()}
    text = next((item[key] for key in plan.texts if isinstance(item[key], str)), best.get("content"))
    names = (*(item[key] for key in plan.speakers), *(best.get(key) for key in FIELDS["word_speaker"]))
    name = next((one for one in names if one is not None), None)
    if not isinstance(text, str) or (longest and len(text) > longest) or not isinstance(name, str | int | None):
        return None
    if name == 0 and "speaker_tag" in map(slug, plan.speakers):
        name = None  # tags count from 1
    kinds = [item[key] for key in plan.roles if isinstance(item[key], str)]
    is_mark = not _PUNCTUATION.isdisjoint(kinds) or (name is None and not any(map(str.isalnum, text)))
    return Word(None if name is None else str(name), text, times(item, plan), is_mark)


def best_of(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the first of the alternatives that were recognised, which is the likeliest."""
    options = item.get("alternatives", item.get("Alternatives"))
    return options[0] if isinstance(options, list) and options and isinstance(options[0], dict) else {}


def _words_in(items: Sequence[Any], longest: int | None = _LONGEST) -> list[Word]:
    return [word for item in items if (word := word_of(item, longest)) is not None]


def spoken_words(items: Sequence[Any]) -> list[Message] | None:
    """Return the messages of a list of single words; None where it does not say who speaks."""
    sample = _words_in(items[:_SAMPLE])
    if 2 * len(sample) <= len(items[:_SAMPLE]) or not any(word.speaker for word in sample):
        return None
    return messages_of(_words_in(items))


def messages_of(words: Sequence[Word]) -> list[Message]:
    """Join words to messages, one for each change of speaker.

    Words without a speaker belong to the speaker before and after, if that is the same one; a mark without a speaker
    belongs to the word before. Words that bring their spaces along, as subwords do, are joined as they are.
    """
    with_spaces = any(word.text[:1].isspace() or word.text[-1:].isspace() for word in words[1:-1])
    messages: list[dict[str, Any]] = []
    for word, name in zip(words, _names(words), strict=True):
        if not word.text.strip():
            if messages:
                messages[-1]["content"] += word.text
            continue
        if not messages or name != messages[-1]["speaker"]:
            messages.append({"speaker": name, "content": "", "time": Span(word.when.start)})
        last = messages[-1]
        space = "" if with_spaces or word.is_mark else " "
        last["content"] += f"{space}{word.text}"
        last["time"] = last["time"]._replace(end=word.when.end or last["time"].end)
    return [{**one, "content": text} for one in messages if (text := one["content"].strip())]


def _names(words: Sequence[Word]) -> list[str]:
    """Return the speaker of each word; of one without, who speaks both before and after it, else ``""``."""
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
    """Return whether an object is a recognised word with a time, with or without a speaker."""
    word = word_of(item)
    return word is not None and word.when.start is not None


def are_words(sample: Sequence[Any]) -> bool:
    """Tell a list of single words from one of segments: at most a tenth has a space inside, and none a role."""
    if any(isinstance(item, dict) and "role" in item for item in sample):
        return False
    words = [word for word in _words_in(sample, longest=None) if word.when.start is not None]
    n_longer = sum(len(word.text.split(maxsplit=1)) > 1 for word in words)
    return len(sample) > 1 and 2 * len(words) > len(sample) and 10 * n_longer <= len(words)


def is_replaced(message: Mapping[str, Any]) -> bool:
    """Return whether a segment is a partial result, which a later one replaces."""
    known = [(slug(key), item) for key, item in message.items() if isinstance(item, bool)]
    return any((item and key in _PARTIAL) or (not item and key in _FINAL) for key, item in known)


def text_and_time(items: Any) -> tuple[str, Span]:
    """Return the words inside a message as one text, and their time; an empty text where the items are no words."""
    if not isinstance(items, list) or not any(map(is_word, items[:_SAMPLE])):
        return "", NEVER
    joined = messages_of([word._replace(speaker="") for word in _words_in(items, longest=None)])
    return (joined[0]["content"], joined[0]["time"]) if joined else ("", NEVER)


def words_apart(value: Mapping[str, Any]) -> list[Message]:
    """Return the messages of an object that has its words apart from their speakers, or in many results or tracks.

    Examples
    --------
    >>> words = [{"word": "hello", "speakerTag": 1}]
    >>> found = words_apart({"results": [{"alternatives": [{"words": []}]}, {"alternatives": [{"words": words}]}]})
    >>> [(one["speaker"], one["content"]) for one in found]
    [('1', 'hello')]
    """
    labels, results = value.get("speaker_labels"), value.get("results", value.get("Results"))
    words = _with_labels(_unlabelled(value), labels) if labels else []
    if not any(word.speaker for word in words):
        lists = (best.get("words", best.get("Items")) for best in _all_best(results, replaced=False))
        spoken = _words_in([item for some in lists if isinstance(some, list) for item in some])
        words = [word for word in spoken if word.speaker is not None or word.is_mark]
    if any(word.speaker for word in words):
        return [*messages_of(words), *_replaced(results)]
    channels = value.get("channel_labels")
    channels = channels.get("channels") if isinstance(channels, dict) else None
    several = (channels, _by_channel(value.get("results")), *(value.get(key) for key in _TRACKS), value)
    return next(filter(None, map(tracks, several)), [])


def _by_channel(results: Any) -> list[Any]:
    """Return the words of each channel, where results are of several channels (Google)."""
    channels: dict[str, list[Any]] = {}
    for result in results if isinstance(results, list) else ():
        channel = _track(result) if isinstance(result, dict) else ""
        if not channel:
            return []
        channels.setdefault(channel, []).append(best_of(result).get("words"))
    return [{"name": name, "words": words} for name, words in channels.items()]


def _with_labels(words: Sequence[Word], labels: Any) -> list[Word]:
    """Give each word the speaker label that begins at the same time; labels are in a list, or in segments."""
    parts = labels.get("segments") if isinstance(labels, dict) else labels
    inside = [one.get("items") or [one] for one in parts if isinstance(one, dict)] if isinstance(parts, list) else []
    listed = chain.from_iterable(some for some in inside if isinstance(some, list))
    named = _words_in([{**one, "text": ""} for one in listed if isinstance(one, dict)])
    known = {word.when.start.at: word.speaker for word in reversed(named) if word.when.start}
    return [word._replace(speaker=known.get(word.when.start.at) if word.when.start else None) for word in words]


def _unlabelled(value: Mapping[str, Any]) -> list[Word]:
    """Return words whose labels stand elsewhere: items (Amazon), or lists of a word and its two times (Watson)."""
    items = value.get("items")
    if isinstance(items, list):
        found = _words_in(items)
        return [] if any(word.speaker for word in found) else found
    stamps = [best.get("timestamps") for best in _all_best(value.get("results"), replaced=False)]
    listed = [one for some in stamps if isinstance(some, list) for one in some if _is_stamp(one)]
    return [Word(None, text, span(start, end)) for text, start, end in listed]


def _is_stamp(one: Any) -> bool:
    return isinstance(one, list) and len(one) == 3 and isinstance(one[0], str) and all(map(_is_number, one[1:]))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _replaced(results: Any) -> list[Message]:
    """Return the partial results, marked as such, so that they are counted."""
    texts = (one.get("transcript", one.get("Transcript")) for one in _all_best(results, replaced=True))
    return [{"speaker": "", "is_partial": True, "content": text} for text in texts if isinstance(text, str)]


def _all_best(results: Any, *, replaced: bool) -> list[Mapping[str, Any]]:
    listed = [one for one in results if isinstance(one, dict)] if isinstance(results, list) else []
    return [best_of(one) for one in listed if is_replaced(one) is replaced]


def results_of_stream(values: Sequence[Any]) -> list[Any]:
    """Return the results of a stream, which a service wrote one after the other; an empty list for other values.

    Examples
    --------
    >>> results_of_stream([{"TranscriptEvent": {"Transcript": {"Results": [{"IsPartial": True}]}}}, {"Transcript": {}}])
    [{'IsPartial': True}]
    """
    results: list[Any] = []
    for value in values:
        outer = value if isinstance(value, dict) else {}
        event = outer.get("TranscriptEvent", outer)
        inner = event.get("Transcript", event.get("channel")) if isinstance(event, dict) else None
        if not isinstance(inner, dict):
            return []
        options = inner.get("alternatives")
        results += inner["Results"] if isinstance(inner.get("Results"), list) else []
        results += [{**outer, "alternatives": options}] if isinstance(options, list) else []
    return results


def tracks(several: Any) -> list[Message] | None:
    """Return the messages of the tracks of a recording, each of which holds the words of one speaker.

    They are a list of objects, each with its words and the name or number of its speaker or channel, or an object of
    lists of words by the speakers' labels.
    """
    if isinstance(several, dict):
        named = [
            (name if _names_track(name) and isinstance(item, list) else "", item) for name, item in several.items()
        ]
    elif isinstance(several, list) and all(isinstance(one, dict) for one in several):
        named = [(_track(one, number), one) for number, one in enumerate(several)]
    else:
        return None
    names = {name for name, _ in named}
    if "" in names or not 1 < len(named) <= _MOST_TRACKS or len(names) < len(named):
        return None
    found = [(name, list(_unnamed(item))) for name, item in named]
    if sum(bool(words) for _, words in found) < 2:
        return None
    sentences = [sentence for name, words in found for sentence in _sentences(name, words)]
    return sorted(sentences, key=lambda one: one["time"].start.at if one["time"].start else 0.0)


def _track(one: Mapping[str, Any], number: int | None = None) -> str:
    """Return the name of a track, or a label with its number; `number` is its place in the list."""
    known = {slug(key): value for key, value in one.items()}
    name = next((known[key] for key in _NAMES_OF_TRACKS if isinstance(known.get(key), str)), "")
    bare = number if known.keys() <= {"alternatives", "search", "detected_language", "language_confidence"} else None
    index = next((known[key] for key in _NUMBERS_OF_TRACKS if _is_number(known.get(key))), bare)
    return name or ("" if index is None else f"channel {index}")


def _names_track(name: str) -> bool:
    return role_of_label(name) is not None or _NUMBERED.fullmatch(name.strip()) is not None


def _sentences(name: str, words: Sequence[Word]) -> Iterator[Message]:
    """Yield the sentences of a track as messages with times: others may speak between them."""
    sentence: list[Word] = []
    for word in words:
        if sentence and not word.is_mark and _may_end(sentence[-1], word):
            yield from messages_of(sentence)
            sentence = []
        sentence.append(word._replace(speaker=name))
    yield from messages_of(sentence)


def _may_end(one: Word, two: Word) -> bool:
    """Return whether a sentence ends, or a pause is, between two words."""
    paused = two.when.start is not None and one.when.end is not None and two.when.start.at - one.when.end.at > _PAUSE_S
    return paused or one.text.rstrip().endswith(_END_OF_SENTENCE)


def _unnamed(value: Any, depth: int = _DEEPEST) -> Iterator[Word]:
    """Yield the timed words (or segments, where there are no words) inside a track, if none says who speaks."""
    if isinstance(value, list) and value and any(map(is_word, value[:_SAMPLE])):
        words = [word for word in _words_in(value, longest=None) if word.text.strip()]
        if not any(word.speaker is not None for word in words):
            yield from _with_times_of_marks(words)
        return
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in inside if depth else ():
        below = list(_unnamed(item, depth - 1))
        yield from below
        if below and isinstance(value, dict):
            return


def _with_times_of_marks(words: Sequence[Word]) -> Iterator[Word]:
    """Give each mark the time of the last word before it that has one."""
    last = words[0]
    for word in words:
        last = last if word.when.start is None else word
        yield word._replace(when=last.when) if word.is_mark else word


def spoken_apart(value: Mapping[str, Any]) -> list[Message]:
    """Return the messages of an object with words or segments without speakers, and elsewhere who speaks when."""
    if not any(slug(key) in _APART for key in value):
        return []
    texts = max(_lists(value, _of_nobody), key=len, default=[])
    turns = max(_lists(value, _times_of_speakers), key=len, default=[])
    return messages_of(list(_by_time(texts, turns))) if texts and len({one.speaker for one in turns}) > 1 else []


def _lists(value: Any, read: Callable[[list[Any]], list[Word]], depth: int = _DEEPEST) -> Iterator[list[Word]]:
    """Yield what `read` returns for each list inside a value, where it is not empty."""
    if isinstance(value, list) and (found := read(value)):
        yield found
        return
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in inside if depth else ():
        yield from _lists(item, read, depth - 1)


def _of_nobody(items: list[Any]) -> list[Word]:
    """Return the timed words or segments of a list, those without a speaker."""
    if not all(is_segment(item) or is_word(item) for item in items[:_SAMPLE]):
        return []
    words = _words_in(items, longest=None)
    return [word for word in words if word.speaker is None and word.when.start and word.when.end]


def _times_of_speakers(items: list[Any]) -> list[Word]:
    """Return the speakers and times of a list of diarisation segments; empty for a list that holds words as well."""
    found: list[Word] = []
    for item in items:
        if not isinstance(item, dict) or any(slug(key) in {"text", "word", "content", "transcript"} for key in item):
            return []
        plan = field_plan({**item, "text": ""})
        name = None if plan is None else person(first(item, plan.speakers))
        when = NEVER if plan is None else times(item, plan)
        if name is None or when.start is None or when.end is None:
            return []
        found.append(Word(name, "", when))
    return found


def _by_time(texts: Sequence[Word], turns: Sequence[Word]) -> Iterator[Word]:
    """Give each word or segment to the speaker who is heard for most of its time, if anybody is."""
    heard = sorted((*_bounds(turn), turn.speaker or "") for turn in turns)
    at = 0
    for text in sorted(texts, key=_bounds):
        begin, end = _bounds(text)
        while at < len(heard) and heard[at][1] < begin:
            at += 1
        shared: dict[str, float] = {}
        for since, until, name in heard[at:]:
            if since > end:
                break
            if until >= begin:
                shared[name] = shared.get(name, 0.0) + min(until, end) - max(since, begin)
        yield Word(max(shared, key=shared.__getitem__, default=None), text.text, text.when)


def _bounds(word: Word) -> tuple[float, float]:
    """Return start and end in seconds, both of which are known."""
    begin, end = word.when.start, word.when.end
    return (begin.at if begin else 0.0), (end.at if end else 0.0)
