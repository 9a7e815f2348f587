"""A memo says of the label what the visible attributes say (B.preservation).

Let T = ρ(x, u), u independent of the state z given x, and x = π(T). For a memo t with π(t) = x

    P(y, T = t) = P(y, x)·k,   P(T = t) = P(x)·k,   k = P(ρ(x, u) = t | x),

because ρ sees nothing of z but x; so k cancels in P(y | T = t). That is the whole argument, for any finite space. Here
it is run for every rendering of small spaces: visible x, hidden h, label y, draw u; the joint law and the law of u
given x are symbols, and posteriors are the package's weighted means of the label. That a template has the two
properties is certified for each world by `memo.certify`, where tests compute P(y | memo) of whole small worlds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
import sympy

from exactworlds.metrics.means import weighted_mean_formula
from proofs.kit.reals import prove, refute

Point = tuple[int, int, int]
Rendering = dict[tuple[int, int], tuple[int, int]]


def renderings(visible: int, draws: int, styles: int) -> Iterator[Rendering]:
    """Every map from x and u to a memo (x, style): those from which x can be read."""
    places = list(product(range(visible), range(draws)))
    for chosen in product(range(styles), repeat=len(places)):
        yield {place: (place[0], style) for place, style in zip(places, chosen, strict=True)}


def posterior(masses: list[tuple[int, Any]]) -> Any:
    """P(y = 1) among cases with these labels and masses."""
    return weighted_mean_formula([y for y, _ in masses], [mass for _, mass in masses])


def given_memo(joint: dict[Point, Any], draw: Callable[[int, Point], Any], draws: int, write: Rendering) -> Any:
    """From each memo to P(y = 1 | memo), with the pattern that it is read back to."""
    cases: dict[tuple[int, int], list[tuple[int, Any]]] = {}
    for (x, h, y), mass in joint.items():
        for u in range(draws):
            cases.setdefault(write[x, u], []).append((y, mass * draw(u, (x, h, y))))
    return {memo: posterior(found) for memo, found in cases.items()}


def given_view(joint: dict[Point, Any], x: int) -> Any:
    return posterior([(y, mass) for (seen, _, y), mass in joint.items() if seen == x])


@pytest.mark.parametrize(
    ("visible", "hidden", "draws", "styles"), [(2, 2, 2, 2), (2, 3, 2, 2), (3, 2, 2, 2), (2, 2, 3, 2)]
)
def test_every_readable_rendering_preserves_the_posterior(visible: int, hidden: int, draws: int, styles: int) -> None:
    """P(y | memo) = P(y | x) as rational functions of the joint law and of the law of the draws given x."""
    points = list(product(range(visible), range(hidden), range(2)))
    joint = {point: sympy.Symbol("j{}{}{}".format(*point), positive=True) for point in points}
    law = {(u, x): sympy.Symbol(f"k{u}{x}", positive=True) for u in range(draws) for x in range(visible)}
    count = 0
    for write in renderings(visible, draws, styles):
        found = given_memo(joint, lambda u, point: law[u, point[0]], draws, write)
        for memo, value in found.items():
            left, right = sympy.fraction(value), sympy.fraction(given_view(joint, memo[0]))
            assert sympy.expand(left[0] * right[1] - right[0] * left[1]) == 0
        count += 1
    assert count == styles ** (visible * draws)


def test_the_one_line_of_the_argument() -> None:
    """Two labels, each mass times the same k > 0: the weighted mean of the label does not change."""
    prove(
        lambda a, b, k: posterior([(1, a * k), (0, b * k)]) == posterior([(1, a), (0, b)]),
        "a b k",
        lambda a, b, k: [a > 0, b > 0, k > 0],
    )


def test_twin_the_factor_must_not_depend_on_the_label() -> None:
    refute(
        lambda a, b, k, m: posterior([(1, a * k), (0, b * m)]) == posterior([(1, a), (0, b)]),
        "a b k m",
        lambda a, b, k, m: [a > 0, b > 0, k > 0, m > 0],
    )


EVEN = {point: Fraction(1, 8) for point in product(range(2), repeat=3)}
HIDDEN_MATTERS = {(x, h, y): Fraction(3 if h == y else 1, 16) for x, h, y in product(range(2), repeat=3)}
VISIBLE_MATTERS = {(x, h, y): Fraction(3 if x == y else 1, 16) for x, h, y in product(range(2), repeat=3)}
PLAIN: Rendering = {(x, u): (x, u) for x, u in product(range(2), repeat=2)}


@pytest.mark.parametrize(("what", "joint"), [(2, EVEN), (1, HIDDEN_MATTERS)], ids=["the label", "what is hidden"])
def test_twin_a_draw_that_leaks(what: int, joint: dict[Point, Fraction]) -> None:
    """If the draw depends on the label, or on a hidden attribute that matters, a memo says more than x."""
    found = given_memo(joint, lambda u, point: Fraction(3 if u == point[what] else 1, 4), 2, PLAIN)
    assert any(value != given_view(joint, memo[0]) for memo, value in found.items())


def test_twin_a_memo_that_cannot_be_read_back() -> None:
    """One memo for both patterns says less than x."""
    blind: Rendering = dict.fromkeys(PLAIN, (0, 0))
    found = given_memo(VISIBLE_MATTERS, lambda u, point: Fraction(1, 2), 2, blind)
    assert found[0, 0] != given_view(VISIBLE_MATTERS, 0)
