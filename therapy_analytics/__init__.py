"""Measures of counseling sessions, of people and of language models, on your own machine.

>>> import therapy_analytics as ta
>>> sessions = ta.read("transcripts/")  # doctest: +SKIP
>>> analysis = ta.analyze(sessions)  # doctest: +SKIP
>>> ta.plots.timeline(analysis.turns.query("session_id == 'dana_1'"))  # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from therapy_analytics import errors, plots
    from therapy_analytics.agreement import GoldOptions, agreement
    from therapy_analytics.analysis import Analysis
    from therapy_analytics.behaviours import TaggerOptions
    from therapy_analytics.compare import CompareOptions, compare
    from therapy_analytics.core.pseudonyms import load_pseudonyms
    from therapy_analytics.dialogues import synchrony
    from therapy_analytics.exports import export
    from therapy_analytics.language import Lexicon, load_lexicon
    from therapy_analytics.measures import Column, OnPage, measure
    from therapy_analytics.outcomes import OutcomeOptions, outcomes
    from therapy_analytics.readers import ReadOptions, read, read_files, reader
    from therapy_analytics.report import report
    from therapy_analytics.results import load, wide
    from therapy_analytics.run import Writing, analyze, run
    from therapy_analytics.session import Session, Turn
    from therapy_analytics.settings import Settings
    from therapy_analytics.speakers import speakers
    from therapy_analytics.training import TrainOptions, train

_NAMES = {
    "agreement": ["GoldOptions"],
    "analysis": ["Analysis"],
    "behaviours": ["TaggerOptions"],
    "compare": ["CompareOptions"],
    "core.pseudonyms": ["load_pseudonyms"],
    "dialogues": ["synchrony"],
    "exports": ["export"],
    "language": ["Lexicon", "load_lexicon"],
    "measures": ["Column", "OnPage", "measure"],
    "outcomes": ["OutcomeOptions"],
    "readers": ["ReadOptions", "read", "read_files", "reader"],
    "results": ["load", "wide"],
    "run": ["Writing", "analyze"],
    "session": ["Session", "Turn"],
    "settings": ["Settings"],
    "training": ["TrainOptions", "train"],
    "": ["agreement", "compare", "errors", "outcomes", "plots", "report", "run", "speakers"],
}
"""Public names by the module that holds them; those of "" are modules. They are loaded on first use, so that
``tanalyze --help`` imports nothing heavy."""
_HOMES = {name: home for home, names in _NAMES.items() for name in names}

__all__ = [
    "Analysis", "Column", "CompareOptions", "GoldOptions", "Lexicon", "OnPage", "OutcomeOptions", "ReadOptions",
    "Session", "Settings", "TaggerOptions", "TrainOptions", "Turn", "Writing", "agreement", "analyze", "compare",
    "errors", "export", "load", "load_lexicon", "load_pseudonyms", "measure", "outcomes", "plots", "read",
    "read_files", "reader", "report", "run", "speakers", "synchrony", "train", "wide",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        from therapy_analytics.verbs import no_attribute  # noqa: PLC0415  # importing the package loads nothing

        raise AttributeError(no_attribute(__name__, name, __all__))
    home = _HOMES[name]
    module = importlib.import_module(f"{__name__}.{home or name}")
    value = getattr(module, name) if home else module
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
