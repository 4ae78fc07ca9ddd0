"""What a file says about a session beside the turns: what is copied at once, and what waits for the other sessions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from therapy_analytics.core.identity import Tally, against_id, against_known, is_known, may_be_fact
from therapy_analytics.core.printable import counted, printable
from therapy_analytics.core.session import Session
from therapy_analytics.readers._columns import slug

_LONGEST_NAME = 60
ID_NOT_USED = "The id in the file may identify somebody, or is a sentence, and was not used."


def divided(facts: Mapping[str, str], keep: Collection[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the facts that are copied, and the others, whose fields may prove to be groupings.

    Parameters
    ----------
    facts : mapping of str to str
        What a file says about a session.
    keep : collection of str
        Fields that are copied whatever they hold.
    """
    copied = {name: value for name, value in facts.items() if is_kept(name, keep) or not _against(name, value)}
    return copied, {name: value for name, value in facts.items() if name not in copied}


def is_kept(name: str, keep: Collection[str]) -> bool:
    """Tell whether the user named a field, in whatever spelling."""
    return bool(keep) and slug(name) in {slug(one) for one in keep}


def _against(name: str, value: str) -> str:
    if not is_known(name):
        return "unknown"
    return against_id(value) if slug(name).startswith("session") else against_known(name, value)


def tallied(facts: Mapping[str, str]) -> dict[str, Tally]:
    """Return the fields of one session that are not copied at once, without their values."""
    found = {}
    for name, value in facts.items():
        found[name] = Tally(1, why=_against(name, value)) if is_known(name) else Tally.of_value(value)
    return found


def usable_name(name: str, stem: str) -> str:
    """Return the id of a session as its file gives it, of a path the last part; empty where it cannot be used."""
    if name.startswith(("/", "~", "file:")) or "\\" in name:
        name = name.replace("\\", "/").rstrip("/").rpartition("/")[2]
    return "" if against_id(name) and not (stem and name.startswith(stem)) else name


def with_groupings(session: Session, beside: Mapping[str, str], groupings: Collection[str]) -> Session:
    """Add to a session the fields that are groupings over all sessions; what is known otherwise counts more."""
    found = {name: value for name, value in beside.items() if name in groupings and name not in session.metadata}
    return replace(session, metadata={**session.metadata, **found}) if found else session


def shown_fields(names: Iterable[str]) -> list[str]:
    """Return names of fields to be shown, and the number of those that read like a sentence."""
    names = list(names)
    found = [printable(name) for name in names if len(name) <= _LONGEST_NAME and (" " not in name or may_be_fact(name))]
    more = [counted(len(names) - len(found), "more field")] if len(found) < len(names) else []
    return found + more
