"""The run: transcripts are surveyed, measured in batches by workers, written, and summed up.

Public modules: `executors` and `cluster` (who works), `survey` (the first pass), `work` (what a worker does with a
batch), `before` (the results of an earlier run), `finish` (tables of all sessions), `measure` (sessions in memory),
`dialogues` (synchrony alone), `summary` (what the command prints), `writing` (options and result), `pipeline` (`run`).
"""

from __future__ import annotations

from therapy_analytics.core.verbs import call_by_name
from therapy_analytics.run.executors import Lost, Workers, open_executor
from therapy_analytics.run.measure import analyze, in_batches, measure_sessions
from therapy_analytics.run.pipeline import run
from therapy_analytics.run.survey import InputFile
from therapy_analytics.run.writing import RunResult, Writing, processes_for

__all__ = [
    "InputFile", "Lost", "RunResult", "Workers", "Writing", "analyze", "in_batches", "measure_sessions",
    "open_executor", "processes_for", "run",
]  # fmt: skip

call_by_name(__name__)
