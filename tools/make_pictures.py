"""Make the pictures of the README from the sample transcripts: ``python tools/make_pictures.py``."""

from __future__ import annotations

from pathlib import Path

import therapy_analytics as ta
from therapy_analytics.plots import PLOTS
from therapy_analytics.plots._save import save

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Write ``docs/timeline.png``."""
    turns = ta.analyze(ta.read(ROOT / "sample_transcripts" / "lindqvist_dana_1.vtt")).turns
    save(PLOTS["timeline"], turns, ROOT / "docs" / "timeline.png")


if __name__ == "__main__":
    main()
