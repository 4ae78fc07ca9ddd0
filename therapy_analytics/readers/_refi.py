"""REFI-QDA projects (``.qdpx``): a zip archive of ``project.qde``, which is XML, and a folder of sources.

Positions are code points from 0; the character at the end position is no longer part of a selection, as NVivo, MAXQDA,
ATLAS.ti and QualCoder have it. Names of parts are only compared with those in the archive: no file is opened by them.

References
----------
REFI (2019). REFI-QDA standard, version 1.5. https://www.qdasoftware.org
"""

from __future__ import annotations

import re
import zlib
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from zipfile import BadZipFile

from therapy_analytics.readers._base import Source
from therapy_analytics.readers._coded import CodesOfTurn
from therapy_analytics.readers._limits import LARGEST_SESSION, refuse_large
from therapy_analytics.readers._xml import local, xml_root
from therapy_analytics.readers._zip import bounded_zip

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element
    from zipfile import ZipFile

NAMESPACE = "urn:QDA-XML:project:1.0"
CODED = "Coded turns"
"""The category of codes that say of a turn which codes somebody decided about."""
_PROJECT = re.compile(r"(?:.*/)?[^/]*\.qde", re.IGNORECASE)
_AGAIN = "Export it again from the program that made it, as a REFI-QDA project"
_MOST_TEXTS = 20_000
_QUOTED, _QUOTES = 3, " .\u2026\"\u201c\u201d'\u2018\u2019"
_MOST_PAIRS = 2_000_000
"""Of passages and the turns that they are about."""
_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_DOCUMENT = re.compile(r"\.(?:txt|docx?|rtf|odt|pdf|md)\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Selection:
    """A marked passage, from code point `start` to before `end`, its name, and who gave it which code or note."""

    start: int
    end: int
    name: str
    codings: tuple[tuple[str, str], ...]
    notes: tuple[tuple[str, str], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class TextOfProject:
    """A text of a project and its marked passages."""

    name: str
    text: str = field(repr=False)
    selections: tuple[Selection, ...]


@dataclass(frozen=True, slots=True)
class Project:
    """A project: its texts, and for each code that says what somebody decided about, the list of those codes.

    `in_vivo` are codes whose names, of three words or more, are passages of a text. They are what somebody said, and
    were left out.
    """

    texts: tuple[TextOfProject, ...]
    decided: Mapping[str, tuple[str, ...]]
    in_vivo: frozenset[str] = field(default=frozenset(), repr=False)


def read_project(source: Source) -> Project:
    """Read the texts of a project with their codes.

    Raises
    ------
    UnreadableFileError
        It is damaged, too large, or not a project.
    """
    try:
        with bounded_zip(source) as archive:
            return _project(source, archive)
    except (BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, RuntimeError, ValueError):
        raise source.error("the file is damaged or breaks off", _AGAIN) from None


def _project(source: Source, archive: ZipFile) -> Project:
    names = {name.casefold(): name for name in archive.namelist()}
    qde = next((name for name in archive.namelist() if _PROJECT.fullmatch(name)), None)
    if qde is None:
        raise source.error("the archive holds no project (project.qde)", _AGAIN)
    data = _part(source, archive, qde)
    inner = replace(source, text=data.decode("utf-8-sig", "replace"), data=data, encoding="utf-8")
    root = xml_root(inner, "Project", what="REFI-QDA project", remedy=_AGAIN)
    for element in root.iter():
        element.tag = local(element.tag)
    users = {_guid(one): one.get("name") or one.get("id") or "" for one in root.iterfind("Users/User")}
    codes, parts, decided = _codes(root)
    notes: dict[str, tuple[str, str]] = {}
    for note in root.iterfind("Notes/Note"):
        words = _text(source, archive, names, note)
        notes[_guid(note)] = users.get(_plain(note.get("creatingUser", "")), ""), (words or "").strip()
    texts = []
    for element in root.iterfind("Sources//*"):
        if element.tag in {"TextSource", "Transcript"}:
            text = _text(source, archive, names, element)
            if text is not None:
                name = _DOCUMENT.sub("", (element.get("name") or "").strip())
                texts.append(TextOfProject(name, text, tuple(_selections(element, users, codes, notes))))
    if len(texts) > _MOST_TEXTS:
        raise source.error(f"the project has more than {_MOST_TEXTS:,} texts", "Divide it into several projects")
    in_vivo = _in_vivo(texts, parts)
    kept = [replace(one, selections=tuple(_without(one.selections, in_vivo))) for one in texts]
    return Project(tuple(kept), decided, in_vivo)


def _in_vivo(texts: Sequence[TextOfProject], parts: Mapping[str, set[str]]) -> frozenset[str]:
    """Return the codes whose names are passages of a text, or hold one that is."""
    spoken = [" ".join(one.text.casefold().split()) for one in texts]
    names = {code for one in texts for marked in one.selections for _, code in marked.codings}
    long = {part for name in names for part in parts[name] if len(part.split()) >= _QUOTED}
    quoted = {part for part in long if any(part.casefold().strip(_QUOTES) in text for text in spoken)}
    return frozenset(name for name in names if parts[name] & quoted)


def _without(selections: Sequence[Selection], in_vivo: frozenset[str]) -> Iterator[Selection]:
    for one in selections:
        codings = tuple((coder, code) for coder, code in one.codings if code not in in_vivo)
        yield replace(one, codings=codings)


def _part(source: Source, archive: ZipFile, name: str) -> bytes:
    refuse_large(str(source.path), archive.getinfo(name).file_size, LARGEST_SESSION, packed=True)
    return archive.read(name)


def _text(source: Source, archive: ZipFile, names: Mapping[str, str], element: Element) -> str | None:
    """Return the plain text of a source or note; None where it has none (a picture, a recording)."""
    path = element.get("plainTextPath", "")
    if not path:
        return element.findtext("PlainTextContent")
    base = path.casefold().removeprefix("internal://").lstrip("/")
    found = next((names[name] for name in (f"sources/{base}", base) if name in names), None)
    if found is None:
        raise source.error("the project names a text that is not in the file", _AGAIN)
    return _part(source, archive, found).decode("utf-8-sig", "replace")


def _codes(root: Element) -> tuple[dict[str, str], dict[str, set[str]], dict[str, tuple[str, ...]]]:
    """Return the name of each code by id, with its category where two have one name; and what decided codes list.

    Between them, by such a name: itself, and the names of code and category that it is made of.
    """
    found: dict[str, tuple[str, str]] = {}
    decided: dict[str, tuple[str, ...]] = {}
    waiting = [(one, "") for one in root.iterfind("CodeBook/Codes/Code")]
    while waiting:
        element, parent = waiting.pop()
        name = " ".join((element.get("name") or "").split())
        found[_guid(element)] = name, parent
        if parent == CODED:
            lines = (element.findtext("Description") or "").split("\n")
            decided[name] = tuple(line.strip() for line in lines[1:] if line.strip())
        waiting += [(one, name) for one in element.iterfind("Code")]
    n = Counter(name for name, _ in found.values())
    names: dict[str, str] = {}
    parts: dict[str, set[str]] = {}
    for guid, (name, parent) in found.items():
        own = [parent, name] if n[name] > 1 and parent else [name]
        names[guid] = " ".join(own)
        parts.setdefault(names[guid], set()).update((names[guid], *own))
    return names, parts, decided


def _selections(
    element: Element, users: Mapping[str, str], codes: Mapping[str, str], notes: Mapping[str, tuple[str, str]]
) -> Iterator[Selection]:
    points = {_guid(one): _number(one.get("position")) for one in element.iterfind("SyncPoint")}
    for one in element:
        if one.tag == "PlainTextSelection":
            start, end = _number(one.get("startPosition")), _number(one.get("endPosition"))
        elif one.tag == "TranscriptSelection":
            start, end = (points.get(_plain(one.get(name, ""))) for name in ("fromSyncPoint", "toSyncPoint"))
        else:
            continue
        if start is None or end is None:
            continue
        maker = one.get("creatingUser", "")
        codings, remarks = [], one.findall("NoteRef")
        for coding in one.iterfind("Coding"):
            remarks += coding.findall("NoteRef")
            ref = coding.find("CodeRef")
            code = codes.get(_plain("" if ref is None else ref.get("targetGUID", "")), "")
            if code:
                codings.append((users.get(_plain(coding.get("creatingUser") or maker), ""), code))
        known = (notes.get(_plain(ref.get("targetGUID", ""))) for ref in remarks)
        yield Selection(start, end, one.get("name") or "", tuple(codings), tuple(note for note in known if note))


def _number(written: str | None) -> int | None:
    text = written or ""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 12 else None


def _guid(element: Element) -> str:
    return _plain(element.get("guid", ""))


def _plain(guid: str) -> str:
    return guid.strip("{} \n\t").casefold()


def lines_of(text: str) -> tuple[list[str], list[int]]:
    r"""Return the lines of a text, and the position at which each begins; Windows' line breaks are two characters.

    Examples
    --------
    >>> lines_of("T: So.\r\nC: Yes.")
    (['T: So.', 'C: Yes.'], [0, 8])
    """
    breaks = list(_LINE_BREAK.finditer(text))
    starts = [0, *(one.end() for one in breaks)]
    ends = [*(one.start() for one in breaks), len(text)]
    return [text[begin:end] for begin, end in zip(starts, ends, strict=True)], starts


def given_to(
    source: Source, spans: Sequence[tuple[int, int]], one: TextOfProject, decided: Mapping[str, tuple[str, ...]]
) -> list[list[CodesOfTurn]]:
    """Return what each coder gave to each row of a text.

    Parameters
    ----------
    source : Source
        The file, for errors.
    spans : sequence of (int, int)
        Where each row begins and ends in the text, in order. A passage that holds letters of a row is about that row.
    one : TextOfProject
        The text.
    decided : mapping of str to tuple of str
        What `Project` says.

    Raises
    ------
    UnreadableFileError
        Passages overlap so much that they cannot be somebody's coding.
    """
    starts, n_pairs = [begin for begin, _ in spans], 0
    codes: list[dict[str, dict[str, None]]] = [{} for _ in spans]
    known: list[dict[str, dict[str, None]]] = [{} for _ in spans]
    notes: list[dict[str, list[str]]] = [{} for _ in spans]
    for marked in one.selections:
        passage = one.text[marked.start : marked.end]
        begin = marked.start + len(passage) - len(passage.lstrip())
        end = marked.start + len(passage.rstrip())
        at = max(bisect_right(starts, begin) - 1, 0)
        n_pairs += max(bisect_left(starts, end) - at, 0)
        if n_pairs > _MOST_PAIRS:
            raise source.error("its passages overlap more than those of any coder", "Divide it into several projects")
        while at < len(spans) and starts[at] < end:
            if spans[at][1] > begin:
                for coder, code in marked.codings:
                    mine = codes[at].setdefault(coder, {})
                    if code in decided:
                        known[at].setdefault(coder, {}).update(dict.fromkeys(decided[code]))
                    else:
                        mine[code] = None
                for coder, words in marked.notes:
                    notes[at].setdefault(coder, []).append(words)
            at += 1
    return [
        [
            CodesOfTurn(
                coder, tuple(mine.get(coder, ())), tuple(told[coder]) if coder in told else None,
                "\n".join(remarks.get(coder, ())),
            )
            for coder in dict.fromkeys((*mine, *remarks))
        ]
        for mine, told, remarks in zip(codes, known, notes, strict=True)
    ]  # fmt: skip
