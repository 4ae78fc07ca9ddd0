"""Who does what more than whom, and how sure that is; also beside the groups of reference."""

from __future__ import annotations

from therapy_analytics.core.verbs import call_by_name
from therapy_analytics.results.references import GROUPS, reference_profiles
from therapy_analytics.stats.compare._compare import CompareOptions, Comparison, compare

__all__ = ["GROUPS", "CompareOptions", "Comparison", "compare", "reference_profiles"]

call_by_name(__name__)
