"""Synchrony: how much the two speak alike; never a quality score."""
