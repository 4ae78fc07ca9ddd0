"""Statistics: agreement, comparison, outcomes, samples to code, training; they return tables."""
