"""How a run differs from the one before into the same folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_SAID = {
    "options": "options", "tagger": "tagger", "lexicons": "word lists", "codebooks": "codebooks",
    "therapy_analytics": "version of the program", "packages": "versions of packages",
}  # fmt: skip


def differences(before: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
    """Say in a sentence what of an earlier run into this folder was otherwise; nothing where all was as now."""
    now = json.loads(json.dumps(asked, default=str))
    differ = [word for name, word in _SAID.items() if name in before and _otherwise(before[name], now[name])]
    if not differ:
        return ""
    return f"Not as in the run before into this folder: {', '.join(differ)}. All sessions are measured anew."


def _otherwise(before: Any, now: Any) -> bool:
    if isinstance(before, dict) and isinstance(now, dict):
        return any(before.get(name) != value for name, value in now.items())
    return bool(before != now)
