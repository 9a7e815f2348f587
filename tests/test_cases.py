"""Cases: exact draws, the same bytes whatever the batch or process, task folders, and what is public tells nothing."""

from __future__ import annotations

import hashlib
import json
import math
import multiprocessing
import os
import resource
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exactworlds.engine.enumerate import pattern_tables
from exactworlds.engine.scaled import ScaledWorld
from exactworlds.errors import UnreadableFile, UsageError
from exactworlds.files.case_task import POOL, CaseTask, write_case_task
from exactworlds.files.requests import read_requests
from exactworlds.files.targets import read_origin, read_targets
from exactworlds.memo.cases import CaseSource
from exactworlds.memo.template import memo_template
from exactworlds.spec.bundled import find_world, spec_folder, world_names
from exactworlds.spec.digest import law_digest, text_digest
from exactworlds.spec.load import parse_world
from exactworlds.spec.world import World

FALSE_ALARM = 1e-9


def world(name: str) -> World:
    return find_world(name)[0]


def write(out: Path, name: str = "peer-review", **changes: Any) -> Path:
    task: dict[str, Any] = {
        "world": world(name),
        "setting": "medium",
        "template": "form",
        "seed": "1",
        "cases": 40,
        "shots": 0,
    }
    write_case_task(CaseTask(**{**task, **changes}), out)
    return out


def allowed(rows: int, statements: int) -> float:
    """Hoeffding for `statements` means of `rows` values in [0, 1] at once: a false alarm has probability < 1e-9."""
    return math.sqrt(math.log(2 * statements / FALSE_ALARM) / (2 * rows))


@pytest.mark.parametrize("name", world_names())
def test_frequencies_of_a_million_draws_agree_with_the_exact_probabilities(name: str) -> None:
    """Every level of every visible attribute, the label, and the label within tenths of p*; all at once."""
    rows = 1_000_000
    drawn = CaseSource(world(name), "low", "form", "2026").draw(POOL, rows)
    scaled = ScaledWorld(world(name))
    table = scaled.view("low").table()
    means: dict[tuple[str, str], Fraction] = {}
    for pattern, (mass, _) in table.items():
        for column, level in zip(drawn.codes, pattern, strict=True):
            means[column, level] = means.get((column, level), Fraction(0)) + mass
    bound = allowed(rows, len(means) + 11)
    for (column, level), expected in means.items():
        code = list(drawn.texts[column]).index(level)
        assert abs(float(np.mean(drawn.codes[column] == code)) - float(expected)) < bound, (column, level)
    assert abs(float(np.mean(drawn.positive)) - float(scaled.view("low").prior())) < bound
    posteriors = np.array([float(table[drawn.pattern(row)][1]) for row in range(0, rows, 50)])
    labels = drawn.positive[::50]
    looser = allowed(len(labels), len(means) + 11)
    for tenth in range(10):
        where = (posteriors >= tenth / 10) & (posteriors < (tenth + 1) / 10 + (tenth == 9))
        assert abs(float(np.sum(labels[where] - posteriors[where])) / len(labels)) < looser


def test_a_wrong_sampler_would_be_noticed() -> None:
    """The draws lie outside the bound around a law that has one hundredth moved from one level to the next."""
    rows = 1_000_000
    drawn = CaseSource(world("peer-review"), "low", "form", "2026").draw(POOL, rows)
    for name in ("novelty", "clarity"):
        first = world("peer-review").attribute[name].rows[()][0].value
        share = float(np.mean(drawn.codes[name] == list(drawn.texts[name]).index("0")))
        assert abs(share - float(first)) < allowed(rows, 60) < abs(share - float(first - Fraction(1, 100)))


def test_labels_are_what_the_rule_says_of_the_drawn_state() -> None:
    """With everything visible and no residual, the label is certain: it equals p*."""
    source = CaseSource(world("covert-transfer"), "low", "form", "3")
    for case in source.cases(0, 500):
        if case.posterior in (0, 1):
            assert case.positive == (case.posterior == 1)
    review = CaseSource(world("peer-review"), "low", "form", "3", scale=Fraction(0))
    assert all(case.posterior == case.positive for case in review.cases(0, 500))


def test_posteriors_are_those_of_the_definition() -> None:
    tables = pattern_tables(world("covert-transfer"))
    for setting, table in tables.items():
        for case in CaseSource(world("covert-transfer"), setting, "prose", "5").cases(0, 50):
            assert case.posterior == table[case.pattern][1]


def _part(bounds: tuple[int, int]) -> list[str]:
    start, rows = bounds
    return [repr(case) for case in CaseSource(world("credit-risk"), "high", "prose", "9").cases(start, rows)]


def test_one_process_and_several_give_the_same_cases() -> None:
    whole = _part((0, 40))
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        parts = pool.map(_part, [(0, 7), (7, 20), (27, 13)])
    assert [case for part in parts for case in part] == whole


def test_the_order_of_attributes_in_the_file_does_not_matter() -> None:
    text = (spec_folder() / "worlds" / "covert-transfer.toml").read_text(encoding="utf-8")
    tag = text[text.index("[attribute.tag]") : text.index("[attribute.procedure]")]
    moved = parse_world(text.replace(tag, "").replace("[table]", tag + "[table]", 1).encode())
    assert list(moved.attribute) != list(world("covert-transfer").attribute)
    for setting in moved.settings:
        one = CaseSource(moved, setting, "form", "4").cases(0, 30)
        assert one == CaseSource(world("covert-transfer"), setting, "form", "4").cases(0, 30)


def test_ten_cases_and_the_first_ten_of_many_are_the_same_bytes(tmp_path: Path) -> None:
    few, many = write(tmp_path / "few", cases=10, shots=3), write(tmp_path / "many", cases=3000, shots=3)
    for file in ("requests.jsonl", "targets/targets.jsonl"):
        lines = set((few / file).read_bytes().splitlines())
        assert len(lines) == 10
        assert lines <= set((many / file).read_bytes().splitlines())
    assert {target.index for target in read_targets(few)} == set(range(POOL, POOL + 10))


def test_the_same_seed_gives_the_same_folder_and_another_another(tmp_path: Path) -> None:
    first, second, other = write(tmp_path / "a"), write(tmp_path / "b"), write(tmp_path / "c", seed="2")
    for file in sorted(path.relative_to(first) for path in first.rglob("*") if path.is_file()):
        if file.suffix != ".parquet":
            assert (first / file).read_bytes() == (second / file).read_bytes(), file
    assert (first / "requests.jsonl").read_bytes() != (other / "requests.jsonl").read_bytes()


def test_a_task_folder_is_what_it_says(tmp_path: Path) -> None:
    out = write(tmp_path / "task", cases=50, shots=10)
    manifest = json.loads((out / "task.json").read_text(encoding="utf-8"))
    requests, targets = list(read_requests(out)), list(read_targets(out))
    assert (manifest["cases"], manifest["shots"], len(requests), len(targets)) == (50, 10, 50, 50)
    assert manifest["law"] == law_digest(world("peer-review"))
    assert manifest["text"] == text_digest(world("peer-review"))
    assert manifest["requests_sha256"] == hashlib.sha256((out / "requests.jsonl").read_bytes()).hexdigest()
    origin = read_origin(out)
    assert origin["targets_sha256"] == hashlib.sha256((out / "targets" / "targets.jsonl").read_bytes()).hexdigest()
    assert origin["event_map"] == {"no": False, "yes": True}
    assert [request.id for request in requests] == [target.id for target in targets] == sorted(r.id for r in requests)
    table = ScaledWorld(world("peer-review")).view("medium").table()
    template = memo_template(world("peer-review"), "medium", "form")
    for request, target in zip(requests, targets, strict=True):
        pattern = tuple(target.visible.values())
        assert template.parse(request.state).pattern == pattern
        assert Fraction(target.posterior) == table[pattern][1]
        assert target.digest == hashlib.sha256(request.state.encode()).hexdigest()
        assert target.label == ("accept" if target.positive else "reject")
        assert [option.key for option in request.options] == ["no", "yes"]
        assert request.question == "Will it be accepted?"


def test_demonstrations_are_nested_prefixes_of_the_pool(tmp_path: Path) -> None:
    shown = {}
    for shots in (0, 10, 25, 50):
        requests = list(read_requests(write(tmp_path / str(shots), cases=3, shots=shots)))
        assert len({request.demonstrations for request in requests}) == 1
        shown[shots] = requests[0].demonstrations
        assert len(shown[shots]) == shots
    assert shown[10] == shown[50][:10]
    assert shown[25] == shown[50][:25]
    pool = CaseSource(world("peer-review"), "medium", "form", "1").cases(0, 50)
    assert [(one.memo, one.answer == "yes") for one in shown[50]] == [(case.memo, case.positive) for case in pool]


def test_the_choice_interface_names_the_classes(tmp_path: Path) -> None:
    out = write(tmp_path / "choice", interface="choice", shots=2)
    request = next(read_requests(out))
    assert request.kind == "choice"
    assert [option.key for option in request.options] == ["reject", "accept"]
    assert {shown.answer for shown in request.demonstrations} <= {"reject", "accept"}
    assert read_origin(out)["event_map"] == {"reject": False, "accept": True}


def public_texts(out: Path) -> list[str]:
    """Everything public that could serve as a key: every value of every public file."""
    found: list[str] = []

    def collect(content: Any) -> None:
        if isinstance(content, dict):
            for key, value in content.items():
                collect(key)
                collect(value)
        elif isinstance(content, list):
            for value in content:
                collect(value)
        else:
            found.append(str(content))

    collect(json.loads((out / "task.json").read_text(encoding="utf-8")))
    for line in (out / "requests.jsonl").read_text(encoding="utf-8").splitlines()[:5]:
        collect(json.loads(line))
    return list(dict.fromkeys(found))


def test_nothing_public_determines_a_label(tmp_path: Path) -> None:
    """Every public value is tried as the seed: none gives the ids back. The true seed does, so the attack is real."""
    seed = str(0xC0FFEE << 104)
    out = write(tmp_path / "task", seed=seed, cases=30)
    assert seed not in "".join(path.read_text(encoding="utf-8") for path in out.glob("*.json*"))
    ids = {request.id for request in read_requests(out)}
    assert {case.id for case in CaseSource(world("peer-review"), "medium", "form", seed).cases(POOL, 30)} == ids
    keys = public_texts(out)
    assert len(keys) > 30
    for key in keys:
        guessed = CaseSource(world("peer-review"), "medium", "form", key).draw(POOL, 30)
        assert not {guessed.id(row) for row in range(30)} & ids


def test_public_files_hold_no_exact_value_and_no_label(tmp_path: Path) -> None:
    out = write(tmp_path / "task", "credit-risk", cases=200)
    public = "".join(path.read_text(encoding="utf-8") for path in (*out.glob("*.json*"), out / "README.md"))
    for target in read_targets(out):
        if "/" in target.posterior:
            assert target.posterior not in public
    assert "posterior" not in (out / "requests.jsonl").read_text(encoding="utf-8")
    assert "targets" not in (out / "requests.jsonl").read_text(encoding="utf-8")


def test_order_and_ids_say_nothing_of_labels() -> None:
    """Ids are uniform and their order is unrelated to the labels: first half and second half agree, by Hoeffding."""
    drawn = CaseSource(world("covert-transfer"), "high", "form", "8").draw(POOL, 100_000)
    order = np.argsort(drawn.ids[:, 0])
    half = drawn.positive[order][:50_000]
    assert abs(float(np.mean(half)) - 0.5) < allowed(50_000, 1)


def test_rewording_a_template_changes_no_case_and_no_numeric_golden() -> None:
    text = (spec_folder() / "worlds" / "peer-review.toml").read_text(encoding="utf-8")
    reworded = parse_world(text.replace("MANUSCRIPT RECORD", "RECORD OF A MANUSCRIPT").encode())
    assert law_digest(reworded) == law_digest(world("peer-review"))
    assert text_digest(reworded) != text_digest(world("peer-review"))
    before = CaseSource(world("peer-review"), "high", "form", "1").cases(POOL, 50)
    after = CaseSource(reworded, "high", "form", "1").cases(POOL, 50)
    for one, other in zip(before, after, strict=True):
        assert (one.id, one.pattern, one.positive, one.posterior) == (
            other.id,
            other.pattern,
            other.positive,
            other.posterior,
        )
        assert one.memo != other.memo


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"shots": 1001}, "expected 0 to 1000"), ({"shots": -1}, "expected 0"), ({"cases": 0}, "at least 1")],
)
def test_impossible_tasks_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        write(tmp_path / "task", **changes)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_exists_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "task").mkdir()
    with pytest.raises(UsageError, match="exists already"):
        write(tmp_path / "task")
    assert list((tmp_path / "task").iterdir()) == []


def test_an_interruption_leaves_nothing_under_the_name(tmp_path: Path) -> None:
    def interrupt(what: str, done: int, total: int) -> None:
        if what == "writing cases":
            raise KeyboardInterrupt

    task = CaseTask(world("peer-review"), "low", "form", "1", 10, 0)
    with pytest.raises(KeyboardInterrupt):
        write_case_task(task, tmp_path / "task", interrupt)
    assert list(tmp_path.iterdir()) == []


def run(*words: str, limit: int | None = None) -> subprocess.CompletedProcess[str]:
    def small() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        [sys.executable, "-m", "exactworlds", *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=small,
        env={**os.environ, "COLUMNS": "80"},
    )


def test_a_full_disk_is_one_message_and_leaves_nothing(tmp_path: Path) -> None:
    words = ("cases", "peer-review", "--setting", "low", "--n", "500", "--seed", "1", "--out", str(tmp_path / "task"))
    done = run(*words, limit=100_000)
    assert done.returncode == 2
    assert "there is no room for it" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere", "--setting", "low"), "there is no world 'nowhere'"),
        (("peer-review", "--setting", "lowest"), "there is no setting 'lowest'"),
        (("peer-review", "--setting", "low", "--template", "song"), "there is no template 'song'; known: form, prose"),
        (("peer-review", "--setting", "low", "--shots", "1001"), "expected 0 to 1000"),
        (("peer-review", "--setting", "low", "--interface", "guess"), "there is no interface 'guess'"),
    ],
)
def test_wrong_words_are_one_message(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    done = run("cases", *words, "--n", "5", "--seed", "1", "--out", str(tmp_path / "task"))
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_seed_must_be_a_number_and_a_short_one_is_noted(tmp_path: Path) -> None:
    base = ("cases", "covert-transfer", "--setting", "high", "--n", "5", "--out")
    wrong = run(*base, str(tmp_path / "x"), "--seed", "abc")
    assert wrong.returncode == 2
    assert "expected a whole number" in wrong.stderr
    weak = run(*base, str(tmp_path / "weak"), "--seed", "7")
    assert weak.returncode == 0
    assert "anyone can try all seeds" in weak.stderr
    strong = run(*base, str(tmp_path / "strong"), "--seed", "random")
    assert strong.returncode == 0
    assert "anyone" not in strong.stderr
    assert len(read_origin(tmp_path / "strong")["seed"]) > 30


def test_damaged_task_files_are_refused_with_their_line(tmp_path: Path) -> None:
    out = write(tmp_path / "task")
    lines = (out / "requests.jsonl").read_text(encoding="utf-8").splitlines()
    for damage, message in (
        ("{", "line 2: not JSON"),
        ('{"id": NaN}', "found the number NaN"),
        ('{"id": "a", "id": "b"}', "duplicate key"),
    ):
        (out / "requests.jsonl").write_text("\n".join([lines[0], damage]) + "\n", encoding="utf-8")
        with pytest.raises(Exception, match=message):
            list(read_requests(out))
    with pytest.raises(UnreadableFile):
        list(read_targets(tmp_path / "nowhere"))


def test_parquet_holds_the_same_rows_where_pyarrow_is_installed(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    out = write(tmp_path / "task", shots=2)
    rows = parquet.read_table(out / "requests.parquet").to_pylist()
    lines = [json.loads(line) for line in (out / "requests.jsonl").read_text(encoding="utf-8").splitlines()]
    assert rows == lines
