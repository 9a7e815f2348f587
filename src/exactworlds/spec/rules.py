"""The rule language: its trees, and the parser that builds them from text.

A rule or derived attribute is an expression of a small, total, side-effect-free language over exact finite decimals,
levels and booleans; spec/README.md states its grammar. Python's `ast` reads the text and a whitelist turns it into the
trees below; nothing is ever evaluated by Python. A `Number` keeps the literal as it was written, so that each engine
reads it in its own arithmetic. What is not here: types (`spec.typing`) and values (one evaluator in each engine).
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Literal as OneOf

from attrs import frozen

from exactworlds.errors import shorten
from exactworlds.rational import LONGEST_LITERAL

__all__ = [
    "DEEPEST_NESTING",
    "LONGEST_RULE",
    "Arithmetic",
    "Choose",
    "Comparison",
    "Expression",
    "Extremum",
    "Level",
    "Logical",
    "Lookup",
    "Name",
    "Negate",
    "Not",
    "Number",
    "RuleSyntaxError",
    "children",
    "names_in",
    "parse_rule",
    "rule_text",
]

LONGEST_RULE = 10_000
DEEPEST_NESTING = 100
"""Brackets within brackets; a tree may be twice as deep, so that a sum of two hundred terms is still read."""


class RuleSyntaxError(ValueError):
    """The text is not an expression of the rule language; the message says where and what was expected."""


@frozen
class Number:
    """A finite decimal, as the text that was written; it is never negative (that is `Negate`)."""

    literal: str


@frozen
class Level:
    """The name of a level, written in quotes."""

    name: str


@frozen
class Name:
    """An attribute, a derived attribute or the residual."""

    name: str


@frozen
class Negate:
    operand: Expression


@frozen
class Arithmetic:
    operator: OneOf["+", "-", "*"]
    left: Expression
    right: Expression


@frozen
class Extremum:
    function: OneOf["min", "max"]
    operands: tuple[Expression, ...]


@frozen
class Comparison:
    operator: OneOf["<", "<=", ">", ">=", "==", "!="]
    left: Expression
    right: Expression


@frozen
class Not:
    operand: Expression


@frozen
class Logical:
    operator: OneOf["and", "or"]
    operands: tuple[Expression, ...]


@frozen
class Choose:
    """`then if test else otherwise`."""

    test: Expression
    then: Expression
    otherwise: Expression


@frozen
class Lookup:
    """`table[key, …]`."""

    table: str
    keys: tuple[Expression, ...]


Expression = Number | Level | Name | Negate | Arithmetic | Extremum | Comparison | Not | Logical | Choose | Lookup

_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)
_STRING = re.compile(r"'(?:[^'\\\x00-\x1f]|\\[^\x00-\x1f])*'|\"(?:[^\"\\\x00-\x1f]|\\[^\x00-\x1f])*\"")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_ARITHMETIC: dict[type[ast.operator], OneOf["+", "-", "*"]] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
_COMPARISON: dict[type[ast.cmpop], OneOf["<", "<=", ">", ">=", "==", "!="]] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
_REFUSED = {
    ast.Div: "division is not in the language (its result need not be a finite decimal)",
    ast.FloorDiv: "// is not in the language",
    ast.Mod: "% is not in the language",
    ast.Pow: "powers are not in the language",
    ast.Attribute: "a dot after a name is not in the language",
    ast.Lambda: "lambda is not in the language",
    ast.Tuple: "a list of values stands only between the brackets of a table",
    ast.List: "a list of values stands only between the brackets of a table",
}


def parse_rule(text: str) -> Expression:
    """The tree of an expression, or `RuleSyntaxError`.

    >>> parse_rule("slack < 0.5")
    Comparison(operator='<', left=Name(name='slack'), right=Number(literal='0.5'))
    """
    if not text.strip():
        raise RuleSyntaxError("found nothing, expected an expression")
    if len(text) > LONGEST_RULE:
        raise RuleSyntaxError(f"found {len(text):,} characters, expected at most {LONGEST_RULE:,}")
    _check_brackets(text)
    source = f"({text}\n)"  # brackets allow an expression to run over several lines
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # advice to writers of Python, such as on "1if"
            tree = ast.parse(source, mode="eval")
    except SyntaxError as error:
        offset = _offset(source, error.lineno or 1, (error.offset or 1) - 1) - 1
        raise RuleSyntaxError(f"{_at(text, offset)}: {error.msg}") from None
    except (RecursionError, MemoryError, ValueError):
        raise RuleSyntaxError("the expression is nested too deeply or holds a character that cannot be read") from None
    return _Builder(text, source).build(tree.body, depth=0)


def children(node: Expression) -> tuple[Expression, ...]:
    """The direct parts of a tree, from left to right."""
    match node:
        case Number() | Level() | Name():
            return ()
        case Negate(operand) | Not(operand):
            return (operand,)
        case Arithmetic(_, left, right) | Comparison(_, left, right):
            return (left, right)
        case Extremum(_, operands) | Logical(_, operands) | Lookup(_, operands):
            return operands
        case Choose(test, then, otherwise):
            return (test, then, otherwise)


def names_in(node: Expression) -> Iterator[str]:
    """Every name that the tree reads, tables excepted, with repetitions.

    >>> sorted(set(names_in(parse_rule("a + t[b] if c == 'x' else a"))))
    ['a', 'b', 'c']
    """
    if isinstance(node, Name):
        yield node.name
    for child in children(node):
        yield from names_in(child)


def rule_text(node: Expression, *, number: Callable[[str], str] = str) -> str:
    """The canonical text of a tree: equal trees have equal texts, and parsing the text gives the tree back.

    `number` rewrites literals, for texts that should not depend on how a number was written.

    >>> rule_text(parse_rule("a+(1.50 if b=='x'  else 0)"))
    "(a + (1.50 if (b == 'x') else 0))"
    """

    def text(part: Expression) -> str:
        return rule_text(part, number=number)

    match node:
        case Number(literal):
            return number(literal)
        case Level(name):
            return repr(name)
        case Name(name):
            return name
        case Negate(operand):
            return f"(-{text(operand)})"
        case Arithmetic(operator, left, right) | Comparison(operator, left, right):
            return f"({text(left)} {operator} {text(right)})"
        case Extremum(function, operands):
            return f"{function}({', '.join(map(text, operands))})"
        case Not(operand):
            return f"(not {text(operand)})"
        case Logical(operator, operands):
            return "(" + f" {operator} ".join(map(text, operands)) + ")"
        case Choose(test, then, otherwise):
            return f"({text(then)} if {text(test)} else {text(otherwise)})"
        case Lookup(table, keys):
            return f"{table}[{', '.join(map(text, keys))}]"


class _Builder:
    """Turns Python's tree into ours and refuses whatever is not on the list."""

    def __init__(self, text: str, source: str) -> None:
        self.text, self.source = text, source

    def build(self, node: ast.expr, depth: int) -> Expression:
        if depth > 2 * DEEPEST_NESTING:
            raise RuleSyntaxError(f"the expression joins more than {2 * DEEPEST_NESTING} parts in a row: split it")
        below = depth + 1
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name(id=name):
                if not _NAME.fullmatch(self._source(node)):
                    raise self._refuse(node, "expected a name of lower-case letters, digits and _")
                return Name(name)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return Negate(self.build(operand, below))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Not(self.build(operand, below))
            case ast.BinOp(op=op, left=left, right=right) if type(op) in _ARITHMETIC:
                return Arithmetic(_ARITHMETIC[type(op)], self.build(left, below), self.build(right, below))
            case ast.BinOp(op=op):
                raise self._refuse(node, _REFUSED.get(type(op), "only + - * join numbers"))
            case ast.Compare(ops=[op], left=left, comparators=[right]) if type(op) in _COMPARISON:
                return Comparison(_COMPARISON[type(op)], self.build(left, below), self.build(right, below))
            case ast.Compare(ops=ops) if len(ops) > 1:
                raise self._refuse(node, "comparisons are not chained: write 'a < b and b < c'")
            case ast.BoolOp(op=op, values=values):
                operator: OneOf["and", "or"] = "and" if isinstance(op, ast.And) else "or"
                return Logical(operator, tuple(self.build(value, below) for value in values))
            case ast.IfExp(test=test, body=then, orelse=otherwise):
                return Choose(self.build(test, below), self.build(then, below), self.build(otherwise, below))
            case ast.Subscript(value=ast.Name(id=table), slice=ast.Tuple(elts=keys)) if keys:
                return Lookup(table, tuple(self.build(key, below) for key in keys))
            case ast.Subscript(value=ast.Name(id=table), slice=key):
                return Lookup(table, (self.build(key, below),))
            case ast.Call(func=ast.Name(id="min" | "max" as function), args=arguments, keywords=[]):
                if len(arguments) < 2:
                    raise self._refuse(node, f"{function} takes two or more numbers")
                return Extremum(
                    "min" if function == "min" else "max",
                    tuple(self.build(argument, below) for argument in arguments),
                )
            case ast.Call():
                raise self._refuse(node, "only min(…) and max(…) can be called")
            case _:
                reason = _REFUSED.get(type(node), "this is not in the language (its grammar is in spec/README.md)")
                raise self._refuse(node, reason)

    def _constant(self, node: ast.Constant) -> Expression:
        written = self._source(node)
        if isinstance(node.value, str):
            if not _STRING.fullmatch(written):
                raise self._refuse(node, "expected a level in one pair of quotes")
            return Level(node.value)
        if len(written) > LONGEST_LITERAL:
            raise self._refuse(node, f"expected a number of at most {LONGEST_LITERAL} characters")
        if isinstance(node.value, int | float) and _NUMBER.fullmatch(written):
            return Number(written)
        raise self._refuse(node, "expected a finite decimal such as 2 or 0.5, a level in quotes, or a name")

    def _source(self, node: ast.expr) -> str:
        return ast.get_source_segment(self.source, node) or ""

    def _refuse(self, node: ast.expr, reason: str) -> RuleSyntaxError:
        offset = _offset(self.source, node.lineno, node.col_offset) - 1
        return RuleSyntaxError(f"{_at(self.text, offset)}: found {shorten(self._source(node))}: {reason}")


def _check_brackets(text: str) -> None:
    """Refuses deep or unmatched brackets before Python's parser sees them: its own limits are not ours."""
    depth = 0
    position = 0
    while position < len(text):
        string = _STRING.match(text, position)
        if string:
            position = string.end()
            continue
        character = text[position]
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "#" or (character < " " and character not in "\n\t"):
            raise RuleSyntaxError(f"{_at(text, position)}: found {character!r}, which is not in the language")
        if depth > DEEPEST_NESTING:
            raise RuleSyntaxError(f"{_at(text, position)}: brackets are nested more than {DEEPEST_NESTING} deep")
        if depth < 0:
            raise RuleSyntaxError(f"{_at(text, position)}: found {character!r} without its opening bracket")
        position += 1
    if depth:
        raise RuleSyntaxError(
            f"{_at(text, len(text))}: {depth} opening bracket(s) never closed, expected as many closing ones"
        )


def _offset(source: str, line: int, column_in_bytes: int) -> int:
    """The character offset of a place that Python's parser gives as a line and a column in UTF-8 bytes."""
    lines = source.split("\n")
    before = lines[line - 1].encode()[:column_in_bytes].decode(errors="ignore")
    return sum(len(text) + 1 for text in lines[: line - 1]) + len(before)


def _at(text: str, offset: int) -> str:
    """Where in the rule: its column, and its line when it has several."""
    offset = min(max(offset, 0), len(text))
    line = text.count("\n", 0, offset) + 1
    column = offset - (text.rfind("\n", 0, offset) + 1) + 1
    return f"line {line}, column {column}" if "\n" in text.strip("\n") else f"column {column}"
