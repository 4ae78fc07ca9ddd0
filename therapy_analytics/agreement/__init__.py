"""Machine against human coders: kappa, AC1, alpha, calibration, rates of sessions.

>>> import therapy_analytics as ta
>>> found = ta.agreement("results/", "gold.csv")  # doctest: +SKIP
>>> found.write("agreement/")  # doctest: +SKIP
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from therapy_analytics.agreement._agreement import Agreement, agreement
from therapy_analytics.agreement._gold import GoldOptions

__all__ = ["Agreement", "GoldOptions", "agreement"]


class _Callable(ModuleType):
    """A module that can be called: ``ta.agreement`` is this folder, and whoever types it wants its verb."""

    def __call__(self, *args: Any, **options: Any) -> Agreement:
        return agreement(*args, **options)


sys.modules[__name__].__class__ = _Callable
