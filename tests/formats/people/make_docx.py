"""Write the Word documents of this folder: the dialogues of the text files beside them, as labelled paragraphs.

Run ``python tests/formats/people/make_docx.py`` after a change; the same words give the same bytes.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

HERE = Path(__file__).parent
NAMES = ("couple", "couple_beside", "family", "interpreter", "cotherapists", "group", "mother_once")
_SPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


def run(text: str, *, bold: bool = False) -> str:
    """Return words of one format."""
    properties = "<w:rPr><w:b/></w:rPr>" if bold else ""
    return f'<w:r>{properties}<w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def document(text: str) -> str:
    """Return the part of a document that holds its words: a bold label, then what is said."""
    turns = (line.split(": ", 1) for line in text.splitlines())
    body = "".join(f"<w:p>{run(f'{who}: ', bold=True)}{run(words)}</w:p>" for who, words in turns)
    return f"<w:document {_SPACE}><w:body>{body}</w:body></w:document>"


def main() -> None:
    """Write the documents beside this file."""
    for name in NAMES:
        with zipfile.ZipFile(HERE / f"{name}.docx", "w", zipfile.ZIP_STORED) as archive:
            part = zipfile.ZipInfo("word/document.xml", _LONG_AGO)
            archive.writestr(part, document((HERE / f"{name}.txt").read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
