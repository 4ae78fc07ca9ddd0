"""One page to open after a run.

>>> import therapy_analytics as ta
>>> page = ta.report("results/")  # doctest: +SKIP

`data` has what the page shows, as JSON, and `html` puts it together; `shown` says which measures and codes, `overview`
what it says of all sessions, `sheet` what changed since last time, `moments` which turns to look at. The rest is
private.
"""

from __future__ import annotations

from therapy_analytics.core.verbs import call_by_name
from therapy_analytics.report._report import NAME, report

__all__ = ["NAME", "report"]

call_by_name(__name__)
