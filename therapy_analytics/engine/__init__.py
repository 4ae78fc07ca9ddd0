"""Where the work is done: in this process, or in several."""

from therapy_analytics.engine.local import in_order

__all__ = ["in_order"]
