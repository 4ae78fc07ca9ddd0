"""Machine against human coders: kappa, AC1, alpha, calibration, rates of sessions; and two people with each other.

>>> import therapy_analytics as ta
>>> found = ta.agreement("results/", "gold.csv")  # doctest: +SKIP
>>> ta.write(found, "agreement/")  # doctest: +SKIP

`coefficients` has the formulas, with their intervals over clusters.
"""

from __future__ import annotations

from therapy_analytics.core.verbs import call_by_name
from therapy_analytics.stats.agreement._agreement import Agreement, agreement
from therapy_analytics.stats.agreement._coders import CoderAgreement, PeopleCodes, people_agreement
from therapy_analytics.stats.people_codes import GoldOptions
from therapy_analytics.stats.people_tables import NAMES

__all__ = ["NAMES", "Agreement", "CoderAgreement", "GoldOptions", "PeopleCodes", "agreement", "people_agreement"]

call_by_name(__name__)
