"""`outcomes`: scores and sessions joined, what goes with what, and the course of each client."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd

from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.folders import sources_of
from therapy_analytics.core.printable import tagger_words
from therapy_analytics.core.pseudonyms import Pseudonyms, lacking_key, refuse_other_key
from therapy_analytics.core.verbs import options_of
from therapy_analytics.measures.process.learnt_turns import among
from therapy_analytics.results import as_csv, form_of
from therapy_analytics.results.analysis import Analysis
from therapy_analytics.stats.agreement import GoldOptions
from therapy_analytics.stats.compare.sessions import read_results
from therapy_analytics.stats.machine_codes import read_machine
from therapy_analytics.stats.outcomes.associations import associations
from therapy_analytics.stats.outcomes.corrected import DRAWN, drawn_slopes, drawn_turns
from therapy_analytics.stats.outcomes.course import course_lines, course_table
from therapy_analytics.stats.outcomes.join import joined
from therapy_analytics.stats.outcomes.scales import Scale, scale_index
from therapy_analytics.stats.outcomes.scores import read_scores, under_pseudonyms
from therapy_analytics.stats.outcomes.words import TAGGER_ERROR, findings, in_short, summary, who, with_people
from therapy_analytics.stats.people_codes import read_gold

BY = ("client", "counselor")
Sources = Analysis | pd.DataFrame | str | Path | Sequence[str | Path]


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
    by: str = "client"
    gold: Path | str | pd.DataFrame | None = None
    allow_mixed: bool = False
    pseudonyms: Pseudonyms | None = None

    def __post_init__(self) -> None:
        if self.by not in BY:
            raise BadOptionError("--by", f"{self.by!r} is not known", f"Known: {', '.join(BY)}")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Outcomes:
    """Courses and outcomes; ``ta.write(found, folder)`` writes them with figures and a page.

    Attributes
    ----------
    associations : DataFrame
        What goes with what, as ``associations.csv``: see `therapy_analytics.stats.outcomes.associations.associations`.
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
    scales : tuple of Scale
        The scales of the scores: their names, labels, directions and reliable changes.
    who : str
        How many sessions, clients and scores there are, in a sentence.
    in_short : tuple of str
        The sentences to read first, as Markdown: a sign behind a backslash is the sign.
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
    scales: tuple[Scale, ...] = field(repr=False)
    who: str = field(repr=False)
    in_short: tuple[str, ...] = field(repr=False)
    words: str = field(repr=False)
    recipe: Mapping[str, Any] = field(repr=False)
    sources: tuple[str, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        return f"Outcomes({len(self.course)} sessions; print it for what they say)"

    def __str__(self) -> str:
        return self.words

    def files(self) -> dict[str, str]:
        """Return the text of each file by its name: tables, words and the recipe, in the order in which to write them.

        ``corrected.csv`` is among them where people coded some sessions.
        """
        tables = {name: getattr(self, name) for name in ("associations", "corrected", "course", "unmatched")}
        texts = {f"{name}.csv": as_csv(one) for name, one in tables.items() if name != "corrected" or len(one)}
        return texts | {"outcomes.md": self.words, "outcomes.json": json.dumps(self.recipe, indent=2) + "\n"}


def outcomes(
    results: Sources, outcomes: str | Path | pd.DataFrame, *, options: OutcomeOptions | None = None
) -> Outcomes:
    """Join sessions with the scores of clients: what in the talk goes with them, and the course of each client.

    Parameters
    ----------
    results : Analysis, DataFrame, path, or sequence of paths
        What `analyze` returned, its sessions, or folders that ``tanalyze run`` wrote.
    outcomes : path or DataFrame
        A table of scores: a row a session (``session_id``, or ``client`` with ``date`` or ``session_number``) with a
        column a scale; or a row a score (``scale``, ``score``).
    options : OutcomeOptions, optional
        Columns, directions of scales, measures, whose courses.

    Returns
    -------
    Outcomes
        ``course`` has a row for each client and session: scores, their change since the first (in points of the scale)
        and whether it is reliable, and the core measures. ``associations`` has a row for each measure, scale, target
        and level, with the standardised slope, its 95% interval, p and q. ``words`` is a report in Markdown, and
        ``ta.write(found, folder)`` writes everything with figures and a page.

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
    >>> scores = pd.DataFrame({"client": ["ann", "ann"], "session": [1, 3], "PHQ-9": [18, 9]})
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
    data = joined(read, scores, options.measures or None, lacking=lacking_key(read.recipes, options.pseudonyms))
    measures = [one.name for one in data.measures]

    # A number that nothing but the order of the results says is no order of sessions
    sessions = data.table.assign(number=data.table["number"].where(~data.table["guessed"]))
    better = {one.name: one.higher_is_better for one in data.scales}
    table = associations(sessions, measures, list(better), better)
    told = findings(table, data.scales)
    corrected, rests_on = pd.DataFrame(), ""
    if options.gold is not None:
        corrected, rests_on = _by_people(results, options, sessions, measures, list(better))
    unknown = [name for name in options.show if name not in measures]
    if unknown:
        some = ", ".join(measures[:5]) + (" and others" if len(measures) > 5 else "")
        raise BadOptionError("--show", f"no measure is named {unknown[0]!r}", f"Known: {some}")
    course = course_table(data)
    recipe = {
        "therapy_analytics": metadata.version("therapy-analytics"),
        "tagger": tagger_words(read.recipes[0] if read.recipes else {}),
        "scales": {one.name: {"better": one.better, "source": one.source} for one in data.scales},
        "measures": measures,
        "by": options.by,
        "gold": "a table in memory" if isinstance(options.gold, pd.DataFrame) else str(options.gold or ""),
        "error_of_the_tagger": TAGGER_ERROR,
    }
    folders = (results,) if isinstance(results, Analysis | pd.DataFrame | str | Path) else tuple(results)
    return Outcomes(
        associations=table,
        corrected=corrected,
        course=course,
        unmatched=data.unmatched,
        lines=course_lines(data, read, by=options.by, shown=options.show),
        joined=data.table,
        scales=data.scales,
        who=who(data),
        in_short=tuple(in_short(data, course, told)),
        words=summary(data, course, table, told, with_people(corrected, data.scales, rests_on), recipe),
        recipe=recipe,
        sources=sources_of(*folders, outcomes, options.gold, options.scales),
    )


def _by_people(
    results: Sources, options: OutcomeOptions, sessions: pd.DataFrame, measures: Sequence[str], scales: Sequence[str]
) -> tuple[pd.DataFrame, str]:
    """Return slopes that hold whatever the tagger does, from turns that people coded, and on what they rest.

    A BadOptionError where the results have no turns, or the codes do not say how their turns were drawn.
    """
    source, why_not = _with_turns(results)
    if source is None:
        raise BadOptionError("--gold", f"codes by hand need the codes of turns, and {why_not}", "Name one folder")
    machine = read_machine(source)
    people = read_gold(machine, options.gold, GoldOptions(pseudonyms=options.pseudonyms))
    if "inclusion" not in people.values:
        problem = "the codes do not say how their turns were drawn: there is no column inclusion"
        remedy = "Draw turns with tanalyze sample, and keep the column; of sessions that were coded whole it is 1"
        raise BadOptionError("--gold", problem, remedy)
    # The tagger errs less in sessions that it learnt from: both sides go without them, as in compare
    were = sessions["session_id"].astype(str).isin(machine.learnt or ())
    told = f" {among(were)}, and left out." if were.any() else ""
    kept = sessions[~were & (sessions["session_id"] != "")].reset_index(drop=True)
    return drawn_slopes(kept, drawn_turns(machine, people), measures, scales), f"{DRAWN}{told}"


def _with_turns(results: Sources) -> tuple[Analysis | Path | None, str]:
    """Return the one source that has the codes of turns; None where there is none, and why."""
    if isinstance(results, Analysis):
        return results, ""
    if isinstance(results, pd.DataFrame):
        return None, "a table of sessions has no turns"
    paths = [results] if isinstance(results, str | Path) else list(results)
    folders = [path.parent if path.name == "sessions.csv" else path for path in map(Path, paths)]
    if len(folders) > 1:
        return None, "several folders were given"
    whole = form_of(folders[0]) == "parquet" or (folders[0] / "codebook.csv").is_file()
    return (folders[0], "") if whole else (None, "the folder holds a table of sessions alone")
