"""Write the frozen numbers anew: ``python -m tests.golden`` (the corpora, too, where they are beside the checkout)."""

from __future__ import annotations

from tests.golden import (
    HERE,
    accurate_codes,
    agreement_values,
    comparison_values,
    corpus_fingerprints,
    sample_analysis,
    sample_values,
    turn_fingerprints,
    write,
)

root = HERE.parents[1]
analysis = sample_analysis(root / "sample_transcripts")
write(sample_values(analysis), HERE / "samples.csv", index=True)
write(turn_fingerprints(analysis), HERE / "turns.csv")
write(comparison_values(analysis), HERE / "comparison.csv")
write(agreement_values(analysis, HERE.parent / "gold"), HERE / "agreement.csv")
write(accurate_codes(root / "sample_transcripts"), HERE / "accurate.csv")
data = root.parent / "shared" / "data"
if data.is_dir():
    write(corpus_fingerprints(data), HERE / "corpora.csv")
