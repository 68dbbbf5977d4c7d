"""Example programs: resources with arguments, each value with its type in the schema."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Schema = Mapping[str, Any]
Scalar = str | int | float | bool
_REFERENCE = re.compile(r"\$\{(\w+)\.(\w+)\}")
_TYPES = "#/types/"
_ANY = "pulumi.json#/Any"


@dataclass(frozen=True)
class Reference:
    """An output of another resource."""

    resource: str
    output: str


@dataclass(frozen=True)
class Literal:
    """A string, number or boolean; ``type`` is ``any`` where the schema has none."""

    value: Scalar
    type: str
    plain: bool


@dataclass(frozen=True)
class Items:
    """A list; ``element`` is the type of its elements."""

    values: tuple["Value", ...]
    element: Schema
    plain: bool


@dataclass(frozen=True)
class Entries:
    """A map whose keys are data; ``element`` is the type of its values."""

    values: Mapping[str, "Value"]
    element: Schema
    plain: bool


@dataclass(frozen=True)
class Fields:
    """An object of a type of the schema; ``required`` lists the fields that are not optional."""

    name: str
    values: Mapping[str, "Value"]
    required: frozenset[str]


Value = Reference | Literal | Items | Entries | Fields


@dataclass(frozen=True)
class Resource:
    """One resource of a program."""

    name: str
    component: str
    arguments: Fields


@dataclass(frozen=True)
class Program:
    """A program of one or more resources; the last one is the subject of the example."""

    resources: tuple[Resource, ...]
    schema: Schema


def program(definition: Mapping[str, Mapping[str, Mapping[str, Any]]], schema: Schema) -> Program:
    """Read an example.

    Raises:
        ValueError: It uses a component, an argument or an output that the schema does not have.
    """
    resources: list[Resource] = []
    for name, declared in definition.items():
        ((component, arguments),) = declared.items()
        token = f"{schema['name']}:index:{component}"
        if token not in schema["resources"]:
            raise ValueError(f"example {name}: unknown component {component}")
        described = schema["resources"][token]
        required = frozenset(described.get("requiredInputs", ()))
        values = dict(_fields(name, arguments, described["inputProperties"], schema))
        resources.append(Resource(name, component, Fields(component, values, required)))
    _check_references(resources, schema)
    return Program(tuple(resources), schema)


def _fields(path: str, values: Mapping[str, Any], properties: Schema, schema: Schema) -> Iterator[tuple[str, Value]]:
    for key, value in values.items():
        if key not in properties:
            raise ValueError(f"example {path}.{key}: unknown argument; known are {', '.join(properties)}")
        yield key, _value(f"{path}.{key}", value, properties[key], schema)


def _value(path: str, value: Any, spec: Schema, schema: Schema) -> Value:
    plain = bool(spec.get("plain"))
    if isinstance(value, str) and (reference := _REFERENCE.fullmatch(value)):
        return Reference(reference[1], reference[2])
    if isinstance(value, list):
        element = spec.get("items", {"$ref": _ANY, "plain": plain})
        return Items(tuple(_value(path, each, element, schema) for each in value), element, plain)
    if isinstance(value, dict):
        declared = spec.get("$ref", "")
        if declared.startswith(_TYPES):
            token = declared.removeprefix(_TYPES)
            described = schema["types"][token]
            fields = dict(_fields(path, value, described["properties"], schema))
            return Fields(token.rpartition(":")[2], fields, frozenset(described.get("required", ())))
        element = spec.get("additionalProperties", {"$ref": _ANY, "plain": plain})
        entries = {key: _value(f"{path}.{key}", each, element, schema) for key, each in value.items()}
        return Entries(entries, element, plain)
    return Literal(value, spec.get("type", "any"), plain)


def _check_references(resources: list[Resource], schema: Schema) -> None:
    """Raise unless each reference names an output of an earlier resource."""
    known: dict[str, Schema] = {}
    for resource in resources:
        for reference in references(resource.arguments):
            outputs = known.get(reference.resource)
            if outputs is None or reference.output not in outputs:
                text = f"${{{reference.resource}.{reference.output}}}"
                raise ValueError(f"example {resource.name}: {text} is no output of a resource above")
        known[resource.name] = schema["resources"][f"{schema['name']}:index:{resource.component}"]["properties"]


def references(value: Value) -> Iterator[Reference]:
    """Yield the references in a value."""
    match value:
        case Reference():
            yield value
        case Items():
            for item in value.values:
                yield from references(item)
        case Entries() | Fields():
            for entry in value.values.values():
                yield from references(entry)


def is_any(spec: Schema) -> bool:
    """Whether a type accepts any value."""
    return spec.get("$ref") == _ANY
