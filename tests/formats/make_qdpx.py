"""Write ``moreau_ada.qdpx``: a REFI-QDA project as programs for qualitative research export it, in our own words.

Two texts with labels (one with Windows' line breaks and signs beyond the Basic Multilingual Plane), a memo without
labels, two coders, codes in categories, and passages that are parts of turns, or span two.
Run ``python tests/formats/make_qdpx.py`` after a change; the same words give the same bytes.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.sax.saxutils import quoteattr

_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_WHEN = "2025-03-04T09:00:00Z"
FIRST = (
    "Dr. Moreau: What has the week been like?\r\n"
    "Ada: Long \U0001f600. I did not sleep.\r\n"
    "Dr. Moreau: You lay awake, and it wore you out. What helped?\r\n"
    "Ada: Walking did. I will walk tonight.\r\n"
)
SECOND = "Therapist: How did the walking go?\nClient: Well. I went twice.\nTherapist: Twice!\nClient: Yes, twice.\n"
MEMO = "Remember to ask the team about the second site.\n"


def guid(kind: int, number: int) -> str:
    """Return an id that says what it is of."""
    return f"{kind:08X}-0000-4000-8000-{number:012X}"


USERS = {"Ines Roth": guid(1, 1), "Bo": guid(1, 2)}
CODES = {"question": guid(2, 1), "reflection": guid(2, 2), "change talk": guid(2, 3), "client": guid(2, 9)}
NOTE = guid(5, 1)


def passage(number: int, text: str, words: str, *codings: tuple[str, str], note: bool = False) -> str:
    """Return a marked passage with its codes, each by a coder."""
    start = text.index(words)
    inside = "".join(
        f'<Coding guid="{guid(4, 100 * number + at)}" creatingUser="{USERS[coder]}" creationDateTime="{_WHEN}">'
        f'<CodeRef targetGUID="{CODES[code]}"/></Coding>'
        for at, (coder, code) in enumerate(codings)
    )
    remark = f'<NoteRef targetGUID="{NOTE}"/>' if note else ""
    place = f'startPosition="{start}" endPosition="{start + len(words)}"'
    return (
        f'<PlainTextSelection guid="{guid(3, number)}" name={quoteattr(words[:20])} {place} '
        f'creatingUser="{USERS["Bo"]}" creationDateTime="{_WHEN}">{inside}{remark}</PlainTextSelection>'
    )


def project() -> str:
    """Return the project file."""
    users = "".join(f'<User guid="{one}" name="{name}"/>' for name, one in USERS.items())
    code = '<Code guid="{}" name="{}" isCodable="true" color="#2266AA"/>'
    therapist = "".join(code.format(CODES[name], name) for name in ("question", "reflection"))
    book = (
        f'<Code guid="{guid(2, 8)}" name="Therapist" isCodable="false"><Description>What the therapist does.'
        f'</Description>{therapist}</Code><Code guid="{CODES["client"]}" name="Client" isCodable="true">'
        f"{code.format(CODES['change talk'], 'change talk')}</Code>"
    )
    first = (
        passage(1, FIRST, "What has the week been like?", ("Ines Roth", "question"), ("Bo", "question"))
        + passage(2, FIRST, "You lay awake, and it wore you out. ", ("Ines Roth", "reflection"), note=True)
        + passage(3, FIRST, "What helped?\r\nAda: Walking did.", ("Bo", "question"))
        + passage(4, FIRST, "I will walk tonight.", ("Ines Roth", "change talk"))
    )
    second = passage(5, SECOND, "How did the walking go?", ("Ines Roth", "question"))
    texts = "".join(
        f'<TextSource guid="{guid(6, number)}" name={quoteattr(name)} plainTextPath="internal://{guid(7, number)}.txt"'
        f' creatingUser="{USERS["Bo"]}" creationDateTime="{_WHEN}">{inside}</TextSource>'
        for number, (name, inside) in enumerate((("moreau_ada_1.docx", first), ("moreau_ada_2", second), ("Memo", "")))
    )
    note = (
        f'<Note guid="{NOTE}" name="Memo 1" creatingUser="{USERS["Ines Roth"]}" creationDateTime="{_WHEN}">'
        "<PlainTextContent>Complex or simple?</PlainTextContent></Note>"
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<Project name="Moreau" origin="Another program" '
        f'creatingUserGUID="{USERS["Bo"]}" creationDateTime="{_WHEN}" xmlns="urn:QDA-XML:project:1.0">'
        f"<Users>{users}</Users><CodeBook><Codes>{book}</Codes></CodeBook><Sources>{texts}</Sources>"
        f"<Notes>{note}</Notes></Project>\n"
    )


def main() -> None:
    """Write the project beside this file."""
    parts = {"project.qde": project()}
    parts |= {f"Sources/{guid(7, number)}.txt": text for number, text in enumerate((FIRST, SECOND, MEMO))}
    with zipfile.ZipFile(Path(__file__).with_name("moreau_ada.qdpx"), "w") as archive:
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name, _LONG_AGO), text.encode(), zipfile.ZIP_DEFLATED)


if __name__ == "__main__":
    main()
