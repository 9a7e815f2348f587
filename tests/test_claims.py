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
from exactworlds.spec.bundled import golden_folder
from exactworlds.spec.claims import load_claims
from exactworlds.spec.published import load_published

ROOT = Path(__file__).parent.parent
CLAIMS = load_claims().claim
CLAIM_LINE = re.compile(r"Claim: (.+?)(?:\n\s*\n|\Z)", re.DOTALL)
PROOF_LINE = re.compile(r"^\s*Proof: (.+)$", re.MULTILINE)
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


def docstrings() -> Iterator[tuple[str, str]]:
    """Every docstring of the package, after the name of what it documents."""
    for info in pkgutil.walk_packages(exactworlds.__path__, "exactworlds."):
        if info.name.endswith("__main__") or info.name == "exactworlds.inspection.task":  # it needs an extra
            continue
        module = importlib.import_module(info.name)
        for name, thing in vars(module).items():
            if getattr(thing, "__module__", None) != info.name:
                continue
            members = {"": thing}
            if inspect.isclass(thing):
                members |= {f".{key}": value for key, value in vars(thing).items() if callable(value)}
            for suffix, member in members.items():
                yield f"{info.name}:{name}{suffix}", getattr(member, "__doc__", None) or ""


DOCSTRINGS = list(docstrings())
DOCUMENTED = sorted(
    {
        (claim, name)
        for name, text in DOCSTRINGS
        for line in CLAIM_LINE.findall(text)
        for claim in CLAIM_ID.findall(line)
    }
)
CITED_PROOFS = sorted({(proof, name) for name, text in DOCSTRINGS for proof in PROOF_LINE.findall(text)})


@pytest.mark.parametrize("claim", CLAIMS)
def test_every_name_resolves(claim: str) -> None:
    entry = CLAIMS[claim]
    for name in entry.implemented_by:
        assert resolve(name) is not None
    for name in (*entry.tested_by, *entry.proved_by, *entry.twins):
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


def test_docstrings_cite_proofs_that_exist() -> None:
    assert len(CITED_PROOFS) >= 50
    for proof, _ in CITED_PROOFS:
        file, _, function = proof.partition("::")
        assert function in functions_in(ROOT / file), proof


def test_every_bare_formula_cites_a_proof() -> None:
    formulas = {name for name, _ in DOCSTRINGS if name.endswith("_formula")}
    assert len(formulas) >= 60
    assert formulas == {name for _, name in CITED_PROOFS if name.endswith("_formula")}


@pytest.mark.parametrize("proof", sorted({proof for proof, name in CITED_PROOFS if name.endswith("_formula")}))
def test_a_proof_that_a_formula_cites_calls_it(proof: str) -> None:
    file = ROOT / proof.partition("::")[0]
    called = {node.id for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.Name)}
    citing = {name.partition(":")[2] for cited, name in CITED_PROOFS if cited == proof}
    assert {name for name in citing if name.endswith("_formula")} <= called


@pytest.mark.parametrize("claim", [claim for claim in CLAIMS if CLAIMS[claim].proved_by])
def test_a_proved_claim_has_a_twin_and_its_proofs_are_cited(claim: str) -> None:
    entry = CLAIMS[claim]
    assert set(entry.proved_by) <= {proof for proof, _ in CITED_PROOFS}
    assert entry.twins
    assert all(twin.partition("::")[2].startswith("test_twin") for twin in entry.twins)
    assert not any(proof.partition("::")[2].startswith("test_twin") for proof in entry.proved_by)


def test_the_table_of_proofs_lists_every_claim_and_only_what_exists() -> None:
    text = (ROOT / "proofs" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| [^|]+ \| `(test_\w+\.py)::(\w+)`[^|]* \| `(\w+)`", text, re.MULTILINE)
    for claim, file, proof, twin in rows:
        assert f"proofs/{file}::{proof}" in CLAIMS[claim].proved_by
        assert twin in {name.partition("::")[2] for name in CLAIMS[claim].twins}
    assert {claim for claim, *_ in rows} == {claim for claim in CLAIMS if CLAIMS[claim].proved_by}


def test_printed_cells_cite_claims_that_exist() -> None:
    cited = {group.claim for group in load_published().group}
    assert cited <= set(CLAIMS)
