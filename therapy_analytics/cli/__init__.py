"""The command: parse, call, print."""

from therapy_analytics.cli import _coding, _measure, _outcomes, _reading, _results  # noqa: F401 (they add their commands)
from therapy_analytics.cli._app import app, main

__all__ = ["app", "main"]
