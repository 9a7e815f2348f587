"""How the registry of claims looks: one line a claim for people, a dictionary for machines.

What is not here: whether the names resolve and the statuses are right (`tests/test_claims.py`), and the proofs
themselves (`proofs/`), which need the repository.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from exactworlds.spec.claims import Claims

__all__ = ["claims_json", "claims_lines"]

WIDTH = 80
_MARKS = {"proved": "✓", "checked": "✓", "pinned": "·", "open": "✗"}


def claims_lines(claims: Claims) -> Iterator[str]:
    """The claims as a table: status, how many proofs, twins and tests, id, the statement cut to the line."""
    width = max(len(name) for name in claims.claim)
    yield "Each claim with the number of its proofs, of refuted twins, and of tests:"
    yield ""
    for name, claim in claims.claim.items():
        counts = f"{len(claim.proved_by)} {len(claim.twins)} {len(claim.tested_by)}"
        start = f"{_MARKS[claim.status]} {claim.status:<7} {counts} {name:<{width}} "
        yield start + _cut(claim.statement, WIDTH - len(start))
    found: Counter[str] = Counter(claim.status for claim in claims.claim.values())
    yield ""
    yield f"{len(claims.claim)} claims: " + ", ".join(f"{found[status]} {status}" for status in _MARKS if found[status])


def claims_json(claims: Claims) -> dict[str, Any]:
    """The claims with their full statements and the names behind them."""
    return {
        "format": "exactworlds/claims-table/1",
        "claims": [
            {
                "id": name,
                "status": claim.status,
                "statement": claim.statement,
                "locus": claim.locus,
                "proved_by": list(claim.proved_by),
                "twins": list(claim.twins),
                "tested_by": list(claim.tested_by),
            }
            for name, claim in claims.claim.items()
        ],
    }


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1].rstrip() + "…"
