"""What is mutated, which tests judge it, and what is known of the survivors. Needs nothing but the standard library."""

from __future__ import annotations

import ast
import hashlib
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MODULES = HERE / "modules.toml"
SURVIVORS = HERE / "survivors.toml"
REPORT = HERE / "REPORT.md"


@dataclass(frozen=True)
class Module:
    """A module and the tests that must notice what is broken in it, the most telling ones first."""

    name: str
    tests: tuple[str, ...]
    deselected: tuple[str, ...]
    formulas_only: bool

    @property
    def path(self) -> Path:
        return ROOT / "src" / f"{self.name.replace('.', '/')}.py"

    @property
    def source(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.source.encode()).hexdigest()

    @property
    def formula_lines(self) -> set[int]:
        """The lines of the bare formulas: as in proofs/break_formulas.py, and a test compares the two."""
        return {line for _, lines in formulas(self.name, self.source) for line in lines}


@dataclass(frozen=True)
class Survivor:
    """Why one mutant, known by its changed lines, cannot be told from the original."""

    module: str
    before: str
    after: str
    why: str


def formulas(module: str, source: str) -> Iterator[tuple[str, range]]:
    """The bare formulas of a module with their lines."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and (node.name.endswith("_formula") or module.endswith("._ordering")):
            yield node.name, range(node.lineno, (node.end_lineno or node.lineno) + 1)


def load_modules() -> list[Module]:
    found = tomllib.loads(MODULES.read_text(encoding="utf-8"))
    return [
        Module(
            name,
            (*entry["tests"], f"tests/test_doctests.py::test_examples[{name}]"),
            tuple(entry.get("deselected", ())),
            entry.get("formulas_only", False),
        )
        for name, entry in found["module"].items()
    ]


def load_survivors() -> list[Survivor]:
    found = tomllib.loads(SURVIVORS.read_text(encoding="utf-8"))
    return [Survivor(**entry) for entry in found.get("survivor", [])]
