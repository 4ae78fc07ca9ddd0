"""What the package does when it is called or asked: ``ta.compare(...)``, and what is said of a misspelt name."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from difflib import get_close_matches
from types import ModuleType
from typing import Any, TypeVar

Options = TypeVar("Options")


def no_attribute(module: str, name: str, known: Iterable[str]) -> str:
    """Return what to say of a name that a module does not have, with the known name that is most like it.

    >>> no_attribute("therapy_analytics", "analyse", ["analyze", "read"])
    "module 'therapy_analytics' has no attribute 'analyse'. Did you mean 'analyze'?"
    """
    close = get_close_matches(name, list(known), n=1)
    hint = f". Did you mean {close[0]!r}?" if close else ""
    return f"module {module!r} has no attribute {name!r}{hint}"


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


def options_of(kind: type[Options], given: Options | None, argument: str = "options") -> Options:
    """Return the options that were given, or the default ones.

    Raises
    ------
    BadOptionError
        They are of another kind, such as a dict.

    >>> from therapy_analytics.stats.sampling import SampleOptions
    >>> options_of(SampleOptions, None).turns
    300
    """
    if given is None:
        return kind()
    if not isinstance(given, kind):
        from therapy_analytics.core.errors import BadOptionError  # noqa: PLC0415  # importing the package loads nothing

        problem = f"it is of type {type(given).__name__}"
        raise BadOptionError(argument, problem, f"Give {kind.__name__}(...)")
    return given
