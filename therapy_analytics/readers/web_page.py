"""Saved web pages (``.html``, ``.mhtml``) that show a transcript: the talk, without the page around it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from email import message_from_bytes

from therapy_analytics.readers._base import RawSession, Row, Source, decoded, reader
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._page_blocks import NAME, NAME_END, Place, page_blocks, texts_of
from therapy_analytics.readers._stamps import STAMP, from_the_first, times_of
from therapy_analytics.readers._word_blocks import Block
from therapy_analytics.readers._xml import as_declared, begins_with
from therapy_analytics.readers.word_document import refuse_note, session_of_blocks

_STAMP = re.compile(rf"[ \t]*{STAMP}(?=[ \t]|$)[ \t]*")
_DOCTYPE = re.compile(r"[\ufeff\s]*+<!doctype html\b", re.IGNORECASE)
_ARCHIVE = re.compile(
    r"[\ufeff\s]*+(?=[a-z][\w-]{0,40}:)(?:(?!content-type:).*\n){0,30}?content-type:\s*multipart/related", re.IGNORECASE
)
_PAGES = frozenset({"text/html", "application/xhtml+xml"})
_FEWEST = 3
"""Turns that show where on the page the transcript stands."""


def sniff(source: Source) -> float:
    """Be certain of a text that begins as a web page does, and of one that a browser saved with its pictures."""
    is_page = _DOCTYPE.match(source.head) or begins_with(source, "(?i:html)") or _ARCHIVE.match(source.head)
    return 1.0 if is_page else 0.0


@reader("web_page", suffixes=(".html", ".htm", ".xhtml", ".mhtml", ".mht"), sniff=sniff, one_session=True)
def read_web_page(source: Source) -> Iterator[RawSession]:
    """Web pages that show a talk: labelled paragraphs, names above words, tables; without menus and scripts."""
    if _ARCHIVE.match(source.head):
        source = _unpacked(source)
    page = page_blocks(as_declared(source))
    read = _named_session if page.named else session_of_blocks
    session = read(page.blocks)
    if not page.named:
        refuse_note(source, page.blocks, session)
    if session is None:
        raise source.error(
            "this web page shows no turns with the names of speakers",
            "Open the transcript itself and save that page, or take the export of the service (JSON, captions, Word)",
        )
    said = [row for row in session.rows if row.text]
    inside = _around({row.place for row in said}, page.places) if len(said) >= _FEWEST else None
    blocks: list[Block] = []
    beside: list[Block] = []
    for block, place in zip(page.blocks, page.places, strict=True):
        is_inside = inside is None or any(one is inside for one in _above(place))
        (blocks if is_inside else beside).append(block)
    if beside:
        session = read(blocks) or session
    n_words = page.n_words_beside + sum(len(text.split()) for block in beside for text in texts_of(block))
    told = f"The page around the transcript was left out ({counted(n_words, 'word')})."
    dated = ("Times were counted from that of the first message.",) if page.dated else ()
    yield replace(session, notes=(*session.notes, *dated, *([told] if n_words else [])))


def _unpacked(source: Source) -> Source:
    """Return the page in an archive of a page with its pictures; frames in it are pages of their own, and stay out."""
    for part in message_from_bytes(source.data).walk():
        content = part.get_payload(decode=True) if part.get_content_type() in _PAGES else None
        if isinstance(content, bytes):
            return replace(decoded(source.path, content, source.options), place=source.place)
    raise source.error("no page was found in this archive", "Save the page as a web page (HTML only)")


def _named_session(blocks: Sequence[Block]) -> RawSession | None:
    """Read a page that tells names from words: all up to the next name is said by the one who was named."""
    rows: list[Row] = []
    n_words_before, clock = 0, ""
    for place, name, line in _named_lines(blocks):
        stamp = _STAMP.match(line)
        words = line[stamp.end() :] if stamp else line
        if name:
            rows.append(Row(name, "", place, times_of(clock).start_s))
            clock = ""
        clock = stamp[0] if stamp else clock
        if not rows:
            n_words_before += len(words.split())
            continue
        if clock and rows[-1].start_s is None and not rows[-1].text:
            rows[-1] = replace(rows[-1], start_s=times_of(clock).start_s)
            clock = ""
        if clock and words.strip():  # a further part of a turn, with a time of its own
            rows.append(Row(rows[-1].speaker, "", place, times_of(clock).start_s))
            clock = ""
        rows[-1] = replace(rows[-1], text=f"{rows[-1].text}\n{words}".strip())
    rows, by_day = from_the_first([row for row in rows if row.text], by_day=False)
    before = f"Words before the first name were left out ({counted(n_words_before, 'word')})."
    notes = [before] if n_words_before else []
    notes += ["Times of day were counted from the first of them."] if by_day else []
    return RawSession("", rows, notes=tuple(notes)) if rows else None


def _named_lines(blocks: Sequence[Block]) -> Iterator[tuple[int, str, str]]:
    """Yield the block of each line, the name that it begins with, or nothing, and its words."""
    for block in blocks:
        for line in "\n".join(texts_of(block)).split("\n"):
            name, _, words = line[1:].partition(NAME_END) if line.startswith(NAME) else ("", "", line)
            yield block.place, name, words


def _above(place: Place | None) -> Iterator[Place]:
    """Yield the element in which something stands, and those around that one, from the inside."""
    while place is not None:
        yield place
        place = place.around


def _around(numbers: set[int], places: Sequence[Place]) -> Place | None:
    """Return the innermost element that holds all that is said."""
    found: list[Place] = []
    for at in sorted(numbers):
        above = list(_above(places[at - 1]))
        kept = set(map(id, above))
        found = [one for one in found if id(one) in kept] if found else above
    return found[0] if found else None
