"""The rules by which Pulumi binds a schema, as far as this package's can break them.

Source: bindSpec and what it calls in pkg/codegen/schema/bind.go, reserved_keywords.go and the metaschema pulumi.json,
in Pulumi 3.260. Functions, methods, enums, unions and other packages' types do not occur here and are reported.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tests.registry.programs import Schema

_NAME = re.compile(r"[a-zA-Z][-a-zA-Z0-9_]*")
_TOKEN = re.compile(r"[a-zA-Z][-a-zA-Z0-9_]*:([^0-9][a-zA-Z0-9._/-]*)?:[^0-9][a-zA-Z0-9._/]*")
_NAMESPACE = re.compile(r"([a-z][a-z0-9]*)(-[a-z0-9]+)*")
_VERSION = re.compile(r"v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)([-+][0-9A-Za-z.+-]+)?")
_PACKAGE_KEYS = {
    *("name", "displayName", "version", "description", "keywords", "homepage", "license", "attribution"),
    *("repository", "logoUrl", "pluginDownloadURL", "publisher", "namespace", "meta", "config", "types"),
    *("dependencies", "provider", "resources", "functions", "language", "parameterization", "allowedPackageNames"),
}
_RESOURCE_KEYS = {
    *("description", "properties", "required", "inputProperties", "requiredInputs", "isComponent", "type"),
    *("deprecationMessage", "aliases"),
}
_TYPE_KEYS = {"description", "type", "properties", "required"}
_PROPERTY_KEYS = {"description", "type", "$ref", "items", "additionalProperties", "plain", "secret"}
_PRIMITIVE = {"boolean", "integer", "number", "string"}
_BUILT_IN = {"pulumi.json#/Any", "pulumi.json#/Json", "pulumi.json#/Asset", "pulumi.json#/Archive"}
_RESERVED = "pulumi"
_RESERVED_OUTPUTS = {"urn", _RESERVED}


def faults(schema: Schema) -> Iterator[str]:
    """Yield what Pulumi would refuse or warn about, each with its path."""
    yield from _package_faults(schema)
    for section in ("resources", "types"):
        yield from _token_faults(schema, section)
    for token, resource in schema.get("resources", {}).items():
        path = f"#/resources/{token}"
        yield from _unknown_keys(path, resource, _RESOURCE_KEYS)
        if resource.get("isComponent") is not True:
            yield f"{path}: is no component"
        for properties, required in (("properties", "required"), ("inputProperties", "requiredInputs")):
            yield from _object_faults(path, resource, properties, required, schema)
        for name in _RESERVED_OUTPUTS & resource.get("properties", {}).keys():
            yield f"{path}/properties/{name}: {name} is a reserved property name"
    for token, described in schema.get("types", {}).items():
        path = f"#/types/{token}"
        yield from _unknown_keys(path, described, _TYPE_KEYS)
        if described.get("type") != "object":
            yield f"{path}: type must be object, found {described.get('type')!r}"
        yield from _object_faults(path, described, "properties", "required", schema)
    yield from _cycles(schema)


def _package_faults(schema: Schema) -> Iterator[str]:
    yield from _unknown_keys("#", schema, _PACKAGE_KEYS)
    name = schema.get("name", "")
    if not _NAME.fullmatch(name) or name in (_RESERVED, "input"):
        yield f"#/name: invalid package name {name!r}"
    if not _VERSION.fullmatch(schema.get("version", "")):
        yield f"#/version: must be a semantic version, found {schema.get('version')!r}"
    if "namespace" in schema and not _NAMESPACE.fullmatch(schema["namespace"]):
        yield f"#/namespace: invalid namespace {schema['namespace']!r}"
    if schema.get("functions"):
        yield "#/functions: functions are not checked here"


def _token_faults(schema: Schema, section: str) -> Iterator[str]:
    seen: dict[str, str] = {}
    for token in schema.get(section, {}):
        path = f"#/{section}/{token}"
        if not _TOKEN.fullmatch(token):
            yield f"{path}: invalid token; must be package:module:Name"
            continue
        package, module, name = token.split(":")
        if package != schema.get("name"):
            yield f"{path}: must have the package name {schema.get('name')!r}"
        if module in ("", "index") and name.lower() == "provider":
            yield f"{path}: provider is a reserved word for the root module"
        if module.startswith("index/"):
            yield f"{path}: nested modules under index are not allowed"
        if name == _RESERVED:
            yield f"{path}: {name} is a reserved name"
        if token.lower() in seen:
            yield f"{path}: differs from {seen[token.lower()]} only in case"
        seen[token.lower()] = token


def _object_faults(path: str, described: Schema, properties: str, required: str, schema: Schema) -> Iterator[str]:
    declared: Mapping[str, Any] = described.get(properties, {})
    for name, spec in declared.items():
        at = f"{path}/{properties}/{name}"
        if not name.isprintable() or re.search(r"\s", name) or not name:
            yield f"{at}: must contain only printable, non-whitespace characters"
        if name == _RESERVED:
            yield f"{at}: {name} is a reserved property name"
        yield from _type_faults(at, spec, schema)
    for name in described.get(required, ()):
        if name not in declared:
            yield f"{path}/{required}: unknown required property {name!r}"


def _type_faults(path: str, spec: Schema, schema: Schema) -> Iterator[str]:
    yield from _unknown_keys(path, spec, _PROPERTY_KEYS)
    if "$ref" in spec:
        yield from _reference_faults(path, spec, schema)
        return
    kind = spec.get("type")
    allowed = {"array": {"items"}, "object": {"additionalProperties"}}.get(str(kind), set())
    for key in sorted({"items", "additionalProperties"} & spec.keys() - allowed):
        yield f"{path}: {kind} cannot have {key}"
    if kind == "array":
        if "items" not in spec:
            yield f'{path}: missing "items" property in array type spec'
        else:
            yield from _type_faults(f"{path}/items", spec["items"], schema)
    elif kind == "object":
        if "additionalProperties" in spec:
            yield from _type_faults(f"{path}/additionalProperties", spec["additionalProperties"], schema)
    elif kind not in _PRIMITIVE:
        yield f"{path}/type: unknown type kind {kind!r}"


def _reference_faults(path: str, spec: Schema, schema: Schema) -> Iterator[str]:
    reference = spec["$ref"]
    for key in sorted({"items", "additionalProperties"} & spec.keys()):
        yield f"{path}: a reference cannot have {key}"
    if reference in _BUILT_IN:
        return
    section, _, token = reference.removeprefix("#/").partition("/")
    if not reference.startswith("#/") or section not in ("types", "resources"):
        yield f"{path}: invalid type reference {reference!r}"
    elif token not in schema.get(section, {}):
        yield f"{path}: type {token} not found in package {schema.get('name')}"


def _cycles(schema: Schema) -> Iterator[str]:
    """Yield types that contain themselves through required properties alone, so that no value exists."""
    types: Mapping[str, Any] = schema.get("types", {})

    def contained(token: str) -> Iterator[str]:
        described = types.get(token, {})
        for name in described.get("required", ()):
            reference = described.get("properties", {}).get(name, {}).get("$ref", "")
            if reference.startswith("#/types/"):
                yield reference.removeprefix("#/types/")

    for token in types:
        found: set[str] = set()
        pending = [*contained(token)]
        while pending:
            inner = pending.pop()
            if inner not in found:
                found.add(inner)
                pending += contained(inner)
        if token in found:
            yield f"#/types/{token}: has an unsatisfiable cycle of required properties"


def _unknown_keys(path: str, value: Schema, known: set[str]) -> Iterator[str]:
    for key in sorted(value.keys() - known):
        yield f"{path}: {key} is not supported here"
