"""Measures of counseling sessions, of people and of language models, on your own machine.

>>> import therapy_analytics as ta
>>> sessions = ta.read("transcripts/")  # doctest: +SKIP
>>> analysis = ta.analyze(sessions)  # doctest: +SKIP
>>> ta.plots.session(analysis.where("session_id == 'dana_1'"))  # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from therapy_analytics import plots
    from therapy_analytics.codes import TaggerOptions
    from therapy_analytics.core import errors
    from therapy_analytics.core.pseudonyms import load_pseudonyms
    from therapy_analytics.core.session import Session, Turn
    from therapy_analytics.measures import Column, OnPage, measure
    from therapy_analytics.measures.settings import Settings
    from therapy_analytics.readers import ReadOptions, read, read_files, reader
    from therapy_analytics.report import report
    from therapy_analytics.results import load, wide
    from therapy_analytics.results.analysis import Analysis
    from therapy_analytics.run import Writing, analyze, run
    from therapy_analytics.run.dialogues import synchrony
    from therapy_analytics.run.folders import write
    from therapy_analytics.speakers import speakers
    from therapy_analytics.stats.agreement import GoldOptions, agreement
    from therapy_analytics.stats.compare import CompareOptions, compare
    from therapy_analytics.stats.exports import export
    from therapy_analytics.stats.outcomes import OutcomeOptions, outcomes
    from therapy_analytics.stats.training import TrainOptions, train
    from therapy_analytics.text import Lexicon, load_lexicon

_NAMES = {
    "stats.agreement": ["GoldOptions"],
    "results.analysis": ["Analysis"],
    "codes": ["TaggerOptions"],
    "stats.compare": ["CompareOptions"],
    "core.pseudonyms": ["load_pseudonyms"],
    "run.dialogues": ["synchrony"],
    "stats.exports": ["export"],
    "run.folders": ["write"],
    "text": ["Lexicon", "load_lexicon"],
    "measures": ["Column", "OnPage", "measure"],
    "stats.outcomes": ["OutcomeOptions"],
    "readers": ["ReadOptions", "read", "read_files", "reader"],
    "results": ["load", "wide"],
    "run": ["Writing", "analyze"],
    "core.session": ["Session", "Turn"],
    "measures.settings": ["Settings"],
    "stats.training": ["TrainOptions", "train"],
}
_MODULES = {
    "errors": "core.errors",
    "plots": "plots",
    "report": "report",
    "run": "run",
    "speakers": "speakers",
    "agreement": "stats.agreement",
    "compare": "stats.compare",
    "outcomes": "stats.outcomes",
}
"""Public names by the module that holds them, and modules. They are loaded on first use, so that ``tanalyze --help``
imports nothing heavy."""
_HOMES = {name: home for home, names in _NAMES.items() for name in names} | _MODULES

__all__ = [
    "Analysis", "Column", "CompareOptions", "GoldOptions", "Lexicon", "OnPage", "OutcomeOptions", "ReadOptions",
    "Session", "Settings", "TaggerOptions", "TrainOptions", "Turn", "Writing", "agreement", "analyze", "compare",
    "errors", "export", "load", "load_lexicon", "load_pseudonyms", "measure", "outcomes", "plots", "read",
    "read_files", "reader", "report", "run", "speakers", "synchrony", "train", "wide", "write",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        from therapy_analytics.core.verbs import no_attribute  # noqa: PLC0415  # importing the package loads nothing

        raise AttributeError(no_attribute(__name__, name, __all__))
    home = _HOMES[name]
    module = importlib.import_module(f"{__name__}.{home}")
    value = module if name in _MODULES else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
