"""Where the work is done: in this process, in several, or on a cluster."""

from therapy_analytics.engine.base import Crew, Lost
from therapy_analytics.engine.batches import in_batches
from therapy_analytics.engine.crews import crew
from therapy_analytics.engine.local import refuse_to_begin_again

__all__ = ["Crew", "Lost", "crew", "in_batches", "refuse_to_begin_again"]
