"""The files of one session, which appear in its folder all at once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from therapy_analytics.private import write
from therapy_analytics.results._done import Done, Key, write_done
from therapy_analytics.results._files import PART, write_csv


@dataclass(frozen=True, slots=True)
class SessionTables:
    """The tables of one session.

    Attributes
    ----------
    turns, synchrony : DataFrame
        As ``turns.csv`` and ``synchrony.csv``.
    profile, responses : DataFrame
        Where in the session behaviours happen, and what the therapist does after each thing that the client does.
    feelings : DataFrame
        Feelings of the client's that the therapist names.
    evidence : DataFrame or None
        For the codes, where that is asked for.
    """

    turns: pd.DataFrame
    synchrony: pd.DataFrame
    profile: pd.DataFrame
    responses: pd.DataFrame
    feelings: pd.DataFrame
    evidence: pd.DataFrame | None = None


TABLES = ("turns", "synchrony", "profile", "responses", "feelings", "evidence")
DRAWN = ("turns", "synchrony", "profile")
"""Tables that figures of a session are drawn from."""


def write_session(tables: SessionTables, folder: Path, done: Done, *, tagger: str) -> None:
    """Write what there is of one session: its tables, its figures, and what is kept of it.

    They are written into a folder beside it, which then takes its name: whatever stops the program, a session's
    folder holds all or is not there.
    """
    with _put_in_place(folder) as part:
        for name in TABLES:
            table = getattr(tables, name)
            if table is not None:
                write_csv(table, part / f"{name}.csv")
        _draw(part, done.key.figures, tagger)
        write_done(done, part)


def write_figures_again(folder: Path, done: Done, figures: Sequence[str], *, tagger: str) -> None:
    """Draw the figures of a session that is done in other formats, from its tables."""
    with _put_in_place(folder) as part:
        for name in TABLES:
            if (folder / f"{name}.csv").is_file():
                write(part / f"{name}.csv", (folder / f"{name}.csv").read_bytes())
        _draw(part, figures, tagger)
        write_done(replace(done, key=Key(done.key.tables, tuple(figures))), part)


def _draw(folder: Path, figures: Sequence[str], tagger: str) -> None:
    """Draw the figures of a session, if any are asked for, from the numbers that stand in its files."""
    if figures:
        from therapy_analytics.plots._figures import write_figures  # noqa: PLC0415 (matplotlib is slow to import)

        frames = {name: pd.read_csv(folder / f"{name}.csv") for name in DRAWN}
        frames["profile"].attrs["tagger"] = tagger
        write_figures(frames, folder, formats=figures)


@contextmanager
def _put_in_place(folder: Path) -> Iterator[Path]:
    """Give an empty folder to write into, and put it in the place of the other if all went well."""
    part = folder.with_name(f".{folder.name}{PART}")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(mode=0o700, parents=True)
    try:
        yield part
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write_run_figures(out: Path, sessions: Sequence[str], figures: Sequence[str], tagger: str) -> None:
    """Draw what is seen over all sessions of a run, from the tables in its folder."""
    from therapy_analytics.plots._figures import write_run_figures as drawn  # noqa: PLC0415

    profile = pd.concat([pd.read_csv(out / "sessions" / name / "profile.csv") for name in sessions], ignore_index=True)
    profile.attrs["tagger"] = tagger
    drawn({"profile": profile, "responses": pd.read_csv(out / "responses.csv")}, out, formats=figures)
