"""What is left of a measure's values where nothing can be measured."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from therapy_analytics.measures.base import Value


def without_totals(values: Mapping[str, Value]) -> dict[str, Value]:
    """Return the values but what rates are out of, which must be nothing: 0, where the rates themselves are nan."""
    totals = {name for name in values if name.startswith("out_of_")}
    assert [name for name in totals if not np.all(np.asarray(values[name]) == 0)] == []
    return {name: value for name, value in values.items() if name not in totals}
