"""The command: parse, call, print."""

from therapy_analytics.cli import _coders, _coding, _measure, _outcomes, _reading, _results  # noqa: F401
from therapy_analytics.cli._app import app, main

__all__ = ["app", "main"]
