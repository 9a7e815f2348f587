"""Worlds whose probabilities are exact, and the checks that rest on them.

The package is layered; each layer imports only from those before it: `errors`, `rational`, `spec`, `engine`, `memo`,
`files`, `golden`, `audit`, `cli`. `metrics` stands on `errors` and `rational` alone, so that others can use it by
itself. Importing the package itself loads nothing else.
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
