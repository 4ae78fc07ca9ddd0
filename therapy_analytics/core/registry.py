"""Names to things, found on first use.

A reader, measure or plot registers itself by a decorator in a file of its own; a
registry walks its package the first time anybody asks for a name. There is no list to
edit. Two things of one name are an error that names both files; the same file may
register again, so that a notebook can reload it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Generic, TypeVar

from therapy_analytics.core.errors import DuplicateNameError, UnknownNameError

T = TypeVar("T")


class Registry(Generic[T]):
    """The things of one kind that live in the modules below one package.

    Parameters
    ----------
    kind : str
        What the things are called in messages, as in ``"reader"``.
    package : str
        The package to walk; modules whose name begins with an underscore are left out.
    """

    def __init__(self, kind: str, *, package: str) -> None:
        self.kind = kind
        self.package = package
        self._things: dict[str, tuple[str, T]] = {}
        self._walked = False

    def add(self, name: str, thing: T, *, module: str) -> None:
        """Register a thing.

        Raises
        ------
        DuplicateNameError
            Another module has registered a thing of that name.
        """
        known = self._things.get(name)
        if known is not None and known[0] != module:
            raise DuplicateNameError(self.kind, name, known[0], module)
        self._things[name] = (module, thing)

    def __getitem__(self, name: str) -> T:
        self._walk()
        if name not in self._things:
            raise UnknownNameError(self.kind, name, self._things)
        return self._things[name][1]

    def __iter__(self) -> Iterator[T]:
        """Iterate over the things in the order of their names."""
        self._walk()
        return iter([thing for _, (_, thing) in sorted(self._things.items())])

    def names(self) -> list[str]:
        """Return all known names, sorted."""
        self._walk()
        return sorted(self._things)

    def _walk(self) -> None:
        if self._walked:
            return
        package = importlib.import_module(self.package)
        for module in pkgutil.walk_packages(package.__path__, prefix=f"{self.package}."):
            if not module.name.rpartition(".")[2].startswith("_"):
                importlib.import_module(module.name)
        self._walked = True
