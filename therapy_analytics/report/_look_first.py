"""Which sessions to look at first: reasons with their turns, described and not tested, so nobody is judged by them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from therapy_analytics.clusters import Floats
from therapy_analytics.codebook_table import KIND
from therapy_analytics.compare._results import Results
from therapy_analytics.report._codebook import Shown
from therapy_analytics.report._findings import core
from therapy_analytics.report._overview import values_of
from therapy_analytics.report._words import brackets, listed, per_cent, plural

Json = dict[str, Any]
MOST = 8
MOST_OF_DANGER = 5
"""So many places go to turns of danger before the other reasons take theirs."""
FEWEST_OTHERS = 2
RUPTURE = ("rupture_withdrawal_turn", "rupture_confrontation_turn")
PASSED_BY = "rupture_passed_by_turn"
GOES_ALONG = "process_goes_along"
CODES = {"process_rupture_withdrawal": "ruptures", GOES_ALONG: "untested claims that the counselor goes along with"}
CODE_OF = {
    "therapist_question_rate": "mi_question",
    "therapist_reflection_rate": "mi_reflection",
    "therapist_input_rate": "mi_input",
}
NO_SIGN = "Codes and phrases mark turns of danger and miss some: that none is found in a session is no sign of safety."
LOOKS = "the accurate tagger with --all-codes does, with less certainty"
FURTHEST = (
    "Furthest from the others: the session's interval leaves out the mean of the same counselor's other sessions in "
    "questions, reflections, or advice and information. In any set of sessions some lie furthest out."
)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why somebody might look at a session.

    Attributes
    ----------
    session : int
        Its place in the overview.
    text : str
        The reason in words.
    size : float
        By which the sessions with such a reason are ordered, the largest first.
    turns : tuple of int
        Where to look; empty where the session as a whole is meant.
    """

    session: int
    text: str
    size: float
    turns: tuple[int, ...] = ()


def look_first(
    shown: Sequence[Shown], results: Results, sessions: Sequence[Mapping[str, Any]], marks: Sequence[Mapping[str, str]]
) -> Json:
    """Return at most eight sessions with their reasons, and what must be known of the list.

    Parameters
    ----------
    shown : sequence of Shown
        The measures of the page.
    results : Results
        Of all sessions.
    sessions : sequence of dict
        What the page knows of each session that has a view of its own.
    marks : sequence of dict
        Rows of the codebook about the columns that mark turns.
    """
    danger = sorted(_danger(results, sessions, marks), key=_order)
    kinds = {
        "turns to review for danger": danger,
        "possible ruptures": sorted(_ruptures(sessions), key=_order),
        "untested claims gone along with": sorted(_claims(sessions), key=_order),
        "": sorted(_furthest(shown, results, sessions), key=_order),
    }
    chosen = _chosen(list(kinds.values()))
    reasons = [one for kind in kinds.values() for one in kind]
    rows = [
        {"session": i, "reasons": [{"text": one.text, "turns": list(one.turns)} for one in reasons if one.session == i]}
        for i in chosen
    ]
    left = {name: len({one.session for one in kind} - set(chosen)) for name, kind in kinds.items() if name}
    return {"rows": rows, "notes": [*_left_out(left), NO_SIGN, FURTHEST, *_not_looked_for(sessions)]}


def _order(one: Reason) -> tuple[float, int]:
    return -one.size, one.session


def _chosen(kinds: Sequence[Sequence[Reason]]) -> list[int]:
    """Return the sessions to list: danger first, then the kinds of reasons in turn; in the order of their kinds."""
    danger, *others = [[one.session for one in kind] for kind in kinds]
    in_turn = [kind[k] for k in range(max(map(len, kinds), default=0)) for kind in others if k < len(kind)]
    picked = list(dict.fromkeys([*danger[:MOST_OF_DANGER], *in_turn, *danger[MOST_OF_DANGER:]]))[:MOST]
    return [i for i in dict.fromkeys([*danger, *(i for kind in others for i in kind)]) if i in picked]


def _left_out(left: Mapping[str, int]) -> list[str]:
    more = [f"{n} more with {name}" for name, n in left.items() if n]
    return (
        [f"Not listed: {listed(more, len(more))}. Sort the table, or choose its columns, to find them."] if more else []
    )


def _not_looked_for(sessions: Sequence[Mapping[str, Any]]) -> list[str]:
    missing = [name for code, name in CODES.items() if not any(code in one.get("p", {}) for one in sessions)]
    if not sessions or not missing:
        return []
    return [f"This run did not look for {' or '.join(missing)}; {LOOKS}."]


def _danger(
    results: Results, sessions: Sequence[Mapping[str, Any]], marks: Sequence[Mapping[str, str]]
) -> Iterator[Reason]:
    frame = results.sessions
    for mark in marks:
        danger = mark["measure"]
        if danger in frame:
            counts = frame[danger].fillna(0).astype(int)
            kinds = _kinds(results, danger)
            for i in np.flatnonzero(counts).tolist():
                n = int(counts.iloc[i])
                named = [f"{frame[one].iloc[i]:.0f} {label}" for one, label in kinds.items() if frame[one].iloc[i] > 0]
                text = f"{n} {plural(n, 'turn', 'turns')} to review for danger"
                text += f" ({listed(named, len(named))})" if named else ""
                yield Reason(i, text, n, _marked(sessions, i, (mark["column"],)))


def _kinds(results: Results, counted: str) -> dict[str, str]:
    """Return the measures of the results that count kinds of what another counts, with what is said of such turns."""
    rows = results.codebook
    own = rows[rows["page"] == f"{KIND}, {counted}"]
    return {str(name): str(label) for name, label in own["label"].items() if name in results.sessions}


def _ruptures(sessions: Sequence[Mapping[str, Any]]) -> Iterator[Reason]:
    for i in range(len(sessions)):
        turns, passed = _marked(sessions, i, RUPTURE), _marked(sessions, i, (PASSED_BY,))
        if turns:
            text = f"{len(turns)} possible {plural(len(turns), 'rupture', 'ruptures')}"
            text += f", {len(passed)} passed by" if passed else ""
            yield Reason(i, text, len(passed) + len(turns) / 1000, passed or turns)


def _claims(sessions: Sequence[Mapping[str, Any]]) -> Iterator[Reason]:
    for i, one in enumerate(sessions):
        turns = tuple(one.get("on", {}).get(GOES_ALONG, ()))
        if turns:
            text = f"goes along with untested claims in {len(turns)} {plural(len(turns), 'turn', 'turns')}"
            yield Reason(i, text, len(turns), turns)


def _marked(sessions: Sequence[Mapping[str, Any]], i: int, names: Sequence[str]) -> tuple[int, ...]:
    marks = sessions[i]["marks"] if i < len(sessions) else ()
    return tuple(sorted({turn for mark in marks if mark["name"] in names for turn in mark["turns"]}))


def _furthest(shown: Sequence[Shown], results: Results, sessions: Sequence[Mapping[str, Any]]) -> Iterator[Reason]:
    """Yield for each session its core measure that lies furthest from the same counselor's other sessions."""
    frame, measures = results.sessions, core(shown, results)
    if "counselor" not in frame or not measures:
        return
    values = values_of(frame, [one.name for one in measures])
    for name, rows in frame.reset_index(drop=True).groupby("counselor", sort=False).groups.items():
        for i in rows if str(name) and len(rows) > FEWEST_OTHERS else ():
            others = values[[k for k in rows if k != i]]
            far = _distances(values[i], others)
            j = int(np.argmax(far))
            if far[j] > 0:
                higher = values[i, j, 0] > np.nanmean(others[:, j, 0])
                code = CODE_OF.get(measures[j].name, "") if higher and i < len(sessions) else ""
                turns = tuple(sessions[i].get("on", {}).get(code, ())) if code else ()
                yield Reason(int(i), _apart(measures[j], values[i, j], others[:, j, 0]), far[j], turns)


def _distances(own: Floats, others: Floats) -> Floats:
    """Return for each measure the distance of a session from the mean of others, over its half interval beyond 1.

    Parameters
    ----------
    own : float array (m, 5)
        Rate, ends of its interval, and counts.
    others : float array (sessions, m, 5)
        The same of the counselor's other sessions.
    """
    defined = np.isfinite(others[:, :, 0])
    mean = np.where(defined, others[:, :, 0], 0).sum(axis=0) / np.maximum(defined.sum(axis=0), 1)
    rate, low, high = own[:, 0], own[:, 1], own[:, 2]
    with np.errstate(invalid="ignore", divide="ignore"):
        far = np.where(mean > rate, (mean - rate) / (high - rate), (rate - mean) / (rate - low)) - 1
    return np.where(np.isfinite(far) & (defined.sum(axis=0) >= FEWEST_OTHERS), far, -1.0)


def _apart(one: Shown, value: Floats, others: Floats) -> str:
    rate, low, high = (float(cell) for cell in value[:3])
    mean = float(np.nanmean(others))
    share = f"{per_cent(rate)} of turns{brackets(low, high)}"
    return f"{one.does} in {share}, other sessions {per_cent(mean)}"
