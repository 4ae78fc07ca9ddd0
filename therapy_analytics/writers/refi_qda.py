"""REFI-QDA projects, which NVivo, MAXQDA, ATLAS.ti and others open."""

from __future__ import annotations

from therapy_analytics.readers._coded import with_own_codes
from therapy_analytics.session import Session
from therapy_analytics.writers._base import writer
from therapy_analytics.writers._refi import refi_project


@writer("qdpx", suffix=".qdpx", holds={"times", "ends", "codes", "lines", "others"})
def write_refi_qda(session: Session) -> bytes:
    """REFI-QDA for NVivo, MAXQDA and ATLAS.ti: the words as a text, a passage a turn, codes by people."""
    return refi_project(session.id, [with_own_codes(session)])
