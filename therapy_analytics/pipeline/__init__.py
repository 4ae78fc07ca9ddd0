"""The order of things: paths, sessions, arrays, codes, measures, tables, files."""

from __future__ import annotations

from therapy_analytics.pipeline._analyze import analyze
from therapy_analytics.pipeline._measured import measure_sessions
from therapy_analytics.pipeline._run import run
from therapy_analytics.pipeline._survey import InputFile
from therapy_analytics.pipeline._writing import RunResult, Writing

__all__ = ["InputFile", "RunResult", "Writing", "analyze", "measure_sessions", "run"]
