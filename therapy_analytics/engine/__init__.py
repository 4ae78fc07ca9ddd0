"""Where the work is done: in this process, or in several."""

from therapy_analytics.engine.batches import in_batches
from therapy_analytics.engine.local import in_order

__all__ = ["in_batches", "in_order"]
