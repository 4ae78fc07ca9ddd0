"""Redacted copies of transcripts: a help for the person who removes what identifies people, not a replacement.

How to add a rule: write it in the module of its kind (`_codes`, `_dates`, `_places`, `_names`), give it a name, and
check the output of ``python -m benchmarks.redact --show`` for the texts called dev; the others are for evaluation only.
"""

from __future__ import annotations

from therapy_analytics.redact._files import Redaction, RedactOptions, redact
from therapy_analytics.redact._found import KINDS
from therapy_analytics.redact._session import Noted, Redacted, redact_session
from therapy_analytics.verbs import call_by_name

__all__ = ["KINDS", "Noted", "RedactOptions", "Redacted", "Redaction", "redact", "redact_session"]

call_by_name(__name__)
