"""Behaviours: codebooks as data, taggers that predict their codes, and outside coders.

How to add a codebook: put a TOML file into ``codebooks/`` (see `codebook`). How the tagger is trained, and how accurate
it is: ``docs/tagger.md``.

========================================= =============================================================================
`codebook`, `lanes`                       codes as data; on which lane of a timeline a code stands
`choice`                                  which coder codes the turns, and what is said of it
`tagger`, `accurate`, `own`               the fast tagger and what makes decisions agree; the accurate one; the user's
`features`, `encoder`, `sequence`         what the taggers read of turns
`weights`, `learnt`                       files of trained models; which turns they learnt from
`danger`, `disclosure`, `text_model`      present danger; self-disclosure; models that read one text at a time
`llm`, `llm_client`                       the outside coder; its server and its cache
========================================= =============================================================================
"""

from therapy_analytics.codes.accurate import AccurateTagger, load_accurate
from therapy_analytics.codes.choice import (
    Coder,
    Meaning,
    TaggerOptions,
    check_coder,
    chosen_codebooks,
    learnt_by,
    load_coder,
    meaning,
    recipe,
    with_codebooks_read,
    with_codes,
)
from therapy_analytics.codes.codebook import (
    Code,
    Codebook,
    CrosswalkEntry,
    builtin_codebooks,
    codebook_named,
    codebooks_with,
    load_codebook,
)
from therapy_analytics.codes.tagger import Codes, Tagger, load_tagger

__all__ = [
    "AccurateTagger",
    "Code",
    "Codebook",
    "Coder",
    "Codes",
    "CrosswalkEntry",
    "Meaning",
    "Tagger",
    "TaggerOptions",
    "builtin_codebooks",
    "check_coder",
    "chosen_codebooks",
    "codebook_named",
    "codebooks_with",
    "learnt_by",
    "load_accurate",
    "load_codebook",
    "load_coder",
    "load_tagger",
    "meaning",
    "recipe",
    "with_codebooks_read",
    "with_codes",
]
