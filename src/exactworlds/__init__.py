"""Worlds whose probabilities are exact, and the checks that rest on them.

The package is layered; each layer imports only from those before it: `errors`, `rational`, `spec`, `engine`, `golden`,
`audit`, `cli`. Importing the package itself loads nothing else.
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
