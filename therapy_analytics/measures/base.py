"""What a measure and its columns are."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from therapy_analytics.codes import Code
from therapy_analytics.core.errors import DuplicateNameError
from therapy_analytics.core.registry import Registry
from therapy_analytics.text import AnnotatedSession, Extra, Lexicon
from therapy_analytics.text.english import undivided

Value = float | NDArray[np.float64]
Compute = Callable[[AnnotatedSession], Mapping[str, Value]]
Evidence = Literal["supported", "weak", "untested", ""]
Statistic = Literal[
    "value", "n", "out_of", "lo", "hi", "null_mean", "null_sd", "z", "p",
    "surrogate_mean", "surrogate_sd", "excess", "surrogate_z", "surrogate_p",
]  # fmt: skip
"""What a number says of a measure: its value; how many, out of how many; the ends of its interval; and where it lies
beside shuffles of the session (null) and beside surrogate pairs, above which it lies by its excess."""
STATISTICS: tuple[Statistic, ...] = get_args(Statistic)
Compared = Literal["", "tested", "shown", "part", "no"]
"""What ``tanalyze compare`` does with a measure: it tests it, or shows it, unless others are named; where its family is
named as well (empty); where it is named itself or all are, because it is a part of another measure or its course over
the session; only where it is named itself."""
Heading = Literal["therapist", "client", "together", "course", "review"]
Direction = Literal["", "both", "therapist", "client", "difference"]
"""Whose replies a measure of synchrony is about; empty for all other measures."""


@dataclass(frozen=True, slots=True)
class OnPage:
    """Where the page shows a measure of sessions.

    Attributes
    ----------
    heading : str
        What it stands under: what the therapist does, what the client does, how they go together, its course over the
        session, what is to be reviewed.
    label : str
        What a supervisor calls it.
    does : str
        What somebody does in those turns, as in "asks in 18 of 29 therapist turns". Such measures are also drawn
        beside the references.
    first : bool
        Whether it is a column of the page's table from the start.
    strip : int
        Its place in the strip of numbers on top of a session and of a supervision sheet, from 1; 0 leaves it out.
    """

    heading: Heading
    label: str
    does: str = ""
    first: bool = False
    strip: int = 0


@dataclass(frozen=True, slots=True)
class Mark:
    """Turns that the page marks: those with a value above 0.

    Attributes
    ----------
    label : str
        What they are called.
    danger : str
        Of turns of danger, which the page lists before all else: the measure of sessions that counts them.
    also : bool
        Whether they are marked for something else than danger and its handling: they do not stand in the lane of turns
        to review, which a session counts (``n_turns_to_review``), but in one of their own.
    """

    label: str
    danger: str = ""
    also: bool = False


@dataclass(frozen=True, slots=True)
class KindOf:
    """A count of turns of one kind among those that another measure counts, which the page's sentences name.

    Attributes
    ----------
    label : str
        What is said of such turns, behind their number.
    kind_of : str
        The measure that counts all kinds.
    """

    label: str
    kind_of: str


@dataclass(frozen=True, slots=True)
class Curve:
    """A line of synchrony along the session that the page draws, from 0 (or below) to 1.

    Attributes
    ----------
    label : str
        What a supervisor calls it.
    beside : str
        The measure of the session whose null distribution is drawn with it; empty for none.
    """

    label: str
    beside: str = ""


Shown = OnPage | Mark | KindOf | Curve


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """What a column of a table means; it becomes a row of ``codebook.csv``.

    Attributes
    ----------
    name : str
        snake_case, unique over all measures. It is the column's name in the wide table.
    meaning, unit : str
        One line that a clinician understands; ``proportion``, ``words``, ``seconds``, ``per 100 words``, ...
    low, high : float
        The range of possible values; infinite where there is no bound.
    high_means, formula, misleads, source : str
        What a high value means; how it is computed; when not to trust it; the publication, or "This package's own".
    level : {"session", "turn"}
        The table that it stands in.
    evidence : {"supported", "weak", "untested", ""}
        Whether a check on real sessions (docs/validity.md) bears out that it measures what its name says: it did; it
        did little or no better than a count of keywords; or none was made. Empty for what is no measure.
    measure, statistic, direction : str
        Where the number stands in the long table ``measures.csv``: the measure it is about (by default its own name),
        which of its statistics it is, and whose replies it is about.
    core : bool
        Whether it is a column of ``sessions.csv``; all numbers stand in ``measures.csv``.
    page : OnPage, KindOf, Mark, Curve or None
        Where the page shows it; None where it does not. The last two are for columns of turns.
    compare : str
        What ``tanalyze compare`` does with it, see `Compared`.
    """

    name: str
    meaning: str
    unit: str
    low: float
    high: float
    high_means: str
    formula: str
    misleads: str
    source: str
    level: Literal["session", "turn"] = "session"
    evidence: Evidence = "untested"
    measure: str = ""
    statistic: Statistic = "value"
    direction: Direction = ""
    core: bool = False
    page: Shown | None = None
    compare: Compared = ""

    @property
    def row(self) -> tuple[str, Direction]:
        """Return the row of the long table that the number stands in: measure and direction."""
        return self.measure or self.name, self.direction


Columns = Sequence[Column] | Callable[[Sequence[Lexicon], Sequence[Code]], Sequence[Column]]


@dataclass(frozen=True, slots=True)
class Measure:
    """A registered measure: name, family (the folder of its file), columns, function, and when it is computed."""

    name: str
    family: str
    columns: Columns
    compute: Compute
    core: int = 0
    extra: Extra | None = None
    page: Mapping[str, Shown] = field(default_factory=dict)

    def is_asked(self, extras: Collection[Extra]) -> bool:
        """Return whether a run computes it that asks for these besides the core."""
        return is_asked(extras, core=self.core > 0, extra=self.extra)

    def columns_for(self, lexicons: Sequence[Lexicon], codes: Sequence[Code] = ()) -> Sequence[Column]:
        """Return its columns, given the lexicons of the run and the codes to be rated (few depend on them)."""
        columns = self.columns(lexicons, codes) if callable(self.columns) else self.columns
        return [replace(one, page=self.page[one.name]) if one.name in self.page else one for one in columns]


def is_asked(extras: Collection[Extra], *, core: bool, extra: Extra | None) -> bool:
    """Return whether a run computes a measure: those of the core always, others where `extras` asks for them."""
    return extra in extras if extra is not None else core or "all" in extras


_FAMILY_ORDER = {"process": 0, "synchrony": 1, "alliance": 2}
MEASURES: Registry[Measure] = Registry("measure", package="therapy_analytics.measures")


def measure(
    *, columns: Columns, core: int = 0, extra: Extra | None = None, page: Mapping[str, Shown] | None = None
) -> Callable[[Compute], Compute]:
    """Register a function as the measure that makes these columns.

    The function takes one `AnnotatedSession`, whose arrays have a value for each turn, and returns a mapping of column
    names to values: a number for a column of sessions, an array of shape (n_turns,) for a column of turns. What is
    undefined is ``nan``.

    Parameters
    ----------
    columns : sequence of Column, or callable
        What it makes: every name that the function returns, and no other.
    core : int, optional
        Its place among the measures that every run computes, in the order in which people ask for them, from 1. A
        measure without one is computed only where all measures are asked for.
    extra : str, optional
        By what name it must be asked for, because it is costly; ``--measures all`` does not compute it.
    page : mapping of str to OnPage, Mark or Curve, optional
        Which of its columns the page shows, by their names, and where.

    Returns
    -------
    callable
        A decorator, which returns the function as it is.

    Raises
    ------
    DuplicateNameError
        A measure in another module has the name of the function.

    Examples
    --------
    ``notebooks/05_write_your_own_measure.ipynb`` and ``docs/extending.md``.
    """

    def register(compute: Compute) -> Compute:
        name = getattr(compute, "__name__", "measure")
        family = compute.__module__.split(".")[-2] if "." in compute.__module__ else "user"
        MEASURES.add(name, Measure(name, family, columns, compute, core, extra, page or {}), module=compute.__module__)
        return compute

    return register


def all_columns(
    lexicons: Sequence[Lexicon], codes: Sequence[Code] = (), *, extras: Collection[Extra] = ()
) -> list[tuple[Measure, Column]]:
    """Return every column of every measure: the core in its order, then the others by family.

    Those of measures beyond the core are among them where `extras` asks for them.

    Raises
    ------
    DuplicateNameError
        Two measures claim one column.
    """
    owners: dict[str, str] = {}
    found = []
    asked = [one for one in MEASURES if one.is_asked(extras)]
    for one in sorted(asked, key=_order):
        for column in one.columns_for(lexicons, codes):
            if owners.setdefault(column.name, one.name) != one.name:
                raise DuplicateNameError("column", column.name, owners[column.name], one.name)
            found.append((one, column))
    return found


def _order(one: Measure) -> tuple[float, int, str, str]:
    return one.core or np.inf, _FAMILY_ORDER.get(one.family, len(_FAMILY_ORDER)), one.family, one.name


def values_of(session: AnnotatedSession) -> dict[str, Value]:
    """Compute the measures that are asked for of a session: column name to value.

    Values that a session cannot have are nan: so is synchrony, which compares words, where words cannot be counted.
    """
    values: dict[str, Value] = {}
    wordless = undivided(session.session)
    for one in MEASURES:
        if one.is_asked(session.extras):
            found = one.compute(session)
            empty = wordless and one.family == "synchrony"
            values.update({name: value * np.nan for name, value in found.items()} if empty else found)
    return values


# ---- families of columns, and their names


def count_name(rate_name: str) -> str:
    """Return the column of a rate's count.

    Examples
    --------
    >>> count_name("therapist_question_rate"), count_name("client_sleep_per_100_words")
    ('n_therapist_question', 'n_client_sleep')
    """
    return f"n_{rate_name.removesuffix('_rate').removesuffix('_per_100_words')}"


def total_name(rate_name: str) -> str:
    """Return the column of what a rate's count is out of: ``out_of_therapist_question``."""
    return f"out_of_{count_name(rate_name).removeprefix('n_')}"


def wide_name(measure: str, direction: Direction = "", statistic: Statistic = "value") -> str:
    """Return the name in the wide table of a number of the long one.

    Examples
    --------
    >>> wide_name("rlsm", "client", "z"), wide_name("rlsm", "both"), wide_name("open_question_rate", statistic="n")
    ('rlsm_client_z', 'rlsm', 'n_open_question')
    """
    name = measure if direction in ("", "both") else f"{measure}_{direction}"
    known = {"value": name, "n": count_name(name), "out_of": total_name(name)}
    return known.get(statistic, f"{name}_{statistic}")


INTERVAL = (
    "95% Wilson score interval over as many independent units as tell as much (docs/validity.md): where the rate of "
    "this pair would lie had the session gone on; not the tagger's own error"
)
"""What the ends of a rate's interval are."""


def rate_columns(column: Column, *, counted: str) -> list[Column]:
    """Return the column of a rate with those of its interval, its count and what that is out of.

    Parameters
    ----------
    column : Column
        The rate itself.
    counted : str
        What is counted, for the meaning of ``n_...``.
    """
    column = replace(column, measure=column.name)
    count = replace(
        column,
        name=count_name(column.name),
        meaning=f"{counted} (what {column.name} counts)",
        unit="count",
        low=0,
        high=np.inf,
        high_means="as the rate",
        formula="count",
        statistic="n",
        page=None,
    )
    total = replace(
        count,
        name=total_name(column.name),
        meaning=f"What {column.name} is out of: {column.formula}",
        statistic="out_of",
        core=False,
    )
    return [column, *interval_columns(column, formula=INTERVAL, source="Wilson (1927)"), count, total]


def interval_columns(column: Column, **differs: Any) -> list[Column]:
    """Return the columns of the ends of a measure's 95% interval, as the measure but for the fields that differ."""
    ends: tuple[tuple[Statistic, str], ...] = (("lo", "Lower"), ("hi", "Upper"))
    about = {"high_means": "as the measure itself", "measure": column.name, "page": None, **differs}
    return [
        replace(
            column,
            name=f"{column.name}_{end}",
            meaning=f"{word} end of the 95% interval of {column.name}",
            statistic=end,
            **about,
        )
        for end, word in ends
    ]


# ---- columns that a TOML file describes

_KNOWN_WORDS = {
    "PREDICTED": "Codes are predictions (docs/tagger.md), and turns that were missed are missing here, too",
    "NOT_GIVEN": "undefined where the run's coder does not give the codes",
}
"""What many columns say of when they mislead."""
_SHOWN_AS: dict[str, Callable[..., Shown]] = {"page": OnPage, "mark": Mark, "kind": KindOf, "curve": Curve}


@functools.cache
def texts_beside(file: str) -> dict[str, Any]:
    """Return what stands in the TOML file beside a module; ``file`` is the module's ``__file__``."""
    return tomllib.loads(Path(file).with_suffix(".toml").read_text(encoding="utf-8"))


def columns_of(file: str, group: str = "columns", **words: object) -> list[Column]:
    """Return the columns that the TOML file beside a measure's module describes, in the order of the file.

    ``[columns.NAME]`` has the fields of the `Column` NAME; ``[all]`` those that all columns of the file share unless
    they say otherwise. In names and texts ``{word}`` stands for a word given here or in ``[words]``, so that one table
    describes a column for each speaker or code.

    Besides, a table may say ``page``, ``mark``, ``kind`` or ``curve`` (the fields of `OnPage`, `Mark`, `KindOf` or
    `Curve`); ``rate``, what is counted, which adds the columns of `rate_columns`; and ``ends``, in what the ends of the
    interval differ from the measure, which adds those of `interval_columns`.

    Parameters
    ----------
    file : str
        The module's ``__file__``.
    group : str
        Another table than ``columns``.
    **words : object
        What stands for ``{word}``.
    """
    texts = texts_beside(file)
    known = {**_KNOWN_WORDS, **words}
    for word, text in texts.get("words", {}).items():
        known[word] = text.format(**known)
    found = []
    for name, own in texts[group].items():
        fields = filled({**texts.get("all", {}), **own, "name": name}, known)
        counted, ends = fields.pop("rate", None), fields.pop("ends", None)
        for key in _SHOWN_AS.keys() & fields.keys():
            fields["page"] = _SHOWN_AS[key](**fields.pop(key))
        column = Column(**fields)
        found += rate_columns(column, counted=counted) if counted else [column]
        found += interval_columns(column, core=False, **ends) if ends is not None else []
    return found


def filled(text: Any, words: Mapping[str, object]) -> Any:
    """Return a text with words in the place of ``{word}``; of a table all its names and texts."""
    if isinstance(text, dict):
        return {filled(key, words): filled(value, words) for key, value in text.items()}
    return text.format(**words) if isinstance(text, str) else text
