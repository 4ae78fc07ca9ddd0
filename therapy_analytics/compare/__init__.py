"""What sessions are held against: groups of reference, measured by this package itself.

``reference_profiles.csv`` is made by ``tools/build_reference.py``; docs/reference_profile.md shows it and says what the
groups are.
"""

from therapy_analytics.compare.references import GROUPS, reference_profiles

__all__ = ["GROUPS", "reference_profiles"]
