"""The registry of claims: every name resolves, the status is what the names amount to, docstrings agree both ways."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

import exactworlds
from exactworlds.golden.store import read_golden
from exactworlds.spec.claims import load_claims
from exactworlds.spec.library import golden_folder
from exactworlds.spec.published import load_published

ROOT = Path(__file__).parent.parent
CLAIMS = load_claims().claim
CLAIM_LINE = re.compile(r"Claim: (.+?)(?:\n\s*\n|\Z)", re.DOTALL)
CLAIM_ID = re.compile(r"(?<![\w.])(?:[A-F]|conventions)\.[a-z][a-z0-9-]*")


def resolve(name: str) -> Any:
    module, _, path = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def functions_in(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def documented() -> Iterator[tuple[str, str]]:
    """Every claim id in a docstring of the package, with the name of what it documents."""
    for info in pkgutil.walk_packages(exactworlds.__path__, "exactworlds."):
        if info.name.endswith("__main__"):
            continue
        module = importlib.import_module(info.name)
        for name, thing in vars(module).items():
            if getattr(thing, "__module__", None) != info.name:
                continue
            members = {"": thing}
            if inspect.isclass(thing):
                members |= {f".{key}": value for key, value in vars(thing).items() if callable(value)}
            for suffix, member in members.items():
                for line in CLAIM_LINE.findall(getattr(member, "__doc__", None) or ""):
                    for claim in CLAIM_ID.findall(line):
                        yield claim, f"{info.name}:{name}{suffix}"


DOCUMENTED = sorted(set(documented()))


@pytest.mark.parametrize("claim", CLAIMS)
def test_every_name_resolves(claim: str) -> None:
    entry = CLAIMS[claim]
    for name in entry.implemented_by:
        assert resolve(name) is not None
    for name in (*entry.tested_by, *entry.proved_by):
        file, _, function = name.partition("::")
        assert function.partition("[")[0] in functions_in(ROOT / file), name
    pinned = {cell.quantity for file in golden_folder().rglob("*.json") for cell in read_golden(file).cells}
    for pattern in entry.pinned_by:
        assert any(fnmatchcase(quantity, pattern) for quantity in pinned), pattern


@pytest.mark.parametrize("claim", CLAIMS)
def test_the_status_is_what_the_names_amount_to(claim: str) -> None:
    assert CLAIMS[claim].status == CLAIMS[claim].evident_status


def test_docstrings_cite_claims_that_exist() -> None:
    assert len(DOCUMENTED) >= 10
    unknown = [(claim, name) for claim, name in DOCUMENTED if claim not in CLAIMS]
    assert not unknown


@pytest.mark.parametrize("claim", CLAIMS)
def test_what_implements_a_claim_cites_it(claim: str) -> None:
    citing = {name for cited, name in DOCUMENTED if cited == claim}
    assert set(CLAIMS[claim].implemented_by) <= citing


def test_printed_cells_cite_claims_that_exist() -> None:
    cited = {group.claim for group in load_published().group}
    assert cited <= set(CLAIMS)
