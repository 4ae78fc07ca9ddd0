"""Files of a ConvoKit corpus beside its utterances: speakers, and facts about the sessions."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from therapy_analytics.core.errors import UnreadableFileError
from therapy_analytics.core.session import Role
from therapy_analytics.readers._json_walk import about
from therapy_analytics.readers.base import RawSession, Source, load_source
from therapy_analytics.readers.paths import sibling
from therapy_analytics.readers.roles import role_of_label

_UTTERANCES = frozenset({"utterances.jsonl", "utterances.json"})
_OF_CORPUS = re.compile(r"(?:speakers|users|conversations|corpus|index)\.json|(?:info|vectors|vect_info|parsed)\..*")
"""Other files of a ConvoKit corpus."""
_ROLES = ("role", "speaker_role", "type")


def is_companion(name: str, names: Collection[str]) -> bool:
    """Tell whether a file belongs to a transcript in the same folder and is no transcript itself.

    Examples
    --------
    >>> is_companion("speakers.json", {"speakers.json", "utterances.jsonl"}), is_companion("index.json", {"index.json"})
    (True, False)
    """
    return not _UTTERANCES.isdisjoint(names) and _OF_CORPUS.fullmatch(name) is not None


def beside(source: Source, name: str) -> str:
    """Return the text of a file beside another; empty where there is none."""
    try:
        return load_source(sibling(source.place or str(source.path), name), source.options).text
    except UnreadableFileError:
        return ""


def with_companions(sessions: list[RawSession], source: Source) -> list[RawSession]:
    """Add the roles of speakers and the facts about conversations from the files of a ConvoKit corpus."""
    if source.path.name not in _UTTERANCES:
        return sessions
    speakers = _table(beside(source, "speakers.json") or beside(source, "users.json"))
    conversations = _table(beside(source, "conversations.json"))
    roles = {name: role for name, meta in speakers.items() if (role := _role(meta))}
    return [_with_facts(session, roles, conversations.get(session.name, {})) for session in sessions]


def _with_facts(session: RawSession, roles: Mapping[str, Role], meta: Mapping[str, Any]) -> RawSession:
    rows = [replace(row, role=row.role or roles.get(row.speaker)) if roles else row for row in session.rows]
    return replace(session, rows=rows, metadata={**about(meta), **session.metadata})


def _table(text: str) -> dict[str, Mapping[str, Any]]:
    """Return the facts under each id; older corpora have them directly there, newer ones under ``meta``."""
    try:
        table = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    entries = table.items() if isinstance(table, dict) else ()
    return {name: item.get("meta", item) for name, item in entries if isinstance(item, dict) and _has_meta(item)}


def _has_meta(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get("meta", item), dict)


def _role(meta: Mapping[str, Any]) -> Role | None:
    labels = (meta.get(name) for name in _ROLES)
    return next((role for one in labels if isinstance(one, str) and (role := role_of_label(one))), None)
