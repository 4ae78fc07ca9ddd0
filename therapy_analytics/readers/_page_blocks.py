"""The paragraphs and table rows that a web page shows, and where in the page each stands.

By hand on the standard parser, which is fed one element after the other: a page can be nested a hundred thousand deep.
"""

from __future__ import annotations

import html
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from html.parser import HTMLParser

from therapy_analytics.readers._times import date_seconds
from therapy_analytics.readers._word_blocks import Block, Paragraph, TableRow

_VOID_TAGS = """
area base br col embed hr img input link meta param source track wbr
"""
_VOID = frozenset(_VOID_TAGS.split())
_BLOCKS_TAGS = """
address article blockquote body center dd details dialog div dl dt fieldset figcaption figure form h1 h2 h3 h4 h5 h6
header hgroup html li main menu ol p pre section summary table tbody td tfoot th thead tr ul caption
"""
_BLOCKS = frozenset(_BLOCKS_TAGS.split())
_BESIDE_TAGS = """
script style noscript template head nav aside footer svg math select option textarea object iframe canvas audio video
datalist map
"""
_BESIDE = frozenset(_BESIDE_TAGS.split())
"""Elements that are no part of the text of a page."""
_NO_WORDS = frozenset({"script", "style", "noscript", "template", "head", "svg", "math"})
_ROLE_NAMES = """
navigation banner contentinfo menu menubar menuitem toolbar search complementary tooltip alert tablist tab
"""
_ROLES = frozenset(_ROLE_NAMES.split())
_UNSEEN = re.compile(r"(?:display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden)", re.IGNORECASE)
_UNSEEN_CLASS = re.compile(
    r"sr-?only|visually-?hidden|screen-?reader\S*|(?:\S+[-_])?avatar(?:[-_]\S+)?|initials|cookie\S*|breadcrumbs?|sidebar",
    re.IGNORECASE,
)
_ALWAYS_SEEN = frozenset({"html", "body", "main"})
_INLINE = frozenset({"span", "time", "small", "b", "i"})
"""Elements hidden from screen readers that may still hold a time."""
_CLASS_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_NAMING = frozenset({"speaker", "author", "username", "participant", "sender", "talker", "displayname"})
_BEFORE_NAME = frozenset({"display", "user", "from", "person", "member", "speaker", "full"})
_SPEAKER_WORDS = """
therapist counselor counsellor clinician coach assistant bot chatbot ai client patient user human seeker
"""
_ROLE_WORDS = frozenset(_SPEAKER_WORDS.split())
_TIMING = frozenset({"time", "timestamp", "timecode"})
_DATING = _TIMING | {"date"}
_DAY_FIRST = re.compile(r"(\d\d)\.(\d\d)\.(\d{4}),? (\d\d:\d\d(?::\d\d)?)")
_DEEPEST = 200
NAME, NAME_END = "\x01\x02"
_BUTTON, _BUTTON_END, _ROLE, _ROLE_END = "\x03\x04\x05\x06"
MARKS = re.compile("\x05[^\x05\x06]*\x06|[\x01-\x06]")
_CONTROL = re.compile("[\x01-\x06]")
_SPACE = re.compile(r"[ \t\r\n\f\xa0]+")
_BLANKS = re.compile(r"[ \t\xa0]+")


@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """An element of the page, and the one around it."""

    around: Element | None = None


@dataclass(slots=True)
class WebPage:
    """What a page shows.

    Attributes
    ----------
    blocks : list of Paragraph or TableRow
        In order, with marks in the text: a name that an element says to be one stands between the letters `NAME` and
        `NAME_END`; buttons, and the roles that classes tell, are marked as well.
    places : list of Element
        Where in the page each block stands.
    dated : bool
        Whether times are counted from the first message, because the page says days and hours.
    n_words_beside : int
        How many words stand in menus, on buttons, and where nobody sees them.
    """

    blocks: list[Block] = field(default_factory=list, repr=False)
    places: list[Element] = field(default_factory=list, repr=False)
    dated: bool = False
    n_words_beside: int = 0


@dataclass(frozen=True, slots=True)
class _Open:
    """An open element, and the mark that is written where it ends."""

    tag: str
    place: Element
    classes: str = ""
    mark: str = ""


def page_blocks(text: str) -> WebPage:
    """Return what a page shows.

    Parameters
    ----------
    text : str
        HTML, be it sound or not.

    Examples
    --------
    >>> [block.text for block in page_blocks("<p><b>Ann:</b> One &amp; two.<script>no</script><p>So").blocks]
    ['Ann: One & two.', 'So']
    """
    parser = _Parser()
    parser.feed(text)
    parser.finish()
    return parser.page


class _Parser(HTMLParser):
    """Collects paragraphs and table rows."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = WebPage()
        self._open = [_Open("", Element())]
        self._counts: Counter[str] = Counter()
        self._skipped, self._skip_depth = "", 0
        self._texts: list[tuple[str, bool]] = []
        self._cells: list[str] | None = None
        self._n_tables = self._tables_open = 0
        self._closed = ""
        self._beside = False
        self._is_date = False
        self._first_date: float | None = None

    def updatepos(self, i: int, j: int) -> int:
        """Count no lines: they are not used, and counting takes a tenth of the time."""
        del i
        return j

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Pass over marked sections; a broken one is a comment, as in a browser."""
        try:
            return super().parse_marked_section(i, report)
        except AssertionError:
            return self.parse_bogus_comment(i)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element, or begin to leave one out."""
        if self._skipped == "head" and tag in _BLOCKS:
            self._skipped = ""
        if self._skipped:
            self._skip_depth += tag == self._skipped
            return
        given = {name: value or "" for name, value in attrs}
        if tag in _VOID:
            self._void(tag)
        elif (date := _date(tag, given)) is not None:
            self._first_date = date if self._first_date is None else self._first_date
            self._skipped, self._skip_depth, self._is_date = tag, 1, True
            self.page.dated = True
            self._add(_clock(date - self._first_date))
        elif _is_beside(tag, given):
            self._skipped, self._skip_depth, self._is_date = tag, 1, False
            if tag in _BLOCKS:
                self._flush()
        else:
            self._begin(tag, given.get("class", ""))
            self._push(tag, given.get("class", ""), may_be_clock=tag == "button" or "aria-hidden" in given)

    def _void(self, tag: str) -> None:
        if tag == "br":
            self._add("\n")
        elif tag == "hr":
            self._flush()

    def _begin(self, tag: str, classes: str) -> None:
        if tag in _BLOCKS:
            self._flush()
        if tag == "table":
            self._end_row(as_lines=True)  # a table in a cell: the outer one only arranges the page
            self._n_tables += 1
        elif tag == "tr":
            self._end_row()
        elif tag in {"td", "th"}:
            self._end_cell()
            self._cells = self._cells or []
            self._cells.append("")
        self._beside = bool(classes and self._closed and self._closed != classes)
        self._closed = ""

    def _push(self, tag: str, classes: str, *, may_be_clock: bool) -> None:
        """Open an element, and mark where a name, a button or a person's message begins."""
        words = _class_words(classes)
        mark = NAME if words and _is_naming(words) else _BUTTON if may_be_clock else ""
        if mark or tag == "time" or not _TIMING.isdisjoint(words):
            self._add(f" {mark}")
        role = next((word for word in words if word in _ROLE_WORDS), "") if not mark else ""
        if role:
            self._add(f"{_ROLE}{role}{_ROLE_END}")
        deep = len(self._open) > _DEEPEST
        place = self._open[-1].place if deep else Element(self._open[-1].place)
        ends = {NAME: NAME_END, _BUTTON: _BUTTON_END}
        self._open.append(_Open(tag, place, classes, ends.get(mark, " " if tag == "time" else "")))
        self._counts[tag] += 1

    def handle_endtag(self, tag: str) -> None:
        """Close an element and all that was left open inside it."""
        if self._skipped:
            self._skip_depth -= tag == self._skipped
            self._skipped = self._skipped if self._skip_depth else ""
            return
        if not self._counts[tag]:
            return
        while True:
            one = self._open[-1]
            self._add(one.mark)
            if one.tag in _BLOCKS:
                self._flush()
            if one.tag in {"tr", "table"}:
                self._end_row()
            self._open.pop()
            self._counts[one.tag] -= 1
            if one.tag == tag:
                self._closed = one.classes
                return

    def handle_data(self, data: str) -> None:
        """Take letters; those of menus are counted."""
        if self._skipped:
            if not self._is_date and self._skipped not in _NO_WORDS and self.cdata_elem is None:
                self.page.n_words_beside += len(data.split())
            return
        data = _CONTROL.sub("", data)
        last = self._texts[-1][0][-1:] if self._beside and self._texts else ""
        if last.isalnum() and data[:1].isalnum() and _is_other_word(last, data[0]):
            self._add(" ")
        self._closed, self._beside = "", False
        self._add(data.replace("\r", "") if self._counts["pre"] else _SPACE.sub(" ", data))

    def _add(self, text: str) -> None:
        if text:
            self._texts.append((text, self._counts["b"] > 0 or self._counts["strong"] > 0))

    def _flush(self) -> None:
        """End a paragraph; in a cell it is a line."""
        if self._cells is not None:
            self._cells[-1] += tidy("".join(text for text, _ in self._texts)) + "\n"
        elif self._texts:
            text = tidy("".join(text for text, _ in self._texts))
            if text:
                self._keep(Paragraph(len(self.page.blocks) + 1, text, _n_bold(self._texts)))
        self._texts = []

    def _keep(self, block: Block) -> None:
        self.page.blocks.append(block)
        self.page.places.append(self._open[-1].place)

    def _end_cell(self) -> None:
        if self._cells is None:
            self._flush()
            self._cells = []

    def _end_row(self, *, as_lines: bool = False) -> None:
        """Keep a finished row; one of a single cell is a frame around paragraphs."""
        if self._cells is None:
            return
        self._flush()
        cells, self._cells = [cell.strip() for cell in self._cells], None
        if len(cells) > 1 and not as_lines:
            self._keep(TableRow(len(self.page.blocks) + 1, self._n_tables, cells))
            return
        for line in "\n".join(cells).split("\n"):
            if line:
                self._keep(Paragraph(len(self.page.blocks) + 1, line))

    def finish(self) -> None:
        """Close everything that is open.

        A tag or comment that never ends is left out, as in a browser. The parser itself would look for the end of each
        `<` in it again, which takes hours.
        """
        if not self.rawdata.startswith("<"):
            self.handle_data(html.unescape(self.rawdata))
        self._end_row()
        self._flush()


def texts_of(block: Block) -> list[str]:
    """Return the text of a paragraph, or of each cell of a row."""
    return block.cells if isinstance(block, TableRow) else [block.text]


def tidy(text: str) -> str:
    """Return the lines that have words, each with single spaces."""
    return "\n".join(line for part in text.split("\n") if (line := _BLANKS.sub(" ", part).strip()))


def _n_bold(texts: list[tuple[str, bool]]) -> int:
    """Return how many letters of the beginning are bold."""
    bold = ""
    for text, is_bold in texts:
        plain = MARKS.sub("", text)
        if not is_bold and plain.strip():
            break
        bold += plain if is_bold else ""
    return len(tidy(bold))


def _clock(seconds: float) -> str:
    """Return a time as pages show it; a day has 24 hours, and the next goes on counting."""
    minutes, rest = divmod(round(max(seconds, 0.0)), 60)
    return f" [{minutes // 60}:{minutes % 60:02}:{rest:02}] "


def _date(tag: str, given: dict[str, str]) -> float | None:
    """Return the seconds since 1970 of an element that holds nothing but when something was sent."""
    if tag != "time" and _DATING.isdisjoint(_class_words(given.get("class", ""))):
        return None
    for written in (given.get("datetime", ""), given.get("title", "")):
        day_first = _DAY_FIRST.match(written)
        iso = "{2}-{1}-{0}T{3}".format(*day_first.groups()) if day_first else written
        if (seconds := date_seconds(iso)) is not None and ":" in iso:
            return seconds
    return None


def _is_beside(tag: str, given: dict[str, str]) -> bool:
    """Tell an element that is no part of the text, or that is not seen."""
    if tag in _ALWAYS_SEEN:
        return False
    if not given:
        return tag in _BESIDE
    for_eyes_alone = given.get("aria-hidden") == "true" and tag not in _INLINE
    return (
        tag in _BESIDE
        or for_eyes_alone
        or "hidden" in given
        or _UNSEEN.search(given.get("style", "")) is not None
        or given.get("role", "").casefold() in _ROLES
        or _has_unseen_class(given.get("class", ""))
    )


@lru_cache(maxsize=1_000)
def _has_unseen_class(classes: str) -> bool:
    return any(map(_UNSEEN_CLASS.fullmatch, classes.split()))


def _is_other_word(last: str, first: str) -> bool:
    """Tell whether two elements are set apart by style and not by a space, as in ``Ann0:03Well``."""
    return last.isdigit() or first.isdigit() or (last.islower() and first.isupper())


@lru_cache(maxsize=1_000)
def _class_words(classes: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in _CLASS_WORD.findall(classes))


def _is_naming(words: Sequence[str]) -> bool:
    """Tell an element that holds the name of who speaks, by the words of its class."""
    pairs = itertools.pairwise(words)
    return not _NAMING.isdisjoint(words) or any(one in _BEFORE_NAME and two == "name" for one, two in pairs)
