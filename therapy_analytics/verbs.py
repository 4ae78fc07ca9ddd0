"""Packages that can be called: ``ta.compare(...)`` is ``ta.compare.compare(...)``."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class CallableModule(ModuleType):
    """A module that passes calls on to its function of the same name."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Call that function."""
        return getattr(self, self.__name__.rpartition(".")[2])(*args, **options)


def call_by_name(module: str) -> None:
    """Let a module be called as the function in it that has its name.

    Importing a module sets it as an attribute of its package, in the place of a function of that name.
    """
    sys.modules[module].__class__ = CallableModule
