"""Draw a coding sample from results: its turns, its design, the words to code, and what interval it will buy."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.core import private
from therapy_analytics.core.clusters import COLUMNS, SESSION, Floats, Ints
from therapy_analytics.core.errors import BadOptionError
from therapy_analytics.core.folders import Made, replaced_in, sources_of
from therapy_analytics.core.printable import counted
from therapy_analytics.core.pseudonyms import Pseudonyms
from therapy_analytics.core.verbs import options_of
from therapy_analytics.results import write_csv
from therapy_analytics.results._files import hash_of_file
from therapy_analytics.results.references import cross_validated
from therapy_analytics.stats.compare._groups import ALL, Grouped, grouped, with_all
from therapy_analytics.stats.compare._phrases import listed, spaced, unit_name
from therapy_analytics.stats.compare._ppi import FEWEST_CLUSTERS
from therapy_analytics.stats.compare._results import Results, read_results
from therapy_analytics.stats.machine_codes import Machine, read_machine, with_words
from therapy_analytics.stats.sampling._design import FLOOR, CodingDesign, design, drawn, uncertainty, weights_in_rates
from therapy_analytics.stats.sampling._expected import half_width
from therapy_analytics.stats.sampling._files import CONTEXT, DESIGN, DRAWN, WORDS

FORMAT, VERSION = "therapy-analytics sample", 1
FIRST = ("mi_question", "mi_reflection", "mi_input", "mi_change", "mi_sustain")
"""Codes that are told first; of books that have none of them, the most common."""
_MOST_COMMON, _MOST_GROUPS = 3, 4
_WHOSE = ("session_id", "source_file", "source", "model", "notes", *COLUMNS)
"""Columns that coders are never told."""
_COLUMNS = (
    "sample: these {0:,} turns; random: {0:,} turns drawn at random; all: every turn coded by people. machine: on how "
    "many of 100 turns its code alone would differ from people's, by its cross-validated kappa."
)
_ASSUMED = (
    "These figures take the machine's probabilities as right. Where it errs in your sessions, intervals will mostly be "
    "narrower, sometimes wider than said here, but hold all the same. Once {0} turns are coded, tanalyze agree RESULTS "
    "CODES --sample FOLDER computes them anew."
)
FEWEST_CODED = 50
"""Coded turns from which a promise is computed anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleOptions:
    """Which turns are drawn.

    Attributes
    ----------
    codes : tuple of str
        Codebooks (``mi``, ``process``) or codes (``mi_reflection``) for whose rates the sample is made.
    turns : int
        How many turns people will code.
    by : str or None
        The column of groups that are to be compared; each gets its share. By default there is one group.
    cluster : str or None
        As for ``compare``.
    seed : int
        Random seed of the draw.
    transcripts : path or None
        Where the words are; results of ``run --quotes`` hold them already.
    about : tuple of str
        Columns of ``sessions.csv`` that coders are told of each session, such as what the client wants to change. They
        must not give away the groups.
    pseudonyms : Pseudonyms or None
        The key that the results were made with, to find their sessions in the transcripts.
    """

    codes: tuple[str, ...] = ("mi",)
    turns: int = 300
    by: str | None = None
    cluster: str | None = None
    seed: int = 0
    transcripts: Path | str | None = None
    about: tuple[str, ...] = ()
    pseudonyms: Pseudonyms | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Sample:
    """A coding sample.

    Attributes
    ----------
    turns : DataFrame
        A row a drawn turn, as ``sample.csv``: ``session_id``, ``turn``, ``role``, ``inclusion``, ``why``, and whose
        session it is (``counselor``, ``source_group``, ``client``), where the results know.
    design : mapping
        As ``design.json``.
    words : str
        What the sample will buy, in sentences.
    """

    turns: pd.DataFrame = field(repr=False)
    design: Mapping[str, Any] = field(repr=False)
    words: str = field(repr=False)
    spoken: Mapping[str, Any] = field(repr=False)
    sources: tuple[str, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        return f"Sample({len(self.turns)} turns; print it for what they will buy)"

    def __str__(self) -> str:
        return self.words

    def write(
        self, out: str | Path, *, replace: bool = False, on_before: Callable[[str], None] = lambda _: None
    ) -> Path:
        """Write the sample into a folder, which is made private: ``turns.json`` holds words of the transcripts.

        Raises
        ------
        BadOptionError
            The folder holds anything else, such as pages of coders, or a sample of other results that may not be
            replaced.
        CannotWriteError
            The system refused to write.
        """
        names = (DRAWN, DESIGN, WORDS)
        made = Made(what="a sample", names=names, sources=self.sources, replace=replace, say=on_before)
        with replaced_in(Path(out), made) as part:
            write_csv(self.turns, private.fresh(part / DRAWN))
            for name, content in ((DESIGN, self.design), (WORDS, self.spoken)):
                private.write(part / name, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
        return Path(out)


def sample(results: Path | str, *, options: SampleOptions | None = None) -> Sample:
    """Draw turns for people to code, with known probabilities that favour turns of which the machine is unsure.

    Parameters
    ----------
    results : path
        A folder that ``tanalyze run`` wrote.
    options : SampleOptions, optional
        Which turns.

    Raises
    ------
    BadOptionError
        There are no results, codes, groups or words of that name, or fewer turns than asked for.
    """
    options = options_of(SampleOptions, options)
    machine, read = read_machine(results), read_results(results)
    codes, data, turns, plan = planned(machine, read, options)
    rng = np.random.default_rng(options.seed)
    chosen = drawn(turns, plan.inclusion, rng)
    spoken = _spoken(_words_of(machine, options), turns.iloc[chosen], _told(read, data, options.about), rng)
    expected = _expected(turns, plan.inclusion, codes, machine)
    recipe = Path(results) / "run.json"
    books = list(dict.fromkeys(name.partition("_")[0] for name in options.codes))
    about = {
        "format": FORMAT, "version": VERSION, "books": books, "codes": list(codes), "n_turns": options.turns,
        "n_population": {str(role): int(n) for role, n in turns["role"].value_counts().sort_index().items()},
        "by": options.by, "clusters": data.clustered_by, "seed": options.seed, "floor": FLOOR,
        "results": hash_of_file(recipe) if recipe.is_file() else "", "expected": [_plain(row) for row in expected],
    }  # fmt: skip
    return Sample(
        turns=_rows(turns, plan, chosen, read.sessions),
        design=about,
        words=_in_words(turns, chosen, expected, data),
        spoken=spoken,
        sources=sources_of(results, options.transcripts if options.pseudonyms is None else None),
    )


def planned(
    machine: Machine, read: Results, options: SampleOptions
) -> tuple[tuple[str, ...], Grouped, pd.DataFrame, CodingDesign]:
    """Return codes, groups, the turns that can be drawn (as `_population` has them), and their design.

    The same results and options give the same, so that a design can be computed anew once people have coded.
    """
    codes = _codes(machine, options.codes)
    data = grouped(with_all(read, options.by or ALL), (), by=options.by or ALL, cluster=options.cluster)
    turns = _population(machine, data, codes)
    if not 0 < options.turns <= len(turns):
        problem = f"{options.turns:,} were asked for, and the results have {len(turns):,} that can have these codes"
        raise BadOptionError("--turns", problem, f"Say 1 to {len(turns):,}")
    unsure = uncertainty(turns[_p(codes)].to_numpy(dtype=np.float64))
    return codes, data, turns, design(weights_in_rates(turns), unsure, options.turns)


def _codes(machine: Machine, asked: Sequence[str]) -> tuple[str, ...]:
    """Return the codes of the books and codes that were asked for, in the order of the table."""
    books = sorted({code.partition("_")[0] for code in machine.codes})
    for name in asked:
        if name not in books and name not in machine.codes:
            problem = f"{name!r} is neither a codebook nor a code of these results"
            raise BadOptionError("--codes", problem, f"Codebooks: {', '.join(books)}; codes as in turns.csv")
    found = tuple(code for code in machine.codes if code in asked or code.partition("_")[0] in asked)
    if not found:
        raise BadOptionError("--codes", "no code is named", f"Codebooks: {', '.join(books)}; codes as in turns.csv")
    return found


def _p(codes: Sequence[str]) -> list[str]:
    return [f"p_{code}" for code in codes]


def _population(machine: Machine, data: Grouped, codes: Sequence[str]) -> pd.DataFrame:
    """Return the turns that can have the codes: where they are, ``group``, ``cluster`` and the probabilities."""
    about = pd.DataFrame({
        "session_id": data.sessions["session_id"].astype(str), "cluster": data.cluster.astype(str),
        "group": data.sessions[data.by],
    })[data.group >= 0]  # fmt: skip
    turns = machine.turns[["session_id", "turn", "role", *_p(codes)]].merge(about, on="session_id")
    return turns[turns[_p(codes)].notna().any(axis=1)].reset_index(drop=True)


def _rows(turns: pd.DataFrame, plan: CodingDesign, chosen: Ints, sessions: pd.DataFrame) -> pd.DataFrame:
    """Return the drawn turns, with the columns of `sessions` by which the agreement of their coders clusters."""
    why = np.where(plan.unsure[chosen], "unsure", "random")
    found = turns.iloc[chosen][["session_id", "turn", "role"]].assign(inclusion=plan.inclusion[chosen], why=why)
    known = [name for name in COLUMNS if name in sessions and sessions[name].astype(bool).any()]
    about = sessions[known].set_axis(sessions["session_id"].astype(str))
    return found.join(about, on="session_id").reset_index(drop=True)


def _words_of(machine: Machine, options: SampleOptions) -> pd.DataFrame:
    """Return the turns of the results with their words."""
    if options.transcripts is not None:
        return with_words(machine, options.transcripts, options.pseudonyms).turns
    if "text" not in machine.turns:
        problem = "it is needed, because the results hold no words of the transcripts"
        raise BadOptionError("--transcripts", problem, "Name the transcripts that the results were made from")
    return machine.turns


def _told(read: Results, data: Grouped, asked: Sequence[str]) -> dict[str, str]:
    """Return what coders are told of each session: nothing by which they would know whose it is."""
    columns, hidden = tuple(dict.fromkeys(asked)), {data.by, data.clustered_by, *_WHOSE}
    known = [name for name in read.about if name not in hidden]
    strange = [name for name in columns if name not in known]
    if strange:
        problem = f"no column about the sessions is called {strange[0]!r}"
        if strange[0] in hidden:
            problem = f"by the column {strange[0]!r} coders would know whose session it is, or its group"
        raise BadOptionError("--about", problem, f"Known: {', '.join(known)}")
    rows = read.sessions[["session_id", *columns]].astype(str).to_dict("records")
    return {
        row["session_id"]: "; ".join(f"{spaced(name)}: {row[name]}" for name in columns if row[name]) for row in rows
    }


def _spoken(
    turns: pd.DataFrame, chosen: pd.DataFrame, told: Mapping[str, str], rng: np.random.Generator
) -> dict[str, Any]:
    """Return for each session with drawn turns these and the turns before them, in order, and what it is about.

    Sessions come in random order, in which people code them: who tires, or stops half way, does so in all groups alike.
    """
    sessions, silent = [], 0
    for name, part in turns[turns["session_id"].isin(set(chosen["session_id"]))].groupby("session_id", sort=False):
        ordered = part.sort_values("turn")
        drawn_here = ordered["turn"].isin(set(chosen.loc[chosen["session_id"] == name, "turn"]))
        own: list[int] = np.flatnonzero(drawn_here).tolist()
        kept = sorted({at for one in own for at in range(max(0, one - CONTEXT), one + 1)})
        silent += not ordered["text"].str.strip().any()
        rows = ordered.iloc[kept][["turn", "role", "text"]].itertuples(index=False)
        spoken = [{"turn": int(turn), "role": str(role), "words": str(text)} for turn, role, text in rows]
        sessions.append({"session_id": str(name), "about": told[str(name)], "turns": spoken})
    if silent:
        problem = f"{silent} of {len(sessions)} sessions with drawn turns are not in them"
        raise BadOptionError("--transcripts", problem, "Name all transcripts that the results were made from")
    return {"sessions": [sessions[at] for at in rng.permutation(len(sessions))]}


def _expected(turns: pd.DataFrame, inclusion: Floats, codes: Sequence[str], machine: Machine) -> list[dict[str, Any]]:
    """Return the half-widths that each code's rate is expected to have in each group."""
    random = np.full(len(turns), inclusion.sum() / len(turns))
    kappas = cross_validated(machine.recipe.get("tagger", {}))["kappa"]
    rows = []
    for code in codes:
        known = turns[f"p_{code}"].notna()
        p = graded(turns[f"p_{code}"], turns["group"])
        for group, at in turns[known].groupby("group", sort=True).indices.items():
            places = np.flatnonzero(known)[at]
            part = turns.iloc[places].assign(p=p.iloc[places])
            rate = float(part["p"].mean())
            rows.append({
                "code": code, "group": str(group), "rate": rate,
                "half_width_coded": half_width(part, inclusion[places]),
                "half_width_random": half_width(part, random[places]),
                "half_width_all": half_width(part, np.ones(len(part))),
                "machine_differs": differing(rate, float(kappas.get(code, nan))),
            })  # fmt: skip
    return rows


def differing(rate: float, kappa: float) -> float:
    """Return the share of turns on which two coders differ who give a code at this rate and agree with this kappa.

    Examples
    --------
    >>> round(differing(0.3, 0.5), 2)
    0.21
    """
    return (1 - kappa) * 2 * rate * (1 - rate)


def graded(p: pd.Series, group: pd.Series) -> pd.Series:
    """Return probabilities; where a coder gives only 0 and 1, each group's share, as these say nothing of its doubt."""
    return p.groupby(group).transform("mean") if p.dropna().isin((0, 1)).all() else p


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row for JSON: four digits, undefined as null."""
    return {
        name: (round(one, 4) if isfinite(one) else None) if isinstance(one, float) else one for name, one in row.items()
    }


def _in_words(turns: pd.DataFrame, chosen: Ints, expected: Sequence[Mapping[str, Any]], data: Grouped) -> str:
    """Say what was drawn, and what interval it will buy for the main codes."""
    own = turns.iloc[chosen]
    roles = listed([f"{n:,} of {role}s" for role, n in own["role"].value_counts().sort_index().items()])
    sessions = f"{own['session_id'].nunique():,} of {turns['session_id'].nunique():,} sessions"
    lines = [f"{len(own):,} of {len(turns):,} turns were drawn ({roles}), in {sessions}."]
    table = pd.DataFrame(expected)
    n_clusters = turns.groupby("group")["cluster"].nunique()
    few = n_clusters[n_clusters < FEWEST_CLUSTERS]
    lines += _too_few(few, data)
    shown = table[~table["group"].isin(few.index)]
    shown = told_first(shown) if len(shown) else shown
    if len(shown):
        lines += [*_as_table(shown, data.by), _COLUMNS.format(len(own)), _ASSUMED.format(FEWEST_CODED)]
    if len(shown) < len(table):
        n_codes, n_groups = (counted(table[name].nunique(), name) for name in ("code", "group"))
        lines.append(f"{DESIGN} lists {n_codes} in {n_groups}.")
    return "\n".join(lines)


def _too_few(few: pd.Series, data: Grouped) -> list[str]:
    """Say which groups will have no interval, and why."""
    units = unit_name(data.clustered_by, 2)
    remedy = (
        "" if data.clustered_by == SESSION else " (--cluster session counts each session, and speaks of these people)"
    )
    return [
        f"- No interval for {listed([_named(str(group), data) for group in part.index])}: that needs {FEWEST_CLUSTERS} "
        f"{units}, and {'it' if len(part) == 1 else 'each'} has {n}{remedy}."
        for n, part in few.groupby(few, sort=True)
    ]


def _named(group: str, data: Grouped) -> str:
    return "all sessions together" if data.by == ALL else group


def told_first(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are told: of each book the first codes, or the most common; of many groups the first."""
    rates = table.groupby("code")["rate"].mean().sort_values(ascending=False, kind="stable")
    found: set[str] = set()
    for _, part in rates.groupby(rates.index.str.partition("_").get_level_values(0)):
        own = set(FIRST).intersection(part.index)
        found |= own or set(part.index[:_MOST_COMMON])
    groups = table["group"].unique()[:_MOST_GROUPS]
    return table[table["code"].isin(found) & table["group"].isin(groups)]


def _as_table(shown: pd.DataFrame, by: str) -> list[str]:
    """Return lines with the half-widths of each code and group beside each other."""
    columns = {name: f"half_width_{one}" for name, one in (("sample", "coded"), ("random", "random"), ("all", "all"))}
    title = "How closely each rate will be known: half of its 95% interval is at most about, in percentage points"
    return ["", title, "", *side_by_side(shown, by, columns | {"machine": "machine_differs"}), ""]


def side_by_side(rows: pd.DataFrame, by: str, columns: Mapping[str, str]) -> list[str]:
    """Return lines of text with some columns of shares, in percentage points, a row a code and group."""
    names = rows["code"] if by == ALL else rows["code"] + ", " + rows["group"]
    wide = max(len(name) for name in names)
    lines = [" " * wide + "".join(f"{head:>10}" for head in columns)]
    for name, row in zip(names, rows.to_dict("records"), strict=True):
        lines.append(f"{name:<{wide}}" + "".join(f"{_points(row[one]):>10}" for one in columns.values()))
    return lines


def _points(half: float) -> str:
    if isnan(half):
        return "-"
    return f"{100 * half:.0f}" if half >= 0.0995 else f"{100 * half:.1f}"
