"""Projects of NVivo, MAXQDA, ATLAS.ti and others in the exchange format REFI-QDA (``.qdpx``).

By hand on the safe parser: libraries for the format parse without limits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from therapy_analytics.errors import UnreadableFileError
from therapy_analytics.readers._base import BINARY, RawSession, Row, Source, reader
from therapy_analytics.readers._coded import CodesOfTurn, NamedTurn, columns_of, gold_of, turn_named
from therapy_analytics.readers._notes import counted
from therapy_analytics.readers._refi import Project, TextOfProject, given_to, lines_of, read_project
from therapy_analytics.readers.labelled_text import session_of


def sniff(source: Source) -> float:
    """Be certain of an archive that holds a project."""
    return 1.0 if source.encoding == BINARY and source.data.startswith(b"PK") and b"project.qde" in source.data else 0.0


@reader("refi_qda", suffixes=(".qdpx",), sniff=sniff)
def read_refi_qda(source: Source) -> Iterator[RawSession]:
    """REFI-QDA projects of NVivo, MAXQDA or ATLAS.ti: each text with labels is a session, with its codes by people."""
    for raw, given in coded_rows(source):
        names = columns_of(one.coder for row in given for one in row)
        rows = [replace(row, gold=gold_of(own, names)) for row, own in zip(raw.rows, given, strict=True)]
        yield replace(raw, rows=rows)


def coded_rows(source: Source) -> list[tuple[RawSession, list[list[CodesOfTurn]]]]:
    """Return the sessions of a project, and what each coder gave to each of their rows.

    Raises
    ------
    UnreadableFileError
        It is no project, or none of its texts has speaker labels.
    """
    project = read_project(source)
    found, problems = [], []
    for one in project.texts:
        try:
            found.append(_rows(source, one, project))
        except UnreadableFileError as problem:
            problems.append(problem)
    if not found:
        if problems:
            raise problems[0]
        raise source.error("the project holds no text", "Put the transcripts into it as texts, not as recordings alone")
    notes = (
        f"{counted(len(problems), 'text')} of the project without speaker labels left out." if problems else "",
        f"{counted(len(project.in_vivo), 'code')} whose name is a passage of a text left out."
        if project.in_vivo
        else "",
    )
    raw, given = found[0]
    found[0] = replace(raw, notes=(*raw.notes, *filter(None, notes))), given
    return found


def _rows(source: Source, one: TextOfProject, project: Project) -> tuple[RawSession, list[list[CodesOfTurn]]]:
    turns = [(marked, named) for marked in one.selections if (named := turn_named(marked.name))]
    if turns:
        turns.sort(key=lambda pair: pair[0].start)
        spans = [(marked.start, marked.end) for marked, _ in turns]
        rows = [_turn(one.text, begin, end, named) for (begin, end), (_, named) in zip(spans, turns, strict=True)]
        return RawSession(one.name, rows), given_to(source, spans, one, project.decided)
    lines, starts = lines_of(one.text)
    raw = session_of(source, "\n".join(lines))
    ends = [*(row.place - 1 for row in raw.rows[1:]), len(lines)]
    positions = [*starts, len(one.text)]
    spans = [(starts[row.place - 1], positions[max(end, row.place)]) for row, end in zip(raw.rows, ends, strict=True)]
    return replace(raw, name=raw.name or one.name), given_to(source, spans, one, project.decided)


def _turn(text: str, begin: int, end: int, named: NamedTurn) -> Row:
    """Return the row of a passage that is a turn; its label stands before it on the line."""
    label = text[text.rfind("\n", 0, begin) + 1 : begin].removesuffix(": ")
    return Row(label, text[begin:end], named.number, named.start_s, named.end_s, named.role)
