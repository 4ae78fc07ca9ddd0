"""Learning a tagger from the user's own codes, judged on turns that it has not seen.

>>> from therapy_analytics.stats.training import train
>>> found = train("codes.csv", "transcripts/", "my_model/")  # doctest: +SKIP
>>> found.scores  # doctest: +SKIP

`recalibration` holds the statistics of one code that is re-calibrated.
"""

from therapy_analytics.stats.training._groups import near_copies
from therapy_analytics.stats.training._material import TrainOptions, material_of
from therapy_analytics.stats.training._train import Training, train
from therapy_analytics.stats.training.recalibration import Recalibration, recalibrate

__all__ = ["Recalibration", "TrainOptions", "Training", "material_of", "near_copies", "recalibrate", "train"]
