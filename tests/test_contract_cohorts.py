"""Cohorts: exact and reproducible draws, slots that add up, quotas, and no root shared where it must not be."""

from __future__ import annotations

import time
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from exactworlds.contract.admission import admit_roots
from exactworlds.contract.cells import Observed, Sensor, semantic_hash
from exactworlds.contract.cohorts import (
    Cohort,
    build_cohort,
    check_disjoint,
    check_subset,
    confidence_bin,
    count_slots,
)
from exactworlds.contract.generators import Source
from exactworlds.contract.relations import populations
from exactworlds.contract.requests import cohort_requests
from exactworlds.errors import InvalidContract
from exactworlds.spec.cohorts import (
    ENCODINGS,
    GENERATORS,
    VARIANTS,
    GeneratorTable,
    QuotaTable,
    StratumTable,
    SubsetTable,
    cohort_names,
    find_cohort,
)
from exactworlds.spec.document import Exact
from exactworlds.spec.relations import load_relations

PRIMARY = find_cohort("primary")


@pytest.fixture(scope="module")
def cohorts() -> dict[str, Cohort]:
    return {name: build_cohort(find_cohort(name)) for name in cohort_names()}


EXPECTED = {
    "primary": (1000, 12, 12_000, 87, 11_913),
    "headroom": (400, 5, 2000, 0, 2000),
    "subset": (200, 12, 2400, 15, 2385),
    "development": (40, 12, 480, 3, 477),
    "diagnostic": (16, 5, 80, 0, 80),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_slots_add_up(cohorts: dict[str, Cohort], name: str) -> None:
    cohort = cohorts[name]
    slots = count_slots(cohort)
    roots, variants, intended, undefined, eligible = EXPECTED[name]
    assert (len(cohort.roots), len(cohort.spec.variants)) == (roots, variants)
    assert (slots.intended, len(slots.undefined), slots.eligible) == (intended, undefined, eligible)
    assert intended - undefined == eligible == sum(slots.by_variant.values())
    sent = Counter(request.variant for request in cohort_requests(cohort))
    assert sent == slots.by_variant
    for root in cohort.roots:
        listed = root.id in slots.undefined
        assert listed == ("conditional" in cohort.spec.variants and root.world.mass(root.world.cells_of_b) == 0)


def test_every_bundled_cohort_is_expected_here() -> None:
    assert set(EXPECTED) == set(cohort_names())


def test_strata_are_equal_and_complete(cohorts: dict[str, Cohort]) -> None:
    names = {f"{generator}/{encoding}" for generator in GENERATORS for encoding in ENCODINGS}
    expected = {"primary": 125, "headroom": 50, "subset": 25, "development": 5, "diagnostic": 2}
    for name, per_stratum in expected.items():
        sizes = {stratum: len(roots) for stratum, roots in cohorts[name].strata.items()}
        assert sizes == dict.fromkeys(names, per_stratum)


def test_quotas_hold_in_every_stratum_and_endpoints_are_excluded(cohorts: dict[str, Cohort]) -> None:
    headroom = cohorts["headroom"]
    for roots in headroom.strata.values():
        bins: Counter[str] = Counter()
        for root in roots:
            confidence = max(root.world.q_a, 1 - root.world.q_a)
            assert Fraction(1, 2) <= confidence < 1
            low = "boundary" if confidence < Fraction(3, 4) else "medium"
            bins[low if confidence < Fraction(19, 20) else "strong"] += 1
        assert bins == {"boundary": 10, "medium": 10, "strong": 30}


def test_bins_are_closed_below_and_open_above() -> None:
    quotas = find_cohort("headroom").quota
    table = GeneratorTable(counts=(0, 100))
    world = next(
        source.world(drawn, 0)
        for source in [Source(table, "joint-attributes", "joined", "1")]
        for drawn in [source.draw(0, 1)]
    )
    for counts, expected in (
        ((1, 0, 1, 0), "boundary"),
        ((3, 0, 1, 0), "medium"),
        ((299, 0, 100, 0), "boundary"),
        ((19, 0, 1, 0), "strong"),
        ((1, 0, 19, 0), "strong"),
        ((189, 0, 10, 0), "medium"),
        ((1, 0, 0, 0), None),
        ((0, 0, 0, 1), None),
    ):
        assert confidence_bin(evolve(world, counts=counts), quotas) == expected
    beyond = (QuotaTable("all", Exact("0", Fraction(0)), Exact("2", Fraction(2)), 1),)
    assert confidence_bin(evolve(world, counts=(1, 0, 1, 0)), beyond) == "all"
    assert confidence_bin(evolve(world, counts=(1, 0, 0, 0)), beyond) is None


def test_the_integer_sieve_keeps_what_the_fractions_keep() -> None:
    """The fast path of quotas leaves out no draw that a bin holds: kept roots are the first in the stream."""
    spec = find_cohort("headroom")
    few = tuple(evolve(quota, roots=20) for quota in spec.quota)
    generator, encoding, entry = next(spec.strata())
    table = evolve(spec.generator[generator], counts=(0, 25))  # small counts: endpoints and edges come often
    stratum: dict[str, dict[str, StratumTable]] = {generator: {encoding: evolve(entry, roots=60)}}
    small = evolve(spec, quota=few, generator={generator: table}, stratum=stratum)
    source = Source(table, generator, encoding, spec.seed)
    room = {quota.name: 20 for quota in few}
    wanted = []
    seen = set()
    drawn = source.draw(entry.first, 6000)
    weights = source.weights(drawn)
    for row in range(6000):
        if not weights[row].any():
            continue
        world = source.world(drawn, row)
        name = confidence_bin(world, few)
        if name is not None and room[name] and semantic_hash(world) not in seen:
            seen.add(semantic_hash(world))
            room[name] -= 1
            wanted.append(entry.first + row)
    assert not any(room.values())
    assert [root.index for root in build_cohort(small).roots] == wanted


def test_both_paths_agree_on_every_root(cohorts: dict[str, Cohort]) -> None:
    for cohort in cohorts.values():
        found = admit_roots((root.id, root.world) for root in cohort.roots)
        assert found.admitted
        assert found.roots == len(cohort.roots)
        assert found.largest < Fraction(1, 10**60)


def test_no_root_is_shared_where_it_must_not_be(cohorts: dict[str, Cohort]) -> None:
    check_disjoint(cohorts.values())
    check_subset(cohorts["subset"], cohorts["primary"])
    apart = [name for name in cohort_names() if name != "subset"]
    hashes = [root.hash for name in apart for root in cohorts[name].roots]
    assert len(set(hashes)) == len(hashes) == 1000 + 400 + 40 + 16
    assert all(root.hash == semantic_hash(root.world) for root in cohorts["primary"].roots)
    listed = {root.id for root in cohorts["primary"].roots}
    assert {root.id for root in cohorts["subset"].roots} <= listed


def test_shared_roots_are_refused_by_name(cohorts: dict[str, Cohort]) -> None:
    primary, development = cohorts["primary"], cohorts["development"]
    stolen = evolve(development, roots=(*development.roots[:-1], primary.roots[3]))
    with pytest.raises(InvalidContract) as caught:
        check_disjoint([primary, stolen])
    assert len(caught.value.problems) == 1
    assert primary.roots[3].id in str(caught.value)
    twice = evolve(primary, roots=(primary.roots[0], evolve(primary.roots[0], id="primary/copy"), primary.roots[1]))
    with pytest.raises(InvalidContract, match="primary/copy: equals primary/finite-population/joined/000"):
        check_disjoint([twice])
    with pytest.raises(InvalidContract, match="is not in primary"):
        check_subset(stolen, primary)


def test_a_subset_may_share_with_the_cohort_that_it_is_taken_from(cohorts: dict[str, Cohort]) -> None:
    check_disjoint([cohorts["primary"], cohorts["subset"]])
    forbidding = evolve(cohorts["subset"], spec=evolve(cohorts["subset"].spec, disjoint_from=("primary",)))
    with pytest.raises(InvalidContract) as caught:
        check_disjoint([cohorts["primary"], forbidding])
    assert len(caught.value.problems) == 200


def test_equal_draws_are_kept_once() -> None:
    """Counts from 0 to 1 leave 15 different worlds without evidence: 15 roots are all of them, 16 cannot be."""
    table = {"joint-attributes": GeneratorTable(counts=(0, 1))}
    spec = evolve(PRIMARY, generator=table, stratum={"joint-attributes": {"joined": StratumTable(15)}})
    assert len({root.hash for root in build_cohort(spec).roots}) == 15


def test_a_stratum_that_cannot_be_filled_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exactworlds.contract.cohorts.MOST_DRAWS", 5000)
    table = {"joint-attributes": GeneratorTable(counts=(0, 1))}
    spec = evolve(PRIMARY, generator=table, stratum={"joint-attributes": {"joined": StratumTable(16)}})
    with pytest.raises(InvalidContract, match="found 15 roots in 5,000 draws, expected 16"):
        build_cohort(spec)
    subset = evolve(find_cohort("subset"), subset=SubsetTable("primary", 126))
    with pytest.raises(InvalidContract, match="expected at least 126"):
        build_cohort(subset)


@given(st.sampled_from(GENERATORS), st.sampled_from(ENCODINGS), st.integers(0, 2**40), st.integers(1, 40))
def test_draws_do_not_depend_on_batches(generator: str, encoding: str, start: int, rows: int) -> None:
    source = Source(PRIMARY.generator[generator], generator, encoding, "9")  # type: ignore[arg-type]
    whole = source.draw(start, rows)
    for row in range(rows):
        alone = source.draw(start + row, 1)
        assert alone.counts[0].tolist() == whole.counts[row].tolist()
        if whole.counts[row].any() and source.weights(whole)[row].any():
            assert source.world(alone, 0) == source.world(whole, row)


@given(st.sampled_from(GENERATORS), st.integers(0, 2**40))
def test_draws_keep_to_the_ranges_of_their_generator(generator: str, start: int) -> None:
    table = PRIMARY.generator[generator]
    source = Source(table, generator, "joined", "9")  # type: ignore[arg-type]
    drawn = source.draw(start, 20)
    weights = source.weights(drawn)
    for row in np.flatnonzero(weights.sum(axis=1)).tolist():
        world = source.world(drawn, row)
        assert all(0 <= count <= 100 for count in world.counts)
        total = int(weights[row].sum())
        assert [Fraction(int(weight), total) for weight in weights[row]] == list(world.posterior.values())
        match world.evidence:
            case Sensor(likelihoods):
                assert generator == "noisy-sensor"
                assert set(likelihoods) <= {likelihood.value for likelihood in table.likelihoods}
            case Observed(attribute, _):
                assert (generator, attribute) in (("finite-population", "b"), ("missing-rule", "a"))
            case None:
                assert generator != "noisy-sensor"
        assert len(world.categories) == (3 if generator == "missing-rule" else 4)


def test_every_range_is_drawn_evenly() -> None:
    source = Source(PRIMARY.generator["noisy-sensor"], "noisy-sensor", "joined", "1")
    drawn = source.draw(0, 20_000)
    for column in drawn.counts.T:
        counts = np.bincount(column, minlength=101)
        assert len(counts) == 101
        assert abs(counts - 20_000 / 101).max() < 5 * (20_000 / 101) ** 0.5
    for column in drawn.likelihoods.T:
        counts = np.bincount(column, minlength=6)
        assert abs(counts - 20_000 / 6).max() < 5 * (20_000 / 6) ** 0.5
    assert abs(np.corrcoef(np.concatenate([drawn.counts, drawn.likelihoods], axis=1).T) - np.eye(8)).max() < 0.04
    observing = Source(PRIMARY.generator["missing-rule"], "missing-rule", "joined", "1").draw(0, 20_000)
    counts = np.bincount(observing.observed, minlength=3)
    assert abs(counts - 20_000 / 3).max() < 5 * (20_000 / 3) ** 0.5


def test_strata_and_seeds_have_streams_of_their_own() -> None:
    table = PRIMARY.generator["joint-attributes"]
    base = Source(table, "joint-attributes", "joined", "1").draw(0, 50).counts.tolist()
    assert Source(table, "joint-attributes", "joined", "1").draw(0, 50).counts.tolist() == base
    assert Source(table, "joint-attributes", "nested", "1").draw(0, 50).counts.tolist() != base
    assert Source(table, "joint-attributes", "joined", "2").draw(0, 50).counts.tolist() != base


def test_large_counts_and_odd_likelihoods_stay_exact() -> None:
    likelihoods = tuple(Exact(text, Fraction(text)) for text in ("1/1000003", "999983/1000003", "1/999999937"))
    table = GeneratorTable(counts=(10**9 - 3, 10**9), likelihoods=likelihoods)
    source = Source(table, "noisy-sensor", "joined", "1")
    drawn = source.draw(0, 50)
    weights = source.weights(drawn)
    for row in range(50):
        world = source.world(drawn, row)
        total = sum(weights[row].tolist())
        assert [Fraction(weight, total) for weight in weights[row].tolist()] == list(world.posterior.values())


def test_relations_are_about_the_roots_that_have_their_constituents(cohorts: dict[str, Cohort]) -> None:
    found = {
        name: {relation: len(population.roots) for relation, population in populations(cohort).items()}
        for name, cohort in cohorts.items()
    }
    everyone = dict.fromkeys(load_relations().relation, 1000)
    assert found["primary"] == {**everyone, "product": 913}
    assert found["subset"]["product"] == 185
    assert found["headroom"] == dict.fromkeys(("event-choice", "complement", "coarsening", "repeat"), 400)
    product = populations(cohorts["primary"])["product"]
    assert set(product.left_out) == set(count_slots(cohorts["primary"]).undefined)
    assert len(product.left_out) + len(product.roots) == 1000


def test_means_weight_strata_equally(cohorts: dict[str, Cohort]) -> None:
    primary = cohorts["primary"]
    assert primary.mean([Fraction(1)] * 1000) == 1
    uneven = evolve(primary, roots=primary.roots[:126])
    assert uneven.mean([Fraction(0)] * 125 + [Fraction(1)]) == Fraction(1, 2)


def test_all_requests_of_both_cohorts_take_seconds() -> None:
    start = time.process_time()
    total = 0
    for name in ("primary", "headroom"):
        total += sum(1 for _ in cohort_requests(build_cohort(find_cohort(name))))
    assert total == 11_913 + 2000
    assert time.process_time() - start < 20


def test_variants_of_the_primary_cohort_are_all_twelve() -> None:
    assert set(PRIMARY.variants) == set(VARIANTS)
    assert len(VARIANTS) == 12
