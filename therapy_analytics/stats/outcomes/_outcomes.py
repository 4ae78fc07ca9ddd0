"""`outcomes`: scores and sessions joined, what goes with what, and the course of each client."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd

from therapy_analytics.core import private
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.folders import Made, replaced_in, seen_from, sources_of
from therapy_analytics.core.ids import safe_id
from therapy_analytics.core.pseudonyms import Pseudonyms, lacking_key, refuse_other_key
from therapy_analytics.core.verbs import options_of
from therapy_analytics.readers.account import Remark
from therapy_analytics.report._overview import tagger_words
from therapy_analytics.report._report import NAME as REPORT
from therapy_analytics.results import PROBLEMS, write_csv, write_not_drawn
from therapy_analytics.results.analysis import Analysis
from therapy_analytics.stats.compare._results import Results, read_results
from therapy_analytics.stats.outcomes._course import CLIENT, COUNSELOR, course_lines, course_table
from therapy_analytics.stats.outcomes._join import Joined, joined
from therapy_analytics.stats.outcomes._page import CoursePage
from therapy_analytics.stats.outcomes._relate import Related, related
from therapy_analytics.stats.outcomes._scales import scale_index
from therapy_analytics.stats.outcomes._scores import read_scores, under_pseudonyms
from therapy_analytics.stats.outcomes._words import TAGGER_ERROR, in_short, summary, who

RECIPE = "outcomes.json"
TABLES = ("associations", "corrected", "course", "unmatched")
PAGE, WORDS = "course.html", "outcomes.md"
BY = (CLIENT, COUNSELOR)
_MOST_FIGURES = 300
"""People whose courses are drawn; a figure takes a third of a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeOptions:
    """How scores are read and related to sessions.

    Attributes
    ----------
    columns : mapping of str to str
        Which column of the table holds what, where its names do not say: ``session_id``, ``client``, ``counselor``,
        ``date``, ``number``, ``scale``, ``score``.
    better, worse : tuple of str
        Scales that the package does not know, of which a higher score is better, or worse, for the client.
    scales : path or None
        A table of scales of your own: ``name``, ``better`` (higher, lower), and if known ``low``, ``high``, ``sd``,
        ``reliability``, ``reliable_change``, ``cutoff``, ``source``.
    measures : tuple of str
        Names, patterns or families of measures; none for the core.
    show : tuple of str
        Measures below the scores in the figures; none for reflections, questions and change talk.
    by : {"client", "counselor"}
        Whose courses the figures and the page show.
    gold : path, DataFrame or None
        Codes that people gave to turns that ``tanalyze sample`` drew: slopes are corrected by them.
    allow_mixed : bool
        Go on where folders were made by different taggers or versions.
    pseudonyms : Pseudonyms or None
        The key that the results were made with: clients, counselors and sessions of the tables get its pseudonyms.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    better: tuple[str, ...] = ()
    worse: tuple[str, ...] = ()
    scales: Path | str | None = None
    measures: tuple[str, ...] = ()
    show: tuple[str, ...] = ()
    by: str = CLIENT
    gold: Path | str | pd.DataFrame | None = None
    allow_mixed: bool = False
    pseudonyms: Pseudonyms | None = None

    def __post_init__(self) -> None:
        if self.by not in BY:
            raise BadOptionError("--by", f"{self.by!r} is not known", f"Known: {', '.join(BY)}")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Outcomes:
    """Courses and outcomes.

    Attributes
    ----------
    associations : DataFrame
        What goes with what, as ``associations.csv``: see `therapy_analytics.stats.outcomes._associations.associations`.
    corrected : DataFrame
        Slopes that hold however the tagger errs, as ``corrected.csv``, where people coded some sessions; else no rows.
    course : DataFrame
        A row a client and session, as ``course.csv``.
    unmatched : DataFrame
        Scores that were not used and sessions without a score, as ``unmatched.csv``: ``side`` (outcomes, results),
        ``row`` of the table, what it names, and ``why``.
    lines : DataFrame
        The courses in long form, as ``ta.plots.client_course`` draws them: rows of one ``who``.
    joined : DataFrame
        A row a session with scores and measures, for models of your own.
    words : str
        All that in words: Markdown, as ``outcomes.md``.
    recipe : mapping of str to object
        All that is needed to do it again.
    sources : tuple of str
        The folders and files that it was made from; none where that were tables in memory.
    """

    associations: pd.DataFrame = field(repr=False)
    corrected: pd.DataFrame = field(repr=False)
    course: pd.DataFrame = field(repr=False)
    unmatched: pd.DataFrame = field(repr=False)
    lines: pd.DataFrame = field(repr=False)
    joined: pd.DataFrame = field(repr=False)
    words: str = field(repr=False)
    recipe: Mapping[str, Any] = field(repr=False)
    sources: tuple[str, ...] = field(default=(), repr=False)
    _page: CoursePage = field(repr=False)

    def __repr__(self) -> str:
        return f"Outcomes({len(self.course)} sessions; print it for what they say)"

    def __str__(self) -> str:
        return self.words

    def write(
        self,
        out: str | Path,
        *,
        plots: bool = True,
        replace: bool = False,
        on_before: Callable[[str], None] = lambda _: None,
        on_problem: Callable[[str], None] = lambda _: None,
    ) -> Path:
        """Write tables, words, then a figure for each client (or counselor), and the page, into a folder made private.

        A figure that cannot be drawn is a line of ``problems.csv``.

        Parameters
        ----------
        out : str or Path
            The folder. What was written there of the same results and scores is replaced.
        plots : bool, optional
            Whether figures are drawn, without which there is no page.
        replace : bool, optional
            Whether what was written there of other results or scores is replaced as well.
        on_before : callable, optional
            Told in a sentence what was replaced.
        on_problem : callable, optional
            Told in a sentence that figures could not be drawn.

        Raises
        ------
        BadOptionError
            The folder holds anything else, or outcomes of other results that may not be replaced.
        CannotWriteError
            The system refused to write.
        """
        out = Path(out)
        everybody = self._page.ordered(dict.fromkeys(self.lines["who"])) if plots else []
        people = everybody[:_MOST_FIGURES]
        figures = dict(zip(people, _file_names(people), strict=True))
        tables = {name: getattr(self, name) for name in TABLES}
        tables = {name: table for name, table in tables.items() if name != "corrected" or len(table)}
        names = {*(f"{name}.csv" for name in TABLES), WORDS, PAGE, PROBLEMS, RECIPE, *figures.values()}
        made = Made(what="courses and outcomes", names=names, sources=self.sources, replace=replace, say=on_before)
        with replaced_in(out, made) as part:
            for name, table in tables.items():
                write_csv(table, private.fresh(part / f"{name}.csv"))
            private.write(part / WORDS, self.words)
            if figures:
                drawn, failed = self._drawn(part, figures)
                write_not_drawn(failed, part, out, on_problem)
                page = self._page.html(drawn, n_people=len(everybody), report=self._report(out))
                private.write(part / PAGE, page)
            private.write(part / RECIPE, json.dumps(self.recipe, indent=2) + "\n")
        return out

    def _report(self, out: Path) -> str:
        """Return where the report page of the results lies, seen from a folder; "" where it is not one."""
        pages = [Path(source, REPORT) for source in self.sources if Path(source, REPORT).is_file()]
        return seen_from(str(pages[0]), out) if len(pages) == 1 else ""

    def _drawn(self, out: Path, figures: Mapping[str, str]) -> tuple[dict[str, bytes], list[Remark]]:
        """Draw the figures of people into files; return them, empty where that failed, and why."""
        from therapy_analytics.plots import PLOTS  # noqa: PLC0415 (matplotlib is slow to import)
        from therapy_analytics.plots.files import tables_first  # noqa: PLC0415

        failed: list[Remark] = []
        found = dict.fromkeys(figures, b"")
        for name, file in figures.items():
            with tables_first(failed, out / file):
                from therapy_analytics.plots.files import save  # noqa: PLC0415

                table = self.lines[self.lines["who"] == name]
                found[name] = save(PLOTS["client_course"], table, private.fresh(out / file)).read_bytes()
        return found, failed


def _file_names(people: Sequence[str]) -> list[str]:
    """Return a file name a person, each once."""
    found: dict[str, None] = {}
    for name in people:
        wanted, n = f"course_{safe_id(name)}", 1
        while f"{wanted}{f'_{n}' if n > 1 else ''}.png".casefold() in {one.casefold() for one in found}:
            n += 1
        found[f"{wanted}{f'_{n}' if n > 1 else ''}.png"] = None
    return list(found)


def outcomes(
    results: Analysis | pd.DataFrame | str | Path | Sequence[str | Path],
    outcomes: str | Path | pd.DataFrame,
    *,
    options: OutcomeOptions | None = None,
) -> Outcomes:
    """Join sessions with the scores of clients: what in the talk goes with them, and the course of each client.

    Parameters
    ----------
    results : Analysis, DataFrame, path, or sequence of paths
        What `analyze` returned, its sessions, or folders that ``tanalyze run`` wrote.
    outcomes : path or DataFrame
        A table of scores: a row a session (``session_id``, or ``client`` with ``date`` or ``session_number``) with a
        column a scale; a row a score (``scale``, ``score``); or a row a client (``phq9_1``, ``phq9_2``, ...).
    options : OutcomeOptions, optional
        Columns, directions of scales, measures, whose courses.

    Returns
    -------
    Outcomes
        ``course`` has a row for each client and session: scores, their change since the first (in points of the scale)
        and whether it is reliable, and the core measures. ``associations`` has a row for each measure, scale, target
        and level, with the standardised slope, its 95% interval, p and q. ``words`` is a report in Markdown, and
        ``.write(folder)`` writes everything with figures and a page.

    Raises
    ------
    BadOptionError
        No such folder, column, scale or measure; a row fits several sessions, or two scores one session.
    BadDataFileError
        A file is no table that can be read.

    Examples
    --------
    >>> sessions = pd.DataFrame({"session_id": list("abc"), "client": "Ann", "session_number": [1, 2, 3]})
    >>> sessions["therapist_question_rate"] = [0.5, 0.4, 0.6]
    >>> scores = pd.DataFrame({"client": ["ann"], "PHQ-9 session 1": [18], "PHQ-9 session 3": [9]})
    >>> found = outcomes(sessions, scores)
    >>> last = found.course.iloc[2]
    >>> int(last["number"]), float(last["phq9"]), float(last["phq9_change"]), last["phq9_reliable"]
    (3, 9.0, -9.0, 'improved')
    """
    options = options_of(OutcomeOptions, options)
    index = scale_index(own=options.scales, better=options.better, worse=options.worse)
    scores = read_scores(outcomes, index, columns=options.columns)
    read = read_results(results, mixed=options.allow_mixed)
    if options.pseudonyms is not None:
        refuse_other_key(read.recipes, options.pseudonyms)
        scores = under_pseudonyms(scores, read.sessions["session_id"], options.pseudonyms)
    lacking = lacking_key(read.recipes, options.pseudonyms)
    data = joined(read, scores, options.measures or None, lacking=lacking)
    found = related(data, results, gold=options.gold, pseudonyms=options.pseudonyms)
    return _outcomes(read, data, found, options, sources_of(*_folders(results), outcomes, options.gold, options.scales))


def _folders(results: Analysis | pd.DataFrame | str | Path | Sequence[str | Path]) -> tuple[object, ...]:
    if isinstance(results, Analysis | pd.DataFrame | str | Path):
        return (results,)
    return tuple(results)


def _outcomes(
    read: Results, data: Joined, found: Related, options: OutcomeOptions, sources: tuple[str, ...]
) -> Outcomes:
    course = course_table(data)
    recipe = {
        "therapy_analytics": metadata.version("therapy-analytics"),
        "tagger": tagger_words(read.recipes[0] if read.recipes else {}),
        "scales": {one.name: {"better": one.better, "source": one.source} for one in data.scales},
        "measures": [one.name for one in data.measures],
        "by": options.by,
        "gold": "a table in memory" if isinstance(options.gold, pd.DataFrame) else str(options.gold or ""),
        "error_of_the_tagger": TAGGER_ERROR,
    }
    told = in_short(data, course, found)

    return Outcomes(
        associations=found.table,
        corrected=found.corrected,
        course=course,
        unmatched=data.unmatched,
        lines=course_lines(data, read, by=options.by, shown=_shown(options.show, data)),
        joined=data.table,
        words=summary(data, course, found, recipe),
        recipe=recipe,
        sources=sources,
        _page=CoursePage(who=who(data), in_short=tuple(told), data=data, course=course, by=options.by),
    )


def _shown(asked: Sequence[str], data: Joined) -> Sequence[str]:
    """Return the measures of the figures; a BadOptionError for one that the sessions have not."""
    unknown = [name for name in asked if name not in {one.name for one in data.measures}]
    if unknown:
        some = ", ".join(one.name for one in data.measures[:5]) + (" and others" if len(data.measures) > 5 else "")
        raise BadOptionError("--show", f"no measure is named {unknown[0]!r}", f"Known: {some}")
    return asked
