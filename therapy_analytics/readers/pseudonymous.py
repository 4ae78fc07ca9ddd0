"""Sessions under pseudonyms: every name that stands beside the words is replaced, before anything is written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import PurePath

from therapy_analytics.core.pseudonyms import Pseudonyms
from therapy_analytics.core.session import Role, Session
from therapy_analytics.readers._metadata import ALIASES
from therapy_analytics.readers.base import READERS
from therapy_analytics.readers.roles import is_plain_label

_KINDS: Mapping[str, str] = {
    **dict.fromkeys(("client", "participant", "person", "subject", "case"), "client"),
    "counselor": "counselor",
    **dict.fromkeys(("supervisor", "coach", "rater", "coder", "annotator", "interviewer", "interpreter"), "person"),
    **dict.fromkeys(
        ("source_group", "recording", "file", "filename", "source_file", "transcript", "title"), "recording"
    ),
}
"""Columns about a session that name a person or a file, and what their pseudonyms begin with."""
_ENDING = re.compile(r"_(?:id|name|names|code|initials|nr|no|number)\Z")
_OF_ROLE: Mapping[Role, str] = {"therapist": "counselor", "client": "client", "other": "person"}


def pseudonymous(session: Session, pseudonyms: Pseudonyms | None, mentioned: Iterable[str] = ()) -> Session:
    """Return a session with pseudonyms for its clients, counselors, labels and file; its id stays.

    Parameters
    ----------
    session : Session
        As it was read.
    pseudonyms : Pseudonyms or None
        None: the session is returned as it is.
    mentioned : iterable of str
        Names of files and sessions that notes may mention.
    """
    if pseudonyms is None:
        return session
    about = named_by(session.metadata, pseudonyms)
    labels = _labels(session, about, pseudonyms)
    notes = session.notes
    for name in sorted({one for one in mentioned if one}, key=len, reverse=True):
        form = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
        notes = tuple(form.sub(shown_file(name, pseudonyms), note) for note in notes)
    return replace(
        session,
        source_file=shown_file(session.source_file, pseudonyms),
        turns=tuple(replace(turn, speaker=labels[turn.role, turn.speaker]) for turn in session.turns),
        metadata=about,
        notes=notes,
    )


def named_by(about: Mapping[str, str], pseudonyms: Pseudonyms | None) -> dict[str, str]:
    """Return facts about a session with pseudonyms for those that name a person or a file."""
    if pseudonyms is None:
        return dict(about)
    return {
        name: pseudonyms.name_for(kind, value) if (kind := kind_of(name)) else value for name, value in about.items()
    }


def shown_file(path: str, pseudonyms: Pseudonyms | None) -> str:
    """Return how results name a file: by a pseudonym of its name, without its folders, with its ending."""
    if pseudonyms is None:
        return path
    name = PurePath(path.replace("\\", "/")).name
    ending = PurePath(name).suffix.casefold()
    is_known = any(ending in one.suffixes for one in READERS)
    return (
        f"{pseudonyms.name_for('file', PurePath(name).stem)}{ending}" if is_known else pseudonyms.name_for("file", name)
    )


def kind_of(column: str) -> str:
    """Return what the pseudonyms of a column about sessions begin with; nothing for one that names nobody.

    Examples
    --------
    >>> kind_of("client_name"), kind_of("therapist"), kind_of("condition")
    ('client', 'counselor', '')
    """
    base = _ENDING.sub("", column)
    return _KINDS.get(ALIASES.get(base, base), "")


def _labels(session: Session, about: Mapping[str, str], pseudonyms: Pseudonyms) -> dict[tuple[Role, str], str]:
    """Return what stands for each label: the person of the session where it is the only name in a role."""
    labels = list(dict.fromkeys((turn.role, turn.speaker) for turn in session.turns))
    named = [(role, label) for role, label in labels if label and not is_plain_label(label)]
    found = {one: one[1] for one in labels}
    for role, label in named:
        kind = _OF_ROLE[role]
        alone = sum(other == role for other, _ in named) == 1
        found[role, label] = (about.get(kind, "") if alone else "") or pseudonyms.name_for(kind, label)
    return found
