"""What the mutation tool is told agrees with the project: modules, their tests, formulas and explained survivors."""

from __future__ import annotations

import pytest

from mutation.settings import ROOT, Module, Survivor, formulas, load_modules, load_survivors
from proofs import break_formulas

MODULES = {module.name: module for module in load_modules()}
PACKAGES = ("engine", "metrics", "contract")


def test_every_module_of_the_packages_is_mutated() -> None:
    source = ROOT / "src"
    files = [file for package in PACKAGES for file in (source / "exactworlds" / package).glob("*.py")]
    names = {".".join(file.relative_to(source).with_suffix("").parts) for file in files if file.name != "__init__.py"}
    assert len(names) > 30
    assert names <= set(MODULES)


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
def test_the_tests_of_a_module_exist(module: Module) -> None:
    assert module.path.exists()
    assert len(module.tests) > 1
    for test in (*module.tests, *module.deselected):
        file, _, function = test.partition("::")
        assert (ROOT / file).exists()
        assert f"def {function.partition('[')[0]}" in (ROOT / file).read_text(encoding="utf-8")


def test_the_bare_formulas_are_those_that_the_proofs_are_broken_with() -> None:
    found = {name for module in MODULES.values() for name, _ in formulas(module.name, module.source)}
    assert len(found) > 60
    assert found == set(break_formulas.formulas())


@pytest.mark.parametrize("survivor", load_survivors(), ids=lambda entry: f"{entry.module}: {entry.after[:40]}")
def test_an_explained_survivor_is_a_change_of_the_source(survivor: Survivor) -> None:
    lines = {line.strip() for line in MODULES[survivor.module].source.splitlines()}
    assert set(survivor.before.splitlines()) <= lines
    assert survivor.after != survivor.before
    assert len(survivor.why) > 10
