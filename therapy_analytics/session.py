"""What a transcript is, once read: frozen values, seconds, roles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

Role = Literal["therapist", "client", "other"]
ROLES: tuple[Role, ...] = get_args(Role)
THERAPIST, CLIENT, OTHER = range(len(ROLES))
"""Roles as small integers, the form in which arrays hold them: positions in `ROLES`."""


MarkKind = Literal["laughter", "crying", "sigh", "silence", "pause", "unclear", "overlap", "time", "event"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Something about the talk that a transcriber noted: ``[laughs]``, ``(pause 3s)``, ``xxx``.

    Attributes
    ----------
    kind : str
        laughter, crying, sigh, silence, pause, unclear, overlap, time, or event for the rest.
    at : int
        Where in the turn's text it stood: the position of the character that follows it.
    written : str
        As it was written. Left out of ``repr``, as the text is.
    seconds : float or None
        How long, where that is said.
    """

    kind: MarkKind
    at: int
    written: str = field(repr=False)
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """All that one speaker says until another speaks (a volley).

    Attributes
    ----------
    index : int
        Position in the session, from 0.
    speaker : str
        The label as the transcript writes it.
    role : {"therapist", "client", "other"}
        What the speaker is in the session.
    text : str
        The words, as written. Left out of ``repr`` so that no log can hold them.
    first_row : int
        Where the turn begins in the file: data row of a table, message of a chat, line of
        a text, from 1.
    start_s, end_s : float or None
        Seconds from the start of the recording, or None where the transcript has no times.
    marks : tuple of Mark
        What the transcriber noted about the talk; not part of `text`.
    gold : mapping of str to str
        Codes that people gave the turn, by the name of their column in the file.
    """

    index: int
    speaker: str
    role: Role
    text: str = field(repr=False)
    first_row: int
    start_s: float | None = None
    end_s: float | None = None
    marks: tuple[Mark, ...] = ()
    gold: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One meeting of a therapist and a client.

    Attributes
    ----------
    id : str
        Unique in a run and safe as a folder name.
    source_file : str
        The file that it was read from, as the user named it.
    turns : tuple of Turn
        In order.
    metadata : mapping of str to str
        What the file or a ``sessions.csv`` beside it says of the session as a whole
        (counselor, client, source, date, ...).
    role_method : str
        How it was found who the therapist is: ``option``, ``file``, ``labels``, ``metadata``,
        ``elimination``, ``pronouns``, ``pronouns_unsure`` or ``none``.
    role_margin : float
        For the pronoun rule, how far the two speakers lie apart (you-minus-I words per 100
        words); nan for the other methods.
    notes : tuple of str
        What a reader of the results should know, in sentences; never words of the session.
    """

    id: str
    source_file: str
    turns: tuple[Turn, ...]
    metadata: Mapping[str, str] = field(default_factory=dict)
    role_method: str = "labels"
    role_margin: float = float("nan")
    notes: tuple[str, ...] = ()
