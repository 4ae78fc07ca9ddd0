"""The colours of all plots: Okabe and Ito's, which people who do not see red or green can tell apart.

What stands side by side also differs as grey, or in shape, filling or place: figures are printed in grey, too.
"""

from __future__ import annotations

BLUE, ORANGE, SKY, GREEN, VERMILION, GREY = "#0072B2", "#E69F00", "#56B4E9", "#009E73", "#D55E00", "#777777"
ROLES = {"therapist": BLUE, "client": ORANGE, "other": GREY}
"""Who speaks; blue and orange also differ as greys."""
SIGNS = {"therapist": "o", "client": "s", "other": "D"}
POSITIVE, NEGATIVE = GREEN, VERMILION
"""What points up, and what points down."""
NULLS = {"shuffles": BLUE, "surrogates": ORANGE}
DATA, BAND, DANGER = "#0B3C5D", SKY, VERMILION
