"""From sessions to courses and outcomes: what in the talk goes with the scores of clients, and who got better or worse.

>>> import therapy_analytics as ta
>>> found = ta.outcomes("results/", "outcomes.csv")  # doctest: +SKIP
>>> ta.write(found, "outcomes/")  # doctest: +SKIP

In the order in which one reads: `scales`, `scores` (the table is read), `join` (each score finds its session),
`course`, `levels` and `estimators` (what is compared, and by which models), `associations`, `corrected` (by people's
codes), `words`. It returns tables and draws nothing.

How to add a scale that everybody uses: add a row to ``scales.csv``, with its source and without the text of items.
"""

from __future__ import annotations

from therapy_analytics.core.verbs import call_by_name
from therapy_analytics.stats.outcomes._outcomes import BY, OutcomeOptions, Outcomes, outcomes
from therapy_analytics.stats.outcomes.course import WORSE
from therapy_analytics.stats.outcomes.join import DANGER
from therapy_analytics.stats.outcomes.scores import NAMES

__all__ = ["BY", "DANGER", "NAMES", "WORSE", "OutcomeOptions", "Outcomes", "outcomes"]

call_by_name(__name__)
