"""The settings of an analysis, and their record in ``run.json``."""

from __future__ import annotations

import functools
import hashlib
import platform
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from therapy_analytics.codes import Code, Codebook, TaggerOptions, chosen_codebooks, codebooks_with, load_coder
from therapy_analytics.core.errors import UnknownNameError
from therapy_analytics.core.printable import printable
from therapy_analytics.core.pseudonyms import FIELD
from therapy_analytics.readers import ReadOptions
from therapy_analytics.readers.pseudonymous import shown_file
from therapy_analytics.text import EXTRAS, Extra, Lexicon, builtin_lexicons

CORE = "core"
"""The measures of a default run."""
TURNS_PER_BATCH = 2_000
TURNS_PER_SLOW_BATCH = 200
"""For coders that are slow, so that progress is reported often."""
_PACKAGES = ("numpy", "scipy", "pandas", "spacy", "matplotlib")


def extras_of(measures: str | Collection[str]) -> frozenset[Extra]:
    """Return the sets of measures besides the core, of ``"core"``, ``"all"`` and names of sets.

    Raises
    ------
    UnknownNameError
        There is no set of measures of that name.

    Examples
    --------
    >>> sorted(extras_of(["all", "nclid"])), sorted(extras_of("core"))
    (['all', 'nclid'], [])
    """
    names = {measures} if isinstance(measures, str) else set(measures)
    for name in sorted(names - {CORE}):
        if name not in EXTRAS:
            kind = "set of measures"
            raise UnknownNameError(kind, name, (CORE, *EXTRAS))
    return frozenset(one for one in EXTRAS if one in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What an analysis depends on besides the sessions.

    Attributes
    ----------
    lexicons : tuple of Lexicon
        Word lists of the user, besides those of the package.
    seed : int
        Random seed of all shuffles.
    quotes : bool
        Whether tables may hold words of the transcripts.
    tagger : TaggerOptions
        What codes the turns.
    extras : frozenset of str
        What is measured besides the core: ``all``, with the codes that are given on request; and by name ``nclid``
        (word mover's distances).
    repair_speakers : bool
        Whether swapped labels, and words on the wrong side of a turn boundary, are corrected before measuring.

    Raises
    ------
    UnknownNameError
        `extras` has a name that is not known.
    """

    lexicons: tuple[Lexicon, ...] = ()
    seed: int = 0
    quotes: bool = False
    tagger: TaggerOptions = field(default_factory=TaggerOptions)
    extras: frozenset[Extra] = frozenset()
    repair_speakers: bool = False

    def __post_init__(self) -> None:
        extras_of(self.extras)
        if "all" in self.extras and self.tagger.kind != "llm":
            # Measures of codes that are given on request would otherwise be asked for and be empty
            object.__setattr__(self, "tagger", replace(self.tagger, all_codes=True))

    @property
    def turns_per_batch(self) -> int:
        """How many turns a batch has; results do not depend on it."""
        return TURNS_PER_BATCH if self.tagger.kind == "fast" else TURNS_PER_SLOW_BATCH

    @property
    def all_lexicons(self) -> tuple[Lexicon, ...]:
        """Word lists of the package, then the user's own."""
        return (*builtin_lexicons(), *self.lexicons)

    @property
    def codebooks(self) -> tuple[Codebook, ...]:
        """The codebooks, each reduced to the codes that the coder gives."""
        return codebooks_with(load_coder(self.tagger).names, more=chosen_codebooks(self.tagger))

    @property
    def rated(self) -> tuple[Code, ...]:
        """Codes of the codebooks that the user named; each has a rate in the sessions table."""
        return tuple(code for book in chosen_codebooks(self.tagger) for code in book.codes)


def as_recipe(settings: Settings, options: ReadOptions, inputs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the record of a run for ``run.json``, except its tagger: versions, options, lexicons and codebooks.

    Parameters
    ----------
    settings : Settings
        What was measured.
    options : ReadOptions
        How files were read.
    inputs : sequence of mappings
        The transcripts: name, hash, reader, number of sessions.
    """
    key = options.pseudonyms
    return {
        "therapy_analytics": metadata.version("therapy-analytics"),
        "python": platform.python_version(),
        "packages": {name: metadata.version(name) for name in _PACKAGES},
        "options": {
            "columns": dict(options.columns),
            "therapist": key.name_for("counselor", options.therapist)
            if key and options.therapist
            else options.therapist,
            "client": key.name_for("client", options.client) if key and options.client else options.client,
            "metadata": shown_file(printable(str(options.metadata)), key) if options.metadata else None,
            "pattern": " ".join(re.findall(r"\{\w+\}", options.pattern))
            if key and options.pattern
            else options.pattern,
            "keep": list(options.keep),
            "split_by": options.split_by,
            FIELD: key.fingerprint if key else None,
            "quotes": settings.quotes,
            "seed": settings.seed,
            "measures": sorted({CORE, *settings.extras}),
            "repair_speakers": settings.repair_speakers,
        },
        "inputs": list(inputs),
        "lexicons": [{"name": one.name, "sha256": one.sha256} for one in settings.all_lexicons],
        "codebooks": [{"name": one.id, "file": one.file, "sha256": one.sha256} for one in settings.codebooks],
    }


@functools.cache
def program() -> str:
    """Return a hash of the program: its sources, and the sizes of its data files, whose hashes are in the recipe."""
    found, here = hashlib.sha256(), Path(__file__).parents[1]
    for path in sorted(here.rglob("*")):
        if "lexicons" in path.parts:
            continue  # in a checkout they are elsewhere, and the recipe has their hashes
        if path.suffix in {".py", ".toml", ".csv"}:
            found.update(path.read_bytes())
        elif path.suffix in {".npz", ".onnx", ".json", ".txt"}:
            found.update(f"{path.relative_to(here).as_posix()} {path.stat().st_size}".encode())
    return found.hexdigest()
