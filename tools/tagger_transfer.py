"""How well codes hold in a corpus that no model has seen.

What a model says there is taken as it is: no line and no limit comes from the corpus, and the fast tagger,
which has seen it, says nothing. A turn has a code where its probability is .5 or more.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score
from tagger_turns import Turns

HUMAN = {"annomi": "annomi", "hlqc": "misc"}
"""What is left out, and whose codes it is judged by: AnnoMI's own, and those of MISC's units from such sessions."""
FLAGS = ("question", "reflection", "input")
CLOSE = 0.02
"""How far the mean probability may lie from the rate."""
Floats = NDArray[np.float64]


def left_out(turns: Turns, scores: dict[str, Floats]) -> pd.DataFrame:
    """Return kappa, rate and mean probability of questions, reflections and input, by corpus left out.

    Parameters
    ----------
    turns : Turns
    scores : dict of str to float array (n_turns, n_codes)
        By the corpus that the model has not seen; nan where it judges nothing.
    """
    rows = []
    for name, found in scores.items():
        of = turns.left_out(name) & turns.table["corpus"].eq(HUMAN[name]).to_numpy()
        for flag in FLAGS:
            at = turns.names.index(f"mi_{flag}")
            mine = of & (turns.weights[:, at] > 0) & ~np.isnan(found[:, at])
            truth, p = turns.labels[mine, at] >= 0.5, 1 / (1 + np.exp(-found[mine, at]))
            kappa = float(cohen_kappa_score(truth, p >= 0.5))
            about = {"corpus": name, "code": flag, "turns": int(mine.sum()), "kappa": kappa}
            rows.append(about | {"rate": truth.mean(), "mean p": p.mean(), "off": p.mean() - truth.mean()})
    return pd.DataFrame(rows)


def kappas(turns: Turns, scores: dict[str, Floats]) -> dict[str, float]:
    """Return the kappa of reflections with each corpus left out, named as in `tagger_judged.MUST`."""
    found = left_out(turns, scores).query("code == 'reflection'").set_index("corpus")["kappa"]
    return {f"{name} left out, reflection exists, kappa": float(kappa) for name, kappa in found.items()}
