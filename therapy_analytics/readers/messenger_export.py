"""Chats exported from WhatsApp and other messengers as text, each message with its date and time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from therapy_analytics.core.printable import counted
from therapy_analytics.readers._messenger_lines import (
    Message,
    dates,
    message_at,
    with_days,
    with_heads,
    with_names_above,
)
from therapy_analytics.readers.base import RawSession, Row, Source, reader

_MEDIA_MARK = "[media omitted]"
_HIDDEN = "[\u200e\u200f\u202a-\u202e\u2066-\u2069]*"
_HIDDEN_OR_BLANK = "[ \t\u200e\u200f\u202a-\u202e\u2066-\u2069]"
_IN_BRACKETS = re.compile(
    r"<[^<>\n]{0,20}\b(?:media|medien|multimedia|m[ée]dias?|m[íi]dia|archivo|fichier)\b[^<>\n]{0,30}>"
    r"|<(?:attached|anhang|adjunto|pi[èe]ce jointe|allegato|anexo|bijlage): ?[^<>\n]{1,200}>",
    re.IGNORECASE,
)
_IN_WORDS = re.compile(
    rf"^{_HIDDEN}(?:"
    r"(?:image|video(?: note)?|audio|sticker|gif|document|contact card) omitted"
    r"|(?:bild|video|audio|sticker|gif|dokument|kontaktkarte) weggelassen"
    r"|(?:imagen|video|audio|sticker|gif|documento) omitid[oa]"
    r"|(?:image|vid[ée]o|audio|sticker|gif|document) (?:absente?|omise?)"
    r"|[^\n]{1,200} \((?:file attached|datei angeh[äa]ngt|archivo adjunto|fichier joint|arquivo anexado)\)"
    rf"){_HIDDEN}[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_MAY_BE_MEDIA = re.compile(r"[<)]|omi|weggelassen|absent", re.IGNORECASE)
_DELETED = re.compile(
    rf"{_HIDDEN}(?:this message was deleted|you deleted this message|diese nachricht wurde gel[öo]scht)\.?{_HIDDEN}",
    re.IGNORECASE,
)
_CALL = re.compile(rf"{_HIDDEN}(?:missed|silenced) (?:group )?(?:voice|video) call\b[^\n]{{0,40}}", re.IGNORECASE)
_ENCRYPTED = re.compile(rf"{_HIDDEN}messages and calls are end-to-end encrypted\.[^\n]*", re.IGNORECASE)
_EDITED = re.compile(rf"(?<!{_HIDDEN_OR_BLANK}){_HIDDEN_OR_BLANK}*+<this message was edited>{_HIDDEN}", re.IGNORECASE)
_EVENT = re.compile(
    r"\b(?:changed|added|created|removed|left|joined|pinned|invited|started|turned (?:on|off))\b", re.IGNORECASE
)
_LONGEST_NAME = 5
_LEAST_SHARE = 0.3
_MOST_LINES = 3000


def sniff(source: Source) -> float:
    """Be certain where many lines, or the first, begin with a date, a time and a name."""
    lines = [line for line in with_heads(source.head.split("\n")[:_MOST_LINES]) if line.strip("\ufeff \t")]
    if not lines:
        return 0.0
    found, before = _messages(lines)
    named = sum(bool(message.name) for message in found)
    if named > 1 and (named >= _LEAST_SHARE * len(lines) or not before):
        return 0.92
    return 0.6 if named and not before else 0.0


@reader("messenger_export", suffixes=(".txt",), sniff=sniff, one_session=True)
def read_messenger_export(source: Source) -> Iterator[RawSession]:
    """Chat exported as text: each message with its date, time and author."""
    messages, before = _messages(source.lines)
    names = _names(messages)
    spoken = [message for message in messages if message.name in names and not _ENCRYPTED.fullmatch(message.lines[0])]
    if not spoken:
        raise source.error(
            "no messages with a date, a time and a name were found",
            'A message looks like "[12/03/2024, 14:05:33] Anna: ..."; export the chat again as text',
        )
    moments, unclear = dates([message.when for message in spoken])
    first = next((moment for moment in moments if moment is not None), None)
    since = [None if first is None or one is None else (one - first).total_seconds() for one in moments]
    rows = [_row(message, time) for message, time in zip(spoken, since, strict=True)]
    metadata = {} if first is None else {"date": first.date().isoformat()}
    kept = {id(message) for message in spoken}
    notices = [message for message in messages if id(message) not in kept]
    notes = _notes(notices, before, rows, unclear=unclear)
    yield RawSession("", rows, metadata, tuple(notes), began=None if first is None else first.timestamp())


def _n_words(lines: Iterable[str]) -> str:
    return counted(sum(len(line.split()) for line in lines), "word")


def _messages(lines: Sequence[str]) -> tuple[list[Message], list[str]]:
    """Return the messages, each with the lines that continue it, and the lines before the first."""
    messages: list[Message] = []
    before: list[str] = []
    for number, line in enumerate(with_days(with_heads(lines)), start=1):
        message = message_at(line, number)
        if message is not None:
            messages.append(message)
        elif messages:
            messages[-1].lines.append(line)
        elif line.strip("\ufeff \t"):
            before.append(line)
    return with_names_above(messages), before


def _names(messages: Sequence[Message]) -> frozenset[str]:
    """Return the authors, without notices of the program that hold a colon, as when somebody renames the group."""
    counts = Counter(message.name for message in messages if message.name)
    short = {name for name in counts if len(name.split()) <= _LONGEST_NAME and not _EVENT.search(name)}
    return frozenset(short or counts)


def _row(message: Message, since: float | None) -> Row:
    text = "\n".join(message.lines).strip()
    if _MAY_BE_MEDIA.search(text):
        text = _IN_WORDS.sub(_MEDIA_MARK, _IN_BRACKETS.sub(_MEDIA_MARK, _EDITED.sub("", text)))
    if _DELETED.fullmatch(text):
        text = "[message deleted]"
    elif _CALL.fullmatch(text):
        text = "[missed call]"
    elif text == "null":  # what some phones write for a picture that is seen once
        text = _MEDIA_MARK
    start = since if since is not None and since >= 0 else None
    return Row(message.name, text.strip("\u200e\u200f \t\n"), message.place, start)


def _notes(notices: Sequence[Message], before: Sequence[str], rows: Sequence[Row], *, unclear: bool) -> Iterator[str]:
    if notices:
        words = _n_words(line for message in notices for line in (message.name, *message.lines))
        yield f"{counted(len(notices), 'message')} of the program itself (joined, left, encrypted) left out ({words})."
    if before:
        yield f"{counted(len(before), 'line')} before the first message left out ({_n_words(before)})."
    media = sum(_MEDIA_MARK in row.text for row in rows)
    if media:
        yield f"{counted(media, 'message')} with pictures, sound or files that are not in the export."
    if unclear:
        yield "The dates can be read day first or month first; the usual order was taken, so the date may be wrong."
