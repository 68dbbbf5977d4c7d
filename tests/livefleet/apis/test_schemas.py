"""Values for schemas, against another implementation of JSON Schema than the one that checks them.

What must come of each schema is what the specification says (draft 2020-12, and draft 7 for tuples).
"""

import contextlib
import json
import re
import socket
import time
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it has no stubs
import pytest

from livefleet.apis.schemas import SchemaError, example_of, matching

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 0, "maximum": 130}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
TREE = {
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "value": {"type": "integer"},
                "left": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            },
            "required": ["value", "left", "children"],
        }
    },
    "$ref": "#/$defs/node",
}
SATISFIED: dict[str, Any] = {
    "anything": {},
    "true": True,
    "a person": PERSON,
    "a list of persons": {"type": "array", "items": PERSON, "minItems": 2, "maxItems": 3},
    "an enum": {"enum": ["red", 3, None]},
    "a constant": {"const": {"a": [1, 2]}},
    "null": {"type": "null"},
    "a boolean": {"type": "boolean"},
    "several types": {"type": ["null", "integer"]},
    "an integer": {"type": "integer"},
    "an exclusive span": {"type": "integer", "exclusiveMinimum": 4, "exclusiveMaximum": 6},
    "a negative span": {"type": "integer", "minimum": -12, "maximum": -10},
    "a maximum alone": {"type": "integer", "maximum": -1000},
    "a multiple": {"type": "integer", "multipleOf": 7, "minimum": 50},
    "a fraction": {"type": "number", "multipleOf": 0.25, "minimum": 1, "maximum": 1.25},
    "a narrow number": {"type": "number", "exclusiveMinimum": 0.1, "exclusiveMaximum": 0.2},
    "a large number": {"type": "number", "minimum": 1e30},
    "a short text": {"type": "string", "maxLength": 3},
    "a long text": {"type": "string", "minLength": 300},
    "a pattern": {"type": "string", "pattern": "^[A-Z]{3}-\\d{2,4}(x|yz)?$"},
    "a pattern inside": {"type": "string", "pattern": "[0-9]+"},
    "a pattern and a length": {"type": "string", "pattern": "^[a-z]+$", "minLength": 20, "maxLength": 40},
    "a negated class": {"type": "string", "pattern": "^[^a-z]\\S\\W$"},
    "a date": {"type": "string", "format": "date"},
    "a moment": {"type": "string", "format": "date-time"},
    "an address": {"type": "string", "format": "email"},
    "a uuid": {"type": "string", "format": "uuid"},
    "different items": {"type": "array", "items": {"enum": [1, 2, 3, 4]}, "uniqueItems": True, "minItems": 4},
    "a tuple": {"type": "array", "prefixItems": [{"const": 1}, {"type": "string"}], "items": False, "minItems": 2},
    "an old tuple": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "array",
        "items": [{"const": 1}, {"type": "boolean"}],
        "additionalItems": {"type": "null"},
        "minItems": 4,
    },
    "an item inside": {"type": "array", "items": {"type": "integer"}, "contains": {"const": 7}, "minItems": 3},
    "no items": {"type": "array", "maxItems": 0},
    "any of": {"anyOf": [{"type": "integer", "minimum": 3, "maximum": 2}, {"type": "string"}]},
    "one of": {"oneOf": [{"type": "integer", "multipleOf": 2}, {"type": "integer", "multipleOf": 3}]},
    "all of": {"allOf": [PERSON, {"properties": {"age": {"minimum": 18}}}, {"required": ["age"]}]},
    "a reference": {
        "definitions": {"a/b": {"const": 5}},
        "properties": {"x": {"$ref": "#/definitions/a~1b"}},
        "required": ["x"],
    },
    "a tree": TREE,
    "only some names": {
        "type": "object",
        "patternProperties": {"^x_": {"type": "integer"}},
        "additionalProperties": False,
        "minProperties": 2,
    },
    "a map": {"type": "object", "additionalProperties": {"type": "number"}, "minProperties": 3},
    "at most one": {"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "maxProperties": 1},
    "what depends": {"properties": {"card": {"type": "integer"}}, "dependentRequired": {"card": ["street"]}},
    "an if": {
        "properties": {"kind": {"enum": ["a", "b"]}},
        "required": ["kind"],
        "if": {"properties": {"kind": {"const": "a"}}},
        "then": {"required": ["size"], "properties": {"size": {"type": "integer"}}},
        "else": {"required": ["name"]},
    },
    "a required name without a schema": {"type": "object", "required": ["x y", "\u00e9"]},
}
REFUSED: dict[str, Any] = {
    "false": False,
    "a number": 5,
    "an unknown type": {"type": "foo"},
    "bounds that cross": {"type": "integer", "minimum": 5, "maximum": 4},
    "no room between": {"type": "integer", "exclusiveMinimum": 4, "exclusiveMaximum": 5},
    "an empty enum of a type": {"type": "object", "enum": ["x"]},
    "endless references": {"$ref": "#"},
    "a reference elsewhere": {"$ref": "https://example.com/schema.json"},
    "a reference to nowhere": {"$ref": "#/$defs/x"},
    "a pattern that looks ahead": {"type": "string", "pattern": "^(?=a)a$"},
    "a pattern that is none": {"type": "string", "pattern": "("},
    "a required name that is forbidden": {"properties": {"a": False}, "required": ["a"]},
    "what is not followed": {"not": {}},
    "too few different items": {"type": "array", "items": {"type": "boolean"}, "uniqueItems": True, "minItems": 3},
    "too many items": {"type": "array", "minItems": 1_000_000},
    "a text that is too long": {"type": "string", "minLength": 10_000_000},
    "an endless bound": {"type": "integer", "minimum": float("inf")},
    "a tree without an end": {
        "$defs": {"n": {"properties": {"n": {"$ref": "#/$defs/n"}}, "required": ["n"]}},
        "$ref": "#/$defs/n",
    },
    "keywords of a wrong type": {"type": "object", "properties": 5},
}


@pytest.mark.parametrize("name", SATISFIED)
@pytest.mark.parametrize("seed", [0, 1, 2**63])
def test_a_value_satisfies_its_schema(name: str, seed: int) -> None:
    schema = SATISFIED[name]
    value = json.loads(json.dumps(example_of(schema, seed)))
    checker = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
    checker(schema, format_checker=checker.FORMAT_CHECKER).validate(value)
    assert example_of(schema, seed) == value


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_satisfied_is_refused(name: str) -> None:
    with pytest.raises(SchemaError) as caught:
        example_of(REFUSED[name], 0)
    assert 0 < len(str(caught.value)) < 300


def test_no_connection_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "socket", lambda *_: pytest.fail("a connection"))
    with pytest.raises(SchemaError):
        example_of({"$schema": "https://example.com/meta", "$ref": "https://example.com/x"}, 0)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "^(a+)+$", "minLength": 200},
        {
            "type": "array",
            "items": {"type": "array", "items": {"type": "array", "minItems": 200}, "minItems": 200},
            "minItems": 200,
        },
        {"allOf": [{"anyOf": [{"type": "integer", "minimum": 2, "maximum": 1}] * 50}] * 50},
        {"type": "array", "items": {"const": 1}, "uniqueItems": True, "minItems": 200},
        {"type": "string", "pattern": "^" + "(a|b)" * 2000 + "$"},
    ],
    ids=["backtracking", "nested", "alternatives", "equal", "long"],
)
def test_a_schema_holds_nobody_up(schema: Any) -> None:
    started = time.process_time()
    with contextlib.suppress(SchemaError):
        example_of(schema, 0)
    assert time.process_time() - started < 3


@pytest.mark.parametrize("pattern", ["yes|no", r"\d{3}-\d{4}", "(ab|cd)+", r"v\d+\.\d+", "[A-F0-9]{8}", ""])
def test_a_text_matches_its_pattern(pattern: str) -> None:
    assert re.fullmatch(pattern, matching(pattern, 3))
