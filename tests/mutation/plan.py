"""Which mutants are run: all of the bare formulas, and a seeded sample of the others that a rule does not leave out."""

from __future__ import annotations

import ast
import difflib
import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import cosmic_ray.plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code

from mutation.settings import Module

Place = tuple[int, int]

KINDS = (
    ("Add", "Sub", "Mul", "Div", "FloorDiv", "Mod", "Pow"),
    ("BitOr", "BitAnd", "BitXor", "LShift", "RShift"),
)
RULES = {
    "annotation": "inside an annotation, which is never evaluated",
    "alias": "inside a type alias, which fails when the module is imported",
    "signature": "the bare `*` or `/` of a signature, which is no operator",
    "kind": "an arithmetic operator for one of bits and sets, or the reverse: such a mutant fails wherever it is run, "
    "and would only raise the share",
    "identity": "`is` or `is not` for a comparison of values: whether equal values are one object is up to the "
    "interpreter",
}


@dataclass(frozen=True)
class Mutant:
    """One change of one module, as cosmic-ray names it, with the lines that it changes."""

    module: str
    operator: str
    occurrence: int
    line: int
    function: str
    is_formula: bool
    before: str
    after: str

    @property
    def key(self) -> str:
        return f"{self.module} {self.operator} {self.occurrence}"


@dataclass
class Plan:
    """The mutants to run and how they were chosen."""

    seed: int
    mutants: list[Mutant]
    possible: int
    left_out: Counter[str]
    eligible: int
    eligible_formulas: int
    no_python: int

    def to_json(self) -> str:
        return json.dumps({**vars(self), "mutants": [asdict(mutant) for mutant in self.mutants]})

    @classmethod
    def from_json(cls, text: str) -> Plan:
        found = json.loads(text)
        mutants = [Mutant(**entry) for entry in found.pop("mutants")]
        return cls(mutants=mutants, **{**found, "left_out": Counter(found["left_out"])})


@dataclass(frozen=True)
class _Candidate:
    module: Module
    operator: str
    occurrence: int
    line: int
    function: str
    is_formula: bool


def make_plan(modules: list[Module], seed: int, sample: int) -> Plan:
    """Every mutant of a bare formula, and as many of the others as the sample says."""
    possible, left_out, kept = 0, Counter[str](), list[_Candidate]()
    for module in modules:
        for candidate, rule in _candidates(module):
            if module.formulas_only and not candidate.is_formula:
                continue
            possible += 1
            if rule:
                left_out[rule] += 1
            else:
                kept.append(candidate)
    of_formulas = [candidate for candidate in kept if candidate.is_formula]
    others = [candidate for candidate in kept if not candidate.is_formula]
    random.Random(seed).shuffle(others)
    chosen: list[Mutant] = []
    no_python, drawn = 0, 0
    for candidate in [*of_formulas, *others]:
        if not candidate.is_formula and drawn == sample:
            break
        mutant = _written_out(candidate)
        if mutant is None:
            no_python += 1
            continue
        chosen.append(mutant)
        drawn += not candidate.is_formula
    order = {module.name: place for place, module in enumerate(modules)}
    chosen.sort(key=lambda mutant: (order[mutant.module], mutant.line, mutant.operator, mutant.occurrence))
    return Plan(seed, chosen, possible, left_out, len(kept), len(of_formulas), no_python)


def mutated_source(module: Module, operator: str, occurrence: int) -> str:
    """The module with one change."""
    found = mutate_code(module.source, cosmic_ray.plugins.get_operator(operator)(), occurrence)
    if not isinstance(found, str):
        raise LookupError(f"{module.name} has no occurrence {occurrence} of {operator}: its source has changed")
    return found


def _candidates(module: Module) -> Iterator[tuple[_Candidate, str | None]]:
    """Every mutant of cosmic-ray's operators without arguments, with the rule that leaves it out, if one does."""
    tree, source = get_ast(module.source), module.source
    nodes, lines = list(ast_nodes(tree)), module.formula_lines
    passive = dict(_passive_places(source))
    names = _function_names(source)
    for operator in cosmic_ray.plugins.operator_names():
        kind = cosmic_ray.plugins.get_operator(operator)
        if kind.arguments():
            continue
        places = [(start, node) for node in nodes for start, _ in kind().mutation_positions(node)]
        for occurrence, (start, node) in enumerate(places):
            rule = next((rule for span, rule in passive.items() if span[0] <= start < span[1]), None)
            if rule is None and getattr(node.parent, "type", "") in ("parameters", "param", "lambdef"):
                rule = "signature"
            if rule is None and _changes_kind(operator):
                rule = "kind"
            if rule is None and _compares_identity(operator):
                rule = "identity"
            line = start[0]
            yield _Candidate(module, operator, occurrence, line, names.get(line, ""), line in lines), rule


def _changes_kind(operator: str) -> bool:
    _, _, rest = operator.partition("ReplaceBinaryOperator_")
    pair = set(rest.split("_"))
    return bool(rest) and not any(pair <= set(kind) for kind in KINDS)


def _compares_identity(operator: str) -> bool:
    _, _, rest = operator.partition("ReplaceComparisonOperator_")
    before, _, after = rest.partition("_")
    return after in ("Is", "IsNot") and before not in ("Is", "IsNot")


def _written_out(candidate: _Candidate) -> Mutant | None:
    """The mutant with its changed lines, or nothing if it is not Python or changes nothing."""
    after = mutated_source(candidate.module, candidate.operator, candidate.occurrence)
    try:
        compile(after, candidate.module.name, "exec", dont_inherit=True)
    except SyntaxError:
        return None
    removed, added = _changed_lines(candidate.module.source, after)
    if removed == added:
        return None
    return Mutant(
        candidate.module.name,
        candidate.operator,
        candidate.occurrence,
        candidate.line,
        candidate.function,
        candidate.is_formula,
        removed,
        added,
    )


def _changed_lines(before: str, after: str) -> tuple[str, str]:
    first, second = before.splitlines(), after.splitlines()
    parts = difflib.SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    changed = [(first[a:b], second[c:d]) for tag, a, b, c, d in parts if tag != "equal"]
    removed = [line.strip() for part, _ in changed for line in part if line.strip()]
    added = [line.strip() for _, part in changed for line in part if line.strip()]
    return "\n".join(removed), "\n".join(added)


def _passive_places(source: str) -> Iterator[tuple[tuple[Place, Place], str]]:
    """The spans that are read by type checkers only."""
    lines = source.splitlines()

    def span(node: ast.expr) -> tuple[Place, Place]:
        ends = [(node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)]
        start, end = ((line, len(lines[line - 1].encode()[:column].decode())) for line, column in ends)
        return start, end

    tree = ast.parse(source)
    for node in ast.walk(tree):
        match node:
            case ast.arg(annotation=ast.expr() as found) | ast.AnnAssign(annotation=found):
                yield span(found), "annotation"
            case ast.FunctionDef(returns=ast.expr() as found):
                yield span(found), "annotation"
    for node in tree.body:
        if isinstance(node, ast.Assign) and _is_union(node.value):
            yield span(node.value), "alias"


def _is_union(node: ast.expr) -> bool:
    match node:
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return all(_is_union(part) or _is_type(part) for part in (left, right))
    return False


def _is_type(node: ast.expr) -> bool:
    is_none = isinstance(node, ast.Constant) and node.value is None
    return isinstance(node, ast.Name | ast.Attribute | ast.Subscript) or is_none


def _function_names(source: str) -> dict[int, str]:
    """The innermost function or class of each line."""
    found: dict[int, str] = {}

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            name = prefix
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                name = f"{prefix}.{child.name}".lstrip(".")
                found.update(dict.fromkeys(range(child.lineno, (child.end_lineno or child.lineno) + 1), name))
            visit(child, name)

    visit(ast.parse(source), "")
    return found
