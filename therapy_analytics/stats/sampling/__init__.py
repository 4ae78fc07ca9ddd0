"""Which turns people should code: drawn with known probabilities, most often where the machine is unsure.

>>> from therapy_analytics.stats.sampling import SampleOptions, sample
>>> drawn = sample("results/", options=SampleOptions(codes=("mi",), turns=300, by="counselor"))  # doctest: +SKIP
>>> print(drawn)  # doctest: +SKIP
>>> drawn.write("sample/")  # doctest: +SKIP
"""

from __future__ import annotations

from therapy_analytics.stats.sampling._renewed import renewed_promise
from therapy_analytics.stats.sampling._sample import Sample, SampleOptions, sample

__all__ = ["Sample", "SampleOptions", "renewed_promise", "sample"]
