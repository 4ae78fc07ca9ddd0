"""Tables in the forms that a notebook asks for: codes as categories, a row a turn and code, a first look as HTML."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from therapy_analytics.measures.process._profile import PARTS, row_column
from therapy_analytics.measures.process._responses import CLIENT, THERAPIST
from therapy_analytics.session import ROLES

CATEGORIES: Mapping[str, Sequence[str]] = {
    "role": ROLES,
    "part": PARTS,
    "client_code": tuple(CLIENT),
    "therapist_code": tuple(THERAPIST),
}
"""Columns of few values that are known beforehand, in the order in which they are shown."""
ORDERED = ("part",)
BEHAVIOUR_COLUMNS = (
    row_column("session_id", "The session"),
    row_column("turn", "The turn, as in turns.csv", "count", low=0),
    row_column("role", "therapist, client or other"),
    row_column("code", "The behaviour, as the codes of turns.csv are called"),
    row_column("label", "The behaviour in plain words; where two are called alike, with the code in brackets"),
    row_column("probability", "Probability of the code, as p_... of turns.csv", "probability", low=0, high=1),
    row_column("coded", "Whether the turn has the code, as in turns.csv", "yes or no", low=0, high=1),
    row_column("unsure", "Whether the decision may well be otherwise (see unsure_codes)", "yes or no", low=0, high=1),
)
FIRST_LOOK = (
    "n_turns",
    "therapist_talk_share",
    "therapist_question_rate",
    "therapist_reflection_rate",
    "therapist_input_rate",
    "client_change_rate",
)
"""Measures that people ask for first, and that stand beside a session where it is shown in a notebook."""
_WHO = ("session_id", "counselor", "client", "source")
_PROPORTIONS = ("_rate", "_share")


def with_categories(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the table with codes, roles and parts of the session as categories.

    Parameters
    ----------
    frame : DataFrame
        With any of the columns ``role``, ``part``, ``code``, ``client_code``, ``therapist_code``.

    Returns
    -------
    DataFrame
        Categories stand in the order of the codebook (``code``: in which they first come); parts are
        ordered. Give ``observed=True`` to a group-by, or groups that do not occur become rows.

    Examples
    --------
    >>> with_categories(pd.DataFrame({"part": ["middle", "whole"]}))["part"].max()
    'middle'
    """
    return frame.assign(**categories_of(frame))


def categories_of(columns: Mapping[str, Any] | pd.DataFrame) -> dict[str, pd.Categorical]:
    """Return the columns of codes, roles and parts as categories, of columns before they are a table or after."""
    kinds = {name: list(values) for name, values in CATEGORIES.items() if name in columns}
    if "code" in columns:
        kinds["code"] = []
    return {name: _category(columns[name], values, ordered=name in ORDERED) for name, values in kinds.items()}


def _category(values: pd.Series | NDArray[np.generic], categories: Sequence[str], *, ordered: bool) -> pd.Categorical:
    codes, names = pd.factorize(values)
    # A name that this version does not know (a table of another version) goes to the end; it is not lost.
    place = {name: at for at, name in enumerate(dict.fromkeys([*categories, *names]))}
    at = np.array([*(place[name] for name in names), -1], dtype=np.int64)
    return pd.Categorical.from_codes(at[codes], categories=pd.Index(list(place), dtype=str), ordered=ordered)


def behaviours_table(turns: pd.DataFrame, codebook: pd.DataFrame) -> pd.DataFrame:
    """Return the codes of a turns table in long form.

    Parameters
    ----------
    turns : DataFrame
        As ``analysis.turns``.
    codebook : DataFrame
        As ``analysis.codebook``.

    Returns
    -------
    DataFrame
        A row for each turn and code that the coder gave or withheld there (see `BEHAVIOUR_COLUMNS`), in the
        order of the turns, then of the codebook. Codes of the other role, and turns that the coder gave no
        answer on, have no rows: the mean of ``coded`` is the code's rate.
    """
    labels = code_labels(turns, codebook)
    codes = list(labels)
    likely = turns[[f"p_{code}" for code in codes]].to_numpy(dtype=np.float64)
    row, code = np.nonzero(~np.isnan(likely))
    decided = turns[codes].fillna(0).to_numpy(dtype=np.float64) == 1
    return pd.DataFrame(
        {
            "session_id": turns["session_id"].array.take(row),
            "turn": turns["turn"].to_numpy()[row],
            "role": _category(turns["role"], ROLES, ordered=False).take(row),
            "code": pd.Categorical.from_codes(code, categories=pd.Index(codes, dtype=str)),
            "label": pd.Categorical.from_codes(code, categories=pd.Index(list(labels.values()), dtype=str)),
            "probability": likely[row, code],
            "coded": decided[row, code],
            "unsure": _unsure(turns["unsure_codes"], codes)[row, code],
        }
    )


def code_labels(turns: pd.DataFrame, codebook: pd.DataFrame) -> dict[str, str]:
    """Return the codes that a turns table has, in the order of the codebook, each with its plain name."""
    of_turns = codebook[codebook["table"] == "turns"]
    meanings = dict(zip(of_turns["column"], of_turns["meaning"], strict=True))
    names = {
        str(code): str(meaning).partition(": ")[0]
        for code, meaning in meanings.items()
        if code in turns and f"p_{code}" in turns
    }
    alike = list(names.values())
    return {code: name if alike.count(name) == 1 else f"{name} ({code})" for code, name in names.items()}


def _unsure(texts: pd.Series, codes: Sequence[str]) -> NDArray[np.bool_]:
    """Return of which turns which codes are unsure, (n_turns, n_codes); few combinations occur."""
    kind, kinds = pd.factorize(texts.fillna("").astype(object))
    named = [set(str(one).split(";")) for one in kinds]
    known = np.array([[code in one for code in codes] for one in named], dtype=np.bool_)
    return known.reshape(len(named), len(codes))[kind]


def sessions_html(sessions: pd.DataFrame, heading: str, *, most: int = 10) -> str:
    """Return the first sessions and what people ask of them first, as HTML in which nothing is markup of theirs.

    Parameters
    ----------
    sessions : DataFrame
        As ``analysis.sessions``.
    heading : str
        A line that stands above.
    most : int, optional
        How many sessions are shown.
    """
    names = [name for name in (*_WHO, *FIRST_LOOK) if name in sessions]
    names = [name for name in names if name not in _WHO or (sessions[name].astype(str) != "").any()]
    shown = sessions.head(most)
    rows = [[_cell(row, name) for name in names] for row in shown.to_dict("records")]
    more = len(sessions) - len(shown)
    below = f"and {more} more; " if more else ""
    return html_table(heading, names, rows) + f"<p>{below}rates with their 95% intervals</p>"


def _cell(row: Mapping[Hashable, object], name: str) -> str:
    value = row[name]
    if not isinstance(value, float):
        return str(value)
    if np.isnan(value):
        return ""
    percent = name.endswith(_PROPORTIONS)
    ends = [row.get(f"{name}_{end}") for end in ("lo", "hi")]
    low, high = (_number(one, percent=percent) if isinstance(one, float) else "" for one in ends)
    return _number(value, percent=percent) + (f" ({low} to {high})" if low and high else "")


def _number(value: float, *, percent: bool) -> str:
    return "" if np.isnan(value) else f"{value:.0%}" if percent else f"{value:g}"


def html_table(heading: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table of texts as HTML; every text is escaped.

    Examples
    --------
    >>> html_table("One", ["a"], [["<b>"]])  # doctest: +ELLIPSIS
    '<p>One</p><table>...<td style="text-align:left">&lt;b&gt;</td></tr></tbody></table>'
    """
    head = "".join(f'<th scope="col" style="text-align:left">{escape(name)}</th>' for name in names)
    body = "".join(
        "<tr>" + "".join(f'<td style="text-align:left">{escape(cell)}</td>' for cell in row) + "</tr>" for row in rows
    )
    return f"<p>{escape(heading)}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
