"""Who does what more than whom, and how sure that is; also beside the groups of reference."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from therapy_analytics.compare._compare import CompareOptions, Comparison, compare
from therapy_analytics.references import GROUPS, reference_profiles

__all__ = ["GROUPS", "CompareOptions", "Comparison", "compare", "reference_profiles"]


class _Callable(ModuleType):
    """A module that can be called: ``ta.compare`` is this folder, and whoever types it wants its verb."""

    def __call__(self, *args: Any, **options: Any) -> Comparison:
        return compare(*args, **options)


sys.modules[__name__].__class__ = _Callable
