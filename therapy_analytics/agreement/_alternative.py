"""The alternative-annotator test, which asks whether the machine may replace a coder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import stats

from therapy_analytics.agreement._coefficients import FEWEST_CLUSTERS, FEWEST_TURNS
from therapy_analytics.agreement._tables import CodedTurns, Row
from therapy_analytics.clusters import Floats, Ints, cluster_error

FEWEST_CODERS = 3
EPSILON = 0.15
"""What the paper recommends beside trained coders; .2 beside experts, .1 beside crowd workers."""
FALSE_DISCOVERIES = 0.05
PASSES = 0.5
BLOCK = 10
"""Successive turns of a block; blocks are taken as independent where there are too few clusters."""
RATES = ("n_coders_tested", "winning_rate", "winning_rate_blocks", "winning_rate_constant", "advantage")
COLUMNS = (
    *("code", "coder", "epsilon", "n_turns", "n_blocks", "machine_advantage", "coder_advantage"),
    *("p", "p_blocks", "wins", "wins_blocks"),
)


def alternative_table(found: Sequence[CodedTurns], epsilon: float) -> pd.DataFrame:
    """Return the alternative-annotator test, a row a code and coder; none of codes with fewer than three coders.

    Each coder in turn is left out and compared with the machine: which of the two agrees with more of the remaining
    coders on a turn (a tie counts for both)? ``machine_advantage`` and ``coder_advantage`` are the shares of turns on
    which the machine agrees with at least as many as the coder, and the coder with at least as many as the machine.
    ``p`` tests that the first is more than the second less `epsilon` (0 to 1: by how much the coder may be better), by
    Student's t over turns as in the paper; ``p_blocks`` by t over clusters, or where a coder has fewer than
    `FEWEST_CLUSTERS` of them, over blocks of `BLOCK` successive turns of a session. ``wins`` and ``wins_blocks``:
    whether the machine wins with a false discovery rate of 5 % over coders (Benjamini and Yekutieli). Coders with fewer
    than `FEWEST_TURNS` shared turns are not tested (nan).

    References
    ----------
    Calderon, N., Reichart, R., & Dror, R. (2025). The alternative annotator test for LLM-as-a-judge: How to
    statistically justify replacing human annotators with LLMs. Proceedings of ACL 2025, 16051-16081. arXiv 2501.10970.
    """
    parts = [_code(one, epsilon) for one in found if len(one.coders) >= FEWEST_CODERS]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(COLUMNS))


def winning_rates(table: pd.DataFrame, found: Sequence[CodedTurns]) -> pd.DataFrame:
    """Return the winning rates of each code, by its name.

    ``n_coders_tested``, the share of them against whom the machine wins (``winning_rate``, ``winning_rate_blocks``),
    and its mean advantage over them (``advantage``: the paper's average advantage probability). A machine with a
    winning rate of `PASSES` or more may replace a coder, unless one that gives each turn the commonest value would
    pass as well (``winning_rate_constant``): of a rare code that shows nothing.
    """
    tested = table[table["p"].notna()]
    if tested.empty:
        return pd.DataFrame(columns=list(RATES), index=pd.Index([], dtype=object), dtype=np.float64)
    constant = alternative_table([_constant(one) for one in found], float(tested["epsilon"].iloc[0]))
    group = tested.groupby("code", sort=False)
    rates = pd.DataFrame(
        {
            "n_coders_tested": group.size(),
            "winning_rate": group["wins"].mean(),
            "winning_rate_blocks": group["wins_blocks"].mean(),
            "winning_rate_constant": constant.groupby("code")["wins"].mean(),
            "advantage": group["machine_advantage"].mean(),
        }
    )
    return rates[rates["n_coders_tested"] >= FEWEST_CODERS]


def _constant(one: CodedTurns) -> CodedTurns:
    """Return the code with a machine that gives every turn the value that people give most."""
    commonest = np.bincount(one.people[one.people >= 0], minlength=len(one.values)).argmax()
    return replace(one, machine=np.where(one.machine >= 0, commonest, -1))


def _code(one: CodedTurns, epsilon: float) -> pd.DataFrame:
    rows = pd.DataFrame([{"code": one.code, **_coder(one, at, epsilon)} for at in range(len(one.coders))])
    for name, wins in (("p", "wins"), ("p_blocks", "wins_blocks")):
        known = rows[name].notna()
        rows[wins] = np.nan
        if known.any():
            adjusted = stats.false_discovery_control(rows.loc[known, name], method="by")
            rows.loc[known, wins] = (adjusted < FALSE_DISCOVERIES).astype(np.float64)
    return rows[list(COLUMNS)]


def _coder(one: CodedTurns, at: int, epsilon: float) -> Row:
    coder, others = one.people[:, at], np.delete(one.people, at, axis=1)
    used = (coder >= 0) & (one.machine >= 0) & (others >= 0).any(axis=1)
    coder, others, machine = coder[used], others[used], one.machine[used]
    with_machine, with_coder = ((others == own[:, None]).sum(axis=1) for own in (machine, coder))
    behind = np.sign(with_coder - with_machine).astype(np.float64)
    blocks = _blocks(one.cluster[used], one.session[used])
    row: Row = {"coder": one.coders[at], "epsilon": epsilon, "n_turns": len(behind), "n_blocks": len(np.unique(blocks))}
    if len(behind) < FEWEST_TURNS:
        return row | dict.fromkeys(("machine_advantage", "coder_advantage", "p", "p_blocks"), np.nan)
    row |= {"machine_advantage": float((behind <= 0).mean()), "coder_advantage": float((behind >= 0).mean())}
    return row | {"p": _p(behind, np.arange(len(behind)), epsilon), "p_blocks": _p(behind, blocks, epsilon)}


def _blocks(cluster: Ints, session: Ints) -> Ints:
    """Return the independent unit of each turn (n,): its cluster, or of few clusters its block within the session."""
    if len(np.unique(cluster)) >= FEWEST_CLUSTERS:
        return cluster
    place = pd.Series(session).groupby(session).cumcount().to_numpy() // BLOCK
    return np.unique(np.column_stack([session, place]), axis=0, return_inverse=True)[1].ravel()


def _p(behind: Floats, block: Ints, epsilon: float) -> float:
    """Return the p-value of one-sided t that the mean of `behind` (n,) is less than epsilon, over blocks (n,)."""
    mean = behind.mean()
    error, n_blocks = cluster_error((behind - mean) / len(behind), block)
    if error < 1e-12:
        return float(mean >= epsilon)
    return float(stats.t.cdf((mean - epsilon) / error, n_blocks - 1))
