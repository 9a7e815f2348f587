"""Breaks every bare formula in every small way, and shows that some proof fails.

    python -m proofs.break_formulas [--jobs 2] [--only NAME …] [--minutes 60]

A mutant has one operator, comparison, constant or sign of one `*_formula` changed. It is compiled into the running
package of a forked process, so that everyone who calls the formula calls the mutant, and the proofs that reach the
formula are run until one fails. Nothing is written anywhere. A survivor is a mutant that all of them accept: it is
listed with its line and must be explained (it computes the same) or killed by another statement. Not part of CI.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import inspect
import os
import pkgutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from types import CodeType, FunctionType

import pytest
import sympy  # noqa: F401  (loaded once, before the processes divide)
import z3  # noqa: F401

import exactworlds.golden.identification
import exactworlds.metrics

HERE = Path(__file__).parent
SECONDS = 600
BINARY: dict[type[ast.operator], list[type[ast.operator]]] = {
    ast.Add: [ast.Sub],
    ast.Sub: [ast.Add],
    ast.Mult: [ast.Add],
    ast.Div: [ast.Mult],
}
COMPARISONS: dict[type[ast.cmpop], list[type[ast.cmpop]]] = {
    ast.Lt: [ast.LtE, ast.Gt],
    ast.LtE: [ast.Lt, ast.GtE],
    ast.Gt: [ast.GtE, ast.Lt],
    ast.GtE: [ast.Gt, ast.LtE],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
}


@dataclass(frozen=True)
class Mutant:
    """One change: which function, where, from what to what, and the code of it."""

    function: FunctionType
    line: int
    text: str
    code: CodeType


def formulas() -> dict[str, FunctionType]:
    """Every bare formula of the package, and the comparisons that they are written with."""
    modules = [importlib.import_module(f"exactworlds.metrics.{info.name}") for info in _metrics()]
    found: dict[str, FunctionType] = {}
    for module in (*modules, exactworlds.golden.identification):
        for name, thing in vars(module).items():
            is_formula = name.endswith("_formula") or module.__name__.endswith("._ordering")
            if isinstance(thing, FunctionType) and thing.__module__ == module.__name__ and is_formula:
                found[name] = thing
    return found


def _metrics() -> Iterator[pkgutil.ModuleInfo]:
    return pkgutil.iter_modules(exactworlds.metrics.__path__)


def mutants(function: FunctionType) -> Iterator[Mutant]:
    """Every change of one node of a function."""
    lines, first = inspect.getsourcelines(function)
    tree = ast.parse("".join(lines))
    for index, node in enumerate(ast.walk(tree)):
        for what, change in _changes(node):
            broken = copy.deepcopy(tree)
            change(list(ast.walk(broken))[index])
            before, after = ast.unparse(node), ast.unparse(list(ast.walk(broken))[index])
            code = compile(ast.fix_missing_locations(broken), function.__code__.co_filename, "exec", dont_inherit=True)
            compiled = next(part for part in code.co_consts if isinstance(part, CodeType))
            yield Mutant(function, first + getattr(node, "lineno", 1) - 1, f"{what}: {before} → {after}", compiled)


def _changes(node: ast.AST) -> Iterator[tuple[str, Callable[[ast.AST], None]]]:
    def setter(name: str, value: object) -> Callable[[ast.AST], None]:
        return lambda target: setattr(target, name, value)

    match node:
        case ast.BinOp(op=op):
            yield from (("operator", setter("op", new())) for new in BINARY.get(type(op), []))
        case ast.Compare(ops=[op]):
            yield from (("comparison", setter("ops", [new()])) for new in COMPARISONS.get(type(op), []))
        case ast.BoolOp(op=op):
            yield "connective", setter("op", ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.USub()):
            yield "sign", setter("op", ast.UAdd())
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            yield "constant", setter("value", value + 1)


def reach(name: str, known: dict[str, FunctionType]) -> set[str]:
    """The formula and every formula that calls it, directly or not."""
    found = {name}
    while True:
        callers = {other for other, function in known.items() if _names(function.__code__) & found}
        if callers <= found:
            return found
        found |= callers


def _names(code: CodeType) -> set[str]:
    inner = (part for part in code.co_consts if isinstance(part, CodeType))
    return set(code.co_names).union(*map(_names, inner))


def proofs_of(name: str, known: dict[str, FunctionType]) -> list[str]:
    """The proof files that name the formula, then those that name one that calls it."""
    texts = {file: file.read_text(encoding="utf-8") for file in sorted(HERE.glob("*.py")) if file.name != "__init__.py"}
    texts[HERE / "test_contracts.py"] += texts.pop(HERE / "integer_contracts.py")
    wanted = reach(name, known)
    files = [file for file, text in texts.items() if file.name.startswith("test_") and file.name != "test_kit.py"]
    direct = [file for file in files if _mentions(texts[file], {name})]
    others = [file for file in files if file not in direct and _mentions(texts[file], wanted)]
    return [str(file) for file in (*direct, *others)]


def _mentions(text: str, names: set[str]) -> bool:
    tree = ast.parse(text)
    return any(isinstance(node, ast.Name) and node.id in names for node in ast.walk(tree))


def verdict(files: list[str], mutant: Mutant | None) -> int:
    """In a process of its own: 0 if every proof still passes."""
    if mutant:
        mutant.function.__code__ = mutant.code
    signal.alarm(SECONDS)  # what takes longer has no verdict and is listed
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        return int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "--rootdir", str(HERE.parent), *files]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", nargs="*", help="formulas by name; all if none")
    parser.add_argument("--minutes", type=float, default=240.0, help="start no mutant after so long")
    arguments = parser.parse_args()
    known = formulas()
    chosen = {name: f for name, f in known.items() if not arguments.only or name in arguments.only}
    uncovered = [name for name in chosen if not proofs_of(name, known)]
    covered = {name: proofs_of(name, known) for name in chosen if name not in uncovered}
    work = [(mutant, files) for name, files in covered.items() for mutant in mutants(chosen[name])]
    for name in uncovered:
        print(f"no proof  {name}")
    began, total, running = time.monotonic(), Counter[tuple[str, str]](), dict[int, Mutant | None]()

    def collect() -> None:
        process, status = os.wait()
        mutant = running.pop(process)
        survived = os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0
        if mutant is None:
            if not survived:
                raise SystemExit("a proof fails although nothing is broken")
            return
        fate = "survived" if survived else "killed" if os.WIFEXITED(status) else "without verdict"
        name = mutant.function.__name__
        total[name, fate] += 1
        if fate != "killed":
            print(f"{fate}  {name}, line {mutant.line}: {mutant.text}", flush=True)

    unchanged = sorted({file for _, files in work for file in files})
    for mutant, files in [*((None, [file]) for file in unchanged), *work]:
        if time.monotonic() - began > 60 * arguments.minutes:
            print("the time is over: not every mutant was run")
            break
        while len(running) >= arguments.jobs:
            collect()
        process = os.fork()
        if process == 0:
            code = 1
            try:
                code = verdict(files, mutant)
            finally:
                os._exit(code)
        running[process] = mutant
    while running:
        collect()
    print()
    for name in chosen:
        killed, run = total[name, "killed"], sum(count for (of, _), count in total.items() if of == name)
        print(f"{killed:4} of {run:4} killed  {name}")
    killed = sum(count for (_, fate), count in total.items() if fate == "killed")
    seconds = time.monotonic() - began
    print(f"{killed} of {total.total()} mutants of {len(covered)} formulas are killed, {seconds:.0f} s")
    print(f"{len(work) - total.total()} were not run")


if __name__ == "__main__":
    main()
