"""Which options and which rows of tables about sessions had an effect on the sessions that were read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.identity import Tally, count_in
from therapy_analytics.core.session import Session
from therapy_analytics.readers._split import gap_of
from therapy_analytics.readers.base import ReadOptions
from therapy_analytics.readers.roles import is_first_name, names_speaker, role_of_label

MOST_NAMES = 200
"""So many labels, and so many file names, are kept for messages."""
GUESSED = {
    "pronouns": "guessed from the pronouns you and I",
    "pronouns_unsure": "guessed from the pronouns you and I, with a thin margin",
    "elimination": "because the other speakers are known",
}
"""Role methods that rest neither on a label of the therapist nor on the user's word."""


@dataclass(slots=True)
class Applied:
    """What had an effect on some sessions.

    Attributes
    ----------
    n_sessions : int
        The number of sessions.
    effects : Counter of str
        By option, the number of sessions on which it had an effect.
    labels, stems : dict of str to None
        Labels of speakers, and file names without endings, in order of appearance; only where an option goes by them.
    tables : dict of str to str
        Tables about sessions that were looked up: where each is opened, and how messages show it.
    rows : set of (str, str)
        Rows of tables that are about one of the sessions: place of the table and key of the row.
    fields : dict of str to Tally
        What files say about sessions beside the turns and is not of known meaning, by field; no values.
    kept : dict of str to None
        Fields that the user keeps.
    without_row : list of (str, str)
        Sessions that no row is about although there are tables: place of the last of the tables, and id.
    guessed : Counter of (str, str)
        By role method (a key of `GUESSED`) and label of the therapist, the number of sessions.
    """

    n_sessions: int = 0
    effects: Counter[str] = field(default_factory=Counter)
    labels: dict[str, None] = field(default_factory=dict)
    stems: dict[str, None] = field(default_factory=dict)
    tables: dict[str, str] = field(default_factory=dict)
    rows: set[tuple[str, str]] = field(default_factory=set)
    fields: dict[str, Tally] = field(default_factory=dict)
    kept: dict[str, None] = field(default_factory=dict)
    without_row: list[tuple[str, str]] = field(default_factory=list)
    guessed: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, other: Applied) -> None:
        """Count in what had an effect on other sessions."""
        self.n_sessions += other.n_sessions
        self.effects += other.effects
        _take(self.labels, other.labels)
        _take(self.stems, other.stems)
        self.tables |= other.tables
        self.rows |= other.rows
        count_in(self.fields, other.fields)
        self.kept |= other.kept
        self.without_row += other.without_row
        self.guessed += other.guessed


def _take(names: dict[str, None], more: Iterable[str]) -> None:
    for name in more:
        if len(names) < MOST_NAMES:
            names[name] = None


def applied_to(session: Session, options: ReadOptions, *, of_table: bool, by_pattern: bool, stem: str) -> Applied:
    """Return what had an effect on one session, as it was built.

    Parameters
    ----------
    session : Session
        With its roles.
    options : ReadOptions
        Of the run.
    of_table, by_pattern : bool
        Whether it stands in a table with columns, and whether the pattern fits the name of its file.
    stem : str
        The name of its file without the ending.
    """
    labels = dict.fromkeys(turn.speaker for turn in session.turns if turn.role != "other")
    had = {
        "--therapist": options.therapist is not None and names_speaker(options.therapist, labels),
        "--client": options.client is not None and names_speaker(options.client, labels),
        "--columns": bool(options.columns) and of_table,
        "--pattern": by_pattern,
    }
    by_label = options.therapist is not None or options.client is not None
    return Applied(
        1,
        Counter(option for option, effect in had.items() if effect),
        labels if by_label else {},
        {stem: None} if options.pattern is not None else {},
        guessed=Counter((session.role_method, label) for label in _guessed(session)),
    )


def _guessed(session: Session) -> Iterable[str]:
    """Return the labels that were guessed to be the therapist's and do not say so themselves."""
    if session.role_method not in GUESSED:
        return ()
    labels = dict.fromkeys(turn.speaker for turn in session.turns if turn.role == "therapist")
    return [label for label in labels if role_of_label(label) != "therapist" or is_first_name(label)]


def notes_on(applied: Applied, options: ReadOptions) -> Iterator[str]:
    """Yield a note for each option that had no effect on a session; labels are noted with the roles."""
    if options.columns and not applied.effects["--columns"]:
        yield "--columns had no effect: the session does not stand in a table with columns."
    if options.pattern is not None and not applied.effects["--pattern"]:
        yield "The name of the file does not fit --pattern."


def refuse_contradictions(options: ReadOptions) -> None:
    """Refuse one label for both roles, and a way to split sessions that is not known.

    Raises
    ------
    BadOptionError
        The two labels are the same, or sessions are to be split by neither days nor a gap.
    """
    if options.therapist is not None and options.therapist == options.client:
        problem = "--therapist and --client give the same label"
        raise BadOptionError("--therapist", problem, "Give each its own, or leave one of them out")
    gap_of(options.split_by)
