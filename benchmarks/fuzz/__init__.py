"""Damaged files over all readers: each must end in sessions or in a foreseen problem, soon and in little memory.

Three ways, of which none is a test that ``pytest`` runs:

``python -m benchmarks.fuzz 200000 --seed 1``
    Mutations that know the forms (lines, cells, JSON values, parts of archives, types of a
    Parquet column). Each file is named by seed and number, and comes back with ``--only``:
    ``python -m benchmarks.fuzz --seed 1 --only 4711 --keep folder``.

``python -m benchmarks.fuzz.models 6000 --seed 1``
    The same for models, codebooks, word lists, vectors and pipelines; a few hundred of them
    are a test (``tests/codes/test_broken_models.py``).

``python -m benchmarks.fuzz.coverage_guided --reader delimited -- -max_total_time=300``
    Mutations that libFuzzer chooses by the lines they reach; what follows ``--`` goes to
    libFuzzer. It needs ``pip install atheris`` (not a dependency of anything else here;
    wheels exist for Linux), in an environment that has this package too. What reaches new
    lines is kept below ``build/fuzz/``, and so is a file that breaks a reader (``crash-...``,
    ``timeout-...``, ``oom-...``): give its name after ``--`` to see it again.
"""
