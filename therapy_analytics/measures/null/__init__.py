"""Null distributions for synchrony: shuffles within a session, surrogate pairs of speakers, and values beside them."""
