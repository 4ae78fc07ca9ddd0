"""Pages on which people code turns, and on which somebody settles what two of them differ on.

>>> from therapy_analytics.coding import coding_page
>>> coding_page("sample", "Ann")  # doctest: +SKIP
"""

from __future__ import annotations

from therapy_analytics.coding._code import coding_page
from therapy_analytics.coding._sample import SampleToCode, read_sample
from therapy_analytics.coding._settle import adjudication_page, between_coders

__all__ = ["SampleToCode", "adjudication_page", "between_coders", "coding_page", "read_sample"]
