"""The three engines against a brute-force enumeration, on random worlds and on worlds made to break them."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brute_force import BruteForce, bayes_error, prior
from exactworlds.engine import enumerate as definition
from exactworlds.engine.admit import TOLERANCE, admit
from exactworlds.engine.decimals import DecimalWorld
from exactworlds.engine.entropy import CERTIFIED_DIGITS, Interval, clipped_kl_nats, entropy_bits
from exactworlds.engine.scaled import ScaledWorld
from exactworlds.errors import InvalidArgument
from exactworlds.rational import exact_text
from exactworlds.spec.load import load_world, parse_world
from exactworlds.spec.world import World
from strategies import Draft, drafts

WORLDS = Path(__file__).resolve().parents[1] / "spec" / "worlds"
THREE = ["peer-review", "covert-transfer", "credit-risk"]
ENTROPY_DIGITS = 60


def load(text: str) -> World:
    return parse_world(text.encode())


def real(context: Any, value: Fraction) -> Any:
    return context.mpf(value.numerator) / value.denominator


def entropy_by_hand(table: dict[Any, tuple[Fraction, Fraction]], digits: int = ENTROPY_DIGITS) -> Any:
    """The conditional entropy in bits, term by term in mpmath."""
    with mpmath.workdps(digits + 20):
        total = mpmath.mpf(0)
        for mass, posterior in table.values():
            for part in (posterior, 1 - posterior):
                if part:
                    total -= real(mpmath, mass * part) * mpmath.log(real(mpmath, part), 2)
        return +total


def holds(interval: Interval, value: Any) -> bool:
    """Whether the interval holds a value that is known to ENTROPY_DIGITS digits."""
    with mpmath.workdps(ENTROPY_DIGITS + 20):
        slack = mpmath.mpf(10) ** -ENTROPY_DIGITS
        return bool(real(mpmath, interval.low) - slack <= value <= real(mpmath, interval.high) + slack)


def check_against_brute_force(text: str, scales: list[Fraction]) -> None:
    """All three engines, every setting, every scale, every figure."""
    world = load(text)
    forced = BruteForce(text)
    scaled, second = ScaledWorld(world), DecimalWorld(world)
    mp = second.context
    tolerance = real(mp, TOLERANCE)
    for scale in scales:
        expected = forced.pattern_tables(scale)
        assert definition.pattern_tables(world, scale) == expected
        for setting, table in expected.items():
            view = scaled.view(setting)
            assert view.table(scale) == table
            assert view.prior(scale) == definition.prior(table) == prior(table)
            assert view.bayes_error(scale) == definition.bayes_error(table) == bayes_error(table)
            entropy = view.entropy(scale)
            value = entropy_by_hand(table)
            assert holds(entropy, value)
            assert entropy.width < Fraction(1, 10**CERTIFIED_DIGITS)

            estimate = second.estimate(setting, exact_text(scale))
            assert abs(estimate.prior - real(mp, prior(table))) <= tolerance
            assert abs(estimate.bayes_error - real(mp, bayes_error(table))) <= tolerance
            assert abs(estimate.entropy_bits - value) <= tolerance
            patterns = second.patterns(setting)
            assert sorted(patterns) == sorted(table)
            for pattern, posterior in zip(patterns, estimate.posteriors, strict=True):
                assert abs(posterior - real(mp, table[pattern][1])) <= tolerance


@given(drafts())
def test_engines_equal_brute_force(draft: Draft) -> None:
    check_against_brute_force(draft.text, [Fraction(scale) for scale in draft.scales])


@given(drafts(residual=True, most=3), st.integers(0, 10**40))
def test_engines_equal_brute_force_at_any_scale(draft: Draft, part: int) -> None:
    check_against_brute_force(draft.text, [min(draft.largest_scale, Fraction(2)) * Fraction(part, 10**40)])


@given(drafts(residual=True, most=2))
def test_a_scale_outside_the_range_is_refused(draft: Draft) -> None:
    world = load(draft.text)
    over = draft.largest_scale * (1 + Fraction(1, 10**30))
    for scale in (Fraction(-1, 10**30), over):
        with pytest.raises(InvalidArgument, match="scale"):
            definition.pattern_tables(world, scale)
        with pytest.raises(InvalidArgument, match="scale"):
            ScaledWorld(world).view("all").prior(scale)
        with pytest.raises(InvalidArgument, match="scale"):
            DecimalWorld(world).estimate("all", str(scale))


@given(drafts(residual=False, most=2))
def test_a_world_without_residual_has_one_scale(draft: Draft) -> None:
    world = load(draft.text)
    for scale in (Fraction(0), Fraction(1, 2)):
        with pytest.raises(InvalidArgument, match="no residual"):
            definition.pattern_tables(world, scale)
        with pytest.raises(InvalidArgument, match="no residual"):
            ScaledWorld(world).view("all").prior(scale)
        with pytest.raises(InvalidArgument, match="no residual"):
            DecimalWorld(world).estimate("all", str(scale))


@given(drafts(), st.data())
def test_coarsening_a_view_never_lowers_bayes_error_or_entropy(draft: Draft, data: st.DataObject) -> None:
    """Hiding one visible attribute after the other, informative or not; entropies are compared as intervals."""
    fine = data.draw(st.permutations(draft.settings["all"]))
    chain = {f"hide{count}": tuple(fine[count:]) for count in range(len(fine) + 1)}
    world = load(Draft(**{**vars(draft), "settings": chain}).text)
    scaled = ScaledWorld(world)
    for scale in map(Fraction, draft.scales):
        views = [scaled.view(name) for name in chain]
        for finer, coarser in pairwise(views):
            assert coarser.prior(scale) == finer.prior(scale)
            assert coarser.bayes_error(scale) >= finer.bayes_error(scale)
            low, high = finer.entropy(scale), coarser.entropy(scale)
            assert high.high >= low.low
            if _joins_unequal(finer.table(scale), coarser.table(scale), 1):
                rise = entropy_by_hand(coarser.table(scale)) - entropy_by_hand(finer.table(scale))
                assert high.low > low.high or rise < 10 ** -(CERTIFIED_DIGITS - 1)
            else:
                assert high == low


def _joins_unequal(
    finer: dict[tuple[str, ...], tuple[Fraction, Fraction]],
    coarser: dict[tuple[str, ...], tuple[Fraction, Fraction]],
    hidden: int,
) -> bool:
    return any(coarser[pattern[hidden:]][1] != posterior for pattern, (_, posterior) in finer.items())


@given(drafts(), st.data())
def test_an_uninformative_attribute_changes_nothing(draft: Draft, data: st.DataObject) -> None:
    """A coin that no rule reads: with it or without it the figures are the same, and so is the entropy's interval."""
    view = draft.settings["all"]
    coin = 'attribute = { "coin" = { "values" = [3, 4], "probability" = "uniform" },'
    text = draft.text.replace("attribute = {", coin)
    settings = {"with": ("coin", *view), "without": view, "coin": ("coin",), "nothing": ()}
    index = text.index("setting = ")
    rest = text[text.index("\n", index) :]
    listed = ", ".join(f"{name} = {list(shown)}" for name, shown in settings.items()).replace("'", '"')
    world = load(f"{text[:index]}setting = {{ {listed} }}{rest}")
    scaled = ScaledWorld(world)
    scale = Fraction(data.draw(st.sampled_from(draft.scales)))
    for shown, hidden in (("with", "without"), ("coin", "nothing")):
        one, other = scaled.view(shown), scaled.view(hidden)
        assert one.prior(scale) == other.prior(scale)
        assert one.bayes_error(scale) == other.bayes_error(scale)
        assert one.entropy(scale) == other.entropy(scale)
        table = other.table(scale)
        assert {pattern[1:]: (2 * mass, p) for pattern, (mass, p) in one.table(scale).items()} == table


@given(drafts(), st.data())
def test_the_order_of_attributes_does_not_matter(draft: Draft, data: st.DataObject) -> None:
    """Any order in which parents stand before their children gives the same tables in every engine."""
    waiting = list(data.draw(st.permutations(draft.attributes)))
    placed: list[Any] = []
    while waiting:
        names = {attribute.name for attribute in placed}
        chosen = next(attribute for attribute in waiting if set(attribute.given) <= names)
        waiting.remove(chosen)
        placed.append(chosen)
    first, second = load(draft.text), load(Draft(**{**vars(draft), "attributes": tuple(placed)}).text)
    one, other = ScaledWorld(first), ScaledWorld(second)
    scale = data.draw(st.sampled_from(draft.scales))
    for setting in first.settings:
        table = one.view(setting).table(Fraction(scale))
        assert other.view(setting).table(Fraction(scale)) == table
        assert other.view(setting).entropy(Fraction(scale)) == one.view(setting).entropy(Fraction(scale))
    assert definition.pattern_tables(second, Fraction(scale)) == definition.pattern_tables(first, Fraction(scale))
    found = admit(second, (scale,), enumerated_scales=(scale,))
    assert found.disagreements == ()


@given(drafts())
def test_admission_runs_all_three_engines_and_finds_them_agreed(draft: Draft) -> None:
    world = load(draft.text)
    found = admit(world, enumerated_scales=world.scales)
    assert found.disagreements == ()
    assert found.enumerated == world.scales
    assert set(found.comparisons) == {(setting, scale) for setting in world.settings for scale in world.scales}
    assert found.largest <= TOLERANCE


@pytest.mark.parametrize("name", THREE)
def test_three_worlds_in_three_engines_at_five_scales(name: str) -> None:
    world = load_world(WORLDS / f"{name}.toml")
    scales = ("0", "0.5", "1", "1.5", "2") if world.residual else ("1",)
    assert world.scales == scales
    found = admit(world, enumerated_scales=scales)
    assert found.disagreements == ()
    assert found.enumerated == scales
    assert len(found.comparisons) == 3 * len(scales)
    assert found.largest <= TOLERANCE
    for figures in found.figures.values():
        assert figures.entropy.width < Fraction(1, 10**CERTIFIED_DIGITS)


@pytest.mark.parametrize(("name", "nonzero"), [("peer-review", Fraction(7, 25)), ("credit-risk", Fraction(6, 25))])
def test_low_bayes_error_is_linear_in_the_scale(name: str, nonzero: Fraction) -> None:
    """Where everything but the residual is visible: Σ P(x) min(s·f_x, 1 − s·f_x), f_x = P₁(g(x, R) ≠ g(x, 0)).

    f is read from the posteriors at s = 0, which are the labels without residual, and those at s = 1.

    Claim: A.residual-scale
    """
    world = load_world(WORLDS / f"{name}.toml")
    view = ScaledWorld(world).view("low")
    without, full = view.table(Fraction(0)), view.table(Fraction(1))
    assert all(label in (0, 1) for _, label in without.values())
    moved = {pattern: (mass, abs(posterior - without[pattern][1])) for pattern, (mass, posterior) in full.items()}
    assert max(moves for _, moves in moved.values()) <= nonzero
    slope = sum((mass * moves for mass, moves in moved.values()), Fraction(0))
    assert slope > 0
    for scale in (Fraction(0), Fraction(1, 3), Fraction(1), Fraction(3, 2), Fraction(2), 1 / nonzero):
        by_hand = sum((m * min(scale * f, 1 - scale * f) for m, f in moved.values()), Fraction(0))
        assert view.bayes_error(scale) == by_hand
        if scale * max(f for _, f in moved.values()) <= Fraction(1, 2):
            assert view.bayes_error(scale) == scale * slope
    assert view.bayes_error(Fraction(2)) == 2 * view.bayes_error(Fraction(1))


TIES = """
format = "exactworlds/world/1"
id = "ties"
title = "Every state ties"
question = "Is the threshold met?"
labels = { positive = "met", negative = "missed" }
attribute.a = { levels = ["p", "q", "r", "s"], probability = "uniform" }
attribute.b = { values = ["0.1", "0.7", "1.1", "2.3"], probability = "uniform" }
table.weight = { p = "0.1", q = "0.3", r = "0.7", s = "1.9" }
table.threshold = THRESHOLDS
derived.score = "weight[a] * b + weight[a] + b + 0.1 + 0.2"
rule.positive = "score OPERATOR threshold[a, KEY]"
setting.low = ["a", "b"]
provenance = [{ of = ["*"], kind = "chosen", why = "a tie in every state" }]
"""
WEIGHTS = {"p": "0.1", "q": "0.3", "r": "0.7", "s": "1.9"}
VALUES = ["0.1", "0.7", "1.1", "2.3"]


def ties(operator: str) -> str:
    """Each threshold is the exact score of its state, so that every state is a tie."""
    rows = []
    for level, weight in WEIGHTS.items():
        scores = [Fraction(weight) * Fraction(b) + Fraction(weight) + Fraction(b) + Fraction("0.3") for b in VALUES]
        rows.append(f"{level} = {{ " + ", ".join(f'v{i} = "{exact_text(s)}"' for i, s in enumerate(scores)) + " }")
    key = "(" + " if b == {} else ".join(["'v0'", "'v1'", "'v2'"]).format(*VALUES[:2]) + " if b == 1.1 else 'v3')"
    text = TIES.replace("THRESHOLDS", "{ " + ", ".join(rows) + " }").replace("OPERATOR", operator)
    return text.replace("KEY", key)


@pytest.mark.parametrize(("operator", "label"), [("<", 0), ("<=", 1), (">", 0), (">=", 1), ("==", 1), ("!=", 0)])
def test_every_tie_is_exact_in_every_engine(operator: str, label: int) -> None:
    text = ties(operator)
    check_against_brute_force(text, [Fraction(1)])
    world = load(text)
    view = ScaledWorld(world).view("low")
    assert len(view.patterns) == 16
    assert view.posteriors() == [label] * 16
    assert [posterior for _, posterior in definition.pattern_tables(world)["low"].values()] == [label] * 16
    assert DecimalWorld(world).estimate("low", "1").posteriors == [label] * 16


@pytest.mark.parametrize("digits", [15, 70])
def test_more_digits_do_not_mend_a_tie(digits: int) -> None:
    """Why the engines do not evaluate rules in binary floating point: the same ties, mislabelled."""
    context = mpmath.MPContext()
    context.dps = digits
    number = float if digits == 15 else context.mpf
    missed = 0
    for weight in WEIGHTS.values():
        for value in VALUES:
            exact = Fraction(weight) * Fraction(value) + Fraction(weight) + Fraction(value) + Fraction("0.3")
            w, b = number(weight), number(value)
            missed += w * b + w + b + number("0.1") + number("0.2") != number(exact_text(exact))
    assert missed > 0


HUGE = """
format = "exactworlds/world/1"
id = "huge"
title = "Huge"
question = "Which?"
labels = {{ positive = "yes", negative = "no" }}
attribute.a = {{ values = {values}, probability = "uniform" }}
attribute.b = {{ values = {values}, probability = ["0.25", "0.75"] }}
rule.positive = "{rule}"
setting = {{ both = ["a", "b"], one = ["a"], none = [] }}
provenance = [{{ of = ["*"], kind = "chosen", why = "beyond 63 bits" }}]
"""


@pytest.mark.parametrize(
    ("values", "rule"),
    [
        (["3037000499", "3037000500"], "a * b > 9223372036854775807"),
        (["4294967296", "1"], "a * b * 1 >= 18446744073709551616"),
        (["4611686018427387904", "1"], "a + b >= 9223372036854775808"),
        (["9223372036854775807", "1"], "a + 1 > b and -a - 2 < 0 - b"),
        (["-9223372036854775808", "1"], "-a > b or a - b < -9223372036854775808"),
        (["922337203685477580.7", "0.00000000000000000001"], "max(a, b) * 2 > min(a, b, 0.5)"),
        (["92233720368547758.07", "1"], "(a if a < b else b + 0.0000000000000001) < a"),
        (["123456789012345678901234567890", "-1"], "a * b * a == b * a * a and a * a != b * b"),
        (["0", "10000000000"], "0 - a * b * 0.0000000000 == 0 and a * a * a > 1000000000000000000000"),
    ],
)
def test_rule_arithmetic_beyond_63_bits_is_exact(values: list[str], rule: str) -> None:
    check_against_brute_force(HUGE.format(values=values, rule=rule), [Fraction(1)])


def test_int64_would_have_wrapped() -> None:
    """The reason for the bounds: NumPy's int64 wraps in silence."""
    root = np.array([3037000500], dtype=np.int64)
    assert (root * root < 0).all()
    world = load(HUGE.format(values=["3037000500", "1"], rule="a * b >= 0"))
    assert ScaledWorld(world).view("none").prior() == 1


def _chain(primes: list[int], dependent: bool) -> str:
    """Attributes whose common denominator is a product of primes, far beyond 63 bits."""
    text = HUGE[: HUGE.index("attribute.a")].replace("{{", "{").replace("}}", "}")
    for index, prime in enumerate(primes):
        first = f'["1/{prime}", "{prime - 1}/{prime}"]'
        second = f'["{prime // 2}/{prime}", "{prime - prime // 2}/{prime}"]'
        if dependent and index:
            law = f'given = "x{index - 1}", probability = {{ u = {first}, v = {second} }}'
        else:
            law = f"probability = {second}"
        text += f'attribute.x{index} = {{ levels = ["u", "v"], {law} }}\n'
    names = [f"x{index}" for index in range(len(primes))]
    count = " + ".join(f"(1 if {name} == 'u' else 0)" for name in names)
    middle = len(names) // 2
    text += f'derived.count = "{count}"\n'
    text += 'residual.noise = { probability = { -1 = "1/7", 0 = "5/7", 1 = "1/7" }, scales = ["0", "1", "7/2"] }\n'
    text += f'rule.positive = "count + noise > {middle}"\n'
    settings = {"all": names, "even": names[::2], "last": names[-1:], "none": [], "sum": ["count", names[0]]}
    listed = ", ".join(f"{name} = {shown}" for name, shown in settings.items()).replace("'", '"')
    return text + f'setting = {{ {listed} }}\nprovenance = [{{ of = ["*"], kind = "chosen", why = "a test" }}]\n'


@pytest.mark.parametrize("dependent", [False, True], ids=["independent", "a chain"])
@pytest.mark.parametrize(
    "primes", [[1_000_003, 1_000_033, 1_000_037, 1_000_039], [2**61 - 1, 3, 5], [2**89 - 1, 10**9 + 7]]
)
def test_probabilities_beyond_63_bits_are_exact(primes: list[int], dependent: bool) -> None:
    check_against_brute_force(_chain(primes, dependent), [Fraction(0), Fraction(1), Fraction(7, 2)])


def test_a_residual_that_is_always_0_changes_nothing() -> None:
    quiet = _chain([3, 5], dependent=False).replace('{ -1 = "1/7", 0 = "5/7", 1 = "1/7" }', '{ 0 = "1" }')
    check_against_brute_force(quiet, [Fraction(0), Fraction(1), Fraction(10**6)])


@pytest.mark.parametrize("posteriors", [[Fraction(k, 11) for k in range(1, 8)], [Fraction(1, k) for k in range(3, 9)]])
def test_equal_laws_have_equal_entropy_intervals(posteriors: list[Fraction]) -> None:
    """Whatever the order in which pairs of mass and posterior come: sums of intervals depend on their order."""
    groups = [(Fraction(1, 7), posterior) for posterior in posteriors]
    assert {entropy_bits(order) for order in permutations(groups)} == {entropy_bits(groups)}


def test_the_joint_law_of_the_last_scale_is_kept() -> None:
    view = ScaledWorld(load_world(WORLDS / "covert-transfer.toml")).view("low")
    first = view.joint(Fraction(1))
    assert view.joint(Fraction(1)) is first


def test_progress_is_told_every_thousand_states() -> None:
    numbers = ", ".join(f'"{k}"' for k in range(10))
    world = load(
        "\n".join(
            [
                'format = "exactworlds/world/1"',
                'id = "thousands"',
                'title = "Two thousand states"',
                'question = "Which?"',
                'labels = { positive = "yes", negative = "no" }',
                *(f'attribute.{name} = {{ values = [{numbers}], probability = "uniform" }}' for name in "abc"),
                'attribute.d = { values = [0, 1], probability = "uniform" }',
                'rule.positive = "a + b < c + d"',
                'setting = { all = ["a"] }',
                'provenance = [{ of = ["*"], kind = "chosen", why = "many states" }]',
            ]
        )
    )
    told: list[int] = []
    table = definition.pattern_tables(world, progress=told.append)
    assert told == [1000, 2000]
    assert table == definition.pattern_tables(world)
    told.clear()
    DecimalWorld(world, told.append)
    assert told == [1000, 2000]
    DecimalWorld(world)
    assert told == [1000, 2000]


@pytest.mark.parametrize(("masses", "shocks"), [(15, 9), (9, 15), (3, 3), (18, 1), (1, 18), (25, 25), (9, 9)])
def test_products_that_no_machine_integer_holds_are_exact_where_a_visible_name_reads_hidden_ones(
    masses: int, shocks: int
) -> None:
    """Masses in units of 10^-masses, likelihoods in units of 10^-shocks: each may fit where their product does not."""
    few, many = f"0.{'0' * (masses - 1)}1", f"0.{'9' * masses}"
    rare, usual = f"0.{'0' * (shocks - 1)}1", f"0.{'9' * shocks}"
    world = load(f"""
format = "exactworlds/world/1"
id = "bounds"
title = "Bounds"
question = "Will it be?"
labels = {{ positive = "yes", negative = "no" }}
[attribute.a]
levels = ["x", "y"]
probability = ["{few}", "{many}"]
[attribute.b]
levels = ["x", "y"]
probability = ["{many}", "{few}"]
[residual.shock]
probability = {{ "0" = "{usual}", "1" = "{rare}" }}
[derived]
same = "1 if a == b else 0"
[rule]
positive = "shock > 0.5 or a == 'x'"
[setting]
grouped = ["same"]
[[provenance]]
of = ["*"]
kind = "chosen"
why = "a test"
""")
    for scale in (Fraction(1), Fraction(1, 3)):
        assert ScaledWorld(world).view("grouped").table(scale) == definition.pattern_tables(world, scale)["grouped"]


@pytest.mark.parametrize("posterior", [Fraction(0), Fraction(1)])
def test_clipping_a_certainty_costs_the_logarithm_of_the_bound_at_either_end(posterior: Fraction) -> None:
    found = clipped_kl_nats([(Fraction(1, 4), posterior), (Fraction(3, 4), Fraction(1, 1000))])
    with mpmath.workdps(50):
        expected = -mpmath.log(mpmath.mpf(999) / 1000) / 4
        assert abs(mpmath.mpf(found.digits()) - expected) < mpmath.mpf(10) ** -39
