"""A transcript that was read: sessions, turns and what transcribers noted, as frozen values; times in seconds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Literal, get_args

Role = Literal["therapist", "client", "other"]
ROLES: tuple[Role, ...] = get_args(Role)
THERAPIST, CLIENT, OTHER = range(len(ROLES))
"""Roles as integers, as arrays hold them: positions in `ROLES`."""

MarkKind = Literal["laughter", "crying", "sigh", "silence", "pause", "unclear", "overlap", "time", "event"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechMark:
    """Something about the talk that a transcriber noted: ``[laughs]``, ``(pause 3s)``, ``xxx``.

    Attributes
    ----------
    kind : str
        laughter, crying, sigh, silence, pause, unclear, overlap, time, or event for the rest.
    at : int
        Where in the turn's text it stood: the position of the character that follows it.
    written : str
        The note as it was written. Left out of ``repr``, as the text is.
    seconds : float or None
        How long it lasted, where that was noted.
    """

    kind: MarkKind
    at: int
    written: str = field(repr=False)
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Everything that one speaker says until another speaks (a volley).

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
    marks : tuple of SpeechMark
        What the transcriber noted about the talk; not part of `text`.
    gold : mapping of str to str
        Codes that people gave the turn, by the name of their column in the file.
    speaker_changed : str
        How `therapy_analytics.speakers` changed who says it: attributed, unsure, swapped, words_moved; several are
        joined by ;, and empty means unchanged.
    """

    index: int
    speaker: str
    role: Role
    text: str = field(repr=False)
    first_row: int
    start_s: float | None = None
    end_s: float | None = None
    marks: tuple[SpeechMark, ...] = ()
    gold: Mapping[str, str] = field(default_factory=dict)
    speaker_changed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One meeting of a therapist and a client.

    Attributes
    ----------
    id : str
        Unique in a run and safe as a folder name.
    source_file : str
        The file that it was read from, relative to the folder that the user named.
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
        What to know before using the results, in sentences; never words of the session.
    passed_over : mapping of str to int
        Beginnings of lines that look like labels but were not taken for speakers, and how often each occurs. They may
        be words that were spoken.
    """

    id: str
    source_file: str
    turns: tuple[Turn, ...]
    metadata: Mapping[str, str] = field(default_factory=dict)
    role_method: str = "labels"
    role_margin: float = float("nan")
    notes: tuple[str, ...] = ()
    passed_over: Mapping[str, int] = field(default_factory=dict, repr=False)

    def _repr_html_(self) -> str:
        # Shown by notebooks. It holds no words of the session: notebooks are saved and shared with their outputs.
        rows = "".join(
            f'<tr><th scope="row" {_LEFT}>{escape(name)}</th><td {_LEFT}>{escape(text)}</td></tr>'
            for name, text in _about(self)
        )
        return f"<p>Session {escape(self.id)}</p><table><tbody>{rows}</tbody></table>"


_LEFT = 'style="text-align:left"'


def _about(session: Session) -> list[tuple[str, str]]:
    """Return what there is to know of a session besides its words, as rows of name and text."""
    turns = session.turns
    rows = [("file", session.source_file), ("turns", str(len(turns)))]
    for role in ROLES:
        own = [turn for turn in turns if turn.role == role]
        labels = ", ".join(dict.fromkeys(turn.speaker for turn in own))
        n_words = sum(len(turn.text.split()) for turn in own)
        if own or role != "other":
            named = f"{labels}: {_n(len(own), 'turn')}, {_n(n_words, 'word')}" if own else "does not speak"
            rows.append((role, named))
    rows += [("duration", _duration(session)), ("roles found by", session.role_method.replace("_", " "))]
    rows += list(session.metadata.items())
    rows += [("note", note) for note in session.notes]
    return rows


def _n(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _duration(session: Session) -> str:
    starts = [turn.start_s for turn in session.turns if turn.start_s is not None]
    ends = [turn.end_s for turn in session.turns if turn.end_s is not None]
    if not starts:
        return "unknown: no times in the transcript"
    minutes, seconds = divmod(round(max(starts + ends) - min(starts)), 60)
    return f"{minutes} min {seconds:02d} s"


def digest_of(session: Session) -> str:
    """Return a hash of all words of a session, 16 hexadecimal digits; each pair of speakers in it has the same."""
    words = hashlib.blake2b(digest_size=8)
    for turn in session.turns:
        words.update(f"{turn.text}\x1e".encode("utf-8", "surrogatepass"))
    return words.hexdigest()
