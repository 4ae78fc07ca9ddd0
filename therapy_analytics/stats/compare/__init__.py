"""Who does what more than whom, and how sure that is; also beside the groups of reference.

>>> import therapy_analytics as ta
>>> found = ta.compare("results/", by="counselor")  # doctest: +SKIP
>>> ta.write(found, "comparison/")  # doctest: +SKIP

Its modules, in the order in which a comparison passes them; others may import from them:

- `sessions`: read what is compared;
- `groups`: measures, groups and clusters, and which groups are compared with which;
- `effects`: differences of cluster means, their intervals, permutation tests and sizes, also at like length;
- `tables`: the rows of ``comparison.csv`` and ``groups.csv``;
- `courses`: the order of sessions, change over them, correlations with a number;
- `reference`: groups and single sessions beside the reference profiles;
- `powered`: prediction-powered rates, from the machine's codes and people's;
- `phrases`, `words`: numbers and findings in sentences;
- `comparison`: all of it.
"""

from __future__ import annotations

from therapy_analytics.core.verbs import call_by_name
from therapy_analytics.results.references import GROUPS, reference_profiles
from therapy_analytics.stats.compare.comparison import CompareOptions, Comparison, compare

__all__ = ["GROUPS", "CompareOptions", "Comparison", "compare", "reference_profiles"]

call_by_name(__name__)
