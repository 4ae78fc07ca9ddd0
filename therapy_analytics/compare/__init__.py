"""Who does what more than whom, and how sure that is; also beside the groups of reference."""

from __future__ import annotations

from therapy_analytics.compare._compare import CompareOptions, Comparison, compare
from therapy_analytics.references import GROUPS, reference_profiles
from therapy_analytics.verbs import call_by_name

__all__ = ["GROUPS", "CompareOptions", "Comparison", "compare", "reference_profiles"]

call_by_name(__name__)
