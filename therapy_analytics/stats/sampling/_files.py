"""The files of a coding sample, and what they hold."""

from __future__ import annotations

DRAWN, DESIGN, WORDS = "sample.csv", "design.json", "turns.json"
CONTEXT = 8
"""Turns before a drawn turn that coders can read."""
