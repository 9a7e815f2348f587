"""The covert-transfer model in closed form, and what its printed values force.

A tag is one of n letters; when it is known up to a range of m of them, a match of the identifier's letter with the
range means "encoded" with probability n/(n+m), and no match means "not encoded":

    Bayes error = Σ_ranges (m/n)·m/(2n),     P(match | range) = (1 + m/n)/2          (claim A.covert)

The printed Bayes errors and entropies single out the alphabet and the range sizes among all partitions. What is not
here: the world itself, which runs through the general engines and is compared with these numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache

from exactworlds.engine.entropy import Interval, entropy_bits
from exactworlds.metrics._ordering import Real, total
from exactworlds.rational import matches_printed
from exactworlds.spec.published import load_published

__all__ = [
    "ALPHABETS",
    "covert_bayes_error",
    "covert_entropy_bits",
    "covert_error_formula",
    "covert_match_formula",
    "fitting_partitions",
    "identification",
    "partitions",
    "refines",
]

ALPHABETS = range(24, 30)
"""The sizes of alphabet that are tried; outside them low's Bayes error 1/(2n) is far from what is printed."""

Partition = tuple[int, ...]


def covert_error_formula(letters: Real, sizes: Iterable[Real]) -> Real:
    """Σ (m/n)·m/(2n).

    Proof: proofs/test_covert_transfer.py::test_the_closed_forms_for_any_ranges
    Proof: proofs/test_covert_transfer.py::test_joining_ranges_raises_the_error
    """
    return total(size / letters * (size / (2 * letters)) for size in sizes)


def covert_match_formula(letters: Real, size: Real) -> tuple[Real, Real]:
    """P(tag in the range, match) = (m/n)(1 + m/n)/2, and P(encoded | match) = n/(n + m).

    Proof: proofs/test_covert_transfer.py::test_the_closed_forms_for_any_ranges
    Proof: proofs/test_covert_transfer.py::test_the_entropy_of_a_range_in_closed_form
    """
    return size / letters * (1 + size / letters) / 2, letters / (letters + size)


def covert_bayes_error(letters: int, sizes: Partition) -> Fraction:
    """The Bayes error when the tag is known up to ranges of these sizes.

    Claim: A.covert

    Proof: proofs/test_covert_transfer.py::test_counting_every_case

    >>> covert_bayes_error(26, (8, 8, 8, 2))
    Fraction(49, 338)
    """
    return Fraction(covert_error_formula(Fraction(letters), map(Fraction, sizes)))


def covert_entropy_bits(letters: int, sizes: Partition) -> Interval:
    """The conditional label entropy when the tag is known up to ranges of these sizes.

    Claim: A.covert
    """
    return entropy_bits(covert_match_formula(Fraction(letters), Fraction(size)) for size in sizes)


def partitions(total: int, largest: int | None = None) -> Iterator[Partition]:
    """Every partition of a number into parts, each in falling order.

    >>> list(partitions(4))
    [(4,), (3, 1), (2, 2), (2, 1, 1), (1, 1, 1, 1)]
    """
    if total == 0:
        yield ()
        return
    for part in range(min(total, largest or total), 0, -1):
        for rest in partitions(total - part, part):
            yield (part, *rest)


def refines(fine: Partition, coarse: Partition) -> bool:
    """Whether the parts of `fine` can be joined to the parts of `coarse`.

    >>> refines((4, 4, 2), (8, 2)), refines((5, 5), (8, 2))
    (True, False)
    """
    if not fine:
        return not coarse
    first, rest = fine[0], fine[1:]
    tried = set()
    for index, part in enumerate(coarse):
        if part >= first and part not in tried:
            tried.add(part)
            left = coarse[:index] + ((part - first,) if part > first else ()) + coarse[index + 1 :]
            if refines(rest, left):
                return True
    return False


def fitting_partitions(letters: int, setting: str) -> list[Partition]:
    """The partitions of an alphabet that give the Bayes error and the entropy that a setting prints.

    Low shows the tag itself, so only the partition into single letters is a candidate there.
    """
    return list(_fitting(letters, setting))


@cache
def _fitting(letters: int, setting: str) -> tuple[Partition, ...]:
    cells = {cell.quantity: cell.printed for cell in load_published().cells("covert-transfer") if cell.printed}
    printed_error = cells[f"covert-transfer/{setting}/1/bayes-error"]
    printed_entropy = cells[f"covert-transfer/{setting}/1/entropy-bits"]
    candidates = [(1,) * letters] if setting == "low" else partitions(letters)
    return tuple(
        sizes
        for sizes in candidates
        if matches_printed(covert_bayes_error(letters, sizes), printed_error)
        and all(
            matches_printed(end, printed_entropy)
            for entropy in [covert_entropy_bits(letters, sizes)]
            for end in (entropy.low, entropy.high)
        )
    )


def identification(name: str) -> Fraction | str | None:
    """What the printed values force, under the name of a quantity; None if there is no such name."""
    match name.split("/"):
        case ["partitions", letters] if letters.isdecimal() and int(letters) in ALPHABETS:
            return Fraction(sum(1 for _ in partitions(int(letters))))
        case ["fit", letters, ("low" | "medium" | "high") as setting] if letters.isdecimal():
            return _text(_fitting(int(letters), setting)) if int(letters) in ALPHABETS else None
        case ["fit-and-refine", letters] if letters.isdecimal() and int(letters) in ALPHABETS:
            return _text(_medium_that_refines_high(int(letters)))
        case ["alphabets"]:
            return ", ".join(str(n) for n in ALPHABETS if _fitting(n, "low") and _medium_that_refines_high(n))
        case _:
            return None


def _medium_that_refines_high(letters: int) -> tuple[Partition, ...]:
    coarse = _fitting(letters, "high")
    return tuple(fine for fine in _fitting(letters, "medium") if any(refines(fine, high) for high in coarse))


def _text(found: tuple[Partition, ...]) -> str:
    return "; ".join("+".join(map(str, sizes)) for sizes in found) or "none"
