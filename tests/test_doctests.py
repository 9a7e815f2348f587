"""Every example in a docstring is true."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import pkgutil
from types import ModuleType

import pytest

import exactworlds

NEEDS = {"exactworlds.inspection.task": "inspect_ai"}
"""Modules that need an extra which the tests do without where it is not installed."""
MODULES = [
    name
    for name in ("exactworlds", *(found.name for found in pkgutil.walk_packages(exactworlds.__path__, "exactworlds.")))
    if name not in NEEDS or importlib.util.find_spec(NEEDS[name]) is not None
]
WITH_EXAMPLES = {
    "exactworlds.engine.entropy",
    "exactworlds.errors",
    "exactworlds.rational",
    "exactworlds.spec.rules",
}


def examples(module: ModuleType) -> int:
    return sum(len(test.examples) for test in doctest.DocTestFinder().find(module))


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    module = importlib.import_module(name)
    result = doctest.testmod(module, raise_on_error=False)
    assert result.failed == 0
    assert result.attempted == examples(module)


def test_the_examples_are_found() -> None:
    found = {name for name in MODULES if examples(importlib.import_module(name))}
    assert found >= WITH_EXAMPLES
