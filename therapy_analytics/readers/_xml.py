"""XML from unknown sources: parsed without entities and without a look at other files."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import IO, TYPE_CHECKING
from xml.sax import ContentHandler, SAXException
from xml.sax.handler import feature_namespaces
from xml.sax.xmlreader import AttributesNSImpl, InputSource

from therapy_analytics.readers.base import Source

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_DECLARED = re.compile(rb"""(?:encoding|charset)\s{0,9}=\s{0,9}["']?([A-Za-z][\w.:-]{1,30})""")
_TOP = 2_000
_PROLOG = re.compile(
    r"[\ufeff\s]*+(?:(?:<\?[^>]*+>|<!--(?:[^-]|-(?!->))*+-->|<!DOCTYPE[^\[>]*+(?:\[[^\]]*+\]\s*+)?>)\s*+)*+",
    re.IGNORECASE,
)
"""What may stand before the first element: declarations and comments."""
_ASCII = bytes(range(128))
_DEEPEST = 200
_MOST_ELEMENTS = 500_000
_BLANK = "\ufeff \n\t"


def xml_root(source: Source, name: str, *, what: str, remedy: str, may_have_doctype: bool = False) -> Element:
    """Return the root of an XML file, whose name without namespace must be `name`.

    Parameters
    ----------
    source : Source
        The file.
    name : str
        Of the root.
    what, remedy : str
        The format, and what to do about a broken file, for errors.
    may_have_doctype : bool, optional
        Whether files of the format name a document type; what it refers to is never opened.

    Raises
    ------
    UnreadableFileError
        It is broken, it is something else, or it defines entities.
    """
    from xml.etree.ElementTree import TreeBuilder  # noqa: PLC0415 (only XML needs it)

    from defusedxml import DefusedXmlException  # noqa: PLC0415
    from defusedxml.common import DTDForbidden  # noqa: PLC0415
    from defusedxml.ElementTree import DefusedXMLParser, ParseError  # noqa: PLC0415

    def doctype(root: str, system: str | None, public: str | None, has_declarations: int) -> None:
        if has_declarations or not may_have_doctype:  # they may give each element attributes as long as the file
            raise DTDForbidden(root, system, public)

    parser = DefusedXMLParser(target=TreeBuilder())  # by that of the standard library, nothing is too deep
    parser.parser.StartDoctypeDeclHandler = doctype
    try:
        parser.feed(as_declared(source).lstrip(_BLANK))
        root: Element = parser.close()
    except ParseError as error:
        raise source.error("the XML is broken or breaks off here", remedy, line=error.position[0]) from None
    except DefusedXmlException:
        raise source.error("the XML defines entities or refers to other files, which is unsafe", remedy) from None
    if local(root.tag) != name:
        raise source.error(f"this XML is no {what}", remedy)
    return root


def begins_with(source: Source, name: str) -> bool:
    """Tell whether the first element of a text has a name, with or without a namespace."""
    top = _PROLOG.match(source.head)
    return top is not None and re.compile(rf"<(?:\w{{1,20}}:)?{name}[\s/>]").match(source.head, top.end()) is not None


def root_is(*names: str) -> Callable[[Source], float]:
    """Return a `sniff` that is certain of XML whose root has one of these names, and 0 of all other files."""
    return lambda source: float(any(begins_with(source, name) for name in names))


def as_declared(source: Source) -> str:
    """Return the text in the encoding that a page or XML declares, unless it is Unicode, which shows by itself."""
    declared = _DECLARED.search(source.data[:_TOP])
    if declared is None or source.encoding.startswith("utf"):
        return source.text
    try:
        text = source.data.decode(declared[1].decode("ascii"), "replace")
    except (LookupError, ValueError):
        return source.text
    if 2 * text.count("\ufffd") > len(source.data.translate(None, _ASCII)):
        return source.text  # it is not encoded as it declares
    return text.replace("\r\n", "\n").replace("\r", "\n")


def local(name: object) -> str:
    """Return the name of an element or attribute without its namespace; of a comment, nothing."""
    return name.rpartition("}")[2] if isinstance(name, str) else ""


def whole_number(written: str) -> float | None:
    """Return a number of digits alone; None for other texts."""
    return float(written) if written.isascii() and written.isdecimal() and len(written) < 16 else None


def distinct_names(people: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the name of each speaker by id; where two have one name, their ids tell them apart.

    Examples
    --------
    >>> distinct_names([("s1", "Ann"), ("s2", " Li "), ("s3", "ann"), ("s4", "")])
    {'s1': 'Ann (s1)', 's2': 'Li', 's3': 'ann (s3)'}
    """
    known = [(key, " ".join(name.split())) for key, name in people]
    counts = Counter(name.casefold() for _, name in known)
    return {key: name if counts[name.casefold()] == 1 else f"{name} ({key})" for key, name in known if name}


def points_of_time(slots: Sequence[tuple[str, float | None]]) -> Mapping[str, float]:
    """Return the time of each point; one without a time lies evenly between its neighbours.

    Parameters
    ----------
    slots : sequence of (str, float or None)
        Names and times, in order.

    Returns
    -------
    mapping of str to float
        Minus infinity before the first known time, infinity after the last. Where no time is known, the points are
        numbered.
    """
    known = [at for at, (_, value) in enumerate(slots) if value is not None]
    if not known:
        return {name: float(at) for at, (name, _) in enumerate(slots)}
    values = [math.inf if value is None else value for _, value in slots]
    values[: known[0]] = [-math.inf] * known[0]
    for one, two in pairwise(known):
        step = (values[two] - values[one]) / (two - one)
        values[one + 1 : two] = [values[one] + step * n for n in range(1, two - one)]
    return {name: value for (name, _), value in zip(slots, values, strict=True)}


class BeyondMeasureError(Exception):
    """More elements, or deeper ones, than a transcript has."""


class Elements(ContentHandler):
    """Handles the elements of a large document one after the other, within bounds."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = self._n_elements = 0

    def startElementNS(  # noqa: N802 (the name that the parser calls)
        self, name: tuple[str | None, str], _qname: str | None, attrs: AttributesNSImpl
    ) -> None:
        """Handle the start of an element."""
        self._depth += 1
        self._n_elements += 1
        if self._depth > _DEEPEST or self._n_elements > _MOST_ELEMENTS:
            raise BeyondMeasureError
        self.opened(name, attrs)

    def endElementNS(  # noqa: N802 (the name that the parser calls)
        self, name: tuple[str | None, str], _qname: str | None
    ) -> None:
        """Handle the end of an element."""
        self.closed(name)
        self._depth -= 1

    def opened(self, name: tuple[str | None, str], attrs: AttributesNSImpl) -> None:
        """Handle an element by namespace and name."""

    def closed(self, name: tuple[str | None, str]) -> None:
        """Handle the end of an element."""


def walk_through(source: Source, part: IO[bytes], elements: Elements, *, remedy: str, encoding: str = "") -> None:
    """Walk through a part of an office document.

    Parameters
    ----------
    source : Source
        The file, for errors.
    part : file
        Open for reading bytes.
    elements : Elements
        Handles the elements.
    remedy : str
        What to do about a broken file.
    encoding : str, optional
        If it is not the one that the part declares.

    Raises
    ------
    UnreadableFileError
        It is not what a word processor writes.
    """
    from defusedxml import DefusedXmlException  # noqa: PLC0415 (only office documents need it)
    from defusedxml.sax import make_parser  # noqa: PLC0415

    document = InputSource()
    document.setByteStream(part)
    document.setEncoding(encoding or None)
    parser = make_parser()
    parser.forbid_dtd = True
    parser.setFeature(feature_namespaces, True)
    parser.setContentHandler(elements)
    try:
        parser.parse(document)
    except DefusedXmlException:
        raise source.error("the file declares entities or a document type, which can do harm", remedy) from None
    except BeyondMeasureError:
        raise source.error("the document has more parts than any transcript", "Split it into smaller files") from None
    except (SAXException, ValueError, LookupError):
        raise source.error("the text of the document is damaged", remedy) from None
