"""The page for supervision: who got worse, where danger was, and the course of each client as a picture and a table."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from urllib.parse import quote

import pandas as pd

from therapy_analytics.core.page_frame import STYLE, policy
from therapy_analytics.stats.outcomes._course import WORSE
from therapy_analytics.stats.outcomes._join import DANGER, Joined
from therapy_analytics.stats.outcomes._words import TAGGER_ERROR

_OWN = ".course img { max-width: 100%; height: auto; background: #fff; } .course { break-inside: avoid; }"
_NO_RATING = (
    "For whoever made this page. Scores are what clients said, codes are a machine's, and a change says nothing of its "
    "cause: nothing here rates a client or a counselor. That no danger is marked is no sign of safety."
)
_NOT_DRAWN = "<p>The figure could not be drawn (problems.csv says why); the table below has the numbers.</p>"
_LEFT_OUT = "<p>Shown are {shown} of {n}, those who got worse first; course.csv has all.</p>"


@dataclass(frozen=True, slots=True, kw_only=True)
class CoursePage:
    """The page: one file of HTML without scripts, which asks for nothing from elsewhere.

    Attributes
    ----------
    who : str
        A sentence on sessions, clients and scores.
    in_short : tuple of str
        The sentences to read first, as Markdown: a sign behind a backslash is the sign.
    data : Joined
        Scales and measures.
    course : DataFrame
        As ``course.csv``.
    by : {"client", "counselor"}
        Whose pictures it shows.
    """

    who: str
    in_short: tuple[str, ...]
    data: Joined
    course: pd.DataFrame
    by: str

    def html(self, figures: Mapping[str, bytes], *, n_people: int, report: str = "") -> str:
        """Return the page.

        Parameters
        ----------
        figures : mapping of str to bytes
            The picture (PNG) of each client, or counselor, that is shown; empty where it could not be drawn.
        n_people : int
            How many clients, or counselors, have a course; the page says where some are left out.
        report : str, optional
            Where the report page of the results lies, seen from this page: sessions lead to their view in it.
        """
        style = "\n".join([STYLE.read_text(encoding="utf-8"), _OWN])
        own = {name: self.course[self.course[self.by] == name] for name in figures}
        order = self.ordered(figures)
        left_out = _LEFT_OUT.format(shown=len(order), n=n_people) if len(order) < n_people else ""
        parts = [self._person(name, own[name], figures[name], report) for name in order]
        links = "".join(f'<li><a href="#who-{i}">{escape(name)}</a></li>' for i, name in enumerate(order))
        told = "".join(f"<li>{escape(_text(one))}</li>" for one in self.in_short)
        whole = [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{escape(policy(style, ""))}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">',
            '<title>Courses and outcomes</title>\n<link rel="icon" href="data:,">',
            f"<style>{style}</style>\n</head>\n<body>",
            f'<header class="top"><h1>Courses and outcomes</h1><nav aria-label="People"><ul>{links}</ul></nav>',
            f'</header>\n<main>\n<p>{escape(self.who)}</p>\n<p class="notice">{escape(_NO_RATING)}</p>',
            f"<h2>In short</h2>\n<ul>{told}</ul><p>{escape(TAGGER_ERROR)}</p>{left_out}",
            *(f'<section class="course" id="who-{i}">{part}</section>' for i, part in enumerate(parts)),
            "</main>\n</body>\n</html>\n",
        ]
        return "\n".join(whole)

    def ordered(self, names: Iterable[str]) -> list[str]:
        """Return people in the order of the page: first who is reliably worse, then where danger was, then by name."""
        own = dict(tuple(self.course.groupby(self.by)))
        return sorted(names, key=lambda name: (-_urgent(own[name], self.data), name))

    def _person(self, name: str, own: pd.DataFrame, picture: bytes, report: str) -> str:
        """Return the picture of one person, what to look at, and the numbers in it as a table."""
        source = base64.b64encode(picture).decode("ascii")
        told = f"Course of {name} over sessions; the table below has the numbers"
        shown = f'<img alt="{escape(told)}" src="data:image/png;base64,{source}">' if picture else _NOT_DRAWN
        scales = [one.name for one in self.data.scales]
        columns = [*(["client"] if self.by != "client" else []), "number", "date", "session_id", *scales]
        columns += [name for name in (f"{one}_reliable" for one in scales) if (own[name] != "").any()]
        columns += [DANGER] if DANGER in own else []
        rows = [
            "".join(_session_cell(str(row[one]), report) if one == "session_id" else _cell(row[one]) for one in columns)
            for row in own.to_dict("records")
        ]
        titles = "".join(f'<th scope="col">{escape(_title(column, self.data))}</th>' for column in columns)
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return (
            f"<h2>{escape(name)}</h2>{_look_at(own, report)}"
            f'{shown}<details><summary>Numbers</summary><div class="scroll"><table class="plain">'
            f"<thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table></div></details>"
        )


def _urgent(own: pd.DataFrame, data: Joined) -> int:
    """Return how early somebody stands on the page: first who is reliably worse, then where danger was."""
    last = own.groupby("client", sort=False).tail(1)
    worse = any((last[f"{one.name}_reliable"] == WORSE).any() for one in data.scales)
    return 2 * worse + bool(DANGER in own and (own[DANGER] > 0).any())


def _title(column: str, data: Joined) -> str:
    labels = {one.name: one.label for one in data.scales}
    labels |= {f"{one.name}_reliable": "since the first" for one in data.scales}
    return labels.get(column, {"session_id": "session", DANGER: "turns of danger"}.get(column, column))


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f'<td class="num">{"" if value != value else f"{value:.6g}"}</td>'  # noqa: PLR0124 (nan)
    return f"<td>{escape(str(value))}</td>"


def _session_cell(name: str, report: str) -> str:
    return f"<td>{_session(name, report)}</td>"


def _session(name: str, report: str) -> str:
    """Return the name of a session as HTML, with a link to its view in the report page where that is there."""
    if not report or not name:
        return escape(name)
    return f'<a href="{escape(report)}#session/{quote(name, safe="")}">{escape(name)}</a>'


def _look_at(own: pd.DataFrame, report: str) -> str:
    """Return a sentence on the sessions with turns of danger, empty where none was found."""
    marked: list[object] = own.loc[own[DANGER] > 0, "session_id"].tolist() if DANGER in own else []
    names = ", ".join(_session(str(one), report) for one in marked)
    return f"<p>Turns are marked that may be about danger in {names}: read these first.</p>" if names else ""


def _text(sentence: str) -> str:
    """Return a sentence of Markdown as text."""
    return sentence.replace("**", "").replace("\\", "")
