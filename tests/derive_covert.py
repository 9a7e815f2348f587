"""Derives the covert-transfer goldens without the package: `python tests/derive_covert.py` prints the cells.

Counts equally likely outcomes (tag, procedure, drawn letter) one by one, takes logarithms in `decimal`, and finds the
fitting partitions by a different enumeration from the package's (counting parts of each size). Its output is what
`golden/worlds/covert-transfer.json` pins as `derived`; a test runs it and compares.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal, localcontext
from fractions import Fraction

PRINTED = {"low": ("0.019", "0.119"), "medium": ("0.074", "0.317"), "high": ("0.145", "0.490")}
SIZES = {"narrow_range": (4, 4, 4, 4, 4, 4, 2), "broad_range": (8, 8, 8, 2)}


def outcomes(n: int, sizes: tuple[int, ...]) -> list[tuple[int, int]]:
    """For each (range, letter): how many outcomes have it, and in how many of them the tag was encoded."""
    range_of = [index for index, size in enumerate(sizes) for _ in range(size)]
    seen: Counter[tuple[int, int]] = Counter()
    encoded: Counter[tuple[int, int]] = Counter()
    for tag in range(n):
        for drawn in range(n):
            for encode in (True, False):
                key = (range_of[tag], tag if encode else drawn)
                seen[key] += 1
                encoded[key] += encode
    return [(seen[key], encoded[key]) for key in seen]


def figures(n: int, sizes: tuple[int, ...]) -> tuple[Fraction, Decimal]:
    """Bayes error, and entropy in bits to 60 digits."""
    table = outcomes(n, sizes)
    total = sum(count for count, _ in table)
    error = Fraction(sum(min(hits, count - hits) for count, hits in table), total)
    with localcontext(prec=60):
        bits = Decimal(0)
        for count, hits in table:
            for part in (hits, count - hits):
                if part:
                    bits -= Decimal(part) * ((Decimal(part) / Decimal(count)).ln() / Decimal(2).ln())
        return error, bits / total


def partitions(n: int) -> Iterator[tuple[int, ...]]:
    """Partitions by how many parts there are of each size, smallest size first."""

    def fill(size: int, left: int) -> Iterator[tuple[int, ...]]:
        if left == 0:
            yield ()
        elif size <= left:
            for count in range(left // size + 1):
                for rest in fill(size + 1, left - count * size):
                    yield (*rest, *(size,) * count)

    return fill(1, n)


def rounds_to(value: Fraction | Decimal, printed: str) -> bool:
    places = len(printed) - 2
    unit = 10**places
    scaled = value * unit - int(printed.replace(".", ""))
    return bool(abs(scaled * 2) <= 1)


def fits(n: int, setting: str) -> list[tuple[int, ...]]:
    error_printed, entropy_printed = PRINTED[setting]
    found = []
    for sizes in [(1,) * n] if setting == "low" else partitions(n):
        if rounds_to(Fraction(sum(size * size for size in sizes), 2 * n * n), error_printed):
            error, bits = figures(n, sizes)
            if rounds_to(error, error_printed) and rounds_to(bits, entropy_printed):
                found.append(sizes)
    return sorted(found, reverse=True)


def is_refinement(fine: tuple[int, ...], coarse: tuple[int, ...]) -> bool:
    """Whether the parts of fine fall into groups that add up to the parts of coarse: every split is tried."""
    if not coarse:
        return not fine
    target = coarse[0]

    def groups(start: int, left: int, used: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if left == 0:
            yield used
        for index in range(start, len(fine)):
            if fine[index] <= left:
                yield from groups(index + 1, left - fine[index], (*used, index))

    return any(
        is_refinement(tuple(part for index, part in enumerate(fine) if index not in used), coarse[1:])
        for used in groups(0, target, ())
    )


def text(found: list[tuple[int, ...]]) -> str:
    return "; ".join("+".join(map(str, sizes)) for sizes in found) or "none"


def cells() -> Iterator[dict[str, str]]:
    def cell(quantity: str, value: str, suffix: str = "") -> dict[str, str]:
        return {"id": quantity + suffix, "quantity": quantity, "claim": "A.covert", "kind": "derived", "value": value}

    for setting, sizes in (("low", (1,) * 26), ("medium", SIZES["narrow_range"]), ("high", SIZES["broad_range"])):
        error, bits = figures(26, sizes)
        yield cell(f"covert-transfer/{setting}/1/bayes-error", str(error), "/derived")
        with localcontext(prec=60):
            yield cell(
                f"covert-transfer/{setting}/1/entropy-bits", str(bits.quantize(Decimal(1).scaleb(-40))), "/derived"
            )
    for table, sizes in SIZES.items():
        yield cell(f"covert-transfer/closed-form/{table}/bayes-error", str(figures(26, sizes)[0]))
    both = {
        n: [fine for fine in fits(n, "medium") if any(is_refinement(fine, h) for h in fits(n, "high"))]
        for n in range(24, 30)
    }
    yield cell("covert-transfer/identification/partitions/26", str(sum(1 for _ in partitions(26))))
    for setting in ("medium", "high"):
        yield cell(f"covert-transfer/identification/fit/26/{setting}", text(fits(26, setting)))
    yield cell("covert-transfer/identification/fit-and-refine/26", text(both[26]))
    yield cell(
        "covert-transfer/identification/alphabets", ", ".join(str(n) for n in both if fits(n, "low") and both[n])
    )


if __name__ == "__main__":
    print(json.dumps(list(cells()), indent=1))
