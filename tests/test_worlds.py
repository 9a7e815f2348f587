"""The bundled worlds: provenance, what calibrated numbers were chosen for, and the identifier's cancelling letters."""

from __future__ import annotations

import itertools
from collections import defaultdict
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any

import pytest
from mpmath import MPContext

from exactworlds.engine.scaled import ScaledWorld
from exactworlds.golden.quantities import Quantities
from exactworlds.rational import matches_printed
from exactworlds.spec.bundled import find_world, world_names
from exactworlds.spec.load import parse_world
from exactworlds.spec.published import load_published
from exactworlds.spec.world import World


@pytest.fixture(scope="module", params=world_names())
def world(request: pytest.FixtureRequest) -> World:
    return find_world(request.param)[0]


def test_there_are_the_three_worlds_of_the_paper() -> None:
    assert world_names() == ("covert-transfer", "credit-risk", "peer-review")


def test_every_number_and_table_says_where_it_comes_from(world: World) -> None:
    """The loader refuses gaps; here: the kinds are the four, and published ones say where."""
    assert {entry.kind for entry in world.provenance.values()} <= {"published", "forced", "calibrated", "chosen"}
    for path, entry in world.provenance.items():
        assert entry.locus or entry.kind != "published", path


def test_calibrated_and_forced_numbers_name_published_cells_and_each_comes_out(world: World) -> None:
    cells = list(load_published().cells(world.id))
    quantities = Quantities(world)
    checked = set()
    for path, entry in world.provenance.items():
        if entry.kind not in ("calibrated", "forced"):
            assert not entry.cells, path
            continue
        for pattern in entry.cells:
            named = [cell for cell in cells if fnmatchcase(cell.id, pattern)]
            assert any(cell.printed for cell in named) or pattern == "P1.tab2:credit-risk/*", (path, pattern)
            for cell in named:
                if cell.printed and cell.id not in checked:
                    value = quantities.value(cell.quantity)
                    assert not isinstance(value, str)
                    ends = [value] if isinstance(value, Fraction) else [value.low, value.high]
                    assert all(matches_printed(end, cell.printed) for end in ends), cell.id
                    checked.add(cell.id)
    assert len(checked) >= 8


def test_no_world_has_a_state_of_probability_zero(world: World) -> None:
    assert all(number.value > 0 for attribute in world.attributes for row in attribute.rows.values() for number in row)


@pytest.mark.parametrize("name", ["peer-review", "credit-risk"])
def test_low_bayes_error_is_the_closed_form_in_the_scale(name: str) -> None:
    """With every attribute visible, x is wrong at R = 0 with probability s·f: Σ P(x) min(s f, 1 − s f)."""
    world, _ = find_world(name)
    scaled = ScaledWorld(world)
    view = scaled.view("low")
    certain = {pattern: posterior for pattern, (_, posterior) in view.table(Fraction(0)).items()}
    assert set(certain.values()) <= {0, 1}
    table = view.table(Fraction(1))
    flips = {pattern: abs(posterior - certain[pattern]) for pattern, (_, posterior) in table.items()}
    assert max(flips.values()) * 2 <= Fraction(1, 2)
    for scale in (Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(2)):
        expected = sum(mass * min(scale * flips[x], 1 - scale * flips[x]) for x, (mass, _) in table.items())
        assert view.bayes_error(scale) == expected
        assert expected == scale * view.bayes_error(Fraction(1))


REDUCED = """
format = "exactworlds/world/1"
id = "reduced"
title = "Reduced covert transfer"
question = "was the tag encoded?"
labels = { positive = "encoded", negative = "not encoded" }
[level_set]
letter = ["A", "B", "C", "D"]
[attribute.tag]
levels = "letter"
probability = "uniform"
[attribute.procedure]
levels = ["encode", "ignore"]
probability = "uniform"
[attribute.position]
levels = ["first", "second", "third"]
probability = "uniform"
[attribute.drawn_1]
levels = "letter"
probability = "uniform"
[attribute.drawn_2]
levels = "letter"
probability = "uniform"
[attribute.drawn_3]
levels = "letter"
probability = "uniform"
[table]
range_of = { A = "A-B", B = "A-B", C = "C", D = "D" }
[derived]
encoded = "procedure == 'encode'"
letter_1 = "tag if encoded and position == 'first' else drawn_1"
letter_2 = "tag if encoded and position == 'second' else drawn_2"
letter_3 = "tag if encoded and position == 'third' else drawn_3"
known = "range_of[tag]"
letter = "letter_1 if position == 'first' else (letter_2 if position == 'second' else letter_3)"
[rule]
positive = "encoded"
[setting]
whole = ["position", "letter_1", "letter_2", "letter_3", "known"]
one_letter = ["position", "letter", "known"]
[[provenance]]
of = ["*"]
kind = "chosen"
why = "four letters, three positions, ranges 2 + 1 + 1: small enough to enumerate every letter"
"""


def test_the_other_letters_of_the_identifier_cancel() -> None:
    """With every letter of a small identifier enumerated, the posterior is that of the letter at the position alone."""
    scaled = ScaledWorld(parse_world(REDUCED.encode()))
    whole, one = scaled.view("whole"), scaled.view("one_letter")
    assert whole.bayes_error() == one.bayes_error() == Fraction(3, 16)
    short = {pattern: posterior for pattern, (_, posterior) in one.table().items()}
    place = {"first": 1, "second": 2, "third": 3}
    for (position, *letters, known), (_, posterior) in whole.table().items():
        assert posterior == short[position, letters[place[position] - 1], known]


def test_the_reduced_world_agrees_with_a_count_by_hand() -> None:
    """The same world without the package: loops over tag, procedure, position and letters."""
    letters, ranges = "ABCD", {"A": "A-B", "B": "A-B", "C": "C", "D": "D"}
    seen: dict[tuple[str, ...], list[int]] = defaultdict(lambda: [0, 0])
    for tag, encode, position in itertools.product(letters, (0, 1), range(3)):
        for drawn in itertools.product(letters, repeat=3):
            shown = [tag if encode and index == position else letter for index, letter in enumerate(drawn)]
            seen[str(position), *shown, ranges[tag]][encode] += 1
    total = sum(map(sum, seen.values()))
    assert Fraction(sum(map(min, seen.values())), total) == Fraction(3, 16)


def test_pairs_of_state_and_residual_that_tie_in_peer_review_and_what_floats_make_of_them() -> None:
    """README's numbers: ties with the threshold, counted in integers; what float64 and 70-digit binary make of them."""
    world, _ = find_world("peer-review")
    weights = world.tables["weight"].rows
    factors = [name for name in world.attribute if name != "contribution"]
    assert world.residual is not None
    residual = [Fraction(literal) for literal in world.residual.literals]
    ties = floats = binary = 0
    context = MPContext()
    context.dps = 70
    for contribution in world.attribute["contribution"].levels:
        tenths = [int(Fraction(weights[contribution, name]) * 10) for name in factors]
        reals = [float(weights[contribution, name]) for name in factors]
        longs = [context.mpf(weights[contribution, name]) for name in factors]
        for levels in itertools.product(range(3), repeat=len(factors)):
            at = dict(zip(factors, levels, strict=True))
            if at["validity"] == 0:
                continue
            bonus = 5 * (at["significance"] == at["evidence"] == 2) + 10 * (at["evidence"] == at["robustness"] == 2)
            score = sum(weight * level for weight, level in zip(tenths, levels, strict=True)) + bonus
            for r in residual:
                if score + 10 * r == 115:
                    ties += 1
                    total = sum_in_order([weight * level for weight, level in zip(reals, levels, strict=True)])
                    floats += not total + bonus / 10 + float(r) >= 11.5
                    long = sum_in_order([weight * level for weight, level in zip(longs, levels, strict=True)])
                    binary += not long + context.mpf(bonus) / 10 + context.mpf(str(float(r))) >= context.mpf("11.5")
    assert (ties, floats, binary) == (1566, 62, 95)


def sum_in_order(parts: list[Any]) -> Any:
    """Left to right, without the compensation that newer Pythons give to sums of floats."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
