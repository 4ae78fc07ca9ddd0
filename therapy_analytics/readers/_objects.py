"""Dialogues that are already in memory: sessions, a ConvoKit corpus, spaCy Docs, pairs, a DataFrame.

Forms are told by what they can do and not by their class, so that neither spaCy nor ConvoKit is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from therapy_analytics.core.errors import BadOptionError, UnreadableFileError
from therapy_analytics.core.ids import safe_id, unique_id
from therapy_analytics.core.session import Role, Session
from therapy_analytics.core.verbs import options_of
from therapy_analytics.readers._applied import Applied, applied_to, notes_on, refuse_contradictions
from therapy_analytics.readers._beside import divided, is_kept, tallied, usable_name, with_groupings
from therapy_analytics.readers._json_walk import about
from therapy_analytics.readers._metadata import SessionTable, combined, common_names, load_metadata
from therapy_analytics.readers._split import NO_DATES, NO_TIMES, split, with_roles
from therapy_analytics.readers._table import Table, cell_text, filled, read_table
from therapy_analytics.readers.account import Account
from therapy_analytics.readers.base import RawSession, ReadOptions, Row, Source
from therapy_analytics.readers.build import build_session
from therapy_analytics.readers.pseudonymous import named_by, pseudonymous
from therapy_analytics.readers.roles import role_of_label
from therapy_analytics.readers.transcript_reading import Names

_FORMS = (
    "Give a Session, a ConvoKit Corpus or Conversation, a list of spaCy Docs (one a turn), a list of (speaker, text) "
    "pairs, a pandas DataFrame with columns speaker and text, or a list of several of these; files are for read()"
)
_COLUMNS = (
    "Give it columns speaker and text (and session_id, start, end, role where you have them), or say which are "
    "which with ReadOptions(columns={'text': 'NAME'})"
)
_SPEAKERS = 'Set doc.user_data["speaker"] on every Doc of a dialogue, or on none: then they take turns'
_TAKE_TURNS = "No Doc names its speaker; the first was taken as the therapist's, and they take turns."
_SORTED = "The utterances were put in the order of their timestamps."
_UNSORTED = "Timestamps do not order the utterances; they were read as the corpus has them."


class _Dialogue(NamedTuple):
    """The rows of a dialogue, and what kind of thing they were."""

    raw: RawSession
    kind: str


def as_sessions(dialogues: Any, *, options: ReadOptions | None = None, account: Account | None = None) -> list[Session]:
    """Return dialogues in memory as sessions, with turns and roles as if they came from files.

    Parameters
    ----------
    dialogues : Session, ConvoKit Corpus, spaCy Docs, pairs, DataFrame, or an iterable of several
        One of these, or an iterable (list, generator) of several of them:

        - a `Session`, which is returned as it is;
        - a ConvoKit Corpus or Conversation: speakers by their id; a ``role`` in the meta of an
          utterance, or else of its speaker, counts where it names one (counselor, patient, ...);
          the order is that of the timestamps, which are not used as times; short facts in a
          conversation's meta become metadata;
        - spaCy Docs, one a turn: the speaker is ``doc.user_data["speaker"]``, or else the
          user's extension ``doc._.speaker``; where no Doc of a dialogue has one, they are of
          therapist and client in turn, the therapist first. A Doc by itself is a dialogue of one turn;
        - ``(speaker, text)`` pairs, one a turn;
        - a pandas DataFrame with a row an utterance: columns speaker and text, and session_id,
          start, end, role and others where it has them, by any name that is known of files.
    options : ReadOptions, optional
        Labels of the therapist and of the client, columns of a DataFrame, a table about the
        sessions. A pattern of file names is refused, as there are no files.
    account : Account, optional
        Filled with what the options did, which the caller then answers for. Without it, an option without effect is
        an error.

    Returns
    -------
    list of Session
        In the order given. Their ids are those of the conversations or of the table, or
        ``dialogue_1``, ``dialogue_2`` by their place; `Turn.first_row` counts utterances from 1.
        A dialogue of nothing keeps its place, as a session without turns.

    Raises
    ------
    BadOptionError
        `dialogues` has none of these forms, or an option has no effect on any dialogue.
    BadDataFileError
        The table about the sessions that the options name cannot be read.

    Examples
    --------
    >>> talk = [("T", "What brings you here?"), ("Jo", "Work."), ("Jo", "And sleep."), ("T", "Both.")]
    >>> (session,) = as_sessions(talk)
    >>> session.id, [(turn.role, turn.text) for turn in session.turns][1]
    ('dialogue_1', ('client', 'Work. And sleep.'))
    """
    options = options_of(ReadOptions, options)
    refuse_contradictions(options)
    if options.pattern is not None:
        raise BadOptionError("--pattern", "dialogues in memory have no names of files", "Leave it out")
    told = account or Account(options)
    table = None if options.metadata is None else load_metadata(Path(options.metadata), options.keep)
    found = list(_found(dialogues, options, ()))
    taken = {one.id.casefold(): 1 for one in found if isinstance(one, Session)}
    sessions, names = list[Session](), Names(options.pseudonyms)
    others: dict[int, Mapping[str, str]] = {}
    for number, one in enumerate(_all_parts(found, options), start=1):
        if isinstance(one, Session):
            sessions.append(one)
            told.add_sessions(Applied(n_sessions=1))  # what is a session already, no option changes
            continue
        name = usable_name(one.raw.name.strip(), "")
        wanted = safe_id(name) if name else f"dialogue_{number}"
        identity = unique_id(wanted, wanted, taken)
        session, others[len(sessions)], applied = _built(one, identity, table, options)
        told.add_sessions(applied)
        session = replace(pseudonymous(session, options.pseudonyms), id=names.shown(session.id))
        sessions.append(session)
    groupings = told.groupings() if others else ()
    sessions = [
        with_groupings(one, named_by(others.get(at, {}), options.pseudonyms), groupings)
        for at, one in enumerate(sessions)
    ]
    if account is None:
        told.refuse()
        told.warn()
    return sessions


def _all_parts(found: Iterable[Session | _Dialogue], options: ReadOptions) -> Iterator[Session | _Dialogue]:
    """Split dialogues where the options say so."""
    for number, one in enumerate(found, start=1):
        if isinstance(one, Session) or options.split_by is None:
            yield one
        else:
            parts, _ = split(one.raw, options.split_by, one.raw.name.strip() or f"dialogue_{number}")
            whole = build_session(one.raw, "", one.kind, {}, options) if len(parts) > 1 else None
            yield from (_Dialogue(part if whole is None else with_roles(part, whole), one.kind) for part in parts)


def _built(
    one: _Dialogue, identity: str, table: SessionTable | None, options: ReadOptions
) -> tuple[Session, Mapping[str, str], Applied]:
    raw, key = one.raw, "" if table is None else table.find(identity)
    row = table.rows[key].facts if table is not None and key else {}
    copied, beside = divided(common_names(raw.metadata), options.keep)
    metadata, notes = combined(copied, row)
    session = build_session(raw, identity, one.kind, metadata, options)
    applied = applied_to(session, options, of_table=raw.of_table, by_pattern=False, stem="")
    applied.effects["--split-by"] += options.split_by is not None and not {NO_DATES, NO_TIMES} & set(raw.notes)
    applied.fields = tallied(beside)
    applied.kept = {name: None for name in copied if is_kept(name, options.keep)}
    if table is not None:
        applied.tables = {table.place: table.path}
        applied.rows = {(table.place, key)} if key else set()
        applied.without_row = [] if key else [(table.place, session.id)]
    return replace(session, notes=(*session.notes, *notes, *notes_on(applied, options))), beside, applied


def _found(value: Any, options: ReadOptions, within: tuple[str, ...]) -> Iterator[Session | _Dialogue]:
    """Yield the dialogues of anything; `within` holds the types of what it stands in."""
    if isinstance(value, Session):
        yield value
    elif all(hasattr(value, name) for name in ("columns", "itertuples", "notna")):
        yield from _frame(value, options)
    elif hasattr(value, "iter_conversations"):
        yield from map(_conversation, value.iter_conversations())
    elif hasattr(value, "iter_utterances"):
        yield _conversation(value)
    elif _turn_kind(value) == "Doc":
        yield _docs([value])
    else:
        yield from _several(value, options, (*within, type(value).__name__))


def _several(value: Any, options: ReadOptions, within: tuple[str, ...]) -> Iterator[Session | _Dialogue]:
    """Yield the dialogue whose turns these are, or the dialogues that each of them is."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise BadOptionError("dialogues", f"{' of '.join(within)} is no form of dialogue that is known", _FORMS)
    items = list(value)
    kinds = list(map(_turn_kind, items))
    kind = next(filter(None, kinds), None)
    odd = next((at for at, one in enumerate(kinds) if one != kind), None)
    if kind is not None and odd is not None:
        problem = f"some items of the {within[-1]} are a {kind} each, but item {odd + 1} of {len(items)} is none"
        raise BadOptionError("dialogues", f"{problem} ({type(items[odd]).__name__})", _FORMS)
    if kind is not None:
        yield _docs(items) if kind == "Doc" else _pairs(items)
    elif items:
        for item in items:
            yield from _found(item, options, within)
    elif len(within) > 1:
        yield _pairs([])


def _turn_kind(item: Any) -> Literal["Doc", "pair"] | None:
    """Return which kind of turn an item is; None if it is none."""
    if isinstance(item, tuple | list):
        is_pair = len(item) == 2 and isinstance(item[0], str | int) and isinstance(item[1], str)
        return "pair" if is_pair else None
    is_doc = isinstance(getattr(item, "text", None), str) and isinstance(getattr(item, "user_data", None), Mapping)
    return "Doc" if is_doc else None


def _pairs(pairs: Sequence[tuple[str | int, str]]) -> _Dialogue:
    rows = [Row(str(speaker), text, place) for place, (speaker, text) in enumerate(pairs, start=1)]
    return _Dialogue(RawSession("", rows), "pairs")


def _docs(docs: Sequence[Any]) -> _Dialogue:
    speakers = list(map(_doc_speaker, docs))
    n_unnamed = speakers.count("")
    if 0 < n_unnamed < len(docs):
        raise BadOptionError("dialogues", f"{n_unnamed} of {len(docs)} Docs of a dialogue name no speaker", _SPEAKERS)
    if n_unnamed:
        speakers = ["client" if at % 2 else "therapist" for at in range(len(docs))]
    rows = [Row(who, doc.text, place) for place, (who, doc) in enumerate(zip(speakers, docs, strict=True), start=1)]
    return _Dialogue(RawSession("", rows, notes=(_TAKE_TURNS,) if n_unnamed else ()), "spaCy Docs")


def _doc_speaker(doc: Any) -> str:
    """Return who speaks a Doc, or nothing; spaCy answers for an extension that nobody set with an AttributeError."""
    speaker = doc.user_data.get("speaker")
    if speaker is None:
        speaker = getattr(getattr(doc, "_", None), "speaker", None)
    return "" if speaker is None else str(speaker).strip()


def _conversation(conversation: Any) -> _Dialogue:
    utterances, notes = _in_order(conversation)
    speakers = [str(one.speaker.id) for one in utterances]
    roles = list(map(_role, utterances))
    of_speaker = {who: role for who, role in zip(speakers, roles, strict=True) if role}
    rows = [
        Row(who, one.text or "", place, role=role or of_speaker.get(who))
        for place, (who, one, role) in enumerate(zip(speakers, utterances, roles, strict=True), start=1)
    ]
    facts = about({key: value for key, value in _meta(conversation).items() if isinstance(key, str)})
    return _Dialogue(RawSession(str(conversation.id), rows, facts, notes), "ConvoKit corpus")


def _in_order(conversation: Any) -> tuple[list[Any], tuple[str, ...]]:
    """Return the utterances in the order of their timestamps, if they have any, and notes on it."""
    as_given = list(conversation.iter_utterances())
    if not hasattr(conversation, "get_chronological_utterance_list"):
        return as_given, ()
    try:
        by_time = list(conversation.get_chronological_utterance_list())
    except (TypeError, ValueError):
        return as_given, (_UNSORTED,)
    moved = any(one is not other for one, other in zip(as_given, by_time, strict=False))
    return by_time, (_SORTED,) if moved else ()


def _role(utterance: Any) -> Role | None:
    """Return the role that the meta of an utterance or of its speaker names."""
    labels = (_meta(one).get("role") for one in (utterance, utterance.speaker))
    return next((role for label in labels if isinstance(label, str) and (role := role_of_label(label))), None)


def _meta(thing: Any) -> Mapping[Any, Any]:
    meta = getattr(thing, "meta", None)
    return meta if isinstance(meta, Mapping) else {}


def _frame(frame: Any, options: ReadOptions) -> Iterator[_Dialogue]:
    """Yield the sessions of a DataFrame, read as a file with its columns would be."""
    header = list(map(str, frame.columns))
    cells = frame.astype(object).where(frame.notna(), None)
    rows = [list(map(cell_text, row)) for row in cells.itertuples(index=False, name=None)]
    table = Table(header, filled(header, list(enumerate(rows, start=1))))
    try:
        for raw in read_table(Source(Path("DataFrame"), "", options), table):
            yield _Dialogue(raw, "DataFrame")
    except UnreadableFileError as error:
        problem = error.problem.replace("--columns", "options.columns")
        raise BadOptionError("dialogues", f"in the DataFrame, {problem}", _COLUMNS) from None
