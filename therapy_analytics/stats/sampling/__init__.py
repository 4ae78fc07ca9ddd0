"""Which turns people should code: drawn with known probabilities, most often where the machine is unsure.

>>> from therapy_analytics.stats.sampling import SampleOptions, sample
>>> drawn = sample("results/", options=SampleOptions(codes=("mi",), turns=300, by="counselor"))  # doctest: +SKIP
>>> print(drawn)  # doctest: +SKIP
>>> drawn.write("sample/")  # doctest: +SKIP

`design` has the probabilities and the draw, `promise` the interval that a sample will buy.
"""

from __future__ import annotations

from therapy_analytics.stats.sampling._sample import (
    CONTEXT,
    DESIGN,
    DRAWN,
    FEWEST_CODED,
    WORDS,
    Sample,
    SampleOptions,
    renewed_promise,
    sample,
)

__all__ = [
    "CONTEXT", "DESIGN", "DRAWN", "FEWEST_CODED", "WORDS", "Sample", "SampleOptions", "renewed_promise", "sample",
]  # fmt: skip
