"""Recognised speech as services write it: single words, and words that stand apart from their speakers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

from therapy_analytics.readers._columns import slug
from therapy_analytics.readers._json_fields import Message
from therapy_analytics.readers._roles import role_of_label
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
    return [
        {"speaker": one["speaker"], "content": text, "time": Span(one["start"], one["end"])}
        for one in messages
        if (text := "".join(one["pieces"]).strip())
    ]


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
        best = {slug(key): value for key, value in best_of(item).items()}
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


def is_object(item: Any) -> bool:
    return isinstance(item, dict)


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
    labels = value.get("speaker_labels")
    words = _with_labels(_unlabelled(value), labels) if labels else []
    channels = value.get("channel_labels")
    channels = channels.get("channels") if isinstance(channels, dict) else None
    results = value.get("results", value.get("Results"))
    spoken = (word for item in _of_results(results) if (word := word_of(item)) is not None)
    if not any(word.speaker for word in words):
        words = [word for word in spoken if word.speaker is not None or word.is_mark]
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


def _with_labels(words: Sequence[Word], labels: Any) -> list[Word]:
    """Give each word the label that begins when it does, of a list of labels, or of segments that hold some."""
    parts = labels.get("segments") if is_object(labels) else labels
    inside = [one.get("items") or [one] for one in parts if is_object(one)] if isinstance(parts, list) else []
    listed = chain.from_iterable(some for some in inside if isinstance(some, list))
    named = [word for one in listed if is_object(one) and (word := word_of({**one, "text": ""})) is not None]
    known = {word.when.start.at: word.speaker for word in reversed(named) if word.when.start}
    return [word._replace(speaker=known.get(word.when.start.at) if word.when.start else None) for word in words]


def _unlabelled(value: Mapping[str, Any]) -> list[Word]:
    """Return the words beside which labels stand: items (Amazon), or lists of a word and its two times (Watson)."""
    items = value.get("items")
    if isinstance(items, list):
        found = [word for item in items if (word := word_of(item)) is not None]
        return [] if any(word.speaker for word in found) else found
    stamps = [best.get("timestamps") for best in _all_best(value.get("results"), replaced=False)]
    listed = [one for some in stamps if isinstance(some, list) for one in some if _is_stamp(one)]
    return [Word(None, text, span(start, end), is_mark=False) for text, start, end in listed]


def _replaced(results: Any) -> list[Message]:
    """Return what was heard for the moment, marked as such."""
    texts = (one.get("transcript", one.get("Transcript")) for one in _all_best(results, replaced=True))
    return [{"speaker": "", "is_partial": True, "content": text} for text in texts if isinstance(text, str)]


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
    known = {slug(key): value for key, value in one.items()}
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
        every = (word_of(item, longest=None) for item in value)
        words = [word for word in every if word is not None and word.text.strip()]
        if any(word.speaker is not None for word in words):
            return
        yield from _timed(words)
        return
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in inside if depth else ():
        below = list(_unnamed(item, depth - 1))
        yield from below
        if below and isinstance(value, dict):
            return


def _timed(words: Sequence[Word]) -> Iterator[Word]:
    """Give marks the time of the last word before them that has one."""
    last = words[0]
    for word in words:
        last = last if word.when.start is None else word
        yield word._replace(when=last.when) if word.is_mark else word


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
