"""One page to open after a run.

>>> import therapy_analytics as ta
>>> page = ta.report("results/")  # doctest: +SKIP
"""

from __future__ import annotations

from therapy_analytics.core.verbs import call_by_name
from therapy_analytics.report._report import report

__all__ = ["report"]

call_by_name(__name__)
