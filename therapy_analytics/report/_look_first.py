"""Which sessions to look at first: reasons with their turns, described and not tested, so nobody is judged by them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from therapy_analytics.core.clusters import Floats
from therapy_analytics.report._findings import core
from therapy_analytics.report._words import listed, plural
from therapy_analytics.report.shown import Shown
from therapy_analytics.results.codebook_table import KIND
from therapy_analytics.stats.compare.groups import counts
from therapy_analytics.stats.compare.sessions import Results

Json = dict[str, Any]
MOST = 8
MOST_OF_DANGER = 5
"""So many places go to turns of danger before the other reasons take theirs."""
FEWEST_SESSIONS, MOST_OF_ONE = 5, 3
"""From so many sessions of a counselor on, the furthest is named; and at most so many of them."""
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
    f"Unlike the counselor's other sessions: sessions of a counselor with at least {FEWEST_SESSIONS} are ranked by how "
    "far their shares of turns with questions, reflections, or advice and information lie from those of the "
    "counselor's others, for their numbers of turns. The first in ten are named, at least one and at most "
    f"{MOST_OF_ONE} of a counselor. Some session always comes first: this is a place to begin to read, and does not "
    "say that it differs by more than sessions do."
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
    """Yield of each counselor the sessions whose core behaviours differ most from those of the counselor's others.

    Of each session one behaviour is told, that by which it differs most. By `_most_of_one` at most a fifth of the
    sessions are told, whatever their numbers are.
    """
    frame, measures = results.sessions, core(shown, results)
    if "counselor" not in frame or not measures:
        return
    own = np.array([counts(frame, one.name).T for one in measures])  # (m, 2, sessions): turns with the code, out of
    for name, rows in frame.groupby("counselor", sort=False).indices.items():
        if not str(name) or len(rows) < FEWEST_SESSIONS:
            continue
        others = np.nansum(own[:, :, rows], axis=2, keepdims=True) - np.nan_to_num(own[:, :, rows])
        far = _distances(own[:, :, rows], others)
        for k in np.argsort(-far.max(axis=0), kind="stable")[: _most_of_one(len(rows))].tolist():
            j, i = int(np.argmax(far[:, k])), int(rows[k])
            if far[j, k] > 0:
                (n, of), (n_others, of_others) = own[j, :, i], others[j, :, k]
                text = f"{measures[j].does} in {n:.0f} of {of:.0f} turns, in the counselor's {len(rows) - 1} other "
                text += f"sessions in {n_others:.0f} of {of_others:.0f}"
                higher = n / of > n_others / of_others and i < len(sessions)
                code = CODE_OF.get(measures[j].name, "") if higher else ""
                yield Reason(i, text, far[j, k], tuple(sessions[i].get("on", {}).get(code, ())) if code else ())


def _most_of_one(n_sessions: int) -> int:
    """Return of how many of a counselor's sessions it is said that they are furthest: one in ten, 1 to 3."""
    return min(max(n_sessions // 10, 1), MOST_OF_ONE)


def _distances(own: Floats, others: Floats) -> Floats:
    """Return how far shares lie from those of other sessions, for their numbers of turns; below 0 where undefined.

    The difference of the shares is divided by the standard deviation that it had if all turns had the code equally
    often, so that a session does not lead the ranking because it is short.

    Parameters
    ----------
    own, others : float array (m, 2, sessions)
        Of m measures: turns with the code, and all turns that could have it.
    """
    (n, of), (n_others, of_others) = np.moveaxis(own, 1, 0), np.moveaxis(others, 1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        whole = (n + n_others) / (of + of_others)
        far = np.abs(n / of - n_others / of_others) / np.sqrt(whole * (1 - whole) * (1 / of + 1 / of_others))
    return np.where(np.isfinite(far), far, -1.0)
