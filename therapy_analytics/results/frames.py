"""Other forms of the tables: codes as categories, the wide tables, codes in long form, HTML for notebooks."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from therapy_analytics.core.session import ROLES
from therapy_analytics.measures.base import STATISTICS, wide_name
from therapy_analytics.measures.process.behaviour_rates import EXPECTED, code_of_measure
from therapy_analytics.measures.profile_rows import PARTS
from therapy_analytics.measures.response_rows import codes_of
from therapy_analytics.measures.rows import row_column

BEHAVIOUR_COLUMNS = (
    row_column("session_id", "The session"),
    row_column("turn", "The turn, as in turns.csv", "count", low=0),
    row_column("role", "therapist, client or other"),
    row_column("code", "The behaviour, as the codes of turns.csv are called"),
    row_column("label", "The behaviour in plain words; where two are called alike, with the code in brackets"),
    row_column("probability", "Probability of the code, as in probabilities.csv", "probability", low=0, high=1),
    row_column("coded", "Whether the turn has the code, as in turns.csv", "yes or no", low=0, high=1),
    row_column("unsure", "Whether the decision may well be otherwise (see unsure_codes)", "yes or no", low=0, high=1),
)


def with_categories(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table with codes, roles and parts of the session as categories.

    Parameters
    ----------
    frame : DataFrame
        With any of the columns ``role``, ``part``, ``code``, ``client_code``, ``therapist_code``.

    Returns
    -------
    DataFrame
        Categories are in the order of the codebook (those of ``code``: of first occurrence); parts are ordered.
        Give ``observed=True`` to a group-by, or groups that do not occur become rows.

    Examples
    --------
    >>> with_categories(pd.DataFrame({"part": ["third_2", "whole"]}))["part"].max()
    'third_2'
    """
    known = {
        "role": ROLES,
        "part": (*PARTS, "window"),
        "client_code": codes_of("client"),
        "therapist_code": codes_of("therapist"),
        "code": (),
    }
    return frame.assign(
        **{
            name: _category(frame[name], values, ordered=name == "part")
            for name, values in known.items()
            if name in frame
        }
    )


def _category(values: pd.Series, categories: Sequence[str], *, ordered: bool = False) -> pd.Categorical:
    # A name that is not known here, as in a table of another version, becomes the last category.
    known = pd.Index(list(dict.fromkeys([*categories, *values.dropna().unique()])), dtype=str)
    return pd.Categorical(values.astype(object), categories=known, ordered=ordered)


def wide(measures: pd.DataFrame) -> pd.DataFrame:
    """Return the long table of measures as a table with a row a session and a column a number.

    Parameters
    ----------
    measures : DataFrame
        As ``analysis.measures``.

    Returns
    -------
    DataFrame
        ``session_id``, then for each measure and direction the value and those statistics that any session has:
        ``rlsm_client``, ``rlsm_client_z``, ``open_question_rate_lo``, ``n_open_question``.

    Examples
    --------
    >>> long = {"session_id": ["a", "b"], "measure": "rlsm", "direction": "client", "value": [0.5, 0.6], "z": [1, 2]}
    >>> wide(pd.DataFrame(long)).to_dict("list")
    {'session_id': ['a', 'b'], 'rlsm_client': [0.5, 0.6], 'rlsm_client_z': [1.0, 2.0]}
    """
    session, ids = pd.factorize(measures["session_id"])
    rows = pd.MultiIndex.from_arrays([measures["measure"], measures["direction"]])
    row, known = pd.factorize(rows)
    data: dict[str, Any] = {"session_id": ids}
    statistics = [name for name in STATISTICS if name in measures]
    numbers = measures[statistics].to_numpy(dtype=np.float64)
    found = np.full((len(known), len(ids), len(statistics)), np.nan)
    found[row, session] = numbers
    for at, (measure, direction) in enumerate(known):
        for i, statistic in enumerate(statistics):
            if statistic == "value" or not np.isnan(found[at, :, i]).all():
                data[wide_name(measure, direction, statistic)] = found[at, :, i]
    return pd.DataFrame(data)


def wide_turns(turns: pd.DataFrame, probabilities: pd.DataFrame, turn_measures: pd.DataFrame) -> pd.DataFrame:
    """Return the three tables of turns, which have the same rows, as one; probabilities are called ``p_...``."""
    likely = probabilities.drop(columns=["session_id", "turn"])
    likely = likely.rename(columns={name: f"p_{name}" for name in likely if name != "unsure_codes"})
    tables = [turns, likely, turn_measures.drop(columns=["session_id", "turn"])]
    return pd.concat([one.reset_index(drop=True) for one in tables], axis=1)


def profile_table(parts: pd.DataFrame) -> pd.DataFrame:
    """Return how often each code is given in each session and its thirds.

    Parameters
    ----------
    parts : DataFrame
        As ``analysis.parts``.

    Returns
    -------
    DataFrame
        A row for each session, code and part: ``n`` turns with the code of ``n_turns`` that could have it, their
        ``rate`` with its interval ``lo`` to ``hi``, and ``expected``, the mean probability of the code.
    """
    parts = parts.astype({"measure": str, "part": str})
    keys = ["session_id", "measure", "part"]
    expected = parts.loc[parts["measure"].str.endswith(EXPECTED), [*keys, "value"]]
    expected["measure"] = expected["measure"].str.removesuffix(EXPECTED)
    rates = parts[parts["measure"].isin(expected["measure"]) & (parts["part"] != "window")]
    whole = rates.merge(expected, on=keys, how="left", suffixes=("", EXPECTED))
    whole = whole[whole.groupby("measure")["part"].transform("nunique") > 1].reset_index(drop=True)
    return with_categories(
        pd.DataFrame(
            {
                "session_id": whole["session_id"],
                "code": whole["measure"].map(code_of_measure),
                "part": whole["part"],
                "n_turns": whole["out_of"].astype(np.int64),
                "n": whole["n"].fillna(0).astype(np.int64),
                "rate": whole["value"],
                "lo": whole["lo"],
                "hi": whole["hi"],
                "expected": whole[f"value{EXPECTED}"],
            }
        )
    )


def behaviours_table(turns: pd.DataFrame, probabilities: pd.DataFrame, codebook: pd.DataFrame) -> pd.DataFrame:
    """Return the codes of a turns table in long form.

    Parameters
    ----------
    turns, probabilities : DataFrame
        As ``analysis.turns`` and ``analysis.probabilities``.
    codebook : DataFrame
        As ``analysis.codebook``.

    Returns
    -------
    DataFrame
        A row for each turn and code that was decided on (see `BEHAVIOUR_COLUMNS`), in the order of the turns, then
        of the codebook. Codes of the other role, and turns without an answer of the coder, have no rows: the mean of
        ``coded`` is the code's rate.
    """
    labels = code_labels(turns, codebook)
    codes = list(labels)
    likely = probabilities[codes].to_numpy(dtype=np.float64)
    row, code = np.nonzero(~np.isnan(likely))
    decided = turns[codes].fillna(0).to_numpy(dtype=np.float64) == 1
    named = [set(str(text).split(";")) for text in probabilities["unsure_codes"].fillna("")]
    return pd.DataFrame(
        {
            "session_id": turns["session_id"].array.take(row),
            "turn": turns["turn"].to_numpy()[row],
            "role": _category(turns["role"], ROLES).take(row),
            "code": pd.Categorical.from_codes(code, categories=pd.Index(codes, dtype=str)),
            "label": pd.Categorical.from_codes(code, categories=pd.Index(list(labels.values()), dtype=str)),
            "probability": likely[row, code],
            "coded": decided[row, code],
            "unsure": np.array([codes[j] in named[i] for i, j in zip(row, code, strict=True)], dtype=np.bool_),
        }
    )


def code_labels(turns: pd.DataFrame, codebook: pd.DataFrame) -> dict[str, str]:
    """Return the codes of a turns table, in the order of the codebook, each with its plain name."""
    likely = set(codebook.loc[codebook["table"] == "probabilities", "column"])
    of_turns = codebook[(codebook["table"] == "turns") & codebook["column"].isin(likely)]
    names = {
        str(code): str(meaning).partition(": ")[0]
        for code, meaning in zip(of_turns["column"], of_turns["meaning"], strict=True)
        if code in turns and code not in ("session_id", "turn")
    }
    alike = list(names.values())
    return {code: name if alike.count(name) == 1 else f"{name} ({code})" for code, name in names.items()}


def sessions_html(sessions: pd.DataFrame, heading: str, *, first: Sequence[str] = (), most: int = 10) -> str:
    """Return the first sessions with some of their measures as HTML; all texts are escaped.

    Parameters
    ----------
    sessions : DataFrame
        As ``analysis.sessions``.
    heading : str
        The line above the table.
    first : sequence of str, optional
        The measures that are shown.
    most : int, optional
        The most sessions that are shown.
    """
    who = [name for name in ("session_id", "counselor", "client", "source") if name in sessions]
    names = [name for name in who if (sessions[name].astype(str) != "").any()]
    names += [name for name in first if name in sessions]
    shown = sessions.head(most)

    def number(value: object, name: str) -> str:
        if not isinstance(value, float) or np.isnan(value):
            return "" if isinstance(value, float) or value is None else str(value)
        return f"{value:.0%}" if name.endswith(("_rate", "_share")) else f"{value:g}"

    def cell(row: Mapping[Hashable, object], name: str) -> str:
        low, high = (number(row.get(f"{name}_{end}"), name) for end in ("lo", "hi"))
        return number(row[name], name) + (f" ({low} to {high})" if low and high else "")

    rows = [[cell(row, name) for name in names] for row in shown.to_dict("records")]
    left = 'style="text-align:left"'
    head = "".join(f'<th scope="col" {left}>{escape(name)}</th>' for name in names)
    body = "".join(f"<tr>{''.join(f'<td {left}>{escape(text)}</td>' for text in row)}</tr>" for row in rows)
    more = f"and {len(sessions) - len(shown)} more; " if len(sessions) > len(shown) else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<p>{escape(heading)}</p>{table}<p>{more}rates with their 95% intervals</p>"
