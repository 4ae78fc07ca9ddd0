"""Where the work is done: in this process, or in several."""

from therapy_analytics.engine.batches import in_batches
from therapy_analytics.engine.local import Lost, in_order

__all__ = ["Lost", "in_batches", "in_order"]
