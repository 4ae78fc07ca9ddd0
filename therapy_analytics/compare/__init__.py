"""Who does what more than whom, and how sure that is; and the groups of reference, measured by this package itself.

``reference_profiles.csv`` is made by ``tools/build_reference.py``; docs/reference_profile.md shows it and says what the
groups are.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from therapy_analytics.compare._compare import CompareOptions, Comparison, compare
from therapy_analytics.compare.references import GROUPS, reference_profiles

__all__ = ["GROUPS", "CompareOptions", "Comparison", "compare", "reference_profiles"]


class _Callable(ModuleType):
    """A module that can be called: ``ta.compare`` is this folder, and whoever types it wants its verb."""

    def __call__(self, *args: Any, **options: Any) -> Comparison:
        return compare(*args, **options)


sys.modules[__name__].__class__ = _Callable
