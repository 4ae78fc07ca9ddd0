"""The run: transcripts are surveyed, measured in work batches by workers, written, and summed up."""

from __future__ import annotations

from therapy_analytics.core.verbs import call_by_name
from therapy_analytics.run._executor import Executor, Lost, open_executor
from therapy_analytics.run._measure import analyze, in_batches, measure_sessions
from therapy_analytics.run._run import run
from therapy_analytics.run._survey import InputFile
from therapy_analytics.run._writing import RunResult, Writing, processes_for

__all__ = [
    "Executor", "InputFile", "Lost", "RunResult", "Writing", "analyze", "in_batches", "measure_sessions",
    "open_executor", "processes_for", "run",
]  # fmt: skip

call_by_name(__name__)
