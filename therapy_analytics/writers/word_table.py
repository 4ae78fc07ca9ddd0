"""A Word document with a table of turns."""

from __future__ import annotations

import io
import re
import zipfile
from xml.sax.saxutils import escape

from therapy_analytics.session import Session
from therapy_analytics.writers._base import clock, table_of, writer

_TYPES = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONS = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="word/document.xml"/></Relationships>'
)
_DOCUMENT = (
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:tbl>'
    "<w:tblPr><w:tblBorders>{borders}</w:tblBorders></w:tblPr>{rows}</w:tbl><w:p/></w:body></w:document>"
)
_BORDERS = "".join(f'<w:{side} w:val="single" w:sz="4"/>' for side in ("top", "left", "bottom", "right", "insideH"))
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_NO_DATE = (1980, 1, 1, 0, 0, 0)


@writer("docx", suffix=".docx", holds={"times", "ends", "codes", "lines", "others"})
def write_word_table(session: Session) -> bytes:
    """Word: a table with a row a turn: speaker, role, times, words, codes by people."""
    rows = table_of(session, times=("start", "end"), write_time=clock)
    document = _DOCUMENT.format(
        borders=_BORDERS, rows="".join(f"<w:tr>{''.join(map(_cell, row))}</w:tr>" for row in rows)
    )
    return _archive({"[Content_Types].xml": _TYPES, "_rels/.rels": _RELATIONS, "word/document.xml": document})


def _cell(words: str) -> str:
    lines = (f'<w:t xml:space="preserve">{escape(line)}</w:t>' for line in _NOT_IN_XML.sub("", words).split("\n"))
    return f"<w:tc><w:p><w:r>{'<w:br/>'.join(lines)}</w:r></w:p></w:tc>"


def _archive(parts: dict[str, str]) -> bytes:
    """Zip without dates, so that the same session gives the same bytes."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name, _NO_DATE), content.encode(), zipfile.ZIP_DEFLATED)
    return data.getvalue()
