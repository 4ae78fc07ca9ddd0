"""Saved web pages (``.html``, ``.mhtml``) that show a transcript: the talk, without the page around it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from email import message_from_bytes

from therapy_analytics.core.printable import counted
from therapy_analytics.readers._label_layout import is_clock
from therapy_analytics.readers._page_blocks import MARKS, NAME, NAME_END, Element, WebPage, page_blocks, texts_of, tidy
from therapy_analytics.readers._stamps import STAMP, from_the_first, times_of
from therapy_analytics.readers._word_blocks import Block, Paragraph, TableRow
from therapy_analytics.readers._xml import as_declared, begins_with
from therapy_analytics.readers.base import RawSession, Row, Source, decoded, reader
from therapy_analytics.readers.roles import role_of_label
from therapy_analytics.readers.word_document import refuse_note, session_of_blocks

_STAMP = re.compile(rf"[ \t]*{STAMP}(?=[ \t]|$)[ \t]*")
_DOCTYPE = re.compile(r"[\ufeff\s]*+<!doctype html\b", re.IGNORECASE)
_ARCHIVE = re.compile(
    r"[\ufeff\s]*+(?=[a-z][\w-]{0,40}:)(?:(?!content-type:).*\n){0,30}?content-type:\s*multipart/related", re.IGNORECASE
)
_PAGES = frozenset({"text/html", "application/xhtml+xml"})
_NAMED = re.compile(r"\x01([^\x01\x02]*)\x02[ \t]*:?")
_BY_ROLE = re.compile(r"\x05([^\x05\x06]*)\x06")
_BUTTONS = re.compile(r"\x03([^\x03\x04]*)\x04")
_CAPITALISED = r"[^\W\d_a-z][\w.'\u2019()-]{0,30}"
_HEADING = re.compile(
    rf"(?P<name>{_CAPITALISED}(?: {_CAPITALISED}){{0,4}}):?[ ,|\u00b7\u2013-]{{0,3}}(?P<stamp>{STAMP})"
)
"""A name, each word of which begins with a capital, and a time."""
_HEADINGS = 0.25
"""Share of the blocks of a page."""
_LONGEST_NAME, _MOST_WORDS = 60, 6
_MOSTLY = 0.9
_FEWEST = 3
"""Turns that show where on the page the transcript stands."""


def sniff(source: Source) -> float:
    """Return 1 for a text that begins as a web page or as an archive of one (MHTML) does."""
    is_page = _DOCTYPE.match(source.head) or begins_with(source, "(?i:html)") or _ARCHIVE.match(source.head)
    return 1.0 if is_page else 0.0


@reader("web_page", suffixes=(".html", ".htm", ".xhtml", ".mhtml", ".mht"), sniff=sniff, one_session=True)
def read_web_page(source: Source) -> Iterator[RawSession]:
    """Web pages that show a talk: labelled paragraphs, names above words, tables; without menus and scripts."""
    if _ARCHIVE.match(source.head):
        source = _unpacked(source)
    page = page_blocks(as_declared(source))
    named = _settle_names(page)
    read = _named_session if named else session_of_blocks
    session = read(page.blocks)
    if not named:
        refuse_note(source, page.blocks, session)
    if session is None:
        raise source.error(
            "this web page shows no turns with the names of speakers",
            "Open the transcript itself and save that page, or take the export of the service (JSON, captions, Word)",
        )
    spoken = [row for row in session.rows if row.text]
    inside = _around({row.place for row in spoken}, page.places) if len(spoken) >= _FEWEST else None
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
    """Return the page of an archive of a page with its pictures; frames, which are pages of their own, are left out."""
    for part in message_from_bytes(source.data).walk():
        content = part.get_payload(decode=True) if part.get_content_type() in _PAGES else None
        if isinstance(content, bytes):
            return replace(decoded(source.path, content, source.options), place=source.place)
    raise source.error("no page was found in this archive", "Save the page as a web page (HTML only)")


def _named_session(blocks: Sequence[Block]) -> RawSession | None:
    """Read a page that marks names: the words up to the next name are those of the one who was named."""
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
    """Yield for each line the place of its block, the name with which it begins (or ``""``), and its words."""
    for block in blocks:
        for line in "\n".join(texts_of(block)).split("\n"):
            name, _, words = line[1:].partition(NAME_END) if line.startswith(NAME) else ("", "", line)
            yield block.place, name, words


def _above(place: Element | None) -> Iterator[Element]:
    """Yield an element and those around it, from the inside."""
    while place is not None:
        yield place
        place = place.around


def _around(numbers: set[int], places: Sequence[Element]) -> Element | None:
    """Return the innermost element that holds all that is spoken."""
    found: list[Element] = []
    for at in sorted(numbers):
        above = list(_above(places[at - 1]))
        kept = set(map(id, above))
        found = [one for one in found if id(one) in kept] if found else above
    return found[0] if found else None


def _settle_names(page: WebPage) -> bool:
    """Leave only marks of names in the blocks, as the whole page tells; return whether there are any."""
    texts = [text for block in page.blocks for text in texts_of(block)]
    names = [" ".join(MARKS.sub("", name).split()) for text in texts for name in _NAMED.findall(text)]
    if not _are_names(names):
        _mark_headings(page)
        texts = [text for block in page.blocks for text in texts_of(block)]
        names = [name for text in texts for name in _NAMED.findall(text)]
    roles = {role_of_label(role) for text in texts for role in _BY_ROLE.findall(text)}
    named_by = _NAMED if _are_names(names) else _BY_ROLE if {"therapist", "client"} <= roles else None
    for block in page.blocks:
        if isinstance(block, TableRow):
            block.cells = [_settled(page, cell, named_by) for cell in block.cells]
        else:
            block.text = _settled(page, block.text, named_by)
    return named_by is not None


def _mark_headings(page: WebPage) -> None:
    """Mark names that stand with a time, and nothing else, in a paragraph above the words."""
    for block in page.blocks:
        if isinstance(block, Paragraph):
            block.text = block.text.replace(NAME, "").replace(NAME_END, "")
    found = [
        (block, heading)
        for block in page.blocks
        if isinstance(block, Paragraph) and (heading := _HEADING.fullmatch(MARKS.sub("", block.text)))
    ]
    if len(found) >= _HEADINGS * len(page.blocks) and _are_names([one["name"] for _, one in found]):
        for block, one in found:
            block.text = f"{NAME}{one['name']}{NAME_END} {one['stamp']}"


def _settled(page: WebPage, text: str, named_by: re.Pattern[str] | None) -> str:
    """Return a text in which only names are marked, each at the beginning of a line."""
    if not MARKS.search(text):
        return text
    parts, end = [], 0
    for match in named_by.finditer(text) if named_by else ():
        name = " ".join(MARKS.sub("", match[1]).split()).rstrip(":")
        parts += [_pressed(page, text[end : match.start()]), f"\n{NAME}{name}{NAME_END}" if name else " "]
        end = match.end()
    return tidy("".join([*parts, _pressed(page, text[end:])]))


def _pressed(page: WebPage, text: str) -> str:
    """Return a text without marks and without the words on buttons, except times."""

    def told(button: re.Match[str]) -> str:
        if is_clock(button[1]):
            return f" {button[1]} "
        page.n_words_beside += len(button[1].split())
        return " "

    return MARKS.sub("", _BUTTONS.sub(told, text))


def _are_names(found: list[str]) -> bool:
    """Tell names of speakers, which are short, no sentences, and come again, from other contents of elements."""
    found = [name for name in found if name]
    good = [
        name
        for name in found
        if len(name) <= _LONGEST_NAME and len(name.split()) <= _MOST_WORDS and name[-1] not in ".?!"
    ]
    return len(found) > 1 and len(good) >= _MOSTLY * len(found) and 4 * len(set(found)) <= max(20, 3 * len(found))
