"""Behaviours: codebooks as data, and the tagger that predicts their codes.

How to add a codebook: put a TOML file into ``codebooks/`` (see `codebook`). How the tagger
is trained, and what its predictions are worth: ``docs/tagger.md``.
"""

from therapy_analytics.behaviours.codebook import Code, Codebook, builtin_codebooks, load_codebook
from therapy_analytics.behaviours.tagger import Codes, Tagger, load_tagger

__all__ = ["Code", "Codebook", "Codes", "Tagger", "builtin_codebooks", "load_codebook", "load_tagger"]
