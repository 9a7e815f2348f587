"""The JSON Schemas: committed as generated, and true of the bundled files."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import jsonschema
import pytest

from exactworlds.spec.bundled import spec_folder, world_names
from exactworlds.spec.cohorts import cohort_names
from exactworlds.spec.schema import schemas

COMMITTED = {
    file.name.removesuffix(".schema.json"): json.loads(file.read_text(encoding="utf-8"))
    for file in (spec_folder() / "schema").glob("*.schema.json")
}


def raw_world(name: str) -> dict[str, Any]:
    return tomllib.loads((spec_folder() / "worlds" / f"{name}.toml").read_text(encoding="utf-8"))


def test_the_committed_schemas_are_what_the_types_give() -> None:
    assert json.loads(json.dumps(schemas())) == COMMITTED


@pytest.mark.parametrize("name", world_names())
def test_the_bundled_worlds_are_valid(name: str) -> None:
    jsonschema.validate(raw_world(name), COMMITTED["world"], jsonschema.Draft202012Validator)


@pytest.mark.parametrize("name", cohort_names())
def test_the_bundled_cohorts_are_valid(name: str) -> None:
    raw = tomllib.loads((spec_folder() / "cohorts" / f"{name}.toml").read_text(encoding="utf-8"))
    jsonschema.validate(raw, COMMITTED["cohort"], jsonschema.Draft202012Validator)


@pytest.mark.parametrize("name", ["published", "claims", "relations", "reporters"])
def test_the_other_spec_files_are_valid(name: str) -> None:
    raw = tomllib.loads((spec_folder() / f"{name}.toml").read_text(encoding="utf-8"))
    jsonschema.validate(raw, COMMITTED[name], jsonschema.Draft202012Validator)


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (("attribute", "novelty", "probability"), [0.5, 0.5]),
        (("attribute", "novelty", "odds"), 1),
        (("question",), 7),
        (("setting", "low"), "everything"),
        (("provenance", 0, "kind"), "guessed"),
        (("shown", "evidence", "grid", "0"), ["1.0"]),
    ],
)
def test_a_schema_refuses_what_the_loader_refuses(path: tuple[str | int, ...], wrong: object) -> None:
    raw: Any = raw_world("peer-review")
    at = raw
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = wrong
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(raw, COMMITTED["world"], jsonschema.Draft202012Validator)
