"""Statistics: agreement, comparison, outcomes, samples to code, training; they return tables.

Codes by people: `people_codes` reads them, with `people_tables` (tables that people bring), `code_labels` (what their
labels mean), `turn_matching` (which turn a row is about) and `machine_codes` (the codes that a run gave).
"""
