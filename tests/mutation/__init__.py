"""Mutation testing, on demand: breaks the code in many small ways and shows that the tests of each module notice.

    PYTHONPATH=src:tests:. python -m mutation

cosmic-ray makes the mutants (`plan`), pytest judges each of them in a process of its own (`run`), and `report` writes
what came out. `modules.toml` says which tests belong to which module, `survivors.toml` explains what survives.
"""
