"""The page for supervision: who got worse, where danger was, and the course of each client as a picture and a table."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from html import escape
from urllib.parse import quote

import pandas as pd

from therapy_analytics.core.page_frame import STYLE, policy
from therapy_analytics.stats.outcomes import DANGER, WORSE, Outcomes

_OWN = ".course img { max-width: 100%; height: auto; background: #fff; } .course { break-inside: avoid; }"
_NO_RATING = (
    "For whoever made this page. Scores are what clients said, codes are a machine's, and a change says nothing of its "
    "cause: nothing here rates a client or a counselor. That no danger is marked is no sign of safety."
)
_NOT_DRAWN = "<p>The figure could not be drawn (problems.csv says why); the table below has the numbers.</p>"


def ordered(found: Outcomes) -> list[str]:
    """Return the clients (or counselors) who have a course: first who is reliably worse, then where danger was."""

    def urgent(own: pd.DataFrame) -> int:
        last = own.groupby("client", sort=False).tail(1)
        worse = any((last[f"{one.name}_reliable"] == WORSE).any() for one in found.scales)
        return 2 * worse + bool(DANGER in own and (own[DANGER] > 0).any())

    own = dict(tuple(found.course.groupby(found.recipe["by"])))
    return sorted(found.lines["who"].unique(), key=lambda name: (-urgent(own[name]), name))


def html(found: Outcomes, drawn: Mapping[str, bytes], *, report: str = "") -> str:
    """Return the page: one file of HTML without scripts, which asks for nothing from elsewhere.

    Parameters
    ----------
    found : Outcomes
        What is shown.
    drawn : mapping of str to bytes
        The picture (PNG) of each client (or counselor) that is shown, in the order of the page; empty where it could
        not be drawn. The page says where people are left out.
    report : str, optional
        Where the report page of the results lies, seen from this page: sessions lead to their view in it.
    """
    style = "\n".join([STYLE.read_text(encoding="utf-8"), _OWN])
    parts = [_person(found, name, picture, report) for name, picture in drawn.items()]
    links = "".join(f'<li><a href="#who-{i}">{escape(name)}</a></li>' for i, name in enumerate(drawn))
    sentences = [one.replace("**", "").replace("\\", "") for one in found.in_short]  # Markdown as text
    told = "".join(f"<li>{escape(one)}</li>" for one in sentences)
    n, left_out = found.lines["who"].nunique(), ""
    if len(drawn) < n:
        left_out = f"<p>Shown are {len(drawn)} of {n}, those who got worse first; course.csv has all.</p>"
    whole = [
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy(style, ""))}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">',
        '<title>Courses and outcomes</title>\n<link rel="icon" href="data:,">',
        f"<style>{style}</style>\n</head>\n<body>",
        f'<header class="top"><h1>Courses and outcomes</h1><nav aria-label="People"><ul>{links}</ul></nav>',
        f'</header>\n<main>\n<p>{escape(found.who)}</p>\n<p class="notice">{escape(_NO_RATING)}</p>',
        f"<h2>In short</h2>\n<ul>{told}</ul><p>{escape(found.recipe['error_of_the_tagger'])}</p>{left_out}",
        *(f'<section class="course" id="who-{i}">{part}</section>' for i, part in enumerate(parts)),
        "</main>\n</body>\n</html>\n",
    ]
    return "\n".join(whole)


def _person(found: Outcomes, name: str, picture: bytes, report: str) -> str:
    """Return the picture of one person, what to look at, and the numbers in it as a table."""
    by, scales = found.recipe["by"], found.scales
    own = found.course[found.course[by] == name]
    marked = own.loc[own[DANGER] > 0, "session_id"] if DANGER in own else ()
    names = ", ".join(_session(str(one), report) for one in marked)
    look = f"<p>Turns are marked that may be about danger in {names}: read these first.</p>" if names else ""
    source = base64.b64encode(picture).decode("ascii")
    told = f"Course of {name} over sessions; the table below has the numbers"
    shown = f'<img alt="{escape(told)}" src="data:image/png;base64,{source}">' if picture else _NOT_DRAWN
    titles = {} if by == "client" else {"client": "client"}
    titles |= {"number": "number", "date": "date", "session_id": "session"} | {one.name: one.label for one in scales}
    changes = [f"{one.name}_reliable" for one in scales]
    titles |= {change: "since the first" for change in changes if (own[change] != "").any()}
    titles |= {DANGER: "turns of danger"} if DANGER in own else {}
    rows = [
        "".join(
            f"<td>{_session(str(row[one]), report)}</td>" if one == "session_id" else _cell(row[one]) for one in titles
        )
        for row in own.to_dict("records")
    ]
    heads = "".join(f'<th scope="col">{escape(title)}</th>' for title in titles.values())
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f"<h2>{escape(name)}</h2>{look}"
        f'{shown}<details><summary>Numbers</summary><div class="scroll"><table class="plain">'
        f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div></details>"
    )


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f'<td class="num">{"" if value != value else f"{value:.6g}"}</td>'  # noqa: PLR0124 (nan)
    return f"<td>{escape(str(value))}</td>"


def _session(name: str, report: str) -> str:
    """Return the name of a session as HTML, with a link to its view in the report page where that is there."""
    if not report or not name:
        return escape(name)
    return f'<a href="{escape(report)}#session/{quote(name, safe="")}">{escape(name)}</a>'
