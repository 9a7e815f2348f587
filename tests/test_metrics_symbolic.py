"""The bare formulas on symbols: z3 reals fork at every comparison, sympy checks identities and derivatives.

These are samples that keep the formulas open to provers; the full proofs live elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy
import z3

from exactworlds.metrics import (
    accuracy,
    coherence,
    decisions,
    divergences,
    policies,
    regrets,
    scores,
    snapshots,
)
from exactworlds.metrics._ordering import Real


class Choices:
    """One run of a formula: the branches taken so far, and those still to take."""

    def __init__(self, premises: list[Any], script: list[bool]) -> None:
        self.premises, self.script = premises, script
        self.taken: list[bool] = []
        self.path: list[Any] = []
        self.todo: list[list[bool]] = []

    def decide(self, condition: Any) -> bool:
        position = len(self.taken)
        if position < len(self.script):
            answer = self.script[position]
        else:
            can = [possible([*self.premises, *self.path, c]) for c in (condition, z3.Not(condition))]
            answer = can[0]
            if all(can):
                self.todo.append([*self.taken, False])
        self.taken.append(answer)
        self.path.append(condition if answer else z3.Not(condition))
        return answer


RUN: list[Choices] = []


class Truth:
    def __init__(self, condition: Any) -> None:
        self.condition = condition

    def __bool__(self) -> bool:
        return RUN[-1].decide(self.condition)


def lift(value: Any) -> Any:
    if isinstance(value, Symbol):
        return value.term
    assert isinstance(value, int | Fraction), f"{value!r} in a bare formula"
    return z3.Q(Fraction(value).numerator, Fraction(value).denominator)


class Symbol:
    """A z3 real with field arithmetic; a comparison asks the run which way to go. No float, no hash."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, term: Any) -> None:
        self.term = term

    def __add__(self, other: Any) -> Symbol:
        return Symbol(self.term + lift(other))

    def __radd__(self, other: Any) -> Symbol:
        return Symbol(lift(other) + self.term)

    def __sub__(self, other: Any) -> Symbol:
        return Symbol(self.term - lift(other))

    def __rsub__(self, other: Any) -> Symbol:
        return Symbol(lift(other) - self.term)

    def __mul__(self, other: Any) -> Symbol:
        return Symbol(self.term * lift(other))

    def __rmul__(self, other: Any) -> Symbol:
        return Symbol(lift(other) * self.term)

    def __truediv__(self, other: Any) -> Symbol:
        return Symbol(self.term / lift(other))

    def __neg__(self) -> Symbol:
        return Symbol(-self.term)

    def __lt__(self, other: Any) -> Truth:
        return Truth(self.term < lift(other))

    def __le__(self, other: Any) -> Truth:
        return Truth(self.term <= lift(other))

    def __gt__(self, other: Any) -> Truth:
        return Truth(self.term > lift(other))

    def __ge__(self, other: Any) -> Truth:
        return Truth(self.term >= lift(other))

    def __eq__(self, other: object) -> Truth:  # type: ignore[override]
        return Truth(self.term == lift(other))


def possible(conditions: list[Any]) -> bool:
    solver = z3.Solver()
    solver.set("rlimit", 20_000_000)
    solver.add(*conditions)
    verdict = solver.check()
    assert verdict != z3.unknown
    return bool(verdict == z3.sat)


def paths(formula: Callable[[], Real], premises: list[Any]) -> list[tuple[list[Any], Real]]:
    assert possible(premises)
    todo: list[list[bool]] = [[]]
    out = []
    while todo:
        run = Choices(premises, todo.pop())
        RUN.append(run)
        try:
            value = formula()
        finally:
            RUN.pop()
        todo.extend(run.todo)
        out.append((run.path, value))
    return out


def holds(formula: Callable[[], Real], premises: list[Any], claim: Callable[[Any], Any]) -> int:
    """Prove a claim on every path; the number of paths."""
    found = paths(formula, premises)
    for path, value in found:
        goal = claim(lift(value))
        assert not possible([*premises, *path, z3.Not(goal)]), f"refuted on {path}"
    return len(found)


def fails(formula: Callable[[], Real], premises: list[Any], claim: Callable[[Any], Any]) -> bool:
    return any(possible([*premises, *path, z3.Not(claim(lift(v)))]) for path, v in paths(formula, premises))


def reals(names: str) -> tuple[list[Symbol], list[Any]]:
    terms = z3.Reals(names)
    return [Symbol(t) for t in terms], [c for t in terms for c in (t >= 0, t <= 1)]


def simplex(*vectors: list[Symbol]) -> list[Any]:
    return [z3.Sum([x.term for x in v]) == 1 for v in vectors]


def smallest(*terms: Any) -> Any:
    out = terms[0]
    for term in terms[1:]:
        out = z3.If(term < out, term, out)
    return out


HALF = z3.Q(1, 2)


def test_the_binary_action_minimises_its_own_expected_loss() -> None:
    (p, c), unit = reals("p c")
    inside = [*unit, c.term > 0, c.term < 1]

    def own() -> Real:
        return policies.single_loss_formula(p, p, c)

    assert holds(own, inside, lambda loss: loss == smallest(p.term, 1 - p.term, c.term)) >= 4
    assert fails(own, inside, lambda loss: loss == smallest(p.term, 1 - p.term))


def test_ties_go_to_the_class() -> None:
    (p, c), unit = reals("p c")
    tie = [*unit, c.term > 0, c.term < HALF, p.term == 1 - c.term]
    assert [v for _, v in paths(lambda: decisions.binary_action_formula(p, c), tie)] == [decisions.YES]
    low = [*unit, c.term > 0, c.term < HALF, p.term == c.term]
    assert [v for _, v in paths(lambda: decisions.binary_action_formula(p, c), low)] == [decisions.NO]


def test_three_class_regret_is_between_zero_and_twice_the_distance() -> None:
    (a, b, d, x, y, z, c), unit = reals("a b d x y z c")
    p, q = [a, b, d], [x, y, z]
    inside = [*unit, *simplex(p, q), c.term > 0, c.term < 1]

    def gap() -> Real:
        return 2 * divergences.total_variation_formula(p, q) - regrets.regret_formula(p, q, c)

    assert holds(gap, inside, lambda value: value >= 0) > 10
    assert holds(lambda: regrets.regret_formula(p, q, c), inside, lambda value: value >= 0) > 5
    assert fails(lambda: regrets.regret_formula(p, q, c), inside, lambda value: value <= 0)


def test_the_reject_loss_is_two_elementary_scores() -> None:
    (p, q, c), unit = reals("p q c")
    inside = [*unit, c.term > 0, c.term < HALF]

    def difference(*, low: bool) -> Real:
        first = scores.elementary_score_formula(p, q, c, inclusive=low)
        second = scores.elementary_score_formula(p, q, 1 - c, inclusive=True)
        return first + second - policies.single_loss_formula(p, q, c)

    assert holds(lambda: difference(low=False), inside, lambda value: value == 0) >= 3
    assert fails(lambda: difference(low=True), inside, lambda value: value == 0)


def test_opposite_actions_have_a_deferring_midpoint_below_a_third() -> None:
    (p, r, q, c), unit = reals("p r q c")
    ends = [p.term <= c.term, r.term >= 1 - c.term, c.term > 0]

    def found() -> Real:
        return policies.mean_minus_random_formula(p, r, q, c)

    below = [*unit, *ends, c.term < z3.Q(1, 3)]
    assert holds(found, below, lambda value: value == c.term - HALF) == 2
    assert fails(found, [*unit, *ends, c.term < HALF], lambda value: value == c.term - HALF)


def test_frechet_is_zero_exactly_for_joint_laws() -> None:
    (a, b, x), unit = reals("a b x")
    cells = z3.And(x.term <= a.term, x.term <= b.term, a.term + b.term - x.term <= 1)
    assert holds(lambda: coherence.frechet_formula(a, b, x), unit, lambda value: (value == 0) == cells) >= 4


def test_disagreement_bounds_the_error() -> None:
    (p, r, q), unit = reals("p r q")

    def slack() -> Real:
        return coherence.mean_pair_error_formula(p, r, q) - coherence.difference_formula(p, r) / 2

    between = z3.Or(z3.And(p.term <= q.term, q.term <= r.term), z3.And(r.term <= q.term, q.term <= p.term))
    assert holds(slack, unit, lambda value: z3.And(value >= 0, (value == 0) == between)) >= 4


def test_the_distance_of_laws_obeys_the_triangle_inequality() -> None:
    names = "a b c d e f g h i"
    xs, unit = reals(names)
    f, g, h = xs[:3], xs[3:6], xs[6:]
    (u, v), positive = reals("u v")
    w1 = snapshots.wasserstein1_formula
    premises = [*unit, *positive, *simplex(f, g, h), u.term == HALF, v.term == z3.Q(1, 4)]
    gaps = [Fraction(1, 2), Fraction(1, 4)]
    assert holds(lambda: w1(f, g, gaps) + w1(g, h, gaps) - w1(f, h, gaps), premises, lambda s: s >= 0) >= 8


def test_the_first_maximum_is_first_and_maximal() -> None:
    (a, b, d), unit = reals("a b d")
    for path, index in paths(lambda: accuracy.first_maximum_formula([a, b, d]), unit):
        value = [a, b, d][index].term
        wanted = [
            *(other.term < value for other in [a, b, d][:index]),
            *(o.term <= value for o in [a, b, d][index:]),
        ]
        assert not possible([*unit, *path, z3.Not(z3.And(*wanted))])


# --- sympy ----------------------------------------------------------------------------------------------------------


def same(left: Any, right: Any) -> bool:
    return bool(sympy.cancel(sympy.together(left - right)) == 0)


def test_rational_identities() -> None:
    p, r, q = sympy.symbols("p r q")
    m = policies.midpoint_formula(p, r)
    assert same(((p - q) ** 2 + (r - q) ** 2) / 2, (m - q) ** 2 + policies.averaging_gain_formula(p, r))
    two = scores.brier_score_formula((1 - p, p), (1 - q, q))
    assert same(two, 2 * scores.brier_score_binary_formula(p, q))
    assert same(scores.brier_score_binary_formula(p, q), q * (1 - p) ** 2 + (1 - q) * p**2)
    law = snapshots.binomial_formula(3, p)
    assert same(sum(law), 1)
    assert same(sum(sympy.Rational(j, 3) * mass for j, mass in enumerate(law)), p)


def test_the_divergence_has_its_minimum_at_the_target_with_pinsker_curvature() -> None:
    p, q = sympy.symbols("p q", positive=True)
    both = (1 - p, 1 - q)
    # sympy knows that p and q are positive, and is told the same of their complements
    s, t = sympy.symbols("s t", positive=True)
    kl = divergences.kl_formula((s, p), (t, q), log=sympy.log).subs({s: both[0], t: both[1]})
    excess = kl - 2 * (p - q) ** 2
    assert sympy.simplify(excess.subs(p, q)) == 0
    assert same(sympy.diff(excess, p).subs(p, q), 0)
    assert same(sympy.diff(kl, p), (p - q) / (p * (1 - p)))
    loss = scores.log_loss_formula((s, p), (t, q), log=sympy.log).subs({s: both[0], t: both[1]})
    entropy = divergences.entropy_formula((t, q), log=sympy.log).subs({t: both[1]})
    assert sympy.simplify(sympy.expand_log(loss - entropy - kl, force=True)) == 0
