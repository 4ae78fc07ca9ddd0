"""What the page shows of all sessions together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from therapy_analytics.core.clusters import Floats
from therapy_analytics.measures.base import count_name, total_name
from therapy_analytics.report._words import plural
from therapy_analytics.report.files import plain
from therapy_analytics.report.shown import Shown, ends
from therapy_analytics.results import references
from therapy_analytics.stats.compare.effects import cluster_means
from therapy_analytics.stats.compare.groups import Grouped, described, grouped
from therapy_analytics.stats.compare.phrases import unit_name
from therapy_analytics.stats.compare.sessions import Results
from therapy_analytics.stats.compare.tables import mean_with_interval, variance_within_groups

Json = dict[str, Any]
FIRST = ("counselor", "source")
MODEL = "llm"
"""The source of sessions in which a language model was the counselor."""
NO_GROUPS = ("session_id", "source_file", "role_method", "notes")
MOST_GROUPS = 30
PROFILE = ("mean", "mean_lo", "mean_hi", "q05", "q25", "median", "q75", "q95")
LONGEST = 200


def about_columns(results: Results) -> list[str]:
    """Return the columns that can group and filter: 2 to 30 different values, not each session its own."""
    frame, found = results.sessions, []
    for name in results.about:
        values = frame[name][frame[name] != ""]
        n = values.nunique()
        if name not in NO_GROUPS and 2 <= n <= MOST_GROUPS and (n < len(values) or name in FIRST):
            found.append(name)
    return sorted(found, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))


def profiles_of(results: Results) -> pd.DataFrame | None:
    """Return the reference profiles that fit who coded these sessions, or None."""
    if results.tagger not in references.TAGGERS or results.aim not in ("", "balanced"):
        return None
    return references.reference_profiles("fast" if results.tagger == "fast" else "accurate")


def measures_json(shown: Sequence[Shown], results: Results, profiles: pd.DataFrame | None) -> list[Json]:
    """Return each measure with its words and where the references lie."""
    references: dict[str, dict[str, Json]] = {}
    for row in [] if profiles is None else profiles.to_dict("records"):
        found = {"n": int(row["n_sessions"]), **{key: plain(float(row[key])) for key in PROFILE}}
        references.setdefault(str(row["measure"]), {})[str(row["group"])] = found
    rows = results.codebook.to_dict("index")
    return [_measure(one, rows[one.name], references.get(one.name, {})) for one in shown]


def _measure(one: Shown, row: Mapping[Any, Any], references: Mapping[str, Json]) -> Json:
    low, high = ends(str(row["range"]))
    unit = str(row.get("unit", ""))
    if unit == "proportion" and low is None:  # an excess of .03 is not 3%, of whatever it were
        unit = "difference of proportions"
    return {
        "name": one.name,
        "label": one.label,
        "family": one.family,
        **{key: str(row.get(key, "")) for key in ("meaning", "misleads", "evidence")},
        "unit": unit,
        "low": low,
        "high": high,
        "shown": one.first,
        "profile": bool(one.does),
        "references": references,
    }


def reference_labels(profiles: pd.DataFrame | None, *, models: bool) -> list[Json]:
    """Return the groups of reference, people first; models only where a session is by one."""
    if profiles is None:
        return []
    known = [
        {"id": name, "label": label, "kind": "human" if name.startswith("human") else MODEL}
        for name, label in references.GROUPS.items()
    ]
    return [one for one in known if models or one["kind"] != MODEL]


def sessions_json(shown: Sequence[Shown], results: Results, n_view: int) -> list[Json]:
    """Return each session with the values of the measures."""
    frame = results.sessions
    values = values_of(frame, [one.name for one in shown])
    known = [name for name in results.about if name not in NO_GROUPS]
    words = frame.reindex(columns=["n_words_therapist", "n_words_client"]).sum(axis=1, min_count=1).to_numpy()
    turns = frame["n_turns"].to_numpy() if "n_turns" in frame else np.full(len(frame), np.nan)
    rows = frame.to_dict("records")
    return [
        {
            "id": row["session_id"],
            "about": {name: row[name][:LONGEST] for name in known if row[name]},
            "n_turns": plain(float(turns[i])),
            "n_words": plain(float(words[i])),
            "view": i < n_view,
            "values": [[plain(float(value)) for value in cells] for cells in values[i]],
            "notes": [row["notes"]] if row.get("notes") else [],
        }
        for i, row in enumerate(rows)
    ]


def values_of(frame: pd.DataFrame, names: Sequence[str]) -> Floats:
    """Return value, both ends of its interval, n and of how many, for each session and measure: (sessions, m, 5)."""
    found = np.full((len(frame), len(names), 5), np.nan)
    for j, name in enumerate(names):
        found[:, j, 0] = frame[name]
        for place, column in ((1, f"{name}_lo"), (2, f"{name}_hi")):
            if column in frame:
                found[:, j, place] = frame[column]
        count = count_name(name)
        if name.endswith("_rate") and count in frame:
            found[:, j, 3] = frame[count]
            found[:, j, 4] = frame.get(total_name(name), np.nan)
    return found


def groups_json(shown: Sequence[Shown], results: Results, about: Sequence[str]) -> dict[str, list[Json]]:
    """Return for each column of groups the mean over clusters of each group, with its interval, as `compare` has it."""
    measures = [described(results, one.name) for one in shown]
    return {name: _groups(grouped(results, measures, by=name, cluster=None)) for name in about}


def units_json(results: Results, about: Sequence[str]) -> dict[str, str]:
    """Return for each column of groups what counts once in a mean, such as "client"."""
    return {name: unit_name(grouped(results, [], by=name, cluster=None).clustered_by, 1) for name in about}


def _groups(data: Grouped) -> list[Json]:
    found, within = [], variance_within_groups(data)
    for i, name in enumerate(data.names):
        own = data.group == i
        means = mean_with_interval(data, cluster_means(data.values[own], data.cluster[own]), within)
        values = [[plain(float(cell)) for cell in cells] for cells in zip(*means, strict=True)]
        found.append({"name": name, "n_sessions": int(own.sum()), "values": values})
    return found


def who(results: Results) -> str:
    """Return how many sessions there are and whose, models apart from people.

    Examples
    --------
    "15 sessions: 3 counselors with 6 clients, 2 language models with 6 clients"
    """
    frame = results.sessions
    cells = frame.reindex(columns=["counselor", "client", "source", "model"], fill_value="").astype(str)
    by_model = has_models(results)
    sides = [
        (cells[~by_model], ("counselor", "counselors")),
        (cells[by_model], ("language model", "language models")),
    ]
    told = filter(None, (_side(rows, *words) for rows, words in sides))
    return ": ".join(filter(None, (_counted(len(frame), "session", "sessions"), ", ".join(told))))


def has_models(results: Results) -> NDArray[np.bool_]:
    """Return of each session whether a language model was the counselor: array of bool (sessions)."""
    cells = results.sessions.reindex(columns=["source", "model"], fill_value="").astype(str)
    return ((cells["source"].str.lower() == MODEL) | (cells["model"] != "")).to_numpy()


def _side(cells: pd.DataFrame, one: str, several: str) -> str:
    """Return "3 counselors with 7 clients", of what is named; "" where nobody is."""
    counselors, clients = (cells.loc[cells[name] != "", name].nunique() for name in ("counselor", "client"))
    told = [_counted(counselors, one, several), _counted(clients, "client", "clients")]
    return " with ".join(text for n, text in zip((counselors, clients), told, strict=True) if n)


def _counted(n: int, one: str, several: str) -> str:
    return f"{n:,} {plural(n, one, several)}"
