"""Builds REFI-QDA projects (``.qdpx``): users, codebook, a plain text a session, a passage a turn with its codes."""

from __future__ import annotations

import io
import re
import uuid
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from xml.etree.ElementTree import Element, SubElement, tostring

from therapy_analytics.readers import join_marks
from therapy_analytics.readers._coded import MACHINE, CodedSession, CodesOfTurn, name_of_turn
from therapy_analytics.readers._refi import CODED, NAMESPACE

NO_DATE = "2000-01-01T00:00:00Z"
"""The date of a project without one: the same sessions give the same bytes."""
_SPACE = uuid.UUID("6c0d3f52-6f0b-5d0e-9a44-3c1f5b7f2a10")
_NO_ZIP_DATE = (1980, 1, 1, 0, 0, 0)
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class CodeMeaning:
    """What a project says of a code: its category, and its definition."""

    category: str
    definition: str


@dataclass(slots=True)
class _ProjectParts:
    """What a project is made of besides its texts, and the ids of all of it, which depend on names alone.

    `codes` are the names of codes; `decided` has, for each coder and list of codes that the coder decided about, the
    code that says so; `notes` are ids and notes.
    """

    project: str
    dates: Mapping[str, str]
    codes: dict[str, None] = field(default_factory=dict)
    decided: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)
    coders: dict[str, int] = field(default_factory=lambda: {MACHINE: 0})
    notes: list[tuple[str, CodesOfTurn]] = field(default_factory=list)

    def add(self, given: CodesOfTurn) -> None:
        """Add the coder and the codes of a turn."""
        self.codes |= dict.fromkeys((*given.codes, *(given.known or ())))
        number = self.coders.setdefault(given.coder, 0)
        if given.known is not None and (given.coder, given.known) not in self.decided:
            self.coders[given.coder] = number + 1
            self.decided[given.coder, given.known] = f"{CODED}: {given.coder} {number + 1}"

    def id_of(self, *parts: object) -> str:
        """Return the id of a thing by its kind and names."""
        return str(uuid.uuid5(_SPACE, "\x1f".join(map(str, (self.project, *parts))))).upper()

    def made_by(self, coder: str) -> dict[str, str]:
        """Return the attributes that say who made a thing, and when."""
        return {"creatingUser": self.id_of("user", coder), "creationDateTime": self.dates.get(coder, NO_DATE)}


def refi_project(
    name: str,
    sessions: Sequence[CodedSession],
    *,
    meanings: Mapping[str, CodeMeaning] = MappingProxyType({}),
    dates: Mapping[str, str] = MappingProxyType({}),
) -> bytes:
    """Return a project with the words and codes of sessions.

    Parameters
    ----------
    name : str
        Of the project.
    sessions : sequence of CodedSession
        The sessions, each with a name of its own.
    meanings : mapping of str to CodeMeaning
        What is known of the codes; others stand at the top of the codebook without a description.
    dates : mapping of str to str
        Date and time of each coder's codes, as ``2024-03-14T10:00:00Z``; those of `MACHINE` are those of the texts.
    """
    parts = _ProjectParts(name, dates)
    for one in (one for session in sessions for row in session.given for one in row):
        parts.add(one)
    made = {"creatingUserGUID": parts.id_of("user", MACHINE), "creationDateTime": dates.get(MACHINE, NO_DATE)}
    root = Element("Project", {"xmlns": NAMESPACE, "name": for_xml(name), "origin": MACHINE, **made})
    users = SubElement(root, "Users")
    for coder in parts.coders:
        SubElement(users, "User", {"guid": parts.id_of("user", coder), "name": for_xml(coder)})
    if parts.codes:
        _codebook(SubElement(SubElement(root, "CodeBook"), "Codes"), parts, meanings)
    sources = SubElement(root, "Sources")
    texts: dict[str, bytes] = {}
    for session in sessions:
        path = parts.id_of("text", session.id)
        about = {"guid": parts.id_of("source", session.id), "name": for_xml(session.id)}
        about |= {"plainTextPath": f"internal://{path}.txt", **parts.made_by(MACHINE)}
        texts[f"sources/{path}.txt"] = _source(SubElement(sources, "TextSource", about), session, parts).encode()
    if parts.notes:
        every = SubElement(root, "Notes")
        for guid, given in parts.notes:
            note = SubElement(every, "Note", {"guid": guid, "name": "Note", **parts.made_by(given.coder)})
            SubElement(note, "PlainTextContent").text = for_xml(given.note)
    qde = b'<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode").encode()
    return _archive({"project.qde": qde, **texts})


def _codebook(parent: Element, parts: _ProjectParts, meanings: Mapping[str, CodeMeaning]) -> None:
    categories: dict[str, Element] = {}
    for name in parts.codes:
        meaning = meanings.get(name)
        above = parent
        if meaning is not None:
            if meaning.category not in categories:
                about = _code(parts.id_of("category", meaning.category), meaning.category, is_codable=False)
                categories[meaning.category] = SubElement(parent, "Code", about)
            above = categories[meaning.category]
        code = SubElement(above, "Code", _code(parts.id_of("code", name), name))
        if meaning is not None and meaning.definition:
            SubElement(code, "Description").text = for_xml(meaning.definition)
    if parts.decided:
        above = SubElement(parent, "Code", _code(parts.id_of("category", CODED), CODED, is_codable=False))
        SubElement(above, "Description").text = "Which turns somebody has coded, whether or not a code was given."
        for (coder, known), name in parts.decided.items():
            code = SubElement(above, "Code", _code(parts.id_of("decided", name), name))
            sentence = f"Turns that {coder} has coded. Of these codes, those that such a turn does not have are absent:"
            SubElement(code, "Description").text = for_xml("\n".join((sentence, *known)))


def _code(guid: str, name: str, *, is_codable: bool = True) -> dict[str, str]:
    return {"guid": guid, "name": for_xml(name), "isCodable": "true" if is_codable else "false"}


def _source(source: Element, session: CodedSession, parts: _ProjectParts) -> str:
    """Add the passages of a session to its source, and return its text: a line a turn."""
    lines: list[str] = []
    at = 0
    for turn, given in zip(session.turns, session.given, strict=True):
        label, words = f"{turn.speaker}: ", join_marks(turn.text, turn.marks)
        lines.append(f"{label}{words}\n")
        begin = at + len(label)
        at += len(lines[-1])
        place = {"startPosition": str(begin), "endPosition": str(begin + len(words))}
        about = {"guid": parts.id_of("turn", session.id, turn.index), "name": name_of_turn(turn), **place}
        passage = SubElement(source, "PlainTextSelection", about | parts.made_by(MACHINE))
        for one in given:
            decided = [] if one.known is None else [parts.id_of("decided", parts.decided[one.coder, one.known])]
            for code in (*decided, *(parts.id_of("code", name) for name in dict.fromkeys(one.codes))):
                guid = parts.id_of("coding", session.id, turn.index, one.coder, code)
                coding = SubElement(passage, "Coding", {"guid": guid, **parts.made_by(one.coder)})
                SubElement(coding, "CodeRef", {"targetGUID": code})
        for one in given:
            if one.note:
                parts.notes.append((parts.id_of("note", session.id, turn.index, one.coder), one))
                SubElement(passage, "NoteRef", {"targetGUID": parts.notes[-1][0]})
    return "".join(lines)


def for_xml(text: str) -> str:
    """Return a text without the characters that XML cannot hold."""
    return _NOT_IN_XML.sub("", text)


def _archive(parts: Mapping[str, bytes]) -> bytes:
    """Zip without dates, so that the same sessions give the same bytes."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name, _NO_ZIP_DATE), content, zipfile.ZIP_DEFLATED)
    return data.getvalue()
