"""Machine against human coders: kappa, AC1, alpha, calibration, rates of sessions.

>>> import therapy_analytics as ta
>>> found = ta.agreement("results/", "gold.csv")  # doctest: +SKIP
>>> found.write("agreement/")  # doctest: +SKIP
"""

from __future__ import annotations

from therapy_analytics.core.verbs import call_by_name
from therapy_analytics.stats.agreement._agreement import Agreement, agreement
from therapy_analytics.stats.agreement._gold import NAMES, GoldOptions

__all__ = ["NAMES", "Agreement", "GoldOptions", "agreement"]

call_by_name(__name__)
