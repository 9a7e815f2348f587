"""From the bytes of a file to a structured document, with every fault at once.

TOML is read by the standard library; a float is kept as its text so that it can be refused with its place. Each
section is structured by itself, so that a fault in one leaves the others to be checked. What is not here: what the
sections mean together (`spec.resolve`).
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from attrs import fields, has
from cattrs import Converter
from cattrs.errors import (
    BaseValidationError,
    ClassValidationError,
    ForbiddenExtraKeysError,
    IterableValidationError,
)

from exactworlds.errors import InvalidArgument, InvalidSpec, Problem, UnreadableFile, shorten
from exactworlds.rational import LONGEST_LITERAL, parse_exact
from exactworlds.spec.document import Exact, Tree

__all__ = [
    "LARGEST_FILE",
    "RawFloat",
    "exact_from",
    "parse_toml",
    "read_bytes",
    "read_toml",
    "shown",
    "structure",
    "unknown_keys",
]

LARGEST_FILE = 4 * 1024 * 1024
"""The largest file that is read, in bytes."""

DEEPEST_TABLES = 100
"""Tables and lists within each other: a table of rows needs one level a key."""

_LONG_NUMBER = re.compile(rf"[0-9_]{{{LONGEST_LITERAL + 1},}}|0[xob][0-9a-fA-F_]{{{LONGEST_LITERAL + 1},}}")
_TOO_DEEP = Problem("", f"tables or lists are nested more than {DEEPEST_TABLES} deep")
_T = TypeVar("_T")


class RawFloat(str):
    """The text of a TOML float: never a number, and never a string field either."""

    __slots__ = ()


def read_bytes(file: str | Path) -> bytes:
    """The bytes of a file, "-" being standard input; `UnreadableFile` says why not."""
    try:
        if str(file) == "-":
            data = sys.stdin.buffer.read(LARGEST_FILE + 1)
        else:
            with Path(file).open("rb") as stream:
                data = stream.read(LARGEST_FILE + 1)
    except IsADirectoryError:
        raise UnreadableFile(file, "is a directory, expected a file") from None
    except FileNotFoundError:
        raise UnreadableFile(file, "does not exist") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UnreadableFile(file, f"cannot be read ({reason})") from None
    if len(data) > LARGEST_FILE:
        raise UnreadableFile(file, f"is larger than {LARGEST_FILE:,} bytes")
    return data


def read_toml(file: str | Path) -> dict[str, Any]:
    """A TOML file as nested dictionaries; floats are `RawFloat`s."""
    return parse_toml(read_bytes(file), file)


def parse_toml(data: bytes, file: str | Path) -> dict[str, Any]:
    """TOML text as nested dictionaries; `InvalidSpec` names line and column of what cannot be read."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        what = f"found the byte 0x{data[error.start]:02x}, expected UTF-8 text"
        raise InvalidSpec(file, [Problem(f"line {line}, column {column}", what)]) from None
    if not text.strip():
        raise InvalidSpec(file, [Problem("", "the file is empty")])
    long_numbers = [
        Problem(
            f"line {text.count(chr(10), 0, match.start()) + 1}",
            f"found a number of {len(match.group()):,} characters, expected at most {LONGEST_LITERAL:,}",
        )
        for match in _LONG_NUMBER.finditer(text)
    ]
    if long_numbers:
        raise InvalidSpec(file, long_numbers)
    try:
        found = tomllib.loads(text, parse_float=RawFloat)
    except tomllib.TOMLDecodeError as error:
        what, _, place = str(error).partition(" (at ")
        raise InvalidSpec(file, [Problem(place.rstrip(")"), f"not TOML: {what}")]) from None
    except RecursionError:
        raise InvalidSpec(file, [_TOO_DEEP]) from None
    if _is_deep(found):
        raise InvalidSpec(file, [_TOO_DEEP])
    return found


def _is_deep(value: object) -> bool:
    """Whether tables and lists lie deeper within each other than `DEEPEST_TABLES`: dotted keys build any depth."""
    layer = [value]
    for _ in range(DEEPEST_TABLES):
        containers = [item for item in layer if isinstance(item, dict | list)]
        layer = [below for item in containers for below in (item.values() if isinstance(item, dict) else item)]
        if not layer:
            return False
    return True


def structure(value: Any, kind: type[_T], where: str, problems: list[Problem]) -> _T | None:
    """The value as `kind`, or None with its faults added to `problems`."""
    misshapen = list(_shape_problems(value, kind, where))
    places = tuple(problem.where for problem in misshapen)
    problems.extend(misshapen)
    if where in places:
        return None
    try:
        found = _CONVERTER.structure(value, kind)
    except BaseValidationError as error:
        problems.extend(problem for problem in _flatten(error, where) if not problem.where.startswith(places))
    except (TypeError, ValueError) as error:
        problems.append(Problem(where, str(error)))
    else:
        return None if misshapen else found
    return None


def _shape_problems(value: object, kind: Any, where: str) -> Iterator[Problem]:
    """Where something else stands than a table or list: cattrs would read a text as the list of its letters."""
    if get_origin(kind) in (Union, UnionType):
        kind = next(part for part in get_args(kind) if part is not type(None))
    if has(kind) and kind not in (Exact, Tree):
        if not isinstance(value, Mapping):
            yield Problem(where, f"found {shown(value)}, expected a table")
            return
        hints = _hints(kind)
        for key, below in value.items():
            if key in hints:
                yield from _shape_problems(below, hints[key], f"{where}.{key}" if where else key)
    elif _made_from(kind, Mapping):
        if not isinstance(value, Mapping):
            yield Problem(where, f"found {shown(value)}, expected a table")
            return
        for key, below in value.items():
            yield from _shape_problems(below, get_args(kind)[1], f"{where}.{key}" if where else key)
    elif _made_from(kind, tuple) and str not in get_args(kind):
        first, *rest = get_args(kind)
        if not isinstance(value, list):
            yield Problem(where, f"found {shown(value)}, expected a list")
        elif rest != [Ellipsis] and len(value) != len(rest) + 1:
            yield Problem(where, f"found {shown(value)}, expected a list of {len(rest) + 1}")
        else:
            for index, below in enumerate(value):
                yield from _shape_problems(below, first, f"{where}[{index}]")


@cache
def _hints(kind: type) -> dict[str, Any]:
    """The types of a class's fields: files of many lines ask for the same ones again and again."""
    return get_type_hints(kind)


def unknown_keys(found: Iterable[str], known: Iterable[str], where: str) -> list[Problem]:
    """One problem for each key that is not known."""
    listed = list(known)
    prefix = f"{where}." if where else ""
    return [
        Problem(f"{prefix}{key}", f"unknown key, expected one of: {', '.join(listed)}")
        for key in found
        if key not in listed
    ]


def exact_from(value: object, _kind: object = None) -> Exact:
    """An exact number from a TOML value; a float is refused because the decimal it stood for is gone."""
    if isinstance(value, RawFloat | float):
        suggestion = value if re.fullmatch(r"-?[0-9]+\.[0-9]+", str(value)) else "0.28"
        raise TypeError(f'found the float {value}, expected an exact number in quotes, such as "{suggestion}"')
    if isinstance(value, str | int) and not isinstance(value, bool):
        try:
            return Exact(str(value), parse_exact(value))
        except InvalidArgument as error:
            raise ValueError(f"found {shorten(error.found)}, expected {error.expected}") from None
    raise TypeError(f'found {shown(value)}, expected an exact number such as "7/25", "0.28" or 3')


def shown(value: object) -> str:
    """What was found, in a few words."""
    if isinstance(value, RawFloat):
        return f"the float {value}"
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"the {'text' if isinstance(value, str) else 'value'} {shorten(value)}"


def _strict(kind: type, name: str) -> Callable[[object, object], Any]:
    """cattrs turns "3" into 3 and 5 into "5" unless it is told not to."""

    def hook(value: object, _kind: object) -> Any:
        if type(value) is not kind:
            raise TypeError(f"found {shown(value)}, expected {name}")
        return value

    return hook


def _converter() -> Converter:
    converter = Converter(forbid_extra_keys=True, detailed_validation=True)
    converter.register_structure_hook(str, _strict(str, "text"))
    converter.register_structure_hook(int, _strict(int, "an integer"))
    converter.register_structure_hook(bool, _strict(bool, "true or false"))
    converter.register_structure_hook(Exact, exact_from)
    converter.register_structure_hook(Tree, lambda value, _: Tree(value))

    def names(value: object, _kind: object) -> tuple[str, ...] | str | None:
        if value is None or type(value) is str:
            return value
        return _texts(value)

    def texts(value: object, _kind: object) -> tuple[str, ...]:
        return _texts(value)

    converter.register_structure_hook_func(lambda kind: kind == (tuple[str, ...] | str | None), names)
    converter.register_structure_hook_func(lambda kind: kind == tuple[str, ...], texts)
    converter.register_structure_hook_func(lambda kind: _made_from(kind, Literal), _one_of)
    return converter


def _made_from(kind: Any, origin: Any) -> bool:
    """Whether `kind` is `origin` with arguments: `tuple[int, int]` is made from `tuple`."""
    found: Any = get_origin(kind)
    return bool(found is origin)


def _one_of(value: object, kind: object) -> Any:
    words = get_args(kind)
    if type(value) is not str or value not in words:
        raise TypeError(f"found {shown(value)}, expected {'one of: ' * (len(words) > 1)}{', '.join(words)}")
    return value


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError(f"found {shown(value)}, expected a list of texts")
    wrong = [shown(item) for item in value if type(item) is not str]
    if wrong:
        raise TypeError(f"found {', '.join(wrong[:3])} in the list, expected texts only")
    return tuple(value)


_CONVERTER = _converter()


def _flatten(error: BaseException, where: str) -> list[Problem]:
    """Every leaf of cattrs' exception group, with its key path."""
    if isinstance(error, ClassValidationError):
        with_notes, others = error.group_exceptions()
        found = [
            problem
            for inner, note in with_notes
            for problem in _flatten(inner, f"{where}.{note.name}" if where else note.name)
        ]
        return found + [problem for inner in others for problem in _flatten(inner, where)]
    if isinstance(error, IterableValidationError):
        with_indices, others = error.group_exceptions()
        found = []
        for inner, note in with_indices:
            step = f"[{note.index}]" if isinstance(note.index, int) else f".{note.index}"
            found += _flatten(inner, f"{where}{step}")
        return found + [problem for inner in others for problem in _flatten(inner, where)]
    if isinstance(error, ForbiddenExtraKeysError):
        known = [attribute.name for attribute in fields(error.cl)] if has(error.cl) else []
        return unknown_keys(sorted(error.extra_fields), known, where)
    if isinstance(error, KeyError):
        return [Problem(where, "missing")]
    return [Problem(where, str(error))]
