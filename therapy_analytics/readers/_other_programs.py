"""Files of programs that are not read here; each is refused with the export of that program that is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from therapy_analytics.readers._xml import root_is
from therapy_analytics.readers.base import BINARY, Source


class _Other(NamedTuple):
    """What a file is, how it is known, and which export of its program is read."""

    what: str
    suffixes: tuple[str, ...]
    sniff: Callable[[Source], float]
    remedy: str


def _is_project(source: Source) -> float:
    return float(source.encoding == BINARY and source.data.startswith(b"PK") and b"project.qde" in source.data)


def _is_kaldi(source: Source) -> float:
    place = Path(source.place or source.path)
    return float(place.name == "text" and any(place.with_name(name).is_file() for name in ("segments", "utt2spk")))


_OTHERS = (
    _Other(
        "a REFI-QDA project",
        (".qdpx",),
        _is_project,
        "Export its texts from NVivo, MAXQDA or ATLAS.ti as Word or plain text, and its codings as a table, from which "
        "docs/coding.md makes codes",
    ),
    _Other(
        "an EXMaRALDA transcription",
        (".exb", ".exs"),
        root_is("basic-transcription", "segmented-transcription"),
        "Export it from the Partitur-Editor as an ELAN file (.eaf) or a Praat TextGrid",
    ),
    _Other(
        "a Transcriber file",
        (".trs",),
        root_is("Trans"),
        "Import it into ELAN as a Transcriber file, and save it there (.eaf)",
    ),
    _Other(
        "a data folder of Kaldi",
        (),
        _is_kaldi,
        "Make a table of it, a row an utterance: speaker by utt2spk, start and end by segments, and the text",
    ),
)


def refuse_other_program(source: Source) -> None:
    """Refuse a file of another program, by what it holds.

    Raises
    ------
    UnreadableFileError
        It is one; the remedy names the export that is read.
    """
    for one in _OTHERS:
        if one.sniff(source):
            raise source.error(f"this is {one.what}, which is not read", one.remedy)


def other_program(path: Path) -> tuple[str, str] | None:
    """Return the problem and the remedy of a file that another program wrote, by its name; None for all others."""
    suffix = path.suffix.lower()
    return next((("this is " + one.what, one.remedy) for one in _OTHERS if suffix in one.suffixes), None)
