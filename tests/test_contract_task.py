"""Task folders of cohorts: what a model may see on one side, what it means on the other, nothing that joins them."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from exactworlds.contract.cohorts import build_cohort
from exactworlds.contract.events import parse_query, probability
from exactworlds.contract.rendering import parse_state
from exactworlds.errors import InvalidSpec, UsageError
from exactworlds.files.contract_task import write_contract_task
from exactworlds.files.requests import read_requests
from exactworlds.files.targets import read_contract_targets, read_origin
from exactworlds.rational import parse_exact
from exactworlds.spec.cohorts import find_cohort


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("contract") / "task"
    write_contract_task(find_cohort("development"), out)
    return out


def test_requests_and_targets_tell_one_story(task: Path) -> None:
    """The state of a request and the event of a target give the target's probability, by the package's own algebra."""
    roots = {root.id: root for root in build_cohort(find_cohort("development")).roots}
    requests, targets = list(read_requests(task)), list(read_contract_targets(task))
    assert [request.id for request in requests] == [target.id for target in targets] == sorted(r.id for r in requests)
    assert len(requests) == 477
    for request, target in zip(requests, targets, strict=True):
        world = parse_state(request.state).world
        assert world == roots[target.root].world
        assert target.digest == hashlib.sha256(request.state.encode()).hexdigest()
        assert [option.key for option in request.options] == [option.key for option in target.options]
        masses = [parse_exact(option.posterior) for option in target.options]
        assert masses == [probability(parse_query(option.event), world) for option in target.options]
        assert sum(masses) == 1
        realised = [mass for option, mass in zip(target.options, masses, strict=True) if option.key == target.realised]
        assert all(mass > 0 for mass in realised)
        assert len(realised) == (target.realised is not None)
        outcomes = sorted(option.outcome for option in target.options)
        assert outcomes == (list(world.names) if request.kind == "distribution" else ["no", "yes"])


def test_the_realised_option_is_one_outcome_of_the_root(task: Path) -> None:
    by_root: dict[str, dict[str, str]] = {}
    for target in read_contract_targets(task):
        outcome = {option.key: option.outcome for option in target.options}
        if target.realised is not None:
            by_root.setdefault(target.root, {})[target.variant] = outcome[target.realised]
    for found in by_root.values():
        assert found["event"] == found["choice"] == found["repeat"] != found["complement"]
        assert found["canonical"] == found["permuted"] == found["layout"] == found["opaque"] == found["metadata"]
        assert found["intersection"] == ("yes" if found["event"] == found["b"] == "yes" else "no")
        if "conditional" in found:
            assert found["b"] == "yes"
            assert found["conditional"] == found["event"]


def test_the_manifest_has_counts_and_digests_but_no_seed(task: Path) -> None:
    manifest = json.loads((task / "task.json").read_text(encoding="utf-8"))
    assert (manifest["intended"], manifest["eligible"], manifest["roots"]) == (480, 477, 40)
    assert manifest["estimated"] is False
    assert "seed" not in manifest
    assert manifest["requests_sha256"] == hashlib.sha256((task / "requests.jsonl").read_bytes()).hexdigest()
    origin = read_origin(task)
    assert origin["seed"] == "103"
    assert len(origin["undefined"]) == 3
    assert len({root["hash"] for root in origin["roots"].values()}) == 40
    assert origin["relations"]["repeat"] == {"tolerance": "0.02", "constituents": ["event", "repeat"]}
    data = (task / "targets" / "targets.jsonl").read_bytes()
    assert origin["targets_sha256"] == hashlib.sha256(data).hexdigest()


def test_nothing_beside_the_targets_names_a_root_or_a_probability(task: Path) -> None:
    public = "".join(file.read_text(encoding="utf-8") for file in task.glob("*.json*"))
    assert "development/" not in public
    assert "posterior" not in public
    states = [request.state for request in read_requests(task)]
    assert not any("0." in state for state in states)


def test_the_order_of_lines_says_nothing_of_roots(task: Path) -> None:
    """Requests of one root are spread: neighbours share a root about as often as chance has it."""
    roots = [target.root for target in read_contract_targets(task)]
    together = sum(one == other for one, other in itertools.pairwise(roots))
    assert together < 30
    assert max(Counter(roots).values()) == 12


def test_another_seed_is_another_task(task: Path, tmp_path: Path) -> None:
    cohort = write_contract_task(find_cohort("development"), tmp_path / "other", seed="12345678901234567890")
    assert cohort.seed == read_origin(tmp_path / "other")["seed"] == "12345678901234567890"
    mine = {request.id for request in read_requests(task)}
    assert not mine & {request.id for request in read_requests(tmp_path / "other")}
    again = tmp_path / "again"
    write_contract_task(find_cohort("development"), again)
    assert (again / "requests.jsonl").read_bytes() == (task / "requests.jsonl").read_bytes()


def test_wrong_seeds_and_taken_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected a whole number"):
        write_contract_task(find_cohort("diagnostic"), tmp_path / "x", seed="-1")
    (tmp_path / "taken").mkdir()
    with pytest.raises(UsageError, match="exists already"):
        write_contract_task(find_cohort("diagnostic"), tmp_path / "taken")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["taken"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"posterior_float":', '"posterior_float":1', "expected the nearest float"),
        ('"options":[', '"options":[7,', "line 1"),
        ('"root":', '"stem":', "line 1"),
        ("{", "[", "line 1: not JSON"),
    ],
)
def test_damaged_targets_are_refused_with_their_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    out = tmp_path / "task"
    write_contract_task(find_cohort("diagnostic"), out)
    file = out / "targets" / "targets.jsonl"
    file.write_text(file.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InvalidSpec, match=message):
        list(read_contract_targets(out))


def test_probabilities_are_exact_to_the_last_digit(task: Path) -> None:
    for target in read_contract_targets(task):
        assert all(isinstance(parse_exact(option.posterior), Fraction) for option in target.options)
        assert all("." not in option.posterior for option in target.options)


def test_parquet_holds_the_same_rows_where_pyarrow_is_installed(task: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for table, lines in (
        ("requests.parquet", "requests.jsonl"),
        ("targets/targets.parquet", "targets/targets.jsonl"),
    ):
        written = [json.loads(line) for line in (task / lines).read_text(encoding="utf-8").splitlines()]
        assert parquet.read_table(task / table).to_pylist() == written
