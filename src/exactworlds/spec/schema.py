"""JSON Schemas of the spec files, generated from the types that read them: `python -m exactworlds.spec.schema`.

The schemas give completion and checks in editors; a test compares the committed files with what this module makes and
validates the bundled specs against them. They say less than the loader: sums, names and types of rules are checked
there. Schema libraries were tried first: they follow `Exact` into its `Fraction` and drop the notes of `Annotated`.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from attrs import NOTHING, fields, has

from exactworlds.spec.bundled import spec_folder
from exactworlds.spec.claims import Claims
from exactworlds.spec.cohorts import CohortSpec
from exactworlds.spec.document import Description, Exact, Tree, WorldDocument
from exactworlds.spec.prices import Prices
from exactworlds.spec.published import Published
from exactworlds.spec.relations import Relations
from exactworlds.spec.reporters import ReporterSettings

__all__ = ["schema_of", "schemas", "write_schemas"]

_EXACT = {
    "description": "an exact number: an integer, or a decimal or ratio in quotes",
    "anyOf": [{"type": "integer"}, {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+|/[0-9]+)?$"}],
}
_TREE = {
    "description": "a text or number, a list of numbers, or a table of such things",
    "anyOf": [
        {"type": ["string", "integer"]},
        {"type": "array", "items": _EXACT},
        {"type": "object", "additionalProperties": {"$ref": "#/$defs/Tree"}},
    ],
}
_FILES: dict[str, type] = {
    "world": WorldDocument,
    "published": Published,
    "claims": Claims,
    "cohort": CohortSpec,
    "relations": Relations,
    "prices": Prices,
    "reporters": ReporterSettings,
}
_SCALARS: dict[Any, str] = {str: "string", int: "integer", bool: "boolean"}


def schemas() -> dict[str, dict[str, Any]]:
    """Each schema by its name."""
    return {
        name: {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema_of(kind)}
        for name, kind in _FILES.items()
    }


def schema_of(kind: type) -> dict[str, Any]:
    """The schema of an attrs class and of the classes it is made of."""
    definitions: dict[str, Any] = {}
    top = _schema(kind, definitions)
    return {**top, "$defs": dict(sorted(definitions.items()))}


def write_schemas(folder: Path) -> None:
    """Writes each schema to `folder`/NAME.schema.json."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, schema in schemas().items():
        text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        (folder / f"{name}.schema.json").write_text(text, encoding="utf-8")


def _schema(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in _SCALARS:
        return {"type": _SCALARS[kind]}
    if kind in (Exact, Tree):
        definitions[kind.__name__] = _EXACT if kind is Exact else _TREE
        return {"$ref": f"#/$defs/{kind.__name__}"}
    if isinstance(kind, type) and has(kind):
        if kind.__name__ not in definitions:
            definitions[kind.__name__] = {}  # reserved, for types that reach themselves
            definitions[kind.__name__] = _object(kind, definitions)
        return {"$ref": f"#/$defs/{kind.__name__}"}
    if origin is Annotated:
        notes = [note.text for note in arguments[1:] if isinstance(note, Description)]
        return {"description": "; ".join(notes), **_schema(arguments[0], definitions)}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, UnionType):
        return _union([part for part in arguments if part is not NoneType], definitions)
    if origin is tuple and arguments[-1] is Ellipsis:
        return {"type": "array", "items": _schema(arguments[0], definitions)}
    if origin is tuple:
        parts = [_schema(part, definitions) for part in arguments]
        return {"type": "array", "prefixItems": parts, "minItems": len(parts), "maxItems": len(parts)}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(arguments[1], definitions)}
    raise TypeError(f"no schema for {kind}")


def _union(parts: list[Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if len(parts) == 1:
        return _schema(parts[0], definitions)
    return {"anyOf": [_schema(part, definitions) for part in parts]}


def _object(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    return {
        "type": "object",
        "description": inspect.getdoc(kind),
        "properties": {entry.name: _schema(hints[entry.name], definitions) for entry in fields(kind)},
        "required": [entry.name for entry in fields(kind) if entry.default is NOTHING],
        "additionalProperties": False,
    }


if __name__ == "__main__":
    write_schemas(spec_folder() / "schema")
