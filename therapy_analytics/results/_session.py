"""The files of one session, which appear in its folder all at once."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pandas as pd

from therapy_analytics.private import folder as folder_of
from therapy_analytics.private import write
from therapy_analytics.results._done import NAME, Done, Key, write_done
from therapy_analytics.results._files import unlike_all

DRAWN = ("turns", "synchrony", "profile")
"""Tables that figures of a session are drawn from."""


def write_session(tables: Mapping[str, str], folder: Path, done: Done, *, tagger: str) -> None:
    """Write what there is of one session: its tables, its figures, and what is kept of it.

    They are written into a folder beside it, which then takes its name: whatever stops the program, a session's
    folder holds all or is not there.

    Parameters
    ----------
    tables : mapping of str to str
        The text of each table's file.
    folder : Path
        Of the session.
    done : Done
        What is kept of it.
    tagger : str
        Who coded the turns, for the figures.
    """
    with _put_in_place(folder) as part:
        for name, text in tables.items():
            write(part / f"{name}.csv", text)
        _draw(part, done.key.figures, tagger)
        write_done(done, part)


def write_figures_again(folder: Path, done: Done, figures: Sequence[str], *, tagger: str) -> None:
    """Draw the figures of a session that is done in other formats, from its tables."""
    with _put_in_place(folder) as part:
        for table in sorted(folder.glob("*.csv")):
            write(part / table.name, table.read_bytes())
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
    part = unlike_all(folder)
    folder_of(part.parent, parents=False)  # the folder of results is not made again where it went away
    part.mkdir(mode=0o700)
    try:
        yield part
        shutil.rmtree(folder, ignore_errors=True)
        try:
            part.rename(folder)
        except OSError:
            if not (folder / NAME).is_file():  # else somebody has just written the same
                raise
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write_run_figures(
    folders: Path, out: Path, sessions: Sequence[str], *, figures: Sequence[str], tagger: str
) -> None:
    """Draw what is seen over all sessions of a run, from the tables in their folders and in that of the results."""
    from therapy_analytics.plots._figures import write_run_figures as drawn  # noqa: PLC0415

    profile = pd.concat([pd.read_csv(folders / name / "profile.csv") for name in sessions], ignore_index=True)
    profile.attrs["tagger"] = tagger
    tables = {"profile": profile, "responses": pd.read_csv(out / "responses.csv")}
    part = unlike_all(folders / "figures")
    part.mkdir(mode=0o700)
    try:
        for figure in drawn(tables, part, formats=figures):
            figure.replace(out / figure.name)
    finally:
        shutil.rmtree(part, ignore_errors=True)
