"""Write ``quist_elena.docx``: every part of a Word file that a reader must mind, in a few turns of our own words.

Run ``python tests/formats/make_docx.py`` after a change; the same words give the same bytes.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

_MAIN = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_ROOTS = {"comments": "comments", "footnotes": "footnotes", "header1": "hdr", "footer1": "ftr"}
_BESIDE = "These words stand beside the transcript and are no part of it."


def run(text: str, *, bold: bool = False, tag: str = "t") -> str:
    """Return words of one format."""
    properties = "<w:rPr><w:b/></w:rPr>" if bold else ""
    return f'<w:r>{properties}<w:{tag} xml:space="preserve">{escape(text)}</w:{tag}></w:r>'


def turn(label: str, time: str, *runs: str) -> str:
    """Return a paragraph that begins with a bold label and a time."""
    return f"<w:p>{run(label, bold=True)}{run(f' [{time}]: ')}{''.join(runs)}</w:p>"


def tracked(kind: str, text: str) -> str:
    """Return words that were inserted or deleted with tracked changes on."""
    inside = run(text, tag="t" if kind == "ins" else "delText")
    return f'<w:{kind} w:id="1" w:author="Q" w:date="2025-03-04T09:00:00Z">{inside}</w:{kind}>'


QUIST, CLIENT = "Therapist (Ms. Quist)", "Client"
BREAK = "<w:r><w:br/></w:r>"
FOOTNOTE = '<w:r><w:footnoteReference w:id="1"/></w:r>'
COMMENT = '<w:r><w:commentReference w:id="0"/></w:r>'
HEADERS = {"header": "r3", "footer": "r4"}
BODY = (
    f"<w:p>{run('Session 4, room 2')}</w:p>",
    turn(QUIST, "00:00:05", run("You came in with your coat still on. What is the hurry today?")),
    turn(CLIENT, "00:00:11", run("I park on the yellow line."), BREAK, run("And I thought: ten minutes,"),
         tracked("ins", " or maybe twenty,"), tracked("del", " or an hour,"), run(" then I can go.")),
    turn(QUIST, "00:00:24", run("Ten minutes, or twenty."), FOOTNOTE, run(" You have a foot in the car already.")),
    turn(CLIENT, "00:00:31", run("The whole of me, mostly. My father waits for his soup at one.")),
    f"<w:p>{run('He says nothing when I am late. He puts the spoon down. [laughs]')}</w:p>",
    "<w:p/>",
    turn(QUIST, "00:00:45", run("That spoon says a good deal, then.")),
    turn(CLIENT, "00:00:50", run("It says: you again. "), COMMENT, run("I hear it at night.")),
    "<w:sdt><w:sdtPr/><w:sdtContent>"
    + turn(QUIST, "00:01:02", run("What would you like to answer the spoon?"))
    + "</w:sdtContent></w:sdt>",
    turn(CLIENT, "00:01:09", run("That I have had soup enough for a lifetime. (pause) My brother could do Thursdays.")),
    turn(QUIST, "00:01:20", run("Thursdays. When will you see him?")),
    turn(CLIENT, "00:01:24", run("On Sunday, at the allotment. I will ask him there.")),
    "<w:sectPr>"
    + "".join(f'<w:{name}Reference w:type="default" r:id="{key}"/>' for name, key in HEADERS.items())
    + "</w:sectPr>",
)  # fmt: skip


def parts() -> dict[str, str]:
    """Return the files of the archive."""
    names = list(_ROOTS)
    overrides = "".join(
        f'<Override PartName="/word/{name}.xml" ContentType="{_TYPE}.{name.rstrip("1")}+xml"/>' for name in names
    )
    main = f'<Override PartName="/word/document.xml" ContentType="{_TYPE}.document.main+xml"/>'
    rels = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    links = "".join(
        f'<Relationship Id="r{at}" Type="{_OFFICE}/{name.rstrip("1")}" Target="{name}.xml"/>'
        for at, name in enumerate(names, start=1)
    )
    first = f'<Relationship Id="r1" Type="{_OFFICE}/officeDocument" Target="word/document.xml"/>'
    spaces = f'xmlns:w="{_MAIN}" xmlns:r="{_OFFICE}"'
    return {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">{rels}{main}{overrides}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{first}</Relationships>',
        "word/document.xml": f"<w:document {spaces}><w:body>{''.join(BODY)}</w:body></w:document>",
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{links}</Relationships>',
        **{f"word/{name}.xml": f"<w:{root} {spaces}>{_aside(name)}</w:{root}>" for name, root in _ROOTS.items()},
    }


def _aside(name: str) -> str:
    paragraph = f"<w:p>{run(_BESIDE)}</w:p>"
    if name == "comments":
        return f'<w:comment w:id="0" w:author="Q">{paragraph}</w:comment>'
    return f'<w:footnote w:id="1">{paragraph}</w:footnote>' if name == "footnotes" else paragraph


def main() -> None:
    """Write the sample beside this file."""
    with zipfile.ZipFile(Path(__file__).with_name("quist_elena.docx"), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts().items():
            member = zipfile.ZipInfo(name, _LONG_AGO)
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, _HEAD + text)


if __name__ == "__main__":
    main()
