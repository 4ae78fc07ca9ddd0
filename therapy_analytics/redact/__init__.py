"""Redacted copies of transcripts: an assist for the person who takes out what identifies people, never in their place.

How to add a rule: write it where its kind stands (`_codes`, `_dates`, `_places`, `_names`), give it a name, and look at
what ``python -m benchmarks.redact --show`` says of the texts called dev; the other texts are for the figures alone.
"""

from __future__ import annotations

from therapy_analytics.redact._files import Redaction, RedactOptions, redact
from therapy_analytics.redact._found import KINDS
from therapy_analytics.redact._session import Noted, Redacted, redact_session
from therapy_analytics.verbs import call_by_name

__all__ = ["KINDS", "Noted", "RedactOptions", "Redacted", "Redaction", "redact", "redact_session"]

call_by_name(__name__)
