"""The promise of a sample, computed anew once people have coded some of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import special, stats

from therapy_analytics.core.cells import restore
from therapy_analytics.core.clusters import Floats, Ints
from therapy_analytics.core.errors import BadDataFileError, BadOptionError
from therapy_analytics.core.folders import finish_stopped
from therapy_analytics.core.verbs import options_of
from therapy_analytics.results._files import hash_of_file
from therapy_analytics.stats.compare._results import read_results
from therapy_analytics.stats.machine_codes import read_machine
from therapy_analytics.stats.people_codes import GoldOptions, read_gold
from therapy_analytics.stats.sampling._expected import UNSEEN, half_width
from therapy_analytics.stats.sampling._files import DESIGN, DRAWN
from therapy_analytics.stats.sampling._sample import (
    FEWEST_CODED,
    SampleOptions,
    graded,
    planned,
    side_by_side,
    told_first,
)

SPREADS = (0.1, 0.2, 0.4, 0.8, 1.6)
"""Standard deviations, in log-odds, of how far a tagger's level can be off in a group; each is as likely beforehand. On
recordings that a tagger of their corpus had not seen it was .56 (AnnoMI), and .94 on another corpus (HLQC)."""
_SHIFTS = np.linspace(-4.0, 4.0, 81)
_EDGE = 1e-4


def recalibrated(p: Floats, people: Floats, session: Ints) -> Floats:
    """Return the machine's probabilities in a group at the level that people's codes of some turns suggest, (n_turns,).

    The log-odds of all turns are shifted alike: by the mean of the posterior distribution, with a prior around no shift
    (a mixture of normal distributions, `SPREADS`), because the few coded turns of a pilot say little alone. What the
    machine does not see is alike in turns of one session (`UNSEEN`): n of them count as n / (1 + (n - 1) UNSEEN).

    Parameters
    ----------
    p : float64 array (n_turns,)
        The machine's probabilities.
    people : float64 array (n_turns,)
        The share of people who gave the code, nan where nobody has coded the turn yet.
    session : int64 array (n_turns,)
        The number of the session, from 0.

    Examples
    --------
    >>> people = np.where(np.arange(100) < 50, np.arange(100) % 10 == 0, np.nan)
    >>> recalibrated(np.full(100, 0.5), people, np.arange(100))[:2].round(2).tolist()
    [0.12, 0.12]
    """
    score, coded = special.logit(np.clip(p, _EDGE, 1 - _EDGE)), np.isfinite(people)
    shifted, given = score[coded, None] + _SHIFTS, people[coded, None]
    counts = 1 / (1 + (np.bincount(session[coded])[session[coded]] - 1) * UNSEEN)
    likelihood = counts @ (given * shifted - np.logaddexp(0, shifted))
    prior = np.mean([stats.norm.pdf(_SHIFTS, 0, spread) for spread in SPREADS], axis=0)
    shift = np.average(_SHIFTS, weights=prior * np.exp(likelihood - likelihood.max()))
    return np.asarray(special.expit(score + shift), dtype=np.float64)


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
    design, drawn = _read(folder, Path(results))
    wanted = SampleOptions(
        codes=tuple(design["codes"]), turns=int(design["n_turns"]), by=design["by"], cluster=design["clusters"]
    )
    names, data, turns, plan = planned(machine, read_results(results), wanted)
    people = read_gold(machine, codes, options_of(GoldOptions, options)).values
    keys = ["session_id", "turn"]
    given = people.pivot_table(index="place", columns="code", values="value", aggfunc="mean")
    given = given.set_axis(pd.MultiIndex.from_frame(machine.turns.iloc[given.index][keys]))
    given = given[given.index.isin(drawn)].reindex(columns=list(names))
    n = len(given.dropna(how="all"))
    if n < FEWEST_CODED:
        return f"{n} of {len(drawn)} turns of the sample are coded. From {FEWEST_CODED}, its promise is computed anew."
    by_turn = given.reindex(pd.MultiIndex.from_frame(turns[keys]))
    session, rows = pd.factorize(turns["session_id"])[0].astype(np.int64), []
    for row in design["expected"]:
        code, group = row["code"], row["group"]
        known = turns[f"p_{code}"].notna().to_numpy()
        own = known & (turns["group"].astype(str).to_numpy() == group)
        p = graded(turns.loc[own, f"p_{code}"], turns.loc[own, "group"]).to_numpy(dtype=np.float64)
        now = recalibrated(p, by_turn[code].to_numpy(dtype=np.float64)[own], session[own])
        renewed = half_width(turns[own].assign(p=now), plan.inclusion[own])
        rows.append(row | {"renewed": renewed, "coded": row["half_width_coded"]})
    table = pd.DataFrame(rows).astype({"coded": np.float64, "renewed": np.float64})
    words = (
        f"{n} of {len(drawn)} turns of the sample are coded. By what people gave them, half of the 95% interval of "
        "each rate, once all are coded, will be about, in percentage points:"
    )
    columns = {"promised": "coded", "now": "renewed"}
    return "\n".join([words, "", *side_by_side(told_first(table), data.by, columns)])


def _read(folder: Path, results: Path) -> tuple[dict[str, Any], pd.MultiIndex]:
    """Return the design of a sample, and its turns; refuse a sample of other results."""
    finish_stopped(folder)
    try:
        design = json.loads((folder / DESIGN).read_text(encoding="utf-8"))
        drawn = restore(pd.read_csv(folder / DRAWN, dtype={"session_id": str}, keep_default_na=False))
        turns = pd.MultiIndex.from_frame(drawn[["session_id", "turn"]])
        wanted = [design[name] for name in ("codes", "n_turns", "by", "clusters", "results", "expected")]
    except FileNotFoundError:
        problem = f"{folder} holds no sample"
        raise BadOptionError("--sample", problem, "Name the folder that tanalyze sample wrote") from None
    except (KeyError, TypeError, ValueError, OSError):
        raise BadDataFileError(str(folder), "it holds no design that can be read", "Make the sample again") from None
    recipe = results / "run.json"
    if wanted[4] != (hash_of_file(recipe) if recipe.is_file() else ""):
        raise BadOptionError("--sample", "it was drawn from other results", "Name the results that it was drawn from")
    return design, turns
