"""Draw a coding sample from results: its turns, its design, the words to code, and what interval it will buy."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.core import private
from therapy_analytics.core.cells import restore
from therapy_analytics.core.clusters import COLUMNS, SESSION, Ints
from therapy_analytics.core.errors import BadDataFileError, BadOptionError
from therapy_analytics.core.folders import Made, finish_stopped, replaced_in, sources_of
from therapy_analytics.core.printable import counted
from therapy_analytics.core.pseudonyms import Pseudonyms
from therapy_analytics.core.verbs import options_of
from therapy_analytics.results import hash_of_file, write_csv
from therapy_analytics.results.references import cross_validated
from therapy_analytics.stats.compare.groups import ALL, Grouped, grouped, with_all
from therapy_analytics.stats.compare.phrases import listed, spaced, unit_name
from therapy_analytics.stats.compare.powered import FEWEST_CLUSTERS
from therapy_analytics.stats.compare.sessions import Results, read_results
from therapy_analytics.stats.machine_codes import Machine, read_machine, with_words
from therapy_analytics.stats.people_codes import GoldOptions, read_gold
from therapy_analytics.stats.sampling.design import FLOOR, CodingDesign, design, drawn, uncertainty, weights_in_rates
from therapy_analytics.stats.sampling.promise import (
    expected_widths,
    graded,
    half_width,
    recalibrated,
    side_by_side,
    told_first,
)

FORMAT, VERSION = "therapy-analytics sample", 1
DRAWN, DESIGN, WORDS = "sample.csv", "design.json", "turns.json"
"""The files of a sample."""
CONTEXT = 8
"""Turns before a drawn turn that coders can read."""
FEWEST_CODED = 50
"""Coded turns from which a promise is computed anew."""
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
_HALVES = "How closely each rate will be known: half of its 95% interval is at most about, in percentage points"


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
    codes, data, turns, plan = _planned(machine, read, options)
    rng = np.random.default_rng(options.seed)
    chosen = drawn(turns, plan.inclusion, rng)
    spoken = _spoken(_words_of(machine, options), turns.iloc[chosen], _told(read, data, options.about), rng)
    kappas = cross_validated(machine.recipe.get("tagger", {}))["kappa"]
    expected = expected_widths(turns, plan.inclusion, codes, kappas)
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


def renewed_promise(
    results: Path | str, codes: Path | str, sample: Path | str, *, options: GoldOptions | None = None
) -> str:
    """Say anew how closely a sample will tell each rate, by what people gave to the turns that are coded so far.

    The first promise takes the machine's probabilities as right. This one takes them as `recalibrated`.

    Parameters
    ----------
    results : path
        The folder that the sample was drawn from.
    codes : path
        Codes that people gave, as for ``agree``.
    sample : path
        The folder that ``tanalyze sample`` wrote.
    options : GoldOptions, optional
        How the table of codes is read.

    Returns
    -------
    str
        Lines of text: half-widths as promised and as they are now, or how many turns are missing.

    Raises
    ------
    BadOptionError, BadDataFileError
        The folder holds no sample, or one of other results; or as for ``agree``.
    """
    folder, machine = Path(sample), read_machine(results)
    about, listed_turns = _read(folder, Path(results))
    wanted = SampleOptions(
        codes=tuple(about["codes"]), turns=int(about["n_turns"]), by=about["by"], cluster=about["clusters"]
    )
    names, data, turns, plan = _planned(machine, read_results(results), wanted)
    people = read_gold(machine, codes, options_of(GoldOptions, options)).values
    keys = ["session_id", "turn"]
    given = people.pivot_table(index="place", columns="code", values="value", aggfunc="mean")
    given = given.set_axis(pd.MultiIndex.from_frame(machine.turns.iloc[given.index][keys]))
    given = given[given.index.isin(listed_turns)].reindex(columns=list(names))
    n = len(given.dropna(how="all"))
    told = f"{n} of {len(listed_turns)} turns of the sample are coded."
    if n < FEWEST_CODED:
        return f"{told} From {FEWEST_CODED}, its promise is computed anew."
    by_turn = given.reindex(pd.MultiIndex.from_frame(turns[keys]))
    session, rows = pd.factorize(turns["session_id"])[0].astype(np.int64), []
    for row in about["expected"]:
        code, group = row["code"], row["group"]
        known = turns[f"p_{code}"].notna().to_numpy()
        own = known & (turns["group"].astype(str).to_numpy() == group)
        p = graded(turns.loc[own, f"p_{code}"], turns.loc[own, "group"]).to_numpy(dtype=np.float64)
        now = recalibrated(p, by_turn[code].to_numpy(dtype=np.float64)[own], session[own])
        renewed = half_width(turns[own].assign(p=now), plan.inclusion[own])
        rows.append(row | {"renewed": renewed, "coded": row["half_width_coded"]})
    table = pd.DataFrame(rows).astype({"coded": np.float64, "renewed": np.float64})
    words = (
        f"{told} By what people gave them, half of the 95% interval of each rate, once all are coded, will be about, "
        "in percentage points:"
    )
    columns = {"promised": "coded", "now": "renewed"}
    return "\n".join([words, "", *side_by_side(told_first(table), data.by, columns)])


def _read(folder: Path, results: Path) -> tuple[dict[str, Any], pd.MultiIndex]:
    """Return the design of a sample, and its turns; refuse a sample of other results."""
    finish_stopped(folder)
    try:
        about = json.loads((folder / DESIGN).read_text(encoding="utf-8"))
        table = restore(pd.read_csv(folder / DRAWN, dtype={"session_id": str}, keep_default_na=False))
        turns = pd.MultiIndex.from_frame(table[["session_id", "turn"]])
        wanted = [about[name] for name in ("codes", "n_turns", "by", "clusters", "results", "expected")]
    except FileNotFoundError:
        problem = f"{folder} holds no sample"
        raise BadOptionError("--sample", problem, "Name the folder that tanalyze sample wrote") from None
    except (KeyError, TypeError, ValueError, OSError):
        raise BadDataFileError(str(folder), "it holds no design that can be read", "Make the sample again") from None
    recipe = results / "run.json"
    if wanted[4] != (hash_of_file(recipe) if recipe.is_file() else ""):
        raise BadOptionError("--sample", "it was drawn from other results", "Name the results that it was drawn from")
    return about, turns


def _planned(
    machine: Machine, read: Results, options: SampleOptions
) -> tuple[tuple[str, ...], Grouped, pd.DataFrame, CodingDesign]:
    """Return codes, groups, the turns that can be drawn (`_population`), and their design: the same at any time."""
    codes = _codes(machine, options.codes)
    data = grouped(with_all(read, options.by or ALL), (), by=options.by or ALL, cluster=options.cluster)
    turns = _population(machine, data, codes)
    if not 0 < options.turns <= len(turns):
        problem = f"{options.turns:,} were asked for, and the results have {len(turns):,} that can have these codes"
        raise BadOptionError("--turns", problem, f"Say 1 to {len(turns):,}")
    unsure = uncertainty(turns[[f"p_{code}" for code in codes]].to_numpy(dtype=np.float64))
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


def _population(machine: Machine, data: Grouped, codes: Sequence[str]) -> pd.DataFrame:
    """Return the turns that can have the codes: where they are, ``group``, ``cluster`` and the probabilities."""
    about = pd.DataFrame({
        "session_id": data.sessions["session_id"].astype(str), "cluster": data.cluster.astype(str),
        "group": data.sessions[data.by],
    })[data.group >= 0]  # fmt: skip
    p = [f"p_{code}" for code in codes]
    turns = machine.turns[["session_id", "turn", "role", *p]].merge(about, on="session_id")
    return turns[turns[p].notna().any(axis=1)].reset_index(drop=True)


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
    alone = data.clustered_by == SESSION
    remedy = "" if alone else " (--cluster session counts each session, and speaks of these people)"
    for n, part in few.groupby(few, sort=True):
        groups = "all sessions together" if data.by == ALL else listed([str(group) for group in part.index])
        each, units = "it" if len(part) == 1 else "each", unit_name(data.clustered_by, 2)
        lines.append(f"- No interval for {groups}: that needs {FEWEST_CLUSTERS} {units}, and {each} has {n}{remedy}.")
    shown = table[~table["group"].isin(few.index)]
    shown = told_first(shown) if len(shown) else shown
    if len(shown):
        columns = {"sample": "coded", "random": "random", "all": "all"}
        halves = {name: f"half_width_{one}" for name, one in columns.items()} | {"machine": "machine_differs"}
        lines += ["", _HALVES, "", *side_by_side(shown, data.by, halves), ""]
        lines += [_COLUMNS.format(len(own)), _ASSUMED.format(FEWEST_CODED)]
    if len(shown) < len(table):
        n_codes, n_groups = (counted(table[name].nunique(), name) for name in ("code", "group"))
        lines.append(f"{DESIGN} lists {n_codes} in {n_groups}.")
    return "\n".join(lines)
