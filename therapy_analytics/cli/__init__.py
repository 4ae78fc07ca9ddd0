"""The command: parse, call, print."""

# ruff: noqa: I001 (commands stand in the help in the order of these imports, which add them)
from therapy_analytics.cli import _measure, _reading, _results, _outcomes, _coding, _coders, _people  # noqa: F401
from therapy_analytics.cli._app import app, main

__all__ = ["app", "main"]
